//! The lines before the tree: `#ASDF 1.0.0`, and comments (ASDF standard 1.6.0, file layout, "Header" and "Comments").

use std::ops::Range;

use container_core::{Error, Result};
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1};
use nom::combinator::opt;
use nom::{IResult, Parser};

/// Magic token at the start of every file.
pub const MAGIC: &[u8] = b"#ASDF";

/// The first line of the only version of the file format (ASDF standard 1.6.0, file layout, "Header").
pub const LINE: &[u8; 11] = b"#ASDF 1.0.0";

/// The comment line that names the version of the standard, by convention the second line.
pub const STANDARD: &[u8] = b"#ASDF_STANDARD";

/// Maximum number of bytes that header and comment lines may take together.
pub const MAX_BYTES: u64 = 1 << 20;

/// The version of the file format: `1.0.0` in every file so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number. Any other than 1 is another format.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
}

impl Version {
    /// The only version that was ever published.
    pub const CURRENT: Self = Self { major: 1, minor: 0, patch: 0 };

    /// The version of the standard for files without `#ASDF_STANDARD`, as in Python asdf.
    pub const FIRST_STANDARD: Self = Self { major: 1, minor: 0, patch: 0 };

    /// The last version of the standard that was published.
    pub const LAST_STANDARD: Self = Self { major: 1, minor: 6, patch: 0 };

    /// Reads `1.6.0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match version(text.trim().as_bytes()) {
            Ok(([], version)) => Some(version),
            _ => None,
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The header line and the comment lines below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the file format.
    pub version: Version,
    /// Version of the standard, from the first comment line `#ASDF_STANDARD x.y.z` that can be read.
    pub standard: Option<Version>,
    /// An invalid value of `#ASDF_STANDARD`, with its range. Python asdf takes it as absent.
    pub odd_standard: Option<Range<u64>>,
    /// The header line with its newline.
    pub line: Range<u64>,
    /// The comment lines with their newlines.
    pub comments: Range<u64>,
}

impl Header {
    /// The version of the standard for the tags of the file: the named one, else 1.0.0.
    #[must_use]
    pub fn standard_or_first(&self) -> Version {
        self.standard.unwrap_or(Version::FIRST_STANDARD)
    }

    /// Reads the header and comment lines at the start of `bytes`, the first bytes of the file: all of it, or at least 1 MiB.
    ///
    /// # Errors
    /// `WrongFormat` where the bytes do not begin with `#ASDF` and a version; `Unsupported` for a major version other than 1; `Malformed` for a
    /// header line with more after its version, or lines without end.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let wrong = || {
            Error::wrong_format("ASDF").with_context("asdf header").with_range(0..first_line(bytes).0 as u64)
        };
        let (rest, version) = header_line(bytes).map_err(|_| wrong())?;
        let after = bytes.len().saturating_sub(rest.len());
        let (line, next) = first_line(bytes);
        if !bytes
            .get(after..line)
            .is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')))
        {
            return Err(Error::malformed("the header line continues after its version")
                .with_context("asdf header")
                .with_range(0..line as u64));
        }
        if version.major != 1 {
            let what = format!("unsupported version {version} of the ASDF file format (expected 1.x)");
            return Err(Error::unsupported(what).with_context("asdf header").with_range(0..line as u64));
        }
        let mut header = Self {
            version,
            standard: None,
            odd_standard: None,
            line: 0..next as u64,
            comments: next as u64..next as u64,
        };
        let mut at = next;
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.first() == Some(&b'#')) {
            // The index of a file without blocks would not be a comment, but then there is no index.
            let (line, next) = first_line(rest);
            let end = at.saturating_add(next);
            if end as u64 > MAX_BYTES {
                let what = format!("comment lines of more than {MAX_BYTES} bytes");
                return Err(Error::malformed(what)
                    .with_context("asdf comments")
                    .with_range(header.line.end..end as u64));
            }
            if header.standard.is_none()
                && let Some(value) = rest.get(..line).and_then(|line| line.strip_prefix(STANDARD))
                && value.first().is_none_or(u8::is_ascii_whitespace)
            {
                let text = std::str::from_utf8(value).ok();
                header.standard = text.and_then(Version::parse);
                if header.standard.is_none() && header.odd_standard.is_none() {
                    header.odd_standard = Some(at as u64..end as u64);
                }
            }
            at = end;
        }
        header.comments.end = at as u64;
        Ok(header)
    }
}

/// The length of the first line without its line feed, and where the next begins.
fn first_line(bytes: &[u8]) -> (usize, usize) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (end, end.saturating_add(1)),
        None => (bytes.len(), bytes.len()),
    }
}

/// `#ASDF`, blanks, a version. The specification has one space; Python asdf takes any blanks.
fn header_line(input: &[u8]) -> IResult<&[u8], Version> {
    let blanks = take_while1(|byte| matches!(byte, b' ' | b'\t'));
    let (rest, (_, _, version)) = (tag(MAGIC), blanks, version).parse(input)?;
    Ok((rest, version))
}

/// Three numbers with dots between them. A suffix after a hyphen or a plus sign, as in `1.7.0-dev`, is left out.
fn version(input: &[u8]) -> IResult<&[u8], Version> {
    let (rest, (major, _, minor, _, patch)) = (number, char('.'), number, char('.'), number).parse(input)?;
    let (rest, _) =
        opt((nom::character::complete::one_of("-+"), take_while(|byte: u8| byte.is_ascii_graphic())))
            .parse(rest)?;
    Ok((rest, Version { major, minor, patch }))
}

fn number(input: &[u8]) -> IResult<&[u8], u32> {
    digit1.map_opt(|digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok()).parse(input)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use container_core::ErrorKind;

    fn standard(text: &str) -> Option<String> {
        Header::parse(text.as_bytes()).unwrap().standard.map(|version| version.to_string())
    }

    #[test]
    fn lines_end_where_no_hash_begins_one() {
        let text = b"#ASDF 1.0.0\r\n#ASDF_STANDARD 1.6.0\r\n# a \xff\n%YAML 1.1\n";
        let header = Header::parse(text).unwrap();
        assert_eq!((header.line, header.comments), (0..13, 13..41));
        assert_eq!(header.standard, Some(Version { major: 1, minor: 6, patch: 0 }));
        assert_eq!(header.version, Version::CURRENT);
    }

    #[test]
    fn standard_version_is_read_from_any_comment_line() {
        assert_eq!(standard("#ASDF 1.0.0"), None);
        assert_eq!(standard("#ASDF   1.0.0\n#a\n#ASDF_STANDARD 1.2.0").as_deref(), Some("1.2.0"));
        assert_eq!(standard("#ASDF 1.0.0\n#ASDF_STANDARD one\n").as_deref(), None);
        assert_eq!(standard("#ASDF 1.0.0\n#ASDF_STANDARDS 1.2.0\n").as_deref(), None);
        let odd = Header::parse(b"#ASDF 1.0.0\n#ASDF_STANDARD one\n").unwrap();
        assert_eq!(odd.odd_standard, Some(12..31));
    }

    /// A mebibyte of header and comment lines is read, and one byte more is not.
    #[test]
    fn comment_lines_take_a_mebibyte_at_most() {
        let text = |len: usize| {
            let mut text = b"#ASDF 1.0.0\n#".to_vec();
            text.resize(len - 1, b'x');
            text.push(b'\n');
            text
        };
        let most = usize::try_from(MAX_BYTES).unwrap();
        assert_eq!(Header::parse(&text(most)).unwrap().comments, 12..MAX_BYTES);
        let error = Header::parse(&text(most + 1)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
        assert_eq!(error.range(), Some(12..MAX_BYTES + 1));
    }

    #[test]
    fn versions_are_three_numbers_with_or_without_a_suffix() {
        let of =
            |text: &str| Version::parse(text).map(|version| (version.major, version.minor, version.patch));
        for (text, expected) in [
            ("1.6.0", Some((1, 6, 0))),
            (" 1.6.0 ", Some((1, 6, 0))),
            ("1.7.0-dev", Some((1, 7, 0))),
            ("1.7.0+a.b", Some((1, 7, 0))),
            ("4294967295.0.1", Some((u32::MAX, 0, 1))),
            ("4294967296.0.0", None),
            ("1.6", None),
            ("1.6.0.1", None),
            ("1.6.0x", None),
            ("", None),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        let [first, last] =
            [Version::FIRST_STANDARD, Version::LAST_STANDARD].map(|version| version.to_string());
        assert_eq!((first.as_str(), last.as_str()), ("1.0.0", "1.6.0"));
        assert!(Version::FIRST_STANDARD < Version::LAST_STANDARD);
        let header = Header::parse(b"#ASDF 1.0.0\n").unwrap();
        assert_eq!(header.standard_or_first(), Version::FIRST_STANDARD);
    }

    #[test]
    fn header_errors_distinguish_other_formats_and_versions() {
        let kind = |text: &[u8]| Header::parse(text).unwrap_err().into_kind();
        for text in
            [&b""[..], b"#ASD", b"\xef\xbb\xbf#ASDF 1.0.0\n", b"#ASDF\n", b"#ASDF1.0.0\n", b"#ASDF 1.0\n"]
        {
            assert!(matches!(kind(text), ErrorKind::WrongFormat { .. }), "{text:?}");
        }
        assert!(matches!(kind(b"#ASDF 2.0.0\n"), ErrorKind::Unsupported(_)));
        assert!(matches!(kind(b"#ASDF 1.0.0 x\n"), ErrorKind::Malformed(_)));
        assert_eq!(Header::parse(b"#ASDF 1.1.0\n").unwrap().version.minor, 1);
    }
}

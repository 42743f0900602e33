//! Scalars on one line, and tags.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::marker::PhantomData;
use std::ops::Range;

use super::{Fast, Tag};
use crate::yaml::ScalarStyle;

/// A scalar that was read.
pub(super) struct Scalar<'t> {
    pub(super) style: ScalarStyle,
    pub(super) content: Range<usize>,
    /// Its text within the text of the document, unless it had to be made.
    pub(super) value: Range<usize>,
    pub(super) made: Option<String>,
    marker: PhantomData<&'t ()>,
}

/// The `%TAG` lines.
#[derive(Default)]
pub(super) struct Tags<'t> {
    handles: Vec<(&'t str, &'t str)>,
    buffer: String,
}

/// The characters of tags whose end and spelling all versions of YAML agree on.
fn is_tag_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'+' | b'~' | b'@' | b'=' | b'*')
}

impl<'t> Tags<'t> {
    /// Takes `%TAG handle prefix`.
    pub(super) fn directive(&mut self, line: &'t str) -> Option<()> {
        let (handle, prefix) = line.strip_prefix("%TAG ")?.split_once(' ')?;
        let name = handle.strip_prefix('!')?;
        let name = if name.is_empty() { name } else { name.strip_suffix('!')? };
        let known = self.handles.iter().any(|known| known.0 == handle);
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if known
            || !plain
            || prefix.is_empty()
            || !prefix.starts_with(|first: char| first.is_ascii_alphanumeric())
            || !prefix.bytes().all(|byte| is_tag_byte(byte) || byte == b',')
        {
            return None;
        }
        self.handles.push((handle, prefix));
        Some(())
    }

    fn whole(&mut self, handle: &str, suffix: &str) -> Option<&str> {
        let declared = self.handles.iter().find(|known| known.0 == handle);
        let prefix = match (declared, handle) {
            (Some((_, prefix)), _) => prefix,
            (None, "!") => "!",
            (None, "!!") => "tag:yaml.org,2002:",
            _ => return None,
        };
        self.buffer.clear();
        self.buffer.push_str(prefix);
        self.buffer.push_str(suffix);
        Some(&self.buffer)
    }
}

impl<'t> Fast<'t> {
    /// The tag that begins here.
    pub(super) fn tag(&mut self) -> Option<Tag> {
        let start = self.at;
        let rest = self.bytes.get(start..)?;
        let len =
            rest.iter().position(|byte| !is_tag_byte(*byte) && !matches!(byte, b'!' | b'<' | b'>' | b','))?;
        let text = self.text.get(start..start.saturating_add(len))?;
        let id = if let Some(whole) = text.strip_prefix("!<").and_then(|text| text.strip_suffix('>')) {
            if whole.is_empty() || !whole.bytes().all(|byte| is_tag_byte(byte) || byte == b',') {
                return None;
            }
            self.builder.tag(whole)
        } else {
            let handle = text.rfind('!')?.saturating_add(1);
            let (handle, suffix) = text.split_at_checked(handle)?;
            if suffix.is_empty() || !suffix.bytes().all(is_tag_byte) {
                return None;
            }
            self.builder.tag(self.tags.whole(handle, suffix)?)
        };
        self.at = start.saturating_add(len);
        (matches!(self.byte(self.at), Some(b' ' | b'\n'))).then_some(Tag { id, start, end: self.at })
    }

    /// The scalar that begins here; what follows it is for the caller to see.
    pub(super) fn scalar(&mut self, in_flow: bool) -> Option<Scalar<'t>> {
        match self.byte(self.at)? {
            b'\'' => self.single_quoted(),
            b'"' => self.double_quoted(),
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>'
            | b'%' | b'@' | b'`' => None,
            b'-' if self.is_blank(self.at.saturating_add(1)) => None,
            b'-' if in_flow
                && matches!(self.byte(self.at.saturating_add(1)), Some(b',' | b'[' | b']' | b'{' | b'}')) =>
            {
                None
            }
            _ => self.plain(in_flow),
        }
    }

    fn plain(&mut self, in_flow: bool) -> Option<Scalar<'t>> {
        let start = self.at;
        let mut end = start;
        let mut rest = self.bytes.get(start..)?.iter();
        let mut at = start;
        let mut after_blank = false;
        while let Some(&byte) = rest.next() {
            match byte {
                b' ' => {
                    after_blank = true;
                    at = at.saturating_add(1);
                    continue;
                }
                b'\n' => break,
                b'#' if after_blank => break,
                b':' => match rest.as_slice().first() {
                    None | Some(b' ' | b'\n') => break,
                    Some(b',' | b'[' | b']' | b'{' | b'}' | b'?') if in_flow => return None,
                    _ => {}
                },
                b',' | b'[' | b']' | b'{' | b'}' if in_flow => break,
                _ => {}
            }
            after_blank = false;
            at = at.saturating_add(1);
            end = at;
        }
        self.at = end;
        Some(Scalar {
            style: ScalarStyle::Plain,
            content: start..end,
            value: start..end,
            made: None,
            marker: PhantomData,
        })
    }

    fn single_quoted(&mut self) -> Option<Scalar<'t>> {
        let start = self.at;
        let inner = start.saturating_add(1);
        let mut at = inner;
        let mut doubled = false;
        loop {
            at = at.saturating_add(memchr::memchr2(b'\'', b'\n', self.bytes.get(at..)?)?);
            if self.byte(at) == Some(b'\n') {
                return None;
            }
            if self.byte(at.saturating_add(1)) != Some(b'\'') {
                break;
            }
            doubled = true;
            at = at.saturating_add(2);
        }
        let made = if doubled { Some(self.text.get(inner..at)?.replace("''", "'")) } else { None };
        self.at = at.saturating_add(1);
        let style = ScalarStyle::SingleQuoted;
        Some(Scalar { style, content: start..self.at, value: inner..at, made, marker: PhantomData })
    }

    fn double_quoted(&mut self) -> Option<Scalar<'t>> {
        let start = self.at;
        let inner = start.saturating_add(1);
        let mut made: Option<String> = None;
        let mut from = inner;
        loop {
            let at = from.saturating_add(memchr::memchr3(b'"', b'\n', b'\\', self.bytes.get(from..)?)?);
            let piece = self.text.get(from..at)?;
            match self.byte(at)? {
                b'"' => {
                    if let Some(made) = &mut made {
                        made.push_str(piece);
                    }
                    self.at = at.saturating_add(1);
                    let style = ScalarStyle::DoubleQuoted;
                    return Some(Scalar {
                        style,
                        content: start..self.at,
                        value: inner..at,
                        made,
                        marker: PhantomData,
                    });
                }
                b'\\' => {
                    let made = made.get_or_insert_default();
                    made.push_str(piece);
                    let mut rest = self.text.get(at.saturating_add(1)..)?.chars();
                    let escape = rest.next()?;
                    let digits = match escape {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    made.push(match escape {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        '0' => '\0',
                        '"' | '\\' | '/' => escape,
                        'x' | 'u' | 'U' => {
                            let digits = rest.as_str().get(..digits)?;
                            let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                            char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| hex)?)?
                        }
                        _ => return None,
                    });
                    from = at.saturating_add(2).saturating_add(digits);
                }
                _ => return None,
            }
        }
    }
}

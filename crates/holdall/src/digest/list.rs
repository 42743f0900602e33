//! Lists of digests, a line each, as `sha256sum` writes them.

use container_codecs::checksum::Algorithm;
use container_core::checksum::Digest;
use container_core::{Error, Result};

use crate::repr::unhex;

/// One line: a digest, two blanks, an address in whatever bytes it has. An address with a line end or a backslash in it is written with `\n`,
/// `\r` and `\\`, and the line then begins with a backslash.
#[must_use]
pub fn line(digest: &Digest, address: &[u8]) -> Vec<u8> {
    let digest = digest.to_string();
    let mut escaped = Vec::with_capacity(address.len());
    for byte in address {
        match byte {
            b'\\' => escaped.extend_from_slice(b"\\\\"),
            b'\n' => escaped.extend_from_slice(b"\\n"),
            b'\r' => escaped.extend_from_slice(b"\\r"),
            byte => escaped.push(*byte),
        }
    }
    let mark: &[u8] = if escaped == address { b"" } else { b"\\" };
    [mark, digest.as_bytes(), b"  ", &escaped].concat()
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Digest of the array when the list was made.
    pub digest: Digest,
    /// Address of the array, as the list has it; see [`crate::address::Address::parse_bytes`].
    pub address: Vec<u8>,
}

impl Line {
    /// Reads a line without its end. `None` for a line that is empty or a comment (`#`).
    ///
    /// # Errors
    /// `Malformed` for other text.
    pub fn parse(text: &[u8]) -> Result<Option<Self>> {
        if text.trim_ascii().is_empty() || text.starts_with(b"#") {
            return Ok(None);
        }
        let bad = || Error::malformed("this line is not a digest, two blanks and an address");
        let (escaped, rest) = text.strip_prefix(b"\\").map_or((false, text), |rest| (true, rest));
        let (digits, rest) = rest.split_at_checked(2 * Algorithm::Sha256.digest_len()).ok_or_else(bad)?;
        // `sha256sum` marks what it read as binary with an asterisk.
        let address = rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" *")).ok_or_else(bad)?;
        let digest = from_hex(digits).filter(|_| !address.is_empty()).ok_or_else(bad)?;
        let address = if escaped { unescaped(address).ok_or_else(bad)? } else { address.to_owned() };
        Ok(Some(Self { digest, address }))
    }
}

fn from_hex(digits: &[u8]) -> Option<Digest> {
    let bytes = unhex(digits)?;
    Digest::new(&bytes).ok().filter(|_| bytes.len() == Algorithm::Sha256.digest_len())
}

fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            byte => *byte,
        });
    }
    Some(plain)
}

//! Lists of digests, a line each, as `sha256sum` writes them.

use container_core::checksum::{Algorithm, Digest};
use container_core::{Error, Result};

/// One line: a digest, two blanks, an address. An address with a line end or a backslash in it is written with `\n`, `\r` and `\\`,
/// and the line then begins with a backslash.
#[must_use]
pub fn line(digest: &Digest, address: &str) -> String {
    if !address.contains(['\n', '\r', '\\']) {
        return format!("{digest}  {address}");
    }
    let escaped = address.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    format!("\\{digest}  {escaped}")
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What the array had when the list was made.
    pub digest: Digest,
    /// Where it is, as the list has it.
    pub address: String,
}

impl Line {
    /// Reads a line without its end. `None` for a line that is empty or a comment (`#`).
    ///
    /// # Errors
    /// `Malformed` for what is neither.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        if text.trim().is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let bad = || Error::malformed("this line is not a digest, two blanks and an address");
        let (escaped, rest) = text.strip_prefix('\\').map_or((false, text), |rest| (true, rest));
        // `sha256sum` marks what it read as binary with an asterisk.
        let (digits, address) = rest.split_once("  ").or_else(|| rest.split_once(" *")).ok_or_else(bad)?;
        let digest = from_hex(digits).filter(|_| !address.is_empty()).ok_or_else(bad)?;
        let address = if escaped { unescaped(address).ok_or_else(bad)? } else { address.to_owned() };
        Ok(Some(Self { digest, address }))
    }
}

fn from_hex(digits: &str) -> Option<Digest> {
    let nibble = |c: u8| char::from(c).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let pairs = digits.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some((nibble(*high)? << 4) | nibble(*low)?),
        _ => None,
    });
    let bytes: Vec<u8> = pairs.collect::<Option<_>>()?;
    Digest::new(&bytes).ok().filter(|_| bytes.len() == Algorithm::Sha256.digest_len())
}

fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            c => c,
        });
    }
    Some(plain)
}

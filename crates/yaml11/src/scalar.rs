//! Resolution of plain scalars in YAML 1.1, exactly as PyYAML does it. Where Python fails to
//! load a scalar that looks like a number or a date (`0b_`, `2001-13-45`), it is text here, so that the rest of the tree can be read.

use std::fmt;

mod number;
mod timestamp;

pub(crate) use timestamp::is_read;

#[cfg(test)]
mod tests;

/// A scalar's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `null`, `~` or an empty text.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// A whole number of any size.
    Int(Int),
    /// A number with a dot, an infinity, or NaN.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// A date, or a date with a time.
    Timestamp(Timestamp),
    /// `!!binary`, decoded.
    Binary(Vec<u8>),
    /// `<<`
    Merge,
    /// `=`
    Default,
}

/// A whole number: those that fit into 128 bits, or the decimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    /// Within 128 bits.
    Small(i128),
    /// Beyond 128 bits: decimal digits, perhaps with a leading `-`, without leading zeros.
    Big(String),
}

impl fmt::Display for Int {
    /// Decimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(value) => value.fmt(f),
            Self::Big(digits) => f.write_str(digits),
        }
    }
}

/// A date, or a date with a time of day.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// Year, from 1 to 9999.
    pub year: i32,
    /// Month, from 1 to 12.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour, minute, second (no leap seconds), microsecond; `None` for a bare date.
    pub time: Option<(u8, u8, u8, u32)>,
    /// Minutes east of UTC, less than a day, only with a time; `None` where no zone is written.
    pub offset: Option<i32>,
}

/// Resolves `text` as a plain scalar without a tag. Integers of more than 4300 characters, which Python does not read, are text.
#[must_use]
pub fn resolve(text: &str) -> Scalar<'_> {
    // The first character selects the patterns to try; most text leaves here.
    let special = match text.as_bytes().first() {
        None | Some(b'~' | b'n' | b'N') => null(text),
        Some(b'y' | b'Y' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => boolean(text),
        Some(b'0'..=b'9') => number::plain(text).or_else(|| timestamp::plain(text).map(Scalar::Timestamp)),
        Some(b'+' | b'-' | b'.') => number::plain(text),
        Some(b'<') if text == "<<" => Some(Scalar::Merge),
        Some(b'=') if text == "=" => Some(Scalar::Default),
        _ => None,
    };
    special.unwrap_or(Scalar::Text(text))
}

fn null(text: &str) -> Option<Scalar<'_>> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Scalar::Null),
        _ => boolean(text),
    }
}

fn boolean(text: &str) -> Option<Scalar<'_>> {
    let value = match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true,
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => false,
        _ => return None,
    };
    Some(Scalar::Bool(value))
}

/// True for a plain text that PyYAML takes for a date or an integer by its form, and then cannot read: `2020-13-02`, `0x_`.
#[must_use]
pub fn is_invalid_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || "+-".contains(first))
        && (timestamp::is_impossible(text) || number::is_impossible(text))
}

/// Resolves `text` under one of YAML's own tags, given by the part after `tag:yaml.org,2002:`; text where it does not fit the tag, as under tags of
/// collections and unknown ones.
#[must_use]
pub fn resolve_tagged<'a>(name: &str, text: &'a str) -> Scalar<'a> {
    let value = match name {
        "null" => Some(Scalar::Null),
        "bool" => ["yes", "true", "on"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
            .then_some(true)
            .or_else(|| {
                ["no", "false", "off"].iter().any(|word| text.eq_ignore_ascii_case(word)).then_some(false)
            })
            .map(Scalar::Bool),
        "int" => number::int(text.trim_ascii()).map(Scalar::Int),
        "float" => number::float(text.trim_ascii()).map(Scalar::Float),
        "timestamp" => timestamp::tagged(text).map(Scalar::Timestamp),
        "binary" => decode_binary(text).map(Scalar::Binary),
        "merge" => Some(Scalar::Merge),
        "value" => Some(Scalar::Default),
        _ => None,
    };
    value.unwrap_or(Scalar::Text(text))
}

/// The bytes of a text in base 64 (`!!binary`). Characters outside the alphabet are passed over, as Python's `base64` does; `None` where the padding
/// does not fit.
fn decode_binary(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity((text.len() / 4).saturating_mul(3));
    let (mut bits, mut have, mut padding) = (0_u32, 0_u32, 0_u32);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding = padding.saturating_add(1);
                if have >= 2 && have.saturating_add(padding) >= 4 {
                    break;
                }
                continue;
            }
            byte if byte.is_ascii() => continue,
            _ => return None,
        };
        padding = 0;
        bits = (bits << 6) | u32::from(six);
        have = have.saturating_add(1);
        if have == 4 {
            bytes.extend_from_slice(bits.to_be_bytes().get(1..)?);
            (bits, have) = (0, 0);
        }
    }
    match (have, padding) {
        (0, _) => {}
        (2, 2) => bytes.push(u8::try_from((bits >> 4) & 0xff).ok()?),
        (3, 1) => bytes.extend_from_slice((bits >> 2).to_be_bytes().get(2..)?),
        _ => return None,
    }
    Some(bytes)
}

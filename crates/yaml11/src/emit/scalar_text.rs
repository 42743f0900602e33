//! Text of numbers, dates and bytes, as PyYAML writes and reads them.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use container_core::{Error, Result};

use crate::scalar::is_read;
use crate::{Int, Timestamp};

/// Shortest digits that read back as the same number, with a dot always and a sign in the exponent always: YAML 1.1 takes neither `1e3` nor
/// `1.0e3` for a number.
pub(crate) fn float(value: f64) -> String {
    let mut text = String::new();
    push_float(value, &mut text);
    text
}

/// As [`float`], appended to `out`.
pub(crate) fn push_float(value: f64, out: &mut String) {
    if value.is_nan() {
        return out.push_str(".nan");
    }
    if value.is_infinite() {
        return out.push_str(if value > 0.0 { ".inf" } else { "-.inf" });
    }
    let mut short = Short { bytes: [0; 32], len: 0 };
    let _ = write!(short, "{value:e}");
    let text = short.text();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let mantissa = match mantissa.strip_prefix('-') {
        Some(digits) => {
            out.push('-');
            digits
        }
        None => mantissa,
    };
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    match usize::try_from(power) {
        Ok(places) if power < 16 => {
            let (whole, fraction) = rest.split_at_checked(places).unwrap_or((rest, ""));
            out.push_str(first);
            out.push_str(whole);
            out.extend(std::iter::repeat_n('0', places.saturating_sub(whole.len())));
            out.push('.');
            out.push_str(if fraction.is_empty() { "0" } else { fraction });
        }
        Err(_) if power >= -4 => {
            out.push_str("0.");
            out.extend((power..-1).map(|_| '0'));
            out.push_str(first);
            out.push_str(rest);
        }
        // The range in which Python uses exponents.
        _ => {
            out.push_str(first);
            out.push('.');
            out.push_str(if rest.is_empty() { "0" } else { rest });
            let sign = if power < 0 { '-' } else { '+' };
            let _ = write!(out, "e{sign}{:02}", power.unsigned_abs());
        }
    }
}

/// A text of at most 32 bytes: a number has 24.
struct Short {
    bytes: [u8; 32],
    len: usize,
}

impl Short {
    fn text(&self) -> &str {
        std::str::from_utf8(self.bytes.get(..self.len).unwrap_or_default()).unwrap_or_default()
    }
}

impl std::fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len.saturating_add(text.len());
        self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Decimal digits.
pub(crate) fn int(value: &Int) -> Result<String> {
    match value {
        Int::Small(value) => Ok(value.to_string()),
        Int::Big(digits) => {
            let bare = digits.strip_prefix('-').unwrap_or(digits);
            // A leading zero would make it octal.
            if bare.is_empty() || bare.starts_with('0') || !bare.bytes().all(|b| b.is_ascii_digit()) {
                return Err(Error::usage(format!("{digits:?} is not a whole number in decimal digits")));
            }
            Ok(digits.clone())
        }
    }
}

/// `2001-12-14`, or `2001-12-14 21:59:43.100000-05:00`. Other numbers than the reader takes are refused: `PyYAML` reads no file with 0000-01-01.
pub(crate) fn timestamp(value: &Timestamp) -> Result<String> {
    let Timestamp { year, month, day, time, offset } = value;
    if !is_read(value) {
        return Err(Error::usage(format!("invalid date and time {value:?} (expected years 1 to 9999)")));
    }
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if let Some((hour, minute, second, micro)) = time {
        let _ = write!(text, " {hour:02}:{minute:02}:{second:02}");
        if *micro > 0 {
            let _ = write!(text, ".{micro:06}");
        }
        if let Some(offset) = offset {
            let sign = if *offset < 0 { '-' } else { '+' };
            let minutes = offset.unsigned_abs();
            let _ = write!(text, "{sign}{:02}:{:02}", minutes.div_euclid(60), minutes.rem_euclid(60));
        }
    }
    Ok(text)
}

/// Base 64 (RFC 4648, with padding), in one line.
pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

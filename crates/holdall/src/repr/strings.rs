//! Bytes and text in Python's spelling.

use std::fmt::Write;

use container_core::dtype::ByteOrder;

/// Without the NULs at the end, which numpy takes for padding.
pub(crate) fn without_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).and_then(|last| last.checked_add(1)).unwrap_or(0);
    bytes.get(..end).unwrap_or_default()
}

/// UCS-4 as text, without the NULs at the end. Invalid characters become U+FFFD.
pub(crate) fn unicode(bytes: &[u8], order: ByteOrder) -> String {
    let (points, _) = bytes.as_chunks::<4>();
    let points = points.iter().map(|bytes| match order {
        ByteOrder::Little => u32::from_le_bytes(*bytes),
        ByteOrder::Big => u32::from_be_bytes(*bytes),
    });
    let mut text: String =
        points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.truncate(text.trim_end_matches('\0').len());
    text
}

/// Appends lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// Bytes from their hexadecimal digits, two for each; `None` for other text.
pub(crate) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
        _ => None,
    };
    digits.chunks(2).map(pair).collect()
}

/// Appends Python's `repr` of `bytes`.
pub(super) fn bytes_literal(bytes: &[u8], out: &mut String) {
    let quote = quote_for(bytes.contains(&b'\''), bytes.contains(&b'"'));
    out.push('b');
    out.push(quote);
    for byte in bytes {
        match byte {
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\\' => out.push_str("\\\\"),
            _ if char::from(*byte) == quote => {
                out.push('\\');
                out.push(quote);
            }
            0x20..0x7f => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
}

/// Appends Python's `repr` of text, but for printable characters that Python's older tables lack.
pub(super) fn text_literal(text: &str, out: &mut String) {
    let quote = quote_for(text.contains('\''), text.contains('"'));
    out.push(quote);
    for character in text.chars() {
        if character == quote || character == '\\' {
            out.push('\\');
            out.push(character);
        } else {
            escape_character(character, out);
        }
    }
    out.push(quote);
}

/// Appends text with its control characters escaped, and all others unchanged.
pub(crate) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        escape_character(character, out);
    }
}

/// Escapes control characters, and those that turn the direction of the text around them or break lines.
fn escape_character(character: char, out: &mut String) {
    let code = u32::from(character);
    let hidden = matches!(code, 0xad | 0x61c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff);
    let _ = match character {
        '\t' => write!(out, "\\t"),
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        _ if (character.is_control() || hidden) && code < 0x100 => write!(out, "\\x{code:02x}"),
        _ if hidden => write!(out, "\\u{code:04x}"),
        _ => {
            out.push(character);
            Ok(())
        }
    };
}

/// Python prefers single quotes, unless that alone spares escapes.
fn quote_for(has_single: bool, has_double: bool) -> char {
    if has_single && !has_double { '"' } else { '\'' }
}

//! Metadata, shapes and ranges as people read them.

use std::fmt::Write as _;
use std::ops::Range;

use container_core::Value;

use crate::output::printable;

/// Maximum depth of a metadata tree that is shown; deeper levels are reported as such. Keeps the stack bounded.
pub const MAX_DEPTH: usize = 128;

/// Bytes of an opaque value that are shown in hexadecimal.
const BYTES_SHOWN: usize = 32;

/// A value on one line, cut to about `most` characters.
pub fn one_line(value: &Value, most: usize) -> String {
    let mut text = String::new();
    write_flow(value, most, 0, &mut text);
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

fn write_flow(value: &Value, most: usize, depth: usize, text: &mut String) {
    if text.len() > most.saturating_mul(4) || depth > MAX_DEPTH {
        text.push('…');
        return;
    }
    match value {
        Value::List(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                text.push_str(if number > 0 { ", " } else { "" });
                write_flow(item, most, depth + 1, text);
                if text.len() > most.saturating_mul(4) {
                    break;
                }
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for (number, (key, item)) in entries.iter().enumerate() {
                let _ = write!(text, "{}{}: ", if number > 0 { ", " } else { "" }, printable(key));
                write_flow(item, most, depth + 1, text);
                if text.len() > most.saturating_mul(4) {
                    break;
                }
            }
            text.push('}');
        }
        leaf => text.push_str(&scalar(leaf)),
    }
}

/// A value without parts. Text is shown unchanged, bytes in hexadecimal.
pub fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_nan() => "nan".into(),
        Value::Float(value) => format!("{value:?}"),
        Value::Text(text) => printable(text).into_owned(),
        Value::Bytes(bytes) => {
            let mut text = String::from("0x");
            for byte in bytes.iter().take(BYTES_SHOWN) {
                let _ = write!(text, "{byte:02x}");
            }
            if bytes.len() > BYTES_SHOWN {
                let _ = write!(text, "… ({} bytes)", bytes.len());
            }
            text
        }
        Value::List(items) => format!("[{} items]", items.len()),
        Value::Map(entries) => format!("{{{} entries}}", entries.len()),
        // The enum may grow; a new kind is at least named.
        other => printable(&format!("{other:?}")).into_owned(),
    }
}

/// The name of a value's type, as `tree --type` takes it.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        _ => "other",
    }
}

/// The named parts of a value, in order; none for a scalar. Items of a list go by their number.
pub fn parts(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::List(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Value::Map(entries) => entries.iter().map(|(key, item)| (key.clone(), item)).collect(),
        _ => Vec::new(),
    }
}

/// A shape as numpy writes it: `(3, 4)`, `(5,)`, `()`.
pub fn shape(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        several => {
            let lengths: Vec<String> = several.iter().map(u64::to_string).collect();
            format!("({})", lengths.join(", "))
        }
    }
}

/// A byte range as the command writes it: `48..168`.
pub fn range(range: &Range<u64>) -> String {
    format!("{}..{}", range.start, range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_one_line() {
        let value = Value::Map(vec![
            ("a".into(), vec![Value::Int(1), Value::Float(0.5), Value::Null].into()),
            ("b\n".into(), Value::Text("x\x1by".into())),
        ]);
        assert_eq!(one_line(&value, 80), "{a: [1, 0.5, null], b\\n: x\\u{1b}y}");
        assert_eq!(one_line(&value, 5), "{a: […");
        let long: Value = vec![Value::Int(7); 1_000_000].into();
        assert_eq!(one_line(&long, 6), "[7, 7,…");
    }

    #[test]
    fn a_bottomless_value_is_cut() {
        let mut value = Value::Null;
        for _ in 0..2 * MAX_DEPTH {
            value = vec![value].into();
        }
        assert!(one_line(&value, 10_000).contains('…'));
    }

    #[test]
    fn bytes_and_numbers_are_exact() {
        assert_eq!(scalar(&Value::Bytes(vec![0, 255])), "0x00ff");
        assert!(scalar(&Value::Bytes(vec![1; 100])).ends_with("01… (100 bytes)"));
        assert_eq!(scalar(&Value::Float(1e300)), "1e300");
        assert_eq!(scalar(&Value::Float(2.0)), "2.0");
        assert_eq!(scalar(&Value::Int(i128::MIN)), "-170141183460469231731687303715884105728");
    }

    #[test]
    fn shapes_read_like_numpys() {
        assert_eq!([shape(&[]), shape(&[5]), shape(&[3, 0])], ["()", "(5,)", "(3, 0)"]);
    }
}

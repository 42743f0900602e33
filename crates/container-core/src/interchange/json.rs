//! Metadata as JSON, with forms for values that JSON lacks.

use super::{PREFIX, form, form_of};
use crate::Value;

/// Replaces bytes, NaN, infinities and integers beyond 64 bits by forms, so that JSON and its readers accept the value.
#[must_use]
pub fn to_json_value(value: &Value) -> Value {
    match value {
        Value::Bytes(bytes) => form("bytes", hex(bytes)),
        Value::Float(number) if !number.is_finite() => form("float", word(*number)),
        Value::Int(number) if i64::try_from(*number).is_err() && u64::try_from(*number).is_err() => {
            form("int", number.to_string())
        }
        Value::List(items) => Value::List(items.iter().map(to_json_value).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), to_json_value(value))).collect())
        }
        other => other.clone(),
    }
}

/// Replaces the forms of JSON by their values. Forms of other formats stay, and so do values that only resemble a form.
#[must_use]
pub fn from_json_value(value: Value) -> Value {
    if let Some(plain) = form_of(&value).and_then(|(kind, payload)| plain(kind, payload)) {
        return plain;
    }
    match value {
        Value::List(items) => Value::List(items.into_iter().map(from_json_value).collect()),
        Value::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (key, from_json_value(value))).collect())
        }
        other => other,
    }
}

fn plain(kind: &str, payload: &Value) -> Option<Value> {
    let Value::Text(text) = payload else { return None };
    debug_assert!(!kind.starts_with(PREFIX));
    match kind {
        "bytes" => unhex(text).map(Value::Bytes),
        "float" => number(text).map(Value::Float),
        "int" => text.parse().ok().map(Value::Int),
        _ => None,
    }
}

fn word(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Which NaN it is, some programs care.
    if number.to_bits() == f64::NAN.to_bits() { "nan".to_owned() } else { format!("{:#x}", number.to_bits()) }
}

fn number(word: &str) -> Option<f64> {
    match word {
        "nan" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => {
            let bits = u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
            Some(f64::from_bits(bits)).filter(|number| number.is_nan())
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        digits.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
        digits.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
    }
    digits
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?)).collect()
}

//! Extensions of JSON that Python's `json` reads and RFC 8259 lacks, and integers that a float would round.
//!
//! Such a number is marked: it becomes a string of NUL and its own text. Strings of the file that begin with NUL get one more,
//! so that none is mistaken for a mark.

use container_core::Value;

use super::Spelling;

/// The escape of the mark.
const MARK: &[u8] = b"\\u0000";

/// The text in a form that any JSON reader accepts, if it is JSON at all; and its spelling.
pub(super) fn marked(bytes: &[u8]) -> (Vec<u8>, Spelling) {
    let mut out = Vec::with_capacity(bytes.len());
    let mut spelling = Spelling::Json;
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if *first == b'"' {
            out.push(b'"');
            if after.starts_with(MARK) {
                out.extend(MARK);
            }
            let (len, has_lone) = copy_string(after, &mut out);
            if has_lone {
                spelling = spelling.max(Spelling::LoneSurrogates);
            }
            rest = after.get(len..).unwrap_or_default();
            continue;
        }
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let len = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len.max(1));
        // A key has to be a string.
        let is_key = after.trim_ascii_start().first() == Some(&b':');
        match std::str::from_utf8(word).ok().filter(|_| !is_key).and_then(number) {
            Some((_, own)) => {
                spelling = spelling.max(own);
                out.push(b'"');
                out.extend(MARK);
                out.extend(word);
                out.push(b'"');
            }
            None => out.extend(word),
        }
        rest = after;
    }
    (out, spelling)
}

/// The value of a string of marked text: a number, where it is a mark.
pub(super) fn unmarked(text: String) -> Value {
    let marked = text.strip_prefix('\0').and_then(number);
    marked.map_or_else(|| unmarked_key(text).into(), |(value, _)| value)
}

/// A key of marked text, which is never a mark.
pub(super) fn unmarked_key(mut text: String) -> String {
    if text.starts_with('\0') {
        text.remove(0);
    }
    text
}

/// A number that needs a mark; `None` for all else.
fn number(word: &str) -> Option<(Value, Spelling)> {
    let float = |value: f64| Some((Value::Float(value), Spelling::NonFinite));
    match word {
        "NaN" => return float(f64::NAN),
        "Infinity" => return float(f64::INFINITY),
        "-Infinity" => return float(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_integer = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    // Numbers of up to 18 digits fit 64 bits.
    if digits.len() <= 18 || !is_integer || word.parse::<u64>().is_ok() || word.parse::<i64>().is_ok() {
        return None;
    }
    if let Ok(value) = word.parse::<i128>() {
        return Some((value.into(), Spelling::Json));
    }
    let value = word.parse::<f64>().ok().filter(|value| value.is_finite())?;
    Some((value.into(), Spelling::HugeIntegers))
}

/// Copies a string without its first quote. Lone surrogates become `\ufffd`. Returns the bytes that were read, and whether there
/// were any.
fn copy_string(bytes: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
    let escape = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at.checked_add(6)?)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut at, mut found) = (0, false);
    while let Some(first) = bytes.get(at) {
        let len = match (first, escape(at)) {
            (b'"', _) => {
                out.push(b'"');
                return (at + 1, found);
            }
            (_, Some(0xd800..=0xdbff)) if matches!(escape(at + 6), Some(0xdc00..=0xdfff)) => 12,
            (_, Some(0xd800..=0xdfff)) => {
                out.extend(b"\\ufffd");
                found = true;
                at += 6;
                continue;
            }
            (b'\\', _) => 2,
            _ => 1,
        };
        let end = (at + len).min(bytes.len());
        out.extend(bytes.get(at..end).unwrap_or_default());
        at = end;
    }
    (at, found)
}

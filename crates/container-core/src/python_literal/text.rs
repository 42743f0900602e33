//! Quoted strings and their escapes.

use nom::Parser;
use nom::bytes::complete::{take_till, take_while_m_n};

use super::Literal;
use super::parse::{Step, fail};

/// Form of a string, by its prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Bytes,
}

/// A string; `input` starts with the opening quote, `start` with the prefix before it.
pub(super) fn quoted<'a>(input: &'a str, prefix: &str, start: &'a str) -> Step<'a, Literal> {
    let (form, raw) = match prefix.to_ascii_lowercase().as_str() {
        "" | "u" => (Form::Text, false),
        "r" => (Form::Text, true),
        "b" => (Form::Bytes, false),
        "br" | "rb" => (Form::Bytes, true),
        _ => return fail(start, "no such string prefix"),
    };
    let (rest, text) = characters(input, form, raw)?;
    match form {
        Form::Text => Ok((rest, Literal::Str(text))),
        Form::Bytes => match text.chars().map(u8::try_from).collect() {
            Ok(bytes) => Ok((rest, Literal::Bytes(bytes))),
            Err(_) => fail(start, "a byte string holds a character that is not a byte"),
        },
    }
}

/// Parses from the opening quote through the closing one. Bytes come as characters below 256.
fn characters(input: &str, form: Form, raw: bool) -> Step<'_, String> {
    let mut chars = input.chars();
    let quote = chars.next().unwrap_or('\'');
    let mut rest = chars.as_str();
    let mut out = String::new();
    loop {
        let (stop, plain) = take_till(|c| c == quote || matches!(c, '\\' | '\n' | '\r')).parse(rest)?;
        if form == Form::Bytes && !plain.is_ascii() {
            return fail(rest, "a byte string holds a character that is not ASCII");
        }
        out.push_str(plain);
        let mut chars = stop.chars();
        match chars.next() {
            Some('\\') => {
                let (next, found) = if raw { kept(chars.as_str()) } else { escape(chars.as_str(), form) }?;
                out.extend(found.into_iter().flatten());
                rest = next;
            }
            Some(c) if c == quote => return Ok((chars.as_str(), out)),
            _ => return fail(stop, "a string does not end"),
        }
    }
}

/// Up to two characters that an escape denotes.
type Meaning = [Option<char>; 2];

/// A backslash in a raw string: it stays, and so does the quote or backslash after it.
fn kept(input: &str) -> Step<'_, Meaning> {
    let mut chars = input.chars();
    match chars.next() {
        Some(c @ ('\'' | '"' | '\\')) => Ok((chars.as_str(), [Some('\\'), Some(c)])),
        _ => Ok((input, [Some('\\'), None])),
    }
}

/// Reads the characters after a backslash.
///
/// Spec: <https://docs.python.org/3/reference/lexical_analysis.html#escape-sequences>
fn escape(input: &str, form: Form) -> Step<'_, Meaning> {
    let mut chars = input.chars();
    let first = chars.next();
    let rest = chars.as_str();
    let one = |c| Ok((rest, [Some(c), None]));
    match first {
        Some('\n') => Ok((rest, [None, None])),
        Some(c @ ('\\' | '\'' | '"')) => one(c),
        Some('a') => one('\x07'),
        Some('b') => one('\x08'),
        Some('f') => one('\x0c'),
        Some('n') => one('\n'),
        Some('r') => one('\r'),
        Some('t') => one('\t'),
        Some('v') => one('\x0b'),
        Some('0'..='7') => {
            let (rest, digits) = take_while_m_n(1, 3, |c: char| c.is_digit(8)).parse(input)?;
            coded(input, rest, digits, 8)
        }
        Some('x') => hexadecimal(rest, 2),
        Some('u') if form == Form::Text => hexadecimal(rest, 4),
        Some('U') if form == Form::Text => hexadecimal(rest, 8),
        Some('N') if form == Form::Text => fail(input, "characters by name are not supported"),
        // Python keeps the backslash of an undefined escape.
        _ => Ok((input, [Some('\\'), None])),
    }
}

fn hexadecimal(input: &str, len: usize) -> Step<'_, Meaning> {
    let step: Step<'_, &str> = take_while_m_n(len, len, |c: char| c.is_ascii_hexdigit()).parse(input);
    match step {
        Ok((rest, digits)) => coded(input, rest, digits, 16),
        Err(_) => fail(input, "too few hexadecimal digits in an escape"),
    }
}

fn coded<'a>(input: &'a str, rest: &'a str, digits: &str, radix: u32) -> Step<'a, Meaning> {
    match u32::from_str_radix(digits, radix).ok().and_then(char::from_u32) {
        Some(c) => Ok((rest, [Some(c), None])),
        None => fail(input, "an escape is not a Unicode character"),
    }
}

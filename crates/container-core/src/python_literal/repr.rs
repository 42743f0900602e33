//! Literals in the spelling of Python's `repr`.

use std::fmt::Write as _;

use super::Literal;

pub(super) fn write(literal: &Literal, out: &mut String) {
    match literal {
        Literal::None => out.push_str("None"),
        Literal::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
        Literal::Int(value) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "{value}");
        }
        Literal::Float(value) => float(*value, out),
        Literal::Str(text) => quoted(text.chars(), is_printable, out),
        Literal::Bytes(bytes) => {
            out.push('b');
            let chars = bytes.iter().map(|&byte| char::from(byte));
            quoted(chars, |c| matches!(c, ' '..='~'), out);
        }
        Literal::List(items) => joined(out, ('[', ']'), items, write),
        Literal::Tuple(items) => match items.as_slice() {
            [one] => {
                out.push('(');
                write(one, out);
                out.push_str(",)");
            }
            _ => joined(out, ('(', ')'), items, write),
        },
        Literal::Dict(pairs) => joined(out, ('{', '}'), pairs, |(key, value), out| {
            write(key, out);
            out.push_str(": ");
            write(value, out);
        }),
    }
}

/// Items between brackets, parted by a comma and a space.
pub(super) fn joined<T>(
    out: &mut String,
    (open, close): (char, char),
    items: &[T],
    write: impl Fn(&T, &mut String),
) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
    out.push(close);
}

/// The shortest digits that give the number back, as plain decimals from 1e-4 up to 1e16.
fn float(value: f64, out: &mut String) {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        out.push_str(&if value.is_nan() { "nan".into() } else { format!("{sign}inf") });
        return;
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        out.push_str(&plain);
        if !plain.contains('.') {
            out.push_str(".0");
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
}

fn quoted(chars: impl Iterator<Item = char> + Clone, plain: impl Fn(char) -> bool, out: &mut String) {
    let has = |quote| chars.clone().any(|c| c == quote);
    let quote = if has('\'') && !has('"') { '"' } else { '\'' };
    out.push(quote);
    for c in chars {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => out.extend(['\\', c]),
            _ if plain(c) => out.push(c),
            _ => {
                let _ = match u32::from(c) {
                    code @ ..=0xff => write!(out, "\\x{code:02x}"),
                    code @ ..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// Python's `str.isprintable` for one character: not one of the categories C* and Z*, but for the space.
///
/// Rust's `escape_debug` uses the same categories, in its own version of Unicode. It escapes combining marks only at the start of a string,
/// hence the letter before the character.
fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        _ => {
            let text: String = ['a', c].iter().collect();
            text.escape_debug().nth(1) == Some(c)
        }
    }
}

//! Literals as JSON.

use std::fmt::Write as _;

use super::Literal;
use super::repr::joined;

pub(super) fn write(literal: &Literal, out: &mut String) {
    match literal {
        Literal::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Literal::Float(value) if value.is_finite() => out.push_str(&literal.repr()),
        Literal::None | Literal::Float(_) => out.push_str("null"),
        Literal::Int(_) => out.push_str(&literal.repr()),
        Literal::Str(text) => quoted(text.chars(), out),
        Literal::Bytes(bytes) => quoted(bytes.iter().map(|&byte| char::from(byte)), out),
        Literal::List(items) | Literal::Tuple(items) => {
            joined(out, ('[', ']'), items, write);
        }
        Literal::Dict(pairs) => joined(out, ('{', '}'), pairs, |(key, value), out| {
            match key {
                Literal::Str(_) => write(key, out),
                // Keys of JSON are text.
                _ => quoted(key.repr().chars(), out),
            }
            out.push_str(": ");
            write(value, out);
        }),
    }
}

fn quoted(text: impl Iterator<Item = char>, out: &mut String) {
    out.push('"');
    for c in text {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

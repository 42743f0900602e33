//! Metadata: JSON text and its tree, and the section of version 3 that holds it.
//!
//! The output equals that of Python's `json.dumps(…, separators=(',', ':'))`, byte for byte. The input is JSON, with the few
//! extensions that Python's reader accepts or the proposal's example shows: see [`Spelling`].

use std::fmt::Write as _;

use container_codecs::zlib::{Inflater, Zlib};
use container_core::codec::Codec;
use container_core::python_literal::{self, Literal};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result, Value};

use crate::ChecksumCode;
use crate::metadata::header::MetadataHeader;

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod header;
pub(crate) mod numpy;
mod python_json;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod section;

/// Spelling of the text of metadata.
///
/// If several apply, the last counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelling {
    /// JSON as RFC 8259 has it.
    Json,
    /// JSON with `NaN`, `Infinity` and `-Infinity`, which Python reads and writes.
    NonFinite,
    /// JSON with integers over 128 bits, which only Python reads unchanged. They come out as the nearest float.
    HugeIntegers,
    /// JSON with lone surrogates such as `\ud800`, which Python reads and writes. They come out as U+FFFD.
    LoneSurrogates,
    /// A Python literal: the proposal's example has single quotes.
    Python,
}

/// The tree of JSON text, and how it is spelt. Key order is kept; of a key that repeats the last value counts, as in Python.
///
/// # Errors
/// `Malformed` for text that is neither JSON nor a Python literal, and for more than 128 nested brackets; `Limit` when
/// the tree might be over the limit. The range counts from the start of `bytes`.
pub fn from_json(bytes: &[u8], limits: &Limits) -> Result<(Value, Spelling)> {
    // The most that a tree takes is for `[[],[],[]…`: a dozen words for three bytes.
    limits.allocate((bytes.len() as u64).saturating_mul(32))?;
    let (text, spelling) = python_json::marked(bytes);
    let problem = match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(tree) => return Ok((from_tree(tree), spelling)),
        Err(problem) => problem,
    };
    if let Some(tree) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| python_literal::parse(text).ok())
        .and_then(from_literal)
    {
        return Ok((tree, Spelling::Python));
    }
    let text = problem.to_string();
    Err(Error::malformed(format!("not JSON: {text}"))
        .with_range(0..bytes.len() as u64)
        .with_context("bloscpack metadata"))
}

/// The tree as JSON text: no blanks, all characters except printable ASCII escaped.
///
/// # Errors
/// `Usage` for bytes, infinities and NaN, which JSON has no place for.
pub fn to_json(value: &Value) -> Result<String> {
    if !is_finite(value) {
        return Err(Error::usage("JSON has no infinities and no NaN"));
    }
    to_python_json(value)
}

/// The same with `NaN`, `Infinity` and `-Infinity`, as Python writes them: for metadata of another file.
///
/// # Errors
/// `Usage` for bytes.
pub(crate) fn to_python_json(value: &Value) -> Result<String> {
    let mut out = String::new();
    write_json(value, &mut out)?;
    Ok(out)
}

/// Options for writing a metadata section. The default is the reference's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataOptions {
    /// Checksum of the payload.
    pub checksum: ChecksumCode,
    /// zlib level, 0 to 9; `None` stores the text as it is.
    pub level: Option<u8>,
    /// Bytes kept for payload and growth; `None` is ten times the text.
    pub max_meta_size: Option<u32>,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self { checksum: ChecksumCode::ADLER32, level: Some(6), max_meta_size: None }
    }
}

/// The bytes of a metadata section of version 3 over JSON text: header, payload, zeros, digest. As in the reference the text is
/// stored plainly where zlib makes it longer.
///
/// # Errors
/// `Usage` when the payload is longer than `max_meta_size`, or the text than the format allows; `Unsupported` for an unknown
/// checksum; `Limit` if memory for `max_meta_size` cannot be allocated.
pub fn encode_section(json: &[u8], options: &MetadataOptions) -> Result<Vec<u8>> {
    let too_long =
        || Error::usage(format!("{} bytes of metadata are more than the format allows", json.len()));
    options.checksum.algorithm()?;
    let meta_size = u32::try_from(json.len()).map_err(|_| too_long())?;
    let (meta_codec, payload) = match options.level {
        None => (0, json.to_vec()),
        Some(level) => {
            let mut encoded = Vec::new();
            Zlib.encode(json, Some(level.into()), &mut encoded)?;
            if encoded.len() > json.len() { (0, json.to_vec()) } else { (1, encoded) }
        }
    };
    let meta_comp_size = u32::try_from(payload.len()).map_err(|_| too_long())?;
    let ten_fold = || meta_size.checked_mul(10).unwrap_or(meta_size);
    let max_meta_size = options.max_meta_size.unwrap_or_else(ten_fold);
    if meta_comp_size > max_meta_size {
        return Err(Error::usage(format!(
            "{meta_comp_size} bytes of metadata do not fit their {max_meta_size} reserved bytes"
        )));
    }
    let header = MetadataHeader {
        magic_format: MetadataHeader::JSON,
        meta_options: 0,
        meta_checksum: options.checksum,
        meta_codec,
        meta_level: options.level.unwrap_or(0),
        meta_size,
        max_meta_size,
        meta_comp_size,
        user_codec: [0; 8],
    };
    let mut out = header.to_bytes().to_vec();
    out.extend(&payload);
    let room = (max_meta_size - meta_comp_size) as usize;
    let refused = || Error::out_of_memory(room as u64, isize::MAX as u64);
    out.try_reserve_exact(room).map_err(|_| refused())?;
    out.resize(out.len() + room, 0);
    options.checksum.append_digest(&payload, &mut out);
    Ok(out)
}

/// The text of a payload that `header` describes.
///
/// # Errors
/// `Unsupported` for another serializer or codec, `Malformed` when the payload is broken or its length differs from the header's,
/// `Limit`.
pub(crate) fn decode_payload(header: &MetadataHeader, payload: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    if !header.is_json() {
        let name = String::from_utf8_lossy(&header.magic_format).trim_end_matches('\0').to_owned();
        return Err(Error::unsupported(format!("metadata as {name:?}, which is not JSON")));
    }
    match header.meta_codec {
        0 => Ok(payload.to_vec()),
        1 => {
            // Deflate makes at most 1032 bytes of one.
            if u64::from(header.meta_size) > (payload.len() as u64).saturating_mul(1032) {
                let problem = format!("{} bytes of zlib cannot hold {}", payload.len(), header.meta_size);
                return Err(Error::malformed(problem));
            }
            let mut json = try_zeroed_vec(header.meta_size.into(), limits)?;
            Zlib.decode(payload, &mut json)?;
            Ok(json)
        }
        other => Err(Error::unsupported(format!("unknown metadata codec {other} (expected 0 or 1)"))),
    }
}

/// Inflates a zlib stream of unrecorded length (interim version 3): the length is determined first.
///
/// # Errors
/// `Malformed`; `Limit` over the limit or 64 MiB.
pub(crate) fn inflate_unsized(payload: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    const MAX_METADATA_LEN: u64 = 64 << 20;
    let most = MAX_METADATA_LEN.min(limits.memory);
    let mut inflater = Inflater::default();
    let mut has = |len: u64| -> Result<bool> {
        let mut json: Vec<u8> = try_zeroed_vec(len, limits)?;
        Ok(inflater.decode_prefix(payload, &mut json).is_ok())
    };
    // Bisects between `low`, which is part of the text, and `high`, which is not.
    let (mut low, mut high) = (0, 256);
    while has(high)? {
        low = high;
        high = high.saturating_mul(4);
        if high > most {
            return Err(Error::limit("memory in bytes", high, most));
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if has(middle)? { low = middle } else { high = middle }
    }
    let mut json = try_zeroed_vec(low, limits)?;
    Zlib.decode(payload, &mut json)?;
    Ok(json)
}

fn from_tree(tree: serde_json::Value) -> Value {
    match tree {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => value.into(),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => value.into(),
            (_, Some(value)) => value.into(),
            _ => number.as_f64().into(),
        },
        serde_json::Value::String(text) => python_json::unmarked(text),
        serde_json::Value::Array(items) => items.into_iter().map(from_tree).collect::<Vec<_>>().into(),
        serde_json::Value::Object(entries) => {
            let entry = |(key, value)| (python_json::unmarked_key(key), from_tree(value));
            Value::Map(entries.into_iter().map(entry).collect())
        }
    }
}

/// A Python literal as a tree; `None` for keys that are not text.
fn from_literal(literal: Literal) -> Option<Value> {
    Some(match literal {
        Literal::None => Value::Null,
        Literal::Bool(value) => value.into(),
        Literal::Int(value) => value.into(),
        Literal::Float(value) => value.into(),
        Literal::Str(text) => text.into(),
        Literal::Bytes(bytes) => bytes.into(),
        Literal::List(items) | Literal::Tuple(items) => {
            Value::List(items.into_iter().map(from_literal).collect::<Option<_>>()?)
        }
        Literal::Dict(pairs) => {
            let mut entries: Vec<(String, Value)> = Vec::new();
            for (key, value) in pairs {
                let Literal::Str(key) = key else { return None };
                entries.retain(|(known, _)| *known != key);
                entries.push((key, from_literal(value)?));
            }
            Value::Map(entries)
        }
    })
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(value) => value.is_finite(),
        Value::List(items) => items.iter().all(is_finite),
        Value::Map(entries) => entries.iter().all(|(_, value)| is_finite(value)),
        _ => true,
    }
}

fn write_json(value: &Value, out: &mut String) -> Result<()> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Float(value) if value.is_finite() => out.push_str(&Literal::Float(*value).repr()),
        Value::Float(value) if value.is_nan() => out.push_str("NaN"),
        Value::Float(value) => out.push_str(if *value > 0.0 { "Infinity" } else { "-Infinity" }),
        Value::Text(text) => write_text(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_json(item, out)?;
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_text(key, out);
                out.push(':');
                write_json(item, out)?;
            }
            out.push('}');
        }
        _ => return Err(Error::usage("JSON has no bytes")),
    }
    Ok(())
}

/// Python escapes DEL, too.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;

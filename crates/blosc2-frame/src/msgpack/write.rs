//! Encodes values as msgpack.

use container_core::{Error, Result, Value};
use rmp::encode;

use super::MAX_DEPTH;

pub(super) fn whole(value: &Value) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write(value, MAX_DEPTH, &mut out)?;
    Ok(out)
}

pub(super) fn write(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    with_items(value, depth, out, write)
}

/// Writes one value; the entries of a list or a map are written by `item`, which gets the remaining depth.
pub(super) fn with_items(
    value: &Value,
    depth: usize,
    out: &mut Vec<u8>,
    item: impl Fn(&Value, usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    // Writes to a `Vec` do not fail.
    match value {
        Value::Null => encode::write_nil(out).map_err(Error::from),
        Value::Bool(value) => encode::write_bool(out, *value).map_err(Error::from),
        Value::Int(value) => int(*value, out),
        Value::Float(value) => encode::write_f64(out, *value).map_err(wrong),
        Value::Text(text) => {
            check_len(text.len())?;
            encode::write_str(out, text).map_err(wrong)
        }
        Value::Bytes(bytes) => {
            check_len(bytes.len())?;
            encode::write_bin(out, bytes).map_err(wrong)
        }
        Value::List(items) => {
            let depth = deeper(depth)?;
            encode::write_array_len(out, check_len(items.len())?).map_err(wrong)?;
            items.iter().try_for_each(|value| item(value, depth, out))
        }
        Value::Map(entries) => {
            let depth = deeper(depth)?;
            encode::write_map_len(out, check_len(entries.len())?).map_err(wrong)?;
            for (key, value) in entries {
                check_len(key.len())?;
                encode::write_str(out, key).map_err(wrong)?;
                item(value, depth, out)?;
            }
            Ok(())
        }
        other => Err(Error::unsupported(format!("msgpack cannot store {other:?}"))),
    }
}

/// Writes the shortest form of an integer, as every writer does.
fn int(value: i128, out: &mut Vec<u8>) -> Result<()> {
    let written = match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => encode::write_uint(out, value),
        (_, Ok(value)) => encode::write_sint(out, value),
        _ => {
            let problem = format!("msgpack has no integer as large as {value}, only 64 bits");
            return Err(Error::usage(problem).with_hint("write it as text"));
        }
    };
    written.map(|_| ()).map_err(wrong)
}

pub(super) fn check_len(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| Error::usage(format!("msgpack counts 32 bits, not {len} bytes or items")))
}

pub(super) fn deeper(depth: usize) -> Result<usize> {
    let problem = || Error::usage(format!("more than {MAX_DEPTH} values within each other"));
    depth.checked_sub(1).ok_or_else(problem)
}

pub(super) fn wrong(error: encode::ValueWriteError<std::io::Error>) -> Error {
    match error {
        encode::ValueWriteError::InvalidMarkerWrite(error)
        | encode::ValueWriteError::InvalidDataWrite(error) => error.into(),
    }
}

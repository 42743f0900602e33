//! msgpack as a [`Value`], and back: the usual encoding of metalayers and user metadata.
//!
//! [`to_value`] keeps as much as possible, and runs no code: where python-blosc2 makes objects of extensions, it returns a map
//! that describes them. [`from_value`] writes msgpack for python-blosc2 and any other reader. For values with types of your own
//! there are [`to_msgpack`] and [`from_msgpack`].
//!
//! | msgpack | [`Value`] |
//! |---|---|
//! | nil, bool, integers, f64 | the same |
//! | f32 | `Float`, widened |
//! | str | `Text`; `Bytes` where it is not UTF-8 (writers of msgpack before 2013 had no bin) |
//! | bin | `Bytes` |
//! | array | `List` |
//! | array that begins with `"__tuple__"` | `List` of the rest: python-blosc2's tuples |
//! | map with text for all keys | `Map`, in order, keys that repeat included |
//! | any other map | `List` of pairs, each a `List` of key and value |
//! | ext | `Map` of `ext` (its number), `kind` where it is known, and `value` |
//!
//! Extensions: −1 `timestamp` (value: seconds and nanoseconds), and python-blosc2's own, 42 `cframe` (value: the bytes of a frame;
//! and `nbytes`, their number), 43 `reference` (a map with `kind` and `version`), 44 `complex` (real and imaginary part), 45 `set`
//! (a list), 46 `ndarray` (a map with `dtype`, `shape` and `data`, or `values`). The value is `Bytes` where it does not hold that.
//!
//! Source: the msgpack specification; `msgpack_utils.py` of python-blosc2 4.14.1.

use container_core::interchange::form;
use container_core::{Limits, Result, Value};

mod interchange;
mod json;
mod read;
#[expect(clippy::arithmetic_side_effects, reason = "counts items of values in memory")]
mod serde;
#[cfg(test)]
mod tests;
mod write;

pub use self::serde::{from_msgpack, to_msgpack};
pub use json::decode_json_text;
pub(crate) use json::parse_python_json;

use crate::b2nd::{Meta, NAME, OLD_NAME};

/// Arrays, maps and extensions within each other that are followed.
pub const MAX_DEPTH: usize = 64;

/// Decodes one msgpack value, which is all there is in `bytes`. Copies.
///
/// Takes as much memory as `limits` allow, counted in values and bytes, and no more than a small multiple of `bytes.len()`.
///
/// # Errors
/// `Truncated` and `Malformed` with the range inside `bytes`, `Limit`, `Unsupported` for more than [`MAX_DEPTH`] levels.
pub fn to_value(bytes: &[u8], limits: &Limits) -> Result<Value> {
    read::whole(bytes, limits)
}

/// Decodes one piece of user metadata so that [`from_interchange`] can encode it again. Maps with keys that are not text, extensions, and
/// bytes that are not msgpack become forms ([`container_core::interchange`]). Numbers have the shortest sufficient length.
///
/// # Errors
/// `Limit`.
pub(crate) fn to_interchange(bytes: &[u8], limits: &Limits) -> Result<Value> {
    match read::exact(bytes, limits) {
        Err(error) if !matches!(error.kind(), container_core::ErrorKind::Limit { .. }) => {
            limits.allocate(bytes.len() as u64)?;
            Ok(form("raw", bytes.to_vec()))
        }
        other => other,
    }
}

/// Decodes the values that follow each other in `bytes`, each as [`to_interchange`] has it: the items of a batch.
///
/// # Errors
/// As [`to_value`].
pub(crate) fn to_values(bytes: &[u8], limits: &Limits) -> Result<Vec<Value>> {
    read::sequence(bytes, limits)
}

/// Encodes values of [`to_interchange`], and metadata of other formats. Forms without a msgpack type are maps.
///
/// # Errors
/// As [`from_value`].
pub(crate) fn from_interchange(value: &Value) -> Result<Vec<u8>> {
    interchange::whole(value)
}

/// Encodes a value as msgpack: each number as short as it goes, floating-point numbers as f64, text as str, bytes as bin.
///
/// Tuples, odd maps and extensions are written as the lists and maps that [`to_value`] shows of them.
///
/// # Errors
/// `Usage` for integers beyond 64 bits, for more than 2³² − 1 bytes or items, and for more than [`MAX_DEPTH`] levels.
pub fn from_value(value: &Value) -> Result<Vec<u8>> {
    write::whole(value)
}

/// Returns the content of the metalayer or the piece of user metadata `name`, for display: [`to_value`], or `Bytes` where it is
/// not msgpack.
///
/// The metalayers of arrays, `b2nd` and `caterva`, are lists as C-Blosc2 reads them; the marker that it writes for 16 dimensions
/// is not msgpack.
///
/// # Errors
/// `Limit`.
pub fn metalayer_to_value(name: &str, bytes: &[u8], limits: &Limits) -> Result<Value> {
    if matches!(name, NAME | OLD_NAME)
        && let Ok(meta) = Meta::parse(bytes)
    {
        return Ok(of_array(&meta));
    }
    match to_value(bytes, limits) {
        Err(error) if !matches!(error.kind(), container_core::ErrorKind::Limit { .. }) => {
            limits.allocate(bytes.len() as u64)?;
            Ok(Value::Bytes(bytes.to_vec()))
        }
        other => other,
    }
}

/// Returns the items of the metalayer of an array.
fn of_array(meta: &Meta) -> Value {
    let longs = |lens: &[u64]| Value::List(lens.iter().map(|&len| len.into()).collect());
    let words = |lens: &[u32]| Value::List(lens.iter().map(|&len| len.into()).collect());
    let dimensions = meta.shape.len() as u64;
    let mut items = vec![
        meta.version.into(),
        dimensions.into(),
        longs(&meta.shape),
        words(&meta.chunkshape),
        words(&meta.blockshape),
    ];
    items.extend(meta.dtype_format.map(Value::from));
    // An older layout has the element type alone.
    if meta.dtype_format.is_some() || !meta.dtype.is_empty() {
        items.push(meta.dtype.as_str().into());
    }
    Value::List(items)
}

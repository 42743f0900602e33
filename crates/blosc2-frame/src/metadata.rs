//! The metadata of a frame as a tree: its metalayers by name, and below `vlmeta` those that can change.

use container_core::container::Tolerance;
use container_core::{Limits, Result, Value};

use crate::b2nd;
use crate::frame::Frame;
use crate::items;
use crate::msgpack;
use crate::tensor::{self, Tensor};

pub(crate) mod interchange;

/// Key of the user metadata.
const USER: &str = "vlmeta";

/// Advice for metadata that cannot be read.
pub(crate) const AS_FAR_AS_READABLE: &str =
    "--lenient (Tolerance::Lenient), for those that can be read; holdall repair keeps them";

/// The user metadata that hold digests of chunks: shown as checksums, not as metadata.
pub(crate) use crate::checksums::NAME as CHECKSUMS;

/// Returns all metadata, decoded.
///
/// # Errors
/// Those of a piece that cannot be read, digests among them; not where `tolerance` is lenient, which shows the reason in its place.
pub(crate) fn tree(frame: &Frame, tolerance: Tolerance) -> Result<Value> {
    let limits = &frame.options().limits;
    let fixed = frame.metalayers().iter();
    let mut entries: Vec<(String, Value)> =
        fixed.map(|(name, value)| (name.to_owned(), metalayer(name, value, limits))).collect();
    let user = user(frame, tolerance)?;
    if let Some(notes) = items::notes(&user) {
        entries.push((items::NOTES.to_owned(), notes));
    }
    if !user.is_empty() {
        entries.push((USER.to_owned(), Value::Map(user)));
    }
    Ok(Value::Map(entries))
}

/// Returns the tree without shape, chunks and blocks of an array, and without the description of a tensor. Its dataset has type and
/// shape, and the others do not count as a difference between two files.
///
/// # Errors
/// As for [`tree`].
pub(crate) fn logical_tree(frame: &Frame, tolerance: Tolerance) -> Result<Value> {
    Ok(match tree(frame, tolerance)? {
        Value::Map(mut entries) => {
            entries.retain(|(name, _)| name != b2nd::NAME && name != b2nd::OLD_NAME);
            if Tensor::is_described_by(frame, tensor::NAME) {
                if let Some((_, Value::Map(user))) = entries.iter_mut().find(|(name, _)| name == USER) {
                    user.retain(|(name, _)| name != tensor::NAME);
                }
                entries.retain(|(name, value)| name != USER || *value != Value::Map(Vec::new()));
            }
            Value::Map(entries)
        }
        other => other,
    })
}

/// The name of a piece of user metadata, and what is stored, or why it cannot be read.
type Piece<'f> = (&'f str, Result<Vec<u8>>);

/// Returns each piece of user metadata as it is stored, or its error; leaves the digests out.
///
/// # Errors
/// Those of the first piece that cannot be read, digests among them, unless `tolerance` is lenient.
pub(crate) fn pieces(frame: &Frame, tolerance: Tolerance) -> Result<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    for name in frame.vlmetalayer_names() {
        let read = frame.vlmetalayer(name).map(Option::unwrap_or_default);
        let read = read.map_err(|error| error.with_hint(AS_FAR_AS_READABLE));
        let read = if tolerance == Tolerance::Strict { Ok(read?) } else { read };
        if name != CHECKSUMS {
            pieces.push((name, read));
        }
    }
    Ok(pieces)
}

/// Returns the user metadata, decoded.
fn user(frame: &Frame, tolerance: Tolerance) -> Result<Vec<(String, Value)>> {
    let limits = &frame.options().limits;
    let value = |read: Result<Vec<u8>>| match read {
        Ok(bytes) => decode(&bytes, limits),
        Err(error) => format!("unreadable: {error}").into(),
    };
    let pieces = pieces(frame, tolerance)?.into_iter();
    Ok(pieces.map(|(name, read)| (name.to_owned(), value(read))).collect())
}

/// Decodes a metalayer, including JSON text in it.
fn metalayer(name: &str, bytes: &[u8], limits: &Limits) -> Value {
    let value = msgpack::metalayer_to_value(name, bytes, limits);
    value.map_or_else(|error| format!("not shown: {error}").into(), msgpack::decode_json_text)
}

/// Decodes user metadata; returns the bytes if they are not msgpack.
pub(crate) fn decode(bytes: &[u8], limits: &Limits) -> Value {
    metalayer("", bytes, limits)
}

//! The metadata of a frame as a tree: its metalayers by name, and below `vlmeta` those that can change.

use container_core::{Limits, Value};

use crate::b2nd;
use crate::frame::Frame;
use crate::items;
use crate::msgpack;

/// Key of the user metadata.
const USER: &str = "vlmeta";

/// The user metadata that hold digests of chunks: shown as checksums, not as metadata.
pub(crate) use crate::checksums::NAME as CHECKSUMS;

/// Everything, decoded.
pub(crate) fn tree(frame: &Frame) -> Value {
    let limits = &frame.options().limits;
    let fixed = frame.metalayers().iter();
    let mut entries: Vec<(String, Value)> =
        fixed.map(|(name, value)| (name.to_owned(), metalayer(name, value, limits))).collect();
    let user = user(frame);
    if let Some(notes) = items::notes(&user) {
        entries.push((items::NOTES.to_owned(), notes));
    }
    if !user.is_empty() {
        entries.push((USER.to_owned(), Value::Map(user)));
    }
    Value::Map(entries)
}

/// The tree without shape, chunks and blocks of an array: its dataset says the one, and the others are no difference between two files.
pub(crate) fn logical_tree(frame: &Frame) -> Value {
    match tree(frame) {
        Value::Map(mut entries) => {
            entries.retain(|(name, _)| name != b2nd::NAME && name != b2nd::OLD_NAME);
            Value::Map(entries)
        }
        other => other,
    }
}

/// The user metadata, decoded. What cannot be read says why.
fn user(frame: &Frame) -> Vec<(String, Value)> {
    let limits = &frame.options().limits;
    let names = frame.vlmetalayer_names().filter(|name| *name != CHECKSUMS);
    let value = |name: &str| match frame.vlmetalayer(name) {
        Ok(Some(bytes)) => decode(&bytes, limits),
        Ok(None) => Value::Null,
        Err(error) => format!("unreadable: {error}").into(),
    };
    names.map(|name| (name.to_owned(), value(name))).collect()
}

/// A metalayer, decoded, JSON text in it too.
fn metalayer(name: &str, bytes: &[u8], limits: &Limits) -> Value {
    let value = msgpack::metalayer_to_value(name, bytes, limits);
    value.map_or_else(|error| format!("not shown: {error}").into(), msgpack::decode_json_text)
}

/// User metadata, decoded; the bytes where they are no msgpack.
pub(crate) fn decode(bytes: &[u8], limits: &Limits) -> Value {
    metalayer("", bytes, limits)
}

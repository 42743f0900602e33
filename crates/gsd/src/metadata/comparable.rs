//! Comparison of a target's metadata with its source's.

use container_core::Value;
use container_core::interchange::{NAME, entries, remove_key, with_dataset_name, with_equal_name};

use super::OWN;

/// The parts of the format's own metadata that every file has.
const OF_HEADER: [&str; 3] = ["application", "schema", "schema_version"];

/// Metadata of a source and of a target that was made from it, without the name of a single frame and without what every GSD file adds.
pub(crate) fn comparable(source: Value, written: Value) -> (Value, Value) {
    let (source, written) = (without_frame(source), without_frame(written));
    let (source, written) = match source.get(OWN).map(header) {
        Some(header) => {
            let own = written.get(OWN).map(self::header).unwrap_or_default();
            (with_header(source, header), with_header(written, own))
        }
        None => (source, remove_key(written, OWN)),
    };
    let written = with_equal_name(written, &source);
    (source, written)
}

/// The name of one dataset without the frame that it was in.
fn without_frame(tree: Value) -> Value {
    let name = match tree.get(NAME) {
        Some(Value::Text(name)) => name.strip_prefix("frames/").and_then(|rest| rest.split_once('/')),
        _ => None,
    };
    match name.map(|(_, name)| name.to_owned()) {
        Some(name) => with_dataset_name(remove_key(tree, NAME), &name),
        None => tree,
    }
}

fn header(own: &Value) -> Vec<(String, Value)> {
    entries(own).iter().filter(|(key, _)| OF_HEADER.contains(&key.as_str())).cloned().collect()
}

fn with_header(tree: Value, header: Vec<(String, Value)>) -> Value {
    match remove_key(tree, OWN) {
        Value::Map(mut entries) => {
            entries.push((OWN.to_owned(), Value::Map(header)));
            Value::Map(entries)
        }
        other => other,
    }
}

//! Comparison of a target's metadata with its source's.

use container_core::Value;
use container_core::interchange::{form_of, with_equal_name};

/// Metadata of a source and of a target that was made from it, without what every tree adds.
pub(crate) fn comparable(source: Value, written: Value) -> (Value, Value) {
    let written = with_equal_name(without_places(written, &source), &source);
    (source, written)
}

/// The tree without top-level places of arrays that the source lacks: the tree itself records them.
fn without_places(written: Value, source: &Value) -> Value {
    let Value::Map(mut all) = written else { return written };
    all.retain(|(key, value)| {
        let is_place = matches!(form_of(value), Some(("array", array)) if array.get("more").is_none());
        !is_place || source.get(key).is_some()
    });
    Value::Map(all)
}

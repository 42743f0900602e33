//! Metadata in transit from one format to another.
//!
//! [`Interchange::export_metadata`](crate::container::Interchange::export_metadata) gives them as a [`Value`] that is a map: the user's entries under
//! their own names. Values that [`Value`], JSON or msgpack cannot express become a *form*: a map of one key, which begins with [`PREFIX`].
//!
//! | form | is | native in |
//! |---|---|---|
//! | `{"$holdall:bytes": "00ff"}` | bytes, in hexadecimal digits | msgpack, YAML |
//! | `{"$holdall:float": "nan"}` | `nan`, `inf`, `-inf`; another NaN by its bits, `0x7ff8000000000001` | msgpack, YAML |
//! | `{"$holdall:int": "18446744073709551616"}` | an integer beyond 64 bits | YAML |
//! | `{"$holdall:pairs": [[1, "a"]]}` | a map whose keys are not text, occur twice, or begin with the prefix | YAML, msgpack in part |
//! | `{"$holdall:timestamp": "2020-01-02T03:04:05"}` | a date, or date and time | YAML |
//! | `{"$holdall:tag": ["tag:…", value]}` | a value under a tag | YAML |
//! | `{"$holdall:anchor": ["a", value]}`, `{"$holdall:alias": "a"}` | a value that is used in several places, cycles included | YAML |
//! | `{"$holdall:array": {"path": "a/0", "more": {…}}}` | the place of an array that no path of maps reaches, or that has further properties | ASDF |
//! | `{"$holdall:ext": [5, bytes]}` | an extension of msgpack | msgpack |
//! | `{"$holdall:raw": bytes}` | user metadata of Blosc2 that are not msgpack | Blosc2 |
//!
//! The top level also contains, next to the user's own names: [`NAME`], the path of a dataset that its new file calls `data`; [`MORE`],
//! names that the target reserves; [`WHOLE`], metadata that are not a map. Entries of one format are below its name: `gsd`, `blosc2`,
//! `rawarray`.

mod json;
#[cfg(test)]
mod tests;
mod tree;

pub use json::{from_json_value, to_json_value};
pub use tree::{
    Forms, depth, escape_reserved, escape_top, is_equivalent, limit_depth, named_entries, path_of,
    remove_key, unescape_top, with_dataset_name, with_equal_name,
};

use crate::Value;
use crate::report::Loss;

/// Prefix of the key of a form.
pub const PREFIX: &str = "$holdall:";

/// Top key: the path that the one dataset had.
pub const NAME: &str = "$holdall:name";

/// Top key: a map of names that the target keeps for itself.
pub const MORE: &str = "$holdall:more";

/// Top key: metadata that are not a map.
pub const WHOLE: &str = "$holdall:whole";

/// Path of the one dataset of a file that gives it no name.
pub const DEFAULT_NAME: &str = "data";

/// Values within values that are carried: fewer than any of the formats takes.
pub const MAX_DEPTH: usize = 48;

/// A form: `{"$holdall:kind": payload}`.
#[must_use]
pub fn form(kind: &str, payload: impl Into<Value>) -> Value {
    Value::Map(vec![(format!("{PREFIX}{kind}"), payload.into())])
}

/// Kind and payload, where a value is a form.
#[must_use]
pub fn form_of(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::Map(entries) => match entries.as_slice() {
            [(key, payload)] => Some((key.strip_prefix(PREFIX)?, payload)),
            _ => None,
        },
        _ => None,
    }
}

/// Key and value of an item of the form `pairs`, a list of two.
#[must_use]
pub fn pair(item: &Value) -> Option<(&Value, &Value)> {
    match item {
        Value::List(both) => match both.as_slice() {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

/// The entries of a map; none for other values.
#[must_use]
pub fn entries(tree: &Value) -> &[(String, Value)] {
    match tree {
        Value::Map(entries) => entries,
        _ => &[],
    }
}

/// The loss of all metadata, for a target without a place for them.
#[must_use]
pub fn losses(tree: &Value) -> Option<Loss> {
    let names: Vec<&str> = entries(tree).iter().map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| Loss { dataset: None, what: format!("metadata: {}", names.join(", ")) })
}

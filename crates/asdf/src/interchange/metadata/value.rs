//! The tree as a `Value`: the data model that YAML, JSON and the other formats share.

use std::collections::HashMap;

use container_core::json_pointer::escape;
use container_core::{Error, Limits, Result, Value};

use crate::ndarray::NdArray;
use crate::tree::{key_text, short_tag, timestamp};
use crate::yaml::{Int, Kind, Node, NodeId, Scalar};

/// Depth beyond which a tree is converted to text: a parsed text has bounded depth, aliases may exceed it.
const MAX_DEPTH: usize = 512;

/// Approximate bytes that a value takes in memory in addition to its text.
const VALUE_SIZE: u64 = size_of::<(String, Value)>() as u64;

/// Converts the tree to a value. Aliases are resolved; an alias of a collection that contains it is `{"$ref": "#/path"}`, as a JSON reference. An
/// array is a mapping of its description: `{source, datatype, byteorder, shape, …}`, without inline data. Keys that are not text are spelled.
/// Timestamps are text.
///
/// # Errors
/// `Limit` for a tree that aliases make larger than memory.
pub(crate) fn to_value(root: Node<'_>, view: View, limits: &Limits) -> Result<Value> {
    let mut walk = Walk::new(root, view, limits, None);
    walk.value(root, "", 0)
}

/// The tags of the nodes that [`to_value`] shows, each by its JSON pointer, in the short form of files.
///
/// # Errors
/// As [`to_value`].
pub(crate) fn tags(root: Node<'_>, limits: &Limits) -> Result<HashMap<String, String>> {
    tags_of(root, View::Whole, limits)
}

/// Tags of YAML's own whose values show them.
const KINDS: [&str; 9] =
    ["!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map", "!!binary", "!!timestamp"];

/// The tags that two trees of the same content share, independent of the storage of arrays.
///
/// # Errors
/// As [`to_value`].
pub(crate) fn logical_tags(root: Node<'_>, limits: &Limits) -> Result<HashMap<String, String>> {
    let mut tags = tags_of(root, View::Logical, limits)?;
    tags.retain(|pointer, tag| {
        !pointer.is_empty() && !tag.starts_with("!core/ndarray-") && !KINDS.contains(&tag.as_str())
    });
    Ok(tags)
}

fn tags_of(root: Node<'_>, view: View, limits: &Limits) -> Result<HashMap<String, String>> {
    let mut walk = Walk::new(root, view, limits, Some(HashMap::new()));
    walk.value(root, "", 0)?;
    Ok(walk.tags.unwrap_or_default())
}

/// Extent of the metadata that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// All of the tree.
    Whole,
    /// The tree without array storage and the entries of the writing library.
    Logical,
}

struct Walk<'l> {
    view: View,
    limits: &'l Limits,
    /// Number of nodes that may still be visited: aliases of aliases soon name too many.
    left: usize,
    held: u64,
    /// The ancestors of the present node, each with its path.
    above: HashMap<NodeId, String>,
    /// Tags by JSON pointer, where they are wanted.
    tags: Option<HashMap<String, String>>,
}

impl<'l> Walk<'l> {
    fn new(root: Node<'_>, view: View, limits: &'l Limits, tags: Option<HashMap<String, String>>) -> Self {
        Self {
            view,
            limits,
            left: root.document().max_expanded_nodes(),
            held: 0,
            above: HashMap::new(),
            tags,
        }
    }
}

impl Walk<'_> {
    fn hold(&mut self, text: &str) -> Result<()> {
        self.held = self.held.saturating_add(VALUE_SIZE).saturating_add(text.len() as u64);
        self.limits.allocate(self.held).map(|_| ()).map_err(|error| error.with_context("asdf tree"))
    }

    /// Converts one node. Scalars and arrays are leaves. Before its children are visited, a collection is entered into `above`, so that an alias to
    /// it from within becomes a `$ref` instead of a cycle.
    fn value(&mut self, node: Node<'_>, path: &str, depth: usize) -> Result<Value> {
        let node = node.target();
        let Some(left) = self.left.checked_sub(1) else {
            let most = node.document().max_expanded_nodes() as u64;
            let error =
                Error::limit("nodes of the tree with aliases written out", most.saturating_add(1), most);
            return Err(error.with_context("asdf tree"));
        };
        self.left = left;
        if let Some(tags) = &mut self.tags
            && let Some(tag) = node.tag().filter(|tag| *tag != "!")
        {
            tags.insert(path.to_owned(), short_tag(tag));
        }
        if let Some(scalar) = node.scalar() {
            let value = scalar_value(scalar);
            if let Value::Text(text) = &value {
                self.hold(text)?;
            } else {
                self.hold("")?;
            }
            return Ok(value);
        }
        self.hold("")?;
        if let Some(above) = self.above.get(&node.id()) {
            return Ok(Value::Map(vec![("$ref".to_owned(), format!("#{above}").into())]));
        }
        if depth > MAX_DEPTH {
            return Ok(Value::Text(format!("more than {MAX_DEPTH} levels")));
        }
        if node.tag().is_some_and(NdArray::is_tag) {
            return self.array(node, path, depth);
        }
        self.above.insert(node.id(), path.to_owned());
        let value = match node.kind() {
            Kind::Sequence => {
                let mut items = Vec::new();
                for (index, item) in node.items().enumerate() {
                    items.push(self.value(item, &format!("{path}/{index}"), depth.saturating_add(1))?);
                }
                Value::List(items)
            }
            _ => {
                let mut entries = Vec::new();
                for (key, item) in node.pairs() {
                    let key = key_text(key);
                    if self.view == View::Logical && is_library_key(path, &key) {
                        continue;
                    }
                    self.hold(&key)?;
                    let step = escape(&key);
                    let item = self.value(item, &format!("{path}/{step}"), depth.saturating_add(1))?;
                    // A history that contained only the writer's extensions.
                    let is_emptied = path.is_empty() && key == "history" && is_empty(&item);
                    if self.view == View::Whole || !is_emptied {
                        entries.push((key, item));
                    }
                }
                Value::Map(entries)
            }
        };
        self.above.remove(&node.id());
        Ok(value)
    }

    /// Converts the description of an array, without its data.
    fn array(&mut self, node: Node<'_>, path: &str, depth: usize) -> Result<Value> {
        self.above.insert(node.id(), path.to_owned());
        let mut entries = Vec::new();
        if node.kind() == Kind::Sequence {
            entries.push(("source".to_owned(), Value::from("inline")));
        }
        for (key, item) in node.pairs() {
            let key = key_text(key);
            let value = match key.as_str() {
                // Data cannot be a mapping, so that the node is not an array: it is shown as it is.
                "data" if item.kind() != Kind::Mapping => {
                    entries.push(("source".to_owned(), Value::from("inline")));
                    continue;
                }
                // An array as a mask is a dataset of its own.
                "mask" if item.kind() != Kind::Scalar => Value::from("mask"),
                _ => self.value(item, &format!("{path}/{}", escape(&key)), depth.saturating_add(1))?,
            };
            entries.push((key, value));
        }
        self.above.remove(&node.id());
        if self.view == View::Logical {
            entries.retain(|(key, _)| {
                !matches!(
                    key.as_str(),
                    "source" | "data" | "datatype" | "byteorder" | "shape" | "offset" | "strides"
                )
            });
            entries.push(("ndarray".to_owned(), true.into()));
        }
        Ok(Value::Map(entries))
    }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Map(entries) if entries.is_empty())
}

/// Returns whether a key names the software that wrote a file, not its content.
fn is_library_key(path: &str, key: &str) -> bool {
    matches!((path, key), ("", "asdf_library") | ("/history", "extensions"))
}

fn scalar_value(scalar: Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => value.into(),
        Scalar::Int(Int::Small(value)) => value.into(),
        Scalar::Int(Int::Big(digits)) => digits.into(),
        Scalar::Float(value) => value.into(),
        Scalar::Text(text) => text.into(),
        Scalar::Timestamp(time) => timestamp(&time).into(),
        Scalar::Binary(bytes) => bytes.into(),
        Scalar::Merge => "<<".into(),
        Scalar::Default => "=".into(),
    }
}

//! Builds a tree from values and forms, with the nodes of arrays in their places.

use std::collections::{HashMap, HashSet};

use container_core::Value;
use container_core::interchange::{self, form_of};
use container_core::json_pointer::{escape, unescape};

use super::{ENTRIES, ENTRY_TAG, HISTORY, LIBRARY, ROOT_ANCHOR, ROOT_KEYS};
use crate::ndarray::NdArray;
use crate::yaml::{Int, Scalar, Yaml, resolve};

/// Metadata for a new tree, before it has nodes.
pub(crate) struct MetadataTree {
    tree: Value,
    /// Paths of arrays that have a place in it.
    placed: HashSet<String>,
    /// Anchors of such arrays.
    anchors: HashSet<String>,
}

impl MetadataTree {
    /// Prepares metadata for a file with arrays at `paths`.
    pub(crate) fn new(tree: Value, paths: &[String]) -> Self {
        let mut of = Self { tree: Value::Null, placed: HashSet::new(), anchors: HashSet::new() };
        of.collect_arrays(&tree);
        let placed = &of.placed;
        let is_alias = |value: &Value| matches!(form_of(value), Some(("alias", Value::Text(name))) if of.anchors.contains(name));
        let in_the_way = |key: &str, value: &Value| {
            let key = escape(key);
            !is_alias(value) && paths.iter().any(|path| *path == key && !placed.contains(path))
        };
        let aside = interchange::escape_top(tree, &|key, value| {
            key == LIBRARY || (key == HISTORY && !is_history(value)) || in_the_way(key, value)
        });
        of.tree = aside;
        of
    }

    fn collect_arrays(&mut self, value: &Value) {
        match form_of(value) {
            Some(("array", inner)) => {
                if let Some(Value::Text(path)) = inner.get("path") {
                    self.placed.insert(path.clone());
                }
            }
            Some(("anchor", Value::List(parts))) => {
                if let [Value::Text(name), inner] = parts.as_slice()
                    && matches!(form_of(inner), Some(("array", _)))
                {
                    self.anchors.insert(name.clone());
                }
            }
            _ => {}
        }
        match value {
            Value::List(items) => items.iter().for_each(|item| self.collect_arrays(item)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| self.collect_arrays(value)),
            _ => {}
        }
    }

    /// Whether metadata with places of arrays are not a mapping, which the root of a tree has to be.
    pub(crate) fn is_no_mapping(&self) -> bool {
        !self.placed.is_empty() && self.tree.get(interchange::WHOLE).is_some()
    }

    /// True where an alias of another array is at a path, or one that a merge brings there: that array is this one.
    pub(crate) fn is_alias(&self, path: &str) -> bool {
        let steps: Vec<&str> = path.split('/').collect();
        self.leads_to_another(&self.tree, &steps, Merged::No)
    }

    fn leads_to_another(&self, value: &Value, steps: &[&str], merged: Merged) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            let is_array = || matches!(form_of(bare(value)), Some(("array", _)));
            let is_alias =
                matches!(form_of(value), Some(("alias", Value::Text(name))) if self.anchors.contains(name));
            return is_alias || (merged == Merged::Yes && is_array());
        };
        let here = without_tags(value);
        let next = match (form_of(here), here) {
            (Some(("pairs", Value::List(pairs))), _) => {
                let both = || pairs.iter().filter_map(interchange::pair);
                let key = unescape(step);
                let own = both().find(|(own, _)| matches!(own, Value::Text(own) if *own == key));
                if own.is_none() && merged == Merged::No {
                    let bases = both().filter(|(key, _)| is_merge(key)).flat_map(|(_, value)| match value {
                        Value::List(bases) => bases.iter().collect(),
                        one => vec![one],
                    });
                    let mut bases = bases.filter_map(|base| match form_of(base) {
                        Some(("alias", Value::Text(name))) => find_anchor(&self.tree, name),
                        _ => None,
                    });
                    return bases.any(|base| self.leads_to_another(base, steps, Merged::Yes));
                }
                own.map(|(_, value)| value)
            }
            (_, Value::List(items)) => step.parse().ok().and_then(|at: usize| items.get(at)),
            (_, other) => other.get(&unescape(step)),
        };
        next.is_some_and(|next| self.leads_to_another(next, rest, merged))
    }
}

/// Whether a merge was followed on the path: at most one is.
#[derive(Clone, Copy, PartialEq)]
enum Merged {
    No,
    Yes,
}

/// The key `<<` by its tag: its value belongs to the map around it.
fn is_merge(key: &Value) -> bool {
    match form_of(key) {
        Some(("tag", Value::List(parts))) => {
            matches!(parts.first(), Some(Value::Text(tag)) if tag == "tag:yaml.org,2002:merge")
        }
        _ => false,
    }
}

/// The value with an anchor.
fn find_anchor<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    if let Some(("anchor", Value::List(parts))) = form_of(value)
        && matches!(parts.first(), Some(Value::Text(own)) if own == name)
    {
        return Some(value);
    }
    match value {
        Value::List(items) => items.iter().find_map(|item| find_anchor(item, name)),
        Value::Map(entries) => entries.iter().find_map(|(_, value)| find_anchor(value, name)),
        _ => None,
    }
}

/// Removes tags and anchors from a value; the place of an array is returned unchanged.
fn bare(value: &Value) -> &Value {
    match form_of(value) {
        Some(("tag" | "anchor", Value::List(parts))) => parts.get(1).map_or(value, bare),
        _ => value,
    }
}

/// Removes tags and anchors from a value.
fn without_tags(value: &Value) -> &Value {
    match form_of(value) {
        Some(("tag" | "anchor", Value::List(parts))) => match parts.as_slice() {
            [_, value] => without_tags(value),
            _ => value,
        },
        Some(("array", array)) => array.get("more").unwrap_or(value),
        _ => value,
    }
}

/// True for a history of user entries only.
fn is_history(value: &Value) -> bool {
    let is_entry = |item: &Value| match form_of(item) {
        Some(("tag", Value::List(parts))) => {
            matches!(parts.first(), Some(Value::Text(tag)) if tag.starts_with(ENTRY_TAG))
        }
        _ => false,
    };
    match interchange::entries(value) {
        [(key, Value::List(items))] => key == ENTRIES && items.iter().all(is_entry),
        _ => false,
    }
}

/// The root of a tree, with the nodes of arrays that have a place in it; those are taken out of `arrays`. The second value is the anchor of the root.
pub(crate) fn to_tree(
    tree: &MetadataTree,
    arrays: &mut HashMap<String, Yaml>,
) -> (Vec<(Yaml, Yaml)>, Option<String>) {
    let mut build = Build { arrays, anchors: HashSet::new() };
    let anchor = match tree.tree.get(ROOT_ANCHOR) {
        Some(Value::Text(name)) if is_anchor(name) => Some(name.clone()),
        _ => None,
    };
    build.anchors.extend(anchor.clone());
    let others = tree.tree.get(ROOT_KEYS).and_then(root_keys);
    let hidden =
        |key: &str| key == interchange::NAME || key == ROOT_ANCHOR || (key == ROOT_KEYS && others.is_some());
    let entries: Vec<_> = interchange::entries(&tree.tree).iter().filter(|(key, _)| !hidden(key)).collect();
    let mut others = others.unwrap_or_default().into_iter().peekable();
    let mut pairs = Vec::new();
    // Each at its old place, because an alias has to come after its anchor.
    for (at, (key, value)) in (0..).zip(entries) {
        while let Some((key, value, _)) = others.next_if(|(.., before)| *before <= at) {
            pairs.push((build.value(key), build.value(value)));
        }
        pairs.push((Yaml::text(key), build.value(value)));
    }
    pairs.extend(others.map(|(key, value, _)| (build.value(key), build.value(value))));
    (pairs, anchor)
}

/// Key, value and place of the root's entries whose key is not text; `None` for lists that an export cannot have made.
fn root_keys(list: &Value) -> Option<Vec<(&Value, &Value, i128)>> {
    let Value::List(items) = list else { return None };
    items.iter().map(root_key).collect()
}

fn root_key(item: &Value) -> Option<(&Value, &Value, i128)> {
    let Value::List(parts) = item else { return None };
    match parts.as_slice() {
        [Value::Text(key), ..] if !key.starts_with(interchange::PREFIX) => None,
        [key, value, Value::Int(before)] => Some((key, value, *before)),
        _ => None,
    }
}

struct Build<'a> {
    arrays: &'a mut HashMap<String, Yaml>,
    /// Anchors before the node that is made now.
    anchors: HashSet<String>,
}

impl Build<'_> {
    fn value(&mut self, value: &Value) -> Yaml {
        if let Some(node) = form_of(value).and_then(|(kind, payload)| self.form(kind, payload)) {
            return node;
        }
        match value {
            Value::Bool(value) => Yaml::Bool(*value),
            Value::Int(value) => Yaml::int(*value),
            Value::Float(value) => Yaml::Float(*value),
            Value::Text(text) => Yaml::text(text),
            Value::Bytes(bytes) => Yaml::Binary(bytes.clone()),
            Value::List(items) => Yaml::sequence(items.iter().map(|item| self.value(item))),
            Value::Map(entries) => {
                Yaml::mapping(entries.iter().map(|(key, value)| (key.clone(), self.value(value))))
            }
            // Null, and values that a later version of the library adds.
            _ => Yaml::Null,
        }
    }

    /// `None` for an invalid form: it stays a map.
    fn form(&mut self, kind: &str, payload: &Value) -> Option<Yaml> {
        match (kind, payload) {
            ("int", Value::Text(digits)) => match resolve(digits) {
                Scalar::Int(Int::Big(digits)) => Some(Yaml::Int(Int::Big(digits))),
                _ => None,
            },
            ("timestamp", Value::Text(text)) => match resolve(text) {
                Scalar::Timestamp(time) => Some(Yaml::Timestamp(time)),
                _ => None,
            },
            ("pairs", Value::List(pairs)) => {
                let pairs = pairs.iter().map(interchange::pair).collect::<Option<Vec<_>>>()?;
                let nodes = pairs.into_iter().map(|(key, value)| (self.value(key), self.value(value)));
                Some(Yaml::Mapping(nodes.collect(), None))
            }
            ("tag", Value::List(parts)) => match parts.as_slice() {
                // Metadata must not name blocks of this file.
                [Value::Text(tag), inner] if is_tag(tag) && !NdArray::is_tag(tag) => {
                    Some(self.value(inner).tagged(tag.as_str()))
                }
                _ => None,
            },
            ("anchor", Value::List(parts)) => match parts.as_slice() {
                [Value::Text(name), inner] if is_anchor(name) && self.anchors.insert(name.clone()) => {
                    Some(Yaml::Anchored(name.clone(), Box::new(self.value(inner))))
                }
                _ => None,
            },
            ("alias", Value::Text(name)) => self.anchors.contains(name).then(|| Yaml::Alias(name.clone())),
            ("array", Value::Map(_)) => self.array(payload),
            _ => None,
        }
    }

    fn array(&mut self, array: &Value) -> Option<Yaml> {
        let Some(Value::Text(path)) = array.get("path") else { return None };
        let Yaml::Tagged(tag, node) = self.arrays.remove(path)? else { return None };
        let Yaml::Mapping(mut pairs, style) = *node else { return None };
        for (key, value) in array.get("more").map(interchange::entries).unwrap_or_default() {
            // A mask that is written anew replaces the old one.
            let is_there = pairs.iter().any(|(own, _)| matches!(own, Yaml::Text(own, _) if own == key));
            if !super::STORAGE.contains(&key.as_str()) && !is_there {
                pairs.push((Yaml::text(key), self.value(value)));
            }
        }
        Some(Yaml::Mapping(pairs, style).tagged(tag))
    }
}

fn is_anchor(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && tag != "!" && tag.bytes().all(|byte| byte.is_ascii_graphic())
}

//! Transformations of metadata in transit: names set aside and joined again, forms guarded, depth bounded.

use std::collections::{HashMap, HashSet};

use super::{DEFAULT_NAME, MAX_DEPTH, MORE, NAME, PREFIX, WHOLE, entries, form, form_of, pair};
use crate::Value;
use crate::json_pointer::unescape;
use crate::report::Loss;

/// Converts metadata of a format for transit. A map with repeated keys, or with keys that resemble those of a form, becomes the form
/// `pairs`; values that are not a map are below [`WHOLE`].
#[must_use]
pub fn escape_reserved(value: Value, forms: Forms) -> Value {
    match guard(value, forms) {
        Value::Map(entries) if !is_pairs(&entries) => Value::Map(entries),
        other => Value::Map(vec![(WHOLE.to_owned(), other)]),
    }
}

/// Treatment of maps in a file's metadata that resemble a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    /// The file may have been written by a conversion.
    Known,
    /// The format needs no forms: the map is the user's.
    None,
}

fn is_pairs(entries: &[(String, Value)]) -> bool {
    matches!(entries, [(key, _)] if key.strip_prefix(PREFIX) == Some("pairs"))
}

fn guard(value: Value, forms: Forms) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(|item| guard(item, forms)).collect()),
        Value::Map(entries) => {
            let mut seen = HashSet::with_capacity(entries.len());
            let twice = !entries.iter().all(|(key, _)| seen.insert(key.as_str()));
            let ours = forms == Forms::None && entries.iter().any(|(key, _)| key.starts_with(PREFIX));
            let entries: Vec<(String, Value)> =
                entries.into_iter().map(|(key, value)| (key, guard(value, forms))).collect();
            if twice || ours {
                let pairs = entries.into_iter().map(|(key, value)| Value::List(vec![key.into(), value]));
                return form("pairs", pairs.collect::<Vec<_>>());
            }
            Value::Map(entries)
        }
        other => other,
    }
}

/// The path that the only dataset of a file is to have in another: an empty one, too, which keys of a tree can make.
#[must_use]
pub fn path_of<'v>(tree: &'v Value, own: &'v str) -> &'v str {
    match tree.get(NAME) {
        Some(Value::Text(name)) if own == DEFAULT_NAME => name,
        _ => own,
    }
}

/// The metadata for a file that calls its one dataset `data`: with the path that it had, where that was another.
#[must_use]
pub fn with_dataset_name(tree: Value, path: &str) -> Value {
    match tree {
        Value::Map(mut entries) if path != DEFAULT_NAME => {
            entries.retain(|(key, _)| key != NAME);
            entries.push((NAME.to_owned(), path.into()));
            Value::Map(entries)
        }
        other => other,
    }
}

/// The tree with the dataset name of `source` instead of its own, where both are the same apart from escapes: a path of ASDF has slashes and tildes
/// within its steps escaped, other names have them so or as they are.
#[must_use]
pub fn with_equal_name(tree: Value, source: &Value) -> Value {
    let (Some(Value::Text(own)), Some(Value::Text(name))) = (tree.get(NAME), source.get(NAME)) else {
        return tree;
    };
    let spellings = |path: &str| [path.to_owned(), unescape(path).into_owned()];
    let is_same = spellings(own).iter().any(|own| spellings(name).contains(own));
    if is_same { with_dataset_name(tree, name) } else { tree }
}

/// The map without one key of its top.
#[must_use]
pub fn remove_key(tree: Value, key: &str) -> Value {
    match tree {
        Value::Map(mut entries) => {
            entries.retain(|(own, _)| own != key);
            Value::Map(entries)
        }
        other => other,
    }
}

/// Moves names that the target keeps for itself below [`MORE`].
#[must_use]
pub fn escape_top(tree: Value, is_taken: &dyn Fn(&str, &Value) -> bool) -> Value {
    let Value::Map(all) = tree else { return tree };
    let (taken, mut free): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, value)| is_taken(key, value));
    if !taken.is_empty() {
        free.push((MORE.to_owned(), Value::Map(taken)));
    }
    Value::Map(free)
}

/// Moves the entries below [`MORE`] back to the top.
#[must_use]
pub fn unescape_top(tree: Value) -> Value {
    let Value::Map(mut all) = tree else { return tree };
    let Some(at) = all.iter().position(|(key, value)| key == MORE && matches!(value, Value::Map(_))) else {
        return Value::Map(all);
    };
    if let (_, Value::Map(more)) = all.remove(at) {
        let own: HashSet<String> = all.iter().map(|(key, _)| key.clone()).collect();
        all.extend(more.into_iter().filter(|(key, _)| !own.contains(key)));
    }
    Value::Map(all)
}

/// Levels of values within values.
#[must_use]
pub fn depth(value: &Value) -> usize {
    match value {
        Value::List(items) => items.iter().map(depth).max().unwrap_or(0).saturating_add(1),
        Value::Map(entries) => {
            entries.iter().map(|(_, value)| depth(value)).max().unwrap_or(0).saturating_add(1)
        }
        _ => 0,
    }
}

/// Drops entries that are nested deeper than every format can hold: returns the rest, and the losses.
#[must_use]
pub fn limit_depth(tree: Value) -> (Value, Vec<Loss>) {
    let Value::Map(all) = tree else { return (tree, Vec::new()) };
    let (kept, deep): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, value)| depth(value) < MAX_DEPTH);
    let lost = deep.into_iter().map(|(key, _)| {
        let what = format!("metadata: {key}, more than {MAX_DEPTH} values within each other");
        Loss { dataset: None, what }
    });
    (Value::Map(kept), lost.collect())
}

/// Names of forms, after the prefix.
const KINDS: [&str; 11] =
    ["bytes", "float", "int", "pairs", "timestamp", "tag", "anchor", "alias", "array", "ext", "raw"];

/// The entries of a map, also of one that is the form `pairs` for its keys alone: all of them text, and there once. Not of one that would be
/// another form without.
#[must_use]
pub fn named_entries(value: &Value) -> Option<Vec<(&str, &Value)>> {
    let Value::Map(entries) = value else { return None };
    let named = named_pairs(value);
    Some(named.unwrap_or_else(|| entries.iter().map(|(key, value)| (key.as_str(), value)).collect()))
}

fn named_pairs(value: &Value) -> Option<Vec<(&str, &Value)>> {
    let Some(("pairs", Value::List(items))) = form_of(value) else { return None };
    let mut seen = HashSet::with_capacity(items.len());
    let named = items.iter().map(|item| match pair(item)? {
        (Value::Text(key), value) => seen.insert(key.as_str()).then_some((key.as_str(), value)),
        _ => None,
    });
    let named = named.collect::<Option<Vec<_>>>()?;
    let is_form = |key: &str| key.strip_prefix(PREFIX).is_some_and(|kind| KINDS.contains(&kind));
    (!matches!(named[..], [(key, _)] if is_form(key))).then_some(named)
}

/// True where two trees are equivalent: the order of keys is ignored, all NaNs are equal, and a map equals its form.
#[must_use]
pub fn is_equivalent(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Map(_), Value::Map(_)) => {
            let (one, other) = (named_entries(a).unwrap_or_default(), named_entries(b).unwrap_or_default());
            let there: HashMap<&str, &Value> = other.iter().copied().collect();
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| there.get(key).is_some_and(|other| is_equivalent(value, other)))
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equivalent(a, b))
        }
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        _ => a == b && entries(a).is_empty(),
    }
}

//! Checks the tree.

use std::collections::{HashMap, HashSet};

use container_core::report::{Finding, Severity};
use container_core::{Limits, Result};

use super::limit_findings;
use crate::tree::key_text;
use crate::yaml::{
    Document, Kind, Node, NodeId, Scalar, ScalarStyle, YAML_TAG_PREFIX, invalid_directives, is_invalid_plain,
    resolve_tagged,
};

pub(crate) fn findings(document: &Document, limits: &Limits) -> Result<Vec<Finding>> {
    let (mut doubled, mut wrong) = (Vec::new(), Vec::new());
    for (range, line) in invalid_directives(document.text()) {
        let message = format!("the directive {line:?}, which Python asdf does not read");
        let place = |at: usize| document.base().saturating_add(at as u64);
        wrong.push(Finding::new(Severity::Error, "tree", message).at(place(range.start)..place(range.end)));
    }
    let mut items: HashMap<NodeId, Role> = HashMap::new();
    document.walk(false, limits, &mut |path, node| {
        if node.is_alias() {
            return Ok(true);
        }
        let role = items.remove(&node.id()).unwrap_or(Role::Value);
        if node.kind() == Kind::Sequence
            && let Some(role) = role_of_items(node)
        {
            items.extend(node.items().filter(|item| !item.is_alias()).map(|item| (item.id(), role)));
        }
        let shown = || if path.is_empty() { "the tree".to_owned() } else { path.to_owned() };
        if let Some(what) = contradiction(node, role) {
            let message = format!("{} {what}, which Python asdf does not read", shown());
            wrong.push(Finding::new(Severity::Error, "tree", message).at(node.range()));
        }
        for key in duplicate_keys(node) {
            let message = format!("{}: duplicate key {:?}, readers use the last one", shown(), key_text(key));
            doubled.push(Finding::new(Severity::Warning, "duplicate_key", message).at(key.range()));
        }
        Ok(true)
    })?;
    Ok([limit_findings(doubled), limit_findings(wrong)].concat())
}

/// The keys of a mapping that occur in it before.
fn duplicate_keys(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() != Kind::Mapping || node.len() < 2 {
        return Vec::new();
    }
    let mut seen = HashSet::with_capacity(node.len());
    // Text and a number that is spelled the same are two keys; several `<<` are all merged.
    let is_known = |key: &Node<'_>| match key.scalar() {
        None | Some(Scalar::Merge) => false,
        Some(scalar) => !seen.insert((matches!(scalar, Scalar::Text(_)), key_text(*key))),
    };
    node.entries().map(|(key, _)| key).filter(is_known).collect()
}

/// The role of a sequence's items, where its tag gives them one.
fn role_of_items(node: Node<'_>) -> Option<Role> {
    match node.tag()?.strip_prefix(YAML_TAG_PREFIX)? {
        "omap" => Some(Role::Entry),
        "pairs" => Some(Role::Pair),
        _ => None,
    }
}

/// The role of a node in a collection: PyYAML reads the items of `!!omap` and `!!pairs` itself, whatever their tags.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Value,
    /// Item of an `!!omap`.
    Entry,
    /// Item of a `!!pairs`.
    Pair,
}

/// Reports why the loader of Python asdf refuses a node (PyYAML 6 `SafeConstructor`, and `AsdfLoader` of asdf 6): keys, merges, and values that a
/// tag of YAML's own does not fit.
fn contradiction(node: Node<'_>, role: Role) -> Option<&'static str> {
    if node.kind() == Kind::Mapping
        && let Some(what) = node.entries().find_map(|(key, value)| wrong_pair(key, value, role))
    {
        return Some(what);
    }
    if role != Role::Value {
        return None;
    }
    if is_impossible_plain(node) {
        return Some(IMPOSSIBLE_SCALAR);
    }
    let name = node.tag()?.strip_prefix(YAML_TAG_PREFIX)?;
    let fits = match (name, node.kind()) {
        ("map" | "set", kind) => kind == Kind::Mapping,
        ("seq", kind) => kind == Kind::Sequence,
        ("omap" | "pairs", Kind::Sequence) => {
            let is_pair = |item: Node<'_>| item.kind() == Kind::Mapping && item.len() == 1;
            return (!node.items().all(is_pair)).then_some("has an item that is not a mapping of one key");
        }
        ("omap" | "pairs", _) => false,
        _ => return wrong_scalar(node, name),
    };
    (!fits).then_some(TAG_MISMATCH)
}

const IMPOSSIBLE_SCALAR: &str = "has the form of a date or number, but is not one";

fn is_impossible_plain(node: Node<'_>) -> bool {
    node.scalar_style() == Some(ScalarStyle::Plain) && node.tag().is_none() && is_invalid_plain(node.text())
}

const TAG_MISMATCH: &str = "has a standard YAML tag that does not match its value";

/// Tags of scalars, whose value may be a mapping with a default value.
const SCALAR_TAGS: [&str; 6] = ["str", "int", "float", "bool", "null", "binary"];

/// Reports a scalar, or the default value of a mapping, that does not fit the type of its tag.
fn wrong_scalar(node: Node<'_>, name: &str) -> Option<&'static str> {
    let fits = if name == "timestamp" {
        // PyYAML matches the text before it looks for a default value.
        matches!(node.scalar(), Some(Scalar::Timestamp(_)))
    } else if SCALAR_TAGS.contains(&name) {
        let value = default_of(node).map(|scalar| resolve_tagged(name, scalar.text()));
        match (name, value) {
            (_, None) => false,
            ("str", _) => true,
            ("int", Some(value)) => matches!(value, Scalar::Int(_)),
            ("float", Some(value)) => matches!(value, Scalar::Float(_)),
            ("bool", Some(value)) => matches!(value, Scalar::Bool(_)),
            ("null", Some(value)) => value == Scalar::Null,
            (_, Some(value)) => matches!(value, Scalar::Binary(_)),
        }
    } else {
        true
    };
    (!fits).then_some(TAG_MISMATCH)
}

/// The scalar, or the one that a mapping has under the key `=` (YAML 1.1, "Default Value Language-Independent Type"), mappings within mappings
/// as PyYAML follows them.
fn default_of(node: Node<'_>) -> Option<Node<'_>> {
    // Each step is one level deeper, and trees end; aliases could form a circle.
    let mut here = node.target();
    for _ in 0..MAX_DEFAULTS {
        match here.kind() {
            Kind::Scalar => return Some(here),
            Kind::Sequence => return None,
            Kind::Mapping => {
                let mut entries = here.entries();
                here = entries.find(|(key, _)| key.scalar() == Some(Scalar::Default))?.1.target();
            }
        }
    }
    None
}

/// Limit of mappings within mappings around one default value.
const MAX_DEFAULTS: usize = 64;

/// Reports why a key and a value cannot be a pair.
fn wrong_pair(key: Node<'_>, value: Node<'_>, role: Role) -> Option<&'static str> {
    let name = key.tag().map(|tag| tag.strip_prefix(YAML_TAG_PREFIX));
    let unfit = name.flatten().and_then(|name| wrong_scalar(key, name));
    if unfit.is_some() && key.kind() == Kind::Scalar {
        return unfit;
    }
    if is_impossible_plain(key) {
        return Some("has a key with the form of a date or number that is not one");
    }
    match (key.scalar(), role) {
        // They are a list of two.
        (_, Role::Pair) => None,
        (None, _) => {
            let stands_for_one =
                name.flatten().is_some_and(|name| SCALAR_TAGS.contains(&name)) && unfit.is_none();
            (!stands_for_one).then_some("has a collection as a key")
        }
        (Some(Scalar::Merge | Scalar::Default), Role::Entry) => {
            Some("has << or = as a key (expected a value)")
        }
        (Some(Scalar::Merge), Role::Value) => {
            let merges = match value.kind() {
                Kind::Mapping => true,
                Kind::Sequence => value.items().all(|item| item.kind() == Kind::Mapping),
                Kind::Scalar => false,
            };
            (!merges).then_some("merges a value that is not a mapping")
        }
        // Python asdf keeps the tag with the text, and such a text is not a key.
        (Some(_), _) if name == Some(None) && key.tag() != Some("!") => {
            Some("has a key with a tag that is not a standard YAML tag")
        }
        _ => None,
    }
}

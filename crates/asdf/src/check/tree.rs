//! What is odd about the tree.

use std::collections::HashSet;

use container_core::report::{Finding, Severity};
use container_core::{Limits, Result};

use super::some;
use crate::meta::key_text;
use crate::yaml::{Document, Kind, Node, Scalar, wrong_directives};

/// What tags of YAML's own begin with.
const YAML: &str = "tag:yaml.org,2002:";

pub(crate) fn findings(document: &Document, limits: &Limits) -> Result<Vec<Finding>> {
    let (mut doubled, mut wrong) = (Vec::new(), Vec::new());
    for (range, line) in wrong_directives(document.text()) {
        let message = format!("{line:?} is no directive that Python asdf reads");
        let place = |at: usize| document.base().saturating_add(at as u64);
        wrong.push(Finding::new(Severity::Error, "tree", message).at(place(range.start)..place(range.end)));
    }
    document.walk(false, limits, &mut |path, node| {
        if node.is_alias() {
            return Ok(true);
        }
        let shown = || if path.is_empty() { "the tree".to_owned() } else { path.to_owned() };
        if let Some(what) = contradiction(node) {
            let message = format!("{} {what}, which Python asdf does not read", shown());
            wrong.push(Finding::new(Severity::Error, "tree", message).at(node.range()));
        }
        for key in duplicate_keys(node) {
            let message = format!("{} has the key {:?} twice; the last one counts", shown(), key_text(key));
            doubled.push(Finding::new(Severity::Warning, "duplicate_key", message).at(key.range()));
        }
        Ok(true)
    })?;
    Ok([some(doubled), some(wrong)].concat())
}

/// The keys of a mapping that stand in it before.
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

/// What a tag of YAML's own, a key or a merge says that cannot be.
fn contradiction(node: Node<'_>) -> Option<&'static str> {
    if node.kind() == Kind::Mapping {
        for (key, value) in node.entries() {
            match key.scalar() {
                None => return Some("has a collection as a key"),
                Some(Scalar::Merge) if value.kind() == Kind::Scalar => {
                    return Some("merges what is no mapping");
                }
                Some(_) => {}
            }
        }
    }
    let name = node.tag()?.strip_prefix(YAML)?;
    let fits = match (name, node.kind()) {
        ("map" | "set", kind) => kind == Kind::Mapping,
        ("seq" | "omap" | "pairs", kind) => kind == Kind::Sequence,
        ("str", kind) => kind == Kind::Scalar,
        ("int", _) => matches!(node.scalar(), Some(Scalar::Int(_))),
        ("float", _) => matches!(node.scalar(), Some(Scalar::Float(_))),
        ("bool", _) => matches!(node.scalar(), Some(Scalar::Bool(_))),
        ("null", _) => matches!(node.scalar(), Some(Scalar::Null)),
        ("binary", _) => matches!(node.scalar(), Some(Scalar::Binary(_))),
        ("timestamp", _) => matches!(node.scalar(), Some(Scalar::Timestamp(_))),
        _ => true,
    };
    (!fits).then_some("has a tag of YAML's own that its value does not fit")
}

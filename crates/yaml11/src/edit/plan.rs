//! The plan of an edit: splices of the text, and the expected outcome.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use container_core::json_pointer::unescape;
use container_core::{Error, Result};

use crate::{Document, Kind, LookupResult, Node, NodeId, Scalar, Yaml};

use super::{flow_style, spans};

/// Bytes of the text that give way to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(at..at, text)
    }

    pub(super) fn delete(range: Range<usize>) -> Self {
        Self::new(range, "")
    }
}

/// Expected result of the edit for a node of the document before it. All nodes that are not named must be unchanged.
#[derive(Clone, Debug)]
pub(super) enum Outcome<'y> {
    /// The node gave way to this value.
    Value(Cow<'y, Yaml>),
    /// The collection has one more child at this index; pairs have keys.
    Added { index: usize, key: Option<Yaml>, value: Cow<'y, Yaml> },
    /// The empty node became a mapping of this one pair.
    StartedMapping { key: Yaml, value: Cow<'y, Yaml> },
    /// The collection no longer has these children, in order.
    Removed(Vec<usize>),
    /// The pair has this key.
    Renamed { index: usize, key: Yaml },
}

/// An edit of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan<'y> {
    pub(super) splices: Vec<Splice>,
    pub(super) outcomes: HashMap<NodeId, Outcome<'y>>,
}

impl<'y> Plan<'y> {
    pub(super) fn new(splices: Vec<Splice>, node: Node<'_>, outcome: Outcome<'y>) -> Self {
        Self { splices, outcomes: HashMap::from([(node.id(), outcome)]) }
    }
}

/// A place that a path names.
pub(super) enum Target<'d> {
    Root,
    /// The pair at this index, which is the last of its key.
    Pair {
        mapping: Node<'d>,
        index: usize,
    },
    /// A key that the mapping does not have, or has only by a merge.
    NoPair {
        mapping: Node<'d>,
        key: String,
        is_merged: bool,
    },
    Item {
        sequence: Node<'d>,
        index: usize,
    },
    /// The place after the last item.
    End {
        sequence: Node<'d>,
    },
}

/// The place of a path. All but its last step must exist.
pub(super) fn find<'d>(document: &'d Document, path: &str) -> Result<Target<'d>> {
    try_find(document, path)?.ok_or_else(|| missing(document, path))
}

/// The place of a path, `None` where the parent of its last step is absent.
pub(super) fn try_find<'d>(document: &'d Document, path: &str) -> Result<Option<Target<'d>>> {
    if path.is_empty() {
        return Ok(Some(Target::Root));
    }
    // The parent of an empty key is named by a pointer, too: `/` is not the root.
    let (parent_path, step) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(parent) = document.find(parent_path) else { return Ok(None) };
    let parent = parent.target();
    let step = unescape(step);
    match parent.kind() {
        Kind::Sequence if step == "-" => Ok(Some(Target::End { sequence: parent })),
        Kind::Sequence => {
            let index = step
                .parse()
                .ok()
                .filter(|index| *index < parent.len() && step.bytes().all(|b| b.is_ascii_digit()));
            let index = index.ok_or_else(|| {
                let message = format!("no item {path:?} (the sequence has {})", parent.len());
                Error::usage(message)
                    .with_hint("items are counted from 0; `-` is the position after the last")
            })?;
            Ok(Some(Target::Item { sequence: parent, index }))
        }
        // A key without a value, and an empty root, can become a mapping.
        Kind::Scalar if !is_nothing(parent) => {
            let message = format!("no {path:?}: {parent_path:?} is neither a mapping nor a sequence");
            Err(Error::usage(message).with_range(parent.range()))
        }
        Kind::Scalar if is_merge(document, parent_path) => {
            let message = format!("cannot set {path:?}: the mapping after `<<` is merged into another");
            Err(Error::usage(message)
                .with_range(parent.range())
                .with_hint("set the key in the mapping that has the `<<`"))
        }
        _ => Ok(Some(match own_pair(parent, &step) {
            Some(index) => Target::Pair { mapping: parent, index },
            None => Target::NoPair {
                mapping: parent,
                is_merged: parent.get(&step).is_some(),
                key: step.into_owned(),
            },
        })),
    }
}

/// True for a plain scalar without a character, with or without tag and anchor.
pub(super) fn is_nothing(node: Node<'_>) -> bool {
    node.kind() == Kind::Scalar && node.content_span().is_empty()
}

/// True for the path of a merge key's value, and for that of an item of the sequence there: as a mapping it is merged.
fn is_merge(document: &Document, path: &str) -> bool {
    let is_behind = |path: &str| match find(document, path) {
        Ok(Target::Pair { mapping, index }) => {
            mapping.entry(index).is_some_and(|(key, _)| key.scalar() == Some(Scalar::Merge))
        }
        _ => false,
    };
    let sequence = path.rsplit_once('/').map(|(sequence, _)| sequence);
    let is_item = matches!(find(document, path), Ok(Target::Item { .. }));
    is_behind(path) || (is_item && sequence.is_some_and(is_behind))
}

/// The effective pair with this key, without merged ones: of equal keys the last, and text keys before others that are written alike.
fn own_pair(mapping: Node<'_>, step: &str) -> Option<usize> {
    match mapping.lookup_pair(step) {
        LookupResult::Pair(index) => return Some(index),
        LookupResult::Absent => return None,
        LookupResult::Unclear => {}
    }
    let count = mapping.len();
    let last = |found: &dyn Fn(Node<'_>) -> bool| {
        let back = mapping.entries().rev().position(|(key, _)| found(key))?;
        count.checked_sub(back)?.checked_sub(1)
    };
    let is_text = |key: Node<'_>| matches!(key.scalar(), Some(Scalar::Text(text)) if text == step);
    last(&is_text).or_else(|| last(&|key| key.key_text().as_deref() == Some(step)))
}

/// Names the first absent step of a path, which has to be created first.
pub(super) fn missing(document: &Document, path: &str) -> Error {
    let error = absent(document, path);
    match first_absent(document, path) {
        None => error,
        Some((_, "")) => error.with_hint("set it first, in the root"),
        Some((_, parent)) => error.with_hint(format!("set it first, in {parent:?}")),
    }
}

/// Names the first step of a path that is not there, in the error of an edit that cannot create it.
pub(super) fn absent(document: &Document, path: &str) -> Error {
    let step = first_absent(document, path).map_or(path, |(step, _)| step);
    Error::usage(format!("the tree has no {step:?}"))
}

/// The shortest beginning of a path that is absent, and the present one before it.
fn first_absent<'p>(document: &Document, path: &'p str) -> Option<(&'p str, &'p str)> {
    let mut there = "";
    for (at, _) in path.match_indices('/').skip_while(|(at, _)| *at == 0).chain([(path.len(), "")]) {
        let step = path.get(..at)?;
        if document.find(step).is_none() {
            return Some((step, there));
        }
        there = step;
    }
    None
}

/// Returns an error where the removed bytes have anchors that aliases elsewhere name.
pub(super) fn check_anchors(document: &Document, taken: &[Range<usize>]) -> Result<()> {
    let is_taken = |node: Node<'_>| {
        let span = node.span();
        taken.iter().any(|range| range.start <= span.start && span.end <= range.end)
    };
    for (target, alias) in taken.iter().flat_map(|range| document.aliases_of(range)) {
        if is_taken(target) && !is_taken(alias) {
            let name = target.anchor().unwrap_or_default();
            let message = format!("the alias *{name} elsewhere refers to this value");
            return Err(Error::usage(message)
                .with_range(alias.range())
                .with_hint("set or remove the alias first"));
        }
    }
    Ok(())
}

/// Renames the last key of a path.
pub(super) fn rename<'y>(document: &Document, path: &str, name: &str) -> Result<Plan<'y>> {
    let (mapping, index) = match find(document, path)? {
        Target::Pair { mapping, index } => (mapping, index),
        Target::NoPair { is_merged: true, .. } => return Err(merged(path)),
        Target::NoPair { .. } => return Err(missing(document, path)),
        Target::Root | Target::Item { .. } | Target::End { .. } => {
            return Err(Error::usage(format!("{path:?} is not a key")));
        }
    };
    if own_pair(mapping, name).is_some_and(|found| found != index) {
        return Err(
            Error::usage(format!("the mapping has a key {name:?} already")).with_range(mapping.range())
        );
    }
    let pair = spans::pair(mapping, index).ok_or_else(|| unclear(mapping))?;
    if mapping.entries().take(index).any(|(key, _)| key.key_text() == pair.key.key_text()) {
        return Err(Error::usage(format!("duplicate key {path:?}")).with_range(mapping.range()));
    }
    let span = pair.key.span();
    check_anchors(document, std::slice::from_ref(&span))?;
    let key = Yaml::text(name);
    let text = super::text::key(document, &key, !spans::is_block(mapping))?;
    let mut splices = vec![Splice::new(span, text)];
    if let Some(colon) =
        pair.colon.filter(|colon| !spans::is_void(pair.value) && pair.value.span().start == *colon)
    {
        // `"a":1` has no blank after the colon, which is valid after quotes only.
        splices.push(Splice::insert(colon, " "));
    }
    Ok(Plan::new(splices, mapping, Outcome::Renamed { index, key }))
}

/// The error for a node whose surrounding text has an unexpected form.
pub(super) fn unclear(node: Node<'_>) -> Error {
    let message = "the style of the YAML text does not allow this edit";
    Error::usage(message)
        .with_range(node.range())
        .with_hint("set the whole mapping or sequence that contains it")
}

pub(super) fn merged(path: &str) -> Error {
    let message = format!("{path:?} is merged from another mapping by `<<`");
    Error::usage(message).with_hint("edit it there, or set the key to give this mapping its own")
}

/// Whether a mapping or sequence is in flow style and can have children added and removed: pairs without braces cannot.
pub(super) fn check_flow(node: Node<'_>) -> Result<()> {
    if spans::is_block(node) || flow_style::has_brackets(node) { Ok(()) } else { Err(unclear(node)) }
}

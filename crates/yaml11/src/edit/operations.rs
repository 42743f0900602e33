//! Sets values, adds keys and items, and removes them.

use std::borrow::Cow;

use container_core::{Error, Result};

use super::block_style::{self, ValuePlace};
use super::plan::{
    self, Outcome, Plan, Target, absent, check_anchors, check_flow, is_nothing, merged, unclear,
};
use super::{flow_style, spans, text};
use crate::{Document, Kind, Node, NodeContext, NodePosition, Yaml};

/// Replaces a value or adds a key.
pub(super) fn set<'y>(document: &Document, path: &str, value: &'y Yaml) -> Result<Plan<'y>> {
    let value = text::own_anchors(document, value)?;
    match plan::find(document, path)? {
        Target::NoPair { mapping, key, .. } => add_pair(document, mapping, &key, value),
        Target::End { sequence } => insert_item(sequence, sequence.len(), value),
        found => replace(document, &found, value),
    }
}

/// Replaces several values.
pub(super) fn set_all<'y>(
    document: &Document,
    values: impl IntoIterator<Item = (&'y str, &'y Yaml)>,
) -> Result<Plan<'y>> {
    let mut all = Plan::default();
    for (path, value) in values {
        let found = plan::find(document, path)?;
        if matches!(found, Target::NoPair { .. } | Target::End { .. }) {
            return Err(plan::missing(document, path));
        }
        let plan = replace(document, &found, text::own_anchors(document, value)?)?;
        all.splices.extend(plan.splices);
        all.outcomes.extend(plan.outcomes);
    }
    Ok(all)
}

fn replace<'y>(document: &Document, found: &Target<'_>, value: Cow<'y, Yaml>) -> Result<Plan<'y>> {
    let (node, splices) = match *found {
        Target::Pair { mapping, index } => {
            let pair = spans::pair(mapping, index).ok_or_else(|| unclear(mapping))?;
            let splices = if spans::is_block(mapping) {
                set_pair(document, pair, &value)?
            } else {
                vec![flow_style::set_pair(document, pair, &value)?]
            };
            (pair.value, splices)
        }
        Target::Item { sequence, index } => {
            let item = spans::item(sequence, index).ok_or_else(|| unclear(sequence))?;
            let splices = if spans::is_block(sequence) {
                ValuePlace::of_item(document, item).set(document, &value)?
            } else {
                vec![flow_style::set_item(document, item, &value)?]
            };
            (item.node, splices)
        }
        Target::Root | Target::NoPair { .. } | Target::End { .. } => {
            (document.root(), ValuePlace::of_root(document).set(document, &value)?)
        }
    };
    check_anchors(document, &[node.span()])?;
    Ok(Plan::new(splices, node, Outcome::Value(value)))
}

fn set_pair(document: &Document, pair: spans::PairSpan<'_>, value: &Yaml) -> Result<Vec<plan::Splice>> {
    if let Some(place) = ValuePlace::of_pair(document, pair) {
        return place.set(document, value);
    }
    // `? key` without a colon.
    let text = document.text();
    let end = pair.key.span().end;
    let rest = spans::ignored_rest(text, end).ok_or_else(|| unclear(pair.key))?;
    let indent = spans::column(text, pair.start);
    let context = NodeContext { indent: Some(indent), place: NodePosition::Complex, flow: false };
    let piece = text::in_block(document, value, context, indent.saturating_add(1), true)?;
    let colon = format!("{}{:indent$}:{}{}", spans::newline(text), "", piece.head, piece.tail);
    Ok(vec![plan::Splice::insert(end.saturating_add(rest.len()), colon)])
}

fn add_pair<'y>(document: &Document, mapping: Node<'_>, key: &str, value: Cow<'y, Yaml>) -> Result<Plan<'y>> {
    let name = Yaml::text(key);
    if is_nothing(mapping) {
        let place = place_of(document, mapping).ok_or_else(|| unclear(mapping))?;
        let splices = place.begin(document, &name, &value)?;
        return Ok(Plan::new(splices, mapping, Outcome::StartedMapping { key: name, value }));
    }
    let splice = if spans::is_block(mapping) {
        block_style::add_pair(mapping, &name, &value)?
    } else {
        check_flow(mapping)?;
        let key = text::key(document, &name, true)?;
        let value = text::in_flow(document, &value)?;
        flow_style::insert(mapping, mapping.len(), &format!(" {key}:{value}"))?
    };
    let outcome = Outcome::Added { index: mapping.len(), key: Some(name), value };
    Ok(Plan::new(vec![splice], mapping, outcome))
}

/// The place of a node in a block collection, or of the root. O(nodes).
pub(super) fn place_of<'d>(document: &'d Document, node: Node<'d>) -> Option<ValuePlace<'d>> {
    if node.id() == document.root().id() {
        return Some(ValuePlace::of_root(document));
    }
    let mut rest = vec![document.root()];
    while let Some(parent) = rest.pop() {
        if parent.is_alias() {
            continue;
        }
        if let Some(index) = parent.items().position(|item| item.id() == node.id()) {
            let item = spans::item(parent, index).filter(|_| spans::is_block(parent))?;
            return Some(ValuePlace::of_item(document, item));
        }
        if let Some(index) = parent.entries().position(|(_, value)| value.id() == node.id()) {
            let pair = spans::pair(parent, index).filter(|_| spans::is_block(parent))?;
            return ValuePlace::of_pair(document, pair);
        }
        rest.extend(parent.items());
        rest.extend(parent.entries().flat_map(|(key, value)| [key, value]));
    }
    None
}

/// Puts an item into a sequence, after the last for `None`.
pub(super) fn insert<'y>(
    document: &Document,
    path: &str,
    index: Option<usize>,
    value: &'y Yaml,
) -> Result<Plan<'y>> {
    let sequence = document.find(path).ok_or_else(|| plan::missing(document, path))?.target();
    if sequence.kind() != Kind::Sequence {
        return Err(Error::usage(format!("{path:?} is not a sequence")).with_range(sequence.range()));
    }
    let index = index.unwrap_or(sequence.len());
    if index > sequence.len() {
        let message = format!("no position {index} in {path:?} (the sequence has {} items)", sequence.len());
        return Err(Error::usage(message).with_range(sequence.range()));
    }
    insert_item(sequence, index, text::own_anchors(document, value)?)
}

fn insert_item<'y>(sequence: Node<'_>, index: usize, value: Cow<'y, Yaml>) -> Result<Plan<'y>> {
    let splice = if spans::is_block(sequence) {
        block_style::insert_item(sequence, index, &value)?
    } else {
        check_flow(sequence)?;
        flow_style::insert(sequence, index, &text::in_flow(sequence.document(), &value)?)?
    };
    Ok(Plan::new(vec![splice], sequence, Outcome::Added { index, key: None, value }))
}

/// Takes out the key or item at a path; `wide` is that of [`block_style::remove`].
pub(super) fn remove(document: &Document, path: &str, wide: bool) -> Result<Plan<'static>> {
    let found = plan::try_find(document, path)?.ok_or_else(|| absent(document, path))?;
    let (collection, indices) = match found {
        Target::Root => {
            return Err(Error::usage("the root cannot be removed").with_hint("set it to another value"));
        }
        Target::NoPair { is_merged: true, .. } => return Err(merged(path)),
        Target::NoPair { .. } | Target::End { .. } => return Err(absent(document, path)),
        Target::Item { sequence, index } => (sequence, vec![index]),
        Target::Pair { mapping, index } => (mapping, equal_keys(mapping, index)),
    };
    let spans: Vec<_> = indices.iter().filter_map(|index| span(collection, *index)).collect();
    check_anchors(document, &spans)?;
    let splices = if spans::is_block(collection) {
        let is_all = indices.len() == collection.len();
        let head = if is_all { head(document, collection).ok_or_else(|| unclear(collection))? } else { 0 };
        block_style::remove(collection, &indices, head, wide)?
    } else {
        check_flow(collection)?;
        if indices.len() > 1 {
            let message = format!("duplicate key {path:?} in a flow mapping");
            return Err(Error::usage(message)
                .with_range(collection.range())
                .with_hint("set the whole mapping"));
        }
        let removed = indices.iter().map(|index| flow_style::remove(collection, *index));
        removed.collect::<Result<Vec<_>>>()?.concat()
    };
    Ok(Plan::new(splices, collection, Outcome::Removed(indices)))
}

/// All pairs of a key, because removing only the last would make the one before effective.
fn equal_keys(mapping: Node<'_>, index: usize) -> Vec<usize> {
    let Some((key, _)) = mapping.entry(index) else { return Vec::new() };
    let (scalar, text) = (key.scalar(), key.key_text());
    let equal = |other: Node<'_>| other.scalar() == scalar && other.key_text() == text;
    mapping.entries().enumerate().filter(|(_, (key, _))| equal(*key)).map(|(index, _)| index).collect()
}

fn span(collection: Node<'_>, index: usize) -> Option<std::ops::Range<usize>> {
    match collection.entry(index) {
        Some((key, value)) => {
            Some(key.span().start.min(value.span().start)..value.span().end.max(key.span().end))
        }
        None => collection.item(index).map(Node::span),
    }
}

/// Finds the offset at which an empty collection is written instead: after tag and anchor, which stay, or after the mark.
fn head(document: &Document, collection: Node<'_>) -> Option<usize> {
    let text = document.text();
    let content = collection.content_span().start;
    let mut at = collection.span().start;
    if at >= content {
        return place_of(document, collection).map(|place| place.head);
    }
    let mut head = at;
    while at < content && matches!(spans::byte(text, at), Some(b'&' | b'!')) {
        let rest = text.get(at..content)?;
        head = at.saturating_add(rest.find([' ', '\t', '\r', '\n']).unwrap_or(rest.len()));
        at = spans::skip_ignored(text, head);
    }
    Some(head)
}

//! Sets values, and adds keys and items.

use std::borrow::Cow;

use container_core::{Error, Result};

use super::block_style::{self, Value};
use super::plan::{self, Outcome, Plan, Target, check_anchors, check_flow, is_nothing, unclear};
use super::{flow_style, lines, spans, text};
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
                Value::of_item(document, item).set(document, &value)?
            } else {
                vec![flow_style::set_item(document, item, &value)?]
            };
            (item.node, splices)
        }
        Target::Root | Target::NoPair { .. } | Target::End { .. } => {
            (document.root(), Value::of_root(document).set(document, &value)?)
        }
    };
    check_anchors(document, &[node.span()])?;
    Ok(Plan::new(splices, node, Outcome::Value(value)))
}

fn set_pair(document: &Document, pair: spans::Pair<'_>, value: &Yaml) -> Result<Vec<plan::Splice>> {
    if let Some(place) = Value::of_pair(document, pair) {
        return place.set(document, value);
    }
    // `? key` without a colon.
    let text = document.text();
    let end = pair.key.span().end;
    let rest = lines::rest(text, end).ok_or_else(|| unclear(pair.key))?;
    let indent = lines::column(text, pair.start);
    let context = NodeContext { indent: Some(indent), place: NodePosition::Complex, flow: false };
    let piece = text::in_block(document, value, context, indent.saturating_add(1), true)?;
    let colon = format!("{}{:indent$}:{}{}", lines::newline(text), "", piece.head, piece.tail);
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
pub(super) fn place_of<'d>(document: &'d Document, node: Node<'d>) -> Option<Value<'d>> {
    if node.id() == document.root().id() {
        return Some(Value::of_root(document));
    }
    let mut rest = vec![document.root()];
    while let Some(parent) = rest.pop() {
        if parent.is_alias() {
            continue;
        }
        if let Some(index) = parent.items().position(|item| item.id() == node.id()) {
            let item = spans::item(parent, index).filter(|_| spans::is_block(parent))?;
            return Some(Value::of_item(document, item));
        }
        if let Some(index) = parent.entries().position(|(_, value)| value.id() == node.id()) {
            let pair = spans::pair(parent, index).filter(|_| spans::is_block(parent))?;
            return Value::of_pair(document, pair);
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
        return Err(Error::usage(format!("{path:?} is no sequence")).with_range(sequence.range()));
    }
    let index = index.unwrap_or(sequence.len());
    if index > sequence.len() {
        let message = format!("{path:?} has {} items, so that none can be put at {index}", sequence.len());
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

//! Removes keys and items.

use container_core::{Error, Result};

use super::plan::{self, Outcome, Plan, Target, absent, check_anchors, check_flow, merged, unclear};
use super::{block_style, flow_style, lines, set, spans};
use crate::{Document, Node};

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
            let message = format!("the key of {path:?} is there more than once, in one pair of braces");
            return Err(Error::usage(message)
                .with_range(collection.range())
                .with_hint("set the mapping as a whole"));
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
        return set::place_of(document, collection).map(|place| place.head);
    }
    let mut head = at;
    while at < content && matches!(lines::byte(text, at), Some(b'&' | b'!')) {
        let rest = text.get(at..content)?;
        head = at.saturating_add(rest.find([' ', '\t', '\r', '\n']).unwrap_or(rest.len()));
        at = lines::skip_ignored(text, head);
    }
    Some(head)
}

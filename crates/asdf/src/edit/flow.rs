//! Edits within brackets and braces. New text stays on the line.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use container_core::Result;

use super::lines;
use super::place::{self, Item, Pair};
use super::plan::{Splice, unclear};
use super::text;
use crate::yaml::{Document, Kind, Node, Yaml};

/// True for a collection with marks of its own; `[a: 1]` has a mapping without.
pub(super) fn has_brackets(node: Node<'_>) -> bool {
    let open = lines::byte(node.document().text(), node.content_span().start);
    open == Some(if node.kind() == Kind::Sequence { b'[' } else { b'{' })
}

/// Puts a value in the place of a pair's.
pub(super) fn set_pair(document: &Document, pair: Pair<'_>, value: &Yaml) -> Result<Splice> {
    let text = text::in_flow(document, value)?;
    if !place::is_void(pair.value) {
        return set(document, pair.value, text);
    }
    Ok(match pair.colon {
        Some(colon) => {
            let after = lines::skip_blanks(document.text(), colon);
            let is_last = matches!(lines::byte(document.text(), after), Some(b',' | b'}' | b']'));
            Splice::new(colon..if is_last { after } else { colon }, text)
        }
        None if pair.key.is_alias() => Splice::insert(pair.key.span().end, format!(" :{text}")),
        None => Splice::insert(pair.key.span().end, format!(":{text}")),
    })
}

/// Puts a value in the place of an item.
pub(super) fn set_item(document: &Document, item: Item<'_>, value: &Yaml) -> Result<Splice> {
    set(document, item.node, text::in_flow(document, value)?)
}

fn set(document: &Document, node: Node<'_>, text: String) -> Result<Splice> {
    let span = node.span();
    let before = span.start.checked_sub(1).and_then(|at| lines::byte(document.text(), at));
    let is_apart = matches!(before, Some(b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b','));
    let text = if is_apart { text.trim_start().to_owned() } else { text };
    Ok(Splice::new(span, text))
}

/// Puts a child before the child at `index`, or behind the last. `text` begins with a blank.
pub(super) fn insert(collection: Node<'_>, index: usize, text: &str) -> Result<Splice> {
    let document = collection.document();
    let content = collection.content_span();
    let bare = text.trim_start();
    if collection.is_empty() {
        return Ok(Splice::insert(content.start.saturating_add(1), bare));
    }
    if index < collection.len() {
        let start = start(collection, index).ok_or_else(|| unclear(collection))?;
        return Ok(Splice::insert(start, format!("{bare}, ")));
    }
    let last =
        index.checked_sub(1).and_then(|last| end(collection, last)).ok_or_else(|| unclear(collection))?;
    // A comma may stand behind the last child.
    let after = lines::skip_ignored(document.text(), last);
    if lines::byte(document.text(), after) == Some(b',') {
        return Ok(Splice::insert(after.saturating_add(1), format!(" {bare}")));
    }
    Ok(Splice::insert(last, format!(", {bare}")))
}

/// Takes out the child at an index, with a comma and what stands between it and its neighbour.
pub(super) fn remove(collection: Node<'_>, index: usize) -> Result<Splice> {
    let range = || {
        let own = start(collection, index)?;
        if index.saturating_add(1) < collection.len() {
            return Some(own..start(collection, index.saturating_add(1))?);
        }
        let end_of_own = end(collection, index)?;
        let text = collection.document().text();
        if let Some(before) = index.checked_sub(1) {
            let mut from = end(collection, before)?;
            if from.checked_sub(1).and_then(|at| lines::byte(text, at)) == Some(b':') {
                // Old readers take `{a:}` for a key with a colon in it.
                from = lines::skip_blanks(text, from);
            }
            return Some(from..end_of_own);
        }
        let after = lines::skip_ignored(text, end_of_own);
        let comma = lines::byte(text, after) == Some(b',');
        Some(own..if comma { after.saturating_add(1) } else { end_of_own })
    };
    range().map(Splice::delete).ok_or_else(|| unclear(collection))
}

fn start(collection: Node<'_>, index: usize) -> Option<usize> {
    match collection.kind() {
        Kind::Mapping => place::pair(collection, index).map(|pair| pair.start),
        _ => place::item(collection, index).map(|item| item.start),
    }
}

fn end(collection: Node<'_>, index: usize) -> Option<usize> {
    match collection.kind() {
        Kind::Mapping => place::pair(collection, index).map(|pair| pair.end),
        _ => place::item(collection, index).map(|item| item.end),
    }
}

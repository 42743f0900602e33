//! Edits of flow collections. New text stays on the line.

use std::ops::Range;

use container_core::Result;

use super::plan::{Splice, unclear};
use super::spans::{self, ItemSpan, PairSpan};
use super::text;
use crate::{Document, Kind, Node, Yaml};

/// True for a collection with marks of its own; `[a: 1]` has a mapping without.
pub(super) fn has_brackets(node: Node<'_>) -> bool {
    let open = spans::byte(node.document().text(), node.content_span().start);
    open == Some(if node.kind() == Kind::Sequence { b'[' } else { b'{' })
}

/// Puts a value in the place of a pair's.
pub(super) fn set_pair(document: &Document, pair: PairSpan<'_>, value: &Yaml) -> Result<Splice> {
    let text = text::in_flow(document, value)?;
    if !spans::is_void(pair.value) {
        return set(document, pair.value, text);
    }
    Ok(match pair.colon {
        Some(colon) => {
            let after = spans::skip_blanks(document.text(), colon);
            let is_last = matches!(spans::byte(document.text(), after), Some(b',' | b'}' | b']'));
            Splice::new(colon..if is_last { after } else { colon }, text)
        }
        None if pair.key.is_alias() => Splice::insert(pair.key.span().end, format!(" :{text}")),
        None => Splice::insert(pair.key.span().end, format!(":{text}")),
    })
}

/// Puts a value in the place of an item.
pub(super) fn set_item(document: &Document, item: ItemSpan<'_>, value: &Yaml) -> Result<Splice> {
    set(document, item.node, text::in_flow(document, value)?)
}

fn set(document: &Document, node: Node<'_>, text: String) -> Result<Splice> {
    let span = node.span();
    let before = span.start.checked_sub(1).and_then(|at| spans::byte(document.text(), at));
    let is_apart = matches!(before, Some(b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b','));
    let text = if is_apart { text.trim_start().to_owned() } else { text };
    Ok(Splice::new(span, text))
}

/// Puts a child before the child at `index`, or after the last. `child` begins with a blank.
pub(super) fn insert(collection: Node<'_>, index: usize, child: &str) -> Result<Splice> {
    let text = collection.document().text();
    let content = collection.content_span();
    let bare = child.trim_start();
    if collection.is_empty() {
        return Ok(Splice::insert(content.start.saturating_add(1), bare));
    }
    if index < collection.len() {
        let start = start(collection, index).ok_or_else(|| unclear(collection))?;
        return Ok(Splice::insert(start, format!("{bare}, ")));
    }
    let last =
        index.checked_sub(1).and_then(|last| end(collection, last)).ok_or_else(|| unclear(collection))?;
    // A comma may follow the last child.
    let after = spans::skip_ignored(text, last);
    if spans::byte(text, after) == Some(b',') {
        return Ok(Splice::insert(after.saturating_add(1), format!(" {bare}")));
    }
    if last.checked_sub(1).and_then(|at| spans::byte(text, at)) == Some(b':') {
        // libyaml takes the colon of `a:,` for a part of the key.
        let behind = spans::skip_blanks(text, last);
        // A comment keeps the blank that begins it.
        return Ok(if behind == last || spans::byte(text, behind) == Some(b'#') {
            Splice::insert(last, format!(" , {bare}"))
        } else {
            Splice::insert(behind, format!(", {bare}"))
        });
    }
    Ok(Splice::insert(last, format!(", {bare}")))
}

/// Removes the child at an index, with a comma and the blanks between it and its neighbour; with the comma alone where comments are between them.
pub(super) fn remove(collection: Node<'_>, index: usize) -> Result<Vec<Splice>> {
    let text = collection.document().text();
    let has_comment = |range: Range<usize>| text.get(range).is_some_and(|text| text.contains('#'));
    let ranges = || {
        let own = start(collection, index)?..end(collection, index)?;
        let after = spans::skip_ignored(text, own.end);
        let comma = if spans::byte(text, after) == Some(b',') {
            after..after.saturating_add(1)
        } else {
            own.end..own.end
        };
        let before = match index.checked_sub(1) {
            Some(before) => Some(end(collection, before)?),
            None => None,
        };
        let next = index.saturating_add(1);
        let next = if next < collection.len() { Some(start(collection, next)?) } else { None };
        let is_commented = match (next, before) {
            (Some(next), _) => has_comment(own.end..next),
            (None, Some(before)) => has_comment(before..own.start) || has_comment(own.end..comma.end),
            (None, None) => has_comment(own.end..comma.end),
        };
        if is_commented {
            // The comma that is left before the end is allowed.
            return Some(vec![own, comma]);
        }
        Some(vec![match (next, before) {
            (Some(next), _) => own.start..next,
            // Old readers take `{a:}` for a key with a colon in it.
            (None, Some(before)) if text.get(..before)?.ends_with(':') => {
                spans::skip_blanks(text, before)..own.end
            }
            (None, Some(before)) => before..own.end,
            (None, None) => own.start..comma.end,
        }])
    };
    let ranges = ranges().ok_or_else(|| unclear(collection))?;
    Ok(ranges.into_iter().map(Splice::delete).collect())
}

fn start(collection: Node<'_>, index: usize) -> Option<usize> {
    match collection.kind() {
        Kind::Mapping => spans::pair(collection, index).map(|pair| pair.start),
        _ => spans::item(collection, index).map(|item| item.start),
    }
}

fn end(collection: Node<'_>, index: usize) -> Option<usize> {
    match collection.kind() {
        Kind::Mapping => spans::pair(collection, index).map(|pair| pair.end),
        _ => spans::item(collection, index).map(|item| item.end),
    }
}

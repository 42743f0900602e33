//! Edits of block collections and of the root: values, pairs and items.
//!
//! Rules for comments: a comment at the end of the line of a key or dash stays there when the value is set, and so do lines of comments between that
//! line and the value. Lines of comments stay when a neighbour is removed. Comments within a value go with the value, and so does the comment at the
//! end of its last line when that value is a block collection or a text of several lines.

use std::ops::Range;

use container_core::Result;

use super::plan::{Splice, unclear};
use super::spans::{self, PairSpan};
use super::text;
use crate::{Document, Kind, Node, NodeContext, NodePosition, Piece, ScalarStyle, Yaml};

/// The place of a value: after `head`, which is the end of the colon, dash, question mark or `---`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValuePlace<'d> {
    pub(super) node: Node<'d>,
    pub(super) head: usize,
    pub(super) context: NodeContext,
}

impl<'d> ValuePlace<'d> {
    /// The value of a pair of a block mapping.
    pub(super) fn of_pair(document: &Document, pair: PairSpan<'d>) -> Option<Self> {
        let indent = spans::column(document.text(), pair.start);
        let place = if pair.is_explicit { NodePosition::Complex } else { NodePosition::Value };
        let context = NodeContext { indent: Some(indent), place, flow: false };
        Some(Self { node: pair.value, head: pair.colon?, context })
    }

    /// An item of a block sequence.
    pub(super) fn of_item(document: &Document, item: spans::ItemSpan<'d>) -> Self {
        let indent = spans::column(document.text(), item.start);
        let context = NodeContext { indent: Some(indent), place: NodePosition::Item, flow: false };
        Self { node: item.node, head: item.head, context }
    }

    /// The root.
    pub(super) fn of_root(document: &'d Document) -> Self {
        let (head, _) = spans::root_head(document);
        Self { node: document.root(), head, context: NodeContext::ROOT }
    }

    /// Puts another value in its place.
    pub(super) fn set(self, document: &Document, value: &Yaml) -> Result<Vec<Splice>> {
        let text = document.text();
        let (kept, between) = (self.comment(text), self.between(text));
        let is_below =
            !spans::is_void(self.node) && self.node.span().start > spans::line_end(text, self.head);
        let compact = matches!(self.context.place, NodePosition::Item | NodePosition::Complex)
            && !is_below
            && kept.trim().is_empty()
            && between.is_empty();
        let column = spans::column(text, self.head);
        let mut piece = text::in_block(document, value, self.context, column, compact)?;
        piece.tail.insert_str(0, between);
        self.put(text, &piece, kept)
    }

    /// The lines of comments between the line of the mark and the value, from the line break before them on.
    fn between(self, text: &str) -> &str {
        if spans::is_void(self.node) {
            return "";
        }
        let head_end = spans::line_end(text, self.head);
        let lines = text.get(head_end..spans::line_start(text, self.node.span().start)).unwrap_or_default();
        let lines = lines.strip_suffix('\n').unwrap_or(lines);
        let lines = lines.strip_suffix('\r').unwrap_or(lines);
        if lines.contains('#') { lines } else { "" }
    }

    fn put(self, text: &str, piece: &Piece, kept: &str) -> Result<Vec<Splice>> {
        let is_void = spans::is_void(self.node);
        let end = if is_void { self.head } else { spans::end(self.node, self.head) };
        // A value with its own comment after it keeps its place.
        if !is_void && !is_of_lines(self.node) && piece.tail.is_empty() && self.node.span().start > self.head
        {
            return Ok(vec![Splice::new(self.node.span().start..end, piece.head.trim_start())]);
        }
        let Some(rest) = spans::ignored_rest(text, end) else { return Err(unclear(self.node)) };
        let mut new = piece.head.clone();
        if !kept.trim().is_empty() {
            if kept.starts_with('#') {
                new.push(' ');
            }
            new.push_str(kept);
        }
        new.push_str(&piece.tail);
        let range = self.head..end.saturating_add(rest.len());
        if self.is_bare_root(text) {
            let new = new.trim_start_matches(['\r', '\n', ' ']);
            return Ok(vec![Splice::new(range, new)]);
        }
        Ok(vec![Splice::new(range, new)])
    }

    fn is_bare_root(self, text: &str) -> bool {
        self.context.indent.is_none() && !text.get(..self.head).is_some_and(|before| before.ends_with("---"))
    }

    /// The comment that stays on the line of the mark, with the blanks before it.
    fn comment(self, text: &'_ str) -> &'_ str {
        let node = self.node;
        let head_end = spans::line_end(text, self.head);
        let is_void = spans::is_void(node);
        let start = if is_void { self.head } else { node.span().start };
        if start > head_end {
            return text.get(self.head..head_end).unwrap_or_default();
        }
        let end = if is_void { self.head } else { spans::end(node, self.head) };
        if end > head_end && is_of_lines(node) {
            return "";
        }
        spans::ignored_rest(text, end).unwrap_or_default()
    }

    /// Writes the only pair of a new mapping, in a place that has at most a tag and an anchor.
    pub(super) fn begin(self, document: &Document, key: &Yaml, value: &Yaml) -> Result<Vec<Splice>> {
        let text = document.text();
        let head = if spans::is_void(self.node) { self.head } else { self.node.span().end };
        let rest = spans::ignored_rest(text, head).ok_or_else(|| unclear(self.node))?;
        let indent = self.context.indent.map_or(0, |indent| indent.saturating_add(2));
        let newline = spans::newline(text);
        let pair = text::pair(document, key, value, indent)?;
        let at = head.saturating_add(rest.len());
        Ok(vec![Splice::insert(at, format!("{newline}{:indent$}{pair}", ""))])
    }
}

/// True for values whose last line belongs to them with its comment.
fn is_of_lines(node: Node<'_>) -> bool {
    !node.is_alias()
        && (spans::is_block(node)
            || matches!(node.scalar_style(), Some(ScalarStyle::Literal | ScalarStyle::Folded)))
}

/// Puts a pair after the last of a block mapping.
pub(super) fn add_pair(mapping: Node<'_>, key: &Yaml, value: &Yaml) -> Result<Splice> {
    let document = mapping.document();
    let first = spans::pair(mapping, 0).ok_or_else(|| unclear(mapping))?;
    let indent = spans::column(document.text(), first.start);
    let pair = text::pair(document, key, value, indent)?;
    behind(mapping, indent, &pair)
}

/// Puts an item into a block sequence.
pub(super) fn insert_item(sequence: Node<'_>, index: usize, value: &Yaml) -> Result<Splice> {
    let document = sequence.document();
    let text = document.text();
    let first = spans::item(sequence, 0).ok_or_else(|| unclear(sequence))?;
    let indent = spans::column(text, first.start);
    let item = text::item(document, value, indent)?;
    if index == 0 {
        let newline = spans::newline(text);
        return Ok(Splice::insert(first.start, format!("{item}{newline}{:indent$}", "")));
    }
    if index == sequence.len() {
        return behind(sequence, indent, &item);
    }
    // After the item before, so that lines of comments stay with the item that follows them.
    let before = index.checked_sub(1).and_then(|before| spans::item(sequence, before));
    let before = before.ok_or_else(|| unclear(sequence))?;
    at_end(document, sequence, before.end, indent, &item)
}

fn behind(collection: Node<'_>, indent: usize, new: &str) -> Result<Splice> {
    let document = collection.document();
    at_end(document, collection, spans::end(collection, collection.span().end), indent, new)
}

/// Inserts lines after the line in which a node ends.
fn at_end(document: &Document, collection: Node<'_>, end: usize, indent: usize, new: &str) -> Result<Splice> {
    let text = document.text();
    let newline = spans::newline(text);
    let rest = spans::ignored_rest(text, end).ok_or_else(|| unclear(collection))?;
    Ok(Splice::insert(end.saturating_add(rest.len()), format!("{newline}{:indent$}{new}", "")))
}

/// Takes out children of a block collection, with their lines and the comments in these. If none is left, an empty collection is written at `head`:
/// after the mark and the collection's tag and anchor.
///
/// With `wide`, comment lines after the child that are indented deeper than it are removed too: literal text before the child would include them.
pub(super) fn remove(
    collection: Node<'_>,
    indices: &[usize],
    head: usize,
    wide: bool,
) -> Result<Vec<Splice>> {
    let document = collection.document();
    let text = document.text();
    let is_all = indices.len() == collection.len();
    let mut splices = Vec::with_capacity(indices.len().saturating_add(1));
    if is_all {
        let empty = if collection.kind() == Kind::Mapping { "{}" } else { "[]" };
        splices.push(Splice::insert(head, format!(" {empty}")));
    }
    for &index in indices {
        let (start, end) = child(collection, index).ok_or_else(|| unclear(collection))?;
        let rest = spans::ignored_rest(text, end).ok_or_else(|| unclear(collection))?;
        let mut end = end.saturating_add(rest.len());
        if wide {
            end = after_comments(text, end, spans::column(text, start));
        }
        let range = lines_of(text, start..end);
        let next = indices
            .iter()
            .all(|other| *other <= index)
            .then(|| child(collection, index.saturating_add(1)))
            .flatten();
        splices.push(match (range, next) {
            (Some(range), _) => Splice::delete(range),
            // In the middle of a line, as the first pair after a dash: the next one takes its place.
            (None, Some((next, _)))
                if text.get(end..next).is_some_and(|between| between.trim().is_empty()) =>
            {
                Splice::delete(start..next)
            }
            (None, _) => Splice::delete(spans::before_blanks(text, start).max(head.min(start))..end),
        });
    }
    Ok(splices)
}

/// End of the comment lines that follow the line that ends at `end` and are indented by more than `indent` columns.
fn after_comments(text: &str, end: usize, indent: usize) -> usize {
    let (mut behind, mut at) = (end, end);
    loop {
        let next = spans::next_line(text, at);
        let mark = spans::skip_blanks(text, next);
        at = spans::line_end(text, next);
        match spans::byte(text, mark) {
            Some(b'#') if spans::column(text, mark) > indent => behind = at,
            Some(b'\n' | b'\r') if mark > end => {}
            _ => return behind,
        }
    }
}

/// The whole lines of a range with only blanks before it, including the line break after them; at the end of a text without a last line break, the
/// one before them.
fn lines_of(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let start = spans::line_start(text, range.start);
    if !text.get(start..range.start)?.trim().is_empty() {
        return None;
    }
    let end = spans::next_line(text, range.end);
    if end > range.end {
        return Some(start..end);
    }
    let before = text.get(..start)?;
    let before = before.strip_suffix('\n').unwrap_or(before);
    let before = before.strip_suffix('\r').unwrap_or(before);
    Some(before.len()..range.end)
}

fn child(collection: Node<'_>, index: usize) -> Option<(usize, usize)> {
    match collection.kind() {
        Kind::Mapping => spans::pair(collection, index).map(|pair| (pair.start, pair.end)),
        _ => spans::item(collection, index).map(|item| (item.start, item.end)),
    }
}

//! Byte spans of the pairs and items of collections; lines, columns, blanks and comments of a text.

use crate::{Collection, Document, Kind, Node};

/// A pair of a mapping.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSpan<'d> {
    pub(super) key: Node<'d>,
    pub(super) value: Node<'d>,
    /// Its first byte: of the key, or the `?` before it.
    pub(super) start: usize,
    /// Whether it begins with `?`.
    pub(super) is_explicit: bool,
    /// End of the `:`; `None` without one.
    pub(super) colon: Option<usize>,
    /// End of its last byte.
    pub(super) end: usize,
}

/// An item of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemSpan<'d> {
    pub(super) node: Node<'d>,
    /// Its first byte: the dash, in flow style that of the item.
    pub(super) start: usize,
    /// End of the dash; in flow style the first byte of the item.
    pub(super) head: usize,
    /// End of its last byte.
    pub(super) end: usize,
}

/// True where a node has neither anchor nor tag nor text.
pub(super) fn is_void(node: Node<'_>) -> bool {
    node.span().is_empty()
}

pub(super) fn is_block(node: Node<'_>) -> bool {
    !node.is_alias() && node.collection_style() == Some(Collection::Block)
}

/// End of a node whose mark (dash or colon) ends at `mark`.
pub(super) fn end(node: Node<'_>, mark: usize) -> usize {
    let mut node = node;
    let mut mark = mark;
    // Down to the last child of block collections, which have no end of their own.
    while is_block(node) && !node.is_empty() {
        match node.kind() {
            Kind::Mapping => {
                let Some((key, value)) = node.entries().next_back() else { break };
                let text = node.document().text();
                mark = match colon(text, key) {
                    Some(colon) => colon,
                    None => key.span().end,
                };
                node = value;
            }
            _ => {
                let Some(item) = node.items().next_back() else { break };
                mark = if is_void(item) { last_dash(node).unwrap_or(mark) } else { item.span().start };
                node = item;
            }
        }
    }
    if is_void(node) { mark } else { node.span().end }
}

/// End of the colon that follows a key.
fn colon(text: &str, key: Node<'_>) -> Option<usize> {
    let at = skip_ignored(text, key.span().end);
    (byte(text, at) == Some(b':')).then(|| at.saturating_add(1))
}

/// End of the dash of the last item, which has no text.
fn last_dash(sequence: Node<'_>) -> Option<usize> {
    item(sequence, sequence.len().checked_sub(1)?).map(|item| item.head)
}

/// The pair at an index, as they are written.
pub(super) fn pair(mapping: Node<'_>, index: usize) -> Option<PairSpan<'_>> {
    let (key, value) = mapping.entry(index)?;
    let text = mapping.document().text();
    let colon = colon(text, key);
    let mark = question(text, key, mapping);
    let after = colon.unwrap_or(key.span().end);
    Some(PairSpan {
        key,
        value,
        start: mark.unwrap_or(key.span().start),
        is_explicit: mark.is_some(),
        colon,
        end: end(value, after),
    })
}

/// The `?` before a key.
fn question(text: &str, key: Node<'_>, mapping: Node<'_>) -> Option<usize> {
    let at = key.span().start;
    let before = before_blanks(text, at);
    let is_mark = |at: usize| {
        let after = byte(text, at.saturating_add(1));
        byte(text, at) == Some(b'?') && after.is_none_or(|byte| byte.is_ascii_whitespace())
    };
    if let Some(mark) = before.checked_sub(1).filter(|mark| before < at && is_mark(*mark)) {
        return Some(mark);
    }
    // A key that is a block collection may begin on a later line; the question mark of the first key begins the mapping.
    let first = mapping.content_span().start;
    if is_block(key) && is_block(mapping) && is_mark(first) {
        let mark = first.saturating_add(text.get(first..at)?.rfind('?')?);
        return is_mark(mark).then_some(mark);
    }
    None
}

/// The item at an index.
pub(super) fn item(sequence: Node<'_>, index: usize) -> Option<ItemSpan<'_>> {
    let text = sequence.document().text();
    let node = sequence.item(index)?;
    if !is_block(sequence) {
        let span = node.span();
        return Some(ItemSpan { node, start: span.start, head: span.start, end: span.end });
    }
    // Where an item has text, the dash is right before it, except for blanks, line breaks and comments, which may contain dashes. So the search runs
    // forward, from the end of the item before.
    let mut at = sequence.content_span().start;
    let mut from = 0;
    if index > 0 {
        // The nearest item before that has text.
        let mut known = (0..index).rev().filter_map(|near| Some((near, sequence.item(near)?)));
        if let Some((near, item)) = known.find(|(_, item)| !is_void(*item)) {
            at = end(item, item.span().end);
            from = near.saturating_add(1);
        }
    }
    let mut dash = at;
    for _ in from..=index {
        dash = skip_ignored(text, at);
        if byte(text, dash) != Some(b'-') {
            return None;
        }
        at = dash.saturating_add(1);
    }
    let head = dash.saturating_add(1);
    Some(ItemSpan { node, start: dash, head, end: end(node, head) })
}

/// End of `---`, or the first byte of the root without one.
pub(super) fn root_head(document: &Document) -> (usize, bool) {
    let text = document.text();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < text.len() {
        let line = text.get(at..line_end(text, at)).unwrap_or_default();
        if let Some(rest) = line.strip_prefix("---")
            && (rest.is_empty() || rest.starts_with([' ', '\t']))
        {
            return (at.saturating_add(3), true);
        }
        if !(line.starts_with(['%', '#']) || line.trim_ascii().is_empty()) {
            break;
        }
        at = next_line(text, at);
    }
    (document.root().span().start, false)
}

/// Columns by which block sequences that are values of a block mapping are indented in this document; those of the first that there is.
pub(super) fn sequence_step(document: &Document) -> usize {
    document.sequence_step(|| find_sequence_step(document))
}

fn find_sequence_step(document: &Document) -> usize {
    let mut stack = vec![document.root()];
    // Enough nodes to find the style of a document without walking all of a large one.
    let mut budget = 20_000_usize;
    while let Some(node) = stack.pop() {
        budget = budget.saturating_sub(1);
        if budget == 0 {
            break;
        }
        if !is_block(node) {
            continue;
        }
        match node.kind() {
            Kind::Mapping => {
                for (key, value) in node.entries().rev() {
                    if is_block(value) && value.kind() == Kind::Sequence {
                        let text = document.text();
                        let key = column(text, key.span().start);
                        return column(text, value.content_span().start).saturating_sub(key);
                    }
                    stack.push(value);
                }
            }
            _ => stack.extend(node.items().rev()),
        }
    }
    0
}

/// The byte at `at`.
pub(super) fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

/// Returns the end of the line of `at`: its line break, or the end of the text.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at.saturating_add(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()))
}

/// Start of the line after that of `at`.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let len = match rest {
        [b'\r', b'\n', ..] => 2,
        [_, ..] => 1,
        [] => 0,
    };
    end.saturating_add(len)
}

/// Returns the start of the line of `at`.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at.saturating_add(1))
}

/// Characters of the line before `at`.
pub(super) fn column(text: &str, at: usize) -> usize {
    text.get(line_start(text, at)..at).unwrap_or_default().chars().count()
}

/// End of the blanks at `at`.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at.saturating_add(rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}

/// Before the blanks that end at `at`.
pub(super) fn before_blanks(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    at.saturating_sub(before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}

/// End of the blanks, line breaks and comments at `at`.
pub(super) fn skip_ignored(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        at = skip_blanks(text, at);
        match byte(text, at) {
            Some(b'\n' | b'\r') => at = next_line(text, at),
            // The YAML library takes `#` for a comment after a blank only.
            Some(b'#') => at = line_end(text, at),
            _ => return at,
        }
    }
}

/// Returns the rest of the line from `at` if it contains only blanks or a comment.
pub(super) fn ignored_rest(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..line_end(text, at))?;
    let content = rest.trim_start_matches([' ', '\t']);
    (content.is_empty() || content.starts_with('#')).then_some(rest)
}

/// The line break of the text.
pub(super) fn newline(text: &str) -> &'static str {
    let first = memchr::memchr(b'\n', text.as_bytes());
    let before = first.and_then(|at| at.checked_sub(1)).and_then(|at| byte(text, at));
    if before == Some(b'\r') { "\r\n" } else { "\n" }
}

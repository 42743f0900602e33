//! Finds the start and end of the tree.

use std::ops::Range;

use container_core::Result;
use container_core::source::Source;

use super::{Layout, find_first, find_other_than};
use crate::blocks::header::MAGIC;
use crate::blocks::index::MARKER;
use crate::fault::{Fault, FaultKind};

/// Limit of the blanks before a tree that are read.
const MAX_BLANKS: u64 = 4096;

/// Fills in the tree, and returns the offset of the padding or blocks after it.
pub(super) fn find(source: &dyn Source, layout: &mut Layout) -> Result<u64> {
    let at = layout.header.comments.end;
    let size = layout.size;
    let start = find_other_than(source, at..size.min(at.saturating_add(MAX_BLANKS)), b" \t\r\n")?;
    let Some(start) = start else { return Ok(at) };
    let mut start = start;
    let mut head = source.read(start..size.min(start.saturating_add(8)))?;
    let is_junk = !begins(&head);
    if is_junk {
        let Some(found) = find_after_lines(source, at..size)? else { return Ok(at) };
        start = found;
        head = source.read(start..size.min(start.saturating_add(8)))?;
    }
    // Other directives may be first in YAML, but not here: Python asdf then finds no tree. A form feed is not a blank in YAML, and repair replaces
    // it.
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let has_version = head.starts_with(b"%YAML") && head.get(5).is_none_or(is_blank);
    drop(head);
    if start > at {
        layout.before_tree = at..start;
    }
    if is_junk {
        let message = "a line before the tree that is not a comment, which Python asdf does not read";
        layout.fault(Fault::new(FaultKind::JunkBeforeTree, at..start, message));
    } else if start > at {
        let message = "blanks or empty lines before the tree, which Python asdf does not read";
        layout.fault(Fault::new(FaultKind::BlankBeforeTree, at..start, message));
    }
    if !has_version {
        let message = "the tree does not begin with the line %YAML 1.1";
        layout.fault(Fault::new(FaultKind::NoYamlDirective, start..start.saturating_add(3), message));
    }
    let end = end(source, start..size)?;
    let tree = start..end.tree;
    if end.blanks {
        let dots = end.tree.saturating_sub(8).max(start)..end.tree;
        let message = "blanks after the three dots that end the tree, which Python asdf does not recognize";
        layout.fault(Fault::new(FaultKind::TreeEndBlanks, dots, message));
    }
    if end.unterminated {
        let message = "missing end of the tree (expected a line of three dots)";
        layout.fault(Fault::new(FaultKind::TreeUnterminated, tree.clone(), message));
    }
    layout.tree = Some(tree);
    Ok(end.tree)
}

/// Whether a tree begins with these bytes: a directive, or the marks of a document.
fn begins(head: &[u8]) -> bool {
    head.starts_with(b"%") || (head.starts_with(b"---") && head.get(3).is_none_or(u8::is_ascii_whitespace))
}

/// Finds the start of the tree after lines that are not comments, for example where the first byte of one is damaged: the first known directive, or
/// the marks of a document. The search ends at a NUL, a block magic or an index.
pub(crate) fn find_after_lines(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
    let text = source.read(range.start..range.end.min(range.start.saturating_add(MAX_BLANKS)))?;
    let ends =
        [memchr::memchr(0, &text), memchr::memmem::find(&text, &MAGIC), memchr::memmem::find(&text, MARKER)];
    let text = text.get(..ends.into_iter().flatten().min().unwrap_or(text.len())).unwrap_or_default();
    let mut starts = memchr::memchr_iter(b'\n', text).map(|at| at.saturating_add(1));
    let found = starts.find(|start| {
        let line = text.get(*start..).unwrap_or_default();
        let is_named = |name: &[u8]| {
            let rest = line.strip_prefix(name);
            rest.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
        };
        [&b"%YAML"[..], b"%TAG", b"---"].into_iter().any(is_named)
    });
    Ok(found.map(|start| range.start.saturating_add(start as u64)))
}

struct End {
    tree: u64,
    blanks: bool,
    unterminated: bool,
}

/// The end of the tree: after the newline of the first line `...`, else at the first block magic, which is invalid UTF-8, else at the end of the
/// file.
fn end(source: &dyn Source, range: Range<u64>) -> Result<End> {
    let dots = memchr::memmem::Finder::new(b"\n...");
    let magic = memchr::memmem::Finder::new(&MAGIC);
    let mut from = range.start;
    loop {
        let mut is_magic = false;
        let found = find_first(source, from..range.end, |bytes| {
            // The caller checks the bytes after the dots.
            let dots = dots.find(bytes);
            let before = bytes.get(..dots.unwrap_or(bytes.len())).unwrap_or_default();
            let magic = magic.find(before);
            is_magic = magic.is_some_and(|magic| dots.is_none_or(|dots| magic < dots));
            if is_magic { magic } else { dots }
        })?;
        match found {
            None => return unterminated(source, range),
            Some(at) if is_magic => return unterminated(source, range.start..at),
            Some(at) => {
                let after = at.saturating_add(4);
                if let Some((tree, blanks)) = rest_of_marker(source, after..range.end)? {
                    return Ok(End { tree, blanks, unterminated: false });
                }
                from = after;
            }
        }
    }
}

/// A tree without dots ends at the first NUL, which YAML does not allow: padding begins there.
fn unterminated(source: &dyn Source, range: Range<u64>) -> Result<End> {
    let nul = find_first(source, range.clone(), |bytes| memchr::memchr(0, bytes))?;
    Ok(End { tree: nul.unwrap_or(range.end), blanks: false, unterminated: true })
}

/// The end of the line whose dots end where `range` begins, and whether it has blanks; `None` where it has other characters.
fn rest_of_marker(source: &dyn Source, range: Range<u64>) -> Result<Option<(u64, bool)>> {
    let line = source.read(range.start..range.end.min(range.start.saturating_add(64)))?;
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = line.get(blanks..).unwrap_or_default();
    let newline = match rest {
        [] if range.start.saturating_add(line.len() as u64) == range.end => 0,
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        // A comment is not part of the marker, but YAML allows it; and padding may follow at once.
        [0, ..] | [b'\r'] => 0,
        _ => return Ok(None),
    };
    let len = (blanks as u64).saturating_add(newline);
    Ok(Some((range.start.saturating_add(len), blanks > 0)))
}

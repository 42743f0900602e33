//! Arrays of characters, the last axis of which is along a text: a line for each.

use std::io::Write;

use container_core::Result;
use container_core::container::Dataset;
use container_core::dtype::Kind;

use super::iterate::{Gathered, Walk};
use super::text_bytes::push_safely;
use crate::items::attribute;

/// True for bytes that a format marks as characters of text (GSD's type 11), in the attribute `type`.
pub(super) fn are_characters(dataset: &Dataset) -> bool {
    let byte = dataset.dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Bytes && scalar.size == 1);
    byte && attribute(dataset, "type") == Some("character")
}

/// Writes each text in a line, without the NULs at its end. Line feeds and tabs pass; other control characters, and those that reorder a
/// line, are escaped; invalid UTF-8 becomes U+FFFD.
pub(super) fn write(walk: &Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let len = walk.shape.last().copied().unwrap_or(1);
    let mut gathered = Gathered::new(out);
    let mut text = Vec::new();
    let mut line = |text: &mut Vec<u8>| {
        let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        String::from_utf8_lossy(&text[..end]).chars().for_each(|c| push_safely(c, &mut gathered.text));
        gathered.text.push('\n');
        text.clear();
        gathered.pass()
    };
    if len == 0 {
        // Empty texts, as many as there are.
        let (_, before) = walk.shape.split_last().unwrap_or((&0, &[]));
        let count = before.iter().copied().fold(1, u64::saturating_mul);
        for _ in 0..count.min(MAX_EMPTY) {
            line(&mut text)?;
        }
    }
    walk.items(|byte, _| {
        text.extend_from_slice(byte);
        if text.len() as u64 == len { line(&mut text) } else { Ok(()) }
    })?;
    gathered.finish()
}

/// Maximum number of empty texts shown, as they take no space in a file.
const MAX_EMPTY: u64 = 1 << 20;

//! Searches ranges for a magic or other bytes, piece by piece.

use std::ops::Range;

use container_core::Result;
use container_core::source::Source;

/// Bytes that are read at a time: few at first, because the wanted bytes often follow soon, and a file may have them everywhere.
const FIRST_AND_MAX_PIECE_LEN: (u64, u64) = (1 << 9, 1 << 18);

/// Maximum length of a byte sequence that is searched for.
const MAX_NEEDLE_LEN: u64 = 32;

/// The first match of `find` in `range`. `find` is given pieces that overlap by more than the longest pattern, and returns an offset in its piece.
pub(crate) fn first(
    source: &dyn Source,
    range: Range<u64>,
    mut find: impl FnMut(&[u8]) -> Option<usize>,
) -> Result<Option<u64>> {
    let mut at = range.start;
    let (mut piece, most) = FIRST_AND_MAX_PIECE_LEN;
    while at < range.end {
        let end = range.end.min(at.saturating_add(piece));
        piece = piece.saturating_mul(4).min(most);
        let bytes = source.read(at..end)?;
        if let Some(found) = find(&bytes) {
            return Ok(Some(at.saturating_add(found as u64)));
        }
        if end == range.end {
            break;
        }
        at = end.saturating_sub(MAX_NEEDLE_LEN);
    }
    Ok(None)
}

/// The first block magic in `range`.
pub(crate) fn magic(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(&crate::blocks::header::MAGIC);
    first(source, range, |bytes| finder.find(bytes))
}

/// The first marker of an index in `range`.
pub(crate) fn index_marker(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(crate::blocks::index::MARKER);
    first(source, range, |bytes| finder.find(bytes))
}

/// The first byte in `range` that is not one of `fill`.
pub(crate) fn other_than(source: &dyn Source, range: Range<u64>, fill: &[u8]) -> Result<Option<u64>> {
    first(source, range, |bytes| bytes.iter().position(|byte| !fill.contains(byte)))
}

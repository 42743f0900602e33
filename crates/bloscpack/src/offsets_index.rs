//! The table of offsets.
//!
//! Spec: "Description of the offsets entries" in the Bloscpack README: signed 64-bit, absolute, −1 unknown.

use std::ops::Range;

use container_core::source::{PIECE_LEN, Source, try_zeroed_vec};
use container_core::{Limits, Result};
use nom::number::complete::le_i64;
use nom::{IResult, Parser};

use crate::chunk_table::is_chunk_at;

/// Length of an entry in bytes.
pub const ENTRY: u64 = 8;

/// An entry that is not set.
pub const UNSET: i64 = -1;

/// Parses the whole entries in `bytes`.
#[must_use]
pub fn parse(bytes: &[u8]) -> Vec<i64> {
    let parsed: IResult<&[u8], Vec<i64>, nom::error::Error<&[u8]>> = nom::multi::many0(le_i64).parse(bytes);
    parsed.map_or_else(|_| Vec::new(), |(_, entries)| entries)
}

/// The bytes of a table.
#[must_use]
pub fn to_bytes(entries: &[i64]) -> Vec<u8> {
    entries.iter().flat_map(|entry| entry.to_le_bytes()).collect()
}

/// Reads the entries in `range`, which is within the file.
pub(crate) fn read(source: &dyn Source, range: Range<u64>, limits: &Limits) -> Result<Vec<i64>> {
    let mut entries = try_zeroed_vec(range.end.saturating_sub(range.start) / ENTRY, limits)?;
    source.read_into(range.start, bytemuck::cast_slice_mut(&mut entries))?;
    entries.iter_mut().for_each(|entry| *entry = i64::from_le(*entry));
    Ok(entries)
}

/// The range of the first entry in `range` that is set, where one is.
pub(crate) fn first_set(source: &dyn Source, range: Range<u64>) -> Result<Option<Range<u64>>> {
    let len =
        usize::try_from(range.end.saturating_sub(range.start)).map_or(PIECE_LEN, |len| len.min(PIECE_LEN));
    let mut piece = vec![0; len];
    let mut at = range.start;
    while at < range.end {
        let len =
            usize::try_from(range.end.saturating_sub(at)).map_or(piece.len(), |left| left.min(piece.len()));
        let Some(piece) = piece.get_mut(..len) else { break };
        source.read_into(at, piece)?;
        if let Some(place) = piece.iter().position(|byte| *byte != 0xff) {
            let skipped = (place as u64) / ENTRY;
            let start = at.saturating_add(skipped.saturating_mul(ENTRY));
            return Ok(Some(start..start.saturating_add(ENTRY).min(range.end)));
        }
        at = at.saturating_add(len as u64);
    }
    Ok(None)
}

/// Finds the end of a table of unknown length whose first entry is set: the chunk that it points to. `table` extends to the end of the
/// file. `None` where a chunk is impossible there.
pub(crate) fn end_by_first(source: &dyn Source, table: Range<u64>) -> Result<Option<u64>> {
    let entry = table.start..table.start.saturating_add(ENTRY);
    if entry.end > table.end {
        return Ok(None);
    }
    let first = parse(&source.read(entry.clone())?).first().and_then(|first| u64::try_from(*first).ok());
    let Some(at) = first.filter(|at| *at >= entry.end && at.saturating_sub(entry.start) % ENTRY == 0) else {
        return Ok(None);
    };
    Ok(is_chunk_at(source, at)?.then_some(at))
}

/// Finds the end of a table of items of unknown length: at the lowest of its offsets, or before the first impossible entry that
/// is a chunk. `table` extends to the end of the file. `None` where no entry is set, or a chunk is impossible.
pub(crate) fn end_by_offsets(source: &dyn Source, table: Range<u64>) -> Result<Option<u64>> {
    let is_chunk = |at: u64| -> Result<bool> {
        Ok(at.saturating_sub(table.start).is_multiple_of(ENTRY) && is_chunk_at(source, at)?)
    };
    let mut lowest: Option<u64> = None;
    let mut at = table.start;
    while at < table.end {
        let piece = at.saturating_add(PIECE_LEN as u64).min(lowest.unwrap_or(u64::MAX)).min(table.end);
        let entries = parse(&source.read(at..piece)?);
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            if lowest.is_some_and(|lowest| at >= lowest) {
                break;
            }
            let next = at.saturating_add(ENTRY);
            match u64::try_from(entry) {
                Ok(offset) if offset >= next && offset < table.end => {
                    lowest = Some(lowest.map_or(offset, |lowest| lowest.min(offset)));
                }
                _ if entry == UNSET => {}
                _ => return Ok(if lowest.is_some() && is_chunk(at)? { Some(at) } else { None }),
            }
            at = next;
        }
        if let Some(lowest) = lowest.filter(|lowest| at >= *lowest) {
            return Ok(if is_chunk(lowest)? { Some(lowest) } else { None });
        }
    }
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_set_ones_are_found() {
        let entries = [922, UNSET, i64::MAX, UNSET, UNSET];
        let bytes = to_bytes(&entries);
        assert_eq!(bytes[..16], *b"\x9a\x03\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
        assert_eq!(parse(&bytes), entries);
        assert_eq!(parse(&bytes[..15]), [922]);
        assert_eq!(read(&bytes, 8..24, &Limits::default()).unwrap(), entries[1..3]);
        assert_eq!(first_set(&bytes, 8..40).unwrap(), Some(16..24));
        assert_eq!(first_set(&bytes, 24..40).unwrap(), None);
        assert!(read(&bytes, 0..40, &Limits::default().with_memory(39)).is_err());
    }

    /// A table of these entries, and then chunks of two bytes, 18 each.
    fn table(entries: &[i64], chunks: usize) -> Vec<u8> {
        let chunk = b"\x02\x01\x02\x01\x02\0\0\0\x02\0\0\0\x12\0\0\0ab";
        [to_bytes(entries), chunk.repeat(chunks)].concat()
    }

    #[test]
    fn set_entries_are_found_beyond_the_first_piece() {
        let mut bytes = vec![0xff; 2 * PIECE_LEN + 24];
        let end = bytes.len() as u64;
        assert_eq!(first_set(&bytes, 0..end).unwrap(), None);
        for place in [PIECE_LEN - 1, PIECE_LEN, 2 * PIECE_LEN + 20] {
            bytes[place] = 0;
            let start = place as u64 / 8 * 8;
            assert_eq!(first_set(&bytes, 0..end).unwrap(), Some(start..start + 8), "{place}");
            bytes[place] = 0xff;
        }
        // An entry that is cut ends with the range.
        bytes[16] = 1;
        assert_eq!(first_set(&bytes, 8..20).unwrap(), Some(16..20));
        assert_eq!(first_set(&bytes, 20..20).unwrap(), None);
    }

    #[test]
    fn tables_of_fixed_size_chunks_end_at_their_first_entry() {
        let end =
            |bytes: &[u8], start: u64| end_by_first(&bytes.to_vec(), start..bytes.len() as u64).unwrap();
        let bytes = table(&[24, 42, 60], 3);
        assert_eq!(end(&bytes, 0), Some(24));
        // One entry alone points to what follows it.
        assert_eq!(end(&table(&[8], 1), 0), Some(8));
        // Into itself, between entries, backwards, to no chunk, and to the end.
        for first in [0, 7, 12, -24, 32, 1000, 26] {
            assert_eq!(end(&table(&[first, 42, 60], 3), 0), None, "{first}");
        }
        assert_eq!(end(&bytes[..8], 0), None);
        assert_eq!(end(&bytes[..7], 0), None);
        // Entries are counted from the start of the table.
        let later = [vec![0; 4], table(&[20, 38], 2)].concat();
        assert_eq!(end(&later, 4), Some(20));
    }

    #[test]
    fn tables_of_items_end_at_their_lowest_entry() {
        let end = |bytes: &[u8]| end_by_offsets(&bytes.to_vec(), 0..bytes.len() as u64).unwrap();
        assert_eq!(end(&table(&[24, 42, 60], 3)), Some(24));
        assert_eq!(end(&table(&[60, 24, 42], 3)), Some(24));
        assert_eq!(end(&table(&[UNSET, 42, 24], 3)), Some(24));
        assert_eq!(end(&table(&[UNSET, UNSET, UNSET], 3)), None);
        // The lowest points into the table, where there is no chunk.
        assert_eq!(end(&table(&[16, 42, 60], 3)), None);
        assert_eq!(end(&table(&[20, 42, 60], 3)), None);
        // An entry that points nowhere ends the table where it is a chunk itself.
        assert_eq!(end(&table(&[26, 44], 2)), Some(16));
        assert_eq!(end(&table(&[32, 40, 60], 3)), Some(24));
        assert_eq!(end(&table(&[26, 5, 44], 2)), None);
        assert_eq!(end(&[]), None);
    }
}

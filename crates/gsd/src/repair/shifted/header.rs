//! Bytes inserted or deleted in the header: everything after them is shifted.
//!
//! The same distance of index and names from the offsets in the header means that all bytes after it are shifted by it. The file is read without the
//! bytes that are too many, or with zeros for those that are missing.

use std::ops::Range;

use container_core::report::{RepairItem, RepairReport};
use container_core::source::Source;
use container_core::{Limits, Result};

use super::namelist::MAX_SHIFT;
use crate::header::{self, Header};
use crate::index::{IndexBlock, IndexEntry};
use crate::namelist::NameList;
use crate::repair::name_recovery::{self, are_plausible};
use crate::repair::schema_hints;

/// Greatest shift, in bytes, of header offsets that were shifted themselves.
const MAX_DISTANCE: i64 = 64;

/// Byte range of the numbers in the header.
const HEADER_NUMBERS: Range<u64> = 8..48;

/// Number of bytes that are searched for entries and for names.
const MAX_SEARCH_LEN: u64 = 1 << 18;

/// Bytes that are too many at a place in the header, or so many that are missing where there are fewer than none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::repair) struct ShiftedHeader {
    at: u64,
    by: i64,
}

impl ShiftedHeader {
    /// Looks for index and names off their places.
    pub(in crate::repair) fn find(source: &dyn Source, limits: &Limits) -> Result<Option<Self>> {
        let mut head =
            vec![0; usize::try_from(source.len().min(header::LEN + MAX_SHIFT.unsigned_abs())).unwrap_or(0)];
        source.read_into(0, &mut head)?;
        let look = ShiftProbe { source, limits };
        let Ok(stated) = Header::parse(&head) else { return Ok(None) };
        if look.entries(&stated, 0)? > 0 {
            return Ok(None);
        }
        if is_likely(&stated) {
            for by in (1..=MAX_SHIFT).flat_map(|by| [by, -by]) {
                if look.is_off(&stated, by)? {
                    return Ok(best_position(&head, by));
                }
            }
        }
        // In front of the places themselves.
        for by in (1..=MAX_DISTANCE).flat_map(|by| [by, -by]) {
            for at in HEADER_NUMBERS {
                let inserted = Self { at, by };
                let header = inserted.unshifted(&head).head().ok();
                if let Some(header) = header.and_then(|head| Header::parse(&head).ok())
                    && is_likely(&header)
                    && is_within(&header, source.len().saturating_add_signed(-by))
                    && look.is_off(&header, by)?
                {
                    return Ok(Some(inserted));
                }
            }
        }
        Ok(None)
    }

    /// The file without the bytes that are too many, or with zeros for those that are missing.
    pub(in crate::repair) fn unshifted<'s>(&self, source: &'s dyn Source) -> UnshiftedSource<'s> {
        UnshiftedSource { source, inserted: *self }
    }

    /// Gives the places in a report on the file that was read those in the file that there is, and says what was done.
    pub(in crate::repair) fn adjust_report(&self, report: &mut RepairReport) {
        let moved = |at: u64| if at > self.at { at.saturating_add_signed(self.by).max(self.at) } else { at };
        for item in [&mut report.kept, &mut report.guessed, &mut report.lost].into_iter().flatten() {
            if let Some(range) = &mut item.range {
                *range = moved(range.start)..moved(range.end);
            }
        }
        let len = self.by.unsigned_abs();
        let bytes = if len == 1 { "byte" } else { "bytes" };
        let (is, place) = if self.by > 0 { ("too many", "behind") } else { ("missing", "before") };
        let what = format!(
            "{len} {bytes} {is} in the header: index and names lie {len} {bytes} {place} their places, and all chunks are read there"
        );
        report
            .guessed
            .insert(0, RepairItem::new(self.at..self.at.saturating_add_signed(self.by.max(0)), what));
    }
}

/// The last place in the header behind its numbers from which on all may be moved: where its texts are then such.
fn best_position(head: &[u8], by: i64) -> Option<ShiftedHeader> {
    let score = |inserted: &ShiftedHeader| {
        let Some(header) = inserted.unshifted(&head).head().ok().and_then(|head| Header::parse(&head).ok())
        else {
            return (false, false, 0);
        };
        let is_text = |field: &[u8; 64]| {
            let rest = field.iter().skip_while(|byte| **byte != 0);
            schema_hints::text(field).is_ok() && rest.into_iter().all(|byte| *byte == 0)
        };
        let zeros = header.reserved.iter().filter(|byte| **byte == 0).count();
        (is_text(&header.schema) && header.schema[0] != 0, is_text(&header.application), zeros)
    };
    (HEADER_NUMBERS.end..=header::LEN).map(|at| ShiftedHeader { at, by }).max_by_key(score)
}

/// Whether a header can be one.
fn is_likely(header: &Header) -> bool {
    let is_behind = |range: Option<Range<u64>>| {
        range.is_some_and(|range| range.start >= header::LEN && !range.is_empty())
    };
    header.is_supported() && is_behind(header.index_range()) && is_behind(header.namelist_range())
}

/// Whether index and names are in a file of that length, apart from one another.
fn is_within(header: &Header, len: u64) -> bool {
    header.index_range().zip(header.namelist_range()).is_some_and(|(index, names)| {
        index.end.max(names.end) <= len && (index.end <= names.start || names.end <= index.start)
    })
}

/// Checks whether index and names are shifted.
struct ShiftProbe<'l> {
    source: &'l dyn Source,
    limits: &'l Limits,
}

impl ShiftProbe<'_> {
    /// Whether index and names lie so far from their places in the header.
    fn is_off(&self, header: &Header, by: i64) -> Result<bool> {
        let needed = self.entries(header, by)?;
        Ok(needed > 0 && self.has_names(header, by, needed)?)
    }

    /// Returns the number of names that the first entries of an index at this distance from its place need; 0 where there is no index.
    fn entries(&self, header: &Header, by: i64) -> Result<usize> {
        let Some(range) = self.block(header.index_range(), by) else { return Ok(0) };
        let is_entry = |entry: &IndexEntry| {
            let within = |range: Range<u64>| {
                range.start >= header::LEN
                    && range.end <= self.source.len().saturating_add(MAX_SHIFT.unsigned_abs())
            };
            entry.chunk_type().is_some()
                && entry.flags == 0
                && entry.m > 0
                && entry.frame < header.index_allocated_entries
                && entry.byte_range().is_some_and(within)
        };
        // Hardly any place has so much as one.
        let one = self.source.read(range.start..range.start + header::INDEX_ENTRY_LEN)?;
        if !IndexBlock::new(&one, header.byte_order).get(0).is_some_and(|entry| is_entry(&entry)) {
            return Ok(0);
        }
        self.limits.allocate(range.end - range.start)?;
        let bytes = self.source.read(range)?;
        let entries = IndexBlock::new(&bytes, header.byte_order);
        let listed = entries.iter().take_while(is_entry);
        Ok(listed.map(|entry| usize::from(entry.id).saturating_add(1)).max().unwrap_or(0))
    }

    /// Whether so many names lie so far from their place, behind a byte that is no part of them.
    fn has_names(&self, header: &Header, by: i64, needed: usize) -> Result<bool> {
        let Some(range) = self.block(header.namelist_range(), by) else { return Ok(false) };
        let before = self.source.read(range.start - 1..range.start)?;
        self.limits.allocate(range.end - range.start)?;
        let bytes = self.source.read(range)?;
        let names = NameList::parse(name_recovery::until_empty_name(&bytes, header.is_v1()), header.is_v1());
        let is_begun = before.first().is_some_and(u8::is_ascii_graphic);
        Ok(names.len() >= needed && !is_begun && are_plausible(&names))
    }

    /// The first bytes of a block that lies so far from its place.
    fn block(&self, range: Option<Range<u64>>, by: i64) -> Option<Range<u64>> {
        let range = range?;
        let start = range.start.checked_add_signed(by).filter(|start| *start > 0)?;
        let end = start.checked_add((range.end - range.start).min(MAX_SEARCH_LEN))?.min(self.source.len());
        (start.checked_add(header::INDEX_ENTRY_LEN)? <= end).then_some(start..end)
    }
}

/// A file without the inserted bytes, or with zeros for the deleted ones.
pub(in crate::repair) struct UnshiftedSource<'s> {
    source: &'s dyn Source,
    inserted: ShiftedHeader,
}

impl UnshiftedSource<'_> {
    fn head(&self) -> Result<[u8; 256]> {
        let mut head = [0; 256];
        self.read_into(0, &mut head)?;
        Ok(head)
    }

    /// Bytes that are added.
    fn added(&self) -> u64 {
        self.inserted.by.min(0).unsigned_abs()
    }
}

impl Source for UnshiftedSource<'_> {
    fn len(&self) -> u64 {
        self.source.len().saturating_add_signed(self.inserted.by.saturating_neg())
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let split =
            |dst: usize, at: u64, end: u64| usize::try_from(end.saturating_sub(at)).unwrap_or(dst).min(dst);
        let ShiftedHeader { at: place, by } = self.inserted;
        let (before, dst) = dst.split_at_mut(split(dst.len(), at, place));
        if !before.is_empty() {
            self.source.read_into(at, before)?;
        }
        let at = at.max(place);
        let (zeros, rest) = dst.split_at_mut(split(dst.len(), at, place.saturating_add(self.added())));
        zeros.fill(0);
        if rest.is_empty() {
            return Ok(());
        }
        let at = at.max(place.saturating_add(self.added()));
        self.source.read_into(at.saturating_add_signed(by), rest)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let ShiftedHeader { at, by } = self.inserted;
        if range.end <= at {
            self.source.lend(range)
        } else if range.start >= at.saturating_add(self.added()) {
            self.source.lend(range.start.checked_add_signed(by)?..range.end.checked_add_signed(by)?)
        } else {
            None
        }
    }
}

//! State of a file that a writer appends to.

use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::source::{Source, try_zeroed_vec};
use container_core::write::storage::{Storage, StorageSource};
use container_core::{Error, Limits, Result};

use super::names::{NameTable, Slots};
use super::{CommitScheme, WriterOptions};
use crate::header::{Header, INDEX_ENTRY_LEN, LEN};
use crate::index::{IndexBlock, IndexEntry};
use crate::layout::{Layout, Strictness};

pub(super) struct ReopenState {
    pub(super) header: Header,
    pub(super) names: NameTable,
    pub(super) used: u64,
    pub(super) capacity: u64,
    pub(super) frames: u64,
    pub(super) file_len: u64,
    /// Slots after the used ones up to the last that is not zero.
    pub(super) stale: u64,
    /// Whether a frame of a file of layer 2 has several chunks of one name.
    pub(super) has_duplicates: bool,
}

/// Number of entries read at a time.
const ENTRIES_PER_READ: u64 = 1 << 15;

/// Maximum free space after the index that is searched, in bytes: larger indexes are moved before they fill it.
const MAX_ROOM: u64 = 64 << 20;

/// Reads header and names, and every entry. A fault is an error, so that added frames do not depend on it.
pub(super) fn scan(storage: &dyn Storage, options: &WriterOptions) -> Result<ReopenState> {
    let limits = &options.limits;
    let source = StorageSource::new(storage)?;
    let layout = Layout::parse(&source, limits, Strictness::Compatible)?;
    let header = *layout.header();
    if header.byte_order == ByteOrder::Big {
        return Err(Error::unsupported("adding frames to a big-endian GSD file")
            .with_hint("convert it, and add to the copy"));
    }
    let (lowest, has_duplicates) = check_entries(&source, &layout, limits)?;
    let used = layout.entries();
    let allocated = header.index_allocated_entries;
    let mut stale = 0;
    let capacity = match options.scheme {
        CommitScheme::Reference => allocated,
        // Space for entries: unreferenced slots that are zero or were left by an interrupted commit.
        CommitScheme::Atomic => {
            let end = layout.used_index().end;
            // A namelist that extends into the space leaves no room.
            let namelist = header.namelist_range().filter(|range| range.end > end);
            let next = namelist.map_or(u64::MAX, |range| range.start).min(lowest).min(layout.file_len());
            let room = end..if end < LEN { 0 } else { next };
            if allocated <= used {
                stale = stale_slots(&source, room.clone(), &layout, limits)?;
            }
            let room = room.start.saturating_add(stale.saturating_mul(INDEX_ENTRY_LEN))..room.end;
            let zeros = stale.saturating_add(zeros(&source, room, limits)? / INDEX_ENTRY_LEN);
            // If a visible slot holds anything else, the slots after it are not free either.
            if used.saturating_add(zeros) < allocated { used } else { used.saturating_add(zeros) }
        }
    };
    let slots = if header.is_v1() { Slots::Fixed } else { Slots::Packed };
    Ok(ReopenState {
        header,
        names: NameTable::new(layout.names(), slots),
        used,
        capacity,
        frames: layout.frames(),
        file_len: layout.file_len(),
        stale,
        has_duplicates,
    })
}

/// Checks every entry. Returns the lowest offset of a chunk that ends after the used part of the index (2^64 − 1 without one), and whether
/// a frame of a file of layer 2 has several chunks of one name.
fn check_entries(source: &dyn Source, layout: &Layout, limits: &Limits) -> Result<(u64, bool)> {
    let header = layout.header();
    let index_end = layout.used_index().end;
    let wrong = |at: u64, why: &str| {
        let start = header.index_location.saturating_add(at.saturating_mul(INDEX_ENTRY_LEN));
        Error::malformed(format!("index entry {at}: {why}; nothing is added to a damaged file"))
            .with_range(start..start.saturating_add(INDEX_ENTRY_LEN))
            .with_hint("holdall repair")
    };
    let used = layout.used_index();
    let (mut at, mut lowest, mut frame) = (0_u64, u64::MAX, 0);
    let (mut last, mut has_duplicates) = (None, false);
    let mut bytes =
        try_zeroed_vec(layout.entries().min(ENTRIES_PER_READ).saturating_mul(INDEX_ENTRY_LEN), limits)?;
    while at < layout.entries() {
        let start = used.start.saturating_add(at.saturating_mul(INDEX_ENTRY_LEN));
        let len = used.end.saturating_sub(start).min(bytes.len() as u64);
        let piece = bytes.get_mut(..usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or_default();
        source.read_into(start, piece)?;
        for entry in IndexBlock::new(piece, header.byte_order).iter() {
            if entry.is_unused() {
                return Err(wrong(at, "its location is 0, but entries follow"));
            }
            if let Some(why) = layout.entry_problem(&entry) {
                return Err(wrong(at, why));
            }
            if entry.frame < frame {
                return Err(wrong(at, "its frame comes before that of an earlier entry"));
            }
            frame = entry.frame;
            has_duplicates |= !header.is_v1() && last == Some((entry.frame, entry.id));
            last = Some((entry.frame, entry.id));
            if entry.byte_range().is_some_and(|range| range.start < LEN && !range.is_empty()) {
                return Err(wrong(at, "its chunk lies in the header"));
            }
            if let Some(range) = entry.byte_range()
                && range.end.max(range.start.saturating_add(1)) > index_end
            {
                lowest = lowest.min(range.start);
            }
            at = at.saturating_add(1);
        }
    }
    Ok((lowest, has_duplicates))
}

/// Counts slots from the start of a range, up to the last nonzero one, that contain only entries of uncommitted frames. A kill within a
/// commit leaves some of these entries there. Between them may be zeros, of sectors that did not reach the disk, and single slots that were
/// torn. No header or entry refers to them.
fn stale_slots(source: &dyn Source, range: Range<u64>, layout: &Layout, limits: &Limits) -> Result<u64> {
    let end = range.end.min(range.start.saturating_add(MAX_ROOM));
    let is_entry = |entry: &IndexEntry| {
        let placed = entry.chunk_type().is_some() && entry.m > 0 && entry.flags == 0;
        placed && entry.location >= LEN.cast_signed() && entry.frame >= layout.frames()
    };
    let (mut at, mut slot, mut stale, mut is_torn) = (range.start, 0_u64, 0_u64, false);
    while end.saturating_sub(at) >= INDEX_ENTRY_LEN {
        let len = (end - at).min(1 << 20);
        let mut bytes: Vec<u8> = try_zeroed_vec(len - len % INDEX_ENTRY_LEN, limits)?;
        source.read_into(at, &mut bytes)?;
        at = at.saturating_add(bytes.len() as u64);
        for entry in IndexBlock::new(&bytes, layout.header().byte_order).iter() {
            slot = slot.saturating_add(1);
            if entry == IndexEntry::default() {
                is_torn = false;
                continue;
            }
            if !is_entry(&entry) && std::mem::replace(&mut is_torn, true) {
                // Two consecutive invalid slots are not torn entries but other data.
                return Ok(stale.min(slot.saturating_sub(2)));
            }
            is_torn &= !is_entry(&entry);
            stale = slot;
        }
        // Reserved space is mostly empty: a long run of zeros ends the search.
        if slot.saturating_sub(stale) > ENTRIES_PER_READ {
            break;
        }
    }
    Ok(stale)
}

/// Bytes from the start of a range that are 0.
fn zeros(source: &dyn Source, range: Range<u64>, limits: &Limits) -> Result<u64> {
    let end = range.end.min(range.start.saturating_add(MAX_ROOM));
    let mut at = range.start;
    while at < end {
        let mut bytes: Vec<u8> = try_zeroed_vec((end - at).min(1 << 20), limits)?;
        source.read_into(at, &mut bytes)?;
        if let Some(other) = bytes.iter().position(|byte| *byte != 0) {
            return Ok(at - range.start + other as u64);
        }
        at += bytes.len() as u64;
    }
    Ok(at.saturating_sub(range.start))
}

//! Validation pass over the whole index: faults of each entry, the end of the list, and the usable entries.

use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::source::try_zeroed_vec;
use container_core::{Limits, Result};

use crate::fault::{FaultKind, Faults};
use crate::header::{Header, INDEX_ENTRY_LEN};
use crate::index::{IndexBlock, IndexEntry};
use crate::index_check::{is_zero, valid_slots};

/// Bounds that entries are checked against.
pub(crate) struct Rules<'a> {
    pub(crate) header: &'a Header,
    pub(crate) file_len: u64,
    pub(crate) names: usize,
    /// The lowest impossible frame.
    pub(crate) frames: u64,
}

impl Rules<'_> {
    /// Describes the problem of an entry by itself.
    pub(crate) fn problem(&self, entry: &IndexEntry) -> Option<(FaultKind, &'static str)> {
        if entry.chunk_type().is_none() {
            Some((FaultKind::EntryType, "unknown type code"))
        } else if entry.byte_range().is_none_or(|range| range.end > self.file_len) {
            Some((FaultKind::EntryRange, "its chunk is not within the file"))
        } else if entry.frame >= self.frames {
            Some((FaultKind::EntryFrame, "its frame is not below the allocated number of entries"))
        } else if usize::from(entry.id) >= self.names {
            Some((FaultKind::EntryId, "its name is not in the namelist"))
        } else if entry.flags != 0 {
            Some((FaultKind::EntryFlags, "its flags are not 0"))
        } else {
            None
        }
    }

    /// True where frame and name of an entry are possible, so that it can be found, readable or not.
    fn is_placed(&self, entry: &IndexEntry) -> bool {
        entry.frame < self.frames && usize::from(entry.id) < self.names
    }
}

/// Result of a pass.
#[derive(Default)]
pub(crate) struct Scan {
    /// Number of slots up to the last valid entry.
    pub(crate) used: usize,
    /// Entries that cannot be found: their frame or name is impossible.
    pub(crate) dropped: u64,
    /// True where the used slots are not the entries in order.
    pub(crate) rebuild: bool,
}

/// Checks every slot. Faults go to `faults`; the pass ends early where `stop` is set.
pub(crate) fn scan(index: IndexBlock<'_>, rules: &Rules<'_>, faults: &mut Faults, stop: bool) -> Scan {
    scan_from(index, valid_slots(index, rules), rules, faults, stop)
}

/// [`scan`], starting after the first `sound` slots.
///
/// The list ends at the first unused slot after which all slots are zero. Unused slots before a valid entry are a hole, which is reported
/// once the entry is found. Each entry is checked by itself, then its key (frame and id) against that of the previous placed entry. Entries
/// that cannot be found are counted in `dropped`. Holes, dropped entries and wrong order all require a rebuilt copy of the index.
pub(crate) fn scan_from(
    index: IndexBlock<'_>,
    sound: usize,
    rules: &Rules<'_>,
    faults: &mut Faults,
    stop: bool,
) -> Scan {
    let mut scan = Scan { used: sound, ..Scan::default() };
    let (mut last, mut unused) = (sound.checked_sub(1).and_then(|last| index.get(last)), None);
    let mut tail: Option<usize> = None;
    let v1 = rules.header.is_v1();
    for (at, entry) in (sound..).zip(index.slice(sound..index.len()).iter()) {
        if entry.is_unused() {
            if unused.is_none() && is_zero(index, at) {
                break;
            }
            unused = unused.or(Some(at));
            if tail.is_none() && entry != IndexEntry::default() {
                tail = Some(at);
            }
            continue;
        }
        let problem = rules
            .problem(&entry)
            .or_else(|| (entry.m == 0).then_some((FaultKind::EntryZeroColumns, "its chunk has no columns")));
        let place = place(rules.header, at, 1);
        if let Some((kind, why)) = problem {
            // In a truncated file the chunk's bytes are reported: from the chunk's start, or from the end of the file if that is
            // earlier.
            let claimed = entry.byte_range().filter(|_| kind == FaultKind::EntryRange);
            let claimed = claimed.map(|claimed| claimed.start.min(rules.file_len)..claimed.end);
            let range = claimed.unwrap_or_else(|| place.clone());
            faults.add_found_at(place.clone(), kind, range, || format!("index entry {at}: {why}"));
        }
        if let Some(first) = unused {
            // An invalid slot after the end is left over from a write, not part of the list.
            if problem.is_some() {
                continue;
            }
            let hole = self::place(rules.header, first, at.saturating_sub(first));
            let slots = at.saturating_sub(first);
            faults.add(FaultKind::HoleInIndex, hole, || {
                format!("{slots} unused slots before index entry {at}")
            });
            (unused, tail, scan.rebuild) = (None, None, true);
        }
        scan.used = at.saturating_add(1);
        if !rules.is_placed(&entry) {
            scan.dropped = scan.dropped.saturating_add(1);
            scan.rebuild = true;
        } else {
            if let Some(last) = last {
                let key = |entry: &IndexEntry| (entry.frame, if v1 { 0 } else { entry.id });
                if key(&entry) < key(&last) {
                    scan.rebuild = true;
                }
                // The order of an invalid entry is not reported in addition.
                if problem.is_some() {
                } else if key(&entry) < key(&last) {
                    faults.add(FaultKind::EntryOrder, place, || {
                        format!(
                            "index entry {at}: frame {} and name {} come after frame {} and name {}",
                            entry.frame, entry.id, last.frame, last.id
                        )
                    });
                } else if !v1 && key(&entry) == key(&last) {
                    faults.add(FaultKind::EntryDuplicate, place, || {
                        format!(
                            "index entry {at}: frame {} has a second chunk of name {}",
                            entry.frame, entry.id
                        )
                    });
                }
            }
            last = Some(entry);
        }
        if stop && !faults.as_slice().is_empty() {
            return scan;
        }
    }
    // The list has ended, and the slots after it are not all zero.
    if let Some(at) = tail {
        faults.add(FaultKind::TailNotZero, place(rules.header, at, 1), || {
            format!("slot {at} of the index is unused, but not zero: a partly written entry")
        });
    }
    scan
}

/// The entries that can be found, sorted by frame and name (in 1.0 files by frame); of equal ones the last written.
pub(crate) fn rebuilt(index: IndexBlock<'_>, rules: &Rules<'_>, limits: &Limits) -> Result<(Vec<u8>, u64)> {
    limits.allocate((index.len() as u64).saturating_mul(INDEX_ENTRY_LEN.saturating_mul(2)))?;
    let placed = |entry: &IndexEntry| !entry.is_unused() && rules.is_placed(entry);
    let mut entries: Vec<IndexEntry> = index.iter().filter(placed).collect();
    if rules.header.is_v1() {
        entries.sort_by_key(|entry| entry.frame);
    } else {
        entries.sort_by_key(|entry| {
            let readable = rules.problem(entry).is_none();
            (entry.frame, entry.id, std::cmp::Reverse((readable, entry.location)))
        });
        entries.dedup_by_key(|entry| (entry.frame, entry.id));
    }
    let order: ByteOrder = rules.header.byte_order;
    let mut bytes: Vec<u8> = try_zeroed_vec((entries.len() as u64).saturating_mul(INDEX_ENTRY_LEN), limits)?;
    for (place, entry) in bytes.as_chunks_mut::<32>().0.iter_mut().zip(&entries) {
        *place = entry.to_bytes(order);
    }
    Ok((bytes, entries.last().map_or(0, |entry| entry.frame.saturating_add(1))))
}

/// Absolute bytes of slots of the index.
pub(crate) fn place(header: &Header, at: usize, count: usize) -> Range<u64> {
    let start = header.index_location.saturating_add((at as u64).saturating_mul(INDEX_ENTRY_LEN));
    start..start.saturating_add((count as u64).saturating_mul(INDEX_ENTRY_LEN))
}

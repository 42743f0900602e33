//! The entries of the index: which of them make sense, by themselves and together.

use std::collections::BTreeSet;
use std::ops::Range;

use container_core::Result;

use super::damaged_file::{DamagedFile, PAST_END};
use crate::header::INDEX_ENTRY_LEN;
use crate::index::{IndexBlock, IndexEntry};

/// Multiples of bytes at which writers put chunks, names and the index.
const ALIGNMENTS: [u64; 5] = [1, 8, 64, 512, 4096];

/// A run of invalid index slots, all for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InvalidSlots {
    pub(super) range: Range<u64>,
    pub(super) why: &'static str,
    /// The frames that it may have belonged to, inclusive; `None` at the end, where it belonged to any later one.
    pub(super) frames: (u64, Option<u64>),
}

impl InvalidSlots {
    pub(super) fn slots(&self) -> u64 {
        (self.range.end - self.range.start) / INDEX_ENTRY_LEN
    }
}

/// Entries and invalid slots of an index block.
#[derive(Clone, Debug, Default)]
pub(super) struct CollectedEntries {
    /// Entries that make sense by themselves, in the order of the block; later sorted by (frame, id).
    pub(super) entries: Vec<IndexEntry>,
    pub(super) invalid_slots: Vec<InvalidSlots>,
    /// Entries that were not in order.
    pub(super) unsorted: u64,
    /// Frames with entries that make sense and others that lead past the end of the file.
    pub(super) cut: BTreeSet<u64>,
    /// Bytes of the block up to the last entry that makes sense.
    pub(super) used: Range<u64>,
}

/// Reads every entry of `block`. Zeros at its end are its end; zeros before another entry are a hole.
pub(super) fn collect(
    damaged: &DamagedFile<'_>,
    block: Range<u64>,
    names: Option<usize>,
) -> Result<CollectedEntries> {
    let mut found = CollectedEntries { used: block.start..block.start, ..CollectedEntries::default() };
    let mut pending: Vec<InvalidSlots> = Vec::new();
    let mut hole: Option<Range<u64>> = None;
    let mut bad_since_good = 0_u64;
    let mut cut: Option<u64> = None;
    let whole = block.start..block.end - (block.end - block.start) % INDEX_ENTRY_LEN;
    for window in damaged.windows(whole, 0) {
        let (start, bytes) = window?;
        for (position, entry) in (0_u64..).zip(IndexBlock::new(&bytes, damaged.order()).iter()) {
            let at = start + position * INDEX_ENTRY_LEN;
            let range = at..at + INDEX_ENTRY_LEN;
            if entry == IndexEntry::default() {
                let start = hole.as_ref().map_or(at, |hole| hole.start);
                hole = Some(start..range.end);
                continue;
            }
            let last = found.entries.last().map_or(0, |last| last.frame);
            if let Some(why) = damaged.entry_problem(&entry, names) {
                // After a block's end nothing follows: what the block was made of is no longer clear.
                if let Some(zeros) = hole.take() {
                    add(&mut pending, zeros, "an empty slot", (last, None));
                }
                if why == PAST_END {
                    cut = Some(entry.frame);
                    if !found.entries.is_empty() && entry.frame == last {
                        found.cut.insert(last);
                    }
                }
                add(&mut pending, range, why, (last, None));
                bad_since_good += 1;
                continue;
            }
            if let Some(zeros) = hole.take() {
                add(&mut pending, zeros, "an empty slot", (last, None));
            }
            for invalid in pending.drain(..) {
                found
                    .invalid_slots
                    .push(InvalidSlots { frames: (last, Some(entry.frame.max(last))), ..invalid });
            }
            bad_since_good = 0;
            found.cut.extend(cut.take().filter(|frame| *frame == entry.frame));
            found.used.end = range.end;
            push(&mut found.entries, entry, damaged)?;
        }
    }
    // Ruined slots at the end; empty ones between and behind them are none.
    if bad_since_good > 0 {
        found.invalid_slots.extend(pending.into_iter().filter(|invalid| invalid.why != "an empty slot"));
    }
    Ok(found)
}

fn add(
    invalid_slots: &mut Vec<InvalidSlots>,
    range: Range<u64>,
    why: &'static str,
    frames: (u64, Option<u64>),
) {
    let full = invalid_slots.len() >= 4096;
    match invalid_slots.last_mut() {
        Some(last) if last.why == why && last.range.end == range.start => last.range.end = range.end,
        // A block of nothing but noise: the reasons no longer matter.
        Some(last) if full => {
            *last = InvalidSlots { range: last.range.start..range.end, why: "invalid entries", frames };
        }
        _ => invalid_slots.push(InvalidSlots { range, why, frames }),
    }
}

fn push(entries: &mut Vec<IndexEntry>, entry: IndexEntry, damaged: &DamagedFile<'_>) -> Result<()> {
    if entries.len() == entries.capacity() {
        let more = entries.len().max(64);
        damaged.limits.allocate((entries.len() as u64 + more as u64) * INDEX_ENTRY_LEN)?;
        let no_memory = |_| container_core::Error::limit("entries of the index", more as u64, 0);
        entries.try_reserve(more).map_err(no_memory)?;
    }
    entries.push(entry);
    Ok(())
}

/// Forgets ruins at the end of the block where it cannot be an index any more: among data and names, and where its claimed
/// end is not in the file. Returns where it ends then.
pub(super) fn end_block(found: &mut CollectedEntries, names: &Range<u64>, claimed: bool) -> Option<u64> {
    let data = found.entries.iter().filter_map(IndexEntry::byte_range).map(|range| range.start);
    let limit = data.chain([names.start]).filter(|start| *start >= found.used.end).min().unwrap_or(u64::MAX);
    let before = found.invalid_slots.len();
    found.invalid_slots.retain(|invalid| {
        invalid.frames.1.is_some() || (invalid.range.end <= limit && (claimed || invalid.why == PAST_END))
    });
    (found.invalid_slots.len() < before).then_some(found.used.end)
}

/// An entry that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DroppedEntry {
    pub(super) entry: IndexEntry,
    pub(super) why: &'static str,
    /// True where the frame has another chunk of the name.
    pub(super) replaced: bool,
}

/// Sorts by (frame, id), and of several entries for one chunk keeps the one whose data lie last.
pub(super) fn sort(found: &mut CollectedEntries, v1: bool) -> Vec<DroppedEntry> {
    let in_order = |pair: &[IndexEntry]| match pair {
        [a, b] if v1 => a.frame <= b.frame,
        [a, b] => (a.frame, a.id) < (b.frame, b.id),
        _ => true,
    };
    found.unsorted = found.entries.windows(2).filter(|pair| !in_order(pair)).count() as u64;
    // Before one of two for the same chunk is chosen by its place.
    let mut dropped = if found.unsorted > 0 { remove_misplaced(&mut found.entries) } else { Vec::new() };
    if found.unsorted > 0 || v1 {
        // Write order is the order of locations, also where a v1 index does not say so.
        found.entries.sort_by_key(|entry| (entry.frame, entry.id, entry.location));
    }
    dropped.extend(dedup(&mut found.entries));
    dropped
}

/// Keeps the last of several entries for one chunk that follow one another.
fn dedup(entries: &mut Vec<IndexEntry>) -> Vec<DroppedEntry> {
    let mut dropped = Vec::new();
    entries.dedup_by(|later, kept| {
        if (later.frame, later.id) != (kept.frame, kept.id) {
            return false;
        }
        if later != kept {
            dropped.push(DroppedEntry { entry: *kept, why: "written again later", replaced: true });
        }
        *kept = *later;
        true
    });
    dropped
}

/// Takes out entries, of an index that is not in order, whose frame is not that of what lies before and behind their chunks.
fn remove_misplaced(entries: &mut Vec<IndexEntry>) -> Vec<DroppedEntry> {
    let start = |at: &u32| entries[*at as usize].location;
    let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    let mut places: Vec<u32> = (0..count).filter(|at| entries[*at as usize].size() != Some(0)).collect();
    places.sort_by_key(start);
    let frame = |at: usize| places.get(at).map(|place| entries[*place as usize].frame);
    let mut bad: Vec<(u32, &'static str)> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let before = at.checked_sub(1).and_then(frame).unwrap_or(0);
        let behind = frame(at + 1).unwrap_or(u64::MAX);
        let own = entries[*place as usize].frame;
        if before <= behind && (own < before || own > behind) {
            bad.push((*place, "a frame that differs from that of the chunks around it"));
        }
    }
    bad.sort_unstable();
    remove(entries, &bad)
}

/// Takes out entries whose chunks lie where others do. `blocks` are the index, the namelist and the header: nothing else lies there.
pub(super) fn remove_overlapping(entries: &mut Vec<IndexEntry>, blocks: &[Range<u64>]) -> Vec<DroppedEntry> {
    let mut places: Vec<u32> = Vec::new();
    let stored = |entry: &IndexEntry| entry.byte_range().unwrap_or(0..0);
    let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    places.extend((0..count).filter(|at| !stored(&entries[*at as usize]).is_empty()));
    let key = |at: &u32| stored(&entries[*at as usize]).start;
    if !places.is_sorted_by_key(key) {
        places.sort_by_key(key);
    }
    let mut bad: Vec<(u32, &'static str)> = Vec::new();
    let mut previous: Option<u32> = None;
    let mut clashing: Vec<(u32, u32)> = Vec::new();
    for at in &places {
        let range = stored(&entries[*at as usize]);
        if blocks.iter().any(|block| range.start < block.end && block.start < range.end) {
            bad.push((*at, "a chunk in the index or the namelist"));
            continue;
        }
        if let Some(before) = previous {
            let other = stored(&entries[before as usize]);
            if other.end > range.start && other != range {
                clashing.push((before, *at));
            }
            if other.end > range.end {
                // The longer one is still to be compared with what follows.
                continue;
            }
        }
        previous = Some(*at);
    }
    if !clashing.is_empty() {
        let edges = Edges::of(entries, blocks);
        for (a, b) in clashing {
            let score = |at: u32| edges.score(&entries[at as usize]);
            let why = "a chunk that overlaps another";
            match score(a).cmp(&score(b)) {
                std::cmp::Ordering::Less => bad.push((a, why)),
                std::cmp::Ordering::Greater => bad.push((b, why)),
                std::cmp::Ordering::Equal => bad.extend([(a, why), (b, why)]),
            }
        }
    }
    bad.sort_unstable();
    bad.dedup_by_key(|(at, _)| *at);
    remove(entries, &bad)
}

/// Takes out the entries at some positions, which are in order.
fn remove(entries: &mut Vec<IndexEntry>, bad: &[(u32, &'static str)]) -> Vec<DroppedEntry> {
    let dropped = bad.iter().map(|(at, why)| {
        let entry = entries[*at as usize];
        DroppedEntry { entry, why, replaced: false }
    });
    let dropped: Vec<DroppedEntry> = dropped.collect();
    let mut next = bad.iter().map(|(at, _)| *at as usize).peekable();
    let mut at = 0;
    entries.retain(|_| {
        let drop = next.next_if_eq(&at).is_some();
        at += 1;
        !drop
    });
    dropped
}

/// Starts and ends of chunks and blocks, which lie one behind another: the physical order, by which places are checked.
pub(super) struct Edges {
    starts: Vec<u64>,
    ends: Vec<u64>,
}

impl Edges {
    pub(super) fn of(entries: &[IndexEntry], blocks: &[Range<u64>]) -> Self {
        let chunks = entries.iter().filter_map(IndexEntry::byte_range);
        let ranges: Vec<Range<u64>> =
            chunks.chain(blocks.iter().cloned()).filter(|range| !range.is_empty()).collect();
        let sorted = |edge: fn(&Range<u64>) -> u64| {
            let mut all: Vec<u64> = ranges.iter().map(edge).collect();
            all.sort_unstable();
            all
        };
        Self { starts: sorted(|range| range.start), ends: sorted(|range| range.end) }
    }

    /// The greatest end of a chunk or block up to `at`, else 0.
    pub(super) fn end_before(&self, at: u64) -> u64 {
        let next = self.ends.partition_point(|end| *end <= at);
        self.ends[..next].last().copied().unwrap_or(0)
    }

    /// True where the last chunk or block ends at `end`.
    pub(super) fn end_at(&self, end: u64) -> bool {
        self.ends.last() == Some(&end)
    }

    /// Counts the ends of the chunk that meet a neighbour.
    fn score(&self, entry: &IndexEntry) -> u8 {
        let Some(range) = entry.byte_range() else { return 0 };
        u8::from(self.ends.binary_search(&range.start).is_ok())
            + u8::from(self.starts.binary_search(&range.end).is_ok())
    }

    /// True for a block that begins where something ends, or ends where something begins; with `aligned` also where zeros that align it are
    /// between. In a file that bytes were put into or taken out of, no block does: what entries say of chunks is then off by as much.
    pub(super) fn meet(&self, damaged: &DamagedFile<'_>, block: &Range<u64>, aligned: bool) -> Result<bool> {
        let before = self.ends.partition_point(|end| *end <= block.start).checked_sub(1);
        let behind = self.starts.partition_point(|start| *start < block.end);
        let pairs = [
            before.and_then(|at| self.ends.get(at)).map(|end| *end..block.start),
            self.starts.get(behind).map(|start| block.end..*start),
        ];
        for gap in pairs.into_iter().flatten() {
            let is_aligned =
                ALIGNMENTS.iter().any(|by| gap.start.checked_next_multiple_of(*by) == Some(gap.end));
            if gap.is_empty() || (aligned && is_aligned && damaged.read(gap)?.iter().all(|byte| *byte == 0)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

//! Byte intervals of chunks and blocks, in order of their offsets.

use std::collections::BTreeSet;
use std::ops::Range;

use container_core::Result;

use super::candidates::MAX_CANDIDATES;
use super::index_table::IndexTable;
use crate::header;
use crate::index::IndexEntry;
use crate::repair::damaged_file::DamagedFile;
use crate::repair::entries::is_aligning;

/// Slot number of an interval that is not a chunk.
const NO_SLOT: u32 = u32::MAX;

/// The end of the interval of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalEnd {
    /// A chunk or a block.
    AtAnother,
    /// Nothing.
    OfFile,
}

/// A byte interval, and the slot of its chunk.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    end: u64,
    slot: u32,
    type_code: u8,
}

/// All chunks and blocks in order of their offsets.
pub(super) struct Intervals {
    runs: Vec<Run>,
    /// For each, where those before it end: the furthest two, with their slots.
    reach: Vec<[(u64, u32); 2]>,
    len: u64,
    /// Nearly all chunks are at multiples of this.
    alignment: u64,
}

impl Intervals {
    /// The places of all entries that make sense.
    pub(super) fn of(table: &IndexTable<'_, '_>) -> Result<Self> {
        let damaged = table.damaged;
        let run =
            |range: Range<u64>, slot, type_code| Run { start: range.start, end: range.end, slot, type_code };
        let chunks = (0_u32..).zip(&table.slots).filter(|(_, entry)| table.is_sensible(entry));
        let chunks = chunks.filter_map(|(slot, entry)| Some(run(entry.byte_range()?, slot, entry.type_code)));
        let blocks = [Some(0..header::LEN), damaged.header.index_range(), damaged.header.namelist_range()];
        let blocks = blocks.into_iter().flatten().chain(damaged.known.iter().cloned());
        let blocks = blocks.map(|range| run(range, NO_SLOT, 0));
        let mut runs: Vec<Run> = chunks.chain(blocks).filter(|run| run.start < run.end).collect();
        runs.sort_unstable_by_key(|run| (run.start, run.end, run.slot));
        let mut reach = Vec::with_capacity(runs.len() + 1);
        let mut furthest = [(0, NO_SLOT); 2];
        for run in &runs {
            reach.push(furthest);
            furthest = match furthest {
                [first, _] if run.end > first.0 => [(run.end, run.slot), first],
                [first, second] if run.end > second.0 => [first, (run.end, run.slot)],
                same => same,
            };
        }
        reach.push(furthest);
        let is_chunk = |run: &&Run| run.slot != NO_SLOT;
        let count = runs.iter().filter(is_chunk).count();
        let mostly = |by: &u64| {
            let at = |run: &&Run| run.start.is_multiple_of(*by);
            runs.iter().filter(is_chunk).filter(at).count() >= count - count.min(count / 64 + 1)
        };
        let alignment = [64, 8].into_iter().find(mostly).unwrap_or(1);
        Ok(Self { runs, reach, len: damaged.len, alignment })
    }

    /// Returns the end before `at` and the run that begins at or after it, without the chunk of `slot`.
    fn nearest(&self, at: u64, slot: usize) -> ((u64, u32), Option<Run>) {
        let other = |one: u32| usize::try_from(one) != Ok(slot);
        let place = self.runs.partition_point(|run| run.start < at);
        let [first, second] = self.reach[place];
        let before = if other(first.1) { first } else { second };
        (before, self.runs[place..].iter().find(|run| other(run.slot)).copied())
    }

    /// Slots of the chunks before and behind that of an entry; `None` where there is a block, or nothing.
    pub(super) fn neighbours(&self, slot: usize, entry: &IndexEntry) -> [Option<usize>; 2] {
        let Ok(start) = u64::try_from(entry.location) else { return [None; 2] };
        let ((_, before), behind) = self.nearest(start, slot);
        let of = |one: u32| usize::try_from(one).ok().filter(|_| one != NO_SLOT);
        [of(before), behind.and_then(|run| of(run.slot))]
    }

    /// Whether between what ends at the one place and what begins at the other there is nothing, or what aligns it.
    fn are_adjacent(&self, damaged: &DamagedFile<'_>, end: u64, start: u64) -> Result<bool> {
        let is_short = end < start && start - end < self.alignment && start.is_multiple_of(self.alignment);
        Ok(end == start || (is_short && is_aligning(damaged, &(end..start))?))
    }

    /// Whether a chunk shares bytes with others that are not the very same.
    pub(super) fn is_over_another(&self, slot: usize, entry: &IndexEntry) -> bool {
        let Some(range) = entry.byte_range().filter(|range| !range.is_empty()) else { return false };
        let (before, behind) = self.nearest(range.start, slot);
        let is_over = |run: Run| run.start < range.end && (run.start, run.end) != (range.start, range.end);
        before.0 > range.start || behind.is_some_and(is_over)
    }

    /// Whether a chunk lies between others of its frame or of those around it, and what it ends at; `None` if it does not.
    pub(super) fn is_between(
        &self,
        damaged: &DamagedFile<'_>,
        slots: &[IndexEntry],
        slot: usize,
        entry: &IndexEntry,
    ) -> Result<Option<IntervalEnd>> {
        let Some(range) = entry.byte_range() else { return Ok(None) };
        let (before, behind) = self.nearest(range.start, slot);
        let next = behind.map_or(self.len, |run| run.start);
        let frame =
            |slot: u32| usize::try_from(slot).ok().and_then(|slot| slots.get(slot)).map(|one| one.frame);
        let earlier = frame(before.1).is_none_or(|frame| frame <= entry.frame);
        let later = behind.and_then(|run| frame(run.slot)).is_none_or(|frame| entry.frame <= frame);
        let fits = earlier
            && later
            && self.are_adjacent(damaged, before.0, range.start)?
            && self.are_adjacent(damaged, range.end, next)?;
        Ok(fits.then_some(if behind.is_some() { IntervalEnd::AtAnother } else { IntervalEnd::OfFile }))
    }

    /// Slots of chunks that lie over others, or beside bytes that are nobody's.
    pub(super) fn candidates(
        &self,
        damaged: &DamagedFile<'_>,
        slots: &[IndexEntry],
    ) -> Result<BTreeSet<usize>> {
        let mut candidates = BTreeSet::new();
        let mut add = |slot: u32| candidates.extend((slot != NO_SLOT).then_some(slot as usize));
        let mut gaps: BTreeSet<u64> = BTreeSet::new();
        for (at, run) in self.runs.iter().enumerate() {
            let [before, _] = self.reach[at];
            let twin = at.checked_sub(1).map(|at| self.runs[at]);
            let is_twin = twin.is_some_and(|twin| {
                (twin.start, twin.end, twin.type_code) == (run.start, run.end, run.type_code)
            });
            if before.0 > run.start && !is_twin {
                add(before.1);
                add(run.slot);
            } else if before.0 < run.start && !self.are_adjacent(damaged, before.0, run.start)? {
                add(before.1);
                add(run.slot);
                gaps.extend((gaps.len() < MAX_CANDIDATES).then_some(before.0));
            }
        }
        let [last, _] = self.reach[self.runs.len()];
        if last.0 < self.len {
            add(last.1);
            gaps.insert(last.0);
        }
        // Chunks without rows have no place of their own.
        let is_at_gap = |entry: &IndexEntry| {
            entry.size() == Some(0) && u64::try_from(entry.location).is_ok_and(|at| gaps.contains(&at))
        };
        candidates.extend((0..slots.len()).filter(|slot| is_at_gap(&slots[*slot])).take(MAX_CANDIDATES));
        Ok(candidates)
    }
}

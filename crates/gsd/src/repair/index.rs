//! The index: where the header says, where it once was, or where it is to be.

use std::collections::BTreeMap;
use std::ops::Range;

use container_core::Result;
use container_core::report::RepairItem;

use super::damaged_file::{DamagedFile, PAST_END};
use super::entries::{self, CollectedEntries};
use super::find_index::{self, Run};
use super::frames::Gap;
use crate::header::{self, INDEX_ENTRY_LEN};
use crate::index::{IndexBlock, IndexEntry};

/// The entries that make sense by themselves, from the block in the header or, where that holds none, the best other.
pub(super) fn find(
    damaged: &DamagedFile<'_>,
    guessed: &mut Vec<RepairItem>,
) -> Result<(CollectedEntries, Range<u64>)> {
    let stated = damaged.index_block();
    let mut best: Option<(CollectedEntries, Range<u64>)> = None;
    if !stated.is_empty() {
        let block = with_slots_before(damaged, stated.clone())?;
        let found = collect(damaged, block.clone())?;
        let complete = damaged.header.index_range().is_some_and(|range| range.end <= damaged.len);
        if !found.entries.is_empty() && complete {
            if block != stated {
                let what = "entries that stand before the place in the header";
                guessed.push(RepairItem::new(block.start..stated.start, what));
            }
            return Ok((found, block));
        }
        best = Some((found, block));
    }
    // There is no index, or it was cut: an older copy may have more.
    let runs = find_index::index_runs(damaged, std::slice::from_ref(&(header::LEN..damaged.len)))?;
    if let Some(block) = find_index::block_of(&runs) {
        let block = with_cut_slots(damaged, block)?;
        let found = collect(damaged, block.clone())?;
        if best.as_ref().is_none_or(|(other, _)| found.entries.len() > other.entries.len()) {
            let what = format!("an index of {} entries, where one was found", found.entries.len());
            guessed.push(RepairItem::new(block.clone(), what));
            return Ok((found, block));
        }
    }
    Ok(best.unwrap_or_else(|| (CollectedEntries::default(), stated)))
}

/// The block with the entries behind it whose chunks were cut off with the end of the file.
fn with_cut_slots(damaged: &DamagedFile<'_>, block: Range<u64>) -> Result<Range<u64>> {
    let mut last = (0, 0);
    let mut end = block.end;
    'windows: for window in damaged.windows(block.end - INDEX_ENTRY_LEN..damaged.len, 0) {
        let (start, bytes) = window?;
        for (position, entry) in (0_u64..).zip(IndexBlock::new(&bytes, damaged.order()).iter()) {
            let problem = damaged.entry_problem(&entry, None);
            let next = (entry.frame, if damaged.header.is_v1() { u16::MAX } else { entry.id });
            if problem.is_some_and(|why| why != PAST_END) || next < last {
                break 'windows;
            }
            last = next;
            end = end.max(start + (position + 1) * INDEX_ENTRY_LEN);
        }
    }
    Ok(block.start..end)
}

/// Collects with the number of names that the ids of most entries agree with.
fn collect(damaged: &DamagedFile<'_>, block: Range<u64>) -> Result<CollectedEntries> {
    let found = entries::collect(damaged, block.clone(), None)?;
    let names = needed_names(damaged, &found.entries)?;
    let outside = found.entries.iter().any(|entry| usize::from(entry.id) >= names);
    if outside { entries::collect(damaged, block, Some(names)) } else { Ok(found) }
}

/// Returns the number of names: that of the namelist, if most entries agree, else the number that entries need. Ids are given in the order of first
/// use, so that one above the number of entries is invalid. Ids right after the list's are valid if several entries have them, and so are those of a
/// first frame that has all ids up to them.
pub(super) fn needed_names(damaged: &DamagedFile<'_>, entries: &[IndexEntry]) -> Result<usize> {
    let listed = super::name_recovery::at_header_offset(damaged, 0)?.map_or(0, |found| found.names.len());
    let outside = || entries.iter().map(|entry| usize::from(entry.id)).filter(|id| *id >= listed);
    if listed > 0 && outside().count() * 2 < entries.len().max(1) {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        outside().for_each(|id| *counts.entry(id).or_default() += 1);
        // All ids up to this one are in the first frame, each behind the one before.
        let first = entries.first().map_or(0, |entry| entry.frame);
        let run = (0_usize..).zip(entries);
        let run = run.take_while(|(at, entry)| entry.frame == first && usize::from(entry.id) == *at).count();
        let is_shown = |id: usize, count: usize| count > 1 || id < run;
        let more = (listed..).take_while(|id| counts.get(id).is_some_and(|count| is_shown(*id, *count)));
        return Ok(listed + more.count());
    }
    let ids = entries.iter().map(|entry| usize::from(entry.id)).filter(|id| *id < entries.len());
    Ok(ids.max().map_or(0, |id| id + 1))
}

/// The block with the entries right before it that are in order with its first.
fn with_slots_before(damaged: &DamagedFile<'_>, block: Range<u64>) -> Result<Range<u64>> {
    let entry = |at: u64| -> Result<Option<IndexEntry>> {
        let Some(end) = at.checked_add(INDEX_ENTRY_LEN).filter(|end| *end <= damaged.len) else {
            return Ok(None);
        };
        let bytes = damaged.read(at..end)?;
        let entry = IndexBlock::new(&bytes, damaged.order()).get(0);
        Ok(entry.filter(|entry| damaged.entry_problem(entry, None).is_none()))
    };
    let Some(mut next) = entry(block.start)? else { return Ok(block) };
    let mut start = block.start;
    while start >= header::LEN + INDEX_ENTRY_LEN
        && let Some(before) = entry(start - INDEX_ENTRY_LEN)?
        && precedes(damaged, &before, &next)
    {
        start -= INDEX_ENTRY_LEN;
        next = before;
    }
    Ok(start..block.end)
}

/// Whether an entry may stand right before another in an index.
fn precedes(damaged: &DamagedFile<'_>, before: &IndexEntry, next: &IndexEntry) -> bool {
    let in_order = if damaged.header.is_v1() {
        (before.frame, before.location) < (next.frame, next.location)
    } else {
        (before.frame, before.id) < (next.frame, next.id)
    };
    in_order && before.frame.saturating_add(1) >= next.frame
}

/// Entries behind the end of a full index, which a writer has written and not yet made part of it.
pub(super) fn entries_after_index(
    damaged: &DamagedFile<'_>,
    found: &CollectedEntries,
    block: &Range<u64>,
) -> Result<Option<CollectedEntries>> {
    let Some(last) = found.entries.last().filter(|_| found.used.end == block.end) else { return Ok(None) };
    let mut last = *last;
    let mut end = block.end;
    let mut most = found.entries.iter().map(|entry| entry.id).max().unwrap_or(0);
    'windows: for window in damaged.windows(block.end..damaged.len, 0) {
        let (start, bytes) = window?;
        for (position, entry) in (0_u64..).zip(IndexBlock::new(&bytes, damaged.order()).iter()) {
            let next = if damaged.header.is_v1() {
                entry.frame >= last.frame
            } else {
                (entry.frame, entry.id) > (last.frame, last.id)
            };
            let near = entry.frame <= last.frame.saturating_add(1);
            // Names of frames that are not committed need not be in the list.
            let known = entry.id <= most.saturating_add(1);
            if damaged.entry_problem(&entry, None).is_some() || !next || !near || !known {
                break 'windows;
            }
            (last, most) = (entry, most.max(entry.id));
            end = start + (position + 1) * INDEX_ENTRY_LEN;
        }
    }
    if end == block.end { Ok(None) } else { entries::collect(damaged, block.end..end, None).map(Some) }
}

/// The entries that a larger copy of the index in the gaps has more than this one. The copy begins with the same entries.
pub(super) fn newer(
    damaged: &DamagedFile<'_>,
    block: &Range<u64>,
    gaps: &[Gap],
) -> Result<Option<CollectedEntries>> {
    let len = block.end - block.start;
    let large = gaps.iter().map(|gap| gap.range.clone()).filter(|gap| gap.end - gap.start > len);
    let gaps: Vec<Range<u64>> = large.collect();
    let runs: Vec<Run> = find_index::index_runs(damaged, &gaps)?;
    for run in runs.iter().filter(|run| run.range.end - run.range.start > len) {
        let copy = run.range.start..run.range.start + len;
        let mut same = true;
        for (one, other) in damaged.windows(block.clone(), 0).zip(damaged.windows(copy.clone(), 0)) {
            same &= one?.1 == other?.1;
        }
        if same {
            return entries::collect(damaged, copy.end..run.range.end, None).map(Some);
        }
    }
    Ok(None)
}

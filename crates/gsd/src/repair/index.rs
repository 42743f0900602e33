//! The index: at its place in the header, or found by a search.
//!
//! Every growth of the index leaves its old copy in the file. Blocks begin at any byte: bytes are tried one by one for an entry that is
//! possible, and from there as far as entries follow one another in order; nothing is read more than a few times.

use std::collections::BTreeMap;
use std::ops::Range;

use container_core::report::{Evidence, RepairItem};
use container_core::{Error, Result};

use super::damaged_file::{DamagedFile, PAST_END};
use super::entries::{self, CollectedEntries, Edges};
use super::frames::Gap;
use crate::header::{self, INDEX_ENTRY_LEN};
use crate::index::{IndexBlock, IndexEntry};

/// Runs that are remembered, the longest.
const MAX_RUNS: usize = 64;

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
                let what = "entries before the location in the header";
                guessed.push(RepairItem::new(block.start..stated.start, what).with_evidence(Evidence::Walk));
            }
            return Ok((found, block));
        }
        best = Some((found, block));
    }
    // There is no index, or it was cut: an older copy may have more.
    let runs = index_runs(damaged, std::slice::from_ref(&(header::LEN..damaged.len)))?;
    if let Some(block) = block_of(&runs) {
        let block = with_cut_slots(damaged, block)?;
        let found = collect(damaged, block.clone())?;
        let has_more = |other: &CollectedEntries| found.entries.len() > other.entries.len();
        let is_alone = best.as_ref().is_none_or(|(other, _)| other.entries.is_empty());
        if best.as_ref().is_none_or(|(other, _)| has_more(other)) {
            if is_placed(damaged, &block, &found)? {
                let what = format!(
                    "an index of {} entries, at another location than in the header",
                    found.entries.len()
                );
                guessed.push(RepairItem::new(block.clone(), what).with_evidence(Evidence::Walk));
                return Ok((found, block));
            }
            if is_alone {
                return Err(misplaced("index", &block));
            }
        }
    }
    Ok(best.unwrap_or_else(|| (CollectedEntries::default(), stated)))
}

/// True where a block that was found lies as its entries say: it begins behind the header, the names or a chunk, or ends before one.
fn is_placed(damaged: &DamagedFile<'_>, block: &Range<u64>, found: &CollectedEntries) -> Result<bool> {
    let names = damaged.clip(damaged.header.namelist_range());
    let edges = Edges::of(&found.entries, &[0..header::LEN, names]);
    let len = damaged.header.index_allocated_entries.checked_mul(INDEX_ENTRY_LEN);
    let end = len.and_then(|len| block.start.checked_add(len)).filter(|end| *end >= found.used.end);
    edges.meet(damaged, &(block.start..end.unwrap_or(block.end)), true)
}

/// The error of a file whose blocks are not where chunks place them.
pub(super) fn misplaced(what: &str, block: &Range<u64>) -> Error {
    let problem = format!(
        "the {what} is neither at its offset in the header nor next to a chunk: bytes were inserted or removed, so chunks cannot be separated"
    );
    Error::malformed(problem).with_range(block.clone()).with_context("gsd index")
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
    let listed = super::names::at_header_offset(damaged, 0)?.map_or(0, |found| found.names.len());
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
    let runs: Vec<Run> = index_runs(damaged, &gaps)?;
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

/// Entries one after the other that make sense and are in order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    range: Range<u64>,
    first: (u64, u16),
    last: (u64, u16),
}

impl Run {
    fn len(&self) -> u64 {
        (self.range.end - self.range.start) / INDEX_ENTRY_LEN
    }
}

/// The longest runs of entries in `gaps`, the longest first and of equally long ones the later first.
fn index_runs(damaged: &DamagedFile<'_>, gaps: &[Range<u64>]) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut current: Option<Run> = None;
    let mut keep = |run: Run| {
        // Alone, 32 bytes say too little.
        if run.len() >= 2 || run.range.start == header::LEN {
            runs.push(run);
            if runs.len() >= 2 * MAX_RUNS {
                sort(&mut runs);
                runs.truncate(MAX_RUNS);
            }
        }
    };
    for gap in gaps {
        for window in damaged.windows(gap.clone(), INDEX_ENTRY_LEN - 1) {
            let (start, bytes) = window?;
            let end = start + bytes.len() as u64;
            let mut at = current.as_ref().map_or(start, |run| run.range.end.max(start));
            while end.saturating_sub(at) >= INDEX_ENTRY_LEN {
                let from = usize::try_from(at - start).unwrap_or(usize::MAX);
                let Some(slot) = bytes.get(from..).and_then(|bytes| bytes.first_chunk::<32>()) else { break };
                let entry = likely(damaged, slot);
                if let Some(run) = &mut current {
                    match entry {
                        Some(entry) if follows(damaged, run.last, &entry) => {
                            run.last = (entry.frame, entry.id);
                            run.range.end = at + INDEX_ENTRY_LEN;
                            at = run.range.end;
                            continue;
                        }
                        _ => {
                            // A single entry may be none: then what is in it is looked at, too.
                            if run.len() < 2 {
                                at = run.range.start + 1;
                            }
                            current.take().into_iter().for_each(&mut keep);
                            if at < start {
                                at = start;
                            }
                            continue;
                        }
                    }
                }
                match entry {
                    Some(entry) => {
                        let place = (entry.frame, entry.id);
                        current = Some(Run { range: at..at + INDEX_ENTRY_LEN, first: place, last: place });
                        at += INDEX_ENTRY_LEN;
                    }
                    None => at += 1,
                }
            }
        }
        current.take().into_iter().for_each(&mut keep);
    }
    sort(&mut runs);
    runs.truncate(MAX_RUNS);
    Ok(runs)
}

fn sort(runs: &mut [Run]) {
    runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), std::cmp::Reverse(run.range.start)));
}

/// An entry, if these bytes can be one. The last two bytes, which hardly ever fit, are asked first.
fn likely(damaged: &DamagedFile<'_>, slot: &[u8; 32]) -> Option<IndexEntry> {
    if slot[31] != 0 || slot[30] == 0 || slot[30] > 11 {
        return None;
    }
    let entry = IndexEntry::from_bytes(slot, damaged.order());
    damaged.entry_problem(&entry, None).is_none().then_some(entry)
}

fn follows(damaged: &DamagedFile<'_>, last: (u64, u16), entry: &IndexEntry) -> bool {
    if damaged.header.is_v1() { entry.frame >= last.0 } else { (entry.frame, entry.id) > last }
}

/// The block that the longest run is part of: with the runs before and behind it that lie as entries of one index would and are
/// in order with it.
fn block_of(runs: &[Run]) -> Option<Range<u64>> {
    let (longest, rest) = runs.split_first()?;
    let mut block = longest.clone();
    let mut others: Vec<&Run> = rest.iter().collect();
    others.sort_by_key(|run| run.range.start);
    let in_step = |run: &Run| run.range.start.abs_diff(longest.range.start) % INDEX_ENTRY_LEN == 0;
    // Ruined slots between them, fewer than there are good ones.
    let near = |a: &Run, b: &Run| {
        let between = b.range.start.saturating_sub(a.range.end) / INDEX_ENTRY_LEN;
        a.range.end < b.range.start && between <= a.len().max(b.len())
    };
    for run in others.iter().filter(|run| in_step(run)) {
        if near(&block, run) && run.first > block.last {
            block.range.end = run.range.end;
            block.last = run.last;
        }
    }
    for run in others.iter().rev().filter(|run| in_step(run)) {
        if near(run, &block) && run.last < block.first {
            block.range.start = run.range.start;
            block.first = run.first;
        }
    }
    Some(block.range)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

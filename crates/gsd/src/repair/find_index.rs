//! Searches for index blocks at unknown offsets: every growth of the index leaves its old copy in the file.
//!
//! Blocks begin at any byte. Bytes are tried one by one for an entry that makes sense, and from there as far as entries follow
//! one another in order; nothing is looked at more than a few times.

use std::ops::Range;

use container_core::Result;

use super::damaged_file::DamagedFile;
use crate::header::INDEX_ENTRY_LEN;
use crate::index::IndexEntry;

/// Runs that are remembered, the longest.
const MAX_RUNS: usize = 64;

/// Entries one after the other that make sense and are in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) range: Range<u64>,
    first: (u64, u16),
    last: (u64, u16),
}

impl Run {
    pub(super) fn len(&self) -> u64 {
        (self.range.end - self.range.start) / INDEX_ENTRY_LEN
    }
}

/// The longest runs of entries in `gaps`, the longest first and of equally long ones the later first.
pub(super) fn index_runs(damaged: &DamagedFile<'_>, gaps: &[Range<u64>]) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut current: Option<Run> = None;
    let mut keep = |run: Run| {
        // Alone, 32 bytes say too little.
        if run.len() >= 2 || run.range.start == crate::header::LEN {
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
pub(super) fn block_of(runs: &[Run]) -> Option<Range<u64>> {
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

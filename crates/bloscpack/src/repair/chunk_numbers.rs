//! Numbers of the chunks: how many there were, and the numbers of those that a scan finds.
//!
//! Chunks are stored in the order of their contents. A run of found chunks without gaps gets its numbers
//!
//! * where it begins at the end of the chunk before it;
//! * where it ends at the start of the next known chunk, or with the last one;
//! * where one place alone of the table of offsets has chunks of these lengths.
//!
//! All others are lost: they may be copies of other chunks, and nothing in the file has their numbers.

use std::ops::Range;

use container_core::Result;
use container_core::report::{Evidence, RepairItem, RepairReport};

use super::damaged_file::{ChunkStatus, DamagedFile, count_by_shape};
use crate::chunk_table::ChunkEntry;
use crate::offsets_index::{self, ENTRY};

/// Returns the number of chunks after a scan: of those found, if they fill the file from the end of the table to the end without a gap.
pub(super) fn count_by_chunks(
    damaged: &DamagedFile,
    statuses: &[ChunkStatus],
    found: &[ChunkEntry],
) -> Option<u64> {
    let layout = &damaged.layout;
    let good = damaged.chunks().iter().zip(statuses).filter(|(_, status)| **status == ChunkStatus::Intact);
    let mut all: Vec<ChunkEntry> = good.map(|(entry, _)| *entry).chain(found.iter().copied()).collect();
    all.sort_unstable_by_key(|entry| entry.range().start);
    let ends = |entry: &ChunkEntry| damaged.stored_range(entry).end;
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return damaged.count };
    let gapless = all.windows(2).all(|pair| match pair {
        [one, next] => {
            ends(one) == next.range().start && u32::try_from(layout.header().chunk_size) == Ok(one.nbytes())
        }
        _ => true,
    });
    let is_last =
        u32::try_from(layout.header().last_chunk) == Ok(last.nbytes()) && ends(last) == layout.file_len();
    let count = all.len() as u64;
    let table = match layout.header().has_offsets() {
        true => count.checked_add(u64::try_from(layout.header().max_app_chunks).ok()?)?.checked_mul(ENTRY)?,
        false => 0,
    };
    let begins = layout.offsets().start.checked_add(table) == Some(first.range().start);
    if count_by_shape(layout).is_none() && gapless && is_last && begins { Some(count) } else { damaged.count }
}

/// All chunks by number, including those found by scanning.
pub(super) struct NumberedChunks {
    pub(super) chunks: Vec<ChunkEntry>,
    pub(super) statuses: Vec<ChunkStatus>,
}

/// Assigns numbers to the verified chunks in `found`, and reports those that get none.
///
/// # Errors
/// `Limit`, and those of the source.
pub(super) fn assign_numbers(
    damaged: &DamagedFile,
    statuses: &[ChunkStatus],
    found: &[ChunkEntry],
    report: &mut RepairReport,
) -> Result<NumberedChunks> {
    let mut numbers = ChunkNumbers::new(damaged, statuses, found)?;
    let mut rest = found;
    let anchors: Vec<usize> =
        (0..statuses.len()).filter(|index| statuses.get(*index) == Some(&ChunkStatus::Intact)).collect();
    let mut left = None;
    for right in anchors.into_iter().map(Some).chain([None]) {
        let end = right.and_then(|right| numbers.slot(right)).map_or(u64::MAX, |entry| entry.range().start);
        let (here, after) = rest.split_at(rest.partition_point(|entry| entry.range().start < end));
        rest = after;
        numbers.fill(left, right, here, report)?;
        left = right;
    }
    Ok(numbers.done())
}

struct ChunkNumbers<'d> {
    damaged: &'d DamagedFile,
    slots: Vec<(ChunkEntry, ChunkStatus)>,
    /// Original number of chunks, where it is plausible for the length of the file.
    count: Option<usize>,
    /// Original offsets of the chunks, where the table is valid.
    offsets: Vec<i64>,
}

impl<'d> ChunkNumbers<'d> {
    fn new(damaged: &'d DamagedFile, statuses: &[ChunkStatus], found: &[ChunkEntry]) -> Result<Self> {
        let header = damaged.layout.header();
        let slots: Vec<_> = damaged.chunks().iter().copied().zip(statuses.iter().copied()).collect();
        // Far more chunks than the file has room for: the header is damaged.
        let all = slots.iter().map(|(entry, _)| entry).chain(found);
        let least = all.map(|entry| damaged.stored_range(entry)).map(|range| range.end - range.start);
        let most = damaged.layout.file_len() / least.filter(|len| *len > 0).min().unwrap_or(1).max(1);
        let most = most.saturating_mul(4).saturating_add(slots.len() as u64).saturating_add(4);
        let count = damaged.count.filter(|count| *count <= most);
        let table = damaged.layout.used_offsets();
        let offsets = match count {
            Some(count) if (table.end - table.start) / ENTRY == count => {
                offsets_index::read(&*damaged.source, table, &damaged.limits)?
            }
            _ => Vec::new(),
        };
        let lowest = i64::try_from(header.dialect.header_len()).unwrap_or(i64::MAX);
        let is_table = offsets.is_sorted_by(|one, next| one < next)
            && offsets.first().is_none_or(|first| *first >= lowest);
        let offsets = if is_table { offsets } else { Vec::new() };
        let count = count.and_then(|count| usize::try_from(count).ok());
        Ok(Self { damaged, slots, count, offsets })
    }

    fn slot(&self, index: usize) -> Option<ChunkEntry> {
        self.slots.get(index).map(|(entry, _)| *entry)
    }

    /// End of the table of offsets, where the first chunk begins. It has an entry for each chunk, whatever their number in the header is.
    fn table_end(&self) -> u64 {
        let (header, table) = (self.damaged.layout.header(), self.damaged.layout.offsets());
        let spare = u64::try_from(header.max_app_chunks).ok();
        let entries = self.damaged.count.zip(spare).and_then(|(count, spare)| count.checked_add(spare));
        let len = entries.filter(|_| header.has_offsets()).and_then(|len| len.checked_mul(ENTRY));
        len.and_then(|len| table.start.checked_add(len)).unwrap_or(table.end)
    }

    fn range_of(&self, run: &[ChunkEntry]) -> Option<Range<u64>> {
        Some(run.first()?.range().start..self.damaged.stored_range(run.last()?).end)
    }

    /// Places the chunks `found` between two known ones.
    fn fill(
        &mut self,
        left: Option<usize>,
        right: Option<usize>,
        found: &[ChunkEntry],
        report: &mut RepairReport,
    ) -> Result<()> {
        let mut next = left.map_or(0, |left| left + 1);
        let limit = right.or(self.count);
        let mut before = match left.and_then(|left| self.slot(left)) {
            Some(entry) => self.damaged.stored_range(&entry).end,
            None => self.table_end(),
        };
        let mut rest = found;
        while let (run, after) = rest.split_at(self.run_len(rest))
            && let Some(range) = self.range_of(run)
        {
            rest = after;
            let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(next));
            let highest =
                limit.and_then(|limit| limit.checked_sub(run.len())).filter(|highest| *highest >= next);
            let by_offsets = || self.by_offsets(next, highest?, run);
            let (number, evidence) = match highest {
                _ if before == range.start => (Some(next), Evidence::Walk),
                Some(highest) if self.is_before(right, run) => (Some(highest), Evidence::Walk),
                _ => (by_offsets(), Evidence::Index),
            };
            let Some(number) = number else {
                let what = format!("{} whole chunks without a number: left out", run.len());
                report.lost.push(RepairItem::new(range, what));
                continue;
            };
            let (run, surplus) = run.split_at(run.len().min(room));
            self.put(number, run)?;
            if let Some(range) = self.range_of(run) {
                let numbers = match run.len() {
                    1 => format!("chunk {number}"),
                    len => format!("chunks {number} to {}", number.saturating_add(len).saturating_sub(1)),
                };
                let what = format!("{numbers}: found by header and content");
                report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(evidence));
                next = number.saturating_add(run.len());
                before = range.end;
            }
            if let Some(range) = self.range_of(surplus) {
                let what = format!("{} extra chunks: left out", surplus.len());
                report.lost.push(RepairItem::new(range, what));
            }
        }
        Ok(())
    }

    /// Whether `run` ends at the chunk `right`; without one, whether it is the end of all chunks.
    fn is_before(&self, right: Option<usize>, run: &[ChunkEntry]) -> bool {
        let Some(last) = run.last() else { return false };
        let end = self.damaged.stored_range(last).end;
        match right.and_then(|right| self.slot(right)) {
            Some(next) => end == next.range().start,
            None => self.is_short(last) || self.is_last_len(last) && end == self.damaged.layout.file_len(),
        }
    }

    fn is_last_len(&self, entry: &ChunkEntry) -> bool {
        u32::try_from(self.damaged.layout.header().last_chunk) == Ok(entry.nbytes())
    }

    /// Whether it can only be the last chunk.
    fn is_short(&self, entry: &ChunkEntry) -> bool {
        let header = self.damaged.layout.header();
        header.last_chunk != header.chunk_size && self.is_last_len(entry)
    }

    /// Counts the first chunks that follow each other without a gap, up to one that is shorter than the others.
    fn run_len(&self, found: &[ChunkEntry]) -> usize {
        let pairs = found.windows(2).take_while(|pair| match pair {
            [one, next] => self.damaged.stored_range(one).end == next.range().start && !self.is_short(one),
            _ => false,
        });
        if found.is_empty() { 0 } else { pairs.count() + 1 }
    }

    /// Returns the only number from which on the distances between the offsets are the lengths of these chunks, if it is one of `lowest` to
    /// `highest`.
    fn by_offsets(&self, lowest: usize, highest: usize, run: &[ChunkEntry]) -> Option<usize> {
        let fits = |index: &usize| {
            let mut pairs = self.offsets.get(*index..).unwrap_or_default().windows(2).zip(run).peekable();
            pairs.peek().is_some()
                && pairs.all(|(pair, entry)| {
                    let range = self.damaged.stored_range(entry);
                    matches!(pair, [one, next] if next.abs_diff(*one) == range.end - range.start)
                })
        };
        let mut fitting = (0..self.offsets.len()).filter(fits);
        let only = fitting.next().filter(|_| fitting.next().is_none());
        only.filter(|index| (lowest..=highest).contains(index))
    }

    /// Puts proved chunks in the places from `index` on; places before them that are new are empty.
    fn put(&mut self, index: usize, run: &[ChunkEntry]) -> Result<()> {
        let end = index.saturating_add(run.len());
        if end > self.slots.len() {
            let bytes = end.saturating_mul(size_of::<(ChunkEntry, ChunkStatus)>());
            self.damaged.limits.allocate(bytes as u64)?;
        }
        let size = |nbytes: i32| u32::try_from(nbytes).unwrap_or(0);
        let header = self.damaged.layout.header();
        let usual = run.first().map_or(0, ChunkEntry::nbytes).max(size(header.chunk_size));
        while self.slots.len() < end {
            let mut empty = ChunkEntry::missing(self.damaged.layout.file_len());
            empty.place(0, usual);
            self.slots.push((empty, ChunkStatus::Damaged));
        }
        for (slot, entry) in self.slots.iter_mut().skip(index).zip(run) {
            *slot = (*entry, ChunkStatus::Intact);
        }
        Ok(())
    }

    fn done(mut self) -> NumberedChunks {
        // A damaged header caused more places than there were chunks.
        if let Some(count) = self.count {
            let last = self.slots.iter().rposition(|(_, status)| *status == ChunkStatus::Intact);
            self.slots.truncate(count.max(last.map_or(0, |last| last + 1)));
        }
        let (chunks, statuses) = self.slots.into_iter().unzip();
        NumberedChunks { chunks, statuses }
    }
}

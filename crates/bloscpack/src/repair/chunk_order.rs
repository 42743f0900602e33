//! Numbers the chunks found by scanning: chunks are stored in the order of their contents.
//!
//! The numbers of two placed chunks limit how many belong between them. Where fewer are found than are missing, those that follow a placed
//! chunk without a gap come next, and those that end where another begins come last. The others are placed by the offsets, since most have
//! moved by less than a chunk. Without offsets the distance is counted in chunks of the usual length.

use std::ops::Range;

use container_core::Result;
use container_core::report::{Evidence, RepairItem, RepairReport};

use super::{ChunkStatus, DamagedFile};
use crate::chunk_table::ChunkEntry;
use crate::offsets_index;

/// All chunks by number, including those found by scanning.
pub(super) struct OrderedChunks {
    pub(super) chunks: Vec<ChunkEntry>,
    pub(super) statuses: Vec<ChunkStatus>,
}

/// Assigns numbers to the verified chunks in `found`.
///
/// # Errors
/// `Limit`, and those of the source.
pub(super) fn assign_numbers(
    damaged: &DamagedFile,
    statuses: &[ChunkStatus],
    found: &[ChunkEntry],
    report: &mut RepairReport,
) -> Result<OrderedChunks> {
    let mut map = ChunkNumbers::new(damaged, statuses, found)?;
    let mut rest = found;
    let anchors: Vec<usize> =
        (0..statuses.len()).filter(|index| statuses.get(*index) == Some(&ChunkStatus::Intact)).collect();
    let mut left = None;
    for right in anchors.into_iter().map(Some).chain([None]) {
        let end = right.and_then(|right| map.slot(right)).map_or(u64::MAX, |entry| entry.range().start);
        let (here, behind) = rest.split_at(rest.partition_point(|entry| entry.range().start < end));
        rest = behind;
        map.fill(left, right, here, report)?;
        left = right;
    }
    Ok(map.done())
}

struct ChunkNumbers<'d> {
    damaged: &'d DamagedFile,
    slots: Vec<(ChunkEntry, ChunkStatus)>,
    /// Original number of chunks, where the header is valid.
    count: Option<usize>,
    /// Original offsets of the chunks, where the table is valid.
    offsets: Vec<i64>,
    /// Average distance from one chunk to the next, in bytes.
    average_len: u64,
}

impl<'d> ChunkNumbers<'d> {
    fn new(damaged: &'d DamagedFile, statuses: &[ChunkStatus], found: &[ChunkEntry]) -> Result<Self> {
        let header = damaged.layout.header();
        let slots: Vec<_> = damaged.chunks().iter().copied().zip(statuses.iter().copied()).collect();
        let good = slots.iter().filter(|(_, status)| *status == ChunkStatus::Intact).map(|(entry, _)| entry);
        let (mut total, mut many) = (0_u64, 0_u64);
        for entry in good.chain(found) {
            let range = damaged.stored_range(entry);
            total = total.saturating_add(range.end.saturating_sub(range.start));
            many = many.saturating_add(1);
        }
        let average_len = total.checked_div(many).unwrap_or(1).max(1);
        // Far more chunks than the file has room for: the header is damaged.
        let most = damaged.layout.file_len() / average_len * 4 + slots.len() as u64 + 4;
        let count = damaged.count.filter(|count| *count <= most);
        let table = damaged.layout.used_offsets();
        let offsets = match count {
            Some(count) if (table.end - table.start) / offsets_index::ENTRY == count => {
                offsets_index::read(&*damaged.source, table, &damaged.limits)?
            }
            _ => Vec::new(),
        };
        let lowest = i64::try_from(header.dialect.header_len()).unwrap_or(i64::MAX);
        let is_table = offsets.is_sorted_by(|one, next| one < next)
            && offsets.first().is_none_or(|first| *first >= lowest);
        let offsets = if is_table { offsets } else { Vec::new() };
        let count = count.and_then(|count| usize::try_from(count).ok());
        Ok(Self { damaged, slots, count, offsets, average_len })
    }

    fn slot(&self, index: usize) -> Option<ChunkEntry> {
        self.slots.get(index).map(|(entry, _)| *entry)
    }

    fn stored(&self, entry: &ChunkEntry) -> Range<u64> {
        self.damaged.stored_range(entry)
    }

    /// End of the table of offsets, where the first chunk begins. It has an entry for each chunk, how many the header says or not.
    fn table_end(&self) -> u64 {
        let (header, table) = (self.damaged.layout.header(), self.damaged.layout.offsets());
        let spare = u64::try_from(header.max_app_chunks).ok();
        let entries = self.damaged.count.zip(spare).and_then(|(count, spare)| count.checked_add(spare));
        let len =
            entries.filter(|_| header.has_offsets()).and_then(|len| len.checked_mul(offsets_index::ENTRY));
        len.and_then(|len| table.start.checked_add(len)).unwrap_or(table.end)
    }

    /// Places the chunks found between two placed chunks.
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
            Some(entry) => self.stored(&entry).end,
            None => self.table_end(),
        };
        let mut room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(next));
        if right.is_none() && self.count.is_some() {
            // A chunk shorter than the others is the last one.
            room =
                found.iter().position(|entry| self.is_short(entry)).map_or(room, |last| room.min(last + 1));
        }
        let (mut rest, without) = found.split_at(found.len().min(room));
        let is_full = !without.is_empty() && !rest.last().is_some_and(|last| self.is_short(last));
        while !rest.is_empty() {
            let (run, behind) = rest.split_at(self.run(rest));
            let (Some(first), Some(last)) = (run.first(), run.last()) else { break };
            let range = self.stored(first).start..self.stored(last).end;
            // The highest number that leaves room for all following chunks.
            let highest = limit.map(|limit| limit.saturating_sub(rest.len()));
            let is_last = Some(range.end) == self.end_of(right) || (right.is_none() && self.is_short(last));
            let ends_it = behind.is_empty() && is_last;
            let (index, evidence) = match highest {
                Some(highest) if highest <= next => (next, (!is_full).then_some(Evidence::Walk)),
                _ if before == range.start => (next, Some(Evidence::Walk)),
                Some(highest) if ends_it => (highest, Some(Evidence::Walk)),
                _ => self.nearest(next, highest, run, before),
            };
            self.put(index, run)?;
            let numbers = match run.len() {
                1 => format!("chunk {index}"),
                len => format!("chunks {index} to {}", index.saturating_add(len).saturating_sub(1)),
            };
            let what = format!("{numbers}, found by header and content where nothing led to");
            match evidence {
                Some(evidence) => {
                    report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(evidence));
                }
                None => {
                    let what = format!("{what}; whether others come before is not sure");
                    report.lost.push(RepairItem::new(range.clone(), what));
                }
            }
            next = index.saturating_add(run.len());
            before = range.end;
            rest = behind;
        }
        if let (Some(first), Some(last)) = (without.first(), without.last()) {
            let range = self.stored(first).start..self.stored(last).end;
            let what = format!("{} whole chunks too many: left out", without.len());
            report.lost.push(RepairItem::new(range, what));
        }
        Ok(())
    }

    /// Returns the maximum end of chunks that are found before the chunk `right`.
    fn end_of(&self, right: Option<usize>) -> Option<u64> {
        match right {
            Some(right) => self.slot(right).map(|entry| entry.range().start),
            // Without a count, the chunk at the end of the file may not be the last.
            None => self.count.map(|_| self.damaged.layout.file_len()),
        }
    }

    /// Whether it can only be the last chunk.
    fn is_short(&self, entry: &ChunkEntry) -> bool {
        let header = self.damaged.layout.header();
        let is = |size: i32| u32::try_from(size) == Ok(entry.nbytes());
        is(header.last_chunk) && !is(header.chunk_size)
    }

    /// Counts the first chunks that follow each other without a gap.
    fn run(&self, found: &[ChunkEntry]) -> usize {
        let pairs = found.windows(2).take_while(|pair| match pair {
            [one, next] => self.stored(one).end == next.range().start,
            _ => false,
        });
        pairs.count() + 1
    }

    /// The number, from `lowest` on, of the first chunk of `run`, and its evidence: the offsets, if one place alone has chunks of these
    /// lengths. Otherwise the nearest of the places, and without offsets the distance to the previous chunk, for which there is none.
    fn nearest(
        &self,
        lowest: usize,
        highest: Option<usize>,
        run: &[ChunkEntry],
        before: u64,
    ) -> (usize, Option<Evidence>) {
        let highest = highest.unwrap_or(usize::MAX);
        let at = run.first().map_or(0, |first| first.range().start);
        let moved = |index: &usize| {
            let offset = self.offsets.get(*index).copied().unwrap_or(i64::MAX);
            offset.abs_diff(i64::try_from(at).unwrap_or(i64::MAX))
        };
        let possible = || (lowest..self.offsets.len()).take_while(move |index| *index <= highest);
        let fits = |index: &usize| {
            let lens = self.offsets.get(*index..).unwrap_or_default().windows(2);
            lens.zip(run).all(|(pair, entry)| {
                let range = self.stored(entry);
                matches!(pair, [one, next] if next.abs_diff(*one) == range.end.saturating_sub(range.start))
            })
        };
        let (mut likely, mut best) = (0_usize, None);
        for index in possible().filter(fits) {
            likely = likely.saturating_add(1);
            best = best.into_iter().chain([index]).min_by_key(moved);
        }
        if let Some(index) = best {
            let is_sure = likely == 1 || moved(&index) <= self.average_len / 8;
            return (index, is_sure.then_some(Evidence::Index));
        }
        if let Some(index) = possible().min_by_key(moved) {
            return (index, None);
        }
        let missing = at.saturating_sub(before).saturating_add(self.average_len / 2) / self.average_len;
        let missing = usize::try_from(missing).unwrap_or(usize::MAX);
        (lowest.saturating_add(missing).min(highest), None)
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

    fn done(mut self) -> OrderedChunks {
        // A damaged header caused more places than there were chunks.
        if let Some(count) = self.count {
            let last = self.slots.iter().rposition(|(_, status)| *status == ChunkStatus::Intact);
            self.slots.truncate(count.max(last.map_or(0, |last| last + 1)));
        }
        let (chunks, statuses) = self.slots.into_iter().unzip();
        OrderedChunks { chunks, statuses }
    }
}

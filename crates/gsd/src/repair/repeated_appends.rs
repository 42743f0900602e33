//! Frames in which an append was repeated: some chunks are there more than once, and readers find one of each name.
//!
//! `gsd.hoomd` leaves them where an append raised an exception, for example because of a text that is not ASCII, and the same frame was
//! appended again. They are no damage. Before anything else is looked at, the index is reduced to the entries that readers find, so
//! that no entry of the first attempt is taken for one with a wrong bit.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use container_core::Result;
use container_core::report::RepairItem;

use super::damaged_file::DamagedFile;
use crate::duplicates::ShadowedEntries;
use crate::header::INDEX_ENTRY_LEN;
use crate::index::{IndexBlock, IndexEntry};

/// Entries that the first attempts left.
pub(super) struct RepeatedAppends {
    /// The index block without their entries: its place and its bytes.
    pub(super) patch: (u64, Vec<u8>),
    /// Bytes of their chunks that no other entry names.
    pub(super) ranges: Vec<Range<u64>>,
    frames: Range<u64>,
    chunks: u64,
}

/// The chunks of attempts that were repeated; `None` where there are none.
pub(super) fn find(damaged: &DamagedFile<'_>) -> Result<Option<RepeatedAppends>> {
    let Some(block) = damaged.header.index_range().filter(|_| damaged.has_index()) else { return Ok(None) };
    let mut bytes: Vec<u8> = Vec::new();
    let mut used = 0;
    for window in damaged.windows(block.clone(), 0) {
        let (start, part) = window?;
        let index = IndexBlock::new(&part, damaged.order());
        let set = index.iter().rposition(|entry| entry != IndexEntry::default());
        let Some(set) = set else { continue };
        let start = usize::try_from(start - block.start).unwrap_or(usize::MAX);
        used = start.saturating_add((set + 1) * 32);
        damaged.limits.allocate(used as u64)?;
        bytes.resize(start, 0);
        bytes.extend_from_slice(&part[..(set + 1) * 32]);
    }
    let index = IndexBlock::new(&bytes, damaged.order());
    let frames = index.iter().map(|entry| entry.frame.saturating_add(1)).max().unwrap_or(0);
    let is_v1 = damaged.header.is_v1();
    let hidden = ShadowedEntries::of(index, is_v1, frames, crate::MAX_NAMES);
    if hidden.is_empty() {
        return Ok(None);
    }
    let mut out: Vec<usize> = Vec::new();
    let end_of = |start: usize| {
        let frame = index.key(start).map(|key| key.0);
        (start..index.len()).find(|at| index.key(*at).map(|key| key.0) != frame).unwrap_or(index.len())
    };
    let (mut before, mut start) = (0..0, 0);
    while start < index.len() {
        let end = end_of(start);
        let twice: Vec<usize> = (start..end).filter(|at| hidden.contains(*at)).collect();
        if !twice.is_empty() {
            let frame = index.slice(start..end);
            let beside = [index.slice(before), index.slice(end..end_of(end))];
            // One wrong bit is no more than one of them.
            if is_repeated(damaged, &frame) && (twice.len() > 1 || !may_be_another(&frame, &beside)) {
                out.extend(twice);
            }
        }
        (before, start) = (start..end, end);
    }
    if out.is_empty() {
        return Ok(None);
    }
    let (mut kept, mut gone) = (Vec::with_capacity(bytes.len()), Vec::new());
    let mut next = out.iter().copied().peekable();
    for (at, entry) in index.iter().enumerate() {
        if next.next_if_eq(&at).is_some() {
            gone.push(entry);
        } else {
            kept.extend_from_slice(&entry.to_bytes(damaged.order()));
        }
    }
    let ranges = unshared_ranges(&gone, IndexBlock::new(&kept, damaged.order()));
    kept.resize(used, 0);
    let numbers = gone.iter().map(|entry| entry.frame);
    let frames = numbers.clone().min().unwrap_or(0)..numbers.max().map_or(0, |last| last.saturating_add(1));
    Ok(Some(RepeatedAppends { patch: (block.start, kept), ranges, frames, chunks: gone.len() as u64 }))
}

/// Ranges of chunks that none of the others has.
pub(super) fn unshared_ranges(gone: &[IndexEntry], kept: IndexBlock<'_>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = gone.iter().filter_map(IndexEntry::byte_range).collect();
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut shared = vec![false; ranges.len()];
    for range in kept.iter().filter_map(|entry| entry.byte_range()) {
        let first = ranges.partition_point(|own| (own.start, own.end) < (range.start, range.end));
        let same = ranges[first..].iter().take_while(|own| **own == range).count();
        shared[first..first + same].fill(true);
    }
    let mut shared = shared.into_iter();
    ranges.retain(|_| !shared.next().unwrap_or(false));
    ranges
}

/// True where the chunks that are there again later lie before all that are there for the last time, as those of an attempt that broke
/// off do. An entry whose id has a wrong bit lies among the chunks of its frame.
fn is_repeated(damaged: &DamagedFile<'_>, frame: &IndexBlock<'_>) -> bool {
    let mut entries: Vec<IndexEntry> = frame.iter().collect();
    if entries.iter().any(|entry| damaged.entry_problem(entry, None).is_some()) {
        return false;
    }
    entries.retain(|entry| entry.size() != Some(0));
    entries.sort_by_key(|entry| entry.location);
    let last: HashMap<u16, usize> = entries.iter().enumerate().map(|(at, entry)| (entry.id, at)).collect();
    let is_last = |at: &usize| last.get(&entries[*at].id) == Some(at);
    let first_of_last = (0..entries.len()).find(|at| is_last(at)).unwrap_or(0);
    let form = |entry: &IndexEntry| (entry.type_code, entry.m);
    let is_alike =
        |at: usize| last.get(&entries[at].id).is_none_or(|last| form(&entries[at]) == form(&entries[*last]));
    (first_of_last..entries.len()).all(|at| is_last(&at)) && (0..first_of_last).all(is_alike)
}

/// True where a name of which the frame has several chunks is one bit away from one that the frame lacks and a frame beside it has, in
/// the same type and shape: then that bit of an entry may be wrong.
fn may_be_another(frame: &IndexBlock<'_>, beside: &[IndexBlock<'_>; 2]) -> bool {
    let form = |entry: &IndexEntry| (entry.type_code, entry.n, entry.m);
    let own: HashSet<u16> = frame.iter().map(|entry| entry.id).collect();
    let others = beside.iter().flat_map(IndexBlock::iter).filter(|entry| !own.contains(&entry.id));
    let others: HashSet<_> = others.map(|entry| (entry.id, form(&entry))).collect();
    let mut seen = HashSet::new();
    let twice: HashSet<u16> = frame.iter().map(|entry| entry.id).filter(|id| !seen.insert(*id)).collect();
    let several = frame.iter().filter(|entry| twice.contains(&entry.id));
    several
        .into_iter()
        .any(|entry| (0..16).any(|bit| others.contains(&(entry.id ^ (1 << bit), form(&entry)))))
}

impl RepeatedAppends {
    /// The item of the report on them.
    pub(super) fn report(&self) -> RepairItem {
        let bytes = self.patch.0..self.patch.0 + INDEX_ENTRY_LEN;
        let bytes = self
            .ranges
            .iter()
            .cloned()
            .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
            .unwrap_or(bytes);
        RepairItem::new(bytes, left_out(&self.frames, self.chunks))
    }
}

/// The sentence about chunks that are there more than once.
pub(super) fn left_out(frames: &Range<u64>, chunks: u64) -> String {
    let last = frames.end.saturating_sub(1);
    let frames = match frames.start {
        first if first == last => format!("frame {first}"),
        first => format!("frames {first} to {last}"),
    };
    let (chunks, are) =
        if chunks == 1 { ("1 chunk".to_owned(), "is") } else { (format!("{chunks} chunks"), "are") };
    format!(
        "{frames}: {chunks} of a name that the frame has again {are} left out, since readers find the other"
    )
}

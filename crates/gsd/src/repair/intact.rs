//! Intact files: all that they list is kept as it is.

use std::collections::BTreeSet;
use std::ops::Range;

use container_core::Result;
use container_core::report::{Evidence, RepairItem, Severity};

use super::damaged_file::DamagedFile;
use super::entries::CollectedEntries;
use super::report;
use crate::duplicates::ShadowedEntries;
use crate::header::{self, INDEX_ENTRY_LEN};
use crate::index::{IndexBlock, IndexEntry};
use crate::layout::{Layout, Strictness};
use crate::namelist::NameList;

/// Entries and names of an intact file.
pub(super) struct IntactFile {
    pub(super) found: CollectedEntries,
    pub(super) names: NameList,
    /// Header, namelist and index with their room.
    pub(super) blocks: Vec<Range<u64>>,
    /// Entries that no reader finds, since their frame has another chunk of the name.
    pub(super) twice: Vec<IndexEntry>,
}

impl IntactFile {
    /// Reports chunks that no reader finds. `gsd.hoomd` leaves them where an append raised an exception, for example because of a text that is
    /// not ASCII, and the same frame was appended again.
    pub(super) fn report_repeats(&self, damaged: &DamagedFile<'_>) -> Option<RepairItem> {
        let frames = self.twice.iter().map(|entry| entry.frame);
        let (first, last) = (frames.clone().min()?, frames.max()?);
        let frames =
            if first == last { format!("frame {first}") } else { format!("frames {first} to {last}") };
        let (chunks, are) = match self.twice.len() {
            1 => ("1 chunk".to_owned(), "is"),
            many => (format!("{many} chunks"), "are"),
        };
        let what = format!(
            "{frames}: {chunks} with a duplicate name {are} left out, since readers find the other one"
        );
        let index = damaged.header.index_range().unwrap_or_default();
        Some(RepairItem::new(index, what).with_evidence(Evidence::KnownDamage))
    }
}

/// The entries and names of a file without an error in header, names and index, and whose chunks lie apart from one another and from
/// the blocks, or name the very same bytes as the same type. Of several chunks of one name in a frame the one that readers find.
/// `None` for others, and where no entry is listed: then an older index may have some.
pub(super) fn listed(damaged: &DamagedFile<'_>) -> Result<Option<IntactFile>> {
    let limits = &damaged.limits;
    let (layout, index) = match Layout::with_index(damaged.source, limits, Strictness::Lenient) {
        Ok(parts) => parts,
        Err(error) if error.is_interruption() => return Err(error),
        Err(_) => return Ok(None),
    };
    let header = layout.header();
    let is_damaged = layout.faults().iter().any(|fault| fault.severity() == Severity::Error);
    // The header may have been put right.
    if is_damaged || *header != damaged.header || layout.entries() == 0 {
        return Ok(None);
    }
    let used = layout.used_index();
    let bytes = match &index {
        Some(bytes) => bytes.as_slice().into(),
        None => damaged.read(used.clone())?,
    };
    let count = usize::try_from(layout.entries()).unwrap_or(usize::MAX);
    limits.allocate(layout.entries().saturating_mul(INDEX_ENTRY_LEN))?;
    let index = IndexBlock::new(&bytes, damaged.order()).first(count);
    let mut entries: Vec<IndexEntry> = index.iter().collect();
    let blocks = [Some(0..header::LEN), header.index_range(), header.namelist_range()];
    let mut blocks: Vec<Range<u64>> = blocks.into_iter().flatten().collect();
    if !are_disjoint(damaged, &entries, &blocks)? {
        return Ok(None);
    }
    let hidden = ShadowedEntries::of(index, header.is_v1(), layout.frames(), layout.names().len());
    let mut twice = Vec::new();
    if !hidden.is_empty() {
        let mut at = 0..entries.len();
        entries.retain(|entry| {
            let is_hidden = at.next().is_some_and(|at| hidden.contains(at));
            twice.extend(is_hidden.then_some(*entry));
            !is_hidden
        });
        let kept: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes(damaged.order())).collect();
        blocks.extend(unshared_ranges(&twice, IndexBlock::new(&kept, damaged.order())));
    }
    let found = CollectedEntries { entries, used, ..CollectedEntries::default() };
    Ok(Some(IntactFile { found, names: layout.names().clone(), blocks, twice }))
}

/// Ranges of chunks that none of the others has.
fn unshared_ranges(gone: &[IndexEntry], kept: IndexBlock<'_>) -> Vec<Range<u64>> {
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

/// True for a file that opens under [`Strictness::Strict`] and lists no entry; with names only where no byte behind index and names is set:
/// else there are chunks that have lost their entries.
pub(super) fn is_empty_file(damaged: &DamagedFile<'_>) -> Result<bool> {
    match Layout::with_index(damaged.source, &damaged.limits, Strictness::Strict) {
        Ok((layout, _)) => {
            let header = layout.header();
            let ends =
                [header.index_range(), header.namelist_range()].map(|range| range.map(|range| range.end));
            let end = ends.into_iter().flatten().max().unwrap_or(0).min(damaged.len);
            let has_data = || report::holds_something(damaged, &(end..damaged.len));
            let is_empty = *header == damaged.header && layout.entries() == 0;
            Ok(is_empty && (layout.names().is_empty() || !has_data()?))
        }
        Err(error) if error.is_interruption() => Err(error),
        Err(_) => Ok(false),
    }
}

/// True where no chunk shares bytes with a block or, but for being the same, with another chunk.
fn are_disjoint(damaged: &DamagedFile<'_>, entries: &[IndexEntry], blocks: &[Range<u64>]) -> Result<bool> {
    damaged.limits.allocate((entries.len() as u64).saturating_mul(24))?;
    let chunks = entries.iter().filter_map(|entry| Some((entry.byte_range()?, entry.type_code)));
    // No type has the code 0.
    let mut runs: Vec<(Range<u64>, u8)> =
        chunks.chain(blocks.iter().map(|block| (block.clone(), 0))).collect();
    runs.retain(|(range, _)| !range.is_empty());
    runs.sort_unstable_by_key(|(range, code)| (range.start, range.end, *code));
    Ok(runs.windows(2).all(|pair| match pair {
        [one, other] => one.0.end <= other.0.start || (one == other && one.1 != 0),
        _ => true,
    }))
}

/// Leaves of entries that were not committed those that lie apart from all that a sound file lists.
pub(super) fn keep_new(
    more: &mut Vec<IndexEntry>,
    more_at: &Range<u64>,
    entries: &[IndexEntry],
    blocks: &[Range<u64>],
) {
    let chunks = entries.iter().filter_map(IndexEntry::byte_range);
    let mut used: Vec<Range<u64>> = chunks.chain(blocks.iter().cloned()).collect();
    used.retain(|range| !range.is_empty());
    used.sort_unstable_by_key(|range| range.start);
    let free = |range: &Range<u64>| {
        let at = used.partition_point(|used| used.end <= range.start);
        used.get(at).is_none_or(|used| used.start >= range.end)
    };
    if !free(more_at) {
        // What stands there is data that look like entries.
        more.clear();
        return;
    }
    let last = entries.last().map_or(0, |entry| entry.frame);
    let listed: BTreeSet<u16> =
        entries.iter().filter(|entry| entry.frame == last).map(|entry| entry.id).collect();
    let is_new = |entry: &IndexEntry| {
        let place = entry.frame > last || (entry.frame == last && !listed.contains(&entry.id));
        place && entry.byte_range().is_some_and(|range| range.is_empty() || free(&range))
    };
    let good = more.iter().take_while(|entry| is_new(entry)).count();
    more.truncate(good);
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

//! Entries that a repair starts from: those of the index, wherever it is, and those that were written and not committed.

use std::ops::Range;

use container_core::Result;
use container_core::report::{Evidence, RepairItem, RepairReport};

use crate::header;
use crate::index::IndexEntry;
use crate::repair::damaged_file::DamagedFile;
use crate::repair::entries::{self, CollectedEntries};
use crate::repair::{frames, index, intact, names, report};

/// Frames of a file whose entries name frames that it has no room for.
const MAX_FRAMES: u64 = 1 << 12;

/// The entries of an index, the block that they are in, and the blocks that are known.
pub(super) fn search_index(
    damaged: &mut DamagedFile<'_>,
    report: &mut RepairReport,
) -> Result<(CollectedEntries, Range<u64>, Vec<Range<u64>>)> {
    let (mut found, block) = index::find(damaged, &mut report.guessed)?;
    if found.entries.is_empty() {
        // Frames without chunks take no room, and the reference writes an entry of any frame that it then does not read.
        damaged.frames = Some(MAX_FRAMES);
        let (other, _) = index::find(damaged, &mut Vec::new())?;
        if other.entries.is_empty() {
            damaged.frames = None;
        } else {
            let what = "entries of frames past the allocated index: the frames before had no chunks";
            let item = RepairItem::new(other.used.clone(), what);
            report.guessed.push(item.with_evidence(Evidence::KnownDamage));
            found = other;
        }
    }
    let used_block = found.used.clone();
    let stated = damaged.header.index_range().filter(|range| range.end > damaged.len);
    if let Some(stated) = stated.filter(|range| !used_block.is_empty() && range.start != used_block.start) {
        let what = "the index, cut off with the end of the file: frames that only it listed";
        report.lost.push(RepairItem::new(stated, what));
    }
    let listed = needed(&found.entries);
    let stated = match names::at_header_offset(damaged, listed)? {
        Some(names) => with_names_room(damaged, names.range)?,
        None => 0..0,
    };
    let claimed = damaged.header.index_range().is_some_and(|range| range.end <= damaged.len);
    if let Some(end) = entries::end_block(&mut found, &stated, claimed) {
        let item = RepairItem::new(used_block.clone(), format!("the index ends at {end}"));
        report.guessed.push(item.with_evidence(Evidence::Walk));
    }
    let blocks = vec![0..header::LEN, with_room(damaged, &used_block)?, stated];
    Ok((found, block, blocks))
}

pub(super) fn needed(entries: &[IndexEntry]) -> usize {
    entries.iter().map(|entry| usize::from(entry.id) + 1).max().unwrap_or(0)
}

/// An index with the empty slots that follow it, as many as the header says.
fn with_room(damaged: &DamagedFile<'_>, used: &Range<u64>) -> Result<Range<u64>> {
    let len = damaged.header.index_allocated_entries.checked_mul(header::INDEX_ENTRY_LEN);
    let end =
        len.and_then(|len| used.start.checked_add(len)).filter(|end| (used.end..=damaged.len).contains(end));
    match end {
        Some(end) if !report::holds_something(damaged, &(used.end..end))? => Ok(used.start..end),
        _ => Ok(used.clone()),
    }
}

/// Names with the room behind them, where nothing is in it.
fn with_names_room(damaged: &DamagedFile<'_>, used: Range<u64>) -> Result<Range<u64>> {
    let end = damaged.header.namelist_range().map(|range| range.end);
    match end.filter(|end| (used.end..=damaged.len).contains(end)) {
        Some(end) if !report::holds_something(damaged, &(used.end..end))? => Ok(used.start..end),
        _ => Ok(used),
    }
}

/// Says of chunks that are kept although they lie in the room that the header gives to index and names, where something is in it.
pub(super) fn within_room(damaged: &DamagedFile<'_>, entries: &[IndexEntry]) -> Option<RepairItem> {
    let rooms = [damaged.header.index_range(), damaged.header.namelist_range()];
    let rooms: Vec<Range<u64>> = rooms.into_iter().flatten().collect();
    let is_within = |range: &Range<u64>| {
        !range.is_empty() && rooms.iter().any(|room| range.start < room.end && room.start < range.end)
    };
    let chunks = entries.iter().filter_map(IndexEntry::byte_range).filter(is_within);
    let (mut all, mut count) = (None, 0_usize);
    for range in chunks {
        let joined =
            all.map_or(range.clone(), |all: Range<u64>| all.start.min(range.start)..all.end.max(range.end));
        (all, count) = (Some(joined), count.saturating_add(1));
    }
    let chunks = if count == 1 { "chunk" } else { "chunks" };
    let what = format!(
        "{count} {chunks} in the bytes that the header allocates to index or names: these end before them"
    );
    all.map(|all| RepairItem::new(all, what).with_evidence(Evidence::Index))
}

/// Adds entries that were written and not committed; gives their frames and places, sorted.
pub(super) fn add_uncommitted(
    damaged: &DamagedFile<'_>,
    found: &mut CollectedEntries,
    block: &Range<u64>,
    blocks: &mut Vec<Range<u64>>,
    is_intact: bool,
) -> Result<Vec<(u64, u16, i64)>> {
    let known = blocks.clone();
    let mut more = index::entries_after_index(damaged, found, block)?;
    let check = |more: &mut Option<CollectedEntries>, found: &CollectedEntries| {
        if is_intact && let Some(some) = more {
            intact::keep_new(&mut some.entries, &some.used, &found.entries, &known);
            if some.entries.is_empty() {
                *more = None;
            }
        }
    };
    check(&mut more, found);
    if more.is_none() {
        let gaps = frames::gaps(damaged, &found.entries, blocks)?;
        more = index::newer(damaged, &found.used, &gaps)?;
        check(&mut more, found);
        if let Some(more) = &more {
            let len = found.used.end - found.used.start;
            blocks.push(more.used.start.saturating_sub(len)..more.used.end);
        }
    } else if let Some(more) = &more {
        blocks.push(more.used.clone());
    }
    let Some(more) = more else { return Ok(Vec::new()) };
    let place = |entry: &IndexEntry| (entry.frame, entry.id, entry.location);
    let mut places: Vec<(u64, u16, i64)> = more.entries.iter().map(place).collect();
    places.sort_unstable();
    found.entries.extend(more.entries);
    Ok(places)
}

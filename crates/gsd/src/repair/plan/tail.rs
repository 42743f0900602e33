//! Unused bytes around the last frame, and whether that frame is incomplete.

use std::ops::Range;

use container_core::Result;

use crate::header::INDEX_ENTRY_LEN;
use crate::index::IndexEntry;
use crate::repair::damaged_file::DamagedFile;
use crate::repair::frames::{self, frame_set, is_part};
use crate::repair::report;

/// The bytes behind the last chunk that nothing is known to use.
pub(super) fn free_after_last_chunk(
    damaged: &DamagedFile<'_>,
    entries: &[IndexEntry],
    blocks: &[Range<u64>],
) -> Result<Vec<Range<u64>>> {
    let gaps = frames::gaps(damaged, entries, blocks)?.into_iter();
    let behind = gaps.filter(|gap| gap.behind.is_none() && gap.before.is_some());
    Ok(behind.map(|gap| gap.range).collect())
}

/// The same with the bytes in front of and between the chunks of the last frame, whose first chunks need not have the first ids.
pub(super) fn free_around_last_frame(
    damaged: &DamagedFile<'_>,
    entries: &[IndexEntry],
    blocks: &[Range<u64>],
) -> Result<Vec<Range<u64>>> {
    let last = entries.last().map(|entry| entry.frame);
    let gaps = frames::gaps(damaged, entries, blocks)?.into_iter();
    let beside = gaps.filter(|gap| gap.before.is_some() && (gap.behind.is_none() || gap.behind == last));
    Ok(beside.map(|gap| gap.range).collect())
}

/// True where nothing is set in the bytes that salvage has left.
pub(super) fn is_rest_zero(
    damaged: &DamagedFile<'_>,
    behind: &[Range<u64>],
    end: Option<u64>,
) -> Result<bool> {
    for range in behind {
        let rest = range.start.max(end.unwrap_or(0))..range.end;
        if !rest.is_empty() && report::holds_something(damaged, &rest)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The last frame, if it lacks what the one before has although there are bytes beside it that no entry describes. A torn write
/// of sorted entries lacks the last ones.
pub(super) fn incomplete_last_frame(
    damaged: &DamagedFile<'_>,
    entries: &[IndexEntry],
    beside: &[Range<u64>],
) -> Result<Option<u64>> {
    let starts = frames::starts(entries);
    let Some(at) = starts.len().checked_sub(1).filter(|at| *at > 0) else { return Ok(None) };
    let (last, before) = (frame_set(entries, &starts, at), frame_set(entries, &starts, at - 1));
    let most = last.last().filter(|_| !damaged.header.is_v1()).map(|entry| entry.id);
    let has = |frame: &[IndexEntry], id: u16| frame.iter().any(|entry| entry.id == id);
    let missing = || before.iter().filter(|entry| !has(last, entry.id) && Some(entry.id) > most);
    // Frame 0 has what others need not repeat.
    if last.iter().any(|entry| !has(before, entry.id)) || (at > 1 && !is_part_behind(last, before, most)) {
        return Ok(None);
    }
    let needed: u64 = missing().filter_map(IndexEntry::size).fold(0, u64::saturating_add);
    let there: u64 = beside.iter().map(|range| range.end - range.start).fold(0, u64::saturating_add);
    let something = beside.iter().map(|range| report::holds_something(damaged, range));
    let something = something.collect::<Result<Vec<_>>>()?.into_iter().any(|holds| holds);
    Ok(last.first().filter(|_| needed > 0 && needed <= there && something).map(|entry| entry.frame))
}

/// True where a frame lacks of another only names behind `most`.
fn is_part_behind(one: &[IndexEntry], other: &[IndexEntry], most: Option<u16>) -> bool {
    is_part(one, other) && other.iter().filter(|entry| Some(entry.id) <= most).count() == one.len()
}

/// A copy of the index in `rest`, with nothing else: what a writer leaves that was stopped while the index moved.
pub(super) fn old_index_copy(
    damaged: &DamagedFile<'_>,
    used: &Range<u64>,
    rest: &Range<u64>,
) -> Result<Option<Range<u64>>> {
    if used.end.saturating_sub(used.start) < INDEX_ENTRY_LEN || rest.is_empty() {
        return Ok(None);
    }
    let set = |range: &Range<u64>| -> Result<Option<u64>> {
        for window in damaged.windows(range.clone(), 0) {
            let (start, bytes) = window?;
            if let Some(at) = bytes.iter().position(|byte| *byte != 0) {
                return Ok(Some(start + at as u64));
            }
        }
        Ok(None)
    };
    // An entry begins with the number of its frame, which is mostly 0.
    let (Some(first), Some(own)) = (set(rest)?, set(used)?) else { return Ok(None) };
    let Some(start) = first.checked_sub(own - used.start).filter(|start| *start >= rest.start) else {
        return Ok(None);
    };
    let len = (used.end - used.start).min(rest.end - start);
    let copy = start..start + len;
    for (one, other) in damaged.windows(used.start..used.start + len, 0).zip(damaged.windows(copy.clone(), 0))
    {
        if one?.1 != other?.1 {
            return Ok(None);
        }
    }
    let behind = copy.end..rest.end;
    Ok((behind.is_empty() || !report::holds_something(damaged, &behind)?).then_some(start..rest.end))
}

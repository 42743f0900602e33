//! Repairs an index with invalid offsets: chunks that no offset points to replace them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use container_core::report::RepairReport;

use super::input::DamagedFrame;
use super::item;
use super::previous_commits::PreviousCommits;
use super::scan_chunks::FoundChunks;
use super::scan_indexes::FrameState;
use crate::offsets::{Offset, Offsets};

/// Whether an index entry is a valid mark, or points to a chunk.
pub(super) fn is_valid_offset(origin: &DamagedFrame, base: u64, raw: i64) -> bool {
    match Offset::from_raw(raw) {
        Offset::Stored(at) => origin.chunk_header(base, at).is_some(),
        mark => matches!(mark, Offset::Special(_)) && mark.to_raw() == raw,
    }
}

/// Returns the state with chunks of the scan `found` in the places of invalid offsets, if their assignment is unique. As many of them
/// are unclaimed between the neighbours as are missing there, or in the whole file as there are such offsets. Chunks in the index of an
/// older state are no candidates. If no chunk begins at an offset any more, the chunk is damaged and not the offset, and an unclaimed
/// chunk next to it is a deleted one.
pub(super) fn fill_bad_offsets(
    origin: &DamagedFrame,
    base: u64,
    mut state: FrameState,
    found: &FoundChunks,
    commits: &PreviousCommits,
    report: &mut RepairReport,
) -> FrameState {
    let (Offsets::Each(numbers), Offsets::Each(scanned), None) =
        (&mut state.offsets, &found.offsets, &origin.parts)
    else {
        return state;
    };
    let place = |raw: i64| -> Option<Range<u64>> {
        let Offset::Stored(at) = Offset::from_raw(raw) else { return None };
        origin.chunk_header(base, at).map(|(_, range)| range)
    };
    // Offsets of the chunks that the scan confirms, and those of them that are in the index.
    let known: BTreeMap<u64, Range<u64>> =
        scanned.iter().filter_map(|raw| place(*raw)).map(|range| (range.start, range)).collect();
    let confirmed = |raw: i64| place(raw).filter(|range| known.get(&range.start) == Some(range));
    let is_bad = |raw: &i64| {
        !is_valid_offset(origin, base, *raw)
            || matches!(Offset::from_raw(*raw), Offset::Stored(_)) && confirmed(*raw).is_none()
    };
    let bad: Vec<bool> = numbers.iter().map(is_bad).collect();
    let mut claimed: BTreeSet<u64> =
        numbers.iter().filter_map(|raw| confirmed(*raw)).map(|range| range.start).collect();
    claimed
        .extend(commits.offsets().into_iter().filter_map(|raw| base.checked_add(u64::try_from(raw).ok()?)));
    // The place of a former chunk whose header is damaged.
    let hole = |raw: i64| -> Option<u64> {
        let Offset::Stored(at) = Offset::from_raw(raw) else { return None };
        let at = base.checked_add(at)?;
        found.gaps.iter().any(|gap| gap.contains(&at)).then_some(at)
    };
    let mut first = 0;
    while first < numbers.len() {
        let len = bad[first..].iter().take_while(|bad| **bad).count();
        if len == 0 {
            first += 1;
            continue;
        }
        let before = numbers[..first].iter().rev().find_map(|raw| confirmed(*raw));
        let after = numbers[first + len..].iter().find_map(|raw| confirmed(*raw));
        let from = before.map_or(base, |range| range.end);
        let to = after.map_or(origin.len(), |range| range.start);
        let between: Vec<Range<u64>> = known
            .values()
            .filter(|range| !claimed.contains(&range.start) && range.start >= from && range.end <= to)
            .cloned()
            .collect();
        // If commits of ours left indexes, a chunk in none of them may belong to any place, and the indexes determine more of a
        // damaged one.
        let is_other =
            |raw: &i64| hole(*raw).is_some_and(|at| !commits.is_empty() || (from..to).contains(&at));
        if between.len() == len && !numbers[first..first + len].iter().any(is_other) {
            for (index, range) in (first..).zip(between) {
                claimed.insert(range.start);
                let what = format!("chunk {index}: the one that lies between its neighbours");
                set_offset(numbers, index, base, range, what, report);
            }
        }
        first += len;
    }
    let lost: Vec<usize> = (0..numbers.len())
        .filter(|index| !is_valid_offset(origin, base, numbers[*index]) && hole(numbers[*index]).is_none())
        .collect();
    let free: Vec<Range<u64>> =
        known.values().filter(|range| !claimed.contains(&range.start)).cloned().collect();
    if lost.len() == free.len() {
        for (index, range) in lost.into_iter().zip(free) {
            let what = format!("chunk {index}: one that no index leads to");
            set_offset(numbers, index, base, range, what, report);
        }
    }
    state
}

fn set_offset(
    numbers: &mut [i64],
    index: usize,
    base: u64,
    range: Range<u64>,
    what: String,
    report: &mut RepairReport,
) {
    if let (Some(number), Ok(at)) = (numbers.get_mut(index), i64::try_from(range.start - base)) {
        *number = at;
        report.guessed.push(item(range, what));
    }
}

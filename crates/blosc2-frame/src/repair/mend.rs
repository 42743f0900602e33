//! An index of which some offsets lead nowhere: what lies unclaimed between the neighbours of such a chunk takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use container_core::report::RepairReport;

use super::chunks::Origin;
use super::item;
use super::search::State;
use crate::offsets::{Offset, Offsets};

/// Whether an offset is a mark, all of it, or leads to a chunk.
pub(super) fn is_good(origin: &Origin, base: u64, raw: i64) -> bool {
    match Offset::from_raw(raw) {
        Offset::Stored(at) => origin.chunk_header(base, at).is_some(),
        mark => matches!(mark, Offset::Special(_)) && mark.to_raw() == raw,
    }
}

/// The state with chunks of `walked` in the places of offsets that lead nowhere, where it is clear which they are: as many of them
/// lie unclaimed between the neighbours as are missing there.
pub(super) fn mended(
    origin: &Origin,
    base: u64,
    mut state: State,
    walked: &Offsets,
    report: &mut RepairReport,
) -> State {
    let (Offsets::Each(numbers), Offsets::Each(found), None) = (&mut state.offsets, walked, &origin.parts)
    else {
        return state;
    };
    let place = |raw: i64| -> Option<Range<u64>> {
        let Offset::Stored(at) = Offset::from_raw(raw) else { return None };
        origin.chunk_header(base, at).map(|(_, range)| range)
    };
    // Where the chunks are that the walk confirms, and which of them the index knows.
    let known: BTreeMap<u64, Range<u64>> =
        found.iter().filter_map(|raw| place(*raw)).map(|range| (range.start, range)).collect();
    let confirmed = |raw: i64| place(raw).filter(|range| known.get(&range.start) == Some(range));
    let is_bad = |raw: &i64| {
        !is_good(origin, base, *raw)
            || matches!(Offset::from_raw(*raw), Offset::Stored(_)) && confirmed(*raw).is_none()
    };
    let bad: Vec<bool> = numbers.iter().map(is_bad).collect();
    let claimed: BTreeSet<u64> =
        numbers.iter().filter_map(|raw| confirmed(*raw)).map(|range| range.start).collect();
    let free: Vec<&Range<u64>> = known.values().filter(|range| !claimed.contains(&range.start)).collect();
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
        let between: Vec<&&Range<u64>> =
            free.iter().filter(|range| range.start >= from && range.end <= to).collect();
        if between.len() == len {
            for (offset, range) in (0_u64..).zip(between) {
                let index = first + usize::try_from(offset).unwrap_or(0);
                if let Ok(at) = i64::try_from(range.start - base) {
                    numbers[index] = at;
                    let what = format!("chunk {index}: the one that lies between its neighbours");
                    report.guessed.push(item((*range).clone(), what));
                }
            }
        }
        first += len;
    }
    state
}

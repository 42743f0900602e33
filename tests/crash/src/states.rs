//! States that a crash can leave a file in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use container_core::write::sectors::{SECTOR, spans_sectors};
use container_core::write::storage::Storage;

use crate::random::Random;
use crate::storage::{Operation, index_of};

/// Bytes at which writes are torn beside sectors: the size of the records that formats write.
const RECORD: usize = 32;

/// Maximum number of places at which one write is torn.
const MAX_CUTS: usize = 160;

/// Maximum number of units of an epoch that are left out alone, and that come about alone.
const MAX_SINGLES: usize = 48;

/// Number of random sets of units of each epoch.
const RANDOM_SETS: usize = 48;

/// State of the file after a crash.
#[derive(Clone, Debug)]
pub struct Crash<'a> {
    /// The bytes of the file.
    pub image: &'a [u8],
    /// Number of operations that surely took effect: what the writer had promised after so many must be there.
    pub done: usize,
    /// Name of the state, for messages.
    pub what: String,
}

/// Calls `look` for all states of [`process_kill_states`] and [`power_loss_states`].
///
/// # Panics
/// If an operation cannot be repeated in memory.
pub fn crash_states(start: &[u8], operations: &[Operation], seed: u64, mut look: impl FnMut(&Crash<'_>)) {
    process_kill_states(start, operations, &mut look);
    power_loss_states(start, operations, seed, look);
}

/// Calls `look` for every state that the end of the process can leave: before the first operation, after each, and for each write
/// with its first bytes alone, up to each multiple of 32 bytes, each sector boundary of the file and some odd
/// places. Long writes are torn at their beginning, their end, and places between. A write that stays within one sector is not torn:
/// the kernel copies it into a page without looking for signals, and a disk writes it whole. [`torn_write_states`] tears those as well.
///
/// Memory is bounded by one image.
///
/// # Panics
/// If an operation cannot be repeated in memory.
pub fn process_kill_states(start: &[u8], operations: &[Operation], look: impl FnMut(&Crash<'_>)) {
    killed(start, operations, |at, len| spans_sectors(&(at..at + len as u64)), look);
}

/// As [`process_kill_states`], but any write of more than 32 bytes is torn, as may happen where a file is on another machine.
///
/// # Panics
/// If an operation cannot be repeated in memory.
pub fn torn_write_states(start: &[u8], operations: &[Operation], look: impl FnMut(&Crash<'_>)) {
    killed(start, operations, |_, len| len > RECORD, look);
}

fn killed(
    start: &[u8],
    operations: &[Operation],
    is_torn: impl Fn(u64, usize) -> bool,
    mut look: impl FnMut(&Crash<'_>),
) {
    let mut image = start.to_vec();
    look(&Crash { image: &image, done: 0, what: "killed before anything was done".into() });
    for (done, operation) in operations.iter().enumerate() {
        if let Operation::Write { at, bytes } = operation
            && is_torn(*at, bytes.len())
        {
            let mut written = 0;
            for cut in cuts(*at, bytes.len()) {
                write(&mut image, *at + written as u64, &bytes[written..cut]);
                written = cut;
                let what = format!("killed in operation {done}, {cut} bytes into {operation}");
                look(&Crash { image: &image, done, what });
            }
        }
        apply(operation, &mut image);
        let done = done + 1;
        look(&Crash { image: &image, done, what: format!("killed after {done}, {operation}") });
    }
}

/// Offsets at which a write is torn, in ascending order.
fn cuts(at: u64, len: usize) -> Vec<usize> {
    let to_sector = index_of(at.next_multiple_of(SECTOR) - at);
    let sectors = (to_sector..len).step_by(512);
    let odd = [1, 7, RECORD + 1, 100, len / 2 + 1, len.saturating_sub(9), len.saturating_sub(1)];
    let all: BTreeSet<usize> = (RECORD..len).step_by(RECORD).chain(sectors).chain(odd).collect();
    let all: Vec<usize> = all.into_iter().filter(|cut| (1..len).contains(cut)).collect();
    sample(&all, MAX_CUTS)
}

/// At most `max` of the items: the first ones, the last ones, and evenly spaced ones between.
fn sample<T: Copy>(items: &[T], max: usize) -> Vec<T> {
    if items.len() <= max {
        return items.to_vec();
    }
    let edge = max / 3;
    let middle = items.len() - 2 * edge;
    let between = (0..edge).map(|number| items[edge + number * middle / edge]);
    let (first, last) = (&items[..edge], &items[items.len() - edge..]);
    first.iter().copied().chain(between).chain(last.iter().copied()).collect()
}

/// Calls `look` for states that a power cut can leave. Operations up to a sync that returned took effect. Of those after it, up to the
/// next one, each sector holds what it held before or after any of the writes that touch it, whatever the others hold; each
/// change of the length, and each hole, came about or not. Sectors after the length that came about are lost; those that did not
/// come about within it read as zeros.
///
/// Between each two syncs that is: nothing, everything, everything but one unit, one unit alone, and random sets, chosen by
/// `seed`. A unit is a sector, a change of the length, or a hole. Memory is bounded by a few images.
///
/// # Panics
/// If an operation cannot be repeated in memory.
pub fn power_loss_states(
    start: &[u8],
    operations: &[Operation],
    seed: u64,
    mut look: impl FnMut(&Crash<'_>),
) {
    let mut base = start.to_vec();
    let mut random = Random(seed);
    let mut first = 0;
    for epoch in operations.split_inclusive(|operation| *operation == Operation::Sync) {
        Epoch::new(&base, epoch).crashes(first, &mut random, &mut look);
        epoch.iter().for_each(|operation| apply(operation, &mut base));
        first += epoch.len();
    }
    look(&Crash { image: &base, done: first, what: "power cut after everything".into() });
}

/// The operations between two syncs.
struct Epoch<'a> {
    base: &'a [u8],
    operations: &'a [Operation],
    /// Units, and in how many steps each comes about.
    units: BTreeMap<Unit, usize>,
    scratch: Vec<u8>,
}

/// Part of an epoch that comes about or not, independently of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// A sector of the file, by its number. It has as many steps as writes touch it.
    Sector(u64),
    /// The change of length of an operation, by its index in the epoch.
    Length(usize),
    /// The hole of an operation, by its index in the epoch.
    Hole(usize),
}

impl<'a> Epoch<'a> {
    fn new(base: &'a [u8], operations: &'a [Operation]) -> Self {
        let mut units = BTreeMap::new();
        let mut len = base.len() as u64;
        for (index, operation) in operations.iter().enumerate() {
            match operation {
                Operation::Write { at, bytes } => {
                    for (sector, _) in parts(*at, bytes.len()) {
                        *units.entry(Unit::Sector(sector)).or_default() += 1;
                    }
                    let end = at + bytes.len() as u64;
                    if end > len {
                        units.insert(Unit::Length(index), 1);
                        len = end;
                    }
                }
                Operation::SetLen(new) => {
                    units.insert(Unit::Length(index), 1);
                    len = *new;
                }
                Operation::Punch(_) => _ = units.insert(Unit::Hole(index), 1),
                Operation::Sync | Operation::Reserve(_) => {}
            }
        }
        Self { base, operations, units, scratch: Vec::new() }
    }

    fn crashes(mut self, done: usize, random: &mut Random, look: &mut impl FnMut(&Crash<'_>)) {
        let all: Vec<(Unit, usize)> = self.units.iter().map(|(unit, steps)| (*unit, *steps)).collect();
        let mut report = |what: String, steps_of: &dyn Fn(Unit) -> usize| {
            let image = self.image(steps_of);
            look(&Crash { image, done, what: format!("power cut after operation {done}: {what}") });
        };
        report("nothing came about".into(), &|_| 0);
        if all.is_empty() {
            return;
        }
        report("everything came about".into(), &|_| usize::MAX);
        for (unit, steps) in sample(&all, MAX_SINGLES) {
            report(format!("all but {unit:?}"), &|other| if other == unit { 0 } else { usize::MAX });
            report(format!("{unit:?} alone"), &|other| if other == unit { usize::MAX } else { 0 });
            if steps > 1 {
                report(format!("{unit:?} as it was first written"), &|other| usize::from(other == unit));
            }
        }
        for number in 0..RANDOM_SETS {
            // Few, half, and most of them.
            let share = [1, 4, 7][number % 3];
            let mut pick = |steps: usize| if random.below(8) < share { 1 + random.below(steps) } else { 0 };
            let picked: BTreeMap<Unit, usize> =
                all.iter().map(|&(unit, steps)| (unit, pick(steps))).collect();
            report(format!("random set {number}"), &|unit| picked.get(&unit).copied().unwrap_or(0));
        }
    }

    /// The file in which `steps_of` each unit came about.
    fn image(&mut self, steps_of: &dyn Fn(Unit) -> usize) -> &[u8] {
        let image = &mut self.scratch;
        self.base.clone_into(image);
        // What is on the disk after the length is kept, for a later length to show it.
        let mut len = self.base.len();
        let mut writes: BTreeMap<u64, usize> = BTreeMap::new();
        for (index, operation) in self.operations.iter().enumerate() {
            match operation {
                Operation::Write { at, bytes } => {
                    for (sector, part) in parts(*at, bytes.len()) {
                        let step = writes.entry(sector).or_default();
                        *step += 1;
                        if steps_of(Unit::Sector(sector)) >= *step {
                            write(image, at + part.start as u64, &bytes[part]);
                        }
                    }
                    let length = Unit::Length(index);
                    if self.units.contains_key(&length) && steps_of(length) > 0 {
                        len = len.max(index_of(at + bytes.len() as u64));
                    }
                }
                Operation::SetLen(new) if steps_of(Unit::Length(index)) > 0 => {
                    len = index_of(*new);
                    if let Some(gone) = image.get_mut(len..) {
                        gone.fill(0);
                    }
                }
                Operation::Punch(_) if steps_of(Unit::Hole(index)) > 0 => apply(operation, image),
                _ => {}
            }
        }
        image.resize(len, 0);
        image
    }
}

/// Sectors that a write of `len` bytes at `at` touches, and the range of its bytes in each.
fn parts(at: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = at + len as u64;
    (at / SECTOR..end.div_ceil(SECTOR)).map(move |sector| {
        let range = (sector * SECTOR).max(at)..((sector + 1) * SECTOR).min(end);
        (sector, index_of(range.start - at)..index_of(range.end - at))
    })
}

fn write(image: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    image.write_at(at, bytes).expect("an image fits the memory");
}

fn apply(operation: &Operation, image: &mut Vec<u8>) {
    operation.apply(image).expect("an image fits the memory");
}

#[cfg(test)]
mod tests;

//! The states that a crash can leave a file in, made from what was done to it.
//!
//! When a process is killed, the file has what it wrote, up to some byte of the last write: [`process_kill_states`]. When the power fails,
//! it has what was synced, and of what came after it any sectors whatever: [`power_loss_states`]. A writer is right if every such
//! image opens as something that it promised:
//!
//! ```
//! use container_core::write::recording::RecordingStorage;
//! use container_core::write::replay;
//! use container_core::write::storage::Storage;
//!
//! // Two bytes at the end of a file, and then how many bytes there are, at its start.
//! let start = vec![1, b'a'];
//! let mut file = RecordingStorage::new(start.clone());
//! file.write_at(2, b"bc")?;
//! file.sync()?;
//! file.write_at(0, &[3])?;
//! file.sync()?;
//! let promised = |crash: &replay::Crash<'_>| match crash.image {
//!     [1, b'a', ..] => assert!(crash.done < 4, "{} lost what was promised", crash.what),
//!     [3, b'a', b'b', b'c'] => {}
//!     other => panic!("{}: {other:?}", crash.what),
//! };
//! replay::process_kill_states(&start, &file.operations(), promised);
//! replay::power_loss_states(&start, &file.operations(), 1, promised);
//! # Ok::<(), container_core::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::recording::Operation;

pub use super::sectors::SECTOR;

/// Bytes at which writes are torn beside sectors: those of the records that formats write.
const RECORD: usize = 32;

/// Most places at which one write is torn.
const MAX_CUTS: usize = 160;

/// Most sectors of an epoch that are left out, and most that are there alone.
const MAX_SINGLES: usize = 48;

/// Random sets of sectors of each epoch.
const RANDOM_SETS: usize = 48;

/// A state of the file after a crash.
#[derive(Clone, Debug)]
pub struct Crash<'a> {
    /// The bytes of the file.
    pub image: &'a [u8],
    /// Operations that surely took effect: what the writer had promised when it had done so many must be there.
    pub done: usize,
    /// Name of this state, for messages.
    pub what: String,
}

/// Tells `look` of every state that the end of the process can leave: before the first operation, after each, and for each write
/// those in which its first bytes are there, up to each multiple of 32 bytes, each sector boundary of the file and some odd
/// places. Long writes are torn at their beginning, their end, and places between. A write that stays within one sector is not torn:
/// the kernel copies it into a page without looking for signals, and a disk writes it whole. [`torn_write_states`] tears those as well.
///
/// Memory is bounded by one image.
///
/// # Panics
/// If an operation cannot be repeated in memory.
pub fn process_kill_states(start: &[u8], operations: &[Operation], look: impl FnMut(&Crash<'_>)) {
    let is_torn = |at: u64, len: usize| {
        let last = (at + len as u64).saturating_sub(1);
        at / SECTOR != last / SECTOR
    };
    killed(start, operations, is_torn, look);
}

/// As [`process_kill_states`], but any write of more than 32 bytes is torn, as may happen where a file lies on another machine.
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
                let part = Operation::Write { at: *at + written as u64, bytes: bytes[written..cut].to_vec() };
                part.apply(&mut image).expect("an image fits the memory");
                written = cut;
                let what = format!("killed in operation {done}, {cut} bytes into {}", name(operation));
                look(&Crash { image: &image, done, what });
            }
        }
        operation.apply(&mut image).expect("an image fits the memory");
        let done = done + 1;
        look(&Crash { image: &image, done, what: format!("killed after {done}, {}", name(operation)) });
    }
}

/// Offsets at which a write is torn, in ascending order.
fn cuts(at: u64, len: usize) -> Vec<usize> {
    let to_sector = usize::try_from(at.next_multiple_of(SECTOR) - at).unwrap_or(usize::MAX);
    let sectors = (to_sector..len).step_by(512);
    let odd = [1, 7, RECORD + 1, 100, len / 2 + 1, len.saturating_sub(9), len.saturating_sub(1)];
    let all: BTreeSet<usize> = (RECORD..len).step_by(RECORD).chain(sectors).chain(odd).collect();
    let all: Vec<usize> = all.into_iter().filter(|cut| (1..len).contains(cut)).collect();
    sample(all.len(), MAX_CUTS).into_iter().map(|place| all[place]).collect()
}

/// At most `most` of so many places: the first ones, the last ones, and every so many between.
fn sample(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let edge = most / 3;
    let middle = count - 2 * edge;
    let between = (0..edge).map(|number| edge + number * middle / edge);
    (0..edge).chain(between).chain(count - edge..count).collect()
}

/// Tells `look` of states that a power cut can leave. Operations up to a sync that returned took effect. Of those after it, up to the
/// next one, each sector holds what it held before or after any of the writes that touch it, whatever the others hold; each
/// change of the length, and each hole, came about or not. Sectors behind the length that came about are lost; those that did not
/// come about within it read as zeros.
///
/// Between each two syncs that is: nothing, everything, everything but one sector or change, one alone, and random sets, chosen by
/// `seed`. Memory is bounded by a few images.
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
        for operation in epoch {
            operation.apply(&mut base).expect("an image fits the memory");
        }
        first += epoch.len();
    }
    look(&Crash { image: &base, done: first, what: "power cut after everything".into() });
}

/// The operations between two syncs.
struct Epoch<'a> {
    base: &'a [u8],
    operations: &'a [Operation],
    /// Units that may or may not come about: how often, at most.
    units: BTreeMap<Unit, usize>,
    scratch: Vec<u8>,
}

/// Something that comes about for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// A sector of the file, by its number. As many states as there are writes that touch it.
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
                    let end = at + bytes.len() as u64;
                    for sector in at / SECTOR..end.div_ceil(SECTOR) {
                        *units.entry(Unit::Sector(sector)).or_default() += 1;
                    }
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
        let all: Vec<(Unit, usize)> = self.units.iter().map(|(unit, states)| (*unit, *states)).collect();
        let mut tell = |what: String, chosen: &dyn Fn(Unit) -> usize| {
            let image = self.image(chosen);
            look(&Crash { image, done, what: format!("power cut after operation {done}: {what}") });
        };
        tell("nothing came about".into(), &|_| 0);
        if all.is_empty() {
            return;
        }
        tell("everything came about".into(), &|_| usize::MAX);
        for (unit, states) in sample(all.len(), MAX_SINGLES).into_iter().map(|place| all[place]) {
            tell(format!("all but {unit:?}"), &|other| if other == unit { 0 } else { usize::MAX });
            tell(format!("{unit:?} alone"), &|other| if other == unit { usize::MAX } else { 0 });
            if states > 1 {
                tell(format!("{unit:?} as it was first written"), &|other| if other == unit { 1 } else { 0 });
            }
        }
        for number in 0..RANDOM_SETS {
            // Few, half, and most of them.
            let share = [1, 4, 7][number % 3];
            let mut pick = |states: usize| match random.below(8) < share {
                true => 1 + random.below(states),
                false => 0,
            };
            let chosen: BTreeMap<Unit, usize> =
                all.iter().map(|(unit, states)| (*unit, pick(*states))).collect();
            tell(format!("random set {number}"), &|unit| chosen.get(&unit).copied().unwrap_or(0));
        }
    }

    /// The file in which so many states of each unit came about.
    fn image(&mut self, chosen: &dyn Fn(Unit) -> usize) -> &[u8] {
        let image = &mut self.scratch;
        image.clear();
        image.extend_from_slice(self.base);
        // What lies on the disk behind the length is kept, for a later length to show it.
        let mut len = self.base.len();
        let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
        for (index, operation) in self.operations.iter().enumerate() {
            match operation {
                Operation::Write { at, bytes } => {
                    let end = at + bytes.len() as u64;
                    for sector in at / SECTOR..end.div_ceil(SECTOR) {
                        let turn = seen.entry(sector).or_default();
                        *turn += 1;
                        if chosen(Unit::Sector(sector)) >= *turn {
                            let range = (sector * SECTOR).max(*at)..((sector + 1) * SECTOR).min(end);
                            place(
                                image,
                                range.start,
                                &bytes[index_of(range.start - at)..index_of(range.end - at)],
                            );
                        }
                    }
                    if self.units.contains_key(&Unit::Length(index)) && chosen(Unit::Length(index)) > 0 {
                        len = len.max(index_of(end));
                    }
                }
                Operation::SetLen(new) if chosen(Unit::Length(index)) > 0 => {
                    len = index_of(*new);
                    if let Some(gone) = image.get_mut(len..) {
                        gone.fill(0);
                    }
                }
                Operation::Punch(_) if chosen(Unit::Hole(index)) > 0 => {
                    operation.apply(image).expect("an image fits the memory");
                }
                _ => {}
            }
        }
        image.resize(len, 0);
        image
    }
}

/// Puts bytes where they go, whatever the length is said to be.
fn place(image: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let write = Operation::Write { at, bytes: bytes.to_vec() };
    write.apply(image).expect("an image fits the memory");
}

/// A place in an image, which is in memory.
fn index_of(at: u64) -> usize {
    usize::try_from(at).expect("an image fits the memory")
}

fn name(operation: &Operation) -> String {
    match operation {
        Operation::Write { at, bytes } => format!("a write of bytes {at}..{}", at + bytes.len() as u64),
        Operation::SetLen(len) => format!("a change of the length to {len}"),
        Operation::Sync => "a sync".into(),
        Operation::Reserve(range) => format!("a reservation of {range:?}"),
        Operation::Punch(range) => format!("a hole at {range:?}"),
    }
}

/// Numbers that are the same for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        // The remainder is below the bound.
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;

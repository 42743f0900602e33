//! Percentiles of more values than fit in memory.
//!
//! Values are mapped to keys that sort alike. A first pass counts keys by their first 16 bits. The wanted ranks fall into a few of those
//! groups, whose keys the next pass counts by the next 16 bits. Passes continue until the keys of the groups fit in memory and can be
//! sorted.

use container_core::to_f64::{interpolate, percentile_ranks};

use super::sort_keys::Keys;
use super::{Number, PERCENTILES};

/// Number of key bits that a pass distinguishes.
const STEP: u32 = 16;

/// The search for the ranks of percentiles.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Sorted by prefix.
    groups: Vec<Group>,
    /// Bits of the prefixes.
    bits: u32,
    /// Most keys that are kept.
    budget: u64,
    mode: Mode,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Keep,
    Count,
    Settled,
}

/// Keys that begin with the same bits.
#[derive(Debug)]
struct Group {
    prefix: u64,
    /// Keys before this group.
    before: u64,
    /// The keys, sorted in the end, or their counts by the next bits.
    found: Vec<u64>,
}

/// Result of a pass for each group.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    prefixes: Vec<u64>,
    bits: u32,
    mode: Mode,
    found: Vec<Vec<u64>>,
}

impl Ranks {
    pub(super) fn new(count: u64, budget: u64) -> Self {
        let mode = if count <= budget { Mode::Keep } else { Mode::Count };
        Self {
            groups: vec![Group { prefix: 0, before: 0, found: Vec::new() }],
            bits: 0,
            budget,
            mode,
            count: 0,
        }
    }

    /// An empty tally for the next pass.
    pub(super) fn tally(&self) -> Tally {
        let prefixes = self.groups.iter().map(|group| group.prefix).collect();
        let empty = || if self.mode == Mode::Count { vec![0; 1 << STEP] } else { Vec::new() };
        let found = self.groups.iter().map(|_| empty()).collect();
        Tally { prefixes, bits: self.bits, mode: self.mode, found }
    }

    pub(super) fn take(&mut self, tally: Tally) {
        if self.mode != Mode::Settled {
            for (group, found) in self.groups.iter_mut().zip(tally.found) {
                group.found = found;
            }
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.mode == Mode::Settled
    }

    /// Every key there is, where all were kept.
    pub(super) fn all(&self) -> Option<&[u64]> {
        match self.groups.as_slice() {
            [group] if self.mode == Mode::Settled && self.bits == 0 => Some(&group.found),
            _ => None,
        }
    }

    /// Takes stock after a pass over `count` keys.
    pub(super) fn settle(&mut self, count: u64) {
        self.count = count;
        match self.mode {
            Mode::Settled => {}
            Mode::Keep => {
                self.groups.iter_mut().for_each(|group| group.found.sort_unstable());
                self.mode = Mode::Settled;
            }
            Mode::Count => self.refine(),
        }
    }

    fn refine(&mut self) {
        let mut ranks: Vec<u64> =
            PERCENTILES.iter().flat_map(|percent| percentile_ranks(*percent, self.count).0).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let mut next: Vec<Group> = Vec::new();
        let mut kept = 0_u64;
        for group in &self.groups {
            let mut before = group.before;
            for (low, count) in (0_u64..).zip(&group.found) {
                let after = before + count;
                if ranks.iter().any(|rank| (before..after).contains(rank)) {
                    next.push(Group { prefix: (group.prefix << STEP) | low, before, found: Vec::new() });
                    kept = kept.saturating_add(*count);
                }
                before = after;
            }
        }
        self.groups = next;
        self.bits += STEP;
        self.mode = match () {
            // Every key of a group is the same.
            () if self.bits == u64::BITS => Mode::Settled,
            () if kept <= self.budget => Mode::Keep,
            () => Mode::Count,
        };
    }

    /// The percentile, by linear interpolation between its neighbours; where one is an integer that doubles round, cut as [`Self::tick`] does.
    pub(super) fn percentile(&self, percent: f64, keys: Keys) -> Number {
        let (ranks, part) = percentile_ranks(percent, self.count);
        let [low, high] = ranks.map(|rank| self.key_at(rank));
        if !keys.is_double(low) || !keys.is_double(high) {
            return self.tick(percent, keys);
        }
        Number::Float(interpolate(keys.double(low), keys.double(high), part))
    }

    /// The percentile of dates, or of integers that doubles would round, cut to a whole number: exact, as percentages are whole.
    #[expect(clippy::cast_possible_truncation, reason = "a whole percentage, and the neighbours' distance")]
    pub(super) fn tick(&self, percent: f64, keys: Keys) -> Number {
        let ([low, high], _) = percentile_ranks(percent, self.count);
        let place = i128::from(self.count.saturating_sub(1)) * percent as i128;
        // Hundredths of the way. 0 where the rank that doubles found is the next one, on which the place then is.
        let part = (place - i128::from(low) * 100).clamp(0, 100);
        match (keys.number(self.key_at(low)), keys.number(self.key_at(high))) {
            (Number::Integer(low), Number::Integer(high)) => {
                Number::Integer(low + (high - low).saturating_mul(part).div_euclid(100))
            }
            (low, _) => low,
        }
    }

    fn key_at(&self, rank: u64) -> u64 {
        let at = self.groups.partition_point(|group| group.before <= rank).saturating_sub(1);
        let Some(group) = self.groups.get(at) else { return 0 };
        let within = usize::try_from(rank - group.before).unwrap_or(usize::MAX);
        group.found.get(within).copied().unwrap_or(group.prefix)
    }
}

impl Tally {
    pub(super) fn add(&mut self, keys: &[u64]) {
        match (self.mode, self.bits) {
            (Mode::Settled, _) => {}
            (Mode::Keep, 0) => self.found.iter_mut().for_each(|found| found.extend_from_slice(keys)),
            (Mode::Count, 0) => {
                for found in &mut self.found {
                    for key in keys {
                        count(found, key >> (u64::BITS - STEP));
                    }
                }
            }
            (mode, bits) => {
                for key in keys {
                    let prefix = key >> (u64::BITS - bits);
                    let Ok(at) = self.prefixes.binary_search(&prefix) else { continue };
                    let Some(found) = self.found.get_mut(at) else { continue };
                    match mode {
                        Mode::Keep => found.push(*key),
                        _ => count(found, (key << bits) >> (u64::BITS - STEP)),
                    }
                }
            }
        }
    }

    /// Merges counts of the same pass; `None` where the passes differ.
    pub(super) fn merge(&mut self, other: Self) -> Option<()> {
        if self.mode != other.mode || self.bits != other.bits || self.found.len() != other.found.len() {
            return None;
        }
        for (found, other) in self.found.iter_mut().zip(other.found) {
            match self.mode {
                Mode::Count => found.iter_mut().zip(other).for_each(|(count, other)| *count += other),
                _ if found.is_empty() => *found = other,
                _ => found.extend(other),
            }
        }
        Some(())
    }

    /// Adds another one `times` times.
    pub(super) fn merge_times(&mut self, other: &Self, times: u64) -> Option<()> {
        if self.mode != other.mode || self.bits != other.bits || self.found.len() != other.found.len() {
            return None;
        }
        for (found, other) in self.found.iter_mut().zip(&other.found) {
            if self.mode == Mode::Count {
                found.iter_mut().zip(other).for_each(|(count, other)| *count += other * times);
            } else {
                (0..times).for_each(|_| found.extend_from_slice(other));
            }
        }
        Some(())
    }
}

fn count(counts: &mut [u64], at: u64) {
    if let Some(count) = usize::try_from(at).ok().and_then(|at| counts.get_mut(at)) {
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each budget takes another number of passes; the expected values come from the sorted keys.
    #[test]
    fn percentiles_are_the_same_however_little_is_kept() {
        let keys: Vec<u64> =
            (0..5000_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (at % 40)).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        for budget in [10_000, 4000, 500, 20, 1] {
            let mut ranks = Ranks::new(5000, budget);
            let mut passes = 0;
            while !ranks.is_settled() {
                let mut tally = ranks.tally();
                for part in keys.chunks(700) {
                    let mut other = ranks.tally();
                    other.add(part);
                    tally.merge(other).unwrap();
                }
                ranks.take(tally);
                ranks.settle(5000);
                passes += 1;
            }
            assert!(passes <= 5, "{passes} passes");
            for percent in PERCENTILES {
                let ([low, high], _) = percentile_ranks(percent, 5000);
                for rank in [low, high] {
                    assert_eq!(ranks.key_at(rank), sorted[usize::try_from(rank).unwrap()], "{budget} {rank}");
                }
            }
        }
    }
}

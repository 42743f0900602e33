//! Ranges of an object that are in memory, up to a number of bytes.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of an object in memory. The range that was used the longest time ago is dropped first.
pub(crate) struct Cache {
    /// Ranges by their start; they do not overlap, and none is empty.
    extents: BTreeMap<u64, Extent>,
    /// Start of each extent by the time of its last use.
    by_use: BTreeMap<u64, u64>,
    clock: u64,
    len: u64,
    capacity: u64,
}

struct Extent {
    bytes: Vec<u8>,
    used: u64,
}

impl Cache {
    /// A cache of at most `capacity` bytes, still empty.
    pub(crate) const fn new(capacity: u64) -> Self {
        Self { extents: BTreeMap::new(), by_use: BTreeMap::new(), clock: 0, len: 0, capacity }
    }

    /// Bytes in memory.
    #[cfg(test)]
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// The parts of `range` that are not in memory, in ascending order.
    pub(crate) fn holes(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut holes = Vec::new();
        let mut from = range.start;
        // The extent before the range may reach into it.
        let first = self.extents.range(..=from).next_back().map_or(from, |(start, _)| *start);
        for (start, extent) in self.extents.range(first..range.end.max(first)) {
            if *start > from {
                holes.push(from..*start);
            }
            from = from.max(start.saturating_add(extent.bytes.len() as u64));
        }
        if from < range.end {
            holes.push(from..range.end);
        }
        holes
    }

    /// Adds the bytes from `at` on, where they are not in memory yet, and drops others beyond the capacity.
    pub(crate) fn insert(&mut self, at: u64, bytes: &[u8]) {
        for hole in self.holes(at..at.saturating_add(bytes.len() as u64)) {
            let place = |offset: u64| usize::try_from(offset.saturating_sub(at)).unwrap_or(usize::MAX);
            let Some(part) = bytes.get(place(hole.start)..place(hole.end)) else { continue };
            let used = self.tick();
            self.len = self.len.saturating_add(part.len() as u64);
            self.extents.insert(hole.start, Extent { bytes: part.to_vec(), used });
            self.by_use.insert(used, hole.start);
        }
        while self.len > self.capacity
            && let Some((_, start)) = self.by_use.pop_first()
        {
            let dropped = self.extents.remove(&start).map_or(0, |extent| extent.bytes.len() as u64);
            self.len = self.len.saturating_sub(dropped);
        }
    }

    /// Fills `dst` with the bytes from `at` on. False, and `dst` in part filled, where some are not in memory.
    pub(crate) fn copy_to(&mut self, at: u64, dst: &mut [u8]) -> bool {
        let (mut at, mut rest) = (at, dst);
        while !rest.is_empty() {
            let used = self.tick();
            let Some((start, extent)) = self.extents.range_mut(..=at).next_back() else { return false };
            let from = usize::try_from(at.saturating_sub(*start)).unwrap_or(usize::MAX);
            let Some(here) = extent.bytes.get(from..).filter(|here| !here.is_empty()) else { return false };
            let count = here.len().min(rest.len());
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(here.get(..count).unwrap_or_default());
            self.by_use.remove(&extent.used);
            extent.used = used;
            self.by_use.insert(used, *start);
            rest = tail;
            at = at.saturating_add(count as u64);
        }
        true
    }

    const fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(range: Range<u64>) -> Vec<u8> {
        range.map(|at| u8::try_from(at % 251).unwrap()).collect()
    }

    #[test]
    fn holes_are_the_parts_that_are_not_in_memory() {
        let mut cache = Cache::new(1000);
        cache.insert(10, &bytes(10..20));
        cache.insert(30, &bytes(30..40));
        assert_eq!(cache.holes(0..50), [0..10, 20..30, 40..50]);
        assert_eq!(cache.holes(12..35), [20..30]);
        assert_eq!(cache.holes(20..30), [20..30]);
        assert!(cache.holes(10..20).is_empty() && cache.holes(15..15).is_empty());
        // Bytes that are there stay, and are counted once.
        cache.insert(0, &bytes(0..50));
        assert_eq!((cache.len(), cache.holes(0..51)), (50, vec![50..51]));
        let mut all = [0; 50];
        assert!(cache.copy_to(0, &mut all));
        assert_eq!(all[..], bytes(0..50));
        assert!(!cache.copy_to(45, &mut [0; 6]));
    }

    #[test]
    fn the_range_used_the_longest_time_ago_is_dropped_first() {
        let mut cache = Cache::new(30);
        for start in [0, 100, 200] {
            cache.insert(start, &bytes(start..start + 10));
        }
        assert!(cache.copy_to(0, &mut [0; 10]));
        cache.insert(300, &bytes(300..310));
        assert_eq!(cache.len(), 30);
        assert_eq!(cache.holes(100..110), [100..110]);
        assert!(cache.holes(0..10).is_empty() && cache.holes(200..210).is_empty());
        // A range above the capacity is not kept.
        cache.insert(1000, &bytes(1000..1031));
        assert_eq!((cache.len(), cache.holes(1000..1031)), (0, vec![1000..1031]));
    }

    proptest! {
        #[test]
        fn whatever_is_inserted_reads_as_the_object(steps in proptest::collection::vec((0_u64..300, 1_u64..60), 1..40), capacity in 50_u64..400) {
            let mut cache = Cache::new(capacity);
            for (start, len) in steps {
                cache.insert(start, &bytes(start..start + len));
                prop_assert!(cache.len() <= capacity);
                let mut read = vec![0; usize::try_from(len).unwrap()];
                let is_there = cache.holes(start..start + len).is_empty();
                prop_assert_eq!(cache.copy_to(start, &mut read), is_there);
                if is_there {
                    prop_assert_eq!(read, bytes(start..start + len));
                }
            }
        }
    }
}

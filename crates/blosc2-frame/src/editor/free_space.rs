//! Free space of chunks that were written and replaced since the last commit.
//!
//! Until a commit, only the editor refers to new chunks, so it may overwrite one that it replaces. Assignments row by row replace the
//! same chunks each time, and would otherwise leave a copy of these for each row.

use std::collections::{BTreeMap, BTreeSet};

/// The ranges that chunks of this commit take, and those that they have left.
#[derive(Debug, Default)]
pub(super) struct FreeSpace {
    /// Length of each chunk by its place.
    taken: BTreeMap<u64, u64>,
    /// Length of each free range by its place. No two of them touch.
    free: BTreeMap<u64, u64>,
    /// The same, as length and place.
    by_len: BTreeSet<(u64, u64)>,
}

impl FreeSpace {
    /// Takes a place for `len` bytes: the smallest free range that holds them, or `end`, which moves.
    pub(super) fn take(&mut self, len: u64, end: &mut u64) -> u64 {
        let found = self.by_len.range((len, 0)..).next().copied();
        let at = match found {
            Some((room, at)) => {
                self.remove(at, room);
                if room > len {
                    self.insert(at.saturating_add(len), room.saturating_sub(len));
                }
                at
            }
            None => {
                let at = *end;
                *end = at.saturating_add(len);
                at
            }
        };
        self.taken.insert(at, len);
        at
    }

    /// Frees the chunk at a place, if it is one of this commit; what is free before `end` moves that back.
    pub(super) fn give_back(&mut self, at: u64, end: &mut u64) {
        let Some(mut len) = self.taken.remove(&at) else { return };
        let mut start = at;
        if let Some((before, room)) = self.free.range(..at).next_back().map(|(at, len)| (*at, *len))
            && before.saturating_add(room) == at
        {
            self.remove(before, room);
            start = before;
            len = len.saturating_add(room);
        }
        let behind = start.saturating_add(len);
        if let Some(room) = self.free.get(&behind).copied() {
            self.remove(behind, room);
            len = len.saturating_add(room);
        }
        if start.saturating_add(len) == *end {
            *end = start;
        } else {
            self.insert(start, len);
        }
    }

    /// Drops all: after a commit, the file refers to these chunks.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn insert(&mut self, at: u64, len: u64) {
        self.free.insert(at, len);
        self.by_len.insert((len, at));
    }

    fn remove(&mut self, at: u64, len: u64) {
        self.free.remove(&at);
        self.by_len.remove(&(len, at));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn chunks_never_overlap_and_free_space_is_used(steps in prop::collection::vec((1_u64..50, any::<prop::sample::Index>(), any::<bool>()), 1..80)) {
            let (mut fresh, mut end) = (FreeSpace::default(), 1000);
            let mut held: Vec<(u64, u64)> = Vec::new();
            let mut total = 0;
            for (len, which, is_dropped) in steps {
                if is_dropped && !held.is_empty() {
                    let (at, _) = held.swap_remove(which.index(held.len()));
                    fresh.give_back(at, &mut end);
                } else {
                    held.push((fresh.take(len, &mut end), len));
                    total += len;
                }
                let mut sorted = held.clone();
                sorted.sort_unstable();
                prop_assert!(sorted.iter().all(|(at, len)| *at >= 1000 && at + len <= end));
                prop_assert!(sorted.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
            }
            prop_assert!(end - 1000 <= total);
            for (at, _) in held {
                fresh.give_back(at, &mut end);
            }
            prop_assert_eq!(end, 1000);
        }
    }

    #[test]
    fn a_chunk_of_an_earlier_commit_stays() {
        let (mut fresh, mut end) = (FreeSpace::default(), 10);
        let at = fresh.take(5, &mut end);
        fresh.clear();
        fresh.give_back(at, &mut end);
        assert_eq!((fresh.take(5, &mut end), end), (15, 20));
    }
}

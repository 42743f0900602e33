//! Search in the sorted index.
//!
//! Frames mostly have as many chunks as the one before. So the computed position is right or close, and the search starts
//! from there. It reads two or three neighbouring entries, where a binary search would read twenty from the whole index.

use std::cmp::Ordering;

use crate::index::IndexBlock;

/// An index sorted by frame and id, whose last entry is of frame `frames` − 1, with ids below `names`.
#[derive(Clone, Copy)]
pub(crate) struct SortedIndex<'a> {
    index: IndexBlock<'a>,
    frames: u64,
    names: usize,
}

impl<'a> SortedIndex<'a> {
    pub(crate) const fn new(index: IndexBlock<'a>, frames: u64, names: usize) -> Self {
        Self { index, frames, names }
    }

    /// The position of the entry of a chunk. Of several, the one that the reference's search finds.
    pub(crate) fn position(self, frame: u64, id: u16) -> Option<usize> {
        let key = (frame, id);
        let at =
            self.lower_bound(self.guess(frame, id), |at| self.index.key(at).is_some_and(|one| one < key));
        if self.index.key(at) != Some(key) {
            return None;
        }
        match at.checked_add(1).and_then(|next| self.index.key(next)) {
            Some(next) if next == key => self.find_by_halves(key),
            _ => Some(at),
        }
    }

    /// Position of the first entry of `frame` or of a later one.
    pub(crate) fn first_of(self, frame: u64) -> usize {
        self.lower_bound(self.guess(frame, 0), |at| self.index.key(at).is_some_and(|one| one.0 < frame))
    }

    /// Estimates the position of a chunk, as if all frames had the same number of chunks, with ids spread over the list of names.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a guess")]
    #[expect(clippy::cast_sign_loss, reason = "nothing is below 0")]
    fn guess(self, frame: u64, id: u16) -> usize {
        let names = self.names.max(1) as f64;
        let place = (frame as f64 * names + f64::from(id)) * self.index.len() as f64;
        // One division, which takes longer than the rest. Rounded, since the quotient may come out a little too small.
        (place / (self.frames.max(1) as f64 * names) + 0.5) as usize
    }

    /// The first position for which `is_before` does not hold, searched from `guess` on in growing steps.
    fn lower_bound(self, guess: usize, is_before: impl Fn(usize) -> bool) -> usize {
        let len = self.index.len();
        let guess = guess.min(len);
        let (mut low, mut high) = (0, len);
        let mut step = 1_usize;
        if guess < len && is_before(guess) {
            low = guess.saturating_add(1);
            loop {
                let at = guess.saturating_add(step);
                if at >= len {
                    break;
                }
                if !is_before(at) {
                    high = at;
                    break;
                }
                low = at.saturating_add(1);
                step = step.saturating_mul(2);
            }
        } else {
            high = guess;
            while let Some(at) = guess.checked_sub(step) {
                if is_before(at) {
                    low = at.saturating_add(1);
                    break;
                }
                high = at;
                step = step.saturating_mul(2);
            }
        }
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    /// `gsd_find_chunk` of file layer 2: of equal entries it returns the one that its search reads first.
    fn find_by_halves(self, key: (u64, u16)) -> Option<usize> {
        let (mut low, mut high) = (0, self.index.len());
        while low < high {
            let middle = low.midpoint(high.saturating_sub(1));
            let entry = self.index.get(middle)?;
            match (entry.frame, entry.id).cmp(&key) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle.saturating_add(1),
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use container_core::dtype::ByteOrder;
    use proptest::prelude::*;

    use super::*;
    use crate::index::IndexEntry;

    fn bytes(keys: &[(u64, u16)]) -> Vec<u8> {
        let entry = |(at, &(frame, id)): (usize, &(u64, u16))| {
            let location = 256 + i64::try_from(at).unwrap();
            IndexEntry { frame, n: 1, location, m: 1, id, type_code: 1, flags: 0 }
        };
        keys.iter().enumerate().flat_map(|at| entry(at).to_bytes(ByteOrder::Little)).collect()
    }

    #[test]
    fn frames_of_any_sizes_are_found() {
        // Many chunks in frame 0, then two, then none for long, then one.
        let mut keys: Vec<(u64, u16)> = (0..50).map(|id| (0, id)).collect();
        keys.extend((1..100).flat_map(|frame| [(frame, 3), (frame, 60)]));
        keys.push((5000, 7));
        let bytes = bytes(&keys);
        let sorted = SortedIndex::new(IndexBlock::new(&bytes, ByteOrder::Little), 5001, 61);
        for (at, &(frame, id)) in keys.iter().enumerate() {
            assert_eq!(sorted.position(frame, id), Some(at));
            assert_eq!(sorted.position(frame, id + 1).is_some(), keys.contains(&(frame, id + 1)));
        }
        assert_eq!(
            [0, 1, 99, 100, 4999, 5000, 5001].map(|frame| sorted.first_of(frame)),
            [0, 50, 246, 248, 248, 248, 249]
        );
    }

    proptest! {
        #[test]
        fn the_search_agrees_with_looking_at_all(
            mut keys in proptest::collection::vec((0_u64..12, 0_u16..5), 0..40),
            frames in 0_u64..15,
            names in 0_usize..8,
        ) {
            keys.sort_unstable();
            let bytes = bytes(&keys);
            let sorted = SortedIndex::new(IndexBlock::new(&bytes, ByteOrder::Little), frames, names);
            for frame in 0..13 {
                prop_assert_eq!(sorted.first_of(frame), keys.partition_point(|key| key.0 < frame));
                for id in 0..6 {
                    // Of equal ones the reference's.
                    let found = sorted.position(frame, id);
                    prop_assert_eq!(found, sorted.find_by_halves((frame, id)));
                    prop_assert_eq!(found.is_some(), keys.contains(&(frame, id)));
                }
            }
        }

        #[test]
        fn an_index_out_of_order_ends_the_search_all_the_same(
            keys in proptest::collection::vec((any::<u64>(), any::<u16>()), 0..40),
            frames in any::<u64>(),
            frame in any::<u64>(),
            id in any::<u16>(),
        ) {
            let bytes = bytes(&keys);
            let sorted = SortedIndex::new(IndexBlock::new(&bytes, ByteOrder::Little), frames, 3);
            let found = sorted.position(frame, id);
            prop_assert!(found.is_none_or(|at| sorted.index.key(at) == Some((frame, id))));
            prop_assert!(sorted.first_of(frame) <= keys.len());
        }
    }
}

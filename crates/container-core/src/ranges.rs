//! Lists of byte ranges.

use std::ops::Range;

/// The ranges with neighbours joined: each that begins where the one before it ends makes that one longer.
///
/// ```
/// assert_eq!(container_core::ranges::merge_adjacent([0..4, 4..6, 9..10]), [0..6, 9..10]);
/// ```
#[must_use]
pub fn merge_adjacent<T: PartialEq>(ranges: impl IntoIterator<Item = Range<T>>) -> Vec<Range<T>> {
    let mut runs: Vec<Range<T>> = Vec::new();
    for range in ranges {
        match runs.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => runs.push(range),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_in_order_are_joined() {
        assert_eq!(merge_adjacent([0..4, 4..6, 6..9, 10..11]), [0..9, 10..11]);
        assert_eq!(merge_adjacent([4..6, 0..4, 5..7]), [4..6, 0..4, 5..7]);
        assert_eq!(merge_adjacent([3..3, 3..5, 7..8]), [3..5, 7..8]);
        assert_eq!(merge_adjacent(Vec::<Range<u64>>::new()), []);
    }
}

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

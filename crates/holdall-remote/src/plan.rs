//! Requests for a set of ranges: which neighbours share one, and where a long one is split.

use std::ops::Range;

/// Gap between two ranges up to which they share a request. It costs less than a request of its own where
/// `gap < bandwidth × latency / requests in flight`: 94 KB at 50 MB/s, 30 ms and 16.
pub(crate) const MAX_GAP: u64 = 64 << 10;

/// Length above which a request is split, so that several connections share the work.
pub(crate) const MAX_REQUEST: u64 = 2 << 20;

/// Returns requests that cover all `ranges`, in ascending order, disjoint, none empty.
pub(crate) fn requests(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(MAX_GAP) => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined.into_iter().flat_map(split).collect()
}

/// Parts of nearly equal length, none above [`MAX_REQUEST`].
fn split(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let len = range.end.saturating_sub(range.start);
    let parts = len.div_ceil(MAX_REQUEST).max(1);
    let each = len.div_ceil(parts).max(1);
    (0..parts).map(move |part| {
        let start = range.start.saturating_add(part.saturating_mul(each));
        start.min(range.end)..start.saturating_add(each).min(range.end)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_share_a_request_and_long_ranges_are_split() {
        assert_eq!(requests(vec![10..20, 0..5, 3..8, 7..7]), [0..20]);
        assert_eq!(requests(vec![0..1, 1 + MAX_GAP..9 + MAX_GAP]), [0..9 + MAX_GAP]);
        assert_eq!(requests(vec![0..1, 2 + MAX_GAP..9 + MAX_GAP]).len(), 2);
        assert_eq!(
            requests(vec![7..7 + 2 * MAX_REQUEST]),
            [7..7 + MAX_REQUEST, 7 + MAX_REQUEST..7 + 2 * MAX_REQUEST]
        );
        assert!(requests(vec![]).is_empty());
    }

    proptest! {
        #[test]
        fn requests_cover_the_ranges_and_little_more(starts in proptest::collection::vec((0_u64..1 << 24, 0_u64..1 << 22), 0..20)) {
            let ranges: Vec<_> = starts.iter().map(|(start, len)| *start..start + len).collect();
            let planned = requests(ranges.clone());
            for pair in planned.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
            prop_assert!(planned.iter().all(|one| one.start < one.end && one.end - one.start <= MAX_REQUEST));
            for range in ranges.iter().filter(|range| range.start < range.end) {
                let covered: u64 = planned.iter()
                    .map(|one| one.end.min(range.end).saturating_sub(one.start.max(range.start))).sum();
                prop_assert_eq!(covered, range.end - range.start);
            }
            // Each gap that is fetched along has a range on both sides.
            let wanted: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            let fetched: u64 = planned.iter().map(|one| one.end - one.start).sum();
            prop_assert!(fetched <= wanted + MAX_GAP * (ranges.len() as u64));
        }
    }
}

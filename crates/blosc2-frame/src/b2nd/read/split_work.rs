//! A result, cut into parts that threads fill by themselves.

use std::ops::Range;

use super::copy_out::Target;
use crate::b2nd::select::Plan;

/// A result is not cut into more pieces than this.
const MAX_PIECES: usize = 1 << 16;

/// A large result is filled slab by slab, each of about this many bytes, also by one thread. The kernel fills a new huge page with
/// zeros when it is first touched, and writes soon after find it in the cache. Chunk by chunk, a read would touch as many pages at
/// once as a chunk has rows. And if two threads touch a new page at once, both have it filled.
const MAX_SLAB_LEN: usize = 4 << 20;

/// Part of a read: some blocks of one axis with all of the others.
pub(super) struct Slab<'d> {
    /// Range in [`AxisPlan::parts`](crate::b2nd::select::AxisPlan::parts) of the axis at which the result is cut.
    pub(super) parts: Range<usize>,
    pub(super) target: Target<'d>,
}

/// Returns the axis at which a result is best cut, and into how many slabs, for the number of threads and a result of so many bytes.
/// Cuts are between blocks, or between chunks if `by_chunk`.
///
/// The slabs of the first axis are consecutive parts of the result. On a later axis each slab has a piece of every index of the axes
/// before.
pub(super) fn cut(plan: &Plan, threads: usize, bytes: usize, by_chunk: bool) -> (usize, usize) {
    let want = (bytes / MAX_SLAB_LEN).max(if threads > 1 { 4 * threads } else { 1 });
    let (mut best, mut pieces) = ((0, 1), 1_usize);
    for (axis, plan) in plan.axes.iter().enumerate() {
        let count = if by_chunk { plan.rows.len() } else { plan.parts.len() }.min(want);
        if pieces.saturating_mul(count) > MAX_PIECES {
            break;
        }
        if plan.is_in_order && count > best.1 {
            best = (axis, count);
        }
        if count >= want {
            break;
        }
        pieces = pieces.saturating_mul(plan.count);
    }
    best
}

/// Cuts `dst` into `count` slabs along the axis `split`.
pub(super) fn slabs<'d>(
    plan: &Plan,
    dst: &'d mut [u8],
    itemsize: usize,
    split: usize,
    count: usize,
) -> Vec<Slab<'d>> {
    let Some(axis) = plan.axes.get(split) else { return Vec::new() };
    // Cut between chunks if there are enough of them: then each is decoded by one thread.
    let by_chunk = axis.rows.len() >= count;
    let units = if by_chunk { axis.rows.len() } else { axis.parts.len() };
    let cut_at = |slab: usize| {
        let unit = slab * units / count;
        if by_chunk { axis.rows.get(unit).map_or(axis.parts.len(), |row| row.parts.start) } else { unit }
    };
    let start_of = |part: usize| {
        let tile = axis.parts.get(part).and_then(|part| axis.tiles.get(part.tiles.start));
        tile.map_or(axis.count, |tile| tile.dst)
    };
    let mut slabs: Vec<Slab<'d>> = (0..count)
        .map(|slab| {
            let parts = cut_at(slab)..cut_at(slab + 1);
            let target = Target {
                pieces: Vec::new(),
                split,
                start: if count == 1 { 0 } else { start_of(parts.start) },
            };
            Slab { parts, target }
        })
        .collect();
    let behind = plan.axes.iter().skip(split + 1).fold(itemsize, |len, axis| len * axis.count);
    let before = plan.axes.iter().take(split).map(|axis| axis.count).product();
    let mut rest = dst;
    for _ in 0..before {
        for slab in &mut slabs {
            let indices = if count == 1 { axis.count } else { start_of(slab.parts.end) - slab.target.start };
            let (piece, next) = std::mem::take(&mut rest).split_at_mut(indices * behind);
            slab.target.pieces.push(piece);
            rest = next;
        }
    }
    slabs
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use container_core::Limits;

    use super::*;
    use crate::b2nd::{Geometry, Indices};

    /// Chunks of 8 by 16 in blocks of 2 by 16, of an array of 64 by 32.
    fn plan(rows: impl Into<Indices>) -> Plan {
        let geometry = Geometry::new(&[64, 32], &[8, 16], &[2, 16], 4).unwrap();
        Plan::new(&[rows.into(), (0..32).into()], &geometry, &Limits::default()).unwrap()
    }

    #[test]
    fn a_result_is_cut_for_its_threads_and_into_slabs_of_4_mib() {
        let all = plan(0..64);
        // Small, and by one thread: one slab.
        for threads in [0, 1] {
            assert_eq!(cut(&all, threads, 8192, false), (0, 1), "{threads}");
        }
        for threads in [2, 3] {
            let (axis, count) = cut(&all, threads, 8192, false);
            assert!(axis == 0 && (2 * threads..=8 * threads).contains(&count), "{threads}: {count}");
        }
        // By one thread, as many slabs as there are 4 MiB; no more than there are blocks or chunks.
        assert_eq!(cut(&all, 1, 20 << 20, false), (0, 5));
        assert_eq!(cut(&all, 1, (8 << 20) - 1, false), (0, 1));
        assert_eq!((cut(&all, 1, 1 << 30, false), cut(&all, 1, 1 << 30, true)), ((0, 32), (0, 8)));
        // Indices in any order are not cut, and the next axis is.
        let list = plan(vec![5, 3, 60]);
        assert_eq!(cut(&list, 4, 8192, false), (1, 2));
    }

    #[test]
    fn slabs_make_up_the_result() {
        for rows in [plan(0..64), plan(3..62), plan(vec![1, 2, 40])] {
            let count = rows.axes[0].count;
            for slabs_wanted in [1, 2, 3, 7] {
                let mut dst = vec![0_u8; count * 32 * 4];
                let len = dst.len();
                let slabs = slabs(&rows, &mut dst, 4, 0, slabs_wanted);
                assert_eq!(slabs.len(), slabs_wanted);
                let pieces: usize =
                    slabs.iter().flat_map(|slab| &slab.target.pieces).map(|it| it.len()).sum();
                assert_eq!(pieces, len);
                assert_eq!((slabs[0].parts.start, slabs[0].target.start), (0, 0));
                assert_eq!(slabs.last().unwrap().parts.end, rows.axes[0].parts.len());
                assert!(slabs.windows(2).all(|pair| pair[0].parts.end == pair[1].parts.start));
            }
        }
    }
}

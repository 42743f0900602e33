//! Copies rows of elements from a block to their places in the result.

use std::cmp::Ordering;

use crate::b2nd::select::{Plan, Tile};

/// Bytes that hold what is needed of a block, as an array in C order of its own.
#[derive(Clone, Copy)]
pub(super) struct Patch<'b> {
    pub(super) bytes: &'b [u8],
    /// Index of the block where it begins, by axis.
    pub(super) low: &'b [usize],
    /// Bytes from one index to the next, by axis. All 0 where every element is the same: then `bytes` holds the longest run.
    pub(super) strides: &'b [usize],
}

/// Part of the memory of a result, in C order.
///
/// It has one piece for each combination of indices of the axes before `split`. Each holds, without gaps, a range of indices of
/// that axis and all indices of the axes after it. So threads can be given disjoint parts of a result.
pub(super) struct Target<'d> {
    pub(super) pieces: Vec<&'d mut [u8]>,
    pub(super) split: usize,
    /// The index of the axis `split` with which the pieces begin.
    pub(super) start: usize,
}

/// Strides of the elements in the result, and the part of it that is a run in every block.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) itemsize: usize,
    /// Pieces (for axes before `split`) or bytes from one index to the next, by axis.
    strides: Vec<usize>,
}

impl Shape {
    /// Creates the target for the result of `plan`, cut along the axis `split`.
    pub(super) fn new(plan: &Plan, itemsize: usize, split: usize) -> Self {
        let mut strides = vec![0; plan.axes.len()];
        let mut stride = itemsize;
        for (at, (axis, place)) in plan.axes.iter().zip(&mut strides).enumerate().rev() {
            if at + 1 == split {
                stride = 1;
            }
            *place = stride;
            stride = stride.saturating_mul(axis.count);
        }
        Self { itemsize, strides }
    }
}

/// A copy from one block.
pub(super) struct Copy<'c> {
    pub(super) plan: &'c Plan,
    pub(super) shape: &'c Shape,
    /// The tiles of each axis.
    pub(super) tiles: &'c [&'c [Tile]],
    pub(super) from: Patch<'c>,
}

impl Copy<'_> {
    /// Copies the elements to their places.
    pub(super) fn run(&self, target: &mut Target<'_>) {
        let inner = self.inner().max(target.split);
        self.pieces(target, inner, 0, 0, 0);
    }

    /// Returns the place of all `len` bytes of a block in `target`, where they are one run in its own order.
    pub(super) fn straight<'t>(&self, target: &'t mut Target<'_>, len: usize) -> Option<&'t mut [u8]> {
        let inner = self.inner().max(target.split);
        let (mut piece, mut to) = (0, 0);
        for (axis, (tiles, plan)) in self.tiles.iter().zip(&self.plan.axes).enumerate() {
            let [tile] = tiles else { return None };
            let is_whole = tile.src == 0 && tile.step == 1 && tile.count == plan.block_len;
            if !is_whole || (axis < inner && tile.count != 1) {
                return None;
            }
            let stride = self.shape.strides[axis];
            match axis.cmp(&target.split) {
                Ordering::Less => piece += tile.dst * stride,
                Ordering::Equal => to += tile.dst.checked_sub(target.start)? * stride,
                Ordering::Greater => to += tile.dst * stride,
            }
        }
        target.pieces.get_mut(piece)?.get_mut(to..to.checked_add(len)?)
    }

    /// Returns the largest number of bytes that are copied at once.
    pub(super) fn longest_run(&self) -> usize {
        let inner = self.inner();
        let longest = self.tiles[inner].iter().map(|tile| tile.count).max().unwrap_or(0);
        let behind = self.plan.axes[inner + 1..].iter().map(|axis| axis.count);
        behind.fold(longest.saturating_mul(self.shape.itemsize), usize::saturating_mul)
    }

    /// Returns the first axis whose neighbours are neighbours in memory on both sides, with all axes after it.
    fn inner(&self) -> usize {
        let mut axis = self.tiles.len() - 1;
        let mut len = self.shape.itemsize;
        while axis > 0 {
            let [tile] = self.tiles[axis] else { break };
            len = len.saturating_mul(tile.count);
            let is_whole = tile.step == 1 && tile.count == self.plan.axes[axis].count;
            // The stride of the axis before gives the number of indices of this one in the patch.
            let strides = self.from.strides;
            if !is_whole || (strides[axis - 1] != len && strides[axis] != 0) {
                break;
            }
            axis -= 1;
        }
        axis
    }

    /// Walks the axes before the split: each combination of indices has a piece of its own.
    fn pieces(&self, target: &mut Target<'_>, inner: usize, axis: usize, src: usize, piece: usize) {
        if axis == target.split {
            let start = target.start;
            if let Some(dst) = target.pieces.get_mut(piece) {
                self.copy_axis(dst, start, inner, axis, src, 0);
            }
            return;
        }
        for tile in self.tiles[axis] {
            for at in 0..tile.count {
                let src = src + self.from.offset(axis, tile, at);
                let piece = piece + (tile.dst + at) * self.shape.strides[axis];
                self.pieces(target, inner, axis + 1, src, piece);
            }
        }
    }

    /// Walks the axes from `axis` on; `dst` begins with the index `start` of it.
    fn copy_axis(&self, dst: &mut [u8], start: usize, inner: usize, axis: usize, src: usize, to: usize) {
        let stride = self.shape.strides[axis];
        for tile in self.tiles[axis] {
            let to = to + (tile.dst - start) * stride;
            if axis < inner {
                for at in 0..tile.count {
                    let src = src + self.from.offset(axis, tile, at);
                    self.copy_axis(dst, 0, inner, axis + 1, src, to + at * stride);
                }
            } else if let Some(dst) = dst.get_mut(to..to + tile.count * stride) {
                let src = src + self.from.offset(axis, tile, 0);
                self.row(tile, self.from.strides[axis], src, dst);
            }
        }
    }

    /// Copies one tile of the innermost axis that is walked.
    fn row(&self, tile: &Tile, stride: usize, src: usize, dst: &mut [u8]) {
        let bytes = self.from.bytes;
        if tile.step == 1 {
            // The patch holds all that is selected; it is looked up again so that a mistake here cannot reach other memory.
            let run = bytes.get(src..src.saturating_add(dst.len()));
            debug_assert!(run.is_some(), "{} bytes from {src} of {}", dst.len(), bytes.len());
            if let Some(run) = run {
                dst.copy_from_slice(run);
            }
            return;
        }
        let step = tile.step.wrapping_mul(stride.cast_signed());
        match dst.len() / tile.count.max(1) {
            1 => column::<1>(bytes, src, step, dst),
            2 => column::<2>(bytes, src, step, dst),
            4 => column::<4>(bytes, src, step, dst),
            8 => column::<8>(bytes, src, step, dst),
            16 => column::<16>(bytes, src, step, dst),
            len => {
                let mut src = src;
                for item in dst.chunks_exact_mut(len.max(1)) {
                    if let Some(found) = bytes.get(src..src.saturating_add(len)) {
                        item.copy_from_slice(found);
                    }
                    src = src.wrapping_add_signed(step);
                }
            }
        }
    }
}

impl Patch<'_> {
    /// Returns the byte of the index `at` of a tile, counted from where the box begins along its axis.
    fn offset(&self, axis: usize, tile: &Tile, at: usize) -> usize {
        let index = tile.src.wrapping_add_signed(tile.step.wrapping_mul(at.cast_signed()));
        index.wrapping_sub(self.low[axis]).wrapping_mul(self.strides[axis])
    }
}

/// Copies items that are `step` bytes apart.
fn column<const N: usize>(bytes: &[u8], src: usize, step: isize, dst: &mut [u8]) {
    let mut src = src;
    for item in dst.as_chunks_mut::<N>().0 {
        if let Some(found) = bytes.get(src..).and_then(<[u8]>::first_chunk::<N>) {
            *item = *found;
        }
        src = src.wrapping_add_signed(step);
    }
}

/// Strides of an array in C order with axes of these lengths, into `out`.
pub(super) fn strides_into(
    out: &mut Vec<usize>,
    lens: impl DoubleEndedIterator<Item = usize>,
    itemsize: usize,
) {
    out.clear();
    let mut stride = itemsize;
    for len in lens.rev() {
        out.push(stride);
        stride = stride.saturating_mul(len);
    }
    out.reverse();
}

//! Copies boxes of elements between buffers in C order and chunks, whose elements are stored block by block.
//!
//! A [`ChunkBoxes`] is a selection of an array with a buffer that holds its elements. It finds the chunks and blocks that it meets, and
//! copies the longest runs that are contiguous on both sides.

use std::ops::Range;

use container_core::region::AxisSelection;
use container_core::{Error, Result};

use super::Geometry;

/// A selection of an array, with the buffer layout of its elements. Steps are positive here: an axis that runs backwards is walked
/// from its other end.
#[derive(Clone, Debug)]
pub(super) struct ChunkBoxes {
    axes: Vec<Axis>,
    /// Byte in the buffer of the element with the lowest indices.
    base: i64,
    size: usize,
}

/// The indices `start`, `start + step`, … of an axis of the array, `count` of them, `stride` bytes apart in the buffer.
#[derive(Clone, Copy, Debug)]
struct Axis {
    start: u64,
    step: u64,
    count: u64,
    stride: i64,
}

impl Axis {
    /// Returns the selected indices in `range`, by their number.
    fn within(&self, range: &Range<u64>) -> Range<u64> {
        let first = |bound: u64| bound.saturating_sub(self.start).div_ceil(self.step).min(self.count);
        first(range.start)..first(range.end)
    }

    /// Returns the first and the last index selected, as a range. Never called for none.
    fn span(&self) -> Range<u64> {
        let last = self.count.saturating_sub(1).saturating_mul(self.step).saturating_add(self.start);
        self.start..last.saturating_add(1)
    }
}

/// Direction of a copy of elements.
enum Way<'a> {
    Into { chunk: &'a mut [u8], buffer: &'a [u8] },
    OutOf { chunk: &'a [u8], buffer: &'a mut [u8] },
}

impl ChunkBoxes {
    /// Selects the elements of a region (each of `size` bytes), in C order in the buffer. The region was checked against its
    /// array.
    pub(super) fn region(axes: &[AxisSelection], size: usize) -> Result<Self> {
        let too_long = || Error::usage("a selection of 2^63 bytes");
        let mut stride = i64::try_from(size).map_err(|_| too_long())?;
        let mut window = Self { axes: Vec::with_capacity(axes.len()), base: 0, size };
        for axis in axes.iter().rev() {
            let count = i64::try_from(axis.count).map_err(|_| too_long())?;
            let step = axis.step.unsigned_abs().max(1);
            let mut own = Axis { start: axis.start, step, count: axis.count, stride };
            if axis.count <= 1 {
                own.step = 1;
            } else if axis.step < 0 {
                own.start = axis.start.saturating_sub((axis.count - 1).saturating_mul(step));
                own.stride = -stride;
                window.base += (count - 1) * stride;
            }
            window.axes.push(own);
            stride = stride.checked_mul(count).ok_or_else(too_long)?;
        }
        window.axes.reverse();
        Ok(window)
    }

    /// Selects the elements of the box that begins at `origin`, in C order in the buffer.
    pub(super) fn plain(origin: &[u64], shape: &[u64], size: usize) -> Result<Self> {
        let axis = |(start, count): (&u64, &u64)| AxisSelection {
            start: *start,
            step: 1,
            count: *count,
            kept: container_core::region::Kept::Yes,
        };
        let axes: Vec<AxisSelection> = origin.iter().zip(shape).map(axis).collect();
        Self::region(&axes, size)
    }

    /// Returns the same selection over a buffer of one element, which it repeats.
    pub(super) fn of_one_element(mut self) -> Self {
        for axis in &mut self.axes {
            axis.stride = 0;
        }
        self.base = 0;
        self
    }

    /// Bytes of the buffer.
    pub(super) fn byte_len(&self) -> u64 {
        self.axes.iter().fold(self.size as u64, |len, axis| len.saturating_mul(axis.count))
    }

    /// Calls `each` with the place in the grid of every chunk that holds a selected element, in C order.
    pub(super) fn for_each_chunk(
        &self,
        geometry: &Geometry,
        mut each: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return Ok(());
        }
        let chunks = geometry.chunkshape().iter().map(|len| u64::from(*len).max(1));
        let ranges: Vec<Range<u64>> = self
            .axes
            .iter()
            .zip(chunks)
            .map(|(axis, chunk)| axis.span().start / chunk..(axis.span().end - 1) / chunk + 1)
            .collect();
        for_each_place(&ranges, |place| {
            let meets = self
                .axes
                .iter()
                .zip(chunk_box(geometry, place))
                .all(|(axis, range)| !axis.within(&range).is_empty());
            if meets { each(place) } else { Ok(()) }
        })
    }

    /// Whether every element that the chunk at `place` has of the array is selected.
    pub(super) fn covers(&self, geometry: &Geometry, place: &[u64]) -> bool {
        self.axes.iter().zip(chunk_box(geometry, place)).all(|(axis, range)| {
            let selected = axis.within(&range);
            selected.end - selected.start == range.end - range.start
        })
    }

    /// Whether the chunk at `place` has padding: the ends of blocks outside of the chunk or the array.
    pub(super) fn leaves_padding(&self, geometry: &Geometry, place: &[u64]) -> bool {
        let axes =
            chunk_box(geometry, place).into_iter().zip(geometry.block_grid()).zip(geometry.blockshape());
        axes.into_iter().any(|((range, blocks), block)| range.end - range.start != blocks * u64::from(*block))
    }

    /// Copies from the buffer what it has of the chunk at `place`. Other bytes of the chunk stay as they are.
    pub(super) fn write_chunk(
        &self,
        geometry: &Geometry,
        place: &[u64],
        buffer: &[u8],
        chunk: &mut [u8],
    ) -> Result<()> {
        self.copy(geometry, place, Way::Into { chunk, buffer })
    }

    /// Copies to the buffer what it wants of the chunk at `place`.
    pub(super) fn read_chunk(
        &self,
        geometry: &Geometry,
        place: &[u64],
        chunk: &[u8],
        buffer: &mut [u8],
    ) -> Result<()> {
        self.copy(geometry, place, Way::OutOf { chunk, buffer })
    }

    fn copy(&self, geometry: &Geometry, place: &[u64], mut way: Way<'_>) -> Result<()> {
        let outside = || Error::usage("a box reaches outside its buffer");
        let boxes = chunk_box(geometry, place);
        let selected: Vec<Range<u64>> =
            self.axes.iter().zip(&boxes).map(|(axis, range)| axis.within(range)).collect();
        if selected.iter().any(Range::is_empty) {
            return Ok(());
        }
        // Blocks, by their place in the chunk, between the first and the last that hold something.
        let blocks: Vec<u64> = geometry.blockshape().iter().map(|len| u64::from(*len).max(1)).collect();
        let mut ranges = Vec::with_capacity(blocks.len());
        for (((axis, numbers), range), block) in self.axes.iter().zip(&selected).zip(&boxes).zip(&blocks) {
            let low = axis.start + numbers.start * axis.step - range.start;
            let high = axis.start + (numbers.end - 1) * axis.step - range.start;
            ranges.push(low / block..high / block + 1);
        }
        let strides = strides_of(&blocks, self.size).ok_or_else(outside)?;
        let mut run = Vec::with_capacity(blocks.len());
        for_each_place(&ranges, |at| {
            let index = at.iter().zip(geometry.block_grid()).fold(0, |index, (at, len)| index * len + at);
            let mut chunk_at = i64::try_from(index * geometry.block_bytes()).map_err(|_| outside())?;
            let mut buffer_at = self.base;
            run.clear();
            for (d, axis) in self.axes.iter().enumerate() {
                let first = boxes[d].start + at[d] * blocks[d];
                let numbers = axis.within(&(first..boxes[d].end.min(first + blocks[d])));
                if numbers.is_empty() {
                    return Ok(());
                }
                let within = axis.start + numbers.start * axis.step - first;
                chunk_at += i64::try_from(within).map_err(|_| outside())? * strides[d];
                buffer_at += i64::try_from(numbers.start).map_err(|_| outside())? * axis.stride;
                let count = usize::try_from(numbers.end - numbers.start).map_err(|_| outside())?;
                let step = i64::try_from(axis.step).map_err(|_| outside())?;
                // A step beyond the block means one index, whose stride is never followed.
                run.push(Run { count, chunk: strides[d].saturating_mul(step), buffer: axis.stride });
            }
            merge(&mut run);
            match &mut way {
                Way::Into { chunk, buffer } => {
                    let runs = run.iter().map(|run| (run.count, run.buffer, run.chunk));
                    copy_runs(&runs.collect::<Vec<_>>(), self.size, buffer, buffer_at, chunk, chunk_at)
                }
                Way::OutOf { chunk, buffer } => {
                    let runs = run.iter().map(|run| (run.count, run.chunk, run.buffer));
                    copy_runs(&runs.collect::<Vec<_>>(), self.size, chunk, chunk_at, buffer, buffer_at)
                }
            }
            .ok_or_else(outside)
        })
    }
}

/// So many elements along an axis, and how many bytes they are apart on both sides.
#[derive(Clone, Copy)]
struct Run {
    count: usize,
    chunk: i64,
    buffer: i64,
}

/// Drops axes of one element, and joins neighbours that are contiguous on both sides.
fn merge(runs: &mut Vec<Run>) {
    let mut kept = 0;
    for at in 0..runs.len() {
        let run = runs[at];
        if run.count == 1 {
            continue;
        }
        let count = run.count as i64;
        match runs[..kept].last_mut() {
            Some(last)
                if run.chunk.checked_mul(count) == Some(last.chunk)
                    && run.buffer.checked_mul(count) == Some(last.buffer) =>
            {
                *last = Run { count: last.count * run.count, ..run };
            }
            _ => {
                runs[kept] = run;
                kept += 1;
            }
        }
    }
    runs.truncate(kept);
}

/// Copies elements of `size` bytes; `runs` are the axes, outermost first, as (count, bytes apart in `src`, in `dst`). Nothing comes
/// back where that would leave either. Recurses once for each axis.
fn copy_runs(
    runs: &[(usize, i64, i64)],
    size: usize,
    src: &[u8],
    from: i64,
    dst: &mut [u8],
    to: i64,
) -> Option<()> {
    let copy = |dst: &mut [u8], from: i64, to: i64, len: usize| {
        let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
        dst.get_mut(to..to.checked_add(len)?)?.copy_from_slice(src.get(from..from.checked_add(len)?)?);
        Some(())
    };
    match runs {
        [] => copy(dst, from, to, size),
        [(count, a, b)] if *a == size as i64 && a == b => copy(dst, from, to, count * size),
        [(count, a, b)] => (0..*count as i64).try_for_each(|at| copy(dst, from + at * a, to + at * b, size)),
        [(count, a, b), inner @ ..] => {
            (0..*count as i64).try_for_each(|at| copy_runs(inner, size, src, from + at * a, dst, to + at * b))
        }
    }
}

/// Bytes from one index to the next along each axis of a box in C order.
fn strides_of(shape: &[u64], size: usize) -> Option<Vec<i64>> {
    let mut stride = i64::try_from(size).ok()?;
    let mut strides = vec![0; shape.len()];
    for (place, len) in strides.iter_mut().zip(shape).rev() {
        *place = stride;
        stride = stride.checked_mul(i64::try_from(*len).ok()?)?;
    }
    Some(strides)
}

/// Returns the indices along each axis that the chunk at `place` has of the array.
pub(super) fn chunk_box(geometry: &Geometry, place: &[u64]) -> Vec<Range<u64>> {
    let axes = geometry.shape().iter().zip(geometry.chunkshape()).zip(place);
    axes.map(|((len, chunk), at)| {
        let start = at.saturating_mul(u64::from(*chunk));
        start.min(*len)..start.saturating_add(u64::from(*chunk)).min(*len)
    })
    .collect()
}

/// Returns the number of the chunk at `place`.
pub(super) fn chunk_index(geometry: &Geometry, place: &[u64]) -> u64 {
    place.iter().zip(geometry.chunk_grid()).fold(0, |index, (at, len)| index * len + at)
}

/// Calls `each` with every place of a grid, in C order; once for a grid without axes.
pub(super) fn for_each_place(
    ranges: &[Range<u64>],
    mut each: impl FnMut(&[u64]) -> Result<()>,
) -> Result<()> {
    if ranges.iter().any(Range::is_empty) {
        return Ok(());
    }
    let mut place: Vec<u64> = ranges.iter().map(|range| range.start).collect();
    loop {
        each(&place)?;
        let mut axis = place.len();
        loop {
            if axis == 0 {
                return Ok(());
            }
            axis -= 1;
            place[axis] += 1;
            if place[axis] < ranges[axis].end {
                break;
            }
            place[axis] = ranges[axis].start;
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests;

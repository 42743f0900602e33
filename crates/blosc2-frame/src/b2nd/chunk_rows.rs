//! Rows of chunks: what an array is written in.

use std::cmp::Ordering;
use std::ops::Range;

use container_core::Result;

use super::chunk_boxes::ChunkBoxes;
use super::{Geometry, MAX_DIMENSIONS};

/// Bytes of the row of chunks that has to be there before the first of them can be written, of elements that come in C order.
pub(crate) fn row_len(geometry: &Geometry) -> u64 {
    Rows::new(geometry).byte_len(geometry)
}

/// Chunks of an array in boxes, one after the other in the order of chunks: one chunk long along the axes before `axis`, `step` chunks
/// along that, whole along those after it.
pub(super) struct Rows {
    axis: usize,
    step: u64,
    /// Number of rows.
    pub(super) count: u64,
}

impl Rows {
    /// Creates the rows that are contiguous in C order: one chunk along the first axis along which a chunk is longer than 1; along the
    /// last axis if there is none.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let axis = geometry.chunkshape().iter().position(|len| *len > 1);
        Self::along(geometry, axis.unwrap_or(last_axis(geometry)), 1)
    }

    /// As much as `most` bytes hold, one chunk at least.
    pub(super) fn within(geometry: &Geometry, most: u64) -> Self {
        let last = last_axis(geometry);
        let mut rows = (0..last).map(|axis| Self::along(geometry, axis, 1));
        let fit = rows.find(|rows| rows.byte_len(geometry) <= most);
        let rows = fit.unwrap_or_else(|| Self::along(geometry, last, 1));
        Self::along(geometry, rows.axis, (most / rows.byte_len(geometry).max(1)).max(1))
    }

    fn along(geometry: &Geometry, axis: usize, step: u64) -> Self {
        let mut rows = Self { axis, step, count: 0 };
        if geometry.chunk_count() > 0 {
            let counts = geometry.chunk_grid().iter().enumerate().map(|(at, len)| rows.count_along(at, *len));
            rows.count = counts.fold(1, u64::saturating_mul);
        }
        rows
    }

    /// Counts the rows along an axis that is `len` chunks long.
    fn count_along(&self, axis: usize, len: u64) -> u64 {
        match axis.cmp(&self.axis) {
            Ordering::Less => len,
            Ordering::Equal => len.div_ceil(self.step),
            Ordering::Greater => 1,
        }
    }

    /// Returns the largest length of a row, in bytes.
    pub(super) fn byte_len(&self, geometry: &Geometry) -> u64 {
        let item = geometry.itemsize() as u64;
        let lens = geometry.shape().iter().zip(geometry.chunkshape()).enumerate();
        lens.fold(item, |len, (axis, (whole, chunk))| {
            let chunk = u64::from(*chunk);
            let own = match axis.cmp(&self.axis) {
                Ordering::Less => chunk.min(*whole),
                Ordering::Equal => chunk.saturating_mul(self.step).min(*whole),
                Ordering::Greater => *whole,
            };
            len.saturating_mul(own)
        })
    }

    /// Returns the places of the chunks of a row.
    pub(super) fn places(&self, geometry: &Geometry, row: u64) -> Vec<Range<u64>> {
        let mut rest = row;
        let mut places: Vec<Range<u64>> = Vec::with_capacity(MAX_DIMENSIONS);
        for (axis, len) in geometry.chunk_grid().iter().enumerate().rev() {
            let count = self.count_along(axis, *len).max(1);
            let at = rest % count;
            rest /= count;
            places.push(match axis.cmp(&self.axis) {
                Ordering::Less => at..at + 1,
                Ordering::Equal => at * self.step..(at + 1).saturating_mul(self.step).min(*len),
                Ordering::Greater => 0..*len,
            });
        }
        places.reverse();
        places
    }

    /// Returns the start of a row in the array, and its shape.
    pub(super) fn extent(&self, geometry: &Geometry, row: u64) -> (Vec<u64>, Vec<u64>) {
        let axes =
            self.places(geometry, row).into_iter().zip(geometry.shape().iter().zip(geometry.chunkshape()));
        axes.map(|(places, (len, chunk))| {
            let start = places.start.saturating_mul(u64::from(*chunk)).min(*len);
            let end = places.end.saturating_mul(u64::from(*chunk)).min(*len);
            (start, end - start)
        })
        .unzip()
    }

    /// Returns a row over a buffer of its elements.
    pub(super) fn window(&self, geometry: &Geometry, row: u64) -> Result<ChunkBoxes> {
        let (origin, shape) = self.extent(geometry, row);
        ChunkBoxes::plain(&origin, &shape, geometry.itemsize())
    }
}

fn last_axis(geometry: &Geometry) -> usize {
    geometry.shape().len().saturating_sub(1)
}

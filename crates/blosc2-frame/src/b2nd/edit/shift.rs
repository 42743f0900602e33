//! Inserts and removes elements in the middle of an axis, and moves the others.
//!
//! Chunks that move by whole chunks only change their place in the index. If elements move by another number, all chunks after them
//! are written again. C-Blosc2 accepts whole chunks only, and appends to an array after its last chunk, even if that is not full.

use std::ops::Range;

use container_core::array::Array;
use container_core::dtype::Order;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::super::chunk_boxes::{ChunkBoxes, chunk_box, for_each_place};
use super::NdEditor;
use super::resize::Edges;

impl NdEditor {
    /// Adds `values` after the end of `axis`, in the last chunk if there is room. They have the array's shape except along
    /// that axis.
    ///
    /// # Errors
    /// `Usage` for another type or shape; those of [`NdEditor::resize`] and [`NdEditor::set`].
    pub fn append(&mut self, axis: usize, values: &Array<'_>) -> Result<()> {
        let end = self.shape().get(axis).copied().unwrap_or(0);
        self.insert(axis, end, values)
    }

    /// Inserts `values` before the index `at` of `axis`, and moves the elements from there on after them. They have the array's shape
    /// except along that axis.
    ///
    /// With `at` and their length multiples of the chunk's, other chunks stay as they are. With the length alone, the chunks that
    /// contain `at` are written again; else all after it.
    ///
    /// # Errors
    /// As [`NdEditor::append`].
    pub fn insert(&mut self, axis: usize, at: u64, values: &Array<'_>) -> Result<()> {
        let (len, chunk) = self.axis(axis)?;
        self.check_type(values)?;
        let count = values.shape().get(axis).copied().unwrap_or(0);
        let mut want = self.shape().to_vec();
        want[axis] = count;
        if values.shape() != want || at > len {
            let problem = format!(
                "values of shape {:?} at {at} of axis {axis} of an array of {:?}",
                values.shape(),
                self.shape()
            );
            return Err(Error::usage(problem));
        }
        if count == 0 {
            return Ok(());
        }
        let mut shape = want.clone();
        shape[axis] = len
            .checked_add(count)
            .ok_or_else(|| Error::usage(format!("{len} and {count} elements along axis {axis}")))?;
        self.with_shape(&shape)?;
        let limits = self.limits;
        let bytes = values.bytes(Order::C, &limits)?;
        self.change(|own| {
            if at == len {
                own.grow(&shape, Edges::Overwritten)?;
            } else if count.is_multiple_of(chunk) {
                own.open_columns(axis, at, count, &shape)?;
            } else {
                own.grow(&shape, Edges::Overwritten)?;
                own.shift(axis, at..len, at + count)?;
            }
            let mut origin = vec![0; shape.len()];
            origin[axis] = at;
            let window = ChunkBoxes::plain(&origin, &want, own.geometry.itemsize())?;
            own.write_window(&window, &bytes)
        })
    }

    /// Removes the indices `range` of `axis`; the elements after them move to their place. Costs as [`NdEditor::insert`] does.
    ///
    /// # Errors
    /// `Usage` for indices past the end of the axis; those of [`NdEditor::resize`] and [`NdEditor::set`].
    pub fn delete(&mut self, axis: usize, range: Range<u64>) -> Result<()> {
        let (len, chunk) = self.axis(axis)?;
        if range.start > range.end || range.end > len {
            let problem = format!("indices {}..{} of axis {axis} of {len}", range.start, range.end);
            return Err(Error::usage(problem));
        }
        let count = range.end - range.start;
        if count == 0 {
            return Ok(());
        }
        let mut shape = self.shape().to_vec();
        shape[axis] = len - count;
        self.change(|own| {
            if range.end < len && count.is_multiple_of(chunk) {
                return own.close_columns(axis, &range, &shape);
            }
            own.shift(axis, range.end..len, range.start)?;
            own.shrink(&shape)
        })
    }

    /// Returns the length of an axis and of its chunks, at least 1.
    fn axis(&self, axis: usize) -> Result<(u64, u64)> {
        match (self.shape().get(axis), self.geometry.chunkshape().get(axis)) {
            (Some(len), Some(chunk)) => Ok((*len, u64::from(*chunk).max(1))),
            _ => Err(Error::usage(format!("axis {axis} of an array of {:?}", self.shape()))),
        }
    }

    /// Inserts whole chunks so that `count` elements fit before `at`, and moves the elements after `at` in its chunk.
    fn open_columns(&mut self, axis: usize, at: u64, count: u64, shape: &[u64]) -> Result<()> {
        let (len, chunk) = self.axis(axis)?;
        let columns = count / chunk;
        let first = at.div_ceil(chunk);
        let geometry = self.with_shape(shape)?;
        self.rebuild(geometry, |own, place| match place {
            place if own != axis || place < first => Some(place),
            place => (place - first).checked_sub(columns).map(|behind| first + behind),
        })?;
        self.shift(axis, at..len.min(first * chunk), at + count)
    }

    /// Moves the elements after the range in its last chunk to the first, and removes the chunks that this leaves unused.
    fn close_columns(&mut self, axis: usize, range: &Range<u64>, shape: &[u64]) -> Result<()> {
        let (len, chunk) = self.axis(axis)?;
        let columns = (range.end - range.start) / chunk;
        let first = range.start.div_ceil(chunk);
        let end = (first + columns).saturating_mul(chunk).min(len);
        self.shift(axis, range.end..end, range.start)?;
        // Where the array now ends in that chunk, the old values must not stay after its end.
        if shape[axis] < first * chunk {
            let mut origin = vec![0; shape.len()];
            let mut rest = self.shape().to_vec();
            origin[axis] = shape[axis];
            rest[axis] = first * chunk - shape[axis];
            self.clear(&origin, &rest)?;
        }
        let geometry = self.with_shape(shape)?;
        // The last chunk is dropped after its elements have moved; the first holds those that the array needs.
        self.rebuild(geometry, |own, place| {
            Some(if own == axis && place >= first { place + columns } else { place })
        })
    }

    /// Copies the indices `from` of `axis` to the ones from `to` on, chunk by chunk, in an order that never overwrites an element
    /// before it is copied. The source elements stay.
    fn shift(&mut self, axis: usize, from: Range<u64>, to: u64) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        let geometry = self.geometry.clone();
        let chunk = u64::from(geometry.chunkshape()[axis]).max(1);
        let target = to..to + (from.end - from.start);
        let columns = target.start / chunk..(target.end - 1) / chunk + 1;
        let column =
            |number: u64| if to > from.start { columns.end - 1 - number } else { columns.start + number };
        for at in (0..columns.end - columns.start).map(column) {
            let mut ranges: Vec<Range<u64>> = geometry.chunk_grid().iter().map(|len| 0..*len).collect();
            ranges[axis] = at..at + 1;
            for_each_place(&ranges, |place| {
                let own = chunk_box(&geometry, place);
                let mut origin: Vec<u64> = own.iter().map(|range| range.start).collect();
                let mut shape: Vec<u64> = own.iter().map(|range| range.end - range.start).collect();
                let (start, end) = (own[axis].start.max(target.start), own[axis].end.min(target.end));
                (origin[axis], shape[axis]) = (start, end - start);
                let into = ChunkBoxes::plain(&origin, &shape, geometry.itemsize())?;
                origin[axis] = start - target.start + from.start;
                let out = ChunkBoxes::plain(&origin, &shape, geometry.itemsize())?;
                let mut elements = try_zeroed_vec(out.byte_len(), &self.limits)?;
                self.read_window(&out, &mut elements)?;
                self.write_window(&into, &elements)
            })?;
        }
        Ok(())
    }
}

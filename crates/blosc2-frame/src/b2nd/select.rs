//! Selections of an array, and the chunks and blocks that they touch.
//!
//! Every selection here is orthogonal: along each axis a list of indices, and the result holds each combination of them. Basic
//! slicing is the case where each list is an arithmetic progression. So each axis is planned by itself ([`AxisPlan`]), and a
//! chunk is touched when its place along every axis is.

use std::ops::Range;

use container_core::region::{AxisSelection, Kept, Region, element_count};
use container_core::{Error, Limits, Result};

use super::Geometry;

/// The indices that are selected along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indices {
    /// An arithmetic progression, as of a slice; its axis stays or is dropped.
    Slice(AxisSelection),
    /// These, in this order; they may repeat. The axis stays.
    List(Vec<u64>),
}

impl Indices {
    /// Returns the number of indices.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Slice(axis) => axis.count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// True for an empty selection.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the axis is in the result.
    const fn is_kept(&self) -> bool {
        match self {
            Self::Slice(axis) => matches!(axis.kept, Kept::Yes),
            Self::List(_) => true,
        }
    }
}

impl From<Vec<u64>> for Indices {
    fn from(list: Vec<u64>) -> Self {
        Self::List(list)
    }
}

impl From<Range<u64>> for Indices {
    /// Returns the indices of the range; a range that runs backwards has none.
    fn from(range: Range<u64>) -> Self {
        let count = range.end.saturating_sub(range.start);
        Self::Slice(AxisSelection { start: range.start, step: 1, count, kept: Kept::Yes })
    }
}

impl From<AxisSelection> for Indices {
    fn from(axis: AxisSelection) -> Self {
        Self::Slice(axis)
    }
}

/// Returns the indices of each axis that a region selects.
pub(crate) fn of_region(region: &Region) -> Vec<Indices> {
    region.axes().iter().map(|axis| Indices::Slice(*axis)).collect()
}

/// Checks a selection against the shape of its array.
///
/// # Errors
/// `Usage` when the number of axes differs or an index is outside its axis.
pub(crate) fn check(selection: &[Indices], shape: &[u64]) -> Result<()> {
    if selection.len() != shape.len() {
        return Err(Error::usage(format!("{} selections for {} dimensions", selection.len(), shape.len())));
    }
    for (axis, (indices, len)) in selection.iter().zip(shape).enumerate() {
        match indices {
            Indices::Slice(slice) => _ = Region::new(vec![*slice], &[*len])?,
            Indices::List(list) => {
                if let Some(index) = list.iter().find(|index| *index >= len) {
                    let problem = format!("index {index} is outside of axis {axis}, which has length {len}");
                    return Err(Error::usage(problem));
                }
            }
        }
    }
    Ok(())
}

/// Returns the shape of the result: the axes that are kept.
pub(crate) fn shape(selection: &[Indices]) -> Vec<u64> {
    selection.iter().filter(|indices| indices.is_kept()).map(Indices::len).collect()
}

/// Returns the number of elements of the result; `None` beyond 2^64.
pub(crate) fn count(selection: &[Indices]) -> Option<u64> {
    element_count(selection.iter().map(Indices::len))
}

/// Indices of one axis in one block, evenly spaced, that go to neighbouring places of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// The first, counted from the start of the block.
    pub(crate) src: usize,
    /// Step from one index to the next; may be negative.
    pub(crate) step: isize,
    /// Number of indices.
    pub(crate) count: usize,
    /// Place of the first in the result.
    pub(crate) dst: usize,
}

impl Tile {
    /// Returns the smallest index and the one after the largest.
    fn bounds(&self) -> Range<usize> {
        let last =
            self.src.wrapping_add_signed(self.step.wrapping_mul(self.count.cast_signed().wrapping_sub(1)));
        self.src.min(last)..self.src.max(last).saturating_add(1)
    }
}

/// Selection along one axis in one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Place of the block in the grid of its chunk.
    pub(crate) block: u64,
    /// Range in [`AxisPlan::tiles`].
    pub(crate) tiles: Range<usize>,
    /// From the first needed index of the block to the one after the last.
    pub(crate) bounds: Range<usize>,
}

/// Selection along one axis in one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Place of the chunk in the grid.
    pub(crate) chunk: u64,
    /// Range in [`AxisPlan::parts`].
    pub(crate) parts: Range<usize>,
}

/// Selection along one axis: by chunk, by block, and the runs of indices in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AxisPlan {
    /// Indices that are selected.
    pub(crate) count: usize,
    /// Elements of a block.
    pub(crate) block_len: usize,
    /// Elements of a chunk, without padding.
    chunk_len: u64,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) parts: Vec<Part>,
    pub(crate) rows: Vec<Row>,
    /// Whether places in the result rise with the tiles.
    pub(crate) is_in_order: bool,
}

impl AxisPlan {
    /// Plans an axis; `indices` are checked and not empty.
    ///
    /// # Errors
    /// `Limit` when the plan would be too large.
    fn new(indices: &Indices, chunk_len: u32, block_len: u32, limits: &Limits) -> Result<Self> {
        let mut plan = Self {
            block_len: block_len as usize,
            chunk_len: chunk_len.into(),
            is_in_order: true,
            ..Self::default()
        };
        // At most a tile, a part and a row for each index; and no more for a slice than the blocks that it can touch.
        let reach = match indices {
            Indices::Slice(slice) => {
                let span = (slice.count - 1).saturating_mul(slice.step.unsigned_abs());
                let blocks = span / u64::from(block_len.min(chunk_len).max(1)) + span / plan.chunk_len + 2;
                slice.count.min(blocks)
            }
            Indices::List(list) => list.len() as u64,
        };
        limits.allocate(
            reach.saturating_mul((size_of::<Tile>() + size_of::<Part>() + size_of::<Row>()) as u64),
        )?;
        match indices {
            Indices::Slice(slice) => plan.add_slice(slice),
            Indices::List(list) => plan.add_list(list),
        }
        Ok(plan)
    }

    fn add_slice(&mut self, slice: &AxisSelection) {
        let mut index = slice.start;
        let mut left = slice.count;
        while left > 0 {
            // Indices of the same block from here on.
            let span = self.block_of(index);
            let fit = if slice.step > 0 {
                (span.end - 1 - index) / slice.step.unsigned_abs() + 1
            } else {
                (index - span.start) / slice.step.unsigned_abs().max(1) + 1
            };
            let count = fit.min(left);
            self.add(index, slice.step, count);
            left -= count;
            let passed = slice.step.unsigned_abs().saturating_mul(count);
            index = if slice.step > 0 { index.saturating_add(passed) } else { index.saturating_sub(passed) };
        }
    }

    fn add_list(&mut self, list: &[u64]) {
        let mut sorted: Vec<(u64, usize)> = list.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut rest = &sorted[..];
        while let [(index, place), ..] = rest {
            let end = self.block_of(*index).end;
            let is_next = |(at, (other, to)): (u64, &(u64, usize))| {
                index + at == *other && *other < end && place.checked_add(index_of(at)) == Some(*to)
            };
            let count = (0..).zip(rest).take_while(|pair| is_next(*pair)).count();
            self.count = *place;
            self.add(*index, 1, count as u64);
            rest = &rest[count..];
        }
        self.count = list.len();
    }

    /// Returns the indices of the array in the same block as `index`.
    fn block_of(&self, index: u64) -> Range<u64> {
        let chunk = index / self.chunk_len * self.chunk_len;
        let len = self.block_len as u64;
        let start = chunk + (index - chunk) / len * len;
        start..(start + len).min(chunk + self.chunk_len)
    }

    /// Adds `count` indices of one block, which go to the places from [`AxisPlan::count`] on.
    fn add(&mut self, index: u64, step: i64, count: u64) {
        let (chunk, local) = (index / self.chunk_len, index % self.chunk_len);
        let block = local / self.block_len as u64;
        let src = index_of(local % self.block_len as u64);
        let count = index_of(count);
        // Of a single index the step is never followed, and may be anything.
        let step = if count == 1 { 1 } else { isize::try_from(step).unwrap_or(isize::MAX) };
        let tile = Tile { src, step, count, dst: self.count };
        let at = self.tiles.len();
        if self.rows.last().is_none_or(|row| row.chunk != chunk) {
            let next = self.parts.len();
            self.rows.push(Row { chunk, parts: next..next });
        }
        if let Some(row) = self.rows.last_mut() {
            let bounds = tile.bounds();
            match self.parts.last_mut().filter(|part| part.block == block && !row.parts.is_empty()) {
                Some(part) => {
                    part.tiles.end = at + 1;
                    part.bounds = part.bounds.start.min(bounds.start)..part.bounds.end.max(bounds.end);
                }
                None => {
                    self.parts.push(Part { block, tiles: at..at + 1, bounds });
                    row.parts.end += 1;
                }
            }
        }
        self.is_in_order &= self.tiles.last().map_or(0, |last| last.dst + last.count) == tile.dst;
        self.tiles.push(tile);
        self.count += count;
    }
}

/// A selection that is not empty, planned axis by axis. An array without dimensions is planned as one of a single element.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) axes: Vec<AxisPlan>,
}

impl Plan {
    /// Plans a selection that is checked and not empty.
    ///
    /// # Errors
    /// `Limit` when the plan would be too large.
    pub(crate) fn new(selection: &[Indices], geometry: &Geometry, limits: &Limits) -> Result<Self> {
        let lens = geometry.chunkshape().iter().zip(geometry.blockshape());
        let axes = selection.iter().zip(lens);
        let axes = axes.map(|(indices, (chunk, block))| AxisPlan::new(indices, *chunk, *block, limits));
        let mut axes = axes.collect::<Result<Vec<_>>>()?;
        if axes.is_empty() {
            axes.push(AxisPlan::new(&(0..1).into(), 1, 1, limits)?);
        }
        Ok(Self { axes })
    }

    /// Returns the first touched chunk for which `is_it` holds; it is given the chunk's number and those of its touched
    /// blocks.
    pub(crate) fn find_chunk(
        &self,
        geometry: &Geometry,
        mut is_it: impl FnMut(u64, &mut dyn Iterator<Item = u64>) -> bool,
    ) -> Option<u64> {
        let rows: Vec<usize> = self.axes.iter().map(|axis| axis.rows.len()).collect();
        combinations(&rows).find_map(|at| {
            let rows: Vec<&Row> = self.axes.iter().zip(&at).map(|(axis, at)| &axis.rows[*at]).collect();
            let chunk = number(rows.iter().map(|row| row.chunk), geometry.chunk_grid());
            let parts: Vec<&[Part]> =
                self.axes.iter().zip(&rows).map(|(axis, row)| &axis.parts[row.parts.clone()]).collect();
            let counts: Vec<usize> = parts.iter().map(|parts| parts.len()).collect();
            let mut blocks = combinations(&counts).map(|at| {
                number(parts.iter().zip(&at).map(|(parts, at)| parts[*at].block), geometry.block_grid())
            });
            is_it(chunk, &mut blocks).then_some(chunk)
        })
    }

    /// Returns the number of blocks that are touched.
    pub(crate) fn block_count(&self) -> u64 {
        self.axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.parts.len() as u64))
    }
}

/// Returns every combination of one number below each of `counts`, the last of which changes fastest.
fn combinations(counts: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let total = counts.iter().fold(1_u64, |total, count| total.saturating_mul(*count as u64));
    let counts = counts.to_vec();
    (0..total).map(move |number| {
        let mut rest = number;
        let mut places: Vec<usize> = Vec::with_capacity(counts.len());
        for count in counts.iter().rev() {
            places.push(index_of(rest % (*count as u64).max(1)));
            rest /= (*count as u64).max(1);
        }
        places.reverse();
        places
    })
}

/// Returns the number of a place of a grid, in C order.
fn number(place: impl Iterator<Item = u64>, grid: &[u64]) -> u64 {
    place.zip(grid).fold(0, |number, (at, len)| number.saturating_mul(*len).saturating_add(at))
}

/// As an index; the plan is within memory, so its numbers are.
pub(crate) fn index_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests;

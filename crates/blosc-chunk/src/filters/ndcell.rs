//! Blocks of n-dimensional arrays, cell by cell.
//!
//! A block is cut into cells of equal side, the last along each axis shorter; cells follow each other in C order, and so
//! do the values inside each.

use std::ops::Range;

use container_core::{Error, Result};

/// Puts the values of a block, which are in C order, in the order of cells.
///
/// `cell` is the side of a cell, `blockshape` that of the block in values of `typesize` bytes.
///
/// # Errors
/// `Usage` when `cell` is 0, or the shape has no axis or does not fit the length.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn ndcell_encode(
    cell: u8,
    blockshape: &[usize],
    typesize: usize,
    src: &[u8],
    dst: &mut [u8],
) -> Result<()> {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let cells = Cells::new(cell, blockshape, typesize, src.len()).map_err(Error::usage)?;
    let mut at = 0;
    cells.for_each_row(|row, _| {
        let end = at + row.len();
        dst[at..end].copy_from_slice(&src[row]);
        at = end;
    });
    Ok(())
}

/// Undoes [`ndcell_encode`].
///
/// # Errors
/// `Malformed` when `cell` is 0, or the shape has no axis or does not fit the length.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn ndcell_decode(
    cell: u8,
    blockshape: &[usize],
    typesize: usize,
    src: &[u8],
    dst: &mut [u8],
) -> Result<()> {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let cells = Cells::new(cell, blockshape, typesize, src.len()).map_err(Error::malformed)?;
    let mut at = 0;
    cells.for_each_row(|row, _| {
        let end = at + row.len();
        dst[row].copy_from_slice(&src[at..end]);
        at = end;
    });
    Ok(())
}

/// As [`ndcell_encode`], with every value replaced by the mean of its cell: little-endian f32 (`typesize` 4) or f64 (8).
///
/// # Errors
/// As [`ndcell_encode`]; `Usage` for other typesizes and cells over 127.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn ndmean_encode(
    cell: u8,
    blockshape: &[usize],
    typesize: usize,
    src: &[u8],
    dst: &mut [u8],
) -> Result<()> {
    if !matches!(typesize, 4 | 8) {
        return Err(Error::usage(format!("ndmean takes f32 and f64, not items of {typesize} bytes")));
    }
    check_mean_cell(cell).map_err(Error::usage)?;
    ndcell_encode(cell, blockshape, typesize, src, dst)?;
    let cells = Cells::new(cell, blockshape, typesize, src.len()).map_err(Error::usage)?;
    let (mut start, mut at) = (0, 0);
    cells.for_each_row(|row, place| {
        at += row.len();
        if place == Place::EndsCell {
            match typesize {
                4 => mean_of_f32(&mut dst[start..at]),
                _ => mean_of_f64(&mut dst[start..at]),
            }
            start = at;
        }
    });
    Ok(())
}

/// Undoes the order of [`ndmean_encode`]; the values stay means.
///
/// # Errors
/// As [`ndcell_decode`]; `Malformed` for cells over 127.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn ndmean_decode(
    cell: u8,
    blockshape: &[usize],
    typesize: usize,
    src: &[u8],
    dst: &mut [u8],
) -> Result<()> {
    check_mean_cell(cell).map_err(Error::malformed)?;
    ndcell_decode(cell, blockshape, typesize, src, dst)
}

/// Checks the side of a mean's cell, which the reference takes as a signed byte.
fn check_mean_cell(cell: u8) -> Result<(), String> {
    if cell > 127 { Err(format!("ndmean cells of side {cell} (expected at most 127)")) } else { Ok(()) }
}

/// Replaces the values of a cell by their mean. The sums are made in the type of the values, in the order of the cell, as in
/// the reference.
fn mean_of_f32(cell: &mut [u8]) {
    let values = cell.as_chunks_mut::<4>().0;
    let (sum, count) =
        values.iter().fold((0.0, 0.0), |(sum, count), value| (sum + f32::from_le_bytes(*value), count + 1.0));
    values.fill(f32::to_le_bytes(sum / count));
}

fn mean_of_f64(cell: &mut [u8]) {
    let values = cell.as_chunks_mut::<8>().0;
    let (sum, count) =
        values.iter().fold((0.0, 0.0), |(sum, count), value| (sum + f64::from_le_bytes(*value), count + 1.0));
    values.fill(f64::to_le_bytes(sum / count));
}

/// Position of a row in its cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    EndsCell,
}

/// Partition of a block into cells; the shape fits the block.
struct Cells<'a> {
    side: usize,
    shape: &'a [usize],
    typesize: usize,
}

impl<'a> Cells<'a> {
    /// Returns the cells of a block of `len` bytes, or the reason why they do not fit.
    fn new(cell: u8, shape: &'a [usize], typesize: usize, len: usize) -> Result<Self, String> {
        if cell == 0 {
            return Err("cells of side 0".to_owned());
        }
        if shape.is_empty() {
            return Err("cells need the shape of the block, which only arrays have".to_owned());
        }
        let bytes = shape.iter().try_fold(typesize, |bytes, side| bytes.checked_mul(*side));
        if bytes != Some(len) {
            return Err(format!("a block of shape {shape:?} and {typesize}-byte items is not {len} bytes"));
        }
        Ok(Self { side: usize::from(cell), shape, typesize })
    }

    /// Calls `row` with the bytes of each row of each cell, in the order of the cells.
    fn for_each_row(&self, mut row: impl FnMut(Range<usize>, Place)) {
        if self.shape.contains(&0) || self.typesize == 0 {
            return;
        }
        let last = self.shape.len() - 1;
        let zeros = vec![0; self.shape.len()];
        let mut origin = zeros.clone();
        loop {
            // The far corner of this cell, clipped to the block.
            let end: Vec<usize> =
                origin.iter().zip(self.shape).map(|(from, side)| (from + self.side).min(*side)).collect();
            let row_len = (end[last] - origin[last]) * self.typesize;
            let mut index = origin.clone();
            loop {
                let item = index.iter().zip(self.shape).fold(0, |item, (i, side)| item * side + i);
                let start = item * self.typesize;
                let more = advance(&mut index[..last], &origin, 1, &end);
                row(start..start + row_len, if more { Place::Inside } else { Place::EndsCell });
                if !more {
                    break;
                }
            }
            if !advance(&mut origin, &zeros, self.side, self.shape) {
                return;
            }
        }
    }
}

/// Moves `index` on by `step` in C order, between `from` and `to`; false when it was the last.
fn advance(index: &mut [usize], from: &[usize], step: usize, to: &[usize]) -> bool {
    for axis in (0..index.len()).rev() {
        index[axis] += step;
        if index[axis] < to[axis] {
            return true;
        }
        index[axis] = from[axis];
    }
    false
}

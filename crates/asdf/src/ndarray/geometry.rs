//! Offsets of an array's elements in the decoded bytes of its block, in checked arithmetic.

use std::borrow::Cow;
use std::ops::Range;

use container_core::array::{Array, byte_len, contiguous_strides};
use container_core::dtype::{DType, Kind, Order};
use container_core::region::{Kept, Region, element_count};
use container_core::{Error, Limits, Result};

use super::NdArray;

/// Position of an array's elements: all of them are within the decoded bytes of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Element type with its byte orders.
    pub dtype: DType,
    /// Length of each axis.
    pub shape: Vec<u64>,
    /// Bytes from element to element along each axis.
    pub strides: Vec<i64>,
    /// Bytes from the start of the decoded block to the element with all indices 0.
    pub offset: u64,
    /// Bytes after the last whole row, where the first axis is `*` and the block ends within a row.
    pub partial_row_len: u64,
}

/// Treatment of rows that are missing from the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// They are an error.
    Stated,
    /// The array ends before them.
    Present,
}

fn check_axes(axes: usize, limits: &Limits) -> Result<()> {
    let axes = axes as u64;
    if axes > limits.ndims { Err(Error::limit("dimensions", axes, limits.ndims)) } else { Ok(()) }
}

impl Geometry {
    /// The geometry of an array whose bytes are in a block of `len` decoded bytes.
    ///
    /// # Errors
    /// `Malformed` for elements outside of the block; `Limit` for more axes than `limits` allow, and for overlapping elements that
    /// would take more memory than they allow.
    pub(crate) fn of_block(array: &NdArray, len: u64, rows: Rows, limits: &Limits) -> Result<Self> {
        let Some(datatype) = &array.datatype else {
            return Err(Error::malformed("an array with a source needs a datatype"));
        };
        check_axes(array.shape.len(), limits)?;
        let dtype = datatype.dtype.clone();
        let row = Row::of(array, &dtype);
        let rest = len.saturating_sub(array.offset);
        let (mut shape, mut partial_row_len) = (Vec::with_capacity(array.shape.len()), 0);
        for (at, axis) in array.shape.iter().enumerate() {
            shape.push(match axis {
                Some(axis) if at == 0 && rows == Rows::Present => {
                    row.as_ref().map_or(*axis, |row| row.reached(rest).min(*axis))
                }
                Some(axis) => *axis,
                None => {
                    let row = row
                        .as_ref()
                        .ok_or_else(|| Error::malformed("an unbounded first axis needs a stride above 0"))?;
                    partial_row_len = row.partial_row_len(rest);
                    row.within(rest)
                }
            });
        }
        let strides = match &array.strides {
            Some(strides) => strides.clone(),
            None => contiguous_strides(&shape, dtype.itemsize(), Order::C)?,
        };
        let geometry = Self { dtype, shape, strides, offset: array.offset, partial_row_len };
        geometry.check(len, limits)?;
        Ok(geometry)
    }

    /// The decoded bytes of a block as elements of one axis.
    pub(crate) fn of_bytes(len: u64) -> Self {
        let dtype = DType::native(Kind::Uint, 1);
        Self { dtype, shape: vec![len], strides: vec![1], offset: 0, partial_row_len: 0 }
    }

    /// The geometry of inline data, which are written without gaps.
    ///
    /// # Errors
    /// `Malformed` and `Limit`, as [`Geometry::of_block`].
    pub(crate) fn inline(dtype: DType, shape: Vec<u64>, limits: &Limits) -> Result<Self> {
        check_axes(shape.len(), limits)?;
        let strides = contiguous_strides(&shape, dtype.itemsize(), Order::C)?;
        let len =
            byte_len(&dtype, &shape).ok_or_else(|| Error::malformed("an array of more than 2^64 bytes"))?;
        let geometry = Self { dtype, shape, strides, offset: 0, partial_row_len: 0 };
        geometry.check(len, limits)?;
        Ok(geometry)
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> u64 {
        element_count(self.shape.iter().copied()).unwrap_or(u64::MAX)
    }

    /// True for an array without elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Bytes of the elements, each counted.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        byte_len(&self.dtype, &self.shape).unwrap_or(u64::MAX)
    }

    /// The order in which the elements are stored without gaps, C before F where both are true; `None` for any other strides.
    #[must_use]
    pub fn order(&self) -> Option<Order> {
        [Order::C, Order::F].into_iter().find(|order| {
            self.is_empty()
                || contiguous_strides(&self.shape, self.dtype.itemsize(), *order).is_ok_and(|strides| {
                    let mut axes = self.shape.iter().zip(self.strides.iter().zip(&strides));
                    axes.all(|(len, (have, want))| *len == 1 || have == want)
                })
        })
    }

    /// The bytes of the decoded block from the first to the last of any element; empty without elements.
    #[must_use]
    pub fn reach(&self) -> Range<u64> {
        self.span(&Region::whole(&self.shape)).unwrap_or(self.offset..self.offset)
    }

    /// True where an element shares bytes with another, or may do so: the elements take more bytes than their range has.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        let reach = self.reach();
        self.byte_len() > reach.end.saturating_sub(reach.start)
    }

    /// The bytes of the decoded block from the first to the last of any element of `region`. `None` without elements.
    pub(crate) fn span(&self, region: &Region) -> Option<Range<u64>> {
        if region.is_empty() || self.is_empty() {
            return None;
        }
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        for (axis, stride) in region.axes().iter().zip(&self.strides) {
            let stride = i128::from(*stride);
            let first = i128::from(axis.start).saturating_mul(stride);
            let steps = i128::from(axis.step).saturating_mul(i128::from(axis.count).saturating_sub(1));
            let last = first.saturating_add(steps.saturating_mul(stride));
            low = low.saturating_add(first.min(last));
            high = high.saturating_add(first.max(last));
        }
        let end = high.saturating_add(i128::try_from(self.dtype.itemsize()).ok()?);
        Some(u64::try_from(low).ok()?..u64::try_from(end).ok()?)
    }

    /// The elements of `region`, which is not empty and whose [`Geometry::span`] is in `bytes`, which begin at `at` of the decoded block.
    pub(crate) fn view<'b>(&self, region: &Region, at: u64, bytes: Cow<'b, [u8]>) -> Result<Array<'b>> {
        let mut origin = i128::from(self.offset).saturating_sub(i128::from(at));
        let (mut shape, mut strides) = (Vec::new(), Vec::new());
        for (axis, stride) in region.axes().iter().zip(&self.strides) {
            let start = i128::from(axis.start).saturating_mul(i128::from(*stride));
            origin = origin.saturating_add(start);
            if axis.kept == Kept::Yes {
                shape.push(axis.count);
                // With fewer than two indices the stride is never followed, and may overflow.
                strides.push(stride.saturating_mul(axis.step));
            }
        }
        let origin = u64::try_from(origin).map_err(|_| Error::usage("a region starts before its bytes"))?;
        Array::strided(self.dtype.clone(), shape, strides, origin, bytes)
    }

    /// Checks that every element is within the `len` bytes of the decoded block, and their number against the limits.
    fn check(&self, len: u64, limits: &Limits) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let bytes = byte_len(&self.dtype, &self.shape);
        let bytes = bytes.ok_or_else(|| Error::malformed("the elements take more than 2^64 bytes"))?;
        let inside = self.span(&Region::whole(&self.shape)).filter(|span| span.end <= len);
        if inside.is_none() {
            let problem = format!(
                "the elements reach outside of their block of {len} bytes (shape {:?}, strides {:?}, offset {}, {} bytes each)",
                self.shape,
                self.strides,
                self.offset,
                self.dtype.itemsize()
            );
            return Err(Error::malformed(problem));
        }
        // Strides of 0 make very many elements out of a few bytes.
        if bytes > len && bytes > limits.memory {
            return Err(Error::limit("memory in bytes (elements that overlap)", bytes, limits.memory));
        }
        Ok(())
    }
}

/// One index of the first axis: the distance to the next, and the extent of its own elements.
struct Row {
    step: u64,
    extent: u64,
}

impl Row {
    /// `None` where rows go backwards, have the same offset, or have no bytes.
    fn of(array: &NdArray, dtype: &DType) -> Option<Self> {
        let itemsize = dtype.itemsize() as u64;
        let inner: Vec<u64> = array.shape.iter().skip(1).map(|axis| axis.unwrap_or(0)).collect();
        // Beyond 2^64 bytes: no block has such a row.
        let packed = byte_len(dtype, &inner).unwrap_or(u64::MAX);
        let Some(strides) = &array.strides else {
            return Some(Self { step: packed, extent: packed });
        };
        let step = strides.first().and_then(|step| u64::try_from(*step).ok()).filter(|step| *step > 0)?;
        let mut extent = i128::from(itemsize);
        for (len, stride) in inner.iter().zip(strides.iter().skip(1)) {
            let reach = i128::from(len.saturating_sub(1)).saturating_mul(i128::from(*stride));
            extent = extent.saturating_add(reach.max(0));
        }
        Some(Self { step, extent: u64::try_from(extent).unwrap_or(u64::MAX) })
    }

    /// Whole rows within `len` bytes; 0 for rows without bytes, which cannot be counted.
    fn within(&self, len: u64) -> u64 {
        // The last of overlapping rows end after the next row's start.
        len.checked_div(self.step).unwrap_or(0).min(self.reached(len))
    }

    /// Rows whose elements are within `len` bytes. The last one may lack the gap after its elements.
    fn reached(&self, len: u64) -> u64 {
        if self.step == 0 {
            return u64::MAX;
        }
        let steps = len.checked_sub(self.extent).and_then(|rest| rest.checked_div(self.step));
        steps.map_or(0, |steps| steps.saturating_add(1))
    }

    fn partial_row_len(&self, len: u64) -> u64 {
        len.checked_rem(self.step).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[u64], strides: &[i64], offset: u64) -> Geometry {
        Geometry {
            dtype: DType::parse("<i4").unwrap(),
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            offset,
            partial_row_len: 0,
        }
    }

    /// Elements of four bytes, from the first byte of any of them to the last.
    #[test]
    fn arrays_reach_from_their_first_byte_to_their_last() {
        for (shape, strides, offset, reach, overlaps) in [
            (&[3, 2][..], &[8, 4][..], 0, 0..24, false),
            (&[3, 2], &[4, 12], 8, 8..32, false),
            (&[3], &[-4], 8, 0..12, false),
            (&[3], &[16], 1, 1..37, false),
            (&[3], &[0], 8, 8..12, true),
            (&[3], &[2], 0, 0..8, true),
            (&[1], &[0], 4, 4..8, false),
            (&[0, 3], &[12, 4], 20, 20..20, false),
            (&[], &[], 12, 12..16, false),
        ] {
            let geometry = of(shape, strides, offset);
            assert_eq!((geometry.reach(), geometry.overlaps()), (reach, overlaps), "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn regions_span_the_bytes_of_their_elements() {
        let geometry = of(&[4, 5], &[20, 4], 100);
        for (region, span) in [
            (":", Some(100..180)),
            ("1", Some(120..140)),
            ("1:3, 2:4", Some(128..156)),
            ("::-2, 1", Some(124..168)),
            ("3, 4", Some(176..180)),
            ("2:2", None),
        ] {
            let region = Region::parse(region, &[4, 5]).unwrap();
            assert_eq!(geometry.span(&region), span, "{region:?}");
        }
        // Before the block, no bytes are spanned.
        assert_eq!(of(&[3], &[-4], 4).span(&Region::whole(&[3])), None);
    }
}

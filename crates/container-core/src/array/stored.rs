//! Reading a region of an array that is stored plainly somewhere in a source.

use std::borrow::Cow;
use std::ops::Range;

use super::{Array, byte_len};
use crate::dtype::{DType, Order};
use crate::region::{AxisSelection, Kept, Region};
use crate::source::{Source, check_range, read_parallel, try_zeroed_vec};
use crate::{Error, Limits, Result};

/// Location of an array without gaps in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredArray {
    /// Element type, with its byte order.
    pub dtype: DType,
    /// Length of each axis.
    pub shape: Vec<u64>,
    /// The order of the axes in storage.
    pub order: Order,
    /// Absolute offset of the first element.
    pub data_at: u64,
}

/// Gaps up to this many bytes are read and skipped rather than sought over.
const WASTE: u64 = 64 << 10;

impl StoredArray {
    /// The absolute bytes of the whole array.
    ///
    /// # Errors
    /// `Malformed` when they reach past 2^64.
    pub fn range(&self) -> Result<Range<u64>> {
        let end = byte_len(&self.dtype, &self.shape).and_then(|len| self.data_at.checked_add(len));
        Ok(self.data_at..end.ok_or_else(|| Error::malformed("the array ends past 2^64"))?)
    }

    /// The elements of `region`, borrowed from the source where possible, else copied on up to `threads` threads.
    ///
    /// Copies hold only the region's own elements; the bytes read in addition are bounded.
    ///
    /// # Errors
    /// `Truncated` when the source is too short, `Usage` when the region does not fit the shape, `Limit` when the
    /// copy would be over `limits`, `Cancelled`, and those of the source.
    pub fn read<'s>(
        &self,
        source: &'s dyn Source,
        region: &Region,
        limits: &Limits,
        threads: usize,
    ) -> Result<Array<'s>> {
        let range = self.range()?;
        let region = Region::new(region.axes().to_vec(), &self.shape)?;
        let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
        let len = byte_len(&self.dtype, &counts).unwrap_or(u64::MAX);
        if len > 0 {
            // A truncated file may still contain the region.
            let (first, span) = self.span(&region)?;
            let span = first..first.saturating_add(span);
            check_range(&span, source.len())?;
            if let Some(bytes) = source.lend(span) {
                return self.view(&region, first, Cow::Borrowed(bytes));
            }
        }
        let mut bytes = try_zeroed_vec(len, limits)?;
        if region.is_whole(&self.shape) {
            read_parallel(source, range.start, &mut bytes, threads, limits.stop)?;
        } else if len > 0 {
            self.read_parts(source, &region, limits, &mut bytes)?;
        }
        // The copy holds the selection alone; only its single-index axes remain to be dropped.
        let kept = region.axes().iter().map(|axis| AxisSelection { start: 0, step: 1, ..*axis }).collect();
        let kept = Region::new(kept, &counts)?;
        Array::new(self.dtype.clone(), counts, self.order, Cow::Owned(bytes))?.select(&kept)
    }

    /// Copies the region to `dst` in storage order, axis by axis from the slowest. Stops splitting once the remaining part is dense enough
    /// for one read.
    fn read_parts(
        &self,
        source: &dyn Source,
        region: &Region,
        limits: &Limits,
        dst: &mut [u8],
    ) -> Result<()> {
        let (first, span) = self.span(region)?;
        let wanted = dst.len() as u64;
        if span <= wanted.saturating_add(WASTE) || span <= wanted.saturating_mul(2).min(1 << 20) {
            if span == wanted && region.axes().iter().all(|axis| axis.step > 0 || axis.count == 1) {
                return source.read_until(first, dst, limits.stop);
            }
            return self.read_span(source, region, first..first.saturating_add(span), limits, dst);
        }
        // A cut along the slowest axis that has more than one index: the halves are stored one after the other.
        let axes = self.slowest_first();
        let Some(axis) = axes.into_iter().find(|axis| region.axes()[*axis].count > 1) else {
            return source.read_until(first, dst, limits.stop);
        };
        let half = region.axes()[axis].count / 2;
        let (low, high) = (self.part(region, axis, 0..half)?, self.part(region, axis, half..u64::MAX)?);
        let share = dst.len() / usize::try_from(region.axes()[axis].count).unwrap_or(usize::MAX);
        let (head, tail) = dst.split_at_mut(share * usize::try_from(half).unwrap_or(0));
        self.read_parts(source, &low, limits, head)?;
        self.read_parts(source, &high, limits, tail)
    }

    /// Reads the span that holds the region and picks the region out of it.
    fn read_span(
        &self,
        source: &dyn Source,
        region: &Region,
        span: Range<u64>,
        limits: &Limits,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut bytes = try_zeroed_vec(span.end - span.start, limits)?;
        source.read_until(span.start, &mut bytes, limits.stop)?;
        self.view(region, span.start, Cow::Owned(bytes))?.copy_to(self.order, dst, limits.stop)
    }

    /// The region over `bytes`, which start at the absolute offset `at` and hold at least the region.
    fn view<'b>(&self, region: &Region, at: u64, bytes: Cow<'b, [u8]>) -> Result<Array<'b>> {
        let strides = super::contiguous_strides(&self.shape, self.dtype.itemsize(), self.order)?;
        let axes = region.axes().iter().zip(&strides);
        let skipped: i128 = axes.clone().map(|(axis, by)| i128::from(axis.start) * i128::from(*by)).sum();
        let origin = i128::from(self.data_at) + skipped - i128::from(at);
        let origin = u64::try_from(origin).map_err(|_| Error::usage("a region starts before its bytes"))?;
        let (shape, strides) = axes
            .filter(|(axis, _)| axis.kept == Kept::Yes)
            .map(|(axis, stride)| (axis.count, stride.saturating_mul(axis.step)))
            .unzip();
        Ok(Array { dtype: self.dtype.clone(), shape, strides, origin, bytes })
    }

    /// Offset and length of the bytes from the first to the last element of a region that is not empty.
    fn span(&self, region: &Region) -> Result<(u64, u64)> {
        let strides = super::contiguous_strides(&self.shape, self.dtype.itemsize(), self.order)?;
        let (mut low, mut high) = (i128::from(self.data_at), i128::from(self.data_at));
        for (axis, stride) in region.axes().iter().zip(strides) {
            let stride = i128::from(stride);
            let first = i128::from(axis.start) * stride;
            let last = first + i128::from(axis.step) * (i128::from(axis.count) - 1) * stride;
            low += first.min(last);
            high += first.max(last);
        }
        let past = |_| Error::malformed("the array ends past 2^64");
        let len = u64::try_from(high - low).map_err(past)?.saturating_add(self.dtype.itemsize() as u64);
        Ok((u64::try_from(low).map_err(past)?, len))
    }

    fn slowest_first(&self) -> Vec<usize> {
        let axes = 0..self.shape.len();
        match self.order {
            Order::C => axes.collect(),
            Order::F => axes.rev().collect(),
        }
    }

    /// The indices `part` of the region's own indices along `axis`.
    fn part(&self, region: &Region, axis: usize, part: Range<u64>) -> Result<Region> {
        let mut axes = region.axes().to_vec();
        let whole = axes[axis];
        let start = i128::from(whole.start) + i128::from(whole.step) * i128::from(part.start);
        axes[axis] = AxisSelection {
            start: u64::try_from(start).unwrap_or(0),
            count: part.end.min(whole.count) - part.start,
            kept: Kept::Yes,
            ..whole
        };
        Region::new(axes, &self.shape)
    }
}

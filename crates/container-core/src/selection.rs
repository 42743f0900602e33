//! Selections in Rust's terms: an index or a range for each axis, where [`Region::parse`] takes numpy's text.
//!
//! ```
//! use container_core::selection::{Selection, stepped};
//!
//! let shape = [100, 200, 3];
//! let region = (30, 42..47, ..).region(&shape)?;
//! assert_eq!(region, "30, 42:47".region(&shape)?);
//! assert_eq!((.., stepped(.., -50), 0).region(&shape)?, ":, ::-50, 0".region(&shape)?);
//! # Ok::<(), container_core::Error>(())
//! ```

use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::region::{AxisSelection, Kept, Region};
use crate::{Error, Result};

/// A part of an array that is selected without knowing its shape: text in numpy's syntax, a [`Region`], an index or range along the first
/// axis, or a tuple or array of them, one for each axis from the first. Axes without one are whole.
pub trait Selection {
    /// The region of an array of `shape`.
    ///
    /// # Errors
    /// `Usage` for bad syntax, more axes than the array has, and indices or ends outside of their axis.
    fn region(&self, shape: &[u64]) -> Result<Region>;
}

/// A selection along one axis. Indices and ends are those of Rust: an end past the axis is an error. A negative index counts from the end.
pub trait AxisIndex {
    /// The selection along an axis of `len` indices.
    ///
    /// # Errors
    /// `Usage` for an index or an end outside of the axis.
    fn select(&self, len: u64) -> Result<AxisSelection>;
}

/// Every `step`th index of a range, in reverse where `step` is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepped<R> {
    range: R,
    step: i64,
}

/// Every `step`th index of `range`, from its first; from its last one backwards where `step` is negative.
pub const fn stepped<R: AxisIndex>(range: R, step: i64) -> Stepped<R> {
    Stepped { range, step }
}

impl<R: AxisIndex> AxisIndex for Stepped<R> {
    fn select(&self, len: u64) -> Result<AxisSelection> {
        let range = self.range.select(len)?;
        if self.step == 0 || range.step != 1 || range.kept == Kept::No {
            return Err(Error::usage(format!("a step of {} needs a range and cannot be 0", self.step)));
        }
        let count = range.count.div_ceil(self.step.unsigned_abs());
        let last = range.start.saturating_add(range.count.saturating_sub(1));
        let start = if self.step < 0 { last } else { range.start };
        Ok(AxisSelection { start, step: self.step, count, kept: Kept::Yes })
    }
}

fn index(at: i128, len: u64) -> Result<AxisSelection> {
    let start = if at < 0 { at + i128::from(len) } else { at };
    match u64::try_from(start) {
        Ok(start) if start < len => Ok(AxisSelection { start, step: 1, count: 1, kept: Kept::No }),
        _ => Err(Error::usage(format!("index {at} is outside of an axis of length {len}"))),
    }
}

fn range(start: Bound<u64>, end: Bound<u64>, len: u64) -> Result<AxisSelection> {
    let first = match start {
        Bound::Included(first) => first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match end {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => end,
        Bound::Unbounded => len,
    };
    match end.checked_sub(first) {
        Some(count) if end <= len => Ok(AxisSelection { start: first, step: 1, count, kept: Kept::Yes }),
        _ => Err(Error::usage(format!("the range {first}..{end} is outside of an axis of length {len}"))),
    }
}

/// Selections along one axis, which also select from an array by its first axis.
macro_rules! first_axis {
    ($($type:ty),+) => {$(
        impl Selection for $type {
            fn region(&self, shape: &[u64]) -> Result<Region> {
                region(&[self], shape)
            }
        }
    )+};
}

macro_rules! indices {
    ($($type:ty),+) => {$(
        impl AxisIndex for $type {
            fn select(&self, len: u64) -> Result<AxisSelection> {
                index(i128::try_from(*self).map_err(|_| Error::usage("an index over 2^127"))?, len)
            }
        }

        first_axis!($type);
    )+};
}

macro_rules! ranges {
    ($($type:ty),+; $($range:ident),+) => {
        ranges!(@ [$($type),+] $($range)+);
    };
    (@ $types:tt $($range:ident)+) => {$(
        ranges!(@@ $types $range);
    )+};
    (@@ [$($type:ty),+] $range:ident) => {$(
        impl AxisIndex for $range<$type> {
            fn select(&self, len: u64) -> Result<AxisSelection> {
                use std::ops::RangeBounds;
                let end = |bound: Bound<&$type>| -> Result<Bound<u64>> {
                    let outside = |at: &$type| Error::usage(format!("a range cannot begin or end at {at}"));
                    Ok(match bound {
                        Bound::Included(at) => Bound::Included(u64::try_from(*at).map_err(|_| outside(at))?),
                        Bound::Excluded(at) => Bound::Excluded(u64::try_from(*at).map_err(|_| outside(at))?),
                        Bound::Unbounded => Bound::Unbounded,
                    })
                };
                range(end(self.start_bound())?, end(self.end_bound())?, len)
            }
        }

        first_axis!($range<$type>);
    )+};
}

indices!(i32, i64, u32, u64, usize);
ranges!(i32, i64, u32, u64, usize; Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive);

impl AxisIndex for RangeFull {
    fn select(&self, len: u64) -> Result<AxisSelection> {
        range(Bound::Unbounded, Bound::Unbounded, len)
    }
}

first_axis!(RangeFull);

impl<R: AxisIndex> Selection for Stepped<R> {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        region(&[self], shape)
    }
}

/// All of an array, of any number of axes.
impl Selection for () {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        Ok(Region::whole(shape))
    }
}

impl Selection for Region {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        Self::new(self.axes().to_vec(), shape)
    }
}

impl Selection for str {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        Region::parse(self, shape)
    }
}

impl Selection for String {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        Region::parse(self, shape)
    }
}

impl<S: Selection + ?Sized> Selection for &S {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        (**self).region(shape)
    }
}

impl<A: AxisIndex, const N: usize> Selection for [A; N] {
    fn region(&self, shape: &[u64]) -> Result<Region> {
        region(&self.each_ref().map(|axis| axis as &dyn AxisIndex), shape)
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+);)+) => {$(
        impl<$($name: AxisIndex),+> Selection for ($($name,)+) {
            fn region(&self, shape: &[u64]) -> Result<Region> {
                region(&[$(&self.$at),+], shape)
            }
        }
    )+};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}

/// The region of the first axes' selections; the axes after them are whole.
fn region(axes: &[&dyn AxisIndex], shape: &[u64]) -> Result<Region> {
    if axes.len() > shape.len() {
        let problem = format!("{} indices for an array of {} dimensions", axes.len(), shape.len());
        return Err(Error::usage(problem));
    }
    let mut all = Region::whole(shape).axes().to_vec();
    for (number, (own, axis)) in all.iter_mut().zip(axes).enumerate() {
        *own = axis.select(own.count).map_err(|error| error.with_context(format!("axis {number}")))?;
    }
    Region::new(all, shape)
}

#[cfg(feature = "ndarray")]
impl AxisIndex for ndarray::SliceInfoElem {
    fn select(&self, len: u64) -> Result<AxisSelection> {
        match *self {
            Self::Index(at) => index(at as i128, len),
            Self::Slice { start, end, step } => {
                let from_end = |at: isize| {
                    let at = if at < 0 { at as i128 + i128::from(len) } else { at as i128 };
                    u64::try_from(at).map_err(|_| Error::usage("a range begins before its axis"))
                };
                let end = end.map_or(Ok(len), from_end)?;
                stepped(from_end(start)?..end, step as i64).select(len)
            }
            Self::NewAxis => Err(Error::usage("a selection from a file makes no new axis")),
        }
    }
}

/// `ndarray::s![…]`.
#[cfg(feature = "ndarray")]
impl<T, In, Out> Selection for ndarray::SliceInfo<T, In, Out>
where
    T: AsRef<[ndarray::SliceInfoElem]>,
    In: ndarray::Dimension,
    Out: ndarray::Dimension,
{
    fn region(&self, shape: &[u64]) -> Result<Region> {
        let axes: Vec<&dyn AxisIndex> = self.as_ref().iter().map(|axis| axis as &dyn AxisIndex).collect();
        region(&axes, shape)
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::reversed_empty_ranges)]
mod tests;

//! What is missing of an array (ASDF standard 1.6.0, core schemas, ndarray, "mask"): elements of a value, elements where another array is
//! not zero, and inline items that are null.

use std::borrow::Cow;

use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::zeroed_vec;
use container_core::{Error, Limits, Result};
use half::f16;

use super::File;
use crate::ndarray::{ByteSource, Mask, NdArray, inline};

impl File {
    /// Which elements of `region` of the array at `path` are missing: an array of `bool8` of the region's shape, true where one is; `None`
    /// where the array has no mask and no item that is null.
    ///
    /// A value is compared exactly, as a number of the array's type; NaN hides every NaN. Another array hides what it is not zero for, its
    /// axes aligned with the last ones, an axis of length 1 standing for any. (Python asdf 6.0 compares values within a tolerance.)
    ///
    /// # Errors
    /// `Malformed` for a mask that is neither a number nor an array, and for one whose shape does not fit; `Unsupported` for a value as the mask of records; as [`File::read`].
    pub fn mask(&self, path: &str, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        self.mask_of(&self.array(path)?.array, region, options)
    }

    /// As [`File::mask`], for an array of this file's tree, listed or not.
    ///
    /// # Errors
    /// As [`File::mask`].
    pub fn mask_of(
        &self,
        array: &NdArray,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Option<Array<'static>>> {
        let geometry = self.geometry_of(array)?;
        let region = Region::new(region.axes().to_vec(), &geometry.shape)?;
        if let Some(mask) = self.wrong_mask(array) {
            let problem = "a mask that is neither a number nor an array";
            return Err(Error::malformed(problem).context("asdf ndarray").at(mask.range()));
        }
        let nulls = self.nulls(array, &region, options)?;
        let masked = match &array.mask {
            None => None,
            Some(Mask::Array(mask)) => Some(self.mask_array(mask, &geometry.shape, &region, options)?),
            Some(Mask::Value(value)) => {
                let node = self.tree.document().node(*value);
                let masked =
                    Masked::new(inline::value(node, &geometry.dtype, &options.limits)?, &geometry.dtype)?;
                let elements = self.read_array(array, &region, options)?;
                let bytes = elements.bytes(Order::C, &options.limits)?;
                Some(truths(&bytes, &geometry.dtype, &options.limits, |item| masked.hides(item))?)
            }
        };
        let bytes = match (nulls, masked) {
            (None, None) => return Ok(None),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(mut one), Some(other)) => {
                one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
                one
            }
        };
        Array::new(DType::native(Kind::Bool, 1), region.shape(), Order::C, Cow::Owned(bytes)).map(Some)
    }

    /// Which inline items are null, in C order; `None` where none of the whole array is.
    fn nulls(&self, array: &NdArray, region: &Region, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        let ByteSource::Inline(data) = &array.source else { return Ok(None) };
        let geometry = self.geometry_of(array)?;
        let node = self.tree.document().node(*data);
        let items = inline::read(node, &geometry.shape, &geometry.dtype, &options.limits)?;
        let Some(nulls) = items.nulls else { return Ok(None) };
        let whole =
            Array::new(DType::native(Kind::Bool, 1), geometry.shape.clone(), Order::C, Cow::Owned(nulls))?;
        whole.select(region)?.bytes(Order::C, &options.limits).map(|bytes| Some(bytes.into_owned()))
    }

    /// Where a mask is not zero, for a region of the array that it masks.
    fn mask_array(
        &self,
        mask: &NdArray,
        shape: &[u64],
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Vec<u8>> {
        let geometry = self.geometry_of(mask)?;
        let unfit = || {
            let problem = format!("a mask of shape {:?} for an array of shape {shape:?}", geometry.shape);
            Error::malformed(problem).context("asdf ndarray").at(self.node(mask).range())
        };
        let missing = shape.len().checked_sub(geometry.shape.len()).ok_or_else(unfit)?;
        let mut axes = Vec::new();
        for ((len, of_array), axis) in
            geometry.shape.iter().zip(shape.iter().skip(missing)).zip(region.axes().iter().skip(missing))
        {
            axes.push(match len {
                len if len == of_array => AxisSelection { kept: Kept::Yes, ..*axis },
                1 => AxisSelection { start: 0, step: 1, count: 1, kept: Kept::Yes },
                _ => return Err(unfit()),
            });
        }
        let part = self.read_array(mask, &Region::new(axes, &geometry.shape)?, options)?;
        let elements = part.bytes(Order::C, &options.limits)?;
        let zero = zeroed_vec(geometry.dtype.itemsize() as u64, &options.limits)?;
        let zero = Masked::new(Some(zero), &geometry.dtype)?;
        let bytes = truths(&elements, &geometry.dtype, &options.limits, |item| !zero.hides(item))?;
        // The same byte again along each axis that the mask has but one of, or none.
        let mut strides = vec![0_i64; shape.len()];
        let mut step = 1_i64;
        for (at, len) in part.shape().iter().enumerate().rev() {
            let own = geometry.shape.get(at).is_some_and(|own| *own != 1);
            if let Some(stride) = strides.get_mut(at.saturating_add(missing)).filter(|_| own) {
                *stride = step;
            }
            step = step.saturating_mul(i64::try_from(*len).unwrap_or(i64::MAX));
        }
        let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
        if counts.contains(&0) {
            return Ok(Vec::new());
        }
        let view = Array::strided(DType::native(Kind::Bool, 1), counts, strides, 0, Cow::Owned(bytes))?;
        view.bytes(Order::C, &options.limits).map(Cow::into_owned)
    }
}

/// A byte for each element: 1 where `look` says so.
fn truths(bytes: &[u8], dtype: &DType, limits: &Limits, look: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>> {
    let size = dtype.itemsize();
    if size == 0 {
        return Err(Error::unsupported(format!("a mask over elements without bytes ({dtype})")));
    }
    let mut truths: Vec<u8> = zeroed_vec((bytes.len() / size) as u64, limits)?;
    truths.iter_mut().zip(bytes.chunks_exact(size)).for_each(|(truth, item)| *truth = u8::from(look(item)));
    Ok(truths)
}

/// What hides an element.
enum Masked {
    /// Nothing: the value is none that the type has.
    Nothing,
    /// The same bytes.
    Bytes(Vec<u8>),
    /// The same number, or NaN where it is NaN: each part of so many bytes.
    Real(Vec<f64>, usize, ByteOrder),
}

impl Masked {
    fn new(value: Option<Vec<u8>>, dtype: &DType) -> Result<Self> {
        let Some(scalar) = dtype.as_scalar() else {
            return Err(Error::unsupported(format!("a value as the mask of records ({dtype})")));
        };
        let Some(value) = value else { return Ok(Self::Nothing) };
        let part = match scalar.kind {
            Kind::Float => scalar.size,
            Kind::Complex => scalar.size / 2,
            _ => return Ok(Self::Bytes(value)),
        };
        let parts = value.chunks(part.max(1)).map(|part| real(part, scalar.order)).collect();
        Ok(Self::Real(parts, part, scalar.order))
    }

    fn hides(&self, item: &[u8]) -> bool {
        match self {
            Self::Nothing => false,
            Self::Bytes(value) => value == item,
            Self::Real(value, part, order) if value.iter().any(|part| part.is_nan()) => {
                item.chunks(*part).any(|item| real(item, *order).is_nan())
            }
            #[allow(clippy::float_cmp, reason = "a value hides what is equal to it")]
            Self::Real(value, part, order) => {
                item.chunks(*part).zip(value).all(|(item, value)| real(item, *order) == *value)
            }
        }
    }
}

/// A number of 2, 4 or 8 bytes.
fn real(bytes: &[u8], order: ByteOrder) -> f64 {
    let mut little = [0; 8];
    little.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    if order == ByteOrder::Big {
        little.get_mut(..bytes.len().min(8)).unwrap_or_default().reverse();
    }
    let [a, b, c, d, ..] = little;
    match bytes.len() {
        2 => f16::from_le_bytes([a, b]).to_f64(),
        4 => f32::from_le_bytes([a, b, c, d]).into(),
        _ => f64::from_le_bytes(little),
    }
}

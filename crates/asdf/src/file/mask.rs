//! Masks: the missing elements of an array (ASDF standard 1.6.0, core schemas, ndarray, "mask"): elements of a value, elements where another array is
//! not zero, and inline items that are null.

use std::borrow::Cow;

use container_core::array::{Array, byte_len};
use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::mask::{mask_dtype, places, scalars};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::try_zeroed_vec;
use container_core::{Error, ErrorKind, Limits, Result};
use half::f16;

use super::File;
use crate::ndarray::{ByteSource, Geometry, Mask, NdArray, inline};

impl File {
    /// Reads the mask of `region` of the array at `path`: an array of `bool8` of the region's shape, true where an element is missing; of records an
    /// array of [`mask_dtype`], since each of their fields can be missing. `None` for an array with neither a mask nor a null item.
    ///
    /// A value is compared exactly, as a number of the array's type, in records with each number; NaN hides every NaN. An array hides elements where
    /// it is not zero. Its axes are aligned with the last ones, and an axis of length 1 applies to all of the array's. One of records hides field by
    /// field, the first field by the first, whatever their names. (Python asdf 6.0 compares values within a tolerance.)
    ///
    /// # Errors
    /// `Malformed` for a mask that is neither a number nor an array, and for one whose shape or fields do not fit; as [`File::read`].
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
            return Err(Error::malformed(problem).with_context("asdf ndarray").with_range(mask.range()));
        }
        let nulls = self.nulls(array, &region, options)?;
        let dtype = &geometry.dtype;
        let masked = match &array.mask {
            None => None,
            Some(Mask::Array(mask)) => {
                Some(self.mask_array(mask, dtype, &geometry.shape, &region, options)?)
            }
            Some(Mask::Value(value)) => {
                let node = self.tree.document().node(*value);
                let value =
                    |scalar: &DType| MaskedValue::new(inline::value(node, scalar, &options.limits)?, scalar);
                let elements = self.read_array(array, &region, options)?;
                let bytes = elements.bytes(Order::C, &options.limits)?;
                Some(map_scalars(&bytes, dtype, &options.limits, value, MaskedValue::is_masked)?)
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
        Array::new(mask_dtype(dtype), region.shape(), Order::C, Cow::Owned(bytes)).map(Some)
    }

    /// Whether an item of inline data is null, or a field of one.
    ///
    /// # Errors
    /// As [`File::read`].
    pub(crate) fn has_nulls(&self, array: &NdArray) -> Result<bool> {
        let ByteSource::Inline(data) = &array.source else { return Ok(false) };
        let geometry = self.geometry_of(array)?;
        Ok(self.inline_items(*data, &geometry, self.limits())?.len() > items_len(&geometry))
    }

    /// Null flags of the scalars of inline items, in C order; `None` where the whole array has no null.
    fn nulls(&self, array: &NdArray, region: &Region, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        let ByteSource::Inline(data) = &array.source else { return Ok(None) };
        let geometry = self.geometry_of(array)?;
        let items = self.inline_items(*data, &geometry, &options.limits)?;
        let Some(nulls) = items.get(items_len(&geometry)..).filter(|nulls| !nulls.is_empty()) else {
            return Ok(None);
        };
        let dtype = mask_dtype(&geometry.dtype);
        let whole = Array::new(dtype, geometry.shape.clone(), Order::C, Cow::Borrowed(nulls))?;
        whole.select(region)?.bytes(Order::C, &options.limits).map(|bytes| Some(bytes.into_owned()))
    }

    /// Reads the places where a mask is not zero, for a region of the array of elements of `dtype` that it masks: a byte for each scalar.
    fn mask_array(
        &self,
        mask: &NdArray,
        dtype: &DType,
        shape: &[u64],
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Vec<u8>> {
        let geometry = self.geometry_of(mask)?;
        let unfit = || {
            let problem = format!("a mask of shape {:?} for an array of shape {shape:?}", geometry.shape);
            Error::malformed(problem).with_context("asdf ndarray").with_range(self.node(mask).range())
        };
        // The mask may have fewer axes, which are the last ones of the array, and axes of length 1: both apply to the whole axis of the array.
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
        // Only the part of the mask under the region is read.
        let part = self.read_array(mask, &Region::new(axes, &geometry.shape)?, options)?;
        let elements = part.bytes(Order::C, &options.limits)?;
        let limits = &options.limits;
        let zero = |scalar: &DType| {
            MaskedValue::new(Some(try_zeroed_vec(scalar.itemsize() as u64, limits)?), scalar)
        };
        let bytes =
            map_scalars(&elements, &geometry.dtype, limits, zero, |zero, item| !zero.is_masked(item))?;
        let each = scalars(dtype);
        let bytes = match &geometry.dtype {
            DType::Scalar(_) if each == 1 => bytes,
            // One byte for the whole of a record becomes one for each of its scalars.
            DType::Scalar(_) => {
                let mut spread = try_zeroed_vec((bytes.len() as u64).saturating_mul(each as u64), limits)?;
                let parts = spread.chunks_exact_mut(each.max(1));
                parts.zip(&bytes).for_each(|(part, byte)| part.fill(*byte));
                spread
            }
            DType::Record(_) if is_alike(&mask_dtype(&geometry.dtype), &mask_dtype(dtype)) => bytes,
            DType::Record(_) => {
                let problem = format!("a mask of {} for elements of {dtype}", geometry.dtype);
                return Err(Error::malformed(problem)
                    .with_context("asdf ndarray")
                    .with_range(self.node(mask).range()));
            }
        };
        // A stride of 0 repeats the bytes along axes that the mask lacks or has with length 1.
        let mut strides = vec![0_i64; shape.len()];
        let mut step = i64::try_from(each).unwrap_or(i64::MAX);
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
        let view = Array::strided(DType::void(each), counts, strides, 0, Cow::Owned(bytes))?;
        view.bytes(Order::C, limits).map(Cow::into_owned)
    }
}

/// Bytes of the elements of an inline array.
pub(super) fn items_len(geometry: &Geometry) -> usize {
    let len = byte_len(&geometry.dtype, &geometry.shape);
    len.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX)
}

/// Whether two types have the same scalars, fields by their places.
fn is_alike(one: &DType, other: &DType) -> bool {
    match (one, other) {
        (DType::Scalar(_), DType::Scalar(_)) => true,
        (DType::Record(one), DType::Record(other)) => {
            one.fields.len() == other.fields.len()
                && one
                    .fields
                    .iter()
                    .zip(&other.fields)
                    .all(|(one, other)| one.shape == other.shape && is_alike(&one.dtype, &other.dtype))
        }
        _ => false,
    }
}

/// Elements between two checks of a request to stop: a millisecond.
const ITEMS_BETWEEN_STOPS: usize = 1 << 16;

/// Computes a byte for each scalar of each element: the result of `look` with the masked value that `make` returns for the scalar's type.
fn map_scalars(
    bytes: &[u8],
    dtype: &DType,
    limits: &Limits,
    make: impl Fn(&DType) -> Result<MaskedValue>,
    look: impl Fn(&MaskedValue, &[u8]) -> bool,
) -> Result<Vec<u8>> {
    let size = dtype.itemsize();
    if size == 0 {
        return Err(Error::unsupported(format!("cannot mask elements without bytes ({dtype})")));
    }
    let places = places(dtype).into_iter().map(|(range, scalar)| {
        // A number is never equal to a text.
        let is_number = !matches!(scalar.kind, Kind::Bytes | Kind::Unicode | Kind::Void);
        let dtype = DType::Scalar(scalar.clone());
        match make(&dtype) {
            Err(error) if !is_number && matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                Ok((range, MaskedValue::Nothing))
            }
            other => other.map(|masked| (range, masked)),
        }
    });
    let places = places.collect::<Result<Vec<_>>>()?;
    let each = places.len();
    let count = (bytes.len() / size) as u64;
    let mut map_scalars: Vec<u8> = try_zeroed_vec(count.saturating_mul(each as u64), limits)?;
    let items = map_scalars.chunks_exact_mut(each.max(1)).zip(bytes.chunks_exact(size));
    for (at, (map_scalars, item)) in items.enumerate() {
        if at % ITEMS_BETWEEN_STOPS == 0 {
            limits.stop.check()?;
        }
        for (truth, (range, masked)) in map_scalars.iter_mut().zip(&places) {
            *truth = u8::from(look(masked, item.get(range.clone()).unwrap_or_default()));
        }
    }
    Ok(map_scalars)
}

/// Value of elements that are masked.
enum MaskedValue {
    /// No element is masked: the type cannot have the value.
    Nothing,
    /// The same bytes.
    Bytes(Vec<u8>),
    /// The same number, or NaN where it is NaN: each part of the given number of bytes.
    Real(Vec<f64>, usize, ByteOrder),
}

impl MaskedValue {
    fn new(value: Option<Vec<u8>>, dtype: &DType) -> Result<Self> {
        let Some(scalar) = dtype.as_scalar() else { return Ok(Self::Nothing) };
        let Some(value) = value else { return Ok(Self::Nothing) };
        let part = match scalar.kind {
            Kind::Float => scalar.size,
            Kind::Complex => scalar.size / 2,
            _ => return Ok(Self::Bytes(value)),
        };
        let parts = value.chunks(part.max(1)).map(|part| read_float(part, scalar.order)).collect();
        Ok(Self::Real(parts, part, scalar.order))
    }

    fn is_masked(&self, item: &[u8]) -> bool {
        match self {
            Self::Nothing => false,
            Self::Bytes(value) => value == item,
            Self::Real(value, part, order) if value.iter().any(|part| part.is_nan()) => {
                item.chunks(*part).any(|item| read_float(item, *order).is_nan())
            }
            #[allow(clippy::float_cmp, reason = "a value hides what is equal to it")]
            Self::Real(value, part, order) => {
                item.chunks(*part).zip(value).all(|(item, value)| read_float(item, *order) == *value)
            }
        }
    }
}

/// A number of 2, 4 or 8 bytes.
fn read_float(bytes: &[u8], order: ByteOrder) -> f64 {
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

//! Views of arrays: bytes with an element type, a shape and strides.

use std::borrow::Cow;

use crate::dtype::{ByteOrder, DType, Element, Order, expect_type};
use crate::region::{Kept, Region, element_count};
use crate::source::{STOP_LEN, Source, into_vec, try_zeroed_vec};
use crate::{Error, Limits, Result, Stop};

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod field;
mod gather;
mod stored;
mod values;

pub use field::FieldPlace;
pub use stored::StoredArray;
pub use values::dims;
pub(crate) use values::write_nested;

/// An n-dimensional array over borrowed or owned bytes.
///
/// Bytes are as stored: in the byte order of [`Array::dtype`], at the offsets that the strides give. Views and selections copy no bytes.
#[derive(Clone)]
pub struct Array<'a> {
    dtype: DType,
    shape: Vec<u64>,
    /// Bytes from one index to the next, by axis.
    strides: Vec<i64>,
    /// Byte offset of the element with all indices 0.
    origin: u64,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    /// An array whose elements fill `bytes` without gaps, in `order`.
    ///
    /// # Errors
    /// `Usage` when the length of `bytes` is not that of the shape.
    pub fn new(dtype: DType, shape: Vec<u64>, order: Order, bytes: Cow<'a, [u8]>) -> Result<Self> {
        let need = byte_len(&dtype, &shape);
        if need != Some(bytes.len() as u64) {
            return Err(Error::usage(format!("{} bytes for {dtype} of shape {shape:?}", bytes.len())));
        }
        let strides = contiguous_strides(&shape, dtype.itemsize(), order)?;
        Ok(Self { dtype, shape, strides, origin: 0, bytes })
    }

    /// An array whose first element (all indices 0) begins at `origin` in `bytes`. `strides` are in bytes, one an axis: a negative one goes
    /// backwards, 0 repeats the same bytes.
    ///
    /// # Errors
    /// `Usage` when the numbers of strides and axes differ, or an element is not within `bytes`.
    pub fn strided(
        dtype: DType,
        shape: Vec<u64>,
        strides: Vec<i64>,
        origin: u64,
        bytes: Cow<'a, [u8]>,
    ) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(Error::usage(format!("{} strides for {} dimensions", strides.len(), shape.len())));
        }
        let (mut low, mut high) = (i128::from(origin), i128::from(origin));
        for (len, stride) in shape.iter().zip(&strides) {
            // A product of 64 and 65 bits; sums of a few of them stay within 128 but for absurd numbers of axes.
            let reach = (i128::from(*len) - 1).saturating_mul(i128::from(*stride));
            if reach < 0 { low = low.saturating_add(reach) } else { high = high.saturating_add(reach) }
        }
        let end = high.saturating_add(dtype.itemsize() as i128);
        if !shape.contains(&0) && (low < 0 || end > bytes.len() as i128) {
            return Err(Error::usage("a view reaches outside its bytes"));
        }
        Ok(Self { dtype, shape, strides, origin, bytes })
    }

    /// The same array over bytes of its own: copied only where they are borrowed.
    ///
    /// # Errors
    /// `Limit` when a copy would be over `limits`.
    pub fn into_owned(self, limits: &Limits) -> Result<Array<'static>> {
        let Self { dtype, shape, strides, origin, bytes } = self;
        Ok(Array { dtype, shape, strides, origin, bytes: Cow::Owned(into_vec(bytes, limits)?) })
    }

    /// The bytes that contain the elements, the offset of the first element in them (all indices 0), and whether they are borrowed: for
    /// bindings that show the array to another language without a copy.
    #[must_use]
    pub fn parts(&self) -> (&[u8], u64, bool) {
        (&self.bytes, self.origin, matches!(self.bytes, Cow::Borrowed(_)))
    }

    /// The bytes that the elements are in, as [`Array::parts`] has them: borrowed, or the array's own.
    #[must_use]
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        self.bytes
    }

    /// Element type, with its byte order.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Bytes from one index to the next along each axis; may be negative.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> u64 {
        element_count(self.shape.iter().copied()).unwrap_or(u64::MAX)
    }

    /// True for an array without elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A view of the elements in `region`, without a copy.
    ///
    /// # Errors
    /// `Usage` when the region was made for another shape.
    pub fn select(self, region: &Region) -> Result<Self> {
        // Checked again here: a region may have been made for another array.
        let region = Region::new(region.axes().to_vec(), &self.shape)?;
        let mut origin = i128::from(self.origin);
        let mut shape = Vec::new();
        let mut strides = Vec::new();
        for (axis, stride) in region.axes().iter().zip(&self.strides) {
            if !region.is_empty() {
                origin += i128::from(axis.start) * i128::from(*stride);
            }
            if axis.kept == Kept::Yes {
                shape.push(axis.count);
                // With fewer than two indices the stride is never followed, and may overflow.
                strides.push(stride.saturating_mul(axis.step));
            }
        }
        let origin =
            u64::try_from(origin).map_err(|_| Error::usage("a selection starts before the array"))?;
        Ok(Self { shape, strides, origin, ..self })
    }

    /// A view with the axes in reverse order, without a copy. A column-major array becomes row-major.
    #[must_use]
    pub fn reversed_axes(mut self) -> Self {
        self.shape.reverse();
        self.strides.reverse();
        self
    }

    /// True where the elements are stored without gaps in `order`.
    #[must_use]
    pub fn is_contiguous(&self, order: Order) -> bool {
        self.is_empty()
            || contiguous_strides(&self.shape, self.dtype.itemsize(), order).is_ok_and(|strides| {
                let axes = self.shape.iter().zip(self.strides.iter().zip(&strides));
                axes.into_iter().all(|(len, (have, want))| *len == 1 || have == want)
            })
    }

    /// The order in which the elements are in memory: F where they are without gaps in F order and not in C order, else C.
    #[must_use]
    pub fn memory_order(&self) -> Order {
        if self.is_contiguous(Order::F) && !self.is_contiguous(Order::C) { Order::F } else { Order::C }
    }

    /// The elements in `order`, in the byte order of the dtype: borrowed where they are stored so already, else copied.
    ///
    /// # Errors
    /// `Limit` when a copy would be over `limits`; `Cancelled`.
    pub fn bytes(&self, order: Order, limits: &Limits) -> Result<Cow<'_, [u8]>> {
        let len = byte_len(&self.dtype, &self.shape).unwrap_or(u64::MAX);
        if self.is_contiguous(order) {
            let end = self.origin.saturating_add(len);
            let bytes = if len == 0 { Some(&[][..]) } else { self.bytes.as_ref().lend(self.origin..end) };
            return bytes.map(Cow::Borrowed).ok_or_else(|| Error::usage("a view reaches outside its bytes"));
        }
        let mut copy = try_zeroed_vec(len, limits)?;
        self.copy_to(order, &mut copy, limits.stop)?;
        Ok(Cow::Owned(copy))
    }

    /// Copies the elements in `order` to `dst`, which is exactly as long as they are, until `stop` is requested.
    ///
    /// # Errors
    /// `Usage` when `dst` has another length; `Cancelled`.
    pub fn copy_to(&self, order: Order, dst: &mut [u8], stop: Stop) -> Result<()> {
        if byte_len(&self.dtype, &self.shape) != Some(dst.len() as u64) {
            return Err(Error::usage(format!(
                "{} bytes for {} of shape {:?}",
                dst.len(),
                self.dtype,
                self.shape
            )));
        }
        gather::gather(self, order, dst, stop)
    }

    /// The elements in `order` as Rust values: borrowed where they are stored so, aligned and in this machine's byte order.
    ///
    /// # Errors
    /// `Usage` when the dtype is not `T`'s, byte order aside; `Limit` when a copy would be over `limits`.
    pub fn elements<T: Element>(&self, order: Order, limits: &Limits) -> Result<Cow<'_, [T]>> {
        expect_type::<T>(&self.dtype)?;
        // Types that are opaque in Rust keep their stored bytes.
        let opaque = T::dtype().is_void();
        if (opaque || self.dtype.is_in_order(ByteOrder::NATIVE))
            && let Cow::Borrowed(bytes) = self.bytes_if_contiguous(order)
            && let Ok(elements) = bytemuck::try_cast_slice(bytes)
        {
            return Ok(Cow::Borrowed(elements));
        }
        let mut elements: Vec<T> = try_zeroed_vec(self.len(), limits)?;
        let bytes = bytemuck::cast_slice_mut(&mut elements);
        self.copy_to(order, bytes, limits.stop)?;
        swap_to_native::<T>(&self.dtype, bytes, limits.stop)?;
        Ok(Cow::Owned(elements))
    }

    fn bytes_if_contiguous(&self, order: Order) -> Cow<'_, [u8]> {
        // A limit of 0 refuses every copy, so only what can be borrowed comes back.
        let none = Limits::default().with_memory(0);
        self.bytes(order, &none).unwrap_or_else(|_| Cow::Owned(Vec::new()))
    }
}

/// Brings elements of `dtype` into this machine's byte order, until `stop` is asked for. Those of an opaque `T` stay as they are stored.
///
/// # Errors
/// As [`DType::swap_to`]; `Cancelled`.
pub(crate) fn swap_to_native<T: Element>(dtype: &DType, bytes: &mut [u8], stop: Stop) -> Result<()> {
    if T::dtype().is_void() {
        return Ok(());
    }
    let size = size_of::<T>().max(1);
    for piece in bytes.chunks_mut((STOP_LEN / size).max(1).saturating_mul(size)) {
        stop.check()?;
        dtype.swap_to(ByteOrder::NATIVE, piece)?;
    }
    Ok(())
}

/// Bytes of an array without gaps; `None` beyond 2^64.
#[must_use]
pub fn byte_len(dtype: &DType, shape: &[u64]) -> Option<u64> {
    element_count(shape.iter().copied())?.checked_mul(dtype.itemsize() as u64)
}

/// Strides in bytes of an array without gaps. Of an array without elements they are all 0.
///
/// # Errors
/// `Malformed` when they do not fit 63 bits.
pub fn contiguous_strides(shape: &[u64], itemsize: usize, order: Order) -> Result<Vec<i64>> {
    let mut strides = vec![0; shape.len()];
    if shape.contains(&0) {
        return Ok(strides);
    }
    let mut stride = itemsize as u64;
    let axes: Box<dyn Iterator<Item = usize>> = match order {
        Order::C => Box::new((0..shape.len()).rev()),
        Order::F => Box::new(0..shape.len()),
    };
    for axis in axes {
        strides[axis] = i64::try_from(stride).map_err(|_| Error::malformed("an array over 2^63 bytes"))?;
        stride = stride.saturating_mul(shape[axis]);
    }
    Ok(strides)
}

#[cfg(test)]
mod tests;

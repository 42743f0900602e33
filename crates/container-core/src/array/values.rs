//! Arrays out of Rust values and into them, and their values as text.

use std::borrow::Cow;
use std::fmt;

use super::Array;
use crate::dtype::{DType, Element, Kind, Order, expect_type};
use crate::selection::Selection;
use crate::to_f64::{ComplexPart, is_real, to_f64};
use crate::typed_array::TypedArray;
use crate::{Error, Limits, Result};

/// Arrays of more elements are shown in short.
const MAX_SHOWN: usize = 1000;

/// Elements at each end of an axis of an array that is shown in short.
const EDGE: usize = 3;

/// Axes that are shown; the rest is `…`.
const MAX_SHOWN_AXES: usize = 16;

impl<'a> Array<'a> {
    /// An array of `elements` in C order, borrowed.
    ///
    /// # Errors
    /// `Usage` where their number is not that of the shape.
    pub fn from_elements<T: Element>(elements: &'a [T], shape: &[usize]) -> Result<Self> {
        let shape = shape.iter().map(|len| *len as u64).collect();
        Self::new(T::dtype(), shape, Order::C, Cow::Borrowed(bytemuck::cast_slice(elements)))
    }

    /// An array of `ndarray`: borrowed where its elements are without gaps in C or F order, else copied.
    ///
    /// # Errors
    /// None but those of [`Array::new`], for shapes over 2^64 bytes.
    #[cfg(feature = "ndarray")]
    pub fn from_ndarray<T, S, D>(array: &'a ndarray::ArrayBase<S, D>) -> Result<Self>
    where
        T: Element,
        S: ndarray::Data<Elem = T>,
        D: ndarray::Dimension,
    {
        let shape = array.shape().iter().map(|len| *len as u64).collect();
        let view = array.view();
        let (order, bytes) = if let Some(elements) = array.as_slice() {
            (Order::C, Cow::Borrowed(bytemuck::cast_slice(elements)))
        } else if let Some(elements) = view.reversed_axes().to_slice() {
            (Order::F, Cow::Borrowed(bytemuck::cast_slice(elements)))
        } else {
            let copy: Vec<T> = array.iter().copied().collect();
            (Order::C, Cow::Owned(bytemuck::cast_slice(&copy).to_vec()))
        };
        Self::new(T::dtype(), shape, order, bytes)
    }

    /// The length of each axis as Rust counts in memory.
    ///
    /// # Errors
    /// `Limit` for an axis that is longer than this machine's addresses.
    pub fn dims(&self) -> Result<Vec<usize>> {
        dims(self.shape())
    }

    /// A view of a selection: `array.select_by((.., 2..4))`. No byte moves.
    ///
    /// # Errors
    /// As [`Selection::region`].
    pub fn select_by(self, selection: impl Selection) -> Result<Self> {
        let region = selection.region(&self.shape)?;
        self.select(&region)
    }

    /// The elements as Rust values in C order, in this machine's byte order: borrowed where they are so in memory, else copied.
    ///
    /// # Errors
    /// As [`Array::elements`].
    pub fn typed<T: Element>(&self, limits: &Limits) -> Result<TypedArray<'_, T>> {
        TypedArray::new(self.elements(Order::C, limits)?, &self.dims()?, Order::C)
    }

    /// The elements as a vector of Rust values in C order, in this machine's byte order.
    ///
    /// # Errors
    /// `Usage` when the dtype is not `T`'s, byte order aside; `Limit` for more than the default limits allow.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        Ok(self.elements(Order::C, &Limits::default())?.into_owned())
    }

    /// The elements as doubles in C order, whatever number is stored: integers beyond 2^53 are rounded, booleans are 0 and 1, dates and times counts
    /// of their unit, NaT is NaN.
    ///
    /// # Errors
    /// `Usage` for elements that are no real numbers: complex ones, text, records, of which [`Array::field`] gives one field; `Limit` as for
    /// [`Array::to_vec`].
    pub fn to_f64(&self) -> Result<TypedArray<'static, f64>> {
        let limits = Limits::default();
        let scalar = self.dtype.as_scalar().filter(|scalar| is_real(scalar)).ok_or_else(|| {
            Error::usage(format!("the elements are {}, which are no real numbers", self.dtype))
        })?;
        limits.allocate(self.len().saturating_mul(size_of::<f64>() as u64))?;
        let mut values = Vec::new();
        to_f64(scalar, &self.bytes(Order::C, &limits)?, ComplexPart::Re, &mut values);
        TypedArray::new(values, &self.dims()?, Order::C)
    }

    /// The elements as Rust values, borrowed from the bytes for as long as these are: of an array that borrows its bytes, aligned, without
    /// gaps and in this machine's byte order.
    ///
    /// # Errors
    /// `Usage` where they would have to be copied, or the dtype is not `T`'s.
    pub fn view<T: Element>(self) -> Result<TypedArray<'a, T>> {
        expect_type::<T>(&self.dtype)?;
        let order = [Order::C, Order::F].into_iter().find(|order| self.is_contiguous(*order));
        let dims = self.dims()?;
        let is_native = T::dtype().is_void() || self.dtype.is_in_order(crate::dtype::ByteOrder::NATIVE);
        let reason = match (order, &self.bytes) {
            // No bytes have no alignment.
            (Some(order), _) if self.is_empty() => return TypedArray::new(&[][..], &dims, order),
            _ if !is_native => "in the other byte order",
            (None, _) => "with gaps",
            (_, Cow::Owned(_)) => "decoded or copied",
            (Some(order), Cow::Borrowed(bytes)) => {
                let start = usize::try_from(self.origin).unwrap_or(usize::MAX);
                let len = self.len().saturating_mul(self.dtype.itemsize() as u64);
                let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
                match bytes.get(start..end).map(bytemuck::try_cast_slice) {
                    Some(Ok(elements)) => return TypedArray::new(elements, &dims, order),
                    _ => "unaligned",
                }
            }
        };
        Err(Error::usage(format!("the elements cannot be borrowed: they are {reason}"))
            .with_hint("read copies them"))
    }

    /// The elements as an array of `ndarray`, copied.
    ///
    /// # Errors
    /// As [`Array::to_vec`].
    #[cfg(feature = "ndarray")]
    pub fn to_ndarray<T: Element>(&self) -> Result<ndarray::ArrayD<T>> {
        self.typed(&Limits::default())?.into_ndarray()
    }

    /// The bytes of the element at `indices`.
    fn element(&self, indices: &[usize]) -> Option<&[u8]> {
        let axes = indices.iter().zip(&self.strides);
        let at = axes
            .fold(i128::from(self.origin), |at, (index, stride)| at + *index as i128 * i128::from(*stride));
        let start = usize::try_from(at).ok()?;
        self.bytes.get(start..start.checked_add(self.dtype.itemsize())?)
    }
}

/// Lengths of axes in a file as counts in memory.
///
/// # Errors
/// `Limit` for one that is longer than this machine's addresses.
pub fn dims(shape: &[u64]) -> Result<Vec<usize>> {
    let dim = |len: &u64| {
        usize::try_from(*len).map_err(|_| Error::limit("elements of an axis", *len, usize::MAX as u64))
    };
    shape.iter().map(dim).collect()
}

impl fmt::Debug for Array<'_> {
    /// The values in nested brackets, of long axes the first and last three, as numpy shows them; then the shape and the type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape: Vec<usize> =
            self.shape.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX)).collect();
        let item = |f: &mut fmt::Formatter<'_>, indices: &[usize]| match self.element(indices) {
            Some(bytes) => write_element(f, &self.dtype, bytes),
            None => write!(f, "?"),
        };
        write_nested(f, &shape, &item)?;
        write!(f, " {:?} {}", self.shape, self.dtype)
    }
}

/// Writes one element as text: numbers and truth values as Rust writes them, any other type as hexadecimal bytes.
fn write_element(f: &mut fmt::Formatter<'_>, dtype: &DType, bytes: &[u8]) -> fmt::Result {
    let scalar = dtype.as_scalar();
    let mut native = bytes.to_vec();
    let is_number = scalar.is_some_and(|scalar| {
        matches!(
            scalar.kind,
            Kind::Bool | Kind::Int | Kind::Uint | Kind::Float | Kind::BFloat | Kind::Complex
        )
    });
    if is_number && dtype.swap_to(crate::dtype::ByteOrder::NATIVE, &mut native).is_ok() {
        macro_rules! number {
            ($($kind:ident $size:literal $type:ty),+) => {
                match scalar.map(|scalar| (&scalar.kind, scalar.size)) {
                    $(Some((&Kind::$kind, $size)) => {
                        return write!(f, "{:?}", bytemuck::pod_read_unaligned::<$type>(&native));
                    })+
                    Some((&Kind::Bool, 1)) => return write!(f, "{}", native != [0]),
                    _ => {}
                }
            };
        }
        number!(
            Int 1 i8, Int 2 i16, Int 4 i32, Int 8 i64, Int 16 i128, Uint 1 u8, Uint 2 u16, Uint 4 u32, Uint 8 u64,
            Uint 16 u128, Float 2 half::f16, Float 4 f32, Float 8 f64, BFloat 2 half::bf16
        );
        if let Some((&Kind::Complex, size @ (4 | 8 | 16))) = scalar.map(|scalar| (&scalar.kind, scalar.size))
        {
            let part = DType::native(Kind::Float, size / 2);
            let (re, im) = native.split_at(size / 2);
            write!(f, "(")?;
            write_element(f, &part, re)?;
            write!(f, ", ")?;
            write_element(f, &part, im)?;
            return write!(f, ")");
        }
    }
    write!(f, "0x")?;
    bytes.iter().take(16).try_for_each(|byte| write!(f, "{byte:02x}"))?;
    if bytes.len() > 16 { write!(f, "…") } else { Ok(()) }
}

/// Writes an element at indices.
type WriteItem<'w> = &'w dyn Fn(&mut fmt::Formatter<'_>, &[usize]) -> fmt::Result;

/// Writes the elements of an array of `shape` in nested brackets. Of one with more than [`MAX_SHOWN`] elements, each axis shows its first
/// and last [`EDGE`] indices.
pub(crate) fn write_nested(f: &mut fmt::Formatter<'_>, shape: &[usize], item: WriteItem<'_>) -> fmt::Result {
    let count = shape.iter().fold(1_usize, |count, len| count.saturating_mul(*len));
    if count == 0 {
        return write!(f, "[]");
    }
    let edge = if count > MAX_SHOWN { EDGE } else { usize::MAX };
    write_axis(f, shape, edge, &mut Vec::new(), item)
}

fn write_axis(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    edge: usize,
    indices: &mut Vec<usize>,
    item: WriteItem<'_>,
) -> fmt::Result {
    let Some(len) = shape.get(indices.len()) else { return item(f, indices) };
    if indices.len() >= MAX_SHOWN_AXES {
        return write!(f, "…");
    }
    let is_cut = *len > edge.saturating_mul(2);
    let shown = if is_cut { (0..edge).chain(*len - edge..*len) } else { (0..*len).chain(0..0) };
    write!(f, "[")?;
    for (number, index) in shown.enumerate() {
        if number > 0 {
            write!(f, ", ")?;
        }
        if is_cut && number == edge {
            write!(f, "…, ")?;
        }
        indices.push(index);
        write_axis(f, shape, edge, indices, item)?;
        indices.pop();
    }
    write!(f, "]")
}

#[cfg(test)]
mod tests;

//! Arrays out of Rust values and into them, and their values as text.

use std::borrow::Cow;
use std::fmt;

use super::Array;
use crate::dtype::{DType, Element, Kind, Order, expect_type};
use crate::selection::Selection;
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
            _ if !is_native => "in the other byte order",
            (None, _) => "with gaps",
            (_, Cow::Owned(_)) => "decoded or copied",
            (Some(order), Cow::Borrowed(bytes)) => {
                let start = usize::try_from(self.origin).unwrap_or(usize::MAX);
                let len = self.len().saturating_mul(self.dtype.itemsize() as u64);
                let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
                let bytes = if len == 0 { Some(&[][..]) } else { bytes.get(start..end) };
                match bytes.map(bytemuck::try_cast_slice) {
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
mod tests {
    use super::*;
    use crate::region::Region;

    #[test]
    fn values_go_in_and_come_out() {
        let array = Array::from_elements(&[1_i16, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        assert_eq!((array.dtype().clone(), array.dims().unwrap()), (i16::dtype(), vec![2, 3]));
        let column = array.clone().select(&Region::parse(":, 1", &[2, 3]).unwrap()).unwrap();
        assert_eq!(column.to_vec::<i16>().unwrap(), [2, 5]);
        assert!(column.to_vec::<u16>().is_err());
        assert!(Array::from_elements(&[0_u8; 5], &[2, 3]).is_err());
        assert_eq!(array.typed::<i16>(&Limits::default()).unwrap()[[1, 0]], 4);
    }

    #[test]
    fn a_view_borrows_or_is_refused() {
        let elements = [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0];
        let array = Array::from_elements(&elements, &[2, 3]).unwrap();
        let view = array.clone().view::<f64>().unwrap();
        assert_eq!((view.as_slice().as_ptr(), view.is_borrowed()), (elements.as_ptr(), true));
        let turned = array.clone().reversed_axes().view::<f64>().unwrap();
        assert_eq!((turned.order(), turned[[2, 0]]), (Order::F, 3.0));
        let part =
            array.clone().select(&Region::parse("1", &[2, 3]).unwrap()).unwrap().view::<f64>().unwrap();
        assert_eq!(part.as_slice(), [4.0, 5.0, 6.0]);
        let gaps = array.clone().select(&Region::parse(":, ::2", &[2, 3]).unwrap()).unwrap();
        let owned = array.clone().into_owned(&Limits::default()).unwrap();
        let swapped = DType::parse(if cfg!(target_endian = "big") { "<f8" } else { ">f8" }).unwrap();
        let swapped =
            Array::new(swapped, vec![6], Order::C, Cow::Borrowed(bytemuck::cast_slice(&elements))).unwrap();
        for refused in [gaps.view::<f64>(), owned.view(), swapped.view()] {
            assert!(refused.is_err());
        }
    }

    #[test]
    fn debug_shows_values_shape_and_type() {
        let big = Array::new(
            DType::parse(">i4").unwrap(),
            vec![2],
            Order::C,
            vec![0, 0, 0, 7, 255, 255, 255, 255].into(),
        );
        assert_eq!(format!("{:?}", big.unwrap()), "[7, -1] [2] >i4");
        let complex = [num_complex::Complex::new(1.5_f32, -2.0)];
        let complex = Array::from_elements(&complex, &[]).unwrap();
        assert_eq!(format!("{complex:?}"), "(1.5, -2.0) [] <c8");
        let opaque =
            Array::new(DType::parse("|V2").unwrap(), vec![1], Order::C, vec![1, 171].into()).unwrap();
        assert_eq!(format!("{opaque:?}"), "[0x01ab] [1] |V2");
        let truth = Array::new(DType::parse("|b1").unwrap(), vec![2], Order::C, vec![0, 1].into()).unwrap();
        assert_eq!(format!("{truth:?}"), "[false, true] [2] |b1");
        let bytes = vec![0; 4000];
        let wide = Array::new(DType::parse("|u1").unwrap(), vec![4, 1000], Order::C, bytes.into()).unwrap();
        let row = "[0, 0, 0, …, 0, 0, 0]";
        assert_eq!(format!("{wide:?}"), format!("[{row}, {row}, {row}, {row}] [4, 1000] |u1"));
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn ndarray_is_borrowed_in_either_order_and_copied_else() {
        use ndarray::ShapeBuilder;
        let rows = ndarray::Array2::from_shape_fn((2, 3), |(i, j)| [[0_u8, 1, 2], [10, 11, 12]][i][j]);
        let mut columns = ndarray::Array2::zeros((2, 3).f());
        columns.assign(&rows);
        let mut turned = rows.clone();
        turned.invert_axis(ndarray::Axis(0));
        for (array, is_borrowed) in [(rows.view(), true), (columns.view(), true), (turned.view(), false)] {
            let ours = Array::from_ndarray(&array).unwrap();
            assert_eq!(ours.parts().2, is_borrowed);
            assert_eq!(ours.to_ndarray::<u8>().unwrap(), array.into_dyn());
        }
    }
}

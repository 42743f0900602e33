//! Arrays of Rust values with their shape: the result of reading with a given element type.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use crate::dtype::{Element, Order};
use crate::{Error, Result};

/// Elements of one Rust type with the lengths of their axes, borrowed or owned.
///
/// Indices are tuples of the axes in the order of the shape, whatever the order in memory: `array[[row, column]]`.
#[derive(Clone)]
pub struct TypedArray<'a, T: Element> {
    elements: Cow<'a, [T]>,
    shape: Vec<usize>,
    order: Order,
}

impl<'a, T: Element> TypedArray<'a, T> {
    /// An array of `elements`, which are in `order`.
    ///
    /// # Errors
    /// `Usage` where their number is not that of the shape.
    pub fn new(elements: impl Into<Cow<'a, [T]>>, shape: &[usize], order: Order) -> Result<Self> {
        let elements = elements.into();
        let count = shape.iter().try_fold(1_usize, |count, len| count.checked_mul(*len));
        if count != Some(elements.len()) {
            return Err(Error::usage(format!("{} elements for an array of shape {shape:?}", elements.len())));
        }
        Ok(Self { elements, shape: shape.to_vec(), order })
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The order of the elements in memory.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True for an array without elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// True where the elements are borrowed.
    #[must_use]
    pub const fn is_borrowed(&self) -> bool {
        matches!(self.elements, Cow::Borrowed(_))
    }

    /// The elements as they are in memory, in [`TypedArray::order`].
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.elements
    }

    /// The elements as they are in memory, copied where they are borrowed.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.elements.into_owned()
    }

    /// The same array with elements of its own, copied where they are borrowed.
    #[must_use]
    pub fn into_owned(self) -> TypedArray<'static, T> {
        TypedArray { elements: Cow::Owned(self.elements.into_owned()), shape: self.shape, order: self.order }
    }

    /// The elements as they are in memory, one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.elements.iter()
    }

    /// The element at `indices`, one for each axis; `None` outside of the array.
    #[must_use]
    pub fn get(&self, indices: &[usize]) -> Option<&T> {
        if indices.len() != self.shape.len() || indices.iter().zip(&self.shape).any(|(at, len)| at >= len) {
            return None;
        }
        let step = |at: usize, (index, len): (&usize, &usize)| at * len + index;
        let axes = indices.iter().zip(&self.shape);
        let at = match self.order {
            Order::C => axes.fold(0, step),
            Order::F => axes.rev().fold(0, step),
        };
        self.elements.get(at)
    }

    /// The array as one of `ndarray`, borrowed.
    ///
    /// # Errors
    /// `Usage` for a shape that `ndarray` refuses: one over `isize::MAX` elements.
    #[cfg(feature = "ndarray")]
    pub fn as_ndarray(&self) -> Result<ndarray::ArrayViewD<'_, T>> {
        use ndarray::ShapeBuilder;
        let shape = self.shape.clone().set_f(self.order == Order::F);
        ndarray::ArrayViewD::from_shape(shape, &self.elements)
            .map_err(|error| Error::usage(error.to_string()))
    }

    /// The array as one of `ndarray`, without a copy where the elements are owned.
    ///
    /// # Errors
    /// As [`TypedArray::as_ndarray`].
    #[cfg(feature = "ndarray")]
    pub fn into_ndarray(self) -> Result<ndarray::ArrayD<T>> {
        use ndarray::ShapeBuilder;
        let shape = self.shape.set_f(self.order == Order::F);
        ndarray::ArrayD::from_shape_vec(shape, self.elements.into_owned())
            .map_err(|error| Error::usage(error.to_string()))
    }
}

impl<T: Element, const N: usize> Index<[usize; N]> for TypedArray<'_, T> {
    type Output = T;

    /// # Panics
    /// Panics outside of the array, as a slice does.
    fn index(&self, indices: [usize; N]) -> &T {
        self.get(&indices)
            .unwrap_or_else(|| panic!("index {indices:?} is outside of an array of shape {:?}", self.shape))
    }
}

impl<'s, T: Element> IntoIterator for &'s TypedArray<'_, T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Element + PartialEq> PartialEq for TypedArray<'_, T> {
    /// The same shape and equal elements, whatever their orders in memory.
    fn eq(&self, other: &TypedArray<'_, T>) -> bool {
        self.shape == other.shape
            && if self.order == other.order {
                self.elements == other.elements
            } else {
                let mut indices = vec![0; self.shape.len()];
                (0..self.len()).all(|at| {
                    let mut rest = at;
                    for (index, len) in indices.iter_mut().zip(&self.shape).rev() {
                        (*index, rest) = (rest % len, rest / len);
                    }
                    self.get(&indices) == other.get(&indices)
                })
            }
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for TypedArray<'_, T> {
    /// The values in nested brackets, of long axes the first and last three, as numpy shows them; then the shape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = |f: &mut fmt::Formatter<'_>, indices: &[usize]| match self.get(indices) {
            Some(element) => write!(f, "{element:?}"),
            None => Ok(()),
        };
        super::array::write_nested(f, &self.shape, &item)?;
        write!(f, " {:?}", self.shape)
    }
}

#[cfg(test)]
mod tests;

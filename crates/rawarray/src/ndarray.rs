//! Conversion from and to `ndarray` arrays, dimensions and order included.

use container_core::dtype::Element;
use container_core::{Error, Result};
use ndarray::{Array, ArrayBase, ArrayView, Data, Dimension, IxDyn, ShapeBuilder};

use crate::RawArray;

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for RawArray<T> {
    /// A copy with the same index tuples: element `[[i, j]]` stays `[i, j]`, whatever the memory order of the source.
    fn from(array: &ArrayBase<S, D>) -> Self {
        let dims: Vec<u64> = array.shape().iter().map(|len| *len as u64).collect();
        // Iteration is in row-major order: of the transpose, it is in column-major order of the array.
        let values: Vec<T> = array.t().iter().copied().collect();
        let one_dimension: Self = values.into();
        one_dimension.with_dims(dims)
    }
}

impl<T: Element> TryFrom<RawArray<T>> for Array<T, IxDyn> {
    type Error = Error;

    /// The same values in Fortran order, without a copy.
    ///
    /// Fails with `Usage` for dimensions that `ndarray` cannot hold.
    fn try_from(array: RawArray<T>) -> Result<Self> {
        let shape = shape(array.dims())?;
        let (_, values) = array.into_parts();
        Self::from_shape_vec(shape.f(), values).map_err(|error| cannot(&error))
    }
}

impl<T: Element> RawArray<T> {
    /// The array as an `ndarray` view in Fortran order, without a copy.
    ///
    /// # Errors
    /// `Usage` for dimensions that `ndarray` cannot hold.
    pub fn ndarray(&self) -> Result<ArrayView<'_, T, IxDyn>> {
        ArrayView::from_shape(shape(self.dims())?.f(), self.as_slice()).map_err(|error| cannot(&error))
    }
}

fn shape(dims: &[u64]) -> Result<IxDyn> {
    let lens = dims.iter().map(|len| usize::try_from(*len));
    let lens: std::result::Result<Vec<usize>, _> = lens.collect();
    lens.map(|lens| IxDyn(&lens)).map_err(|_| Error::usage(format!("ndarray cannot hold {dims:?}")))
}

fn cannot(error: &ndarray::ShapeError) -> Error {
    Error::usage(format!("ndarray cannot hold the array: {error}"))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    #[test]
    fn index_tuples_stay_whatever_the_memory_order() {
        let rows = array![[1_i32, 2, 3], [4, 5, 6]];
        let columns = Array2::from_shape_vec((2, 3).f(), vec![1, 4, 2, 5, 3, 6]).unwrap();
        for source in [&rows, &columns] {
            let raw = RawArray::from(source);
            assert_eq!((raw.dims(), raw.as_slice()), (&[2, 3][..], &[1, 4, 2, 5, 3, 6][..]));
            assert_eq!(raw.ndarray().unwrap(), rows.view().into_dyn());
            let back: Array<i32, IxDyn> = raw.try_into().unwrap();
            assert_eq!(back, rows.clone().into_dyn());
        }
    }
}

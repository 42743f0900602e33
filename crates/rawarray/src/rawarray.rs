//! An array in memory.

use std::path::Path;

use container_core::container::{OpenOptions, ReadOptions};
use container_core::dtype::Element;
use container_core::format::Output;
use container_core::region::element_count;
use container_core::source::{Access, into_vec};
use container_core::write::AtomicFile;
use container_core::{Error, Result};

use crate::eltype::eltype_of;
use crate::write::{WriteOptions, write_values};
use crate::{Eltype, File, TypedFile};

/// An n-dimensional array in memory, column major: the first dimension varies fastest.
///
/// Element `[i, j, k]` of dimensions `[n, m, l]` is `values[i + n * (j + m * k)]`, as in Julia, MATLAB, Fortran and BART.
///
/// ```
/// use rawarray::RawArray;
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(&folder)?;
/// let array = RawArray::new(vec![3, 2], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// array.write("a.ra")?;
/// let back = RawArray::<f32>::read("a.ra")?;
/// assert_eq!(back.dims(), [3, 2]);
/// assert_eq!(back.get(&[0, 1]), Some(&4.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RawArray<T> {
    dims: Vec<u64>,
    values: Vec<T>,
    trailer: Vec<u8>,
}

impl<T: Element> RawArray<T> {
    /// An array of `dims`, the first one fastest, over `values`.
    ///
    /// # Errors
    /// `Usage` when the dimensions do not multiply to the number of values. No dimensions make a scalar: one value.
    pub fn new(dims: Vec<u64>, values: Vec<T>) -> Result<Self> {
        check_dims(&dims, values.len())?;
        Ok(Self { dims, values, trailer: Vec::new() })
    }

    /// Opens a file without reading its values: mapped, so that they can be borrowed.
    ///
    /// # Errors
    /// The first error of a damaged file; `Usage` when its elements are not `T`.
    pub fn open(path: impl AsRef<Path>) -> Result<TypedFile<T>> {
        TypedFile::new(File::open(path)?)
    }

    /// Reads a whole file, trailer included, into memory. Large ones are read on two threads where the machine has them.
    ///
    /// # Errors
    /// The first error of a damaged file; `Usage` when its elements are not `T`; `Limit` when it is larger than this machine's memory (see
    /// [`Limits`](crate::Limits)); `Io`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let mut options = OpenOptions::default();
        // Reading into fresh memory is faster than copying out of a map, and truncation by others is an error, not a signal.
        options.access = Access::Positioned;
        // One thread does not fill the memory's bandwidth; more than two are not faster.
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2));
        Self::read_with(path, &options, &ReadOptions::default().with_threads(threads))
    }

    /// Reads a whole file with options, such as several threads.
    ///
    /// # Errors
    /// As [`RawArray::read`].
    pub fn read_with(path: impl AsRef<Path>, open: &OpenOptions, read: &ReadOptions) -> Result<Self> {
        let file = TypedFile::<T>::new(File::open_with(path, open)?)?;
        let trailer = into_vec(file.file().trailer()?, &open.limits)?;
        Ok(Self { dims: file.dims().to_vec(), values: file.to_vec_with(read)?, trailer })
    }

    /// Writes the array as every RawArray library reads it: little-endian, not encoded. An existing file is replaced in one
    /// step; the trailer is kept.
    ///
    /// # Errors
    /// `Io`. A failure leaves no new file, and an existing one as it was.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_with(path, &WriteOptions::default())
    }

    /// Writes the array with options.
    ///
    /// # Errors
    /// `Io`; `Usage` when the file exists and may not be replaced, the encoding cannot hold `T`, or a `T` of your own cannot change to the wanted
    /// byte order.
    pub fn write_with(&self, path: impl AsRef<Path>, options: &WriteOptions) -> Result<()> {
        let mut file = AtomicFile::create(path, options.overwrite)?;
        self.write_to(&mut file, options)?;
        file.commit(options.durability)
    }

    /// Writes the bytes of the file to anything.
    ///
    /// # Errors
    /// `Io`; `Usage` when the encoding cannot hold `T`.
    pub fn write_to(&self, out: &mut dyn Output, options: &WriteOptions) -> Result<()> {
        let dtype = T::dtype();
        let eltype = eltype_of(&dtype).unwrap_or(Eltype::USER);
        write_values(
            out,
            eltype,
            &dtype,
            &self.dims,
            bytemuck::cast_slice(&self.values),
            &self.trailer,
            options,
        )
    }

    /// The dimensions, the first one fastest.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The values, column major.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The values, column major, to change in place.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Dimensions and values.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u64>, Vec<T>) {
        (self.dims, self.values)
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True for an array without values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value at an index tuple, one index for each dimension; `None` outside.
    #[must_use]
    pub fn get(&self, index: &[u64]) -> Option<&T> {
        self.values.get(usize::try_from(flat_index(&self.dims, index)?).ok()?)
    }

    /// Changes the dimensions; the values keep their places.
    ///
    /// # Errors
    /// `Usage` when the dimensions do not multiply to the number of values; the array is then as it was.
    pub fn reshape(&mut self, dims: Vec<u64>) -> Result<()> {
        check_dims(&dims, self.values.len())?;
        self.dims = dims;
        Ok(())
    }

    /// The bytes after the data ("volatile metadata"), which [`RawArray::write`] keeps.
    #[must_use]
    pub fn trailer(&self) -> &[u8] {
        &self.trailer
    }

    /// Sets the bytes after the data; empty drops them.
    pub fn set_trailer(&mut self, trailer: Vec<u8>) {
        self.trailer = trailer;
    }
}

impl<T> RawArray<T> {
    /// Other dimensions for the same number of values, which the caller has checked.
    #[cfg(feature = "ndarray")]
    pub(crate) fn with_dims(mut self, dims: Vec<u64>) -> Self {
        self.dims = dims;
        self
    }
}

/// Place of an index tuple in column-major storage; `None` outside.
pub(crate) fn flat_index(dims: &[u64], index: &[u64]) -> Option<u64> {
    if dims.len() != index.len() {
        return None;
    }
    dims.iter().zip(index).rev().try_fold(0_u64, |at, (dim, index)| {
        if index >= dim { None } else { at.checked_mul(*dim)?.checked_add(*index) }
    })
}

fn check_dims(dims: &[u64], len: usize) -> Result<()> {
    let count = element_count(dims.iter().copied());
    let problem = || Error::usage(format!("{len} values do not make an array of {dims:?}"));
    if count == Some(len as u64) { Ok(()) } else { Err(problem()) }
}

impl<T: Element> From<Vec<T>> for RawArray<T> {
    /// A one-dimensional array.
    fn from(values: Vec<T>) -> Self {
        Self { dims: vec![values.len() as u64], values, trailer: Vec::new() }
    }
}

impl<T: Element> From<&[T]> for RawArray<T> {
    /// A one-dimensional copy.
    fn from(values: &[T]) -> Self {
        values.to_vec().into()
    }
}

impl<T> From<RawArray<T>> for Vec<T> {
    /// The values, column major, without a copy.
    fn from(array: RawArray<T>) -> Self {
        array.values
    }
}

//! An open file whose element type is fixed at compile time.

use std::borrow::Cow;
use std::marker::PhantomData;

use container_core::array::Array;
use container_core::block::{Block, read_block_into};
use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, Element, Order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::{read_parallel, try_zeroed_vec};
use container_core::{Error, Result};

use crate::{Encoding, File};

/// An open file of `T`, column major: the first dimension varies fastest. Values are read on demand.
///
/// Made by [`RawArray::open`](crate::RawArray::open). The file is mapped; see [`Access`](container_core::source::Access) for the requirements on
/// other programs, and [`File::open_with`] for other ways.
#[derive(Debug)]
pub struct TypedFile<T> {
    file: File,
    element: PhantomData<fn() -> T>,
}

impl<T: Element> TypedFile<T> {
    /// Takes an open file.
    ///
    /// # Errors
    /// The first error of a damaged file; `Usage` when its elements are not `T`. A `T` of your own takes elements of its size.
    pub fn new(file: File) -> Result<Self> {
        file.segment()?;
        let (have, want) = (file.dtype()?, T::dtype());
        let opaque = want.is_void() && want.itemsize() == have.itemsize();
        if !opaque && want != have.with_order(ByteOrder::NATIVE) {
            return Err(Error::usage(format!("the elements are {have}, not {want}")));
        }
        Ok(Self { file, element: PhantomData })
    }

    /// The underlying file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The dimensions, the first one fastest.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        self.file.dims()
    }

    /// All values, column major: borrowed from the map where they are plain, aligned and in this machine's byte order, else
    /// copied. The data of a file start at a multiple of 8, so 16-byte elements are aligned in every other file only.
    ///
    /// # Errors
    /// `Limit` when a copy would be over the limits; `Malformed` for encoded data that are broken; `Io`.
    pub fn view(&self) -> Result<Cow<'_, [T]>> {
        let segment = self.file.segment()?;
        let whole = self.file.source().lend(segment.range());
        if let Some(bytes) = whole.filter(|_| segment.codec().is_none() && self.is_native())
            && let Ok(values) = bytemuck::try_cast_slice(bytes)
        {
            return Ok(Cow::Borrowed(values));
        }
        self.to_vec().map(Cow::Owned)
    }

    /// All values, column major, copied.
    ///
    /// # Errors
    /// As [`TypedFile::view`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.to_vec_with(&ReadOptions::default())
    }

    /// All values, column major, copied on the threads of the options.
    ///
    /// # Errors
    /// As [`TypedFile::view`].
    pub fn to_vec_with(&self, options: &ReadOptions) -> Result<Vec<T>> {
        let segment = self.file.segment()?;
        let limits = &self.file.options().limits.with_stop(options.limits.stop);
        let mut values: Vec<T> = try_zeroed_vec(self.file.len()?, limits)?;
        let bytes = bytemuck::cast_slice_mut(&mut values);
        if self.file.encoding() == Encoding::Plain {
            read_parallel(self.file.source(), segment.range().start, bytes, options.threads, limits.stop)?;
        } else {
            read_block_into(
                self.file.source(),
                &segment,
                self.file.codecs(),
                limits,
                options.threads,
                bytes,
            )?;
        }
        if !T::dtype().is_void() {
            self.file.dtype()?.swap_to(ByteOrder::NATIVE, bytes)?;
        }
        Ok(values)
    }

    /// A part of the array, by numpy's basic slicing: `":, 3"`, `"::2, -1"`. The values are borrowed where the file is mapped and plain;
    /// [`Array::elements`] gives them.
    ///
    /// # Errors
    /// `Usage` for a selection that does not fit; else as [`TypedFile::view`].
    pub fn slice(&self, selection: &str) -> Result<Array<'_>> {
        self.file.read(&Region::parse(selection, self.dims())?, &ReadOptions::default())
    }

    /// The value at an index tuple, one index for each dimension.
    ///
    /// # Errors
    /// `Usage` for an index outside; else as [`TypedFile::view`].
    pub fn get(&self, index: &[u64]) -> Result<T> {
        let axes = index.iter().map(|at| AxisSelection { start: *at, step: 1, count: 1, kept: Kept::No });
        let region = Region::new(axes.collect(), self.dims())?;
        let array = self.file.read(&region, &ReadOptions::default())?;
        let values = array.elements::<T>(Order::F, &self.file.options().limits)?;
        values.first().copied().ok_or_else(|| Error::usage(format!("no element {index:?}")))
    }

    fn is_native(&self) -> bool {
        T::dtype().is_void() || self.file.dtype().is_ok_and(|dtype| dtype.is_in_order(ByteOrder::NATIVE))
    }
}

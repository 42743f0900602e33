//! A dataset of an open file, whose values are read by type and selection.

use std::fmt;
use std::path::Path;

use crate::array::{Array, dims, swap_to_native};
use crate::container::{Container, ReadOptions};
use crate::dtype::{DType, Element, Order, expect_type};
use crate::region::{Region, element_count};
use crate::selection::Selection;
use crate::source::try_zeroed_vec;
use crate::typed_array::TypedArray;
use crate::{Error, Result};

/// Reads regions of one dataset.
pub trait ReadRegion<'f>: Send + Sync {
    /// The elements of `region`, lent where they are stored plainly and the source can.
    ///
    /// # Errors
    /// As [`Container::read`].
    fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'f>>;

    /// The elements of `region`, copied to `dst` without gaps in `order`, in the byte order of their type.
    ///
    /// # Errors
    /// As [`Container::read_into`].
    fn read_into(&self, region: &Region, order: Order, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        self.read(region, options)?.copy_to(order, dst, options.limits.stop)
    }
}

impl<'f, F> ReadRegion<'f> for F
where
    F: Fn(&Region, &ReadOptions) -> Result<Array<'f>> + Send + Sync,
{
    fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'f>> {
        self(region, options)
    }
}

/// A dataset of a container, by its index.
struct OfContainer<'f>(&'f dyn Container, usize);

impl<'f> ReadRegion<'f> for OfContainer<'f> {
    fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'f>> {
        self.0.read(self.1, region, options)
    }

    fn read_into(&self, region: &Region, order: Order, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        self.0.read_into(self.1, region, order, dst, options)
    }
}

/// A dataset of an open file. Reads lazily.
///
/// Errors of reading name the dataset, and the file if it has a path.
pub struct OpenDataset<'f> {
    path: String,
    dtype: DType,
    shape: Vec<u64>,
    reader: Box<dyn ReadRegion<'f> + 'f>,
    options: ReadOptions,
    file: Option<String>,
}

impl<'f> OpenDataset<'f> {
    /// A dataset of this path, type and shape, whose regions `reader` reads.
    pub fn new(path: &str, dtype: DType, shape: &[u64], reader: impl ReadRegion<'f> + 'f) -> Self {
        let (path, shape) = (path.to_owned(), shape.to_vec());
        Self { path, dtype, shape, reader: Box::new(reader), options: ReadOptions::default(), file: None }
    }

    /// Dataset `index` of a container.
    ///
    /// # Errors
    /// `Usage` where the index is out of range.
    pub fn of_container(container: &'f dyn Container, index: usize) -> Result<Self> {
        let dataset = container.require(index)?;
        Ok(Self::new(&dataset.path, dataset.dtype.clone(), &dataset.shape, OfContainer(container, index)))
    }

    /// The same, whose errors name the file, where it has a path.
    #[must_use]
    pub fn in_file(mut self, path: Option<&Path>) -> Self {
        self.file = path.map(|path| path.display().to_string());
        self
    }

    /// The same, read with other options: threads, digests, limits.
    #[must_use]
    pub const fn with_options(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self
    }

    /// The same, read within these limits: those of its file.
    #[must_use]
    pub const fn within(mut self, limits: crate::Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Its path in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Element type as stored.
    #[must_use]
    pub const fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Length of each axis as Rust counts in memory.
    ///
    /// # Errors
    /// `Limit` for an axis that is longer than this machine's addresses.
    pub fn dims(&self) -> Result<Vec<usize>> {
        dims(&self.shape).map_err(|error| self.named(error))
    }

    /// All values, copied in C order and this machine's byte order.
    ///
    /// # Errors
    /// `Usage` when the elements are not of type `T`, byte order aside; `Truncated`, `Malformed`, `Checksum`, `Unsupported`
    /// and `Limit` where they cannot be read; `Io`.
    pub fn read<T: Element>(&self) -> Result<TypedArray<'static, T>> {
        self.read_region(())
    }

    /// The values of a selection, copied in C order and this machine's byte order: `"0, 2:4"`, `(0, 2..4)`, `ndarray::s![0, 2..4]`.
    ///
    /// # Errors
    /// `Usage` for a selection that does not fit; as [`OpenDataset::read`].
    pub fn read_region<T: Element>(&self, selection: impl Selection) -> Result<TypedArray<'static, T>> {
        let read = || {
            expect_type::<T>(&self.dtype)?;
            let region = selection.region(&self.shape)?;
            let shape = region.shape();
            let count = element_count(shape.iter().copied()).unwrap_or(u64::MAX);
            // Of more than fits in memory a damaged file has an error of its own.
            let room = try_zeroed_vec(count, &self.options.limits);
            let mut elements: Vec<T> =
                room.or_else(|refused| self.reader.read(&region, &self.options).and(Err(refused)))?;
            let bytes = bytemuck::cast_slice_mut(&mut elements);
            self.reader.read_into(&region, Order::C, bytes, &self.options)?;
            swap_to_native::<T>(&self.dtype, bytes, self.options.limits.stop)?;
            TypedArray::new(elements, &dims(&shape)?, Order::C)
        };
        read().map_err(|error| self.named(error))
    }

    /// All values, borrowed from the file in its order of axes: of data that are stored plainly, aligned, in this machine's byte order
    /// and in memory or mapped.
    ///
    /// # Errors
    /// `Usage` where they would have to be copied; as [`OpenDataset::read`].
    pub fn view<T: Element>(&self) -> Result<TypedArray<'f, T>> {
        self.view_region(())
    }

    /// The values of a selection, borrowed from the file.
    ///
    /// # Errors
    /// As [`OpenDataset::view`]; `Usage` for a selection that does not fit, or whose elements have gaps between them.
    pub fn view_region<T: Element>(&self, selection: impl Selection) -> Result<TypedArray<'f, T>> {
        self.read_array(selection)?.view().map_err(|error| self.named(error))
    }

    /// All elements of any type, as stored.
    ///
    /// # Errors
    /// As [`OpenDataset::read`].
    pub fn read_all(&self) -> Result<Array<'f>> {
        self.read_array(())
    }

    /// The elements of a selection, of any type, as stored: lent where they are stored plainly and the source can.
    ///
    /// # Errors
    /// As [`OpenDataset::read_region`].
    pub fn read_array(&self, selection: impl Selection) -> Result<Array<'f>> {
        let array = selection.region(&self.shape).and_then(|region| self.reader.read(&region, &self.options));
        array.map_err(|error| self.named(error))
    }

    fn named(&self, error: Error) -> Error {
        let error = if error.dataset().is_none() { error.in_dataset(self.path.clone()) } else { error };
        match &self.file {
            Some(file) if error.file_name().is_none() => error.in_file(file.clone()),
            _ => error,
        }
    }
}

impl fmt::Debug for OpenDataset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenDataset({:?}, {}, {:?})", self.path, self.dtype, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::ErrorKind;

    /// 2 × 3 elements, big-endian and column-major.
    fn dataset(bytes: &[u8]) -> OpenDataset<'_> {
        let dtype = DType::parse(">u2").unwrap();
        let reader = move |region: &Region, _: &ReadOptions| {
            Array::new(DType::parse(">u2").unwrap(), vec![2, 3], Order::F, Cow::Borrowed(bytes))?
                .select(region)
        };
        OpenDataset::new("a/b", dtype, &[2, 3], reader).in_file(Some("x.ra".as_ref()))
    }

    const BYTES: [u8; 12] = [0, 0, 0, 10, 0, 1, 0, 11, 0, 2, 0, 12];

    #[test]
    fn values_are_read_by_type_and_selection() {
        let dataset = dataset(&BYTES);
        assert_eq!(dataset.dims().unwrap(), [2, 3]);
        let all = dataset.read::<u16>().unwrap();
        assert_eq!((all.as_slice(), all[[1, 2]]), (&[0, 1, 2, 10, 11, 12][..], 12));
        for part in [dataset.read_region::<u16>((1, 1..)), dataset.read_region("1, 1:")] {
            let part = part.unwrap();
            assert_eq!((part.shape(), part.as_slice()), (&[2][..], &[11, 12][..]));
        }
        assert_eq!(dataset.read_all().unwrap().to_vec::<u16>().unwrap(), all.into_vec());
    }

    #[test]
    fn errors_name_dataset_and_file() {
        let dataset = dataset(&BYTES);
        let wrong_type = dataset.read::<f32>().unwrap_err();
        let outside = dataset.read_region::<u16>((2, 0)).unwrap_err();
        let damaged =
            OpenDataset::new("a/b", DType::parse("|u1").unwrap(), &[1], |_: &Region, _: &ReadOptions| {
                Err(Error::truncated(0..8, 4))
            });
        let damaged = damaged.in_file(Some("x.ra".as_ref())).read::<u8>().unwrap_err();
        assert!(matches!(damaged.kind(), ErrorKind::Truncated { .. }));
        for error in [wrong_type, outside, damaged] {
            assert_eq!((error.dataset(), error.file_name()), (Some("a/b"), Some("x.ra")), "{error}");
        }
    }

    #[test]
    fn a_view_of_swapped_elements_is_refused() {
        let dataset = dataset(&BYTES);
        assert_eq!(dataset.view::<u16>().is_ok(), cfg!(target_endian = "big"));
    }

    impl Element for [u8; 2] {}

    #[test]
    fn a_dataset_of_a_container_is_read_with_its_options() {
        let toy = crate::container::toy::Toy::new().with("a/b", ">u2", &[2, 3], Order::F);
        let dataset = OpenDataset::of_container(&toy, 0).unwrap();
        assert_eq!(
            (dataset.path(), dataset.dtype(), dataset.shape()),
            ("a/b", &DType::parse(">u2").unwrap(), &[2, 3][..])
        );
        assert_eq!(format!("{dataset:?}"), "OpenDataset(\"a/b\", >u2, [2, 3])");
        assert_eq!(
            dataset.read::<u16>().unwrap().into_vec(),
            [0x0001, 0x0405, 0x0809, 0x0203, 0x0607, 0x0a0b]
        );
        assert_eq!(dataset.read_array("1").unwrap().to_vec::<u16>().unwrap(), [0x0203, 0x0607, 0x0a0b]);
        assert_eq!(dataset.view_region::<[u8; 2]>((.., 1)).unwrap().as_slice(), [[4, 5], [6, 7]]);
        assert!(dataset.view_region::<[u8; 2]>((0, ..)).is_err());
        assert!(OpenDataset::of_container(&toy, 1).is_err());
        let options = ReadOptions::default().with_limits(crate::Limits::default().with_memory(5));
        let error = dataset.with_options(options).read::<u16>().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { asked: 12, allowed: 5, .. }), "{error}");
        assert_eq!((error.dataset(), error.file_name()), (Some("a/b"), None));
    }

    /// A damaged file may claim more than memory: its own error is the better one.
    #[test]
    fn the_error_of_the_file_goes_before_that_of_memory() {
        let shape = [1 << 62];
        let fails = |_: &Region, _: &ReadOptions| Err(Error::truncated(0..8, 4));
        let dataset = OpenDataset::new("a", DType::parse("|u1").unwrap(), &shape, fails);
        assert!(matches!(dataset.read::<u8>().unwrap_err().kind(), ErrorKind::Truncated { .. }));
        let inner = |_: &Region, _: &ReadOptions| Err(Error::usage("x").in_dataset("inner").in_file("part"));
        let dataset = OpenDataset::new("a", DType::parse("|u1").unwrap(), &[1], inner);
        let error = dataset.in_file(Some("f".as_ref())).read_all().unwrap_err();
        assert_eq!((error.dataset(), error.file_name()), (Some("inner"), Some("part")));
    }
}

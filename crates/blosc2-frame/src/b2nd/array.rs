//! An array in a frame, and reading it.

use std::borrow::Cow;
use std::path::Path;

use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::interchange::DEFAULT_NAME;
use container_core::open_dataset::ReadRegion;
use container_core::region::Region;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, OpenDataset, Result};

use super::read::{self, Reader};
use super::select::{self, Indices};
use super::{Geometry, Meta, dtype, metalayer};
use crate::frame::Frame;
use crate::header::{ChunkSize, Header};
use crate::options::OpenOptions;

/// An n-dimensional array in a frame. Shared by reference, it is read from several threads at once.
pub struct NdArray {
    frame: Frame,
    meta: Meta,
    dtype: DType,
    geometry: Geometry,
    reader: Reader,
}

impl NdArray {
    /// Opens the array at `path`.
    ///
    /// # Errors
    /// As [`NdArray::from_frame`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_frame(Frame::open_with(path, &OpenOptions::default())?)
    }

    /// Opens the array that a frame holds. Chunks are not read.
    ///
    /// # Errors
    /// `Usage` for a frame without the metalayer; `Malformed` where shapes and chunks contradict each other; `Unsupported` for a dtype
    /// that numpy does not have.
    pub fn from_frame(frame: Frame) -> Result<Self> {
        let (meta, geometry, dtype) = describe(&frame)?;
        let reader = Reader::new(&geometry, frame.pool().shared());
        Ok(Self { frame, meta, dtype, geometry, reader })
    }

    /// Reads the metadata of the frame again, as [`Frame::refresh`] does, and drops the cached blocks. True if shape, metadata or
    /// places of chunks have changed. Another program may have appended since.
    ///
    /// # Errors
    /// Those of [`Frame::refresh`] and of [`NdArray::from_frame`]. If a program writes chunks first and the shape last, a refresh
    /// in between is `Malformed`. Elements that existed before are still read, and the next refresh finds the new shape.
    pub fn refresh(&mut self) -> Result<bool> {
        let changed = self.frame.refresh()?;
        // Even if header and index are unchanged, a chunk may have other contents.
        self.reader = Reader::new(&self.geometry, self.frame.pool().shared());
        let (meta, geometry, dtype) = describe(&self.frame)?;
        self.reader = Reader::new(&geometry, self.frame.pool().shared());
        let changed = changed || meta != self.meta;
        (self.meta, self.geometry, self.dtype) = (meta, geometry, dtype);
        Ok(changed)
    }

    /// Returns the frame.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the frame again.
    #[must_use]
    pub fn into_frame(self) -> Frame {
        self.frame
    }

    /// Returns the metalayer.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the element type.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Returns the length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.geometry.shape()
    }

    /// Shapes of array, chunks and blocks.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns the array, whose values are read by type and selection: `array.dataset().read_region::<f32>((0, 10..20))?`.
    #[must_use]
    pub fn dataset(&self) -> OpenDataset<'_> {
        let dataset = OpenDataset::new(DEFAULT_NAME, self.dtype.clone(), self.shape(), self);
        dataset.within(self.frame.options().limits).in_file(self.frame.path.as_deref())
    }

    /// Reads the elements of `region` in C order; only the blocks that it touches are decoded, of each no more than is
    /// needed.
    ///
    /// Blocks that are read repeatedly are kept decoded, up to [`OpenOptions::cache`] bytes.
    ///
    /// # Errors
    /// `Usage` for a region of another shape; those of [`Frame::chunk`] and of its decoding, with ranges in the file; `Limit`;
    /// `Unsupported` where values are not in the file, see [`OpenOptions::placeholders`].
    pub fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'static>> {
        self.read_orthogonal(&select::of_region(region), options)
    }

    /// As [`NdArray::read`], into memory of the caller's: as many bytes as the region has.
    ///
    /// # Errors
    /// As [`NdArray::read`]; `Usage` for another length.
    pub fn read_into(&self, region: &Region, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        self.read_orthogonal_into(&select::of_region(region), dst, options)
    }

    /// Reads every combination of the indices selected along each axis, as with `numpy.ix_`: in the order of the lists, repeated
    /// where they repeat. A block is decoded once, for any order of its indices.
    ///
    /// # Errors
    /// As [`NdArray::read`]; `Usage` for another number of axes, or an index outside its axis.
    pub fn read_orthogonal(&self, selection: &[Indices], options: &ReadOptions) -> Result<Array<'static>> {
        select::check(selection, self.shape())?;
        self.require_present(selection, &options.limits)?;
        let len = self.byte_len(selection)?;
        let mut bytes = try_zeroed_vec(len, &options.limits)?;
        if len > 0 {
            read::read(self, selection, &mut bytes, true, options)?;
        }
        Array::new(self.dtype.clone(), select::shape(selection), Order::C, Cow::Owned(bytes))
    }

    /// As [`NdArray::read_orthogonal`], into memory of the caller's, in C order: as many bytes as are selected.
    ///
    /// # Errors
    /// As [`NdArray::read_orthogonal`]; `Usage` for another length.
    pub fn read_orthogonal_into(
        &self,
        selection: &[Indices],
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        select::check(selection, self.shape())?;
        self.require_present(selection, &options.limits)?;
        let len = self.byte_len(selection)?;
        if dst.len() as u64 != len {
            return Err(Error::usage(format!("buffer of {} bytes (expected {len})", dst.len())));
        }
        if dst.is_empty() { Ok(()) } else { read::read(self, selection, dst, false, options) }
    }

    /// # Errors
    /// `Unsupported` where some of the values are not in the file.
    pub(super) fn require_present(&self, selection: &[Indices], limits: &Limits) -> Result<()> {
        let Some(absence) = self.frame.absence_if_refused() else { return Ok(()) };
        absence.of_selection(&self.frame, &self.geometry, selection, limits)?.map_or(Ok(()), Err)
    }

    fn byte_len(&self, selection: &[Indices]) -> Result<u64> {
        let bytes =
            select::count(selection).and_then(|count| count.checked_mul(self.geometry.itemsize() as u64));
        bytes.ok_or_else(|| Error::limit("memory in bytes", u64::MAX, usize::MAX as u64))
    }
}

impl<'f> ReadRegion<'f> for &'f NdArray {
    fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'f>> {
        NdArray::read(self, region, options)
    }

    fn read_into(&self, region: &Region, order: Order, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        match order {
            Order::C => NdArray::read_into(self, region, dst, options),
            Order::F => NdArray::read(self, region, options)?.copy_to(order, dst, options.limits.stop),
        }
    }
}

/// Reads the b2nd metalayer, the geometry and the element type of the array in a frame.
fn describe(frame: &Frame) -> Result<(Meta, Geometry, DType)> {
    let metalayers = frame.metalayers();
    let value = metalayers.get(metalayer::NAME).or_else(|| metalayers.get(metalayer::OLD_NAME));
    let value = value.ok_or_else(|| {
        let problem = "a frame without the metalayer \"b2nd\", which has no shape";
        Error::usage(problem).with_hint("read its chunks instead")
    })?;
    let meta = Meta::parse(value)?;
    let itemsize = usize::try_from(frame.header().typesize).unwrap_or(usize::MAX);
    let geometry = Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, itemsize)?;
    check_frame(&geometry, frame.header(), frame.chunk_count())?;
    let dtype = dtype::parse(&meta, itemsize)?;
    Ok((meta, geometry, dtype))
}

/// Checks that the frame has the chunks of the array: places of blocks and chunks follow from shapes alone.
pub(super) fn check_frame(geometry: &Geometry, header: &Header, chunks: u64) -> Result<()> {
    let wrong = |what: String, at: std::ops::Range<u64>| {
        Err(Error::malformed(what)
            .with_range(at)
            .with_context("b2nd")
            .with_hint("its chunks can be read without the shape"))
    };
    let count = geometry.chunk_count();
    if chunks != count {
        return wrong(format!("{chunks} chunks (expected {count} by the shape)"), 29..38);
    }
    if count == 0 {
        return Ok(());
    }
    let bytes = geometry.chunk_bytes();
    if header.chunksize != ChunkSize::Fixed(u32::try_from(bytes).unwrap_or(u32::MAX)) {
        let have = match header.chunksize {
            ChunkSize::Fixed(len) => format!("chunks of {len} bytes"),
            ChunkSize::Variable => "chunks of different sizes".to_owned(),
            ChunkSize::Unset => "chunks without a size".to_owned(),
        };
        return wrong(format!("{have} (expected {bytes} by the shape)"), 57..62);
    }
    if Some(header.nbytes) != count.checked_mul(bytes) {
        return wrong(format!("{} bytes in {count} chunks of {bytes}", header.nbytes), 29..38);
    }
    // 0 leaves the size to the header of each chunk.
    let block = geometry.block_bytes();
    if header.blocksize != 0 && u64::from(header.blocksize) != block {
        return wrong(
            format!("blocks of {} bytes (expected {block} by the shape)", header.blocksize),
            52..57,
        );
    }
    Ok(())
}

//! An open file of any dialect: its metadata, its bytes by range, its rows, its array.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use container_core::array::{Array, StoredArray, byte_len};
use container_core::codec::Codecs;
use container_core::container::{OpenOptions, ReadOptions, Tolerance};
use container_core::dtype::{DType, Kind, Order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::{Source, check_range, open_path, try_zeroed_vec};
use container_core::{Error, OpenDataset, Result, Stop, Value};

use crate::NumpyArray;
use crate::check::DATASET;
use crate::chunk_block::{BloscChunk, ChunkBlock};
use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::fault::{Fault, FaultKind};
use crate::header::Header;
use crate::items::item_type::Elements;
use crate::layout::Layout;
use crate::outline::Outline;
use crate::reader::Reader;

/// An open Bloscpack file.
///
/// Opening reads header, metadata and offsets, and does not decode. The headers of all chunks are read where offsets are missing or
/// contradict the rest, and by [`File::layout`] and [`File::chunks`]. A damaged file opens as long as its header is there and has a
/// supported version; reading damaged chunks then reports the fault, and the rest can be read.
pub struct File {
    /// The path that it was opened at.
    path: Option<PathBuf>,
    source: Box<dyn Source>,
    /// The chunks by their offsets, where these agree with the rest of the file.
    outline: Option<Outline>,
    /// True once a chunk differed from the outline.
    is_misled: AtomicBool,
    /// The chunks by their headers, which are read when they are first needed.
    layout: OnceLock<Layout>,
    codecs: Codecs,
    options: OpenOptions,
    reader: Reader,
}

impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// `WrongFormat`; `Unsupported` for an unknown version; `Truncated` within the header; `Limit`; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens the file at `path` with options.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        let source = open_path(path, options.access, &options.limits).map_err(named)?;
        let mut file = Self::from_source(source, options).map_err(named)?;
        file.path = Some(path.to_path_buf());
        Ok(file)
    }

    /// Opens a file in memory.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_source(Box::new(bytes), &OpenOptions::default())
    }

    /// Opens bytes of any source.
    ///
    /// # Errors
    /// As [`File::open`], and those of the source.
    pub fn from_source(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        // Files opened leniently are read completely.
        let outline = match options.tolerance {
            Tolerance::Strict => Outline::read(&source, &options.limits)?,
            Tolerance::Lenient => None,
        };
        let layout = OnceLock::new();
        let count = match &outline {
            Some(outline) => outline.count(),
            None => {
                let all = Layout::parse(&source, &options.limits)?;
                layout.get_or_init(|| all).chunks().len() as u64
            }
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let reader = Reader::new(count, &options.limits)?;
        let mut codecs = Codecs::none();
        codecs.register(BloscChunk);
        let is_misled = AtomicBool::new(false);
        Ok(Self { path: None, source, outline, is_misled, layout, codecs, options: options.clone(), reader })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.head().header()
    }

    /// The layout of the file. The header of each chunk is read for it; where that fails, no chunk is listed.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        self.full_layout().unwrap_or_else(|_| self.head())
    }

    /// As [`File::layout`].
    ///
    /// # Errors
    /// `Limit` where there are too many chunks; those of the source.
    pub(crate) fn full_layout(&self) -> Result<&Layout> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let layout = Layout::parse(&self.source, &self.options.limits)?;
        Ok(self.layout.get_or_init(|| layout))
    }

    /// Header and metadata, with all chunks once these have been read.
    pub(crate) fn head(&self) -> &Layout {
        match (self.layout.get(), &self.outline) {
            (Some(layout), _) => layout,
            (None, Some(outline)) => outline.layout(),
            // Without an outline, the chunks were read when the file was opened.
            (None, None) => self.layout(),
        }
    }

    /// The outline, until all chunk headers have been read.
    pub(crate) fn outline(&self) -> Option<&Outline> {
        let is_used = self.layout.get().is_none() && !self.is_misled.load(Ordering::Relaxed);
        self.outline.as_ref().filter(|_| is_used)
    }

    /// Records that a chunk differs from the outline.
    pub(crate) fn mislead(&self) {
        self.is_misled.store(true, Ordering::Relaxed);
    }

    /// True once a chunk differed from the outline.
    pub(crate) fn is_misled(&self) -> bool {
        self.is_misled.load(Ordering::Relaxed)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &self.source
    }

    /// The tree of the metadata, if they exist and can be read.
    #[must_use]
    pub fn metadata(&self) -> Option<&Value> {
        self.head().tree()
    }

    /// Type, shape and order of the array that the metadata describe; `None` for other metadata.
    #[must_use]
    pub fn numpy(&self) -> Option<&NumpyArray> {
        self.head().numpy()
    }

    /// The chunks, in the order of their data.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkEntry] {
        self.layout().chunks()
    }

    /// The first chunk.
    pub(crate) fn first(&self) -> Option<&ChunkEntry> {
        self.outline().map_or_else(|| self.chunks().first(), |outline| Some(outline.first()))
    }

    /// Number of bytes after decoding; as announced by the header where chunks are missing.
    ///
    /// # Errors
    /// The most severe fault of a file whose length cannot be determined.
    pub fn len(&self) -> Result<u64> {
        self.head().data_len().ok_or_else(|| self.worst())
    }

    /// True for a file without data.
    ///
    /// # Errors
    /// As [`File::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The decoded bytes `range` of the data of all chunks in order. Only the chunks with these bytes are read, and only the necessary part
    /// of those.
    ///
    /// # Errors
    /// The fault of these chunks: `Truncated`, `Malformed`, `Checksum` unless digests are ignored, `Unsupported`; `Usage` for a range that
    /// ends past the data; `Limit`; those of the source.
    pub fn read_range(&self, range: Range<u64>, options: &ReadOptions) -> Result<Vec<u8>> {
        self.check_span(&range)?;
        let mut bytes = try_zeroed_vec(range.end - range.start, &self.options.limits)?;
        self.read_range_into(range.start, &mut bytes, options)?;
        Ok(bytes)
    }

    /// The same into `dst`, from byte `at` on.
    ///
    /// # Errors
    /// As [`File::read_range`].
    pub fn read_range_into(&self, at: u64, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        self.check_span(&(at..at.saturating_add(dst.len() as u64)))?;
        self.reader.read(self, at, dst, options)
    }

    /// Element type, shape and order as they are presented: the numpy metadata's, or opaque items of the typesize (bytes where it
    /// does not divide) in one dimension.
    ///
    /// # Errors
    /// As [`File::len`]; damage of the metadata unless opened leniently.
    pub fn array_type(&self) -> Result<NumpyArray> {
        if let Some(numpy) = self.numpy() {
            return Ok(numpy.clone());
        }
        let len = self.len()?;
        let typesize = match self.header().typesize {
            0 => self.first().map_or(1, |chunk| chunk.typesize),
            typesize => typesize,
        };
        let typesize = u64::from(typesize).max(1);
        let whole = typesize > 1 && len.is_multiple_of(typesize);
        let (dtype, count) = if whole {
            (DType::void(usize::try_from(typesize).unwrap_or(1)), len / typesize)
        } else {
            (DType::native(Kind::Uint, 1), len)
        };
        Ok(NumpyArray { dtype, shape: vec![count], order: Order::C })
    }

    /// The elements of `region`, in the byte order of their type, column major where the array is.
    ///
    /// # Errors
    /// As [`File::read_range`] and [`File::array_type`]; `Usage` for a region that does not fit.
    pub fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'static>> {
        if let Some(error) = self.metadata_fault() {
            return Err(error);
        }
        let NumpyArray { dtype, shape, order } = self.array_type()?;
        let misfit = |error: Error| match self.fault(FaultKind::ShapeMismatch) {
            Some(fault) if matches!(error.kind(), container_core::ErrorKind::Truncated { .. }) => {
                explain(fault)
            }
            _ => error,
        };
        if region.is_whole(&shape) {
            let len = byte_len(&dtype, &shape);
            let len = len.ok_or_else(|| self.worst())?;
            let have = self.head().data_len().unwrap_or(0);
            if len > have {
                return Err(misfit(Error::truncated(0..len, have)));
            }
            let bytes = self.read_range(0..len, options)?;
            return Array::new(dtype, shape, order, bytes.into());
        }
        let stored = StoredArray { dtype, shape, order, data_at: 0 };
        self.read_stored(&stored, region, options).map_err(misfit)
    }

    /// The array, whose values are read by type and selection: `file.dataset()?.read::<f64>()?`. A file without array metadata is an array
    /// of bytes.
    ///
    /// # Errors
    /// As [`File::array_type`].
    pub fn dataset(&self) -> Result<OpenDataset<'_>> {
        let NumpyArray { dtype, shape, .. } = self.array_type()?;
        let read = |region: &Region, options: &ReadOptions| self.read(region, options);
        let dataset = OpenDataset::new(DATASET, dtype, &shape, read).within(self.options.limits);
        Ok(dataset.in_file(self.path.as_deref()))
    }

    /// The whole array; see [`File::read`].
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read_all(&self, options: &ReadOptions) -> Result<Array<'static>> {
        self.read(&Region::whole(&self.array_type()?.shape), options)
    }

    /// The indices `rows` along the first axis, and all indices along the others.
    ///
    /// # Errors
    /// As [`File::read`]; `Usage` for a scalar and for rows past the end.
    pub fn rows(&self, rows: Range<u64>, options: &ReadOptions) -> Result<Array<'static>> {
        let shape = self.array_type()?.shape;
        let mut axes = Region::whole(&shape).axes().to_vec();
        let first = axes.first_mut().ok_or_else(|| Error::usage("a scalar has no rows"))?;
        let count = rows.end.checked_sub(rows.start);
        let count = count.filter(|_| rows.end <= first.count);
        let count = count.ok_or_else(|| {
            Error::usage(format!(
                "rows {}..{} are outside the array (there are {})",
                rows.start, rows.end, first.count
            ))
        })?;
        *first = AxisSelection { start: rows.start, step: 1, count, kept: Kept::Yes };
        self.read(&Region::new(axes, &shape)?, options)
    }

    /// Decodes all of chunk `index`, at any offset in the data.
    ///
    /// # Errors
    /// As [`File::read_range`]; `Usage` when the chunk does not exist.
    pub fn read_chunk(&self, index: u64, options: &ReadOptions) -> Result<Vec<u8>> {
        self.is_open()?;
        let (at, chunk) = self.chunk(index)?;
        let mut bytes = try_zeroed_vec(chunk.nbytes().into(), &self.options.limits)?;
        self.reader.read_chunk(self, at, &mut bytes, options)?;
        Ok(bytes)
    }

    /// Chunk `index` as a block, with its digest read.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn block(&self, index: u64) -> Result<ChunkBlock> {
        let (_, chunk) = self.chunk(index)?;
        ChunkBlock::read(&self.source, self.header(), chunk)
    }

    /// The codec of [`ChunkBlock`]s.
    #[must_use]
    pub fn codecs(&self) -> &Codecs {
        &self.codecs
    }

    /// The elements `region` of item `index` of a variable-length file: of the type that the metadata name, else bytes.
    pub(crate) fn read_item(
        &self,
        index: u64,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        self.is_open()?;
        let (at, chunk) = self.chunk(index)?;
        let Elements { dtype, count, .. } = Elements::of(self.head().item_type().as_ref(), chunk.nbytes());
        let shape = vec![count];
        if let Some(error) = self.chunk_fault(at, chunk) {
            return Err(error);
        }
        if region.is_whole(&shape) {
            return Array::new(dtype, shape, Order::C, self.read_chunk(index, options)?.into());
        }
        self.read_stored(
            &StoredArray { dtype, shape, order: Order::C, data_at: chunk.data().start },
            region,
            options,
        )
    }

    /// Reads a region of an array that starts anywhere in the decoded bytes.
    fn read_stored(
        &self,
        stored: &StoredArray,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        let decoded = Decoded { file: self, options };
        // The buffer is not borrowed: the bytes are the array's own.
        let limits = self.options.limits.with_stop(options.limits.stop);
        stored.read(&decoded, region, &limits, 1)?.into_owned(&limits)
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// Checks that no fault keeps all values from being read.
    pub(crate) fn is_open(&self) -> Result<()> {
        self.head().blocking(self.options.tolerance).map_or(Ok(()), |fault| Err(explain(fault)))
    }

    /// Returns the fault of a chunk that was found before reading it.
    pub(crate) fn chunk_fault(&self, index: usize, chunk: &ChunkEntry) -> Option<Error> {
        if chunk.state() == ChunkState::Whole {
            return None;
        }
        let mut of_it = self.layout().faults().iter().filter(|fault| fault.index() == Some(index as u64));
        Some(of_it.next().map_or_else(
            || {
                Error::malformed(format!("chunk {index} is damaged"))
                    .with_range(chunk.range())
                    .with_context("bloscpack chunk")
            },
            explain,
        ))
    }

    /// Returns the fault of damaged metadata, which leave the values uncertain.
    pub(crate) fn metadata_fault(&self) -> Option<Error> {
        let strict = self.options.tolerance == Tolerance::Strict;
        let fault = self.head().faults().iter().find(|fault| fault.kind().affects_metadata() && strict);
        fault.map(explain)
    }

    pub(crate) fn fault(&self, kind: FaultKind) -> Option<&Fault> {
        self.head().faults().iter().find(|fault| fault.kind() == kind)
    }

    fn chunk(&self, index: u64) -> Result<(usize, &ChunkEntry)> {
        let found = usize::try_from(index).ok().and_then(|at| Some((at, self.chunks().get(at)?)));
        found.ok_or_else(|| {
            let announced = self.layout().count().unwrap_or(0);
            if index < announced {
                return self.worst();
            }
            Error::usage(format!("no chunk {index} (there are {})", self.chunks().len()))
        })
    }

    fn check_span(&self, range: &Range<u64>) -> Result<()> {
        self.is_open()?;
        let len = self.len()?;
        if range.start > range.end || range.end > len {
            return Err(Error::usage(format!(
                "bytes {}..{} are outside the data of {len} bytes",
                range.start, range.end
            )));
        }
        Ok(())
    }

    /// The most severe fault, for values that are missing.
    pub(crate) fn worst(&self) -> Error {
        let worst = self.layout().faults().first();
        worst.map_or_else(
            || Error::malformed("the length of the data is unknown").with_context("bloscpack data"),
            explain,
        )
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let chunks = self.layout.get().map(|layout| layout.chunks().len());
        f.debug_struct("File").field("header", self.header()).field("chunks", &chunks).finish_non_exhaustive()
    }
}

fn explain(fault: &Fault) -> Error {
    let error = fault.error();
    match fault.kind() {
        FaultKind::InterimVersion | FaultKind::VariableLengthVersion | FaultKind::OffsetsMissing => {
            // Made anew, because a hint at a repair would stay.
            Error::new(error.into_kind())
                .with_range(fault.range())
                .with_context(fault.kind().location())
                .with_hint("--lenient reads it as the writer intended")
        }
        _ => error.with_hint("holdall repair FILE -o NEW recovers the intact data"),
    }
}

/// The decoded bytes of a file as a source, so that regions are read as in any other.
struct Decoded<'f> {
    file: &'f File,
    options: &'f ReadOptions,
}

impl Source for Decoded<'_> {
    fn len(&self) -> u64 {
        // In a variable-length file with lost items, the others have offsets in the data.
        let found = || self.file.chunks().last().map_or(0, |chunk| chunk.data().end);
        self.file.head().data_len().unwrap_or_else(found)
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len())?;
        self.file.is_open()?;
        self.file.reader.read(self.file, at, dst, self.options)
    }

    /// Decodes in one go, which checks the request that the options have.
    fn read_until(&self, at: u64, dst: &mut [u8], _stop: Stop) -> Result<()> {
        self.read_into(at, dst)
    }
}

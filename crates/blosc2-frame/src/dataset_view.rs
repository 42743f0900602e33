//! A frame as an array, a packed tensor, a run of elements, or chunks of different lengths.

use std::borrow::Cow;

use container_codecs::checksum::Algorithm;
use container_core::array::Array;
use container_core::container::{BLOCK_SHAPE, Dataset, ReadOptions, Tolerance, Visibility};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{ITEM, ITEM_NAME};
use container_core::interchange::DEFAULT_NAME;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result, Value};

use crate::absent_values::{self, Absence};
use crate::b2nd::{self, Geometry, NdArray};
use crate::chunk_stats::{ChunkSummary, codec_word};
use crate::frame::Frame;
use crate::header::ChunkSize;
use crate::items::{Items, LAYER};
use crate::offsets::{Offset, Offsets};
use crate::tensor::Tensor;

/// Path of the one array.
pub(crate) const DATASET: &str = DEFAULT_NAME;

/// Prefix of the paths of chunks, where each is a dataset.
const CHUNKS: &str = "chunks/";

/// Metalayer of an ObjectArray, which has an object in each chunk.
const OBJECTS: &str = "vlarray";

/// Bytes that a read with a stride decodes at once.
const WINDOW_LEN: u64 = 4 << 20;

/// Returns the path of a chunk.
pub(crate) fn chunk_path(index: u64) -> String {
    format!("{CHUNKS}{index}")
}

/// A frame as what its metalayers make of it.
pub(crate) enum DatasetView {
    /// An n-dimensional array.
    Array(Box<NdArray>),
    /// An array that python-blosc2 packed as a super-chunk.
    Tensor(Frame, Tensor),
    /// Elements one after the other; with what keeps them from being an array, where they are to be one.
    Flat(Frame, Option<Error>),
    /// Chunks of different lengths, each by itself.
    Chunks(Frame, Items),
    /// An array whose shapes contradict each other or its chunks.
    Hidden(Frame, Error),
}

impl DatasetView {
    /// Opens a frame, twice where its first view fails.
    ///
    /// # Errors
    /// Those of `open`.
    pub(crate) fn new(open: impl Fn() -> Result<Frame>, tolerance: Tolerance) -> Result<Self> {
        let frame = open()?;
        let metalayers = frame.metalayers();
        if metalayers.get(b2nd::NAME).or_else(|| metalayers.get(b2nd::OLD_NAME)).is_some() {
            return match NdArray::from_frame(frame) {
                Ok(array) => Ok(Self::Array(Box::new(array))),
                Err(error) if tolerance == Tolerance::Lenient => {
                    Ok(Self::of_plain(open()?, tolerance, Some(error)))
                }
                Err(error) => Ok(Self::Hidden(open()?, error)),
            };
        }
        Ok(Self::of_plain(frame, tolerance, None))
    }

    fn of_plain(frame: Frame, tolerance: Tolerance, trouble: Option<Error>) -> Self {
        let header = frame.header();
        // An ObjectArray of objects of one length is a frame like any other, and so are items, but each chunk is one all the same.
        let objects = frame.metalayers().get(OBJECTS).is_some();
        let are_items = objects || frame.vlmetalayer_names().any(|name| name == LAYER);
        // A tensor of no elements has chunks of no length.
        let tensor = if are_items || trouble.is_some() { Ok(None) } else { Tensor::of(&frame) };
        let trouble = match tensor {
            Ok(Some(tensor)) => return Self::Tensor(frame, tensor),
            Ok(None) => trouble,
            Err(error) if tolerance == Tolerance::Strict => return Self::Hidden(frame, error),
            Err(error) => Some(error),
        };
        if header.chunksize == ChunkSize::Variable || header.variable_blocks || are_items {
            let items = Items::read(&frame);
            return Self::Chunks(frame, items);
        }
        Self::Flat(frame, trouble)
    }

    pub(crate) fn frame(&self) -> &Frame {
        match self {
            Self::Array(array) => array.frame(),
            Self::Tensor(frame, _)
            | Self::Flat(frame, _)
            | Self::Chunks(frame, _)
            | Self::Hidden(frame, _) => frame,
        }
    }

    /// Returns the algorithm of the digests of chunks; `None` without valid ones.
    pub(crate) fn algorithm(&self) -> Option<Algorithm> {
        self.frame().verified_reads().algorithm(self.frame())
    }

    /// True for elements of which only the size is known.
    pub(crate) const fn is_flat(&self) -> bool {
        matches!(self, Self::Flat(..))
    }

    /// True where each chunk is a dataset.
    pub(crate) const fn is_of_chunks(&self) -> bool {
        matches!(self, Self::Chunks(..))
    }

    /// Returns the dataset that a chunk belongs to.
    pub(crate) fn path_of(&self, chunk: u64) -> String {
        if self.is_of_chunks() { chunk_path(chunk) } else { DATASET.to_owned() }
    }

    /// Returns the one dataset; `None` if the chunks are datasets, or if it cannot be shown.
    pub(crate) fn whole(&self, summary: &ChunkSummary) -> Option<Dataset> {
        let (dtype, shape, chunks, attributes) = match self {
            Self::Array(array) => {
                let geometry = array.geometry();
                let chunks = geometry.chunkshape().iter().map(|len| u64::from(*len)).collect();
                let mut attributes = vec![(BLOCK_SHAPE.to_owned(), lens(geometry.blockshape()))];
                attributes.extend(stand_in(array.frame()));
                (array.dtype().clone(), geometry.shape().to_vec(), Some(chunks), attributes)
            }
            Self::Tensor(frame, Tensor { dtype, shape, .. }) => {
                let chunk = if shape.len() == 1 { run_of(frame, dtype) } else { None };
                (dtype.clone(), shape.clone(), chunk, stand_in(frame))
            }
            Self::Flat(frame, _) => {
                let (dtype, count) = elements(frame);
                let chunk = run_of(frame, &dtype);
                (dtype, vec![count], chunk, stand_in(frame))
            }
            Self::Chunks(..) | Self::Hidden(..) => return None,
        };
        let logical = container_core::array::byte_len(&dtype, &shape).unwrap_or(u64::MAX);
        Some(Dataset {
            path: DATASET.to_owned(),
            dtype,
            shape,
            order: Order::C,
            chunks,
            codec: summary.codec.clone(),
            stored: summary.stored,
            logical,
            attributes,
            visibility: Visibility::Always,
        })
    }

    /// Returns the number of datasets.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Array(_) | Self::Tensor(..) | Self::Flat(..) => 1,
            Self::Chunks(frame, _) => usize::try_from(frame.chunk_count()).unwrap_or(usize::MAX),
            Self::Hidden(..) => 0,
        }
    }

    /// Returns a chunk as a dataset.
    pub(crate) fn chunk(&self, index: usize) -> Option<Dataset> {
        let Self::Chunks(frame, items) = self else { return None };
        let number = index as u64;
        if number >= frame.chunk_count() {
            return None;
        }
        // An unreadable chunk has no bytes, and reading it returns the error.
        let len = frame.chunk_len(number).unwrap_or(0);
        let header = frame.chunk_header(number).ok();
        let is_stored = matches!(frame.layout().offsets().get(number), Some(Offset::Stored(_)));
        let stored = header.as_ref().filter(|_| is_stored).map_or(0, |header| header.cbytes.into());
        let mut attributes = vec![(ITEM.to_owned(), Value::from(items.kind_of(len)))];
        attributes.extend(items.name(index).map(|name| (ITEM_NAME.to_owned(), Value::from(name))));
        if let Some(header) = header.as_ref().filter(|header| header.has_variable_blocks()) {
            attributes.push(("blocks".to_owned(), header.block_count().into()));
        }
        if let Some(dtype) = &items.dtype {
            attributes.push(("dtype".to_owned(), dtype.to_string().into()));
        }
        let (dtype, count) = items.elements(len);
        Some(Dataset {
            path: chunk_path(number),
            dtype,
            shape: vec![count],
            order: Order::C,
            chunks: None,
            codec: header.map_or_else(|| "none".to_owned(), |header| codec_word(&header)),
            stored,
            logical: len,
            attributes,
            visibility: Visibility::Always,
        })
    }

    /// Returns the index of the dataset of a path.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        match self {
            Self::Array(_) | Self::Tensor(..) | Self::Flat(..) => (path == DATASET).then_some(0),
            Self::Chunks(frame, _) => {
                let number = path.strip_prefix(CHUNKS)?;
                let index: u64 = number.parse().ok()?;
                let is_spelled = index.to_string() == number && index < frame.chunk_count();
                is_spelled.then(|| usize::try_from(index).ok()).flatten()
            }
            Self::Hidden(..) => None,
        }
    }

    /// Returns the chunks that a region of a dataset is read from.
    pub(crate) fn touched(&self, index: usize, region: &Region) -> Box<dyn Iterator<Item = u64> + '_> {
        if region.is_empty() {
            return Box::new(std::iter::empty());
        }
        match self {
            Self::Array(array) => Box::new(touched_of_array(array.geometry(), region)),
            Self::Chunks(..) => Box::new(std::iter::once(index as u64)),
            Self::Tensor(frame, tensor) => match tensor.span(region) {
                Some((start, end)) => Box::new(chunks_of(frame, start, end)),
                None => Box::new(std::iter::empty()),
            },
            Self::Flat(frame, _) => {
                let (dtype, _) = elements(frame);
                let item = dtype.itemsize() as u64;
                let axis = region.axes().first().copied();
                let (first, last) =
                    axis.map_or((0, 0), |axis| (place(&axis, 0), place(&axis, axis.count - 1)));
                let start = first.min(last).saturating_mul(item);
                let end = first.max(last).saturating_add(1).saturating_mul(item);
                Box::new(chunks_of(frame, start, end))
            }
            Self::Hidden(..) => Box::new(std::iter::empty()),
        }
    }

    /// Returns the error for a region of which elements are not in the frame, unless placeholders are read.
    pub(crate) fn absence(&self, index: usize, region: &Region, limits: &Limits) -> Option<Error> {
        match self {
            Self::Array(array) => absent_values::of_region(array.frame(), array.geometry(), region, limits),
            Self::Tensor(frame, _) | Self::Flat(frame, _) | Self::Chunks(frame, _) => {
                frame.absence_if_refused()?.of_chunks(frame, self.touched(index, region))
            }
            Self::Hidden(..) => None,
        }
    }

    /// Returns the element that a region repeats, by the offsets of its chunks and the headers of those that hold one value.
    pub(crate) fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        let (frame, itemsize) = match self {
            Self::Array(array) => (array.frame(), array.dtype().itemsize()),
            Self::Tensor(frame, tensor) => (frame, tensor.dtype.itemsize()),
            Self::Flat(frame, _) => (frame, elements(frame).0.itemsize()),
            Self::Chunks(..) | Self::Hidden(..) => return None,
        };
        if region.is_empty() || index > 0 {
            return None;
        }
        if let Offsets::Same(Offset::Special(_), _) = frame.layout().offsets() {
            return frame.repeated(0, itemsize);
        }
        let mut chunks = self.touched(index, region);
        let element = frame.repeated(chunks.next()?, itemsize)?;
        chunks.all(|chunk| frame.repeated(chunk, itemsize).as_ref() == Some(&element)).then_some(element)
    }

    /// Reads the elements of a region of a dataset.
    ///
    /// # Errors
    /// Those of the frame; `Usage` for a dataset that does not exist.
    pub(crate) fn read(
        &self,
        index: usize,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        if index >= self.count() {
            return Err(Error::usage(format!("no dataset {index}")));
        }
        match self {
            Self::Array(array) => array.read(region, options),
            Self::Tensor(frame, tensor) => {
                self.absence(index, region, &options.limits).map_or(Ok(()), Err)?;
                tensor.read(frame, region, options)
            }
            Self::Flat(frame, _) => {
                self.absence(index, region, &options.limits).map_or(Ok(()), Err)?;
                let (dtype, count) = elements(frame);
                let fetch = |at: u64, dst: &mut [u8]| {
                    frame.read_into(at..at.saturating_add(dst.len() as u64), dst, options)
                };
                read_run(dtype, count, region, options, fetch)
            }
            Self::Chunks(frame, items) => {
                self.absence(index, region, &options.limits).map_or(Ok(()), Err)?;
                let number = index as u64;
                let (dtype, count) = items.elements(frame.chunk_len(number)?);
                let fetch = |at: u64, dst: &mut [u8]| {
                    let start = usize::try_from(at).unwrap_or(usize::MAX);
                    let range = start..start.saturating_add(dst.len());
                    frame.read_chunk_into(number, range, dst, options)
                };
                read_run(dtype, count, region, options, fetch)
            }
            Self::Hidden(..) => Err(Error::usage("no dataset")),
        }
    }
}

/// Returns the numbers of the chunks in which a region has elements, in the order of the grid.
fn touched_of_array<'g>(geometry: &'g Geometry, region: &Region) -> impl Iterator<Item = u64> + use<'g> {
    let axes = region.axes().iter().zip(geometry.chunkshape());
    let per_axis: Vec<Vec<u64>> = axes
        .map(|(axis, chunk)| {
            let chunk = u64::from(*chunk).max(1);
            if axis.step.unsigned_abs() <= chunk {
                // No chunk in between is left out.
                let ends = [place(axis, 0), place(axis, axis.count.saturating_sub(1))];
                let [low, high] = [ends[0].min(ends[1]) / chunk, ends[0].max(ends[1]) / chunk];
                return (low..=high).collect();
            }
            let mut places: Vec<u64> = (0..axis.count).map(|number| place(axis, number) / chunk).collect();
            places.sort_unstable();
            places.dedup();
            places
        })
        .collect();
    let total = per_axis.iter().fold(1_u64, |total, places| total.saturating_mul(places.len() as u64));
    (0..total).map(move |number| {
        let (mut rest, mut index, mut stride) = (number, 0_u64, 1_u64);
        for (places, count) in per_axis.iter().zip(geometry.chunk_grid()).rev() {
            let len = (places.len() as u64).max(1);
            let at = usize::try_from(rest % len).ok().and_then(|at| places.get(at)).copied().unwrap_or(0);
            index = index.saturating_add(at.saturating_mul(stride));
            stride = stride.saturating_mul(*count);
            rest /= len;
        }
        index
    })
}

/// Returns type and number of the elements of a frame without shape: as large as its typesize, where that divides its length.
fn elements(frame: &Frame) -> (DType, u64) {
    let (nbytes, typesize) = (frame.header().nbytes, u64::from(frame.header().typesize));
    let itemsize = usize::try_from(typesize).unwrap_or(1);
    if typesize > 1 && nbytes.is_multiple_of(typesize) {
        return (DType::void(itemsize), nbytes / typesize);
    }
    (DType::native(Kind::Uint, 1), nbytes)
}

/// Elements of a chunk, where chunks are of one length and hold whole elements.
fn run_of(frame: &Frame, dtype: &DType) -> Option<Vec<u64>> {
    let ChunkSize::Fixed(len) = frame.header().chunksize else { return None };
    let (len, itemsize) = (u64::from(len), dtype.itemsize() as u64);
    len.is_multiple_of(itemsize).then(|| vec![len / itemsize])
}

/// Returns the numbers of the chunks that hold the bytes from `start` to before `end`; of all, where chunks are not of one
/// length.
fn chunks_of(frame: &Frame, start: u64, end: u64) -> std::ops::Range<u64> {
    let count = frame.chunk_count();
    let ChunkSize::Fixed(len) = frame.header().chunksize else { return 0..count };
    let len = u64::from(len).max(1);
    start / len..(end.saturating_sub(1) / len).saturating_add(1).min(count)
}

/// Reads a region of one axis, in windows where it has a stride.
fn read_run(
    dtype: DType,
    count: u64,
    region: &Region,
    options: &ReadOptions,
    fetch: impl Fn(u64, &mut [u8]) -> Result<()>,
) -> Result<Array<'static>> {
    let region = Region::new(region.axes().to_vec(), &[count])?;
    let [axis] = region.axes() else { return Err(Error::usage("one axis")) };
    let itemsize = dtype.itemsize() as u64;
    let mut bytes: Vec<u8> = try_zeroed_vec(axis.count.saturating_mul(itemsize), &options.limits)?;
    let stride = axis.step.unsigned_abs();
    if axis.count > 0 && (axis.step == 1 || axis.count == 1) {
        fetch(axis.start.saturating_mul(itemsize), &mut bytes)?;
    } else if axis.count > 0 {
        // Elements of a window, and the bytes from its first to its last.
        let each = (WINDOW_LEN / itemsize.max(1) / stride.max(1)).max(1);
        let mut window = Vec::new();
        let item = dtype.itemsize();
        let mut done = 0_u64;
        for part in bytes.chunks_mut(usize::try_from(each.saturating_mul(itemsize)).unwrap_or(usize::MAX)) {
            let here = (part.len() / item.max(1)) as u64;
            let first = place(axis, done);
            let last = place(axis, done + here - 1);
            let low = first.min(last);
            let len =
                usize::try_from((first.max(last) - low + 1).saturating_mul(itemsize)).unwrap_or(usize::MAX);
            window.resize(len, 0);
            fetch(low.saturating_mul(itemsize), &mut window)?;
            for (number, dst) in part.chunks_exact_mut(item).enumerate() {
                let at = (place(axis, done + number as u64) - low).saturating_mul(itemsize);
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                dst.copy_from_slice(window.get(at..at.saturating_add(item)).unwrap_or_default());
            }
            done += here;
        }
    }
    let shape = if axis.kept == Kept::Yes { vec![axis.count] } else { Vec::new() };
    Array::new(dtype, shape, Order::C, Cow::Owned(bytes))
}

/// Returns the index of the element `number` of a selection.
fn place(axis: &AxisSelection, number: u64) -> u64 {
    let at = i128::from(axis.start) + i128::from(axis.step) * i128::from(number);
    u64::try_from(at).unwrap_or(0)
}

/// Lengths of axes.
pub(crate) fn lens(lens: &[u32]) -> Value {
    Value::List(lens.iter().map(|len| Value::from(*len)).collect())
}

/// Returns the attributes of a dataset whose values are not in the frame: which are not, what it holds of a source, the recipe of the
/// others.
fn stand_in(frame: &Frame) -> Vec<(String, Value)> {
    let Some(absence) = frame.absence() else { return Vec::new() };
    let entry = |name: &str, value: Value| (name.to_owned(), value);
    let computed = Absence::recipe(frame).map(|recipe| entry("computed", recipe));
    let fetched = absence.fetched().map(|fetched| entry("fetched", fetched.to_string().into()));
    let values = absence.description().map(|told| entry("values", told.into()));
    computed.into_iter().chain(fetched).chain(values).collect()
}

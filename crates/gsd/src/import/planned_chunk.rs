//! One dataset as planned chunks: name, type and shape, in one frame or in many.

use container_core::container::{Axes, Container, Dataset};
use container_core::dtype::{DType, Order};
use container_core::format::WriteRequest;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::{Error, Result};

use crate::ChunkType;
use crate::chunk_shape::ChunkShape;
use crate::metadata::METADATA;

/// Prefix of the dataset paths of single chunks: `frames/<n>/<name>`.
const FRAMES: &str = "frames/";

/// The frames that get an array.
#[derive(Clone, Copy)]
pub(crate) enum Frames<'a> {
    /// All of it into frame 0.
    One,
    /// An index of its first axis into each frame: those of a slice in numpy's spelling, or all.
    Axis(&'a str),
}

/// A dataset and the chunks that it is stored in.
pub(crate) struct PlannedChunk {
    pub(crate) index: usize,
    pub(crate) region: Region,
    /// The axis of the source that becomes the frames.
    pub(crate) axis: Option<usize>,
    pub(crate) frames: u64,
    /// Name of the chunk.
    pub(crate) name: String,
    pub(crate) chunk_type: ChunkType,
    pub(crate) shape: ChunkShape,
    /// Shape of the array in a frame.
    pub(crate) item: Vec<u64>,
    /// Type of the source's elements, to convert them to little-endian order.
    pub(crate) dtype: DType,
    /// The order in which elements are taken: column by column where axes are reversed.
    pub(crate) order: Order,
    /// Number of bytes per frame.
    pub(crate) len: u64,
    /// Message about the loss, for people.
    pub(crate) loss: Option<String>,
}

impl PlannedChunk {
    pub(crate) fn new(
        job: &WriteRequest<'_>,
        index: usize,
        dataset: &Dataset,
        region: &Region,
        frames: Frames<'_>,
        as_bytes: bool,
    ) -> Result<Self> {
        let (region, axis) = match frames {
            Frames::One => (region.clone(), None),
            Frames::Axis(range) => {
                let axis = region.axes().iter().position(|axis| axis.kept == Kept::Yes);
                let none = || Error::usage(format!("{}: a single value has no axis of frames", dataset.path));
                let axis = axis.ok_or_else(none)?;
                (select_on_axis(region, axis, range, &dataset.shape)?, Some(axis))
            }
        };
        let mut shape = region.shape();
        let count = if axis.is_some() { shape.remove(0) } else { 1 };
        let (chunk_type, loss) = match ChunkType::from_dtype(&dataset.dtype) {
            Some(chunk_type) => (chunk_type, None),
            None if as_bytes => (
                ChunkType::Uint8,
                Some(format!("the type {}: kept as {}", dataset.dtype, dataset.dtype.bytes_loss_message())),
            ),
            None => {
                let problem = format!("{}: GSD has no type for {}", dataset.path, dataset.dtype);
                return Err(
                    Error::unsupported(problem).with_hint("--as-bytes, which writes elements as their bytes")
                );
            }
        };
        let order = match job.options.axes {
            Axes::AsStored => Order::C,
            Axes::Reversed => {
                shape.reverse();
                Order::F
            }
        };
        // Single bytes keep the shape; longer elements get an additional axis.
        if loss.is_some() && dataset.dtype.itemsize() != 1 {
            shape.push(dataset.dtype.itemsize() as u64);
        }
        let too_long = || Error::malformed(format!("{} reaches past 2^64 bytes", dataset.path));
        let item = shape;
        let shape = ChunkShape::of(&item).ok_or_else(too_long)?;
        let len = u128::from(shape.n) * u128::from(shape.m) * u128::from(chunk_type.size());
        Ok(Self {
            index,
            region,
            axis,
            frames: count,
            name: chunk_name(job.container, &dataset.path),
            chunk_type,
            shape,
            item,
            dtype: dataset.dtype.clone(),
            order,
            len: u64::try_from(len).map_err(|_| too_long())?,
            loss,
        })
    }

    /// The region of the source with `count` frames from `first` on.
    pub(crate) fn of_frames(&self, job: &WriteRequest<'_>, first: u64, count: u64) -> Result<Region> {
        let Some(axis) = self.axis else { return Ok(self.region.clone()) };
        let mut axes = self.region.axes().to_vec();
        if let Some(axis) = axes.get_mut(axis) {
            *axis = sub(*axis, first, 1, count)?;
        }
        Region::new(axes, &job.container.require(self.index)?.shape)
    }
}

/// Returns the number of frames to write.
///
/// # Errors
/// `Usage` where datasets differ in it.
pub(crate) fn frames(parts: &[PlannedChunk]) -> Result<u64> {
    let Some(first) = parts.first() else { return Ok(0) };
    match parts.iter().find(|part| part.frames != first.frames) {
        None => Ok(first.frames),
        Some(other) => {
            let problem =
                format!("{} has {} frames, {} has {}", first.name, first.frames, other.name, other.frames);
            Err(Error::usage(problem).with_hint("convert one at a time: FILE::PATH"))
        }
    }
}

/// True for the chunks of all frames of another GSD file, where its axis of frames is kept.
pub(crate) fn is_stacked(container: &dyn Container, dataset: &Dataset, region: &Region) -> bool {
    container.has_frame_axis(dataset) && region.axes().first().is_some_and(|axis| axis.kept == Kept::Yes)
}

pub(crate) fn is_gsd(container: &dyn Container) -> bool {
    container.as_any().is_some_and(<dyn std::any::Any>::is::<crate::File>)
}

/// The name of the chunk, without `frames/<n>/` in a path of that form.
pub(crate) fn chunk_name(container: &dyn Container, path: &str) -> String {
    let inner = path.strip_prefix(FRAMES).filter(|_| is_gsd(container));
    let inner = inner.and_then(|rest| rest.split_once('/')).filter(|(frame, _)| frame.parse::<u64>().is_ok());
    inner.map_or(path, |(_, name)| name).to_owned()
}

/// Refuses an array with the name of the metadata chunk, which readers would not list.
///
/// # Errors
/// `Usage`.
pub(crate) fn refuse_metadata(name: &str) -> Result<()> {
    if name != METADATA {
        return Ok(());
    }
    let problem = format!("{name:?} is reserved for metadata of other formats in a GSD file");
    Err(Error::usage(problem).with_hint("convert the others one at a time: FILE::PATH"))
}

/// The region restricted to some indices of one axis: a slice in numpy's spelling; the empty string selects all.
fn select_on_axis(region: &Region, at: usize, range: &str, shape: &[u64]) -> Result<Region> {
    if range.is_empty() {
        return Ok(region.clone());
    }
    let mut axes = region.axes().to_vec();
    if let Some(axis) = axes.get_mut(at) {
        let chosen = frame_slice(range, axis.count)?;
        *axis = sub(*axis, chosen.start, chosen.step, chosen.count)?;
    }
    Region::new(axes, shape)
}

/// The frames of `count` that a slice in numpy's spelling chooses: `10:`, `::100`, `-5:`; one number is that frame.
///
/// # Errors
/// `Usage` for bad syntax and for more than one axis.
pub(crate) fn frame_slice(range: &str, count: u64) -> Result<AxisSelection> {
    let chosen = Region::parse(range, &[count]).map_err(|error| error.with_context("frames"))?;
    chosen.axes().first().copied().ok_or_else(|| Error::usage("no frames are selected"))
}

/// The frame at place `new` among those chosen.
pub(crate) fn frame_at(chosen: AxisSelection, new: u64) -> Result<u64> {
    let frame = i128::from(chosen.start) + i128::from(chosen.step) * i128::from(new);
    u64::try_from(frame).map_err(|_| Error::usage("no such frame"))
}

/// Every `step`th index from the `first` of a selection on.
fn sub(axis: AxisSelection, first: u64, step: i64, count: u64) -> Result<AxisSelection> {
    let outside = || Error::usage("a selection reaches outside its axis");
    if count == 0 {
        return Ok(AxisSelection { count: 0, ..axis });
    }
    let start = i128::from(axis.start) + i128::from(axis.step) * i128::from(first);
    let start = u64::try_from(start).map_err(|_| outside())?;
    Ok(AxisSelection {
        start,
        step: axis.step.checked_mul(step).ok_or_else(outside)?,
        count,
        kept: axis.kept,
    })
}

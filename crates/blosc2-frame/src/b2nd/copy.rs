//! Arrays made of arrays: copied with other chunks, joined, with axes of length 1 more or less.
//!
//! A chunk that the new array has as the old one had it goes over as it is stored. Others are made of elements, which are read in rows of
//! chunks of the new array as long as memory serves.

use std::borrow::Cow;

use blosc_chunk::Params;
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::format::Output;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::chunk_boxes::{chunk_box, chunk_index, for_each_place};
use super::chunk_rows::Rows;
use super::create::{NdOptions, zero_chunk};
use super::{Geometry, NAME, NdArray, OLD_NAME};
use crate::metalayer::Metalayers;
use crate::rewrite;
use crate::writer::Writer;

/// Bytes of elements that are read at once, at most. A single chunk may take more.
const MAX_READ: u64 = 64 << 20;

impl NdOptions {
    /// Returns the options that `array` was written with: its chunks and blocks, the encoding in its header, its metalayers and user metadata.
    ///
    /// # Errors
    /// Those of [`crate::Frame::vlmetalayer`]; `Usage` for more metadata than C-Blosc2 writes.
    pub fn options_of(array: &NdArray) -> Result<Self> {
        let frame = array.frame();
        let mut metalayers = Metalayers::new();
        for (name, value) in frame.metalayers().iter().filter(|(name, _)| ![NAME, OLD_NAME].contains(name)) {
            metalayers.set(name, value.to_vec())?;
        }
        let mut vlmetalayers = Vec::new();
        for name in frame.vlmetalayer_names() {
            if let Some(value) = frame.vlmetalayer(name)? {
                vlmetalayers.push((name.to_owned(), value));
            }
        }
        // An array without elements may have chunks of length 0, which no new one gets.
        let shape = |lens: &[u32]| Some(lens.to_vec()).filter(|lens| !lens.contains(&0));
        let geometry = array.geometry();
        let chunkshape = shape(geometry.chunkshape());
        let blockshape = shape(geometry.blockshape()).filter(|_| chunkshape.is_some());
        Ok(Self {
            params: rewrite::params(frame),
            chunkshape,
            blockshape,
            metalayers,
            vlmetalayers,
            limits: frame.options().limits,
            ..Self::default()
        })
    }
}

/// Writes `array` as a new frame, cut and encoded by `options`; [`NdOptions::options_of`] returns those of the array. Where neither
/// differs, chunks are copied without decoding.
///
/// # Errors
/// Those of [`super::NdWriter::new`], [`NdArray::read`] and [`crate::Frame::chunk`].
pub fn copy(array: &NdArray, out: &mut dyn Output, options: &NdOptions, read: &ReadOptions) -> Result<()> {
    require_present(array, read)?;
    let geometry = options.geometry(array.shape(), array.geometry().itemsize())?;
    let writer = options.start(out, &geometry, array.dtype())?;
    let same = same_chunks(array, &geometry, writer.options().params.clone());
    rewrite(
        writer,
        &geometry,
        options,
        |place, _| if same { array.frame().chunk(chunk_index(&geometry, place)).map(Some) } else { Ok(None) },
        |origin, shape, dst| array.read_into(&region(origin, shape, array.shape())?, dst, read),
    )
}

/// Writes `arrays`, one after the other along `axis`, as one array. Chunks with the same position in the grid of the new array are
/// copied as stored: those of the first array, and of others that begin at the edge of a chunk.
///
/// All arrays are checked first, which gives the start of each along `axis`. Then the chunks of the new array are written in order:
/// a chunk that equals one of a source is taken over encoded, and every other one is assembled from the boxes that it shares with
/// each source.
///
/// # Errors
/// `Usage` for no arrays, and for other types or lengths along other axes; those of [`copy`].
pub fn concatenate(
    arrays: &[&NdArray],
    axis: usize,
    out: &mut dyn Output,
    options: &NdOptions,
    read: &ReadOptions,
) -> Result<()> {
    let first = *arrays.first().ok_or_else(|| Error::usage("no arrays to join"))?;
    let mut shape = first.shape().to_vec();
    let others = |array: &NdArray| {
        let mut lens = array.shape().to_vec();
        if let Some(len) = lens.get_mut(axis) {
            *len = 0;
        }
        lens
    };
    if axis >= shape.len() {
        return Err(Error::usage(format!("no axis {axis} in an array of {shape:?}")));
    }
    let mut starts = Vec::with_capacity(arrays.len());
    let mut total = 0_u64;
    for array in arrays {
        require_present(array, read)?;
        if array.dtype() != first.dtype() || others(array) != others(first) {
            return Err(Error::usage(format!(
                "an array of {} and {:?} does not continue one of {} and {:?} along axis {axis}",
                array.dtype(),
                array.shape(),
                first.dtype(),
                first.shape()
            )));
        }
        starts.push(total);
        let sum = total.checked_add(array.shape()[axis]);
        total = sum.ok_or_else(|| Error::usage("arrays of over 2^64 elements along an axis"))?;
    }
    shape[axis] = total;
    let geometry = options.geometry(&shape, first.geometry().itemsize())?;
    let writer = options.start(out, &geometry, first.dtype())?;
    let params = writer.options().params.clone();
    let same: Vec<bool> = arrays.iter().map(|array| same_chunks(array, &geometry, params.clone())).collect();
    let chunk_len = u64::from(geometry.chunkshape()[axis]);
    let stored = |place: &[u64], end: u64| {
        // A chunk is taken over if one array has all of its elements and begins at the edge of a chunk.
        let start = place[axis] * chunk_len;
        let number = starts.partition_point(|own| *own <= start).saturating_sub(1);
        let (array, own) = (arrays[number], starts[number]);
        if !same[number] || own % chunk_len != 0 || end > own + array.shape()[axis] {
            return Ok(None);
        }
        let mut place = place.to_vec();
        place[axis] -= own / chunk_len;
        array.frame().chunk(chunk_index(array.geometry(), &place)).map(Some)
    };
    let item = geometry.itemsize() as u64;
    rewrite(
        writer,
        &geometry,
        options,
        |place, ends| stored(place, ends[axis]),
        |origin, shape, dst| {
            let inner = shape.iter().skip(axis + 1).product::<u64>() * item;
            for (array, own) in arrays.iter().zip(&starts) {
                let from = origin[axis].max(*own);
                let to = (origin[axis] + shape[axis]).min(own + array.shape()[axis]);
                if from >= to {
                    continue;
                }
                let (mut part_origin, mut part) = (origin.to_vec(), shape.to_vec());
                (part_origin[axis], part[axis]) = (from - own, to - from);
                let wanted = region(&part_origin, &part, array.shape())?;
                // All of the chunk is from one array, so it needs no buffer in between.
                if part == shape {
                    array.read_into(&wanted, dst, read)?;
                    continue;
                }
                let elements = array.read(&wanted, read)?;
                let bytes = elements.bytes(Order::C, &read.limits)?;
                splice(&bytes, dst, inner, part[axis], from - origin[axis], shape[axis]);
            }
            Ok(())
        },
    )
}

/// Copies `count` of `len` parts of each run in `dst`, which begin at `at`, from `src`. A part is `inner` bytes.
fn splice(src: &[u8], dst: &mut [u8], inner: u64, count: u64, at: u64, len: u64) {
    let bytes = |parts: u64| usize::try_from(parts.saturating_mul(inner)).unwrap_or(usize::MAX).max(1);
    for (from, to) in src.chunks_exact(bytes(count)).zip(dst.chunks_exact_mut(bytes(len))) {
        let start = bytes(at) * usize::from(at > 0);
        if let Some(to) = to.get_mut(start..start + from.len()) {
            to.copy_from_slice(from);
        }
    }
}

/// Writes `array` without the axes of `dropped`, all of length 1.
///
/// # Errors
/// `Usage` for axes that the array does not have or that are longer; those of [`copy`].
pub fn squeeze(array: &NdArray, dropped: &[usize], out: &mut dyn Output, read: &ReadOptions) -> Result<()> {
    if let Some(axis) = dropped.iter().find(|axis| array.shape().get(**axis) != Some(&1)) {
        return Err(Error::usage(format!(
            "axis {axis} of an array of {:?} is not of length 1",
            array.shape()
        )));
    }
    let keeps: Vec<bool> = (0..array.shape().len()).map(|axis| !dropped.contains(&axis)).collect();
    let mut options = NdOptions::options_of(array)?;
    for shape in [&mut options.chunkshape, &mut options.blockshape].into_iter().flatten() {
        *shape = shape.iter().zip(&keeps).filter(|(_, keeps)| **keeps).map(|(len, _)| *len).collect();
    }
    let kept = |lens: &[u64]| -> Vec<u64> {
        lens.iter().zip(&keeps).filter(|(_, keeps)| **keeps).map(|(len, _)| *len).collect()
    };
    // The missing axes have only zeros and ones.
    let with = |lens: &[u64], other: u64| -> Vec<u64> {
        let mut lens = lens.iter();
        keeps.iter().map(|keeps| if *keeps { lens.next().copied().unwrap_or(0) } else { other }).collect()
    };
    let geometry = options.geometry(&kept(array.shape()), array.geometry().itemsize())?;
    reshape(array, out, &options, &geometry, read, &with)
}

/// Writes `array` with an axis of length 1 before the axis `axis`, or after the last.
///
/// # Errors
/// `Usage` for an axis further back, or a 17th one; those of [`copy`].
pub fn expand_dims(array: &NdArray, axis: usize, out: &mut dyn Output, read: &ReadOptions) -> Result<()> {
    let mut shape = array.shape().to_vec();
    if axis > shape.len() {
        return Err(Error::usage(format!("no place {axis} for an axis of an array of {shape:?}")));
    }
    shape.insert(axis, 1);
    let mut options = NdOptions::options_of(array)?;
    for lens in [&mut options.chunkshape, &mut options.blockshape].into_iter().flatten() {
        lens.insert(axis, 1);
    }
    let geometry = options.geometry(&shape, array.geometry().itemsize())?;
    let without = |lens: &[u64], _: u64| {
        let mut lens = lens.to_vec();
        lens.remove(axis);
        lens
    };
    reshape(array, out, &options, &geometry, read, &without)
}

/// Writes `array` with `geometry`, whose axes differ only by some of length 1. `old` maps places and shapes of the new array to those
/// of the old one; the axes that only the old one has get its second argument.
fn reshape(
    array: &NdArray,
    out: &mut dyn Output,
    options: &NdOptions,
    geometry: &Geometry,
    read: &ReadOptions,
    old: &dyn Fn(&[u64], u64) -> Vec<u64>,
) -> Result<()> {
    require_present(array, read)?;
    let writer = options.start(out, geometry, array.dtype())?;
    // Without padding along the axis, chunks are the same bytes.
    let same = geometry.chunk_bytes() == array.geometry().chunk_bytes()
        && geometry.block_bytes() == array.geometry().block_bytes();
    rewrite(
        writer,
        geometry,
        options,
        |place, _| {
            if !same {
                return Ok(None);
            }
            let index = chunk_index(array.geometry(), &old(place, 0));
            array.frame().chunk(index).map(Some)
        },
        |origin, shape, dst| {
            array.read_into(&region(&old(origin, 0), &old(shape, 1), array.shape())?, dst, read)
        },
    )
}

/// # Errors
/// `Unsupported` where some of the values are not in the file.
fn require_present(array: &NdArray, read: &ReadOptions) -> Result<()> {
    array.require_present(&super::of_region(&Region::whole(array.shape())), &read.limits)
}

/// Whether chunks of `array` equal those of an array of `geometry`, encoded with `params`.
fn same_chunks(array: &NdArray, geometry: &Geometry, mut params: Params) -> bool {
    let own = rewrite::params(array.frame());
    params.threads = own.threads;
    // 0 in the header of a frame leaves it to chunks, which have the blocks of the array all the same.
    params.blocksize = own.blocksize.and(params.blocksize);
    params == own
        && array.geometry().chunkshape() == geometry.chunkshape()
        && array.geometry().blockshape() == geometry.blockshape()
}

/// Writes all chunks of a new array. `stored` returns the encoded chunk at a place (whose elements end at the given indices), if there is
/// one. Otherwise `elements` fills a buffer with the elements of a box, by origin and shape.
fn rewrite<'a>(
    mut writer: Writer<'_>,
    geometry: &Geometry,
    options: &NdOptions,
    stored: impl Fn(&[u64], &[u64]) -> Result<Option<Cow<'a, [u8]>>>,
    mut elements: impl FnMut(&[u64], &[u64], &mut [u8]) -> Result<()>,
) -> Result<()> {
    let rows = Rows::within(geometry, MAX_READ.min(options.limits.memory / 4));
    let mut chunk = Vec::new();
    let mut buffer = Vec::new();
    for row in 0..rows.count {
        let (origin, shape) = rows.extent(geometry, row);
        let window = rows.window(geometry, row)?;
        let mut is_read = false;
        for_each_place(&rows.places(geometry, row), |place| {
            let ends: Vec<u64> = chunk_box(geometry, place).into_iter().map(|range| range.end).collect();
            if let Some(bytes) = stored(place, &ends)? {
                return writer.append_chunk(&bytes);
            }
            if !is_read {
                let len = options.limits.allocate(window.byte_len())?;
                if buffer.len() < len {
                    buffer = try_zeroed_vec(len as u64, &options.limits)?;
                }
                elements(&origin, &shape, &mut buffer[..len])?;
                is_read = true;
            }
            if chunk.is_empty() {
                chunk = zero_chunk(geometry, &options.limits)?;
            } else if window.leaves_padding(geometry, place) {
                chunk.fill(0);
            }
            window.write_chunk(geometry, place, &buffer, &mut chunk)?;
            writer.append(&chunk)
        })?;
    }
    writer.finish()
}

fn region(origin: &[u64], shape: &[u64], whole: &[u64]) -> Result<Region> {
    let axis = |(start, count): (&u64, &u64)| AxisSelection {
        start: *start,
        step: 1,
        count: *count,
        kept: Kept::Yes,
    };
    Region::new(origin.iter().zip(shape).map(axis).collect(), whole)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests;

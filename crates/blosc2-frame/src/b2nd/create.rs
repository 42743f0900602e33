//! New arrays: from elements in memory, or of one value.

use std::path::Path;

use blosc_chunk::{Encoder, Filter, Params, Plugins, Special};
use container_codecs::checksum::Algorithm;
use container_core::array::Array;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::format::Output;
use container_core::source::try_zeroed_vec;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Limits, Result};

use super::default_chunks::partition;
use super::{Geometry, Meta, NAME, NdWriter, OLD_NAME, dtype_string};
use crate::header::Kind as FrameKind;
use crate::metalayer::Metalayers;
use crate::options::{FrameOptions, default_params};
use crate::writer::Writer;

/// Options for writing a new array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NdOptions {
    /// Encoding of chunks. `typesize` and `blocksize` are ignored: they follow from the element type and the blocks.
    ///
    /// A byte shuffle without a width of its own works on the 4-byte characters of unicode strings, as in python-blosc2 4.
    /// C-Blosc2 before 2.23.1 ignores that width, and decodes such strings wrongly. For readers of that age set the width to the
    /// size of the element.
    pub params: Params,
    /// Elements of a chunk along each axis; chosen from shape and codec if not given.
    pub chunkshape: Option<Vec<u32>>,
    /// Elements of a block along each axis; chosen likewise, in whole rows. A block is decoded for any of its elements: for one pixel of
    /// many frames, in chunks of a frame each, blocks of a part of the frame (`[1, 64, 64]`) are some twenty times as fast as those of the
    /// whole.
    pub blockshape: Option<Vec<u32>>,
    /// Metalayers after `b2nd`.
    pub metalayers: Metalayers,
    /// User metadata: by convention msgpack.
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
    /// One file, or a directory of chunks. Only [`super::NdEditor::create`] makes directories.
    pub kind: FrameKind,
    /// Codecs and filters of the caller's own, with ids 160 to 255.
    pub plugins: Plugins,
    /// Bounds on the memory that the writing takes.
    pub limits: Limits,
    /// Digests of all chunks, as in [`FrameOptions::checksums`].
    pub checksums: Option<Algorithm>,
}

impl Default for NdOptions {
    /// Returns zstd at level 5 with byte shuffle, and the default shapes.
    fn default() -> Self {
        Self {
            params: default_params(1),
            chunkshape: None,
            blockshape: None,
            metalayers: Metalayers::new(),
            vlmetalayers: Vec::new(),
            kind: FrameKind::Contiguous,
            plugins: Plugins::new(),
            limits: Limits::default(),
            checksums: None,
        }
    }
}

impl NdOptions {
    /// Returns the partition of an array of `shape` into chunks and blocks under these options.
    ///
    /// # Errors
    /// Those of [`partition`]; `Usage` for an axis over 2^63, which an array without elements may have.
    pub fn geometry(&self, shape: &[u64], itemsize: usize) -> Result<Geometry> {
        if let Some(len) = shape.iter().find(|len| i64::try_from(**len).is_err()) {
            return Err(Error::usage(format!(
                "an axis of {len}: the metalayer of an array holds less than 2^63"
            )));
        }
        partition(shape, itemsize, &self.params, self.chunkshape.as_deref(), self.blockshape.as_deref())
    }

    /// Returns the options of the frame that holds the array.
    pub(super) fn frame(&self, geometry: &Geometry, dtype: &str, params: Params) -> Result<FrameOptions> {
        let meta = Meta {
            version: 0,
            shape: geometry.shape().to_vec(),
            chunkshape: geometry.chunkshape().to_vec(),
            blockshape: geometry.blockshape().to_vec(),
            dtype_format: Some(0),
            dtype: dtype.to_owned(),
        };
        // First, as C-Blosc2 has it.
        let mut metalayers = Metalayers::new();
        metalayers.set(NAME, meta.encode())?;
        for (name, value) in self.metalayers.iter() {
            if name == NAME || name == OLD_NAME {
                return Err(Error::usage(format!("the metalayer {name} is the array's own")));
            }
            metalayers.set(name, value.to_vec())?;
        }
        Ok(FrameOptions {
            params,
            chunksize: Some(to_u32(geometry.chunk_bytes())?),
            metalayers,
            kind: self.kind,
            checksums: self.checksums,
            plugins: self.plugins.clone(),
            ..FrameOptions::default()
        })
    }

    /// Returns the parameters for chunks of elements of `dtype` in blocks of `geometry`.
    pub(super) fn chunk_params(&self, geometry: &Geometry, dtype: &DType) -> Result<Params> {
        let mut params = self.params.clone();
        params.typesize = geometry.itemsize();
        params.blocksize = Some(usize::try_from(geometry.block_bytes()).unwrap_or(usize::MAX));
        let is_text = dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Unicode);
        for filter in &mut params.filters.0 {
            match filter.id {
                Filter::SHUFFLE if is_text && filter.meta == 0 => filter.meta = 4,
                // One stream for each byte of the element, which is the typesize of chunks. If the header leaves the number open,
                // python-blosc2 fails for elements of over 127 bytes.
                Filter::BYTEDELTA if filter.meta == 0 => {
                    filter.meta = u8::try_from(params.typesize).unwrap_or(1);
                }
                Filter::NDCELL => check_cells(filter.meta, geometry)?,
                _ => {}
            }
        }
        Ok(params)
    }

    /// Starts the frame of an array.
    pub(super) fn start<'o>(
        &self,
        out: &'o mut dyn Output,
        geometry: &Geometry,
        dtype: &DType,
    ) -> Result<Writer<'o>> {
        let params = self.chunk_params(geometry, dtype)?;
        let mut writer = Writer::new(out, self.frame(geometry, &dtype_string::text(dtype)?, params)?)?;
        for (name, value) in &self.vlmetalayers {
            writer.set_vlmetalayer(name, value)?;
        }
        Ok(writer)
    }
}

/// Writes `array` as a new frame at `path`, which appears when it is complete and replaces no other file.
///
/// The elements are read in C order; an array in another order is copied once. Chunks that hold only zeros take no room.
///
/// # Errors
/// Those of [`NdWriter`]; `Usage` for an existing file; `Io`.
pub fn write_array(path: impl AsRef<Path>, array: &Array<'_>, options: &NdOptions) -> Result<()> {
    let mut file = AtomicFile::create(path, Overwrite::Refuse)?;
    write_array_to(&mut file, array, options)?;
    file.commit(Durability::default())
}

/// Writes `array` as a new frame to anything, as [`write_array`] does.
///
/// # Errors
/// Those of [`NdWriter`].
pub fn write_array_to(out: &mut dyn Output, array: &Array<'_>, options: &NdOptions) -> Result<()> {
    let mut writer = NdWriter::new(out, array.dtype(), array.shape(), options)?;
    writer.push(&array.bytes(Order::C, &options.limits)?)?;
    writer.finish()
}

/// Value that fills a new array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill<'a> {
    /// Zero bytes.
    Zeros,
    /// NaN, for floating-point numbers: the positive quiet one without payload.
    Nan,
    /// Nothing yet. Reads as zeros here, as anything elsewhere.
    Uninit,
    /// One element, as stored.
    Value(&'a [u8]),
}

/// Writes an array of `shape` in which all elements are the same, without making the elements. Zeros, NaN and uninitialized
/// elements take a few bytes of index for all chunks together, another value some 40 bytes for each chunk.
///
/// # Errors
/// Those of [`NdWriter::new`]; `Usage` for NaN of a type that has none, and a value of another length than an element.
pub fn write_filled(
    out: &mut dyn Output,
    dtype: &DType,
    shape: &[u64],
    fill: Fill<'_>,
    options: &NdOptions,
) -> Result<()> {
    let geometry = options.geometry(shape, dtype.itemsize())?;
    let nan;
    let fill = match fill {
        Fill::Nan => {
            nan = nan_of(dtype)?;
            // The special value has this byte order, and does not exist for 2 bytes.
            let is_special = matches!(dtype.itemsize(), 4 | 8) && dtype.is_in_order(ByteOrder::Little);
            if is_special { Fill::Nan } else { Fill::Value(&nan) }
        }
        Fill::Value(value) if value.len() != dtype.itemsize() => {
            let problem =
                format!("a value of {} bytes (expected {}, as the elements)", value.len(), dtype.itemsize());
            return Err(Error::usage(problem));
        }
        Fill::Value(value) if value.iter().all(|byte| *byte == 0) => Fill::Zeros,
        other => other,
    };
    let special = match fill {
        Fill::Zeros => Special::Zeros,
        Fill::Nan => Special::Nan,
        Fill::Uninit => Special::Uninit,
        Fill::Value(_) => Special::Value,
    };
    let mut writer = options.start(out, &geometry, dtype)?;
    let chunk_len = to_u32(geometry.chunk_bytes())?;
    if let Fill::Value(value) = fill {
        let params = options.chunk_params(&geometry, dtype)?;
        let mut chunk = Vec::new();
        Encoder::new_with_plugins(params, options.plugins.clone())?.value(
            value,
            chunk_len as usize,
            &mut chunk,
        )?;
        for _ in 0..geometry.chunk_count() {
            writer.append_chunk(&chunk)?;
        }
    } else {
        writer.append_specials(special, chunk_len, geometry.chunk_count())?;
    }
    writer.finish()
}

/// Returns one NaN, as stored.
fn nan_of(dtype: &DType) -> Result<Vec<u8>> {
    let mut bytes = match (dtype.as_scalar().map(|scalar| &scalar.kind), dtype.itemsize()) {
        (Some(Kind::Float), 2) => 0x7e00_u16.to_le_bytes().to_vec(),
        (Some(Kind::Float), 4) => 0x7fc0_0000_u32.to_le_bytes().to_vec(),
        (Some(Kind::Float), 8) => 0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec(),
        _ => return Err(Error::usage(format!("no NaN of type {dtype}"))),
    };
    if !dtype.is_in_order(ByteOrder::Little) {
        bytes.reverse();
    }
    Ok(bytes)
}

/// Checks cells: C-Blosc2 refuses to read a block of fewer elements than a cell of full size has.
fn check_cells(side: u8, geometry: &Geometry) -> Result<()> {
    let blocks = geometry.blockshape();
    let cell = blocks.iter().fold(1_u64, |items, _| items.saturating_mul(u64::from(side)));
    let block = blocks.iter().fold(1_u64, |items, len| items.saturating_mul(u64::from(*len)));
    if cell > block {
        return Err(Error::usage(format!("cells of side {side} are larger than blocks of {blocks:?}"))
            .with_hint("give larger blocks, or another filter"));
    }
    Ok(())
}

/// Converts a chunk's length, which [`partition`] has bounded.
pub(super) fn to_u32(len: u64) -> Result<u32> {
    u32::try_from(len).map_err(|_| Error::usage(format!("chunks of {len} bytes")))
}

/// Zeros for one chunk.
pub(super) fn zero_chunk(geometry: &Geometry, limits: &Limits) -> Result<Vec<u8>> {
    try_zeroed_vec(geometry.chunk_bytes(), limits)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests;

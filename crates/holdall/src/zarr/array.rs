//! One array: its metadata, and the bytes of its chunks.

use container_core::array::byte_len;
use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::{ByteOrder, DType, Order};
use container_core::format::TargetOptions;
use container_core::region::{Kept, Region};
use container_core::report::Loss;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result, Value};
use serde_json::{Map, Value as Json, json};

use super::codecs::{Compression, Own};
use super::grid::Grid;
use super::types::{ZarrType, raw, zarr_type};
use crate::pack_records::Packer;

/// Plan for writing a dataset.
pub(super) struct ArrayPlan {
    /// Its path in the source.
    pub(super) path: String,
    /// Its directory; empty for the root.
    pub(super) place: String,
    pub(super) stored: DType,
    pub(super) grid: Grid,
    pub(super) attributes: Vec<(String, Value)>,
    index: usize,
    region: Region,
    order: Order,
    zarr_type: ZarrType,
    packer: Packer,
    /// False where elements become their bytes, `--as-bytes`.
    is_typed: bool,
    compression: Compression,
    first_axis_is_frames: bool,
}

impl ArrayPlan {
    /// # Errors
    /// `Unsupported` for types that Zarr lacks; `Usage` for words that it lacks.
    pub(super) fn new(
        container: &dyn Container,
        (index, dataset): (usize, &Dataset),
        region: &Region,
        own: &Own,
        options: &TargetOptions,
        losses: &mut Vec<Loss>,
    ) -> Result<Self> {
        let path = dataset.path.clone();
        let stored = dataset.dtype.clone();
        let mut lose = |what: String| losses.push(Loss { dataset: Some(path.clone()), what });
        let (zarr_type, is_typed) = match zarr_type(&stored) {
            Some(found) => (found, true),
            None if options.as_bytes() && stored.itemsize() > 0 => {
                lose(format!("the type {stored}: kept as {}", stored.bytes_loss_message()));
                (raw(stored.itemsize()), false)
            }
            None => {
                let error = Error::unsupported(format!("{path}: Zarr has no elements of {stored}"));
                return Err(if stored.itemsize() == 0 {
                    error
                } else {
                    error.with_hint("--as-bytes writes the bytes of such elements")
                });
            }
        };
        let packer = Packer::new(&stored)?;
        if is_typed && !packer.is_plain() {
            lose("the padding of its records and the offsets of their fields".into());
        }
        let itemsize = if is_typed { packer.dtype().itemsize() } else { stored.itemsize() };
        let grid = Grid::new(dataset, region, options.get("chunks"), itemsize as u64)?;
        let compression = Compression::choose(options, &dataset.codec, own, itemsize)?;
        let len = grid.chunk_len().and_then(|len| len.checked_mul(itemsize as u64));
        if len.is_none_or(|len| len > compression.most()) {
            let problem = format!("{path}: chunks of {:?} are larger than the codec allows", grid.chunk);
            return Err(Error::usage(problem).with_hint("--chunks SHAPE, for smaller ones"));
        }
        byte_len(&stored, &grid.shape)
            .ok_or_else(|| Error::malformed(format!("{path} reaches past 2^64 bytes")))?;
        let frames = container.has_frame_axis(dataset)
            && region.axes().first().is_some_and(|axis| axis.kept == Kept::Yes);
        Ok(Self {
            place: String::new(),
            order: if grid.shape.len() < 2 { Order::C } else { dataset.order },
            attributes: dataset.metadata().cloned().collect(),
            region: region.clone(),
            first_axis_is_frames: frames,
            path,
            stored,
            grid,
            index,
            zarr_type,
            packer,
            is_typed,
            compression,
        })
    }

    /// Contents of `zarr.json`.
    pub(super) fn metadata(&self, attributes: &Map<String, Json>) -> Json {
        let axes = self.grid.shape.len();
        let mut codecs = Vec::new();
        if self.order == Order::F {
            let order: Vec<usize> = (0..axes).rev().collect();
            codecs.push(json!({ "name": "transpose", "configuration": { "order": order } }));
        }
        codecs.push(if self.zarr_type.has_order {
            json!({ "name": "bytes", "configuration": { "endian": "little" } })
        } else {
            json!({ "name": "bytes" })
        });
        codecs.extend(self.compression.metadata());
        let mut metadata = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.grid.shape,
            "data_type": self.zarr_type.name,
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": self.grid.chunk } },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
            "fill_value": self.zarr_type.fill,
            "codecs": codecs,
            "attributes": attributes,
        });
        metadata["dimension_names"] = self.dimension_names().into();
        metadata
    }

    /// Names of the axes, which xarray requires: `frame` for the frames of a trajectory and `dim_N` for others of length N, as the Python package
    /// names them; an underscore more for each axis of the same name.
    fn dimension_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (axis, length) in self.grid.shape.iter().enumerate() {
            let mut name = if axis == 0 && self.first_axis_is_frames {
                "frame".to_owned()
            } else {
                format!("dim_{length}")
            };
            while names.contains(&name) {
                name.push('_');
            }
            names.push(name);
        }
        names
    }

    /// Number of chunks that are made at a time, within the limit on memory.
    ///
    /// # Errors
    /// `Limit` where one exceeds it.
    pub(super) fn workers(&self, read: &ReadOptions) -> Result<usize> {
        let len = self.grid.chunk_len().unwrap_or(u64::MAX).saturating_mul(self.stored.itemsize() as u64);
        // The read, converted, filled and encoded bytes.
        let each = len.saturating_mul(4);
        if each > read.limits.memory {
            return Err(Error::limit("memory in bytes for a chunk of Zarr", each, read.limits.memory)
                .with_hint("--chunks SHAPE, for smaller ones"));
        }
        let fit = usize::try_from(read.limits.memory / each.max(1)).unwrap_or(usize::MAX);
        let chunks = self.grid.chunks().take(read.threads).count();
        Ok(read.threads.min(fit / 2).min(chunks).max(1))
    }

    /// The bytes of the file of a chunk that holds `plain`.
    ///
    /// # Errors
    /// `Io` when memory runs out.
    pub(super) fn encode(&self, plain: Vec<u8>) -> Result<Vec<u8>> {
        self.compression.encode(plain)
    }

    /// Whether the file `stored` of a chunk holds `plain`.
    ///
    /// # Errors
    /// `Limit`; `Io` when memory runs out.
    pub(super) fn holds(&self, stored: &[u8], plain: &[u8], read: &ReadOptions) -> Result<bool> {
        self.compression.holds(stored, plain, &read.limits)
    }

    /// Contents of the chunk at `place`, `None` where it is all zeros; and the number of its source bytes.
    ///
    /// # Errors
    /// Those of reading; `Limit`; `Io` when memory runs out.
    pub(super) fn plain(
        &self,
        container: &dyn Container,
        place: &[u64],
        read: &ReadOptions,
    ) -> Result<(Option<Vec<u8>>, u64)> {
        let parts: Vec<(u64, u64)> = self.grid.part(place).collect();
        let region = self.region.sub_region(&parts)?;
        let array = container.read(self.index, &region, read)?;
        let bytes = array.bytes(self.order, &read.limits)?;
        let taken = bytes.len() as u64;
        let mut plain = if self.is_typed {
            let mut packed = Vec::new();
            self.packer.pack(&bytes, &mut packed);
            self.packer.dtype().swap_to(ByteOrder::Little, &mut packed)?;
            drop(bytes);
            packed
        } else {
            self.stored.little_endian(bytes)?.into_owned()
        };
        if plain.iter().all(|byte| *byte == 0) {
            return Ok((None, taken));
        }
        let lens: Vec<u64> = parts.iter().map(|(_, len)| *len).collect();
        if lens != self.grid.chunk {
            plain = self.filled_up(&plain, &lens, read)?;
        }
        Ok((Some(plain), taken))
    }

    /// A whole chunk whose first elements along each axis are those of `plain`, which has the lengths `lens`.
    fn filled_up(&self, plain: &[u8], lens: &[u64], read: &ReadOptions) -> Result<Vec<u8>> {
        // Fastest axis last.
        let fast_last = |lens: &[u64]| -> Vec<usize> {
            let lens = lens.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX));
            if self.order == Order::F { lens.rev().collect() } else { lens.collect() }
        };
        let (from, to) = (fast_last(lens), fast_last(&self.grid.chunk));
        let size = if self.is_typed { self.packer.dtype().itemsize() } else { self.stored.itemsize() };
        let len = self.grid.chunk_len().unwrap_or(u64::MAX).saturating_mul(size as u64);
        let mut chunk = try_zeroed_vec(len, &read.limits)?;
        let run = from.last().copied().unwrap_or(1).saturating_mul(size);
        let mut at = vec![0_usize; from.len().saturating_sub(1)];
        for source in plain.chunks_exact(run.max(1)) {
            let row = at.iter().zip(&to).fold(0_usize, |row, (at, len)| row * len + at);
            let start = row * to.last().copied().unwrap_or(1) * size;
            if let Some(target) = chunk.get_mut(start..start + run) {
                target.copy_from_slice(source);
            }
            for (at, len) in at.iter_mut().zip(&from).rev() {
                *at += 1;
                if *at < *len {
                    break;
                }
                *at = 0;
            }
        }
        Ok(chunk)
    }
}

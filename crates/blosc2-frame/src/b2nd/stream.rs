//! Writing an array whose elements come one after the other.

use container_core::dtype::{DType, Element};
use container_core::format::Output;
use container_core::{Error, Limits, Result};

use super::Geometry;
use super::chunk_boxes::for_each_place;
use super::chunk_rows::Rows;
use super::create::{NdOptions, zero_chunk};
use crate::writer::Writer;

/// Writes an array as its elements come, in C order, in pieces of any length.
///
/// Elements wait until a row of chunks is complete: all chunks that share their place along the first axis on which a chunk is longer
/// than 1. That row is what it takes of memory, and a chunk more (with several threads, some small ones); a piece that brings a whole
/// row is not copied. Where that is too much, and elements can be had in another order, [`NdWriter::boxes`] takes them box by box.
pub struct NdWriter<'o> {
    writer: Writer<'o>,
    dtype: DType,
    geometry: Geometry,
    rows: Rows,
    /// The elements of the row that is not complete.
    waiting: Vec<u8>,
    /// The row that comes next.
    row: u64,
    /// Room for the chunks that are encoded at once.
    chunks: Vec<Vec<u8>>,
    limits: Limits,
    failed: bool,
}

impl<'o> NdWriter<'o> {
    /// Starts the frame of an array where `out` is.
    ///
    /// # Errors
    /// Those of [`super::partition()`] and [`Writer::new`]; `Unsupported` for types that numpy lacks; `Usage` for a metalayer `b2nd` of
    /// the caller's; `Limit` where a row of chunks does not fit.
    pub fn new(out: &'o mut dyn Output, dtype: &DType, shape: &[u64], options: &NdOptions) -> Result<Self> {
        let geometry = options.geometry(shape, dtype.itemsize())?;
        let rows = Rows::new(&geometry);
        Self::with(out, dtype, geometry, rows, options)
    }

    /// As [`NdWriter::new`], for elements that come box by box, each in C order within: those of [`NdWriter::next_box`] one after the
    /// other. A box is some chunks that follow one another, as many as `most` bytes hold and one at
    /// least.
    ///
    /// # Errors
    /// As [`NdWriter::new`]; `Limit` where a box does not fit.
    pub fn boxes(
        out: &'o mut dyn Output,
        dtype: &DType,
        shape: &[u64],
        options: &NdOptions,
        most: u64,
    ) -> Result<Self> {
        let geometry = options.geometry(shape, dtype.itemsize())?;
        let rows = Rows::within(&geometry, most);
        Self::with(out, dtype, geometry, rows, options)
    }

    fn with(
        out: &'o mut dyn Output,
        dtype: &DType,
        geometry: Geometry,
        rows: Rows,
        options: &NdOptions,
    ) -> Result<Self> {
        let batch = if rows.count == 0 { 0 } else { batch(&geometry, &rows, options.params.threads) };
        let memory = geometry.chunk_bytes().saturating_mul(batch);
        let memory = rows.byte_len(&geometry).saturating_add(memory);
        options
            .limits
            .allocate(memory)
            .map_err(|error| error.with_hint("smaller --chunks, or a larger --limit-memory"))?;
        let chunks = (0..batch).map(|_| zero_chunk(&geometry, &options.limits)).collect::<Result<_>>()?;
        let writer = options.start(out, &geometry, dtype)?;
        Ok(Self {
            writer,
            dtype: dtype.clone(),
            geometry,
            rows,
            waiting: Vec::new(),
            row: 0,
            chunks,
            limits: options.limits,
            failed: false,
        })
    }

    /// Shapes of array, chunks and blocks.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns first index and length along each axis of the box (or row of chunks) that the next byte begins or continues; `None`
    /// after the last one.
    #[must_use]
    pub fn next_box(&self) -> Option<(Vec<u64>, Vec<u64>)> {
        (self.row < self.rows.count).then(|| self.rows.extent(&self.geometry, self.row))
    }

    /// Takes the next bytes, any number of them.
    ///
    /// # Errors
    /// `Usage` for more than the array has, and after an error; `Limit`; `Io`.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if self.failed {
            return Err(Error::usage("an earlier piece of this array could not be written"));
        }
        let result = self.take(bytes);
        self.failed = result.is_err();
        result
    }

    /// Takes the next elements, any number of them, in this machine's byte order; they are swapped where the array has the other one.
    ///
    /// # Errors
    /// As [`NdWriter::push`]; `Usage` for elements of another type.
    pub fn push_elements<T: Element>(&mut self, elements: &[T]) -> Result<()> {
        let dtype = T::dtype();
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let Some(order) = dtype.order_for(&self.dtype)? else { return self.push(bytes) };
        let mut swapped = bytes.to_vec();
        dtype.swap_to(order, &mut swapped)?;
        self.push(&swapped)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.row >= self.rows.count {
                let problem =
                    format!("{} bytes more than an array of {:?} has", rest.len(), self.geometry.shape());
                return Err(Error::usage(problem));
            }
            let len = self.limits.allocate(self.rows.window(&self.geometry, self.row)?.byte_len())?;
            if self.waiting.is_empty() && rest.len() >= len {
                let (row, behind) = rest.split_at(len);
                self.write_row(row)?;
                rest = behind;
                continue;
            }
            let (now, behind) = rest.split_at(rest.len().min(len - self.waiting.len()));
            if self.waiting.is_empty() {
                let room = self.waiting.try_reserve_exact(len);
                room.map_err(|_| Error::from(std::io::Error::from(std::io::ErrorKind::OutOfMemory)))?;
            }
            self.waiting.extend_from_slice(now);
            rest = behind;
            if self.waiting.len() == len {
                let mut row = std::mem::take(&mut self.waiting);
                self.write_row(&row)?;
                row.clear();
                self.waiting = row;
            }
        }
        Ok(())
    }

    /// Completes the frame.
    ///
    /// # Errors
    /// `Usage` where elements are missing or an earlier call failed; `Io`.
    pub fn finish(self) -> Result<()> {
        if self.failed || self.row < self.rows.count || !self.waiting.is_empty() {
            let problem = format!("elements of an array of {:?} are missing", self.geometry.shape());
            return Err(Error::usage(problem));
        }
        self.writer.finish()
    }

    fn write_row(&mut self, bytes: &[u8]) -> Result<()> {
        let window = self.rows.window(&self.geometry, self.row)?;
        let Self { writer, geometry, chunks, .. } = self;
        let mut filled = 0;
        for_each_place(&self.rows.places(geometry, self.row), |place| {
            let Some(chunk) = chunks.get_mut(filled) else { return Ok(()) };
            if window.leaves_padding(geometry, place) {
                chunk.fill(0);
            }
            window.write_chunk(geometry, place, bytes, chunk)?;
            filled += 1;
            if filled == chunks.len() { flush(writer, chunks, &mut filled) } else { Ok(()) }
        })?;
        flush(writer, chunks, &mut filled)?;
        self.row += 1;
        Ok(())
    }
}

fn flush(writer: &mut Writer<'_>, chunks: &[Vec<u8>], filled: &mut usize) -> Result<()> {
    let pieces: Vec<&[u8]> = chunks.iter().take(*filled).map(Vec::as_slice).collect();
    *filled = 0;
    writer.append_all(&pieces)
}

/// Returns the number of chunks that are encoded at once: some for each thread, as long as they are small.
fn batch(geometry: &Geometry, rows: &Rows, threads: usize) -> u64 {
    const MAX_BYTES: u64 = 16 << 20;
    if threads <= 1 {
        return 1;
    }
    let in_row = geometry.chunk_count() / rows.count.max(1);
    let wanted = (threads as u64).saturating_mul(4).min(in_row);
    wanted.min(MAX_BYTES / geometry.chunk_bytes().max(1)).max(1)
}

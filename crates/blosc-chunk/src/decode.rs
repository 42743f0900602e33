//! Decodes chunks: whole, by range, by block.

mod block;
mod block_runs;
mod partial_block;
mod salvage;
mod stream;
mod threads;

use std::ops::Range;

use container_core::source::STOP_LEN;
use container_core::{Error, Limits, Result, Stop};

use crate::{Chunk, Plugins};
use block::{Job, Worker, room};
use partial_block::Plan;

/// Properties of a chunk that only its frame stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of an element by the frame, if there is one (a chunk cannot store more than 255).
    pub typesize: Option<usize>,
    /// Shape of a block, in elements, for codecs and filters of n-dimensional data.
    pub blockshape: Vec<usize>,
}

/// Decodes chunks. Reuses contexts and buffers from one chunk to the next, but never their contents; one for each thread.
#[derive(Debug, Default)]
pub struct Decoder {
    geometry: Geometry,
    limits: Limits,
    plugins: Plugins,
    worker: Worker,
    /// Those of the other threads.
    others: Vec<Worker>,
    /// The first block, where others need it and the caller does not.
    reference: Vec<u8>,
}

impl Decoder {
    /// Creates a decoder of chunks outside of frames.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the geometry of an array's chunks.
    #[must_use]
    pub fn with_geometry(self, geometry: Geometry) -> Self {
        Self { geometry, ..self }
    }

    /// Changes the geometry of the chunks that come next; contexts and buffers stay.
    pub fn set_geometry(&mut self, geometry: &Geometry) {
        if self.geometry != *geometry {
            self.geometry.clone_from(geometry);
        }
    }

    /// Sets the bound on each buffer for a block. There are up to two for whole chunks, five for ranges.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Makes further calls end with `Cancelled` once `stop` requests it: it is checked before each stream of a block.
    pub fn set_stop(&mut self, stop: Stop) {
        self.limits.stop = stop;
    }

    /// Sets codecs and filters of the caller's own, for chunks that name them.
    #[must_use]
    pub fn with_plugins(self, plugins: Plugins) -> Self {
        Self { plugins, ..self }
    }

    /// Decodes all of `chunk` into `dst`, which is exactly as long as its `nbytes`.
    ///
    /// # Errors
    /// `Malformed` with the range inside the chunk, `Unsupported` for codecs and filters that are neither here nor among the
    /// plugins, `Limit`, `Usage` when `dst` has another length.
    pub fn decode(&mut self, chunk: &Chunk<'_>, dst: &mut [u8]) -> Result<()> {
        self.decode_parallel(chunk, dst, 1)
    }

    /// Decodes the chunk that fills all of `src` and holds as many bytes as `dst` has: the stored form of a block.
    ///
    /// # Errors
    /// `Malformed` when it is shorter than `src` or holds more or less than that, and as [`Chunk::parse`] and [`Self::decode`].
    pub fn decode_whole(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let chunk = Chunk::parse(src)?;
        if chunk.bytes().len() != src.len() || chunk.nbytes() != dst.len() {
            let problem = format!(
                "a chunk of {} bytes that decodes to {} (expected {} bytes that decode to {})",
                chunk.bytes().len(),
                chunk.nbytes(),
                src.len(),
                dst.len()
            );
            return Err(Error::malformed(problem));
        }
        self.decode(&chunk, dst)
    }

    /// Decodes the bytes `range` of the contents of `chunk` into `dst`, which is as long as the range. Parts that the range
    /// does not need are skipped.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Usage` when the range ends past the chunk.
    pub fn decode_range(&mut self, chunk: &Chunk<'_>, range: Range<usize>, dst: &mut [u8]) -> Result<()> {
        if range.end > chunk.nbytes() || range.start > range.end {
            let problem = format!(
                "bytes {}..{} reach outside a chunk of {} bytes",
                range.start,
                range.end,
                chunk.nbytes()
            );
            return Err(Error::usage(problem));
        }
        check_len(dst, range.len())?;
        if decode_plain(chunk, range.start, dst, self.limits.stop)? {
            return Ok(());
        }
        let (first, start) = first_block(chunk, range.start);
        let local = range.start - start..chunk.block_len(first).min(range.end - start);
        let spans_more = local.len() < range.len();
        self.find_reference(chunk, first + usize::from(spans_more), (!spans_more).then(|| local.clone()))?;
        let (mut index, mut local, mut rest) = (first, local, dst);
        while !rest.is_empty() {
            let (part, next) = rest.split_at_mut(local.len());
            self.decode_part(chunk, index, local, part)?;
            rest = next;
            index += 1;
            local = 0..chunk.block_len(index).min(rest.len());
        }
        Ok(())
    }

    /// Decodes the block `index` of `chunk` into `dst`, which is [`Chunk::block_len`] long.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Usage` for an index past the last block.
    pub fn decode_block(&mut self, chunk: &Chunk<'_>, index: usize, dst: &mut [u8]) -> Result<()> {
        if index >= chunk.block_count() {
            return Err(Error::usage(format!("no block {index} (there are {})", chunk.block_count())));
        }
        check_len(dst, chunk.block_len(index))?;
        if decode_plain(chunk, index * chunk.header().block_len() as usize, dst, self.limits.stop)? {
            return Ok(());
        }
        self.find_reference(chunk, index, None)?;
        self.decode_part(chunk, index, 0..dst.len(), dst)
    }

    /// Decodes those blocks of `chunk` for which `wanted` holds to their places in `dst`, which is exactly as long as its
    /// `nbytes`. Nothing else in `dst` is touched.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_blocks(
        &mut self,
        chunk: &Chunk<'_>,
        mut wanted: impl FnMut(usize) -> bool,
        dst: &mut [u8],
    ) -> Result<()> {
        check_len(dst, chunk.nbytes())?;
        let mut rest = dst;
        let mut has_reference = false;
        for index in 0..chunk.block_count() {
            let start = chunk.nbytes() - rest.len();
            let (block, next) = rest.split_at_mut(chunk.block_len(index));
            rest = next;
            if !wanted(index) || decode_plain(chunk, start, block, self.limits.stop)? {
                continue;
            }
            if !has_reference && index > 0 {
                self.find_reference(chunk, index, None)?;
                has_reference = true;
            }
            self.decode_part(chunk, index, 0..block.len(), block)?;
        }
        Ok(())
    }

    /// Decodes all of `chunk` into `dst` on up to `threads` threads, the blocks shared out among them.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_parallel(&mut self, chunk: &Chunk<'_>, dst: &mut [u8], threads: usize) -> Result<()> {
        check_len(dst, chunk.nbytes())?;
        if decode_plain(chunk, 0, dst, self.limits.stop)? {
            return Ok(());
        }
        let job = Job { chunk, geometry: &self.geometry, limits: &self.limits, plugins: &self.plugins };
        threads::decode(job, &mut self.worker, &mut self.others, dst, threads)
    }

    /// Decodes as much of the first block as the block `index` needs under DELTA, for the bytes `part` of it or for all.
    fn find_reference(&mut self, chunk: &Chunk<'_>, index: usize, part: Option<Range<usize>>) -> Result<()> {
        let job = Job { chunk, geometry: &self.geometry, limits: &self.limits, plugins: &self.plugins };
        if index == 0 || !job.needs_reference() {
            return Ok(());
        }
        let plan = part.and_then(|part| Plan::new(job, chunk.block_len(index), part, false));
        let len = chunk.block_len(0);
        let need = plan.map_or(len, |plan| plan.made().end.min(len));
        let reference = room(&mut self.reference, len, job.limits)?;
        self.worker.part(job, 0, None, 0..need, &mut reference[..need])
    }

    /// Decodes the bytes `range` of the block `index`, for which the reference is found.
    fn decode_part(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let job = Job { chunk, geometry: &self.geometry, limits: &self.limits, plugins: &self.plugins };
        let has_reference = index > 0 && job.needs_reference();
        let reference = has_reference.then(|| &self.reference[..chunk.block_len(0)]);
        self.worker.part(job, index, reference, range, dst)
    }
}

/// Returns the block that holds byte `at` of the chunk, and the byte where it begins.
fn first_block(chunk: &Chunk<'_>, at: usize) -> (usize, usize) {
    if !chunk.header().has_variable_blocks() {
        let len = chunk.header().block_len() as usize;
        return (at / len, at / len * len);
    }
    let found = chunk.blocks().enumerate().find(|(_, block)| block.contains(&at));
    found.map_or((0, 0), |(index, block)| (index, block.start))
}

/// Decodes the bytes of a chunk without streams from `start` on; false where it has streams.
fn decode_plain(chunk: &Chunk<'_>, start: usize, dst: &mut [u8], stop: Stop) -> Result<bool> {
    let header = chunk.header();
    if let Some(special) = header.special() {
        // Without streams there are no measurements, even if the bit is set: C-Blosc2 decodes the value.
        for (at, piece) in dst.chunks_mut(STOP_LEN).enumerate() {
            stop.check()?;
            special.fill(chunk, start + at * STOP_LEN, piece);
        }
    } else if header.is_instrumented() {
        let problem = "an instrumented chunk, which holds measurements instead of data";
        return Err(Error::unsupported(problem).with_range(31..32).with_context("blosc chunk"));
    } else if header.is_memcpyed() {
        // The flags may name filters and codecs, which were tried before the bytes were stored.
        let stored = chunk.value()[start..start + dst.len()].chunks(STOP_LEN);
        for (piece, stored) in dst.chunks_mut(STOP_LEN).zip(stored) {
            stop.check()?;
            piece.copy_from_slice(stored);
        }
    } else {
        return Ok(dst.is_empty());
    }
    Ok(true)
}

fn check_len(dst: &[u8], want: usize) -> Result<()> {
    if dst.len() == want {
        Ok(())
    } else {
        Err(Error::usage(format!("buffer of {} bytes (expected {want})", dst.len())))
    }
}

#[cfg(test)]
mod tests;

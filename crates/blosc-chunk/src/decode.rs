//! From chunks to bytes: whole, by range, by block.

mod job;
mod stream;
mod threads;

use std::ops::Range;

use container_core::{Error, Limits, Result};

use crate::Chunk;
use job::{Job, Worker, room};

/// What a chunk does not know of itself, and its frame does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of an element, where the frame says so (over 255 the chunk cannot).
    pub typesize: Option<usize>,
    /// Shape of a block, in elements, for codecs and filters of n-dimensional data.
    pub blockshape: Vec<usize>,
}

/// Decodes chunks. Keeps contexts and buffers from one chunk to the next, but nothing of what they held; one for each thread.
#[derive(Debug, Default)]
pub struct Decoder {
    geometry: Geometry,
    limits: Limits,
    worker: Worker,
    /// Those of the other threads.
    others: Vec<Worker>,
    /// The first block, where others need it and the caller does not.
    reference: Vec<u8>,
}

impl Decoder {
    /// A decoder of chunks that stand alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same for chunks of an array.
    #[must_use]
    pub fn with_geometry(self, geometry: Geometry) -> Self {
        Self { geometry, ..self }
    }

    /// The same with another bound on the memory that a block takes while it is decoded: up to three times its length.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Decodes all of `chunk` into `dst`, which is exactly as long as its `nbytes`.
    ///
    /// # Errors
    /// `Malformed` with the range inside the chunk, `Unsupported` for codecs and filters that are not here, `Limit`, `Usage` when
    /// `dst` has another length.
    pub fn decode(&mut self, chunk: &Chunk<'_>, dst: &mut [u8]) -> Result<()> {
        self.decode_parallel(chunk, dst, 1)
    }

    /// Decodes the bytes `range` of what `chunk` holds into `dst`, which is as long as the range; nothing else is decoded that
    /// need not be.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Usage` when the range ends past the chunk.
    pub fn decode_range(&mut self, chunk: &Chunk<'_>, range: Range<usize>, dst: &mut [u8]) -> Result<()> {
        if range.end > chunk.nbytes() || range.start > range.end {
            let problem = format!("bytes {}..{} of a chunk of {}", range.start, range.end, chunk.nbytes());
            return Err(Error::usage(problem));
        }
        check_len(dst, range.len())?;
        if decode_plain(chunk, range.start, dst)? {
            return Ok(());
        }
        let mut rest = dst;
        let mut from = self.first_block(chunk, range.start);
        while !rest.is_empty() {
            let (index, start) = from;
            let len = chunk.block_len(index);
            let local = range.start.saturating_sub(start)..len.min(range.end - start);
            let (part, next) = rest.split_at_mut(local.len());
            self.decode_part(chunk, index, local, part)?;
            rest = next;
            from = (index + 1, start + len);
        }
        Ok(())
    }

    /// Decodes the block `index` of `chunk` into `dst`, which is [`Chunk::block_len`] long.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Usage` when there is no such block.
    pub fn decode_block(&mut self, chunk: &Chunk<'_>, index: usize, dst: &mut [u8]) -> Result<()> {
        if index >= chunk.block_count() {
            return Err(Error::usage(format!("block {index} of {}", chunk.block_count())));
        }
        check_len(dst, chunk.block_len(index))?;
        if decode_plain(chunk, index * chunk.header().block_len() as usize, dst)? {
            return Ok(());
        }
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
        for index in 0..chunk.block_count() {
            let (block, next) = rest.split_at_mut(chunk.block_len(index));
            if wanted(index) {
                self.decode_block(chunk, index, block)?;
            }
            rest = next;
        }
        Ok(())
    }

    /// Decodes all of `chunk` into `dst` on up to `threads` threads, the blocks shared out among them.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_parallel(&mut self, chunk: &Chunk<'_>, dst: &mut [u8], threads: usize) -> Result<()> {
        check_len(dst, chunk.nbytes())?;
        if decode_plain(chunk, 0, dst)? {
            return Ok(());
        }
        let job = Job { chunk, geometry: &self.geometry, limits: &self.limits };
        threads::decode(job, &mut self.worker, &mut self.others, dst, threads)
    }

    /// Decodes the bytes `range` of the block `index`.
    fn decode_part(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let job = Job { chunk, geometry: &self.geometry, limits: &self.limits };
        let mut reference = None;
        if index > 0 && job.needs_reference() {
            let first = room(&mut self.reference, chunk.block_len(0), job.limits)?;
            self.worker.block(job, 0, None, first)?;
            reference = Some(&*first);
        }
        self.worker.part(job, index, reference, range, dst)
    }

    /// The block that holds byte `at` of the chunk, and the byte where it begins.
    fn first_block(&self, chunk: &Chunk<'_>, at: usize) -> (usize, usize) {
        if !chunk.header().has_variable_blocks() {
            let len = chunk.header().block_len() as usize;
            return (at / len, at / len * len);
        }
        let found = chunk.blocks().enumerate().find(|(_, block)| block.contains(&at));
        found.map_or((0, 0), |(index, block)| (index, block.start))
    }
}

/// Decodes the bytes of a chunk without streams from `start` on; false where it has streams.
fn decode_plain(chunk: &Chunk<'_>, start: usize, dst: &mut [u8]) -> Result<bool> {
    let header = chunk.header();
    if header.is_instrumented() {
        let problem = "an instrumented chunk, which holds measurements instead of data";
        return Err(Error::unsupported(problem).at(31..32).context("blosc chunk"));
    }
    if let Some(special) = header.special() {
        special.fill(chunk, start, dst);
    } else if header.is_memcpyed() {
        // The flags may speak of filters and codecs: they are left from an attempt.
        dst.copy_from_slice(&chunk.value()[start..start + dst.len()]);
    } else {
        return Ok(dst.is_empty());
    }
    Ok(true)
}

fn check_len(dst: &[u8], want: usize) -> Result<()> {
    if dst.len() == want {
        Ok(())
    } else {
        Err(Error::usage(format!("room for {} bytes, not {want}", dst.len())))
    }
}

#[cfg(test)]
mod tests;

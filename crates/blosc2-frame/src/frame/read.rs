//! The bytes of chunks.

use std::ops::Range;

use blosc_chunk::Chunk;
use container_core::container::{Digests, ReadOptions};
use container_core::source::{STOP_LEN, Source, try_zeroed_vec};
use container_core::{Error, Limits, Result, Stop};

use super::Frame;
use super::chunk_location::{ChunkLocation, LocatedChunk};
use crate::decoder_pool::{self, Worker};
use crate::offsets::Offset;

impl Frame {
    /// Decodes the bytes `range` of the chunk `index` into `dst`, which is as long; decodes only the needed part.
    ///
    /// # Errors
    /// As [`Frame::chunk`], and those of the chunk with ranges in the file; `Usage` when the range ends after the chunk or `dst` has
    /// another length.
    pub fn read_chunk_into(
        &self,
        index: u64,
        range: Range<usize>,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        let len = self.chunk_len(index)?;
        if range.start > range.end || range.end as u64 > len || dst.len() != range.end - range.start {
            let problem = format!(
                "bytes {}..{} of a chunk of {len} do not fit a buffer of {}",
                range.start,
                range.end,
                dst.len()
            );
            return Err(Error::usage(problem));
        }
        let from = range.start as u64;
        self.pool.with(|worker| self.decode_part(worker, index, from, dst, options))
    }

    /// Returns all bytes of the chunk `index`.
    ///
    /// # Errors
    /// As [`Frame::read_chunk_into`]; `Limit`.
    pub fn read_chunk(&self, index: u64, options: &ReadOptions) -> Result<Vec<u8>> {
        options.limits.stop.check()?;
        let len = self.chunk_len(index)?;
        let mut bytes = self.room(len, options)?;
        let is_zero = matches!(
            self.offset(index)?,
            Offset::Special(blosc_chunk::Special::Zeros | blosc_chunk::Special::Uninit)
        );
        if !is_zero {
            self.pool.with(|worker| self.decode_part(worker, index, 0, &mut bytes, options))?;
        }
        Ok(bytes)
    }

    /// Returns all chunks, decoded one after the other.
    pub fn chunks<'f>(&'f self, options: &'f ReadOptions) -> impl Iterator<Item = Result<Vec<u8>>> + 'f {
        (0..self.chunk_count()).map(|index| self.read_chunk(index, options))
    }

    /// Returns the number of blocks of the chunk `index`; of one that is not stored, the number that it would have.
    ///
    /// # Errors
    /// As [`Frame::chunk`].
    pub fn block_count(&self, index: u64) -> Result<u64> {
        Ok(self.chunk_header(index)?.block_count().into())
    }

    /// Returns all bytes of the block `block` of the chunk `index`, for blocks of equal and of variable length.
    ///
    /// # Errors
    /// As [`Frame::read_chunk_into`]; `Usage` for a block that does not exist.
    pub fn read_block(&self, index: u64, block: u64, options: &ReadOptions) -> Result<Vec<u8>> {
        let missing =
            |count: u64| Error::usage(format!("no block {block} in chunk {index} (there are {count})"));
        if let Offset::Special(special) = self.offset(index)? {
            let header = self.special_header(index, special)?;
            let count = u64::from(header.block_count());
            if block >= count {
                return Err(missing(count));
            }
            let from = block.saturating_mul(header.block_len().into());
            let len = u64::from(header.nbytes).saturating_sub(from).min(header.block_len().into());
            let mut bytes = self.room(len, options)?;
            self.fill(index, special, from, &mut bytes, options.limits.stop)?;
            return Ok(bytes);
        }
        self.pool.with(|worker| {
            let Worker { decoder, stored } = worker;
            decoder.set_stop(options.limits.stop);
            self.with_stored(index, stored, options, |bytes| {
                let chunk = Chunk::parse(bytes)?;
                let own = usize::try_from(block).ok().filter(|block| *block < chunk.block_count());
                let own = own.ok_or_else(|| missing(chunk.block_count() as u64))?;
                let mut bytes = self.room(chunk.block_len(own) as u64, options)?;
                decoder.decode_block(&chunk, own, &mut bytes)?;
                Ok(bytes)
            })
        })
    }

    /// Returns zeroed memory for a read, within the limits of the frame and of the read.
    pub(crate) fn room(&self, len: u64, options: &ReadOptions) -> Result<Vec<u8>> {
        self.options.limits.allocate(len)?;
        try_zeroed_vec(len, &options.limits)
    }

    /// Decodes bytes of the chunk `index` from byte `from` on. The caller has compared their number with [`Frame::chunk_len`].
    pub(crate) fn decode_part(
        &self,
        worker: &mut Worker,
        index: u64,
        from: u64,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        if let Offset::Special(special) = self.offset(index)? {
            return self.fill(index, special, from, dst, options.limits.stop);
        }
        let expected = self.layout.expected_len(index);
        let Worker { decoder, stored } = worker;
        decoder.set_stop(options.limits.stop);
        self.with_stored(index, stored, options, |bytes| {
            let chunk = Chunk::parse(bytes)?;
            let nbytes = chunk.nbytes() as u64;
            if let Some(expected) = expected.filter(|expected| *expected != nbytes) {
                let problem = format!("it decodes to {nbytes} bytes (expected {expected})");
                return Err(Error::malformed(problem).with_range(4..8));
            }
            if from.saturating_add(dst.len() as u64) > nbytes {
                return Err(Error::malformed(format!("it decodes to only {nbytes} bytes")).with_range(4..8));
            }
            decoder_pool::decode(decoder, &chunk, from, dst, options.threads)
        })
    }

    fn fill(
        &self,
        index: u64,
        special: blosc_chunk::Special,
        mut from: u64,
        dst: &mut [u8],
        stop: Stop,
    ) -> Result<()> {
        let mut fill = || -> Result<()> {
            for piece in dst.chunks_mut(STOP_LEN) {
                stop.check()?;
                decoder_pool::fill(special, self.header().typesize, from, piece)?;
                from = from.saturating_add(piece.len() as u64);
            }
            Ok(())
        };
        fill().map_err(|error| error.with_context(format!("blosc2 chunk {index}")))
    }

    /// Returns the bytes of the element of `itemsize` bytes that the chunk `index` repeats; `None` for other chunks, and for elements
    /// that the value does not fill.
    pub(crate) fn repeated(&self, index: u64, itemsize: usize) -> Option<Vec<u8>> {
        if itemsize == 0 {
            return None;
        }
        let mut element = vec![0; itemsize];
        if let Offset::Special(special) = self.offset(index).ok()? {
            let is_whole = special != blosc_chunk::Special::Nan
                || itemsize.is_multiple_of(self.header().typesize as usize);
            self.fill(index, special, 0, &mut element, Stop::never()).ok()?;
            return is_whole.then_some(element);
        }
        let header = self.chunk_header(index).ok()?;
        let special = header.special()?;
        // Reading reports a chunk of another length.
        if self.layout.expected_len(index).is_some_and(|len| len != u64::from(header.nbytes)) {
            return None;
        }
        let bytes = self.chunk(index).ok()?;
        let chunk = Chunk::parse(&bytes).ok()?;
        let value = match special {
            blosc_chunk::Special::Value => chunk.bytes().len().checked_sub(header.len())?,
            blosc_chunk::Special::Nan => usize::from(header.typesize),
            _ => 1,
        };
        if value == 0 || !itemsize.is_multiple_of(value) || itemsize > chunk.nbytes() {
            return None;
        }
        self.with_decoder(|decoder| decoder.decode_range(&chunk, 0..itemsize, &mut element)).ok()?;
        Some(element)
    }

    /// Passes the stored bytes of a chunk to `look`, borrowed or in `buffer`. They are compared with their digest, unless digests are
    /// ignored. Errors of `look` count from the start of the chunk.
    fn with_stored<T>(
        &self,
        index: u64,
        buffer: &mut Vec<u8>,
        options: &ReadOptions,
        look: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        let compared = |bytes: &[u8]| {
            if options.digests != Digests::Ignore {
                self.verified_reads.compare(self, index, bytes, options.limits.stop)?;
            }
            look(bytes)
        };
        if let Some(bytes) = self.small_chunk(index) {
            return compared(&bytes).map_err(|error| match self.locate(index) {
                Ok(LocatedChunk::Stored(place)) => place.in_chunk(error, index),
                _ => error,
            });
        }
        let LocatedChunk::Stored(place) = self.locate(index)? else {
            return Err(Error::usage(format!("chunk {index} is not stored")));
        };
        let result =
            stored(&place, buffer, &self.options.limits.with_stop(options.limits.stop)).and_then(compared);
        result.map_err(|error| place.in_chunk(error, index))
    }
}

/// Reads the bytes of a place, borrowed or into `buffer`.
fn stored<'b>(place: &'b ChunkLocation<'_>, buffer: &'b mut Vec<u8>, limits: &Limits) -> Result<&'b [u8]> {
    let range = place.range();
    let source: &dyn Source = place.source();
    if let Some(bytes) = source.lend(range.clone()) {
        return Ok(bytes);
    }
    let len = limits.allocate(range.end.saturating_sub(range.start))?;
    if buffer.len() < len {
        *buffer = try_zeroed_vec(len as u64, limits)?;
    }
    let buffer = &mut buffer[..len];
    source.read_until(range.start, buffer, limits.stop)?;
    Ok(buffer)
}

//! The blocks of one chunk, each by the way that its chunk allows.

use std::ops::Range;
use std::sync::atomic::Ordering;

use blosc_chunk::{Chunk, Decoder, Filter, Special};
use container_core::source::try_zeroed_vec;
use container_core::{Limits, Result};

use super::copy_out::{Patch, Target, strides_into};
use super::{Job, Piece, index_of};
use crate::b2nd::MAX_DIMENSIONS;

/// Buffers that a thread keeps from chunk to chunk.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Blocks of a chunk that are not kept, and whether they are to be.
    pub(super) missed: Vec<(usize, bool)>,
    /// Number of the part along each axis.
    pub(super) at: Vec<usize>,
    /// A block on its way to the result; of some chunks all of them.
    block: Vec<u8>,
    runs: Vec<Range<usize>>,
    low: Vec<usize>,
    strides: Vec<usize>,
}

/// Method of reading a chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It holds zeros, and so does the result.
    Done,
    /// All elements are the same.
    Same,
    /// It is stored as it is.
    Plain,
    /// Its blocks are those of the array.
    Blocks,
    /// It was decoded at once.
    Whole,
}

/// A chunk that is being read.
pub(super) struct Stored<'s, 'j> {
    job: &'s Job<'j>,
    chunk: &'s Chunk<'s>,
    decoder: &'s mut Decoder,
    index: u64,
    scratch: &'s mut Scratch,
    way: Way,
}

impl<'s, 'j> Stored<'s, 'j> {
    pub(super) fn new(
        job: &'s Job<'j>,
        chunk: &'s Chunk<'s>,
        decoder: &'s mut Decoder,
        index: u64,
        scratch: &'s mut Scratch,
    ) -> Self {
        let mut stored = Self { job, chunk, decoder, index, scratch, way: Way::Blocks };
        stored.way = stored.way();
        stored
    }

    fn way(&self) -> Way {
        let header = self.chunk.header();
        let (itemsize, block) = (self.job.shape.itemsize, self.job.array.geometry().block_bytes());
        if let Some(special) = header.special() {
            let value = match special {
                Special::Zeros | Special::Uninit if self.job.is_zeroed => {
                    return Way::Done;
                }
                Special::Zeros | Special::Uninit => 1,
                Special::Nan => usize::from(header.typesize),
                Special::Value => self.chunk.bytes().len() - header.len(),
            };
            return if itemsize.is_multiple_of(value.max(1)) { Way::Same } else { Way::Whole };
        }
        if header.is_memcpyed() {
            return Way::Plain;
        }
        let is_same = u64::from(header.block_len()) == block && !header.has_variable_blocks();
        if is_same { Way::Blocks } else { Way::Whole }
    }

    /// Decodes the parts that `count` blocks need at once, if that is less work. False if no block is to be read: everything is
    /// done, or the read restarts without cutting chunks.
    pub(super) fn prepare(&mut self, parts: &[Range<usize>], count: usize) -> Result<bool> {
        let limits = self.job.limits();
        // Under DELTA each block would have the first decoded again.
        let is_delta = self.way == Way::Blocks && self.chunk.header().filters.contains(Filter::DELTA);
        if (self.way == Way::Whole || is_delta) && self.job.cuts_chunks {
            self.job.refused.store(true, Ordering::Relaxed);
            return Ok(false);
        }
        if self.way == Way::Whole {
            let block = room(&mut self.scratch.block, self.chunk.nbytes(), limits)?;
            self.decoder.decode(self.chunk, block)?;
        } else if is_delta && count > 1 {
            let mut wanted = vec![false; self.chunk.block_count()];
            for number in 0..super::combinations(parts) {
                let piece = self.job.piece(parts, number, self.scratch);
                if let Some(wanted) = wanted.get_mut(index_of(piece.block)) {
                    *wanted = true;
                }
            }
            let block = room(&mut self.scratch.block, self.chunk.nbytes(), limits)?;
            let wanted = |index: usize| wanted.get(index).copied().unwrap_or(false);
            self.decoder.decode_blocks(self.chunk, wanted, block)?;
            self.way = Way::Whole;
        }
        Ok(self.way != Way::Done)
    }

    /// Reads one block; `again` if it is to be cached.
    pub(super) fn read(
        &mut self,
        parts: &[Range<usize>],
        number: usize,
        again: bool,
        target: &mut Target<'_>,
    ) -> Result<()> {
        let piece = self.job.piece(parts, number, self.scratch);
        let len = index_of(self.job.array.geometry().block_bytes());
        let start = index_of(piece.block).saturating_mul(len);
        match self.way {
            Way::Done => {}
            Way::Same => self.same(&piece, target)?,
            Way::Plain => {
                let bytes = self.chunk.bytes().get(self.chunk.header().len()..).unwrap_or_default();
                let block = bytes.get(start..start.saturating_add(len)).unwrap_or_default();
                self.job.copy(&piece, self.job.whole(block)).run(target);
            }
            Way::Whole => {
                let block = self.scratch.block.get(start..start.saturating_add(len)).unwrap_or_default();
                self.job.copy(&piece, self.job.whole(block)).run(target);
            }
            Way::Blocks if again => self.keep(&piece, len, target)?,
            Way::Blocks => self.block(&piece, len, target)?,
        }
        Ok(())
    }

    /// Copies elements that are all the same.
    fn same(&mut self, piece: &Piece<'_>, target: &mut Target<'_>) -> Result<()> {
        let none = [0; MAX_DIMENSIONS];
        let patch = |bytes| Patch { bytes, low: &none, strides: &none[..piece.tiles.len()] };
        let len = self.job.copy(piece, patch(&[])).longest_run().min(self.chunk.nbytes());
        let run = room(&mut self.scratch.block, len, self.job.limits())?;
        self.decoder.decode_range(self.chunk, 0..len, run)?;
        self.job.copy(piece, patch(run)).run(target);
        Ok(())
    }

    /// Decodes a block to be kept.
    fn keep(&mut self, piece: &Piece<'_>, len: usize, target: &mut Target<'_>) -> Result<()> {
        let reader = self.job.reader;
        let cache = &reader.shared.blocks;
        let mut bytes = cache.spare();
        if bytes.len() != len {
            bytes = try_zeroed_vec(len as u64, self.job.limits())?;
        }
        self.decoder.decode_block(self.chunk, index_of(piece.block), &mut bytes)?;
        let bytes = cache.keep((reader.number, self.index, piece.block), bytes);
        self.job.copy(piece, self.job.whole(&bytes)).run(target);
        Ok(())
    }

    /// Decodes what is needed of a block.
    fn block(&mut self, piece: &Piece<'_>, len: usize, target: &mut Target<'_>) -> Result<()> {
        let index = index_of(piece.block);
        let limits = self.job.limits();
        let strides = &self.job.reader.block_strides;
        let itemsize = self.job.shape.itemsize;
        let first: usize = piece.bounds.iter().zip(strides).map(|(axis, stride)| axis.start * stride).sum();
        let last: usize =
            piece.bounds.iter().zip(strides).map(|(axis, stride)| (axis.end - 1) * stride).sum();
        let cover = first..last + itemsize;
        let wanted = piece.bounds.iter().fold(itemsize, |len, axis| len * axis.len());
        if cover.len() >= len / 4 * 3 && wanted >= len / 2 {
            let copy = self.job.copy(piece, self.job.whole(&[]));
            if let Some(dst) = copy.straight(target, len) {
                return self.decoder.decode_block(self.chunk, index, dst);
            }
            let block = room(&mut self.scratch.block, len, limits)?;
            self.decoder.decode_block(self.chunk, index, block)?;
            self.job.copy(piece, self.job.whole(block)).run(target);
            return Ok(());
        }
        let Scratch { block, runs, low, strides: own, .. } = &mut *self.scratch;
        let block = room(block, wanted, limits)?;
        rows(runs, &piece.bounds, strides, itemsize, limits)?;
        self.decoder.decode_runs(self.chunk, index, runs, block)?;
        low.clear();
        low.extend(piece.bounds.iter().map(|axis| axis.start));
        strides_into(own, piece.bounds.iter().map(Range::len), itemsize);
        self.job.copy(piece, Patch { bytes: block, low, strides: own }).run(target);
        Ok(())
    }
}

/// Finds the bytes of a box in a block, as runs in order; neighbours are joined.
fn rows(
    runs: &mut Vec<Range<usize>>,
    bounds: &[Range<usize>],
    strides: &[usize],
    itemsize: usize,
    limits: &Limits,
) -> Result<()> {
    runs.clear();
    let (Some(inner), Some((_, outer))) = (bounds.last(), bounds.split_last()) else { return Ok(()) };
    let count = outer.iter().fold(1_usize, |product, axis| product.saturating_mul(axis.len()));
    limits.allocate((count as u64).saturating_mul(size_of::<Range<usize>>() as u64))?;
    let mut at: Vec<usize> = outer.iter().map(|axis| axis.start).collect();
    for _ in 0..count {
        let base: usize = at.iter().zip(strides).map(|(index, stride)| index * stride).sum();
        let run = base + inner.start * itemsize..base + inner.end * itemsize;
        match runs.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => runs.push(run),
        }
        for (index, axis) in at.iter_mut().zip(outer).rev() {
            *index += 1;
            if *index < axis.end {
                break;
            }
            *index = axis.start;
        }
    }
    Ok(())
}

/// Returns the first `len` bytes of `buffer`, which grows if need be.
fn room<'b>(buffer: &'b mut Vec<u8>, len: usize, limits: &Limits) -> Result<&'b mut [u8]> {
    if buffer.len() < len {
        buffer.clear();
        *buffer = try_zeroed_vec(len as u64, limits)?;
    }
    Ok(&mut buffer[..len])
}

//! Decodes the intact blocks of a damaged chunk.
//!
//! Each block decodes by itself, but that alone proves little. A block whose beginning is overwritten by a sector of zeros decodes to
//! zeros, and a damaged start makes a block decode from unrelated bytes. Encoders store blocks without gaps. So the streams of an intact
//! block end where another begins or at the end of the chunk, and do not overlap those of another block. A damaged start therefore costs
//! the block before it as well.

use std::collections::BTreeSet;
use std::ops::Range;

use container_core::{Error, ErrorKind, Result};

use super::stream::{Stream, Streams};
use super::{Decoder, check_len};
use crate::Chunk;
use crate::filters::Filter;

impl Chunk<'_> {
    /// Returns the range of the chunk that holds the streams of the block `index`, by the lengths stored before each. Decodes
    /// nothing.
    ///
    /// # Errors
    /// `Malformed` when they end past the chunk; `Usage` for an index without streams.
    pub fn block_range(&self, index: usize) -> Result<Range<usize>> {
        if index >= self.block_count() || !self.has_blocks() {
            return Err(Error::usage(format!("block {index} has no streams")));
        }
        let start = self.block_start(index)?;
        if self.header().has_variable_blocks() {
            return Ok(start..self.variable_payload(index)?.end);
        }
        let mut streams = Streams::of(self, index)?;
        while streams.next()?.is_some() {}
        Ok(start..streams.at())
    }

    /// Checks that no block begins with overwriting zeros, which would decode to zeros. The streams of a block of zeros, as encoders make
    /// it, end where another begins or at the end of the chunk. Decodes nothing.
    ///
    /// # Errors
    /// `Malformed`, with the bytes that would be outside of every block.
    pub fn check_zeros(&self) -> Result<()> {
        if !self.has_blocks() || self.header().has_variable_blocks() || !self.header().extended {
            return Ok(());
        }
        let mut zeros = Vec::new();
        for index in 0..self.block_count() {
            let mut streams = Streams::of(self, index)?;
            let mut is_zeros = true;
            while let Some(stream) = streams.next()?.filter(|_| is_zeros) {
                is_zeros = matches!(stream, Stream::Run(0));
            }
            if is_zeros {
                zeros.push((index, streams.at()));
            }
        }
        if zeros.is_empty() {
            return Ok(());
        }
        let starts = (0..self.block_count()).filter_map(|index| self.block_start(index).ok());
        let ends: BTreeSet<usize> = starts.chain([self.bytes().len()]).collect();
        for (index, end) in zeros {
            let next = ends.range(end..).next().copied().unwrap_or(end);
            if next != end {
                let count = next - end;
                let problem = format!(
                    "block {index} is overwritten: it reads as zeros, and the {count} bytes after it belong to no block"
                );
                return Err(Error::malformed(problem)
                    .with_range(end as u64..next as u64)
                    .with_context("blosc chunk"));
            }
        }
        Ok(())
    }
}

impl Decoder {
    /// Decodes the intact blocks of a damaged `chunk` to their places in `dst`, which is exactly as long as its `nbytes`, and puts zeros
    /// into the others. Returns for each block whether it is intact. Only the first `have` bytes of the chunk exist; blocks with bytes
    /// after these are not intact.
    ///
    /// The contents of these blocks are not proved: codecs without a digest of their own decode much that is damaged. The blocks of a
    /// stored chunk are intact if all of their bytes exist. A special value has no blocks. If the codec or a filter is missing, no block
    /// is intact.
    ///
    /// # Errors
    /// As [`Decoder::decode`], but for `Malformed` and `Unsupported`.
    pub fn decode_intact_blocks(
        &mut self,
        chunk: &Chunk<'_>,
        have: usize,
        dst: &mut [u8],
    ) -> Result<Vec<bool>> {
        check_len(dst, chunk.nbytes())?;
        dst.fill(0);
        if chunk.header().is_memcpyed() {
            let stored = chunk.bytes().get(chunk.header().len()..have).unwrap_or_default();
            let copied = |held: Range<usize>| match (dst.get_mut(held.clone()), stored.get(held)) {
                (Some(to), Some(from)) => {
                    to.copy_from_slice(from);
                    true
                }
                _ => false,
            };
            return Ok(chunk.blocks().map(copied).collect());
        }
        if !chunk.has_blocks() {
            return Ok(Vec::new());
        }
        if chunk.header().has_dictionary() {
            // The dictionary has no checksum, and a damaged one would change every block.
            return Ok(vec![false; chunk.block_count()]);
        }
        let mut intact = self.in_place(chunk, have)?;
        // Under DELTA all others are differences from the first.
        let needs_first =
            chunk.header().filters.contains(Filter::DELTA) && !chunk.header().has_variable_blocks();
        let mut rest = dst;
        for index in 0..intact.len() {
            let (block, next) = rest.split_at_mut(chunk.block_len(index));
            rest = next;
            if !intact[index] || needs_first && !intact[0] {
                intact[index] = false;
                continue;
            }
            match self.decode_block(chunk, index, block) {
                Ok(()) => {}
                Err(error) if error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                    block.fill(0);
                    intact[index] = false;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(intact)
    }

    /// Finds the blocks among the first `have` bytes that end where another begins, and share no byte with others that do.
    fn in_place(&self, chunk: &Chunk<'_>, have: usize) -> Result<Vec<bool>> {
        let count = chunk.block_count();
        self.limits.allocate((count as u64).saturating_mul(64))?;
        let starts = (0..count).filter_map(|index| chunk.block_start(index).ok());
        let ends: BTreeSet<usize> = starts.chain([chunk.bytes().len()]).collect();
        let range = |index| chunk.block_range(index).ok().filter(|range| ends.contains(&range.end));
        let mut ranges: Vec<(Range<usize>, usize)> =
            (0..count).filter_map(|index| Some((range(index)?, index))).collect();
        ranges.sort_unstable_by_key(|(range, _)| (range.start, range.end));
        let mut whole = vec![false; count];
        let mut taken = 0;
        for (at, (range, index)) in ranges.iter().enumerate() {
            let meets_next = ranges.get(at + 1).is_some_and(|(next, _)| next.start < range.end);
            // The start of a block is stored before all blocks.
            let is_there = range.end <= have && chunk.entry_at(*index).end <= have as u64;
            whole[*index] = is_there && range.start >= taken && !meets_next;
            taken = taken.max(range.end);
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests;

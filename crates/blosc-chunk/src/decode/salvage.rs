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
mod tests {
    use super::*;
    use crate::{BloscVersion, Compressor, Encoder, Params, Pipeline, SplitMode};

    const BLOCK: usize = 2048;

    /// Makes a chunk of eight blocks of 2048 bytes, of patterns that repeat a few times each.
    fn chunk(mut params: Params) -> (Vec<u8>, Vec<u8>) {
        params.blocksize = Some(BLOCK);
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let mut data = Vec::new();
        while data.len() < 8 * BLOCK {
            let pattern = [next(), next()].map(|word| word | 0x0101_0101).map(u32::to_le_bytes).concat();
            data.extend(pattern.repeat(3 + next() as usize % 6));
        }
        data.truncate(8 * BLOCK);
        let mut chunk = Vec::new();
        Encoder::new(params).unwrap().encode(&data, &mut chunk).unwrap();
        assert!(chunk.len() < data.len() && Chunk::parse(&chunk).unwrap().block_count() == 8);
        (data, chunk)
    }

    fn params(compressor: Compressor) -> Params {
        Params {
            blosc_version: BloscVersion::Blosc2,
            compressor,
            codec_meta: 0,
            level: 5,
            typesize: 4,
            filters: Pipeline::shuffle(),
            split: SplitMode::Auto,
            blocksize: None,
            dictionary: false,
            threads: 1,
        }
    }

    fn intact(chunk: &Chunk<'_>, dst: &mut [u8]) -> Vec<bool> {
        Decoder::new().decode_intact_blocks(chunk, chunk.bytes().len(), dst).unwrap()
    }

    /// Decodes the intact blocks of `damaged`, and asserts that all of it is the data or zeros.
    fn whole(data: &[u8], damaged: &[u8]) -> Vec<bool> {
        let mut out = vec![1; data.len()];
        let chunk = Chunk::parse(damaged).unwrap();
        let whole = intact(&chunk, &mut out);
        for (index, is_whole) in whole.iter().enumerate() {
            let place = index * BLOCK..(index + 1) * BLOCK;
            let is_zeros = out[place.clone()].iter().all(|byte| *byte == 0);
            assert!(if *is_whole { out[place.clone()] == data[place] } else { is_zeros }, "block {index}");
        }
        whole
    }

    #[test]
    fn zeros_cost_no_block_that_they_do_not_touch() {
        for compressor in [Compressor::ZSTD, Compressor::LZ4, Compressor::ZLIB, Compressor::BLOSCLZ] {
            for typesize in [1, 4] {
                let (data, sound) = chunk(Params { typesize, ..params(compressor) });
                assert_eq!(whole(&data, &sound), [true; 8]);
                let own = Chunk::parse(&sound).unwrap();
                let ranges: Vec<_> = (0..8).map(|index| own.block_range(index).unwrap()).collect();
                for at in (ranges[0].start..sound.len()).step_by(37) {
                    let end = sound.len().min(at + 64);
                    let mut damaged = sound.clone();
                    damaged[at..end].fill(0);
                    let chunk = Chunk::parse(&damaged).unwrap();
                    let found = intact(&chunk, &mut vec![0; 8 * BLOCK]);
                    for (range, is_whole) in ranges.iter().zip(found) {
                        let is_touched = range.start < end && range.end > at;
                        assert!(is_whole || is_touched, "{compressor:?} {typesize} {at} {range:?}");
                        // A block whose beginning is zeros would be zeros.
                        let is_begun = (at..end.saturating_sub(3)).contains(&range.start);
                        assert!(!(is_whole && is_begun), "{compressor:?} {typesize} {at} {range:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_block_start_loses_only_its_block_and_the_previous_one() {
        let (data, sound) = chunk(params(Compressor::ZSTD));
        for block in 0..8 {
            for other in [0, 5, 36, 200, 1 << 20, u32::MAX] {
                let mut damaged = sound.clone();
                damaged[32 + 4 * block..][..4].copy_from_slice(&u32::to_le_bytes(other));
                let found = whole(&data, &damaged);
                assert!(
                    (0..8).all(|index| found[index] == (index != block && index + 1 != block)),
                    "{block} {other}: {found:?}"
                );
            }
            // That of another block: neither is sure.
            let mut damaged = sound.clone();
            let next = (block + 1) % 8;
            damaged.copy_within(32 + 4 * next..36 + 4 * next, 32 + 4 * block);
            let found = whole(&data, &damaged);
            let is_sure = |index: usize| ![block, next].contains(&index) && index + 1 != block;
            assert!((0..8).all(|index| found[index] == is_sure(index)), "{block}: {found:?}");
        }
    }

    #[test]
    fn check_zeros_refuses_unused_bytes_after_a_block_of_zeros() {
        for typesize in [1, 4] {
            let (data, sound) = chunk(Params { typesize, ..params(Compressor::LZ4) });
            let own = Chunk::parse(&sound).unwrap();
            own.check_zeros().unwrap();
            for block in 0..8 {
                let range = own.block_range(block).unwrap();
                for len in [4 * typesize, 64, range.len()] {
                    let mut damaged = sound.clone();
                    damaged[range.start..range.start + len].fill(0);
                    let error = Chunk::parse(&damaged).unwrap().check_zeros().unwrap_err();
                    let from = (range.start + 4 * typesize) as u64;
                    assert_eq!(error.range(), Some(from..range.end as u64), "{typesize} {block} {len}");
                }
            }
            // Zeros that an encoder wrote.
            let mut zeros = data.clone();
            zeros[BLOCK..3 * BLOCK].fill(0);
            zeros[7 * BLOCK..].fill(0);
            let params = Params { typesize, blocksize: Some(BLOCK), ..params(Compressor::LZ4) };
            for threads in [1, 3] {
                let mut chunk = Vec::new();
                Encoder::new(Params { threads, ..params.clone() })
                    .unwrap()
                    .encode(&zeros, &mut chunk)
                    .unwrap();
                Chunk::parse(&chunk).unwrap().check_zeros().unwrap();
            }
        }
    }

    #[test]
    fn differences_need_what_they_are_from() {
        let mut filters = Pipeline::shuffle();
        filters.0[0] = Filter::new(Filter::DELTA, 0);
        let (data, sound) = chunk(Params { filters, ..params(Compressor::ZSTD) });
        let own = Chunk::parse(&sound).unwrap();
        for (block, left) in [(0, 0), (3, 7)] {
            let mut damaged = sound.clone();
            damaged[own.block_range(block).unwrap()].fill(0);
            assert_eq!(whole(&data, &damaged).iter().filter(|is_whole| **is_whole).count(), left);
        }
    }

    #[test]
    fn chunks_without_streams_have_no_ranges_of_blocks() {
        let (data, sound) = chunk(params(Compressor::ZSTD));
        let plain = Params { level: 0, blocksize: Some(BLOCK), ..params(Compressor::ZSTD) };
        let mut chunk = Vec::new();
        Encoder::new(plain).unwrap().encode(&data, &mut chunk).unwrap();
        assert_eq!(whole(&data, &chunk), [true; 8]);
        assert!(Chunk::parse(&chunk).unwrap().block_range(0).is_err());
        assert!(Chunk::parse(&sound).unwrap().block_range(8).is_err());
    }
}

//! Deflate encoder (RFC 1951) for arrays: as small as the middle levels of zlib, at over twice their speed.
//!
//! A search along hash chains, as zlib's, spends its time on noise that has no matches. This encoder checks two candidates per place and lets costs
//! decide. It searches only at the offsets within array items that have matches ([`match_selection`]). Data that are not arrays with noise are left
//! to other encoders.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "lengths, counts and costs of one block fit in far fewer bits, and what is kept of places is their lowest bits"
)]

use super::shared::make_room;
use container_core::Result;

mod bits;
mod blocks;
mod cost_model;
mod huffman;
mod match_finder;
mod match_selection;
#[cfg(test)]
mod tests;
mod tokens;

use bits::Bits;
use cost_model::Costs;
use match_finder::{BEFORE, Finder};
use match_selection::{Chunk, Parser};
use tokens::{Counts, Step, UNIT};

/// Longest distance of a match, in bytes.
pub(super) const WINDOW: usize = 32 << 10;

/// Number of bytes between two decisions whether to start a new block.
const CHUNK: usize = 16 << 10;

/// Bytes of the largest block.
const BLOCK: usize = 512 << 10;

/// The bytes before all data.
static ZEROS: [u8; BEFORE] = [0; BEFORE];

/// Compression ratio above which data are left to other encoders: long matches matter there.
const MAX_RATIO: u64 = 4;

/// The continuation after the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Ends the stream: the last block is marked as final.
    Last,
    /// More: an empty stored block brings it to a whole byte.
    Open,
}

/// The data that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// All.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests want all"))]
    All,
    /// Data with noise that resemble arrays at their start.
    Arrays,
}

/// Appends the blocks of `src` to `out`. Matches may refer to the last [`WINDOW`] bytes of `before`. Returns false, and appends nothing, where
/// these data are not `taken`. The result depends on the bytes alone.
///
/// # Errors
/// `Io` when memory runs out.
pub(super) fn deflate(before: &[u8], src: &[u8], end: End, taken: Taken, out: &mut Vec<u8>) -> Result<bool> {
    let before = &before[before.len().saturating_sub(WINDOW)..];
    let from = BEFORE + before.len();
    let mut data = Vec::new();
    make_room(&mut data, from + src.len())?;
    // Not by `resize`, which goes byte by byte in unoptimised builds: seconds under Miri.
    data.extend_from_slice(&ZEROS);
    data.extend_from_slice(before);
    data.extend_from_slice(src);
    let mut finder = Finder::new(BEFORE);
    finder.insert(&data, BEFORE, from);
    let mut parser = Parser::new(finder);
    let mut costs = Costs::of_bytes(&src[..src.len().min(CHUNK)]);
    let mut bits = Bits::new(out);
    let mut block = Block { from, to: from, steps: Vec::new(), counts: Counts::NONE, bits: 0 };
    while block.to < data.len() {
        let at = block.to;
        let until = if data.len() - at < CHUNK + CHUNK / 2 { data.len() } else { at + CHUNK };
        let (mut steps, mut counts) = (Vec::new(), Counts::NONE);
        let chunk =
            Chunk { src: &data, from: at, until, costs: &costs, steps: &mut steps, counts: &mut counts };
        let to = parser.parse(chunk);
        let bits_of_chunk = counts.bits().min(stored_bits(to - at));
        if at == from && taken == Taken::Arrays && !is_array(&parser, to - at, bits_of_chunk) {
            return Ok(false);
        }
        costs = Costs::of(&counts);
        let next = Block { from: at, to, steps, counts, bits: bits_of_chunk };
        if let Some(before) = block.push(next) {
            before.write(&mut bits, &data, false);
        }
    }
    if block.from < block.to || end == End::Last {
        block.write(&mut bits, &data, end == End::Last);
    }
    if end == End::Open {
        bits.reserve(64);
        blocks::write_stored(&mut bits, &[], false);
    }
    bits.finish();
    Ok(true)
}

/// Whether data whose first `len` bytes take `bits` bits resemble an array with noise.
const fn is_array(parser: &Parser, len: usize, bits: u64) -> bool {
    let all = stored_bits(len);
    // Nearly all of it may be noise, whatever the rest is.
    bits * MAX_RATIO > all && (parser.has_records() || bits * 3 > all * 2)
}

/// Bits of `len` bytes, in the unit of [`Counts::bits`].
const fn stored_bits(len: usize) -> u64 {
    len as u64 * 8 * UNIT as u64
}

/// A block that may still grow.
struct Block {
    from: usize,
    to: usize,
    steps: Vec<Step>,
    counts: Counts,
    /// About how many bits it will take, in the unit of [`Counts::bits`], without its head.
    bits: u64,
}

impl Block {
    /// Merges `next`, or is replaced by it where two blocks are smaller; returns the replaced one.
    fn push(&mut self, next: Self) -> Option<Self> {
        let mut both = self.counts.clone();
        both.merge(&next.counts);
        let bits = both.bits().min(stored_bits(next.to - self.from));
        // The length of a code takes about three bits.
        let head = u64::from(3 * UNIT) * next.counts.used();
        let is_apart = bits > self.bits + next.bits + head || next.to - self.from > BLOCK;
        if is_apart && self.from < self.to {
            return Some(std::mem::replace(self, next));
        }
        self.steps.extend_from_slice(&next.steps);
        (self.to, self.counts, self.bits) = (next.to, both, bits);
        None
    }

    fn write(mut self, bits: &mut Bits<'_>, data: &[u8], is_last: bool) {
        blocks::write(bits, &data[self.from..self.to], &self.steps, &mut self.counts, is_last);
    }
}

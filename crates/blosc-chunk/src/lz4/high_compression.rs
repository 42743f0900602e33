//! Slow LZ4 encoder for short output: chains of all earlier positions with the same four bytes, and lazy matching.

use super::encode::offset;
use super::output::Output;
use super::{LAST_LITERALS, LAST_START, MIN_MATCH, WINDOW, join};
use crate::simd::lz::Input;

/// Bits of an index into the heads of the chains.
const HASH_BITS: u32 = 15;
/// Links that are kept: one for each position of the window.
const CHAIN_LEN: usize = WINDOW + 1;
/// Largest number of earlier positions that are tried, from level 1 on.
const DEPTHS: [usize; 12] = [2, 4, 8, 16, 32, 64, 96, 160, 256, 512, 1024, 2048];
/// Positions after a match that are tried before it is taken.
const MAX_LAZY_STEPS: usize = 2;
/// Number of earlier positions that are tried, from level 1 on.
const SUFFICIENT_MATCH_LEN: usize = 256;
/// Positions after a match that are tried before it is taken.
const NONE: u32 = u32::MAX;

/// Encodes blocks by a slow search. Keeps its tables between calls; the bytes never depend on earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    heads: Vec<u32>,
    links: Vec<u32>,
    joined: Vec<u8>,
}

/// A match: its length and distance. One shorter than [`MIN_MATCH`] means that none was found.
#[derive(Clone, Copy, Debug, Default)]
struct Match {
    len: usize,
    distance: usize,
}

/// Earlier places by the four bytes there, from each to the one before it.
struct Chains<'a> {
    text: Input<'a>,
    heads: &'a mut [u32; 1 << HASH_BITS],
    links: &'a mut [u32; CHAIN_LEN],
    /// Largest number of positions that are tried.
    seen: usize,
    /// Largest number of positions that are tried.
    depth: usize,
    /// End of matches in the text, exclusive.
    end: usize,
}

impl Encoder {
    /// Encodes `src` into the start of `dst` and returns the length, or `None` as soon as it cannot fit.
    ///
    /// `level`: 1 to 12, more searches longer; 0 counts as 1 and more than 12 as 12.
    pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        self.search(src, 0, dst, level)
    }

    /// As [`Encoder::encode`], for readers who have `dictionary`, of which the last 64 KiB count.
    pub(crate) fn encode_with_dictionary(
        &mut self,
        src: &[u8],
        dictionary: &[u8],
        dst: &mut [u8],
        level: u8,
    ) -> Option<usize> {
        let mut joined = std::mem::take(&mut self.joined);
        let start = join(&mut joined, dictionary, src);
        let encoded = self.search(&joined, start, dst, level);
        self.joined = joined;
        encoded
    }

    /// Encodes what follows the first `start` bytes of `data`, which are only searched.
    fn search(&mut self, data: &[u8], start: usize, dst: &mut [u8], level: u8) -> Option<usize> {
        u32::try_from(data.len()).ok().filter(|&len| len < NONE)?;
        let mut output = Output::new(dst);
        let mut anchor = start;
        if let Some(text) = Input::new(data).filter(|_| data.len() - start > LAST_START) {
            self.heads.clear();
            self.heads.resize(1 << HASH_BITS, NONE);
            // Links are written before they are read.
            self.links.resize(CHAIN_LEN, NONE);
            let level = level.clamp(1, 12);
            let chains = Chains {
                text,
                heads: self.heads.as_mut_slice().try_into().expect("it was just made so long"),
                links: self.links.as_mut_slice().try_into().expect("it was just made so long"),
                seen: 0,
                depth: DEPTHS[usize::from(level) - 1],
                end: data.len() - LAST_LITERALS,
            };
            anchor = sequences(chains, start, &mut output, u32::from(level))?;
        }
        output.last(&data[anchor..])?;
        Some(output.len())
    }
}

/// Writes all sequences but the last, and returns the start of its literals.
///
/// At each position the longest match of the chain is found. It is written only if none of the next positions has a longer one; otherwise
/// that one is tried in the same way.
fn sequences(mut chains: Chains<'_>, start: usize, output: &mut Output<'_>, level: u32) -> Option<usize> {
    let last_start = chains.text.bytes().len() - LAST_START;
    let (mut anchor, mut pos) = (start, start);
    while pos <= last_start {
        let mut best = chains.best(pos);
        if best.len < MIN_MATCH {
            // Steps grow in a long part without matches, and the positions they skip do not enter the chains.
            let step = 1 + ((pos - anchor) >> (7 + level));
            pos += step;
            if step > 1 {
                chains.seen = pos;
            }
            continue;
        }
        // A match one place later has to be longer by more than the literal that it takes, and one two places later, too.
        let mut ahead = 1;
        while ahead <= MAX_LAZY_STEPS && pos + ahead <= last_start && best.len < SUFFICIENT_MATCH_LEN {
            let next = chains.best(pos + ahead);
            if next.len > best.len + ahead {
                best = next;
                pos += ahead;
                ahead = 1;
            } else {
                ahead += 1;
            }
        }
        output.sequence(chains.text, anchor, pos, offset(best.distance), best.len)?;
        pos += best.len;
        anchor = pos;
    }
    Some(anchor)
}

impl Chains<'_> {
    /// Returns the longest match for the bytes at `pos`, the nearest of them. Adds all positions up to it to the chains.
    fn best(&mut self, pos: usize) -> Match {
        while self.seen <= pos {
            let head = &mut self.heads[hash(self.text.half(self.seen))];
            self.links[self.seen % CHAIN_LEN] = *head;
            *head = u32::try_from(self.seen).expect("checked against the length");
            self.seen += 1;
        }
        let data = self.text.bytes();
        let longest = self.end - pos;
        let mut best = Match { len: MIN_MATCH - 1, distance: 0 };
        let mut candidate = self.links[pos % CHAIN_LEN];
        for _ in 0..self.depth {
            let from = candidate as usize;
            if candidate == NONE || pos - from > WINDOW || best.len >= longest {
                break;
            }
            // Only longer matches count, so their last bytes are compared first.
            if data[from + best.len] == data[pos + best.len] && self.text.half(from) == self.text.half(pos) {
                let len = 4 + self.text.common(from + 4, pos + 4, self.end);
                if len > best.len {
                    best = Match { len, distance: pos - from };
                }
            }
            candidate = self.links[from % CHAIN_LEN];
        }
        best
    }
}

/// Returns the index for four bytes.
fn hash(word: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

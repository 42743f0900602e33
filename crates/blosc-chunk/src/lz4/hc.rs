//! From bytes to LZ4 blocks, small: chains of all earlier places with the same four bytes, and a look at the next byte before a
//! match is taken.

use super::encode::offset;
use super::output::Output;
use super::{LAST_LITERALS, LAST_START, MIN_MATCH, WINDOW};
use crate::simd::lz::{Text, common_prefix};

/// Bits of an index into the heads of the chains.
const LOG: u32 = 15;
/// Links that are kept: one for each position of the window.
const LINKS: usize = WINDOW + 1;
/// No earlier place.
const NONE: u32 = u32::MAX;

/// Encodes blocks by a slow search. Keeps its tables between calls; the bytes never depend on earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    heads: Vec<u32>,
    links: Vec<u32>,
    joined: Vec<u8>,
}

/// A match: how long, how far back.
#[derive(Clone, Copy, Debug, Default)]
struct Match {
    len: usize,
    distance: usize,
}

impl Encoder {
    /// Encodes `src` into the start of `dst` and gives the length, or `None` as soon as it is known not to fit.
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
        let reachable = &dictionary[dictionary.len().saturating_sub(WINDOW)..];
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.extend_from_slice(reachable);
        joined.extend_from_slice(src);
        let encoded = self.search(&joined, reachable.len(), dst, level);
        self.joined = joined;
        encoded
    }

    /// Encodes what follows the first `start` bytes of `data`, which are only searched.
    fn search(&mut self, data: &[u8], start: usize, dst: &mut [u8], level: u8) -> Option<usize> {
        u32::try_from(data.len()).ok().filter(|&len| len < NONE)?;
        let mut output = Output::new(dst);
        let mut anchor = start;
        if let Some(text) = Text::new(data).filter(|_| data.len() - start > LAST_START) {
            self.heads.clear();
            self.heads.resize(1 << LOG, NONE);
            self.links.resize(LINKS, NONE);
            let depth = 1_usize << level.clamp(1, 12);
            let last_start = data.len() - LAST_START;
            let mut seen = 0;
            let mut pos = start;
            while pos <= last_start {
                let mut best = self.best(data, pos, &mut seen, depth);
                if best.len < MIN_MATCH {
                    pos += 1;
                    continue;
                }
                while pos < last_start {
                    let next = self.best(data, pos + 1, &mut seen, depth);
                    if next.len <= best.len + 1 {
                        break;
                    }
                    best = next;
                    pos += 1;
                }
                output.sequence(text, anchor, pos, offset(best.distance), best.len)?;
                pos += best.len;
                anchor = pos;
            }
        }
        output.last(&data[anchor..])?;
        Some(output.len())
    }

    /// The longest match for what is at `pos`, the nearest of them. Puts all positions up to it into the chains.
    fn best(&mut self, data: &[u8], pos: usize, seen: &mut usize, depth: usize) -> Match {
        while *seen <= pos {
            let head = &mut self.heads
                [hash(u32::from_le_bytes(data[*seen..*seen + 4].try_into().expect("four bytes")))];
            self.links[*seen % LINKS] = *head;
            *head = u32::try_from(*seen).expect("checked against the length");
            *seen += 1;
        }
        let end = data.len() - LAST_LITERALS;
        let here = &data[pos..end];
        let mut best = Match { len: MIN_MATCH - 1, distance: 0 };
        let mut candidate = self.links[pos % LINKS];
        for _ in 0..depth {
            let from = candidate as usize;
            if candidate == NONE || pos - from > WINDOW || best.len == here.len() {
                break;
            }
            if data[from + best.len] == here[best.len] {
                let len = common_prefix(&data[from..], here);
                if len > best.len {
                    best = Match { len, distance: pos - from };
                }
            }
            let next = self.links[from % LINKS];
            if next != NONE && next >= candidate {
                break;
            }
            candidate = next;
        }
        best
    }
}

/// Index of four bytes.
fn hash(word: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> (32 - LOG)) as usize
}

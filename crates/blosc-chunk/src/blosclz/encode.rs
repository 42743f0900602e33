//! From bytes to BloscLZ streams.

use super::output::Output;
use super::{FAR, MAX_DISTANCE};
use crate::simd::lz::common_prefix;

/// Bits of a table index.
const LOG: u32 = 14;
/// Data shorter than this do not get smaller.
const MIN_LEN: usize = 16;
/// Matches start at least this far from the end.
const LAST_START: usize = 12;

/// Encodes streams. Keeps its table between calls; the bytes never depend on earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// Where the bytes with each hash were seen last, counted from `base`; empty until the first call.
    table: Vec<u32>,
    /// Position that the start of the data has in the table. Entries of earlier calls are too far before it to be matches.
    base: usize,
}

impl Encoder {
    /// Encodes `src` into the start of `dst` and gives the length, or `None` as soon as it is known not to fit.
    ///
    /// `level`: 1 to 9, more searches longer; 0 counts as 1 and more than 9 as 9.
    pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        if src.len() < MIN_LEN {
            return None;
        }
        let base = self.begin(src.len())?;
        let table: &mut [u32; 1 << LOG] =
            self.table.as_mut_slice().try_into().expect("begin made it so long");
        let mut output = Output::new(dst);
        let last_start = src.len() - LAST_START;
        // A stream ends in a literal.
        let end = src.len() - 1;
        let skip = if level < 9 { 6 } else { 8 };
        // A stream begins with a literal.
        table[hash(read_u32(src, 0))] = stored(base);
        let (mut anchor, mut pos, mut tries) = (0, 1, 1_usize << skip);
        while pos <= last_start {
            let word = read_u32(src, pos);
            let slot = &mut table[hash(word)];
            let distance = base + pos - *slot as usize;
            *slot = stored(base + pos);
            if distance > MAX_DISTANCE || read_u32(src, pos - distance) != word {
                pos += tries >> skip;
                tries += 1;
                continue;
            }
            let len = 4 + common_prefix(&src[pos - distance + 4..], &src[pos + 4..end]);
            if distance >= FAR && len < 6 {
                pos += 1;
                continue;
            }
            output.literals(&src[anchor..pos])?;
            output.copy(len, distance)?;
            pos += len;
            anchor = pos;
            tries = 1 << skip;
            if pos <= last_start {
                table[hash(read_u32(src, pos - 2))] = stored(base + pos - 2);
            }
        }
        output.literals(&src[anchor..])?;
        Some(output.finish())
    }

    /// Prepares the table for `len` bytes and gives the position of the first. `None` for more than it can count.
    fn begin(&mut self, len: usize) -> Option<usize> {
        let most = u32::MAX as usize - 2 * (MAX_DISTANCE + 1);
        if len > most {
            return None;
        }
        if self.table.is_empty() {
            self.table = vec![0; 1 << LOG];
            self.base = MAX_DISTANCE + 1;
        } else if self.base > most - len {
            self.table.fill(0);
            self.base = MAX_DISTANCE + 1;
        }
        let base = self.base;
        self.base += len + MAX_DISTANCE + 1;
        Some(base)
    }
}

/// Index of four bytes.
fn hash(word: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> (32 - LOG)) as usize
}

/// A position as the table keeps it.
#[expect(clippy::cast_possible_truncation, reason = "positions are under 2^32, see `begin`")]
fn stored(position: usize) -> u32 {
    position as u32
}

/// Four bytes at `at`.
fn read_u32(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"))
}

//! From bytes to LZ4 blocks, fast: one table of where each few bytes were seen last, no second look.

use super::output::Output;
use super::{LAST_LITERALS, LAST_START, WINDOW};
use crate::simd::lz::common_prefix;

/// Bits of a table index. 16 KiB of table stay in the first cache beside the data.
const LOG: u32 = 12;

/// Encodes blocks. Keeps its table between calls; the bytes never depend on earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// Where the bytes with each hash were seen last, counted from `base`; empty until the first call.
    table: Vec<u32>,
    /// Position that the start of the data has in the table. Entries of earlier calls are more than a window before it.
    base: usize,
    /// Dictionary and data, one after the other.
    joined: Vec<u8>,
}

impl Encoder {
    /// Encodes `src` into the start of `dst` and gives the length, or `None` as soon as it is known not to fit.
    ///
    /// `acceleration`: 1 looks everywhere; more skips more, is faster and finds less. 0 counts as 1.
    pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], acceleration: u32) -> Option<usize> {
        self.search(src, 0, dst, acceleration)
    }

    /// As [`Encoder::encode`], for readers who have `dictionary`, of which the last 64 KiB count.
    pub(crate) fn encode_with_dictionary(
        &mut self,
        src: &[u8],
        dictionary: &[u8],
        dst: &mut [u8],
        acceleration: u32,
    ) -> Option<usize> {
        let reachable = &dictionary[dictionary.len().saturating_sub(WINDOW)..];
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.extend_from_slice(reachable);
        joined.extend_from_slice(src);
        let encoded = self.search(&joined, reachable.len(), dst, acceleration);
        self.joined = joined;
        encoded
    }

    /// Encodes what follows the first `start` bytes of `data`, which are only searched.
    fn search(&mut self, data: &[u8], start: usize, dst: &mut [u8], acceleration: u32) -> Option<usize> {
        let mut output = Output::new(dst);
        let mut anchor = start;
        if data.len() - start > LAST_START {
            let base = self.begin(data.len())?;
            let table: &mut [u32; 1 << LOG] =
                self.table.as_mut_slice().try_into().expect("begin made it so long");
            for pos in (0..start.saturating_sub(7)).step_by(3) {
                table[hash(read_u64(data, pos))] = stored(base + pos);
            }
            let last_start = data.len() - LAST_START;
            let end = data.len() - LAST_LITERALS;
            let mut pos = start + usize::from(start == 0);
            if start == 0 {
                table[hash(read_u64(data, 0))] = stored(base);
            }
            let mut tries = acceleration.clamp(1, 65_536) << 6;
            while pos <= last_start {
                let word = read_u64(data, pos);
                let slot = &mut table[hash(word)];
                let distance = base + pos - *slot as usize;
                *slot = stored(base + pos);
                if distance > WINDOW || read_u32(data, pos - distance) != low(word) {
                    pos += (tries >> 6) as usize;
                    tries += 1;
                    continue;
                }
                let mut from = pos;
                while from > anchor && from > distance && data[from - 1] == data[from - 1 - distance] {
                    from -= 1;
                }
                let len = pos - from + 4 + common_prefix(&data[pos - distance + 4..], &data[pos + 4..end]);
                output.sequence(&data[anchor..from], offset(distance), len)?;
                anchor = from + len;
                pos = anchor;
                tries = acceleration.clamp(1, 65_536) << 6;
                if pos <= last_start {
                    table[hash(read_u64(data, pos - 2))] = stored(base + pos - 2);
                }
            }
        }
        output.last(&data[anchor..])?;
        Some(output.len())
    }

    /// Prepares the table for `len` bytes and gives the position of the first. `None` for more than it can count.
    fn begin(&mut self, len: usize) -> Option<usize> {
        let most = u32::MAX as usize - 2 * (WINDOW + 1);
        if len > most {
            return None;
        }
        if self.table.is_empty() {
            self.table = vec![0; 1 << LOG];
            self.base = WINDOW + 1;
        } else if self.base > most - len {
            self.table.fill(0);
            self.base = WINDOW + 1;
        }
        let base = self.base;
        self.base += len + WINDOW + 1;
        Some(base)
    }
}

/// Index of five bytes, the low ones of `word`.
fn hash(word: u64) -> usize {
    ((word << 24).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - LOG)) as usize
}

/// The low half.
#[expect(clippy::cast_possible_truncation, reason = "what is meant")]
pub(super) fn low(word: u64) -> u32 {
    word as u32
}

/// A position as the table keeps it.
#[expect(clippy::cast_possible_truncation, reason = "positions are under 2^32, see `begin`")]
fn stored(position: usize) -> u32 {
    position as u32
}

/// A distance as the block keeps it.
#[expect(clippy::cast_possible_truncation, reason = "distances are inside the window")]
pub(super) fn offset(distance: usize) -> u16 {
    distance as u16
}

/// Eight bytes at `at`.
pub(super) fn read_u64(data: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(data[at..at + 8].try_into().expect("eight bytes"))
}

/// Four bytes at `at`.
pub(super) fn read_u32(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"))
}

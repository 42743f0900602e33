//! Fast LZ4 encoder: one hash table with the last position of each short byte sequence, and no lazy matching.

use super::output::Output;
use super::{LAST_LITERALS, LAST_START, WINDOW, join};
use crate::simd::lz::Input;

/// Bits of an index into the table of short data.
const SHORT_TABLE_BITS: u32 = 13;
/// Bits of an index into the table of long data.
const LONG_TABLE_BITS: u32 = 13;

/// Encodes blocks. Keeps its tables between calls; the bytes never depend on earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// Table for data within the reach of one match. Both tables are empty until they are needed. They take 16 and 32 KiB then, which stay
    /// in the L1 cache next to the data.
    short: Vec<u16>,
    /// For longer data.
    long: Vec<u32>,
    /// Dictionary and data, one after the other.
    joined: Vec<u8>,
}

impl Encoder {
    /// Encodes `src` into the start of `dst` and returns the length, or `None` as soon as it cannot fit.
    ///
    /// `acceleration`: 1 tries every position; more skips more, is faster and finds less. 0 counts as 1.
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
        let mut joined = std::mem::take(&mut self.joined);
        let start = join(&mut joined, dictionary, src);
        let encoded = self.search(&joined, start, dst, acceleration);
        self.joined = joined;
        encoded
    }

    /// Encodes what follows the first `start` bytes of `data`, which are only searched.
    fn search(&mut self, data: &[u8], start: usize, dst: &mut [u8], acceleration: u32) -> Option<usize> {
        // Tables hold 32-bit positions. A chunk is shorter than 2^31 bytes.
        u32::try_from(data.len()).ok()?;
        let mut output = Output::new(dst);
        let mut anchor = start;
        if let Some(text) = Input::new(data).filter(|_| data.len() - start > LAST_START) {
            anchor = if data.len() <= WINDOW + 1 {
                let table = emptied::<u16, { 1 << SHORT_TABLE_BITS }>(&mut self.short);
                sequences(text, start, table, &mut output, acceleration)?
            } else {
                let table = emptied::<u32, { 1 << LONG_TABLE_BITS }>(&mut self.long);
                sequences(text, start, table, &mut output, acceleration)?
            };
        }
        output.last(&data[anchor..])?;
        Some(output.len())
    }
}

/// Returns the table that `entries` hold, all 0.
fn emptied<T: Copy + Default, const N: usize>(entries: &mut Vec<T>) -> &mut [T; N] {
    entries.clear();
    entries.resize(N, T::default());
    entries.as_mut_slice().try_into().expect("it was just made so long")
}

/// Hash table: the last position of the bytes with each hash, or 0, which is as good a candidate as any.
trait Table {
    /// Whether a match reaches as far as the table.
    const REACHES_ALL: bool;

    /// Stores `pos` under the first bytes of `word`, and returns the entry that it replaces.
    fn swap(&mut self, word: u64, pos: usize) -> usize;
}

impl Table for [u16; 1 << SHORT_TABLE_BITS] {
    const REACHES_ALL: bool = true;

    /// Hashes four bytes.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the table is for data of 64 KiB")]
    fn swap(&mut self, word: u64, pos: usize) -> usize {
        let hash = low(word).wrapping_mul(0x9E37_79B1) >> (32 - SHORT_TABLE_BITS);
        usize::from(std::mem::replace(&mut self[hash as usize], pos as u16))
    }
}

impl Table for [u32; 1 << LONG_TABLE_BITS] {
    const REACHES_ALL: bool = false;

    /// Hashes five bytes, as longer data offer more candidates.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the data are shorter than 2^32")]
    fn swap(&mut self, word: u64, pos: usize) -> usize {
        let hash = (word << 24).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - LONG_TABLE_BITS);
        std::mem::replace(&mut self[hash as usize], pos as u32) as usize
    }
}

/// Writes all sequences but the last, and returns the start of its literals.
///
/// The table maps each hash of a short sequence to its last position. A match is found when the bytes at that position are equal, and is
/// extended in both directions. The longer no match is found, the more positions are skipped: `tries` grows with each one.
fn sequences<T: Table>(
    text: Input<'_>,
    start: usize,
    table: &mut T,
    output: &mut Output<'_>,
    acceleration: u32,
) -> Option<usize> {
    let data = text.bytes();
    let end = data.len() - LAST_LITERALS;
    // Its last word is where the last match may start.
    let starts = Input::new(&data[..data.len() - (LAST_START - 8)])?;
    for (pos, word) in (0..start.saturating_sub(7)).step_by(3).map_while(|pos| Some((pos, starts.word(pos)?)))
    {
        table.swap(word, pos);
    }
    let first_tries = acceleration.clamp(1, 65_536) << 6;
    let mut anchor = start;
    let mut pos = start.max(1);
    loop {
        // Searches a match: at two adjacent positions, then in steps that grow with the tries.
        let mut tries = first_tries;
        let mut step = 1;
        let mut next = pos + 1;
        let candidate = loop {
            let Some(word) = starts.word(pos) else {
                return Some(anchor);
            };
            let candidate = table.swap(word, pos);
            if starts.half(candidate) == low(word) && (T::REACHES_ALL || pos - candidate <= WINDOW) {
                break candidate;
            }
            pos = next;
            next += step;
            step = (tries >> 6) as usize;
            tries += 1;
        };
        let (mut from, mut earlier) = (pos, candidate);
        while from > anchor && earlier > 0 && data[from - 1] == data[earlier - 1] {
            from -= 1;
            earlier -= 1;
        }
        let to = pos + 4 + text.common(candidate + 4, pos + 4, end);
        output.sequence(text, anchor, from, offset(from - earlier), to - from)?;
        anchor = to;
        pos = to;
        if let Some(word) = starts.word(pos - 2) {
            table.swap(word, pos - 2);
        }
    }
}

/// Returns the low half.
#[expect(clippy::cast_possible_truncation, reason = "what is meant")]
fn low(word: u64) -> u32 {
    word as u32
}

/// Converts a distance to its stored form.
#[expect(clippy::cast_possible_truncation, reason = "distances are inside the window")]
pub(super) fn offset(distance: usize) -> u16 {
    distance as u16
}

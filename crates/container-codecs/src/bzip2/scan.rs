//! Search for the blocks of bzip2 streams. Blocks record neither their position nor their length and begin at any bit, so their magics are searched
//! for.
//!
//! Compressed data can contain a magic by chance, once in 2^48 bits. A block that is cut there fails its checksum; so each result is a
//! guess until everything has been decoded.

use std::ops::Range;

use super::bits::{Joiner, number};
use super::blocks::{BLOCK_MAGIC, CRC_LEN, END_MAGIC, HEADER_LEN, MAGIC_LEN, combined};

/// For each byte, at which of eight shifts it is the third byte of a magic: of a block in the lower half, of an end in the upper.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
const THIRD: [u16; 256] = {
    let mut table = [0; 256];
    let mut shift = 0;
    while shift < 8 {
        let (block, end) = (BLOCK_MAGIC << (16 - shift), END_MAGIC << (16 - shift));
        table[block.to_be_bytes()[2] as usize] |= 1 << shift;
        table[end.to_be_bytes()[2] as usize] |= 1 << (8 + shift);
        shift += 1;
    }
    table
};

/// The bit at which the next magic begins, of a block or of an end, from the bit `from` on. Magics in the last eight bytes are not
/// found: a checksum follows each.
pub(super) fn next_magic(src: &[u8], from: u64) -> Option<u64> {
    let first = usize::try_from(from / 8).ok()?;
    let tail = src.get(first..)?;
    tail.windows(8).enumerate().find_map(|(at, window)| {
        // Eight bytes hold a magic at any shift.
        let at = first.checked_add(at)? as u64;
        let shifts = *THIRD.get(usize::from(*window.get(2)?))?;
        if shifts == 0 {
            return None;
        }
        let word = u64::from_be_bytes(window.try_into().ok()?);
        (0..8_u32).find_map(|shift| {
            let candidate = word.wrapping_shl(shift) >> 16;
            let bit = at.checked_mul(8)?.checked_add(u64::from(shift))?;
            let is_magic = candidate == BLOCK_MAGIC || candidate == END_MAGIC;
            (is_magic && bit >= from).then_some(bit)
        })
    })
}

/// A block of a stream.
pub(super) struct Found {
    /// Its bits, from its magic on.
    pub(super) bits: Range<u64>,
    /// The digit of its stream.
    pub(super) level: u8,
}

/// Iterates over the blocks of consecutive streams.
pub(super) struct Scan<'s> {
    src: &'s [u8],
    /// The bit of the magic that comes next; `None` where a stream is to begin.
    magic_at: Option<u64>,
    /// Expected position of a stream, in bytes.
    stream_at: u64,
    level: u8,
    crc: u32,
}

/// The reason why a source cannot be split into blocks: damage, or a false magic.
pub(super) struct Odd;

impl<'s> Scan<'s> {
    pub(super) fn new(src: &'s [u8]) -> Self {
        let level = src.get(3).copied().filter(u8::is_ascii_digit).unwrap_or(b'9');
        Self { src, magic_at: None, stream_at: 0, level, crc: 0 }
    }

    /// Most bytes of a block, its runs shortened.
    pub(super) fn block_len(&self) -> u64 {
        u64::from(self.level.saturating_sub(b'0')).saturating_mul(100_000)
    }

    /// The next block; `None` at the end of the source. Checks that the checksums of each stream's blocks add up to that of the
    /// stream.
    pub(super) fn next(&mut self) -> Result<Option<Found>, Odd> {
        loop {
            let Some(at) = self.magic_at else {
                if self.stream_at >= (self.src.len() as u64).saturating_mul(8) && self.stream_at > 0 {
                    return Ok(None);
                }
                self.begin()?;
                continue;
            };
            let magic = number(self.src, at, MAGIC_LEN).ok_or(Odd)?;
            let crc_at = at.saturating_add(u64::from(MAGIC_LEN));
            let crc = number(self.src, crc_at, CRC_LEN).and_then(|crc| u32::try_from(crc).ok()).ok_or(Odd)?;
            let after = crc_at.saturating_add(u64::from(CRC_LEN));
            if magic == BLOCK_MAGIC {
                self.crc = combined(self.crc, crc);
                let end = next_magic(self.src, after).ok_or(Odd)?;
                self.magic_at = Some(end);
                return Ok(Some(Found { bits: at..end, level: self.level }));
            }
            if magic != END_MAGIC || crc != self.crc {
                return Err(Odd);
            }
            self.stream_at = after.next_multiple_of(8);
            self.magic_at = None;
        }
    }

    fn begin(&mut self) -> Result<(), Odd> {
        let header = number(self.src, self.stream_at, 32).ok_or(Odd)?;
        let [.., b, z, h, level] = header.to_be_bytes();
        if [b, z, h] != *b"BZh" || !(b'1'..=b'9').contains(&level) {
            return Err(Odd);
        }
        (self.level, self.crc) = (level, 0);
        self.magic_at = Some(self.stream_at.saturating_add(HEADER_LEN));
        Ok(())
    }
}

impl Found {
    /// A stream that holds this block alone.
    pub(super) fn stream(&self, src: &[u8]) -> Option<Vec<u8>> {
        let len = self.bits.end.checked_sub(self.bits.start)?;
        let crc = number(src, self.bits.start.checked_add(u64::from(MAGIC_LEN))?, CRC_LEN)?;
        let first = usize::try_from(self.bits.start / 8).ok()?;
        let last = usize::try_from(self.bits.end.div_ceil(8)).ok()?;
        let bytes = src.get(first..last)?;
        let shift = u32::try_from(self.bits.start % 8).ok()?;
        let mut out = Joiner::default();
        out.bytes.try_reserve(bytes.len().checked_add(16)?).ok()?;
        out.bytes.extend_from_slice(&[b'B', b'Z', b'h', self.level]);
        if shift == 0 {
            out.push(bytes, len);
        } else {
            let right = 8_u32.checked_sub(shift)?;
            let next = bytes.iter().skip(1).chain(std::iter::once(&0));
            let aligned: Vec<u8> = bytes
                .iter()
                .zip(next)
                .map(|(byte, next)| byte.wrapping_shl(shift) | next.wrapping_shr(right))
                .collect();
            out.push(&aligned, len);
        }
        out.push_number(END_MAGIC, MAGIC_LEN);
        out.push_number(crc, CRC_LEN);
        out.pad();
        Some(out.bytes)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn a_magic_is_found_at_every_bit() {
        for magic in [BLOCK_MAGIC, END_MAGIC] {
            for skip in 0..40 {
                let mut bits = Joiner::default();
                bits.push_number(0x5a5a_5a5a_5a5a, skip);
                bits.push_number(magic, MAGIC_LEN);
                bits.push_number(0xffff_ffff, 32);
                bits.pad();
                let at = u64::from(skip);
                assert_eq!(next_magic(&bits.bytes, 0), Some(at));
                assert_eq!(next_magic(&bits.bytes, at), Some(at));
                assert_eq!(next_magic(&bits.bytes, at + 1), None);
            }
        }
    }
}

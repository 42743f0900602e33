//! Parallel encoder of one bzip2 stream from blocks that are encoded apart; bit for bit what the library writes in one run.
//!
//! A block is full when its data, after runs of equal bytes are shortened, have as many bytes as the level allows. [`Cutter`] finds these
//! places as the library does; each block is then a stream of its own, of which [`Joined`] takes the bits of the block.
//!
//! Spec: only the source of bzip2; its constants are those of `BZ2_compressBlock` and `add_pair_to_block`.

use std::io;

use ::bzip2::{Compress, Compression};

use super::bits::{Joiner, number};
use crate::shared::{level_in, make_room};
use crate::streaming::{PIECE_LEN, encode_in_pieces};
use container_core::{Error, Result};

/// Magic of a block: the digits of pi.
pub(super) const BLOCK_MAGIC: u64 = 0x3141_5926_5359;

/// Magic after the last block: the digits of its square root.
pub(super) const END_MAGIC: u64 = 0x1772_4538_5090;

/// Bits of either.
pub(super) const MAGIC_LEN: u32 = 48;

/// Bits of a checksum.
pub(super) const CRC_LEN: u32 = 32;

/// Bits of `BZh9`.
pub(super) const HEADER_LEN: u64 = 32;

/// Finds where blocks end.
#[derive(Clone, Debug)]
pub struct Cutter {
    /// Bytes that fill a block.
    full: usize,
    /// Bytes of the block so far, its last run not counted.
    len: usize,
    /// The last byte, and how many of it there are.
    run: Option<(u8, u8)>,
    /// Number of input bytes since the block began.
    seen: usize,
}

impl Cutter {
    /// A cutter for blocks of `level` times 100 kB, 1 to 9, default 9.
    ///
    /// # Errors
    /// `Usage` for an invalid level.
    pub fn new(level: Option<i32>) -> Result<Self> {
        let level = level_in("bzp2", level, 1..=9, 9)?.unsigned_abs();
        let full = usize::try_from(level).unwrap_or(9).saturating_mul(100_000).saturating_sub(19);
        Ok(Self { full, len: 0, run: None, seen: 0 })
    }

    /// End of the block that begins with `data`, if more follows there. `data` is to begin where the block does each time, and to be as long as at
    /// the last call or longer.
    pub fn cut(&mut self, data: &[u8]) -> Option<usize> {
        let Self { full, mut len, mut run, seen } = *self;
        for (at, byte) in data.iter().enumerate().skip(seen) {
            // The library looks before it takes a byte. The one before is a run that it has not put into the full block yet.
            if len >= full {
                (self.len, self.run, self.seen) = (0, None, 0);
                return Some(at.saturating_sub(1));
            }
            run = match run {
                None => Some((*byte, 1)),
                Some((last, count)) if last == *byte && count < 255 => Some((last, count.saturating_add(1))),
                Some((_, count)) => {
                    len = len.saturating_add(stored_len(count));
                    Some((*byte, 1))
                }
            };
        }
        (self.len, self.run, self.seen) = (len, run, data.len());
        None
    }
}

/// Bytes of a run once it is shortened: four, and one that counts the rest.
const fn stored_len(run: u8) -> usize {
    if run < 4 { run as usize } else { 5 }
}

/// The stream of one block, as [`Cutter`] cut it. Empty data need no block.
///
/// # Errors
/// `Usage` for an invalid level, `Io` when memory runs out.
pub fn encode_block(level: Option<i32>, src: &[u8]) -> Result<Vec<u8>> {
    let level = level_in("bzp2", level, 1..=9, 9)?.unsigned_abs();
    let mut out = Vec::new();
    make_room(&mut out, (src.len() / 4).saturating_add(1024))?;
    encode_in_pieces(Compress::new(Compression::new(level), 0), src, PIECE_LEN, &mut out)?;
    Ok(out)
}

/// A stream under construction.
#[derive(Debug)]
pub struct Joined {
    bits: Joiner,
    /// The checksum of all blocks so far.
    crc: u32,
}

impl Joined {
    /// A stream at `level`, 1 to 9, default 9.
    ///
    /// # Errors
    /// `Usage` for an invalid level.
    pub fn new(level: Option<i32>) -> Result<Self> {
        let level = level_in("bzp2", level, 1..=9, 9)?.unsigned_abs();
        let mut bits = Joiner::default();
        bits.push_number(u64::from(u32::from_be_bytes(*b"BZh0").saturating_add(level)), CRC_LEN);
        Ok(Self { bits, crc: 0 })
    }

    /// Appends the block that [`encode_block`] made.
    ///
    /// # Errors
    /// `Usage` when `stream` is not exactly one block.
    pub fn push(&mut self, stream: &[u8]) -> Result<()> {
        let not_one = || Error::usage("a bzip2 stream that is not one block");
        let total = (stream.len() as u64).saturating_mul(8);
        let crc =
            number(stream, HEADER_LEN.saturating_add(u64::from(MAGIC_LEN)), CRC_LEN).ok_or_else(not_one)?;
        // The end mark, the same checksum, as there is one block, and up to seven bits to fill the last byte.
        let end_len = u64::from(MAGIC_LEN.saturating_add(CRC_LEN));
        let end = (0..8).find_map(|padding| {
            let at = total.checked_sub(end_len)?.checked_sub(padding)?;
            let is_end = number(stream, at, MAGIC_LEN)? == END_MAGIC
                && number(stream, at.saturating_add(u64::from(MAGIC_LEN)), CRC_LEN)? == crc;
            is_end.then_some(at)
        });
        let bytes = stream.get(4..).ok_or_else(not_one)?;
        let len =
            end.and_then(|end| end.checked_sub(HEADER_LEN)).filter(|len| *len > 0).ok_or_else(not_one)?;
        self.bits.push(bytes, len);
        self.crc = combined(self.crc, u32::try_from(crc).unwrap_or(0));
        Ok(())
    }

    /// Ends the stream.
    pub fn finish(&mut self) {
        self.bits.push_number(END_MAGIC, MAGIC_LEN);
        self.bits.push_number(u64::from(self.crc), CRC_LEN);
        self.bits.pad();
    }

    /// Hands over the whole bytes that have been made since the last call.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn flush(&mut self, out: &mut (impl io::Write + ?Sized)) -> io::Result<u64> {
        out.write_all(&self.bits.bytes)?;
        let len = self.bits.bytes.len() as u64;
        self.bits.bytes.clear();
        Ok(len)
    }
}

/// The checksum of a stream, one block later.
pub(super) const fn combined(stream: u32, block: u32) -> u32 {
    stream.rotate_left(1) ^ block
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::bzip2::Bzip2;
    use container_core::codec::Codec;

    fn joined(data: &[u8], level: i32, piece: usize) -> (Vec<u8>, usize) {
        let (mut cutter, mut stream) = (Cutter::new(Some(level)).unwrap(), Joined::new(Some(level)).unwrap());
        let (mut start, mut end, mut blocks, mut out) = (0, 0, 0, Vec::new());
        while end < data.len() {
            end = data.len().min(end + piece);
            while let Some(len) = cutter.cut(&data[start..end]) {
                stream.push(&encode_block(Some(level), &data[start..start + len]).unwrap()).unwrap();
                stream.flush(&mut out).unwrap();
                start += len;
                blocks += 1;
            }
        }
        if start < end {
            stream.push(&encode_block(Some(level), &data[start..]).unwrap()).unwrap();
            blocks += 1;
        }
        stream.finish();
        stream.flush(&mut out).unwrap();
        (out, blocks)
    }

    /// Bytes in runs of all lengths, and without.
    fn mixed(len: usize, most: u32) -> Vec<u8> {
        let mut x = 7_u32;
        let mut data = Vec::new();
        while data.len() < len {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let run = (x >> 8) % most + 1;
            data.extend((0..run).map(|_| x.to_be_bytes()[0]));
        }
        data.truncate(len);
        data
    }

    #[test]
    fn blocks_in_a_row_are_the_library_s_own_stream() {
        for (data, at_least) in [
            (mixed(350_000, 1), 3),
            (mixed(450_000, 9), 4),
            (mixed(900_000, 400), 1),
            (vec![0; 6_000_000], 2),
            (mixed(99_981, 1), 1),
            (mixed(99_982, 1), 1),
            (mixed(99_983, 1), 1),
            (b"a".to_vec(), 1),
            (Vec::new(), 0),
        ] {
            let mut whole = Vec::new();
            Bzip2.encode(&data, Some(1), &mut whole).unwrap();
            for piece in [usize::MAX / 2, 70_001].into_iter().take(if data.len() < 500_000 { 2 } else { 1 }) {
                let (stream, blocks) = joined(&data, 1, piece);
                assert!(stream == whole, "{} bytes in {blocks} blocks", data.len());
                assert!(blocks >= at_least, "{blocks}");
            }
        }
    }
}

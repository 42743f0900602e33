//! bzip2 streams: encoded by libbz2-rs, decoded block by block by a decoder of our own, and by libbz2-rs where that one gives up.

use std::io;
use std::ops::Range;

use ::bzip2::{Action, Compress, Compression, Decompress, Status};

use super::feed::{Feed, on_front};
use super::shared::{level_in, make_room};
use super::streaming::{
    Decoder, Encoder, Fault, Filling, PIECE_LEN, Part, count, encode_in_pieces, pass, reach,
};
use container_core::codec::{Codec, Encoded, Take};
use container_core::{Error, Result, Stop};

mod bits;
mod block;
mod blocks;
mod huffman;
mod inverse_bwt;
mod move_to_front;
mod parallel;
mod rle;
mod salvage;
mod scan;

pub use blocks::{Cutter, Joined, encode_block};
pub use salvage::Blocks;

/// `bzp2`, as ASDF spells it: bzip2 with blocks of 1 to 9 times 100 kB, default 9.
///
/// Reads any number of concatenated streams, as pbzip2 and lbzip2 write them and Python's `bz2` reads them;
/// writes one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bzip2;

impl Codec for Bzip2 {
    fn name(&self) -> &str {
        "bzp2"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let len = dst.len() as u64;
        if parallel::decode_range(src, len, len, 0..len, dst, 1, Stop::never())? {
            return Ok(());
        }
        let mut filling = Filling::new("bzip2", src, dst);
        filling.run(Decompress::new(false))?;
        while filling.has_input() {
            filling.run(Decompress::new(false))?;
        }
        filling.finish()
    }

    /// Decodes from the start up to the end of `range`, the blocks on threads.
    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        encoded.check(&range, dst)?;
        let Encoded { decoded_len, threads, limits, .. } = *encoded;
        // A block of long runs decodes to 46 MB, of which each thread holds one: the sequential decoder holds none.
        let most = (limits.memory / 4).checked_div(threads.max(1) as u64).unwrap_or(0);
        if on_front(encoded, range.end, |src, _| {
            parallel::decode_range(src, decoded_len, most, range.clone(), dst, threads, limits.stop)
        })? {
            return Ok(());
        }
        let (src, to_end) = (Feed::of(encoded)?, range.end == decoded_len);
        Part { name: "bzip2", src, skip: range.start, dst, stop: encoded.limits.stop, to_end }
            .run(|| Ok(Decompress::new(false)))
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        let level = level_in("bzp2", level, 1..=9, 9)?.unsigned_abs();
        make_room(out, self.max_encoded_len(src.len()))?;
        encode_in_pieces(Compress::new(Compression::new(level), 0), src, PIECE_LEN, out)
    }

    fn decoded_len(&self, src: &[u8]) -> Result<Option<u64>> {
        count(src, || Ok(Decompress::new(false)))
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        pass("bzip2", encoded, take, || Ok(Decompress::new(false)))
    }

    fn reach(&self, encoded: &Encoded<'_>) -> Result<Option<u64>> {
        let src = &*encoded.bytes()?;
        reach(src, encoded.decoded_len, encoded.limits.stop, || || Ok(Decompress::new(false))).map(Some)
    }

    /// The bound that bzip2 itself promises: 1 % and 600 bytes.
    /// Spec: <https://sourceware.org/bzip2/manual/manual.html#bzbufftobuffcompress>
    fn max_encoded_len(&self, len: usize) -> usize {
        len.saturating_add(len.div_ceil(100)).saturating_add(600)
    }
}

impl Encoder for Compress {
    fn step(&mut self, src: &[u8], is_last: bool, out: &mut Vec<u8>) -> io::Result<bool> {
        let action = if is_last { Action::Finish } else { Action::Run };
        Ok(self.compress_vec(src, out, action)? == Status::StreamEnd)
    }

    fn total_in(&self) -> u64 {
        Self::total_in(self)
    }
}

impl Decoder for Decompress {
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault> {
        match self.decompress(src, dst) {
            Ok(Status::MemNeeded) => {
                Err(Fault::Other(Error::from(io::Error::from(io::ErrorKind::OutOfMemory))))
            }
            Ok(status) => Ok(status == Status::StreamEnd),
            Err(::bzip2::Error::DataMagic) => {
                Err(Fault::Damage("the magic of a bzip2 stream is missing".into()))
            }
            Err(_) => Err(Fault::Damage("a damaged block".into())),
        }
    }

    fn total_in(&self) -> u64 {
        Self::total_in(self)
    }

    fn total_out(&self) -> u64 {
        Self::total_out(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream's own checksum covers the order and number of its bytes.
    #[test]
    fn input_fed_in_pieces_is_one_whole_stream() {
        let data: Vec<u8> = (0..5000_u32).map(|k| (k * k / 8).to_le_bytes()[0]).collect();
        let mut whole = Vec::new();
        encode_in_pieces(Compress::new(Compression::best(), 0), &data, data.len(), &mut whole).unwrap();
        for piece_len in [1, 7, 4999, 5001] {
            let mut out = Vec::new();
            encode_in_pieces(Compress::new(Compression::best(), 0), &data, piece_len, &mut out).unwrap();
            assert_eq!(out, whole, "pieces of {piece_len}");
        }
        let mut back = vec![0; data.len()];
        Bzip2.decode(&whole, &mut back).unwrap();
        assert_eq!(back, data);
    }
}

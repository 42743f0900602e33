//! zlib streams (RFC 1950), by flate2 on zlib-rs.
//!
//! [`Zlib`] is the codec without state; [`Inflater`] and [`Deflater`] keep theirs, for formats that hold many small streams.

use std::io;
use std::ops::Range;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use simd_adler32::Adler32;

use super::feed::Feed;
use super::shared::{level_in, make_room};
use super::streaming::{
    Decoder, Encoder, Fault, Filling, PIECE_LEN, Part, count, encode_in_pieces, pass, reach,
};
use container_core::codec::{Codec, Encoded, Take};
use container_core::{Error, Result, Stop};

mod segments;

pub use segments::{Segments, WINDOW};

/// The default level of zlib-rs, for data that are not arrays with noise; those have an encoder of our own, which makes them 2 % larger to 7 %
/// smaller than 4 does in half the time or less. Level 4 of zlib-rs makes arrays and text about as small as level 6, the default, of Python's zlib (3
/// % smaller to 4 % larger; Poisson counts of 32 bits 6 %, rare points in a mask 17 % larger), 1.4 to 5 times as fast. Its own level 6 makes them 0
/// to 3 % smaller than 4 does, those counts 8 % and masks 23 %, in up to 3 times the time.
pub const DEFAULT_LEVEL: i32 = 4;

/// `zlib`: one RFC 1950 stream with the 32 KiB window, levels 0 (stored) to 9. Without a level it is our own encoder or level 4, whichever
/// suits the data ([`DEFAULT_LEVEL`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Zlib;

impl Codec for Zlib {
    fn name(&self) -> &str {
        "zlib"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.decode_until(src, dst, Stop::never())
    }

    fn decode_until(&self, src: &[u8], dst: &mut [u8], stop: Stop) -> Result<()> {
        let mut filling = Filling::new("zlib", src, dst).until(stop);
        filling.run(&mut Decompress::new(true))?;
        filling.finish()
    }

    /// Decodes from the start up to the end of `range`, on one thread.
    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        encoded.check(&range, dst)?;
        if encoded.is_all(&range) {
            return self.decode_until(&encoded.bytes()?, dst, encoded.limits.stop);
        }
        let (src, to_end) = (Feed::of(encoded)?, range.end == encoded.decoded_len);
        Part { name: "zlib", src, skip: range.start, dst, stop: encoded.limits.stop, to_end }
            .run(one_stream())
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        let Some(level) = level else { return encode_by_default(src, out) };
        let level = level_in("zlib", Some(level), 0..=9, DEFAULT_LEVEL)?.unsigned_abs();
        // All the room at once: stored blocks (level 0) are cut where the room ends, and the result is to
        // depend on `src` alone.
        make_room(out, self.max_encoded_len(src.len()))?;
        encode_in_pieces(Compress::new(Compression::new(level), true), src, PIECE_LEN, out)
    }

    fn decoded_len(&self, src: &[u8]) -> Result<Option<u64>> {
        count(src, one_stream())
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        pass("zlib", encoded, take, one_stream())
    }

    fn reach(&self, encoded: &Encoded<'_>) -> Result<Option<u64>> {
        let src = &*encoded.bytes()?;
        reach(src, encoded.decoded_len, encoded.limits.stop, one_stream).map(Some)
    }

    /// zlib-rs never does worse than the 9-bit literals of a fixed block; the rest is block and stream headers.
    fn max_encoded_len(&self, len: usize) -> usize {
        len.saturating_add(len.div_ceil(8)).saturating_add(16)
    }
}

/// A decoder, once.
fn one_stream() -> impl FnMut() -> Result<Decompress> {
    let mut decoder = Some(Decompress::new(true));
    move || decoder.take().ok_or_else(|| Error::malformed("bytes follow the end of the zlib stream"))
}

/// Segments between a header and a digest.
fn encode_by_default(src: &[u8], out: &mut Vec<u8>) -> Result<()> {
    make_room(out, Zlib.max_encoded_len(src.len()))?;
    let segments = Segments::new(None)?;
    out.extend_from_slice(&segments.header());
    let (mut before, mut rest) = (&[][..], src);
    loop {
        let (segment, behind) = rest.split_at(rest.len().min(segments::SEGMENT_LEN));
        segments.encode(before, segment, behind.is_empty(), out)?;
        (before, rest) = (segment, behind);
        if rest.is_empty() {
            break;
        }
    }
    let mut adler32 = Adler32::new();
    adler32.write(src);
    out.extend_from_slice(&adler32.finish().to_be_bytes());
    Ok(())
}

/// Decodes many streams with one state.
#[derive(Debug)]
pub struct Inflater(Decompress);

impl Default for Inflater {
    fn default() -> Self {
        Self(Decompress::new(true))
    }
}

impl Inflater {
    /// Decodes the stream `src` into `dst`, filling it exactly and using all of `src`.
    ///
    /// # Errors
    /// As [`Zlib`]'s.
    pub fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.reset(true);
        let mut filling = Filling::new("zlib", src, dst);
        filling.run(&mut self.0)?;
        filling.finish()
    }

    /// Decodes the first `dst.len()` bytes of the stream `src`, which holds that many or more. Neither later bytes nor the checksum are
    /// checked.
    ///
    /// # Errors
    /// As [`Zlib`]'s.
    pub fn decode_prefix(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.reset(true);
        Filling::new("zlib", src, dst).run_prefix(&mut self.0)
    }
}

/// Encodes many streams with one state, at one level. The output depends on the source alone.
#[derive(Debug)]
pub struct Deflater(Compress);

impl Deflater {
    /// An encoder at `level`, 0 to 9.
    ///
    /// # Errors
    /// `Usage` for an invalid level.
    pub fn new(level: i32) -> Result<Self> {
        let level = level_in("zlib", Some(level), 0..=9, DEFAULT_LEVEL)?.unsigned_abs();
        Ok(Self(Compress::new(Compression::new(level), true)))
    }

    /// Writes the stream of `src` to the front of `dst`, and gives its length; `None` when it is longer than `dst`, which then
    /// holds unspecified bytes.
    ///
    /// # Errors
    /// `Io` when the library fails.
    pub fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        self.0.reset();
        let mut rest = src;
        loop {
            let used = self.0.total_in();
            let made = usize::try_from(self.0.total_out()).unwrap_or(usize::MAX);
            let piece = rest.get(..PIECE_LEN).unwrap_or(rest);
            let flush = if piece.len() == rest.len() { FlushCompress::Finish } else { FlushCompress::None };
            let room = dst.get_mut(made..).unwrap_or_default();
            let status = self.0.compress(piece, room, flush).map_err(io::Error::from)?;
            if status == Status::StreamEnd {
                return Ok(usize::try_from(self.0.total_out()).ok());
            }
            let used = usize::try_from(self.0.total_in().saturating_sub(used)).unwrap_or(usize::MAX);
            rest = rest.get(used..).unwrap_or_default();
            if self.0.total_out() >= dst.len() as u64 {
                return Ok(None);
            }
        }
    }
}

impl Encoder for Compress {
    fn step(&mut self, src: &[u8], is_last: bool, out: &mut Vec<u8>) -> io::Result<bool> {
        let flush = if is_last { FlushCompress::Finish } else { FlushCompress::None };
        Ok(self.compress_vec(src, out, flush)? == Status::StreamEnd)
    }

    fn total_in(&self) -> u64 {
        Self::total_in(self)
    }
}

impl Decoder for Decompress {
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault> {
        (&mut &mut *self).step(src, dst)
    }

    fn total_in(&self) -> u64 {
        Self::total_in(self)
    }

    fn total_out(&self) -> u64 {
        Self::total_out(self)
    }
}

impl Decoder for &mut Decompress {
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault> {
        match self.decompress(src, dst, FlushDecompress::Finish) {
            Ok(status) => Ok(status == Status::StreamEnd),
            Err(error) if error.needs_dictionary().is_some() => {
                Err(Fault::Other(Error::unsupported("these zlib data need a preset dictionary")))
            }
            Err(error) => {
                Err(Fault::Damage(error.message().unwrap_or("damaged deflate data").to_owned().into()))
            }
        }
    }

    fn total_in(&self) -> u64 {
        Decompress::total_in(self)
    }

    fn total_out(&self) -> u64 {
        Decompress::total_out(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// zlib.adler32 of these bytes ends the stream, so any byte lost between pieces would show.
    #[test]
    fn input_fed_in_pieces_is_one_whole_stream() {
        let (len, levels) = if cfg!(miri) { (200, &[6][..]) } else { (5000, &[0, 1, 6, 9][..]) };
        let data: Vec<u8> = (0..len).map(|k: u32| (k * k / 8).to_le_bytes()[0]).collect();
        for level in levels {
            for piece_len in [1, 7, data.len() - 1, data.len(), data.len() + 1] {
                let mut out = Vec::new();
                encode_in_pieces(Compress::new(Compression::new(*level), true), &data, piece_len, &mut out)
                    .unwrap();
                let mut back = vec![0; data.len()];
                Zlib.decode(&out, &mut back).unwrap();
                assert_eq!(back, data, "level {level}, pieces of {piece_len}");
            }
        }
    }
}

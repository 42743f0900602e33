//! One zlib stream made of segments that are encoded apart, so that threads can share them.
//!
//! Each segment is deflated on its own with the 32 KiB before it as a dictionary, which a decoder has in its window there. It ends with an empty
//! stored block, which fills it up to a whole byte. The segments in their order, between the header and the Adler-32 of all data (most significant
//! byte first), are one stream for every reader; pigz writes its streams so.
//!
//! Spec: RFC 1950, RFC 1951 section 3.2.4

use std::io;

use flate2::{Compress, Compression, FlushCompress, Status};

use super::DEFAULT_LEVEL;
use crate::deflate::{self, End, Taken, deflate};
use crate::shared::{level_in, make_room};
use crate::streaming::PIECE_LEN;
use container_core::Result;

/// Maximum distance of a match, in bytes: [`Segments::encode`] uses at most this many bytes before the data.
pub const WINDOW: usize = deflate::WINDOW;

/// Bytes of the segments of [`super::Zlib`] without an explicit level.
pub(super) const SEGMENT_LEN: usize = 512 << 10;

/// Encodes the segments of one stream.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    level: u32,
    /// True without an explicit level: arrays with noise then have an encoder of their own.
    is_default: bool,
}

impl Segments {
    /// An encoder at `level`, 0 to 9; without one, see [`DEFAULT_LEVEL`].
    ///
    /// # Errors
    /// `Usage` for an invalid level.
    pub fn new(level: Option<i32>) -> Result<Self> {
        let is_default = level.is_none();
        Ok(Self { level: level_in("zlib", level, 0..=9, DEFAULT_LEVEL)?.unsigned_abs(), is_default })
    }

    /// The two bytes that begin the stream.
    #[must_use]
    pub const fn header(self) -> [u8; 2] {
        // A window of 32 KiB, and how hard the encoder tried.
        match self.level {
            0 | 1 => [0x78, 0x01],
            2..=5 => [0x78, 0x5e],
            6 => [0x78, 0x9c],
            _ => [0x78, 0xda],
        }
    }

    /// Appends the segment of `src` to `out`. `before` are the bytes before it, of which the last [`WINDOW`] count. `is_last` marks the
    /// last segment of a stream, which may be empty.
    ///
    /// # Errors
    /// `Io` when memory runs out or the library fails.
    pub fn encode(self, before: &[u8], src: &[u8], is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        let end = if is_last { End::Last } else { End::Open };
        if self.is_default && deflate(before, src, end, Taken::Arrays, out)? {
            return Ok(());
        }
        let mut encoder = Compress::new(Compression::new(self.level), false);
        let dictionary = before.get(before.len().saturating_sub(WINDOW)..).unwrap_or_default();
        if !dictionary.is_empty() {
            encoder.set_dictionary(dictionary).map_err(io::Error::from)?;
        }
        make_room(out, src.len().saturating_add(src.len().div_ceil(8)).saturating_add(64))?;
        let mut rest = src;
        loop {
            let piece = rest.get(..PIECE_LEN).unwrap_or(rest);
            let flush = match (piece.len() == rest.len(), is_last) {
                (false, _) => FlushCompress::None,
                (true, false) => FlushCompress::Sync,
                (true, true) => FlushCompress::Finish,
            };
            let before = encoder.total_in();
            let status = encoder.compress_vec(piece, out, flush).map_err(io::Error::from)?;
            let used = usize::try_from(encoder.total_in().saturating_sub(before)).unwrap_or(usize::MAX);
            rest = rest.get(used..).unwrap_or_default();
            // A flush is complete when it leaves room.
            let is_flushed = rest.is_empty() && out.len() < out.capacity();
            if status == Status::StreamEnd || (!is_last && is_flushed) {
                return Ok(());
            }
            if out.len() == out.capacity() {
                make_room(out, 1 << 16)?;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::zlib::Zlib;
    use container_core::codec::Codec;

    const LEN: u32 = if cfg!(miri) { 600 } else { 80_000 };

    fn data() -> Vec<u8> {
        (0..LEN / 2)
            .flat_map(|k| [(k.wrapping_mul(k) / 8).to_le_bytes()[0], (k / 300).to_le_bytes()[0]])
            .collect()
    }

    fn stream(data: &[u8], level: i32, len: usize) -> Vec<u8> {
        let segments = Segments::new(Some(level)).unwrap();
        let mut out = segments.header().to_vec();
        let mut at = 0;
        loop {
            let end = data.len().min(at + len);
            segments.encode(&data[..at], &data[at..end], end == data.len(), &mut out).unwrap();
            if end == data.len() {
                break;
            }
            at = end;
        }
        // The definition in RFC 1950, section 8.2.
        let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
            let low = (low + u32::from(*byte)) % 65521;
            (low, (high + low) % 65521)
        });
        out.extend((high << 16 | low).to_be_bytes());
        out
    }

    #[test]
    fn segments_of_any_length_are_one_stream() {
        let data = data();
        for level in (0..=9).step_by(if cfg!(miri) { 8 } else { 1 }) {
            for len in [data.len() / if cfg!(miri) { 3 } else { 11 }, 32 << 10, data.len() - 1, 1 << 20] {
                let stream = stream(&data, level, len);
                let mut back = vec![0; data.len()];
                Zlib.decode(&stream, &mut back).unwrap();
                assert!(back == data, "level {level}, segments of {len}");
                // The header equals the library's.
                let mut whole = Vec::new();
                Zlib.encode(&data[..10], Some(level), &mut whole).unwrap();
                assert_eq!(stream[..2], whole[..2]);
            }
        }
        assert_eq!(stream(b"", 6, 10), b"\x78\x9c\x03\x00\x00\x00\x00\x01");
    }

    #[test]
    #[cfg_attr(miri, ignore = "long data")]
    fn segments_use_the_preceding_data_as_dictionary() {
        let data = data();
        let segments = Segments::new(None).unwrap();
        let (mut alone, mut behind) = (Vec::new(), Vec::new());
        let at = data.len() / 8;
        let again = &data[at..2 * at];
        segments.encode(b"", again, false, &mut alone).unwrap();
        segments.encode(&data[..3 * at], again, false, &mut behind).unwrap();
        assert!(behind.len() * 10 < alone.len(), "{} and {}", behind.len(), alone.len());
        assert!(behind.ends_with(&[0, 0, 0xff, 0xff]));
    }
}

//! The first 16 bytes of a chunk, which Blosc1 and Blosc2 share: what the walk from chunk to chunk needs.
//!
//! Decoding is `blosc-chunk`'s, and so is the full judgement of a header.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use nom::number::complete::{le_u8, le_u32};
use nom::{IResult, Parser};

use crate::header::MAX_CHUNK;

/// Bytes of the header of a Blosc1 chunk, and of what Blosc2 has in common with it.
pub const LEN: usize = 16;

/// Chunk header: the fields of the first 16 bytes of a chunk, unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// 1 and 2 are Blosc1, 3 to 6 Blosc2.
    pub version: u8,
    /// Version of the codec's stream; 1.
    pub versionlz: u8,
    /// Flags; bits 5 to 7 are the codec.
    pub flags: u8,
    /// Bytes of an element.
    pub typesize: u8,
    /// Bytes after decoding.
    pub nbytes: u32,
    /// Bytes of a block.
    pub blocksize: u32,
    /// Bytes of the chunk, header included.
    pub cbytes: u32,
}

impl ChunkHeader {
    /// Parses the header at the start of `bytes`; `None` when there are fewer than 16.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        fields(bytes).map(|(_, header)| header).ok()
    }

    /// True for a chunk of Blosc2.
    #[must_use]
    pub const fn is_blosc2(&self) -> bool {
        self.version > 2
    }

    /// True where the header goes on for 16 more bytes.
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.is_blosc2() && self.flags & 0b101 == 0b101
    }

    /// True where the bytes are stored as they are.
    #[must_use]
    pub const fn is_memcpyed(&self) -> bool {
        self.flags & 0b10 != 0
    }

    /// The codec, by the command's word; `none` where the bytes are stored as they are.
    #[must_use]
    pub const fn codec(&self) -> &'static str {
        if self.is_memcpyed() {
            return "none";
        }
        match self.flags >> 5 {
            0 => "blosclz",
            1 => "lz4",
            2 if !self.is_blosc2() => "snappy",
            3 => "zlib",
            4 => "zstd",
            _ => "other",
        }
    }

    /// The filter, by the command's word.
    #[must_use]
    pub const fn filter(&self) -> &'static str {
        match self.flags & 0b101 {
            0b101 if self.is_blosc2() => "blosc2 pipeline",
            0b001 | 0b101 => "shuffle",
            0b100 => "bitshuffle",
            _ => "none",
        }
    }

    /// Returns the reason why these bytes are impossible as the header of a chunk, if there is one.
    #[must_use]
    pub const fn problem(&self) -> Option<&'static str> {
        let least = if self.is_extended() { 32 } else { 16 };
        if self.version == 0 || self.version > 6 {
            return Some("its version is not one of 1 to 6");
        }
        if self.cbytes < least {
            return Some("it is shorter than its own header");
        }
        if self.nbytes > MAX_CHUNK {
            return Some("it holds more than a chunk can");
        }
        if self.typesize == 0 {
            return Some("its typesize is 0");
        }
        if self.is_blosc2() {
            return None;
        }
        let most = if self.nbytes == 0 { 1 } else { self.nbytes };
        if self.blocksize == 0 || self.blocksize > most {
            return Some("its block size is impossible");
        }
        if self.flags & 0b1000 != 0 || self.flags >> 5 > 4 {
            return Some("its flags have no known meaning");
        }
        if self.is_memcpyed() && self.nbytes > 0 && self.cbytes != self.nbytes.saturating_add(16) {
            return Some("its bytes are stored as they are, but are not as many as they should be");
        }
        None
    }
}

fn fields(bytes: &[u8]) -> IResult<&[u8], ChunkHeader> {
    let (rest, (version, versionlz, flags, typesize, nbytes, blocksize, cbytes)) =
        (le_u8, le_u8, le_u8, le_u8, le_u32, le_u32, le_u32).parse(bytes)?;
    Ok((rest, ChunkHeader { version, versionlz, flags, typesize, nbytes, blocksize, cbytes }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_the_description_parse() {
        let hello = b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack";
        let header = ChunkHeader::parse(hello).unwrap();
        assert_eq!((header.nbytes, header.blocksize, header.cbytes), (15, 8, 31));
        assert_eq!((header.codec(), header.filter(), header.problem()), ("none", "shuffle", None));
        // The 1212-byte example: BloscLZ, shuffled.
        let long = ChunkHeader::parse(b"\x02\x01\x01\x04\xbc\x04\0\0\xbc\x04\0\0\x9b\0\0\0").unwrap();
        assert_eq!((long.codec(), long.filter(), long.problem()), ("blosclz", "shuffle", None));
        let empty = ChunkHeader::parse(b"\x02\x01\x12\x01\0\0\0\0\x01\0\0\0\x10\0\0\0").unwrap();
        assert_eq!((empty.nbytes, empty.problem()), (0, None));
        assert_eq!(ChunkHeader::parse(&hello[..15]), None);
    }

    #[test]
    fn impossible_headers_are_told() {
        let good = ChunkHeader {
            version: 2,
            versionlz: 1,
            flags: 0x81,
            typesize: 8,
            nbytes: 100,
            blocksize: 96,
            cbytes: 50,
        };
        assert_eq!((good.codec(), good.problem()), ("zstd", None));
        for bad in [
            ChunkHeader { version: 0, ..good },
            ChunkHeader { version: 7, ..good },
            ChunkHeader { cbytes: 15, ..good },
            ChunkHeader { nbytes: MAX_CHUNK + 1, ..good },
            ChunkHeader { typesize: 0, ..good },
            ChunkHeader { blocksize: 0, ..good },
            ChunkHeader { blocksize: 101, ..good },
            ChunkHeader { flags: 0xa1, ..good },
            ChunkHeader { flags: 0x09, ..good },
            ChunkHeader { flags: 0x02, ..good },
            ChunkHeader { version: 5, flags: 0x05, cbytes: 31, ..good },
        ] {
            assert!(bad.problem().is_some(), "{bad:?}");
        }
    }
}

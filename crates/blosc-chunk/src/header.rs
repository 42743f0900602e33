//! The header of a chunk: 16 bytes in Blosc1, 32 in Blosc2.

use container_core::Result;

use crate::{Compressor, Pipeline};

/// What the first 16 or 32 bytes of a chunk say. Parsed without judging more than the fields themselves allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// 1 and 2 are Blosc1; 3 (alpha), 4 (beta), 5 (stable) and 6 (blocks of variable length) are Blosc2.
    pub version: u8,
    /// Version of the codec's stream; 1 for all built-in codecs.
    pub versionlz: u8,
    /// Flags as stored.
    pub flags: u8,
    /// Bytes of an element, 1 to 255. A real typesize over 255 is stored as 1.
    pub typesize: u8,
    /// Bytes after decoding.
    pub nbytes: u32,
    /// Nominal bytes of a block; in a chunk of variable-length blocks their number.
    pub blocksize: u32,
    /// Bytes of the whole chunk, this header included.
    pub cbytes: u32,
    /// The filter pipeline, in the order of encoding; for 16-byte headers as the flags mean it.
    pub filters: Pipeline,
    /// The codec. Tells LZ4 from LZ4HC in extended headers only.
    pub compressor: Compressor,
    /// The codec's own byte, meaningful for plugins.
    pub codec_meta: u8,
    /// Second flags byte, 0x1E: bit 0 says that blocks are of variable length.
    pub blosc2_flags2: u8,
    /// Byte 0x1F: dictionary, big-endian writer, lazy, special value, instrumented.
    pub blosc2_flags: u8,
    /// Whether the header is the 32-byte one.
    pub extended: bool,
}

/// What a chunk without streams holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Nothing but zeros.
    Zeros,
    /// Nothing but NaN, as f32 or f64.
    Nan,
    /// One value, over and over.
    Value,
    /// Never written; read as zeros.
    Uninit,
}

impl Header {
    /// Bytes of the longest header.
    pub const MAX_LEN: usize = 32;

    /// Parses the header at the start of `bytes`, which may be longer, down to the header alone.
    ///
    /// # Errors
    /// `Truncated` when there are too few bytes, `Malformed`, `Unsupported` for versions over 6 and unknown flags.
    pub fn parse(_bytes: &[u8]) -> Result<Self> {
        todo!()
    }

    /// Bytes of this header, 16 or 32.
    #[must_use]
    pub const fn len(&self) -> usize {
        if self.extended { 32 } else { 16 }
    }
}

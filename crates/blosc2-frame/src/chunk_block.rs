//! A chunk as a block of the file, and the codecs that decode it: for code that handles blocks only.

use std::ops::Range;

use blosc_chunk::{Decoder, Geometry, Special};
use container_core::block::Block;
use container_core::codec::{Codec, Codecs};
use container_core::source::Source;
use container_core::{Error, Result};

use crate::decoder_pool;
use crate::frame::{Frame, LocatedChunk};
use crate::options::OpenOptions;

/// Names of the codecs of stored chunks, and of those that are not stored.
const STORED: &str = "blosc2";
const ZEROS: &str = "blosc2-zeros";
const UNINIT: &str = "blosc2-uninit";
const NAN: &str = "blosc2-nan";

/// A chunk of a frame. A mark has no bytes, and gets the range of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    index: u64,
    range: Range<u64>,
    part: Option<String>,
    decoded_len: u64,
    special: Option<Special>,
}

impl ChunkEntry {
    /// Its number in the frame.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// Returns the special value of a chunk that is not stored.
    #[must_use]
    pub const fn special(&self) -> Option<Special> {
        self.special
    }
}

impl Block for ChunkEntry {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    fn codec(&self) -> Option<&str> {
        Some(match self.special {
            None | Some(Special::Value) => STORED,
            Some(Special::Zeros) => ZEROS,
            Some(Special::Uninit) => UNINIT,
            Some(Special::Nan) => NAN,
        })
    }
}

impl Frame {
    /// Returns the chunk `index` as a block of the file. Its header is read.
    ///
    /// # Errors
    /// As [`Frame::chunk`] and [`Frame::chunk_len`].
    pub fn chunk_entry(&self, index: u64) -> Result<ChunkEntry> {
        let decoded_len = self.chunk_len(index)?;
        let entry = |range, part, special| ChunkEntry { index, range, part, decoded_len, special };
        Ok(match self.locate(index)? {
            LocatedChunk::Special(special) => {
                let at = self.layout().index().start;
                entry(at..at, None, Some(special))
            }
            LocatedChunk::Stored(place) => entry(place.range(), place.part().map(str::to_owned), None),
        })
    }

    /// Returns the bytes that a block's range counts in: the file, or of a sparse frame the file of the chunk, opened anew.
    ///
    /// # Errors
    /// As [`Frame::chunk`].
    pub fn block_source(&self, entry: &ChunkEntry) -> Result<Box<dyn Source + '_>> {
        if entry.part.is_none() {
            return Ok(Box::new(self.source()));
        }
        match self.locate(entry.index)? {
            LocatedChunk::Stored(place) => Ok(place.into_source()),
            LocatedChunk::Special(_) => Ok(Box::new(self.source())),
        }
    }

    /// Returns the codecs of [`ChunkEntry`]s.
    #[must_use]
    pub fn codecs(&self) -> &Codecs {
        self.codecs.get_or_init(|| codecs(self.geometry(), self.options()))
    }
}

/// Returns the codecs of a frame's chunks.
fn codecs(geometry: &Geometry, options: &OpenOptions) -> Codecs {
    let mut codecs = Codecs::none();
    codecs.register(Stored { geometry: geometry.clone(), options: options.clone() });
    let typesize = geometry.typesize.and_then(|typesize| u32::try_from(typesize).ok()).unwrap_or(1);
    for (name, special) in [(ZEROS, Special::Zeros), (UNINIT, Special::Uninit), (NAN, Special::Nan)] {
        codecs.register(SpecialCodec { name, special, typesize });
    }
    codecs
}

/// Whole chunks.
struct Stored {
    geometry: Geometry,
    options: OpenOptions,
}

impl Codec for Stored {
    fn name(&self) -> &str {
        STORED
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        decoder(&self.geometry, &self.options).decode_whole(src, dst)
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("chunks are written by the writer of their format"))
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        len.saturating_add(blosc_chunk::Header::MAX_LEN)
    }
}

/// Chunks that are not stored.
struct SpecialCodec {
    name: &'static str,
    special: Special,
    typesize: u32,
}

impl Codec for SpecialCodec {
    fn name(&self) -> &str {
        self.name
    }

    fn decode(&self, _src: &[u8], dst: &mut [u8]) -> Result<()> {
        decoder_pool::fill(self.special, self.typesize, 0, dst)
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("chunks are written by the writer of their format"))
    }

    fn max_encoded_len(&self, _len: usize) -> usize {
        0
    }
}

/// Returns a decoder for chunks of a frame.
pub(crate) fn decoder(geometry: &Geometry, options: &OpenOptions) -> Decoder {
    Decoder::new()
        .with_geometry(geometry.clone())
        .with_limits(options.limits)
        .with_plugins(options.plugins.clone())
}

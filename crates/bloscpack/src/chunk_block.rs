//! A chunk as a block of the file, and the codec that decodes it.

use std::ops::Range;

use blosc_chunk::Decoder;
use container_codecs::checksum::Algorithm;
use container_core::block::{Block, Covers, StoredChecksum};
use container_core::checksum::Digest;
use container_core::codec::Codec;
use container_core::source::Source;
use container_core::{Error, Result};

use crate::chunk_table::ChunkEntry;
use crate::header::Header;

/// Name of the codec of chunks.
pub(crate) const CODEC: &str = "blosc";

/// A chunk with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkBlock {
    range: Range<u64>,
    decoded_len: u64,
    checksum: Option<(Algorithm, Digest)>,
}

impl ChunkBlock {
    pub(crate) fn read(source: &dyn Source, header: &Header, chunk: &ChunkEntry) -> Result<Self> {
        let range = chunk.range();
        let mut block = Self { range, decoded_len: chunk.nbytes().into(), checksum: None };
        if header.digest_len() == 0 {
            return Ok(block);
        }
        let stored = source.read(block.range.end..block.range.end.saturating_add(header.digest_len()))?;
        block.checksum = header.checksum.algorithm()?.zip(header.checksum.parse_digest(&stored)?);
        Ok(block)
    }
}

impl Block for ChunkBlock {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    fn codec(&self) -> Option<&str> {
        Some(CODEC)
    }

    fn checksum(&self) -> Option<StoredChecksum> {
        self.checksum.map(|(algorithm, digest)| algorithm.stored(digest, Covers::Stored))
    }
}

/// Whole Blosc chunks for code that works on blocks.
pub(crate) struct BloscChunk;

impl Codec for BloscChunk {
    fn name(&self) -> &str {
        CODEC
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        Decoder::new().decode_whole(src, dst)
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("chunks are written by the writer of their format"))
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        len.saturating_add(16)
    }
}

//! One chunk with its digest, as stored in a file.

use std::borrow::Cow;
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, ErrorKind, Limits, Result};

use crate::ChecksumCode;
use crate::chunk_table::ChunkEntry;

/// The bytes of a chunk and of the digest after it.
pub(crate) struct StoredChunk<'s> {
    bytes: Cow<'s, [u8]>,
    /// Length of the chunk itself.
    chunk_len: usize,
    checksum: ChecksumCode,
    at: u64,
}

impl<'s> StoredChunk<'s> {
    /// Reads both, and compares them.
    ///
    /// # Errors
    /// `Truncated`, `Checksum`, `Limit` where the bytes have to be copied, and those of the source.
    pub(crate) fn read(
        source: &'s dyn Source,
        checksum: ChecksumCode,
        entry: &ChunkEntry,
        limits: &Limits,
    ) -> Result<Self> {
        let stored = Self::read_uncompared(source, checksum, entry, limits)?;
        stored.verify()?;
        Ok(stored)
    }

    /// Reads both, whether or not they fit: for a repair, which compares them itself.
    ///
    /// # Errors
    /// As [`StoredChunk::read`], but for `Checksum`.
    pub(crate) fn read_uncompared(
        source: &'s dyn Source,
        checksum: ChecksumCode,
        entry: &ChunkEntry,
        limits: &Limits,
    ) -> Result<Self> {
        let range = stored_range(checksum, entry);
        if range.end <= source.len() && source.lend(range.clone()).is_none() {
            limits.allocate(range.end - range.start).map_err(|error| error.with_range(range.clone()))?;
        }
        let bytes = source.read(range.clone())?;
        let chunk_len = bytes.len().saturating_sub(checksum.digest_len());
        Ok(Self { bytes, chunk_len, checksum, at: range.start })
    }

    /// Chunk and digest.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Range of its bytes.
    fn range(&self) -> Range<u64> {
        self.at..self.at.saturating_add(self.bytes.len() as u64)
    }

    /// The chunk alone.
    pub(crate) fn chunk(&self) -> &[u8] {
        self.bytes.get(..self.chunk_len).unwrap_or_default()
    }

    /// Compares the digest, where there is one.
    ///
    /// # Errors
    /// `Checksum`, at the range of both; `Unsupported` for an unknown checksum.
    pub(crate) fn verify(&self) -> Result<()> {
        let Some(algorithm) = self.checksum.algorithm()? else { return Ok(()) };
        let stored = self.bytes.get(self.chunk_len..).unwrap_or_default();
        let computed = algorithm.digest(self.chunk());
        match self.checksum.parse_digest(stored)? {
            Some(stored) if stored != computed => {
                let kind = ErrorKind::Checksum { stored: stored.to_string(), computed: computed.to_string() };
                Err(Error::new(kind).with_range(self.range()).with_context(algorithm.name()))
            }
            _ => Ok(()),
        }
    }

    /// Decodes the chunk.
    ///
    /// # Errors
    /// `Malformed`, `Unsupported`, `Limit`, all at the range of the chunk.
    pub(crate) fn decode(&self, decoder: &mut Decoder, limits: &Limits) -> Result<Vec<u8>> {
        let range = self.at..self.at.saturating_add(self.chunk_len as u64);
        let decoded = Chunk::parse(self.chunk()).and_then(|chunk| {
            let mut decoded = try_zeroed_vec(chunk.header().nbytes.into(), limits)?;
            decoder.decode(&chunk, &mut decoded)?;
            Ok(decoded)
        });
        decoded
            .map_err(|error| Error::new(error.into_kind()).with_range(range).with_context("bloscpack chunk"))
    }
}

/// The bytes of a chunk and of the digest after it.
pub(crate) fn stored_range(checksum: ChecksumCode, entry: &ChunkEntry) -> Range<u64> {
    entry.range().start..entry.end().saturating_add(checksum.digest_len() as u64)
}

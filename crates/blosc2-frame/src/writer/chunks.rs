//! The chunks of a frame that is being written, in the order in which they come.

use blosc_chunk::{Chunk, Special};
use container_core::{Limits, Result};

use super::header::{apply_size_change, mixed_blocks_error};
use super::stored_chunk::{StoreRules, StoredChunk, physical, stored_form};
use super::{ChunkSizes, OffsetTable, Sink, SizeChange};
use crate::checksums::Digests;
use crate::header::Header;
use crate::offsets::{Offset, Offsets};

/// Header, chunks and index of a frame that is being written.
pub(super) struct ChunkWriter<'o> {
    pub sink: Sink<'o>,
    pub header: Header,
    pub sizes: ChunkSizes,
    pub offsets: OffsetTable,
    /// Of all stored chunks, where they are wanted.
    pub digests: Option<Digests>,
}

impl<'o> ChunkWriter<'o> {
    pub fn new(sink: Sink<'o>, header: Header, may_vary: bool) -> Self {
        let sizes = ChunkSizes { chunksize: header.chunksize, count: 0, nbytes: 0, may_vary };
        let offsets = OffsetTable::new(Offsets::Each(Vec::new()), Limits::default());
        Self { sink, header, sizes, offsets, digests: None }
    }

    /// Writes marks in the index, which have been checked; chunks if sizes vary.
    pub fn take_specials(&mut self, special: Special, nbytes: usize, count: u64) -> Result<()> {
        let fit = self.sizes.insert(self.sizes.count, nbytes, count)?;
        self.apply_change(fit)?;
        if !self.sizes.is_variable() {
            self.offsets.insert(self.sizes.count, Offset::Special(special), count)?;
            self.count(nbytes as u64, count);
            return Ok(());
        }
        let chunk = physical(special, nbytes, self.header.typesize)?;
        let chunk = Chunk::parse(&chunk)?;
        (0..count).try_for_each(|_| self.take(&chunk))
    }

    /// Writes the next chunk, which has been checked.
    pub fn take(&mut self, chunk: &Chunk<'_>) -> Result<()> {
        let fit = self.sizes.insert(self.sizes.count, chunk.nbytes(), 1)?;
        self.apply_change(fit)?;
        if chunk.header().has_variable_blocks() {
            self.header.variable_blocks = true;
            self.sizes.may_vary = true;
        }
        let rules = StoreRules { typesize: self.header.typesize, variable_size: self.sizes.is_variable() };
        let offset = match stored_form(chunk, rules)? {
            StoredChunk::Mark(special) => Offset::Special(special),
            StoredChunk::Bytes(bytes) => self.put(&bytes)?,
        };
        self.offsets.insert(self.sizes.count, offset, 1)?;
        self.count(chunk.nbytes() as u64, 1);
        Ok(())
    }

    fn put(&mut self, chunk: &[u8]) -> Result<Offset> {
        let at = self.sink.len();
        self.sink.put(chunk)?;
        if let Some(digests) = &mut self.digests {
            digests.take(at, chunk);
        }
        Ok(Offset::Stored(at))
    }

    fn count(&mut self, nbytes: u64, count: u64) {
        self.sizes.count = self.sizes.count.saturating_add(count);
        self.sizes.nbytes = self.sizes.nbytes.saturating_add(nbytes.saturating_mul(count));
    }

    /// Makes sizes what the next chunk needs them to be. Where they begin to vary, marks get the length that they lack.
    fn apply_change(&mut self, fit: SizeChange) -> Result<()> {
        if fit == SizeChange::BecomesVariable && !self.sizes.is_variable() {
            for index in 0..self.offsets.len() {
                let (Some(Offset::Special(special)), Some(len)) =
                    (self.offsets.get(index), self.sizes.len_of(index))
                else {
                    continue;
                };
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                let chunk = physical(special, len, self.header.typesize)?;
                let offset = self.put(&chunk)?;
                self.offsets.set(index, offset)?;
            }
        }
        apply_size_change(&mut self.sizes, fit);
        Ok(())
    }

    /// Refuses to mix chunks of variable blocks with others (C-Blosc2 does not read such frames).
    pub fn check_uniform_blocks(&mut self, variable_blocks: bool) -> Result<()> {
        if self.sizes.count > 0 && self.header.variable_blocks != variable_blocks {
            return Err(mixed_blocks_error());
        }
        if self.sizes.count == 0 {
            self.header.variable_blocks = variable_blocks;
        }
        Ok(())
    }
}

//! Chunks that come, go, and are replaced.

use std::collections::BTreeSet;

use blosc_chunk::{Chunk, Special};
use container_core::{Error, Result};

use super::Editor;
use super::store::Store;
use crate::offsets::Offset;
use crate::writer::{
    SizeChange, StoreRules, StoredChunk, apply_size_change, check, check_mark, check_range,
    mixed_blocks_error, physical, stored_form,
};

impl Editor {
    /// Adds a chunk at the end. One of all zeros or NaN takes no room in a frame of chunks of one size.
    ///
    /// # Errors
    /// `Usage` for an empty chunk, for one over the size limit, and for another size if the options do not allow that; `Io`.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.append_all(&[data])
    }

    /// Adds each of `pieces` as a chunk at the end, encoded on the number of threads in the parameters.
    ///
    /// # Errors
    /// As [`Editor::append`]. Pieces before one that cannot be a chunk are appended.
    pub fn append_all(&mut self, pieces: &[&[u8]]) -> Result<()> {
        self.encode(pieces, |editor, chunk| editor.take(editor.chunk_count(), chunk))
    }

    /// Adds an encoded chunk at the end, as it is.
    ///
    /// # Errors
    /// As [`Editor::append`]; those of parsing an invalid chunk; `Usage` for one of Blosc1.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.insert_chunk(self.chunk_count(), chunk)
    }

    /// Adds a chunk at the end whose blocks the caller cuts (C-Blosc2 3.0). All chunks of a frame are of that kind, or none is.
    ///
    /// # Errors
    /// As [`Editor::append`]; `Usage` for an empty block, and for chunks of both kinds.
    pub fn append_blocks(&mut self, blocks: &[&[u8]]) -> Result<()> {
        let mut chunk = Vec::new();
        self.batch_encoder.encoder()?.encode_blocks(blocks, &mut chunk)?;
        self.append_chunk(&chunk)
    }

    /// Adds a chunk before the chunk `index`, or at the end.
    ///
    /// # Errors
    /// As [`Editor::append`]; `Usage` for an index past the end.
    pub fn insert(&mut self, index: u64, data: &[u8]) -> Result<()> {
        self.encode(&[data], |editor, chunk| editor.take(index, chunk))
    }

    /// Adds an encoded chunk before the chunk `index`, or at the end, as it is.
    ///
    /// # Errors
    /// As [`Editor::append_chunk`] and [`Editor::insert`].
    pub fn insert_chunk(&mut self, index: u64, chunk: &[u8]) -> Result<()> {
        self.check_usable()?;
        self.take(index, &check(chunk)?)
    }

    /// Adds `count` chunks of `nbytes` bytes that hold only `special` before the chunk `index`, or at the end. In a frame of chunks of
    /// one size they take no room except in the index, and none at all if all chunks are alike.
    ///
    /// # Errors
    /// As [`Editor::insert`]; `Usage` for [`Special::Value`], for NaN of a width other than 4 and 8, and for partial elements except
    /// zeros.
    pub fn insert_special(&mut self, index: u64, special: Special, nbytes: u32, count: u64) -> Result<()> {
        self.check_usable()?;
        if count == 0 {
            return check_range(&(index..index), self.chunk_count());
        }
        check_mark(special, u64::from(nbytes), self.header.typesize)?;
        let fit = self.sizes.insert(index, nbytes as usize, count)?;
        self.check_uniform_blocks(false)?;
        self.apply_change(fit)?;
        if self.sizes.is_variable() {
            let chunk = physical(special, nbytes as usize, self.header.typesize)?;
            let chunk = Chunk::parse(&chunk)?;
            return (index..index.saturating_add(count)).try_for_each(|index| self.take(index, &chunk));
        }
        self.offsets.insert(index, Offset::Special(special), count)?;
        self.count_in(u64::from(nbytes), count);
        Ok(())
    }

    /// Replaces the chunk `index`.
    ///
    /// # Errors
    /// As [`Editor::append`]; `Usage` for a chunk that does not exist.
    pub fn update(&mut self, index: u64, data: &[u8]) -> Result<()> {
        self.sizes.update(index, data.len())?;
        self.encode(&[data], |editor, chunk| editor.replace(index, chunk))
    }

    /// Replaces the chunks of these numbers, encoded on the number of threads in the parameters.
    ///
    /// # Errors
    /// As [`Editor::update`]. Chunks before one that cannot be replaced are.
    pub fn update_all(&mut self, chunks: &[(u64, &[u8])]) -> Result<()> {
        let pieces: Vec<&[u8]> = chunks.iter().map(|(_, data)| *data).collect();
        let mut numbers = chunks.iter().map(|(index, _)| *index);
        self.encode(&pieces, |editor, chunk| match numbers.next() {
            Some(index) => editor.replace(index, chunk),
            None => Ok(()),
        })
    }

    /// Replaces the chunk `index` by an encoded one.
    ///
    /// # Errors
    /// As [`Editor::append_chunk`] and [`Editor::update`].
    pub fn update_chunk(&mut self, index: u64, chunk: &[u8]) -> Result<()> {
        self.check_usable()?;
        self.replace(index, &check(chunk)?)
    }

    /// Replaces the chunk `index` by one of the same length that holds only `special`.
    ///
    /// # Errors
    /// As [`Editor::insert_special`] and [`Editor::update`].
    pub fn update_special(&mut self, index: u64, special: Special) -> Result<()> {
        self.check_usable()?;
        let len = self.chunk_len(index)?;
        check_mark(special, len, self.header.typesize)?;
        self.check_uniform_blocks(false)?;
        if self.sizes.is_variable() {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let chunk = physical(special, len, self.header.typesize)?;
            return self.replace(index, &Chunk::parse(&chunk)?);
        }
        self.set_place(index, Offset::Special(special))?;
        self.changed = true;
        Ok(())
    }

    /// Removes `count` chunks from the chunk `index` on. What they held stays in the file as dead space.
    ///
    /// # Errors
    /// `Usage` where they are not there; where chunks are of different sizes, those of reading their headers.
    pub fn delete(&mut self, index: u64, count: u64) -> Result<()> {
        self.check_usable()?;
        let range = index..index.saturating_add(count);
        check_range(&range, self.chunk_count())?;
        if count == 0 {
            return Ok(());
        }
        let nbytes = match (self.sizes.len_of(index), range.end == self.chunk_count()) {
            (Some(len), false) => len.saturating_mul(count),
            // All that begins with the first of them.
            (Some(_), true) => {
                self.sizes.nbytes.saturating_sub(self.sizes.len_of(0).unwrap_or(0).saturating_mul(index))
            }
            (None, _) => range
                .clone()
                .try_fold(0_u64, |sum, index| Ok::<_, Error>(sum.saturating_add(self.chunk_len(index)?)))?,
        };
        if matches!(self.store, Store::Directory(_)) {
            for index in range.clone() {
                self.drop_stored(index);
            }
        }
        self.offsets.remove(range);
        self.sizes.count = self.offsets.len();
        self.sizes.nbytes = self.sizes.nbytes.saturating_sub(nbytes);
        self.changed = true;
        Ok(())
    }

    /// Puts the chunks in another order: the chunk `order[i]` becomes the chunk `i`.
    ///
    /// # Errors
    /// `Usage` for a list that is not a permutation, and when a shorter last chunk would not stay the last and sizes may not
    /// vary.
    pub fn reorder(&mut self, order: &[u64]) -> Result<()> {
        self.check_usable()?;
        // Judged on a copy: a frame that is refused stays as it was.
        let mut places = self.offsets.clone();
        places.reorder(order)?;
        let fit = self.sizes.reorder(order.last().copied() == self.chunk_count().checked_sub(1))?;
        self.apply_change(fit)?;
        self.offsets.reorder(order)?;
        self.changed = true;
        Ok(())
    }

    /// Encodes pieces, and passes the chunks on.
    fn encode(
        &mut self,
        pieces: &[&[u8]],
        mut take: impl FnMut(&mut Self, &Chunk<'_>) -> Result<()>,
    ) -> Result<()> {
        self.check_usable()?;
        // The encoder passes chunks to `self`, so it cannot be a part of it.
        let mut encoder = self.batch_encoder.take();
        let done = encoder.encode(pieces, &mut |chunk| {
            self.stop.check()?;
            take(self, &Chunk::parse(chunk)?)
        });
        self.batch_encoder = encoder;
        done
    }

    /// Stores a new chunk before the chunk `index`.
    fn take(&mut self, index: u64, chunk: &Chunk<'_>) -> Result<()> {
        let fit = self.sizes.insert(index, chunk.nbytes(), 1)?;
        self.check_uniform_blocks(chunk.header().has_variable_blocks())?;
        self.apply_change(fit)?;
        let offset = self.store_chunk(chunk)?;
        self.offsets.insert(index, offset, 1)?;
        self.count_in(chunk.nbytes() as u64, 1);
        Ok(())
    }

    /// Stores another chunk in the place of the chunk `index`.
    fn replace(&mut self, index: u64, chunk: &Chunk<'_>) -> Result<()> {
        let fit = self.sizes.update(index, chunk.nbytes())?;
        let variable_blocks = chunk.header().has_variable_blocks();
        if variable_blocks != self.header.variable_blocks {
            return Err(mixed_blocks_error());
        }
        let old = self.chunk_len(index)?;
        self.apply_change(fit)?;
        let offset = self.store_chunk(chunk)?;
        self.set_place(index, offset)?;
        self.sizes.nbytes = self.sizes.nbytes.saturating_sub(old).saturating_add(chunk.nbytes() as u64);
        self.changed = true;
        Ok(())
    }

    fn store_chunk(&mut self, chunk: &Chunk<'_>) -> Result<Offset> {
        let rules = StoreRules { typesize: self.header.typesize, variable_size: self.sizes.is_variable() };
        match stored_form(chunk, rules)? {
            StoredChunk::Mark(special) => Ok(Offset::Special(special)),
            StoredChunk::Bytes(bytes) => self.put(&bytes),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<Offset> {
        self.failed = true;
        let number = self.store.store_chunk(bytes)?;
        self.failed = false;
        self.changed = true;
        if let Some(digests) = &mut self.digests {
            digests.take(number, bytes);
        }
        Ok(Offset::Stored(number))
    }

    /// Makes sizes what a chunk needs them to be. Where they begin to vary, marks get the length that they lack.
    fn apply_change(&mut self, fit: SizeChange) -> Result<()> {
        if fit == SizeChange::BecomesVariable && !self.sizes.is_variable() {
            for index in 0..self.offsets.len() {
                let Some(Offset::Special(special)) = self.offsets.get(index) else { continue };
                let len = usize::try_from(self.sizes.len_of(index).unwrap_or(0)).unwrap_or(usize::MAX);
                let chunk = physical(special, len, self.header.typesize)?;
                let offset = self.put(&chunk)?;
                self.offsets.set(index, offset)?;
            }
        }
        apply_size_change(&mut self.sizes, fit);
        Ok(())
    }

    fn set_place(&mut self, index: u64, offset: Offset) -> Result<()> {
        self.drop_stored(index);
        self.offsets.set(index, offset)
    }

    fn drop_stored(&mut self, index: u64) {
        if let Some(Offset::Stored(number)) = self.offsets.get(index) {
            self.store.drop_chunk(number);
        }
    }

    /// Files of chunks that were dropped stay where another chunk is in the same one.
    pub(super) fn keep_shared(&mut self) {
        if let Store::Directory(directory) = &mut self.store
            && directory.has_dropped()
        {
            let used: BTreeSet<i64> = self.offsets.offsets().iter().map(Offset::to_raw).collect();
            directory.retain_files(|number| used.contains(&number.cast_signed()));
        }
    }

    fn count_in(&mut self, nbytes: u64, count: u64) {
        self.sizes.count = self.offsets.len();
        self.sizes.nbytes = self.sizes.nbytes.saturating_add(nbytes.saturating_mul(count));
        self.changed = true;
    }

    fn check_uniform_blocks(&mut self, variable_blocks: bool) -> Result<()> {
        if self.chunk_count() > 0 && self.header.variable_blocks != variable_blocks {
            return Err(mixed_blocks_error());
        }
        if variable_blocks {
            // Whoever reads the one reads the other.
            self.sizes.may_vary = true;
        }
        self.header.variable_blocks = variable_blocks;
        Ok(())
    }
}

//! Reading what is being changed, uncommitted chunks included.

use blosc_chunk::{Chunk, Decoder, Special};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::Editor;
use crate::offsets::Offset;
use crate::writer::{check_range, physical};

impl Editor {
    /// Returns the decoded bytes of the chunk `index`.
    ///
    /// # Errors
    /// `Usage` for a chunk that does not exist; `Malformed` for an invalid offset; if chunks are of different sizes, those of reading
    /// its header.
    pub fn chunk_len(&self, index: u64) -> Result<u64> {
        check_range(&(index..index.saturating_add(1)), self.chunk_count())?;
        if let Some(len) = self.sizes.len_of(index) {
            return Ok(len);
        }
        match self.offsets.get(index) {
            Some(Offset::Stored(number)) => Ok(u64::from(self.store.header(number)?.nbytes)),
            Some(Offset::Special(_)) => self.lost_len(index),
            _ => Err(self.lost(index)),
        }
    }

    /// Returns the length of a mark without one, in a frame of chunks of different sizes: C-Blosc2 writes them. A single one has the
    /// rest that the others leave.
    fn lost_len(&self, lost: u64) -> Result<u64> {
        let mut others = 0_u64;
        for index in (0..self.chunk_count()).filter(|index| *index != lost) {
            let Some(Offset::Stored(number)) = self.offsets.get(index) else {
                return Err(self.lost(lost));
            };
            others = others.saturating_add(u64::from(self.store.header(number)?.nbytes));
        }
        self.sizes.nbytes.checked_sub(others).ok_or_else(|| self.lost(lost))
    }

    fn lost(&self, index: u64) -> Error {
        let offset = self.offsets.get(index).map_or(0, Offset::to_raw);
        let problem =
            format!("the offset {offset:#018x} does not give the location or length of chunk {index}");
        Error::malformed(problem).with_context("blosc2 index")
    }

    /// Returns all bytes of the chunk `index`, uncommitted ones included.
    ///
    /// # Errors
    /// As [`Editor::chunk_len`], those of the chunk with ranges inside it, `Limit`.
    pub fn read_chunk(&self, index: u64) -> Result<Vec<u8>> {
        self.stop.check()?;
        let len = self.chunk_len(index)?;
        let number = match self.offsets.get(index) {
            Some(Offset::Stored(number)) => number,
            Some(Offset::Special(special)) => return self.filled(special, len),
            _ => return Err(self.lost(index)),
        };
        let named = |error: Error| error.with_context(format!("blosc2 chunk {index}"));
        let bytes = self.compared(number).map_err(named)?;
        let chunk = Chunk::parse(&bytes).map_err(named)?;
        if chunk.nbytes() as u64 != len {
            let problem = format!("a chunk of {} bytes (expected {len})", chunk.nbytes());
            return Err(named(Error::malformed(problem).with_range(4..8)));
        }
        let mut data = try_zeroed_vec(len, &self.limits)?;
        let decoder = Decoder::new().with_geometry(self.batch_encoder.geometry().clone());
        let mut decoder = decoder.with_limits(self.limits).with_plugins(self.batch_encoder.plugins().clone());
        decoder.decode(&chunk, &mut data).map_err(named)?;
        Ok(data)
    }

    /// Reads the chunk `index` as it is stored; `None` where it is only a mark.
    ///
    /// # Errors
    /// As [`Editor::chunk_len`]; `Limit`.
    pub fn stored_chunk(&self, index: u64) -> Result<Option<Vec<u8>>> {
        check_range(&(index..index.saturating_add(1)), self.chunk_count())?;
        match self.offsets.get(index) {
            Some(Offset::Stored(number)) => self.compared(number).map(Some),
            Some(Offset::Special(_)) => Ok(None),
            _ => Err(self.lost(index)),
        }
    }

    /// Returns the chunk `index` encoded: as it is stored, or for a mark as 32 bytes that express it.
    ///
    /// # Errors
    /// As [`Editor::stored_chunk`].
    pub fn encoded_chunk(&self, index: u64) -> Result<Vec<u8>> {
        if let Some(bytes) = self.stored_chunk(index)? {
            return Ok(bytes);
        }
        let Some(Offset::Special(special)) = self.offsets.get(index) else { return Err(self.lost(index)) };
        let len = usize::try_from(self.chunk_len(index)?).unwrap_or(usize::MAX);
        physical(special, len, self.header.typesize)
    }

    /// Reads the bytes of a stored chunk, which fit their digest where the frame has digests.
    ///
    /// # Errors
    /// `Checksum` where they do not; those of reading it.
    pub(super) fn compared(&self, number: u64) -> Result<Vec<u8>> {
        let bytes = self.store.chunk_uncompared(number, &self.limits)?;
        self.digests.as_ref().map_or(Ok(()), |digests| digests.require(number, &bytes, self.stop))?;
        Ok(bytes)
    }

    fn filled(&self, special: Special, len: u64) -> Result<Vec<u8>> {
        let mut data: Vec<u8> = try_zeroed_vec(len, &self.limits)?;
        if special == Special::Nan {
            let width = self.header.typesize;
            let nan = usize::try_from(width).ok().and_then(Special::nan);
            let none = || Error::malformed(format!("a chunk of NaN in elements of {width} bytes"));
            let nan = nan.ok_or_else(none)?;
            // A chunk may end within an element.
            for item in data.chunks_mut(nan.len()) {
                item.iter_mut().zip(nan).for_each(|(to, from)| *to = *from);
            }
        }
        Ok(data)
    }
}

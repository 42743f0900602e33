//! Storage of the chunks of a frame that is being changed, and the commit of a change.

use blosc_chunk::Header as ChunkHeader;
use container_core::source::try_zeroed_vec;
use container_core::write::Durability;
use container_core::{Error, Limits, Result};

use super::directory::Directory;
use super::file::ContiguousFile;
use crate::header::Header;
use crate::journal::JournalStore;

/// A frame in a file, or in a directory.
pub(super) enum Store {
    File(ContiguousFile),
    Directory(Directory),
}

/// Parts of a frame that a commit writes.
pub(super) struct Commit<'a> {
    /// The header. Lengths of frame and chunks are filled in by the store.
    pub header: &'a mut Header,
    pub metalayers: &'a [u8],
    pub index: &'a [u8],
    pub trailer: &'a [u8],
    pub durability: Durability,
}

impl Store {
    /// Stores a chunk, and returns its number in the index.
    ///
    /// # Errors
    /// `Io`.
    pub fn store_chunk(&mut self, chunk: &[u8]) -> Result<u64> {
        match self {
            Self::File(file) => file.store_chunk(chunk),
            Self::Directory(directory) => directory.store_chunk(chunk),
        }
    }

    /// Sets the length of the new header, while there are no chunks.
    pub fn set_head_len(&mut self, len: u32) {
        if let Self::File(file) = self {
            file.set_head_len(len);
        }
    }

    /// Gives a frame in a file another place for its journal.
    pub fn set_sidecar(&mut self, sidecar: Box<dyn JournalStore>) {
        if let Self::File(file) = self {
            file.set_sidecar(sidecar);
        }
    }

    /// Says that one chunk fewer has this number.
    pub fn drop_chunk(&mut self, number: u64) {
        match self {
            Self::File(file) => file.drop_chunk(number),
            Self::Directory(directory) => directory.drop_chunk(number),
        }
    }

    fn read(&self, number: u64, dst: &mut [u8]) -> Result<()> {
        match self {
            Self::File(file) => file.read(number, dst),
            Self::Directory(directory) => directory.read(number, dst),
        }
    }

    /// Returns the number of bytes from the start of a stored chunk on.
    fn available_len(&self, number: u64) -> Result<u64> {
        match self {
            Self::File(file) => Ok(file.available_len(number)),
            Self::Directory(directory) => directory.available_len(number),
        }
    }

    /// Returns the header of a stored chunk.
    ///
    /// # Errors
    /// Those of [`ChunkHeader::parse`]; `Truncated` for a chunk that would end after the end of the file; `Io`.
    pub fn header(&self, number: u64) -> Result<ChunkHeader> {
        let room = self.available_len(number)?;
        let mut head = [0; ChunkHeader::MAX_LEN];
        let len = usize::try_from(room).map_or(head.len(), |room| room.min(head.len()));
        let head = head.get_mut(..len).unwrap_or_default();
        self.read(number, head)?;
        let header = ChunkHeader::parse(head)?;
        if u64::from(header.cbytes) > room {
            return Err(Error::truncated(0..u64::from(header.cbytes), room));
        }
        Ok(header)
    }

    /// Reads a stored chunk, even if it does not match its digest: the editor compares it.
    ///
    /// # Errors
    /// As [`Store::header`]; `Limit`.
    pub fn chunk_uncompared(&self, number: u64, limits: &Limits) -> Result<Vec<u8>> {
        let header = self.header(number)?;
        let mut chunk = try_zeroed_vec(u64::from(header.cbytes), limits)?;
        self.read(number, &mut chunk)?;
        Ok(chunk)
    }

    /// Makes a change the frame.
    ///
    /// # Errors
    /// `Io`; the frame is then the old one or the new one.
    pub fn commit(&mut self, commit: Commit<'_>) -> Result<()> {
        match self {
            Self::File(file) => file.commit(commit),
            Self::Directory(directory) => directory.commit(commit),
        }
    }
}

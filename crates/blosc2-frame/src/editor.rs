//! Changing a frame where it lies, so that it is the old one or the new one whatever happens.
//!
//! New payload, index and trailer go behind the old trailer; when they are on the disk, one write of the header makes them the
//! frame. Until then the file opens as it was, in released versions of C-Blosc2 too, which do not look behind the length that the
//! header gives.

use std::path::Path;

use blosc_chunk::{Params, Special};
use container_core::write::Durability;
use container_core::write::storage::Storage;
use container_core::{Error, Limits, Result};

use crate::header::Header;
use crate::metalayer::Metalayers;
use crate::options::FrameOptions;

/// How a frame is opened for changes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EditOptions {
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// Whether the protocol of C-Blosc2's sidecar `.b2lock` is kept.
    pub lock: Locking,
}

/// Whether other processes are kept out by C-Blosc2's sidecar file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// Only the advisory lock on the frame itself.
    #[default]
    Off,
    /// `<file>.b2lock`, as C-Blosc2 3.2 does when asked to (`BLOSC_LOCKING=1`).
    Sidecar,
}

/// A frame that is being changed. Nothing is seen by readers before [`Editor::commit`]; what was not committed is lost with the editor.
pub struct Editor {
    storage: Option<Box<dyn Storage>>,
}

impl Editor {
    /// Opens the frame in the file, or the sparse frame in the directory, at `path`.
    ///
    /// # Errors
    /// Those of [`crate::Layout::parse`]; `Usage` where another process writes to it; `Io`.
    pub fn open(path: impl AsRef<Path>, options: &EditOptions) -> Result<Self> {
        let _ = (path, options);
        Err(Error::unsupported("frames"))
    }

    /// Opens the frame that begins at byte `at` of `storage`.
    ///
    /// # Errors
    /// As [`Editor::open`]; `Usage` where the frame is to begin behind the start and other bytes follow it.
    pub fn open_storage(storage: Box<dyn Storage>, at: u64, options: &EditOptions) -> Result<Self> {
        let _ = (storage, at, options);
        Err(Error::unsupported("frames"))
    }

    /// Makes an empty frame at `path`, which is not there yet, and opens it.
    ///
    /// # Errors
    /// `Io`, also where there is something.
    pub fn create(path: impl AsRef<Path>, frame: FrameOptions, options: &EditOptions) -> Result<Self> {
        let _ = (path, frame, options);
        Err(Error::unsupported("frames"))
    }

    /// The header as it will be.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn header(&self) -> &Header {
        let _ = &self.storage;
        unreachable!("no editor can be made yet")
    }

    /// How many chunks there are, uncommitted ones included.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        0
    }

    /// How chunks to come are encoded.
    #[must_use]
    pub fn params(&self) -> &Params {
        unreachable!("no editor can be made yet")
    }

    /// Encodes chunks to come otherwise.
    ///
    /// # Errors
    /// `Usage` for parameters that make no sense together.
    pub fn set_params(&mut self, params: Params) -> Result<()> {
        let _ = params;
        Err(Error::unsupported("frames"))
    }

    /// All bytes of the chunk `index`, uncommitted ones included.
    ///
    /// # Errors
    /// As [`crate::Frame::read_chunk`].
    pub fn read_chunk(&self, index: u64) -> Result<Vec<u8>> {
        let _ = index;
        Err(Error::unsupported("frames"))
    }

    /// Adds a chunk at the end.
    ///
    /// # Errors
    /// `Usage` for more than a chunk holds; `Io`.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        let _ = data;
        Err(Error::unsupported("frames"))
    }

    /// Adds a chunk before the chunk `index`.
    ///
    /// # Errors
    /// As [`Editor::append`].
    pub fn insert(&mut self, index: u64, data: &[u8]) -> Result<()> {
        let _ = (index, data);
        Err(Error::unsupported("frames"))
    }

    /// Adds so many chunks of `nbytes` bytes of nothing but `special` before the chunk `index`.
    ///
    /// # Errors
    /// As [`Editor::append`].
    pub fn insert_special(&mut self, index: u64, special: Special, nbytes: u32, count: u64) -> Result<()> {
        let _ = (index, special, nbytes, count);
        Err(Error::unsupported("frames"))
    }

    /// Replaces the chunk `index`.
    ///
    /// # Errors
    /// As [`Editor::append`].
    pub fn update(&mut self, index: u64, data: &[u8]) -> Result<()> {
        let _ = (index, data);
        Err(Error::unsupported("frames"))
    }

    /// Removes `count` chunks from the chunk `index` on.
    ///
    /// # Errors
    /// `Usage` where they are not there.
    pub fn delete(&mut self, index: u64, count: u64) -> Result<()> {
        let _ = (index, count);
        Err(Error::unsupported("frames"))
    }

    /// Puts the chunks in another order: the chunk `order[i]` becomes the chunk `i`.
    ///
    /// # Errors
    /// `Usage` where that is no permutation.
    pub fn reorder(&mut self, order: &[u64]) -> Result<()> {
        let _ = order;
        Err(Error::unsupported("frames"))
    }

    /// The metalayers as they will be.
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        unreachable!("no editor can be made yet")
    }

    /// Sets a metalayer: of the same length as before, or a new one while there are no chunks.
    ///
    /// # Errors
    /// `Usage` otherwise.
    pub fn set_metalayer(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let _ = (name, value);
        Err(Error::unsupported("frames"))
    }

    /// Sets a piece of user metadata: by convention msgpack.
    ///
    /// # Errors
    /// `Usage` for a name of no or over 31 bytes and for a 17th one.
    pub fn set_vlmetalayer(&mut self, name: &str, value: &[u8]) -> Result<()> {
        let _ = (name, value);
        Err(Error::unsupported("frames"))
    }

    /// Removes a piece of user metadata; false where there was none.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Makes the changes the frame. When this returns they are as durable as asked for.
    ///
    /// # Errors
    /// `Io`; the editor is then of no more use, and the file is the old frame or the new one.
    pub fn commit(&mut self, durability: Durability) -> Result<()> {
        let _ = durability;
        Err(Error::unsupported("frames"))
    }
}

//! Edits a frame in place, so that it is the old frame or the new one at any time.
//!
//! New payload, index and trailer are appended after the old trailer. When they are on the disk, one write of the header commits
//! them. Until then the file opens as before, in released versions of C-Blosc2 too, which do not read past the length in the
//! header.

mod byte_access;
mod chunks;
mod directory;
mod file;
mod free_space;
mod new_file;
mod open;
mod read;
mod store;
#[cfg(test)]
mod tests;

use blosc_chunk::{BatchEncoder, Chunk, Decoder, Params, Plugins};
use container_codecs::checksum::Algorithm;
use container_core::source::try_zeroed_vec;
use container_core::write::{AtomicFile, Durability};
use container_core::{Error, Limits, Result, Stop, Value};

use crate::checksums::{self, Digests};
use crate::header::{ChunkSize, FIXED_LEN, Header};
use crate::lock::{Locking, SidecarLock};
use crate::metalayer::Metalayers;
use crate::offsets::Offset;
use crate::trailer::{Fingerprint, Trailer};
use crate::writer::{
    ChunkSizes, OffsetTable, check_total, encoder_with, header_len, remove_vlmetalayer, set_chunksize,
    set_vlmetalayer,
};
use crate::{attributes, msgpack};
pub(crate) use directory::lock as lock_directory;
use store::{Commit, Store};

/// Options for opening a frame for changes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EditOptions {
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// Whether the protocol of C-Blosc2's sidecar `.b2lock` is kept.
    pub lock: Locking,
    /// Whether chunks of a frame whose chunks all have one size may become of different sizes. C-Blosc2 reads that from 3.0 on; earlier
    /// versions take such a frame for an empty one.
    pub variable_chunks: bool,
    /// Largest number of threads that encode chunks.
    pub threads: usize,
    /// Codecs and filters of the caller's own, with ids 160 to 255.
    pub plugins: Plugins,
}

impl Default for EditOptions {
    /// Selects no sidecar, one size for all chunks, one thread.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            lock: Locking::Off,
            variable_chunks: false,
            threads: 1,
            plugins: Plugins::new(),
        }
    }
}

/// A frame that is being changed. Nothing is seen by readers before [`Editor::commit`]; what was not committed is lost with the editor.
///
/// A change of a contiguous frame never overwrites what was committed, but leaves it as dead space between chunks; `compact`
/// reclaims that. Chunks that are replaced before they were committed leave their space to others.
///
/// ```
/// use blosc2_frame::{Durability, EditOptions, Editor, FrameOptions, default_params};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.b2frame");
/// let mut options = FrameOptions::default();
/// options.params = default_params(2);
/// let mut editor = Editor::create(&path, options, &EditOptions::default())?;
/// editor.append(&[1, 0, 2, 0])?;
/// editor.append(&[3, 0, 4, 0])?;
/// editor.commit(Durability::Synced)?;
/// editor.update(0, &[5, 0, 6, 0])?;
/// editor.set_vlmetalayer("updated", &[0xc3])?;
/// assert_eq!(editor.read_chunk(0)?, [5, 0, 6, 0]);
/// editor.commit(Durability::Synced)?;
/// # Ok::<(), blosc2_frame::Error>(())
/// ```
pub struct Editor {
    store: Store,
    limits: Limits,
    header: Header,
    metalayers: Metalayers,
    trailer: Trailer,
    sizes: ChunkSizes,
    offsets: OffsetTable,
    batch_encoder: BatchEncoder,
    /// Of all stored chunks, where they are kept.
    digests: Option<Digests>,
    /// Something is to be committed.
    changed: bool,
    /// A write failed: what is in the file is the last commit or, if that failed, the one before it.
    failed: bool,
    /// Asks running changes and reads to end.
    stop: Stop,
    /// The new file that the frame is in, until the first commit gives it its name.
    unplaced: Option<AtomicFile>,
    /// Behind the store, which may still have something to do when it goes.
    _lock: Option<SidecarLock>,
}

impl Editor {
    /// Returns the header as it will be; lengths of frame and chunks section are those of the last commit.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the number of chunks, uncommitted ones included.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.offsets.len()
    }

    /// Returns the encoding of further chunks: that of the header, until [`Editor::set_params`].
    #[must_use]
    pub fn params(&self) -> &Params {
        self.batch_encoder.params()
    }

    /// Sets the encoding of further chunks. The header and existing chunks stay as they are.
    ///
    /// # Errors
    /// `Usage` for contradictory parameters, and for another typesize.
    pub fn set_params(&mut self, params: Params) -> Result<()> {
        self.batch_encoder = encoder_with(&self.batch_encoder, params, self.header.typesize)?;
        Ok(())
    }

    /// Makes further reads and changes end with `Cancelled` at the next chunk once `stop` requests it. Chunks that were changed before
    /// stay changed, and are not committed.
    pub fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Returns the metalayers as they will be.
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        &self.metalayers
    }

    /// Sets a metalayer: of the same length as before, or any in a frame without chunks.
    ///
    /// # Errors
    /// `Usage` otherwise, for a name of no or over 31 bytes, and for a 17th one.
    pub fn set_metalayer(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        self.check_usable()?;
        let own = self.metalayers.get(name);
        if own == Some(&value) {
            return Ok(());
        }
        if self.chunk_count() > 0 && own.map(<[u8]>::len) != Some(value.len()) {
            let problem = match own {
                Some(own) => format!(
                    "wrong number of bytes for the metalayer {name:?}: {} (expected {})",
                    value.len(),
                    own.len()
                ),
                None => format!("no metalayer {name:?}"),
            };
            return Err(Error::usage(problem).with_hint("metalayers have their room once there are chunks"));
        }
        let mut metalayers = self.metalayers.clone();
        metalayers.set(name, value)?;
        self.header.header_len = header_len(&metalayers)?;
        self.store.set_head_len(self.header.header_len);
        self.metalayers = metalayers;
        self.changed = true;
        Ok(())
    }

    /// Returns the names of the user metadata, uncommitted ones included.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = &str> {
        self.trailer.vlmetalayers.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the decoded value of a piece of user metadata, uncommitted ones included. `None` for an unused name.
    ///
    /// # Errors
    /// Those of the chunk that holds it; `Limit`.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let mut all = self.trailer.vlmetalayers.iter();
        let Some((_, stored)) = all.find(|(own, _)| own == name) else { return Ok(None) };
        let chunk = Chunk::parse(stored)?;
        let mut value = try_zeroed_vec(chunk.nbytes() as u64, &self.limits)?;
        Decoder::new().with_limits(self.limits).decode(&chunk, &mut value)?;
        Ok(Some(value))
    }

    /// Sets a piece of user metadata: by convention msgpack.
    ///
    /// # Errors
    /// `Usage` for a name of no or over 31 bytes and for a 17th one.
    pub fn set_vlmetalayer(&mut self, name: &str, value: &[u8]) -> Result<()> {
        self.check_usable()?;
        set_vlmetalayer(&mut self.trailer.vlmetalayers, name, value)?;
        self.changed = true;
        Ok(())
    }

    /// Removes a piece of user metadata; false where there was none.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> bool {
        let removed = remove_vlmetalayer(&mut self.trailer.vlmetalayers, name);
        self.changed |= removed;
        removed
    }

    /// Sets an attribute: a piece of user metadata, or, where there is no room for one more or its name is too long for one, an entry
    /// of the piece called `attrs`. An existing attribute keeps its place. See [`Frame::attributes`](crate::Frame::attributes).
    ///
    /// # Errors
    /// `Usage` where there are 16 pieces and none is `attrs`, or `attrs` is not a map; those of
    /// [`msgpack::from_value`](crate::msgpack::from_value).
    pub fn set_attribute(&mut self, name: &str, value: &Value) -> Result<()> {
        self.check_usable()?;
        let value = msgpack::from_value(value)?;
        attributes::set(&mut self.trailer.vlmetalayers, name, &value, &self.limits)?;
        self.changed = true;
        Ok(())
    }

    /// Removes an attribute; false where there was none.
    ///
    /// # Errors
    /// Those of reading `attrs`.
    pub fn remove_attribute(&mut self, name: &str) -> Result<bool> {
        self.check_usable()?;
        let removed = attributes::remove(&mut self.trailer.vlmetalayers, name, &self.limits)?;
        self.changed |= removed;
        Ok(removed)
    }

    /// Turns digests of all chunks on or off. Existing chunks are read and compared with the present digests of the frame,
    /// but not decoded.
    ///
    /// # Errors
    /// Those of reading chunks; `Usage` without room for user metadata.
    pub fn set_checksums(&mut self, algorithm: Option<Algorithm>) -> Result<()> {
        self.check_usable()?;
        let Some(algorithm) = algorithm else {
            self.digests = None;
            self.remove_vlmetalayer(checksums::NAME);
            return Ok(());
        };
        let mut digests = Digests::new(algorithm);
        for offset in self.offsets.offsets().distinct() {
            if let Offset::Stored(number) = offset {
                digests.take(number, &self.compared(number)?);
            }
        }
        // What is set here is replaced in the commit; whether there is room shows now.
        self.set_vlmetalayer(checksums::NAME, &[0xc0])?;
        self.digests = Some(digests);
        Ok(())
    }

    /// Sets how many bytes each chunk of a frame without chunks will hold.
    ///
    /// # Errors
    /// `Usage` where there are chunks, and for none.
    pub fn set_chunksize(&mut self, chunksize: u32) -> Result<()> {
        self.check_usable()?;
        if self.chunk_count() > 0 || chunksize == 0 || chunksize as usize > crate::writer::MAX_CHUNK_LEN {
            let problem = format!("chunks of {chunksize} bytes in a frame of {} chunks", self.chunk_count());
            return Err(Error::usage(problem));
        }
        self.sizes.chunksize = ChunkSize::Fixed(chunksize);
        self.changed = true;
        Ok(())
    }

    /// Sets the blocks of the chunks of an array that has none yet.
    pub(crate) fn set_blocks(&mut self, blocksize: u32, blockshape: &[u32]) {
        let len = |len: &u32| usize::try_from(*len).unwrap_or(usize::MAX);
        self.header.blocksize = blocksize;
        let mut geometry = self.batch_encoder.geometry().clone();
        geometry.blockshape = blockshape.iter().map(len).collect();
        let params = Params { blocksize: Some(len(&blocksize)), ..self.batch_encoder.params().clone() };
        self.batch_encoder = BatchEncoder::new(params, geometry, self.batch_encoder.plugins().clone());
        self.changed = true;
    }

    /// Whether there is anything to commit: changes, or a new file without a name.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.changed || self.unplaced.is_some()
    }

    /// Commits the changes. When this returns they are as durable as requested; without changes the file is not written.
    ///
    /// With [`Durability::Synced`] the file is the old frame or the new one whenever the process ends or the power fails. With
    /// [`Durability::Cached`] that holds for the end of the process only.
    ///
    /// # Errors
    /// `Io`; the editor is then unusable, and the file is the old frame or the new one.
    pub fn commit(&mut self, durability: Durability) -> Result<()> {
        self.check_usable()?;
        if self.changed {
            // A file without a name is invisible, and the code that names it makes it durable.
            let of_store = if self.unplaced.is_some() { Durability::Cached } else { durability };
            self.commit_frame(of_store)?;
        }
        self.place(durability)
    }

    fn commit_frame(&mut self, durability: Durability) -> Result<()> {
        // What was true of the old bytes is not of the new ones.
        self.trailer.fingerprint = Fingerprint::default();
        let mut header = self.header.clone();
        header.has_vlmetalayers = !self.trailer.vlmetalayers.is_empty();
        header.nbytes = self.sizes.nbytes;
        set_chunksize(&mut header, self.sizes.chunksize);
        check_total(header.nbytes)?;
        if let Some(digests) = &self.digests {
            let value = digests.encode(self.offsets.offsets(), header.nbytes)?;
            set_vlmetalayer(&mut self.trailer.vlmetalayers, checksums::NAME, &value)?;
            header.has_vlmetalayers = true;
        }
        let mut index = Vec::new();
        self.offsets.offsets().encode(&mut index)?;
        // In the encoding of C-Blosc2 they may end before the end of the header, after which chunks, index and trailer are.
        let mut metalayers = self.metalayers.encode();
        metalayers.resize(metalayers.len().max(room(&header)), 0);
        self.keep_shared();
        self.failed = true;
        self.store.commit(Commit {
            header: &mut header,
            metalayers: &metalayers,
            index: &index,
            trailer: &self.trailer.encode(),
            durability,
        })?;
        self.failed = false;
        self.header = header;
        self.changed = false;
        Ok(())
    }

    /// # Errors
    /// `Usage` where a write failed before.
    fn check_usable(&self) -> Result<()> {
        if self.failed {
            return Err(
                Error::usage("an earlier write to this frame failed").with_hint("open the frame again")
            );
        }
        Ok(())
    }
}

/// Bytes that a header has for its metalayers.
fn room(header: &Header) -> usize {
    let len = usize::try_from(header.header_len).unwrap_or(usize::MAX);
    len.saturating_sub(FIXED_LEN)
}

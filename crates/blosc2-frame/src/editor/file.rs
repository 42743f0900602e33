//! Edits a contiguous frame in place.
//!
//! New chunks are appended to the file, then the new index and trailer. When these are on the disk, one write of the changed part of
//! the header commits them, and the old index and trailer become dead space between chunks. Bytes that the old header points to are
//! never overwritten.

use container_core::write::Durability;
use container_core::write::journal::{Journal, Patch, carry_out};
use container_core::write::storage::{Storage, Watched};
use container_core::{Error, Result};

use super::free_space::FreeSpace;
use super::store::Commit;
use crate::journal::{JournalStore, KIND};
use crate::writer::check_total;

/// A frame in a storage.
pub(super) struct ContiguousFile {
    storage: Watched<Box<dyn Storage>>,
    sidecar: Box<dyn JournalStore>,
    /// Offset of the frame.
    start: u64,
    /// The header with its metalayers as it is in the file.
    head: Vec<u8>,
    /// Bytes of the new header: it changes when metalayers are added to a frame without chunks.
    head_len: u64,
    /// End of the file at the last commit, and its end now.
    committed_end: u64,
    end: u64,
    /// Chunks since the last commit.
    free_space: FreeSpace,
    /// A write of the header failed: either one may be in the file.
    failed: bool,
}

impl ContiguousFile {
    /// Opens the file. `head` are the bytes of the header with its metalayers, `frame_end` the offset of the frame's end in
    /// the file.
    ///
    /// # Errors
    /// `Usage` for a frame that begins after the start of the file and has other bytes after it; `Io`.
    pub fn new(
        storage: Box<dyn Storage>,
        sidecar: Box<dyn JournalStore>,
        start: u64,
        head: Vec<u8>,
        frame_end: u64,
    ) -> Result<Self> {
        let len = storage.len()?;
        if start > 0 && len > frame_end {
            let problem = format!("{} bytes follow the frame, a part of a larger file", len - frame_end);
            return Err(Error::usage(problem)
                .with_range(frame_end..len)
                .with_hint("copy the frame to a file of its own"));
        }
        let head_len = head.len() as u64;
        let storage = Watched::new(storage);
        Ok(Self {
            storage,
            sidecar,
            start,
            head,
            head_len,
            committed_end: len,
            end: len,
            free_space: FreeSpace::default(),
            failed: false,
        })
    }

    fn head_end(&self) -> u64 {
        self.start.saturating_add(self.head_len)
    }

    /// Sets the place of further journals.
    pub fn set_sidecar(&mut self, sidecar: Box<dyn JournalStore>) {
        self.sidecar = sidecar;
    }

    /// Sets the length of the new header, while there are no chunks.
    pub fn set_head_len(&mut self, len: u32) {
        if self.head_len == u64::from(len) {
            return;
        }
        self.head_len = u64::from(len);
        // Chunks go after it, and not into free space that the header will cover.
        self.free_space.clear();
        self.end = self.end.max(self.head_end());
    }

    pub fn store_chunk(&mut self, chunk: &[u8]) -> Result<u64> {
        self.require_len()?;
        if !self.storage.is_written() {
            self.old(0)?;
        }
        let at = self.free_space.take(chunk.len() as u64, &mut self.end);
        self.storage.write_at(at, chunk)?;
        Ok(at.saturating_sub(self.head_end()))
    }

    /// Lets the space of a chunk be overwritten, if the last commit does not point to it.
    pub fn drop_chunk(&mut self, offset: u64) {
        let at = self.head_end().saturating_add(offset);
        self.free_space.give_back(at, &mut self.end);
    }

    pub fn read(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        self.storage.read_at(self.head_end().saturating_add(offset), dst)
    }

    pub fn available_len(&self, offset: u64) -> u64 {
        self.end.saturating_sub(self.head_end().saturating_add(offset))
    }

    /// Appends index and trailer, and then writes the header, which commits them.
    ///
    /// The order of writes and syncs makes the commit atomic. Index and trailer go to the end of the file, after all chunks, and are
    /// synced. Then the changed bytes of the header are written. If these cross sectors of the disk, they go through a journal.
    ///
    /// # Errors
    /// `Usage` if another program has changed the file meanwhile; `Io`.
    pub fn commit(&mut self, commit: Commit<'_>) -> Result<()> {
        self.require_len()?;
        let Commit { header, metalayers, index, trailer, durability } = commit;
        let synced = durability == Durability::Synced;
        let head_end = self.head_end();
        // In a frame without chunks C-Blosc2 expects the trailer after the header, so it goes out in the same write.
        let (index_at, behind, within) =
            if index.is_empty() { (head_end, &[][..], trailer) } else { (self.end, trailer, &[][..]) };
        header.cbytes = index_at.saturating_sub(head_end);
        let end = index_at.saturating_add(index.len() as u64).saturating_add(trailer.len() as u64);
        header.frame_len = end.saturating_sub(self.start);
        check_total(header.frame_len)?;
        let new = [&header.encode(), metalayers, within].concat();
        let old = self.old(new.len())?;

        if !index.is_empty() {
            self.storage.write_vectored_at(index_at, &[index, behind])?;
            if self.storage.len()? > end {
                // The rest are chunks that were replaced before a commit.
                self.storage.set_len(end)?;
            }
            if synced {
                self.storage.sync()?;
            }
        }
        let head_write_end = self.start.saturating_add(new.len() as u64);
        if self.storage.len()? < head_write_end {
            // The file grows first, so that the write only changes existing bytes.
            self.storage.set_len(head_write_end)?;
            if synced {
                self.storage.sync()?;
            }
        }
        if let Some(change) = Patch::between(self.start, &old, &new) {
            self.failed = true;
            if synced && change.spans_sectors() {
                let len = self.storage.len()?;
                let change = Journal::new(len, len, vec![change])?;
                let made = carry_out(&change, &KIND, &mut self.storage, &mut *self.sidecar);
                made.map_err(|failed| {
                    // If the write was undone, the old header is still valid.
                    self.failed = !failed.is_undone;
                    failed.error
                })?;
            } else {
                self.storage.write_at(change.at, &change.new)?;
                if synced {
                    self.storage.sync_change()?;
                }
            }
        }
        self.failed = false;
        self.free_space.clear();
        self.head = new;
        self.head.truncate(usize::try_from(self.head_len).unwrap_or(usize::MAX));
        // After a frame without chunks there may be the chunks that it had.
        self.end = self.storage.len()?.max(end);
        self.committed_end = self.end;
        self.storage.forget();
        Ok(())
    }

    /// Checks before the first write that the file is as long as at the last commit. Other programs may write without the
    /// lock.
    ///
    /// # Errors
    /// `Usage` where another program has changed it meanwhile; `Io`.
    fn require_len(&self) -> Result<()> {
        if self.storage.is_written() {
            return Ok(());
        }
        let len = self.storage.len()?;
        if len != self.committed_end {
            return Err(changed().with_range(self.committed_end.min(len)..self.committed_end.max(len)));
        }
        Ok(())
    }

    /// Returns so many bytes from the start of the frame as they are in the file, with zeros after its end.
    ///
    /// # Errors
    /// `Usage` where another program has changed the header meanwhile; `Io`.
    fn old(&self, len: usize) -> Result<Vec<u8>> {
        let mut old = vec![0; len.max(self.head.len())];
        let here = self.storage.len()?.saturating_sub(self.start);
        let room = usize::try_from(here).unwrap_or(usize::MAX).min(old.len());
        self.storage.read_at(self.start, old.get_mut(..room).unwrap_or_default())?;
        if !old.starts_with(&self.head) {
            let range = self.start..self.start.saturating_add(self.head.len() as u64);
            return Err(changed().with_range(range));
        }
        old.truncate(len);
        Ok(old)
    }
}

impl Drop for ContiguousFile {
    /// Removes bytes that were written and not committed, those of a failed write as well, unless it is unknown which header the file has. Bytes that
    /// another program has written are not cut off.
    fn drop(&mut self) {
        let is_ours = !self.failed && self.storage.is_written() && self.old(0).is_ok();
        if is_ours && self.storage.len().is_ok_and(|len| len > self.committed_end) {
            let _ = self.storage.set_len(self.committed_end);
        }
    }
}

fn changed() -> Error {
    Error::usage("another program has changed the frame meanwhile").with_hint("open it again")
}

//! Removes all frames of a file.

use container_core::write::storage::Storage;
use container_core::{Error, Result};

use super::names::NameTable;
use super::{CommitScheme, Writer, commit_atomic, commit_reference, empty_file};
use crate::header::{Header, INDEX_ENTRY_LEN, LEN};

impl<S: Storage> Writer<S> {
    /// Removes all frames, committed or not: `gsd_truncate`. Application, schema and its version stay; the file is one of layer 2.1
    /// then, and short. Readers that have it mapped may fault.
    ///
    /// In the atomic scheme a crash leaves the file as it was or without frames. To replace a restart file by the next, use
    /// [`write_restart`](crate::write_restart), which leaves the old frame or the new one.
    ///
    /// # Errors
    /// `Io`, which ends the writing, marked by [`Error::after_change`] where the frames are gone all the same; `Usage` while rows of a
    /// reserved chunk are being written.
    pub fn truncate(&mut self) -> Result<()> {
        self.check_usable()?;
        self.close_reservations()?;
        self.guard(|writer| match writer.options.scheme {
            CommitScheme::Atomic => switch_header(writer),
            CommitScheme::Reference => in_place(writer),
        })?;
        (self.index_at, self.capacity) = (self.header.index_location, self.header.index_allocated_entries);
        self.end = self.storage.len()?;
        self.names = NameTable::default();
        self.buffer.clear();
        self.entries.clear();
        (self.used, self.stale, self.pending) = (0, 0, 0);
        (self.frame, self.committed, self.ended) = (0, 0, 0);
        (self.spare, self.owns_names) = (None, false);
        Ok(())
    }
}

/// Switches first to an empty index at the end of the file, then to one at its start, whose bytes are free by then.
fn switch_header<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    let front = empty_file::header_of(CommitScheme::Atomic, &writer.header);
    let at = writer.storage.len()?.max(writer.end).next_multiple_of(512);
    let back = Header {
        index_location: at,
        index_allocated_entries: 1,
        namelist_location: at + INDEX_ENTRY_LEN,
        namelist_allocated_entries: 1,
        ..front
    };
    // One unused slot and no name are zeros.
    writer.storage.set_len(at + 512)?;
    writer.sync_storage()?;
    commit_atomic::write_header(writer, &back)?;
    // Readers see no frames from here on.
    shorten(writer, &front).map_err(Error::after_change)
}

/// Shortens a file whose header points to an empty index at its end.
fn shorten<S: Storage>(writer: &mut Writer<S>, front: &Header) -> Result<()> {
    writer.sync_storage()?;
    let image = empty_file::empty(front);
    writer.storage.write_at(LEN, image.get(256..).unwrap_or_default())?;
    writer.sync_storage()?;
    commit_atomic::write_header(writer, front)?;
    writer.sync_storage()?;
    writer.storage.set_len(image.len() as u64)?;
    writer.sync_storage()
}

fn in_place<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    let header = Header { reserved: [0; 80], ..writer.header };
    writer.header = empty_file::header_of(CommitScheme::Reference, &header);
    let image = empty_file::empty(&writer.header);
    writer.storage.set_len(0)?;
    commit_reference::write_header(writer)?;
    writer.storage.write_at(LEN, image.get(256..).unwrap_or_default())?;
    writer.sync_change()
}

//! Upgrades files of layer 1.0 to 2.1: packed names, and an index sorted by frame and id.

use container_core::source::try_zeroed_vec;
use container_core::write::storage::Storage;
use container_core::{Error, Result};

use super::names::NameTable;
use super::{CURRENT_VERSION, CommitScheme, Writer, commit_atomic, commit_reference};
use crate::header::{Header, INDEX_ENTRY_LEN};
use crate::index::{IndexBlock, IndexEntry};

impl<S: Storage> Writer<S> {
    /// Upgrades a file of layer 1.0 to 2.1: `gsd_upgrade`. Chunks stay where they are; a file of layer 2 stays as it is.
    ///
    /// In the atomic scheme names and index are written anew at the end of the file, and one write of the header switches to
    /// them. In the reference's scheme they are changed in place, and a crash meanwhile ruins the file.
    ///
    /// # Errors
    /// `Usage` while there are chunks that have not been committed; `Limit` for an index that the limits do not let be held; `Io`,
    /// which ends the writing, marked by [`Error::after_change`] where the file is upgraded all the same.
    pub fn upgrade(&mut self) -> Result<()> {
        self.check_usable()?;
        if !self.header.is_v1() {
            return Ok(());
        }
        if !self.entries.is_empty() || self.names.has_new() {
            return Err(
                Error::usage("there are chunks that have not been committed").with_hint("flush first")
            );
        }
        let mut names = NameTable::default();
        self.names.iter().for_each(|name| names.push(name));
        let index = self.sorted_index()?;
        self.guard(|writer| match writer.options.scheme {
            CommitScheme::Atomic => switch_header(writer, names, &index),
            CommitScheme::Reference => in_place(writer, names, &index),
        })
    }

    /// The bytes of the used entries, by frame and id.
    fn sorted_index(&self) -> Result<Vec<u8>> {
        let len = self.used.saturating_mul(INDEX_ENTRY_LEN);
        let mut bytes: Vec<u8> = try_zeroed_vec(len, &self.options.limits)?;
        self.storage.read_at(self.header.index_location, &mut bytes)?;
        self.options.limits.allocate(len.saturating_mul(2))?;
        let order = self.header.byte_order;
        let mut entries: Vec<IndexEntry> = IndexBlock::new(&bytes, order).iter().collect();
        entries.sort_by_key(|entry| (entry.frame, entry.id));
        for (slot, entry) in bytes.as_chunks_mut::<32>().0.iter_mut().zip(entries) {
            *slot = entry.to_bytes(order);
        }
        Ok(bytes)
    }
}

fn switch_header<S: Storage>(writer: &mut Writer<S>, names: NameTable, index: &[u8]) -> Result<()> {
    let mut header = Header { gsd_version: CURRENT_VERSION, ..writer.header };
    writer.names = names;
    // Whatever room there is holds names in the old layout.
    (writer.spare, writer.owns_names) = (None, false);
    let spare = commit_atomic::place_names(writer, &mut header)?;
    // An empty index is one unused slot.
    let visible = writer.used.max(writer.committed).max(1);
    let capacity = commit_atomic::place_index(writer, &mut header, visible, index)?;
    header.index_allocated_entries = visible;
    writer.sync_storage()?;
    commit_atomic::write_header(writer, &header)?;
    writer.sync_change()?;
    (writer.spare, writer.capacity, writer.index_at) = (spare, capacity, header.index_location);
    writer.stale = 0;
    writer.names.set_stored();
    Ok(())
}

fn in_place<S: Storage>(writer: &mut Writer<S>, names: NameTable, index: &[u8]) -> Result<()> {
    if !index.is_empty() {
        writer.storage.write_at(writer.header.index_location, index)?;
        writer.sync_storage()?;
    }
    if let Some(range) = writer.header.namelist_range().filter(|_| !names.block().is_empty()) {
        let block = commit_reference::padded(names.block(), range.end - range.start);
        writer.storage.write_at(range.start, &block)?;
        writer.sync_storage()?;
    }
    writer.names = names;
    writer.names.set_stored();
    writer.header.gsd_version = CURRENT_VERSION;
    commit_reference::write_header(writer)?;
    writer.sync_change()
}

//! Changes that fit in the present layout of the file: blocks with other data, and the journals (`<file>.asdfjournal`) through which they are
//! made.
//!
//! The mechanism of journals is [`container_core::write::journal`]; this format decides that one has the tree with its padding, the headers and data
//! of replaced blocks, and the bytes after the last block.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use container_codecs::checksum::Algorithm;
use container_core::source::Source;
use container_core::write::Durability;
use container_core::write::journal::{
    FileJournalStore, Journal, JournalKind, Notice, Patch, carry_out, open_recovered,
};
use container_core::write::storage::StorageSource;
use container_core::{Error, Limits, Result};

use super::{CommitKind, UpdateOptions, Updater};
use crate::blocks::header::BlockHeader;
use crate::fault::{Fault, FaultKind};
use crate::layout::{IndexState, Layout, StoredBlock};
use crate::writer::digest::sixteen;
use crate::writer::encode::encode;

impl Updater<'_> {
    /// Whether all of the change fits in place. A tree needs a block after it; without one, the file ends with the tree.
    pub(super) fn fits(&self) -> bool {
        let layout = &self.layout;
        let room =
            tree_room(layout).is_some_and(|room| self.longer_tree().len() as u64 <= room.end - room.start);
        let replaced =
            self.replaced.iter().all(|new| layout.blocks.get(new.index).is_some_and(|block| new.fits(block)));
        room && replaced && (self.added.is_empty() || has_plain_end(layout))
    }

    /// The tree as it goes into its room. A tree without a last newline is followed by NULs, and stays so while it does not grow.
    fn longer_tree(&self) -> Cow<'_, [u8]> {
        let old = self.layout.tree.as_ref().map_or(0, |tree| tree.end.saturating_sub(tree.start));
        self.tree_text(self.editor.text().len() as u64 <= old)
    }

    /// The bytes of the tree. Its dots are a line of their own where a block follows; NULs or the end of the file can take the place of the newline.
    pub(super) fn tree_text(&self, stands_alone: bool) -> Cow<'_, [u8]> {
        let text = self.editor.text();
        if stands_alone || text.ends_with('\n') {
            return Cow::Borrowed(text.as_bytes());
        }
        Cow::Owned([text.as_bytes(), b"\n"].concat())
    }

    /// The changed bytes before the end of the last block.
    pub(super) fn patches(&self) -> Result<Vec<Patch>> {
        let source = StorageSource::new(&*self.storage)?;
        let mut patches = Vec::new();
        if let (Some(room), Some(tree)) = (tree_room(&self.layout), &self.layout.tree) {
            let old = source.read(room.clone())?;
            let new = fill(&old, tree.end.saturating_sub(tree.start), &self.longer_tree());
            patches.extend(Patch::between(room.start, &old, &new));
        }
        for new in &self.replaced {
            let Some(block) = self.layout.blocks.get(new.index) else { continue };
            let header = new.header.to_bytes();
            let place = block.at..block.at + header.len() as u64;
            patches.extend(Patch::between(place.start, &source.read(place)?, &header));
            let place = block.data.start..block.data.start + new.stored.len() as u64;
            patches.extend(Patch::between(place.start, &source.read(place)?, &new.stored));
        }
        Ok(patches)
    }

    /// Makes a change of one write within one sector.
    pub(super) fn change(&mut self, patches: &[Patch]) -> Result<CommitKind> {
        let [one] = patches else { return Ok(CommitKind::Unchanged) };
        self.storage.write_at(one.at, &one.new)?;
        if self.options.durability == Durability::Synced {
            self.storage.sync_change()?;
        }
        Ok(CommitKind::OneWrite)
    }

    /// Makes changes and writes blocks after the last one.
    pub(super) fn grow(&mut self, mut patches: Vec<Patch>) -> Result<CommitKind> {
        let old_len = self.storage.len()?;
        let start = self.layout.blocks.last().map_or(old_len, |block| block.end);
        let new = self.encode_tail(start)?;
        let old = StorageSource::new(&*self.storage)?.read(start..old_len)?.into_owned();
        let new_len = start.saturating_add(new.len() as u64);
        patches.push(Patch { at: start, old, new });
        self.apply_by_journal(&Journal::new(old_len, new_len, patches)?)
    }

    /// Makes a change by way of the journal.
    pub(super) fn apply_by_journal(&mut self, change: &Journal) -> Result<CommitKind> {
        let made = carry_out(change, &KIND, &mut *self.storage, &mut *self.sidecar);
        made.map(|()| CommitKind::Journal).map_err(|failed| failed.error)
    }
}

/// Returns the range of the tree and its padding, if a block follows.
fn tree_room(layout: &Layout) -> Option<Range<u64>> {
    let tree = layout.tree.as_ref()?;
    let first = layout.blocks.first()?;
    Some(tree.start..first.at)
}

/// Puts a tree into the room of another, of `tree` bytes. The padding after it stays, and is extended by bytes of the same kind.
fn fill(room: &[u8], tree: u64, text: &[u8]) -> Vec<u8> {
    let tree = usize::try_from(tree).unwrap_or(usize::MAX).min(room.len());
    // The specification advises spaces, Python asdf writes NULs.
    let filler = if room[tree..].first() == Some(&b' ') { b' ' } else { 0 };
    let mut new = Vec::with_capacity(room.len());
    new.extend_from_slice(text);
    new.resize(tree.max(text.len()), filler);
    new.extend_from_slice(&room[new.len()..]);
    new
}

/// Whether the last block is followed by a valid index or none, and then only by NULs.
fn has_plain_end(layout: &Layout) -> bool {
    let Some(last) = layout.blocks.last() else { return false };
    let junk = |fault: &Fault| matches!(fault.kind(), FaultKind::JunkAfterBlocks | FaultKind::JunkAfterIndex);
    !layout.faults.iter().any(junk)
        && match (&layout.index, layout.index_state) {
            (Some(index), IndexState::Valid) => index.start == last.end,
            (None, IndexState::Absent) => true,
            _ => false,
        }
}

/// New stored bytes of a block, with the header for them.
pub(super) struct ReplacedBlock {
    pub(super) index: usize,
    pub(super) header: BlockHeader,
    pub(super) stored: Vec<u8>,
}

impl ReplacedBlock {
    pub(super) fn new(
        block: &StoredBlock,
        data: &[u8],
        itemsize: u64,
        options: &UpdateOptions,
    ) -> Result<Self> {
        if block.header.is_streamed() {
            return Err(Error::usage(format!(
                "cannot replace block {}: it is streamed (append rows instead)",
                block.index
            )));
        }
        let stored = match block.label() {
            None => container_core::source::try_copy(data, &options.limits)?,
            Some(label) => encode(label, None, itemsize, data, &options.write)?,
        };
        let checksum =
            if options.write.checksums { sixteen(&Algorithm::Md5.digest(&stored)) } else { [0; 16] };
        let used = stored.len() as u64;
        let header = BlockHeader {
            allocated_size: block.header.allocated_size.max(used),
            used_size: used,
            data_size: data.len() as u64,
            checksum,
            ..block.header
        };
        Ok(Self { index: block.index, header, stored })
    }

    /// Whether it fits where the old data are.
    pub(super) fn fits(&self, block: &StoredBlock) -> bool {
        self.header.allocated_size == block.header.allocated_size
    }
}

pub(crate) const KIND: JournalKind = JournalKind { suffix: ".asdfjournal", magic: *b"asdfjrn2" };

/// The journal of the file at `path`.
pub(super) fn journal_store(path: &Path) -> FileJournalStore {
    FileJournalStore::beside(path, &KIND)
}

/// The file at `path` read through its journal: as before or after an interrupted change. `source` is the file on disk.
///
/// # Errors
/// `Io`; `Limit` for a journal over the limits; those of the source.
pub fn read_through_journal(
    path: &Path,
    source: Box<dyn Source>,
    limits: &Limits,
) -> Result<Box<dyn Source>> {
    Ok(read_with_notice(path, source, limits)?.0)
}

/// As [`read_through_journal`], with a notice about the journal.
pub(crate) fn read_with_notice(
    path: &Path,
    source: Box<dyn Source>,
    limits: &Limits,
) -> Result<(Box<dyn Source>, Option<Notice>)> {
    open_recovered(path, &KIND, source, limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_kept_or_made_like_what_is_there() {
        assert_eq!(fill(b"tree\0\0\0\0", 4, b"new"), b"new\0\0\0\0\0");
        assert_eq!(fill(b"tree\0\0\0\0", 4, b"longer"), b"longer\0\0");
        assert_eq!(fill(b"tree  x ", 4, b"a"), b"a     x ");
        assert_eq!(fill(b"tree  x ", 4, b"longe"), b"longe x ");
        assert_eq!(fill(b"tree", 4, b"a"), b"a\0\0\0");
        assert_eq!(fill(b"tree", 4, b"b234"), b"b234");
    }
}

//! Changes that fit where things are.

use std::borrow::Cow;
use std::ops::Range;

use container_core::Result;
use container_core::source::Source;
use container_core::write::Durability;
use container_core::write::storage::{Storage, StorageSource};

use super::journal::{Intent, Journal, Patch, apply};
use super::sidecar::Sidecar;
use super::{Committed, Updater};
use crate::fault::{Fault, FaultKind};
use crate::layout::{IndexState, Layout};

/// Bytes by which a file that grows is known again.
const KNOWN_BY: u64 = 4096;

impl Updater<'_> {
    /// Whether all of the change has its place. A tree needs a block behind it: where there is none it is the file that ends.
    pub(super) fn fits(&self) -> bool {
        let layout = &self.layout;
        let room =
            tree_room(layout).is_some_and(|room| self.longer_tree().len() as u64 <= room.end - room.start);
        let replaced =
            self.replaced.iter().all(|new| layout.blocks.get(new.index).is_some_and(|block| new.fits(block)));
        room && replaced && (self.added.is_empty() || ends_plainly(layout))
    }

    /// The tree as it goes into its room. What follows a tree without a last newline are NULs, and stay so while it does not grow.
    fn longer_tree(&self) -> Cow<'_, [u8]> {
        let old = self.layout.tree.as_ref().map_or(0, |tree| tree.end.saturating_sub(tree.start));
        self.tree_text(self.editor.text().len() as u64 <= old)
    }

    /// The bytes of the tree. Its dots are a line of their own where a block follows; NULs or the end of the file can stand in for the newline.
    pub(super) fn tree_text(&self, stands_alone: bool) -> Cow<'_, [u8]> {
        let text = self.editor.text();
        if stands_alone || text.ends_with('\n') {
            return Cow::Borrowed(text.as_bytes());
        }
        Cow::Owned([text.as_bytes(), b"\n"].concat())
    }

    /// The bytes that differ before the last block ends.
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

    /// Makes changes that fit, without a journal where one write within one sector does all.
    pub(super) fn change(&mut self, patches: Vec<Patch>) -> Result<Committed> {
        let len = self.storage.len()?;
        let committed = match patches.as_slice() {
            [] => return Ok(Committed::Unchanged),
            [one] if !one.crosses_sectors() => {
                self.storage.write_at(one.at, &one.new)?;
                Committed::OneWrite
            }
            _ => {
                let journal = Journal { intent: Intent::Change, old_len: len, new_len: len, patches };
                carry_out(&journal, &mut *self.storage, &mut *self.sidecar, self.options.durability)?;
                return Ok(Committed::Journal);
            }
        };
        if self.options.durability == Durability::Synced {
            self.storage.sync()?;
        }
        Ok(committed)
    }

    /// Makes changes and writes blocks behind the last one.
    pub(super) fn grow(&mut self, mut patches: Vec<Patch>) -> Result<Committed> {
        let old_len = self.storage.len()?;
        let start = self.layout.blocks.last().map_or(old_len, |block| block.end);
        let known = {
            let source = StorageSource::new(&*self.storage)?;
            let same = |range: Range<u64>| -> Result<Patch> {
                let bytes = source.read(range.clone())?.into_owned();
                Ok(Patch { at: range.start, old: bytes.clone(), new: bytes })
            };
            vec![same(0..old_len.min(KNOWN_BY))?, same(start.max(old_len.saturating_sub(KNOWN_BY))..old_len)?]
        };
        let growing = Journal { intent: Intent::Grow, old_len, new_len: old_len, patches: known };
        self.sidecar.put(&growing.encode())?;
        let written = self.write_behind(start, old_len).and_then(|written| {
            // What the journal is going to make part of the file is there before it says so.
            self.storage.sync()?;
            Ok(written)
        });
        let (new_len, overlap) = match written {
            Ok(written) => written,
            Err(error) => {
                // The journal stays where this fails, and whoever opens the file next does it.
                let cut = self.storage.set_len(old_len).and_then(|()| self.storage.sync());
                let _ = cut.and_then(|()| self.sidecar.remove());
                return Err(error);
            }
        };
        let end = start + overlap.len() as u64;
        let old = StorageSource::new(&*self.storage)?.read(start..end)?.into_owned();
        patches.extend(Patch::between(start, &old, &overlap));
        let changing = Journal { intent: Intent::Change, old_len, new_len, patches };
        carry_out(&changing, &mut *self.storage, &mut *self.sidecar, self.options.durability)?;
        Ok(Committed::Journal)
    }
}

/// Puts the journal down, makes its change, and takes it away.
fn carry_out(
    journal: &Journal,
    storage: &mut dyn Storage,
    sidecar: &mut dyn Sidecar,
    durability: Durability,
) -> Result<()> {
    sidecar.put(&journal.encode())?;
    apply(journal, storage)?;
    // Removed before the change is on the disk, the journal could not finish it.
    let _ = durability;
    storage.sync()?;
    sidecar.remove()
}

/// Where the tree and its padding are, where a block follows.
fn tree_room(layout: &Layout) -> Option<Range<u64>> {
    let tree = layout.tree.as_ref()?;
    let first = layout.blocks.first()?;
    Some(tree.start..first.at)
}

/// A tree in the room of another, of `tree` bytes: what follows is the padding that there was, or is filled as that is.
fn fill(room: &[u8], tree: u64, text: &[u8]) -> Vec<u8> {
    let tree = usize::try_from(tree).unwrap_or(usize::MAX).min(room.len());
    // Spaces are what the specification advises, NULs what Python asdf writes.
    let filler = if room[tree..].first() == Some(&b' ') { b' ' } else { 0 };
    let mut new = Vec::with_capacity(room.len());
    new.extend_from_slice(text);
    new.resize(tree.max(text.len()), filler);
    new.extend_from_slice(&room[new.len()..]);
    new
}

/// Whether nothing but an index that is right, or none, and NULs follow the last block.
fn ends_plainly(layout: &Layout) -> bool {
    let Some(last) = layout.blocks.last() else { return false };
    let junk = |fault: &Fault| matches!(fault.kind(), FaultKind::JunkAfterBlocks | FaultKind::JunkAfterIndex);
    !layout.faults.iter().any(junk)
        && match (&layout.index, layout.index_state) {
            (Some(index), IndexState::Proved) => index.start == last.end,
            (None, IndexState::Absent) => true,
            _ => false,
        }
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

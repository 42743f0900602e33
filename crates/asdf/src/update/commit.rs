//! Commits changes to the file.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use container_core::format::{Output, WriteSeek};
use container_core::source::Source;
use container_core::write::journal::{Journal, Patch};
use container_core::write::storage::{FileStorage, Storage, StorageSource, require_at};
use container_core::write::{AtomicFile, Overwrite};
use container_core::{Error, Result};

use super::{CommitKind, FileLocation, NewBlock, Updater, read};
use crate::blocks::index::BlockIndex;
use crate::writer::WriteOptions;
use crate::writer::block::OpenBlock;
use crate::writer::copy_bytes::{self, CopiedRange};
use crate::writer::output::Target;

impl Updater<'_> {
    /// Makes all changes, or none.
    ///
    /// # Errors
    /// `Usage` for arrays whose data have another length than declared; `Unsupported` where the change does not fit in place and the storage is not a
    /// file; `Io`. After any of them, open the file again to find its state.
    pub fn commit(&mut self) -> Result<CommitKind> {
        if self.added.is_empty() && self.replaced.is_empty() && self.has_same_tree()? {
            return Ok(CommitKind::Unchanged);
        }
        let fits = self.fits();
        let patches = if fits { self.patches()? } else { Vec::new() };
        let bytes = patches.iter().map(|patch| patch.new.len() as u64).fold(0, u64::saturating_add);
        let added = self.added.iter().map(|added| added.block.data).fold(bytes, u64::saturating_add);
        let in_one_write = self.added.is_empty()
            && matches!(patches.as_slice(), [] | [_])
            && !patches.iter().any(Patch::spans_sectors);
        let committed =
            if !fits || added > self.options.journal || (self.no_journal.is_some() && !in_one_write) {
                self.write_new_file()?
            } else if in_one_write {
                self.change(&patches)?
            } else if self.added.is_empty() {
                let len = self.storage.len()?;
                self.apply_by_journal(&Journal::new(len, len, patches)?)?
            } else {
                self.grow(patches)?
            };
        self.replaced.clear();
        self.added.clear();
        if committed != CommitKind::Unchanged {
            (self.layout, self.editor) = read(&*self.storage, &self.options)?;
        }
        Ok(committed)
    }

    /// Whether the tree is the same as in the file.
    fn has_same_tree(&self) -> Result<bool> {
        let Some(tree) = &self.layout.tree else { return Ok(false) };
        let text = self.editor.text().as_bytes();
        if tree.end.saturating_sub(tree.start) != text.len() as u64 {
            return Ok(false);
        }
        Ok(*StorageSource::new(&*self.storage)?.read(tree.clone())? == *text)
    }

    /// The added blocks and the index, as written from byte `start` on.
    pub(super) fn encode_tail(&mut self, start: u64) -> Result<Vec<u8>> {
        let added = std::mem::take(&mut self.added);
        let mut offsets = self.layout.offsets();
        let mut tail = Tail::default();
        let mut target = Target::Output(&mut tail);
        add_blocks(added, start, &mut offsets, &self.options.write, &mut target)?;
        if self.layout.index.is_some() {
            target.write(BlockIndex { offsets }.to_text().as_bytes())?;
        }
        Ok(tail.finish())
    }

    /// Writes a new file, and puts it in the place of the old one.
    fn write_new_file(&mut self) -> Result<CommitKind> {
        let Some(path) = self.file.as_ref().map(|file| file.path.clone()) else {
            let problem = "the change does not fit in place, and there is no file to replace";
            let error = Error::unsupported(problem);
            return Err(self.no_journal.iter().fold(error, |error, reason| {
                error.with_context(format!(
                    "no journal can be written: another file is in its place, and {reason}"
                ))
            }));
        };
        let mut out = AtomicFile::create(&path, Overwrite::Replace)?;
        let added = std::mem::take(&mut self.added);
        {
            let source = StorageSource::new(&*self.storage)?;
            let mut target = Target::Output(&mut out);
            self.write_whole(&source, added, &mut target)?;
        }
        // The new file is locked before it has its name: no other program changes it in between.
        let storage = FileStorage::lock(out.file().try_clone()?, &path)?;
        // Other programs may replace the file without asking for the lock.
        if let Some(FileLocation { path, opened }) = &self.file {
            require_at(opened, path)?;
        }
        let opened = storage.file().try_clone()?;
        out.commit(self.options.durability)?;
        self.storage = Box::new(storage);
        self.file = Some(FileLocation { path, opened });
        Ok(CommitKind::NewFile)
    }

    fn write_whole(
        &self,
        source: &dyn Source,
        added: Vec<NewBlock<'_>>,
        target: &mut Target<'_>,
    ) -> Result<()> {
        let layout = &self.layout;
        let tree = layout.tree.as_ref().map_or(0, |tree| tree.start);
        copy_bytes::copy_range(source, 0..tree, target)?;
        let text = self.tree_text(layout.blocks.is_empty() && added.is_empty());
        target.write(&text)?;
        let mut at = tree + text.len() as u64;
        let Some(first) = layout.blocks.first() else {
            if added.is_empty() {
                // No block, no index: the bytes after the tree stay.
                return copy_bytes::copy_range(
                    source,
                    layout.tree.as_ref().map_or(tree, |tree| tree.end)..source.len(),
                    target,
                );
            }
            let mut offsets = Vec::new();
            let room = self.options.write.padding.after(at);
            target.fill(room)?;
            add_blocks(added, at + room, &mut offsets, &self.options.write, target)?;
            return target.write(BlockIndex { offsets }.to_text().as_bytes());
        };
        let room = copy_bytes::padding_before_blocks(layout, at, first.at);
        target.fill(room)?;
        at += room;
        let mut offsets = Vec::with_capacity(layout.blocks.len() + added.len());
        let mut from = first.at;
        for block in &layout.blocks {
            // Gaps between blocks stay as well.
            at += copy_bytes::copy_range_counted(source, from..block.at, target)?;
            offsets.push(at);
            from = block.end;
            at += match self.replaced.iter().find(|new| new.index == block.index) {
                None => copy_bytes::copy_range_counted(source, block.at..block.end, target)?,
                Some(new) => {
                    let copied = CopiedRange { header: new.header, stored: &new.stored };
                    copied.write(source, block, target)?
                }
            };
        }
        let behind = if added.is_empty() {
            layout.index.as_ref().map_or(layout.size, |index| index.start)
        } else {
            from
        };
        at += copy_bytes::copy_range_counted(source, from..behind, target)?;
        add_blocks(added, at, &mut offsets, &self.options.write, target)?;
        if layout.index.is_some() {
            target.write(BlockIndex { offsets }.to_text().as_bytes())?;
            copy_bytes::copy_range(source, layout.trailing.clone(), target)?;
        }
        Ok(())
    }
}

/// Writes blocks of new arrays from byte `at` of the file on, and returns their end.
fn add_blocks(
    added: Vec<NewBlock<'_>>,
    mut at: u64,
    offsets: &mut Vec<u64>,
    options: &WriteOptions,
    target: &mut Target<'_>,
) -> Result<u64> {
    for NewBlock { block, data } in added {
        offsets.push(at);
        let mut open = OpenBlock::start(at, block.parts(options)?, options, target)?;
        data(&mut |bytes| open.write(bytes, target))?;
        at += open.end(None, options, target)?;
    }
    Ok(at)
}

/// An output that begins within a file.
#[derive(Default)]
pub(super) struct Tail(Cursor<Vec<u8>>);

impl Tail {
    pub(super) fn finish(self) -> Vec<u8> {
        self.0.into_inner()
    }
}

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Tail {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Output for Tail {
    fn as_seek(&mut self) -> Option<&mut dyn WriteSeek> {
        Some(self)
    }
}

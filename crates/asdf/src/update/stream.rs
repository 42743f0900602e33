//! Rows at the end of a file whose last block is streamed.
//!
//! A streamed block has no length: it ends with the file, so a row counts as soon as it is written. A crash leaves every committed row, and perhaps
//! later rows and a part of one. Readers ignore the partial row, and the next [`Appender`] overwrites it. After a power cut, rows that were not
//! committed may be zeros.

use std::path::Path;

use container_core::source::Source;
use container_core::write::Durability;
use container_core::write::journal::recover;
use container_core::write::storage::{FileStorage, Storage, StorageSource, Watched};
use container_core::{Error, Result};

use crate::blocks::references::find_references;
use crate::layout::{Layout, StoredBlock};
use crate::ndarray::NdArray;
use crate::tree::parse_tree;
use crate::update::{JournalStore, UpdateOptions, in_place};
use crate::writer::assemble::require_intact;

/// Bytes that are gathered before they are written.
const WRITE_BUFFER_LEN: usize = 256 << 10;

/// A file whose streamed array takes rows. It is locked until this is dropped; uncommitted rows may then be lost.
pub struct Appender {
    storage: Watched<Box<dyn Storage>>,
    path: String,
    row: u64,
    /// The first byte of the first row.
    start: u64,
    /// Offset of the next bytes to write.
    end: u64,
    partial_row_len: u64,
    /// Bytes of the rows in the file at the start or at the last commit.
    had: u64,
    buffered: Vec<u8>,
}

impl Appender {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// `Usage` where the last block is not streamed, where no array has it or several of different rows, and where another program is
    /// writing; those of reading the tree; `Io`.
    pub fn open(path: impl AsRef<Path>, options: &UpdateOptions) -> Result<Self> {
        let path = path.as_ref();
        Self::open_storage(
            Box::new(FileStorage::open(path)?),
            Box::new(in_place::journal_store(path)),
            options,
        )
    }

    /// Opens a storage, and completes an update that a crash interrupted.
    ///
    /// # Errors
    /// As [`Appender::open`].
    pub fn open_storage(
        storage: Box<dyn Storage>,
        sidecar: Box<dyn JournalStore>,
        options: &UpdateOptions,
    ) -> Result<Self> {
        Self::with_rows(storage, sidecar, options, |source, layout, block| {
            rows(source, layout, block, options)
        })
    }

    /// Opens the file at `path` for rows of an array of another file, given by its path there and its description. This is the exploded form, in
    /// which the file of a block has no array.
    ///
    /// # Errors
    /// As [`Appender::open`].
    pub(crate) fn open_external(
        path: &Path,
        named: &str,
        array: &NdArray,
        options: &UpdateOptions,
    ) -> Result<Self> {
        let storage = Box::new(FileStorage::open(path)?);
        Self::with_rows(storage, Box::new(in_place::journal_store(path)), options, |_, layout, _| {
            if layout.blocks.len() > 1 {
                let problem = format!("{named}: the first block of {} is not streamed", path.display());
                return Err(Error::usage(problem).with_context("asdf tree"));
            }
            let (row, offset) = row_of(array).ok_or_else(|| no_rows(named))?;
            Ok((named.to_owned(), row, offset))
        })
    }

    fn with_rows(
        mut storage: Box<dyn Storage>,
        mut sidecar: Box<dyn JournalStore>,
        options: &UpdateOptions,
        rows: impl FnOnce(&dyn Source, &Layout, &StoredBlock) -> Result<(String, u64, u64)>,
    ) -> Result<Self> {
        recover(&mut *storage, &mut *sidecar, &in_place::KIND, &options.limits)?;
        let source = StorageSource::new(&*storage)?;
        let layout = Layout::parse(&source, &options.limits)?;
        require_intact(&layout)?;
        let block = layout.blocks.last().filter(|block| block.header.is_streamed()).cloned();
        let Some(block) = block else {
            let problem = "the last block of the file is not streamed: no rows can be appended";
            return Err(Error::usage(problem).with_context("asdf block"));
        };
        let (path, row, offset) = rows(&source, &layout, &block)?;
        if layout.index.is_some() {
            let problem = "a block index follows the streamed block: rows would be written over it";
            return Err(Error::usage(problem)
                .with_context("asdf block index")
                .with_range(block.end..source.len())
                .with_hint("holdall repair FILE -o NEW leaves it out"));
        }
        let start = block.data.start + offset;
        let len = source.len().checked_sub(start).ok_or_else(|| {
            Error::malformed("the file ends before the first row")
                .with_context("asdf block")
                .with_range(block.at..source.len())
        })?;
        let partial_row_len = len % row;
        Ok(Self {
            storage: Watched::new(storage),
            path,
            row,
            start,
            end: start + len - partial_row_len,
            partial_row_len,
            had: len - partial_row_len,
            buffered: Vec::new(),
        })
    }

    /// The path of the array in the tree.
    #[must_use]
    pub fn array(&self) -> &str {
        &self.path
    }

    /// Bytes of a row.
    #[must_use]
    pub const fn row_len(&self) -> u64 {
        self.row
    }

    /// Whole rows, including those that are appended and not yet committed.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        (self.end + self.buffered.len() as u64 - self.start) / self.row
    }

    /// Length in bytes of an incomplete row at the end when the file was opened. The next row overwrites it.
    #[must_use]
    pub const fn partial_row_len(&self) -> u64 {
        self.partial_row_len
    }

    /// Appends bytes of rows, in pieces of any size.
    ///
    /// # Errors
    /// `Io`: open the file again then.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffered.len() + bytes.len() <= WRITE_BUFFER_LEN {
            self.buffered.extend_from_slice(bytes);
            return Ok(());
        }
        self.write_buffered()?;
        self.storage.write_at(self.end, bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Writes the appended rows. Synced, they survive a power cut.
    ///
    /// # Errors
    /// `Usage` where the appended bytes end within a row; `Io`, marked by [`Error::after_change`] where the rows are in the file and only the sync
    /// failed.
    pub fn commit(&mut self, durability: Durability) -> Result<()> {
        let len = self.end + self.buffered.len() as u64 - self.start;
        if !len.is_multiple_of(self.row) {
            return Err(Error::usage(format!("{} bytes are not whole rows of {} bytes", len, self.row)));
        }
        self.write_buffered()?;
        if durability == Durability::Synced {
            self.storage.sync_change()?;
        }
        // A whole row is longer than the rest of one.
        if len > self.had {
            self.partial_row_len = 0;
        }
        self.had = len;
        self.storage.forget();
        Ok(())
    }

    /// Removes the rows since the file was opened or last committed. An incomplete row before them is lost.
    ///
    /// # Errors
    /// `Io`.
    pub fn rollback(&mut self) -> Result<()> {
        self.buffered.clear();
        let end = self.start + self.had;
        // A failed write may have written a part.
        if self.storage.is_written() && self.storage.len()? > end {
            self.storage.set_len(end)?;
        }
        self.end = end;
        self.storage.forget();
        Ok(())
    }

    fn write_buffered(&mut self) -> Result<()> {
        if !self.buffered.is_empty() {
            self.storage.write_at(self.end, &self.buffered)?;
            self.end += self.buffered.len() as u64;
            self.buffered.clear();
        }
        Ok(())
    }
}

/// Path, length of a row and offset of the first one of the array that has the block.
fn rows(
    source: &dyn Source,
    layout: &Layout,
    block: &StoredBlock,
    options: &UpdateOptions,
) -> Result<(String, u64, u64)> {
    let tree = layout.tree.clone().ok_or_else(|| Error::usage("a file without a tree has no rows"))?;
    let document = parse_tree(&source.read(tree.clone())?, tree.start, &options.yaml)?;
    let mut found: Option<(String, u64, u64)> = None;
    for named in find_references(&document, &options.limits)? {
        if named.block(layout.blocks.len()) != Some(block.index) {
            continue;
        }
        let array = NdArray::parse(document.node(named.node))?;
        let (row, offset) = row_of(&array).ok_or_else(|| no_rows(&named.path))?;
        match &found {
            Some((path, other, start)) if (*other, *start) != (row, offset) => {
                let problem =
                    format!("{path} and {} have rows of different lengths in one block", named.path);
                return Err(Error::usage(problem).with_context("asdf tree"));
            }
            Some(_) => {}
            None => found = Some((named.path, row, offset)),
        }
    }
    found.ok_or_else(|| {
        let hint = "for an exploded file, append to the file with the tree, which references the others";
        Error::usage("no array references the streamed block").with_context("asdf tree").with_hint(hint)
    })
}

fn no_rows(path: &str) -> Error {
    Error::usage(format!("{path} is not a streamed array")).with_context("asdf tree")
}

/// Bytes of a row, and those before the first; `None` for an array without rows.
fn row_of(array: &NdArray) -> Option<(u64, u64)> {
    let (first, rest) = array.shape.split_first()?;
    let dtype = &array.datatype.as_ref()?.dtype;
    let row = match &array.strides {
        Some(strides) => u64::try_from(*strides.first()?).ok()?,
        None => rest.iter().try_fold(dtype.itemsize() as u64, |row, len| row.checked_mul((*len)?))?,
    };
    (first.is_none() && row > 0).then_some((row, array.offset))
}

#[cfg(test)]
mod tests;

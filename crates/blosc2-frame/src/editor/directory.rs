//! A sparse frame that is changed: new chunks are new files, and a new index file takes the place of the old one.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use container_core::source::{Access, Source};
use container_core::write::{AtomicFile, Durability, Overwrite, sync_directory};
use container_core::{Error, Limits, Result};

use super::store::Commit;
use crate::sparse_directory::{INDEX_NAME, SparseDirectory, part_name};

/// A frame in a directory.
pub(super) struct Directory {
    dir: PathBuf,
    parts: SparseDirectory,
    /// The number of the next file: over all existing ones, so that no file is overwritten that an old index may point to.
    next: u64,
    /// Files since the last commit, which are not in the index yet.
    new: Vec<u64>,
    /// Files that the next index does not point to.
    dropped: Vec<u64>,
    /// Bytes of all chunks.
    cbytes: u64,
    /// An index that points to the new files may have been written.
    failed: bool,
    /// Held as long as the frame is being changed.
    _lock: Option<File>,
}

impl Directory {
    /// # Errors
    /// `Usage` where another process changes the frame; `Io`.
    pub fn open(dir: &Path, cbytes: u64, lock: Option<File>) -> Result<Self> {
        let parts = SparseDirectory::new(dir, Access::Positioned);
        let last = parts.list()?.last().map(|(number, _)| *number);
        let next = last.map_or(0, |last| last.saturating_add(1));
        let (new, dropped) = (Vec::new(), Vec::new());
        Ok(Self { dir: dir.to_owned(), parts, next, new, dropped, cbytes, failed: false, _lock: lock })
    }

    pub fn store_chunk(&mut self, chunk: &[u8]) -> Result<u64> {
        let number = self.next;
        if number > u64::from(u32::MAX) {
            return Err(Error::usage("a sparse frame has at most 2^32 files"));
        }
        let name = part_name(number);
        let mut file = File::options().write(true).create_new(true).open(self.dir.join(&name))?;
        self.next = number.saturating_add(1);
        self.new.push(number);
        file.write_all(chunk).map_err(|error| Error::from(error).in_file(name))?;
        self.cbytes = self.cbytes.saturating_add(chunk.len() as u64);
        Ok(number)
    }

    pub fn drop_chunk(&mut self, number: u64) {
        let len = self.available_len(number).unwrap_or(0);
        self.cbytes = self.cbytes.saturating_sub(len);
        self.dropped.push(number);
    }

    /// Keeps files that another chunk still uses.
    pub fn retain_files(&mut self, is_used: impl Fn(u64) -> bool) {
        self.dropped.retain(|number| !is_used(*number));
    }

    /// True where files wait to be removed.
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn part(&self, number: u64) -> Result<Box<dyn Source>> {
        self.parts.open(number, &Limits::default())
    }

    pub fn read(&self, number: u64, dst: &mut [u8]) -> Result<()> {
        self.part(number)?.read_into(0, dst).map_err(|error| error.in_file(part_name(number)))
    }

    pub fn available_len(&self, number: u64) -> Result<u64> {
        Ok(self.part(number)?.len())
    }

    pub fn commit(&mut self, commit: Commit<'_>) -> Result<()> {
        let Commit { header, metalayers, index, trailer, durability } = commit;
        header.cbytes = self.cbytes;
        let lens = [u64::from(header.header_len), index.len() as u64, trailer.len() as u64];
        header.frame_len = lens.iter().sum();
        let target = self.dir.join(INDEX_NAME);
        self.failed = true;
        if durability == Durability::Synced {
            for number in &self.new {
                File::open(self.dir.join(part_name(*number)))?.sync_all()?;
            }
            // The names, before the index points to them.
            sync_directory(&target)?;
        }
        let mut file = AtomicFile::create(&target, Overwrite::Replace)?;
        file.write_all(&[&header.encode(), metalayers, index, trailer].concat())?;
        let committed = file.commit(durability);
        if committed.as_ref().is_err_and(|error| !error.is_after_change()) {
            return committed;
        }
        self.failed = false;
        self.new.clear();
        for number in self.dropped.drain(..) {
            // One that stays does no harm: no index points to it.
            let _ = fs::remove_file(self.dir.join(part_name(number)));
        }
        committed
    }
}

impl Drop for Directory {
    /// Removes files that no index points to.
    fn drop(&mut self) {
        if !self.failed {
            for number in self.new.drain(..) {
                let _ = fs::remove_file(self.dir.join(part_name(number)));
            }
        }
    }
}

/// Returns the lock on a directory, where directories can be locked.
///
/// # Errors
/// `Usage` where another process has it; `Io`.
#[cfg(unix)]
pub(crate) fn lock(dir: &Path) -> Result<Option<File>> {
    let file = File::open(dir)?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => {
            let problem = format!("{} is being written by another program, or by this one", dir.display());
            Err(Error::usage(problem).with_hint("wait until it has finished, or end it"))
        }
        // A file system without locks must not keep anyone from writing.
        _ => Ok(Some(file)),
    }
}

#[cfg(not(unix))]
pub(crate) fn lock(_dir: &Path) -> Result<Option<File>> {
    Ok(None)
}

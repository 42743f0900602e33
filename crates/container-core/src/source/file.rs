//! Files read by position, without a shared cursor.

use std::fs::File;
use std::path::Path;

use super::{Source, check_range};
use crate::{Error, Result};

/// A file read with positioned reads. Every read copies.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    len: u64,
}

impl FileSource {
    /// Opens the regular file at `path`.
    ///
    /// # Errors
    /// `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(File::open(path)?)
    }

    /// Takes an open file; its cursor is neither used nor moved (on Windows: not relied on).
    ///
    /// # Errors
    /// `Io` when its length cannot be read.
    pub fn new(file: File) -> Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }

    #[cfg(feature = "mmap")]
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        // It may have shrunk after it was opened.
        read_exact_at(&self.file, at, dst)
    }
}

/// Fills `dst` from `at` on.
///
/// # Errors
/// `Truncated` when the file ends before; `Io`.
pub(crate) fn read_exact_at(file: &File, at: u64, dst: &mut [u8]) -> Result<()> {
    let range = at..at.saturating_add(dst.len() as u64);
    let mut done = 0;
    while done < dst.len() {
        match read_at(file, &mut dst[done..], at.saturating_add(done as u64)) {
            Ok(0) => return Err(Error::truncated(range, done as u64)),
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::from(error).with_range(range)),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, dst: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, dst, at)
}

/// Positioned reads fail elsewhere (wasm), where sources are bytes in memory.
#[cfg(not(any(unix, windows)))]
fn read_at(_file: &File, _dst: &mut [u8], _at: u64) -> std::io::Result<usize> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(windows)]
fn read_at(file: &File, dst: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, dst, at)
}

//! Files of the operating system.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::{Storage, end_of};
use crate::source::read_exact_at;
use crate::write::{Overwrite, exists, preallocate, temporary};
use crate::{Error, Result};

/// A file that this process alone changes: it holds an advisory lock until it is dropped. Readers are not kept out.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
}

impl FileStorage {
    /// Opens an existing file for reading and writing.
    ///
    /// # Errors
    /// `Io`; `Usage` where another process changes the file, or this one does elsewhere.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        temporary::clean(path);
        // The previous holder of the lock may have replaced the file before releasing it: this handle would then be orphaned.
        for _ in 0..ATTEMPTS {
            let file = options().open(path).map_err(|error| opening(error, path))?;
            let storage = Self::lock(file, path)?;
            if storage.is_at(path)? {
                return Ok(storage);
            }
        }
        Err(in_use(path))
    }

    /// Creates a file. An existing one is refused, or emptied once the lock on it is held, and not before.
    ///
    /// The new name is not synced; see [`sync_directory`](crate::write::sync_directory).
    ///
    /// # Errors
    /// As [`FileStorage::open`]; `Usage` where the file exists and may not be replaced.
    pub fn create(path: impl AsRef<Path>, overwrite: Overwrite) -> Result<Self> {
        let path = path.as_ref();
        let mut options = options();
        match overwrite {
            Overwrite::Refuse => options.create_new(true),
            Overwrite::Replace => options.create(true),
        };
        let file = options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists().with_subject(path.display().to_string()),
            _ => opening(error, path),
        })?;
        let mut storage = Self::lock(file, path)?;
        if storage.len()? > 0 {
            storage.set_len(0)?;
        }
        Ok(storage)
    }

    /// Takes an open file, and the lock on it. `path` is its name in errors.
    ///
    /// # Errors
    /// `Usage` where another process changes the file, or this one does elsewhere.
    pub fn lock(file: File, path: &Path) -> Result<Self> {
        // On Windows the share mode excludes other writers; a lock would exclude readers, too.
        #[cfg(not(windows))]
        if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
            return Err(in_use(path));
        }
        // Any other failure is a file system without locks, which must not prevent writing.
        #[cfg(windows)]
        let _ = path;
        Ok(Self { file })
    }

    /// Whether `path` still names this file: other processes may have replaced it, with a lock or without.
    ///
    /// # Errors
    /// `Io`.
    pub fn is_at(&self, path: impl AsRef<Path>) -> Result<bool> {
        is_at(&self.file, path.as_ref())
    }

    /// The file, for reading it by other means.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }
}

/// Number of attempts to open a file that others replace at the same time.
const ATTEMPTS: usize = 16;

/// Checks that `path` still names the file, before another is put in its place.
///
/// # Errors
/// `Usage` where another program has replaced it; `Io`.
pub fn require_at(file: &File, path: &Path) -> Result<()> {
    if is_at(file, path)? {
        return Ok(());
    }
    let problem = format!("{} has been replaced by another program meanwhile", path.display());
    Err(Error::usage(problem).with_hint("the file is unchanged; try again"))
}

/// Whether `path` still names the file.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let opened = file.metadata()?;
    Ok(std::fs::metadata(path).is_ok_and(|named| (named.dev(), named.ino()) == (opened.dev(), opened.ino())))
}

/// Always true elsewhere: an open file keeps its name, or the system cannot compare them.
#[cfg(not(unix))]
pub(super) fn is_at(_file: &File, _path: &Path) -> Result<bool> {
    Ok(true)
}

/// The lock belongs to the open file, which processes that are being started at this moment share until they run their program: closed
/// here, it would still be locked for as long.
#[cfg(not(windows))]
impl Drop for FileStorage {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // FILE_SHARE_READ and FILE_SHARE_DELETE: others may read, and replace the name.
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 1 | 4);
    options
}

fn in_use(path: &Path) -> Error {
    Error::usage("is being written by another program, or by this one")
        .with_subject(path.display().to_string())
        .with_hint("wait until it has finished, or end it")
}

fn opening(error: io::Error, path: &Path) -> Error {
    // ERROR_SHARING_VIOLATION.
    if cfg!(windows) && error.raw_os_error() == Some(32) { in_use(path) } else { error.into() }
}

impl Storage for FileStorage {
    fn len(&self) -> Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        write_all_at(&self.file, at, bytes)
    }

    #[cfg(target_os = "linux")]
    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        // As many as one call takes (UIO_MAXIOV).
        const MAX_SLICES: usize = 1024;
        let mut at = at;
        for parts in parts.chunks(MAX_SLICES) {
            let len = parts.iter().fold(0_usize, |len, part| len.saturating_add(part.len()));
            let range = at..end_of(at, len)?;
            preallocate::check_size_limit(&range)?;
            let slices: Vec<io::IoSlice<'_>> = parts.iter().map(|part| io::IoSlice::new(part)).collect();
            let mut done = match rustix::io::pwritev(&self.file, &slices, at) {
                Ok(done) => done,
                Err(rustix::io::Errno::INTR) => 0,
                Err(errno) => return Err(Error::from(io::Error::from(errno)).with_range(range)),
            };
            // The rest after a signal, or at 2 GiB, is written part by part.
            for part in parts {
                match part.get(done..) {
                    None | Some([]) => done -= part.len(),
                    Some(rest) => {
                        self.write_at(at.saturating_add(done as u64), rest)?;
                        done = 0;
                    }
                }
                at = at.saturating_add(part.len() as u64);
            }
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        preallocate::check_size_limit(&(0..len))?;
        self.file.set_len(len).map_err(|error| Error::from(error).with_range(len..len))
    }

    fn sync(&mut self) -> Result<()> {
        // On Linux that takes the length along, and leaves only the times to chance. On macOS sync_all is the one that reaches
        // the disk (F_FULLFSYNC).
        let synced = if cfg!(target_os = "linux") { self.file.sync_data() } else { self.file.sync_all() };
        Ok(synced?)
    }

    fn reserve(&mut self, range: Range<u64>) -> Result<()> {
        preallocate::take(&self.file, range)
    }

    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        preallocate::give_back(&self.file, range);
        Ok(())
    }
}

/// Writes `bytes` at `at`, for callers that share an open file and write different parts of it. A gap after the end reads as zeros.
///
/// # Errors
/// As [`Storage::write_at`].
pub fn write_all_at(file: &File, at: u64, bytes: &[u8]) -> Result<()> {
    let range = at..end_of(at, bytes.len())?;
    preallocate::check_size_limit(&range)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let place = range.end - rest.len() as u64;
        match write_at(file, rest, place) {
            Ok(0) => return Err(Error::from(io::Error::from(io::ErrorKind::WriteZero)).with_range(range)),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::from(error).with_range(range)),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, at)
}

/// Writes fail elsewhere (wasm), which has no files.
#[cfg(not(any(unix, windows)))]
fn write_at(_file: &File, _bytes: &[u8], _at: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

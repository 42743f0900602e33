//! The optional sidecar lock of C-Blosc2 (3.2 and later).
//!
//! `<file>.b2lock`, or `.b2lock` in the directory of a sparse frame: 16 bytes, of which the last 8 are a number in the byte order of the
//! machine. A writer locks the whole of it and adds one to the number. A reader shares the lock, and detects by the number whether there
//! was a write. The lock is not part of the format.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use container_core::source::FileSource;
use container_core::source::Source;
use container_core::write::storage::write_all_at;
use container_core::{Error, Result};

/// Whether other processes are kept out by C-Blosc2's sidecar file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// Only the advisory lock on the frame itself.
    #[default]
    Off,
    /// `<file>.b2lock`, as C-Blosc2 3.2 does when asked to (`BLOSC_LOCKING=1`).
    JournalStore,
}

/// Bytes of the file.
const LEN: u64 = 16;

/// Offset of the counter.
const COUNTER_AT: u64 = 8;

/// Maximum time to wait for a lock that others hold. C-Blosc2 holds it for one operation.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Time between two attempts to take the lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// A lock on the sidecar file of a frame, until it is dropped.
#[derive(Debug)]
pub(crate) struct SidecarLock {
    file: File,
}

impl SidecarLock {
    /// Waits until no other process reads or writes the frame at `path`, and records a write.
    ///
    /// # Errors
    /// `Usage` when others hold the lock for half a minute; `Io`.
    pub(crate) fn exclusive(path: &Path) -> Result<Self> {
        let file = open(path)?;
        wait(path, || file.try_lock())?;
        let lock = Self { file };
        let counter = lock.counter()?.wrapping_add(1);
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&counter.to_ne_bytes());
        if lock.file.metadata()?.len() < LEN {
            write_all_at(&lock.file, 0, &bytes)?;
        } else {
            write_all_at(&lock.file, COUNTER_AT, &counter.to_ne_bytes())?;
        }
        Ok(lock)
    }

    /// Waits until no other process writes the frame at `path`.
    ///
    /// # Errors
    /// As [`SidecarLock::exclusive`].
    pub(crate) fn shared(path: &Path) -> Result<Self> {
        let file = open(path)?;
        wait(path, || file.try_lock_shared())?;
        Ok(Self { file })
    }

    /// Returns the number of writes of the frame.
    fn counter(&self) -> Result<u64> {
        if self.file.metadata()?.len() < LEN {
            return Ok(0);
        }
        let mut bytes = [0; 8];
        FileSource::new(self.file.try_clone()?)?.read_into(COUNTER_AT, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

/// A process that is being started at this moment shares open files until it runs its program: closed here, the file would still be
/// locked for as long.
impl Drop for SidecarLock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Returns the path of the sidecar file.
fn beside(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join(".b2lock");
    }
    let mut name = OsString::from(path);
    name.push(".b2lock");
    name.into()
}

fn open(path: &Path) -> Result<File> {
    let name = beside(path);
    // A write into a link would go to its target.
    if name.symlink_metadata().is_ok_and(|kind| !kind.is_file()) {
        let problem = format!("{} is not a file, so it cannot be the lock", name.display());
        return Err(Error::usage(problem).with_hint("remove it"));
    }
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&name);
    opened.map_err(|error| Error::from(error).in_file(name.display().to_string()))
}

fn wait(path: &Path, attempt: impl Fn() -> std::result::Result<(), TryLockError>) -> Result<()> {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if start.elapsed() < MAX_WAIT => std::thread::sleep(RETRY_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                let problem =
                    format!("{} has been locked for {} seconds", path.display(), MAX_WAIT.as_secs());
                return Err(Error::usage(problem).with_hint("end the program that has locked it"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_counts_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2frame");
        for count in 1..4_u64 {
            let lock = SidecarLock::exclusive(&path).unwrap();
            assert!(matches!(open(&path).unwrap().try_lock_shared(), Err(TryLockError::WouldBlock)));
            drop(lock);
            let bytes = std::fs::read(folder.path().join("a.b2frame.b2lock")).unwrap();
            assert_eq!((bytes.len(), &bytes[8..]), (16, &count.to_ne_bytes()[..]));
        }
        let (one, other) = (SidecarLock::shared(&path).unwrap(), SidecarLock::shared(&path).unwrap());
        assert_eq!((one.counter().unwrap(), other.counter().unwrap()), (3, 3));
        assert!(matches!(open(&path).unwrap().try_lock(), Err(TryLockError::WouldBlock)));
        drop((one, other));
        SidecarLock::exclusive(folder.path()).unwrap();
        assert!(folder.path().join(".b2lock").exists());
    }
}

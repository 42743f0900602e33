//! Files that are changed in place: the operations of a writer, so that tests can replace the disk.
//!
//! Formats that append to a file or update it in place write through [`Storage`]. A power cut preserves all writes before the last
//! [`Storage::sync`] that returned. Later ones may be preserved or not, in any order, sector by sector.

use std::ops::Range;

use crate::source::{Source, check_range};
use crate::{Error, Result};

mod change_tracking;
mod file;

pub use change_tracking::Watched;
pub use file::{FileStorage, require_at, write_all_at};

/// Bytes that can be changed in place.
///
/// A failed write may have been done in part. A failed sync, and any later one, guarantees nothing about earlier writes: a writer stops at
/// the first error, and its caller opens the file again.
#[expect(clippy::len_without_is_empty, reason = "an empty file is an ordinary one to a writer")]
pub trait Storage: Send + Sync {
    /// Current length in bytes.
    ///
    /// # Errors
    /// `Io`.
    fn len(&self) -> Result<u64>;

    /// Fills `dst` with the bytes from `at` on.
    ///
    /// # Errors
    /// `Truncated` where the file ends before; `Io`. Both name the range.
    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()>;

    /// Writes `bytes` at `at`. A gap after the end reads as zeros.
    ///
    /// # Errors
    /// `Io` for a full disk (`StorageFull`, `QuotaExceeded`), a limit on file sizes (`FileTooLarge`) and other system errors, with the
    /// range.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()>;

    /// Writes parts one after the other, from `at` on.
    ///
    /// # Errors
    /// As [`Storage::write_at`].
    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        let mut at = at;
        for &part in parts {
            self.write_at(at, part)?;
            at = end_of(at, <[u8]>::len(part))?;
        }
        Ok(())
    }

    /// Cuts the file, or lengthens it by zeros.
    ///
    /// # Errors
    /// As [`Storage::write_at`].
    fn set_len(&mut self, len: u64) -> Result<()>;

    /// Returns when everything that was written, and the length, are on the disk.
    ///
    /// # Errors
    /// `Io`.
    fn sync(&mut self) -> Result<()>;

    /// Waits until the change that was just made is on the disk: the last sync of an operation.
    ///
    /// # Errors
    /// `Io`, marked by [`Error::after_change`](crate::Error::after_change), because the change is in the file.
    fn sync_change(&mut self) -> Result<()> {
        self.sync().map_err(Error::after_change)
    }

    /// Has blocks allocated for `range`, so that a full disk shows early. Neither bytes nor length change.
    ///
    /// # Errors
    /// `Io` where the disk is full.
    fn reserve(&mut self, range: Range<u64>) -> Result<()> {
        let _ = range;
        Ok(())
    }

    /// Releases the bytes of `range`. They may read as zeros from now on, or stay. The length stays.
    ///
    /// # Errors
    /// `Io`.
    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        let _ = range;
        Ok(())
    }
}

impl<S: Storage + ?Sized> Storage for Box<S> {
    fn len(&self) -> Result<u64> {
        (**self).len()
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        (**self).read_at(at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        (**self).write_at(at, bytes)
    }

    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        (**self).write_vectored_at(at, parts)
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        (**self).set_len(len)
    }

    fn sync(&mut self) -> Result<()> {
        (**self).sync()
    }

    fn reserve(&mut self, range: Range<u64>) -> Result<()> {
        (**self).reserve(range)
    }

    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        (**self).punch_hole(range)
    }
}

/// A file in memory, without any durability.
impl Storage for Vec<u8> {
    fn len(&self) -> Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.as_slice().read_into(at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let end = end_of(at, bytes.len())?;
        if end > self.len() as u64 {
            Storage::set_len(self, end)?;
        }
        // Both are within the length, which is one of memory.
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(place) = self.get_mut(start..).and_then(|rest| rest.get_mut(..bytes.len())) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        let refused = || Error::out_of_memory(len, isize::MAX as u64);
        let new = usize::try_from(len).map_err(|_| refused())?;
        self.try_reserve(new.saturating_sub(self.len())).map_err(|_| refused())?;
        self.resize(new, 0);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        let end = range.end.min(self.len() as u64);
        let bytes = usize::try_from(range.start).ok().zip(usize::try_from(end).ok());
        if let Some(hole) = bytes.and_then(|(start, end)| self.get_mut(start..end)) {
            hole.fill(0);
        }
        Ok(())
    }
}

/// A view of the current storage as a [`Source`].
pub struct StorageSource<'a> {
    storage: &'a dyn Storage,
    len: u64,
}

impl<'a> StorageSource<'a> {
    /// The storage at its present length.
    ///
    /// # Errors
    /// `Io` where the length cannot be read.
    pub fn new(storage: &'a dyn Storage) -> Result<Self> {
        Ok(Self { storage, len: storage.len()? })
    }
}

impl Source for StorageSource<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        self.storage.read_at(at, dst)
    }
}

/// End of `len` bytes from `at` on.
fn end_of(at: u64, len: usize) -> Result<u64> {
    at.checked_add(len as u64)
        .ok_or_else(|| Error::usage(format!("{len} bytes at {at} would end past 2^64 bytes")))
}

#[cfg(test)]
mod tests;

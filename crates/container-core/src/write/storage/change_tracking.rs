//! [`Watched`]: a storage that records whether it has been written to.

use std::ops::Range;

use super::Storage;
use crate::Result;

/// A storage that records whether a write was attempted since the start or [`Watched::forget`]. Cleaning up after an error may cut off the
/// writer's own bytes, but not those that another process, without a lock, has written meanwhile.
#[derive(Debug)]
pub struct Watched<S> {
    storage: S,
    is_written: bool,
}

impl<S> Watched<S> {
    /// Wraps a storage, as yet unwritten.
    pub const fn new(storage: S) -> Self {
        Self { storage, is_written: false }
    }

    /// Whether a change of bytes or of the length was attempted: a failed write may have been done in part.
    pub const fn is_written(&self) -> bool {
        self.is_written
    }

    /// Resets the record: later calls report only later writes.
    pub const fn forget(&mut self) {
        self.is_written = false;
    }

    /// The storage itself.
    pub const fn get(&self) -> &S {
        &self.storage
    }
}

impl<S: Storage> Storage for Watched<S> {
    fn len(&self) -> Result<u64> {
        self.storage.len()
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.storage.read_at(at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.is_written = true;
        self.storage.write_at(at, bytes)
    }

    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        self.is_written = true;
        self.storage.write_vectored_at(at, parts)
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        self.is_written = true;
        self.storage.set_len(len)
    }

    fn sync(&mut self) -> Result<()> {
        self.storage.sync()
    }

    fn reserve(&mut self, range: Range<u64>) -> Result<()> {
        self.storage.reserve(range)
    }

    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        self.storage.punch_hole(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_reports_writes_until_forget() {
        let mut storage = Watched::new(b"abc".to_vec());
        let mut read = [0; 3];
        storage.read_at(0, &mut read).unwrap();
        storage.sync().unwrap();
        assert!(!storage.is_written());
        storage.write_at(1, b"x").unwrap();
        assert!(storage.is_written());
        storage.forget();
        assert!(!storage.is_written());
        storage.set_len(1).unwrap();
        assert!(storage.is_written());
        assert_eq!((storage.len().unwrap(), storage.get().as_slice()), (1, &b"a"[..]));
        storage.forget();
        // One that fails may have been done in part.
        storage.write_vectored_at(u64::MAX, &[b"ab"]).unwrap_err();
        assert!(storage.is_written());
    }
}

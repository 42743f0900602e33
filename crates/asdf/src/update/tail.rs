//! What is written from the end of the last block on: in memory as far as the file has bytes there that still count, behind its end at once.

use std::io::{self, Seek, SeekFrom, Write};

use container_core::Error;
use container_core::format::{Output, WriteSeek};
use container_core::write::storage::Storage;

/// An output that begins within a file.
pub(super) struct Tail<'s> {
    storage: &'s mut dyn Storage,
    /// Where it begins in the file.
    start: u64,
    /// The bytes before `old_len`.
    overlap: Vec<u8>,
    old_len: u64,
    /// From `start` on.
    position: u64,
    len: u64,
}

impl<'s> Tail<'s> {
    pub(super) fn new(storage: &'s mut dyn Storage, start: u64, old_len: u64) -> Self {
        Self { storage, start, overlap: Vec::new(), old_len, position: 0, len: 0 }
    }

    /// Where it ends in the file, and what belongs before the old end.
    pub(super) fn finish(self) -> (u64, Vec<u8>) {
        (self.start + self.len, self.overlap)
    }
}

impl Write for Tail<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.old_len.saturating_sub(self.start).saturating_sub(self.position);
        let here = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (inside, behind) = bytes.split_at(here);
        if !inside.is_empty() {
            let at = usize::try_from(self.position).map_err(|_| Error::usage("more than memory can hold"))?;
            let end = at + inside.len();
            if self.overlap.len() < end {
                self.overlap.resize(end, 0);
            }
            self.overlap[at..end].copy_from_slice(inside);
        }
        if !behind.is_empty() {
            self.storage.write_at(self.start + self.position + here as u64, behind)?;
        }
        self.position += bytes.len() as u64;
        self.len = self.len.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Tail<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
        }
        .ok_or_else(|| Error::usage("a place before the start"))?;
        Ok(self.position)
    }
}

impl Output for Tail<'_> {
    fn as_seek(&mut self) -> Option<&mut dyn WriteSeek> {
        Some(self)
    }
}

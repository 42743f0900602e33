//! Buffers the bytes after the last block: they go into the journal first, then into the file.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use container_core::format::{Output, WriteSeek};

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

//! Bytes of a frame in the order in which they become final: chunks first, the header before them last.

use std::io::{self, Read, Seek, SeekFrom, Write};

use container_core::Result;
use container_core::format::Output;
use tempfile::SpooledTempFile;

/// Bytes that are held in memory before they go to a temporary file.
const MAX_SPOOL_IN_MEMORY: usize = 8 << 20;

/// Bytes of the buffer that gathers small chunks.
const BUFFER_LEN: usize = 256 << 10;

/// The part of a frame after its header, on its way to an output.
pub(super) struct Sink<'o> {
    out: &'o mut dyn Output,
    way: Destination,
    /// Not written yet.
    buffer: Vec<u8>,
    /// Bytes after the header so far.
    len: u64,
}

enum Destination {
    /// The frame starts here, and the header will be put there.
    Seek(u64),
    /// The output cannot go back: all waits for the header.
    Spool(SpooledTempFile),
}

impl<'o> Sink<'o> {
    /// Starts after a header of `header_len` bytes, which are zeros until it is final: an unfinished frame is not valid.
    pub(super) fn new(out: &'o mut dyn Output, header_len: u64) -> Result<Self> {
        let way = match out.as_seek() {
            Some(file) => {
                let start = file.stream_position()?;
                io::copy(&mut io::repeat(0).take(header_len), file)?;
                Destination::Seek(start)
            }
            None => Destination::Spool(SpooledTempFile::new(MAX_SPOOL_IN_MEMORY)),
        };
        Ok(Self { out, way, buffer: Vec::new(), len: 0 })
    }

    /// Returns the bytes after the header so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Takes the next bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.len = self.len.saturating_add(bytes.len() as u64);
        if self.buffer.len().saturating_add(bytes.len()) > BUFFER_LEN {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_LEN {
            return self.write(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.way {
            Destination::Seek(_) => self.out.write_all(bytes)?,
            Destination::Spool(spool) => spool.write_all(bytes)?,
        }
        Ok(())
    }

    /// Puts the header in its place, and the output after the frame.
    pub(super) fn finish(mut self, header: &[u8]) -> Result<()> {
        self.flush()?;
        match (self.way, self.out.as_seek()) {
            (Destination::Seek(start), Some(out)) => {
                out.seek(SeekFrom::Start(start))?;
                out.write_all(header)?;
                let end = start.saturating_add(header.len() as u64).saturating_add(self.len);
                out.seek(SeekFrom::Start(end))?;
            }
            (Destination::Spool(mut spool), _) => {
                self.out.write_all(header)?;
                spool.rewind()?;
                io::copy(&mut spool, self.out)?;
            }
            (Destination::Seek(_), None) => return Err(io::Error::from(io::ErrorKind::NotSeekable).into()),
        }
        Ok(())
    }
}

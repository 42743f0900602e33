//! Buffer for elements: in memory while they are few, else in an unnamed temporary file.

use std::io::Write;

use container_core::source::{FileSource, Source};
use container_core::{Error, Limits, Result};
use tempfile::{SpooledData, SpooledTempFile};

/// Bytes of elements that pass to the file at once; up to this size no file is made.
const BUFFER: usize = 1 << 20;

/// Bytes of elements, row by row.
#[derive(Debug)]
pub(super) struct Elements {
    file: SpooledTempFile,
    buffer: Vec<u8>,
}

impl Elements {
    pub(super) fn new() -> Self {
        Self { file: SpooledTempFile::new(BUFFER), buffer: Vec::new() }
    }

    /// The buffer for the elements of a row of `len` bytes.
    ///
    /// # Errors
    /// `Limit`; `Io` of the temporary file.
    pub(super) fn row(&mut self, len: usize, limits: &Limits) -> Result<&mut Vec<u8>> {
        if self.buffer.len() >= BUFFER {
            self.file.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(BUFFER);
        }
        reserve(&mut self.buffer, len, limits)?;
        Ok(&mut self.buffer)
    }

    /// All of them, to be read.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn into_source(mut self) -> Result<Box<dyn Source>> {
        self.file.write_all(&self.buffer)?;
        Ok(match self.file.into_inner() {
            SpooledData::InMemory(bytes) => Box::new(bytes.into_inner()),
            SpooledData::OnDisk(file) => Box::new(FileSource::new(file)?),
        })
    }
}

/// Makes room for the elements of one more row, which may take thousands of times the bytes of its text.
pub(super) fn reserve(elements: &mut Vec<u8>, len: usize, limits: &Limits) -> Result<()> {
    let asked = len as u64;
    if asked > limits.memory {
        let error = Error::limit("memory in bytes (the elements of one row)", asked, limits.memory);
        return Err(error.with_hint("a larger --limit-memory"));
    }
    elements.try_reserve_exact(len).map_err(|_| Error::out_of_memory(asked, limits.memory))
}

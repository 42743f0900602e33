//! Output of a writer: seekable, or a pipe.

use std::io::{Read, Seek, SeekFrom, Write};

use container_core::format::Output;
use container_core::source::PIECE_LEN;
use container_core::write::AtomicFile;
use container_core::{Error, Result};

/// Bytes of a block for a pipe that are gathered in memory before they go to a temporary file without a name.
const MAX_IN_MEMORY: usize = 16 << 20;

/// An output, or a file of our own.
pub(crate) enum Target<'o> {
    File(Box<AtomicFile>),
    Output(&'o mut dyn Output),
}

impl Target<'_> {
    pub(crate) fn output(&mut self) -> &mut dyn Output {
        match self {
            Self::File(file) => &mut **file,
            Self::Output(out) => &mut **out,
        }
    }

    /// Returns the position of the output; `None` where it cannot be patched.
    pub(crate) fn position(&mut self) -> Result<Option<u64>> {
        match self.output().as_seek() {
            Some(out) => Ok(Some(out.stream_position()?)),
            None => Ok(None),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.output().write_all(bytes)?)
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.output().flush()?)
    }

    /// Writes zeros.
    pub(crate) fn fill(&mut self, len: u64) -> Result<()> {
        let zeros = [0; 4096];
        let mut left = len;
        while left > 0 {
            let now = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
            self.write(&zeros[..now])?;
            left -= now as u64;
        }
        Ok(())
    }

    /// Overwrites present bytes, and returns to the end.
    pub(crate) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let out = self.output().as_seek().ok_or_else(|| Error::usage("this output cannot be patched"))?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(at))?;
        out.write_all(bytes)?;
        out.seek(SeekFrom::Start(end))?;
        Ok(())
    }
}

/// A block that has to be complete before its header can be written.
pub(super) struct Spool(tempfile::SpooledTempFile);

impl Spool {
    pub(super) fn new() -> Self {
        Self(tempfile::spooled_tempfile(MAX_IN_MEMORY))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all(bytes)?)
    }

    /// Passes all of it on.
    pub(super) fn copy_to(mut self, target: &mut Target<'_>) -> Result<()> {
        self.0.rewind()?;
        let mut piece = vec![0; PIECE_LEN];
        loop {
            match self.0.read(&mut piece)? {
                0 => return Ok(()),
                len => target.write(&piece[..len])?,
            }
        }
    }
}

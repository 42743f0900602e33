//! Writing a new contiguous frame from front to back: chunks go out as they come, index and trailer behind them, the header last.

use blosc_chunk::Special;
use container_core::format::Output;
use container_core::{Error, Result};

use crate::options::FrameOptions;

/// Writes a new frame to an output.
pub struct Writer<'o> {
    out: &'o mut dyn Output,
    options: FrameOptions,
}

impl<'o> Writer<'o> {
    /// Starts a frame where `out` is. An output that cannot go back (a pipe) gets it when it is complete; until then chunks wait
    /// in a temporary file.
    ///
    /// # Errors
    /// `Usage` for parameters that make no sense together; `Io`.
    pub fn new(out: &'o mut dyn Output, options: FrameOptions) -> Result<Self> {
        Ok(Self { out, options })
    }

    /// How it writes.
    #[must_use]
    pub fn options(&self) -> &FrameOptions {
        &self.options
    }

    /// Encodes `data` as the next chunk. Chunks of all zeros take no room in frames of chunks of one size.
    ///
    /// # Errors
    /// `Usage` for more than a chunk holds, and where the chunk before was shorter than the others and sizes are not to vary; `Io`.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        let _ = data;
        Err(Error::unsupported("frames"))
    }

    /// Takes an encoded chunk as it is.
    ///
    /// # Errors
    /// As [`Writer::append`]; those of a chunk that is none.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        let _ = chunk;
        Err(Error::unsupported("frames"))
    }

    /// A chunk that holds `nbytes` bytes of nothing but `special`, which is not [`Special::Value`].
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn append_special(&mut self, special: Special, nbytes: u32) -> Result<()> {
        let _ = (special, nbytes);
        Err(Error::unsupported("frames"))
    }

    /// A chunk whose blocks the caller cuts (C-Blosc2 3.0).
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn append_blocks(&mut self, blocks: &[&[u8]]) -> Result<()> {
        let _ = blocks;
        Err(Error::unsupported("frames"))
    }

    /// Sets a piece of user metadata: by convention msgpack.
    ///
    /// # Errors
    /// `Usage` for a name of no or over 31 bytes and for a 17th one.
    pub fn set_vlmetalayer(&mut self, name: &str, value: &[u8]) -> Result<()> {
        let _ = (name, value);
        Err(Error::unsupported("frames"))
    }

    /// Writes index, trailer and header.
    ///
    /// # Errors
    /// `Io`.
    pub fn finish(self) -> Result<()> {
        let _ = self.out;
        Err(Error::unsupported("frames"))
    }
}

//! From bytes to chunks.

use container_core::Result;

use crate::{Compressor, Pipeline};

/// Whose chunks to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Version 2, with a 16-byte header: what Blosc1 and Bloscpack read.
    Blosc1,
    /// Version 5, with a 32-byte header.
    Blosc2,
}

/// When a block is stored as one stream for each byte of the element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitMode {
    /// Always.
    Always,
    /// Never.
    Never,
    /// When it helps, by the codec and level.
    Auto,
    /// As `Auto`, in a way that older readers take.
    #[default]
    ForwardCompat,
}

/// How chunks are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Whose chunks.
    pub generation: Generation,
    /// The codec.
    pub compressor: Compressor,
    /// 0 (stored) to 9.
    pub level: u8,
    /// Bytes of an element, 1 to 512 MiB; over 255 the chunk says 1.
    pub typesize: usize,
    /// Filters.
    pub filters: Pipeline,
    /// Splitting.
    pub split: SplitMode,
    /// Bytes of a block; `None` chooses as C-Blosc does.
    pub blocksize: Option<usize>,
    /// Whether to make a dictionary (zstd, lz4 and lz4hc of Blosc2).
    pub dictionary: bool,
    /// Most threads that one chunk is encoded on. The bytes do not depend on it.
    pub threads: usize,
}

/// Encodes chunks. Keeps contexts and buffers from one chunk to the next.
#[derive(Debug)]
pub struct Encoder {
    params: Params,
}

impl Encoder {
    /// An encoder.
    ///
    /// # Errors
    /// `Usage` for parameters that make no sense together, `Unsupported` for codecs and filters that are only read.
    pub fn new(params: Params) -> Result<Self> {
        Ok(Self { params })
    }

    /// How it encodes.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Most bytes that a chunk of `nbytes` takes.
    #[must_use]
    pub fn max_encoded_len(&self, nbytes: usize) -> usize {
        nbytes.saturating_add(32)
    }

    /// Appends the chunk that holds `src` to `out`, and gives its length.
    ///
    /// # Errors
    /// `Usage` when `src` is longer than a chunk can be, `Io` when there is no memory.
    pub fn encode(&mut self, _src: &[u8], _out: &mut Vec<u8>) -> Result<usize> {
        todo!()
    }
}

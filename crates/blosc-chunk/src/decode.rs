//! From chunks to bytes: whole, by range, by block.

use std::ops::Range;

use container_core::Result;

use crate::Chunk;

/// What a chunk does not know of itself, and its frame does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of an element, where the frame says so (over 255 the chunk cannot).
    pub typesize: Option<usize>,
    /// Shape of a block, in elements, for codecs and filters of n-dimensional data.
    pub blockshape: Vec<usize>,
}

/// Decodes chunks. Keeps contexts and buffers from one chunk to the next; one for each thread.
#[derive(Debug, Default)]
pub struct Decoder {}

impl Decoder {
    /// A decoder of chunks that stand alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same for chunks of an array.
    #[must_use]
    pub fn with_geometry(self, _geometry: Geometry) -> Self {
        todo!()
    }

    /// Decodes all of `chunk` into `dst`, which is exactly as long as its `nbytes`.
    ///
    /// # Errors
    /// `Malformed` with the range inside the chunk, `Unsupported` for codecs and filters that are not here, `Usage` when `dst` has
    /// another length.
    pub fn decode(&mut self, _chunk: &Chunk<'_>, _dst: &mut [u8]) -> Result<()> {
        todo!()
    }

    /// Decodes the bytes `range` of what `chunk` holds into `dst`, which is as long as the range; nothing else is decoded that
    /// need not be.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Usage` when the range ends past the chunk.
    pub fn decode_range(&mut self, _chunk: &Chunk<'_>, _range: Range<usize>, _dst: &mut [u8]) -> Result<()> {
        todo!()
    }

    /// Decodes all of `chunk` into `dst` on up to `threads` threads, the blocks shared out among them.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode_parallel(&mut self, _chunk: &Chunk<'_>, _dst: &mut [u8], _threads: usize) -> Result<()> {
        todo!()
    }
}

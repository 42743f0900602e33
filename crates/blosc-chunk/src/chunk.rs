//! A chunk in memory: its header, and where its blocks are.

use container_core::Result;

use crate::Header;

/// The bytes of one chunk, checked as far as can be done without decoding.
#[derive(Clone, Debug)]
pub struct Chunk<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Chunk<'a> {
    /// The chunk at the start of `bytes`; what follows its `cbytes` is not looked at. Ranges in errors count from its start.
    ///
    /// # Errors
    /// `Truncated`, `Malformed`, `Unsupported`.
    pub fn parse(_bytes: &'a [u8]) -> Result<Self> {
        todo!()
    }

    /// Its header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its bytes, `cbytes` of them.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

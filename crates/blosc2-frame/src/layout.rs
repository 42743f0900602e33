//! Where everything is in a frame: owned facts, made from any source. No chunk is decoded but the index.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;

use container_core::source::Source;
use container_core::{Error, Limits, Result};

use crate::header::Header;
use crate::metalayer::Metalayers;
use crate::offsets::Offsets;
use crate::trailer::Trailer;

/// The layout of a frame. Ranges are absolute in the file that holds it (of a sparse frame, its index file).
#[derive(Clone, Debug)]
pub struct Layout {
    start: u64,
    file_len: u64,
    header: Header,
    metalayers: Metalayers,
    offsets: Offsets,
    index: Range<u64>,
    trailer: Trailer,
    trailer_range: Range<u64>,
}

impl Layout {
    /// Reads header, index and trailer of the frame that begins at byte `start`.
    ///
    /// # Errors
    /// `WrongFormat` without the magic; `Unsupported` for versions and kinds that nobody has written; `Truncated`; `Malformed`; `Limit`
    /// when the index does not fit; those of the source.
    pub fn parse(source: &dyn Source, start: u64, limits: &Limits) -> Result<Self> {
        let _ = (source, start, limits);
        Err(Error::unsupported("frames"))
    }

    /// Where the frame begins in its file.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Bytes of the file that holds it.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.file_len
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The metalayers.
    #[must_use]
    pub const fn metalayers(&self) -> &Metalayers {
        &self.metalayers
    }

    /// Where chunks are.
    #[must_use]
    pub const fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// The bytes of the chunk that holds the offsets; empty where there are no chunks.
    #[must_use]
    pub fn index(&self) -> Range<u64> {
        self.index.clone()
    }

    /// The trailer.
    #[must_use]
    pub const fn trailer(&self) -> &Trailer {
        &self.trailer
    }

    /// The bytes of the trailer.
    #[must_use]
    pub fn trailer_range(&self) -> Range<u64> {
        self.trailer_range.clone()
    }
}

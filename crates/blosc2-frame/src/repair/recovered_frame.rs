//! The recovered frame: the chosen index, the sizes of its chunks, the metadata, and the status of each chunk.

use std::ops::Range;

use container_core::Limits;
use container_core::report::Evidence;

use crate::checksums::Stored;
use crate::fault::Fault;
use crate::header::{ChunkSize, Header};
use crate::metalayer::Metalayers;
use crate::offsets::{Offset, Offsets};
use crate::trailer::Trailer;

/// Result of verifying a chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkStatus {
    /// It decodes, and fits its size and digest.
    Intact,
    /// It is intact with another header.
    HeaderRepaired(Box<RepairedHeader>),
    /// It is damaged, and an earlier version replaces it.
    Previous(Box<PreviousChunk>),
    /// Some of its blocks are intact; the others become zeros.
    Partial(Box<PartialChunk>),
    /// Its codec or filter belongs to a missing plugin. It is copied.
    PluginMissing,
    /// Nothing decodes it, and no plugin that the frame names would. It is copied.
    CodecUnknown,
    /// It does not decode, or does not fit.
    Damaged,
    /// It was not found.
    NotFound,
}

/// A repaired chunk header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RepairedHeader {
    /// Bytes of the repaired header.
    pub head: Vec<u8>,
    /// Description of the change, for the report.
    pub what: String,
    pub evidence: Evidence,
}

impl RepairedHeader {
    /// Copies the chunk `stored`, with the repaired header.
    pub fn apply(&self, stored: &[u8]) -> Vec<u8> {
        let mut whole = stored.to_vec();
        for (byte, own) in whole.iter_mut().zip(&self.head) {
            *byte = *own;
        }
        whole
    }
}

/// An earlier version that replaces a damaged chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PreviousChunk {
    /// Start of the damaged chunk, in bytes of the file.
    pub damaged: u64,
    /// Range of the earlier version; `None` where it is a mark in the index.
    pub range: Option<Range<u64>>,
}

/// A damaged chunk with some intact blocks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PartialChunk {
    /// Number of intact blocks.
    pub kept: usize,
    /// Number of blocks.
    pub count: usize,
    /// Lost parts, one line of the report each.
    pub lost: Vec<String>,
}

/// Header, metadata and chunk index chosen for the repaired frame.
pub(super) struct RecoveredFrame {
    /// The header of the new frame; lengths are those of the old one.
    pub header: Header,
    /// Faults of the old header.
    pub faults: Vec<Fault>,
    pub metalayers: Metalayers,
    pub trailer: Trailer,
    pub trailer_range: Range<u64>,
    /// Base offset of the chunks.
    pub base: u64,
    pub offsets: Offsets,
    /// Expected number of chunks, where it is stored. Missing ones become zeros, others are left out.
    pub expected: Option<u64>,
    /// Bytes of an array's chunk.
    pub array: Option<u64>,
    /// Whether sizes in the header are reliable.
    pub trusted: bool,
    pub limits: Limits,
    /// The index that lists the chunks; empty without one.
    pub index: Range<u64>,
    /// Bytes of the one chunk that is not stored among chunks of different sizes: what the others leave.
    pub left_over: Option<u64>,
    /// Digests of the chunks, where the frame has some that are of its present state.
    pub digests: Option<Stored>,
    /// End of the chunk within which the file ends, where the frame has more chunks than the file holds.
    pub cut: Option<u64>,
}

impl RecoveredFrame {
    /// Returns the number of chunks in the new frame.
    pub fn count(&self) -> u64 {
        self.expected.unwrap_or(self.offsets.len())
    }

    /// Returns the offset of the chunk `index`; `None` for one that was not found.
    pub fn offset(&self, index: u64) -> Option<Offset> {
        self.offsets.get(index)
    }

    /// Returns the expected bytes of the chunk `index`, if they are determined.
    pub fn expected_len(&self, index: u64) -> Option<u64> {
        let ChunkSize::Fixed(len) = self.header.chunksize else {
            return self.left_over.filter(|_| matches!(self.offset(index), Some(Offset::Special(_))));
        };
        if let Some(len) = self.array {
            return Some(len);
        }
        if !self.trusted || index + 1 < self.count() {
            return (index + 1 < self.count()).then_some(len.into());
        }
        let start = index.checked_mul(len.into())?;
        self.header.nbytes.checked_sub(start).filter(|left| *left > 0).map(|left| left.min(len.into()))
    }
}

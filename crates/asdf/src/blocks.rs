//! Blocks: their headers and index, and the references of the tree to them.

use std::ops::Range;

use container_core::block::{Block, Covers, StoredChecksum};

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod header;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod index;
pub(crate) mod references;

use header::BlockHeader;

/// A block: its header, and the ranges of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBlock {
    /// Its number in the file, from 0.
    pub index: usize,
    /// Offset of its magic.
    pub at: u64,
    /// Its header.
    pub header: BlockHeader,
    /// The stored data: the used bytes of an ordinary block, all following bytes for a streamed one. They are cut at the end of the file.
    pub data: Range<u64>,
    /// End of its allocated bytes, or of the file.
    pub end: u64,
}

impl StoredBlock {
    /// Bytes after decoding. For a streamed block, all bytes present.
    #[must_use]
    pub const fn data_size(&self) -> u64 {
        if self.header.is_streamed() {
            self.data.end.saturating_sub(self.data.start)
        } else {
            self.header.data_size
        }
    }

    /// The name of its codec as stored, less the NULs: `zlib`, `lz4`. `None` where the data are stored plainly; `?` for a name that is not ASCII
    /// text.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        if !self.header.is_compressed() {
            return None;
        }
        let bytes = &self.header.compression;
        let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
        let text = bytes.get(..len).and_then(|bytes| std::str::from_utf8(bytes).ok());
        Some(text.filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic())).unwrap_or("?"))
    }

    /// False for a label that is not ASCII text, and so cannot be the name of a codec.
    pub(crate) fn has_name(&self) -> bool {
        self.label() != Some("?")
    }

    /// True where the file has all of its data.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.header.is_streamed() || self.data.end.saturating_sub(self.data.start) == self.header.used_size
    }
}

impl Block for StoredBlock {
    fn range(&self) -> Range<u64> {
        // A block that the end of the file cuts has the size in its header, so that reading it reports the missing bytes.
        let end = self.data.start.saturating_add(self.header.used_size);
        self.data.start..if self.is_whole() { self.data.end } else { end }
    }

    fn decoded_len(&self) -> u64 {
        self.data_size()
    }

    fn codec(&self) -> Option<&str> {
        self.label()
    }

    fn checksum(&self) -> Option<StoredChecksum> {
        let digest = self.header.digest().filter(|_| !self.header.is_streamed())?;
        Some(BlockHeader::ALGORITHM.stored(digest, Covers::Stored))
    }
}

//! The layout of a file: header, tree, padding, blocks, index.
//!
//! Blocks are found by walking from header to header, never by searching the allocated bytes of a block: a file within a block has magics and an
//! index of its own. The index is compared with that walk, which costs no more than proving the index would.

use std::ops::Range;

use container_core::source::Source;
use container_core::{Limits, Result};

pub use crate::blocks::StoredBlock;
use crate::fault::{Fault, FaultKind};
use crate::header::{Header, MAX_BYTES, Version};

mod blocks;
mod listed;
pub(crate) mod tree;

pub(crate) use blocks::{find_first, find_magic, find_other_than};
pub(crate) use listed::BlockOffsets;

/// Versions of the standard that were published.
const PUBLISHED_STANDARDS: [(u32, u32); 8] = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7)];

/// Ranges of the parts of a file. Parsing decodes no block and does not parse the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The header and comment lines.
    pub header: Header,
    /// Blanks, empty lines and any bytes that are not comments before the tree; empty in files that keep to the specification.
    pub before_tree: Range<u64>,
    /// The tree, from its first directive to the newline after its three dots.
    pub tree: Option<Range<u64>>,
    /// Bytes between the tree and the first block, the index, or the end of the file.
    pub padding: Range<u64>,
    /// The blocks, in the order of the file.
    pub blocks: Vec<StoredBlock>,
    /// Bytes between and after blocks that are in none of the parts.
    pub gaps: Vec<Gap>,
    /// The index, valid or not.
    pub index: Option<Range<u64>>,
    /// Validity of the index.
    pub index_state: IndexState,
    /// Bytes after the index, or after all other parts.
    pub trailing: Range<u64>,
    /// Length of the file.
    pub size: u64,
    /// Faults of the layout: damage and oddities.
    pub faults: Vec<Fault>,
}

/// A byte range outside of every part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Range of the bytes.
    pub range: Range<u64>,
}

/// Validity of the block index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexState {
    /// It lists the blocks as they are, and begins at the end of the last.
    Valid,
    /// The file has no index.
    Absent,
    /// It lists other offsets, cannot be read, or is at another place.
    Invalid,
}

impl Layout {
    /// Finds the parts of the file.
    ///
    /// # Errors
    /// `WrongFormat` and `Unsupported` for the header line, `Malformed` for header lines without end, `Limit` for more blocks than memory has room
    /// for, and those of the source. All other faults are in [`Layout::faults`].
    pub fn parse(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let (mut layout, after_tree) = Self::parse_front(source)?;
        blocks::find(source, after_tree, limits, &mut layout)?;
        Ok(layout)
    }

    /// Finds the parts of the file, but of a far file with an index, whose blocks are located by that alone, if the rest of the file agrees with it. The
    /// layout then has no blocks, and a fault that reports this.
    ///
    /// # Errors
    /// As [`Layout::parse`].
    pub(crate) fn parse_listed(source: &dyn Source, limits: &Limits) -> Result<(Self, Option<BlockOffsets>)> {
        let (mut layout, after_tree) = Self::parse_front(source)?;
        if source.is_far()
            && let Some(offsets) = listed::find(source, after_tree, limits, &mut layout)?
        {
            return Ok((layout, Some(offsets)));
        }
        blocks::find(source, after_tree, limits, &mut layout)?;
        Ok((layout, None))
    }

    /// Finds header and tree, and the end of the tree.
    fn parse_front(source: &dyn Source) -> Result<(Self, u64)> {
        let size = source.len();
        let header = read_header(source)?;
        let at = header.comments.end;
        let mut layout = Self {
            header,
            before_tree: at..at,
            tree: None,
            padding: at..at,
            blocks: Vec::new(),
            gaps: Vec::new(),
            index: None,
            index_state: IndexState::Absent,
            trailing: size..size,
            size,
            faults: Vec::new(),
        };
        layout.note_versions();
        listed::announce_tree(source, at)?;
        let after_tree = tree::find(source, &mut layout)?;
        Ok((layout, after_tree))
    }

    /// True unless a fault reports that the file ends early.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.faults.iter().any(|fault| {
            matches!(
                fault.kind(),
                FaultKind::BlockTruncated | FaultKind::BlockHeaderTruncated | FaultKind::TreeUnterminated
            )
        })
    }

    /// The offsets that an index of the blocks has.
    #[must_use]
    pub fn offsets(&self) -> Vec<u64> {
        self.blocks.iter().map(|block| block.at).collect()
    }

    fn note_versions(&mut self) {
        let header = &self.header;
        let mut found = Vec::new();
        if header.version != Version::CURRENT {
            let message =
                format!("unpublished version {} of the file format (expected 1.0.0)", header.version);
            found.push(Fault::new(FaultKind::Version, header.line.clone(), message));
        }
        if let Some(range) = &header.odd_standard {
            let message = "invalid version of the standard, treated as absent";
            found.push(Fault::new(FaultKind::Standard, range.clone(), message));
        }
        if let Some(standard) = header.standard
            && !PUBLISHED_STANDARDS.contains(&(standard.major, standard.minor))
        {
            let message = format!("unpublished version {standard} of the standard");
            found.push(Fault::new(FaultKind::Standard, header.comments.clone(), message));
        }
        self.faults.append(&mut found);
    }

    fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }
}

/// Reads the bytes at the start that header and comments take.
fn read_header(source: &dyn Source) -> Result<Header> {
    let mut len = 4096;
    loop {
        let have = source.len().min(len);
        let bytes = source.read(0..have)?;
        let header = Header::parse(&bytes)?;
        // The last line may continue after the bytes that were read.
        if have == source.len() || header.comments.end < have || have > MAX_BYTES {
            return Ok(header);
        }
        len = len.saturating_mul(8).min(MAX_BYTES.saturating_add(1));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;

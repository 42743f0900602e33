//! Copies byte ranges from file to file.

use std::ops::Range;

use container_core::Result;
use container_core::source::{PIECE_LEN, Source};

use crate::blocks::header::{BlockHeader, MIN_LEN};
use crate::layout::{Layout, StoredBlock};
use crate::writer::output::Target;

/// Blocks that move by a multiple of this keep their offset in a page, and their alignment.
const PAGE_SIZE: u64 = 4096;

/// Minimum padding after the tree of a padded file that is rewritten, so that the next change fits.
const MIN_PADDING: u64 = 1024;

/// Blocks of files from this size on move by whole pages, so that the next change of the tree fits.
const MIN_PAGED_SIZE: u64 = 1 << 20;

/// Copies a range.
pub(crate) fn copy_range(source: &dyn Source, range: Range<u64>, target: &mut Target<'_>) -> Result<()> {
    let mut at = range.start;
    while at < range.end {
        let next = range.end.min(at + PIECE_LEN as u64);
        target.write(&source.read(at..next)?)?;
        at = next;
    }
    Ok(())
}

/// Copies a range and returns its length.
pub(crate) fn copy_range_counted(
    source: &dyn Source,
    range: Range<u64>,
    target: &mut Target<'_>,
) -> Result<u64> {
    let len = range.end.saturating_sub(range.start);
    copy_range(source, range, target)?;
    Ok(len)
}

/// A block with other data.
pub(crate) struct CopiedRange<'a> {
    pub(crate) header: BlockHeader,
    pub(crate) stored: &'a [u8],
}

impl CopiedRange<'_> {
    /// Writes it with the bytes that follow the fields in the header of `block` in `source`. Returns its length.
    pub(crate) fn write(
        &self,
        source: &dyn Source,
        block: &StoredBlock,
        target: &mut Target<'_>,
    ) -> Result<u64> {
        target.write(&self.header.to_bytes())?;
        let fields = block.at + MIN_LEN;
        copy_range(source, fields..block.at + self.header.len(), target)?;
        target.write(self.stored)?;
        target.fill(self.header.allocated_size - self.stored.len() as u64)?;
        Ok(self.header.len() + self.header.allocated_size)
    }
}

/// Padding after a tree that ends at `at`, of a file whose first block was at `first`. Where there was padding, or data are aligned, or the file is
/// large, all blocks move by whole pages. Where there was padding, of the tree or of blocks, there is some again.
pub(crate) fn padding_before_blocks(layout: &Layout, at: u64, first: u64) -> u64 {
    let aligned = layout.blocks.iter().any(|block| block.header.len() > MIN_LEN);
    let padded = layout.padding.end > layout.padding.start
        || layout.blocks.iter().any(|block| block.end > block.data.end);
    if !aligned && !padded && layout.size < MIN_PAGED_SIZE {
        return 0;
    }
    let phase = first % PAGE_SIZE;
    let least = at + if padded { MIN_PADDING } else { 0 };
    let place = least - least % PAGE_SIZE + phase;
    let place = if place < least { place + PAGE_SIZE } else { place };
    place - at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(padding: &[u8], header_size: u8) -> Layout {
        let mut file = b"#ASDF 1.0.0\n%YAML 1.1\n---\n...\n".to_vec();
        file.extend_from_slice(padding);
        file.extend_from_slice(&[0xd3, b'B', b'L', b'K', 0, header_size]);
        file.resize(file.len() + usize::from(header_size), 0);
        Layout::parse(&file, &container_core::Limits::default()).unwrap()
    }

    #[test]
    fn blocks_move_by_whole_pages_where_that_matters() {
        let tight = layout(b"", 48);
        assert_eq!(padding_before_blocks(&tight, 100, 30), 0);
        for layout in [layout(b"\0\0", 48), layout(b"", 64)] {
            let first = layout.blocks[0].at;
            for at in [30, 33, 100, 4095, 4096, 5000] {
                let place = at + padding_before_blocks(&layout, at, first);
                let least = at + if layout.padding.is_empty() { 0 } else { MIN_PADDING };
                assert!(place % 4096 == first % 4096 && place >= least && place < least + 4096, "{at}");
            }
        }
    }
}

//! The block index of a far file, which locates blocks before their headers are read.
//!
//! A near file is walked from header to header, which proves its index. Each header of a far file would be a trip, so that the offsets of the index are
//! taken where all that is known without those headers agrees with them. `file/listed_blocks.rs` then checks each block that is used.

use std::ops::Range;

use container_core::source::Source;
use container_core::{Limits, Result};

use super::{Layout, blocks};
use crate::blocks::StoredBlock;
use crate::blocks::header::{BlockHeader, MIN_LEN};
use crate::blocks::index::BlockIndex;
use crate::fault::{Fault, FaultKind};

/// Bytes at the start of a far file that its source holds after opening it.
const HEAD_LEN: u64 = 64 << 10;

/// Bytes from the start of a far file that are fetched where its tree is longer than [`HEAD_LEN`]: most of the trees of thousands of arrays.
const LONG_TREE_LEN: u64 = 1 << 20;

/// Lengths of the end of a far file that are searched for the start of the index: some 4,000 blocks, 8,000, and any number.
const TAIL_LENS: [u64; 4] = [64 << 10, 128 << 10, 1 << 20, 8 << 20];

/// Offsets of blocks by an index that agrees with the first block and the length of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockOffsets {
    /// Offset of the magic of each block, ascending, with room for a header from each to the next.
    pub(crate) offsets: Vec<u64>,
    /// Offset of the index: the end of the last block.
    pub(crate) end: u64,
}

/// Fetches the rest of a tree that does not end within the first bytes of a far file, together with the index.
pub(super) fn announce_tree(source: &dyn Source, from: u64) -> Result<()> {
    let size = source.len();
    if !source.is_far() || size <= HEAD_LEN {
        return Ok(());
    }
    let head = source.read(from.min(HEAD_LEN)..HEAD_LEN)?;
    if memchr::memmem::find(&head, b"\n...").is_none() {
        let tail = size.saturating_sub(TAIL_LENS[1]).max(HEAD_LEN);
        source.prefetch(&[HEAD_LEN..LONG_TREE_LEN.min(size), tail..size])?;
    }
    Ok(())
}

/// The offsets of the blocks of a far file after a tree that ends at `after_tree`, and the parts of `layout` that they give. `None` where the headers
/// have to be read: without an index, for one that does not agree with the rest of the file, and for one or two blocks, whose headers cost no further
/// trip.
pub(super) fn find(
    source: &dyn Source,
    after_tree: u64,
    limits: &Limits,
    layout: &mut Layout,
) -> Result<Option<BlockOffsets>> {
    let is_whole = |fault: &Fault| fault.kind() != FaultKind::TreeUnterminated;
    if layout.tree.is_none() || !layout.faults.iter().all(is_whole) {
        return Ok(None);
    }
    let Some(first) = blocks::first_block(source, after_tree, layout)? else { return Ok(None) };
    let Some(second) = announce_tail(source, first)? else { return Ok(None) };
    let Some((BlockIndex { offsets }, place)) = index_at_end(source)? else { return Ok(None) };
    let ends = offsets.iter().skip(1).copied().chain([place.start]);
    let has_room = offsets.iter().zip(ends).all(|(at, end)| at.saturating_add(MIN_LEN) <= end);
    let agrees = offsets.first() == Some(&first) && offsets.get(1) == Some(&second);
    if offsets.len() <= 2 || !has_room || !agrees {
        return Ok(None);
    }
    let each = (size_of::<StoredBlock>() as u64).saturating_add(16);
    limits.allocate((offsets.len() as u64).saturating_mul(each))?;
    layout.padding = after_tree..first;
    layout.trailing = place.end..layout.size;
    layout.index = Some(place.clone());
    let message = "the headers of the blocks cannot be read";
    layout.fault(Fault::new(FaultKind::BlockHeadersUnread, first..place.start, message));
    Ok(Some(BlockOffsets { offsets, end: place.start }))
}

/// Fetches the end of a far file together with the header of its second block, and returns the offset of that. `None` where the first block, at `first`,
/// is the only one.
pub(super) fn announce_tail(source: &dyn Source, first: u64) -> Result<Option<u64>> {
    let size = source.len();
    let head = source.read(first..first.saturating_add(MIN_LEN).min(size))?;
    let Some(header) = BlockHeader::parse(&head).filter(|header| !header.is_streamed()) else {
        return Ok(None);
    };
    let second = first.saturating_add(header.len()).saturating_add(header.allocated_size);
    if second >= size {
        return Ok(None);
    }
    let tail = size.saturating_sub(TAIL_LENS[0])..size;
    let header = second..second.saturating_add(MIN_LEN).min(size);
    // After a long tree the end is there already, and there are many blocks.
    let mut ranges = vec![tail];
    ranges.extend((first < HEAD_LEN).then_some(header));
    source.prefetch(&ranges)?;
    Ok(Some(second))
}

/// The index that ends the file, but for NULs after it, and its range.
pub(super) fn index_at_end(source: &dyn Source) -> Result<Option<(BlockIndex, Range<u64>)>> {
    let size = source.len();
    for len in TAIL_LENS {
        let start = size.saturating_sub(len);
        source.prefetch(std::slice::from_ref(&(start..size)))?;
        let tail = source.read(start..size)?;
        if let Some((index, place)) = blocks::last_index(&tail) {
            let rest = tail.get(place.end..).unwrap_or_default();
            let at = |place: usize| start.saturating_add(place as u64);
            return Ok(rest.iter().all(|byte| *byte == 0).then(|| (index, at(place.start)..at(place.end))));
        }
        // Lines of numbers: the index begins before them.
        let is_of_index = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b' ' | b'\r' | b'\n' | b'.' | 0);
        if start == 0 || !tail.iter().all(is_of_index) {
            break;
        }
    }
    Ok(None)
}

//! Walks from block to block, and reads the bytes between and after them; searches ranges for a magic or other bytes.

use std::collections::HashSet;
use std::ops::Range;

use container_core::report::Severity;
use container_core::source::Source;
use container_core::{Error, Limits, Result};

use super::{Gap, IndexState, Layout, StoredBlock, listed};
use crate::blocks::header::{BlockHeader, MAGIC, MIN_LEN, STREAMED};
use crate::blocks::index::{BlockIndex, MARKER};
use crate::fault::{Fault, FaultKind};

/// Limit of the bytes of an index: for each of its blocks, and a constant.
const INDEX_LEN_LIMIT: (u64, u64) = (64, 4096);

/// Number of bytes at the end of a file that are read before all of a possible index.
const TAIL_LEN: u64 = 16;

/// Headers of a far file that are fetched at once. With the gaps between them, which may come along, they fit its cache.
const MAX_ANNOUNCED: usize = 512;

/// Bytes of the message of a fault, about.
const MESSAGE_LEN: usize = 96;

/// Fills in the parts after the tree.
pub(super) fn find(source: &dyn Source, after_tree: u64, limits: &Limits, layout: &mut Layout) -> Result<()> {
    let size = layout.size;
    let Some(first) = first_block(source, after_tree, layout)? else {
        return after_last_block(source, after_tree, layout);
    };
    layout.padding = after_tree..first;
    let mut headers = AnnouncedHeaders::new(source, first)?;
    if layout.tree.is_none() && first > after_tree && !lost_tree(source, after_tree..first, layout)? {
        let message =
            "bytes between header and first block of a file without a tree, which Python asdf refuses";
        layout.fault(Fault::new(FaultKind::PaddingWithoutTree, after_tree..first, message));
    }
    let mut at = first;
    loop {
        headers.announce(source, layout.blocks.len())?;
        match block(source, at, layout)? {
            Some(block) => {
                at = block.end;
                layout.blocks.push(block);
            }
            None => {
                // An invalid header: the search for the next magic starts after this one.
                let from = at.saturating_add(MAGIC.len() as u64).min(size);
                let next = find_magic(source, from..size)?;
                let end = next.unwrap_or(size);
                layout.gaps.push(Gap { range: at..end });
                at = end;
            }
        }
        limits
            .allocate(memory_len(layout))
            .map_err(|error| error.with_context("asdf blocks").with_range(first..at))?;
        if at >= size || !is_magic(source, at)? {
            match next_block(source, at, layout)? {
                Some(next) => at = next,
                None => return after_last_block(source, at, layout),
            }
        }
    }
}

/// The headers of the blocks of a far file, by its index: without it the walk from one to the next would be a trip for each. What the index lists is not
/// believed: the walk reads every header.
struct AnnouncedHeaders {
    offsets: Vec<u64>,
    /// Number of the first block that is not announced.
    next: usize,
}

impl AnnouncedHeaders {
    /// The offsets of a far file whose first block is at `first`; none of a near one.
    fn new(source: &dyn Source, first: u64) -> Result<Self> {
        let mut headers = Self { offsets: Vec::new(), next: 0 };
        if source.is_far()
            && listed::announce_tail(source, first)?.is_some()
            && let Some((index, _)) = listed::index_at_end(source)?
        {
            headers.offsets = index.offsets;
        }
        Ok(headers)
    }

    /// Announces the header of the block `index` and those after it, unless that is done.
    fn announce(&mut self, source: &dyn Source, index: usize) -> Result<()> {
        if index < self.next || self.offsets.is_empty() {
            return Ok(());
        }
        self.next = index.saturating_add(MAX_ANNOUNCED);
        let next = self.offsets.iter().skip(index).take(MAX_ANNOUNCED);
        let header = |at: &u64| *at..at.saturating_add(MIN_LEN);
        source.prefetch(&next.map(header).collect::<Vec<_>>())?;
        Ok(())
    }
}

/// The index that begins at the last marker in `tail`, and its bytes there.
pub(super) fn last_index(tail: &[u8]) -> Option<(BlockIndex, Range<usize>)> {
    let marker = memchr::memmem::rfind(tail, MARKER)?;
    let (index, len) = BlockIndex::parse(tail.get(marker..)?).ok()?;
    Some((index, marker..marker.saturating_add(len)))
}

/// Bytes of memory for the blocks, gaps and faults so far and one more of each. Any few bytes of a file may be one of them.
fn memory_len(layout: &Layout) -> u64 {
    let each = |count: usize, size: usize| (count as u64).saturating_add(1).saturating_mul(size as u64);
    each(layout.blocks.len(), size_of::<StoredBlock>())
        .saturating_add(each(layout.gaps.len(), size_of::<Gap>()))
        .saturating_add(each(layout.faults.len(), size_of::<Fault>().saturating_add(MESSAGE_LEN)))
}

fn is_magic(source: &dyn Source, at: u64) -> Result<bool> {
    let end = at.saturating_add(MAGIC.len() as u64);
    Ok(end <= source.len() && *source.read(at..end)? == MAGIC)
}

fn is_marker(source: &dyn Source, at: u64) -> Result<bool> {
    let end = at.saturating_add(MARKER.len() as u64);
    Ok(end <= source.len() && *source.read(at..end)? == *MARKER)
}

/// The first magic after the tree. An index of a file without blocks ends the search.
pub(super) fn first_block(source: &dyn Source, at: u64, layout: &Layout) -> Result<Option<u64>> {
    if is_magic(source, at)? {
        return Ok(Some(at));
    }
    find_magic(source, at..layout.size)
}

/// The block at `at`, which begins with a magic; `None` for an invalid header.
fn block(source: &dyn Source, at: u64, layout: &mut Layout) -> Result<Option<StoredBlock>> {
    let (index, size) = (layout.blocks.len(), layout.size);
    let claimed = at..at.saturating_add(MIN_LEN);
    if claimed.end > size {
        let fault = Fault::truncated(FaultKind::BlockHeaderTruncated, claimed, size, "a block header");
        layout.fault(fault.of(index as u64));
        return Ok(None);
    }
    let Some(header) = BlockHeader::parse(&source.read(claimed.clone())?) else {
        let message = format!("block {index}: header size below 48 (expected at least 48)");
        layout.fault(Fault::new(FaultKind::BlockHeaderSize, claimed, message).of(index as u64));
        return Ok(None);
    };
    let whole = at..at.saturating_add(header.len());
    if whole.end > size {
        let fault = Fault::truncated(FaultKind::BlockHeaderTruncated, whole, size, "a block header");
        layout.fault(fault.of(index as u64));
        return Ok(None);
    }
    let start = whole.end;
    if header.is_streamed() {
        if header.is_compressed() {
            let message = format!("block {index}: a streamed block with a codec");
            layout.fault(Fault::new(FaultKind::StreamedCompressed, claimed, message).of(index as u64));
        }
        note_flags(&header, index, at, layout);
        let end = index_behind_stream(source, at, start, layout)?.unwrap_or(size);
        return Ok(Some(StoredBlock { index, at, header, data: start..end, end }));
    }
    let used = start..start.saturating_add(header.used_size);
    let allocated = start..start.saturating_add(header.allocated_size);
    note_flags(&header, index, at, layout);
    if header.used_size > header.allocated_size {
        let message = format!(
            "block {index}: {} bytes are used (expected at most the {} that are allocated)",
            header.used_size, header.allocated_size
        );
        layout.fault(Fault::new(FaultKind::UsedOverAllocated, claimed.clone(), message).of(index as u64));
    }
    if !header.is_compressed() && header.used_size != header.data_size {
        let message = format!(
            "block {index}: {} bytes of data, stored plainly (expected {}, the bytes used)",
            header.data_size, header.used_size
        );
        layout.fault(Fault::new(FaultKind::PlainSizes, claimed, message).of(index as u64));
    }
    if used.end > size {
        let fault =
            Fault::truncated(FaultKind::BlockTruncated, used.clone(), size, &format!("block {index}"));
        layout.fault(fault.of(index as u64));
    } else if allocated.end > size {
        let what = format!("the bytes allocated to block {index}");
        let fault = Fault::truncated(FaultKind::BlockTruncated, allocated.clone(), size, &what);
        layout.fault(fault.of(index as u64));
    }
    let data = start..used.end.min(size);
    Ok(Some(StoredBlock { index, at, header, end: allocated.end.min(size), data }))
}

/// Start of an index after the rows of the streamed block at `at`. The specification forbids it, and readers take it for rows. It counts as an index
/// where it ends the file and lists this file's blocks, with or without the streamed one. Any other may belong to a file among the rows and stays
/// part of them. It gets a warning where it lists as many blocks, all at the same distance from the real ones.
fn index_behind_stream(source: &dyn Source, at: u64, start: u64, layout: &mut Layout) -> Result<Option<u64>> {
    let size = layout.size;
    // Few rows end like an index, and NULs may follow one.
    let last = source.read(size.saturating_sub(TAIL_LEN).max(start)..size)?;
    let is_dots = |end: &[u8]| {
        end.is_empty() || [&b"..."[..], b"...\n", b"...\r\n"].iter().any(|dots| end.ends_with(dots))
    };
    if last.is_empty() || !is_dots(without_nuls(&last)) {
        return Ok(None);
    }
    let (each, besides) = INDEX_LEN_LIMIT;
    let most = (layout.blocks.len() as u64).saturating_mul(each).saturating_add(besides);
    let from = size.saturating_sub(most).max(start);
    let tail = source.read(from..size)?;
    let Some((index, place)) = last_index(&tail) else { return Ok(None) };
    if tail.get(place.end..).unwrap_or_default().iter().any(|byte| *byte != 0) {
        return Ok(None);
    }
    let marker = from.saturating_add(place.start as u64);
    let mut blocks = layout.offsets();
    let is_of_others = index.offsets == blocks && !blocks.is_empty();
    blocks.push(at);
    if is_of_others || index.offsets == blocks {
        return Ok(Some(marker));
    }
    // An edit of the tree by hand moves all blocks by one number of bytes.
    let mut moved = index.offsets.iter().zip(&blocks).map(|(listed, found)| listed.wrapping_sub(*found));
    let by = moved.next();
    if index.offsets.len() == blocks.len() && moved.all(|other| Some(other) == by) {
        let message = "the rows end with a block index that does not match the blocks: it is read as rows";
        layout.fault(Fault::new(FaultKind::IndexForbidden, marker..size, message));
    }
    Ok(None)
}

fn without_nuls(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
    bytes.get(..len).unwrap_or_default()
}

fn note_flags(header: &BlockHeader, index: usize, at: u64, layout: &mut Layout) {
    if header.flags & !STREAMED != 0 {
        let message = format!("block {index}: unknown flags 0x{:x}", header.flags);
        let range = at.saturating_add(6)..at.saturating_add(10);
        layout.fault(Fault::new(FaultKind::BlockFlags, range, message).of(index as u64));
    }
}

/// The magic after a gap; `None` where no other block follows.
fn next_block(source: &dyn Source, at: u64, layout: &mut Layout) -> Result<Option<u64>> {
    let size = layout.size;
    if at >= size || is_marker(source, at)? {
        return Ok(None);
    }
    let Some(next) = find_magic(source, at..size)? else { return Ok(None) };
    let message = format!(
        "{} bytes before block {} that are not allocated to a block",
        next.saturating_sub(at),
        layout.blocks.len()
    );
    layout.fault(Fault::new(FaultKind::Gap, at..next, message).of(layout.blocks.len() as u64));
    layout.gaps.push(Gap { range: at..next });
    Ok(Some(next))
}

/// Reads the bytes after the last block, or after the tree of a file without any: an index, NULs, or a gap.
fn after_last_block(source: &dyn Source, at: u64, layout: &mut Layout) -> Result<()> {
    let size = layout.size;
    let streamed = layout.blocks.last().is_some_and(|block| block.header.is_streamed());
    let has_blocks = !layout.blocks.is_empty();
    let fill: &[u8] = if has_blocks { b"\0" } else { b"\0 \t\r\n" };
    let marker = match find_other_than(source, at..size, fill)? {
        None => None,
        Some(other) => find_index_marker(source, other..size)?,
    };
    let Some(marker) = marker else {
        if !has_blocks && lost_tree(source, at..size, layout)? {
            // `lost_tree` has reported these bytes.
        } else if let Some(junk) = find_other_than(source, at..size, fill)? {
            let (kind, what) = if has_blocks {
                (FaultKind::JunkAfterBlocks, "the last block")
            } else {
                (FaultKind::JunkAfterTree, "the tree")
            };
            layout.fault(Fault::new(kind, junk..size, format!("bytes after {what} that are not an index")));
        }
        if has_blocks {
            layout.trailing = at..size;
            if !streamed {
                layout.fault(Fault::new(FaultKind::IndexAbsent, at..at, "no block index"));
            }
        } else {
            layout.padding = at..size;
        }
        return Ok(());
    };
    if has_blocks {
        if marker > at {
            layout.gaps.push(Gap { range: at..marker });
            let message = "bytes between the last block and the block index";
            layout.fault(Fault::new(FaultKind::JunkAfterBlocks, at..marker, message));
        }
    } else {
        if lost_tree(source, at..marker, layout)? {
            // `lost_tree` has reported these bytes.
        } else if let Some(junk) = find_other_than(source, at..marker, fill)? {
            let message = "bytes between the tree and the block index";
            layout.fault(Fault::new(FaultKind::JunkAfterTree, junk..marker, message));
        }
        layout.padding = at..marker;
    }
    index(source, marker..size, marker == at && has_blocks, layout)
}

/// Reports bytes in the place of a tree, where none begins: Python asdf refuses them, and a tree that has lost its first lines may be in them.
fn lost_tree(source: &dyn Source, place: Range<u64>, layout: &mut Layout) -> Result<bool> {
    if layout.tree.is_some() {
        return Ok(false);
    }
    let Some(junk) = find_other_than(source, place.clone(), b"\0 \t\r\n")? else { return Ok(false) };
    let message = "bytes in place of the tree, without a line that begins a tree";
    layout.fault(Fault::new(FaultKind::JunkBeforeTree, junk..place.end, message));
    Ok(true)
}

/// Reads the index at the start of `range` and records its state.
fn index(source: &dyn Source, range: Range<u64>, in_place: bool, layout: &mut Layout) -> Result<()> {
    let (each, besides) = INDEX_LEN_LIMIT;
    let most = (layout.blocks.len() as u64).saturating_mul(each).saturating_add(besides);
    let end = range.end.min(range.start.saturating_add(most));
    let bytes = source.read(range.start..end)?;
    layout.index_state = IndexState::Invalid;
    let (found, len) = match BlockIndex::parse(&bytes) {
        Ok(found) => found,
        Err(error) => {
            layout.index = Some(range.clone());
            let error: Error = error;
            let message = format!("the block index cannot be read: {}", error.kind());
            layout.fault(Fault::new(FaultKind::IndexUnreadable, range, message));
            return Ok(());
        }
    };
    let end = range.start.saturating_add(len as u64);
    let place = range.start..end;
    layout.index = Some(place.clone());
    layout.trailing = end..range.end;
    if layout.blocks.last().is_some_and(|block| block.header.is_streamed()) {
        let message = "a block index after a streamed block, which readers read as rows";
        layout.fault(Fault::new(FaultKind::IndexForbidden, place, message));
    } else if layout.blocks.is_empty() {
        layout.fault(Fault::new(FaultKind::IndexForbidden, place, "a block index without blocks"));
    } else if let Some((at, why)) = first_difference(&found, layout) {
        let message = format!("the block index is stale: entry {at} {why}");
        layout.fault(Fault::new(FaultKind::IndexStale, place, message));
        note_missing(&found, range.start, layout);
    } else if in_place {
        layout.index_state = IndexState::Valid;
    }
    if let Some(junk) = find_other_than(source, layout.trailing.clone(), b"\0")? {
        let fault = Fault::new(FaultKind::JunkAfterIndex, junk..range.end, "bytes after the block index");
        layout.fault(fault);
    }
    Ok(())
}

/// The first entry that differs from the walk.
fn first_difference(index: &BlockIndex, layout: &Layout) -> Option<(usize, String)> {
    let blocks = layout.blocks.iter().map(|block| block.at);
    let wrong = index.offsets.iter().zip(blocks).position(|(listed, found)| *listed != found);
    let least = index.offsets.len().min(layout.blocks.len());
    if let Some(at) = wrong {
        let listed = index.offsets.get(at).copied().unwrap_or_default();
        let found = layout.blocks.get(at).map(|block| block.at).unwrap_or_default();
        return Some((at, format!("is {listed} (expected {found}, the offset of block {at})")));
    }
    (index.offsets.len() != layout.blocks.len()).then(|| {
        (
            least,
            format!(
                "differs: {} are listed (expected {}, one for each block)",
                index.offsets.len(),
                layout.blocks.len()
            ),
        )
    })
}

/// Reports blocks that the index lists at offsets where the walk found a gap: their headers are destroyed. An index that lists other places, or not
/// more blocks than there are, is ignored: it may be older than an edit by hand.
fn note_missing(index: &BlockIndex, marker: u64, layout: &mut Layout) {
    let listed = &index.offsets;
    let ends = listed.iter().skip(1).copied().chain([marker]);
    let has_room = listed.iter().zip(ends.clone()).all(|(at, end)| at.saturating_add(MIN_LEN) <= end);
    if listed.len() <= layout.blocks.len() || !has_room || listed.first() < Some(&layout.padding.start) {
        return;
    }
    // Looked up, not searched: there may be as many faults as entries.
    let errors = layout.faults.iter().filter(|fault| fault.severity() == Severity::Error);
    let told: HashSet<u64> = errors.map(|fault| fault.range().start).collect();
    let mut missing = Vec::new();
    for (number, (at, end)) in listed.iter().zip(ends).enumerate() {
        let Err(place) = layout.blocks.binary_search_by_key(at, |block| block.at) else { continue };
        let before = place.checked_sub(1).and_then(|before| layout.blocks.get(before));
        if before.is_some_and(|before| before.end > *at) {
            return;
        }
        // An invalid header is reported already.
        if told.contains(at) {
            continue;
        }
        let message = format!(
            "block {number}, which the block index lists, has no header: arrays in it and in the blocks after it cannot be read"
        );
        missing.push(Fault::new(FaultKind::BlockMissing, *at..end, message).of(number as u64));
    }
    layout.faults.append(&mut missing);
}

/// Bytes that are read at a time: few at first, because the wanted bytes often follow soon, and a file may have them everywhere.
const FIRST_AND_MAX_PIECE_LEN: (u64, u64) = (1 << 9, 1 << 18);

/// Maximum length of a byte sequence that is searched for.
const MAX_NEEDLE_LEN: u64 = 32;

/// The first match of `find` in `range`. `find` is given pieces that overlap by more than the longest pattern, and returns an offset in its piece.
pub(crate) fn find_first(
    source: &dyn Source,
    range: Range<u64>,
    mut find: impl FnMut(&[u8]) -> Option<usize>,
) -> Result<Option<u64>> {
    let mut at = range.start;
    let (mut piece, most) = FIRST_AND_MAX_PIECE_LEN;
    while at < range.end {
        let end = range.end.min(at.saturating_add(piece));
        piece = piece.saturating_mul(4).min(most);
        let bytes = source.read(at..end)?;
        if let Some(found) = find(&bytes) {
            return Ok(Some(at.saturating_add(found as u64)));
        }
        if end == range.end {
            break;
        }
        at = end.saturating_sub(MAX_NEEDLE_LEN);
    }
    Ok(None)
}

/// The first block magic in `range`.
pub(crate) fn find_magic(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(&MAGIC);
    find_first(source, range, |bytes| finder.find(bytes))
}

/// The first marker of an index in `range`.
pub(crate) fn find_index_marker(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(MARKER);
    find_first(source, range, |bytes| finder.find(bytes))
}

/// The first byte in `range` that is not one of `fill`.
pub(crate) fn find_other_than(source: &dyn Source, range: Range<u64>, fill: &[u8]) -> Result<Option<u64>> {
    find_first(source, range, |bytes| bytes.iter().position(|byte| !fill.contains(byte)))
}

//! Blocks of a far file by its index alone: the header of each is read when the block is used.
//!
//! An index may be wrong, and the number of a block must be that of the walk from header to header. So the index is used only in a file whose arrays
//! name each of its blocks, and a block only where its header is at the offset and ends where the next block begins, and where each block before it does
//! so as well: by its header, or because an array of the tree fills the bytes up to the next offset exactly, behind a header of the usual length. In any
//! other case the file is walked.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use container_core::Result;
use container_core::array::byte_len;
use container_core::source::{Source, prefetch_in_turns};

use super::{ArrayEntry, File, is_same_file};
use crate::blocks::header::{BlockHeader, MIN_LEN};
use crate::blocks::references::resolve_index;
use crate::layout::{BlockOffsets, Layout, StoredBlock};
use crate::ndarray::geometry::Rows;
use crate::ndarray::{ByteSource, Geometry, NdArray};

/// Bytes that are fetched with the header of a block that is used: all of a small array.
const MAX_WITH_HEADER: u64 = 64 << 10;

/// Headers that are fetched at once for a listing of arrays. With the gaps between them, which may come along, they fit the cache of a far file.
const MAX_ANNOUNCED: usize = 512;

/// Blocks at the offsets of an index.
pub(super) struct ListedBlocks {
    offsets: BlockOffsets,
    /// Numbers of the blocks whose length the arrays of the tree do not explain, ascending.
    unexplained: Vec<usize>,
    /// The blocks whose headers match the index.
    blocks: Vec<OnceLock<StoredBlock>>,
    /// Number of a block up to which all unexplained ones match.
    matching: AtomicUsize,
    /// Number of the array after the one that was listed last.
    next_array: AtomicUsize,
    /// Number of the first array after those that are read for a listing.
    read_arrays: AtomicUsize,
}

impl ListedBlocks {
    /// The blocks of a file with these arrays; `None` unless they name each of the listed blocks and no other.
    pub(super) fn new(offsets: BlockOffsets, arrays: &[ArrayEntry]) -> Option<Self> {
        let count = offsets.offsets.len();
        // Decoded bytes of each block that arrays take.
        let mut lens = vec![None; count];
        for ArrayEntry { array, .. } in arrays {
            let number = match &array.source {
                ByteSource::Block(number) => *number,
                ByteSource::External(uri) if is_same_file(uri) => 0,
                _ => continue,
            };
            let place = lens.get_mut(resolve_index(number, count)?)?;
            *place = Some(place.unwrap_or(0).max(stated_len(array)));
        }
        let mut listed = Self {
            offsets,
            unexplained: Vec::new(),
            blocks: (0..count).map(|_| OnceLock::new()).collect(),
            matching: AtomicUsize::new(0),
            next_array: AtomicUsize::new(0),
            read_arrays: AtomicUsize::new(0),
        };
        for (index, len) in lens.into_iter().enumerate() {
            let place = listed.place(index)?;
            if len?.checked_add(MIN_LEN) != Some(place.end.saturating_sub(place.start)) {
                listed.unexplained.push(index);
            }
        }
        Some(listed)
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.offsets.len()
    }

    /// Bytes from the magic of a block to that of the next, or to the index.
    fn place(&self, index: usize) -> Option<Range<u64>> {
        let offsets = &self.offsets.offsets;
        let next = offsets.get(index.checked_add(1)?).unwrap_or(&self.offsets.end);
        Some(*offsets.get(index)?..*next)
    }

    /// The block of this number. `None` where its header, or that of a block before it, does not match the index.
    fn block(&self, source: &dyn Source, index: usize) -> Result<Option<&StoredBlock>> {
        let Some((place, slot)) = self.place(index).zip(self.blocks.get(index)) else { return Ok(None) };
        let matching = self.matching.load(Ordering::Acquire);
        if matching >= index
            && let Some(block) = slot.get()
        {
            return Ok(Some(block));
        }
        let first = self.unexplained.partition_point(|before| *before < matching);
        let before = self.unexplained.iter().skip(first).take_while(|before| **before < index);
        let is_unread = |before: &usize| self.blocks.get(*before).is_some_and(|slot| slot.get().is_none());
        let before: Vec<usize> = before.copied().filter(is_unread).collect();
        // With the header of a block that is used comes what follows it, but for the first block, whose header was read on opening the file.
        let with_header = if index == 0 { MIN_LEN } else { MAX_WITH_HEADER };
        let own = place.start..place.end.min(place.start.saturating_add(with_header));
        let own = slot.get().is_none().then_some((index, own));
        let headers = before.iter().filter_map(|before| Some((*before, self.header_range(*before)?)));
        let (numbers, headers): (Vec<usize>, Vec<Range<u64>>) = own.into_iter().chain(headers).unzip();
        let mut matches = true;
        prefetch_in_turns(source, &headers, |at, _| {
            matches = matches && numbers.get(at).map_or(Ok(false), |number| self.read(source, *number))?;
            Ok(())
        })?;
        if !matches {
            return Ok(None);
        }
        self.matching.fetch_max(index, Ordering::Release);
        Ok(slot.get())
    }

    /// Bytes of a block whose header has not been read, which an array of the tree fills exactly as they are decoded.
    fn filled_len(&self, index: usize) -> Option<u64> {
        let is_unread = self.blocks.get(index)?.get().is_none();
        let is_filled = self.unexplained.binary_search(&index).is_err();
        let place = self.place(index).filter(|_| is_unread && is_filled)?;
        place.end.checked_sub(place.start)?.checked_sub(MIN_LEN)
    }

    fn header_range(&self, index: usize) -> Option<Range<u64>> {
        self.place(index).map(|place| place.start..place.start.saturating_add(MIN_LEN))
    }

    /// Reads the header of a block, and keeps the block. False for one that does not fill the bytes from its offset to the next exactly, or that the walk
    /// would report.
    fn read(&self, source: &dyn Source, index: usize) -> Result<bool> {
        let Some((place, range)) = self.place(index).zip(self.header_range(index)) else { return Ok(false) };
        let Some(header) = BlockHeader::parse(&source.read(range)?) else { return Ok(false) };
        let start = place.start.saturating_add(header.len());
        let is_sound = header.flags == 0
            && header.used_size <= header.allocated_size
            && (header.is_compressed() || header.used_size == header.data_size)
            && start.checked_add(header.allocated_size) == Some(place.end);
        let data = start..start.saturating_add(header.used_size);
        if is_sound && let Some(slot) = self.blocks.get(index) {
            slot.get_or_init(|| StoredBlock { index, at: place.start, header, data, end: place.end });
        }
        Ok(is_sound)
    }

    /// Reads the header of the block of an array that is listed, and of those after it, where arrays are listed one after the other.
    fn read_listing(&self, source: &dyn Source, arrays: &[ArrayEntry], array: usize) -> Result<()> {
        let is_next = self.next_array.swap(array.saturating_add(1), Ordering::Relaxed) == array;
        if !is_next || array == 0 || array < self.read_arrays.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.read_arrays.store(array.saturating_add(MAX_ANNOUNCED), Ordering::Relaxed);
        let listed = arrays.iter().skip(array).take(MAX_ANNOUNCED);
        let headers = listed.filter_map(|entry| {
            let ByteSource::Block(number) = entry.array.source else { return None };
            let index = resolve_index(number, self.len())?;
            let is_unread = self.blocks.get(index)?.get().is_none() && self.filled_len(index).is_none();
            is_unread.then_some((index, self.header_range(index)?))
        });
        let (numbers, headers): (Vec<usize>, Vec<Range<u64>>) = headers.unzip();
        prefetch_in_turns(source, &headers, |at, _| {
            numbers.get(at).map_or(Ok(false), |number| self.read(source, *number)).map(|_| ())
        })
    }
}

/// Decoded bytes of its block up to the end of an array; 0 for one whose shape or strides leave that open.
fn stated_len(array: &NdArray) -> u64 {
    let shape: Option<Vec<u64>> = array.shape.iter().copied().collect();
    let len = shape.zip(array.datatype.as_ref()).and_then(|(shape, datatype)| {
        let len = byte_len(&datatype.dtype, &shape)?;
        array.strides.is_none().then(|| array.offset.checked_add(len)).flatten()
    });
    len.unwrap_or(0)
}

impl File {
    /// Whether the blocks are located by the index alone, so far.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed().is_some()
    }

    fn listed(&self) -> Option<&ListedBlocks> {
        self.listed.as_ref().filter(|_| self.walked.get().is_none())
    }

    /// The layout with all of its blocks: of a far file that was opened by its index, all headers are read on the first call.
    ///
    /// # Errors
    /// Those of the source; `Limit` for more blocks than memory has room for.
    pub fn read_layout(&self) -> Result<&Layout> {
        if self.listed.is_none() {
            return Ok(&self.front);
        }
        if let Some(layout) = self.walked.get() {
            return Ok(layout);
        }
        let layout = Layout::parse(&self.source, self.limits())?;
        Ok(self.walked.get_or_init(|| layout))
    }

    /// The parts before the blocks, for which no header of a block is read.
    pub(crate) const fn front(&self) -> &Layout {
        &self.front
    }

    /// Number of blocks; of a far file that was opened by its index, of those that it lists.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.listed().map_or_else(|| self.blocks().len(), ListedBlocks::len)
    }

    /// The block of this number, counted from 0.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn block_at(&self, index: usize) -> Result<Option<&StoredBlock>> {
        if let Some(listed) = self.listed()
            && let Some(block) = listed.block(&self.source, index)?
        {
            return Ok(Some(block));
        }
        Ok(self.read_layout()?.blocks.get(index))
    }

    /// The block of this number of the tree, where the index gives it and the file agrees.
    pub(super) fn listed_block(&self, number: i64) -> Result<Option<&StoredBlock>> {
        let Some(listed) = self.listed() else { return Ok(None) };
        let Some(index) = resolve_index(number, listed.len()) else { return Ok(None) };
        listed.block(&self.source, index)
    }

    /// Bytes of a block that a listing takes for a plain one: its header has not been read, and an array fills it exactly.
    pub(crate) fn filled_len(&self, number: i64) -> Option<u64> {
        let listed = self.listed()?;
        listed.filled_len(resolve_index(number, listed.len())?)
    }

    /// The geometry of an array of [`File::arrays`] as a listing shows it: by its length alone where that fills a block whose header has not been read.
    pub(crate) fn listed_geometry(&self, index: usize) -> Option<Cow<'_, Geometry>> {
        let array = &self.arrays.get(index)?.array;
        if let ByteSource::Block(number) = array.source
            && let Some(len) = self.filled_len(number)
        {
            return Geometry::of_block(array, len, Rows::Stated, self.limits()).ok().map(Cow::Owned);
        }
        self.geometry(index).ok().map(Cow::Borrowed)
    }

    /// Reads the headers that a listing of the arrays from `array` on needs.
    pub(crate) fn read_listing(&self, array: usize) {
        if let Some(listed) = self.listed() {
            // A failure is reported where the header is read.
            let _ = listed.read_listing(&self.source, &self.arrays, array);
        }
    }
}

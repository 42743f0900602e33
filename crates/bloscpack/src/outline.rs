//! Offsets of the chunks of a valid file by its header and its table of offsets, without reading each chunk's header.
//!
//! The offsets rise from the end of their table, no chunk is longer than one can be, the first and the last are what header and offsets
//! announce, and the last ends with the file. A read of a chunk compares its header with its offset. Where one does not fit, or a condition
//! above is not met, all chunk headers are read ([`Layout::parse`]).

use blosc_chunk::Header as ChunkHeader;
use container_core::report::Severity;
use container_core::source::Source;
use container_core::{Limits, Result};

use crate::chunk_table::{ChunkEntry, ChunkState, HEADER_LEN, header_at, header_problem};
use crate::header::{Dialect, Header};
use crate::layout::Layout;
use crate::offsets_index::{self, ENTRY};

/// Minimum number of chunks of an outline. The headers of fewer are read as quickly one by one, which also finds unexpected lengths.
const MIN_CHUNKS: u64 = 9;

/// Maximum number of bytes that a chunk takes beyond its data: the longest header.
const MAX_OVERHEAD: u64 = 32;

/// The chunks of a file by its offsets.
#[derive(Debug)]
pub(crate) struct Outline {
    /// Header and metadata; no chunk.
    layout: Layout,
    offsets: Vec<i64>,
    first: ChunkEntry,
    codec: &'static str,
}

impl Outline {
    /// The outline of a file; `None` where the headers of the chunks have to be read.
    ///
    /// # Errors
    /// As [`Layout::parse`].
    pub(crate) fn read(source: &dyn Source, limits: &Limits) -> Result<Option<Self>> {
        let Some(mut layout) = Layout::without_chunks(source, limits)? else { return Ok(None) };
        let header = *layout.header();
        let Some(len) = described(&header) else { return Ok(None) };
        let table = layout.offsets().start;
        let Some(count) = u64::try_from(header.nchunks).ok().filter(|count| *count >= MIN_CHUNKS) else {
            return Ok(None);
        };
        let end = |entries: u64| entries.checked_mul(ENTRY).and_then(|len| table.checked_add(len));
        let ends = (end(count), header.offset_count().and_then(end));
        let (Some(used), Some(start)) = ends else { return Ok(None) };
        if start > source.len() {
            return Ok(None);
        }
        let offsets = offsets_index::read(source, table..used, limits)?;
        let mut outline =
            Self { layout: layout.clone(), offsets, first: ChunkEntry::missing(0), codec: "none" };
        if !outline.is_plausible(start) {
            return Ok(None);
        }
        let last = count.saturating_sub(1);
        for index in [0, last] {
            let Some(entry) = outline.entry(index) else { return Ok(None) };
            let Some(header) = header_at(source, entry.range().start)?.filter(|header| fits(&entry, header))
            else {
                return Ok(None);
            };
            if index == 0 {
                outline.first = ChunkEntry::new(entry.range().start, &header, ChunkState::Whole);
                outline.codec = outline.first.codec();
            }
        }
        // Uncompressed and compressed chunks may be mixed: compressed ones take less than their data.
        let is_short = |index: &u64| outline.entry(*index).is_some_and(|entry| is_encoded(&entry));
        if outline.codec == "none"
            && let Some(entry) = (0..count).find(is_short).and_then(|index| outline.entry(index))
        {
            let Some(header) = header_at(source, entry.range().start)?.filter(|header| fits(&entry, header))
            else {
                return Ok(None);
            };
            outline.codec = ChunkEntry::new(entry.range().start, &header, ChunkState::Whole).codec();
        }
        layout.announce(len, start, limits);
        if layout.faults().iter().any(|fault| fault.severity() >= Severity::Error) {
            return Ok(None);
        }
        outline.layout = layout;
        Ok(Some(outline))
    }

    /// True where the offsets can be those of chunks that fill the file from byte `start` on.
    fn is_plausible(&self, start: u64) -> bool {
        let header = self.layout.header();
        let most = u64::try_from(header.chunk_size).unwrap_or(0).saturating_add(MAX_OVERHEAD);
        let is_chunk = |len: u64| {
            let len = len.checked_sub(header.digest_len());
            len.is_some_and(|len| (HEADER_LEN..=most).contains(&len))
        };
        let ends = self.offsets.iter().skip(1).map(|end| u64::try_from(*end).unwrap_or(0));
        let mut at = start;
        for (offset, end) in self.offsets.iter().zip(ends.chain([self.layout.file_len()])) {
            if u64::try_from(*offset) != Ok(at) || !end.checked_sub(at).is_some_and(is_chunk) {
                return false;
            }
            at = end;
        }
        true
    }

    /// Header and metadata, with their own faults.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of chunks.
    pub(crate) fn count(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// The first chunk, with its header.
    pub(crate) fn first(&self) -> &ChunkEntry {
        &self.first
    }

    /// The codec of the first chunk, or of the first that takes less than it holds.
    pub(crate) fn codec(&self) -> &'static str {
        self.codec
    }

    /// Length of all chunks without their digests, in bytes.
    pub(crate) fn stored(&self) -> u64 {
        let start = self.first.range().start;
        let digests = self.layout.header().digest_len().saturating_mul(self.count());
        self.layout.file_len().saturating_sub(start).saturating_sub(digests)
    }

    /// The offset of a chunk, and its lengths by the header of the file.
    pub(crate) fn entry(&self, index: u64) -> Option<ChunkEntry> {
        let header = self.layout.header();
        let at = usize::try_from(index).ok()?;
        let start = u64::try_from(*self.offsets.get(at)?).ok()?;
        let next = self.offsets.get(at.checked_add(1)?);
        let end = next.map_or(Some(self.layout.file_len()), |next| u64::try_from(*next).ok())?;
        let cbytes = end.checked_sub(start)?.checked_sub(header.digest_len())?;
        let is_last = next.is_none();
        let nbytes = u32::try_from(if is_last { header.last_chunk } else { header.chunk_size }).ok()?;
        let data_at = index.checked_mul(u64::try_from(header.chunk_size).ok()?)?;
        Some(ChunkEntry::outlined(start, u32::try_from(cbytes).ok()?, data_at, nbytes))
    }

    /// The number of the chunk that holds the decoded byte `at`.
    pub(crate) fn find(&self, at: u64) -> u64 {
        let len = u64::try_from(self.layout.header().chunk_size).unwrap_or(1).max(1);
        at.checked_div(len).unwrap_or(0).min(self.count())
    }
}

/// Length of all chunks together in bytes, where the header describes chunks of one size.
fn described(header: &Header) -> Option<u64> {
    let sizes = 1..=header.chunk_size;
    let is_fixed = matches!(header.dialect, Dialect::V2 | Dialect::V3) && header.has_offsets();
    header.decoded_len().filter(|_| is_fixed && sizes.contains(&header.last_chunk))
}

/// True where a chunk agrees with its entry in the outline.
pub(crate) fn fits(entry: &ChunkEntry, header: &ChunkHeader) -> bool {
    let range = entry.range();
    let len = range.end.saturating_sub(range.start);
    header_problem(header).is_none() && u64::from(header.cbytes) == len && header.nbytes == entry.nbytes()
}

/// True where a chunk takes less than its uncompressed data.
fn is_encoded(entry: &ChunkEntry) -> bool {
    let range = entry.range();
    let plain = u64::from(entry.nbytes()).saturating_add(HEADER_LEN);
    range.end.saturating_sub(range.start) < plain
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

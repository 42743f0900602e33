//! Layout of a file: owned data, read from any source. Every chunk's header is read, no chunk is decoded.
//!
//! Only a file that is not Bloscpack, has an unknown version, or no whole header fails to give a [`Layout`]. All other
//! damage is recorded as [`Fault`]s, so that a damaged file can still be shown, explained and repaired.

use std::borrow::Cow;
use std::ops::Range;

use container_core::container::Tolerance;
use container_core::source::Source;
use container_core::{Limits, Result, Value};

use crate::NumpyArray;
use crate::chunk_table::{ChunkEntry, ChunkFinder, ChunkState, ChunkTable};
use crate::fault::{Fault, FaultKind};
use crate::header::{Dialect, Header, MAX_CHUNK, MAX_LEN};
use crate::items::item_type::ItemType;
use crate::metadata::section::{self, Metadata};
use crate::offsets_index::{self, ENTRY};

mod checks;

/// The layout of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    header: Header,
    file_len: u64,
    metadata: Option<Metadata>,
    numpy: Option<NumpyArray>,
    offsets: Range<u64>,
    chunks: Vec<ChunkEntry>,
    /// The number of items by the table of offsets, where the header lacks it.
    told: Option<u64>,
    data_len: Option<u64>,
    faults: Vec<Fault>,
}

impl Layout {
    /// Reads header, metadata and offsets, and finds the chunks.
    ///
    /// # Errors
    /// `WrongFormat` without the magic; `Unsupported` for an unknown version; `Truncated` when the header is cut; `Limit`
    /// when the list of chunks would be over the limit; those of the source.
    pub fn parse(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let (mut layout, is_placed) = Self::begin(source, limits)?;
        if is_placed {
            layout.find_chunks(source, limits)?;
        }
        layout.place_chunks();
        layout.check_metadata(limits);
        layout.note_trailing();
        layout.check_proposal();
        layout.faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity()));
        Ok(layout)
    }

    /// Reads header and metadata without searching for chunks; `None` where the start of the chunks is undetermined.
    pub(crate) fn without_chunks(source: &dyn Source, limits: &Limits) -> Result<Option<Self>> {
        let (layout, is_placed) = Self::begin(source, limits)?;
        Ok(is_placed.then_some(layout))
    }

    /// Assumes that the chunks hold `len` bytes and start at byte `start`, as header and offsets announce.
    pub(crate) fn announce(&mut self, len: u64, start: u64, limits: &Limits) {
        self.data_len = Some(len);
        self.offsets.end = start;
        self.check_metadata(limits);
        self.faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity()));
    }

    /// Reads header and metadata, and returns whether the start of the chunks is determined.
    fn begin(source: &dyn Source, limits: &Limits) -> Result<(Self, bool)> {
        let file_len = source.len();
        let source = &Start::read(source);
        let head = source.read(0..file_len.min(MAX_LEN as u64))?;
        let mut header = Header::parse(&head)?;
        let mut faults = Vec::new();
        let section = section::read(source, &mut header, limits, &mut faults)?;
        let after_header = header.dialect.header_len();
        let start = section.end.unwrap_or(after_header).min(file_len);
        let mut layout = Self {
            header,
            file_len,
            metadata: section.metadata,
            numpy: None,
            offsets: start..start,
            chunks: Vec::new(),
            told: None,
            data_len: None,
            faults,
        };
        layout.check_header();
        let is_placed = section.end.is_some() && layout.header.checksum_is_known();
        Ok((layout, is_placed))
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file_len
    }

    /// The metadata, if there are any.
    #[must_use]
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// The tree of the metadata, if they can be read.
    #[must_use]
    pub fn tree(&self) -> Option<&Value> {
        self.metadata.as_ref()?.tree.as_ref()
    }

    /// The array that the metadata describe; `None` for other metadata.
    #[must_use]
    pub fn numpy(&self) -> Option<&NumpyArray> {
        self.numpy.as_ref()
    }

    /// The type of the items of a variable-length file, if the metadata contain one.
    #[must_use]
    pub fn item_type(&self) -> Option<ItemType> {
        ItemType::from_metadata(self.tree()?).filter(|_| self.header.dialect.is_variable_length())
    }

    /// Number of chunks by the header, or, where that is −1 and the chunks are items, by their offsets.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        u64::try_from(self.header.nchunks).ok().or(self.told)
    }

    /// The table of offsets, spare entries included, cut at the end of the file; empty for a file without one.
    #[must_use]
    pub fn offsets(&self) -> Range<u64> {
        self.offsets.clone()
    }

    /// The entries of the table that belong to chunks.
    #[must_use]
    pub fn used_offsets(&self) -> Range<u64> {
        let len = self.count().unwrap_or(0).saturating_mul(ENTRY);
        self.offsets.start..self.offsets.start.saturating_add(len).min(self.offsets.end)
    }

    /// The chunks, in the order of their data.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkEntry] {
        &self.chunks
    }

    /// Bytes of all chunks after decoding; as announced by the header where some are missing. `None` where it is undetermined.
    #[must_use]
    pub fn data_len(&self) -> Option<u64> {
        self.data_len
    }

    /// False where the file ends before its announced end, or was never finished.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let unfinished =
            |kind| matches!(kind, FaultKind::Unfinished | FaultKind::SizeUnknown | FaultKind::OffsetsUnset);
        !self.faults.iter().any(|fault| fault.kind().is_truncation() || unfinished(fault.kind()))
    }

    /// The bytes after the last chunk and its digest.
    #[must_use]
    pub fn trailing(&self) -> Range<u64> {
        let is_tail = |kind| matches!(kind, FaultKind::TrailingBytes | FaultKind::UnknownTail);
        let found = self.faults.iter().find(|fault| is_tail(fault.kind()));
        found.map_or(self.file_len..self.file_len, Fault::range)
    }

    /// All faults and oddities that headers, metadata and lengths show; errors first.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The first fault that keeps all values from being read.
    #[must_use]
    pub fn blocking(&self, tolerance: Tolerance) -> Option<&Fault> {
        self.faults.iter().find(|fault| match fault.kind() {
            FaultKind::UndefinedOptions | FaultKind::UnknownChecksum => true,
            FaultKind::InterimVersion | FaultKind::VariableLengthVersion | FaultKind::OffsetsMissing => {
                tolerance == Tolerance::Strict
            }
            _ => false,
        })
    }

    fn add_fault(&mut self, kind: FaultKind, range: Range<u64>, message: impl Into<String>) {
        self.faults.push(Fault::new(kind, range, message));
    }

    /// Reads the table of offsets, and finds the chunks by it and by the walk.
    fn find_chunks(&mut self, source: &dyn Source, limits: &Limits) -> Result<()> {
        let header = self.header;
        let table_at = self.offsets.start;
        let mut finder = ChunkFinder {
            source,
            limits,
            digest_len: header.digest_len(),
            count: u64::try_from(header.nchunks).ok(),
            start: table_at,
            table: table_at..table_at,
            has_table: header.has_offsets(),
            variable: header.dialect.is_variable_length(),
        };
        let mut offsets = Vec::new();
        if header.nchunks < 0 {
            finder.start = self.start_of_unfinished(source)?;
            finder.count = self.told;
            if self.told.is_some() {
                finder.table = self.offsets.clone();
                offsets = offsets_index::read(source, self.used_offsets(), limits)?;
            }
        } else if header.has_offsets() {
            let entries = header.offset_count().unwrap_or(u64::MAX);
            let claimed = table_at..table_at.saturating_add(entries.saturating_mul(ENTRY));
            finder.start = claimed.end;
            finder.table = claimed.clone();
            self.offsets.end = claimed.end.min(self.file_len);
            let used = self.used_offsets();
            if finder.count.and_then(|count| count.checked_mul(ENTRY))
                == Some(used.end.saturating_sub(used.start))
            {
                offsets = offsets_index::read(source, used, limits)?;
            }
            if claimed.end > self.file_len {
                let what = "its table of offsets";
                self.faults.push(Fault::truncated(FaultKind::OffsetsTruncated, claimed, self.file_len, what));
                if offsets.is_empty() {
                    return Ok(());
                }
            }
        }
        let ChunkTable { entries, faults, all, .. } = finder.find(&offsets)?;
        self.chunks = entries;
        self.faults.extend(faults);
        self.note_chunks(all);
        // If chunks start before the end that the table's length gives, the table ends where they start.
        if let Some(first) = self
            .chunks
            .iter()
            .filter(|chunk| chunk.state() != ChunkState::Missing)
            .map(|it| it.range().start)
            .min()
        {
            self.offsets.end = self.offsets.end.min(first.max(self.used_offsets().end));
        }
        Ok(())
    }

    /// Finds the first chunk of a file whose header does not give the number of chunks.
    fn start_of_unfinished(&mut self, source: &dyn Source) -> Result<u64> {
        let header = self.header;
        let message = "the number of chunks is unknown: the file was never finished, or is a stream";
        let range = if header.dialect == Dialect::V1 { 8..16 } else { 16..24 };
        let table = self.offsets.start..self.file_len;
        if header.has_offsets() && header.dialect.is_variable_length() {
            // The first item may be anywhere: the table ends at the lowest of the items' offsets.
            if let Some(end) = offsets_index::end_by_offsets(source, table.clone())? {
                let count = end.saturating_sub(table.start) / ENTRY;
                self.add_fault(
                    FaultKind::Unfinished,
                    range,
                    format!("{message}; its offsets are those of {count}"),
                );
                (self.told, self.offsets.end) = (Some(count), end);
                return Ok(end);
            }
        }
        self.add_fault(FaultKind::Unfinished, range, message);
        if header.has_offsets() {
            let message = "an unknown number of chunks has an unknown number of offsets";
            self.add_fault(FaultKind::OffsetsUnset, 16..24, message);
            // The placeholder of writers is −1.
            let set = offsets_index::first_set(source, table.clone())?.map_or(self.file_len, |set| set.start);
            // In files of fixed-size chunks the first chunk comes first.
            let is_told = set == table.start && !header.dialect.is_variable_length();
            let pointed_to = if is_told { offsets_index::end_by_first(source, table)? } else { None };
            self.offsets.end = pointed_to.unwrap_or(set);
        }
        Ok(self.offsets.end)
    }

    fn note_chunks(&mut self, all: bool) {
        let header = self.header;
        let of_blosc2 = self.chunks.iter().filter(|chunk| chunk.is_blosc2());
        let of_blosc2: Vec<Range<u64>> =
            of_blosc2.filter(|chunk| chunk.state() == ChunkState::Whole).map(ChunkEntry::range).collect();
        if let Some(first) = of_blosc2.first() {
            let message = format!("{} chunks are of Blosc2, which Bloscpack never wrote", of_blosc2.len());
            self.add_fault(FaultKind::Blosc2Chunk, first.clone(), message);
        }
        if !matches!(header.dialect, Dialect::V2 | Dialect::V3 | Dialect::V3Interim) {
            return;
        }
        if header.chunk_size == -1 || header.last_chunk == -1 {
            let message = "the size of the chunks is unknown: the file was never finished, or is a stream";
            self.add_fault(FaultKind::SizeUnknown, 8..16, message);
        }
        let last = if all { self.chunks.len().checked_sub(1) } else { None };
        let wrong = |(index, chunk): &(usize, &ChunkEntry)| {
            let expected = if Some(*index) == last { header.last_chunk } else { header.chunk_size };
            let expected = u32::try_from(expected).ok();
            chunk.state() == ChunkState::Whole && expected.is_some_and(|expected| expected != chunk.nbytes())
        };
        let mut wrong = self.chunks.iter().enumerate().filter(wrong);
        if let Some((index, chunk)) = wrong.next() {
            let more = match wrong.count() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let expected = if Some(index) == last { header.last_chunk } else { header.chunk_size };
            let message = format!(
                "chunk {index}: wrong decoded size of {} bytes (expected {expected}){more}",
                chunk.nbytes()
            );
            let place = chunk.range().start;
            let range = place.saturating_add(4)..place.saturating_add(8);
            let index = index as u64;
            self.faults.push(Fault::new(FaultKind::ChunkSizeMismatch, range, message).of(index));
        }
    }

    /// Assigns each chunk its range of the data. If its own header is impossible, its size is the file header's.
    fn place_chunks(&mut self) {
        let header = self.header;
        let fixed = matches!(header.dialect, Dialect::V2 | Dialect::V3 | Dialect::V3Interim);
        let count = self.count();
        let mut at = 0_u64;
        // The remaining bytes contain no chunk.
        let lost = self.chunks.is_empty() && self.offsets.end < self.file_len;
        let mut known = count.map_or(!lost, |count| count == self.chunks.len() as u64);
        for (index, chunk) in (1_u64..).zip(&mut self.chunks) {
            let announced = if Some(index) == count { header.last_chunk } else { header.chunk_size };
            let mut nbytes = chunk.nbytes();
            if matches!(chunk.state(), ChunkState::BadHeader | ChunkState::Missing) {
                let announced = u32::try_from(announced).ok().filter(|_| fixed);
                known &= announced.is_some();
                nbytes = announced.unwrap_or(0).min(MAX_CHUNK);
            }
            chunk.place(at, nbytes);
            at = at.saturating_add(nbytes.into());
        }
        // Chunks are missing: a sum smaller than the bytes found is wrong.
        let announced = || header.decoded_len().filter(|len| fixed && *len > at);
        self.data_len = if known { Some(at) } else { announced() };
    }

    fn note_trailing(&mut self) {
        let searched =
            self.header.checksum_is_known() && !self.faults.iter().any(|it| it.kind().is_truncation());
        let lost = self.faults.iter().any(|fault| fault.kind() == FaultKind::ChunkHeader);
        let digest_len = self.header.digest_len();
        let ends = self.chunks.iter().map(|chunk| chunk.end().saturating_add(digest_len));
        let end = ends.max().unwrap_or(self.offsets.end).min(self.file_len);
        let count = self.count();
        let found_all = count == Some(self.chunks.len() as u64);
        if searched && end < self.file_len && (found_all || count.is_none() || !lost) {
            let len = self.file_len.saturating_sub(end);
            let range = end..self.file_len;
            // Without offsets and a count, chunks have not been searched for.
            let is_searched = !self.faults.iter().any(|fault| fault.kind() == FaultKind::OffsetsUnset);
            if count.is_none() && is_searched {
                let message =
                    format!("{len} bytes that are not a chunk, in a file of an unknown number of chunks");
                self.add_fault(FaultKind::UnknownTail, range, message);
            } else {
                self.add_fault(FaultKind::TrailingBytes, range, format!("{len} bytes follow the last chunk"));
            }
        }
    }
}

/// Number of bytes that are read at once with the header: they include most metadata.
const START_LEN: u64 = 1 << 10;

/// A source whose first bytes have been read.
struct Start<'s> {
    source: &'s dyn Source,
    bytes: Vec<u8>,
}

impl<'s> Start<'s> {
    /// Reads the first bytes, unless the source lends them. If they cannot be read together, each read goes to the source.
    fn read(source: &'s dyn Source) -> Self {
        let range = 0..source.len().min(START_LEN);
        let is_lent = source.lend(range.clone()).is_some();
        let read = (!is_lent).then(|| source.read(range).ok()).flatten();
        Self { source, bytes: read.map(Cow::into_owned).unwrap_or_default() }
    }
}

impl Source for Start<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.source.read_into(at, dst)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let own = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.bytes.get(own).or_else(|| self.source.lend(range))
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        self.source.prefetch(ranges)
    }

    fn is_far(&self) -> bool {
        self.source.is_far()
    }
}

impl Header {
    /// Whether the length of digests is determined. Older versions have none.
    fn checksum_is_known(&self) -> bool {
        matches!(self.dialect, Dialect::P0 | Dialect::V1) || self.checksum.is_known()
    }

    /// Length of the digest after each chunk, in bytes.
    #[must_use]
    pub fn digest_len(&self) -> u64 {
        if matches!(self.dialect, Dialect::P0 | Dialect::V1) { 0 } else { self.checksum.digest_len() as u64 }
    }
}

//! The chunk table: chunk ranges by walking from one to the next, and by the offsets.
//!
//! The reference reads by the walk alone and writes offsets that no other program reads, so that in version 3 a complete walk
//! takes precedence over them. In a variable-length file the offsets assign chunks to items, and gaps between chunks are legal,
//! so that they take precedence as long as each points to a possible chunk.

use std::ops::Range;

use blosc_chunk::Header;
use container_core::source::Source;
use container_core::{Error, Limits, Result};

use crate::fault::{Fault, FaultKind};
use crate::header::MAX_CHUNK;
use crate::offsets_index::{ENTRY, UNSET};

/// Maximum number of faults of one kind that are reported one by one.
const MAX_REPORTED: usize = 64;

/// Number of bytes of a chunk that the walk reads: those that the headers of Blosc1 and Blosc2 share.
pub(crate) const HEADER_LEN: u64 = Header::MIN_LEN as u64;

/// Result of checking a chunk's header against its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkState {
    /// Valid, as far as header and neighbours show.
    Whole,
    /// The header is impossible.
    BadHeader,
    /// The file ends before it does.
    Cut,
    /// The next chunk starts before it ends.
    Overlapping,
    /// The offset does not point to a chunk.
    Missing,
}

/// One chunk, in few bytes: a file may have millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    at: u64,
    data_at: u64,
    pub(crate) cbytes: u32,
    nbytes: u32,
    pub(crate) blocksize: u32,
    /// 1 and 2 are Blosc1, 3 to 6 Blosc2.
    pub(crate) version: u8,
    pub(crate) flags: u8,
    pub(crate) typesize: u8,
    state: ChunkState,
}

impl ChunkEntry {
    pub(crate) fn new(at: u64, header: &Header, state: ChunkState) -> Self {
        Self {
            at,
            data_at: 0,
            cbytes: header.cbytes,
            nbytes: header.nbytes,
            blocksize: header.blocksize,
            version: header.version,
            flags: header.flags,
            typesize: header.typesize,
            state,
        }
    }

    pub(crate) fn missing(at: u64) -> Self {
        Self {
            at,
            data_at: 0,
            cbytes: 0,
            nbytes: 0,
            blocksize: 0,
            version: 0,
            flags: 0,
            typesize: 0,
            state: ChunkState::Missing,
        }
    }

    /// A chunk whose offset and lengths are computed, before its header is read.
    pub(crate) fn outlined(at: u64, cbytes: u32, data_at: u64, nbytes: u32) -> Self {
        Self { cbytes, data_at, nbytes, state: ChunkState::Whole, ..Self::missing(at) }
    }

    /// The stored bytes of the chunk, without its digest. For an impossible header, the available bytes.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.end()
    }

    /// Absolute offset of the first byte after the chunk, where its digest is.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.at.saturating_add(self.cbytes.into())
    }

    /// The bytes that it holds, within the bytes of all chunks in order. Where its header is impossible, the file header
    /// determines their number.
    #[must_use]
    pub fn data(&self) -> Range<u64> {
        self.data_at..self.data_at.saturating_add(self.nbytes.into())
    }

    /// Number of bytes after decoding.
    #[must_use]
    pub const fn nbytes(&self) -> u32 {
        self.nbytes
    }

    /// The state of the chunk, as far as it can be determined without decoding it.
    #[must_use]
    pub const fn state(&self) -> ChunkState {
        self.state
    }

    /// True for a chunk of Blosc2.
    pub(crate) const fn is_blosc2(&self) -> bool {
        self.version > 2
    }

    /// Name of the codec: `none` where the bytes are stored as they are, `other` where the flags alone do not name it.
    #[must_use]
    pub const fn codec(&self) -> &'static str {
        match self.flags >> 5 {
            _ if self.flags & 0b10 != 0 => "none",
            0 => "blosclz",
            1 => "lz4",
            2 if !self.is_blosc2() => "snappy",
            3 => "zlib",
            4 => "zstd",
            _ => "other",
        }
    }

    /// Name of the filter, as far as the flags give it.
    #[must_use]
    pub const fn filter(&self) -> &'static str {
        match self.flags & 0b101 {
            0b101 if self.is_blosc2() => "blosc2 pipeline",
            0b001 | 0b101 => "shuffle",
            0b100 => "bitshuffle",
            _ => "none",
        }
    }

    pub(crate) fn place(&mut self, data_at: u64, nbytes: u32) {
        (self.data_at, self.nbytes) = (data_at, nbytes);
    }
}

/// Facts established before the search for chunks.
pub(crate) struct ChunkFinder<'s> {
    pub(crate) source: &'s dyn Source,
    pub(crate) limits: &'s Limits,
    /// Length of the digest after each chunk, in bytes.
    pub(crate) digest_len: u64,
    /// Number of chunks; `None` where the header does not give it.
    pub(crate) count: Option<u64>,
    /// Lowest possible offset of the first one.
    pub(crate) start: u64,
    /// The table of offsets, if the file has one.
    pub(crate) table: Range<u64>,
    /// True where the header announces such a table.
    pub(crate) has_table: bool,
    /// True where each chunk is an item, found by its offset.
    pub(crate) variable: bool,
}

/// The chunks in order, and their faults.
#[derive(Default)]
pub(crate) struct ChunkTable {
    pub(crate) entries: Vec<ChunkEntry>,
    pub(crate) faults: Vec<Fault>,
    /// True where all of them were found.
    pub(crate) all: bool,
    /// Number of faults of each kind, reported or not.
    met: Vec<(FaultKind, usize)>,
}

impl ChunkTable {
    fn add_fault(&mut self, fault: Fault) {
        self.add_fault_with(fault.kind(), || fault);
    }

    /// As [`ChunkTable::add_fault`] for faults that may be numerous: `fault` is called only for those that are reported.
    fn add_fault_with(&mut self, kind: FaultKind, fault: impl FnOnce() -> Fault) {
        let known = self.met.iter_mut().find(|(met, _)| *met == kind);
        let count = match known {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                *count
            }
            None => {
                self.met.push((kind, 1));
                1
            }
        };
        if count <= MAX_REPORTED {
            self.faults.push(fault());
        }
    }

    /// Adds the number of unreported faults of each kind, after the last reported one.
    fn add_fault_counts(mut self) -> Self {
        for (kind, count) in std::mem::take(&mut self.met) {
            let Some(more) = count.checked_sub(MAX_REPORTED).filter(|more| *more > 0) else { continue };
            let Some(last) = self.faults.iter().rposition(|fault| fault.kind() == kind) else { continue };
            let Some(range) = self.faults.get(last).map(Fault::range) else { continue };
            let rest = Fault::new(kind, range, format!("{more} more of these"));
            self.faults.insert(last.saturating_add(1), rest);
        }
        self
    }

    fn push(&mut self, entry: ChunkEntry, limits: &Limits) -> Result<()> {
        if self.entries.len() == self.entries.capacity() {
            let more = self.entries.len().max(64);
            let bytes = (self.entries.len().saturating_add(more)).saturating_mul(size_of::<ChunkEntry>());
            let bytes = bytes as u64;
            limits.allocate(bytes)?;
            let refused = |_| Error::out_of_memory(bytes, limits.memory);
            self.entries.try_reserve_exact(more).map_err(refused)?;
        }
        self.entries.push(entry);
        Ok(())
    }
}

impl ChunkFinder<'_> {
    /// Finds the chunks. `offsets` has as many entries as there are chunks, or none.
    pub(crate) fn find(&self, offsets: &[i64]) -> Result<ChunkTable> {
        self.find_any(offsets).map(ChunkTable::add_fault_counts)
    }

    fn find_any(&self, offsets: &[i64]) -> Result<ChunkTable> {
        let mut walked = self.walk_chunks()?;
        if offsets.is_empty() {
            return Ok(walked);
        }
        if offsets.iter().all(|offset| *offset == UNSET) {
            let message = "no offset is set: the file was never finished, or an index was lost";
            walked.add_fault(Fault::new(
                FaultKind::OffsetsUnset,
                self.entry_range(0, offsets.len()),
                message,
            ));
            return Ok(walked);
        }
        let agrees = |(entry, offset): (&ChunkEntry, &i64)| u64::try_from(*offset) == Ok(entry.at);
        if walked.all && walked.entries.iter().zip(offsets).all(agrees) {
            return Ok(walked);
        }
        let possible = |offset: &i64| self.is_inside(*offset);
        let rising = offsets.is_sorted_by(|left, right| left < right);
        let usable = offsets.iter().all(possible) && (self.variable || rising);
        let sound = |found: &ChunkTable| found.entries.iter().all(|entry| entry.state == ChunkState::Whole);
        let believe_walk = if self.variable {
            // Some offsets are set and agree, others are lost: the walk determines where those would point.
            let some_agree = walked.entries.iter().zip(offsets).all(|pair| !possible(pair.1) || agrees(pair));
            !usable && walked.all && sound(&walked) && some_agree
        } else {
            !usable || (walked.all && sound(&walked))
        };
        if believe_walk {
            self.compare(&mut walked, offsets);
            return Ok(walked);
        }
        self.by_offsets(offsets)
    }

    /// Walks from chunk to chunk by their own lengths.
    fn walk_chunks(&self) -> Result<ChunkTable> {
        let mut found = ChunkTable::default();
        let mut at = self.start;
        loop {
            let index = found.entries.len() as u64;
            if self.count.is_some_and(|count| index >= count)
                || (self.count.is_none() && at == self.source.len())
            {
                found.all = true;
                return Ok(found);
            }
            let (entry, fault) = self.read_chunk_header(at, index)?;
            let Some(entry) = entry else {
                // Without a count, bytes that are not a chunk come after the last chunk, unless they are too short to be one, or
                // there is no other chunk. With a table of offsets the missing count is an error already.
                let expected = self.count.is_some() || (index == 0 && !self.has_table);
                let cut = |fault: &Fault| fault.kind() == FaultKind::ChunkTruncated;
                if let Some(fault) = fault.filter(|fault| expected || cut(fault)) {
                    found.add_fault(fault);
                }
                found.all = !expected;
                return Ok(found);
            };
            found.push(entry, self.limits)?;
            if let Some(fault) = fault {
                let cut = fault.kind() == FaultKind::ChunkTruncated;
                found.add_fault(fault);
                if cut || !self.goes_on(entry.end(), index)? {
                    return Ok(found);
                }
            }
            at = entry.end().saturating_add(self.digest_len);
        }
    }

    /// Returns the chunk at `at` and its fault; no chunk where its length is missing or impossible.
    fn read_chunk_header(&self, at: u64, index: u64) -> Result<(Option<ChunkEntry>, Option<Fault>)> {
        let file_len = self.source.len();
        let Some(header) = header_at(self.source, at)? else {
            let left = self.count.map_or(1, |count| count.saturating_sub(index).max(1));
            let each = self.digest_len.saturating_add(HEADER_LEN);
            let claimed = at..at.saturating_add(left.saturating_mul(each));
            let what = format!("chunk {index} of {}", self.count.unwrap_or(index.saturating_add(1)));
            let fault = Fault::truncated(FaultKind::ChunkTruncated, claimed, file_len, &what);
            return Ok((None, Some(fault.of(index))));
        };
        let head = at..at.saturating_add(HEADER_LEN);
        let problem = header_problem(&header).map(|why| {
            let message = format!("chunk {index} has an impossible header: {why}");
            Fault::new(FaultKind::ChunkHeader, head, message).of(index)
        });
        let entry = ChunkEntry::new(at, &header, ChunkState::Whole);
        let end = entry.end().saturating_add(self.digest_len);
        if u64::from(header.cbytes) < HEADER_LEN {
            return Ok((None, problem));
        }
        match (problem, end > file_len) {
            (Some(fault), true) => Ok((None, Some(fault))),
            (Some(fault), false) => {
                Ok((Some(ChunkEntry { state: ChunkState::BadHeader, ..entry }), Some(fault)))
            }
            (None, true) => {
                let what = format!("chunk {index}");
                let fault = Fault::truncated(FaultKind::ChunkTruncated, at..end, file_len, &what);
                Ok((Some(ChunkEntry { state: ChunkState::Cut, ..entry }), Some(fault.of(index))))
            }
            (None, false) => Ok((Some(entry), None)),
        }
    }

    /// Whether the walk continues after a chunk with an impossible header: a chunk follows, or the end.
    fn goes_on(&self, end: u64, index: u64) -> Result<bool> {
        let next = end.saturating_add(self.digest_len);
        if self.count.is_some_and(|count| index.saturating_add(1) >= count) {
            return Ok(true);
        }
        is_chunk_at(self.source, next)
    }

    /// Reads every chunk at its offset. In file order none may overlap the next.
    fn by_offsets(&self, offsets: &[i64]) -> Result<ChunkTable> {
        let mut found = ChunkTable { all: true, ..ChunkTable::default() };
        let file_len = self.source.len();
        for (index, offset) in (0_u64..).zip(offsets) {
            let Some(at) = u64::try_from(*offset).ok().filter(|_| self.is_inside(*offset)) else {
                self.misses(&mut found, index, *offset, None);
                found.push(ChunkEntry::missing(file_len), self.limits)?;
                continue;
            };
            let (entry, fault) = self.read_chunk_header(at, index)?;
            if let Some(fault) = fault {
                found.add_fault(fault);
            }
            let bad = ChunkEntry { state: ChunkState::BadHeader, ..ChunkEntry::missing(at) };
            found.push(entry.unwrap_or(bad), self.limits)?;
        }
        self.sort_out(&mut found)?;
        Ok(found)
    }

    /// Finds overlaps and gaps.
    fn sort_out(&self, found: &mut ChunkTable) -> Result<()> {
        self.limits.allocate((found.entries.len() as u64).saturating_mul(8))?;
        let mut order: Vec<(u64, usize)> =
            found.entries.iter().enumerate().map(|(index, entry)| (entry.at, index)).collect();
        order.sort_unstable();
        let ends = order.iter().skip(1).map(|(at, _)| *at).chain([self.source.len()]);
        let mut gaps = Gaps::default();
        gaps.add(self.start, order.first().map_or(self.start, |(at, _)| *at));
        let mut overlaps = Vec::new();
        for ((_, index), next) in order.iter().zip(ends.collect::<Vec<_>>()) {
            let Some(entry) = found.entries.get_mut(*index) else { continue };
            let end = entry.end().saturating_add(self.digest_len);
            match entry.state {
                // The header is unusable: the chunk extends to the start of the next one.
                ChunkState::BadHeader => {
                    let len = next.saturating_sub(entry.at).saturating_sub(self.digest_len);
                    if entry.cbytes == 0 || end > next {
                        entry.cbytes = u32::try_from(len).unwrap_or(u32::MAX);
                    }
                }
                ChunkState::Whole if end > next => {
                    entry.state = ChunkState::Overlapping;
                    overlaps.push((*index, entry.range()));
                }
                ChunkState::Whole if next < self.source.len() => gaps.add(end, next),
                _ => {}
            }
        }
        overlaps.sort_unstable_by_key(|(index, _)| *index);
        for (index, range) in overlaps {
            let message = format!("chunk {index} shares bytes with another");
            let fault = Fault::new(FaultKind::ChunkOverlap, range, message);
            found.add_fault(fault.of(index as u64));
        }
        if let Some((first, _)) = order.first()
            && *first < self.start
        {
            let message = "the first chunk starts within the table of offsets";
            found.add_fault(Fault::new(FaultKind::OffsetMismatch, self.table.clone(), message));
        }
        if let Some(fault) = gaps.fault(self.variable) {
            found.add_fault(fault);
        }
        Ok(())
    }

    /// Reports offsets that differ from the walk.
    fn compare(&self, walked: &mut ChunkTable, offsets: &[i64]) {
        let ats: Vec<u64> = walked.entries.iter().map(|entry| entry.at).collect();
        for (index, (offset, at)) in (0_u64..).zip(offsets.iter().zip(ats)) {
            if u64::try_from(*offset) != Ok(at) {
                self.misses(walked, index, *offset, Some(at));
            }
        }
    }

    /// Reports an offset that does not point to its chunk; `at` is the chunk's start, if that was found.
    fn misses(&self, found: &mut ChunkTable, index: u64, offset: i64, at: Option<u64>) {
        let file_len = self.source.len();
        if let (Ok(offset), None) = (u64::try_from(offset), at)
            && offset.saturating_add(HEADER_LEN) > file_len
        {
            found.add_fault_with(FaultKind::ChunkTruncated, || {
                let claimed = offset.min(file_len)..offset.saturating_add(HEADER_LEN);
                let what = format!("chunk {index}");
                Fault::truncated(FaultKind::ChunkTruncated, claimed, file_len, &what).of(index)
            });
            return;
        }
        found.add_fault_with(FaultKind::OffsetMismatch, || {
            let place = at.map_or_else(
                || "where a chunk is impossible".to_owned(),
                |at| format!("the chunk is at {at}"),
            );
            let message = format!("the offset of chunk {index} is {offset}, {place}");
            let index_at = usize::try_from(index).unwrap_or(usize::MAX);
            Fault::new(FaultKind::OffsetMismatch, self.entry_range(index_at, 1), message).of(index)
        });
    }

    /// Whether a chunk can be at an offset: after the entries of the chunks themselves, and with room for a header.
    fn is_inside(&self, offset: i64) -> bool {
        let lowest = self.count.and_then(|count| count.checked_mul(ENTRY));
        let lowest = lowest.map_or(self.start, |len| self.table.start.saturating_add(len));
        let highest = self.source.len().checked_sub(HEADER_LEN);
        u64::try_from(offset).is_ok_and(|at| at >= lowest && highest.is_some_and(|highest| at <= highest))
    }

    fn entry_range(&self, index: usize, count: usize) -> Range<u64> {
        let place = |index: usize| self.table.start.saturating_add((index as u64).saturating_mul(ENTRY));
        place(index)..place(index.saturating_add(count))
    }
}

/// Reads the part of the header at `at` that all chunks share; `None` where the file ends within it.
pub(crate) fn header_at(source: &dyn Source, at: u64) -> Result<Option<Header>> {
    if at.saturating_add(HEADER_LEN) > source.len() {
        return Ok(None);
    }
    let mut head = [0; Header::MIN_LEN];
    source.read_into(at, &mut head)?;
    Ok(Header::parse_prefix(&head))
}

/// True where a possible chunk header is at `at`.
pub(crate) fn is_chunk_at(source: &dyn Source, at: u64) -> Result<bool> {
    Ok(header_at(source, at)?.is_some_and(|header| header_problem(&header).is_none()))
}

/// Returns the reason why a chunk cannot have the first 16 bytes of this header, if there is one.
pub(crate) fn header_problem(header: &Header) -> Option<&'static str> {
    if header.version == 0 || header.version > 6 {
        return Some("unsupported version (expected 1 to 6)");
    }
    if (header.cbytes as usize) < header.len() {
        return Some("it is shorter than its own header");
    }
    if header.nbytes > MAX_CHUNK {
        return Some("its data are larger than a chunk can be");
    }
    if header.typesize == 0 {
        return Some("its typesize is 0");
    }
    if !header.is_blosc1() {
        return None;
    }
    if !(1..=header.nbytes.max(1)).contains(&header.blocksize) {
        return Some("its block size is impossible");
    }
    if header.flags & 0b1000 != 0 || header.flags >> 5 > 4 {
        return Some("unknown flags");
    }
    if header.is_memcpyed() && header.nbytes > 0 && header.cbytes != header.nbytes.saturating_add(16) {
        return Some("stored without encoding, but with another number of bytes");
    }
    None
}

/// Bytes between chunks.
#[derive(Default)]
struct Gaps {
    first: Option<Range<u64>>,
    count: u64,
    bytes: u64,
}

impl Gaps {
    fn add(&mut self, from: u64, to: u64) {
        if to > from {
            self.first.get_or_insert(from..to);
            self.count = self.count.saturating_add(1);
            self.bytes = self.bytes.saturating_add(to.saturating_sub(from));
        }
    }

    fn fault(self, variable: bool) -> Option<Fault> {
        let (kind, what) = match variable {
            // The parent of the proposal has room after every chunk, and `reserve` makes some.
            true => (FaultKind::Reserve, "items"),
            false => (FaultKind::Gap, "chunks"),
        };
        let message = format!("{} unused bytes between {what}, in {} places", self.bytes, self.count);
        self.first.map(|first| Fault::new(kind, first, message))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn entry(head: &[u8]) -> (ChunkEntry, Option<&'static str>) {
        let header = Header::parse_prefix(head).unwrap();
        (ChunkEntry::new(0, &header, ChunkState::Whole), header_problem(&header))
    }

    #[test]
    fn chunks_of_the_description_parse() {
        let (hello, problem) = entry(b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack");
        assert_eq!((hello.nbytes, hello.blocksize, hello.cbytes), (15, 8, 31));
        assert_eq!((hello.codec(), hello.filter(), problem), ("none", "shuffle", None));
        // The 1212-byte example: BloscLZ, shuffled.
        let (long, problem) = entry(b"\x02\x01\x01\x04\xbc\x04\0\0\xbc\x04\0\0\x9b\0\0\0");
        assert_eq!((long.codec(), long.filter(), problem), ("blosclz", "shuffle", None));
        let (empty, problem) = entry(b"\x02\x01\x12\x01\0\0\0\0\x01\0\0\0\x10\0\0\0");
        assert_eq!((empty.nbytes, problem), (0, None));
    }

    /// Flags as the READMEs of c-blosc and c-blosc2 give them: the codec in bits 5 to 7, the filters in bits 0 and 2.
    #[test]
    fn codecs_and_filters_are_those_of_the_flags() {
        let of = |version: u8, flags: u8| {
            let head = [&[version, 1, flags, 1][..], &[4, 0, 0, 0, 4, 0, 0, 0, 32, 0, 0, 0]].concat();
            let (entry, _) = entry(&head);
            (entry.codec(), entry.filter())
        };
        for (version, flags, expected) in [
            (2, 0x00, ("blosclz", "none")),
            (2, 0x21, ("lz4", "shuffle")),
            (2, 0x44, ("snappy", "bitshuffle")),
            (2, 0x65, ("zlib", "shuffle")),
            (2, 0x82, ("none", "none")),
            (2, 0xa0, ("other", "none")),
            (3, 0x44, ("other", "bitshuffle")),
            (5, 0x85, ("zstd", "blosc2 pipeline")),
            (5, 0x07, ("none", "blosc2 pipeline")),
        ] {
            assert_eq!(of(version, flags), expected, "{version} {flags:#x}");
        }
    }

    #[test]
    fn impossible_chunk_headers_are_reported() {
        let header = Header::parse_prefix(b"\x02\x01\x81\x08\x64\0\0\0\x60\0\0\0\x32\0\0\0").unwrap();
        let good = || header.clone();
        assert_eq!(header_problem(&good()), None);
        assert_eq!(ChunkEntry::new(0, &header, ChunkState::Whole).codec(), "zstd");
        // At the bounds of each field.
        for possible in [
            Header { version: 1, ..good() },
            Header { cbytes: 16, ..good() },
            Header { nbytes: MAX_CHUNK, ..good() },
            Header { blocksize: 1, ..good() },
            Header { blocksize: 100, ..good() },
            Header { flags: 0x02, cbytes: 116, ..good() },
            Header { version: 6, flags: 0x05, extended: true, cbytes: 32, ..good() },
        ] {
            assert_eq!(header_problem(&possible), None, "{possible:?}");
        }
        for bad in [
            Header { version: 0, ..good() },
            Header { version: 7, ..good() },
            Header { cbytes: 15, ..good() },
            Header { nbytes: MAX_CHUNK + 1, ..good() },
            Header { typesize: 0, ..good() },
            Header { blocksize: 0, ..good() },
            Header { blocksize: 101, ..good() },
            Header { flags: 0xa1, ..good() },
            Header { flags: 0x09, ..good() },
            Header { flags: 0x02, ..good() },
            Header { version: 5, flags: 0x05, extended: true, cbytes: 31, ..good() },
        ] {
            assert!(header_problem(&bad).is_some(), "{bad:?}");
        }
    }
}

//! Scan of all chunk headers: byte ranges, gaps between chunks, and faults. No chunk is decoded.

use std::collections::BTreeMap;
use std::ops::Range;

use blosc_chunk::{Compressor, Header as ChunkHeader, Special};
use container_core::{Error, ErrorKind, Limits, Result};

use checks::{check_header, has_wrong_blocksize};

use super::Frame;
use super::chunk_location::LocatedHeader;
use crate::fault::{Fault, FaultKind};
use crate::header::{ChunkSize, Kind};
use crate::offsets::{Offset, Offsets};
use crate::sparse_directory::part_name;

mod checks;
mod overlaps;

/// Largest number of faults of one kind that are reported singly; the rest are counted.
const MAX_REPORTED: u64 = 64;

/// Result of [`Frame::scan_chunks`].
#[derive(Clone, Debug, Default)]
pub struct ChunkScan {
    /// The stored chunks with possible headers, by their places; of a sparse frame by their numbers.
    pub chunks: Vec<ScannedChunk>,
    /// Chunks that are not stored: zeros, never written, NaN.
    pub special: [u64; 3],
    /// Bytes of the chunks section that no chunk has, in order.
    pub dead: Vec<Range<u64>>,
    /// Faults and oddities of chunks; [`Layout::faults`](crate::Layout::faults) are not repeated.
    pub faults: Vec<Fault>,
}

/// A stored chunk, as its header has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedChunk {
    /// Its number in the frame.
    pub index: u64,
    /// Range of its bytes: in the file of the frame, or in its own.
    pub range: Range<u64>,
    /// The number of its file, in a sparse frame.
    pub file: Option<u64>,
    /// Bytes that it holds.
    pub nbytes: u32,
    /// Number of its blocks.
    pub block_count: u32,
    /// Bytes of each but a shorter last one; 0 where they are of different lengths.
    pub block_len: u32,
    /// Its codec.
    pub compressor: Compressor,
    /// Whether the bytes are stored as they are, without codec and filters.
    pub is_memcpyed: bool,
    /// Its special value, if it needs no streams.
    pub special: Option<Special>,
}

impl ScannedChunk {
    fn new(index: u64, range: Range<u64>, file: Option<u64>, header: &ChunkHeader) -> Self {
        Self {
            index,
            range,
            file,
            nbytes: header.nbytes,
            block_count: header.block_count(),
            block_len: if header.has_variable_blocks() { 0 } else { header.block_len() },
            compressor: header.compressor,
            is_memcpyed: header.is_memcpyed(),
            special: header.special(),
        }
    }

    /// Returns the name of its file, in a sparse frame.
    #[must_use]
    pub fn part(&self) -> Option<String> {
        self.file.map(part_name)
    }
}

impl Frame {
    /// Reads the header of every chunk, and reports errors and oddities. Time and memory are proportional to the number of
    /// chunks.
    ///
    /// # Errors
    /// `Limit`; `Io` and `Missing` of the source. Damage is a fault.
    pub fn scan_chunks(&self) -> Result<ChunkScan> {
        let mut scanner = ChunkScanner {
            frame: self,
            limits: self.options.limits,
            found: ChunkScan::default(),
            reported: BTreeMap::new(),
            bad: Vec::new(),
            held: 0,
        };
        match self.layout.offsets() {
            // All are the same mark, so one report covers them.
            Offsets::Same(Offset::Special(special), count) => {
                scanner.not_stored(0, *special, *count)?;
                scanner.held = self.data_len();
            }
            // All have the same offset, so two reports are enough.
            Offsets::Same(_, count) => {
                (0..(*count).min(2)).try_for_each(|index| scanner.scan_chunk(index))?;
            }
            Offsets::Each(_) => (0..self.chunk_count()).try_for_each(|index| scanner.scan_chunk(index))?,
        }
        scanner.finish()
    }
}

struct ChunkScanner<'f> {
    frame: &'f Frame,
    limits: Limits,
    found: ChunkScan,
    reported: BTreeMap<&'static str, u64>,
    /// Offsets in the index without a valid chunk.
    bad: Vec<u64>,
    /// Bytes that the chunks hold.
    held: u64,
}

impl ChunkScanner<'_> {
    fn report(&mut self, fault: Fault) {
        let count = self.reported.entry(fault.code()).or_default();
        *count += 1;
        if *count <= MAX_REPORTED {
            self.found.faults.push(fault);
        }
    }

    fn not_stored(&mut self, index: u64, special: Special, count: u64) -> Result<()> {
        let kind = match special {
            Special::Zeros | Special::Value => 0,
            Special::Uninit => 1,
            Special::Nan => 2,
        };
        self.found.special[kind] += count;
        if self.frame.header().chunksize != ChunkSize::Variable {
            return Ok(());
        }
        let fault = match self.frame.chunk_len(index) {
            Ok(len) => {
                let message = format!("chunk {index} does not give its length; the others leave {len} bytes");
                Fault::new(FaultKind::ChunkSizeSalvaged, self.frame.layout.index(), message)
            }
            Err(error) if error.is_interruption() => return Err(error),
            Err(error) => {
                let range = error.range().unwrap_or_else(|| self.frame.layout.index());
                Fault::of_error(FaultKind::ChunkSizeLost, error, range)
            }
        };
        self.report(fault.of(index));
        Ok(())
    }

    fn scan_chunk(&mut self, index: u64) -> Result<()> {
        let (place, header) = match self.frame.locate_with_header(index) {
            Ok(LocatedHeader::Stored(place, header)) => (place, header),
            Ok(LocatedHeader::Special(special)) => {
                self.not_stored(index, special, 1)?;
                let len = match self.frame.chunk_len(index) {
                    Err(error) if error.is_interruption() => return Err(error),
                    len => len.unwrap_or(0),
                };
                self.held = self.held.saturating_add(len);
                return Ok(());
            }
            Err(error) => return self.record_error(index, error),
        };
        let range = place.range();
        let has_wrong_blocksize = has_wrong_blocksize(&place, &header);
        let part = place.part().map(str::to_owned);
        let source_len = place.source().len();
        drop(place);
        let file = match self.frame.offset(index)? {
            Offset::Stored(number) if part.is_some() => Some(number),
            _ => None,
        };
        for fault in check_header(self.frame, index, &header, &range) {
            self.report(fault.of(index).in_file(part.clone()));
        }
        if has_wrong_blocksize {
            let message = format!(
                "the blocks of chunk {index} have {} bytes (expected {}, by its header): C-Blosc2 does not read it",
                header.blocksize, header.nbytes
            );
            let field = range.start + 8..range.start + 12;
            let fault = Fault::new(FaultKind::ChunkBlocksize, field, message);
            self.report(fault.of(index).in_file(part.clone()));
        }
        if part.is_some() && source_len > range.end {
            let message = format!("{} bytes follow chunk {index} in its file", source_len - range.end);
            let fault = Fault::new(FaultKind::PartSize, range.end..source_len, message);
            self.report(fault.of(index).in_file(part));
        }
        self.held = self.held.saturating_add(header.nbytes.into());
        let more = self.found.chunks.len().saturating_add(1) as u64;
        if more.is_power_of_two() {
            self.limits.allocate(more.saturating_mul(2 * size_of::<ScannedChunk>() as u64))?;
        }
        self.found.chunks.push(ScannedChunk::new(index, range, file, &header));
        Ok(())
    }

    /// Records that the chunk `index` is not where it should be.
    fn record_error(&mut self, index: u64, error: Error) -> Result<()> {
        let is_sparse = self.frame.header().kind == Kind::Sparse;
        let kind = match error.kind() {
            _ if error.is_interruption() => return Err(error),
            ErrorKind::Usage(_) => return Err(error),
            ErrorKind::Truncated { .. } if is_sparse => FaultKind::PartSize,
            ErrorKind::Truncated { .. } => FaultKind::ChunkTruncated,
            _ if is_sparse && error.range().is_none() => FaultKind::PartMissing,
            _ => FaultKind::ChunkHeader,
        };
        let offset = self.frame.layout.offsets().get(index);
        // Invalid offsets are reported with the layout.
        let told = self.frame.layout.faults().iter();
        let is_told = told.clone().any(|fault| fault.index() == Some(index));
        if let (Some(Offset::Stored(at)), false) = (offset, is_sparse) {
            self.bad.push(self.frame.layout.chunks().start.saturating_add(at));
        }
        if !is_told {
            let part = error.file_name().map(str::to_owned);
            let fallback = if is_sparse { 0..0 } else { self.frame.layout.index() };
            let message = format!("chunk {index}: {}", error.kind());
            let range = error.range().unwrap_or(fallback);
            let fault = Fault::of_error(kind, error, range).with_message(message);
            self.report(fault.of(index).in_file(part));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ChunkScan> {
        if self.frame.header().kind == Kind::Sparse {
            self.compare_parts()?;
        } else {
            self.find_overlaps_and_gaps();
        }
        let mut codecs = self.found.chunks.iter().filter(|it| !it.is_memcpyed && it.special.is_none());
        if let Some(first) = codecs.next()
            && let Some(other) = codecs.find(|chunk| chunk.compressor != first.compressor)
        {
            let message = format!(
                "chunk {} is encoded by {}, chunk {} by {}",
                first.index, first.compressor, other.index, other.compressor
            );
            let fault = Fault::new(FaultKind::MixedCodecs, other.range.clone(), message);
            self.report(fault.of(other.index).in_file(other.part()));
        }
        let nbytes = self.frame.header().nbytes;
        if self.frame.header().chunksize == ChunkSize::Variable
            && self.held != nbytes
            && !self
                .found
                .faults
                .iter()
                .any(|fault| fault.severity() == container_core::report::Severity::Error)
        {
            let start = self.frame.layout.start();
            let message =
                format!("the chunks contain {} bytes (expected {nbytes}, by the header)", self.held);
            self.report(Fault::new(FaultKind::Nbytes, start + 29..start + 38, message));
        }
        let rest: Vec<Fault> = self
            .reported
            .iter()
            .filter(|(_, count)| **count > MAX_REPORTED)
            .filter_map(|(code, count)| {
                let last = self.found.faults.iter().rev().find(|fault| fault.code() == *code)?;
                let message = format!("{} more of these", count - MAX_REPORTED);
                Some(Fault::new(last.kind(), last.range(), message))
            })
            .collect();
        self.found.faults.extend(rest);
        self.found.faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity()));
        Ok(self.found)
    }
}

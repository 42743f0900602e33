//! Scans for chunks that neither the offsets nor the previous chunk point to, because inserted or deleted bytes moved them.
//!
//! A chunk is found by 16 bytes that are a possible header and fit the file's, and is proved as all others are: by its digest, and by
//! decoding it. Bytes without such a chunk are skipped one by one. The work is bounded, because a hostile file may consist of headers.

use std::ops::Range;

use blosc_chunk::{Decoder, Header};
use container_core::source::{PIECE_LEN, Source};
use container_core::{Progress, Result};

use super::damaged_file::{ChunkStatus, DamagedFile};
use crate::ChecksumCode;
use crate::chunk_table::{ChunkEntry, ChunkState, HEADER_LEN, header_problem};

/// Maximum number of bytes that are digested and decoded without finding a chunk, for each byte of the file.
const WORK_PER_BYTE: u64 = 16;
/// Number of such bytes that are always allowed.
const MIN_WORK: u64 = 64 << 20;

/// Result of a scan.
#[derive(Default)]
pub(super) struct FoundChunks {
    /// In file order.
    pub(super) chunks: Vec<ChunkEntry>,
    /// Offset at which the scan stopped because it exceeded its work limit.
    pub(super) given_up: Option<u64>,
}

/// Finds verified chunks in the bytes outside the listed chunks, `statuses` of which are [`ChunkStatus::Intact`]. Without digests a chunk
/// that misses some bytes may be proved with the first bytes of the next one in their place: it is [`ChunkStatus::Damaged`] afterwards.
///
/// # Errors
/// `Limit`, `Cancelled`, and those of the source.
pub(super) fn scan(
    damaged: &DamagedFile,
    statuses: &mut [ChunkStatus],
    progress: Progress<'_>,
) -> Result<FoundChunks> {
    let header = damaged.layout.header();
    let total = damaged.source.len();
    let mut scanner = ChunkScanner {
        damaged,
        sizes: sizes(damaged, statuses),
        decoder: Decoder::new(),
        left: total.saturating_mul(WORK_PER_BYTE).saturating_add(MIN_WORK),
        beyond: 0,
        refused: Vec::new(),
        found: FoundChunks::default(),
        progress,
    };
    if header.checksum == ChecksumCode::NONE {
        scanner.find_overlong_chunks(statuses)?;
    }
    let known = damaged.chunks().iter().zip(&*statuses).filter(|(_, status)| **status == ChunkStatus::Intact);
    let mut taken: Vec<Range<u64>> = known.map(|(entry, _)| damaged.stored_range(entry)).collect();
    taken.sort_unstable_by_key(|range| range.start);
    let mut at = header.dialect.header_len();
    for range in taken.into_iter().chain(std::iter::once(total..total)) {
        scanner.scan_range(at..range.start, range.start)?;
        at = at.max(range.end);
    }
    Ok(scanner.found)
}

/// Decoded chunk sizes, from the header and the verified chunks.
fn sizes(damaged: &DamagedFile, statuses: &[ChunkStatus]) -> Vec<u32> {
    let header = damaged.layout.header();
    let known = damaged.chunks().iter().zip(statuses).filter(|(_, status)| **status == ChunkStatus::Intact);
    let mut sizes: Vec<u32> = known.map(|(entry, _)| entry.nbytes()).collect();
    sizes.extend(
        [header.chunk_size, header.last_chunk].into_iter().filter_map(|size| u32::try_from(size).ok()),
    );
    sizes.sort_unstable();
    sizes.dedup();
    // Empty chunks are not searched for.
    sizes.retain(|size| *size > 0);
    sizes
}

struct ChunkScanner<'d> {
    damaged: &'d DamagedFile,
    /// Possible decoded lengths of a chunk.
    sizes: Vec<u32>,
    decoder: Decoder,
    /// Bytes that may still be digested and decoded without finding a chunk.
    left: u64,
    /// Chunks that end before this offset are not searched for.
    beyond: u64,
    /// Offsets of chunks that were accepted as proved, and refused because others were found within them.
    refused: Vec<u64>,
    found: FoundChunks,
    progress: Progress<'d>,
}

impl ChunkScanner<'_> {
    /// Marks chunks as damaged that contain the start of another verified chunk ending after them.
    fn find_overlong_chunks(&mut self, statuses: &mut [ChunkStatus]) -> Result<()> {
        let damaged = self.damaged;
        for (index, entry) in damaged.chunks().iter().enumerate() {
            let is_good = |index: usize| statuses.get(index) == Some(&ChunkStatus::Intact);
            // A chunk followed by an intact chunk ends where its header says.
            if !is_good(index) || is_good(index.saturating_add(1)) {
                continue;
            }
            let range = entry.range();
            let headers =
                range.start.saturating_add(1)..range.end.saturating_add(HEADER_LEN).saturating_sub(1);
            self.beyond = range.end;
            self.scan_range(headers, damaged.source.len())?;
            if !self.found.chunks.is_empty()
                && let Some(status) = statuses.get_mut(index)
            {
                *status = ChunkStatus::Damaged;
                self.refused.push(range.start);
                self.found.chunks.clear();
            }
        }
        self.beyond = 0;
        Ok(())
    }

    /// Checks all headers in `range`, for chunks that end by `most`.
    fn scan_range(&mut self, range: Range<u64>, most: u64) -> Result<()> {
        let total = self.damaged.source.len();
        let range = range.start..range.end.min(total);
        let mut at = range.start;
        let mut piece = Vec::new();
        while at.saturating_add(HEADER_LEN) <= range.end && self.found.given_up.is_none() {
            let len = range.end.saturating_sub(at).min(PIECE_LEN as u64);
            piece.resize(usize::try_from(len).unwrap_or(PIECE_LEN), 0);
            self.damaged.source.read_into(at, &mut piece)?;
            // The scan continues at the end of a chunk that was found; a header may cross two pieces.
            let mut next = at;
            for (place, bytes) in (at..).zip(piece.windows(Header::MIN_LEN)) {
                if place >= next {
                    next = self.chunk_at(place, bytes, most)?.unwrap_or(place.saturating_add(1));
                }
            }
            at = next;
            self.progress.tick(at.min(total), total)?;
        }
        Ok(())
    }

    /// End of the chunk at `at` including its digest, if there is one that ends by `most`.
    fn chunk_at(&mut self, at: u64, bytes: &[u8], most: u64) -> Result<Option<u64>> {
        let Some(header) = Header::parse_prefix(bytes).filter(|header| self.is_likely(header)) else {
            return Ok(None);
        };
        let entry = ChunkEntry::new(at, &header, ChunkState::Whole);
        let end = self.damaged.stored_range(&entry).end;
        if end > most || end <= self.beyond || self.refused.contains(&at) {
            return Ok(None);
        }
        let work = u64::from(header.cbytes).saturating_add(header.nbytes.into());
        let Some(left) = self.left.checked_sub(work) else {
            self.found.given_up = Some(at);
            return Ok(Some(most));
        };
        if self.damaged.verify(&entry, &mut self.decoder)? != ChunkStatus::Intact {
            self.left = left;
            return Ok(None);
        }
        let found = &mut self.found.chunks;
        if found.len() == found.capacity() {
            let room = found.len().max(64).saturating_mul(2).saturating_mul(size_of::<ChunkEntry>());
            self.damaged.limits.allocate(room as u64)?;
        }
        found.push(entry);
        Ok(Some(end))
    }

    /// Whether these may be the first bytes of a chunk of this file.
    fn is_likely(&self, header: &Header) -> bool {
        let own = self.damaged.layout.header().typesize;
        header.versionlz == 1
            && (own == 0 || header.typesize == own)
            && self.sizes.binary_search(&header.nbytes).is_ok()
            && header_problem(header).is_none()
    }
}

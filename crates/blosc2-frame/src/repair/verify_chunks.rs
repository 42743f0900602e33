//! Verifies chunks: decodes each, and compares it with its expected size and its digest. Repairs chunk headers with values of the frame.

use std::ops::Range;

use blosc_chunk::{Chunk, Decoder, Filter, Header, Special};
use container_core::report::Evidence;
use container_core::source::try_zeroed_vec;
use container_core::{ErrorKind, Limits, Progress, Result};

use super::input::DamagedFrame;
use super::recovered_frame::{ChunkStatus, RecoveredFrame, RepairedHeader};
use super::scan_chunks;
use crate::check::misses_plugin;
use crate::decoder_pool::has_nan;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};
use crate::writer::geometry;

// Fields of a chunk header, by offset.
const BLOCKSIZE: Range<usize> = 8..12;
const FILTERS: Range<usize> = 16..22;
const METAS: Range<usize> = 24..30;
const FLAGS: usize = 31;
const INSTRUMENTED: u8 = 0x80;

impl RecoveredFrame {
    /// Decodes every chunk. The list is empty where all chunks are the same special value and none is stored.
    pub fn verify_chunks(&self, origin: &DamagedFrame, progress: Progress<'_>) -> Result<Vec<ChunkStatus>> {
        if matches!(self.offsets, Offsets::Same(Offset::Special(_), _)) {
            return Ok(Vec::new());
        }
        let count = self.count();
        self.limits.allocate(count.saturating_mul(size_of::<ChunkStatus>() as u64))?;
        let mut verifier = ChunkVerifier::new(self);
        let verify = |index: u64| {
            progress.tick(index, count)?;
            match self.offset(index) {
                None => Ok(ChunkStatus::NotFound),
                // Whatever else it may be, it has a size.
                Some(Offset::Special(special)) => Ok(match self.expected_len(index) {
                    None if self.header.chunksize == ChunkSize::Variable => ChunkStatus::Damaged,
                    _ if self.is_undefined_nan(special) => ChunkStatus::Damaged,
                    _ => ChunkStatus::Intact,
                }),
                Some(Offset::Unknown(_)) => Ok(ChunkStatus::Damaged),
                Some(Offset::Stored(at)) => verifier.verify_current(self, origin, index, at),
            }
        };
        (0..count).map(verify).collect()
    }

    /// Whether the mark is NaN although elements of this size cannot be NaN.
    pub fn is_undefined_nan(&self, special: Special) -> bool {
        special == Special::Nan && !has_nan(self.header.typesize)
    }
}

/// Decodes chunks one after the other.
pub(super) struct ChunkVerifier {
    decoder: Decoder,
    room: Vec<u8>,
}

impl ChunkVerifier {
    pub fn new(recovered: &RecoveredFrame) -> Self {
        let geometry = geometry(&recovered.header, &recovered.metalayers);
        Self { decoder: scan_chunks::decoder(geometry, &recovered.limits), room: Vec::new() }
    }

    /// Verifies the current version of chunk `index`, stored at offset `at`. Digests belong to this version.
    pub fn verify_current(
        &mut self,
        frame: &RecoveredFrame,
        origin: &DamagedFrame,
        index: u64,
        at: u64,
    ) -> Result<ChunkStatus> {
        self.verify(frame, origin, index, at, true)
    }

    /// As [`ChunkVerifier::verify_current`], for an earlier version of the chunk.
    pub fn verify_previous(
        &mut self,
        frame: &RecoveredFrame,
        origin: &DamagedFrame,
        index: u64,
        at: u64,
    ) -> Result<ChunkStatus> {
        self.verify(frame, origin, index, at, false)
    }

    /// Checks a stored chunk: its length, its digest (only with `is_last`), and whether it decodes.
    ///
    /// A chunk that does not match its digest is damaged, unless a repaired header makes it intact. Any other is intact if it decodes.
    /// Without a digest its blocks must not begin with overwriting zeros either.
    fn verify(
        &mut self,
        frame: &RecoveredFrame,
        origin: &DamagedFrame,
        index: u64,
        at: u64,
        is_last: bool,
    ) -> Result<ChunkStatus> {
        let stored = match origin.bytes(frame.base, at) {
            Ok(stored) => stored,
            Err(error) if error.is_damage() => return Ok(ChunkStatus::Damaged),
            Err(error) => return Err(error),
        };
        let header = Header::parse(&stored)?;
        let len = u64::from(header.nbytes);
        let fits = match (frame.expected_len(index), frame.header.chunksize) {
            (Some(expected), _) => len == expected,
            // The last one, whose length has no other source.
            (None, ChunkSize::Fixed(most)) => len <= u64::from(most),
            _ => true,
        };
        if !fits {
            return Ok(ChunkStatus::Damaged);
        }
        if origin.available_len(frame.base, at, stored.len()) < stored.len() {
            return Ok(ChunkStatus::Damaged);
        }
        // Digests do not cover older states.
        let as_written = frame.digests.as_ref().filter(|_| is_last).and_then(|it| it.fit(index, &stored));
        if is_last && as_written != Some(true) {
            if let Some(repaired) = self.repair_header(frame, index, &stored, &header) {
                return Ok(ChunkStatus::HeaderRepaired(Box::new(repaired)));
            }
            if as_written.is_some() {
                return Ok(ChunkStatus::Damaged);
            }
        }
        if header.special().is_some() {
            // The stored value is all of its data, and 2 GiB of copies would prove no more.
            return Ok(if Chunk::parse(&stored).is_ok() {
                ChunkStatus::Intact
            } else {
                ChunkStatus::Damaged
            });
        }
        // A chunk that matches its digest is as it was written.
        let is_overwritten =
            || as_written.is_none() && Chunk::parse(&stored).is_ok_and(|it| it.check_zeros().is_err());
        match self.decode(&stored, &frame.limits) {
            Ok(_) if is_overwritten() => Ok(ChunkStatus::Damaged),
            Ok(_) => Ok(ChunkStatus::Intact),
            Err(error) if error.is_damage() => Ok(ChunkStatus::Damaged),
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                let is_damage = as_written.is_none() && has_impossible_codec(frame, &header);
                Ok(match misses_plugin(&frame.header, error.kind()) {
                    _ if is_damage => ChunkStatus::Damaged,
                    true => ChunkStatus::PluginMissing,
                    false => ChunkStatus::CodecUnknown,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Decodes the chunk `stored`.
    ///
    /// # Errors
    /// Those of decoding it, and of taking memory for that.
    pub fn decode(&mut self, stored: &[u8], limits: &Limits) -> Result<&[u8]> {
        let chunk = Chunk::parse(stored)?;
        let (decoder, room) = self.decoder(chunk.nbytes(), limits)?;
        decoder.decode(&chunk, room)?;
        Ok(room)
    }

    /// Returns the decoder, and room for `len` bytes.
    ///
    /// # Errors
    /// `Limit`.
    pub(super) fn decoder(&mut self, len: usize, limits: &Limits) -> Result<(&mut Decoder, &mut [u8])> {
        if self.room.len() < len {
            self.room = try_zeroed_vec(len as u64, limits)?;
        }
        Ok((&mut self.decoder, &mut self.room[..len]))
    }

    /// Finds a header with which the chunk `stored` matches its digest; without a digest the block size of the array, if the chunk
    /// decodes with it.
    fn repair_header(
        &mut self,
        frame: &RecoveredFrame,
        index: u64,
        stored: &[u8],
        header: &Header,
    ) -> Option<RepairedHeader> {
        for (head, what) in candidate_headers(frame, stored, header) {
            let mut repaired = RepairedHeader { head, what, evidence: Evidence::Digest };
            let whole = repaired.apply(stored);
            let is_of_array = frame.array.is_some() && whole.get(BLOCKSIZE) != stored.get(BLOCKSIZE);
            let is_proved = match &frame.digests {
                Some(digests) => digests.fit(index, &whole) == Some(true),
                None => is_of_array,
            };
            if is_proved && self.decode(&whole, &frame.limits).is_ok() {
                if frame.digests.is_none() {
                    repaired.evidence = Evidence::SecondCopy;
                }
                return Some(repaired);
            }
        }
        None
    }
}

/// Returns headers that the chunk may have had, with the lines of the report.
fn candidate_headers(frame: &RecoveredFrame, stored: &[u8], header: &Header) -> Vec<(Vec<u8>, String)> {
    let Some(head) = stored.get(..Header::MAX_LEN).filter(|_| !header.has_variable_blocks()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let own = &frame.header.filters;
    if header.filters != *own {
        let mut head = head.to_vec();
        for ((place, meta), filter) in FILTERS.zip(METAS).zip(&own.0) {
            (head[place], head[meta]) = (filter.id, filter.meta);
        }
        found.push((head, format!("filters corrected to {own} (found {})", header.filters)));
    }
    let block = frame.header.blocksize;
    let has_blocks = matches!(header.special(), None | Some(Special::Value));
    if has_blocks && (1..=header.nbytes).contains(&block) && head[BLOCKSIZE] != block.to_le_bytes() {
        let mut head = head.to_vec();
        head[BLOCKSIZE].copy_from_slice(&block.to_le_bytes());
        found.push((head, format!("blocksize corrected to {block} (found {})", header.blocksize)));
    }
    if header.special().is_none() && header.is_instrumented() {
        let mut head = head.to_vec();
        head[FLAGS] &= !INSTRUMENTED;
        found.push((head, "flag for measurements of a codec removed".to_owned()));
    }
    found
}

/// Whether the header names a codec or filter that no program can have written: numbers up to 31 are Blosc's own, and those up to 159
/// are plugins, which the header of the frame would name as well.
fn has_impossible_codec(frame: &RecoveredFrame, header: &Header) -> bool {
    let codec = match header.compressor.0 {
        6..=31 => true,
        41..=159 => frame.header.compressor != header.compressor,
        _ => false,
    };
    let is_impossible = |filter: Filter| {
        filter.is_unassigned() && (filter.id < 32 || !frame.header.filters.contains(filter.id))
    };
    codec || header.filters.filters().any(is_impossible)
}

//! Verifies chunks: decodes each, and compares it with its expected size and its digest.

use std::collections::BTreeMap;

use blosc_chunk::{Chunk, Decoder, Header, Special};
use container_core::source::try_zeroed_vec;
use container_core::{ErrorKind, Limits, Progress, Result};

use super::chunk_header::{RepairedHeader, has_impossible_codec};
use super::input::DamagedFrame;
use super::recovered_frame::RecoveredFrame;
use super::scan_chunks;
use crate::check::misses_plugin;
use crate::decoder_pool::has_nan;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};
use crate::writer::geometry;

/// Result of verifying a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkStatus {
    /// It decodes, and fits its size and digest.
    Intact,
    /// It is intact with the header in [`RecoveredFrame::repaired_headers`].
    HeaderRepaired,
    /// It is damaged, and an earlier version replaces it.
    Previous,
    /// Some of its blocks are intact; the others become zeros.
    Partial,
    /// Its codec or filter belongs to a missing plugin. It is copied.
    PluginMissing,
    /// Nothing decodes it, and no plugin that the frame names would. It is copied.
    CodecUnknown,
    /// It does not decode, or does not fit.
    Damaged,
    /// It was not found.
    NotFound,
}

impl RecoveredFrame {
    /// Decodes every chunk. The list is empty where all chunks are the same special value and none is stored.
    pub fn verify_chunks(
        &mut self,
        origin: &DamagedFrame,
        progress: Progress<'_>,
    ) -> Result<Vec<ChunkStatus>> {
        if matches!(self.offsets, Offsets::Same(Offset::Special(_), _)) {
            return Ok(Vec::new());
        }
        let count = self.count();
        self.limits.allocate(count)?;
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
        let statuses = (0..count).map(verify).collect::<Result<_>>()?;
        self.repaired_headers = verifier.repaired_headers;
        Ok(statuses)
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
    /// Chunks with repaired headers, by index.
    pub repaired_headers: BTreeMap<u64, RepairedHeader>,
}

impl ChunkVerifier {
    pub fn new(recovered: &RecoveredFrame) -> Self {
        let geometry = geometry(&recovered.header, &recovered.metalayers);
        Self {
            decoder: scan_chunks::decoder(geometry, &recovered.limits),
            room: Vec::new(),
            repaired_headers: BTreeMap::new(),
        }
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
                return Ok(repaired);
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
}

//! Proving chunks: each is decoded, and held against what it is to hold.

use std::collections::BTreeMap;

use blosc_chunk::{Chunk, Decoder, Header, Special};
use container_core::source::zeroed_vec;
use container_core::{ErrorKind, Limits, Progress, Result};

use super::chunk_header::{Healed, has_impossible_codec};
use super::input::Origin;
use super::recovered_frame::Collected;
use super::scan_chunks;
use crate::check::misses_plugin;
use crate::decoder_pool::has_nan;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};
use crate::writer::geometry;

/// What is known of a chunk after it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// It holds what it is to.
    Good,
    /// It does with the header that [`Collected::healed`] has for it.
    Healed,
    /// It does not; what stands in its place now was there before.
    Older,
    /// Some of its blocks do; the others become zeros.
    Partial,
    /// Its codec or filter is that of a plugin which is not here. It is copied.
    Unproved,
    /// Nothing decodes it, and no plugin that the frame names would. It is copied.
    Unknown,
    /// It does not.
    Bad,
    /// It was not found.
    Missing,
}

impl Collected {
    /// Decodes every chunk. Of chunks that are all alike and not stored nothing has to be proved, and the list is empty.
    pub fn prove(&mut self, origin: &Origin, progress: Progress<'_>) -> Result<Vec<Proof>> {
        if matches!(self.offsets, Offsets::Same(Offset::Special(_), _)) {
            return Ok(Vec::new());
        }
        let count = self.count();
        self.limits.allocate(count)?;
        let mut prover = Prover::new(self);
        let prove = |index: u64| {
            progress.tick(index, count)?;
            match self.offset(index) {
                None => Ok(Proof::Missing),
                // Whatever else it may be, it has a size.
                Some(Offset::Special(special)) => Ok(match self.expected_len(index) {
                    None if self.header.chunksize == ChunkSize::Variable => Proof::Bad,
                    _ if self.is_no_value(special) => Proof::Bad,
                    _ => Proof::Good,
                }),
                Some(Offset::Unknown(_)) => Ok(Proof::Bad),
                Some(Offset::Stored(at)) => prover.last(self, origin, index, at),
            }
        };
        let proofs = (0..count).map(prove).collect::<Result<_>>()?;
        self.healed = prover.healed;
        Ok(proofs)
    }

    /// NaN of elements that have none: nobody can read it.
    pub fn is_no_value(&self, special: Special) -> bool {
        special == Special::Nan && !has_nan(self.header.typesize)
    }
}

/// Decodes chunks one after the other.
pub(super) struct Prover {
    decoder: Decoder,
    room: Vec<u8>,
    /// Chunks whose headers are mended.
    pub healed: BTreeMap<u64, Healed>,
}

impl Prover {
    pub fn new(collected: &Collected) -> Self {
        let geometry = geometry(&collected.header, &collected.metalayers);
        Self {
            decoder: scan_chunks::decoder(geometry, &collected.limits),
            room: Vec::new(),
            healed: BTreeMap::new(),
        }
    }

    /// Proves the chunk at the offset `at` in the place `index`, for the last one that was there, of which digests are.
    pub fn last(&mut self, frame: &Collected, origin: &Origin, index: u64, at: u64) -> Result<Proof> {
        self.stored(frame, origin, index, at, true)
    }

    /// As [`Prover::last`], for one that was there before.
    pub fn older(&mut self, frame: &Collected, origin: &Origin, index: u64, at: u64) -> Result<Proof> {
        self.stored(frame, origin, index, at, false)
    }

    fn stored(
        &mut self,
        frame: &Collected,
        origin: &Origin,
        index: u64,
        at: u64,
        is_last: bool,
    ) -> Result<Proof> {
        let stored = match origin.bytes(frame.base, at) {
            Ok(stored) => stored,
            Err(error) if error.is_damage() => return Ok(Proof::Bad),
            Err(error) => return Err(error),
        };
        let header = Header::parse(&stored)?;
        let len = u64::from(header.nbytes);
        let fits = match (frame.expected_len(index), frame.header.chunksize) {
            (Some(expected), _) => len == expected,
            // The last one, of which nothing else tells how long it is.
            (None, ChunkSize::Fixed(most)) => len <= u64::from(most),
            _ => true,
        };
        if !fits {
            return Ok(Proof::Bad);
        }
        if origin.have(frame.base, at, stored.len()) < stored.len() {
            return Ok(Proof::Bad);
        }
        // Of an older one there is no digest.
        let as_written = frame.digests.as_ref().filter(|_| is_last).and_then(|it| it.fit(index, &stored));
        if is_last && as_written != Some(true) {
            if let Some(healed) = self.heal(frame, index, &stored, &header) {
                return Ok(healed);
            }
            if as_written.is_some() {
                return Ok(Proof::Bad);
            }
        }
        if header.special().is_some() {
            // The value is all there is of it, and 2 GiB of it say no more.
            return Ok(if Chunk::parse(&stored).is_ok() { Proof::Good } else { Proof::Bad });
        }
        // What fits its digest is as it was written.
        let is_overwritten =
            || as_written.is_none() && Chunk::parse(&stored).is_ok_and(|it| it.check_zeros().is_err());
        match self.decode(&stored, &frame.limits) {
            Ok(_) if is_overwritten() => Ok(Proof::Bad),
            Ok(_) => Ok(Proof::Good),
            Err(error) if error.is_damage() => Ok(Proof::Bad),
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                let is_damage = as_written.is_none() && has_impossible_codec(frame, &header);
                Ok(match misses_plugin(&frame.header, error.kind()) {
                    _ if is_damage => Proof::Bad,
                    true => Proof::Unproved,
                    false => Proof::Unknown,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// What the chunk `stored` holds.
    ///
    /// # Errors
    /// Those of decoding it, and of taking memory for that.
    pub fn decode(&mut self, stored: &[u8], limits: &Limits) -> Result<&[u8]> {
        let chunk = Chunk::parse(stored)?;
        let (decoder, room) = self.decoder(chunk.nbytes(), limits)?;
        decoder.decode(&chunk, room)?;
        Ok(room)
    }

    /// The decoder, and room for `len` bytes.
    ///
    /// # Errors
    /// `Limit`.
    pub(super) fn decoder(&mut self, len: usize, limits: &Limits) -> Result<(&mut Decoder, &mut [u8])> {
        if self.room.len() < len {
            self.room = zeroed_vec(len as u64, limits)?;
        }
        Ok((&mut self.decoder, &mut self.room[..len]))
    }
}

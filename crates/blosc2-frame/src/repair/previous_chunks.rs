//! Replaces damaged chunks by their earlier versions.

use std::collections::HashSet;
use std::ops::Range;

use container_core::{Progress, Result};

use super::input::DamagedFrame;
use super::previous_commits::PreviousCommits;
use super::recovered_frame::RecoveredFrame;
use super::verify_chunks::{ChunkStatus, ChunkVerifier};
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};

/// An earlier version that replaces a damaged chunk.
pub(super) struct PreviousChunk {
    /// Start of the damaged chunk, in bytes of the file.
    pub damaged: u64,
    /// Range of the earlier version; `None` where it is a mark in the index.
    pub range: Option<Range<u64>>,
}

impl RecoveredFrame {
    /// Replaces each damaged chunk by the latest intact version that an earlier index points to.
    ///
    /// The indexes of earlier commits give the offsets that each damaged place had, the latest first. The first one is taken whose
    /// chunk is intact, has the expected length and is not used elsewhere in the frame. A mark is taken unless chunks have
    /// variable sizes, or it is NaN for a typesize without one.
    pub fn restore_previous_chunks(
        &mut self,
        origin: &DamagedFrame,
        statuses: &mut [ChunkStatus],
        progress: Progress<'_>,
    ) -> Result<()> {
        let is_stored = |index: u64| !matches!(self.offset(index), Some(Offset::Special(_)) | None);
        let bad = (0_u64..)
            .zip(&*statuses)
            .filter(|(index, status)| **status == ChunkStatus::Damaged && is_stored(*index));
        let bad: Vec<u64> = bad.map(|(index, _)| index).collect();
        if bad.is_empty() || self.index.is_empty() {
            return Ok(());
        }
        let whole = (0_u64..)
            .zip(&*statuses)
            .filter(|(_, status)| matches!(**status, ChunkStatus::Intact | ChunkStatus::HeaderRepaired))
            .filter_map(|(index, _)| {
                let Some(Offset::Stored(at)) = self.offset(index) else { return None };
                origin.chunk_header(self.base, at).map(|(_, range)| range)
            });
        let commits = PreviousCommits::read(origin, self.base, &self.index, whole, &self.limits, progress)?;
        let mut numbers: Vec<i64> =
            (0..self.offsets.len()).map_while(|index| self.offsets.raw(index)).collect();
        // Chunks elsewhere in the frame, and damaged ones, are not older states of a chunk.
        let mut taken: HashSet<i64> = numbers.iter().copied().filter(|raw| *raw >= 0).collect();
        let mut verifier = ChunkVerifier::new(self);
        for (index, before) in bad.iter().copied().zip(commits.previous_offsets(&self.offsets, &bad)) {
            let place = usize::try_from(index).unwrap_or(usize::MAX);
            let damaged = match Offset::from_raw(numbers[place]) {
                Offset::Stored(at) => self.base.saturating_add(at),
                _ => self.index.start,
            };
            for raw in before {
                let is_whole = match Offset::from_raw(raw) {
                    Offset::Stored(at) => {
                        !taken.contains(&raw)
                            && verifier.verify_previous(self, origin, index, at)? == ChunkStatus::Intact
                    }
                    Offset::Special(special) => {
                        self.header.chunksize != ChunkSize::Variable && !self.is_undefined_nan(special)
                    }
                    Offset::Unknown(_) => false,
                };
                if !is_whole {
                    continue;
                }
                let range = match Offset::from_raw(raw) {
                    Offset::Stored(at) => origin.chunk_header(self.base, at).map(|(_, range)| range),
                    _ => None,
                };
                numbers[place] = raw;
                taken.insert(raw);
                statuses[place] = ChunkStatus::Previous;
                self.previous_chunks.insert(index, PreviousChunk { damaged, range });
                break;
            }
        }
        if !self.previous_chunks.is_empty() {
            self.offsets = Offsets::Each(numbers);
        }
        Ok(())
    }
}

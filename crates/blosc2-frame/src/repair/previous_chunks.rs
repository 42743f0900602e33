//! Older chunks in the places of those that are damaged.

use std::collections::HashSet;
use std::ops::Range;

use container_core::{Progress, Result};

use super::input::Origin;
use super::previous_commits::History;
use super::recovered_frame::Collected;
use super::verify_chunks::{Proof, Prover};
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};

/// A chunk that takes the place of a damaged one.
pub(super) struct Older {
    /// Where that begins which is damaged.
    pub damaged: u64,
    /// Where the older one is; `None` where it is a mark.
    pub range: Option<Range<u64>>,
}

impl Collected {
    /// Takes what was in the place of each damaged chunk before, where an older index leads to one that is whole. What is undamaged stays
    /// what it is.
    pub fn revive(&mut self, origin: &Origin, proofs: &mut [Proof], progress: Progress<'_>) -> Result<()> {
        let is_stored = |index: u64| !matches!(self.offset(index), Some(Offset::Special(_)) | None);
        let bad = (0_u64..).zip(&*proofs).filter(|(index, proof)| **proof == Proof::Bad && is_stored(*index));
        let bad: Vec<u64> = bad.map(|(index, _)| index).collect();
        if bad.is_empty() || self.index.is_empty() {
            return Ok(());
        }
        let whole = (0_u64..)
            .zip(&*proofs)
            .filter(|(_, proof)| matches!(**proof, Proof::Good | Proof::Healed))
            .filter_map(|(index, _)| {
                let Some(Offset::Stored(at)) = self.offset(index) else { return None };
                origin.chunk_header(self.base, at).map(|(_, range)| range)
            });
        let history = History::read(origin, self.base, &self.index, whole, &self.limits, progress)?;
        let mut numbers: Vec<i64> =
            (0..self.offsets.len()).map_while(|index| self.offsets.raw(index)).collect();
        // What the frame has elsewhere, and what is damaged, are no older states of a chunk.
        let mut taken: HashSet<i64> = numbers.iter().copied().filter(|raw| *raw >= 0).collect();
        let mut prover = Prover::new(self);
        for (index, before) in bad.iter().copied().zip(history.before(&self.offsets, &bad)) {
            let place = usize::try_from(index).unwrap_or(usize::MAX);
            let damaged = match Offset::from_raw(numbers[place]) {
                Offset::Stored(at) => self.base.saturating_add(at),
                _ => self.index.start,
            };
            for raw in before {
                let is_whole = match Offset::from_raw(raw) {
                    Offset::Stored(at) => {
                        !taken.contains(&raw) && prover.older(self, origin, index, at)? == Proof::Good
                    }
                    Offset::Special(special) => {
                        self.header.chunksize != ChunkSize::Variable && !self.is_no_value(special)
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
                proofs[place] = Proof::Older;
                self.older.insert(index, Older { damaged, range });
                break;
            }
        }
        if !self.older.is_empty() {
            self.offsets = Offsets::Each(numbers);
        }
        Ok(())
    }
}

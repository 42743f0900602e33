//! Previous commits: each commit by this crate leaves the index and the trailer of the one before it.
//!
//! An older state never replaces the last one, because that would undo intact changes. It only gives the chunk that was in the place
//! of a damaged one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use container_core::{Limits, Progress, Result};

use super::input::DamagedFrame;
use super::recovered_frame::{ChunkStatus, PreviousChunk, RecoveredFrame};
use super::scan_indexes::scan_indexes;
use super::verify_chunks::ChunkVerifier;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};

/// Offsets of older states that are kept at most: a commit for each of a million chunks would be half a billion squared.
const MAX_OFFSETS: u64 = 1 << 22;

/// Indexes of older states, the latest first.
#[derive(Default)]
pub(super) struct PreviousCommits(Vec<Offsets>);

impl PreviousCommits {
    /// Searches the bytes before the index `own`, but not the chunks that are `whole`: an index in these is that of a frame inside a frame.
    /// A damaged chunk may seem to reach over any.
    ///
    /// # Errors
    /// `Limit` where they do not fit `limits`, `Cancelled`, and those of the source.
    pub fn read(
        origin: &DamagedFrame,
        base: u64,
        own: &Range<u64>,
        whole: impl Iterator<Item = Range<u64>>,
        limits: &Limits,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let mut commits = Self::default();
        if origin.parts.is_some() || own.is_empty() {
            // The index of a sparse frame is always replaced.
            return Ok(commits);
        }
        let whole: BTreeMap<u64, u64> = whole.map(|range| (range.start, range.end)).collect();
        let is_free = |at: u64| whole.range(..=at).next_back().is_none_or(|(_, end)| *end <= at);
        let fits =
            |offsets: &Offsets, at: u64| is_free(at) && is_plausible_index(offsets, at.saturating_sub(base));
        let mut kept = 0;
        scan_indexes(&*origin.source, base..own.start, fits, limits, progress, |state| {
            kept += state.offsets.len();
            if kept > MAX_OFFSETS {
                return ControlFlow::Break(());
            }
            // Without a trailer after it, an index never was a committed state.
            if state.trailer.is_some() {
                commits.0.push(state.offsets);
            }
            ControlFlow::Continue(())
        })?;
        limits.allocate(kept.saturating_mul(8))?;
        Ok(commits)
    }

    /// Whether no older state was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the offsets that older states have.
    pub fn offsets(&self) -> HashSet<i64> {
        self.0.iter().flat_map(|offsets| (0..offsets.len()).map_while(|index| offsets.raw(index))).collect()
    }

    /// Returns for each place of `wanted` in `own` the offsets that older states had there, the latest first. A place is followed from
    /// state to state, by the nearest chunks on either side that both have; if the distance of these differs, the place is unknown.
    pub fn previous_offsets(&self, own: &Offsets, wanted: &[u64]) -> Vec<Vec<i64>> {
        let mut found = vec![Vec::new(); wanted.len()];
        let mut places: Vec<Option<u64>> = wanted.iter().copied().map(Some).collect();
        let mut newer = own;
        for older in &self.0 {
            let shared = shared(newer, older);
            for (place, found) in places.iter_mut().zip(&mut found) {
                let Some(at) = *place else { continue };
                let next = shared.partition_point(|(own, _)| *own < at);
                let behind = shared.get(next).copied();
                if let Some((_, old)) = behind.filter(|(own, _)| *own == at) {
                    *place = Some(old);
                    continue;
                }
                let before = next.checked_sub(1).and_then(|last| shared.get(last));
                let (from, old_from) = before.map_or((0, 0), |(own, old)| (own + 1, old + 1));
                let (to, old_to) = behind.unwrap_or((newer.len(), older.len()));
                let is_same = old_to.checked_sub(old_from) == Some(to - from);
                *place = is_same.then(|| old_from + (at - from));
                found.extend(place.and_then(|place| older.raw(place)));
            }
            newer = older;
        }
        found
    }
}

/// Returns the places of the stored chunks that two states share, in both, by the first.
fn shared(newer: &Offsets, older: &Offsets) -> Vec<(u64, u64)> {
    let (Offsets::Each(newer), Offsets::Each(older)) = (newer, older) else { return Vec::new() };
    let stored = |numbers: &[i64]| -> Vec<(i64, u64)> {
        numbers.iter().copied().zip(0..).filter(|(raw, _)| *raw >= 0).collect()
    };
    let places: HashMap<i64, u64> = stored(older).into_iter().collect();
    stored(newer).into_iter().filter_map(|(raw, own)| Some((own, *places.get(&raw)?))).collect()
}

/// Whether offsets are marks or different places in the `len` bytes before their index. Does not check that chunks are there: those that
/// later states share may be damaged.
pub(super) fn is_plausible_index(offsets: &Offsets, len: u64) -> bool {
    let is_place = |raw: i64| match Offset::from_raw(raw) {
        Offset::Stored(at) => at.checked_add(32).is_some_and(|end| end <= len),
        mark => matches!(mark, Offset::Special(_)) && mark.to_raw() == raw,
    };
    match offsets {
        Offsets::Same(offset, count) => {
            is_place(offset.to_raw()) && (*count == 1 || matches!(offset, Offset::Special(_)))
        }
        Offsets::Each(numbers) => {
            let mut seen = HashSet::new();
            !numbers.is_empty() && numbers.iter().all(|raw| is_place(*raw) && (*raw < 0 || seen.insert(*raw)))
        }
    }
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
            .filter(|(_, status)| matches!(status, ChunkStatus::Intact | ChunkStatus::HeaderRepaired(_)))
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
        let mut is_changed = false;
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
                statuses[place] = ChunkStatus::Previous(Box::new(PreviousChunk { damaged, range }));
                is_changed = true;
                break;
            }
        }
        if is_changed {
            self.offsets = Offsets::Each(numbers);
        }
        Ok(())
    }
}

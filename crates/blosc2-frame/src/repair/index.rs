//! Repairs the index: puts chunks to the places that digests give them, or that the chunks in the file leave open.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::try_zeroed_vec;
use container_core::{Limits, Progress, Result};

use super::frame_header::RecoveredHeader;
use super::input::DamagedFrame;
use super::previous_commits::PreviousCommits;
use super::scan_chunks::FoundChunks;
use super::scan_indexes::FrameState;
use crate::checksums::{self, Stored};
use crate::header::{ChunkSize, Header};
use crate::offsets::{Offset, Offsets};
use crate::trailer::Trailer;

/// Index entry of a chunk that was not found.
const NO_OFFSET: i64 = i64::MIN;

/// Parses the digests in the user metadata; `None` where there are none, or they are unreadable.
pub(super) fn parse_digests(trailer: &Trailer, limits: &Limits) -> Option<Stored> {
    let (_, bytes) = trailer.vlmetalayers.iter().find(|(name, _)| name == checksums::NAME)?;
    let chunk = Chunk::parse(bytes).ok()?;
    let mut value: Vec<u8> = try_zeroed_vec(chunk.nbytes() as u64, limits).ok()?;
    Decoder::new().with_limits(*limits).decode(&chunk, &mut value).ok()?;
    Stored::parse(&value, limits).ok()
}

/// Whether the digests belong to a frame with these offsets, by the `nbytes` of the header or by the number of chunks of one size.
pub(super) fn digests_match(stored: &Stored, header: &Header, offsets: &Offsets) -> bool {
    let by_size = match header.chunksize {
        ChunkSize::Fixed(len) => Some(offsets.len().saturating_mul(len.into())),
        _ => None,
    };
    [Some(header.nbytes), by_size].into_iter().flatten().any(|nbytes| stored.fits(offsets, nbytes))
}

/// Whether an index entry is a valid mark, or points to a chunk.
fn is_valid_offset(origin: &DamagedFrame, base: u64, raw: i64) -> bool {
    match Offset::from_raw(raw) {
        Offset::Stored(at) => origin.chunk_header(base, at).is_some(),
        mark => matches!(mark, Offset::Special(_)) && mark.to_raw() == raw,
    }
}

fn is_mark(raw: i64) -> bool {
    matches!(Offset::from_raw(raw), Offset::Special(_))
}

/// Offsets, and whether the chunk at each matches its digest.
struct PlacedChunks {
    numbers: Vec<i64>,
    fit: Vec<bool>,
}

/// A frame with an unreliable index, and the chunks found in it.
pub(super) struct ChunkOrder<'f> {
    pub origin: &'f DamagedFrame,
    pub head: &'f RecoveredHeader,
    pub found: &'f FoundChunks,
    pub limits: &'f Limits,
}

impl ChunkOrder<'_> {
    /// Returns the state that digests confirm: digests of the index `own` as stored, or of the chunks in the order of the
    /// digests.
    ///
    /// # Errors
    /// `Limit`, `Cancelled`, and those of the source.
    pub fn by_digest(
        &self,
        own: Option<&FrameState>,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<Option<FrameState>> {
        let Some((stored, trailer)) = self.digests(own) else { return Ok(None) };
        let header = &self.head.header;
        let is_own = own.is_some_and(|own| digests_match(&stored, header, &own.offsets));
        let numbers = match own.map(|own| &own.offsets) {
            Some(offsets @ Offsets::Each(numbers)) if is_own || offsets.len() == stored.count() as u64 => {
                numbers.clone()
            }
            Some(_) if is_own => return Ok(None),
            _ => vec![NO_OFFSET; stored.count()],
        };
        let mut placed = self.match_digests(&stored, numbers, progress)?;
        if !is_own {
            self.fill_unclaimed(&mut placed);
            let offsets = Offsets::Each(placed.numbers.clone());
            if offsets.is_empty() || !digests_match(&stored, header, &offsets) {
                return Ok(None);
            }
        }
        Ok(Some(self.state(own, placed, stored, trailer, report)))
    }

    /// As [`ChunkOrder::by_digest`] for chunks that were moved, so that no digest confirms their offsets: if the digests are as many as
    /// the chunks that the header counts, each chunk that matches one has its place. The others count as damaged.
    ///
    /// # Errors
    /// As for [`ChunkOrder::by_digest`].
    pub fn by_single_digests(
        &self,
        expected: Option<u64>,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<Option<FrameState>> {
        let Some((stored, trailer)) = self.digests(None) else { return Ok(None) };
        if expected != Some(stored.count() as u64) {
            return Ok(None);
        }
        let mut placed = self.match_digests(&stored, vec![NO_OFFSET; stored.count()], progress)?;
        if !placed.numbers.iter().zip(&placed.fit).any(|(raw, fit)| *fit && !is_mark(*raw)) {
            return Ok(None);
        }
        self.fill_unclaimed(&mut placed);
        Ok(Some(self.state(None, placed, stored, trailer, report)))
    }

    /// Creates the state with the chunks as placed, and reports the change.
    fn state(
        &self,
        own: Option<&FrameState>,
        placed: PlacedChunks,
        stored: Stored,
        trailer: (Trailer, Range<u64>),
        report: &mut RepairReport,
    ) -> FrameState {
        let by_header = || self.head.layout.as_ref().map_or(0..0, crate::Layout::index);
        let index = own.map_or_else(by_header, |own| own.index.clone());
        let offsets = Offsets::Each(placed.numbers);
        if own.is_none_or(|own| own.offsets != offsets) {
            let what = "order of the chunks: each where it matches its digest";
            let item = RepairItem::new(self.head.end..self.origin.len(), what);
            report.guessed.push(item.with_evidence(Evidence::Digest));
        }
        FrameState { offsets, index, trailer: Some(trailer), digests: Some(stored), cut: None }
    }

    /// Puts chunks that match the digest of a place into the places of `state` with an invalid offset, or with that of another chunk.
    ///
    /// # Errors
    /// As for [`ChunkOrder::by_digest`].
    pub fn fill_by_digest(
        &self,
        state: &mut FrameState,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<()> {
        let Offsets::Each(numbers) = &mut state.offsets else { return Ok(()) };
        let digests = state.trailer.as_ref().and_then(|(trailer, _)| parse_digests(trailer, self.limits));
        if let Some(stored) = digests.filter(|stored| stored.count() == numbers.len()) {
            let duplicates = duplicates(numbers);
            let placed = self.match_digests(&stored, numbers.clone(), progress)?;
            for (index, number) in numbers.iter_mut().enumerate() {
                let raw = placed.numbers[index];
                let is_bad =
                    duplicates.contains(number) || !is_valid_offset(self.origin, self.head.end, *number);
                if placed.fit[index] && is_bad && raw != *number {
                    *number = raw;
                    let what = format!(
                        "chunk {index}: offset corrected to that of the chunk that matches its digest"
                    );
                    let item = RepairItem::new(self.range(raw), what);
                    report.guessed.push(item.with_evidence(Evidence::Digest));
                }
            }
        }
        self.fix_duplicates(numbers, report);
        Ok(())
    }

    /// Repairs an index with several equal offsets, if as many chunks are in the file as it counts: takes them in their order, which has
    /// to fit the offsets that occur once.
    fn fix_duplicates(&self, numbers: &mut [i64], report: &mut RepairReport) {
        let duplicates = duplicates(numbers);
        let Offsets::Each(scanned) = &self.found.offsets else { return };
        if duplicates.is_empty() || self.origin.parts.is_some() {
            return;
        }
        let places: Vec<usize> = (0..numbers.len()).filter(|index| !is_mark(numbers[*index])).collect();
        let known: BTreeSet<i64> = scanned.iter().copied().collect();
        let fits = |(index, raw): (&usize, &i64)| {
            let own = numbers[*index];
            own == *raw || duplicates.contains(&own) || !known.contains(&own)
        };
        let base = self.head.end;
        if places.len() == scanned.len() && places.iter().zip(scanned).all(fits) {
            for (index, raw) in places.iter().zip(scanned) {
                numbers[*index] = *raw;
            }
            let what = "order of the chunks: as in the file, because the index has an offset twice";
            let item = RepairItem::new(base..self.origin.len(), what);
            report.guessed.push(item.with_evidence(Evidence::Walk));
            return;
        }
        let used: BTreeSet<i64> = numbers.iter().copied().collect();
        if known.iter().all(|raw| used.contains(raw)) {
            return;
        }
        for (index, raw) in (0_u64..).zip(&*numbers).filter(|(_, raw)| duplicates.contains(raw)) {
            let what = format!(
                "chunk {index}: doubtful, as another one has its offset and some chunks have no place"
            );
            report.lost.push(RepairItem::new(self.range(*raw), what));
        }
    }

    /// Puts chunks of the scan into the places of invalid offsets, if their assignment is unique: as many of them are unclaimed between
    /// the neighbours as are missing there, or one alone is left for one place. Chunks in the index of an older state are no candidates.
    /// If no chunk begins at an offset any more, the chunk is damaged and not the offset, and an unclaimed chunk next to it is a deleted
    /// one.
    pub fn fill_by_walk(&self, state: &mut FrameState, commits: &PreviousCommits, report: &mut RepairReport) {
        let (Offsets::Each(numbers), Offsets::Each(scanned), None) =
            (&mut state.offsets, &self.found.offsets, &self.origin.parts)
        else {
            return;
        };
        let base = self.head.end;
        let place = |raw: i64| -> Option<Range<u64>> {
            let Offset::Stored(at) = Offset::from_raw(raw) else { return None };
            self.origin.chunk_header(base, at).map(|(_, range)| range)
        };
        // Offsets of the chunks that the scan confirms, and those of them that are in the index.
        let known: BTreeMap<u64, Range<u64>> =
            scanned.iter().filter_map(|raw| place(*raw)).map(|range| (range.start, range)).collect();
        let confirmed = |raw: i64| place(raw).filter(|range| known.get(&range.start) == Some(range));
        let is_bad = |raw: &i64| {
            !is_valid_offset(self.origin, base, *raw)
                || matches!(Offset::from_raw(*raw), Offset::Stored(_)) && confirmed(*raw).is_none()
        };
        let bad: Vec<bool> = numbers.iter().map(is_bad).collect();
        let mut claimed: BTreeSet<u64> =
            numbers.iter().filter_map(|raw| confirmed(*raw)).map(|range| range.start).collect();
        let older =
            commits.offsets().into_iter().filter_map(|raw| base.checked_add(u64::try_from(raw).ok()?));
        claimed.extend(older);
        // The place of a former chunk whose header is damaged.
        let hole = |raw: i64| -> Option<u64> {
            let Offset::Stored(at) = Offset::from_raw(raw) else { return None };
            let at = base.checked_add(at)?;
            self.found.gaps.iter().any(|gap| gap.contains(&at)).then_some(at)
        };
        let mut set = |number: &mut i64, index: usize, range: Range<u64>, what: &str| {
            if let Ok(at) = i64::try_from(range.start - base) {
                *number = at;
                let what = format!("chunk {index}: offset corrected to that of {what}");
                report.guessed.push(RepairItem::new(range, what).with_evidence(Evidence::Walk));
            }
        };
        let mut first = 0;
        while first < numbers.len() {
            let len = bad[first..].iter().take_while(|bad| **bad).count();
            if len == 0 {
                first += 1;
                continue;
            }
            let before = numbers[..first].iter().rev().find_map(|raw| confirmed(*raw));
            let after = numbers[first + len..].iter().find_map(|raw| confirmed(*raw));
            let from = before.map_or(base, |range| range.end);
            let to = after.map_or(self.origin.len(), |range| range.start);
            let between: Vec<Range<u64>> = known
                .values()
                .filter(|range| !claimed.contains(&range.start) && range.start >= from && range.end <= to)
                .cloned()
                .collect();
            // If commits by this crate left indexes, a chunk in none of them may belong to any place, and the indexes determine more of a
            // damaged one.
            let is_other =
                |raw: &i64| hole(*raw).is_some_and(|at| !commits.is_empty() || (from..to).contains(&at));
            if between.len() == len && !numbers[first..first + len].iter().any(is_other) {
                for (index, range) in (first..).zip(between) {
                    claimed.insert(range.start);
                    set(&mut numbers[index], index, range, "the unclaimed chunk between its neighbours");
                }
            }
            first += len;
        }
        let is_lost = |raw: i64| !is_valid_offset(self.origin, base, raw) && hole(raw).is_none();
        let lost: Vec<usize> = (0..numbers.len()).filter(|index| is_lost(numbers[*index])).collect();
        let mut free = known.into_values().filter(|range| !claimed.contains(&range.start));
        if let ([index], Some(range), None) = (&lost[..], free.next(), free.next()) {
            set(&mut numbers[*index], *index, range, "the only chunk that no index has");
        }
    }

    fn range(&self, raw: i64) -> Range<u64> {
        let base = self.head.end;
        match Offset::from_raw(raw) {
            Offset::Stored(at) if self.origin.parts.is_none() => {
                self.origin.chunk_header(base, at).map_or(base..base, |(_, range)| range)
            }
            _ => base..base,
        }
    }

    /// Returns the digests, and the trailer that has them: that of `own`, which the header points to, or the last one.
    fn digests(&self, own: Option<&FrameState>) -> Option<(Stored, (Trailer, Range<u64>))> {
        let by_header = || {
            let layout = self.head.layout.as_ref()?;
            Some((layout.trailer().clone(), layout.trailer_range()))
        };
        let of = |found: Option<(Trailer, Range<u64>)>| {
            let found = found?;
            Some((parse_digests(&found.0, self.limits)?, found))
        };
        match own {
            Some(own) => of(own.trailer.clone()),
            None => of(by_header()).or_else(|| of(self.found.trailer.clone())),
        }
    }

    /// Assigns chunks to places by their digests.
    ///
    /// The digests of all candidates are computed once: of the chunks in the index, and of those that the scan found. A chunk that
    /// matches the digest of its own place stays. Each other place gets the first chunk that matches and has no place yet, or a mark
    /// for zeros if its digest is zeros. Places without a match stay as they are.
    fn match_digests(
        &self,
        stored: &Stored,
        numbers: Vec<i64>,
        progress: Progress<'_>,
    ) -> Result<PlacedChunks> {
        let mut wanted: HashMap<&[u8], VecDeque<i64>> = (0..stored.count())
            .filter_map(|index| stored.chunk(index))
            .map(|it| (it, VecDeque::new()))
            .collect();
        self.limits.allocate((stored.count() as u64).saturating_mul(64))?;
        let mut candidates: BTreeSet<i64> = numbers.iter().copied().filter(|raw| *raw >= 0).collect();
        if let Offsets::Each(scanned) = &self.found.offsets {
            candidates.extend(scanned);
        }
        let mut digests: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
        let count = candidates.len() as u64;
        for (done, raw) in (0_u64..).zip(candidates) {
            progress.tick(done, count)?;
            let Offset::Stored(at) = Offset::from_raw(raw) else { continue };
            let bytes = match self.origin.bytes(self.head.end, at) {
                Ok(bytes) => bytes,
                Err(error) if error.is_damage() => continue,
                Err(error) => return Err(error),
            };
            let digest = stored.algorithm().digest(&bytes);
            if let Some(fitting) = wanted.get_mut(digest.as_bytes()) {
                fitting.push_back(raw);
                digests.insert(raw, digest.as_bytes().to_vec());
            }
        }
        let mut placed = PlacedChunks { fit: vec![false; numbers.len()], numbers };
        let mut used = BTreeSet::new();
        for (index, raw) in placed.numbers.iter().enumerate() {
            if let (Some(own), Some(digest)) = (stored.chunk(index), digests.get(raw)) {
                placed.fit[index] = own == digest.as_slice() && used.insert(*raw);
            }
        }
        for index in 0..placed.numbers.len() {
            let Some(own) = stored.chunk(index).filter(|_| !placed.fit[index]) else { continue };
            let next = wanted.get_mut(own).and_then(|fitting| {
                while let Some(raw) = fitting.pop_front() {
                    if used.insert(raw) {
                        return Some(raw);
                    }
                }
                None
            });
            if let Some(raw) = next {
                placed.numbers[index] = raw;
                placed.fit[index] = true;
            } else if own.iter().all(|byte| *byte == 0) && !is_mark(placed.numbers[index]) {
                placed.numbers[index] = Offset::Special(blosc_chunk::Special::Zeros).to_raw();
                placed.fit[index] = true;
            }
        }
        Ok(placed)
    }

    /// Puts unclaimed chunks into the places with an invalid offset, or with that of another chunk, in order and if their numbers
    /// match.
    fn fill_unclaimed(&self, placed: &mut PlacedChunks) {
        let Offsets::Each(scanned) = &self.found.offsets else { return };
        let claimed: BTreeSet<i64> =
            placed.numbers.iter().zip(&placed.fit).filter(|(_, fit)| **fit).map(|(raw, _)| *raw).collect();
        let mut taken = claimed.clone();
        let is_open = |raw: i64, taken: &mut BTreeSet<i64>| {
            !is_mark(raw) && (!is_valid_offset(self.origin, self.head.end, raw) || !taken.insert(raw))
        };
        let open: Vec<usize> = (0..placed.numbers.len())
            .filter(|index| !placed.fit[*index] && is_open(placed.numbers[*index], &mut taken))
            .collect();
        let free: Vec<i64> = scanned.iter().copied().filter(|raw| !taken.contains(raw)).collect();
        if open.len() == free.len() {
            for (index, raw) in open.into_iter().zip(free) {
                placed.numbers[index] = raw;
            }
        } else {
            // A place with an offset of another chunk gets none.
            for index in open {
                placed.numbers[index] = NO_OFFSET;
            }
        }
    }
}

/// Offsets that occur more than once in an index.
fn duplicates(numbers: &[i64]) -> BTreeSet<i64> {
    let mut seen = BTreeSet::new();
    numbers.iter().copied().filter(|raw| *raw >= 0 && !seen.insert(*raw)).collect()
}

//! Restores the order of chunks by their digests, where the index is damaged.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::report::RepairReport;
use container_core::source::try_zeroed_vec;
use container_core::{Limits, Progress, Result};

use super::frame_header::RecoveredHeader;
use super::index::is_valid_offset;
use super::input::DamagedFrame;
use super::item;
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
    let name = digests_name(trailer, limits)?;
    trailer.vlmetalayers.iter().find(|(own, _)| own == name).and_then(|(_, bytes)| decoded(bytes, limits))
}

/// Returns the name of the digests among user metadata; one byte of it may be damaged.
pub(super) fn digests_name<'t>(trailer: &'t Trailer, limits: &Limits) -> Option<&'t str> {
    let is_near = |name: &str| {
        let others = checksums::NAME.bytes().zip(name.bytes()).filter(|(own, its)| own != its).count();
        name.len() == checksums::NAME.len() && others == 1
    };
    let all = &trailer.vlmetalayers;
    let own = all.iter().find(|(name, _)| name == checksums::NAME);
    let near = || all.iter().find(|(name, bytes)| is_near(name) && decoded(bytes, limits).is_some());
    own.or_else(near).map(|(name, _)| name.as_str())
}

fn decoded(bytes: &[u8], limits: &Limits) -> Option<Stored> {
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
    pub fn by_digest(&self, own: Option<&FrameState>, progress: Progress<'_>) -> Result<Option<FrameState>> {
        self.state(own, false, progress)
    }

    /// As [`ChunkOrder::by_digest`], where digests match at least half of the chunks.
    ///
    /// # Errors
    /// As for [`ChunkOrder::by_digest`].
    pub fn by_majority(
        &self,
        own: Option<&FrameState>,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<Option<FrameState>> {
        let state = self.state(own, true, progress)?;
        if state.is_some() {
            let what = "the order of the chunks: each where it fits its digest";
            report.guessed.push(item(self.head.end..self.origin.len(), what));
        }
        Ok(state)
    }

    fn state(
        &self,
        own: Option<&FrameState>,
        is_guess: bool,
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
            let fit = placed.fit.iter().filter(|fit| **fit).count();
            let is_likely = is_guess && 2 * fit >= placed.fit.len();
            if placed.numbers.is_empty()
                || !is_likely && !digests_match(&stored, header, &Offsets::Each(placed.numbers.clone()))
            {
                return Ok(None);
            }
        }
        let index = own.map_or_else(
            || self.head.layout.as_ref().map_or(0..0, crate::Layout::index),
            |own| own.index.clone(),
        );
        Ok(Some(FrameState {
            offsets: Offsets::Each(placed.numbers),
            index,
            trailer: Some(trailer),
            digests: Some(stored),
            cut: None,
        }))
    }

    /// Puts chunks that match the digest of a place into the places of `state` with an invalid offset, or with that of another chunk. If
    /// the digests do not fit the rest of the index the result is a guess.
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
                    let what = format!("chunk {index}: the one that fits its digest");
                    report.guessed.push(item(self.range(raw), what));
                }
            }
        }
        self.fix_duplicates(numbers, report);
        Ok(())
    }

    /// Repairs an index with several equal offsets, if as many chunks are in the file as it counts: takes them in their order, which has
    /// to fit the offsets that occur once.
    fn fix_duplicates(&self, numbers: &mut Vec<i64>, report: &mut RepairReport) {
        let duplicates = duplicates(numbers);
        let Offsets::Each(scanned) = &self.found.offsets else { return };
        if duplicates.is_empty() || self.origin.parts.is_some() {
            return;
        }
        let is_mark = |raw: i64| matches!(Offset::from_raw(raw), Offset::Special(_));
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
            let what =
                "the order of the chunks: that in which they lie, because the index has one of them twice";
            report.guessed.push(item(base..self.origin.len(), what));
            return;
        }
        let used: BTreeSet<i64> = numbers.iter().copied().collect();
        if known.iter().all(|raw| used.contains(raw)) {
            return;
        }
        for (index, raw) in (0_u64..).zip(&*numbers).filter(|(_, raw)| duplicates.contains(raw)) {
            let what = format!(
                "chunk {index}: the index leads another one here as well, and none to some that lie in the file"
            );
            report.guessed.push(item(self.range(*raw), what));
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
            let is_mark = matches!(Offset::from_raw(placed.numbers[index]), Offset::Special(_));
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
            } else if own.iter().all(|byte| *byte == 0) && !is_mark {
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
        let is_mark = |raw: i64| matches!(Offset::from_raw(raw), Offset::Special(_));
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

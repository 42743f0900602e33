//! Scans a frame for indexes (chunks of offsets) and the trailers that follow them.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use blosc_chunk::{Compressor, Special};
use container_core::source::Source;
use container_core::{Limits, Progress, Result};

use super::input::{DamagedFrame, header_at};
use crate::checksums::Stored;
use crate::offsets::{Offset, Offsets};
use crate::trailer::{self, Trailer};

/// Bytes that are looked through at a time.
const WINDOW_LEN: u64 = 1 << 20;

/// Candidates that are decoded at most: a file made for it could hold one at every byte.
const MAX_CANDIDATES: usize = 4096;

/// Bytes that candidates may decode to, in addition to a multiple of the file's own: 80 bytes can claim gigabytes of offsets.
const MAX_DECODED: u64 = 256 << 20;

/// State of a frame: the offsets of one index, with trailer and digests.
pub(super) struct FrameState {
    pub offsets: Offsets,
    /// Range of the index; empty for a reconstructed one.
    pub index: Range<u64>,
    pub trailer: Option<(Trailer, Range<u64>)>,
    /// Digests of the chunks, if they belong to this state.
    pub digests: Option<Stored>,
    /// End of the chunk within which the file ends; `None` where an index lists the chunks.
    pub cut: Option<u64>,
}

/// Finds the last index after byte `base` whose offsets all point to chunks.
pub(super) fn last_state(
    origin: &DamagedFrame,
    base: u64,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<Option<FrameState>> {
    let mut last = None;
    let fits = |offsets: &Offsets, at: u64| points_to_chunks(origin, base, offsets, at);
    scan_indexes(&*origin.source, base..origin.len(), fits, limits, progress, |state| {
        last = Some(state);
        ControlFlow::Break(())
    })?;
    Ok(last)
}

/// Passes the indexes that begin in `section` to `take`, the last first, if `fits` accepts their offsets and their place.
pub(super) fn scan_indexes(
    source: &dyn Source,
    section: Range<u64>,
    fits: impl Fn(&Offsets, u64) -> bool,
    limits: &Limits,
    progress: Progress<'_>,
    mut take: impl FnMut(FrameState) -> ControlFlow<()>,
) -> Result<()> {
    let mut tried = 0;
    let mut left = source.len().saturating_mul(8).saturating_add(MAX_DECODED);
    let mut end = section.end.min(source.len());
    let total = end.saturating_sub(section.start);
    while end > section.start && tried < MAX_CANDIDATES && left > 0 {
        progress.tick(total - (end - section.start), total)?;
        let start = end.saturating_sub(WINDOW_LEN).max(section.start);
        // Headers that begin in this window may end in the next.
        let behind = end.saturating_add(32).min(source.len());
        let bytes = source.read(start..behind)?;
        let here = usize::try_from(end - start).unwrap_or(usize::MAX).min(bytes.len());
        for at in (0..here).rev() {
            if !may_be_index(&bytes[at..]) {
                continue;
            }
            tried += 1;
            let found = state_at(source, start + at as u64, &fits, limits, &mut left);
            if found.is_some_and(|state| take(state).is_break()) {
                return Ok(());
            }
            if tried == MAX_CANDIDATES || left == 0 {
                break;
            }
        }
        end = start;
    }
    Ok(())
}

/// Whether the header is that of an index: version 5, a codec's first version, a long header, whole elements of 8 bytes.
fn may_be_index(bytes: &[u8]) -> bool {
    matches!(bytes, [5, 1, flags, 8, low, ..] if flags & 5 == 5 && low % 8 == 0)
}

/// Reads the state whose index is at byte `at`. Takes from `left` what it decodes; one that is larger is the last.
fn state_at(
    source: &dyn Source,
    at: u64,
    fits: impl Fn(&Offsets, u64) -> bool,
    limits: &Limits,
    left: &mut u64,
) -> Option<FrameState> {
    let (header, range) = header_at(source, at)?;
    let by_writer = header.compressor == Compressor::BLOSCLZ || header.is_memcpyed();
    if !by_writer && header.special().is_none() {
        return None;
    }
    limits.allocate(range.end - range.start).ok()?;
    // One value for all is not written out.
    if header.special().is_none() {
        *left = left.saturating_sub(header.nbytes.into());
    }
    let bytes = source.read(range.clone()).ok()?;
    let offsets = Offsets::decode(&bytes, None, limits).ok()?;
    if !fits(&offsets, at) {
        return None;
    }
    let trailer = trailer_at(source, range.end, limits);
    Some(FrameState { offsets, index: range, trailer, digests: None, cut: None })
}

/// Whether all offsets are marks, or point to different chunks before byte `before`.
pub(super) fn points_to_chunks(origin: &DamagedFrame, base: u64, offsets: &Offsets, before: u64) -> bool {
    let is_chunk = |offset: Offset| match offset {
        Offset::Special(special) => special != Special::Value,
        Offset::Unknown(_) => false,
        Offset::Stored(at) => match origin.chunk_header(base, at) {
            Some((_, range)) => origin.parts.is_some() || range.end <= before,
            None => false,
        },
    };
    match offsets {
        Offsets::Same(offset @ Offset::Special(_), _) => is_chunk(*offset),
        Offsets::Same(offset, count) => *count == 1 && is_chunk(*offset),
        Offsets::Each(numbers) => {
            let mut seen = HashSet::new();
            let is_new = |raw: i64, seen: &mut HashSet<i64>| raw < 0 || seen.insert(raw);
            !numbers.is_empty()
                && numbers.iter().all(|raw| {
                    // Further bits of a mark are ignored.
                    let offset = Offset::from_raw(*raw);
                    is_new(*raw, &mut seen) && is_chunk(offset) && offset.to_raw() == *raw
                })
        }
    }
}

/// Returns the trailer that begins at byte `at`, by its own length.
pub(super) fn trailer_at(source: &dyn Source, at: u64, limits: &Limits) -> Option<(Trailer, Range<u64>)> {
    let mut head = [0; 4];
    source.read_into(at, &mut head).ok()?;
    if head != [0x94, 0x01, 0x93, 0xcd] {
        return None;
    }
    let room = source.len().min(at.saturating_add(u32::MAX.into()));
    limits.allocate(room - at).ok().filter(|_| room > at)?;
    let bytes = source.read(at..room).ok()?;
    let len = trailer::len_from_start(&bytes)?;
    let range = at..at.checked_add(len as u64)?;
    Trailer::parse(bytes.get(..len)?, at).ok().map(|trailer| (trailer, range))
}

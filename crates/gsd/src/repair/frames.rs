//! Detection of incomplete frames.
//!
//! Data lie in the file in the order in which they were written. A chunk whose entry is lost therefore leaves a gap between
//! chunks of its own frame, or between those of the frames around it; a frame is held against its neighbours only there.

use std::collections::BTreeSet;
use std::ops::Range;

use container_core::Result;

use super::damaged_file::{DamagedFile, PAST_END};
use super::entries::{DroppedEntry, InvalidSlots};
use crate::index::IndexEntry;

/// Frames on either side among which one is looked for that nothing is wrong with.
const MAX_NEIGHBOURS: usize = 64;

/// Bytes that no chunk and no known block uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) range: Range<u64>,
    /// Frame of the chunk before; `None` before the first.
    pub(super) before: Option<u64>,
    /// Frame of the chunk behind; `None` behind the last.
    pub(super) behind: Option<u64>,
}

/// The gaps of the file, in order.
pub(super) fn gaps(
    damaged: &DamagedFile<'_>,
    entries: &[IndexEntry],
    blocks: &[Range<u64>],
) -> Result<Vec<Gap>> {
    damaged.limits.allocate((entries.len() as u64).saturating_mul(24))?;
    let chunks = entries.iter().filter_map(|entry| Some((entry.byte_range()?, Some(entry.frame))));
    let mut used: Vec<(Range<u64>, Option<u64>)> = chunks
        .chain(blocks.iter().map(|block| (block.clone(), None)))
        .filter(|(range, _)| !range.is_empty())
        .collect();
    used.sort_unstable_by_key(|(range, frame)| (range.start, *frame));
    let mut gaps: Vec<Gap> = Vec::new();
    let mut unfinished = 0;
    let (mut at, mut before) = (0, None);
    for (range, frame) in used {
        if range.start > at {
            gaps.push(Gap { range: at..range.start, before, behind: None });
        }
        if frame.is_some() {
            gaps[unfinished..].iter_mut().for_each(|gap| gap.behind = frame);
            unfinished = gaps.len();
            before = frame;
        }
        at = at.max(range.end);
    }
    if at < damaged.len {
        gaps.push(Gap { range: at..damaged.len, before, behind: None });
    }
    Ok(gaps)
}

/// Frames that lost some or all of their chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IncompleteFrames {
    /// Frames that lack chunks.
    pub(super) partial: BTreeSet<u64>,
    /// Frames that have none left; in order, apart from one another.
    pub(super) gone: Vec<Range<u64>>,
}

/// Evidence that frames lost chunks.
pub(super) struct LossEvidence<'s> {
    pub(super) invalid_slots: &'s [InvalidSlots],
    pub(super) dropped: &'s [DroppedEntry],
    pub(super) unsorted: u64,
    pub(super) cut: &'s BTreeSet<u64>,
}

/// The frames that lack something. Where nothing is known to be lost, gaps are no sign: dead copies and padding leave them, too.
pub(super) fn incomplete_frames(
    damaged: &DamagedFile<'_>,
    entries: &[IndexEntry],
    gaps: &[Gap],
    evidence: &LossEvidence<'_>,
    hoomd: bool,
) -> Result<IncompleteFrames> {
    let mut incomplete_frames = IncompleteFrames::default();
    if evidence.invalid_slots.is_empty() && evidence.dropped.is_empty() && evidence.unsorted == 0 {
        return Ok(incomplete_frames);
    }
    incomplete_frames.partial.extend(evidence.cut);
    let mut gone: Vec<(u64, u64)> = Vec::new();
    let lost = evidence.dropped.iter().filter(|dropped| !dropped.replaced);
    let mut touched: BTreeSet<u64> = lost.map(|dropped| dropped.entry.frame).collect();
    for invalid in evidence.invalid_slots {
        touched.insert(invalid.frames.0);
        if let Some(behind) = invalid.frames.1 {
            touched.insert(behind);
            gone.push((invalid.frames.0, behind));
        }
    }
    for gap in gaps {
        let (Some(before), Some(behind)) = (gap.before, gap.behind) else { continue };
        if is_padding(damaged, &gap.range)? {
            continue;
        }
        if before == behind && !is_block(damaged, &gap.range)? {
            incomplete_frames.partial.insert(before);
        }
        touched.extend([before, behind]);
        if before < behind {
            gone.push((before, behind));
        }
    }
    let starts = starts(entries);
    let frame_of = |start: &usize| entries.get(*start).map_or(0, |entry| entry.frame);
    let mut unproved: BTreeSet<u64> = BTreeSet::new();
    for frame in &touched {
        let Ok(at) = starts.binary_search_by_key(frame, frame_of) else {
            // All that it had was dropped.
            if *frame > 0 && starts.last().is_some_and(|last| *frame < frame_of(last)) {
                gone.push((*frame - 1, *frame + 1));
            }
            continue;
        };
        // Frame 0 of the schema holds what later frames do not repeat.
        let model = |at: &usize| *at > 0 || !hoomd;
        let sound = |at: &usize| {
            model(at) && starts.get(*at).is_some_and(|start| !touched.contains(&frame_of(start)))
        };
        let before = || (0..at).rev().take(MAX_NEIGHBOURS);
        let behind = || (at + 1..starts.len()).take(MAX_NEIGHBOURS);
        let nearest =
            [before().find(sound).or(before().find(model)), behind().find(sound).or(behind().find(model))];
        let own = frame_set(entries, &starts, at);
        let ids = |frame: &[IndexEntry]| frame.iter().map(|entry| entry.id).collect::<Vec<_>>();
        let same = |other: usize| ids(frame_set(entries, &starts, other)) == ids(own);
        // To look alike and not be whole, one would have to lack at its end what the other lacks at its beginning.
        if !nearest.into_iter().flatten().any(|other| sound(&other) || same(other)) {
            unproved.insert(*frame);
        }
        let part =
            nearest.into_iter().flatten().any(|other| is_part(own, frame_set(entries, &starts, other)));
        if at > 0 && part {
            incomplete_frames.partial.insert(*frame);
        }
    }
    for (before, behind) in gone {
        let next = starts.partition_point(|start| frame_of(start) <= before);
        let there = starts.get(next).map_or(behind, frame_of).min(behind);
        if before.saturating_add(1) < there {
            incomplete_frames.gone.push(before.saturating_add(1)..there);
        }
    }
    incomplete_frames.gone.sort_unstable_by_key(|gone| (gone.start, gone.end));
    // Each starts behind a frame with entries and ends at the next one, or before it.
    incomplete_frames.gone.dedup_by(|later, kept| {
        let same = later.start <= kept.end;
        if same {
            kept.end = kept.end.max(later.end);
        }
        same
    });
    for invalid in evidence.invalid_slots.iter().filter(|invalid| invalid.why != PAST_END) {
        let (first, last) = (invalid.frames.0, invalid.frames.1.unwrap_or(invalid.frames.0));
        // With nothing to hold them against, frames beside a lost entry are not proved; and some frame lacks it.
        incomplete_frames
            .partial
            .extend([first, last].into_iter().filter(|frame| *frame > 0 && unproved.contains(frame)));
        let gone = incomplete_frames.gone.partition_point(|gone| gone.end <= first);
        let gone = incomplete_frames.gone.get(gone).is_some_and(|gone| gone.start <= last);
        if invalid.frames.1.is_some()
            && !gone
            && incomplete_frames.partial.range(first..=last).next().is_none()
        {
            incomplete_frames.partial.insert(first);
            if first > 0 {
                incomplete_frames.partial.insert(last);
            }
        }
    }
    Ok(incomplete_frames)
}

/// Positions of the first entry of each frame.
pub(super) fn starts(entries: &[IndexEntry]) -> Vec<usize> {
    let mut at = 0;
    let frames = entries.chunk_by(|a, b| a.frame == b.frame);
    frames
        .map(|frame| {
            at += frame.len();
            at - frame.len()
        })
        .collect()
}

/// The entries of the frame that is number `at` of those with entries.
pub(super) fn frame_set<'e>(entries: &'e [IndexEntry], starts: &[usize], at: usize) -> &'e [IndexEntry] {
    let Some(start) = starts.get(at) else { return &[] };
    &entries[*start..starts.get(at + 1).copied().unwrap_or(entries.len())]
}

/// True where the names of one frame, sorted, are some of those of another, but not all.
pub(super) fn is_part(one: &[IndexEntry], other: &[IndexEntry]) -> bool {
    let mut rest = other.iter().map(|entry| entry.id);
    one.len() < other.len() && one.iter().all(|entry| rest.any(|id| id == entry.id))
}

/// True for the zeros that writers put between chunks to align them.
pub(super) fn is_padding(damaged: &DamagedFile<'_>, range: &Range<u64>) -> Result<bool> {
    Ok(range.end - range.start < 4096 && damaged.read(range.clone())?.iter().all(|byte| *byte == 0))
}

/// True for what an index or namelist that has moved leaves behind.
pub(super) fn is_block(damaged: &DamagedFile<'_>, range: &Range<u64>) -> Result<bool> {
    let head = damaged.read(range.start..range.end.min(range.start.saturating_add(64)))?;
    let entry = head.first_chunk().map(|bytes| IndexEntry::from_bytes(bytes, damaged.order()));
    let is_entry = entry.is_some_and(|entry| damaged.entry_problem(&entry, None).is_none());
    let name = head.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(is_entry || (name.len() >= 3 && super::names::is_readable(name)))
}

/// Sorts ranges of frames, and makes one of those that meet.
pub(super) fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|later, kept| {
        let meets = later.start <= kept.end;
        if meets {
            kept.end = kept.end.max(later.end);
        }
        meets
    });
    ranges
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

//! Report of a repair, with runs of neighbours as one item.

use std::ops::Range;

use container_core::Result;
use container_core::report::{Evidence, RepairItem};

use super::damaged_file::DamagedFile;
use super::entries::{DroppedEntry, InvalidSlots};
use crate::header::{self, Header};
use crate::index::IndexEntry;

/// Lines about things of one kind; the last one stands for all that follow.
const MAX_LINES: usize = 1000;

/// Frames, put together as far as their numbers follow one another.
pub(super) struct Frames {
    one: &'static str,
    several: &'static str,
    runs: Vec<(u64, u64, Range<u64>, u64)>,
}

impl Frames {
    pub(super) fn new(one: &'static str, several: &'static str) -> Self {
        Self { one, several, runs: Vec::new() }
    }

    /// Adds a chunk; frames come in order.
    pub(super) fn add(&mut self, entry: &IndexEntry) {
        let range = entry.byte_range().unwrap_or(0..0);
        let full = self.runs.len() >= MAX_LINES;
        match self.runs.last_mut() {
            Some((_, last, bytes, chunks)) if full || entry.frame <= last.saturating_add(1) => {
                *last = entry.frame.max(*last);
                *bytes = bytes.start.min(range.start)..bytes.end.max(range.end);
                *chunks += 1;
            }
            _ => self.runs.push((entry.frame, entry.frame, range, 1)),
        }
    }

    pub(super) fn items(self) -> Vec<RepairItem> {
        let Self { one, several, runs } = self;
        let item = |(first, last, bytes, chunks): (u64, u64, Range<u64>, u64)| {
            let (frames, end) = if first == last {
                (format!("frame {first}"), one)
            } else {
                (format!("frames {first} to {last}"), several)
            };
            let noun = if chunks == 1 { "chunk" } else { "chunks" };
            let comma = if end.is_empty() { "" } else { ", " };
            RepairItem::new(bytes, format!("{frames}, {chunks} {noun}{comma}{end}"))
        };
        runs.into_iter().map(item).collect()
    }
}

/// Lists the structures that the new file is based on.
pub(super) fn kept_structures(header: &Header, names: &[Vec<u8>]) -> Vec<RepairItem> {
    let schema = header.schema_name();
    vec![RepairItem::new(0..header::LEN, format!("header, schema {schema:?}, {} names", names.len()))]
}

/// Slots of the index that hold no entry.
pub(super) fn invalid_slots(invalid_slots: &[InvalidSlots]) -> Vec<RepairItem> {
    let mut lines: Vec<(Range<u64>, &'static str, u64)> = Vec::new();
    for invalid in invalid_slots {
        match lines.last_mut() {
            Some((range, why, slots))
                if (*why == invalid.why && range.end == invalid.range.start) || lines_full(invalid_slots) =>
            {
                range.end = range.end.max(invalid.range.end);
                *slots += invalid.slots();
            }
            _ => lines.push((invalid.range.clone(), invalid.why, invalid.slots())),
        }
    }
    lines
        .into_iter()
        .map(|(range, why, slots)| RepairItem::new(range, format!("{slots} index entries: {why}")))
        .collect()
}

fn lines_full(invalid_slots: &[InvalidSlots]) -> bool {
    invalid_slots.len() > MAX_LINES
}

/// Entries that made sense only by themselves.
pub(super) fn dropped(dropped: &[DroppedEntry], names: &[Vec<u8>]) -> Vec<RepairItem> {
    let line = |dropped: &DroppedEntry| {
        let entry = &dropped.entry;
        let name = names.get(usize::from(entry.id)).map(|name| String::from_utf8_lossy(name));
        let what = format!("{} of frame {}: {}", name.unwrap_or_default(), entry.frame, dropped.why);
        RepairItem::new(entry.byte_range().unwrap_or(0..0), what)
    };
    let mut lines: Vec<RepairItem> = dropped.iter().take(MAX_LINES).map(line).collect();
    if let Some(rest) = dropped.get(MAX_LINES..).filter(|rest| !rest.is_empty()) {
        lines.push(RepairItem::of_file(format!("{} more chunks", rest.len())));
    }
    lines
}

/// Frames without an entry.
pub(super) fn lost_frames(frames: &Range<u64>) -> RepairItem {
    let last = frames.end.saturating_sub(1);
    let what = if frames.start == last {
        format!("frame {last}: no entry is left")
    } else {
        format!("frames {} to {last}: no entry is left", frames.start)
    };
    RepairItem::of_file(what)
}

/// Frames that no entry is left of, whose data seem to be there.
pub(super) fn missing(frames: &Range<u64>, bytes: Range<u64>) -> RepairItem {
    let what = format!(
        "{}, and their {} bytes cannot be separated",
        lost_frames(frames).what,
        bytes.end - bytes.start
    );
    RepairItem::new(bytes, what)
}

/// Data of frames that are known to be gone.
pub(super) fn lost_frame_data(range: Range<u64>) -> RepairItem {
    let len = range.end - range.start;
    RepairItem::new(range, format!("{len} bytes between frames that no entry describes"))
}

/// Frames that were found between others.
pub(super) fn between(entries: &[IndexEntry], frames: &Range<u64>, range: Range<u64>) -> RepairItem {
    let last = frames.end.saturating_sub(1);
    let what = format!(
        "frames {} to {last}, {} chunks: no entry is left, found by the form of the frames before",
        frames.start,
        entries.len()
    );
    RepairItem::new(range, what).with_evidence(Evidence::CommittedFrame)
}

/// Reports the form that was assumed for the first of some frames.
pub(super) fn form(entries: &[IndexEntry], names: &[Vec<u8>]) -> RepairItem {
    let frame = entries.chunk_by(|a, b| a.frame == b.frame).next().unwrap_or_default();
    let listed = frame.iter().filter_map(|entry| names.get(usize::from(entry.id)));
    let listed: Vec<_> = listed.take(32).map(|name| String::from_utf8_lossy(name)).collect();
    let range = frame.iter().filter_map(IndexEntry::byte_range);
    let range = range.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
    let what = format!("no committed frame has the form of later ones: {}", listed.join(", "));
    RepairItem::new(range, what).with_evidence(Evidence::Walk)
}

pub(super) fn unsorted(count: u64, index: Range<u64>) -> RepairItem {
    RepairItem::new(index, format!("entries in order, {count} were not")).with_evidence(Evidence::Walk)
}

pub(super) fn unlisted_bytes(range: Range<u64>) -> RepairItem {
    let len = range.end - range.start;
    RepairItem::new(range, format!("{len} bytes after the last frame that no entry describes"))
}

pub(super) fn unused_bytes(range: Range<u64>) -> RepairItem {
    let len = range.end - range.start;
    let what = format!("{len} bytes that belong to no frame: left out");
    RepairItem::new(range, what).with_evidence(Evidence::Index)
}

pub(super) fn old_index_copy(range: Range<u64>) -> RepairItem {
    let len = range.end - range.start;
    let what = format!("{len} bytes of a copy of the index from an interrupted writer: left out");
    RepairItem::new(range, what).with_evidence(Evidence::SecondCopy)
}

/// Whether any byte of a range is not zero.
pub(super) fn holds_something(damaged: &DamagedFile<'_>, range: &Range<u64>) -> Result<bool> {
    for window in damaged.windows(range.clone(), 0) {
        if window?.1.iter().any(|byte| *byte != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

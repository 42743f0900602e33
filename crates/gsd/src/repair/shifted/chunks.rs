//! Bytes inserted or deleted among the chunks: everything after them is shifted.
//!
//! Values carry no digest, but the step goes on rising from frame to frame. Where at some frame it no longer does, and does for that
//! frame and all that follow as many bytes further on as the file is too long, or before as it is too short, they are read there. The
//! frame before lost or got bytes somewhere within, and goes. So does the frame itself, unless its step is as far from the one before
//! as that was: its first bytes may be the ones.

use std::ops::{Range, RangeInclusive};

use container_core::Result;
use container_core::report::RepairItem;

use super::namelist;
use crate::hoomd;
use crate::index::IndexEntry;
use crate::repair::damaged_file::DamagedFile;
use crate::repair::entries::DroppedEntry;
use crate::repair::value_model::scalar;
use crate::repair::{name_recovery, schema_hints};

/// Greatest growth of a step, as a multiple of the largest earlier difference. Steps that are read one byte off grow 256-fold.
const MAX_STEP_STRIDES: i128 = 64;

/// The first frame whose chunks are shifted, and the shift in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::repair) struct ShiftedChunks {
    /// The frames that the bytes are missing from, or too many in.
    torn: RangeInclusive<u64>,
    by: i64,
}

/// Whether chunks were moved; `entries` are sorted.
pub(in crate::repair) fn find(
    damaged: &DamagedFile<'_>,
    entries: &[IndexEntry],
) -> Result<Option<ShiftedChunks>> {
    let Some(end) = namelist::claimed_end(damaged)?.filter(|_| damaged.header.schema_name() == hoomd::SCHEMA)
    else {
        return Ok(None);
    };
    let by = i64::try_from(damaged.len).ok().zip(i64::try_from(end).ok());
    let by = by
        .and_then(|(len, end)| len.checked_sub(end))
        .filter(|by| *by != 0 && by.abs() <= namelist::MAX_SHIFT);
    let first = entries.iter().filter_map(IndexEntry::byte_range).filter(|range| !range.is_empty());
    let first = first.map(|range| range.start).min();
    let blocks = [damaged.header.index_range(), damaged.header.namelist_range()];
    let is_before =
        |first: u64| blocks.iter().all(|block| block.as_ref().is_some_and(|one| one.end <= first));
    let (Some(by), true) = (by, first.is_some_and(is_before)) else { return Ok(None) };
    let listed = name_recovery::at_header_offset(damaged, 0)?.map(|found| found.names).unwrap_or_default();
    let listed: Vec<Vec<u8>> = listed.into_iter().map(Option::unwrap_or_default).collect();
    let Some(step) = schema_hints::chunk_roles(&listed).step else { return Ok(None) };
    let mut steps = entries.iter().filter(|entry| entry.id == step);
    let (mut last, mut most, mut stride): (Option<(u64, i128)>, i128, i128) = (None, 0, 0);
    let next = |last: i128, most: i128, value: Option<i128>| {
        value.filter(|value| *value > last && value - last <= most.saturating_mul(MAX_STEP_STRIDES))
    };
    let mut moved = None;
    for entry in steps.by_ref() {
        let value = scalar(damaged, entry)?;
        let (frame, before) = match (last, value) {
            (Some(last), _) => last,
            (None, Some(value)) => {
                last = Some((entry.frame, value));
                continue;
            }
            (None, None) => return Ok(None),
        };
        match value {
            // Of the first two nothing tells how far they may be apart.
            Some(value) if most == 0 && value > before => most = value - before,
            _ if next(before, most, value).is_none() => {
                moved = Some((frame, entry));
                break;
            }
            Some(value) => most = most.max(value - before),
            None => return Ok(None),
        }
        stride = value.unwrap_or(before) - before;
        last = value.map(|value| (entry.frame, value));
    }
    let (Some((torn, first)), Some((_, mut before))) = (moved.filter(|(torn, _)| *torn > 0), last) else {
        return Ok(None);
    };
    let mut torn = torn..=first.frame;
    let mut is_shown = false;
    for entry in std::iter::once(first).chain(steps) {
        let there = IndexEntry { location: entry.location.saturating_add(by), ..*entry };
        let value = next(before, most, scalar(damaged, &there)?);
        if entry == first {
            // Of its own step bytes may be missing.
            if value.is_none_or(|value| value - before != stride) {
                continue;
            }
            torn = *torn.start()..=first.frame - 1;
        }
        let Some(value) = value else { return Ok(None) };
        is_shown = true;
        most = most.max(value - before);
        before = value;
    }
    if !is_shown {
        return Ok(None);
    }
    Ok(Some(ShiftedChunks { torn, by }))
}

impl ShiftedChunks {
    /// Moves the places of chunks; gives those of the frame that goes.
    pub(in crate::repair) fn apply(&self, entries: &mut Vec<IndexEntry>) -> Vec<DroppedEntry> {
        let why = "a frame that bytes were put into, or taken out of";
        let torn = entries.extract_if(.., |entry| self.torn.contains(&entry.frame));
        let dropped = torn.map(|entry| DroppedEntry { entry, why, replaced: false }).collect();
        for entry in entries.iter_mut().filter(|entry| entry.frame > *self.torn.end()) {
            entry.location = entry.location.saturating_add(self.by);
        }
        dropped
    }

    /// The bytes that no frame is to be looked for in, because those of the torn ones are there.
    pub(in crate::repair) fn torn_bytes(
        &self,
        dropped: &[DroppedEntry],
        entries: &[IndexEntry],
        len: u64,
    ) -> Range<u64> {
        let torn = dropped.iter().filter(|dropped| self.torn.contains(&dropped.entry.frame));
        let start = torn.filter_map(|dropped| dropped.entry.byte_range()).map(|range| range.start).min();
        let behind = entries.iter().filter(|entry| entry.frame > *self.torn.end());
        let end = behind.filter_map(IndexEntry::byte_range).map(|range| range.start).min();
        let (start, end) = (start.unwrap_or(len), end.unwrap_or(len).min(len));
        start.min(end)..end
    }

    /// Reports the shift.
    pub(in crate::repair) fn report(&self, damaged: &DamagedFile<'_>, entries: &[IndexEntry]) -> RepairItem {
        let behind =
            entries.iter().filter(|entry| entry.frame > *self.torn.end()).filter_map(IndexEntry::byte_range);
        let start = behind.map(|range| range.start).min().unwrap_or(damaged.len);
        let (len, place, is) =
            if self.by > 0 { (self.by, "behind", "long") } else { (-self.by, "before", "short") };
        let what = format!(
            "the chunks behind frame {} lie {len} bytes {place} their place, as many as the file is too {is}: there the step goes on \
             rising, and where the index says it does not",
            self.torn.end()
        );
        RepairItem::new(start.min(damaged.len)..damaged.len, what)
    }
}

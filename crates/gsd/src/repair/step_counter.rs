//! Evidence that bytes are a frame: its step continues that of the committed frames, and its chunks reached the disk.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use container_core::Result;
use container_core::dtype::ByteOrder;
use container_core::write::sectors::SECTOR;

use super::damaged_file::DamagedFile;
use crate::ChunkType;
use crate::index::IndexEntry;

/// Greatest growth of a step, as a multiple of the largest difference between committed steps. Programs change their period; steps that
/// are read one byte off grow 256-fold within two frames.
const MAX_STEP_STRIDES: i128 = 1024;

/// Greatest growth of a step after a single committed frame.
const MAX_FIRST_STRIDE: i128 = 1 << 32;

/// Least size, in bytes, of a number that counts frames: of a shorter one every other value would be the next.
const MIN_COUNTER_LEN: u64 = 4;

/// Least length of a chunk, in bytes, that is unwritten if it is all zero: shorter ones may hold zeros.
const MIN_UNWRITTEN_LEN: u64 = 12;

/// A chunk of one integer that rises from frame to frame, such as `configuration/step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepCounter {
    pub(super) id: u16,
    last: i128,
    least: i128,
    most: i128,
}

impl StepCounter {
    /// Finds the number that rises in `frames` of entries: the step of the schema, else the first name that has one value in each of
    /// several frames. After two frames alone it has to continue by the same difference.
    pub(super) fn find(
        damaged: &DamagedFile<'_>,
        frames: &[&[IndexEntry]],
        step: Option<u16>,
    ) -> Result<Option<Self>> {
        if let Some(step) = step {
            // Absent, it is 0.
            let values = frames.iter().map(|frame| match frame.iter().find(|entry| entry.id == step) {
                Some(entry) => scalar(damaged, entry),
                None => Ok(Some(0)),
            });
            if let Some(values) = values.collect::<Result<Option<Vec<_>>>>()? {
                let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
                if let Some(last) = values.last().filter(|_| rises) {
                    return Ok(Some(Self::of(step, *last, &values)));
                }
            }
        }
        let Some((last, _)) = frames.split_last().filter(|(_, before)| !before.is_empty()) else {
            return Ok(None);
        };
        let is_number = |entry: &&IndexEntry| {
            entry.n == 1 && entry.m == 1 && entry.size().is_some_and(|size| size >= MIN_COUNTER_LEN)
        };
        for entry in last.iter().filter(is_number).take(64) {
            let with_id = |frame: &&[IndexEntry]| frame.iter().find(|other| other.id == entry.id).copied();
            let Some(entries) = frames.iter().map(with_id).collect::<Option<Vec<_>>>() else { continue };
            let values = entries.iter().map(|entry| scalar(damaged, entry));
            let Some(values) = values.collect::<Result<Option<Vec<_>>>>()? else { continue };
            if let Some(last) = values.last().filter(|_| values.windows(2).all(|pair| pair[0] < pair[1])) {
                return Ok(Some(match values[..] {
                    [first, last] => Self::exact(entry.id, first, last),
                    _ => Self::of(entry.id, *last, &values),
                }));
            }
        }
        Ok(None)
    }

    fn of(id: u16, last: i128, values: &[i128]) -> Self {
        let stride = values.windows(2).map(|pair| pair[1] - pair[0]).max();
        let most = stride.map_or(MAX_FIRST_STRIDE, |stride| stride.saturating_mul(MAX_STEP_STRIDES));
        Self { id, last, least: 1, most }
    }

    fn exact(id: u16, first: i128, last: i128) -> Self {
        Self { id, last, least: last - first, most: last - first }
    }

    /// The counter after `entry`; `None` where its value does not follow.
    pub(super) fn advance(self, damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<Option<Self>> {
        let value = scalar(damaged, entry)?;
        let follows = value.filter(|value| {
            let difference = value.saturating_sub(self.last);
            self.least <= difference && difference <= self.most
        });
        Ok(follows.map(|value| Self { last: value, ..self }))
    }
}

/// The value of a chunk of one integer; `None` for other chunks, and past the end of the file.
pub(super) fn scalar(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<Option<i128>> {
    let Some(range) =
        entry.byte_range().filter(|range| entry.n == 1 && entry.m == 1 && range.end <= damaged.len)
    else {
        return Ok(None);
    };
    let mut bytes = damaged.read(range)?.into_owned();
    if damaged.order() == ByteOrder::Big {
        bytes.reverse();
    }
    let signed = match entry.chunk_type() {
        Some(ChunkType::Int8 | ChunkType::Int16 | ChunkType::Int32 | ChunkType::Int64) => true,
        Some(ChunkType::Uint8 | ChunkType::Uint16 | ChunkType::Uint32 | ChunkType::Uint64) => false,
        _ => return Ok(None),
    };
    let negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if negative { 0xFF } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(&bytes);
    Ok(Some(i128::from_le_bytes(wide)))
}

/// Names whose committed chunks have no sector of zeros: a later chunk with one did not reach the disk.
#[derive(Debug, Default)]
pub(super) struct WrittenNames {
    ids: HashSet<u16>,
}

impl WrittenNames {
    /// Reads the last chunk of each name in `frames`.
    pub(super) fn of(damaged: &DamagedFile<'_>, frames: &[&[IndexEntry]]) -> Result<Self> {
        let entries = frames.iter().flat_map(|frame| frame.iter());
        let last: HashMap<u16, &IndexEntry> = entries.map(|entry| (entry.id, entry)).collect();
        let mut ids = HashSet::new();
        for entry in last.into_values() {
            if !is_unwritten(damaged, entry)? {
                ids.insert(entry.id);
            }
        }
        Ok(Self { ids })
    }

    /// Whether all chunks of a frame reached the disk.
    pub(super) fn accept(&self, damaged: &DamagedFile<'_>, entries: &[IndexEntry]) -> Result<bool> {
        for entry in entries.iter().filter(|entry| self.ids.contains(&entry.id)) {
            if is_unwritten(damaged, entry)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether a whole sector of a chunk is zero, or all of the chunk.
fn is_unwritten(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<bool> {
    let range: Range<u64> = entry.byte_range().unwrap_or(0..0);
    if range.end - range.start < MIN_UNWRITTEN_LEN {
        return Ok(false);
    }
    let (mut all, mut run) = (true, 0);
    for window in damaged.windows(range, 0) {
        let (mut at, bytes) = window?;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let len = usize::try_from(SECTOR - at % SECTOR).unwrap_or(1).min(rest.len());
            let (part, behind) = rest.split_at(len);
            let is_zero = part.iter().all(|byte| *byte == 0);
            // A sector may be in two windows.
            if !is_zero || at.is_multiple_of(SECTOR) {
                run = 0;
            }
            run += if is_zero { len as u64 } else { 0 };
            if run == SECTOR {
                return Ok(true);
            }
            all &= is_zero;
            at += len as u64;
            rest = behind;
        }
    }
    Ok(all)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

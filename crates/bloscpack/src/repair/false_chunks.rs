//! Removes false chunks, which verify but do not belong to the file: copies of sectors written to the wrong place, and chunks that overlap
//! the start of the next one.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use container_core::Result;
use container_core::report::{RepairItem, RepairReport};

use super::{ChunkStatus, DamagedFile};
use crate::chunk_table::ChunkEntry;

/// Removes from `found` the false chunks: those before the start of the first chunk, where some chunks are where the header points to, so
/// that these have not moved; and copies of another chunk that neither follow a chunk nor are followed by one.
///
/// # Errors
/// `Limit`, and those of the source.
pub(super) fn remove_false_chunks(
    damaged: &DamagedFile,
    statuses: &[ChunkStatus],
    found: &mut Vec<ChunkEntry>,
    report: &mut RepairReport,
) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let good = damaged.chunks().iter().zip(statuses).filter(|(_, status)| **status == ChunkStatus::Intact);
    let good: Vec<ChunkEntry> = good.map(|(entry, _)| *entry).collect();
    let start = damaged.layout.offsets().end;
    let is_before = |entry: &ChunkEntry| !good.is_empty() && entry.range().start < start;
    let end_of = |entry: &ChunkEntry| damaged.stored_range(entry).end;
    let all = || good.iter().chain(found.iter()).filter(|entry| !is_before(entry));
    let ends: HashSet<u64> = all().map(end_of).chain([start]).collect();
    let starts: HashSet<u64> =
        all().map(|entry| entry.range().start).chain([damaged.layout.file_len()]).collect();
    let is_alone =
        |entry: &ChunkEntry| !ends.contains(&entry.range().start) && !starts.contains(&end_of(entry));
    let content = |entry: &ChunkEntry| -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        damaged.stored(entry)?.bytes().hash(&mut hasher);
        Ok(hasher.finish())
    };
    let mut known = HashSet::new();
    if found.iter().any(is_alone) {
        for entry in good.iter().chain(found.iter().filter(|entry| !is_before(entry) && !is_alone(entry))) {
            known.insert(content(entry)?);
        }
    }
    let mut kept = Vec::with_capacity(found.len());
    for entry in found.iter() {
        let what = if is_before(entry) {
            "looks like a chunk, before the first one: left out"
        } else if is_alone(entry) && known.contains(&content(entry)?) {
            "a copy of another chunk, which stands apart: left out"
        } else {
            kept.push(*entry);
            continue;
        };
        report.lost.push(RepairItem::new(damaged.stored_range(entry), what));
    }
    *found = kept;
    Ok(())
}

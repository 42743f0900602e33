//! Missing entries in an otherwise valid index: chunk data in the file that no entry refers to.

use std::ops::Range;

use crate::fault::{Fault, FaultKind};
use crate::file::File;
use crate::header;

/// Maximum number of reported faults of this kind.
const MAX_REPORTED: usize = 100;

/// Reports frames without an entry where unreferenced bytes are between the chunks of the neighbouring frames, and a file that has names
/// and unreferenced bytes but no entry. A writer that stopped within its first commit leaves the same state. `places` are the faults of the
/// bytes between chunks.
pub(super) fn entries(file: &File, places: &[Fault]) -> Vec<Fault> {
    let orphans = || places.iter().filter(|fault| fault.kind() == FaultKind::OrphanBytes).map(Fault::range);
    let Some(first) = orphans().next() else { return Vec::new() };
    if file.index().is_empty() {
        let all = orphans().fold(first, |all, one| all.start.min(one.start)..all.end.max(one.end));
        let len: u64 = orphans().map(|range| range.end - range.start).sum();
        let names = file.names().len();
        let what = format!(
            "the index has no entry, but there are {names} names and {len} bytes of data: an index that was lost, or a writer that was \
             stopped before its first commit: see repair"
        );
        let blocks = [file.header().index_range(), file.header().namelist_range()];
        let end = blocks.into_iter().flatten().map(|block| block.end).max().unwrap_or(0);
        // Bytes between the blocks may be of any kind.
        let is_data = names > 0 || (all.start >= end && len >= 8);
        return is_data.then(|| Fault::new(FaultKind::EntriesMissing, all, what)).into_iter().collect();
    }
    let mut found = Vec::new();
    // Number of the last frame with entries, and the end of its chunks.
    let (mut frame, mut end): (Option<u64>, u64) = (None, header::LEN);
    let mut gap: Option<(Range<u64>, u64, u64)> = None;
    let mut told = |gap: Option<(Range<u64>, u64, u64)>| {
        let Some((frames, start, end)) = gap else { return };
        let within = |range: &Range<u64>| start <= range.start && range.end <= end;
        let between = orphans().filter(within);
        if let Some(all) = between.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) {
            let last = frames.end.saturating_sub(1);
            let frames = match frames.start {
                first if first == last => format!("frame {last} has"),
                first => format!("frames {first} to {last} have"),
            };
            let len: u64 = orphans().filter(within).map(|range| range.end - range.start).sum();
            let what = format!(
                "{frames} no entry, but {len} bytes outside every chunk are where their chunks would be: see repair"
            );
            found.push(Fault::new(FaultKind::EntriesMissing, all, what));
        }
    };
    let mut tellings = 0;
    for entry in file.index().iter() {
        let Some(range) = entry.byte_range() else { continue };
        if frame != Some(entry.frame) {
            if let Some(gap) = gap.take().filter(|_| tellings < MAX_REPORTED) {
                tellings += 1;
                told(Some(gap));
            }
            let next = frame.map_or(0, |frame| frame.saturating_add(1));
            gap = (entry.frame > next).then_some((next..entry.frame, end, u64::MAX));
            (frame, end) = (Some(entry.frame), header::LEN);
        }
        if !range.is_empty() {
            end = end.max(range.end);
            if let Some((_, _, until)) = &mut gap {
                *until = range.start.min(*until);
            }
        }
    }
    told(gap.filter(|_| tellings < MAX_REPORTED));
    found
}

//! Uncommitted frames after the committed ones.

use std::ops::Range;

use container_core::{Progress, Result};

use super::RepairPlan;
use crate::index::IndexEntry;
use crate::repair::frames::{self, frame_set, is_part};
use crate::repair::step_counter::{StepCounter, WrittenNames};
use crate::repair::uncommitted_frames::{FrameSearch, templates, templates_of_first};
use crate::repair::{first_frame, report};

/// Number of last committed frames that serve as templates.
const MAX_SAMPLE_FRAMES: usize = 64;

impl RepairPlan<'_> {
    /// The frames behind the committed ones: those with entries that were not committed yet, then those without; and where
    /// the bytes of the last one end.
    pub(super) fn find_uncommitted(
        &mut self,
        waiting: &[IndexEntry],
        free: &[Range<u64>],
        resume: Option<u64>,
        progress: Progress<'_>,
    ) -> Result<(Vec<IndexEntry>, Option<u64>)> {
        let damaged = &self.damaged;
        let starts = frames::starts(&self.entries);
        // Frame 0 is unlike the others, unless it is the only one.
        let from = starts
            .len()
            .saturating_sub(MAX_SAMPLE_FRAMES)
            .max(usize::from(starts.len() > 1 && self.is_hoomd()));
        let recent: Vec<&[IndexEntry]> =
            (from..starts.len()).map(|at| frame_set(&self.entries, &starts, at)).collect();
        let step = first_frame::step_id(&self.names);
        // A first step of 0 is not written, so that its name may be missing.
        let alone = self.is_hoomd() && starts.len() == 1 && resume.is_none();
        let new_step = u16::try_from(self.names.len()).ok().filter(|_| alone && step.is_none());
        let step = step.or(new_step);
        let with_first: Vec<&[IndexEntry]> =
            [frame_set(&self.entries, &starts, 0)].into_iter().chain(recent.iter().copied()).collect();
        let written = WrittenNames::of(damaged, &with_first)?;
        let mut counter = StepCounter::find(damaged, &recent, step)?;
        let mut taken: Vec<IndexEntry> = Vec::new();
        let mut previous = recent.last().copied().unwrap_or_default();
        for frame in waiting.chunk_by(|a, b| a.frame == b.frame) {
            if is_part(frame, previous) || !written.accept(damaged, frame)? {
                return Ok((taken, None));
            }
            if let Some((before, entry)) = counter
                .and_then(|counter| Some((counter, frame.iter().find(|entry| entry.id == counter.id)?)))
            {
                let Some(next) = before.advance(damaged, entry)? else { return Ok((taken, None)) };
                counter = Some(next);
            }
            taken.extend(frame.iter().map(|entry| IndexEntry { flags: 0, ..*entry }));
            previous = frame;
        }
        let all = || self.entries.iter().chain(&taken);
        let start = all().filter_map(IndexEntry::byte_range).map(|range| range.end).max();
        let next = all().next_back().map_or(0, |entry| entry.frame + 1);
        let (Some(counter), Some(start)) = (counter, start) else { return Ok((taken, None)) };
        let container = |id: u16| {
            let name = self.names.get(usize::from(id)).filter(|_| self.is_hoomd())?;
            let slash = name.iter().position(|byte| *byte == b'/')?;
            Some((&name[..slash], &name[slash..] == b"/N"))
        };
        let mut templates = templates(damaged, &recent, container)?;
        let guessed_from = templates.len();
        if let Some(step) = step.filter(|_| alone && taken.is_empty()) {
            let name = |id: u16| Some(String::from_utf8_lossy(self.names.get(usize::from(id))?).into_owned());
            let new = templates_of_first(recent.first().copied().unwrap_or_default(), step, name);
            templates.extend(new.into_iter().filter(|new| !templates.contains(new)).collect::<Vec<_>>());
        }
        let alignment = alignment(&self.entries);
        let claimed = [damaged.header.index_range(), damaged.header.namelist_range()];
        let claimed = claimed.into_iter().flatten().filter(|block| block.end <= damaged.len).collect();
        let free = free.to_vec();
        let walk = FrameSearch {
            damaged,
            templates: &templates,
            guessed_from,
            written: &written,
            free,
            claimed,
            alignment,
        };
        let (found, end) = walk.find_frames(start, resume.unwrap_or(next).max(next), counter, progress)?;
        let end = if found.is_empty() { None } else { Some(end) };
        if new_step.is_some_and(|step| found.iter().any(|entry| entry.id == step)) {
            self.names.push(b"configuration/step".to_vec());
        }
        if alone && !found.is_empty() && taken.is_empty() {
            self.report.guessed.push(report::form(&found, &self.names));
        }
        taken.extend(found);
        Ok((taken, end))
    }
}

/// The largest of 64 and 8 that all chunks are at a multiple of, else 1.
fn alignment(entries: &[IndexEntry]) -> u64 {
    let all = |by: i64| entries.iter().filter(|entry| entry.n > 0).all(|entry| entry.location % by == 0);
    [64, 8].into_iter().find(|by| all(*by)).map_or(1, i64::unsigned_abs)
}

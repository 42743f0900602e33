//! Frames without entries, between frames that have theirs.
//!
//! Their data still lie between those of their neighbours. They are brought back where frames of the form of those before fill the place, and
//! are as many as are missing: one more or fewer, and nothing is taken.

use std::ops::Range;

use container_core::{Progress, Result};

use super::RepairPlan;
use super::tail::is_rest_zero;
use crate::index::IndexEntry;
use crate::repair::frames::{Gap, IncompleteFrames, is_block, is_padding};
use crate::repair::{UncommittedFrames, report};

/// Number of gaps that are filled: a file with more has another kind of damage.
const MAX_GAPS: usize = 64;

impl RepairPlan<'_> {
    /// Brings back frames in the middle, or says that they are lost.
    pub(super) fn fill_gaps(
        &mut self,
        gaps: &[Gap],
        incomplete_frames: &mut IncompleteFrames,
        uncommitted_frames: UncommittedFrames,
        progress: Progress<'_>,
    ) -> Result<()> {
        let inner = gaps.iter().filter_map(|gap| {
            let missing = gap.before?.checked_add(1)?..gap.behind?;
            (!missing.is_empty()).then(|| (missing, gap.range.clone()))
        });
        for (missing, range) in inner.take(MAX_GAPS).collect::<Vec<_>>() {
            let damaged = &self.damaged;
            let something = report::holds_something(damaged, &range)?;
            if !something || is_padding(damaged, &range)? || is_block(damaged, &range)? {
                continue;
            }
            let whole = |frame: &u64| !incomplete_frames.partial.contains(frame);
            let proved = whole(&(missing.start - 1)) && whole(&missing.end);
            let found = match uncommitted_frames {
                UncommittedFrames::Checked if proved => self.between(&missing, &range, progress)?,
                _ => None,
            };
            let known = incomplete_frames
                .gone
                .iter()
                .any(|gone| gone.start <= missing.start && missing.end <= gone.end);
            match found {
                Some(found) => {
                    incomplete_frames.gone.retain(|gone| *gone != missing);
                    self.report.guessed.push(report::between(&found, &missing, range));
                    self.entries.extend(found);
                    self.entries.sort_by_key(|entry| (entry.frame, entry.id));
                }
                None if known => self.report.lost.push(report::lost_frame_data(range)),
                None => self.report.lost.push(report::missing(&missing, range)),
            }
        }
        Ok(())
    }

    /// The entries of the frames `missing`, where their data fill `range`.
    fn between(
        &mut self,
        missing: &Range<u64>,
        range: &Range<u64>,
        progress: Progress<'_>,
    ) -> Result<Option<Vec<IndexEntry>>> {
        let at = self.entries.partition_point(|entry| entry.frame < missing.start);
        let (names, guessed) = (self.names.len(), self.report.guessed.len());
        let later = self.entries.split_off(at);
        let free = [range.clone()];
        let found = self.find_uncommitted(&[], &free, None, progress);
        self.entries.extend(later);
        let (found, end) = found?;
        let frames = found.chunk_by(|a, b| a.frame == b.frame).count() as u64;
        let first = found.first().map(|entry| entry.frame);
        let last = found.last().map(|entry| entry.frame.saturating_add(1));
        let fits = frames == missing.end - missing.start
            && (first, last) == (Some(missing.start), Some(missing.end))
            && found.iter().filter(|entry| entry.n > 0).all(|entry| is_within(entry, range))
            && is_rest_zero(&self.damaged, &free, end)?;
        if !fits {
            self.names.truncate(names);
            self.report.guessed.truncate(guessed);
        }
        Ok(fits.then_some(found))
    }
}

fn is_within(entry: &IndexEntry, range: &Range<u64>) -> bool {
    entry.byte_range().is_some_and(|own| range.start <= own.start && own.end <= range.end)
}

//! The repair plan: header, names and entries of the repaired file.

use std::ops::Range;

use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::{Error, Progress, Result};

use super::damaged_file::{DamagedFile, PAST_END};
use super::entries::{self, InvalidSlots};
use super::frames::{self, IncompleteFrames, LossEvidence};
use super::intact::{self, IntactFile};
use super::{RepairOptions, UncommittedFrames, first_frame, names, report};
use crate::header::{self, Header};
use crate::hoomd;
use crate::index::IndexEntry;

mod gaps;
mod known_entries;
mod tail;
mod uncommitted;

use known_entries::{add_uncommitted, needed, search_index, within_room};
use tail::{
    free_after_last_chunk, free_around_last_frame, incomplete_last_frame, is_rest_zero, old_index_copy,
};

/// Header, names and entries that the repaired file gets.
pub(super) struct RepairPlan<'a> {
    damaged: DamagedFile<'a>,
    header: Header,
    names: Vec<Vec<u8>>,
    /// Sorted by frame and id, with the frame numbers of the input.
    entries: Vec<IndexEntry>,
    /// Frames that later ones move up over.
    left_out: Vec<Range<u64>>,
    /// True where the last entries lead past the end of the file: all that is behind the frames before them is part of committed ones.
    is_cut: bool,
    /// The used entries of the index.
    used_index: Range<u64>,
    pub(super) report: RepairReport,
}

impl<'a> RepairPlan<'a> {
    pub(super) fn new(
        mut damaged: DamagedFile<'a>,
        mut intact: Option<IntactFile>,
        options: &RepairOptions,
        mut report: RepairReport,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let v1 = damaged.header.is_v1();
        let is_intact = intact.is_some();
        let (mut found, block, mut blocks) = match &mut intact {
            Some(intact) => {
                let block = damaged.header.index_range().unwrap_or_default();
                (std::mem::take(&mut intact.found), block, intact.blocks.clone())
            }
            None => search_index(&mut damaged, &mut report)?,
        };
        if found.entries.is_empty()
            && options.uncommitted_frames == UncommittedFrames::Checked
            && let Some((entries, told)) = first_frame::find(&damaged, &blocks)?
        {
            found.entries = entries;
            report.guessed.push(told);
        }
        let used_block = found.used.clone();
        let mut uncommitted = Vec::new();
        if options.uncommitted_frames == UncommittedFrames::Checked && !found.entries.is_empty() {
            uncommitted = add_uncommitted(&damaged, &mut found, &block, &mut blocks, is_intact)?;
        }
        let mut dropped = entries::sort(&mut found, v1);
        // Marked in their flags, which are 0 in the file.
        for entry in &mut found.entries {
            let place = (entry.frame, entry.id, entry.location);
            entry.flags = u8::from(uncommitted.binary_search(&place).is_ok());
        }
        if !is_intact {
            dropped.extend(entries::remove_overlapping(&mut found.entries, &blocks));
            report.guessed.extend(within_room(&damaged, &found.entries));
        }

        let gaps = frames::gaps(&damaged, &found.entries, &blocks)?;
        let free: Vec<Range<u64>> = gaps.iter().map(|gap| gap.range.clone()).collect();
        let committed = found.entries.iter().filter(|entry| entry.flags == 0);
        let committed = committed.map(|entry| usize::from(entry.id) + 1).max().unwrap_or(0);
        let needed = needed(&found.entries);
        let mut names = match intact {
            Some(IntactFile { names, .. }) => names::listed(&names, &damaged, needed),
            None => names::find(&damaged, (&found.entries, &blocks), (needed, committed), &free)?,
        };
        blocks.push(names.range.clone());
        report.guessed.extend(names.guess.take());
        let names = names::choose(names, &options.names, &mut report);
        let header = names::header(&damaged, &names, &mut report);
        let used_index = used_block.clone();
        let last_frame = found.entries.last().map_or(0, |last| last.frame);
        let is_last = |invalid: &&InvalidSlots| invalid.frames.1.is_none_or(|behind| behind >= last_frame);
        let mut last_slots = found.invalid_slots.iter().filter(is_last);
        let is_cut = last_slots.any(|invalid| invalid.why == PAST_END);
        let (entries, left_out) = (found.entries, Vec::new());
        let mut plan = Self { damaged, header, names, entries, left_out, is_cut, used_index, report };
        let evidence = LossEvidence {
            invalid_slots: &found.invalid_slots,
            dropped: &dropped,
            unsorted: found.unsorted,
            cut: &found.cut,
        };
        let mut incomplete_frames =
            frames::incomplete_frames(&plan.damaged, &plan.entries, &gaps, &evidence, plan.is_hoomd())?;
        if is_intact {
            incomplete_frames = IncompleteFrames::default();
        }
        plan.report.lost.extend(report::invalid_slots(&found.invalid_slots));
        plan.report.lost.extend(report::dropped(&dropped, &plan.names));
        if found.unsorted > 0 {
            plan.report.guessed.push(report::unsorted(found.unsorted, used_block));
        }
        plan.fill_gaps(&gaps, &mut incomplete_frames, options.uncommitted_frames, progress)?;
        plan.finish(incomplete_frames, &blocks, options.uncommitted_frames, is_intact, progress)?;
        Ok(plan)
    }

    fn is_hoomd(&self) -> bool {
        self.header.schema_name() == hoomd::SCHEMA
    }

    /// Leaves out frames that are not whole, and adds those that were not committed.
    fn finish(
        &mut self,
        incomplete_frames: IncompleteFrames,
        blocks: &[Range<u64>],
        uncommitted_frames: UncommittedFrames,
        is_intact: bool,
        progress: Progress<'_>,
    ) -> Result<()> {
        let hoomd = self.is_hoomd();
        let mut partial = incomplete_frames.partial;
        let beside = free_around_last_frame(&self.damaged, &self.entries, blocks)?;
        if let Some(frame) = incomplete_last_frame(&self.damaged, &self.entries, &beside)? {
            partial.insert(frame);
        }
        // Frames at the end that are not whole go in every schema: they were never committed, or nothing follows them.
        let mut end = self.entries.len();
        while let Some(last) =
            self.entries.get(end.wrapping_sub(1)).filter(|last| partial.contains(&last.frame))
        {
            if last.frame == 0 {
                break;
            }
            end = self.entries.partition_point(|entry| entry.frame < last.frame);
        }
        let mut tail: Vec<IndexEntry> = self.entries.split_off(end);
        let mut behind = free_after_last_chunk(&self.damaged, &self.entries, blocks)?;
        let mut lost = report::Frames::new("lacks chunks: left out", "lack chunks: left out");
        if hoomd {
            let out = |entry: &IndexEntry| entry.frame > 0 && partial.contains(&entry.frame);
            self.entries.iter().filter(|entry| out(entry)).for_each(|entry| lost.add(entry));
            self.entries.retain(|entry| !out(entry));
            let inner = partial
                .iter()
                .filter(|frame| **frame > 0 && tail.first().is_none_or(|tail| **frame < tail.frame));
            let inner = inner.map(|frame| *frame..*frame + 1);
            self.left_out = frames::joined(inner.chain(incomplete_frames.gone.iter().cloned()).collect());
        }
        let first_uncommitted = self.entries.iter().find(|entry| entry.flags != 0).map(|entry| entry.frame);
        let committed = first_uncommitted
            .map_or(self.entries.len(), |frame| self.entries.partition_point(|entry| entry.frame < frame));
        let mut waiting = self.entries.split_off(committed);
        let mut kept = report::Frames::new("", "");
        self.entries.iter().for_each(|entry| kept.add(entry));
        let resume = tail.first().map(|entry| entry.frame);
        let mut taken = Vec::new();
        let mut end = None;
        let mut put_back = false;
        if uncommitted_frames == UncommittedFrames::Checked && !self.entries.is_empty() && !self.is_cut {
            let (names, guessed) = (self.names.len(), self.report.guessed.len());
            (taken, end) = self.find_uncommitted(&waiting, &behind, resume, progress)?;
            // What is committed in a sound file is at most added to, and that only where it explains all that follows.
            let same = |entry: &&IndexEntry| {
                let key = (entry.frame, entry.id);
                let at = taken.binary_search_by_key(&key, |taken| (taken.frame, taken.id));
                at.ok().and_then(|at| taken.get(at)) == Some(entry)
            };
            let mut committed = tail.iter().chain(&waiting).filter(|entry| entry.flags == 0).peekable();
            if is_intact
                && committed.peek().is_some()
                && !(committed.all(|entry| same(&entry)) && is_rest_zero(&self.damaged, &behind, end)?)
            {
                self.names.truncate(names);
                self.report.guessed.truncate(guessed);
                put_back = true;
            }
        }
        if is_intact && (put_back || uncommitted_frames == UncommittedFrames::Off || self.entries.is_empty())
        {
            let committed = tail.iter().chain(&waiting).filter(|entry| entry.flags == 0);
            let committed: Vec<IndexEntry> = committed.copied().collect();
            committed.iter().for_each(|entry| kept.add(entry));
            self.entries.extend(committed);
            self.entries.sort_by_key(|entry| (entry.frame, entry.id));
            tail.clear();
            waiting.retain(|entry| entry.flags != 0);
            behind = free_after_last_chunk(&self.damaged, &self.entries, blocks)?;
            if uncommitted_frames == UncommittedFrames::Checked {
                (taken, end) = self.find_uncommitted(&[], &behind, None, progress)?;
            }
        }
        let has = |entry: &IndexEntry| {
            taken.binary_search_by_key(&(entry.frame, entry.id), |taken| (taken.frame, taken.id)).is_ok()
        };
        // What a sound file does not list is no loss.
        let unproved = tail.iter().chain(&waiting).filter(|entry| !has(entry) && !is_intact);
        unproved.for_each(|entry| lost.add(entry));
        let left = if partial.contains(&0) { Some("frame 0 lacks chunks") } else { None };
        self.report.kept.extend(report::kept_structures(&self.header, &self.names));
        self.report.kept.extend(kept.items());
        self.report.lost.extend(left.map(|what| RepairItem::new(0..0, what)));
        for gone in &incomplete_frames.gone {
            self.report.lost.push(report::lost_frames(gone));
        }
        self.report.lost.extend(lost.items());
        let mut guessed =
            report::Frames::new("was written and not committed", "were written and not committed");
        taken.iter().for_each(|entry| guessed.add(entry));
        let guessed = guessed.items().into_iter();
        self.report.guessed.extend(guessed.map(|item| item.with_evidence(Evidence::CommittedFrame)));
        let from = end.unwrap_or(0);
        let whole = self.damaged.header.index_range().is_some_and(|range| range.end <= self.damaged.len);
        // Where nothing else is wrong, and no frame was found in them, they are what a stopped writer has left or somebody added.
        let intact = self.report.lost.is_empty() && self.report.guessed.is_empty() && whole;
        let intact = intact && uncommitted_frames == UncommittedFrames::Checked;
        for range in &behind {
            let rest = range.start.max(from)..range.end;
            if let Some(copy) = old_index_copy(&self.damaged, &self.used_index, &rest)? {
                self.report.guessed.push(report::old_index_copy(copy));
                continue;
            }
            if !rest.is_empty() && report::holds_something(&self.damaged, &rest)? {
                if intact {
                    self.report.guessed.push(report::unused_bytes(rest));
                } else {
                    self.report.lost.push(report::unlisted_bytes(rest));
                }
            }
        }
        self.entries.extend(taken);
        let something = report::holds_something(&self.damaged, &(header::LEN..self.damaged.len))?;
        if self.entries.is_empty() && (something || !whole) {
            if !intact::is_empty_file(&self.damaged)? {
                return Err(self.nothing_found());
            }
            for gap in frames::gaps(&self.damaged, &[], blocks)? {
                if report::holds_something(&self.damaged, &gap.range)? {
                    self.report.guessed.push(report::unused_bytes(gap.range));
                }
            }
        }
        Ok(())
    }

    fn nothing_found(&self) -> Error {
        let error = Error::malformed("no entry of an index describes a chunk of this file");
        error.with_context("gsd index").with_range(header::LEN..self.damaged.len)
    }

    pub(super) const fn damaged(&self) -> &DamagedFile<'a> {
        &self.damaged
    }

    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    pub(super) fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Frames that later ones move up over: in order, apart from one another.
    pub(super) fn left_out(&self) -> &[Range<u64>] {
        &self.left_out
    }
}

//! What a repair keeps, and how it is written.

use std::ops::Range;

use container_core::report::{RepairItem, RepairReport};
use container_core::{Error, Progress, Result};

use super::entries::{self, Collected};
use super::expect::{Clock, Expectations};
use super::frames::{self, Signs, Wounds, frame_set, is_part};
use super::index;
use super::input::Damaged;
use super::salvage::{Walk, templates};
use super::sound::{self, Sound};
use super::{RepairOptions, Salvage, hypotheses, moved, names, output, report, schema, shift};
use crate::header::{self, Header};
use crate::hoomd;
use crate::index::IndexEntry;

mod middle;

/// Frames at the end of the committed ones that show what later ones look like.
const RECENT: usize = 64;

/// Frames of a file whose entries name frames that it has no room for.
const MOST_FRAMES: u64 = 1 << 12;

/// A file as it can be written.
pub(super) struct Rescue<'a> {
    damaged: Damaged<'a>,
    header: Header,
    names: Vec<Vec<u8>>,
    /// Sorted by frame and id, with the frame numbers of the input.
    entries: Vec<IndexEntry>,
    /// Frames that later ones move up over.
    left_out: Vec<Range<u64>>,
    pub(super) report: RepairReport,
}

impl<'a> Rescue<'a> {
    pub(super) fn new(
        mut damaged: Damaged<'a>,
        mut sound: Option<Sound>,
        options: &RepairOptions,
        mut report: RepairReport,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let v1 = damaged.header.is_v1();
        let is_sound = sound.is_some();
        let (mut found, block, mut blocks) = match &mut sound {
            Some(sound) => {
                let block = damaged.header.index_range().unwrap_or_default();
                (std::mem::take(&mut sound.found), block, sound.blocks.clone())
            }
            None => search_index(&mut damaged, &mut report)?,
        };
        let used_block = found.used.clone();
        let mut uncommitted = Vec::new();
        if options.salvage == Salvage::Checked && !found.entries.is_empty() {
            uncommitted = add_uncommitted(&damaged, &mut found, &block, &mut blocks, is_sound)?;
        }
        let mut dropped = Vec::new();
        if is_sound && v1 {
            // Of two for one chunk, readers find the one that stands last in the index.
            found.entries.sort_by_key(|entry| (entry.frame, entry.id));
            dropped = entries::dedup(&mut found.entries);
        }
        dropped.extend(entries::sort(&mut found, v1));
        // Marked in their flags, which are 0 in the file.
        for entry in &mut found.entries {
            let place = (entry.frame, entry.id, entry.location);
            entry.flags = u8::from(uncommitted.binary_search(&place).is_ok());
        }
        if !is_sound {
            let needed = needed(&found.entries);
            report.guessed.extend(shift::mend(&mut damaged, &mut found.entries, needed)?);
            if let Some(moved) = moved::find(&damaged, &found.entries)? {
                dropped.extend(moved.apply(&mut found.entries));
                blocks.push(moved.torn_bytes(&dropped, &found.entries, damaged.len));
                report.guessed.push(moved.told(&damaged, &found.entries));
            }
            dropped.extend(entries::take_out_clashes(&mut found.entries, &blocks, &damaged)?);
        }

        let gaps = frames::gaps(&damaged, &found.entries, &blocks)?;
        let free: Vec<Range<u64>> = gaps.iter().map(|gap| gap.range.clone()).collect();
        let needed = needed(&found.entries);
        let mut names = match sound {
            Some(Sound { names, .. }) => names::listed(&names, &damaged, needed),
            None => names::find(&damaged, needed, &free)?,
        };
        blocks.push(names.range.clone());
        report.guessed.extend(names.guess.take());
        let entries = &found.entries;
        let names = names::settle(
            names,
            &options.names,
            |id| schema::placeholder(&damaged, entries, id),
            &mut report.guessed,
        );
        let header = schema::header(&damaged, &names, &mut report.guessed);
        let mut rescue =
            Self { damaged, header, names, entries: found.entries, left_out: Vec::new(), report };
        let signs =
            Signs { ruins: &found.ruins, dropped: &dropped, unsorted: found.unsorted, cut: &found.cut };
        let mut wounds = frames::wounds(&rescue.damaged, &rescue.entries, &gaps, &signs, rescue.is_hoomd())?;
        if is_sound {
            wounds = Wounds::default();
        }
        rescue.report.lost.extend(report::ruins(&found.ruins));
        rescue.report.lost.extend(report::dropped(&dropped, &rescue.names));
        if found.unsorted > 0 {
            rescue.report.guessed.push(report::unsorted(found.unsorted, used_block));
        }
        rescue.fill_middle(&gaps, &mut wounds, options.salvage, progress)?;
        rescue.finish(wounds, &blocks, options.salvage, is_sound, progress)?;
        Ok(rescue)
    }

    fn is_hoomd(&self) -> bool {
        self.header.schema_name() == hoomd::SCHEMA
    }

    /// Leaves out frames that are not whole, and adds those that were not committed.
    fn finish(
        &mut self,
        wounds: Wounds,
        blocks: &[Range<u64>],
        salvage: Salvage,
        is_sound: bool,
        progress: Progress<'_>,
    ) -> Result<()> {
        let hoomd = self.is_hoomd();
        let mut partial = wounds.partial;
        let beside = free_beside_last(&self.damaged, &self.entries, blocks)?;
        if let Some(frame) = torn_last(&self.damaged, &self.entries, &beside)? {
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
        let mut behind = free_behind(&self.damaged, &self.entries, blocks)?;
        let mut lost = report::Frames::new("lacks chunks: left out", "lack chunks: left out");
        if hoomd {
            let out = |entry: &IndexEntry| entry.frame > 0 && partial.contains(&entry.frame);
            self.entries.iter().filter(|entry| out(entry)).for_each(|entry| lost.add(entry));
            self.entries.retain(|entry| !out(entry));
            let inner = partial
                .iter()
                .filter(|frame| **frame > 0 && tail.first().is_none_or(|tail| **frame < tail.frame));
            let inner = inner.map(|frame| *frame..*frame + 1);
            self.left_out = output::joined(inner.chain(wounds.gone.iter().cloned()).collect());
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
        if salvage == Salvage::Checked && !self.entries.is_empty() {
            let (names, guessed) = (self.names.len(), self.report.guessed.len());
            (taken, end) = self.salvage(&waiting, &behind, resume, progress)?;
            // What is committed in a sound file is at most added to, and that only where it explains all that follows.
            let same = |entry: &&IndexEntry| {
                let key = (entry.frame, entry.id);
                let at = taken.binary_search_by_key(&key, |taken| (taken.frame, taken.id));
                at.ok().and_then(|at| taken.get(at)) == Some(entry)
            };
            let mut committed = tail.iter().chain(&waiting).filter(|entry| entry.flags == 0).peekable();
            if is_sound
                && committed.peek().is_some()
                && !(committed.all(|entry| same(&entry)) && is_rest_zero(&self.damaged, &behind, end)?)
            {
                self.names.truncate(names);
                self.report.guessed.truncate(guessed);
                put_back = true;
            }
        }
        if is_sound && (put_back || salvage == Salvage::Off || self.entries.is_empty()) {
            let committed = tail.iter().chain(&waiting).filter(|entry| entry.flags == 0);
            let committed: Vec<IndexEntry> = committed.copied().collect();
            committed.iter().for_each(|entry| kept.add(entry));
            self.entries.extend(committed);
            self.entries.sort_by_key(|entry| (entry.frame, entry.id));
            tail.clear();
            waiting.retain(|entry| entry.flags != 0);
            behind = free_behind(&self.damaged, &self.entries, blocks)?;
            if salvage == Salvage::Checked {
                (taken, end) = self.salvage(&[], &behind, None, progress)?;
            }
        }
        let has = |entry: &IndexEntry| {
            taken.binary_search_by_key(&(entry.frame, entry.id), |taken| (taken.frame, taken.id)).is_ok()
        };
        // What a sound file does not list is no loss.
        let unproved = tail.iter().chain(&waiting).filter(|entry| !has(entry) && !is_sound);
        unproved.for_each(|entry| lost.add(entry));
        let left = if partial.contains(&0) { Some("frame 0 lacks chunks") } else { None };
        self.report.kept.extend(report::ground(&self.damaged, &self.names));
        self.report.kept.extend(kept.items());
        self.report.lost.extend(left.map(|what| RepairItem::new(0..0, what)));
        for gone in &wounds.gone {
            self.report.lost.push(report::gone(gone));
        }
        self.report.lost.extend(lost.items());
        let mut guessed =
            report::Frames::new("was written and not committed", "were written and not committed");
        taken.iter().for_each(|entry| guessed.add(entry));
        self.report.guessed.extend(guessed.items());
        let from = end.unwrap_or(0);
        let whole = self.damaged.header.index_range().is_some_and(|range| range.end <= self.damaged.len);
        // Where nothing else is wrong, and no frame was found in them, they are what a stopped writer has left or somebody added.
        let sound = self.report.lost.is_empty() && self.report.guessed.is_empty() && whole;
        let sound = sound && salvage == Salvage::Checked;
        for range in &behind {
            let rest = range.start.max(from)..range.end;
            if !rest.is_empty() && report::holds_something(&self.damaged, &rest)? {
                if sound {
                    self.report.guessed.push(report::leftovers(rest));
                } else {
                    self.report.lost.push(report::orphans(rest));
                }
            }
        }
        self.entries.extend(taken);
        let something = report::holds_something(&self.damaged, &(header::LEN..self.damaged.len))?;
        if self.entries.is_empty() && (something || !whole) {
            return Err(self.nothing());
        }
        Ok(())
    }

    fn nothing(&self) -> Error {
        let error = Error::malformed("no entry of an index describes a chunk of this file");
        error.context("gsd index").at(header::LEN..self.damaged.len)
    }

    /// The frames behind the committed ones: those with entries that were not committed yet, then those without; and where
    /// the bytes of the last one end.
    fn salvage(
        &mut self,
        waiting: &[IndexEntry],
        free: &[Range<u64>],
        resume: Option<u64>,
        progress: Progress<'_>,
    ) -> Result<(Vec<IndexEntry>, Option<u64>)> {
        let damaged = &self.damaged;
        let starts = frames::starts(&self.entries);
        // Frame 0 is unlike the others, unless it is the only one.
        let from = starts.len().saturating_sub(RECENT).max(usize::from(starts.len() > 1 && self.is_hoomd()));
        let recent: Vec<&[IndexEntry]> =
            (from..starts.len()).map(|at| frame_set(&self.entries, &starts, at)).collect();
        let mut meanings = schema::meanings(&self.names);
        // A first step of 0 is not written, so that its name may be missing.
        let alone = self.is_hoomd() && starts.len() == 1;
        let new_step = u16::try_from(self.names.len()).ok().filter(|_| alone && meanings.step.is_none());
        meanings.step = meanings.step.or(new_step);
        let with_first: Vec<&[IndexEntry]> =
            [frame_set(&self.entries, &starts, 0)].into_iter().chain(recent.iter().copied()).collect();
        let mut expected = Expectations::of(damaged, &with_first, meanings)?;
        let mut clock = Clock::find(damaged, &recent, meanings)?;
        if let Some(clock) = &clock {
            expected.forget(clock.id);
        }
        let mut taken: Vec<IndexEntry> = Vec::new();
        let mut previous = recent.last().copied().unwrap_or_default();
        for frame in waiting.chunk_by(|a, b| a.frame == b.frame) {
            if is_part(frame, previous) || !expected.meets(damaged, frame)? {
                return Ok((taken, None));
            }
            if let Some((before, entry)) =
                clock.and_then(|clock| Some((clock, frame.iter().find(|entry| entry.id == clock.id)?)))
            {
                let Some(next) = before.tick(damaged, entry)? else { return Ok((taken, None)) };
                clock = Some(next);
            }
            taken.extend(frame.iter().map(|entry| IndexEntry { flags: 0, ..*entry }));
            previous = frame;
        }
        let all = || self.entries.iter().chain(&taken);
        let start = all().filter_map(IndexEntry::byte_range).map(|range| range.end).max();
        let next = all().next_back().map_or(0, |entry| entry.frame + 1);
        let (Some(clock), Some(start)) = (clock, start) else { return Ok((taken, None)) };
        let container = |id: u16| {
            let name = self.names.get(usize::from(id)).filter(|_| self.is_hoomd())?;
            let slash = name.iter().position(|byte| *byte == b'/')?;
            Some((&name[..slash], &name[slash..] == b"/N"))
        };
        let mut templates = templates(damaged, &recent, container)?;
        let hypotheses_from = templates.len();
        if let Some(step) = meanings.step.filter(|_| alone && taken.is_empty()) {
            let name = |id: u16| Some(String::from_utf8_lossy(self.names.get(usize::from(id))?).into_owned());
            let new = hypotheses::of(recent.first().copied().unwrap_or_default(), step, name);
            templates.extend(new.into_iter().filter(|new| !templates.contains(new)).collect::<Vec<_>>());
        }
        let alignment = alignment(&self.entries);
        let claimed = [damaged.header.index_range(), damaged.header.namelist_range()];
        let claimed = claimed.into_iter().flatten().filter(|block| block.end <= damaged.len).collect();
        let free = free.to_vec();
        let walk = Walk {
            damaged,
            templates: &templates,
            hypotheses_from,
            expected: &expected,
            free,
            claimed,
            alignment,
        };
        let (found, end) = walk.run(start, resume.unwrap_or(next).max(next), clock, progress)?;
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

    pub(super) const fn damaged(&self) -> &Damaged<'a> {
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

/// The entries of an index, the block that they are in, and the blocks that are known.
fn search_index(
    damaged: &mut Damaged<'_>,
    report: &mut RepairReport,
) -> Result<(Collected, Range<u64>, Vec<Range<u64>>)> {
    let (mut found, block) = index::find(damaged, &mut report.guessed)?;
    if found.entries.is_empty() {
        // Frames without chunks take no room: an entry may be of any frame, if there is no other way.
        damaged.frames = Some(MOST_FRAMES);
        let (other, _) = index::find(damaged, &mut Vec::new())?;
        if other.entries.is_empty() {
            damaged.frames = None;
        } else {
            let what = "entries of frames past the room of the index: the frames before had no chunks";
            report.guessed.push(RepairItem::new(other.used.clone(), what));
            found = other;
        }
    }
    let used_block = found.used.clone();
    let stated = damaged.header.index_range().filter(|range| range.end > damaged.len);
    if let Some(stated) = stated.filter(|range| !used_block.is_empty() && range.start != used_block.start) {
        let what = "the index, cut off with the end of the file: frames that it alone listed";
        report.lost.push(RepairItem::new(stated, what));
    }
    let listed = needed(&found.entries);
    let stated = names::stated(damaged, listed)?.map_or(0..0, |names| names.range);
    let claimed = damaged.header.index_range().is_some_and(|range| range.end <= damaged.len);
    if let Some(end) = entries::end_block(&mut found, &stated, claimed) {
        report.guessed.push(RepairItem::new(used_block.clone(), format!("the index ends at {end}")));
    }
    let blocks = vec![0..header::LEN, with_room(damaged, &used_block)?, stated];
    Ok((found, block, blocks))
}

fn needed(entries: &[IndexEntry]) -> usize {
    entries.iter().map(|entry| usize::from(entry.id) + 1).max().unwrap_or(0)
}

/// An index with the empty slots that follow it, as many as the header says.
fn with_room(damaged: &Damaged<'_>, used: &Range<u64>) -> Result<Range<u64>> {
    let len = damaged.header.index_allocated_entries.checked_mul(header::INDEX_ENTRY_LEN);
    let end =
        len.and_then(|len| used.start.checked_add(len)).filter(|end| (used.end..=damaged.len).contains(end));
    match end {
        Some(end) if !report::holds_something(damaged, &(used.end..end))? => Ok(used.start..end),
        _ => Ok(used.clone()),
    }
}

/// Adds entries that were written and not committed; gives their frames and places, sorted.
fn add_uncommitted(
    damaged: &Damaged<'_>,
    found: &mut Collected,
    block: &Range<u64>,
    blocks: &mut Vec<Range<u64>>,
    is_sound: bool,
) -> Result<Vec<(u64, u16, i64)>> {
    let known = blocks.clone();
    let mut more = index::beyond(damaged, found, block)?;
    let check = |more: &mut Option<Collected>, found: &Collected| {
        if is_sound && let Some(some) = more {
            sound::keep_new(&mut some.entries, &some.used, &found.entries, &known);
            if some.entries.is_empty() {
                *more = None;
            }
        }
    };
    check(&mut more, found);
    if more.is_none() {
        let gaps = frames::gaps(damaged, &found.entries, blocks)?;
        more = index::newer(damaged, &found.used, &gaps)?;
        check(&mut more, found);
        if let Some(more) = &more {
            let len = found.used.end - found.used.start;
            blocks.push(more.used.start.saturating_sub(len)..more.used.end);
        }
    } else if let Some(more) = &more {
        blocks.push(more.used.clone());
    }
    let Some(more) = more else { return Ok(Vec::new()) };
    let place = |entry: &IndexEntry| (entry.frame, entry.id, entry.location);
    let mut places: Vec<(u64, u16, i64)> = more.entries.iter().map(place).collect();
    places.sort_unstable();
    found.entries.extend(more.entries);
    Ok(places)
}

/// The bytes behind the last chunk that nothing is known to use.
fn free_behind(
    damaged: &Damaged<'_>,
    entries: &[IndexEntry],
    blocks: &[Range<u64>],
) -> Result<Vec<Range<u64>>> {
    let gaps = frames::gaps(damaged, entries, blocks)?.into_iter();
    let behind = gaps.filter(|gap| gap.behind.is_none() && gap.before.is_some());
    Ok(behind.map(|gap| gap.range).collect())
}

/// The same with the bytes in front of and between the chunks of the last frame, whose first chunks need not have the first ids.
fn free_beside_last(
    damaged: &Damaged<'_>,
    entries: &[IndexEntry],
    blocks: &[Range<u64>],
) -> Result<Vec<Range<u64>>> {
    let last = entries.last().map(|entry| entry.frame);
    let gaps = frames::gaps(damaged, entries, blocks)?.into_iter();
    let beside = gaps.filter(|gap| gap.before.is_some() && (gap.behind.is_none() || gap.behind == last));
    Ok(beside.map(|gap| gap.range).collect())
}

/// True where nothing is set in the bytes that salvage has left.
fn is_rest_zero(damaged: &Damaged<'_>, behind: &[Range<u64>], end: Option<u64>) -> Result<bool> {
    for range in behind {
        let rest = range.start.max(end.unwrap_or(0))..range.end;
        if !rest.is_empty() && report::holds_something(damaged, &rest)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The last frame, if it lacks what the one before has although there are bytes beside it that no entry describes. A torn write
/// of sorted entries lacks the last ones.
fn torn_last(damaged: &Damaged<'_>, entries: &[IndexEntry], beside: &[Range<u64>]) -> Result<Option<u64>> {
    let starts = frames::starts(entries);
    let Some(at) = starts.len().checked_sub(1).filter(|at| *at > 0) else { return Ok(None) };
    let (last, before) = (frame_set(entries, &starts, at), frame_set(entries, &starts, at - 1));
    let most = last.last().filter(|_| !damaged.header.is_v1()).map(|entry| entry.id);
    let has = |frame: &[IndexEntry], id: u16| frame.iter().any(|entry| entry.id == id);
    let missing = || before.iter().filter(|entry| !has(last, entry.id) && Some(entry.id) > most);
    // Frame 0 has what others need not repeat.
    if last.iter().any(|entry| !has(before, entry.id)) || (at > 1 && !is_part_behind(last, before, most)) {
        return Ok(None);
    }
    let needed: u64 = missing().filter_map(IndexEntry::size).fold(0, u64::saturating_add);
    let there: u64 = beside.iter().map(|range| range.end - range.start).fold(0, u64::saturating_add);
    let something = beside.iter().map(|range| report::holds_something(damaged, range));
    let something = something.collect::<Result<Vec<_>>>()?.into_iter().any(|holds| holds);
    Ok(last.first().filter(|_| needed > 0 && needed <= there && something).map(|entry| entry.frame))
}

/// True where a frame lacks of another only names behind `most`.
fn is_part_behind(one: &[IndexEntry], other: &[IndexEntry], most: Option<u16>) -> bool {
    is_part(one, other) && other.iter().filter(|entry| Some(entry.id) <= most).count() == one.len()
}

/// The largest of 64 and 8 that all chunks are at a multiple of, else 1.
fn alignment(entries: &[IndexEntry]) -> u64 {
    let all = |by: i64| entries.iter().filter(|entry| entry.n > 0).all(|entry| entry.location % by == 0);
    [64, 8].into_iter().find(|by| all(*by)).map_or(1, i64::unsigned_abs)
}

//! Searches for frames that were written and never committed.
//!
//! Data are written in the order in which chunks are, so that behind the last committed chunk lie the chunks of the next frames,
//! one after the other, without a word on what they are. Committed frames show which chunks a frame has, in which order and
//! how large: that is a template. It is laid over the bytes for as long as the values that it then yields can be true: the step
//! goes on rising by about as much as it did, real numbers are finite, positions are in the box, text is text.

use std::ops::Range;

use container_core::{Progress, Result};

use super::damaged_file::DamagedFile;
use super::value_model::{StepCounter, ValueModel, scalar};
use crate::index::IndexEntry;

/// Templates that are tried at each place.
const MAX_TEMPLATES: usize = 16;

/// One chunk of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TemplateChunk {
    /// Its place is filled in when the template is laid somewhere.
    pub(super) entry: IndexEntry,
    /// The item of the same template whose value is the number of rows.
    pub(super) counted_by: Option<usize>,
}

/// The chunks of a frame, as they follow one another in the file.
pub(super) type Template = Vec<TemplateChunk>;

/// Derives templates of frames from `frames` of entries; the last ones first, each form once. `container` gives each id the part of its name before
/// the slash and whether it is that container's `N`.
pub(super) fn templates<'n>(
    damaged: &DamagedFile<'_>,
    frames: &[&[IndexEntry]],
    container: impl Fn(u16) -> Option<(&'n [u8], bool)>,
) -> Result<Vec<Template>> {
    let mut templates: Vec<Template> = Vec::new();
    for frame in frames.iter().rev() {
        let mut entries = frame.to_vec();
        entries.sort_by_key(|entry| entry.location);
        let mut template: Template = Vec::with_capacity(entries.len());
        for entry in &entries {
            let own = container(entry.id).filter(|(_, is_count)| !is_count);
            let count = own.and_then(|(name, _)| {
                entries.iter().position(|other| container(other.id) == Some((name, true)))
            });
            let counted_by = match count {
                Some(count) if scalar(damaged, &entries[count])? == Some(entry.n.into()) => Some(count),
                _ => None,
            };
            let n = if counted_by.is_some() { 0 } else { entry.n };
            template
                .push(TemplateChunk { entry: IndexEntry { frame: 0, location: 0, n, ..*entry }, counted_by });
        }
        // A count has to be read before what it counts.
        let ordered =
            template.iter().enumerate().all(|(at, item)| item.counted_by.is_none_or(|count| count < at));
        if ordered && !templates.contains(&template) {
            templates.push(template);
        }
        if templates.len() == MAX_TEMPLATES {
            break;
        }
    }
    Ok(templates)
}

/// Search for uncommitted frames in unused bytes.
pub(super) struct FrameSearch<'w, 'a> {
    pub(super) damaged: &'w DamagedFile<'a>,
    pub(super) templates: &'w [Template],
    /// Templates from here on are none that a committed frame has.
    pub(super) guessed_from: usize,
    pub(super) expected: &'w ValueModel,
    /// The bytes behind the last committed chunk, without known blocks.
    pub(super) free: Vec<Range<u64>>,
    /// Blocks that the header claims to be index and namelist. Such a block begins where the data before it end.
    pub(super) claimed: Vec<Range<u64>>,
    /// Chunks are at multiples of this.
    pub(super) alignment: u64,
}

/// A template that matches some bytes.
struct TemplateMatch {
    entries: Vec<IndexEntry>,
    end: u64,
    counter: StepCounter,
    template: usize,
}

impl FrameSearch<'_, '_> {
    /// The frames from `frame` on, sorted by (frame, id), and where the bytes begin that are none.
    pub(super) fn find_frames(
        &self,
        start: u64,
        mut frame: u64,
        mut counter: StepCounter,
        progress: Progress<'_>,
    ) -> Result<(Vec<IndexEntry>, u64)> {
        let mut found: Vec<IndexEntry> = Vec::new();
        let mut shown: Vec<bool> = (0..self.templates.len()).map(|at| at < self.guessed_from).collect();
        let mut at = start;
        while frame < self.damaged.max_frames() {
            let Some(fit) = self.best_match(at, counter, frame, &shown)? else {
                let Some(block) = self.claimed.iter().find(|block| block.start == at && block.end > at)
                else {
                    break;
                };
                at = block.end;
                continue;
            };
            self.damaged.limits.allocate((found.len() as u64 + fit.entries.len() as u64) * 32)?;
            shown[fit.template] = true;
            let mut entries = fit.entries;
            entries.sort_by_key(|entry| entry.id);
            found.extend(entries);
            (at, counter) = (fit.end, fit.counter);
            frame += 1;
            progress.tick(at, self.damaged.len)?;
        }
        Ok((found, at))
    }

    /// The frame that begins at `at`; `shown` are the templates that frames were found to have.
    fn best_match(
        &self,
        at: u64,
        counter: StepCounter,
        frame: u64,
        shown: &[bool],
    ) -> Result<Option<TemplateMatch>> {
        let (mut followed, mut others) = (Vec::new(), Vec::new());
        for template in 0..self.templates.len() {
            let Some(fit) = self.match_template(template, at, counter, frame)? else { continue };
            let list = if self.begins_at(fit.end, fit.counter)? { &mut followed } else { &mut others };
            list.push(fit);
        }
        // Best proved where another frame follows. Longer ones first: a short one may be the start of a long one.
        if let Some(fit) = self.longest(followed)? {
            return Ok(Some(fit));
        }
        // The last one: nothing longer may begin as it does.
        let is_shown = |at: usize| shown.get(at).copied().unwrap_or(false);
        others.retain(|fit| is_shown(fit.template));
        Ok(self.longest(others)?.filter(|fit| !self.may_be_longer(fit.template, is_shown)))
    }

    /// The longest whose values can be true; none where two that are equally long can.
    fn longest(&self, mut fits: Vec<TemplateMatch>) -> Result<Option<TemplateMatch>> {
        fits.sort_by_key(|fit| std::cmp::Reverse(fit.end));
        let mut best: Option<TemplateMatch> = None;
        for fit in fits {
            if best.as_ref().is_some_and(|best| best.end != fit.end) {
                break;
            }
            if self.expected.accepts(self.damaged, &fit.entries)? {
                if best.is_some() {
                    return Ok(None);
                }
                best = Some(fit);
            }
        }
        Ok(best)
    }

    /// Lays a template at `at`; `None` where it does not fit or its clock is not the next.
    fn match_template(
        &self,
        template: usize,
        at: u64,
        counter: StepCounter,
        frame: u64,
    ) -> Result<Option<TemplateMatch>> {
        let items = &self.templates[template];
        let mut fit = TemplateMatch { entries: Vec::with_capacity(items.len()), end: at, counter, template };
        let mut ticked = false;
        for item in items {
            let Some(entry) = self.place_chunk(item, &fit, frame)? else { return Ok(None) };
            if entry.id == counter.id {
                let Some(next) = counter.advance(self.damaged, &entry)? else { return Ok(None) };
                fit.counter = next;
                ticked = true;
            }
            fit.entries.push(entry);
            if let Some(range) = entry.byte_range().filter(|range| !range.is_empty()) {
                fit.end = range.end;
            }
        }
        Ok(ticked.then_some(fit))
    }

    fn place_chunk(
        &self,
        item: &TemplateChunk,
        fit: &TemplateMatch,
        frame: u64,
    ) -> Result<Option<IndexEntry>> {
        let mut entry = IndexEntry { frame, ..item.entry };
        if let Some(count) = item.counted_by.and_then(|count| fit.entries.get(count)) {
            let Some(n) = scalar(self.damaged, count)?.and_then(|n| u64::try_from(n).ok()) else {
                return Ok(None);
            };
            entry.n = n;
        }
        let Some(size) = entry.size() else { return Ok(None) };
        let Some(at) = self.room(fit.end, size) else { return Ok(None) };
        entry.location = i64::try_from(at).unwrap_or(i64::MAX);
        Ok(Some(entry))
    }

    /// Finds the offset of `size` bytes that follow those before `at`: there, or after a block that begins there.
    fn room(&self, at: u64, size: u64) -> Option<u64> {
        let position = self.free.partition_point(|free| free.end <= at);
        let free = self.free.get(position)?;
        let start = at.max(free.start).checked_next_multiple_of(self.alignment)?;
        start.checked_add(size).filter(|end| *end <= free.end).map(|_| start)
    }

    /// Whether some template's clock, at `at`, is the one after `counter`.
    fn begins_at(&self, at: u64, counter: StepCounter) -> Result<bool> {
        for items in self.templates {
            let mut fit = TemplateMatch { entries: Vec::new(), end: at, counter, template: 0 };
            for item in items {
                let Some(entry) = self.place_chunk(item, &fit, 0)? else { break };
                if entry.id == counter.id {
                    if counter.advance(self.damaged, &entry)?.is_some() {
                        return Ok(true);
                    }
                    break;
                }
                fit.entries.push(entry);
                fit.end = entry.byte_range().map_or(fit.end, |range| range.end);
            }
        }
        Ok(false)
    }

    /// True where one of the templates in question begins with all of another.
    fn may_be_longer(&self, template: usize, in_question: impl Fn(usize) -> bool) -> bool {
        let short = &self.templates[template];
        let longer = |long: &Template| long.len() > short.len() && long.starts_with(short);
        self.templates.iter().enumerate().any(|(at, long)| in_question(at) && longer(long))
    }
}

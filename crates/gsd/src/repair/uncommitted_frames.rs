//! Searches for frames that were written and never committed.
//!
//! Data are written in the order in which chunks are, so that behind the last committed chunk lie the chunks of the next frames,
//! one after the other, and no entry describes them. Committed frames show which chunks a frame has, in which order and how large:
//! that is a template. It is laid over the bytes for as long as the step goes on rising and the next frame begins where this one ends.
//! Of several templates the one is taken behind which most frames follow, or the end of the data; where two fit equally well, none.
//!
//! If frame 0 alone is committed, as `gsd.hoomd` leaves it until it is told to flush, later frames have some of its chunks: the step,
//! positions, perhaps box, orientations, velocities, images, and the log, in the order of frame 0. Such a template is taken where
//! another frame follows it. In a file that was cut no frame is found: its index had entries of later ones.

use std::ops::Range;

use container_core::{Progress, Result};

use super::damaged_file::DamagedFile;
use super::step_counter::{StepCounter, WrittenNames, scalar};
use crate::ChunkType;
use crate::index::IndexEntry;

/// Templates that are tried at each place.
const MAX_TEMPLATES: usize = 16;

/// Frames behind the next one that templates which fit it are compared by.
const LOOKAHEAD: usize = 8;

/// Matches of templates for one such comparison.
const MAX_LOOKAHEAD_MATCHES: usize = 1024;

/// Chunks that a frame may have or lack, apart from the log.
const OPTIONAL_CHUNKS: [&str; 6] = [
    "configuration/box",
    "particles/orientation",
    "particles/velocity",
    "particles/angmom",
    "particles/image",
    "log/",
];

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

/// All templates of frames that have some chunks of frame 0, `first`. The step, with the id `step`, comes first.
pub(super) fn templates_of_first(
    first: &[IndexEntry],
    step: u16,
    name: impl Fn(u16) -> Option<String>,
) -> Vec<Template> {
    let mut entries = first.to_vec();
    entries.sort_by_key(|entry| entry.location);
    let which = |entry: &IndexEntry| {
        let name = name(entry.id)?;
        OPTIONAL_CHUNKS
            .iter()
            .position(|changing| name == *changing || (*changing == "log/" && name.starts_with("log/")))
    };
    let is_position = |entry: &IndexEntry| name(entry.id).as_deref() == Some("particles/position");
    let there: Vec<usize> = (0..OPTIONAL_CHUNKS.len())
        .filter(|at| entries.iter().any(|entry| which(entry) == Some(*at)))
        .collect();
    if !entries.iter().any(is_position) {
        return Vec::new();
    }
    let counter =
        IndexEntry { n: 1, m: 1, id: step, type_code: ChunkType::Uint64.code(), ..IndexEntry::default() };
    let item = |entry: &IndexEntry| TemplateChunk {
        entry: IndexEntry { frame: 0, location: 0, ..*entry },
        counted_by: None,
    };
    let form = |chosen: u32| {
        let has = |entry: &&IndexEntry| {
            let place = which(entry).and_then(|at| there.iter().position(|there| *there == at));
            is_position(entry) || place.is_some_and(|place| chosen >> place & 1 == 1)
        };
        [item(&counter)].into_iter().chain(entries.iter().filter(has).map(item)).collect()
    };
    (0..1_u32 << there.len()).map(form).collect()
}

/// Search for uncommitted frames in unused bytes.
pub(super) struct FrameSearch<'w, 'a> {
    pub(super) damaged: &'w DamagedFile<'a>,
    pub(super) templates: &'w [Template],
    /// Templates from here on are none that a committed frame has.
    pub(super) guessed_from: usize,
    pub(super) written: &'w WrittenNames,
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
            let is_shown = shown.get(template).copied().unwrap_or(false);
            if self.begins_at(fit.end, fit.counter)? && (is_shown || self.is_proved(&fit, at)?) {
                followed.push(fit);
            } else {
                others.push(fit);
            }
        }
        if followed.len() > 1 {
            followed = self.furthest(followed)?;
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

    /// True for the first frame of its form where another whole one follows it, or, at the end of the data, a part of one.
    fn is_proved(&self, fit: &TemplateMatch, at: u64) -> Result<bool> {
        let end = self.free.last().map_or(0, |free| free.end);
        let is_last = end.saturating_sub(fit.end) < fit.end - at;
        let mut matches = MAX_LOOKAHEAD_MATCHES;
        Ok(is_last || self.following(fit.end, fit.counter, 1, &mut matches)? > 0)
    }

    /// Those behind which the most frames follow.
    fn furthest(&self, fits: Vec<TemplateMatch>) -> Result<Vec<TemplateMatch>> {
        let mut matches = MAX_LOOKAHEAD_MATCHES;
        let following = |fit: &TemplateMatch| self.following(fit.end, fit.counter, LOOKAHEAD, &mut matches);
        let following = fits.iter().map(following).collect::<Result<Vec<usize>>>()?;
        let most = following.iter().max().copied().unwrap_or(0);
        let fits = fits.into_iter().zip(following).filter(|(_, following)| *following == most);
        Ok(fits.map(|(fit, _)| fit).collect())
    }

    /// The number of frames that follow at `at`, up to `most`; `most` where the data end.
    fn following(&self, at: u64, counter: StepCounter, most: usize, matches: &mut usize) -> Result<usize> {
        if most == 0 || self.is_end(at)? {
            return Ok(most);
        }
        let mut found = 0;
        for template in 0..self.templates.len() {
            if *matches == 0 || found == most {
                break;
            }
            *matches -= 1;
            if let Some(fit) = self.match_template(template, at, counter, 0)? {
                found = found.max(1 + self.following(fit.end, fit.counter, most - 1, matches)?);
            }
        }
        Ok(found)
    }

    /// True where no data follow: nothing, or a page of zeros.
    fn is_end(&self, at: u64) -> Result<bool> {
        let Some(free) = self.free.iter().find(|free| free.end > at) else { return Ok(true) };
        let start = at.max(free.start);
        let head = self.damaged.read(start..free.end.min(start.saturating_add(4096)))?;
        Ok(head.iter().all(|byte| *byte == 0))
    }

    /// The longest that reached the disk; none where two are equally long.
    fn longest(&self, mut fits: Vec<TemplateMatch>) -> Result<Option<TemplateMatch>> {
        fits.sort_by_key(|fit| std::cmp::Reverse(fit.end));
        let mut best: Option<TemplateMatch> = None;
        for fit in fits {
            if best.as_ref().is_some_and(|best| best.end != fit.end) {
                break;
            }
            if self.written.accept(self.damaged, &fit.entries)? {
                if best.is_some() {
                    return Ok(None);
                }
                best = Some(fit);
            }
        }
        Ok(best)
    }

    /// Lays a template at `at`; `None` where it does not fit or its step is not the next.
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

    /// Whether some template's step, at `at`, is the one after `counter`.
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

//! Choosing frames, and finding their entries in one sweep of the index.

use std::ops::Range;

use container_core::region::AxisSelection;
use container_core::{Error, Result};

use crate::file::File;
use crate::index::IndexEntry;

/// Frames of a file: `count` of them from `start` on, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frames {
    /// First frame.
    pub start: u64,
    /// Distance to the next; may be negative, never 0.
    pub step: i64,
    /// Number of frames.
    pub count: u64,
}

impl Frames {
    /// All frames of a file.
    #[must_use]
    pub fn all(file: &File) -> Self {
        Self { start: 0, step: 1, count: file.nframes() }
    }

    /// The frames of a range, as far as it goes.
    #[must_use]
    pub fn range(range: Range<u64>) -> Self {
        Self { start: range.start, step: 1, count: range.end.saturating_sub(range.start) }
    }

    /// Every `step`th of these, from the first on.
    ///
    /// # Errors
    /// `Usage` for 0 and for steps past 2^63.
    pub fn by(self, step: u64) -> Result<Self> {
        let wide = i64::try_from(step).ok().and_then(|step| self.step.checked_mul(step));
        match wide {
            Some(wide) if step > 0 => Ok(Self { step: wide, count: self.count.div_ceil(step), ..self }),
            _ => Err(Error::usage(format!("every {step}th frame"))),
        }
    }

    /// The frame at `slot`; `None` past the last one.
    #[must_use]
    pub fn frame(&self, slot: u64) -> Option<u64> {
        if slot >= self.count {
            return None;
        }
        let offset = i64::try_from(slot).ok().and_then(|slot| self.step.checked_mul(slot))?;
        self.start.checked_add_signed(offset)
    }

    /// Returns the position of `frame` among these; `None` if it is not one of them.
    #[must_use]
    pub fn slot(&self, frame: u64) -> Option<u64> {
        let (distance, forwards) = (frame.abs_diff(self.start), frame >= self.start);
        let step = self.step.unsigned_abs();
        let slot = if step == 1 { distance } else { distance.checked_div(step)? };
        let hit = distance == 0 || (forwards == (self.step > 0) && slot.checked_mul(step) == Some(distance));
        (hit && slot < self.count).then_some(slot)
    }

    /// The frames from the lowest to the highest.
    #[must_use]
    pub fn span(&self) -> Range<u64> {
        let Some(last) = self.count.checked_sub(1).and_then(|slot| self.frame(slot)) else { return 0..0 };
        self.start.min(last)..self.start.max(last).saturating_add(1)
    }

    /// Checks that a file has them.
    ///
    /// # Errors
    /// `Usage`, saying how many it has.
    pub fn check(&self, file: &File) -> Result<()> {
        let inside =
            self.count == 0 || (self.step != 0 && self.frame(self.count.saturating_sub(1)).is_some());
        if inside && self.span().end <= file.nframes() {
            return Ok(());
        }
        let Self { start, step, count } = self;
        let problem = format!(
            "{count} frames from {start} on, by {step}, are outside a file of {} frames",
            file.nframes()
        );
        Err(Error::usage(problem))
    }
}

impl From<&AxisSelection> for Frames {
    fn from(axis: &AxisSelection) -> Self {
        Self { start: axis.start, step: axis.step, count: axis.count }
    }
}

/// Calls `visit` with `(slot, place of the name in ids, entry)` for every chunk with one of the names `ids` in `frames`. The
/// order is that of the index, or that of the frames where they are far apart. Of several chunks with one name and frame, the
/// last call counts.
pub(crate) fn sweep(
    file: &File,
    ids: &[u16],
    frames: &Frames,
    mut visit: impl FnMut(u64, usize, &IndexEntry) -> Result<()>,
) -> Result<()> {
    /// Number of entries scanned in the time of one search.
    const ENTRIES_PER_SEARCH: u64 = 64;
    let span = frames.span();
    if span.is_empty() {
        return Ok(());
    }
    let first = file.frame_entries(span.start);
    let last = file.frame_entries(span.end.saturating_sub(1));
    let range = first.start..last.end;
    let searches = frames.count.saturating_mul(ids.len() as u64).saturating_mul(ENTRIES_PER_SEARCH);
    if searches < range.len() as u64 {
        for slot in 0..frames.count {
            let Some(frame) = frames.frame(slot) else { continue };
            for (which, id) in ids.iter().enumerate() {
                if let Some(entry) = file.find_id(frame, *id) {
                    visit(slot, which, &entry)?;
                }
            }
        }
        return Ok(());
    }
    // Names have 16-bit ids, so a table of them is small enough.
    const NO_CHUNK: u32 = u32::MAX;
    let mut table = vec![NO_CHUNK; ids.iter().max().map_or(0, |id| usize::from(*id).saturating_add(1))];
    for (id, which) in ids.iter().zip(0_u32..) {
        if let Some(place) = table.get_mut(usize::from(*id)) {
            *place = which;
        }
    }
    // Of two chunks of one name in a frame, the one that a search finds. They are neighbours except in 1.0 files, whose frames
    // are in write order.
    let hidden = file.header().is_v1().then(|| file.hidden());
    let mut last = None;
    let mut entries = range.clone().zip(file.index().slice(range).iter()).peekable();
    while let Some((at, entry)) = entries.next() {
        let key = |entry: &IndexEntry| (entry.frame, entry.id);
        let again =
            last == Some(key(&entry)) || entries.peek().is_some_and(|next| key(&next.1) == key(&entry));
        last = Some(key(&entry));
        let which = table.get(usize::from(entry.id)).copied().unwrap_or(NO_CHUNK);
        let is_hidden = || match hidden {
            Some(hidden) => hidden.contains(at),
            None => again && file.find_position(entry.frame, entry.id) != Some(at),
        };
        if which != NO_CHUNK
            && let Some(slot) = frames.slot(entry.frame)
            && !is_hidden()
        {
            visit(slot, which as usize, &entry)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;

//! Offsets of the chunks of a new frame.

use std::ops::Range;

use container_core::{Error, Limits, Result};

use crate::offsets::{Offset, Offsets};

/// Largest number of chunks of a frame: their offsets are one chunk.
pub(crate) const MAX_CHUNKS: u64 = (super::chunk_size::MAX_CHUNK_LEN / 8) as u64;

/// The offsets of a frame that change. Any number of chunks that are all alike takes no memory.
#[derive(Clone, Debug)]
pub(crate) struct OffsetTable {
    offsets: Offsets,
    limits: Limits,
}

impl OffsetTable {
    pub(crate) fn new(offsets: Offsets, limits: Limits) -> Self {
        Self { offsets, limits }
    }

    pub(crate) fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    pub(crate) fn len(&self) -> u64 {
        self.offsets.len()
    }

    pub(crate) fn get(&self, index: u64) -> Option<Offset> {
        self.offsets.get(index)
    }

    /// Puts `count` chunks at `offset` before the chunk `index`, or at the end.
    ///
    /// # Errors
    /// `Usage` for more chunks than a frame has, `Limit` where their offsets do not fit the memory.
    pub(crate) fn insert(&mut self, index: u64, offset: Offset, count: u64) -> Result<()> {
        let total = self.len().saturating_add(count);
        if total > MAX_CHUNKS {
            return Err(Error::usage(format!("{total} chunks (expected at most {MAX_CHUNKS})")));
        }
        match &mut self.offsets {
            _ if count == 0 => {}
            Offsets::Same(own, all) if *own == offset => *all = total,
            offsets if offsets.is_empty() && count > 1 => *offsets = Offsets::Same(offset, count),
            Offsets::Each(numbers) if count == 1 && index == numbers.len() as u64 => {
                numbers.push(offset.to_raw());
            }
            _ => {
                self.limits.allocate(total.saturating_mul(8))?;
                let at = to_index(index);
                let new = std::iter::repeat_n(offset.to_raw(), to_index(count));
                self.each().splice(at..at, new);
            }
        }
        Ok(())
    }

    /// Sets the offset of the existing chunk `index`.
    pub(crate) fn set(&mut self, index: u64, offset: Offset) -> Result<()> {
        if self.get(index) == Some(offset) {
            return Ok(());
        }
        self.limits.allocate(self.len().saturating_mul(8))?;
        if let Some(number) = self.each().get_mut(to_index(index)) {
            *number = offset.to_raw();
        }
        Ok(())
    }

    /// Removes existing chunks.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        match &mut self.offsets {
            Offsets::Same(_, count) => *count -= range.end - range.start,
            Offsets::Each(numbers) => _ = numbers.drain(to_index(range.start)..to_index(range.end)),
        }
    }

    /// Puts the chunks in another order: the chunk `order[i]` becomes the chunk `i`.
    ///
    /// # Errors
    /// `Usage` for a list that is not a permutation.
    pub(crate) fn reorder(&mut self, order: &[u64]) -> Result<()> {
        let mut seen = vec![false; order.len()];
        let all = order.len() as u64 == self.len();
        let once =
            |index: &u64| seen.get_mut(to_index(*index)).is_some_and(|seen| !std::mem::replace(seen, true));
        if !all || !order.iter().all(once) {
            let problem =
                format!("{} numbers that do not list each of {} chunks once", order.len(), self.len());
            return Err(Error::usage(problem));
        }
        if let Offsets::Each(numbers) = &mut self.offsets {
            *numbers = order.iter().filter_map(|index| numbers.get(to_index(*index)).copied()).collect();
        }
        Ok(())
    }

    fn each(&mut self) -> &mut Vec<i64> {
        if let Offsets::Same(offset, count) = self.offsets {
            self.offsets = Offsets::Each(vec![offset.to_raw(); to_index(count)]);
        }
        match &mut self.offsets {
            Offsets::Each(numbers) => numbers,
            Offsets::Same(..) => unreachable!("they were made different"),
        }
    }
}

/// Converts an index below [`MAX_CHUNKS`].
fn to_index(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

//! The live rows of a table: their places in its columns, and how to read them.
//!
//! python-blosc2 deletes a row by a flag in `_valid_rows` and leaves the columns as they are. Columns may be longer than the table, with
//! room for further rows; the flags of that room are false.

use std::borrow::Cow;

use container_core::array::Array;
use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::{Kind, Order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

/// Rows whose flags are read at once.
const FLAGS_PIECE_LEN: u64 = 1 << 20;

/// Bytes of stored rows that are read at once where some of them are deleted.
const ROWS_PIECE_LEN: u64 = 16 << 20;

/// Stored rows between two selected ones that are read rather than passed over.
const MAX_GAP: u64 = 64;

/// Live rows that follow each other in the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// Row of the table.
    first: u64,
    /// Index of the same row in the columns.
    stored: u64,
    len: u64,
}

/// The live rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    runs: Vec<Run>,
    count: u64,
}

impl Rows {
    /// Reads the rows whose flags in the dataset `own` of `container` are true.
    ///
    /// # Errors
    /// `Malformed` for flags that are not booleans along one axis; `Limit`; those of reading them.
    pub(crate) fn read(container: &dyn Container, own: usize, options: &ReadOptions) -> Result<Self> {
        let dataset = container.require(own)?;
        let (is_flag, shape) = (is_flag(&dataset), dataset.shape.clone());
        let ([len], true) = (shape.as_slice(), is_flag) else {
            let problem = format!("_valid_rows has {} of shape {shape:?}, not booleans", dataset.dtype);
            return Err(Error::malformed(problem));
        };
        let whole = Region::whole(&shape);
        let mut rows = Self::default();
        if let Some(flag) = container.repeated(own, &whole) {
            if flag.iter().any(|byte| *byte != 0) {
                rows.push(0, *len, &options.limits)?;
            }
            return Ok(rows);
        }
        // A flag that is read takes time, though not memory.
        options.limits.allocate(*len)?;
        for piece in whole.chunks(Order::C, FLAGS_PIECE_LEN) {
            let start = piece.axes().first().map_or(0, |axis| axis.start);
            let array = container.read(own, &piece, options)?;
            let flags = array.bytes(Order::C, &options.limits)?;
            let mut at = start;
            for run in flags.chunk_by(|one, other| (*one != 0) == (*other != 0)) {
                let len = run.len() as u64;
                if run.first().is_some_and(|flag| *flag != 0) {
                    rows.push(at, len, &options.limits)?;
                }
                at = at.saturating_add(len);
            }
        }
        Ok(rows)
    }

    fn push(&mut self, stored: u64, len: u64, limits: &Limits) -> Result<()> {
        let first = self.count;
        self.count = self.count.saturating_add(len);
        if let Some(last) = self.runs.last_mut()
            && last.stored.saturating_add(last.len) == stored
        {
            last.len = last.len.saturating_add(len);
            return Ok(());
        }
        if len > 0 {
            limits.allocate((self.runs.len() as u64 + 1).saturating_mul(size_of::<Run>() as u64))?;
            self.runs.push(Run { first, stored, len });
        }
        Ok(())
    }

    /// Returns the number of live rows.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the index after the last live row in the columns.
    pub(crate) fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.stored.saturating_add(run.len))
    }

    /// Returns the number of rows that are deleted, of those up to the last live one.
    pub(crate) fn deleted(&self) -> u64 {
        self.end().saturating_sub(self.count)
    }

    /// Returns the run that holds a live row.
    fn run_of(&self, row: u64) -> Option<&Run> {
        let at = self.runs.partition_point(|run| run.first <= row).checked_sub(1)?;
        self.runs.get(at).filter(|run| row - run.first < run.len)
    }

    /// Indices of a selection of live rows in the columns, in the order of the selection.
    pub(crate) fn stored(&self, axis: &AxisSelection) -> impl Iterator<Item = u64> {
        let mut run = Run { first: 0, stored: 0, len: 0 };
        let axis = *axis;
        (0..axis.count).filter_map(move |number| {
            let row = place(&axis, number);
            if row < run.first || row - run.first >= run.len {
                run = *self.run_of(row)?;
            }
            Some(run.stored.saturating_add(row - run.first))
        })
    }

    /// Returns the region of a column that holds a region of its live rows, where the rows between are live as well.
    fn shifted(&self, region: &Region, shape: &[u64]) -> Result<Option<Region>> {
        let Some((axis, others)) = region.axes().split_first() else { return Ok(None) };
        let start = if axis.count == 0 {
            0
        } else {
            let Some(run) = self.run_of(axis.start) else { return Ok(None) };
            let last = place(axis, axis.count - 1);
            if last < run.first || last - run.first >= run.len {
                return Ok(None);
            }
            run.stored.saturating_add(axis.start - run.first)
        };
        let axes = std::iter::once(AxisSelection { start, ..*axis }).chain(others.iter().copied());
        Region::new(axes.collect(), shape).map(Some)
    }

    /// Returns the element that a region of live rows repeats, where the rows are next to each other.
    pub(crate) fn repeated(&self, container: &dyn Container, own: usize, region: &Region) -> Option<Vec<u8>> {
        let dataset = container.dataset(own)?;
        container.repeated(own, &self.shifted(region, &dataset.shape).ok()??)
    }

    /// Returns the region of a column between the first and the last selected row.
    pub(crate) fn bounds(&self, region: &Region, shape: &[u64]) -> Option<Region> {
        let (axis, others) = region.axes().split_first()?;
        let (first, last) = (self.stored(axis).min()?, self.stored(axis).max()?);
        let rows = AxisSelection { start: first, step: 1, count: last - first + 1, kept: Kept::Yes };
        Region::new(std::iter::once(rows).chain(others.iter().copied()).collect(), shape).ok()
    }

    /// Reads a region of the live rows of a dataset whose first axis counts rows.
    ///
    /// # Errors
    /// `Malformed` for a dataset of fewer rows; `Limit`; those of reading.
    pub(crate) fn select(
        &self,
        container: &dyn Container,
        own: usize,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        let dataset = container.require(own)?;
        self.require_rows(dataset.shape.first().copied().unwrap_or(0))?;
        if let Some(region) = self.shifted(region, &dataset.shape)? {
            return container.read(own, &region, options)?.into_owned(&options.limits);
        }
        let (axis, others) = region.axes().split_first().ok_or_else(|| Error::usage("no axis of rows"))?;
        let row_len = row_len(&dataset, others)?;
        let mut bytes = try_zeroed_vec(axis.count.saturating_mul(row_len), &options.limits)?;
        let mut stored = self.stored(axis).peekable();
        let row_bytes = usize::try_from(row_len).unwrap_or(usize::MAX);
        let mut to = bytes.chunks_exact_mut(row_bytes.max(1));
        while let Some(first) = stored.next() {
            let (mut low, mut high, mut group) = (first, first, vec![first]);
            while let Some(next) = stored.next_if(|next| {
                let (low, high) = (low.min(*next), high.max(*next));
                let room = (group.len() as u64 + 1).saturating_mul(2).saturating_add(MAX_GAP);
                let span = high - low + 1;
                span <= room && span.saturating_mul(row_len) <= ROWS_PIECE_LEN
            }) {
                (low, high) = (low.min(next), high.max(next));
                group.push(next);
            }
            let span = AxisSelection { start: low, step: 1, count: high - low + 1, kept: Kept::Yes };
            let axes = std::iter::once(span).chain(others.iter().copied()).collect();
            let read = container.read(own, &Region::new(axes, &dataset.shape)?, options)?;
            let read = read.bytes(Order::C, &options.limits)?;
            for row in group {
                let start = usize::try_from(row - low).unwrap_or(usize::MAX).saturating_mul(row_bytes);
                let from = read.get(start..start.saturating_add(row_bytes));
                if let (Some(from), Some(to)) = (from, to.next()) {
                    to.copy_from_slice(from);
                }
            }
        }
        Array::new(dataset.dtype.clone(), region.shape(), Order::C, Cow::Owned(bytes))
    }

    /// Refuses a part of a column that has fewer rows than the table.
    ///
    /// # Errors
    /// `Malformed`.
    pub(crate) fn require_rows(&self, have: u64) -> Result<()> {
        let need = self.end();
        if have >= need {
            return Ok(());
        }
        Err(Error::malformed(format!("{have} rows, of the {need} that the table has by _valid_rows")))
    }
}

/// Whether a dataset has a boolean for each row.
pub(crate) fn is_flag(dataset: &Dataset) -> bool {
    dataset.dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Bool)
}

/// Returns the index that a selection has at a place.
pub(crate) fn place(axis: &AxisSelection, number: u64) -> u64 {
    let index = i128::from(axis.start) + i128::from(axis.step) * i128::from(number);
    u64::try_from(index).unwrap_or(0)
}

/// Bytes of the selected elements of a row.
fn row_len(dataset: &Dataset, others: &[AxisSelection]) -> Result<u64> {
    let items = others.iter().try_fold(1_u64, |product, axis| product.checked_mul(axis.count));
    let len = items.and_then(|items| items.checked_mul(dataset.dtype.itemsize() as u64));
    len.ok_or_else(|| Error::limit("memory in bytes", u64::MAX, u64::MAX))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn rows(flags: &[bool]) -> Rows {
        let mut rows = Rows::default();
        for (at, _) in (0..).zip(flags).filter(|(_, flag)| **flag) {
            rows.push(at, 1, &Limits::default()).unwrap();
        }
        rows
    }

    #[test]
    fn rows_after_the_last_live_one_are_room_and_not_deleted() {
        let some = rows(&[false, true, true, false, true, false, false]);
        assert_eq!((some.count(), some.end(), some.deleted()), (3, 5, 2));
        assert_eq!(some.runs.len(), 2);
        let none = rows(&[false, false]);
        assert_eq!((none.count(), none.end(), none.deleted()), (0, 0, 0));
    }

    #[test]
    fn selections_of_live_rows_pass_over_deleted_ones() {
        let some = rows(&[false, true, true, false, true, true]);
        let stored = |text: &str| -> Vec<u64> {
            let region = Region::parse(text, &[some.count()]).unwrap();
            some.stored(&region.axes()[0]).collect()
        };
        assert_eq!(stored(":"), [1, 2, 4, 5]);
        assert_eq!(stored("::-1"), [5, 4, 2, 1]);
        assert_eq!(stored("1:3"), [2, 4]);
        assert_eq!(stored("::3"), [1, 5]);
        assert_eq!(stored("-1"), [5]);
        assert!(stored("2:2").is_empty());
    }
}

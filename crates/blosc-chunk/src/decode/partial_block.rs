//! Decodes part of a block, skipping unneeded streams.
//!
//! The filters of most chunks keep the bytes of an element range in fixed places. Under SHUFFLE the bytes of the elements `e..f`
//! are the columns `e..f` of a matrix whose rows are the planes of bytes. Under BITSHUFFLE those of the elements `8e..8f` are the
//! columns `e..f` of one whose rows are the planes of bits. Without either there is one row. A [`Plan`] is that matrix and the
//! columns. Streams are decoded up to its last byte. BYTEDELTA is reversed up to the last column, DELTA for the columns alone
//! (for the first block from the start on). Other pipelines are reversed for the whole block.

use std::ops::Range;

use container_core::Result;

use super::block::{Job, Worker, room};
use super::stream::{Stream, Streams};
use crate::filters::{Filter, bitunshuffle, bytedelta_decode, delta_decode, unshuffle};

/// Up to so many elements are put together byte by byte.
const MAX_BYTEWISE_ELEMENTS: usize = 64;

/// Arrangement of the rows as elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Plain,
    Shuffled,
    Bitshuffled,
}

/// The bytes of the joined streams that a part of a block needs, and the way to decode it from them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    shape: Shape,
    rows: usize,
    row_len: usize,
    columns: Range<usize>,
    /// Bytes of the block that a column makes.
    unit: usize,
    /// Position in each row at which the sum of BYTEDELTA begins anew; `None` without that filter.
    restart: Option<usize>,
    is_delta: bool,
    /// Bytes of the block that are made together, a multiple of `unit`.
    align: usize,
    /// Whether all bytes before those that are wanted are made as well.
    from_start: bool,
    /// Bytes of the block that are wanted and within the rows.
    pub(super) wanted: Range<usize>,
    /// Bytes of the block that are wanted and after the rows, which filters leave in place.
    pub(super) tail: Range<usize>,
}

impl Plan {
    /// Returns the plan for the bytes `range` of a block of `len`, if the pipeline allows one. `is_first` where DELTA has no
    /// reference.
    pub(super) fn new(job: Job<'_, '_>, len: usize, range: Range<usize>, is_first: bool) -> Option<Self> {
        let typesize = usize::from(job.header().typesize);
        let (mut shape, mut width, mut sums, mut is_delta) = (Shape::Plain, 1, None, false);
        for filter in job.filters().filters().rev() {
            let is_start = shape == Shape::Plain && !is_delta;
            match filter.id {
                Filter::TRUNC_PREC | Filter::INT_TRUNC => {}
                Filter::BYTEDELTA | Filter::BYTEDELTA_BUGGY if is_start && sums.is_none() => {
                    sums = Some(filter);
                }
                Filter::SHUFFLE if is_start => {
                    width = if filter.meta == 0 { typesize } else { usize::from(filter.meta) };
                    shape = if width > 1 { Shape::Shuffled } else { Shape::Plain };
                }
                Filter::BITSHUFFLE if is_start => {
                    width = typesize;
                    // Blosc1 shuffles all elements or none.
                    let is_plain = job.header().is_blosc1() && !(len / width).is_multiple_of(8);
                    shape = if is_plain { Shape::Plain } else { Shape::Bitshuffled };
                }
                Filter::DELTA if !is_delta => is_delta = true,
                _ => return None,
            }
        }
        let (rows, row_len, unit) = match shape {
            Shape::Plain => (1, len, 1),
            Shape::Shuffled => (width, len / width, width),
            Shape::Bitshuffled => (8 * width, len / width / 8, 8 * width),
        };
        let restart = match sums {
            None => None,
            Some(filter) => {
                let streams = match filter.meta {
                    0 => job.geometry.typesize.unwrap_or(typesize),
                    meta => usize::from(meta),
                };
                if streams != rows {
                    return None;
                }
                let is_buggy = filter.id == Filter::BYTEDELTA_BUGGY;
                Some(if is_buggy { row_len / 16 * 16 } else { row_len })
            }
        };
        if range.end > rows * row_len && (is_delta || restart.is_some()) {
            return None;
        }
        let word = if is_delta { delta_word(typesize) } else { 1 };
        let align = if unit.is_multiple_of(word) { unit } else { word };
        if !align.is_multiple_of(unit) {
            return None;
        }
        let from_start = is_delta && is_first;
        let (columns, wanted, tail) = (0..0, 0..0, 0..0);
        let all =
            Self { shape, rows, row_len, columns, unit, restart, is_delta, align, from_start, wanted, tail };
        Some(all.of(range))
    }

    /// Returns the plan for other bytes, `range`, of the block.
    pub(super) fn of(&self, range: Range<usize>) -> Self {
        let body = self.rows * self.row_len;
        let wanted = range.start.min(body)..range.end.min(body);
        let tail = range.start.max(body)..range.end.max(body);
        let start = if self.from_start { 0 } else { wanted.start / self.align * self.align };
        let end = wanted.end.next_multiple_of(self.align).min(body);
        Self { columns: start / self.unit..end / self.unit, wanted, tail, ..*self }
    }

    /// Whether it is less work to make `count` pieces of it, of `len` bytes together, than all of it: counted in bytes of all.
    pub(super) fn is_sparse(&self, count: usize, len: usize) -> bool {
        // What a piece takes to begin with, as measured.
        let piece = if self.shape == Shape::Bitshuffled { 4096 } else { 64 };
        !self.from_start && count.saturating_mul(piece) + len.saturating_mul(4) < self.made().len()
    }

    /// Returns the bytes of the block that come out.
    pub(super) fn made(&self) -> Range<usize> {
        self.columns.start * self.unit..self.columns.end * self.unit
    }

    /// Returns the bytes of the joined streams within `span` that are needed.
    fn needed(&self, span: &Range<usize>) -> Range<usize> {
        let (mut from, mut to) = (span.end, span.start);
        if !self.columns.is_empty() {
            // Sums run from the start of each row.
            let first = if self.restart.is_some() { 0 } else { self.columns.start };
            let last = self.columns.end;
            // The first row that ends after the start of the span, and the one after the last that starts before its end.
            let top = if span.start < last { 0 } else { (span.start - last) / self.row_len + 1 };
            let bottom = span.end.saturating_sub(first).div_ceil(self.row_len).min(self.rows);
            if top < bottom {
                from = span.start.max(top * self.row_len + first);
                to = span.end.min((bottom - 1) * self.row_len + last);
            }
        }
        let tail = self.tail.start.max(span.start)..self.tail.end.min(span.end);
        if !tail.is_empty() {
            (from, to) = (from.min(tail.start), to.max(tail.end));
        }
        from..to
    }

    /// Puts what is needed of a stream of one byte, which makes up `span` of the joined ones.
    fn fill(&self, byte: u8, span: &Range<usize>, joined: &mut [u8]) {
        let needed = self.needed(span);
        // An empty range may be out of bounds.
        if !needed.is_empty() {
            joined[needed].fill(byte);
        }
    }

    /// Copies what is needed of a stream that is stored at `range`, and makes up `span` of the joined ones.
    fn copy(&self, job: Job<'_, '_>, range: &Range<usize>, span: &Range<usize>, joined: &mut [u8]) {
        let needed = self.needed(span);
        if !needed.is_empty() {
            let from = range.start + (needed.start - span.start);
            joined[needed.clone()].copy_from_slice(&job.chunk.bytes()[from..from + needed.len()]);
        }
    }

    /// Undoes BYTEDELTA in each row, up to the last column.
    pub(super) fn sum(&self, joined: &mut [u8]) {
        let Some(restart) = self.restart else { return };
        for row in joined.chunks_exact_mut(self.row_len.max(1)).take(self.rows) {
            let (before, after) = row[..self.columns.end].split_at_mut(restart.min(self.columns.end));
            bytedelta_decode(1, before);
            bytedelta_decode(1, after);
        }
    }
}

/// Bytes of what DELTA takes for a word.
const fn delta_word(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

impl Worker {
    /// Decodes the bytes `range` of the block `index` into `dst`. `reference` is the start of the first block under DELTA: the
    /// range of [`Plan::made`], or all of it without a plan.
    pub(super) fn part<'j>(
        &mut self,
        job: Job<'j, '_>,
        index: usize,
        reference: Option<&'j [u8]>,
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let len = job.chunk.block_len(index);
        if range == (0..len) {
            return self.block(job, index, reference, dst);
        }
        let mut block = std::mem::take(&mut self.block);
        let result = match Plan::new(job, len, range.clone(), reference.is_none()) {
            Some(plan) => self.planned(job, index, reference, &plan, &mut block, dst),
            None => room(&mut block, len, job.limits).and_then(|block| {
                self.block(job, index, reference, block)?;
                dst.copy_from_slice(&block[range]);
                Ok(())
            }),
        };
        self.block = block;
        result
    }

    fn planned(
        &mut self,
        job: Job<'_, '_>,
        index: usize,
        reference: Option<&[u8]>,
        plan: &Plan,
        block: &mut Vec<u8>,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut joined = std::mem::take(&mut self.streams);
        let result = room(&mut joined, job.chunk.block_len(index), job.limits).and_then(|joined| {
            self.fetch(job, index, plan, None, joined)?;
            plan.sum(joined);
            self.make_wanted(job, plan, reference, joined, block, dst)
        });
        self.streams = joined;
        result
    }

    /// Makes what `plan` wants, through `block` where more has to be made.
    pub(super) fn make_wanted(
        &mut self,
        job: Job<'_, '_>,
        plan: &Plan,
        reference: Option<&[u8]>,
        joined: &[u8],
        block: &mut Vec<u8>,
        dst: &mut [u8],
    ) -> Result<()> {
        let (body, tail) = dst.split_at_mut(plan.wanted.len());
        tail.copy_from_slice(&joined[plan.tail.clone()]);
        let made = plan.made();
        if made == plan.wanted {
            return self.make(job, plan, reference, joined, body);
        }
        let block = room(block, made.len(), job.limits)?;
        self.make(job, plan, reference, joined, block)?;
        let skip = plan.wanted.start - made.start;
        body.copy_from_slice(&block[skip..skip + body.len()]);
        Ok(())
    }

    /// Decodes what is needed of each stream to its place among the joined ones: for `plan`, or for no more than the bytes `runs`
    /// of it.
    pub(super) fn fetch(
        &mut self,
        job: Job<'_, '_>,
        index: usize,
        plan: &Plan,
        runs: Option<&[Range<usize>]>,
        joined: &mut [u8],
    ) -> Result<()> {
        let mut streams = Streams::of(job.chunk, index)?;
        let len = streams.len;
        let mut start = 0;
        while let Some(stream) = streams.next()? {
            let span = start..start + len;
            start = span.end;
            let needed = plan.needed(&span);
            if needed.is_empty() {
                continue;
            }
            // Where a stream holds several rows, or sums run from its start, each run needs most of it.
            let runs = runs.filter(|_| len <= plan.row_len && plan.restart.is_none());
            match (stream, runs) {
                (Stream::Run(byte), None) => plan.fill(byte, &span, joined),
                (Stream::Stored(range), None) => plan.copy(job, &range, &span, joined),
                (Stream::Run(byte), Some(runs)) => {
                    runs.iter().for_each(|run| plan.of(run.clone()).fill(byte, &span, joined));
                }
                (Stream::Stored(range), Some(runs)) => {
                    runs.iter().for_each(|run| plan.of(run.clone()).copy(job, &range, &span, joined));
                }
                (Stream::Coded(range), _) => {
                    let need = needed.end - span.start;
                    self.codecs.decode(job, range, &mut joined[span], need)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the columns of `plan` into bytes of the block.
    pub(super) fn make(
        &mut self,
        job: Job<'_, '_>,
        plan: &Plan,
        reference: Option<&[u8]>,
        joined: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        let typesize = usize::from(job.header().typesize);
        let columns = plan.columns.clone();
        match plan.shape {
            Shape::Plain => dst.copy_from_slice(&joined[columns]),
            Shape::Shuffled if columns.len() <= MAX_BYTEWISE_ELEMENTS => {
                for (element, column) in dst.chunks_exact_mut(plan.unit).zip(columns) {
                    for (byte, row) in element.iter_mut().zip(joined.chunks_exact(plan.row_len)) {
                        *byte = row[column];
                    }
                }
            }
            shape => {
                let picked = room(&mut self.picked, dst.len(), job.limits)?;
                if !columns.is_empty() {
                    let rows = joined.chunks_exact(plan.row_len).map(|row| &row[columns.clone()]);
                    for (to, from) in picked.chunks_exact_mut(columns.len()).zip(rows) {
                        to.copy_from_slice(from);
                    }
                }
                if shape == Shape::Shuffled {
                    unshuffle(plan.unit, picked, dst);
                } else {
                    bitunshuffle(typesize, picked, dst);
                }
            }
        }
        if plan.is_delta {
            delta_decode(typesize, reference.map(|reference| &reference[plan.made()]), dst);
        }
        Ok(())
    }
}

//! Collects columns in one pass over the index, copying each chunk on the way.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use container_core::threads::on_threads;
use container_core::{Error, Limits, Result};

use super::{
    Changes, Column, Gaps, LogOptions, LogTable, Shapes, SkippedColumn, Texts, ValidityBitmap, Values,
};
use crate::ChunkType;
use crate::coalesced_reads::CoalescedReads;
use crate::file::File;
use crate::frames::{Frames, sweep};
use crate::index::IndexEntry;

/// Bytes that a text takes in its column during the pass over the index: start and end of its chunk.
const TEXT_SPAN_LEN: usize = 16;

/// Minimum number of rows per thread; a multiple of 64, so that threads share no word of the bitmap.
const MIN_ROWS_PER_THREAD: u64 = 1 << 14;

pub(super) fn read(file: &File, ids: &[u16], frames: &Frames, options: &LogOptions) -> Result<LogTable> {
    let step = file.names().id("configuration/step");
    let mut columns: Vec<ColumnBuilder> =
        step.into_iter().map(|id| ColumnBuilder::new(file, id, Gaps::FromFrame0)).collect();
    columns.extend(ids.iter().map(|id| ColumnBuilder::new(file, *id, options.gaps)));
    let mut budget = Budget { limits: file.options().limits, used: 0 };
    // The chunk of the first frame, or the one that it inherits, determines the type and shape of most columns.
    for column in &mut columns {
        let first = frames.frame(0).and_then(|frame| file.find_id(frame, column.id));
        if let Some(entry) = first.or(column.ancestor) {
            column.start(ColumnShape::of(&entry)?, frames.count, options.shapes, &mut budget)?;
        }
    }
    let all: Vec<usize> = (0..columns.len()).collect();
    let late = fill_columns(file, frames, &mut columns, &all, options.threads)?;
    if !late.is_empty() {
        for (at, entry) in &late {
            columns[*at].start(ColumnShape::of(entry)?, frames.count, options.shapes, &mut budget)?;
        }
        let late: Vec<usize> = late.into_iter().map(|(at, _)| at).collect();
        fill_columns(file, frames, &mut columns, &late, options.threads)?;
    }

    inherit(file, frames, &mut columns)?;
    fetch_texts(file, &mut columns, &mut budget)?;
    for column in columns.iter_mut().filter(|column| column.changed.is_none()) {
        column.values.swap_from(file.header().byte_order);
    }
    let mut columns = columns.into_iter();
    let mut stored_steps = ValidityBitmap::zeros(frames.count, &budget.limits)?;
    let steps = match step.and_then(|_| columns.next()) {
        Some(mut column) => {
            if !column.stored.is_empty() {
                stored_steps = std::mem::take(&mut column.stored);
            }
            column.into_steps(frames.count, &mut budget)?
        }
        None => container_core::source::try_zeroed_vec(frames.count, &budget.limits)?,
    };
    let mut table = LogTable {
        frames: (0..frames.count).filter_map(|slot| frames.frame(slot)).collect(),
        steps,
        stored_steps,
        columns: Vec::new(),
        skipped: Vec::new(),
    };
    for column in columns {
        let name = file.names().get(column.id).unwrap_or_default().into_owned();
        match column.into_column(name) {
            Outcome::Column(column) => table.columns.push(column),
            Outcome::Left => {}
            Outcome::SkippedColumn(skipped)
                if options.changes == Changes::Refuse && skipped.frame.is_some() =>
            {
                let problem = format!("{}: {}", skipped.name, skipped.why);
                return Err(Error::usage(problem).with_hint("skip quantities that change, or choose frames"));
            }
            Outcome::SkippedColumn(skipped) => table.skipped.push(skipped),
        }
    }
    Ok(table)
}

/// Memory budget that all columns share.
struct Budget {
    limits: Limits,
    used: u64,
}

impl Budget {
    fn take(&mut self, bytes: u64) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        self.limits.allocate(self.used).map(|_| ())
    }
}

/// Type and shape of a quantity. All texts are equal.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ColumnShape {
    chunk_type: ChunkType,
    n: u64,
    m: u32,
    row_len: usize,
}

impl ColumnShape {
    fn of(entry: &IndexEntry) -> Result<Self> {
        let wrong = || Error::malformed(format!("the entry of frame {} is not a valid chunk", entry.frame));
        let chunk_type = entry.chunk_type().ok_or_else(wrong)?;
        if chunk_type == ChunkType::Character {
            return Ok(Self { chunk_type, n: 1, m: 1, row_len: TEXT_SPAN_LEN });
        }
        let row_len = entry.size().and_then(|size| usize::try_from(size).ok()).ok_or_else(wrong)?;
        Ok(Self { chunk_type, n: entry.n, m: entry.m, row_len })
    }

    fn fits(&self, entry: &IndexEntry) -> bool {
        let same = entry.type_code == self.chunk_type.code();
        same && (self.chunk_type == ChunkType::Character || (entry.n, entry.m) == (self.n, self.m))
    }
}

/// A column being filled.
struct ColumnBuilder {
    id: u16,
    /// Frame 0's chunk, where gaps take its value.
    ancestor: Option<IndexEntry>,
    /// `None` until a chunk is found.
    shape: Option<ColumnShape>,
    /// True for a shape that is not selected.
    left: bool,
    values: Values,
    stored: ValidityBitmap,
    /// The first frame whose chunk differs.
    changed: Option<(u64, String)>,
}

/// The part of a column that one thread fills.
struct Part<'a> {
    shape: Option<ColumnShape>,
    data: &'a mut [u8],
    stored: &'a mut [u64],
    changed: Option<IndexEntry>,
    late: Option<IndexEntry>,
}

/// Rows from `first` on, in every column.
struct ThreadRows<'a> {
    first: u64,
    rows: u64,
    parts: Vec<Part<'a>>,
}

/// Fills the columns `which`. Returns those whose type was undetermined, each with its first chunk.
fn fill_columns(
    file: &File,
    frames: &Frames,
    columns: &mut [ColumnBuilder],
    which: &[usize],
    threads: usize,
) -> Result<Vec<(usize, IndexEntry)>> {
    let wanted: Vec<usize> = which.iter().copied().filter(|at| !columns[*at].left).collect();
    let ids: Vec<u16> = wanted.iter().map(|at| columns[*at].id).collect();
    let threads = threads.max(1);
    let share = frames
        .count
        .div_ceil(threads as u64 * 4)
        .next_multiple_of(MIN_ROWS_PER_THREAD)
        .max(MIN_ROWS_PER_THREAD);
    let shares = shares(
        columns,
        &wanted,
        frames.count,
        if threads == 1 { frames.count.next_multiple_of(64) } else { share },
    );
    let (queue, done) = (Mutex::new(shares.into_iter()), Mutex::new(Vec::new()));
    on_threads(threads, &|| {
        let mut joined = CoalescedReads::new(file.source(), file.options().limits);
        loop {
            let share = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(mut share) = share else { return Ok(()) };
            fill(file, frames, &ids, &mut share, &mut joined)?;
            let outcome = share.parts.iter().map(|part| (part.changed, part.late)).collect::<Vec<_>>();
            done.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
        }
    })?;
    let mut late: Vec<Option<IndexEntry>> = vec![None; wanted.len()];
    for outcome in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        for ((at, late), (changed, new)) in wanted.iter().zip(&mut late).zip(outcome) {
            if let Some(entry) = changed {
                columns[*at].change(&entry);
            }
            first_of(late, new);
        }
    }
    Ok(wanted.into_iter().zip(late).filter_map(|(at, late)| Some((at, late?))).collect())
}

fn first_of(first: &mut Option<IndexEntry>, new: Option<IndexEntry>) {
    if let Some(new) = new
        && first.is_none_or(|old| new.frame < old.frame)
    {
        *first = Some(new);
    }
}

/// Cuts the columns into shares of `rows` rows.
fn shares<'a>(
    columns: &'a mut [ColumnBuilder],
    wanted: &[usize],
    count: u64,
    rows: u64,
) -> Vec<ThreadRows<'a>> {
    if count == 0 {
        return Vec::new();
    }
    let rows = rows.max(64);
    let starts = (0..count).step_by(usize::try_from(rows).unwrap_or(usize::MAX));
    let share = |first| ThreadRows { first, rows: rows.min(count - first), parts: Vec::new() };
    let mut shares: Vec<ThreadRows<'_>> = starts.map(share).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        if !wanted.contains(&at) {
            continue;
        }
        let ColumnBuilder { shape, values, stored, .. } = column;
        let (mut data, mut words) = (values.bytes_mut(), &mut stored.words[..]);
        for share in &mut shares {
            // Both are as long as all shares together, or empty while the column's type is undetermined.
            let len = usize::try_from(share.rows).unwrap_or(usize::MAX);
            let bytes = len.saturating_mul(shape.map_or(0, |shape| shape.row_len)).min(data.len());
            let (part, rest) = data.split_at_mut(bytes);
            let (bits, more) = words.split_at_mut(len.div_ceil(64).min(words.len()));
            share.parts.push(Part { shape: *shape, data: part, stored: bits, changed: None, late: None });
            (data, words) = (rest, more);
        }
    }
    shares
}

/// Passes the entries of one share's frames.
fn fill(
    file: &File,
    frames: &Frames,
    ids: &[u16],
    share: &mut ThreadRows<'_>,
    joined: &mut CoalescedReads<'_, (usize, usize)>,
) -> Result<()> {
    let start = frames.frame(share.first).unwrap_or(0);
    let own = Frames { start, step: frames.step, count: share.rows };
    // Within the part, whose rows have been counted.
    let copy = |parts: &mut [Part<'_>], (which, at): (usize, usize), bytes: &[u8]| {
        parts[which].data[at..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    };
    sweep(file, ids, &own, |slot, which, entry| {
        let part = &mut share.parts[which];
        let Some(shape) = part.shape else {
            first_of(&mut part.late, Some(*entry));
            return Ok(());
        };
        if !shape.fits(entry) {
            first_of(&mut part.changed, Some(*entry));
            return Ok(());
        }
        let range = chunk_range(file, entry)?;
        // Within the share, whose rows have been counted.
        let row = usize::try_from(slot).unwrap_or(usize::MAX);
        let at = row * shape.row_len;
        part.stored[row / 64] |= 1 << (row % 64);
        if shape.chunk_type == ChunkType::Character {
            part.data[at..][..shape.row_len].copy_from_slice(bytemuck::cast_slice(&[range.start, range.end]));
            return Ok(());
        }
        let (len, parts) = (shape.row_len as u64, &mut share.parts);
        joined.request(range.start, len, (which, at), &mut |tag, bytes| copy(parts, tag, bytes))
    })?;
    joined.finish(&mut |tag, bytes| copy(&mut share.parts, tag, bytes))
}

/// Fills gaps with frame 0's values.
fn inherit(file: &File, frames: &Frames, columns: &mut [ColumnBuilder]) -> Result<()> {
    let mut joined = CoalescedReads::new(file.source(), file.options().limits);
    for at in 0..columns.len() {
        let Some(range) = columns[at].inherited(file, frames)? else { continue };
        if let Values::Text(_) = &columns[at].values {
            columns[at].fill_gaps(bytemuck::cast_slice(&[range.start, range.end]));
            continue;
        }
        let take = &mut |at: usize, value: &[u8]| {
            columns[at].fill_gaps(value);
            Ok(())
        };
        joined.request(range.start, range.end - range.start, at, take)?;
    }
    joined.finish(&mut |at, value| {
        columns[at].fill_gaps(value);
        Ok(())
    })
}

/// Rows of a column that have one text.
#[derive(Clone, Copy)]
struct TextRows {
    column: usize,
    first: usize,
    count: usize,
}

/// Replaces the positions of texts in the file by the texts. Consecutive rows with one chunk share its text.
fn fetch_texts(file: &File, columns: &mut [ColumnBuilder], budget: &mut Budget) -> Result<()> {
    let is_read =
        |column: &ColumnBuilder| column.changed.is_none() && matches!(column.values, Values::Text(_));
    let mut texts: Vec<&mut Texts> = columns
        .iter_mut()
        .filter(|column| is_read(column))
        .filter_map(|column| if let Values::Text(texts) = &mut column.values { Some(texts) } else { None })
        .collect();
    let mut put = |texts: &mut [&mut Texts], rows: TextRows, bytes: &[u8]| {
        let Texts { bytes: all, spans } = &mut *texts[rows.column];
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&bytes[..end]);
        budget.take(text.len() as u64)?;
        let start = all.len() as u64;
        all.push_str(&text);
        spans[rows.first..][..rows.count].fill([start, all.len() as u64]);
        Ok(())
    };
    let mut joined = CoalescedReads::new(file.source(), file.options().limits);
    // Frame by frame, because the texts of a frame are neighbours.
    let mut next = vec![0_usize; texts.len()];
    let rows = texts.iter().map(|texts| texts.spans.len()).max().unwrap_or(0);
    for first in 0..rows {
        for column in 0..texts.len() {
            let spans = &texts[column].spans;
            if next[column] != first || first >= spans.len() {
                continue;
            }
            let [start, end] = spans[first];
            let count = spans[first..].iter().take_while(|span| **span == [start, end]).count();
            next[column] += count;
            let rows = TextRows { column, first, count };
            joined.request(start, end - start, rows, &mut |rows, bytes| put(&mut texts, rows, bytes))?;
        }
    }
    joined.finish(&mut |rows, bytes| put(&mut texts, rows, bytes))
}

fn chunk_range(file: &File, entry: &IndexEntry) -> Result<Range<u64>> {
    let range = entry.byte_range().filter(|range| range.end <= file.layout().file_len());
    range.ok_or_else(|| {
        let problem = format!("the entry of frame {} does not describe a chunk of the file", entry.frame);
        Error::malformed(problem).with_context(file.names().get(entry.id).unwrap_or_default().into_owned())
    })
}

enum Outcome {
    Column(Column),
    /// Not selected.
    Left,
    SkippedColumn(SkippedColumn),
}

impl ColumnBuilder {
    fn new(file: &File, id: u16, gaps: Gaps) -> Self {
        let ancestor = file.find_id(0, id).filter(|_| gaps == Gaps::FromFrame0);
        let values = Values::U8(Vec::new());
        Self {
            id,
            ancestor,
            shape: None,
            left: false,
            values,
            stored: ValidityBitmap::default(),
            changed: None,
        }
    }

    fn start(&mut self, shape: ColumnShape, rows: u64, shapes: Shapes, budget: &mut Budget) -> Result<()> {
        self.left = shapes == Shapes::Scalars && (shape.n, shape.m) != (1, 1);
        if self.left {
            return Ok(());
        }
        budget.take(rows.saturating_mul(shape.row_len as u64))?;
        let width =
            if shape.chunk_type == ChunkType::Character { 1 } else { shape.n.saturating_mul(shape.m.into()) };
        self.values = Values::zeros(shape.chunk_type, rows.saturating_mul(width), &budget.limits)?;
        self.stored = ValidityBitmap::zeros(rows, &budget.limits)?;
        self.shape = Some(shape);
        Ok(())
    }

    fn change(&mut self, entry: &IndexEntry) {
        let Some(shape) = self.shape else { return };
        if self.changed.as_ref().is_some_and(|(frame, _)| *frame <= entry.frame) {
            return;
        }
        let now = entry.chunk_type().map_or("no type", ChunkType::name);
        let why = format!(
            "frame {} has {} by {} of {now}, others {} by {} of {}",
            entry.frame,
            entry.n,
            entry.m,
            shape.n,
            shape.m,
            shape.chunk_type.name()
        );
        self.changed = Some((entry.frame, why));
    }

    /// The position of frame 0's value, for rows without one.
    fn inherited(&mut self, file: &File, frames: &Frames) -> Result<Option<Range<u64>>> {
        let Some(shape) = self.shape.filter(|_| self.changed.is_none()) else { return Ok(None) };
        let Some(entry) = self.ancestor.filter(|_| !self.stored.all()) else { return Ok(None) };
        if !shape.fits(&entry) {
            let gap = self.stored.zeros_at().next().and_then(|row| frames.frame(row as u64));
            self.change(&IndexEntry { frame: gap.unwrap_or(0), ..entry });
            return Ok(None);
        }
        chunk_range(file, &entry).map(Some)
    }

    /// Sets the value of rows without one.
    fn fill_gaps(&mut self, value: &[u8]) {
        let data = self.values.bytes_mut();
        for row in self.stored.zeros_at() {
            data[row * value.len()..][..value.len()].copy_from_slice(value);
        }
    }

    fn into_column(self, name: String) -> Outcome {
        if let Some((frame, why)) = self.changed {
            return Outcome::SkippedColumn(SkippedColumn { name, frame: Some(frame), why });
        }
        if self.left {
            return Outcome::Left;
        }
        let Some(ColumnShape { chunk_type, n, m, .. }) = self.shape else {
            return Outcome::SkippedColumn(SkippedColumn {
                name,
                frame: None,
                why: "no frame has a value".into(),
            });
        };
        let (values, stored, inherits) = (self.values, self.stored, self.ancestor.is_some());
        Outcome::Column(Column { name, chunk_type, n, m, values, stored, inherits })
    }

    fn into_steps(self, rows: u64, budget: &mut Budget) -> Result<Vec<u64>> {
        let wrong = |why: &str| Err(Error::malformed(why.to_owned()).with_context("configuration/step"));
        if let Some((_, why)) = &self.changed {
            return wrong(why);
        }
        match (self.shape, self.values) {
            (None, _) => container_core::source::try_zeroed_vec(rows, &budget.limits),
            (Some(shape), _) if (shape.n, shape.m) != (1, 1) => wrong("a step is a single integer"),
            (_, Values::U64(steps)) => Ok(steps),
            (_, Values::U32(steps)) => Ok(steps.into_iter().map(u64::from).collect()),
            (_, Values::U16(steps)) => Ok(steps.into_iter().map(u64::from).collect()),
            (_, Values::U8(steps)) => Ok(steps.into_iter().map(u64::from).collect()),
            // Two's complement, as in every read of a step.
            (_, Values::I64(steps)) => Ok(steps.into_iter().map(i64::cast_unsigned).collect()),
            _ => wrong("a step is an unsigned integer"),
        }
    }
}

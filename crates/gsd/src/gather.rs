//! Stacked reads: the chunks of one name in many frames, as one array with the frames first.
//!
//! [`Stack`] finds where each frame's values are, in one sweep of the index, and holds 8 bytes a frame. Its reads copy any rows
//! of the frames into one buffer, on several threads. What a frame does not store comes from where the schema says: frame 0's
//! chunk is shared by all frames that inherit it, a default is made as it is copied.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::sync::{Mutex, PoisonError};

use container_core::array::Array;
use container_core::dtype::{DType, Order};
use container_core::region::{AxisSelection, element_count};
use container_core::source::zeroed_vec;
use container_core::threads::on_threads;
use container_core::{Error, Result};

use crate::Type;
use crate::file::File;
use crate::frames::{Frames, sweep};
use crate::hoomd;
use crate::hoomd::schema::{self, Inherit};
use crate::index::IndexEntry;
use crate::window::Window;

/// What stands for a chunk that a frame lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// What the schema of the file says: `hoomd` has frame 0's chunk or a default. Nothing under any other schema.
    #[default]
    Schema,
    /// Nothing.
    Stored,
}

impl Fallback {
    /// True where the `hoomd` schema fills the gaps of `file`.
    #[must_use]
    pub fn applies(self, file: &File) -> bool {
        self == Self::Schema && file.header().schema_name() == hoomd::SCHEMA
    }
}

/// The rows of each frame that are read, in the order of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows<'a> {
    /// All.
    All,
    /// `count` rows from `start` on, `step` apart; the step may be negative.
    Strided {
        /// First row.
        start: u64,
        /// Distance to the next.
        step: i64,
        /// How many.
        count: u64,
    },
    /// These, in this order; a row may come twice.
    List(&'a [u64]),
}

impl From<&AxisSelection> for Rows<'_> {
    fn from(axis: &AxisSelection) -> Self {
        Self::Strided { start: axis.start, step: axis.step, count: axis.count }
    }
}

/// Where the values of one name are, frame by frame, all of one type and shape.
pub struct Stack<'f> {
    file: &'f File,
    chunk_type: Type,
    n: u64,
    m: u32,
    /// Absolute offset of each frame's values; 0 for the default.
    places: Vec<u64>,
    /// The default, over and over.
    default: Vec<u8>,
}

impl<'f> Stack<'f> {
    /// Finds the chunks called `name` in `frames`.
    ///
    /// # Errors
    /// `Usage` where the frames do not hold one type and shape, naming the first frame that differs, and for a name or a frame
    /// without a chunk for which the fallback has nothing; `Malformed` and `Truncated` for chunks that are not within the file,
    /// `Limit`, `Io`.
    pub fn new(file: &'f File, name: &str, frames: &Frames, fallback: Fallback) -> Result<Self> {
        frames.check(file)?;
        let named = |error: Error| error.context(format!("chunk {name}"));
        let mut search = Search { file, name, frames, found: None, places: Vec::new(), default: Vec::new() };
        search.places = zeroed_vec(frames.count, &file.options().limits)?;
        search.stored().map_err(named)?;
        if search.places.contains(&0) {
            search.gaps(fallback).map_err(named)?;
        }
        let Search { found, places, default, .. } = search;
        // Without frames there is no shape.
        let Found { chunk_type, n, m, .. } =
            found.or_else(|| Found::any(file, name)).ok_or_else(|| no_chunk(name))?;
        Ok(Self { file, chunk_type, n, m, places, default })
    }

    /// The element type.
    #[must_use]
    pub const fn chunk_type(&self) -> Type {
        self.chunk_type
    }

    /// The element type, in the byte order of the file.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.chunk_type.dtype(self.file.header().byte_order)
    }

    /// Frames, rows and columns. As an array the last one is left out where it is 1.
    #[must_use]
    pub const fn extent(&self) -> (u64, u64, u32) {
        (self.places.len() as u64, self.n, self.m)
    }

    /// Absolute offset of the chunk that holds the values of the frame at `slot` of the frames asked for; `None` for a default.
    #[must_use]
    pub fn place(&self, slot: usize) -> Option<u64> {
        self.places.get(slot).copied().filter(|place| *place != 0)
    }

    /// Bytes of a row.
    fn row_len(&self) -> u64 {
        u64::from(self.m).saturating_mul(self.chunk_type.size())
    }

    /// Bytes that `rows` of all the frames take.
    ///
    /// # Errors
    /// `Usage` for rows past the last one, `Limit` past 2^64 bytes.
    pub fn byte_len(&self, rows: &Rows<'_>) -> Result<u64> {
        let runs = Runs::new(rows, self.n, self.row_len())?;
        runs.len()
            .and_then(|len| len.checked_mul(self.places.len() as u64))
            .ok_or_else(|| Error::limit("memory in bytes", u64::MAX, self.file.options().limits.memory))
    }

    /// Copies `rows` of every frame to `dst`, frame after frame, in the byte order of the file, on up to `threads` threads.
    ///
    /// # Errors
    /// `Usage` for rows past the last one, and where `dst` is not as long as [`Stack::byte_len`] says; those of the source.
    pub fn read_into(&self, rows: &Rows<'_>, dst: &mut [u8], threads: usize) -> Result<()> {
        // Below this a thread costs more than it copies.
        const LEAST: usize = 2 << 20;
        let len = self.byte_len(rows)?;
        if dst.len() as u64 != len {
            return Err(Error::usage(format!("a buffer of {} bytes for {len}", dst.len())));
        }
        let runs = Runs::new(rows, self.n, self.row_len())?;
        let share = dst.len().div_ceil(threads.max(1)).next_multiple_of(LEAST).max(LEAST);
        let threads = threads.min(dst.len().div_ceil(share));
        let shares = Mutex::new((0_u64, dst.chunks_mut(share)));
        let work = || {
            let mut window = Window::new(self.file.source(), self.file.options().limits);
            loop {
                let (start, piece) = {
                    let mut next = shares.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(piece) = next.1.next() else { return Ok(()) };
                    let start = next.0;
                    next.0 = start.saturating_add(piece.len() as u64);
                    (start, piece)
                };
                self.fill(&runs, start, piece, &mut window)?;
            }
        };
        on_threads(threads, &work)
    }

    /// Fills `dst` with the bytes of the result from `start` on.
    fn fill(&self, runs: &Runs<'_>, start: u64, mut dst: &mut [u8], window: &mut Window<'_>) -> Result<()> {
        let Some(first) = start.checked_div(runs.run_len) else { return Ok(()) };
        let mut within = start.checked_rem(runs.run_len).unwrap_or(0);
        let mut slot = usize::try_from(first.checked_div(runs.count).unwrap_or(0)).unwrap_or(usize::MAX);
        let mut run = first.checked_rem(runs.count).unwrap_or(0);
        while !dst.is_empty() {
            let left = usize::try_from(runs.run_len.saturating_sub(within)).unwrap_or(usize::MAX);
            let (piece, rest) = dst.split_at_mut(left.min(dst.len()));
            let offset = runs.start_of(run).saturating_add(within);
            match self.places.get(slot) {
                Some(0) | None => fill_pattern(&self.default, offset, piece),
                Some(place) => window.copy(place.saturating_add(offset), piece)?,
            }
            dst = rest;
            within = 0;
            run = run.saturating_add(1);
            if run == runs.count {
                (run, slot) = (0, slot.saturating_add(1));
            }
        }
        Ok(())
    }

    /// `rows` of every frame as an array of shape (frames, rows) or (frames, rows, columns), C order, in the byte order of the
    /// file.
    ///
    /// # Errors
    /// As [`Stack::read_into`]; `Limit`.
    pub fn read(&self, rows: &Rows<'_>, threads: usize) -> Result<Array<'static>> {
        let mut bytes = zeroed_vec(self.byte_len(rows)?, &self.file.options().limits)?;
        self.read_into(rows, &mut bytes, threads)?;
        let count = Runs::new(rows, self.n, self.row_len())?.rows;
        let mut shape = vec![self.places.len() as u64, count];
        if self.m != 1 {
            shape.push(self.m.into());
        }
        Array::new(self.dtype(), shape, Order::C, bytes.into())
    }
}

fn no_chunk(name: &str) -> Error {
    Error::usage(format!("no frame has a chunk {name}"))
}

/// `dst` as a part of `pattern` repeated, from `offset` of the repetition on.
fn fill_pattern(pattern: &[u8], offset: u64, dst: &mut [u8]) {
    let Some(phase) = offset.checked_rem(pattern.len() as u64) else { return dst.fill(0) };
    let mut phase = usize::try_from(phase).unwrap_or(0);
    let mut dst = dst;
    while let Some(from) = pattern.get(phase..).filter(|_| !dst.is_empty()) {
        let len = from.len().min(dst.len());
        let (piece, rest) = dst.split_at_mut(len);
        piece.copy_from_slice(from.get(..len).unwrap_or_default());
        (dst, phase) = (rest, 0);
    }
}

/// The runs of bytes that are copied from each chunk, all of one length.
struct Runs<'a> {
    rows: u64,
    row_len: u64,
    /// Runs of a chunk.
    count: u64,
    run_len: u64,
    kind: Rows<'a>,
}

impl<'a> Runs<'a> {
    fn new(rows: &Rows<'a>, n: u64, row_len: u64) -> Result<Self> {
        let outside = |what: String| Error::usage(format!("{what} of chunks of {n} rows"));
        let whole = |start: u64, rows: u64| Self {
            rows,
            row_len,
            count: 1,
            run_len: rows.saturating_mul(row_len),
            kind: Rows::Strided { start, step: 1, count: rows },
        };
        match *rows {
            Rows::All => Ok(whole(0, n)),
            Rows::Strided { start, step, count } => {
                let last = i128::from(count).saturating_sub(1).max(0);
                let last = i128::from(start).saturating_add(i128::from(step).saturating_mul(last));
                let inside = start < n && (0..i128::from(n)).contains(&last) && (step != 0 || count == 1);
                if count > 0 && !inside {
                    return Err(outside(format!("{count} rows from {start} on, by {step},")));
                }
                let dense = step == 1 || count <= 1;
                Ok(if dense { whole(start, count) } else { Self::single(count, row_len, *rows) })
            }
            Rows::List(list) => match list.iter().find(|row| **row >= n) {
                Some(row) => Err(outside(format!("row {row}"))),
                None => Ok(Self::single(list.len() as u64, row_len, *rows)),
            },
        }
    }

    /// A run for each row.
    const fn single(rows: u64, row_len: u64, kind: Rows<'a>) -> Self {
        Self { rows, row_len, count: rows, run_len: row_len, kind }
    }

    /// Bytes of the rows of one chunk.
    fn len(&self) -> Option<u64> {
        self.count.checked_mul(self.run_len)
    }

    /// Offset in the chunk of a run.
    fn start_of(&self, run: u64) -> u64 {
        let row = match self.kind {
            Rows::All => 0,
            Rows::Strided { start, step, .. } => {
                start.saturating_add_signed(step.saturating_mul(i64::try_from(run).unwrap_or(i64::MAX)))
            }
            Rows::List(list) => usize::try_from(run).ok().and_then(|run| list.get(run)).copied().unwrap_or(0),
        };
        row.saturating_mul(self.row_len)
    }
}

/// Type and shape that a frame has.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Found {
    frame: u64,
    chunk_type: Type,
    n: u64,
    m: u32,
}

impl Found {
    /// The first chunk of that name in the file, or what the schema says.
    fn any(file: &File, name: &str) -> Option<Self> {
        let id = file.names().id(name);
        let entry = id.and_then(|id| file.index().iter().find(|entry| entry.id == id));
        if let Some(entry) = entry {
            let IndexEntry { frame, n, m, .. } = entry;
            return entry.chunk_type().map(|chunk_type| Self { frame, chunk_type, n, m });
        }
        let field = schema::field(name)?;
        let (n, m) = field.default_shape(0);
        Some(Self { frame: 0, chunk_type: field.chunk_type, n, m })
    }
}

/// A stack being put together.
struct Search<'a> {
    file: &'a File,
    name: &'a str,
    frames: &'a Frames,
    found: Option<Found>,
    places: Vec<u64>,
    default: Vec<u8>,
}

impl Search<'_> {
    /// Places of the chunks that the frames store.
    fn stored(&mut self) -> Result<()> {
        let Some(id) = self.file.names().id(self.name) else { return Ok(()) };
        let (file, frames) = (self.file, self.frames);
        sweep(file, &[id], frames, |slot, _, entry| {
            let place = self.accept(entry.frame, entry)?;
            if let Some(one) = usize::try_from(slot).ok().and_then(|slot| self.places.get_mut(slot)) {
                *one = place;
            }
            Ok(())
        })
    }

    /// The place of a chunk, if it is in the file and like the others.
    fn accept(&mut self, frame: u64, entry: &IndexEntry) -> Result<u64> {
        let range = entry.byte_range().zip(entry.chunk_type());
        let range = range.filter(|(range, _)| range.end <= self.file.layout().file_len() && range.start > 0);
        let Some((range, chunk_type)) = range else {
            return Err(Error::malformed(format!(
                "the entry of frame {frame} describes no chunk of the file"
            )));
        };
        self.agree(Found { frame, chunk_type, n: entry.n, m: entry.m })?;
        Ok(range.start)
    }

    fn agree(&mut self, new: Found) -> Result<()> {
        let Some(old) = self.found else {
            self.found = Some(new);
            return Ok(());
        };
        if (old.chunk_type, old.n, old.m) == (new.chunk_type, new.n, new.m) {
            return Ok(());
        }
        let say = |found: &Found| format!("{} by {} of {}", found.n, found.m, found.chunk_type.name());
        let problem = format!("frame {} has {}, frame {} has {}", new.frame, say(&new), old.frame, say(&old));
        let error = Error::usage(problem);
        let hint = if (old.n, old.m) == (new.n, new.m) {
            "read it as f64"
        } else {
            "choose frames of one shape, or read frame by frame"
        };
        Err(error.hint(hint))
    }

    /// Places of what the frames do not store.
    fn gaps(&mut self, fallback: Fallback) -> Result<()> {
        let inherits = if fallback.applies(self.file) { schema::inherits(self.name) } else { Inherit::Never };
        let missing = |frame: u64| Err(Error::usage(format!("frame {frame} has no such chunk")));
        let gap = self.places.iter().zip(0_u64..).find(|(place, _)| **place == 0);
        let first = gap.and_then(|(_, slot)| self.frames.frame(slot)).unwrap_or(0);
        let field = schema::field(self.name);
        let counts = match (inherits, field.and_then(|field| field.container.count_chunk())) {
            (Inherit::Never, _) => return missing(first),
            (Inherit::IfSameN, Some(chunk)) => Some(Counts::new(self.file, chunk, self.frames)?),
            _ => None,
        };
        let id = self.file.names().id(self.name);
        let ancestor = id.and_then(|id| self.file.find_id(0, id));
        for at in 0..self.places.len() {
            if self.places.get(at) != Some(&0) {
                continue;
            }
            let frame = self.frames.frame(at as u64).unwrap_or(0);
            let (n, same) = match &counts {
                Some(counts) => counts.of(at),
                None => (0, true),
            };
            let place = match (ancestor.filter(|_| same), field) {
                (Some(entry), _) => self.accept(frame, &entry)?,
                (None, Some(field)) => {
                    let own = ancestor.and_then(|entry| entry.chunk_type());
                    let chunk_type = self.found.map(|found| found.chunk_type).or(own);
                    let chunk_type = chunk_type.unwrap_or(field.chunk_type);
                    let n =
                        if field.name == "particles/type_shapes" { self.particle_types(frame)? } else { n };
                    let (n, m) = field.default_shape(n);
                    self.agree(Found { frame, chunk_type, n, m })?;
                    self.default = field.default_row(chunk_type, self.file.header().byte_order);
                    0
                }
                (None, None) => return missing(frame),
            };
            if let Some(one) = self.places.get_mut(at) {
                *one = place;
            }
        }
        Ok(())
    }

    /// Number of particle types in a frame.
    fn particle_types(&self, frame: u64) -> Result<u64> {
        let chunk = |frame| self.file.find_chunk(frame, "particles/types");
        Ok(chunk(frame).or_else(|| chunk(0)).map_or(1, |entry| entry.n))
    }
}

/// The N of a container in each of some frames: stored, else frame 0's, else 0.
struct Counts {
    first: u64,
    /// Empty where none of the frames stores it.
    stored: Vec<u64>,
}

impl Counts {
    fn new(file: &File, chunk: &str, frames: &Frames) -> Result<Self> {
        let none = Self { first: 0, stored: Vec::new() };
        let Some(id) = file.names().id(chunk) else { return Ok(none) };
        let mut window = Window::new(file.source(), file.options().limits);
        let first = match file.find_id(0, id) {
            Some(entry) => count_of(file, &entry, &mut window)?,
            None => 0,
        };
        let mut stored: Vec<u64> = Vec::new();
        sweep(file, &[id], frames, |slot, _, entry| {
            let count = count_of(file, entry, &mut window)?;
            if stored.is_empty() {
                stored = zeroed_vec(frames.count, &file.options().limits)?;
                stored.fill(first);
            }
            if let Some(one) = usize::try_from(slot).ok().and_then(|slot| stored.get_mut(slot)) {
                *one = count;
            }
            Ok(())
        })?;
        Ok(Self { first, stored })
    }

    /// N at `slot`, and whether it is that of frame 0.
    fn of(&self, slot: usize) -> (u64, bool) {
        let n = self.stored.get(slot).copied().unwrap_or(self.first);
        (n, n == self.first)
    }
}

/// The value of a chunk that counts: one integer of any width.
pub(crate) fn count_of(file: &File, entry: &IndexEntry, window: &mut Window<'_>) -> Result<u64> {
    let wrong = || Error::malformed(format!("the count of frame {} is no single integer", entry.frame));
    let chunk_type = entry.chunk_type().filter(|_| entry.n == 1 && entry.m == 1).ok_or_else(wrong)?;
    let range = entry.byte_range().ok_or_else(wrong)?;
    if matches!(chunk_type, Type::Float | Type::Double | Type::Character) {
        return Err(wrong());
    }
    let bytes = window.bytes(range)?;
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    if file.header().byte_order == container_core::dtype::ByteOrder::Big {
        // The first bytes are the high ones.
        word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes.iter().rev()) {
            *to = *from;
        }
    }
    Ok(u64::from_le_bytes(word))
}

/// Number of elements of `extent`; `None` past 2^64.
#[must_use]
pub fn extent_len((frames, n, m): (u64, u64, u32)) -> Option<u64> {
    element_count([frames, n, m.into()].into_iter())
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]
mod tests;

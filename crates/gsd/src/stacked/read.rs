//! Stacked reads: the chunks of one name in many frames, as one array with the frames first.
//!
//! [`StackedChunks`] finds where each frame's values are, in one sweep of the index, and holds 8 bytes a frame. Its reads copy any rows
//! of the frames into one buffer, on several threads. What a frame does not store is defined by the schema: frame 0's chunk is shared by
//! all frames that inherit it, a default is made as it is copied.

use std::sync::{Mutex, PoisonError};

use container_core::array::Array;
use container_core::dtype::{ByteOrder, DType, Order};
use container_core::region::AxisSelection;
use container_core::source::{STOP_LEN, try_zeroed_vec};
use container_core::threads::on_threads;
use container_core::{Error, Result, Stop};

use crate::ChunkType;
use crate::coalesced_reads::CoalescedReads;
use crate::file::File;
use crate::frames::Frames;
use crate::hoomd;
use crate::index::IndexEntry;

mod copy_ranges;
mod locate;
mod to_f64;

use copy_ranges::{CopyRanges, fill_pattern};
pub(crate) use locate::count_of;
use locate::{ValueLocation, ValueSearch};

/// A run of at least this many bytes is read directly, into its place.
const MIN_DIRECT_LEN: usize = 64 << 10;

/// Values of frames that lack a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Defaults {
    /// The values that the schema of the file defines: `hoomd` has frame 0's chunk or a default. None under any other schema.
    #[default]
    Schema,
    /// No values.
    StoredOnly,
}

impl Defaults {
    /// True where the `hoomd` schema fills the gaps of `file`.
    #[must_use]
    pub fn applies(self, file: &File) -> bool {
        self == Self::Schema && file.header().schema_name() == hoomd::SCHEMA
    }
}

/// The rows of each frame that are read, in the order of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows<'a> {
    /// All rows.
    All,
    /// `count` rows from `start` on, `step` apart; the step may be negative.
    Strided {
        /// First row.
        start: u64,
        /// Distance to the next.
        step: i64,
        /// Number of rows.
        count: u64,
    },
    /// These rows, in this order; a row may be repeated.
    List(&'a [u64]),
}

impl From<&AxisSelection> for Rows<'_> {
    fn from(axis: &AxisSelection) -> Self {
        Self::Strided { start: axis.start, step: axis.step, count: axis.count }
    }
}

/// The chunks of one name in many frames, all of one type and shape.
pub struct StackedChunks<'f> {
    file: &'f File,
    chunk_type: ChunkType,
    n: u64,
    m: u32,
    /// Absolute offset of each frame's values; 0 for the default.
    places: Vec<u64>,
    /// The default, repeated.
    default: Vec<u8>,
    /// By frame, whether it holds single precision, where both precisions are read as double.
    singles: Option<Vec<bool>>,
    stop: Stop,
}

impl<'f> StackedChunks<'f> {
    /// Finds the chunks called `name` in `frames`.
    ///
    /// # Errors
    /// `Usage` where the frames do not hold one type and shape, naming the first frame that differs, and for a name or a frame
    /// without a chunk for which there is no default; `Malformed` and `Truncated` for chunks that are not within the file,
    /// `Limit`, `Io`.
    pub fn new(file: &'f File, name: &str, frames: &Frames, defaults: Defaults) -> Result<Self> {
        Self::find(file, name, frames, defaults, None, None)
    }

    /// As [`StackedChunks::new`], for chunks of the type and shape of `like`; a default takes its type.
    pub(crate) fn like(
        file: &'f File,
        name: &str,
        frames: &Frames,
        defaults: Defaults,
        like: &IndexEntry,
    ) -> Result<Self> {
        Self::find(file, name, frames, defaults, None, ValueLocation::of(like))
    }

    /// As [`StackedChunks::like`], for stored chunks only: frames without a chunk have no [offset](StackedChunks::chunk_offset), and read
    /// as NaN or zeros.
    pub(crate) fn with_gaps(file: &'f File, name: &str, frames: &Frames, like: &IndexEntry) -> Result<Self> {
        frames.check(file)?;
        let places = try_zeroed_vec(frames.count, &file.options().limits)?;
        let found = ValueLocation::of(like);
        let mut search =
            ValueSearch { file, name, frames, found, places, default: Vec::new(), singles: None };
        search.stored().map_err(|error| error.with_context(format!("chunk {name}")))?;
        let ValueSearch { found, places, .. } = search;
        let ValueLocation { chunk_type, n, m, .. } = found.ok_or_else(|| no_chunk(name))?;
        let mut default = match chunk_type {
            ChunkType::Float => f32::NAN.to_le_bytes().to_vec(),
            ChunkType::Double => f64::NAN.to_le_bytes().to_vec(),
            _ => Vec::new(),
        };
        if file.header().byte_order == ByteOrder::Big {
            default.reverse();
        }
        Ok(Self { file, chunk_type, n, m, places, default, singles: None, stop: Stop::never() })
    }

    /// Finds the chunks called `name` in `frames`, of single or double precision, which may differ from frame to frame. They are
    /// read as double: see [`StackedChunks::read_f64`].
    ///
    /// # Errors
    /// As [`StackedChunks::new`]; `Usage` for chunks of other types.
    pub fn of_floats(file: &'f File, name: &str, frames: &Frames, defaults: Defaults) -> Result<Self> {
        frames.check(file)?;
        let singles = try_zeroed_vec::<u8>(frames.count, &file.options().limits)?;
        let singles = singles.into_iter().map(|one| one != 0).collect();
        Self::find(file, name, frames, defaults, Some(singles), None)
    }

    fn find(
        file: &'f File,
        name: &str,
        frames: &Frames,
        defaults: Defaults,
        singles: Option<Vec<bool>>,
        found: Option<ValueLocation>,
    ) -> Result<Self> {
        frames.check(file)?;
        let named = |error: Error| error.with_context(format!("chunk {name}"));
        let places = try_zeroed_vec(frames.count, &file.options().limits)?;
        let mut search = ValueSearch { file, name, frames, found, places, default: Vec::new(), singles };
        search.stored().map_err(named)?;
        if search.places.contains(&0) {
            search.gaps(defaults).map_err(named)?;
        }
        let ValueSearch { found, places, default, singles, .. } = search;
        // Without frames the first chunk of that name determines the shape.
        let ValueLocation { chunk_type, n, m, .. } =
            found.or_else(|| ValueLocation::any(file, name)).ok_or_else(|| no_chunk(name))?;
        Ok(Self { file, chunk_type, n, m, places, default, singles, stop: Stop::never() })
    }

    /// The same, with reads that end on a request by `stop`.
    #[must_use]
    pub const fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The element type.
    #[must_use]
    pub const fn chunk_type(&self) -> ChunkType {
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
    pub fn chunk_offset(&self, slot: usize) -> Option<u64> {
        self.places.get(slot).copied().filter(|place| *place != 0)
    }

    /// Bytes of a row.
    fn row_len(&self) -> u64 {
        u64::from(self.m).saturating_mul(self.chunk_type.size())
    }

    /// Number of rows of each frame that `rows` selects.
    ///
    /// # Errors
    /// `Usage` for rows past the last one.
    pub fn row_count(&self, rows: &Rows<'_>) -> Result<u64> {
        CopyRanges::new(rows, self.n, self.row_len()).map(|runs| runs.rows)
    }

    /// Bytes that `rows` of all the frames take.
    ///
    /// # Errors
    /// `Usage` for rows past the last one, `Limit` past 2^64 bytes.
    pub fn byte_len(&self, rows: &Rows<'_>) -> Result<u64> {
        let runs = CopyRanges::new(rows, self.n, self.row_len())?;
        runs.len()
            .and_then(|len| len.checked_mul(self.places.len() as u64))
            .ok_or_else(|| Error::limit("memory in bytes", u64::MAX, self.file.options().limits.memory))
    }

    /// Copies `rows` of every frame to `dst`, frame after frame, in the byte order of the file, on up to `threads` threads.
    ///
    /// # Errors
    /// `Usage` for rows past the last one, and where the length of `dst` is not [`StackedChunks::byte_len`]; those of the source;
    /// `Cancelled`.
    pub fn read_into(&self, rows: &Rows<'_>, dst: &mut [u8], threads: usize) -> Result<()> {
        // With less data a thread costs more than it saves.
        const MIN_THREAD_LEN: usize = 2 << 20;
        if self.singles.as_ref().is_some_and(|singles| singles.contains(&true)) {
            return Err(Error::usage("single precision is read as double by read_f64"));
        }
        let len = self.byte_len(rows)?;
        if dst.len() as u64 != len {
            return Err(Error::usage(format!("a buffer of {} bytes for {len}", dst.len())));
        }
        let runs = CopyRanges::new(rows, self.n, self.row_len())?;
        let share = dst.len().div_ceil(threads.max(1)).next_multiple_of(MIN_THREAD_LEN).max(MIN_THREAD_LEN);
        let threads = threads.min(dst.len().div_ceil(share));
        let shares = Mutex::new((0_u64, dst.chunks_mut(share)));
        let work = || {
            let mut joined = CoalescedReads::new(self.file.source(), self.file.options().limits);
            loop {
                let (start, piece) = {
                    let mut next = shares.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(piece) = next.1.next() else { return Ok(()) };
                    let start = next.0;
                    next.0 = start.saturating_add(piece.len() as u64);
                    (start, piece)
                };
                let mut start = start;
                for piece in piece.chunks_mut(STOP_LEN) {
                    self.stop.check()?;
                    self.announce(&runs, start, piece.len() as u64)?;
                    self.fill(&runs, start, piece, &mut joined)?;
                    start = start.saturating_add(piece.len() as u64);
                }
            }
        };
        on_threads(threads, &work)
    }

    /// Announces to a far source the runs that are read directly for `len` bytes of the result from `start` on.
    fn announce(&self, runs: &CopyRanges<'_>, start: u64, len: u64) -> Result<()> {
        let source = self.file.source();
        if !source.is_far() || runs.run_len < MIN_DIRECT_LEN as u64 {
            return Ok(());
        }
        let end = start.saturating_add(len);
        let first = start.checked_div(runs.run_len).unwrap_or(0);
        let numbers = first..end.div_ceil(runs.run_len);
        let ranges = numbers.filter_map(|number| {
            let slot = usize::try_from(number.checked_div(runs.count)?).ok()?;
            let place = self.places.get(slot).copied().filter(|place| *place != 0)?;
            // The first run and the last one may be read in part.
            let from = number.saturating_mul(runs.run_len);
            let skip = start.saturating_sub(from);
            let stop = end.saturating_sub(from).min(runs.run_len);
            let at = place.saturating_add(runs.start_of(number.checked_rem(runs.count)?));
            Some(at.saturating_add(skip)..at.saturating_add(stop))
        });
        source.prefetch(&ranges.collect::<Vec<_>>())?;
        Ok(())
    }

    /// Fills `dst` with the bytes of the result from `start` on.
    fn fill(
        &self,
        runs: &CopyRanges<'_>,
        start: u64,
        dst: &mut [u8],
        joined: &mut CoalescedReads<'_, usize>,
    ) -> Result<()> {
        let Some(first) = start.checked_div(runs.run_len) else { return Ok(()) };
        let mut within = start.checked_rem(runs.run_len).unwrap_or(0);
        let mut slot = usize::try_from(first.checked_div(runs.count).unwrap_or(0)).unwrap_or(usize::MAX);
        let mut run = first.checked_rem(runs.count).unwrap_or(0);
        let mut at = 0_usize;
        while at < dst.len() {
            let left = usize::try_from(runs.run_len.saturating_sub(within)).unwrap_or(usize::MAX);
            let end = at.saturating_add(left.min(dst.len().saturating_sub(at)));
            let piece = dst.get_mut(at..end).unwrap_or_default();
            let offset = runs.start_of(run).saturating_add(within);
            match self.places.get(slot) {
                Some(0) | None => fill_pattern(&self.default, offset, piece),
                Some(place) if piece.len() >= MIN_DIRECT_LEN => {
                    self.file.source().read_into(place.saturating_add(offset), piece)?;
                }
                Some(place) => {
                    let len = piece.len() as u64;
                    let mut take = |to: usize, bytes: &[u8]| copy(dst, to, bytes);
                    joined.request(place.saturating_add(offset), len, at, &mut take)?;
                }
            }
            at = end;
            within = 0;
            run = run.saturating_add(1);
            if run == runs.count {
                (run, slot) = (0, slot.saturating_add(1));
            }
        }
        joined.finish(&mut |to, bytes| copy(dst, to, bytes))
    }

    /// `rows` of every frame as an array of shape (frames, rows) or (frames, rows, columns), C order, in the byte order of the
    /// file.
    ///
    /// # Errors
    /// As [`StackedChunks::read_into`]; `Limit`.
    pub fn read(&self, rows: &Rows<'_>, threads: usize) -> Result<Array<'static>> {
        let mut bytes = try_zeroed_vec(self.byte_len(rows)?, &self.file.options().limits)?;
        self.read_into(rows, &mut bytes, threads)?;
        let count = self.row_count(rows)?;
        let mut shape = vec![self.places.len() as u64, count];
        if self.m != 1 {
            shape.push(self.m.into());
        }
        Array::new(self.dtype(), shape, Order::C, bytes.into())
    }
}

/// Copies bytes to their place.
fn copy(dst: &mut [u8], to: usize, bytes: &[u8]) -> Result<()> {
    if let Some(place) = dst.get_mut(to..to.saturating_add(bytes.len())) {
        place.copy_from_slice(bytes);
    }
    Ok(())
}

fn no_chunk(name: &str) -> Error {
    Error::usage(format!("no frame has a chunk {name}"))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]
mod tests;

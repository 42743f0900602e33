//! Reads selected elements: decodes only the blocks that a selection touches, and of each block the needed part.

mod announce;
mod block;
mod copy_out;
mod split_work;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use blosc_chunk::{Chunk, Filter, Special};
use container_core::container::{Digests, ReadOptions};
use container_core::threads::on_threads;
use container_core::{Error, Limits, Result, Stop};

use super::select::{Indices, Plan, Tile, index_of};
use super::{Geometry, MAX_DIMENSIONS, NdArray};
use crate::cache::{Lookup, Shared};
use crate::frame::{FetchedBlocks, Frame, LocatedChunk};
use crate::offsets::Offset;
pub(crate) use block::Scratch;
use block::Stored;
use copy_out::{Copy, Patch, Shape, Target};
use split_work::Slab;

/// Below this a read is done before a second thread has started.
const MIN_THREADED_LEN: u64 = 1 << 20;

/// Time that a read which may be served from memory runs alone before it starts other threads.
const MAX_SINGLE_THREAD_TIME: Duration = Duration::from_micros(60);

/// State that reads of one array share.
pub(super) struct Reader {
    shared: Arc<Shared>,
    /// The number of the array in the cache.
    number: u64,
    /// Bytes from one element of a block to the next, by axis.
    block_strides: Vec<usize>,
    /// Chunks from one index of the grid to the next, by axis.
    chunk_strides: Vec<u64>,
    /// The same for the blocks of a chunk.
    grid_strides: Vec<u64>,
}

impl Reader {
    pub(super) fn new(geometry: &Geometry, shared: &Arc<Shared>) -> Self {
        let mut block_strides = Vec::new();
        let lens = geometry.blockshape().iter().map(|len| *len as usize);
        copy_out::strides_into(&mut block_strides, lens, geometry.itemsize());
        if block_strides.is_empty() {
            block_strides.push(geometry.itemsize());
        }
        let grid_strides = |grid: &[u64]| {
            let behind = |axis: usize| {
                grid[axis + 1..].iter().fold(1, |product: u64, len| product.saturating_mul(*len))
            };
            (0..grid.len()).map(behind).collect()
        };
        Self {
            shared: Arc::clone(shared),
            number: shared.blocks.new_array(),
            block_strides,
            chunk_strides: grid_strides(geometry.chunk_grid()),
            grid_strides: grid_strides(geometry.block_grid()),
        }
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> Result<T>) -> Result<T> {
        self.shared.scratches.with(Scratch::default, work)
    }
}

/// Reads what is selected, which is not empty, into `dst`, which is as long. `is_zeroed` where it holds zeros already.
pub(super) fn read(
    array: &NdArray,
    selection: &[Indices],
    dst: &mut [u8],
    is_zeroed: bool,
    options: &ReadOptions,
) -> Result<()> {
    let geometry = array.geometry();
    let reader = array.reader();
    let plan = Plan::new(selection, geometry, &options.limits)?;
    let blocks = plan.block_count();
    let touched = blocks.saturating_mul(geometry.block_bytes());
    let threads = if touched < MIN_THREADED_LEN { 1 } else { options.threads.max(1) };
    let frame = array.frame();
    // Blocks that were not compared with a digest are kept from readers that require it.
    let is_trusted = options.digests != Digests::Ignore || frame.verified_reads().algorithm(frame).is_none();
    let keeps = is_trusted && reader.shared.blocks.keeps(geometry.block_bytes(), blocks);
    let fetched = match frame.source().is_far() {
        true => announce::announce(array, &plan, options)?,
        false => HashMap::new(),
    };
    // Under DELTA each block needs the first of its chunk, which is better decoded once.
    let mut by_chunk = array.frame().header().filters.contains(Filter::DELTA);
    loop {
        let (split, count) = split_work::cut(&plan, threads, dst.len(), by_chunk);
        let shape = Shape::new(&plan, geometry.itemsize(), split);
        let cuts_chunks = !by_chunk && count > 1;
        let job = Job {
            array,
            reader,
            plan: &plan,
            fetched: &fetched,
            shape,
            keeps,
            is_zeroed,
            digests: options.digests,
            stop: options.limits.stop,
            cuts_chunks,
            refused: false.into(),
        };
        let slabs = split_work::slabs(&plan, dst, geometry.itemsize(), split, count);
        job.run(slabs, threads)?;
        if !job.is_refused() {
            return Ok(());
        }
        // Nothing is lost: what was written was right.
        by_chunk = true;
    }
}

/// Context that all parts of one read share.
struct Job<'j> {
    array: &'j NdArray,
    reader: &'j Reader,
    plan: &'j Plan,
    /// Chunks of a far source of which some blocks are there.
    fetched: &'j HashMap<u64, FetchedBlocks>,
    shape: Shape,
    /// Whether blocks are taken from the cache, and stored in it.
    keeps: bool,
    is_zeroed: bool,
    digests: Digests,
    stop: Stop,
    /// Whether the read is cut within chunks, so that some chunks are met more than once.
    cuts_chunks: bool,
    /// Whether the read met a chunk that is better decoded at once.
    refused: AtomicBool,
}

/// Puts the combination `number` of one element of each range into `out`; the last range changes fastest.
fn combine(ranges: &[Range<usize>], number: usize, out: &mut Vec<usize>) {
    out.clear();
    out.resize(ranges.len(), 0);
    let mut rest = number;
    for (place, range) in out.iter_mut().zip(ranges).rev() {
        let len = range.len().max(1);
        *place = range.start + rest % len;
        rest /= len;
    }
}

fn combinations(ranges: &[Range<usize>]) -> usize {
    ranges.iter().fold(1, |product, range| product.saturating_mul(range.len()))
}

/// Selection within one block.
struct Piece<'p> {
    block: u64,
    tiles: Vec<&'p [Tile]>,
    /// Needed indices of the block, by axis.
    bounds: Vec<Range<usize>>,
}

impl<'j> Job<'j> {
    fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Reads all slabs, on up to `threads` threads.
    fn run(&self, slabs: Vec<Slab<'_>>, threads: usize) -> Result<()> {
        let slabs = Mutex::new(slabs.into_iter());
        let take = || if self.is_refused() { None } else { lock(&slabs).next() };
        let read_until = |is_over: &(dyn Fn() -> bool + Sync)| {
            self.reader.with_scratch(|scratch| {
                while !is_over() {
                    let Some(slab) = take() else { break };
                    self.slab(slab, scratch)?;
                }
                Ok(())
            })
        };
        let start = Instant::now();
        if threads > 1 && self.keeps {
            read_until(&|| start.elapsed() >= MAX_SINGLE_THREAD_TIME)?;
        }
        let left = lock(&slabs).len();
        if left == 0 { Ok(()) } else { on_threads(threads.min(left), &|| read_until(&|| false)) }
    }

    /// Reads one slab.
    fn slab(&self, mut slab: Slab<'_>, scratch: &mut Scratch) -> Result<()> {
        let split = slab.target.split;
        let mut rows: Vec<Range<usize>> = self.plan.axes.iter().map(|axis| 0..axis.rows.len()).collect();
        if let (Some(axis), Some(range)) = (self.plan.axes.get(split), rows.get_mut(split)) {
            *range = axis.rows.partition_point(|row| row.parts.end <= slab.parts.start)
                ..axis.rows.partition_point(|row| row.parts.start < slab.parts.end);
        }
        let mut at = Vec::new();
        let mut parts: Vec<Range<usize>> = Vec::new();
        for number in 0..combinations(&rows) {
            self.stop.check()?;
            combine(&rows, number, &mut at);
            parts.clear();
            let mut chunk = 0;
            let places = self.plan.axes.iter().zip(&at).enumerate();
            let strides = self.reader.chunk_strides.iter().chain(std::iter::repeat(&0));
            for ((axis, (plan, row)), stride) in places.zip(strides) {
                let row = &plan.rows[*row];
                chunk += row.chunk * stride;
                let own = row.parts.clone();
                parts.push(if axis == split {
                    own.start.max(slab.parts.start)..own.end.min(slab.parts.end)
                } else {
                    own
                });
            }
            self.chunk(chunk, &parts, &mut slab.target, scratch)?;
        }
        Ok(())
    }

    /// Reads what is selected of one chunk.
    fn chunk(
        &self,
        index: u64,
        parts: &[Range<usize>],
        target: &mut Target<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let frame = self.array.frame();
        let offset = frame.layout().offsets().get(index);
        let is_zero = matches!(offset, Some(Offset::Special(Special::Zeros | Special::Uninit)));
        if is_zero && self.is_zeroed {
            return Ok(());
        }
        let all = combinations(parts);
        if !self.keeps || !matches!(offset, Some(Offset::Stored(_))) {
            return self.stored(index, parts, (0..all).map(|number| (number, false)), all, target, scratch);
        }
        let block_bytes = self.array.geometry().block_bytes();
        // Cached blocks come first: with them the chunk may not be needed.
        let mut missed = std::mem::take(&mut scratch.missed);
        missed.clear();
        for number in 0..all {
            let piece = self.piece(parts, number, scratch);
            match self.reader.shared.blocks.look_up((self.reader.number, index, piece.block), block_bytes) {
                Lookup::Cached(bytes) => {
                    self.copy(&piece, self.whole(&bytes)).run(target);
                }
                Lookup::SeenBefore => missed.push((number, true)),
                Lookup::New => missed.push((number, false)),
            }
        }
        let result = if missed.is_empty() {
            Ok(())
        } else {
            self.stored(index, parts, missed.iter().copied(), missed.len(), target, scratch)
        };
        scratch.missed = missed;
        result
    }

    /// Reads `count` blocks of a chunk from where it is stored. With each number goes whether the block is to be kept.
    fn stored(
        &self,
        index: u64,
        parts: &[Range<usize>],
        numbers: impl Iterator<Item = (usize, bool)>,
        count: usize,
        target: &mut Target<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let frame = self.array.frame();
        let bytes: Cow<'_, [u8]> = match self.fetched_blocks(index, parts, scratch)? {
            Some(bytes) => Cow::Owned(bytes),
            None => frame.chunk_by(index, self.digests, self.stop)?,
        };
        let read = || -> Result<()> {
            let chunk = Chunk::parse(&bytes)?;
            let want = self.array.geometry().chunk_bytes();
            if chunk.nbytes() as u64 != want {
                return Err(
                    Error::malformed(format!("holds {} bytes, not {want}", chunk.nbytes())).with_range(4..8)
                );
            }
            frame.with_decoder(|decoder| {
                decoder.set_stop(self.stop);
                let mut stored = Stored::new(self, &chunk, decoder, index, scratch);
                if !stored.prepare(parts, count)? {
                    return Ok(());
                }
                for (number, again) in numbers {
                    self.stop.check()?;
                    stored.read(parts, number, again, target)?;
                }
                Ok(())
            })
        };
        read().map_err(|error| in_chunk(frame, error, index))
    }

    /// The bytes of a chunk of which all blocks that are read were fetched, with zeros in the place of others. `None` where the chunk is to be read.
    fn fetched_blocks(
        &self,
        index: u64,
        parts: &[Range<usize>],
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<u8>>> {
        let Some(fetched) = self.fetched.get(&index) else { return Ok(None) };
        let is_fetched = |number| fetched.has(self.piece(parts, number, scratch).block);
        if !(0..combinations(parts)).all(is_fetched) {
            return Ok(None);
        }
        fetched.read(self.array.frame().source(), &self.limits().with_stop(self.stop))
    }

    /// Returns the selection in the block with this number among those that are touched of a chunk.
    fn piece(&self, parts: &[Range<usize>], number: usize, scratch: &mut Scratch) -> Piece<'j> {
        combine(parts, number, &mut scratch.at);
        let mut piece = Piece { block: 0, tiles: Vec::new(), bounds: Vec::new() };
        let strides = self.reader.grid_strides.iter().chain(std::iter::repeat(&0));
        for ((plan, at), stride) in self.plan.axes.iter().zip(&scratch.at).zip(strides) {
            let part = &plan.parts[*at];
            piece.block += part.block * stride;
            piece.tiles.push(&plan.tiles[part.tiles.clone()]);
            piece.bounds.push(part.bounds.clone());
        }
        piece
    }

    /// Bounds on buffers other than the result.
    fn limits(&self) -> &'j Limits {
        &self.array.frame().options().limits
    }

    /// Returns a patch that is a whole block.
    fn whole<'b>(&'b self, bytes: &'b [u8]) -> Patch<'b> {
        const ORIGIN: [usize; MAX_DIMENSIONS] = [0; MAX_DIMENSIONS];
        Patch { bytes, low: &ORIGIN, strides: &self.reader.block_strides }
    }

    fn copy<'c>(&'c self, piece: &'c Piece<'_>, from: Patch<'c>) -> Copy<'c> {
        Copy { plan: self.plan, shape: &self.shape, tiles: &piece.tiles, from }
    }
}

/// Says of an error about a chunk, whose range counts from its start, where in the file that is.
fn in_chunk(frame: &Frame, error: Error, index: u64) -> Error {
    match frame.locate(index) {
        Ok(LocatedChunk::Stored(place)) => place.in_chunk(error, index),
        _ => error.with_context(format!("blosc2 chunk {index}")),
    }
}

/// Locks `mutex`. No code that holds a lock here panics, so a poisoned one still holds valid data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests;

//! Decodes stored chunks: decoders that are kept from one read to the next, and chunks shared out among threads.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blosc_chunk::{Chunk, Decoder, Geometry, Special};
use container_core::container::ReadOptions;
use container_core::threads::on_threads;
use container_core::{Error, Result};

use crate::cache::Shared;
use crate::chunk_block;
use crate::frame::Frame;
use crate::options::OpenOptions;

/// A thread takes neighbouring chunks up to this many bytes. Two threads that touch a new huge page at once would both have the
/// kernel fill one with zeros, and one of them is thrown away.
const MAX_RUN_LEN: u64 = 8 << 20;

/// Towards the end it takes fewer, so that no thread waits long for another, but not less than a huge page.
const MIN_RUN: u64 = 2 << 20;

/// Below this, starting a thread takes longer than what it would do.
const MIN_THREADED_LEN: usize = 512 << 10;

/// Decoders and buffers that no read is using.
pub(crate) struct DecoderPool {
    shared: Arc<Shared>,
    geometry: Geometry,
    options: OpenOptions,
}

/// A decoder with a buffer for stored bytes that no source lends.
pub(crate) struct Worker {
    pub(crate) decoder: Decoder,
    pub(crate) stored: Vec<u8>,
}

impl DecoderPool {
    pub(crate) fn new(geometry: Geometry, options: &OpenOptions) -> Self {
        Self { shared: Shared::of(options), geometry, options: options.clone() }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Creates a decoder for bytes without a geometry.
    pub(crate) fn plain_decoder(&self) -> Decoder {
        chunk_block::decoder(&Geometry::default(), &self.options)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Worker) -> Result<T>) -> Result<T> {
        let new =
            || Worker { decoder: chunk_block::decoder(&self.geometry, &self.options), stored: Vec::new() };
        self.shared.workers.with(new, |worker| {
            worker.decoder.set_geometry(&self.geometry);
            work(worker)
        })
    }
}

/// The rest of a read over several chunks.
struct Rest<'d> {
    /// The chunk that comes next, and where in it the read goes on.
    index: u64,
    from: u64,
    dst: &'d mut [u8],
}

/// Some chunks of a read.
struct Run<'d> {
    index: u64,
    from: u64,
    dst: &'d mut [u8],
}

impl<'d> Rest<'d> {
    /// Takes chunks of up to `most` bytes, and at least one.
    fn take(&mut self, frame: &Frame, most: u64) -> Result<Option<Run<'d>>> {
        if self.dst.is_empty() {
            return Ok(None);
        }
        let (index, from) = (self.index, self.from);
        let mut len = 0_u64;
        while len < self.dst.len() as u64 && (len == 0 || len < most) {
            let left = frame.chunk_len(self.index)?.saturating_sub(self.from);
            len = len.saturating_add(left);
            self.index = self.index.saturating_add(1);
            self.from = 0;
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(self.dst.len());
        let (dst, rest) = std::mem::take(&mut self.dst).split_at_mut(len);
        self.dst = rest;
        Ok(Some(Run { index, from, dst }))
    }
}

impl Run<'_> {
    /// Decodes its chunks one after the other.
    fn decode(self, frame: &Frame, worker: &mut Worker, options: &ReadOptions) -> Result<()> {
        let Self { mut index, mut from, mut dst } = self;
        while !dst.is_empty() {
            options.limits.stop.check()?;
            let chunk_len = frame.chunk_len(index)?;
            let len = usize::try_from(chunk_len.saturating_sub(from)).unwrap_or(usize::MAX).min(dst.len());
            let (own, rest) = dst.split_at_mut(len);
            if len > 0 {
                frame.decode_part(worker, index, from, own, options)?;
            }
            dst = rest;
            from = 0;
            index = index.saturating_add(1);
        }
        Ok(())
    }
}

/// Fills `dst` from byte `from` of chunk `index` on, and continues with the chunks after it.
pub(crate) fn read(
    frame: &Frame,
    index: u64,
    from: u64,
    dst: &mut [u8],
    options: &ReadOptions,
) -> Result<()> {
    let threads = if dst.len() < MIN_THREADED_LEN { 1 } else { options.threads.max(1) };
    let shares = 4 * threads as u64;
    let least = MIN_RUN.min(dst.len() as u64 / shares);
    let is_one = dst.len() as u64 <= frame.chunk_len(index)?.saturating_sub(from);
    let rest = Rest { index, from, dst };
    if threads == 1 || is_one {
        let Rest { index, from, dst } = rest;
        let options = options.with_threads(threads);
        return frame.pool().with(|worker| Run { index, from, dst }.decode(frame, worker, &options));
    }
    let rest = Mutex::new(rest);
    let alone = options.with_threads(1);
    let work = || {
        frame.pool().with(|worker| {
            loop {
                // A statement of its own: in the head of the loop the lock would be held through the body.
                let run = {
                    let mut rest = lock(&rest);
                    let most = (rest.dst.len() as u64 / shares).clamp(least, MAX_RUN_LEN);
                    rest.take(frame, most)?
                };
                let Some(run) = run else { return Ok(()) };
                run.decode(frame, worker, &alone)?;
            }
        })
    };
    on_threads(threads, &work)
}

/// Decodes the bytes of `chunk` from `from` on, as many as there is room for.
pub(crate) fn decode(
    decoder: &mut Decoder,
    chunk: &Chunk<'_>,
    from: u64,
    dst: &mut [u8],
    threads: usize,
) -> Result<()> {
    if from == 0 && dst.len() == chunk.nbytes() {
        return decoder.decode_parallel(chunk, dst, threads);
    }
    let start = usize::try_from(from).unwrap_or(usize::MAX);
    let range: Range<usize> = start..start.saturating_add(dst.len());
    decoder.decode_range(chunk, range, dst)
}

/// Whether C-Blosc2 has a NaN of so many bytes.
pub(crate) const fn has_nan(typesize: u32) -> bool {
    matches!(typesize, 4 | 8)
}

/// Fills `dst` with the bytes of an unstored chunk from byte `from` on.
///
/// # Errors
/// `Malformed` for NaN of another size than floats have: C-Blosc2 writes such marks, but does not read them.
pub(crate) fn fill(special: Special, typesize: u32, from: u64, dst: &mut [u8]) -> Result<()> {
    let (narrow, wide) = (f32::from_bits(0x7fc0_0000), f64::from_bits(0x7ff8_0000_0000_0000));
    let value = match (special, typesize) {
        (Special::Nan, 4) => &narrow.to_le_bytes()[..],
        (Special::Nan, 8) => &wide.to_le_bytes()[..],
        (Special::Nan, _) => {
            return Err(Error::malformed(format!("NaN in elements of {typesize} bytes, which have no NaN")));
        }
        _ => {
            dst.fill(0);
            return Ok(());
        }
    };
    let phase = usize::try_from(from % value.len() as u64).unwrap_or(0);
    let (head, body) = dst.split_at_mut(dst.len().min((value.len() - phase) % value.len()));
    head.copy_from_slice(&value[phase..phase + head.len()]);
    let mut whole = body.chunks_exact_mut(value.len());
    for element in &mut whole {
        element.copy_from_slice(value);
    }
    let tail = whole.into_remainder();
    tail.copy_from_slice(&value[..tail.len()]);
    Ok(())
}

/// Locks `mutex`. No code that holds a lock here panics, so a poisoned one still holds valid data.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

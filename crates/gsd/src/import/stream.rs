//! The bytes of planned chunks, in the order of the plan.

use container_core::chunked_read::for_each_chunk;
use container_core::dtype::ByteOrder;
use container_core::format::WriteRequest;
use container_core::{Error, Progress, Result};

use super::planned_chunk::PlannedChunk;

/// Bytes of the frames that are held at a time, all datasets together, where several are interleaved.
const HELD: u64 = 8 << 20;

/// Passes to `sink` the chunks of frame after frame, and within a frame those of each part: its elements, then its shape.
pub(crate) fn write(
    job: &WriteRequest<'_>,
    parts: &[PlannedChunk],
    frames: u64,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let frame_len = parts.iter().fold(0_u64, |len, part| len.saturating_add(part.len));
    let total = frame_len.saturating_mul(frames);
    let mut done = Done { job, total, before: 0 };
    match parts {
        // Its chunks are contiguous.
        [only] if only.shape.beside.is_none() => {
            let region = only.of_frames(job, 0, only.frames)?;
            only.run(job, &region, &mut done, sink)
        }
        _ => {
            let at_a_time = at_a_time(job, frame_len);
            let mut first = 0;
            while first < frames {
                let count = at_a_time.min(frames - first);
                match count {
                    1 => one_frame(job, parts, first, &mut done, sink)?,
                    _ => write_frames_together(job, parts, first, count, &mut done, sink)?,
                }
                first += count;
            }
            Ok(())
        }
    }
}

/// Passes a long frame in pieces.
fn one_frame(
    job: &WriteRequest<'_>,
    parts: &[PlannedChunk],
    frame: u64,
    done: &mut Done<'_>,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    for part in parts {
        let region = part.of_frames(job, frame, 1)?;
        part.run(job, &region, done, sink)?;
        sink(&part.shape_bytes())?;
    }
    Ok(())
}

/// Passes short frames: the same ones of every part are read at once.
fn write_frames_together(
    job: &WriteRequest<'_>,
    parts: &[PlannedChunk],
    first: u64,
    count: u64,
    done: &mut Done<'_>,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let shapes: Vec<Vec<u8>> = parts.iter().map(PlannedChunk::shape_bytes).collect();
    frames_at_once(job, parts, first, count, done, &mut |chunks| {
        for (bytes, shape) in chunks.iter().zip(&shapes) {
            sink(bytes)?;
            sink(shape)?;
        }
        Ok(())
    })
}

/// Passes to `sink` the elements of each part, little-endian, frame after frame.
pub(crate) fn for_each_frame(
    job: &WriteRequest<'_>,
    parts: &[PlannedChunk],
    frames: u64,
    sink: &mut dyn FnMut(&[&[u8]]) -> Result<()>,
) -> Result<()> {
    let frame_len = parts.iter().fold(0_u64, |len, part| len.saturating_add(part.len));
    let mut done = Done { job, total: frame_len.saturating_mul(frames), before: 0 };
    let at_a_time = at_a_time(job, frame_len);
    let mut first = 0;
    while first < frames {
        let count = at_a_time.min(frames - first);
        frames_at_once(job, parts, first, count, &mut done, sink)?;
        first += count;
    }
    Ok(())
}

/// Passes to `sink` a part that is one chunk: its elements, then its shape.
pub(crate) fn single(
    job: &WriteRequest<'_>,
    part: &PlannedChunk,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut done = Done { job, total: part.len, before: 0 };
    part.run(job, &part.region, &mut done, sink)?;
    sink(&part.shape_bytes())
}

/// Returns the number of frames that are held in memory at a time.
fn at_a_time(job: &WriteRequest<'_>, frame_len: u64) -> u64 {
    let held = HELD.min(job.read.limits.memory / 8);
    held.checked_div(frame_len).unwrap_or(1 << 16).clamp(1, 1 << 16)
}

fn frames_at_once(
    job: &WriteRequest<'_>,
    parts: &[PlannedChunk],
    first: u64,
    count: u64,
    done: &mut Done<'_>,
    sink: &mut dyn FnMut(&[&[u8]]) -> Result<()>,
) -> Result<()> {
    let mut read: Vec<(Vec<u8>, usize)> = Vec::with_capacity(parts.len());
    for part in parts {
        let region = part.of_frames(job, first, count)?;
        let mut bytes = Vec::new();
        part.run(job, &region, done, &mut |run| {
            bytes.extend_from_slice(run);
            Ok(())
        })?;
        let len = usize::try_from(part.len).map_err(|_| Error::usage("a frame is too long"))?;
        read.push((bytes, len));
    }
    let mut chunks: Vec<&[u8]> = Vec::with_capacity(parts.len());
    for frame in 0..usize::try_from(count).unwrap_or(0) {
        chunks.clear();
        for (bytes, len) in &read {
            let start = frame.saturating_mul(*len);
            chunks.push(bytes.get(start..start.saturating_add(*len)).unwrap_or_default());
        }
        sink(&chunks)?;
    }
    Ok(())
}

impl PlannedChunk {
    /// Passes the elements of a region, little-endian.
    fn run(
        &self,
        job: &WriteRequest<'_>,
        region: &container_core::region::Region,
        done: &mut Done<'_>,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let little = self.dtype.is_in_order(ByteOrder::Little);
        let mut swapped = Vec::new();
        for_each_chunk(job.container, self.index, region, self.order, &job.read, Progress::none(), |bytes| {
            if little {
                sink(bytes)?;
            } else {
                swapped.clear();
                swapped.extend_from_slice(bytes);
                self.dtype.swap_to(ByteOrder::Little, &mut swapped)?;
                sink(&swapped)?;
            }
            done.add(bytes.len() as u64)
        })
    }

    /// Returns the bytes of the chunk `<name>/shape`; empty where the chunk needs none.
    pub(crate) fn shape_bytes(&self) -> Vec<u8> {
        let shape = self.shape.beside.as_deref().unwrap_or_default();
        shape.iter().flat_map(|len| len.to_le_bytes()).collect()
    }
}

/// Progress of the import.
struct Done<'a> {
    job: &'a WriteRequest<'a>,
    total: u64,
    before: u64,
}

impl Done<'_> {
    fn add(&mut self, len: u64) -> Result<()> {
        self.before = self.before.saturating_add(len);
        self.job.progress.tick(self.before, self.total)
    }
}

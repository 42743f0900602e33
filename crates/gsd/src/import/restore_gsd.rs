//! Restores the chunk-per-frame structure of datasets that were exported from a GSD file.

use container_core::chunked_read::check_readable;
use container_core::container::Axes;
use container_core::format::{Output, WriteRequest};
use container_core::json_pointer::unescape;
use container_core::report::Loss;
use container_core::{Error, Result};

use super::planned_chunk::{Frames, PlannedChunk};
use super::{ImportSettings, stream};
use crate::ChunkType;
use crate::chunk_shape::SHAPE_SUFFIX;
use crate::metadata::{self, Chunks};
use crate::writer::sequential::Plan;

/// Memory that a planned chunk takes, in bytes.
const CHUNK_SIZE: u64 = 64;

/// The chunks of the restored file.
pub(super) struct RestoredChunks {
    chunks: Chunks,
    /// Those of every frame, or of some.
    stacked: Vec<PlannedChunk>,
    /// Those of one frame, by frame.
    single: Vec<(u64, PlannedChunk)>,
    /// Whether the first stacked one is stored in the last frame, too, so that this frame exists although its own chunks are left
    /// out.
    fill: bool,
    /// Names that every frame stores now, and only some did.
    no_longer_sparse: Vec<String>,
}

impl RestoredChunks {
    /// `None` where the datasets no longer match `chunks`. `paths` are those that the datasets have.
    ///
    /// The path of each dataset gives the name of its chunks, and the frame if there is only one. Datasets of all frames are stacked, others
    /// are single chunks. They match if all names are in `chunks`, stacked datasets have its number of frames, and no chunk occurs twice.
    pub(super) fn new(
        job: &WriteRequest<'_>,
        chunks: Chunks,
        paths: &[String],
        settings: &ImportSettings,
    ) -> Result<Option<Self>> {
        if settings.frames.is_some() || job.options.axes == Axes::Reversed {
            return Ok(None);
        }
        let planned = chunks.frames.saturating_mul(job.selection.len().max(1) as u64);
        if planned.saturating_mul(CHUNK_SIZE) > job.options.limits.memory {
            return Ok(None);
        }
        let mut restored = Self {
            chunks,
            stacked: Vec::new(),
            single: Vec::new(),
            fill: false,
            no_longer_sparse: Vec::new(),
        };
        // Default values depend on the other datasets: without them, each frame gets its row.
        if restored.chunks.count.is_none() || job.selection.len() != job.container.listed_count() {
            restored.no_longer_sparse = restored.chunks.forget_stored();
        }
        for ((index, region), path) in job.selection.iter().zip(paths) {
            let dataset = &*job.container.require(*index)?;
            // Paths of trees have slashes within steps escaped, and escapes of their own.
            let meant = unescape(path);
            let Some((frame, name)) = restored.chunks.find(path).or_else(|| restored.chunks.find(&meant))
            else {
                return Ok(None);
            };
            if name == metadata::METADATA {
                return Ok(None);
            }
            let is_stacked = frame.is_none() && restored.chunks.frames != 1;
            if is_stacked && region.shape().first() != Some(&restored.chunks.frames) {
                return Ok(None);
            }
            let frames = if is_stacked { Frames::Axis("") } else { Frames::One };
            let mut part = PlannedChunk::new(job, *index, dataset, region, frames, settings.as_bytes)?;
            name.clone_into(&mut part.name);
            if restored.chunks.has_shape(name) && part.shape.beside.is_none() {
                part.shape.beside = Some(part.item.clone());
                let Some(n) = part.shape.n.checked_mul(part.shape.m.into()) else { return Ok(None) };
                (part.shape.n, part.shape.m) = (n, 1);
            }
            if is_stacked {
                restored.stacked.push(part);
            } else {
                restored.single.push((frame.unwrap_or(0), part));
            }
        }
        restored.single.sort_by_key(|(frame, _)| *frame);
        let mut once = std::collections::HashSet::new();
        let stacked = restored.stacked.iter().all(|part| once.insert((None, part.name.as_str())));
        let single = restored.single.iter().all(|(frame, part)| {
            once.insert((Some(*frame), part.name.as_str())) && !once.contains(&(None, part.name.as_str()))
        });
        let unique = stacked && single;
        let last = restored.chunks.frames.saturating_sub(1);
        let ends = |part: &PlannedChunk| metadata::is_within(restored.chunks.stored(&part.name), last);
        restored.fill =
            !restored.stacked.iter().any(ends) && restored.single.iter().all(|(frame, _)| *frame < last);
        Ok(unique.then_some(restored))
    }

    /// Whether a frame has the chunk of the stacked part at a place.
    fn stores(&self, at: usize, part: &PlannedChunk, frame: u64) -> bool {
        let filled = self.fill && at == 0 && frame.checked_add(1) == Some(self.chunks.frames);
        filled || metadata::is_within(self.chunks.stored(&part.name), frame)
    }

    /// Number of frames of the new file.
    pub(super) const fn frames(&self) -> u64 {
        self.chunks.frames
    }

    /// Returns the number of frames that are written, without those after the last chunk.
    fn kept_frames(&self) -> u64 {
        match self.single.last() {
            _ if !self.stacked.is_empty() || self.chunks.frames == 0 => self.chunks.frames,
            Some((frame, _)) => frame.saturating_add(1),
            None => 1,
        }
    }

    /// Writes the file, with `metadata` in frame 0 where there are any.
    ///
    /// Stacked datasets are read in runs of frames. Each frame gets their chunks as far as it stored them, then its single chunks.
    pub(super) fn write(
        &self,
        mut plan: Plan,
        metadata: Option<&[u8]>,
        job: &WriteRequest<'_>,
        out: &mut dyn Output,
    ) -> Result<Vec<Loss>> {
        let single = self.single.iter().map(|(_, part)| part);
        for part in self.stacked.iter().chain(single) {
            check_readable(job.container, part.index, &part.region, &job.read)?;
        }
        // Names without chunks are listed, too, and in their order, unless datasets were left out.
        let is_all = job.selection.len() == job.container.listed_count();
        for name in self.chunks.names.iter().filter(|_| is_all) {
            plan.name(name.as_bytes())?;
        }
        self.plan(&mut plan, metadata)?;
        let mut losses = Vec::new();
        for part in self.stacked.iter().filter(|part| self.no_longer_sparse.contains(&part.name)) {
            let what = "the frames that stored it: without the other datasets, each has a chunk";
            losses.push(Loss { dataset: Some(part.name.clone()), what: what.to_owned() });
        }
        if let Some(part) = self.stacked.first().filter(|_| self.fill) {
            let what = "stored again in the last frame, which needs a chunk";
            losses.push(Loss { dataset: Some(part.name.clone()), what: what.to_owned() });
        }
        let kept = self.kept_frames();
        if kept < self.chunks.frames {
            let what = format!("{} frames: no chunk is stored after the first {kept}", self.chunks.frames);
            losses.push(Loss { dataset: None, what });
        }
        let count = (plan.chunks() as u64).saturating_sub(metadata.is_some().into());
        if let Some(had) = self.chunks.count.filter(|had| *had != count && is_all) {
            let what = format!("the file had {had} chunks, and now has {count}");
            losses.push(Loss { dataset: None, what });
        }
        out.reserve(plan.file_len())?;
        let mut emitter = plan.emit(out, &job.options.limits)?;
        let (mut frame, mut next, mut before) = (0_u64, 0_usize, metadata);
        // The chunks of a frame that are not stacked.
        let mut others = |frame: u64, sink: &mut dyn FnMut(&[u8]) -> Result<()>| -> Result<()> {
            while let Some((_, part)) = self.single.get(next).filter(|(at, _)| *at == frame) {
                stream::single(job, part, sink)?;
                next = next.saturating_add(1);
            }
            sink(before.take().unwrap_or_default())
        };
        if self.stacked.is_empty() {
            for frame in 0..kept {
                others(frame, &mut |bytes| emitter.write(bytes))?;
            }
        } else {
            let shapes: Vec<Vec<u8>> = self.stacked.iter().map(PlannedChunk::shape_bytes).collect();
            stream::for_each_frame(job, &self.stacked, self.chunks.frames, &mut |chunks| {
                for (at, ((part, bytes), shape)) in self.stacked.iter().zip(chunks).zip(&shapes).enumerate() {
                    if self.stores(at, part, frame) {
                        emitter.write(bytes)?;
                        emitter.write(shape)?;
                    }
                }
                others(frame, &mut |bytes| emitter.write(bytes))?;
                frame = frame.saturating_add(1);
                Ok(())
            })?;
        }
        emitter.finish()?;
        Ok(losses)
    }

    fn plan(&self, plan: &mut Plan, metadata: Option<&[u8]>) -> Result<()> {
        let mut singles = self.single.iter().peekable();
        let frames = if self.stacked.is_empty() {
            self.single.last().map_or(u64::from(metadata.is_some()), |(frame, _)| frame.saturating_add(1))
        } else {
            self.chunks.frames
        };
        for frame in 0..frames {
            for (at, part) in self.stacked.iter().enumerate() {
                if self.stores(at, part, frame) {
                    chunk(plan, frame, part)?;
                }
            }
            while let Some((_, part)) = singles.next_if(|(at, _)| *at == frame) {
                chunk(plan, frame, part)?;
            }
            if let Some(metadata) = metadata.filter(|_| frame == 0) {
                let id = plan.name(metadata::METADATA.as_bytes())?;
                plan.chunk(0, id, ChunkType::Uint8, metadata.len() as u64, 1)?;
            }
        }
        if singles.next().is_some() {
            return Err(Error::usage("a chunk past the last frame"));
        }
        Ok(())
    }
}

/// A part's chunk in a frame, followed by its shape chunk.
fn chunk(plan: &mut Plan, frame: u64, part: &PlannedChunk) -> Result<()> {
    let id = plan.name(part.name.as_bytes())?;
    plan.chunk(frame, id, part.chunk_type, part.shape.n, part.shape.m)?;
    if let Some(shape) = &part.shape.beside {
        let id = plan.name(format!("{}{SHAPE_SUFFIX}", part.name).as_bytes())?;
        plan.chunk(frame, id, ChunkType::Uint64, shape.len() as u64, 1)?;
    }
    Ok(())
}

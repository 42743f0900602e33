//! Appends frames to a file, in place and in one commit: after any failure the file has its old frames.

mod frames;

use std::collections::BTreeSet;
use std::path::Path;

use container_core::chunked_read::check_readable;
use container_core::container::OpenOptions;
use container_core::format::WriteRequest;
use container_core::report::Loss;
use container_core::write::Durability;
use container_core::{Error, Result};

use crate::chunk_shape::SHAPE_SUFFIX;
use crate::hoomd::SCHEMA;
use crate::import::planned_chunk::{self, Frames, PlannedChunk};
use crate::import::{ImportSettings, no_frames, stream, whole_file};
use crate::late_logs;
use crate::metadata::METADATA;
use crate::writer::{Commit, Writer, WriterOptions};
use crate::{ChunkType, IndexEntry};

/// The entry for the table of formats: adds the frames of another GSD file, or arrays whose first axis is the frames, to the file at
/// `path`. Always commits with two syncs, regardless of `durability`: without them a power cut could also destroy the old frames.
pub(crate) fn append(
    path: &Path,
    open: &OpenOptions,
    job: &WriteRequest<'_>,
    durability: Durability,
) -> Result<Vec<Loss>> {
    let _ = durability;
    let settings = ImportSettings::for_append(job)?;
    let mut options =
        WriterOptions::default().with_commit(Commit::Manual).with_durability(Durability::Synced);
    options.limits = open.limits;
    let source = whole_file(job)?;
    let mut writer = Writer::open(path, &options)?;
    let written = match source {
        Some(source) => frames::add(&mut writer, source, &settings, job),
        None => add_arrays(&mut writer, &settings, job),
    };
    match written {
        Ok(losses) => {
            writer.close()?;
            Ok(losses)
        }
        Err(error) => {
            writer.abandon();
            Err(error)
        }
    }
}

/// Name, index entry and shape of a chunk of the file, to compare arrays with.
struct ExistingChunk {
    name: String,
    entry: IndexEntry,
    shape: Vec<u64>,
}

/// Appends arrays: as many frames as their first axes are long.
fn add_arrays(writer: &mut Writer, settings: &ImportSettings, job: &WriteRequest<'_>) -> Result<Vec<Loss>> {
    let stored = stored(writer)?;
    let mut losses = Vec::new();
    let mut parts: Vec<PlannedChunk> = Vec::with_capacity(job.selection.len());
    for (index, region) in job.selection {
        let dataset = &*job.container.require(*index)?;
        let fits = counterpart(&stored, &planned_chunk::chunk_name(job.container, &dataset.path), job)?;
        // An array of the shape of one chunk adds one frame.
        let single = settings.frames.is_none() && fits.is_some_and(|fits| fits.shape == region.shape());
        let frames = match &settings.frames {
            _ if single => Frames::One,
            range => Frames::Axis(range.as_deref().unwrap_or_default()),
        };
        let mut part = PlannedChunk::new(job, *index, dataset, region, frames, settings.as_bytes)?;
        if let Some(fits) = fits {
            part.name.clone_from(&fits.name);
            check(&part, fits)?;
        }
        planned_chunk::refuse_metadata(&part.name)?;
        losses.extend(
            part.loss.iter().map(|what| Loss { dataset: Some(dataset.path.clone()), what: what.clone() }),
        );
        check_readable(job.container, *index, &part.region, &job.read)?;
        parts.push(part);
    }
    let schema = writer.header().schema_name();
    complete(&stored, &parts, &schema)?;
    let count = planned_chunk::frames(&parts)?;
    if schema == SCHEMA && count > 0 {
        let names = parts.iter().map(|part| part.name.clone());
        let own: BTreeSet<String> = names.filter(|name| name.starts_with(late_logs::PREFIX)).collect();
        // All added frames have the same chunks.
        let added = [late_logs::FrameLogs { logs: own, is_read: true }];
        let (dropped, told) = late_logs::Logs::of(writer)?.check(&added, settings.new_logs)?;
        parts.retain(|part| !dropped.contains(&part.name));
        losses.extend(told);
    }
    if count == 0 && !parts.is_empty() {
        losses.push(no_frames());
    }
    let frame_len = parts.iter().fold(0_u64, |len, part| len.saturating_add(part.len));
    job.options.limits.allocate(frame_len)?;
    stream::for_each_frame(job, &parts, count, &mut |chunks| {
        for (part, bytes) in parts.iter().zip(chunks) {
            writer.write_chunk_bytes(&part.name, part.chunk_type, part.shape.n, part.shape.m, bytes)?;
            if let Some(shape) = &part.shape.beside {
                let name = format!("{}{SHAPE_SUFFIX}", part.name);
                let lens: Vec<u8> = shape.iter().flat_map(|len| len.to_le_bytes()).collect();
                writer.write_chunk_bytes(&name, ChunkType::Uint64, shape.len() as u64, 1, &lens)?;
            }
        }
        writer.end_frame()
    })?;
    losses.extend(job.container.losses());
    Ok(losses)
}

/// The chunks of the last frame, or of frame 0 where the last one lacks them, without carried metadata, which frames do not repeat.
fn stored(writer: &Writer) -> Result<Vec<ExistingChunk>> {
    let Some(last) = writer.nframes().checked_sub(1) else { return Ok(Vec::new()) };
    let names: Vec<String> = writer.names().map(std::borrow::Cow::into_owned).collect();
    let mut stored = Vec::new();
    for name in &names {
        if is_shape(name, &names) || name == METADATA {
            continue;
        }
        let found = match writer.find_chunk(last, name)? {
            None if last > 0 => writer.find_chunk(0, name)?.map(|entry| (0, entry)),
            found => found.map(|entry| (last, entry)),
        };
        let Some((frame, entry)) = found else { continue };
        let shape = match writer.find_chunk(frame, &format!("{name}{SHAPE_SUFFIX}"))? {
            Some(beside) if beside.chunk_type() == Some(ChunkType::Uint64) && entry.m == 1 => {
                let bytes = writer.read_chunk(&beside)?;
                bytes.as_chunks::<8>().0.iter().map(|len| u64::from_le_bytes(*len)).collect()
            }
            _ => entry.shape(),
        };
        stored.push(ExistingChunk { name: name.clone(), entry, shape });
    }
    Ok(stored)
}

/// True for a chunk that contains the shape of another chunk.
fn is_shape(name: &str, names: &[String]) -> bool {
    name.strip_suffix(SHAPE_SUFFIX).is_some_and(|of| names.iter().any(|name| name == of))
}

/// The chunk that an array adds to: the one of its name, or the only chunk of the file.
fn counterpart<'s>(
    stored: &'s [ExistingChunk],
    name: &str,
    job: &WriteRequest<'_>,
) -> Result<Option<&'s ExistingChunk>> {
    if let Some(found) = stored.iter().find(|stored| stored.name == name) {
        return Ok(Some(found));
    }
    match (stored, job.selection) {
        ([], _) => Ok(None),
        ([only], [_]) => Ok(Some(only)),
        _ => {
            let names: Vec<&str> = stored.iter().map(|stored| stored.name.as_str()).take(8).collect();
            let problem = format!("the frames of this file have no chunk {name:?}");
            Err(Error::usage(problem).with_hint(format!("an array named as one of: {}", names.join(", "))))
        }
    }
}

/// Refuses arrays of another type or shape, with which the chunks of that name would no longer stack.
fn check(part: &PlannedChunk, fits: &ExistingChunk) -> Result<()> {
    let ExistingChunk { name, entry, shape } = fits;
    if entry.chunk_type() != Some(part.chunk_type) {
        let stored = entry.chunk_type().map_or("unknown", ChunkType::name);
        let problem = format!("{name}: cannot append {} (expected {stored})", part.chunk_type.name());
        return Err(Error::usage(problem));
    }
    if *shape != part.item {
        let problem = format!("{name}: cannot append frames of shape {:?} (expected {shape:?})", part.item);
        return Err(Error::usage(problem).with_hint("its first axis counts the frames"));
    }
    Ok(())
}

/// Refuses frames that lack chunks which the file's frames have, where the schema defines no default for them.
fn complete(stored: &[ExistingChunk], parts: &[PlannedChunk], schema: &str) -> Result<()> {
    if schema == SCHEMA {
        return Ok(());
    }
    let given: BTreeSet<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    match stored.iter().find(|stored| !given.contains(stored.name.as_str())) {
        None => Ok(()),
        Some(missing) => {
            let problem = format!("missing chunk {:?}, which the frames of this file have", missing.name);
            Err(Error::usage(problem).with_hint("a file with arrays of all their names"))
        }
    }
}

#[cfg(test)]
mod tests;

//! Writing datasets of any container as a GSD file.

pub(crate) mod planned_chunk;
mod restore_gsd;
pub(crate) mod same_format;
pub(crate) mod stream;

use container_core::chunked_read::check_readable;
use container_core::container::Axes;
use container_core::format::{CodecSpec, Output, TargetOptions, WriteRequest};
use container_core::interchange;
use container_core::report::{Loss, Severity};
use container_core::{Error, Result, Value};

use crate::chunk_shape::SHAPE_SUFFIX;
use crate::header::{Header, Version, name_field};
use crate::late_logs::NewLogs;
use crate::metadata::{self, Chunks};
use crate::writer::sequential::Plan;
use crate::{ChunkType, File};
use planned_chunk::{Frames, PlannedChunk};
use restore_gsd::RestoredChunks;

/// Option words for the header of a new file.
const APPLICATION_OPTION: &str = "application";
const SCHEMA_OPTION: &str = "schema";
const VERSION_OPTION: &str = "schema-version";

/// The option word for logs that frame 0 lacks.
pub(crate) const NEW_LOGS_OPTION: &str = "new-logs";

/// Application field of new files, and the schema of arrays that have none.
const APPLICATION: &str = concat!("holdall ", env!("CARGO_PKG_VERSION"));
pub(crate) const SCHEMA: &str = "none";

/// Prefix of the application field of such files.
pub(crate) const WRITER: &str = "holdall ";

/// Settings of a GSD target.
pub(crate) struct ImportSettings {
    pub(crate) frames: Option<String>,
    pub(crate) as_bytes: bool,
    pub(crate) drop_repeats: bool,
    /// Application and schema that the options give for the header.
    pub(crate) header: HeaderSettings,
    pub(crate) new_logs: NewLogs,
}

/// Fields of the header that a user names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeaderSettings {
    application: Option<[u8; 64]>,
    schema: Option<[u8; 64]>,
    schema_version: Option<Version>,
}

impl HeaderSettings {
    /// The header with these fields.
    pub(crate) fn apply(&self, header: &Header) -> Header {
        Header {
            application: self.application.unwrap_or(header.application),
            schema: self.schema.unwrap_or(header.schema),
            schema_version: self.schema_version.unwrap_or(header.schema_version),
            ..*header
        }
    }
}

impl ImportSettings {
    fn new(job: &WriteRequest<'_>) -> Result<Self> {
        let known =
            ["frames", TargetOptions::AS_BYTES, "repeats", APPLICATION_OPTION, SCHEMA_OPTION, VERSION_OPTION];
        job.options.check_options("GSD", &known)?;
        Self::of(job)
    }

    /// Returns the settings of an append.
    pub(crate) fn for_append(job: &WriteRequest<'_>) -> Result<Self> {
        job.options.check_append_options("GSD", &["frames", TargetOptions::AS_BYTES, NEW_LOGS_OPTION])?;
        Self::of(job)
    }

    fn of(job: &WriteRequest<'_>) -> Result<Self> {
        let options = job.options;
        // GSD files are not compressed.
        options.codec("GSD", &[CodecSpec::NONE])?;
        let drop_repeats = options.choice("GSD", "repeats", &[("keep", false), ("drop", true)])?;
        let new_logs = [("refuse", NewLogs::Refuse), ("drop", NewLogs::Drop), ("keep", NewLogs::Keep)];
        let header = HeaderSettings {
            application: options
                .get(APPLICATION_OPTION)
                .map(|text| name_field("application", text))
                .transpose()?,
            schema: options.get(SCHEMA_OPTION).map(|text| name_field("schema", text)).transpose()?,
            schema_version: options.get(VERSION_OPTION).map(version).transpose()?,
        };
        let settings = Self {
            frames: options.get_some("frames").map(ToOwned::to_owned),
            as_bytes: options.as_bytes(),
            drop_repeats: drop_repeats.unwrap_or(false),
            header,
            new_logs: options.choice("GSD", NEW_LOGS_OPTION, &new_logs)?.unwrap_or_default(),
        };
        Ok(settings)
    }
}

/// A version of a schema: `1.4`.
fn version(text: &str) -> Result<Version> {
    let parts = text.split_once('.').unwrap_or((text, "0"));
    match (parts.0.parse(), parts.1.parse()) {
        (Ok(major), Ok(minor)) => Ok(Version::new(major, minor)),
        _ => Err(Error::usage(format!("invalid version {VERSION_OPTION}={text}"))
            .with_hint("-O schema-version=1.4")),
    }
}

/// Writes the selected datasets, little-endian and row-major: frame 0 of a file of schema `none`, or with the word `frames` as many
/// frames as their first axis is long. All of another GSD file is copied chunk by chunk, with its schema.
///
/// Datasets that were exported from a GSD file carry its header and the frames of its chunks as metadata: [`RestoredChunks`] writes them
/// as they were, if the datasets still match. All other datasets become [`PlannedChunk`]s. The plan of all chunks is complete before the
/// first byte is written, so that the output may be a pipe.
pub(crate) fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    let settings = ImportSettings::new(job)?;
    if let Some(file) = whole_file(job)? {
        return same_format::copy(file, &settings, job, out);
    }
    let (tree, mut losses) = job.metadata()?;
    let paths = paths(job, &tree, &mut losses)?;
    let plan = Plan::new(APPLICATION, SCHEMA, Version::new(1, 0))?;
    let mut header = metadata::header(&tree, plan.header());
    // Parts of another GSD file are plain arrays: their meaning in its schema depends on the rest of the file.
    let mut tree = tree;
    if planned_chunk::is_gsd(job.container) {
        losses.extend(job.container.losses());
        if header.take().is_some() {
            tree = interchange::remove_key(tree, metadata::OWN);
        }
    }
    let was_gsd = header.is_some();
    let header = header.unwrap_or(*plan.header());
    let mut plan = Plan::like(&settings.header.apply(&header));
    let restored = match Chunks::of(&tree).filter(|_| was_gsd) {
        Some(chunks) => {
            let restored = RestoredChunks::new(job, chunks, &paths, &settings)?;
            if restored.is_none() {
                let what = "the frames that stored the chunks: the arrays have changed".to_owned();
                losses.push(Loss { dataset: None, what });
            }
            restored
        }
        None => None,
    };
    let mut tree = interchange::remove_key(tree, interchange::NAME);
    if was_gsd {
        tree = interchange::remove_key(tree, metadata::OWN);
    }
    let metadata = metadata::to_json(&tree)?;
    if let Some(restored) = restored {
        let metadata = metadata.filter(|_| restored.frames() > 0);
        if restored.frames() == 0 {
            losses.extend(interchange::losses(&tree));
        }
        losses.extend(restored.write(plan, metadata.as_deref(), job, out)?);
        losses.extend(job.container.unexported_metadata(job.selection));
        return Ok(losses);
    }
    let (parts, lost) = parts(job, &settings, &paths)?;
    losses.extend(lost);
    for part in &parts {
        // Data that a truncated file lacks are an error, before the new file is started.
        check_readable(job.container, part.index, &part.region, &job.read)?;
    }
    let frames = planned_chunk::frames(&parts)?;
    let metadata = metadata.filter(|_| frames > 0);
    if frames == 0 {
        losses.extend(interchange::losses(&tree));
    }
    // In frame 0, before the others, which may be one long run.
    if let Some(metadata) = &metadata {
        let id = plan.name(metadata::METADATA.as_bytes())?;
        plan.chunk(0, id, ChunkType::Uint8, metadata.len() as u64, 1)?;
    }
    plan_chunks(&mut plan, &parts, frames)?;
    if frames == 0 && !parts.is_empty() {
        losses.push(no_frames());
    }
    out.reserve(plan.file_len())?;
    let mut emitter = plan.emit(out, &job.options.limits)?;
    emitter.write(&metadata.unwrap_or_default())?;
    stream::write(job, &parts, frames, &mut |bytes| emitter.write(bytes))?;
    emitter.finish()?;
    losses.extend(job.container.unexported_metadata(job.selection));
    Ok(losses)
}

/// Returns the loss where the selection has no frames.
pub(crate) fn no_frames() -> Loss {
    Loss { dataset: None, what: "arrays without frames: no chunk stores them".into() }
}

/// The file of a `GsdContainer`, if all that it lists is selected.
///
/// # Errors
/// The first fault of a damaged file; `repair` recovers its data.
pub(crate) fn whole_file<'a>(job: &WriteRequest<'a>) -> Result<Option<&'a File>> {
    let file = gsd_file_of(job);
    let damage =
        file.and_then(|file| file.layout().faults().iter().find(|fault| fault.severity() == Severity::Error));
    match damage {
        Some(fault) => Err(fault.error()),
        None => Ok(file),
    }
}

fn gsd_file_of<'a>(job: &WriteRequest<'a>) -> Option<&'a File> {
    let file = job.container.as_any()?.downcast_ref::<File>()?;
    job.is_all().then_some(file)
}

/// The paths of the selected datasets; for a single dataset the metadata may contain another path.
fn paths(job: &WriteRequest<'_>, tree: &Value, losses: &mut Vec<Loss>) -> Result<Vec<String>> {
    let own = job.selection.iter().map(|(index, _)| Ok(job.container.require(*index)?.path.clone()));
    let mut paths = own.collect::<Result<Vec<String>>>()?;
    if let [only] = paths.as_mut_slice() {
        match interchange::path_of(tree, only) {
            "" if !only.is_empty() => {
                let what =
                    "metadata: the name of the array, which is empty (a chunk needs a name)".to_owned();
                losses.push(Loss { dataset: Some(only.clone()), what });
            }
            path => *only = path.to_owned(),
        }
    }
    Ok(paths)
}

/// Plans the chunks of each selected dataset, and collects the losses.
fn parts(
    job: &WriteRequest<'_>,
    settings: &ImportSettings,
    paths: &[String],
) -> Result<(Vec<PlannedChunk>, Vec<Loss>)> {
    let mut losses = Vec::new();
    let mut parts: Vec<PlannedChunk> = Vec::with_capacity(job.selection.len());
    for ((index, region), path) in job.selection.iter().zip(paths) {
        let dataset = &*job.container.require(*index)?;
        let frames = match (&settings.frames, job.options.axes) {
            (Some(_), Axes::Reversed) => {
                return Err(Error::usage("axes cannot be reversed and one of them taken as the frames"));
            }
            (Some(range), Axes::AsStored) => Frames::Axis(range),
            (None, Axes::AsStored) if planned_chunk::is_stacked(job.container, dataset, region) => {
                Frames::Axis("")
            }
            (None, _) => Frames::One,
        };
        let mut part = PlannedChunk::new(job, *index, dataset, region, frames, settings.as_bytes)?;
        if *path != dataset.path {
            part.name.clone_from(path);
        }
        planned_chunk::refuse_metadata(&part.name)?;
        if let Some(what) = &part.loss {
            losses.push(Loss { dataset: Some(dataset.path.clone()), what: what.clone() });
        }
        parts.push(part);
    }
    let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let problem = format!("two datasets would be the chunk {:?}", twice[0]);
        return Err(Error::usage(problem).with_hint("convert one at a time: FILE::PATH"));
    }
    Ok((parts, losses))
}

/// The chunks of every frame, each followed by its shape chunk.
fn plan_chunks(plan: &mut Plan, parts: &[PlannedChunk], frames: u64) -> Result<()> {
    let mut ids = Vec::with_capacity(parts.len());
    for part in parts {
        let id = plan.name(part.name.as_bytes())?;
        let shape = part.shape.beside.is_some();
        let shape = shape.then(|| plan.name(format!("{}{SHAPE_SUFFIX}", part.name).as_bytes()));
        ids.push((id, shape.transpose()?));
    }
    for frame in 0..frames {
        for (part, (id, shape_id)) in parts.iter().zip(&ids) {
            plan.chunk(frame, *id, part.chunk_type, part.shape.n, part.shape.m)?;
            if let (Some(id), Some(shape)) = (shape_id, &part.shape.beside) {
                plan.chunk(frame, *id, ChunkType::Uint64, shape.len() as u64, 1)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

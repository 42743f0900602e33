//! Writing Zarr: a directory, version 3, of an array or of a group of arrays.
//!
//! One dataset is an array; several are a group, with groups below it by the steps of their paths. Chunks and codecs are those of the
//! source where Zarr has them. Chunks of zeros are left out: a reader fills them with the fill value, which is zero.
//!
//! Spec: <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html>, and the registered extensions `numpy.datetime64`,
//! `numpy.timedelta64`, `fixed_length_utf32`, `null_terminated_bytes`, `raw_bytes` and `struct` of zarr-python.

use std::fs;
use std::path::Path;

use container_core::array::byte_len;
use container_core::chunked_read::check_readable;
use container_core::container::{Container, ReadOptions};
use container_core::format::{
    CodecSpec, DirectoryTarget, DuplicatePaths, Format, Level, Levels, OptionSpec, Support, TargetOptions,
    WriteRequest,
};
use container_core::interchange::to_json_value;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::threads::in_order;
use container_core::{Error, Progress, Result, Value};
use serde_json::{Map, Value as Json, json};

use crate::attributes;
use crate::json::value_json;

mod array;
mod codecs;
mod grid;
mod names;
mod read_back;
mod types;

use array::ArrayPlan;
use codecs::Own;

/// The file of metadata in each directory of a node.
const METADATA: &str = "zarr.json";

/// Marks of directories that `-f` replaces; it also replaces empty ones.
const MARKS: [&str; 4] = [METADATA, ".zgroup", ".zarray", ".zmetadata"];

/// Zarr in the table of formats.
pub static FORMAT: Format = Format {
    extensions: &["zarr"],
    support: &[Support {
        version: "3",
        read: Level::No,
        write: Level::Yes,
        verify: Level::No,
        repair: Level::No,
    }],
    codecs: &[
        CodecSpec::NONE,
        CodecSpec::new("zstd", Levels::Between(-7, 22)),
        CodecSpec::new("zlib", Levels::Between(0, 9)),
        CodecSpec::new("blosclz", Levels::Between(0, 9)),
        CodecSpec::new("lz4", Levels::Between(0, 9)),
        CodecSpec::new("lz4hc", Levels::Between(0, 9)),
    ],
    options: &[OptionSpec::new("filter", "none|shuffle|bitshuffle"), OptionSpec::new("chunks", "SHAPE")],
    duplicate_paths: DuplicatePaths::Never,
    import: Some(|_, _| Err(not_a_stream())),
    write_directory: Some(DirectoryTarget {
        is_asked: |_| true,
        write,
        read_back: Some(read_back),
        is_one: is_zarr,
        not_a_stream,
    }),
    ..Format::new(
        "zarr",
        "Zarr",
        |_| false,
        |_, _| Err(Error::unsupported("Zarr directories are written, not read")),
    )
};

fn not_a_stream() -> Error {
    Error::usage("a Zarr target is a directory, not a stream").with_hint("name one: NAME.zarr")
}

/// Writes datasets into an empty directory.
fn write(request: &WriteRequest<'_>, directory: &Path) -> Result<Vec<Loss>> {
    request.options.check_options("Zarr", &["filter", "chunks", TargetOptions::AS_BYTES])?;
    let job = Job::plan(request.container, request.selection, request.options)?;
    for (plan, (index, region)) in job.arrays.iter().zip(request.selection) {
        check_readable(request.container, *index, region, &request.read)
            .map_err(|error| error.with_context(plan.path.clone()))?;
    }
    for (place, text) in job.nodes()? {
        let place = directory.join(place);
        fs::create_dir_all(&place)?;
        fs::write(place.join(METADATA), text)?;
    }
    job.write_chunks(request.container, &request.read, request.progress, directory)?;
    Ok(job.losses)
}

/// Differences between a written directory and its source.
fn read_back(request: &WriteRequest<'_>, directory: &Path) -> Result<Vec<Loss>> {
    let job = Job::plan(request.container, request.selection, request.options)?;
    job.read_back(request.container, &request.read, directory, request.progress)
}

fn is_zarr(directory: &Path) -> bool {
    MARKS.iter().any(|mark| directory.join(mark).is_file())
}

struct Job {
    /// One for each selected dataset, in order.
    arrays: Vec<ArrayPlan>,
    /// Metadata of the file, without its arrays.
    metadata: Vec<(String, Value)>,
    /// True where the arrays are in a group.
    in_group: bool,
    losses: Vec<Loss>,
}

impl Job {
    fn plan(
        container: &dyn Container,
        selection: &[(usize, Region)],
        options: &TargetOptions,
    ) -> Result<Self> {
        let in_group = selection.len() != 1;
        let (metadata, losses) = attributes::of(container, selection)?;
        let mut job = Self { arrays: Vec::with_capacity(selection.len()), metadata, in_group, losses };
        let own = Own::of(&container.about());
        for (index, region) in selection {
            let dataset = &*container.require(*index)?;
            let plan = ArrayPlan::new(container, (*index, dataset), region, &own, options, &mut job.losses)?;
            job.arrays.push(plan);
        }
        if in_group {
            let paths: Vec<&str> = job.arrays.iter().map(|plan| plan.path.as_str()).collect();
            let places = names::places(&paths)?;
            for (plan, place) in job.arrays.iter_mut().zip(places) {
                if place != plan.path {
                    let what = format!("its name, which becomes {place}");
                    job.losses.push(Loss { dataset: Some(plan.path.clone()), what });
                }
                plan.place = place;
            }
        }
        Ok(job)
    }

    /// The directory of each node below the root, and its metadata: groups before their members.
    fn nodes(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let metadata: Map<String, Json> =
            self.metadata.iter().map(|(key, value)| (key.clone(), json_of(value))).collect();
        let mut nodes = Vec::new();
        let group = |attributes: Map<String, Json>| {
            text(&json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes }))
        };
        if self.in_group {
            nodes.push((String::new(), group(metadata.clone())?));
        }
        let mut groups = std::collections::HashSet::new();
        for plan in &self.arrays {
            for (at, _) in plan.place.match_indices('/') {
                let above = &plan.place[..at];
                if groups.insert(above.to_owned()) {
                    nodes.push((above.to_owned(), group(Map::new())?));
                }
            }
            let mut attributes = if self.in_group { Map::new() } else { metadata.clone() };
            for (key, value) in &plan.attributes {
                attributes.entry(key.as_str()).or_insert_with(|| json_of(value));
            }
            nodes.push((plan.place.clone(), text(&plan.metadata(&attributes))?));
        }
        Ok(nodes)
    }

    /// Writes every chunk.
    fn write_chunks(
        &self,
        container: &dyn Container,
        read: &ReadOptions,
        progress: Progress<'_>,
        root: &Path,
    ) -> Result<()> {
        let work = |plan: &ArrayPlan, chunk: &[u64], read: &ReadOptions| {
            let (plain, taken) = plan.plain(container, chunk, read)?;
            if let Some(plain) = plain {
                let path = root.join(&plan.place).join(grid::key(chunk));
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, plan.encode(plain)?)?;
            }
            Ok(((), taken))
        };
        self.each_chunk(read, progress, work, |_, ()| {})
    }

    /// Runs `work` on every chunk, several at a time, and passes the results to `place`, in order. `work` also returns the number of source
    /// bytes that it took.
    fn each_chunk<T: Send>(
        &self,
        read: &ReadOptions,
        progress: Progress<'_>,
        work: impl Fn(&ArrayPlan, &[u64], &ReadOptions) -> Result<(T, u64)> + Sync,
        mut place: impl FnMut(&ArrayPlan, T),
    ) -> Result<()> {
        let lens = self.arrays.iter().map(|plan| byte_len(&plan.stored, &plan.grid.shape).unwrap_or(0));
        let total = lens.fold(0, u64::saturating_add);
        let mut done = 0_u64;
        for plan in &self.arrays {
            let workers = plan.workers(read)?;
            let mut read = *read;
            read.threads = (read.threads / workers).max(1);
            let mut chunks = plan.grid.chunks();
            in_order(
                workers,
                || Ok(chunks.next()),
                |chunk| work(plan, &chunk, &read),
                |(made, taken)| {
                    place(plan, made);
                    done = done.saturating_add(taken);
                    progress.tick(done, total)
                },
            )?;
        }
        Ok(())
    }
}

/// Values that JSON lacks are written as a conversion to other formats writes them.
fn json_of(value: &Value) -> Json {
    value_json(&to_json_value(value))
}

/// JSON as people read it.
fn text(json: &Json) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(json).map_err(|error| Error::from(std::io::Error::from(error)))
}

#[cfg(test)]
mod tests;

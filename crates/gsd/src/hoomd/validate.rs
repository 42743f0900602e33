//! Checks of frames against the schema, for writing frames and for verifying files.

use std::collections::HashSet;
use std::ops::Range;

use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Progress, Result};

use crate::File;
use crate::hoomd::read::{FieldSource, FrameView, field_at, field_index};
use crate::hoomd::schema::{Container, FIELDS, Field, Fit, Rows, V2_0};
use crate::hoomd::trajectory::TrajectoryState;
use crate::hoomd::validate::cache::{CheckedChunk, ChunkCheck, ValidationCache};
use crate::hoomd::{FloatArray, SCHEMA, SimulationBox, SinglePrecision, Trajectory, Vectors};
use crate::index::IndexEntry;

pub(super) mod cache;

/// Positions may be outside the box by this part of its extent: wrapping in f32 rounds to the face.
const TOLERANCE: f64 = 1e-6;

/// Severity of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Another spelling of what the schema requires: groups in i32.
    Note,
    /// Unphysical values: not finite, outside the box, steps that do not rise.
    Warning,
    /// Values that contradict each other or the schema: counts, shapes, types, ids and tags out of range, names twice.
    Error,
}

/// A deviation from the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Severity of the problem.
    pub grade: Grade,
    /// A stable name: `schema_type`, `schema_shape`, `schema_range`, `schema_text`, `box`, `typeid`, `tags`, `not_finite`, `outside_box`,
    /// `step_order`, `late_log`, `newer_schema`, `narrow_text`,
    /// `signed_groups`.
    pub code: &'static str,
    /// Name of the chunk.
    pub chunk: String,
    /// The first frame with the problem.
    pub frame: u64,
    /// Number of frames with the problem.
    pub frames: u64,
    /// Bytes of the chunk in the first frame; `None` for a frame that is not in a file.
    pub range: Option<Range<u64>>,
    /// The message about the first frame, for people.
    pub message: String,
}

impl Problem {
    /// The problem as `verify` reports it: an error by the schema is a warning for a file, whose bytes are intact. The dataset is the chunk
    /// in its first frame.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let severity = if self.grade == Grade::Note { Severity::Note } else { Severity::Warning };
        let mut message = self.message.clone();
        if self.frames > 1 {
            message.push_str(&format!(" (and {} frames more)", self.frames - 1));
        }
        let mut finding = Finding::new(severity, self.code, message);
        if !self.chunk.is_empty() {
            finding = finding.dataset(format!("frames/{}/{}", self.frame, self.chunk));
        }
        match &self.range {
            Some(range) => finding.at(range.clone()),
            None => finding,
        }
    }

    pub(crate) fn new(grade: Grade, code: &'static str, chunk: &str, message: String) -> Self {
        Self { grade, code, chunk: chunk.to_owned(), frame: 0, frames: 1, range: None, message }
    }
}

/// Checks the frames of a trajectory: see [`check_file`].
///
/// # Errors
/// As [`check_file`].
pub fn check_trajectory(trajectory: &Trajectory, progress: Progress<'_>) -> Result<Vec<Problem>> {
    check_frames(trajectory.file(), trajectory.core(), progress)
}

/// Checks the frames of a file against the schema, and reports each kind of problem of each chunk once. Only stored chunks are checked, and every
/// value of them. A file of another schema has no problems.
///
/// # Errors
/// `Io`, `Limit`, `Cancelled`. Faults of the file are problems, not errors.
pub fn check_file(file: &File, progress: Progress<'_>) -> Result<Vec<Problem>> {
    let header = file.header();
    if header.schema_name() != SCHEMA {
        return Ok(Vec::new());
    }
    let version = header.schema_version;
    let mut problems = Vec::new();
    if version > V2_0 {
        let message = format!("unknown schema hoomd {version} (expected 1.0 to 1.4 or 2.0)");
        problems.push(Problem {
            range: Some(40..44),
            ..Problem::new(Grade::Warning, "newer_schema", "", message)
        });
    }
    match TrajectoryState::new(file) {
        Ok(core) => problems.extend(check_frames(file, &core, progress)?),
        // Files of unsupported versions are not checked further.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => (),
        Err(error) => return Err(error),
    }
    Ok(problems)
}

fn check_frames(file: &File, core: &TrajectoryState, progress: Progress<'_>) -> Result<Vec<Problem>> {
    let mut found = ValidationCache::default();
    let mut previous = None;
    for index in 0..file.nframes() {
        let frame = FrameView::new(file, core, index);
        found.frame = index;
        check_into(&frame, previous, &mut found)?;
        previous = skip_damage(frame.step())?.or(previous);
        progress.tick(index.saturating_add(1), file.nframes())?;
    }
    Ok(found.problems)
}

/// Checks one frame. `previous` is the step of the frame before.
///
/// # Errors
/// As [`check_file`].
pub fn check_frame(frame: &FrameView<'_>, previous: Option<u64>) -> Result<Vec<Problem>> {
    let mut found = ValidationCache::of_frame(frame.index());
    check_into(frame, previous, &mut found)?;
    Ok(found.problems)
}

/// The value, or `None` for faults of the file, which other checks report.
fn skip_damage<T>(value: Result<T>) -> Result<Option<T>> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error),
    }
}

fn check_into(frame: &FrameView<'_>, previous: Option<u64>, found: &mut ValidationCache) -> Result<()> {
    for at in 0..FIELDS.len() {
        if let Some(entry) = frame.stored_at(at) {
            check_chunk(frame, at, &entry, found)?;
        }
    }
    let stored = |name: &str| frame.stored(name);
    let step = stored("configuration/step");
    if step.is_some()
        && let (Some(step_value), Some(previous)) = (skip_damage(frame.step())?, previous)
        && step_value <= previous
    {
        let message = format!("step {step_value} comes after step {previous}");
        found.push(Problem::new(Grade::Warning, "step_order", "configuration/step", message), step.as_ref());
    }
    let simulation_box = check_box(frame, found)?;
    let particles = skip_damage(frame.count(Container::Particles))?;
    let position = stored("particles/position").or_else(|| stored("configuration/box"));
    const POSITION: usize = field_index("particles/position");
    if let (Some(entry), Some(simulation_box), Some(chunk)) =
        (position, simulation_box, chunk_of(frame, POSITION)?)
    {
        let geometry = simulation_box.values().map(f64::to_bits);
        let beside = [u64::from(simulation_box.dimensions), particles.map_or(u64::MAX, u64::from)];
        let seen = CheckedChunk::new(ChunkCheck::Outside, POSITION, &chunk)
            .with_parameters(geometry.into_iter().chain(beside));
        found.check_once(seen, &entry, |_| {
            let positions = skip_damage(frame.particles().position())?;
            Ok(positions.and_then(|positions| outside_box(&positions, &simulation_box)))
        })?;
    }
    for container in Container::COUNTED {
        check_ids(frame, container, particles, found)?;
    }
    check_shapes(frame, found)?;
    check_logs(frame, found)
}

/// Type, shape and finiteness of one chunk.
fn check_chunk(
    frame: &FrameView<'_>,
    at: usize,
    entry: &IndexEntry,
    found: &mut ValidationCache,
) -> Result<()> {
    let field = field_at(at);
    let schema = frame.schema_version();
    let name = field.name;
    let type_name = entry.chunk_type().map_or("no type", crate::ChunkType::name);
    let message = format!("{type_name} (expected {} by schema {schema})", field.chunk_type.name());
    match entry.chunk_type().map_or(Fit::Wrong, |found| field.fit(found, schema)) {
        Fit::Exact => (),
        Fit::Wrong => {
            found.push(Problem::new(Grade::Error, "schema_type", name, message), Some(entry));
            return Ok(());
        }
        // hoomd-gsd's tables of strings are u8.
        Fit::Readable if field.is_text() => (),
        Fit::Readable if name.ends_with("/group") => {
            found.push(Problem::new(Grade::Note, "signed_groups", name, message), Some(entry));
        }
        Fit::Readable => found.push(Problem::new(Grade::Warning, "schema_type", name, message), Some(entry)),
    }
    let shape = match field.rows {
        Rows::N | Rows::Fixed(_) => skip_damage(frame.shape_problem(field, entry))?.flatten(),
        Rows::Types | Rows::Vertices => None,
    };
    if let Some(problem) = shape {
        found.push(Problem::new(Grade::Error, "schema_shape", name, problem), Some(entry));
    } else if let Some(problem) = skip_damage(frame.range_problem(field, entry))?.flatten() {
        found.push(Problem::new(Grade::Error, "schema_range", name, problem), Some(entry));
    } else if field.is_text() {
        if entry.m == 1 {
            let message = "text in one column, at which gsd.hoomd 5.0.1 fails";
            found.push(Problem::new(Grade::Warning, "narrow_text", name, message.to_owned()), Some(entry));
        }
        check_text(frame, at, field, entry, found)?;
    } else if field.is_real() && field.container != Container::State && name != "configuration/box" {
        // The shape was compared with the frame's counts above.
        found.check_once(CheckedChunk::new(ChunkCheck::Finite, at, entry), entry, |_| {
            Ok(match field.columns {
                1 => skip_damage(frame.reals::<f32>(at))?.and_then(|values| not_finite(name, &values)),
                3 => skip_damage(frame.reals::<[f32; 3]>(at))?.and_then(|values| not_finite(name, &values)),
                _ => skip_damage(frame.reals::<[f32; 4]>(at))?.and_then(|values| not_finite(name, &values)),
            })
        })?;
    }
    Ok(())
}

fn check_text(
    frame: &FrameView<'_>,
    at: usize,
    field: &Field,
    entry: &IndexEntry,
    found: &mut ValidationCache,
) -> Result<()> {
    let damaged = |error: Error| -> Result<Option<Problem>> {
        let problem = Problem::new(Grade::Error, "schema_text", field.name, error.kind().to_string());
        if error.is_damage() { Ok(Some(problem)) } else { Err(error) }
    };
    found.check_once(CheckedChunk::new(ChunkCheck::Text, at, entry), entry, |_| {
        if field.name == "particles/type_shapes" {
            return frame.shapes().map_or_else(damaged, |_| Ok(None));
        }
        frame.type_names(at).map_or_else(damaged, |names| Ok(duplicate_names(field.name, &names)))
    })
}

/// Reports faults of a box that the frame stores, and returns the box if it is valid.
fn check_box(frame: &FrameView<'_>, found: &mut ValidationCache) -> Result<Option<SimulationBox>> {
    let Some(simulation_box) = skip_damage(frame.simulation_box())? else { return Ok(None) };
    let problem = improper_box(&simulation_box);
    let proper = problem.is_none();
    let stored = frame.stored("configuration/box").or_else(|| frame.stored("configuration/dimensions"));
    if let Some(entry) = stored {
        found.push_some(problem, Some(&entry));
    }
    Ok(proper.then_some(simulation_box))
}

/// Checks ids of types against the number of types, and tags of particles against the number of particles.
///
/// Both are checked once for each chunk: the largest tag of a chunk is kept, since the number of particles may change from frame to frame.
fn check_ids(
    frame: &FrameView<'_>,
    container: Container,
    particles: Option<u32>,
    found: &mut ValidationCache,
) -> Result<()> {
    let (types, typeid, group) = match container {
        Container::Particles => (field_index("particles/types"), field_index("particles/typeid"), None),
        Container::Bonds => {
            (field_index("bonds/types"), field_index("bonds/typeid"), Some(field_index("bonds/group")))
        }
        Container::Angles => {
            (field_index("angles/types"), field_index("angles/typeid"), Some(field_index("angles/group")))
        }
        Container::Dihedrals => (
            field_index("dihedrals/types"),
            field_index("dihedrals/typeid"),
            Some(field_index("dihedrals/group")),
        ),
        Container::Impropers => (
            field_index("impropers/types"),
            field_index("impropers/typeid"),
            Some(field_index("impropers/group")),
        ),
        Container::Pairs => {
            (field_index("pairs/types"), field_index("pairs/typeid"), Some(field_index("pairs/group")))
        }
        _ => (usize::MAX, usize::MAX, Some(field_index("constraints/group"))),
    };
    // Ids of another type are reported by the type check.
    let exact = |entry: &IndexEntry| entry.chunk_type() == Some(crate::ChunkType::Uint32);
    let rows = skip_damage(frame.count(container))?.map_or(u64::MAX, u64::from);
    if let Some(entry) = frame.stored_at(typeid).filter(exact)
        && let Some(types) = type_count(frame, types, found)?
    {
        let seen = CheckedChunk::new(ChunkCheck::Ids, typeid, &entry).with_parameters([types as u64, rows]);
        found.check_once(seen, &entry, |_| {
            let ids = skip_damage(frame.rows::<u32>(typeid))?;
            Ok(ids.and_then(|ids| bad_typeid(field_at(typeid).name, &ids, types)))
        })?;
    }
    let Some(group) = group else { return Ok(()) };
    let entry = frame.stored_at(group).or_else(|| frame.stored("particles/N"));
    let (Some(entry), Some(particles)) = (entry, particles) else { return Ok(()) };
    let Some(chunk) = chunk_of(frame, group)? else { return Ok(()) };
    let tags =
        found.number(CheckedChunk::new(ChunkCheck::Tags, group, &chunk).with_parameters([rows]), || {
            let tags =
                match container.group_size() {
                    2 => skip_damage(frame.rows::<[u32; 2]>(group))?
                        .and_then(|rows| largest(rows.as_flattened())),
                    3 => skip_damage(frame.rows::<[u32; 3]>(group))?
                        .and_then(|rows| largest(rows.as_flattened())),
                    _ => skip_damage(frame.rows::<[u32; 4]>(group))?
                        .and_then(|rows| largest(rows.as_flattened())),
                };
            Ok(tags.map(u64::from))
        })?;
    let tags = tags.and_then(|tag| u32::try_from(tag).ok());
    found.push_some(bad_tag(field_at(group).name, tags, particles), Some(&entry));
    Ok(())
}

/// The field's chunk, of this frame or of frame 0; `None` for a default, which is valid with any number of rows.
fn chunk_of(frame: &FrameView<'_>, at: usize) -> Result<Option<IndexEntry>> {
    let source = skip_damage(frame.field_source(at))?;
    Ok(match source {
        Some(FieldSource::Stored(entry) | FieldSource::Frame0(entry)) => Some(entry),
        _ => None,
    })
}

/// Returns the number of types of a container, where its table can be read.
fn type_count(frame: &FrameView<'_>, at: usize, found: &mut ValidationCache) -> Result<Option<usize>> {
    let count = || Ok(skip_damage(frame.type_names(at))?.map(|names| names.len() as u64));
    let types = match chunk_of(frame, at)? {
        Some(chunk) => found.number(CheckedChunk::new(ChunkCheck::Count, at, &chunk), count)?,
        None => count()?,
    };
    Ok(types.and_then(|types| usize::try_from(types).ok()))
}

fn check_shapes(frame: &FrameView<'_>, found: &mut ValidationCache) -> Result<()> {
    const SHAPES: usize = field_index("particles/type_shapes");
    let Some(entry) = frame.stored_at(SHAPES) else { return Ok(()) };
    let shapes = found.number(CheckedChunk::new(ChunkCheck::Count, SHAPES, &entry), || {
        Ok(skip_damage(frame.shapes())?.map(|shapes| shapes.len() as u64))
    })?;
    if let (Some(shapes), Some(types)) = (shapes, type_count(frame, field_index("particles/types"), found)?) {
        found.push_some(shape_count(usize::try_from(shapes).unwrap_or(usize::MAX), types), Some(&entry));
    }
    Ok(())
}

/// Logs that frame 0 lacks, and those of another type than there.
fn check_logs(frame: &FrameView<'_>, found: &mut ValidationCache) -> Result<()> {
    if frame.index() == 0 {
        return Ok(());
    }
    let file = frame.file();
    for entry in file.index().slice(frame.entries()).iter() {
        let Some(name) = file.names().get(entry.id).filter(|name| name.starts_with("log/")) else { continue };
        match found.frame0_entry(file, entry.id) {
            None => {
                let message = "not in frame 0, which frames without it use".to_owned();
                found.push(Problem::new(Grade::Warning, "late_log", &name, message), Some(&entry));
            }
            Some(first) if first.type_code != entry.type_code => {
                let name_of =
                    |entry: &IndexEntry| entry.chunk_type().map_or("no type", crate::ChunkType::name);
                let message = format!("{} (expected {}, as in frame 0)", name_of(&entry), name_of(&first));
                found.push(Problem::new(Grade::Warning, "schema_type", &name, message), Some(&entry));
            }
            Some(_) => (),
        }
    }
    Ok(())
}

pub(crate) fn improper_box(simulation_box: &SimulationBox) -> Option<Problem> {
    let problem = |message| Some(Problem::new(Grade::Warning, "box", "configuration/box", message));
    if !(2..=3).contains(&simulation_box.dimensions) {
        return problem(format!("{} dimensions", simulation_box.dimensions));
    }
    if !simulation_box.is_proper() {
        let [lx, ly, lz, xy, xz, yz] = simulation_box.values();
        let dimensions = simulation_box.dimensions;
        return problem(format!(
            "invalid box in {dimensions} dimensions: {lx}, {ly}, {lz}, {xy}, {xz}, {yz}"
        ));
    }
    None
}

pub(crate) fn outside_box(positions: &Vectors<'_>, simulation_box: &SimulationBox) -> Option<Problem> {
    let [xy, xz, yz] = simulation_box.tilts;
    let (xz, yz) = if simulation_box.is_2d() { (0.0, 0.0) } else { (xz, yz) };
    let [half_x, half_y, half_z] = simulation_box.lengths.map(|length| length * (0.5 + TOLERANCE));
    let (half_z, shear) = (if simulation_box.is_2d() { f64::INFINITY } else { half_z }, xz - xy * yz);
    // `SimulationBox::is_inside_by` for millions of particles: constants are computed once, and the loop has no branch.
    let inside = |[x, y, z]: [f64; 3]| {
        let within =
            ((x - shear * z - xy * y).abs() <= half_x) & ((y - yz * z).abs() <= half_y) & (z.abs() <= half_z);
        // Values that are not finite are reported separately.
        within || !(x.is_finite() && y.is_finite() && z.is_finite())
    };
    let (first, count) = match positions {
        FloatArray::F32(rows) => failing(rows, |row| inside(row.widen())),
        FloatArray::F64(rows) => failing(rows, |row| inside(*row)),
    };
    let first = first?;
    let message = format!("particle {first} is outside the box{}", and_others(count));
    Some(Problem::new(Grade::Warning, "outside_box", "particles/position", message))
}

pub(crate) fn not_finite<S: SinglePrecision>(name: &str, values: &FloatArray<'_, S>) -> Option<Problem> {
    let finite32 =
        |row: &S| bytemuck::cast_slice::<S, f32>(std::slice::from_ref(row)).iter().all(|one| one.is_finite());
    let finite64 = |row: &S::Double| {
        bytemuck::cast_slice::<S::Double, f64>(std::slice::from_ref(row)).iter().all(|one| one.is_finite())
    };
    let (first, count) = match values {
        FloatArray::F32(rows) => failing(rows, finite32),
        FloatArray::F64(rows) => failing(rows, finite64),
    };
    let first = first?;
    let message = format!("row {first} is not finite{}", and_others(count));
    Some(Problem::new(Grade::Warning, "not_finite", name, message))
}

pub(crate) fn bad_typeid(name: &str, ids: &[u32], types: usize) -> Option<Problem> {
    let bad = |id: &u32| usize::try_from(*id).unwrap_or(usize::MAX) < types;
    let (first, count) = failing(ids, bad);
    let first = first?;
    let id = ids.get(first).copied().unwrap_or(0);
    let message = format!("row {first}: type {id} (expected below {types}){}", and_others(count));
    Some(Problem::new(Grade::Error, "typeid", name, message))
}

pub(crate) fn largest(tags: &[u32]) -> Option<u32> {
    tags.iter().copied().max()
}

pub(crate) fn bad_tag(name: &str, largest: Option<u32>, particles: u32) -> Option<Problem> {
    let tag = largest.filter(|tag| *tag >= particles)?;
    // i32 groups of older writers have the same bits.
    #[allow(clippy::cast_possible_wrap, reason = "the bits of an i32")]
    let tag = if tag > u32::MAX / 2 { i64::from(tag as i32) } else { tag.into() };
    let message = format!("tag {tag} (expected below {particles})");
    Some(Problem::new(Grade::Error, "tags", name, message))
}

pub(crate) fn duplicate_names(chunk: &str, names: &[String]) -> Option<Problem> {
    let mut known = HashSet::new();
    let twice = names.iter().find(|name| !known.insert(name.as_str()))?;
    Some(Problem::new(Grade::Error, "schema_text", chunk, format!("duplicate {twice:?}")))
}

pub(crate) fn shape_count(shapes: usize, types: usize) -> Option<Problem> {
    let message = format!("{shapes} shapes (expected {types}, one for each type)");
    let problem = Problem::new(Grade::Error, "schema_shape", "particles/type_shapes", message);
    (shapes != types).then_some(problem)
}

/// The first row that fails, and the number of such rows.
fn failing<T>(rows: &[T], good: impl Fn(&T) -> bool) -> (Option<usize>, usize) {
    // In most files no row fails.
    if rows.iter().all(&good) {
        return (None, 0);
    }
    (rows.iter().position(|row| !good(row)), rows.iter().filter(|row| !good(row)).count())
}

fn and_others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;

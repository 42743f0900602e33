//! Repair of a damaged file into a new one, by evidence.
//!
//! A repair is made where the file itself shows that it is right, independently of the damaged field, or where the damage is one that is
//! known to happen; each item of [`RepairReport::guessed`] says which. Values carry no digest: a chunk is called kept where its entry
//! is possible by itself and beside all others.
//!
//! A file that opens under [`Strictness::Strict`](crate::Strictness::Strict), and whose chunks lie apart, is intact: all that it lists is
//! kept, and frames are at most added. Else, step by step:
//!
//! 1. *Index*: where the header leads to no index, or to no namelist, the file is searched for one. Each growth leaves an older copy
//!    behind, so that even a file that was cut has most of its frames. One that lies where neither the header nor a chunk places it is
//!    refused: bytes were put into the file or taken out of it.
//! 2. *Entries* are collected one by one, whatever is between them, sorted, and of several for one chunk the one whose data were written
//!    last is taken. Chunks that lie over others or in the index are lost.
//! 3. *Frames*: a last frame that lacks chunks although their bytes are there was torn by a crash. It goes, or is completed; in an
//!    intact file it stays or is completed.
//! 4. *Uncommitted frames* are found by the form of those that were committed (see [`UncommittedFrames`]). Where not one frame was
//!    committed, the first is laid out by the names and the schema `hoomd`.
//! 5. *Names*: lost ones are replaced by `unknown/<id>`; [`RepairOptions::names`] gives the right ones.
//!
//! A frame that lacks a chunk is worse than none in the schema `hoomd`, where an absent chunk means that of frame 0: it is left
//! out, but for frame 0 itself, and later frames move up. In other schemas it stays, without the chunk.
//!
//! The result is written by [`sequential`](crate::sequential), little-endian, file layer 2.1. Memory is needed for the index, time is
//! proportional to the file.

mod damaged_file;
mod entries;
mod first_frame;
mod frames;
mod index;
mod intact;
mod names;
mod output;
mod plan;
mod report;
mod step_counter;
mod uncommitted_frames;

use std::collections::BTreeMap;
use std::path::Path;

use container_core::container;
use container_core::format::{Input, Output};
use container_core::report::RepairReport;
use container_core::source::{Access, Source, open_path};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Limits, Progress, Result, magic};

use self::damaged_file::DamagedFile;
use self::intact::IntactFile;
use self::plan::RepairPlan;
use crate::fault::{Fault, FaultKind};
use crate::header::{INDEX_ENTRY_LEN, MAGICS};
use crate::index::IndexEntry;

/// Treatment of data after the last committed chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UncommittedFrames {
    /// Frames are taken that have the form of a committed one, behind which the next begins, and whose step goes on rising
    /// (`configuration/step`, or any chunk of one integer). They are reported as guessed. Without a number that rises nothing is taken.
    #[default]
    Checked,
    /// Committed frames alone.
    Off,
}

/// Options of repairing a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// Treatment of data that no entry describes.
    pub uncommitted_frames: UncommittedFrames,
    /// Names of chunks by id, used in place of what the namelist says, if it can still be read.
    pub names: BTreeMap<u16, String>,
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// Access to its bytes.
    pub access: Access,
}

impl RepairOptions {
    /// The same with another treatment of uncommitted frames.
    #[must_use]
    pub const fn with_uncommitted_frames(mut self, uncommitted_frames: UncommittedFrames) -> Self {
        self.uncommitted_frames = uncommitted_frames;
        self
    }

    /// The same with a name for `id`.
    #[must_use]
    pub fn with_name(mut self, id: u16, name: impl Into<String>) -> Self {
        self.names.insert(id, name.into());
        self
    }
}

/// Repairs the file at `path` into a new one at `target`. The input is only read.
///
/// # Errors
/// `WrongFormat` and `Truncated` without a header, `Malformed` when not one frame of a file with data can be brought back,
/// `Usage` when the target exists, `Limit`, `Io`. No file appears then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    repair_with(path, target, &RepairOptions::default())
}

/// The same with options.
///
/// # Errors
/// As [`repair`]; `Usage` for names that cannot be names of chunks.
pub fn repair_with(
    path: impl AsRef<Path>,
    target: impl AsRef<Path>,
    options: &RepairOptions,
) -> Result<RepairReport> {
    let source = open_path(path.as_ref(), options.access, &options.limits)?;
    let mut out = AtomicFile::create(target, Overwrite::Refuse)?;
    let report = repair_source(&source, options, Some(&mut out), Progress::none())?;
    out.commit(Durability::Synced)?;
    Ok(report)
}

/// Repairs bytes from anywhere into `out`; without an output it only reports.
///
/// # Errors
/// As [`repair_with`].
pub fn repair_source(
    source: &dyn Source,
    options: &RepairOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let source = magic::with_corrected_magic(source, MAGICS, &mut report)?;
    let damaged = DamagedFile::open(&*source, options.limits, &mut report.guessed)?;
    let intact = intact::listed(&damaged)?;
    report.guessed.extend(intact.as_ref().and_then(|intact| intact.report_repeats(&damaged)));
    let plan = RepairPlan::new(damaged, intact, options, report, progress)?;
    match out {
        Some(out) => plan.write(out, progress)?,
        None => plan.dry_run()?,
    }
    Ok(plan.report)
}

/// Committed frames of a sound file to which a repair would add chunks that lie in it without an entry. `None` where to find out would
/// take more memory than there may be.
///
/// # Errors
/// Those of the source.
pub(crate) fn incomplete_frames(source: &dyn Source, limits: &Limits) -> Result<Option<Fault>> {
    let look = || -> Result<Option<Fault>> {
        let damaged = DamagedFile::open(source, *limits, &mut Vec::new())?;
        match intact::listed(&damaged)? {
            Some(intact) => incomplete_frames_fault(damaged, intact),
            None => Ok(None),
        }
    };
    match look() {
        Err(error) if !error.is_transient() => Ok(None),
        other => other,
    }
}

/// Committed frames to which a repair would add chunks that lie in the file without an entry.
fn incomplete_frames_fault(damaged: DamagedFile<'_>, intact: IntactFile) -> Result<Option<Fault>> {
    let key = |entry: &IndexEntry| (entry.frame, entry.id);
    let frames = intact.found.entries.last().map_or(0, |last| last.frame.saturating_add(1));
    damaged.limits.allocate((intact.found.entries.len() as u64).saturating_mul(INDEX_ENTRY_LEN))?;
    let mut listed: Vec<(u64, u16)> = intact.found.entries.iter().map(key).collect();
    listed.sort_unstable();
    let options = RepairOptions { limits: damaged.limits, ..RepairOptions::default() };
    let plan = RepairPlan::new(damaged, Some(intact), &options, RepairReport::default(), Progress::none())?;
    let is_new = |entry: &&IndexEntry| entry.frame < frames && listed.binary_search(&key(entry)).is_err();
    let added: Vec<&IndexEntry> = plan.entries().iter().filter(is_new).collect();
    let ranges = added.iter().filter_map(|entry| entry.byte_range());
    let Some(range) = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) else { return Ok(None) };
    let first = added.first().map_or(0, |entry| entry.frame);
    let what =
        format!("frame {first} lacks the entries of chunks in the file ({} in all): see repair", added.len());
    Ok(Some(Fault::new(FaultKind::EntriesMissing, range, what)))
}

/// The entry for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &container::OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let options = RepairOptions { limits: options.limits, ..RepairOptions::default() };
    repair_source(&input.into_source()?, &options, out, progress)
}

#[cfg(test)]
mod tests;

//! Bringing back what can be proved of a damaged file, into a new one.
//!
//! A file that opens under [`Strictness::Strict`](crate::Strictness::Strict), and whose chunks lie apart, is sound: all that it lists is
//! kept, and frames are at most added. Else the levels, each of which comes into play where the one before leaves something undone:
//!
//! 0. *Bits*: an entry that fits nowhere, and with one other bit does, is the one with that bit.
//! 1. *Trim*: a last frame that lacks chunks although their bytes are there was torn by a crash. It goes, or is completed; in a
//!    sound file it stays or is completed.
//! 2. *Order*: entries are collected one by one, whatever stands between them, sorted, and of several for one chunk the one
//!    whose data were written last is taken. Chunks that lie over others or in the index are lost.
//! 3. *Search*: where the header leads to no index, or to no namelist, the file is searched for one. Each growth leaves an
//!    older copy behind, so that even a file that was cut has most of its frames.
//! 4. *Salvage*: frames that were written and not committed are found by the form of those that were (see [`UncommittedFrames`]).
//!    Where not one frame was committed, the first is laid out by the names and the schema `hoomd`.
//! 5. *Names*: lost ones are replaced by what the chunks look like (`particles/position`), or by `unknown/<id>`;
//!    [`RepairOptions::names`] says better.
//!
//! A frame that lacks a chunk is worse than none in the schema `hoomd`, where an absent chunk means that of frame 0: it is left
//! out, but for frame 0 itself, and later frames move up. In other schemas it stays, without the chunk.
//!
//! Values carry no digest: a chunk is called kept where its entry makes sense by itself and beside all others.
//!
//! The result is written by [`sequential`](crate::sequential), little-endian, file layer 2.1. Memory is needed for the index, time is
//! proportional to the file.

mod bit_flips;
mod damaged_file;
mod entries;
mod find_index;
mod first_frame;
mod frame_templates;
mod frames;
mod index;
mod intact;
mod name_recovery;
mod output;
mod plan;
mod repeated_appends;
mod report;
mod schema_hints;
mod shifted;
mod split_names;
mod uncommitted_frames;
mod value_model;

use std::collections::BTreeMap;
use std::path::Path;

use container_core::container;
use container_core::format::{Input, Output};
use container_core::report::{RepairItem, RepairReport};
use container_core::source::{Access, Overlay, Source, open_path};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{ErrorKind, Limits, Progress, Result, magic};

use self::damaged_file::DamagedFile;
use self::intact::IntactFile;
use self::plan::RepairPlan;
use self::shifted::header::ShiftedHeader;
use crate::container::FORMAT;
use crate::fault::{Fault, FaultKind};
use crate::header::INDEX_ENTRY_LEN;
use crate::index::IndexEntry;

/// Treatment of data after the last committed chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UncommittedFrames {
    /// Frames are taken where their values can be true: a number that rises from frame to frame goes on doing so
    /// (`configuration/step`, or any chunk of one integer), real numbers are finite and no larger than before, positions are in
    /// the box, text is UTF-8. They are reported as guessed. Without a number that rises nothing is taken.
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
    let source = magic::with_corrected_magic(source, FORMAT.magics, &mut report)?;
    let Some(inserted) = ShiftedHeader::find(&*source, &options.limits)? else {
        return repair_placed(&*source, options, report, out, progress);
    };
    let view = inserted.unshifted(&*source);
    let mut done = repair_placed(&view, options, report, out, progress)?;
    inserted.adjust_report(&mut done);
    Ok(done)
}

/// The same of bytes whose header is whole.
fn repair_placed(
    source: &dyn Source,
    options: &RepairOptions,
    mut report: RepairReport,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut damaged = DamagedFile::open(source, options.limits, &mut report.guessed)?;
    let separators = split_names::find(&damaged)?;
    report.guessed.extend(split_names::report(&damaged, &separators)?);
    let parted = Overlay::patched(source, separators.into_iter().map(|at| (at, vec![0])).collect());
    damaged.source = &parted;
    let single;
    if let Some(repeats) = repeated_appends::find(&damaged)? {
        report.guessed.push(repeats.report());
        single = Overlay::patched(&parted, vec![repeats.patch]);
        (damaged.source, damaged.known) = (&single, repeats.ranges);
    }
    let mut intact = intact::listed(&damaged)?;
    let mended;
    let flips = bit_flips::find(&damaged)?;
    if !flips.is_empty() {
        report.guessed.extend(bit_flips::report(&damaged, &flips)?);
        mended = Overlay::patched(damaged.source, bit_flips::patches(&flips, damaged.order()));
        damaged.source = &mended;
        intact = intact::listed(&damaged)?;
    }
    if let Some(listed) = &intact
        && shifted::chunks::find(&damaged, &listed.found.entries)?.is_some()
    {
        intact = None;
    }
    if let Some((frames, chunks)) = intact.as_ref().and_then(IntactFile::hidden) {
        let what = repeated_appends::left_out(&frames, chunks);
        report.guessed.push(RepairItem::new(damaged.header.index_range().unwrap_or_default(), what));
    }
    let plan = RepairPlan::new(damaged, intact, options, report, progress)?;
    match out {
        Some(out) => plan.write(out, progress)?,
        None => plan.dry_run()?,
    }
    Ok(plan.report)
}

/// Findings for changes that a repair would make to a file that is sound by itself; `orphans` is set where it has bytes that no entry names. Nothing
/// where that would take more memory than there may be.
///
/// # Errors
/// Those of the source.
pub(crate) fn repair_findings(source: &dyn Source, limits: &Limits, orphans: bool) -> Result<Vec<Fault>> {
    let look = || -> Result<Vec<Fault>> {
        let mut damaged = DamagedFile::open(source, *limits, &mut Vec::new())?;
        let single;
        if let Some(repeats) = repeated_appends::find(&damaged)? {
            single = Overlay::patched(source, vec![repeats.patch]);
            (damaged.source, damaged.known) = (&single, repeats.ranges);
        }
        let faults = |kind, items: Vec<RepairItem>| {
            items.into_iter().map(move |item| Fault::new(kind, item.range.unwrap_or_default(), item.what))
        };
        let flips = bit_flips::report(&damaged, &bit_flips::find(&damaged)?)?;
        let mut found: Vec<Fault> = faults(FaultKind::EntryUnlike, flips).collect();
        let Some(intact) = intact::listed(&damaged)? else { return Ok(found) };
        if let Some(moved) = shifted::chunks::find(&damaged, &intact.found.entries)? {
            found.extend(faults(FaultKind::ChunksMoved, vec![moved.report(&damaged, &intact.found.entries)]));
        }
        if found.is_empty() && orphans {
            found.extend(incomplete_frames_fault(damaged, intact)?);
        }
        Ok(found)
    };
    match look() {
        Err(error) if !matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Missing(_)) => Ok(Vec::new()),
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
    let what = format!(
        "frame {first} lacks the entries of chunks that lie in the file ({} in all): see repair",
        added.len()
    );
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

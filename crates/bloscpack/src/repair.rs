//! Recovers the verified data of a damaged file into a new one: version 3, or 4 for items.
//!
//! Assumptions and their reasons:
//!
//! * chunks are where the walk or the offsets point ([`crate::Layout`] defines which takes precedence), so that wrong, unset and missing
//!   offsets, placeholders of an unfinished file, and wrong sizes in the header need no other repair;
//! * a chunk is proved when it fits its digest and can be decoded; of a damaged one whose blocks are partly intact those are kept
//!   ([`intact_blocks`]), and the rest is lost. A lost chunk is replaced by zeros, a lost item by an empty one, so that those after it keep
//!   their positions; the length follows from the other chunks ([`damaged_file::set_lost_sizes`]). A torn end is not replaced;
//! * a proved chunk that neither points to is accepted where the chunks around it or the offsets give its number ([`chunk_numbers`]);
//! * where version, options or checksum of the header contradict the file, and one other value of one of them fits all of it, that value is
//!   used ([`header`]);
//! * where one field of the metadata's own header keeps them from being read, the value with which they can be read and fit their digest is
//!   used ([`metadata_header`]);
//! * metadata that can be read are kept where they do not fit their digest, and reported as lost;
//! * of a file whose end is missing, the shape is cut to whole rows; one with fewer elements than the data is extended to them (`blpk append`
//!   leaves such files). Any other shape that contradicts the data is lost, and their bytes are kept.
//!
//! Each change is reported with its [`Evidence`](container_core::report::Evidence).
//!
//! Chunks that were proved are copied as they are, wherever version 3 allows their sizes.

mod chunk_numbers;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod damaged_file;
mod fixed_size_plan;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod header;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod intact_blocks;
mod item_file_plan;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod metadata_header;
mod report;
mod scan_chunks;

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::{Input, Output, repair_file};
use container_core::report::{RepairItem, RepairReport};
use container_core::{Error, Progress, Result, magic};

use crate::container::FORMAT;
use crate::fault::FaultKind;
use crate::writer::with_seek;
use damaged_file::{ChunkStatus, DamagedFile};

/// Repairs the file at `path` into a new one at `target`. The input is only read.
///
/// # Errors
/// `Malformed` and `Truncated` when no data can be recovered, `Unsupported` for unsupported versions and codes, `Usage` when
/// the target exists, `Io`. No file appears then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    repair_file(path.as_ref(), target.as_ref(), repair_to)
}

/// The entry for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let source = magic::with_corrected_magic(input.into_source()?, FORMAT.magics, &mut report)?;
    let source = metadata_header::with_corrected_field(source, &options.limits, &mut report)?;
    let source = header::with_corrected_byte(source, &options.limits, &mut report)?;
    let mut damaged = DamagedFile::open(source, options.limits)?;
    let mut states = damaged.verify_chunks(progress)?;
    scan_for_missing_chunks(&mut damaged, &mut states, &mut report, progress)?;
    require_chunks(&damaged, &mut report)?;
    damaged_file::set_lost_sizes(&mut damaged, &states)?;
    damaged.report_assumptions(&states, &mut report);
    if damaged.layout.header().dialect.is_variable_length() {
        let plan = item_file_plan::Plan::new(&damaged, &states, &mut report);
        if let Some(out) = out {
            with_seek(out, |out| plan.write(&damaged, out))?;
        }
    } else {
        let plan = fixed_size_plan::Plan::new(&damaged, &states, &mut report)?;
        if let Some(out) = out {
            with_seek(out, |out| plan.write(&damaged, out))?;
        }
    }
    Ok(report)
}

/// Scans the rest of the file for missing chunks of fixed-size files.
fn scan_for_missing_chunks(
    damaged: &mut DamagedFile,
    states: &mut Vec<ChunkStatus>,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<()> {
    let is_odd = |fault: &crate::fault::Fault| fault.kind() == FaultKind::ChunkSizeMismatch;
    let count = states.len() as u64;
    // If all chunks are intact and counted, the bytes after them are not searched.
    let is_counted = damaged.count == Some(count) && !damaged.layout.faults().iter().any(is_odd);
    let is_missing = damaged.count.is_some_and(|known| known > count)
        || (!is_counted && !damaged.layout.trailing().is_empty())
        || states.iter().any(|status| *status != ChunkStatus::Intact);
    // Items may be in any order.
    if damaged.layout.header().dialect.is_variable_length() || !is_missing {
        return Ok(());
    }
    let found = scan_chunks::scan(damaged, states, progress)?;
    if let Some(at) = found.given_up {
        let what = "not searched for chunks: too many bytes look like one";
        report.lost.push(RepairItem::new(at..damaged.layout.file_len(), what));
    }
    damaged.count = chunk_numbers::count_by_chunks(damaged, states, &found.chunks);
    if !found.chunks.is_empty() {
        let placed = chunk_numbers::assign_numbers(damaged, states, &found.chunks, report)?;
        (damaged.placed, *states) = (Some(placed.chunks), placed.statuses);
    }
    Ok(())
}

/// # Errors
/// `Malformed` where no chunk was found although the header announces some, by their number or their size.
fn require_chunks(damaged: &DamagedFile, report: &mut RepairReport) -> Result<()> {
    let header = damaged.layout.header();
    if !damaged.chunks().is_empty() {
        return Ok(());
    }
    if header.nchunks == 0 && header.chunk_size <= 0 && header.last_chunk <= 0 {
        let trailing = damaged.layout.trailing();
        if !trailing.is_empty() {
            let what = "bytes after the header: no chunk in them, and none in the header";
            report.lost.push(RepairItem::new(trailing, what));
        }
        return Ok(());
    }
    Err(Error::malformed("no chunk found").with_range(0..damaged.layout.file_len()))
}

#[cfg(test)]
mod tests;

//! Recovers the provable contents of a damaged frame into a new contiguous one without dead space.
//!
//! Assumptions and their reasons:
//!
//! * the state that the header points to is the last one, and is kept. Only if its index is unreadable, or points to no chunk and never
//!   did, older and newer indexes are searched from the end of the file. A commit by this crate leaves the one before it whole, and C-Blosc2
//!   writes a new index before the header points to it;
//! * an index is valid when all its offsets are those of chunks, none of them twice;
//! * for a damaged chunk, the indexes of earlier commits give the chunk that was in its place before. They are used for that alone;
//! * without an index, chunks are taken in the order of their offsets. Deleted ones come back then, and marks (zeros, NaN) are missing,
//!   so their number is compared with the header's, or the array's shape;
//! * a chunk is proved when it decodes to the expected number of bytes. A chunk that does not is replaced by an older one, by its own
//!   intact blocks, or by zeros, so that those after it stay in their places;
//! * a trailer belongs to the index before it. A value that does not decode is lost, the others are kept.
//!
//! Chunks are copied as they are. Each correction is reported with its [`Evidence`](container_core::report::Evidence).

mod choose_state;
mod frame_header;
mod index;
mod input;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod intact_blocks;
mod output;
mod previous_commits;
mod reconcile;
mod recovered_frame;
mod report;
mod scan_chunks;
mod scan_indexes;
mod verify_chunks;

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::{Input, Output, repair_file};
use container_core::report::RepairReport;
use container_core::{Progress, Result, magic};

use crate::container::FORMAT;
use input::DamagedFrame;
use recovered_frame::RecoveredFrame;

/// Repairs the frame at `path` into a new file at `target`. The input, a file or the directory of a sparse frame, is only read.
///
/// # Errors
/// `WrongFormat` without the magic; `Unsupported` for undefined versions; `Malformed` and `Truncated` when no chunk can be
/// recovered; `Usage` when the target exists; `Io`. No file is created then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    repair_file(path.as_ref(), target.as_ref(), repair_to)
}

/// Repairs for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let mut origin = DamagedFrame::open(input, &options.limits)?;
    origin.source = magic::with_corrected_magic(origin.source, FORMAT.magics, &mut report)?;
    let before = report.clone();
    let mut recovered = RecoveredFrame::new(&origin, &options.limits, &mut report, progress)?;
    if let Some(end) = recovered.cut {
        (origin, report) = (origin.pad(end), before);
        recovered = RecoveredFrame::new(&origin, &options.limits, &mut report, progress)?;
    }
    recovered.reconcile(&origin, &mut report)?;
    let mut statuses = recovered.verify_chunks(&origin, progress)?;
    recovered.restore_previous_chunks(&origin, &mut statuses, progress)?;
    recovered.recover_intact_blocks(&origin, &mut statuses, progress)?;
    recovered.report(&origin, &statuses, &mut report);
    // A stop within a search or a decoding ends those alone, as damage does: what they did not find is not lost.
    options.limits.stop.check()?;
    output::check_lengths(&recovered, &statuses)?;
    output::write(&origin, &recovered, &statuses, options, out, &mut report, progress)?;
    Ok(report)
}

#[cfg(test)]
mod tests;

//! Bringing back what can be proved of a damaged frame, into a new contiguous one without dead space.
//!
//! Assumptions and their reasons:
//!
//! * the state that the header leads to is the last one, and is kept. Only where its index cannot be read, or leads to no chunk and never
//!   did, older and newer indexes are looked for, from the end of the file: a commit of ours leaves the one before it whole, and
//!   C-Blosc2 writes a new one before the header speaks of it;
//! * an index is believed when all it leads to are chunks, none of them twice;
//! * of a damaged chunk the indexes of earlier commits tell what was in its place before. That alone is taken from them;
//! * without one, chunks are taken in the order in which they lie. Deleted ones come back then, and those that are not stored (zeros,
//!   NaN) are missing, so their number is held against the header's, or the array's shape;
//! * a chunk is proved when it can be decoded and holds as many bytes as it is to. Of one that cannot, an older one, its own
//!   blocks that are whole, or zeros take the place, so that those behind it stay where they were;
//! * a trailer belongs to the index before it. A value that cannot be decoded is lost, the others are not.
//!

//! Chunks are copied as they are.

mod array_shape;
mod chunk_header;
mod chunk_order;
mod chunk_stats;
mod frame_header;
mod index;
mod input;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod intact_blocks;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod msgpack_markers;
mod output;
mod previous_chunks;
mod previous_commits;
mod reconcile;
mod recovered_frame;
mod scan_chunks;
mod scan_indexes;
mod store_leaves;
mod verify_chunks;
mod zero_padded;

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::{Input, Output, repair_file};
use container_core::report::{RepairItem, RepairReport};
use container_core::{Progress, Result, magic};

use crate::container::FORMAT;
use input::DamagedFrame;
use recovered_frame::RecoveredFrame;

/// Repairs the frame at `path` into a new file at `target`. The input, a file or the directory of a sparse frame, is only read.
///
/// # Errors
/// `WrongFormat` without the magic; `Unsupported` for versions that nobody knows; `Malformed` and `Truncated` when nothing can be
/// brought back; `Usage` when the target exists; `Io`. No file appears then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    let (path, target) = (path.as_ref(), target.as_ref());
    if !path.is_dir() {
        return repair_file(path, target, repair_to);
    }
    use container_core::write::{AtomicFile, Durability, Overwrite};
    let input = Input { source: None, path: Some(path.to_owned()) };
    let mut out = AtomicFile::create(target, Overwrite::Refuse)?;
    let report = repair_to(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    out.commit(Durability::Synced)?;
    Ok(report)
}

/// The entry for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let mut origin = DamagedFrame::open(input, &options.limits)?;
    origin.source = magic::with_corrected_magic(origin.source, FORMAT.magics, &mut report)?;
    origin.source = msgpack_markers::with_corrected_markers(origin.source, &mut report)?;
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
    output::check_lengths(&recovered, &statuses)?;
    store_leaves::write(&origin, &recovered, &statuses, options, out, &mut report, progress)?;
    Ok(report)
}

/// A line of a report.
fn item(range: std::ops::Range<u64>, what: impl Into<String>) -> RepairItem {
    RepairItem::new(range, what)
}

#[cfg(test)]
mod tests;

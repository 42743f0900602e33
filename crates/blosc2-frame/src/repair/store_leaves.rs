//! Leaves of stores that cannot be read from the new frame.
//!
//! The leaves of a store are in the decoded bytes of its chunks, so they are checked in the new frame itself, in a file without a name.

use std::io::{BufWriter, Seek, SeekFrom};

use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use container_core::format::{Input, Output, Pipe};
use container_core::report::{Finding, RepairItem, RepairReport, Severity};
use container_core::source::FileSource;
use container_core::{Error, Progress, Result};

use super::input::DamagedFrame;
use super::output;
use super::recovered_frame::RecoveredFrame;
use super::verify_chunks::ChunkStatus;
use crate::container::FORMAT;
use crate::stores::MARKS;

/// Writes the new frame, and lists the findings of a check in the leaves, if it is a store. Without an output it only lists
/// them.
///
/// # Errors
/// As [`output::write`]; `Io` of the file without a name.
pub(super) fn write(
    origin: &DamagedFrame,
    recovered: &RecoveredFrame,
    statuses: &[ChunkStatus],
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<()> {
    if !MARKS.iter().any(|mark| recovered.metalayers.get(mark).is_some()) {
        return out.map_or(Ok(()), |out| output::write(origin, recovered, statuses, out, progress));
    }
    let mut spool = Pipe(BufWriter::new(tempfile::tempfile()?));
    output::write(origin, recovered, statuses, &mut spool, progress)?;
    let mut file = spool.0.into_inner().map_err(|error| Error::from(error.into_error()))?;
    report.lost.extend(lost(FileSource::new(file.try_clone()?)?, options, progress)?);
    if let Some(out) = out {
        file.seek(SeekFrom::Start(0))?;
        std::io::copy(&mut file, out)?;
    }
    Ok(())
}

/// Errors of a store, which the repair of its frame cannot do anything about.
fn lost(frame: FileSource, options: &OpenOptions, progress: Progress<'_>) -> Result<Vec<RepairItem>> {
    let item = |what: String| RepairItem::of_file(format!("in the new store: {what}"));
    let opened = match (FORMAT.open)(Input::bytes(Box::new(frame)), options) {
        Ok(opened) => opened,
        Err(error) if error.is_damage() => return Ok(vec![item(error.to_string())]),
        Err(error) => return Err(error),
    };
    let read = ReadOptions::default().with_limits(options.limits);
    let report = opened.check(CheckDepth::Full, &read, progress)?;
    let errors = report.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    let named = |finding: Finding| match finding.dataset {
        Some(leaf) => format!("{leaf}: {}", finding.message),
        None => finding.message,
    };
    Ok(errors.map(named).map(item).collect())
}

//! Checks a file for damage: the faults of the layout, then every chunk against its digest and through the decoder.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use blosc_chunk::MissingPlugin;
use container_core::block::for_each_piece;
use container_core::container::{CheckDepth, ReadOptions};
use container_core::interchange::DEFAULT_NAME;
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::threads::on_threads;
use container_core::{Error, ErrorKind, Progress, Result};

use crate::chunk_table::ChunkState;
use crate::fault::{Fault, FaultKind};
use crate::file::File;
use crate::offsets_index;

/// Path of the array.
pub(crate) const DATASET: &str = DEFAULT_NAME;

/// Path of an item of a variable-length file.
pub(crate) fn item_path(index: u64) -> String {
    format!("items/{index}")
}

/// Checks for damage and oddities.
pub(crate) fn check(
    file: &File,
    depth: CheckDepth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    file.full_layout()?;
    let mut findings: Vec<Finding> =
        file.layout().faults().iter().map(|fault| place(file, fault.finding(), fault.index())).collect();
    let found = file.chunks().len() as u64;
    let announced = file.layout().count().unwrap_or(0);
    let broken = file.chunks().iter().filter(|chunk| chunk.state() != ChunkState::Whole).count() as u64;
    let total =
        found.max(if file.layout().is_complete() { 0 } else { announced.min(file.layout().file_len() / 16) });
    let mut blocks = BlockCounts { total, checked: 0, bad: broken + (total - found) };
    findings.extend(spare_offsets(file)?.map(|fault| fault.finding()));
    if file.is_open().is_err() {
        blocks.bad = total;
    } else if depth == CheckDepth::Full {
        findings.extend(padding(file)?.map(|fault| fault.finding()));
        let damaged = check_chunks(file, options, progress)?;
        blocks.checked = found - broken;
        let bad = damaged.iter().filter(|finding| finding.severity == Severity::Error).count();
        blocks.bad += bad as u64;
        findings.extend(damaged);
    }
    Ok(Report::new(findings, blocks))
}

/// Sets the dataset that a finding concerns.
fn place(file: &File, finding: Finding, chunk: Option<u64>) -> Finding {
    match chunk {
        Some(index) if file.header().dialect.is_variable_length() => finding.dataset(item_path(index)),
        None if file.header().dialect.is_variable_length() => finding,
        _ => finding.dataset(DATASET),
    }
}

/// Set entries of the table of offsets that belong to no chunk.
fn spare_offsets(file: &File) -> Result<Option<Fault>> {
    let (table, used) = (file.layout().offsets(), file.layout().used_offsets());
    let first = file.chunks().iter().map(|chunk| chunk.range().start).min();
    if file.header().nchunks < 0
        || first.is_some_and(|first| first < table.end)
        || file.layout().data_len().is_none()
    {
        return Ok(None);
    }
    let set = offsets_index::first_set(file.source(), used.end..table.end)?;
    let message = "a spare entry of the table of offsets is set";
    Ok(set.map(|range| Fault::new(FaultKind::SpareOffset, range, message)))
}

/// Nonzero bytes after the metadata.
fn padding(file: &File) -> Result<Option<Fault>> {
    let Some(metadata) = file.layout().metadata() else { return Ok(None) };
    let range = metadata.payload.end..metadata.digest.start;
    let mut set = false;
    if range.start < range.end {
        for_each_piece(file.source(), range.clone(), Progress::none(), |piece| {
            set |= piece.iter().any(|byte| *byte != 0);
            Ok(())
        })?;
    }
    let message = "bytes are set after the metadata: the rest of an older, longer version";
    Ok(set.then(|| Fault::new(FaultKind::MetadataPadding, range, message)))
}

/// Compares every digest and decodes every chunk that was located.
fn check_chunks(file: &File, options: &ReadOptions, progress: Progress<'_>) -> Result<Vec<Finding>> {
    let chunks = file.chunks();
    let total = chunks.iter().map(|chunk| u64::from(chunk.cbytes)).fold(0, u64::saturating_add);
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let findings = Mutex::new(Vec::new());
    let work = || {
        let mut room = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(index) else { return Ok(()) };
            if chunk.state() == ChunkState::Whole
                && let Err(error) = file.reader().check_chunk(file, index, &mut room, options)
            {
                let finding = place(file, finding(error, file, index)?, Some(index as u64));
                findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(finding);
            }
            let len = u64::from(chunk.cbytes);
            progress.tick(done.fetch_add(len, Ordering::Relaxed).saturating_add(len), total)?;
        }
    };
    on_threads(options.threads.min(chunks.len()).max(1), &work)?;
    Ok(findings.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Returns damage as a finding; other errors end the check.
fn finding(error: Error, file: &File, index: usize) -> Result<Finding> {
    let code = match error.kind() {
        ErrorKind::Checksum { .. } => "checksum",
        ErrorKind::Malformed(_) | ErrorKind::Truncated { .. } => "undecodable_chunk",
        ErrorKind::Unsupported(_) => "unsupported_chunk",
        _ => return Err(error),
    };
    let chunk = file.chunks().get(index);
    let range = error.range().or_else(|| chunk.map(crate::ChunkEntry::range)).unwrap_or(0..0);
    // The message without the position, which the finding contains.
    let message = format!("chunk {index}: {}", error.kind());
    let is_plugin = MissingPlugin::of(error.kind()).is_some();
    let severity = if is_plugin { Severity::Unchecked } else { Severity::Error };
    Ok(Finding::new(severity, code, message).at(range))
}

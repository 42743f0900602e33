//! Checks a file for damage: blocks, entries and the bytes between chunks; then every chunk, and the rules of the schema.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use container_core::block::{Block, for_each_piece, verify_block};
use container_core::codec::Codecs;
use container_core::container::{CheckDepth, ReadOptions};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::threads::on_threads;
use container_core::{Error, Progress, Result};

use crate::byte_map;
use crate::fault::{Fault, FaultKind};
use crate::file::File;
use crate::hoomd::{Grade, Trajectory, check_trajectory};
use crate::index::IndexEntry;
use crate::repair;
use crate::stacked::names::NameStats;

mod missing_entries;

/// Input of a check: the file, statistics of its names, its chunks in file order, a second handle of the file for the schema.
pub(crate) struct CheckTarget<'a> {
    pub(crate) file: &'a File,
    pub(crate) name_stats: &'a NameStats,
    pub(crate) chunks: &'a [IndexEntry],
    pub(crate) again: &'a dyn Fn() -> Result<File>,
}

pub(crate) fn check(
    subject: &CheckTarget<'_>,
    depth: CheckDepth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    let file = subject.file;
    let lost_names = file.layout().faults().iter().any(|fault| fault.kind() == FaultKind::EntryId);
    // Where names are lost, unreferenced bytes are their remains.
    let told = |fault: &&Fault| !(lost_names && fault.kind() == FaultKind::NamelistTail);
    let mut findings: Vec<Finding> = file.layout().faults().iter().filter(told).map(Fault::finding).collect();
    let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    let blocks_broken = file.layout().faults().iter().any(|fault| {
        use FaultKind::{BlocksOverlap, IndexEmpty, IndexPastEnd, NamelistPastEnd};
        matches!(fault.kind(), BlocksOverlap | IndexEmpty | IndexPastEnd | NamelistPastEnd)
    });
    let places = byte_map::faults(file, &options.limits)?;
    if !blocks_broken {
        // With damaged entries, unreferenced bytes are a consequence, and not reported.
        let broken = broken || places.iter().any(|fault| fault.severity() == Severity::Error);
        let told = places.iter().filter(|fault| !broken || fault.severity() == Severity::Error);
        findings.extend(told.map(Fault::finding));
    }
    if !broken {
        findings.extend(missing_entries::entries(file, &places).iter().map(Fault::finding));
        findings.extend(frame_faults(subject).iter().map(Fault::finding));
    }
    let total = file.layout().entries().saturating_add(file.layout().dropped_entries());
    let good = subject.chunks.len() as u64;
    let mut blocks = BlockCounts { total, checked: 0, bad: total.saturating_sub(good) };
    if depth == CheckDepth::Full {
        let (bad, bytes) = read_all(subject, options, progress)?;
        blocks.checked = good;
        blocks.bad = blocks.bad.saturating_add(bad.len() as u64);
        findings.extend(bad);
        // Of a file with errors, frames that lack entries are a consequence.
        let has_errors = findings.iter().any(|finding| finding.severity == Severity::Error);
        if !has_errors && places.iter().any(|fault| fault.kind() == FaultKind::OrphanBytes) {
            let fault = repair::incomplete_frames(file.source(), &options.limits)?;
            let is_told = |range: &Range<u64>| findings.iter().any(|told| told.range.as_ref() == Some(range));
            let new = fault.filter(|fault| !is_told(&fault.range()));
            findings.extend(new.as_ref().map(Fault::finding));
        }
        if !broken && file.header().schema_name() == crate::hoomd::SCHEMA {
            // All bytes have been read; the ticks keep the check cancellable.
            let on = |_, _| match progress.tick(bytes, bytes) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            findings.extend(schema_findings(subject, Progress::new(&on))?);
        }
    }
    Ok(Report::new(findings, blocks))
}

/// True for a file without an entry that has data of frames: a writer was stopped before its first commit.
pub(crate) fn lacks_all_entries(file: &File, limits: &container_core::Limits) -> bool {
    let places = || byte_map::faults(file, limits).unwrap_or_default();
    file.index().is_empty() && !missing_entries::entries(file, &places()).is_empty()
}

/// Lists oddities of frames and names.
fn frame_faults(subject: &CheckTarget<'_>) -> Vec<Fault> {
    let (file, name_stats) = (subject.file, subject.name_stats);
    let mut faults = Vec::new();
    let index = file.layout().used_index();
    let empty = file.nframes().saturating_sub(name_stats.inhabited);
    if empty > 0 {
        faults.push(Fault::new(
            FaultKind::ChunklessFrames,
            index.clone(),
            format!("{empty} {} no chunk", if empty == 1 { "frame has" } else { "frames have" }),
        ));
    }
    // A name that is listed twice is reported already.
    let is_again = |id: &u16| file.names().get(*id).is_none_or(|name| file.names().id(&name) != Some(*id));
    let ids = (0..=u16::MAX).take(name_stats.names.len()).filter(|id| !is_again(id));
    let unused: Vec<u16> = ids.filter(|id| name_stats.get(*id).is_none()).collect();
    if let Some(first) = unused.first() {
        let name = file.names().get(*first).unwrap_or_default();
        let more = if unused.len() > 1 { format!(" (and {} more)", unused.len() - 1) } else { String::new() };
        let range = file.header().namelist_range().unwrap_or_default();
        faults.push(Fault::new(FaultKind::NameUnused, range, format!("unused name {name:?}{more}")));
    }
    let ids = |frame: u64| -> BTreeSet<u16> {
        file.index().slice(file.frame_entries(frame)).iter().map(|entry| entry.id).collect()
    };
    // Frame 0 stores the values that the others inherit, so it is not compared.
    if let Some(last) = file.nframes().checked_sub(1).filter(|last| *last >= 4) {
        let (own, before) = (ids(last), ids(last - 1));
        let steady = (2..=3).all(|back| ids(last - back) == before);
        if steady && own.len() < before.len() && own.is_subset(&before) {
            let lacks = before.len() - own.len();
            faults.push(Fault::new(
                FaultKind::FramePattern,
                index,
                format!("the last frame, {last}, lacks {lacks} of the chunks of the frames before it"),
            ));
        }
    }
    faults
}

/// Reads every chunk in file order, and returns the number of bytes. Bytes that several chunks share are read once, so that the time is
/// bounded by the length of the file.
fn read_all(
    subject: &CheckTarget<'_>,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<(Vec<Finding>, u64)> {
    /// Number of chunks that a thread takes at once.
    const CHUNKS_PER_TASK: usize = 64;
    let (file, chunks) = (subject.file, subject.chunks);
    // For each run, the end of the chunks before it.
    let (mut reach, mut total) = (Vec::with_capacity(chunks.len() / CHUNKS_PER_TASK + 1), 0_u64);
    let mut end = 0;
    for run in chunks.chunks(CHUNKS_PER_TASK) {
        reach.push(end);
        run.iter().for_each(|chunk| total = total.saturating_add(len(&unread(chunk, &mut end))));
    }
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let findings = Mutex::new(Vec::new());
    let codecs = Codecs::none();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((run, end)) = chunks.chunks(CHUNKS_PER_TASK).nth(at).zip(reach.get(at)) else {
                return Ok(());
            };
            let (mut end, mut bytes) = (*end, 0_u64);
            for chunk in run {
                let unread = unread(chunk, &mut end);
                bytes = bytes.saturating_add(len(&unread));
                let read = if unread == chunk.range() {
                    verify_block(file.source(), chunk, &codecs, &options.limits, Progress::none())
                } else {
                    for_each_piece(file.source(), unread, Progress::none(), |_| Ok(()))
                };
                if let Err(error) = read {
                    let finding = unreadable(file, chunk, error)?;
                    findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(finding);
                }
            }
            progress.tick(done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes), total)?;
        }
    };
    on_threads(options.threads.min(chunks.len() / CHUNKS_PER_TASK).max(1), &work)?;
    Ok((findings.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner), total))
}

/// Returns the part of a chunk after `end`, and sets `end` to the end of both.
fn unread(chunk: &IndexEntry, end: &mut u64) -> Range<u64> {
    let range = chunk.range();
    let start = range.start.max(*end).min(range.end);
    *end = range.end.max(*end);
    start..range.end
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn unreadable(file: &File, chunk: &IndexEntry, error: Error) -> Result<Finding> {
    if !error.is_damage() {
        return Err(error);
    }
    let name = file.names().get(chunk.id).unwrap_or_default();
    let fault = Fault::new(FaultKind::UnreadableChunk, chunk.range(), error.kind().to_string());
    Ok(fault.finding().dataset(format!("frames/{}/{name}", chunk.frame)))
}

/// Lists deviations from the schema; none of them is damage.
fn schema_findings(subject: &CheckTarget<'_>, progress: Progress<'_>) -> Result<Vec<Finding>> {
    let trajectory = match (subject.again)().and_then(Trajectory::from_file) {
        Ok(trajectory) => trajectory,
        Err(error)
            if error.is_damage() || matches!(error.kind(), container_core::ErrorKind::Unsupported(_)) =>
        {
            return Ok(vec![Finding::new(Severity::Warning, "newer_schema", error.to_string()).at(40..44)]);
        }
        Err(error) => return Err(error),
    };
    let mut newer = Vec::new();
    if trajectory.schema_version() > crate::hoomd::schema::V2_0 {
        let message = format!("schema {} is newer than 2.0", trajectory.schema_version());
        newer.push(Finding::new(Severity::Warning, "newer_schema", message).at(40..44));
    }
    // One finding of a kind, about the first: files that have it in one chunk mostly have it in many.
    let mut found: Vec<(crate::hoomd::Problem, u64)> = Vec::new();
    for problem in check_trajectory(&trajectory, progress)? {
        match found.iter_mut().find(|(first, _)| first.code == problem.code) {
            Some((first, chunks)) => {
                *chunks += 1;
                first.frames = first.frames.max(problem.frames);
            }
            None => found.push((problem, 1)),
        }
    }
    let finding = |(problem, chunks): (crate::hoomd::Problem, u64)| {
        let severity = if problem.grade == Grade::Note { Severity::Note } else { Severity::Warning };
        let more = match (problem.frames, chunks) {
            (0 | 1, 1) => String::new(),
            (frames, 1) => format!(" ({frames} frames)"),
            (frames, chunks) => format!(" ({chunks} chunks, up to {frames} frames)"),
        };
        let message = format!("frame {}: {}{more}", problem.frame, problem.message);
        let finding = Finding::new(severity, problem.code, message);
        let finding = match problem.range {
            Some(range) => finding.at(range),
            None => finding,
        };
        finding.dataset(format!("frames/{}/{}", problem.frame, problem.chunk))
    };
    let findings = found.into_iter().map(finding);
    Ok(newer.into_iter().chain(findings).collect())
}

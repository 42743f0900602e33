//! Checks a file for damage and oddities: the layout, the tree, each array against its block, and each block through its codec.

pub(crate) mod arrays;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod block_recovery;
mod blocks;
pub(crate) mod inline_values;
mod md5_batch;
pub(crate) mod tree;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use container_core::container::{CheckDepth, ReadOptions};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::threads::on_threads;
use container_core::{Progress, Result};

use crate::check::block_recovery::block_without_magic;
use crate::fault::{Fault, FaultKind, block_of};
use crate::file::File;
use crate::file::external::{FileSet, FileSetMember};
use crate::layout::{Layout, StoredBlock};

/// Maximum number of findings of one kind that are reported one by one.
const MAX_REPORTED: usize = 100;

/// Checks a file and the external files of its arrays. `path` is the path of the file, if it has one; `datasets` has the first array in each block.
pub(crate) fn check(
    file: &File,
    path: Option<&Path>,
    datasets: &HashMap<usize, String>,
    depth: CheckDepth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    let parts = FileSet::open(file, path);
    let checks = parts.all.iter().map(|part| FileCheck::new(part, datasets)).collect::<Result<Vec<_>>>()?;
    let bytes = checks.iter().map(FileCheck::bytes).fold(0, u64::saturating_add);
    let meter = Meter { progress, done: AtomicU64::new(0), total: bytes };
    if depth == CheckDepth::Full {
        read_blocks(&checks, options, &meter)?;
    }
    let checks: Vec<FileCheckResult> = checks.into_iter().map(FileCheck::done).collect();
    let set = arrays::CheckedSet { parts: &parts, checks: &checks };
    let (mut findings, mut blocks) = (Vec::new(), BlockCounts::default());
    for (part, file_check) in parts.all.iter().zip(&checks) {
        let mut own = file_check.findings.clone();
        own.extend(arrays::findings(part.file, &set, &file_check.bad));
        if depth == CheckDepth::Full {
            if let Some(range) = block_without_magic(part.file.source(), part.file.layout())? {
                let message = "a block without its magic, whose digest matches: the blocks after it have other numbers than in the tree";
                own.push(Finding::new(Severity::Error, "block_magic", message).at(range));
            }
            own.extend(inline_values::findings(part.file, &set, &file_check.bad, options, progress)?);
        }
        if part.name.is_some() {
            // Notes about another file are reported only when that file is checked itself.
            own.retain(|finding| finding.severity != Severity::Note);
        }
        for finding in &mut own {
            finding.part = finding.part.take().or_else(|| part.name.clone());
        }
        findings.extend(own);
        // An invalid header counts as a block, too.
        let total = part.file.blocks().len() as u64;
        blocks.total += total.max(file_check.bad.last().map_or(0, |last| *last as u64 + 1));
        blocks.checked += file_check.checked;
        blocks.bad += file_check.bad.len() as u64;
    }
    // Errors of other files have become findings.
    options.limits.stop.check()?;
    Ok(Report::new(findings, blocks))
}

/// Progress of a check: bytes of blocks that are done, of all files together.
pub(crate) struct Meter<'a> {
    progress: Progress<'a>,
    done: AtomicU64,
    total: u64,
}

impl Meter<'_> {
    fn tick(&self, bytes: u64) -> Result<()> {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.progress.tick(done, self.total)
    }
}

/// Check of one file while its blocks are read.
struct FileCheck<'a> {
    file: &'a File,
    datasets: HashMap<usize, String>,
    referenced: BTreeSet<usize>,
    findings: Vec<Finding>,
    bad: BTreeSet<usize>,
    outcome: Mutex<blocks::Outcome>,
}

/// Result for one file before its arrays are checked.
struct FileCheckResult {
    findings: Vec<Finding>,
    /// Blocks that failed their check.
    bad: BTreeSet<usize>,
    checked: u64,
}

impl<'a> FileCheck<'a> {
    /// Collects the findings about layout, tree, references and unreferenced blocks.
    fn new(part: &FileSetMember<'a>, datasets: &HashMap<usize, String>) -> Result<Self> {
        let (file, layout) = (part.file, part.file.layout());
        // The paths of datasets are those of the first file.
        let mut datasets = if part.name.is_none() { datasets.clone() } else { HashMap::new() };
        if let Some(path) = &part.dataset {
            datasets.entry(0).or_insert_with(|| path.clone());
        }
        let told = |fault: &&Fault| !is_consequence(layout, fault.kind());
        let mut findings: Vec<Finding> =
            file.faults().filter(told).map(|fault| to_finding(fault, &datasets)).collect();
        findings.extend(padding(layout));
        findings.extend(tree::findings(file.tree().document(), &file.options().limits)?);
        findings.extend(arrays::references(file)?);
        let mut referenced = arrays::referenced(file);
        referenced.extend(part.is_named.then_some(0));
        findings.extend(arrays::unreferenced(file, &referenced));
        let of_blocks = layout.faults.iter().filter(|fault| fault.severity() == Severity::Error);
        let bad = of_blocks.filter_map(block_of).collect();
        Ok(Self { file, datasets, referenced, findings, bad, outcome: Mutex::default() })
    }

    /// The blocks to read. Blocks with a faulty header are reported already.
    fn blocks(&self) -> Vec<&'a StoredBlock> {
        let blocks = self.file.blocks().iter();
        blocks.filter(|block| block.is_whole() && !self.bad.contains(&block.index)).collect()
    }

    fn bytes(&self) -> u64 {
        let len = |block: &StoredBlock| block.data.end.saturating_sub(block.data.start);
        self.blocks().into_iter().map(len).fold(0, u64::saturating_add)
    }

    fn read(&self, options: &ReadOptions, meter: &Meter<'_>) -> Result<()> {
        let blocks = blocks::Blocks {
            source: self.file.source(),
            blocks: &self.blocks(),
            referenced: &self.referenced,
            codecs: &self.file.options().codecs,
            options,
            datasets: &self.datasets,
        };
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = blocks.check(meter)?;
        Ok(())
    }

    fn done(self) -> FileCheckResult {
        let Self { mut findings, mut bad, outcome, .. } = self;
        let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        findings.extend(outcome.findings);
        bad.extend(outcome.bad);
        FileCheckResult { findings, bad, checked: outcome.checked }
    }
}

/// Reads the blocks of the first file, then those of the others, several files at a time.
fn read_blocks(checks: &[FileCheck<'_>], options: &ReadOptions, meter: &Meter<'_>) -> Result<()> {
    let Some((first, others)) = checks.split_first() else { return Ok(()) };
    first.read(options, meter)?;
    let threads = options.threads.max(1);
    let workers = threads.min(others.len()).max(1);
    let share = options.with_threads((threads / workers).max(1));
    let next = AtomicUsize::new(0);
    on_threads(workers, &|| {
        while let Some(file_check) = others.get(next.fetch_add(1, Ordering::Relaxed)) {
            file_check.read(&share, meter)?;
        }
        Ok(())
    })
}

/// Returns whether a fault follows from other reported damage: a file that is cut has lost its index, and one with a block missing lists another.
fn is_consequence(layout: &Layout, kind: FaultKind) -> bool {
    let cut = || {
        layout.faults.iter().any(|fault| {
            matches!(
                fault.kind(),
                FaultKind::BlockTruncated | FaultKind::BlockHeaderTruncated | FaultKind::BlockHeaderSize
            )
        })
    };
    let missing = || layout.faults.iter().any(|fault| fault.kind() == FaultKind::BlockMissing);
    matches!(kind, FaultKind::IndexAbsent | FaultKind::IndexStale)
        && (cut() || kind == FaultKind::IndexStale && missing())
}

/// Unused bytes after the tree, in blocks, and after the index.
fn padding(layout: &Layout) -> Vec<Finding> {
    let mut room: Vec<(Range<u64>, String)> = Vec::new();
    let has_fault = |kind| layout.faults.iter().any(|fault| fault.kind() == kind);
    if !has_fault(FaultKind::PaddingWithoutTree) && !has_fault(FaultKind::JunkAfterTree) {
        room.push((layout.padding.clone(), "after the tree".to_owned()));
    }
    let of_blocks = layout.faults.iter().filter(|fault| fault.severity() == Severity::Error);
    let cut: BTreeSet<usize> = of_blocks.filter_map(block_of).collect();
    for block in layout.blocks.iter().filter(|block| !cut.contains(&block.index)) {
        room.push((block.data.end..block.end, format!("in block {}", block.index)));
    }
    if !has_fault(FaultKind::JunkAfterIndex) && !has_fault(FaultKind::JunkAfterBlocks) {
        room.push((layout.trailing.clone(), "at the end".to_owned()));
    }
    room.retain(|(range, _)| range.start < range.end);
    let finding = |(range, place): (Range<u64>, String)| {
        let message = format!("{} unused bytes {place}", range.end.saturating_sub(range.start));
        Finding::new(Severity::Note, "padding", message).at(range)
    };
    limit_findings(room.into_iter().map(finding).collect())
}

/// The first findings of a kind, and the number of the others.
fn limit_findings(mut findings: Vec<Finding>) -> Vec<Finding> {
    let more = findings.len().saturating_sub(MAX_REPORTED);
    findings.truncate(MAX_REPORTED);
    if more > 0
        && let Some(last) = findings.last()
    {
        let message = format!("{more} more of this kind");
        findings.push(Finding::new(last.severity, last.code, message));
    }
    findings
}

fn to_finding(fault: &Fault, datasets: &HashMap<usize, String>) -> Finding {
    let dataset = block_of(fault).and_then(|block| datasets.get(&block));
    match dataset {
        Some(path) => fault.finding().dataset(path.clone()),
        None => fault.finding(),
    }
}

#[cfg(test)]
mod tests;

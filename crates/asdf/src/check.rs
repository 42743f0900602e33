//! Looking for damage and oddities: what the layout shows, the tree, each array against its block, and each block through its codec.

mod arrays;
mod blocks;
mod lanes;
mod tree;
mod values;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use container_core::container::{Depth, ReadOptions};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::{Progress, Result};

use crate::fault::{Fault, FaultKind};
use crate::file::File;
use crate::layout::{Layout, StoredBlock};

/// Findings of one kind that are told one by one.
const MOST: usize = 100;

/// What a check needs beside the file.
pub(crate) struct Subject<'a> {
    pub(crate) file: &'a File,
    /// The dataset of each block.
    pub(crate) datasets: &'a HashMap<usize, String>,
}

pub(crate) fn check(
    subject: &Subject<'_>,
    depth: Depth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    let Subject { file, datasets } = subject;
    let codecs = &file.options().codecs;
    let layout = file.layout();
    let told = |fault: &&Fault| !is_consequence(layout, fault.kind());
    let mut findings: Vec<Finding> = file.faults().filter(told).map(|fault| place(fault, datasets)).collect();
    findings.extend(padding(layout));
    findings.extend(tree::findings(file, &options.limits)?);
    findings.extend(arrays::references(file)?);
    let referenced = arrays::referenced(file);
    findings.extend(arrays::unreferenced(file, &referenced));
    let of_blocks = layout.faults.iter().filter(|fault| fault.severity() == Severity::Error);
    let mut bad: BTreeSet<usize> = of_blocks.filter_map(Fault::block).collect();
    let mut checked = 0;
    if depth == Depth::Full {
        // What is wrong with their headers is told.
        let sound: Vec<&StoredBlock> =
            layout.blocks.iter().filter(|block| !bad.contains(&block.index)).collect();
        let blocks = blocks::Blocks {
            source: file.source(),
            blocks: &sound,
            referenced: &referenced,
            codecs,
            options,
            datasets,
        };
        let outcome = blocks.check(progress)?;
        checked = outcome.checked;
        bad.extend(outcome.bad);
        findings.extend(outcome.findings);
    }
    findings.extend(arrays::findings(file, &bad));
    if depth == Depth::Full {
        findings.extend(values::findings(file, &bad, options, progress)?);
    }
    // A header that makes no sense is a block that was meant to be.
    let total = (layout.blocks.len() as u64).max(bad.last().map_or(0, |last| *last as u64 + 1));
    Ok(Report::new(findings, BlockCounts { total, checked, bad: bad.len() as u64 }))
}

/// What follows from damage that is told: a file that is cut has lost its index, and one with a block missing lists another.
fn is_consequence(layout: &Layout, kind: FaultKind) -> bool {
    let cut = || {
        layout.faults.iter().any(|fault| {
            matches!(
                fault.kind(),
                FaultKind::BlockTruncated | FaultKind::BlockHeaderTruncated | FaultKind::BlockHeaderSize
            )
        })
    };
    matches!(kind, FaultKind::IndexAbsent | FaultKind::IndexStale) && cut()
}

/// Room that nothing uses: behind the tree, in blocks, and behind the index.
fn padding(layout: &Layout) -> Vec<Finding> {
    let mut room: Vec<(Range<u64>, String)> = Vec::new();
    let has_fault = |kind| layout.faults.iter().any(|fault| fault.kind() == kind);
    if !has_fault(FaultKind::PaddingWithoutTree) && !has_fault(FaultKind::JunkAfterTree) {
        room.push((layout.padding.clone(), "behind the tree".to_owned()));
    }
    let of_blocks = layout.faults.iter().filter(|fault| fault.severity() == Severity::Error);
    let cut: BTreeSet<usize> = of_blocks.filter_map(Fault::block).collect();
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
    some(room.into_iter().map(finding).collect())
}

/// The first findings of a kind, and how many more there are.
fn some(mut findings: Vec<Finding>) -> Vec<Finding> {
    let more = findings.len().saturating_sub(MOST);
    findings.truncate(MOST);
    if more > 0
        && let Some(last) = findings.last()
    {
        let message = format!("{more} more of this kind");
        findings.push(Finding::new(last.severity, last.code, message));
    }
    findings
}

fn place(fault: &Fault, datasets: &HashMap<usize, String>) -> Finding {
    let dataset = fault.block().and_then(|block| datasets.get(&block));
    match dataset {
        Some(path) => fault.finding().dataset(path.clone()),
        None => fault.finding(),
    }
}

#[cfg(test)]
mod tests;

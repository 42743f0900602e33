//! Looking for damage and oddities: what the layout shows, the tree, each array against its block, and each block through its codec.

mod arrays;
mod blocks;
mod tree;

use std::collections::{BTreeSet, HashMap};

use container_core::container::{Depth, ReadOptions};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::{Progress, Result};

use crate::fault::Fault;
use crate::file::File;

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
    let mut findings: Vec<Finding> = file.faults().map(|fault| place(fault, datasets)).collect();
    findings.extend(tree::findings(file, &options.limits)?);
    findings.extend(arrays::findings(file));
    let of_blocks = layout.faults.iter().filter(|fault| fault.severity() == Severity::Error);
    let mut bad: BTreeSet<usize> = of_blocks.filter_map(Fault::block).collect();
    let mut checked = 0;
    if depth == Depth::Full {
        let blocks =
            blocks::Blocks { source: file.source(), blocks: &layout.blocks, codecs, options, datasets };
        let outcome = blocks.check(progress)?;
        checked = outcome.checked;
        bad.extend(outcome.bad);
        findings.extend(outcome.findings);
    }
    // A header that makes no sense is a block that was meant to be.
    let total = (layout.blocks.len() as u64).max(bad.last().map_or(0, |last| *last as u64 + 1));
    Ok(Report::new(findings, BlockCounts { total, checked, bad: bad.len() as u64 }))
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

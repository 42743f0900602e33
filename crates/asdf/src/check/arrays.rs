//! Arrays and the blocks and files that they name.

use std::collections::{BTreeSet, HashMap};

use container_core::report::{Finding, Severity};
use container_core::{ErrorKind, Result};

use super::some;
use crate::fault::FaultKind;
use crate::file::{ArrayEntry, File};
use crate::layout::StoredBlock;
use crate::ndarray::ByteSource;

/// `bad` has the blocks that did not stand their check.
pub(super) fn findings(file: &File, bad: &BTreeSet<usize>) -> Vec<Finding> {
    let place = |entry: &ArrayEntry| file.tree().document().node(entry.array.node).range().start;
    // The first of several paths to one array.
    let entries: HashMap<u64, &ArrayEntry> =
        file.arrays().iter().rev().map(|entry| (place(entry), entry)).collect();
    let mut findings = Vec::new();
    for fault in file.array_faults() {
        let entry = entries.get(&fault.range().start);
        if fault.severity() == Severity::Error && entry.is_some_and(|entry| is_told(file, entry, bad)) {
            continue;
        }
        let finding = fault.finding();
        findings.push(match entry {
            Some(entry) => finding.dataset(entry.path.clone()),
            None => finding,
        });
    }
    findings.extend(over_limits(file));
    let mut findings = some(findings);
    findings.extend(some(external(file)));
    findings
}

/// Arrays of more axes or elements than anyone reads.
fn over_limits(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, entry) in file.arrays().iter().enumerate() {
        let Err(error) = file.geometry(index) else { continue };
        let is_limit = matches!(error.kind(), ErrorKind::Limit { .. } | ErrorKind::Unsupported(_));
        if is_limit && !matches!(entry.array.source, ByteSource::External(_)) {
            let at = file.tree().document().node(entry.array.node).range();
            let message = format!("{} cannot be read: {}", entry.path, error.kind());
            findings.push(Finding::new(Severity::Error, "array", message).at(at).dataset(entry.path.clone()));
        }
    }
    findings
}

/// True where what is wrong with the block of an array, or with those before it, is told already.
fn is_told(file: &File, entry: &ArrayEntry, bad: &BTreeSet<usize>) -> bool {
    match file.block_of(&entry.array) {
        Ok(block) => bad.contains(&block.index),
        Err(_) => !bad.is_empty() || lost_blocks(file),
    }
}

/// True where damage leaves open which blocks there were.
fn lost_blocks(file: &File) -> bool {
    file.layout().faults.iter().any(|fault| {
        fault.kind() == FaultKind::TreeUnterminated
            || fault.severity() == Severity::Error && fault.block().is_some()
    })
}

/// Other files that arrays are in, and that are not there, may not be looked at, or are damaged.
fn external(file: &File) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (index, entry) in file.arrays().iter().enumerate() {
        let ByteSource::External(uri) = &entry.array.source else { continue };
        if !seen.insert(uri.as_str()) {
            continue;
        }
        let Err(error) = file.geometry(index) else { continue };
        let severity = if error.is_damage() { Severity::Error } else { Severity::Note };
        let message = format!("data in another file, {uri:?}: {}", error.kind());
        let at = file.tree().document().node(entry.array.node).range();
        let mut finding = Finding::new(severity, "external", message).at(at).dataset(entry.path.clone());
        if error.is_damage() {
            (finding.part, finding.range) = (Some(uri.clone()), error.range());
        }
        findings.push(finding);
    }
    findings
}

/// References that lead nowhere.
pub(super) fn references(file: &File) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for reference in file.find_references()? {
        let node = file.tree().document().node(reference.node);
        if let Err(error) = file.resolve_reference(node) {
            let message = format!("{} refers to {:?}: {}", reference.path, reference.uri, error.kind());
            findings.push(Finding::new(Severity::Note, "reference", message).at(node.range()));
        }
    }
    Ok(some(findings))
}

/// Blocks that an array names.
pub(super) fn referenced(file: &File) -> BTreeSet<usize> {
    file.arrays()
        .iter()
        .filter_map(|entry| file.block_of(&entry.array).ok())
        .map(|block| block.index)
        .collect()
}

/// Blocks that no array names. Tools of others may know what they are for. Where there is no tree, nobody knows.
pub(super) fn unreferenced(file: &File, referenced: &BTreeSet<usize>) -> Vec<Finding> {
    if file.layout().tree.is_none() || lost_blocks(file) {
        return Vec::new();
    }
    let spare = file.blocks().iter().filter(|block| !referenced.contains(&block.index));
    let finding = |block: &StoredBlock| {
        let message = format!("no array is in block {}", block.index);
        Finding::new(Severity::Note, "unreferenced_block", message).at(block.at..block.end)
    };
    some(spare.map(finding).collect())
}

//! Checks arrays, and the blocks and files that they name.

use std::collections::{BTreeSet, HashMap};

use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Result};

use super::{FileCheckResult, limit_findings};
use crate::fault::FaultKind;
use crate::file::external::FileSet;
use crate::file::{ArrayEntry, File};
use crate::layout::StoredBlock;
use crate::ndarray::{ByteSource, NdArray};

/// A file with its external files, and the check result of each.
pub(super) struct CheckedSet<'a> {
    pub(super) parts: &'a FileSet<'a>,
    pub(super) checks: &'a [FileCheckResult],
}

impl CheckedSet<'_> {
    /// True where the external block of an array already has a finding.
    pub(super) fn is_reported(&self, file: &File, array: &NdArray) -> bool {
        let ByteSource::External(uri) = &array.source else { return false };
        let other = self.parts.find(file, uri);
        let other = other.and_then(|index| self.parts.all.get(index).zip(self.checks.get(index)));
        other.is_some_and(|(part, file_check)| file_check.bad.contains(&0) || lost_blocks(part.file))
    }
}

/// Findings about arrays. `bad` has the blocks of the file that failed their check.
pub(super) fn findings(file: &File, set: &CheckedSet<'_>, bad: &BTreeSet<usize>) -> Vec<Finding> {
    let place = |entry: &ArrayEntry| file.tree().document().node(entry.array.node).range().start;
    // The first of several paths to one array.
    let entries: HashMap<u64, &ArrayEntry> =
        file.arrays().iter().rev().map(|entry| (place(entry), entry)).collect();
    let mut findings = Vec::new();
    for fault in file.array_faults() {
        let entry = entries.get(&fault.range().start);
        if fault.severity() == Severity::Error && entry.is_some_and(|entry| is_reported(file, entry, bad)) {
            continue;
        }
        let finding = fault.finding();
        findings.push(match entry {
            Some(entry) => finding.dataset(entry.path.clone()),
            None => finding,
        });
    }
    findings.extend(over_limits(file));
    let mut findings = limit_findings(findings);
    findings.extend(limit_findings(external(file, set)));
    findings
}

/// Arrays of more axes or elements than the limits allow.
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

/// True where the block of an array, or one before it, already has a finding.
fn is_reported(file: &File, entry: &ArrayEntry, bad: &BTreeSet<usize>) -> bool {
    match file.block_of(&entry.array) {
        Ok(block) => bad.contains(&block.index),
        Err(_) => !bad.is_empty() || lost_blocks(file),
    }
}

/// True where damage leaves open which blocks there were.
fn lost_blocks(file: &File) -> bool {
    file.layout().faults.iter().any(|fault| {
        fault.kind() == FaultKind::TreeUnterminated
            || fault.severity() == Severity::Error && fault.index().is_some()
    })
}

/// External files that are absent, not permitted or not readable, and arrays that extend past the end of theirs.
fn external(file: &File, set: &CheckedSet<'_>) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (index, entry) in file.arrays().iter().enumerate() {
        let ByteSource::External(uri) = &entry.array.source else { continue };
        if !file.is_external(&entry.array) {
            continue;
        }
        let path = file.external_path(uri);
        let opened = path.as_ref().map(|_| file.external(uri));
        let (error, severity) = match opened {
            // A disk, or the limits, keep an existing file from being read.
            Ok(Err(ref error)) if error.is_interruption() && !is_absent(error) => {
                (error, Severity::Unchecked)
            }
            // A name without a file, or of one outside of the folder.
            Err(error) => (error, if is_absent(error) { Severity::Note } else { Severity::Warning }),
            Ok(Err(ref error)) if is_wrong(error) => (error, Severity::Error),
            Ok(Err(ref error)) => (error, if is_absent(error) { Severity::Note } else { Severity::Warning }),
            Ok(Ok(_)) if set.is_reported(file, &entry.array) => continue,
            Ok(Ok(_)) => {
                let Err(error) = file.geometry(index) else { continue };
                let severity = if is_wrong(&error) { Severity::Error } else { Severity::Note };
                let message = format!("{} in {uri:?}: {}", entry.path, error.kind());
                let at = file.tree().document().node(entry.array.node).range();
                findings.push(Finding::new(severity, "external", message).at(at).dataset(entry.path.clone()));
                continue;
            }
        };
        if !seen.insert(uri.as_str()) {
            continue;
        }
        let message = format!("data in another file, {uri:?}: {}", error.kind());
        let at = file.tree().document().node(entry.array.node).range();
        let mut finding = Finding::new(severity, "external", message).at(at).dataset(entry.path.clone());
        if severity == Severity::Error {
            let name = path.as_ref().ok().map(|path| set.parts.name(path, uri));
            (finding.part, finding.range) = (name, error.range());
        }
        findings.push(finding);
    }
    findings
}

/// True for an existing file that cannot be read.
fn is_wrong(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind(), ErrorKind::WrongFormat { .. } | ErrorKind::Unsupported(_))
}

/// True for errors that are not damage: absent files, and names that are not followed.
fn is_absent(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => !error.is_transient(),
    }
}

/// References without a target.
pub(super) fn references(file: &File) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for reference in file.find_references()? {
        let node = file.tree().document().node(reference.node);
        if let Err(error) = file.resolve_reference(node) {
            let message = format!("{} refers to {:?}: {}", reference.path, reference.uri, error.kind());
            findings.push(Finding::new(Severity::Note, "reference", message).at(node.range()));
        }
    }
    Ok(limit_findings(findings))
}

/// Blocks that an array names.
pub(super) fn referenced(file: &File) -> BTreeSet<usize> {
    file.arrays()
        .iter()
        .filter_map(|entry| file.block_of(&entry.array).ok())
        .map(|block| block.index)
        .collect()
}

/// Unreferenced blocks. Empty without a tree, and where damage leaves the blocks uncertain.
fn spare<'f>(file: &'f File, referenced: &BTreeSet<usize>) -> Vec<&'f StoredBlock> {
    if file.layout().tree.is_none() || lost_blocks(file) {
        return Vec::new();
    }
    file.blocks().iter().filter(|block| !referenced.contains(&block.index)).collect()
}

/// The number of blocks that no array names, where the tree can be read.
pub(crate) fn spare_count(file: &File) -> usize {
    if file.unread_tree().is_some() { 0 } else { spare(file, &referenced(file)).len() }
}

/// Reports unreferenced blocks. Other tools may use them.
pub(super) fn unreferenced(file: &File, referenced: &BTreeSet<usize>) -> Vec<Finding> {
    let spare = spare(file, referenced).into_iter();
    let finding = |block: &StoredBlock| {
        let message = format!("block {}: not referenced by any array", block.index);
        Finding::new(Severity::Note, "unreferenced_block", message).at(block.at..block.end)
    };
    limit_findings(spare.map(finding).collect())
}

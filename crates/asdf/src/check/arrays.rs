//! Arrays and the blocks and files that they name.

use std::collections::{BTreeSet, HashMap};

use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind};

use crate::datasets::block;
use crate::fault::FaultKind;
use crate::file::File;
use crate::ndarray::ByteSource;

/// Findings of one kind that are told one by one.
const MOST: usize = 100;

pub(super) fn findings(file: &File) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let place = |node| file.tree().document().node(node).range().start;
    let paths: HashMap<u64, &str> =
        file.arrays().iter().rev().map(|entry| (place(entry.array.node), entry.path.as_str())).collect();
    for fault in file.array_faults() {
        let path = paths.get(&fault.range().start);
        let finding = fault.finding();
        findings.push(match path {
            Some(path) => finding.dataset(*path),
            None => finding,
        });
    }
    findings.extend(external(file));
    // Of a tree that cannot be read nobody knows what it names.
    if !file.faults().any(|fault| fault.kind() == FaultKind::TreeUnreadable) {
        findings.extend(unreferenced(file));
    }
    findings
}

/// Other files that arrays are in, and that are not there or may not be looked at.
fn external(file: &File) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (index, entry) in file.arrays().iter().enumerate() {
        let ByteSource::External(uri) = &entry.array.source else { continue };
        if !seen.insert(uri.as_str()) || findings.len() >= MOST {
            continue;
        }
        let Err(error) = file.geometry(index) else { continue };
        let (severity, code) = severity(&error);
        let message = format!("the file {uri:?} that holds this array: {}", error.kind());
        let at = file.tree().document().node(entry.array.node).range();
        findings.push(Finding::new(severity, code, message).at(at).dataset(entry.path.clone()));
    }
    findings
}

fn severity(error: &Error) -> (Severity, &'static str) {
    match error.kind() {
        ErrorKind::Io(_) | ErrorKind::Usage(_) => (Severity::Note, "external_missing"),
        ErrorKind::Unsupported(_) => (Severity::Note, "external_refused"),
        _ => (Severity::Error, "external"),
    }
}

/// Blocks that no array names. Tools of others may know what they are for.
fn unreferenced(file: &File) -> Vec<Finding> {
    let named = file.arrays().iter().filter_map(|entry| match entry.array.source {
        ByteSource::Block(number) => block(file, number).map(|block| block.index),
        _ => None,
    });
    let named: BTreeSet<usize> = named.collect();
    let spare = file.blocks().iter().filter(|block| !named.contains(&block.index));
    let finding = |block: &crate::StoredBlock| {
        let message = format!("no array is in block {}", block.index);
        Finding::new(Severity::Note, "unreferenced_block", message).at(block.at..block.end)
    };
    spare.take(MOST).map(finding).collect()
}

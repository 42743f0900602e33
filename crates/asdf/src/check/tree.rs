//! What is odd about the tree.

use std::collections::HashSet;

use container_core::report::{Finding, Severity};
use container_core::{Limits, Result};

use crate::file::File;
use crate::meta::key_text;
use crate::yaml::{Kind, Node, Scalar};

/// Findings of one kind that are told one by one.
const MOST: usize = 20;

pub(super) fn findings(file: &File, limits: &Limits) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut more = 0_u64;
    file.tree().document().walk(false, limits, &mut |path, node| {
        if node.kind() == Kind::Mapping && !node.is_alias() {
            for key in duplicate_keys(node) {
                if findings.len() >= MOST {
                    more = more.saturating_add(1);
                    continue;
                }
                let place = if path.is_empty() { "the tree".to_owned() } else { format!("{path:?}") };
                let message = format!("{place} has the key {:?} twice; the last one counts", key_text(key));
                let finding = Finding::new(Severity::Warning, "duplicate_key", message);
                findings.push(finding.at(key.range()));
            }
        }
        Ok(true)
    })?;
    if more > 0 {
        let message = format!("{more} more keys that are there twice");
        findings.push(Finding::new(Severity::Warning, "duplicate_key", message));
    }
    Ok(findings)
}

/// The keys of a mapping that stand in it before.
fn duplicate_keys(node: Node<'_>) -> Vec<Node<'_>> {
    if node.len() < 2 {
        return Vec::new();
    }
    let mut seen = HashSet::with_capacity(node.len());
    // Text and a number that is spelled the same are two keys.
    let stands_before = |key: &Node<'_>| !seen.insert((key.scalar().map(is_text), key_text(*key)));
    node.entries().map(|(key, _)| key).filter(stands_before).collect()
}

fn is_text(scalar: Scalar<'_>) -> bool {
    matches!(scalar, Scalar::Text(_))
}

//! Looking for damage in a store: each leaf as a frame by itself, and the digests of the zip file.

use std::ops::ControlFlow;

use container_codecs::checksum::Algorithm;
use container_core::block::for_each_piece;
use container_core::container::{CheckDepth, Digests, ReadOptions};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::source::Source;
use container_core::{Error, Progress, Result};

use super::archive::Member;
use super::byte_map::part_of;
use super::container::{Kind, Store, path_of};
use super::leaf::{Leaf, LeafLocation, Role, key_of, severity_of};
use crate::dataset_view::DATASET;

pub(crate) fn check(
    store: &Store,
    depth: CheckDepth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    let mut findings = store.findings.clone();
    let mut blocks = BlockCounts::default();
    let mut done = 0_u64;
    for leaf in &store.leaves {
        let len = leaf.len();
        progress.tick(done, store.size.max(done))?;
        match leaf.open() {
            Ok(container) => {
                // A leaf counts decoded bytes; progress is reported in bytes of the store.
                let on = |own: u64, total: u64| {
                    let part = u128::from(len) * u128::from(own.min(total)) / u128::from(total.max(1));
                    let at = done.saturating_add(u64::try_from(part).unwrap_or(len));
                    match progress.tick(at, store.size.max(at)) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                };
                let report = container.check(depth, options, Progress::new(&on))?;
                findings
                    .extend(report.findings.into_iter().filter_map(|finding| located_finding(finding, leaf)));
                if leaf.role != Role::Embed || leaf.place.inside.is_none() {
                    blocks.total = blocks.total.saturating_add(report.blocks.total);
                    blocks.checked = blocks.checked.saturating_add(report.blocks.checked);
                    blocks.bad = blocks.bad.saturating_add(report.blocks.bad);
                }
            }
            Err(error) => findings.extend(open_error_finding(leaf.error().unwrap_or(&error), leaf)),
        }
        if leaf.place.inside.is_none() {
            done = done.saturating_add(len);
        }
    }
    if let (CheckDepth::Full, Digests::Compare | Digests::Whole, Kind::Zip(archive)) =
        (depth, options.digests, &store.kind)
    {
        for member in archive.members.iter().filter(|member| member.refused.is_none()) {
            // The bytes were counted as those of leaves; here only a stop may be requested.
            let on = |_: u64, _: u64| match progress.tick(done, store.size.max(done)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            findings.extend(digest(&*archive.source, member, Progress::new(&on))?);
        }
    }
    Ok(Report::new(findings, blocks))
}

impl Leaf {
    /// Bytes that it takes.
    fn len(&self) -> u64 {
        let range = self.place.inside.as_ref().unwrap_or(&self.place.range);
        range.end.saturating_sub(range.start)
    }
}

/// Returns a finding of a leaf as one of the store; `None` if it is about bytes outside of the leaf.
fn located_finding(mut finding: Finding, leaf: &Leaf) -> Option<Finding> {
    let dataset = finding.dataset.take().unwrap_or_else(|| DATASET.to_owned());
    finding.dataset = Some(path_of(&leaf.key, &dataset)).filter(|path| !path.is_empty());
    finding.part = part_of(leaf, finding.part.as_deref());
    if let Some(inside) = &leaf.place.inside {
        if let Some(own) = finding.range.replace(leaf.place.range.clone()) {
            if own.end <= inside.start {
                return None;
            }
            let start = own.start.saturating_sub(inside.start);
            let end = own.end.saturating_sub(inside.start);
            finding.message = format!("{} (bytes {start}..{end} of the embedded frame)", finding.message);
        }
    } else if let Some(range) = &finding.range
        && range.end <= leaf.place.range.start
        && range.start < range.end
    {
        return None;
    }
    Some(finding)
}

/// Returns the reason that a leaf cannot be checked; `None` if it is reported already.
fn open_error_finding(error: &Error, leaf: &Leaf) -> Option<Finding> {
    if leaf.is_reported {
        return None;
    }
    let mut finding = Finding::new(severity_of(error), "leaf_unreadable", error.to_string());
    let range = match &leaf.place.inside {
        Some(_) => leaf.place.range.clone(),
        None => error.range().unwrap_or_else(|| leaf.place.range.clone()),
    };
    finding.range = Some(range);
    finding.part.clone_from(&leaf.place.part);
    finding.dataset = Some(leaf.key.clone()).filter(|key| !key.is_empty());
    Some(finding)
}

/// Compares the digest that a zip file has of a member.
fn digest(source: &dyn Source, member: &Member, progress: Progress<'_>) -> Result<Option<Finding>> {
    let mut running = Algorithm::Crc32.start();
    for_each_piece(source, member.data.clone(), progress, |piece| {
        running.update(piece);
        Ok(())
    })?;
    let computed = running.finish();
    if computed.as_bytes() == member.crc.to_be_bytes() {
        return Ok(None);
    }
    let message = format!("CRC-32 of the member differs: stored {:08x}, computed {computed}", member.crc);
    let finding = Finding::new(Severity::Error, "zip_crc", message).at(member.data.clone());
    Ok(Some(finding.dataset(key_of(&member.name))))
}

/// Reports a second leaf with the same key.
pub(crate) fn double(leaf: &Leaf) -> Finding {
    let message = format!("{}: duplicate key, readers find the other leaf", leaf.file);
    let mut finding = Finding::new(Severity::Warning, "store_double", message)
        .at(leaf.place.range.clone())
        .dataset(&leaf.key);
    finding.part.clone_from(&leaf.place.part);
    finding
}

/// Returns an error of a leaf as one of the store.
pub(crate) fn in_place(error: Error, place: &LeafLocation) -> Error {
    match (&place.inside, &place.part) {
        (None, None) => error,
        (None, Some(part)) => error.in_file(part.clone()),
        (Some(_), part) => {
            // Its range counts bytes inside the leaf, not in a file.
            let what = error.context().map(str::to_owned);
            let hint = error.hint().map(str::to_owned);
            let mut own = Error::new(error.into_kind()).with_range(place.range.clone());
            own = what.into_iter().fold(own, Error::with_context);
            own = hint.into_iter().fold(own, Error::with_hint);
            part.iter().fold(own, |own, part| own.in_file(part.clone()))
        }
    }
}

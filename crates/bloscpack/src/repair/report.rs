//! Reports the corrections, and the chunks kept and lost.

use std::ops::Range;

use container_core::report::{Evidence, RepairItem, RepairReport};

use super::damaged_file::{ChunkStatus, DamagedFile};
use super::intact_blocks::PartialChunks;
use crate::fault::FaultKind;
use crate::header::Dialect;

impl DamagedFile {
    fn has_fault(&self, kind: FaultKind) -> bool {
        self.layout.faults().iter().any(|fault| fault.kind() == kind)
    }

    /// The evidence for metadata that are read although their sizes contradict each other: their digest, or chunks after them.
    fn metadata_evidence(&self, states: &[ChunkStatus]) -> Option<Evidence> {
        let has_digest = self.layout.metadata().is_some_and(|metadata| !metadata.digest.is_empty());
        if has_digest {
            return (!self.has_fault(FaultKind::MetadataChecksum)).then_some(Evidence::Digest);
        }
        states.contains(&ChunkStatus::Intact).then_some(Evidence::Walk)
    }

    /// Reports the assumptions by which faults are repaired.
    pub(super) fn report_assumptions(&self, states: &[ChunkStatus], report: &mut RepairReport) {
        let header = self.layout.header();
        report.kept.push(RepairItem::new(0..header.dialect.header_len(), "header"));
        if let Some(metadata) = self.layout.metadata() {
            let is_proved = !self.has_fault(FaultKind::MetadataChecksum);
            if metadata.tree.is_none() {
                report.lost.push(RepairItem::new(metadata.range.clone(), "metadata"));
            } else if is_proved {
                report.kept.push(RepairItem::new(metadata.range.clone(), "metadata"));
            }
            if self.has_spelt {
                let what = "metadata: bytes, which JSON has no place for, become text of those code points";
                let item = RepairItem::new(metadata.range.clone(), what);
                report.guessed.push(item.with_evidence(Evidence::KnownDamage));
            }
        }
        if self.layout.metadata().is_none() && self.has_fault(FaultKind::MetadataTruncated) {
            let at = header.dialect.header_len();
            report.lost.push(RepairItem::new(at..at, "metadata: length unknown"));
        }
        if header.dialect != Dialect::V3 && !header.dialect.is_variable_length() {
            let what = format!("version {}: written as version 3", header.dialect.name());
            let item = RepairItem::new(0..header.dialect.header_len(), what);
            report.guessed.push(item.with_evidence(Evidence::Walk));
        }
        let count = self.layout.chunks().len();
        for fault in self.layout.faults() {
            let is_resized = self.resized.iter().any(|at| fault.range().start == at.saturating_add(4));
            let (what, evidence) = match fault.kind() {
                FaultKind::ChunkSizeMismatch if is_resized => {
                    let what = "size of a damaged chunk: corrected to that of the others";
                    (what.to_owned(), Evidence::SecondCopy)
                }
                FaultKind::InterimVersion => {
                    ("version: read as a snapshot of December 2012".to_owned(), Evidence::KnownDamage)
                }
                FaultKind::VariableLengthVersion | FaultKind::ProposalVersion => {
                    ("version: read as a variable-length file".to_owned(), Evidence::Walk)
                }
                FaultKind::Unfinished => (format!("number of chunks: corrected to {count}"), Evidence::Walk),
                FaultKind::SizeUnknown | FaultKind::ImpossibleSize | FaultKind::ChunkSizeMismatch => {
                    ("sizes in the header: corrected to those of the chunks".to_owned(), Evidence::SecondCopy)
                }
                FaultKind::OffsetsMissing
                | FaultKind::OffsetsTruncated
                | FaultKind::OffsetsUnset
                | FaultKind::OffsetMismatch => {
                    ("offsets: corrected to the places of the chunks".to_owned(), Evidence::Walk)
                }
                FaultKind::MetadataSizes if self.layout.tree().is_some() => {
                    let Some(evidence) = self.metadata_evidence(states) else {
                        let what = "metadata: kept as read, without a proof";
                        report.lost.push(RepairItem::new(fault.range(), what));
                        continue;
                    };
                    ("sizes of the metadata: corrected to what is read".to_owned(), evidence)
                }
                FaultKind::TrailingBytes | FaultKind::UnknownTail
                    if count == 0 || self.found_in(&fault.range()) =>
                {
                    continue;
                }
                FaultKind::TrailingBytes => {
                    ("bytes after the last chunk: left out".to_owned(), Evidence::Walk)
                }
                kind => {
                    let what = match kind {
                        FaultKind::MetadataChecksum if self.layout.tree().is_some() => {
                            "metadata: kept as read, although they do not match their digest"
                        }
                        FaultKind::NumpyMetadata => {
                            "type and shape: not those of an array, the data become plain bytes"
                        }
                        FaultKind::UnknownTail => "bytes in which no chunk is found",
                        _ => continue,
                    };
                    report.lost.push(RepairItem::new(fault.range(), what));
                    continue;
                }
            };
            let item = RepairItem::new(fault.range(), what).with_evidence(evidence);
            if report.guessed.last() != Some(&item) {
                report.guessed.push(item);
            }
        }
    }

    /// Reports kept chunks, runs of neighbours as one, and lost ones, each called `noun`.
    pub(super) fn report_chunks(
        &self,
        states: &[ChunkStatus],
        partials: &PartialChunks,
        noun: &str,
        report: &mut RepairReport,
    ) {
        let mut run: Option<(usize, usize, Range<u64>)> = None;
        let mut kept = Vec::new();
        for (index, (entry, status)) in self.chunks().iter().zip(states).enumerate() {
            let mut range = self.stored_range(entry);
            if *status != ChunkStatus::Intact {
                // A chunk found after it determines its end.
                if let (Some(next), Some(ChunkStatus::Intact)) =
                    (self.chunks().get(index + 1), states.get(index + 1))
                    && self.placed.is_some()
                    && next.range().start > range.start
                {
                    range.end = range.end.min(next.range().start);
                }
                if let Some(partial) = partials.get(&index) {
                    partial.report(self, index, &range, report);
                    continue;
                }
                let after = if *status == ChunkStatus::Truncated {
                    "is cut"
                } else if noun == "item" {
                    "is damaged: empty in the new file"
                } else {
                    "is damaged: zeros in the new file"
                };
                report.lost.push(RepairItem::new(range, format!("{noun} {index} {after}")));
                continue;
            }
            match &mut run {
                Some((_, last, whole)) if *last + 1 == index && whole.end == range.start => {
                    (*last, whole.end) = (index, range.end);
                }
                _ => kept.extend(run.replace((index, index, range))),
            }
        }
        kept.extend(run);
        report.kept.extend(kept.into_iter().map(|(first, last, range)| {
            let what =
                if first == last { format!("{noun} {first}") } else { format!("{noun}s {first} to {last}") };
            RepairItem::new(range, what)
        }));
        let missing = self.count.unwrap_or(0).saturating_sub(states.len() as u64);
        if missing > 0 {
            let end = self.layout.file_len();
            report.lost.push(RepairItem::new(end..end, format!("{missing} {noun}s: not found")));
        }
    }
}

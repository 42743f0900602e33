//! Recovers the verified data of a damaged file into a new one: version 3, or 4 for items.
//!
//! Assumptions and their reasons:
//!
//! * chunks are where the walk or the offsets point ([`crate::Layout`] defines which takes precedence), so that wrong, unset and missing
//!   offsets, placeholders of an unfinished file, and wrong sizes in the header need no other repair;
//! * a chunk is proved when it fits its digest and can be decoded; of a damaged one whose blocks are partly intact those are kept
//!   ([`intact_blocks`]), and the rest is lost. A lost chunk is replaced by zeros, a lost item by an empty one, so that those after it keep
//!   their positions; the length follows from the other chunks ([`lost_chunk_sizes`]). A torn end is not replaced;
//! * a proved chunk that neither points to is accepted where it is found; its number follows from the chunks around it and from the offsets
//!   ([`chunk_order`]); misplaced copies of chunks are removed ([`false_chunks`]);
//! * where version, options or checksum of the header contradict the file, and one other value of one of them fits all of it, that value is
//!   used ([`header`]);
//! * where one field of the metadata's own header keeps them from being read, the value with which they can be read and fit their digest is
//!   used ([`metadata_header`]);
//! * metadata that can be read are kept where they do not fit their digest, and reported as lost: nothing proves what they say;
//! * of a file whose end is missing, the shape is cut to whole rows; one with fewer elements than the data is extended to them (`blpk append`
//!   leaves such files). Any other shape that contradicts the data is lost, and their bytes are kept.
//!
//! Each change is reported with its [`Evidence`].
//!
//! Chunks that were proved are copied as they are, wherever version 3 allows their sizes.

mod chunk_count;
mod chunk_order;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod false_chunks;
mod fixed_size_plan;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod header;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod intact_blocks;
mod item_file_plan;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod lost_chunk_sizes;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod metadata_header;
mod scan_chunks;

use std::ops::Range;
use std::path::Path;

use blosc_chunk::Decoder;
use container_core::container::OpenOptions;
use container_core::format::{Input, Output, repair_file};
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::Source;
use container_core::{Error, Limits, Progress, Result, Value, magic};

use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::container::FORMAT;
use crate::fault::FaultKind;
use crate::header::Dialect;
use crate::layout::Layout;
use crate::stored_chunk::{StoredChunk, stored_range};
use crate::writer::with_seek;
use intact_blocks::PartialChunks;

/// Repairs the file at `path` into a new one at `target`. The input is only read.
///
/// # Errors
/// `Malformed` and `Truncated` when no data can be recovered, `Unsupported` for unsupported versions and codes, `Usage` when
/// the target exists, `Io`. No file appears then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    repair_file(path.as_ref(), target.as_ref(), repair_to)
}

/// The entry for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let source = magic::with_corrected_magic(input.into_source()?, FORMAT.magics, &mut report)?;
    let source = metadata_header::with_corrected_field(source, &options.limits, &mut report)?;
    let source = header::with_corrected_byte(source, &options.limits, &mut report)?;
    let mut damaged = DamagedFile::open(source, options.limits)?;
    let mut states = damaged.verify_chunks(progress)?;
    damaged.scan_for_missing_chunks(&mut states, &mut report, progress)?;
    damaged.require_chunks(&mut report)?;
    lost_chunk_sizes::set_sizes(&mut damaged, &states)?;
    damaged.report_assumptions(&states, &mut report);
    if damaged.layout.header().dialect.is_variable_length() {
        let plan = item_file_plan::Plan::new(&damaged, &states, &mut report);
        if let Some(out) = out {
            with_seek(out, |out| plan.write(&damaged, out))?;
        }
    } else {
        let plan = fixed_size_plan::Plan::new(&damaged, &states, &mut report)?;
        if let Some(out) = out {
            with_seek(out, |out| plan.write(&damaged, out))?;
        }
    }
    Ok(report)
}

/// Result of verifying a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkStatus {
    /// It fits its digest and decodes to the size in its header.
    Intact,
    /// It does not decode, or does not fit its digest.
    Damaged,
    /// The file ends before it does.
    Truncated,
}

/// The damaged file, and the chunks found in it.
struct DamagedFile {
    source: Box<dyn Source>,
    layout: Layout,
    /// The chunks where some were found by searching; otherwise those of the layout.
    placed: Option<Vec<ChunkEntry>>,
    /// Offsets of the chunks whose size differs from that in their headers.
    resized: Vec<u64>,
    /// Original number of chunks, where the file contains it.
    count: Option<u64>,
    /// The metadata to be written, without byte strings.
    tree: Option<Value>,
    /// Whether byte strings of the metadata became text.
    has_spelt: bool,
    limits: Limits,
}

impl DamagedFile {
    fn open(source: Box<dyn Source>, limits: Limits) -> Result<Self> {
        let layout = Layout::parse(&*source, &limits)?;
        let hopeless = |kind| matches!(kind, FaultKind::UndefinedOptions | FaultKind::UnknownChecksum);
        if let Some(fault) = layout.faults().iter().find(|fault| hopeless(fault.kind())) {
            let hint = "the header does not say what follows it, so nothing can be proved";
            return Err(fault.error().with_hint(hint));
        }
        let mut tree = layout.tree().cloned();
        let has_spelt = tree.as_mut().is_some_and(spell_bytes);
        let count = chunk_count::by_header(&layout);
        Ok(Self { source, layout, placed: None, resized: Vec::new(), count, tree, has_spelt, limits })
    }

    /// The chunks by number.
    fn chunks(&self) -> &[ChunkEntry] {
        self.placed.as_deref().unwrap_or_else(|| self.layout.chunks())
    }

    /// Scans the rest of the file for missing chunks of fixed-size files.
    fn scan_for_missing_chunks(
        &mut self,
        states: &mut Vec<ChunkStatus>,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<()> {
        let is_odd = |fault: &crate::fault::Fault| fault.kind() == FaultKind::ChunkSizeMismatch;
        let count = states.len() as u64;
        // If all chunks are intact and counted, the bytes after them are not searched.
        let is_counted = self.count == Some(count) && !self.layout.faults().iter().any(is_odd);
        let is_missing = self.count.is_some_and(|known| known > count)
            || (!is_counted && !self.layout.trailing().is_empty())
            || states.iter().any(|status| *status != ChunkStatus::Intact);
        // Items may be in any order.
        if self.layout.header().dialect.is_variable_length() || !is_missing {
            return Ok(());
        }
        let mut found = scan_chunks::scan(self, states, progress)?;
        false_chunks::remove_false_chunks(self, states, &mut found.chunks, report)?;
        if let Some(at) = found.given_up {
            let what = "not searched for chunks: too much in it looks like one and is none";
            report.lost.push(RepairItem::new(at..self.layout.file_len(), what));
        }
        self.count = chunk_count::by_chunks(self, states, &found.chunks);
        if !found.chunks.is_empty() {
            let placed = chunk_order::assign_numbers(self, states, &found.chunks, report)?;
            (self.placed, *states) = (Some(placed.chunks), placed.statuses);
        }
        Ok(())
    }

    /// Whether a chunk was found there.
    fn found_in(&self, range: &Range<u64>) -> bool {
        self.placed.iter().flatten().any(|entry| range.contains(&entry.range().start))
    }

    /// # Errors
    /// `Malformed` where no chunk was found although the header announces some, by their number or their size.
    fn require_chunks(&self, report: &mut RepairReport) -> Result<()> {
        let header = self.layout.header();
        if !self.chunks().is_empty() {
            return Ok(());
        }
        if header.nchunks == 0 && header.chunk_size <= 0 && header.last_chunk <= 0 {
            let trailing = self.layout.trailing();
            if !trailing.is_empty() {
                let what =
                    "bytes of a file whose header says that it has no chunk, and in which none is found";
                report.lost.push(RepairItem::new(trailing, what));
            }
            return Ok(());
        }
        Err(Error::malformed("not one chunk can be found").with_range(0..self.layout.file_len()))
    }

    /// Chunk and digest of an entry.
    fn stored(&self, entry: &ChunkEntry) -> Result<StoredChunk<'_>> {
        StoredChunk::read_uncompared(&*self.source, self.layout.header().checksum, entry, &self.limits)
    }

    fn stored_range(&self, entry: &ChunkEntry) -> Range<u64> {
        stored_range(self.layout.header().checksum, entry)
    }

    /// Verifies every chunk: its digest, and that it decodes.
    fn verify_chunks(&self, progress: Progress<'_>) -> Result<Vec<ChunkStatus>> {
        let mut decoder = Decoder::new();
        let total = self.source.len();
        let verify = |entry: &ChunkEntry| {
            let end = self.stored_range(entry).end;
            let status = if end > total && entry.end() < total && !self.fits_so_far(entry)? {
                ChunkStatus::Damaged
            } else if end > total || entry.state() == ChunkState::Cut {
                ChunkStatus::Truncated
            } else if entry.state() != ChunkState::Whole {
                ChunkStatus::Damaged
            } else {
                self.verify(entry, &mut decoder)?
            };
            progress.tick(end.min(total), total)?;
            Ok(status)
        };
        self.layout.chunks().iter().map(verify).collect()
    }

    /// Whether the rest of the file is the start of the digest of a complete chunk: if a byte is missing before the end, all bytes after it
    /// move, and the file looks truncated.
    fn fits_so_far(&self, entry: &ChunkEntry) -> Result<bool> {
        let (chunk, rest) = (entry.range().start..entry.end(), entry.end()..self.source.len());
        if self.source.lend(chunk.clone()).is_none() {
            self.limits.allocate(chunk.end.saturating_sub(chunk.start))?;
        }
        let mut digest = Vec::new();
        self.layout.header().checksum.append_digest(&self.source.read(chunk)?, &mut digest);
        Ok(digest.starts_with(&self.source.read(rest)?))
    }

    /// Reads and decodes a complete chunk.
    fn verify(&self, entry: &ChunkEntry, decoder: &mut Decoder) -> Result<ChunkStatus> {
        let proved = self.stored(entry).and_then(|stored| {
            stored.verify()?;
            stored.decode(decoder, &self.limits)
        });
        match proved {
            Ok(_) => Ok(ChunkStatus::Intact),
            // Errors of the machine and of limits are not damage.
            Err(error) if error.is_damage() => Ok(ChunkStatus::Damaged),
            Err(error) => Err(error),
        }
    }

    fn has_fault(&self, kind: FaultKind) -> bool {
        self.layout.faults().iter().any(|fault| fault.kind() == kind)
    }

    /// The evidence for metadata that are read although their sizes contradict each other: their digest, or chunks behind them.
    fn metadata_evidence(&self, states: &[ChunkStatus]) -> Option<Evidence> {
        let has_digest = self.layout.metadata().is_some_and(|metadata| !metadata.digest.is_empty());
        if has_digest {
            return (!self.has_fault(FaultKind::MetadataChecksum)).then_some(Evidence::Digest);
        }
        states.contains(&ChunkStatus::Intact).then_some(Evidence::Walk)
    }

    /// Reports the assumptions by which faults are repaired.
    fn report_assumptions(&self, states: &[ChunkStatus], report: &mut RepairReport) {
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
                let what = "bytes in the metadata, which JSON has no place for, as text of those code points";
                let item = RepairItem::new(metadata.range.clone(), what);
                report.guessed.push(item.with_evidence(Evidence::KnownDamage));
            }
        }
        if self.layout.metadata().is_none() && self.has_fault(FaultKind::MetadataTruncated) {
            let at = header.dialect.header_len();
            report.lost.push(RepairItem::new(at..at, "metadata, whose length nothing tells"));
        }
        if header.dialect != Dialect::V3 && !header.dialect.is_variable_length() {
            let what = format!("version {} is written as version 3", header.dialect.name());
            let item = RepairItem::new(0..header.dialect.header_len(), what);
            report.guessed.push(item.with_evidence(Evidence::Walk));
        }
        let count = self.layout.chunks().len();
        for fault in self.layout.faults() {
            let is_resized = self.resized.iter().any(|at| fault.range().start == at.saturating_add(4));
            let (what, evidence) = match fault.kind() {
                FaultKind::ChunkSizeMismatch if is_resized => {
                    let what = "a damaged chunk has as many bytes as the others, not as many as it says";
                    (what.to_owned(), Evidence::SecondCopy)
                }
                FaultKind::InterimVersion => {
                    ("read as a snapshot of December 2012".to_owned(), Evidence::KnownDamage)
                }
                FaultKind::VariableLengthVersion | FaultKind::ProposalVersion => {
                    ("read as a variable-length file".to_owned(), Evidence::Walk)
                }
                FaultKind::Unfinished => (format!("{count} chunks, as the walk finds them"), Evidence::Walk),
                FaultKind::SizeUnknown | FaultKind::ImpossibleSize | FaultKind::ChunkSizeMismatch => {
                    ("the sizes that the chunks have".to_owned(), Evidence::SecondCopy)
                }
                FaultKind::OffsetsMissing
                | FaultKind::OffsetsTruncated
                | FaultKind::OffsetsUnset
                | FaultKind::OffsetMismatch => ("chunks are where they are found".to_owned(), Evidence::Walk),
                FaultKind::MetadataSizes if self.layout.tree().is_some() => {
                    let Some(evidence) = self.metadata_evidence(states) else {
                        let what = "the metadata as read, which nothing proves";
                        report.lost.push(RepairItem::new(fault.range(), what));
                        continue;
                    };
                    ("the metadata as read".to_owned(), evidence)
                }
                FaultKind::TrailingBytes | FaultKind::UnknownTail
                    if count == 0 || self.found_in(&fault.range()) =>
                {
                    continue;
                }
                FaultKind::TrailingBytes => {
                    ("bytes after the last chunk hold nothing: left out".to_owned(), Evidence::Walk)
                }
                kind => {
                    let what = match kind {
                        FaultKind::MetadataChecksum if self.layout.tree().is_some() => {
                            "metadata that do not fit their digest: nothing proves what they say, as they are read"
                        }
                        FaultKind::NumpyMetadata => {
                            "type and shape, which describe no array: the data are plain bytes now"
                        }
                        FaultKind::UnknownTail => {
                            "bytes in which no chunk is found, though there may have been some"
                        }
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
    fn report_chunks(
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
            report.lost.push(RepairItem::new(end..end, format!("{missing} {noun}s that are not there")));
        }
    }
}

/// Makes text of bytes, each byte the code point of that number; whether there were any. A Python literal has them, and is written as JSON.
fn spell_bytes(value: &mut Value) -> bool {
    match value {
        Value::Bytes(bytes) => {
            *value = Value::Text(bytes.iter().copied().map(char::from).collect());
            true
        }
        // Not short-circuited: every value is converted.
        Value::List(items) => items.iter_mut().map(spell_bytes).filter(|was| *was).count() > 0,
        Value::Map(entries) => {
            entries.iter_mut().map(|(_, item)| spell_bytes(item)).filter(|was| *was).count() > 0
        }
        _ => false,
    }
}

/// Number of chunks before a truncated end. Damaged chunks that are complete keep their index.
fn without_truncated_end(states: &[ChunkStatus]) -> usize {
    states.iter().rposition(|status| *status != ChunkStatus::Truncated).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests;

//! Bringing back what can be proved of a damaged file, into a new one: version 3, or 4 for items.
//!
//! What is assumed, and why:
//!
//! * chunks are where the walk or the offsets lead ([`crate::Layout`] says which is believed), so that wrong, unset and missing
//!   offsets, placeholders of an unfinished file, and wrong sizes in the header mend themselves;
//! * a chunk is proved when it fits its digest and can be decoded; one that cannot is lost. Before others its place is filled
//!   with zeros, an empty item where there are items, so that those behind it stay where they were; nothing takes the place of a
//!   torn end;
//! * metadata that can be read are right even where they do not fit their digest;
//! * a shape that says more than there is is cut to whole rows, one that says less is made to say what there is
//!   (`blpk append` leaves such files).
//!
//! Chunks that were proved are copied as they are, wherever version 3 allows their sizes.

mod fixed;
mod items;

use std::ops::Range;
use std::path::Path;

use blosc_chunk::Decoder;
use container_core::container::OpenOptions;
use container_core::format::{Input, Output, repair_file};
use container_core::report::{RepairItem, RepairReport};
use container_core::source::Source;
use container_core::{Error, Limits, Progress, Result, Value};

use crate::chunks::{ChunkEntry, State};
use crate::fault::FaultKind;
use crate::header::Dialect;
use crate::layout::Layout;
use crate::stored_chunk::{StoredChunk, stored_range};
use crate::writer::with_seek;

/// Repairs the file at `path` into a new one at `target`. The input is only read.
///
/// # Errors
/// `Malformed` and `Truncated` when nothing can be brought back, `Unsupported` where nobody knows what the file says, `Usage` when
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
    let damaged = Damaged::open(input.into_source()?, options.limits)?;
    let states = damaged.prove_chunks(progress)?;
    let mut report = RepairReport::default();
    damaged.report_assumptions(&mut report);
    if damaged.layout.header().dialect.is_variable_length() {
        let plan = items::Plan::new(&damaged, &states, &mut report);
        if let Some(out) = out {
            with_seek(out, |out| plan.write(&damaged, out))?;
        }
    } else {
        let plan = fixed::Plan::new(&damaged, &states, &mut report)?;
        if let Some(out) = out {
            with_seek(out, |out| plan.write(&damaged, out))?;
        }
    }
    Ok(report)
}

/// What is known of a chunk after it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// It fits its digest and holds as many bytes as it says.
    Good,
    /// It does not.
    Bad,
    /// The file ends before it does.
    Torn,
}

/// The input.
struct Damaged {
    source: Box<dyn Source>,
    layout: Layout,
    /// The metadata as they are to be written: without bytes.
    tree: Option<Value>,
    /// Whether bytes of the metadata became text.
    has_spelt: bool,
    limits: Limits,
}

impl Damaged {
    fn open(source: Box<dyn Source>, limits: Limits) -> Result<Self> {
        let layout = Layout::parse(&*source, &limits)?;
        let hopeless = |kind| matches!(kind, FaultKind::UndefinedOptions | FaultKind::UnknownChecksum);
        if let Some(fault) = layout.faults().iter().find(|fault| hopeless(fault.kind())) {
            let hint = "the header does not say what follows it, so nothing can be proved";
            return Err(fault.error().hint(hint));
        }
        if layout.chunks().is_empty() && layout.header().nchunks != 0 {
            let worst = layout.faults().first().map(crate::fault::Fault::error);
            let nothing = || Error::malformed("there is no chunk").at(0..layout.file_len());
            return Err(worst.unwrap_or_else(nothing).hint("not one chunk can be found"));
        }
        let mut tree = layout.tree().cloned();
        let has_spelt = tree.as_mut().is_some_and(spell_bytes);
        Ok(Self { source, layout, tree, has_spelt, limits })
    }

    /// Chunk and digest of an entry.
    fn stored(&self, entry: &ChunkEntry) -> Result<StoredChunk<'_>> {
        StoredChunk::read(&*self.source, self.layout.header().checksum, entry, &self.limits)
    }

    fn stored_range(&self, entry: &ChunkEntry) -> Range<u64> {
        stored_range(self.layout.header().checksum, entry)
    }

    /// Reads and decodes every chunk.
    fn prove_chunks(&self, progress: Progress<'_>) -> Result<Vec<Proof>> {
        let mut decoder = Decoder::new();
        let total = self.source.len();
        let prove = |entry: &ChunkEntry| {
            let range = self.stored_range(entry);
            let proof = if range.end > total || entry.state() == State::Cut {
                Proof::Torn
            } else if entry.state() != State::Whole {
                Proof::Bad
            } else {
                let proved = self.stored(entry).and_then(|stored| {
                    stored.verify()?;
                    stored.decode(&mut decoder, &self.limits)
                });
                match proved {
                    Ok(_) => Proof::Good,
                    // Not for what the machine or the limits are to blame for.
                    Err(error) if error.is_damage() => Proof::Bad,
                    Err(error) => return Err(error),
                }
            };
            progress.tick(range.end.min(total), total)?;
            Ok(proof)
        };
        self.layout.chunks().iter().map(prove).collect()
    }

    /// What of the faults mends itself, and by which assumption.
    fn report_assumptions(&self, report: &mut RepairReport) {
        let header = self.layout.header();
        report.kept.push(RepairItem::new(0..header.dialect.header_len(), "header"));
        if let Some(metadata) = self.layout.metadata() {
            let list = if metadata.tree.is_some() { &mut report.kept } else { &mut report.lost };
            list.push(RepairItem::new(metadata.range.clone(), "metadata"));
            if self.has_spelt {
                let what = "bytes in the metadata, which JSON has no place for, as text of those code points";
                report.guessed.push(RepairItem::new(metadata.range.clone(), what));
            }
        }
        if header.dialect != Dialect::V3 && !header.dialect.is_variable_length() {
            let what = format!("version {} is written as version 3", header.dialect.name());
            report.guessed.push(RepairItem::new(0..header.dialect.header_len(), what));
        }
        let count = self.layout.chunks().len();
        for fault in self.layout.faults() {
            let what = match fault.kind() {
                FaultKind::InterimVersion => "read as a snapshot of December 2012".to_owned(),
                FaultKind::VariableLengthVersion => "read as a variable-length file".to_owned(),
                FaultKind::Unfinished => format!("{count} chunks, as the walk finds them"),
                FaultKind::SizeUnknown | FaultKind::ImpossibleSize | FaultKind::ChunkSizeMismatch => {
                    "the sizes that the chunks have".to_owned()
                }
                FaultKind::OffsetsMissing
                | FaultKind::OffsetsTruncated
                | FaultKind::OffsetsUnset
                | FaultKind::OffsetMismatch => "chunks are where they are found".to_owned(),
                FaultKind::MetadataChecksum if self.layout.tree().is_some() => {
                    "the metadata, which can be read, though they do not fit their digest".to_owned()
                }
                FaultKind::MetadataSizes if self.layout.tree().is_some() => "the metadata as read".to_owned(),
                FaultKind::NumpyMetadata => "the bytes are no array that could be described".to_owned(),
                FaultKind::TrailingBytes => "bytes after the last chunk hold nothing: left out".to_owned(),
                _ => continue,
            };
            let item = RepairItem::new(fault.range(), what);
            if report.guessed.last() != Some(&item) {
                report.guessed.push(item);
            }
        }
    }

    /// Lists what is kept, runs of neighbours as one, and what is lost of chunks, each called `noun`.
    fn report_chunks(&self, states: &[Proof], noun: &str, report: &mut RepairReport) {
        let mut run: Option<(usize, usize, Range<u64>)> = None;
        let mut kept = Vec::new();
        for (index, (entry, proof)) in self.layout.chunks().iter().zip(states).enumerate() {
            let range = self.stored_range(entry);
            if *proof != Proof::Good {
                let after = if *proof == Proof::Torn {
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
        let claimed = u64::try_from(self.layout.header().nchunks).unwrap_or(0);
        let missing = claimed.saturating_sub(states.len() as u64);
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
        // All of them, not those up to the first.
        Value::List(items) => items.iter_mut().map(spell_bytes).filter(|was| *was).count() > 0,
        Value::Map(entries) => {
            entries.iter_mut().map(|(_, item)| spell_bytes(item)).filter(|was| *was).count() > 0
        }
        _ => false,
    }
}

/// How many of `states` come before a torn end. What is bad, but all there, keeps its place.
fn without_torn_end(states: &[Proof]) -> usize {
    states.iter().rposition(|proof| *proof != Proof::Torn).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests;

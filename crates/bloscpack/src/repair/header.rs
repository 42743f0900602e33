//! Repairs a header with one wrong byte among those that determine how the rest is read: version, options, checksum. A lost bit of the options hides
//! the metadata, another checksum moves every chunk but the first.

use std::ops::{Range, RangeInclusive};

use blosc_chunk::Decoder;
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{Error, ErrorKind, Limits, Result};

use crate::ChecksumCode;
use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::fault::{Fault, FaultKind};
use crate::header::{MAGIC, MAX_LEN};
use crate::layout::Layout;
use crate::stored_chunk::StoredChunk;

/// The bytes that are tried, with all their valid values.
const BYTES: [(&str, usize, RangeInclusive<u8>); 3] =
    [("version", 4, 1..=4), ("options", 5, 0..=7), ("checksum", 6, 0..=8)];

/// Maximum number of chunks that are verified for each candidate header.
const MAX_SAMPLED: usize = 3;

/// Returns the source with another header: one of those bytes changed, all of the layout consistent, no fewer chunks there and no fewer of the
/// first ones proved. The source is unchanged where there is no such header, where there are several that lead to different chunks or metadata,
/// or where the header fits the file as it is. A header that digests fit outweighs those without digests.
///
/// # Errors
/// Those of the source.
pub(super) fn with_corrected_byte(
    source: Box<dyn Source>,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<Box<dyn Source>> {
    let head = source.read(0..source.len().min(MAX_LEN as u64))?.into_owned();
    if !head.starts_with(&MAGIC) {
        return Ok(source);
    }
    let stored = HeaderEvidence::of(&*source, limits)?;
    if stored.is_proof() {
        return Ok(source);
    }
    let mut tried = Overlay::new(source, Vec::new());
    let mut meant = Vec::new();
    for (name, at, values) in BYTES {
        // A digest does not fit by chance.
        if name == "checksum" && stored.digests > 0 {
            continue;
        }
        for value in values {
            let mut other = head.clone();
            let Some(byte) = other.get_mut(at).filter(|byte| **byte != value) else { continue };
            *byte = value;
            tried.set_head(other.clone());
            let evidence = HeaderEvidence::of(&tried, limits)?;
            if evidence.is_whole && !evidence.is_rare && evidence.explains(&stored) {
                meant.push((evidence, name, at as u64, other));
            }
        }
    }
    tried.set_head(Vec::new());
    let has_digest = meant.iter().any(|(evidence, ..)| evidence.digests > 0);
    let mut fitting = meant.into_iter().filter(|(evidence, ..)| !has_digest || evidence.digests > 0);
    if let Some((evidence, name, at, head)) = fitting.next_back()
        && fitting.all(|(other, ..)| other.regions == evidence.regions)
    {
        let what = format!("{name}: corrected, as no other value fits the file");
        let item = RepairItem::new(at..at.saturating_add(1), what);
        report.guessed.push(item.with_evidence(evidence.kind()));
        tried.set_head(head);
    }
    Ok(Box::new(tried))
}

/// Evidence that a header fits the file: chunks that verify with it.
#[derive(Clone, Debug, Default)]
pub(super) struct HeaderEvidence {
    /// The layout does not contradict the header.
    is_whole: bool,
    /// It has a value that few files have.
    is_rare: bool,
    /// Number of the first chunks that are proved.
    proved: usize,
    /// Number of those proved by a digest.
    digests: usize,
    /// Number of complete chunks.
    chunks: usize,
    /// Ranges of metadata and chunks.
    regions: Vec<Range<u64>>,
}

impl HeaderEvidence {
    pub(super) fn of(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let layout = match Layout::parse(source, limits) {
            Err(error) if is_about_content(&error) => return Ok(Self::default()),
            other => other?,
        };
        let is_whole = !layout.faults().iter().any(contradicts);
        let is_rare = layout.faults().iter().any(is_rare);
        let is_there = |entry: &&ChunkEntry| entry.state() == ChunkState::Whole;
        let chunks = layout.chunks().iter().filter(is_there).count();
        let mut decoder = Decoder::new();
        let mut proved = 0_usize;
        for entry in layout.chunks().iter().take(MAX_SAMPLED).filter(is_there) {
            match verify(source, &layout, entry, &mut decoder, limits) {
                Ok(()) => proved = proved.saturating_add(1),
                Err(error) if is_about_content(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let digests = if layout.header().checksum == ChecksumCode::NONE { 0 } else { proved };
        let metadata = layout.metadata().map(|metadata| metadata.range.clone());
        let regions = metadata.into_iter().chain(layout.chunks().iter().map(ChunkEntry::range)).collect();
        Ok(Self { is_whole, is_rare, proved, digests, chunks, regions })
    }

    /// The layout does not contradict the header, and a chunk is proved.
    pub(super) const fn is_proof(&self) -> bool {
        self.is_whole && self.proved > 0
    }

    /// The reason why the header is right: digests, or chunks where it leads to.
    const fn kind(&self) -> Evidence {
        if self.digests > 0 { Evidence::Digest } else { Evidence::Walk }
    }

    /// At least one chunk is proved, and no chunk of the other header is lost.
    fn explains(&self, stored: &Self) -> bool {
        self.proved >= stored.proved.max(1) && self.chunks >= stored.chunks
    }
}

fn verify(
    source: &dyn Source,
    layout: &Layout,
    entry: &ChunkEntry,
    decoder: &mut Decoder,
    limits: &Limits,
) -> Result<()> {
    let stored = StoredChunk::read_uncompared(source, layout.header().checksum, entry, limits)?;
    stored.verify()?;
    stored.decode(decoder, limits).map(|_| ())
}

/// True for errors about the bytes, not about the machine or a cancelled run.
pub(super) fn is_about_content(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::Limit { .. })
}

/// True for consequences of a wrong header, which do not include a truncated end of the file.
const fn contradicts(fault: &Fault) -> bool {
    matches!(
        fault.kind(),
        FaultKind::UndefinedOptions
            | FaultKind::UnknownChecksum
            | FaultKind::VariableLengthVersion
            | FaultKind::ImpossibleSize
            | FaultKind::MetadataTruncated
            | FaultKind::MetadataSizes
            | FaultKind::MetadataChecksum
            | FaultKind::MetadataUnreadable
            | FaultKind::OffsetsMissing
            | FaultKind::OffsetsTruncated
            | FaultKind::OffsetMismatch
            | FaultKind::ChunkHeader
            | FaultKind::ChunkOverlap
            | FaultKind::ChunkSizeMismatch
            | FaultKind::Gap
            | FaultKind::TrailingBytes
            | FaultKind::UnknownTail
    )
}

/// True for oddities of valid files: snapshots of a version, streams, reserved bytes that a tool has used.
const fn is_rare(fault: &Fault) -> bool {
    matches!(fault.kind(), FaultKind::InterimVersion | FaultKind::SizeUnknown | FaultKind::ReservedNotZero)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests {
    use super::super::tests::{repair_bytes, repair_fails, sound, stored};
    use super::*;
    use crate::write::{Offsets, WriteOptions};
    use crate::{VarOptions, VarWriter};

    fn all() -> Vec<Vec<u8>> {
        let mut files = Vec::new();
        for json in [None, Some(br#"{"who": "me"}"#.to_vec())] {
            for offsets in [Offsets::None, stored().offsets] {
                for checksum in [ChecksumCode::NONE, ChecksumCode::ADLER32, ChecksumCode(8)] {
                    let chunks = stored().chunks.with_checksum(checksum);
                    files.push(sound(&WriteOptions { json: json.clone(), offsets, chunks, ..stored() }));
                }
            }
        }
        files
    }

    #[test]
    fn any_bit_of_version_options_and_checksum_is_turned_back() {
        for file in all() {
            let (whole, report) = repair_bytes(file.clone());
            assert!(report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
            for at in 4..7 {
                for bit in 0..8 {
                    let mut damaged = file.clone();
                    damaged[at] ^= 1 << bit;
                    let (repaired, report) = repair_bytes(damaged);
                    assert!(repaired == whole && report.lost.is_empty(), "byte {at}, bit {bit}: {report:?}");
                    // Without metadata, versions 2 and 3 are equivalent.
                    let told = report.guessed.iter().any(|item| item.range == Some(at as u64..at as u64 + 1));
                    assert!(told || at == 4, "byte {at}, bit {bit}: {report:?}");
                    // A digest is more than a walk from chunk to chunk.
                    let by = if file[6] == 0 { Evidence::Walk } else { Evidence::Digest };
                    let of_byte = report.guessed.iter().filter(|item| item.what.contains("corrected, as no"));
                    let mut evidence = of_byte.map(|item| item.evidence);
                    assert!(evidence.all(|own| own == Some(by)), "byte {at}, bit {bit}: {report:?}");
                }
            }
        }
    }

    #[test]
    fn it_is_turned_back_in_a_file_that_is_cut() {
        let json = Some(br#"{"who": "me"}"#.to_vec());
        let mut file = sound(&WriteOptions { json, ..stored() });
        file.truncate(file.len() - 200);
        let whole = repair_bytes(file.clone()).0;
        file[5] ^= 2;
        let (repaired, report) = repair_bytes(file);
        assert!(repaired == whole && report.guessed[0].range == Some(5..6), "{report:?}");
    }

    #[test]
    fn headers_beyond_repair_are_refused() {
        let mut file = sound(&stored());
        let whole = repair_bytes(file.clone()).0;
        (file[5], file[6]) = (0x40, 0x77);
        assert!(repair_fails(&file));
        assert!(repair_fails(b"blpk") && repair_fails(b"blpk\x09\0\0\0"));
        assert!(!whole.is_empty());
    }

    /// Without digests the first item is right as it is, and the offset of the second is that of a file that is cut.
    #[test]
    fn a_digest_that_fits_speaks_for_its_code() {
        let chunks = stored().chunks.with_checksum(ChecksumCode::ADLER32);
        let options = VarOptions { chunks, ..VarOptions::default() };
        let mut writer = VarWriter::new(std::io::Cursor::new(Vec::new()), Some(2), &options).unwrap();
        writer.push("find").unwrap();
        writer.push("me").unwrap();
        let mut file = writer.complete().unwrap().0.into_inner();
        let layout = Layout::parse(&file, &Limits::default()).unwrap();
        let first = layout.chunks()[0].range();
        // The last byte of its digest, and one of the offset after its own.
        file[first.end as usize + 3] ^= 1;
        file[first.start as usize - 2] = 1;
        let (repaired, report) = repair_bytes(file);
        assert_eq!((repaired[6], report.lost.len()), (1, 1), "{report:?}");
    }
}

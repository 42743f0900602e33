//! Repairs the header of the metadata section with one wrong field: without it the metadata cannot be read, or end elsewhere, though they are whole.

use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{Limits, Result};

use super::header::{HeaderEvidence, is_about_content};
use crate::ChecksumCode;
use crate::fault::{Fault, FaultKind};
use crate::header::{Dialect, Header, Options};
use crate::metadata::header::{LEN, MetadataHeader};
use crate::metadata::inflate_unsized;
use crate::metadata::section;

/// Maximum length of metadata, compressed and decoded, that are tried with each candidate header.
const MAX_METADATA_LEN: u32 = 8 << 20;

/// Returns the source with the most likely header of its metadata: one field changed, so that the metadata are read and fit their digest,
/// or, without a digest, so that all bytes after them are where they should be. The source is unchanged where there is no such header or
/// more than one, or where the metadata can be read as they are.
///
/// # Errors
/// Those of the source.
pub(super) fn with_corrected_field(
    source: Box<dyn Source>,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<Box<dyn Source>> {
    let start = Dialect::V3.header_len();
    let head = source.read(0..source.len().min(start.saturating_add(LEN)))?.into_owned();
    let Ok(header) = Header::parse(&head) else { return Ok(source) };
    let at = usize::try_from(start).unwrap_or(usize::MAX);
    let Some(Ok(stored)) = head.get(at..).map(MetadataHeader::parse) else { return Ok(source) };
    let is_section = header.dialect == Dialect::V3 && header.options.has(Options::METADATA);
    if !is_section || MetadataEvidence::of(&*source, header, limits)?.is_confirmed(&*source, limits)? {
        return Ok(source);
    }
    let mut tried = Overlay::new(source, Vec::new());
    let mut meant: Vec<(bool, &str, Vec<u8>)> = Vec::new();
    for (field, candidate) in candidates(&tried, &stored, start.saturating_add(LEN), limits)? {
        if candidate.meta_size > MAX_METADATA_LEN || candidate.meta_comp_size > MAX_METADATA_LEN {
            continue;
        }
        let mut other = head.clone();
        for (byte, own) in other.iter_mut().skip(at).zip(candidate.to_bytes()) {
            *byte = own;
        }
        tried.set_head(other.clone());
        let reading = MetadataEvidence::of(&tried, header, limits)?;
        if reading.is_confirmed(&tried, limits)? && meant.iter().all(|(.., known)| *known != other) {
            meant.push((reading.has_digest, field, other));
        }
    }
    tried.set_head(Vec::new());
    // A digest that fits outweighs consistent offsets.
    let has_digest = meant.iter().any(|(has_digest, ..)| *has_digest);
    let mut likely = meant.into_iter().filter(|(own, ..)| *own == has_digest);
    if let (Some((_, field, head)), None) = (likely.next(), likely.next()) {
        let what = format!("{field} of the metadata: corrected, as no other value fits the file");
        let evidence = if has_digest { Evidence::Digest } else { Evidence::Walk };
        report.guessed.push(RepairItem::new(start..start.saturating_add(LEN), what).with_evidence(evidence));
        tried.set_head(head);
    }
    Ok(Box::new(tried))
}

/// Evidence for a header from its metadata.
struct MetadataEvidence {
    /// They are read without a contradiction.
    is_right: bool,
    has_digest: bool,
}

impl MetadataEvidence {
    /// True with a fitting digest, or where all bytes after the metadata are where they should be.
    fn is_confirmed(&self, source: &dyn Source, limits: &Limits) -> Result<bool> {
        Ok(self.is_right && (self.has_digest || HeaderEvidence::of(source, limits)?.is_proof()))
    }

    fn of(source: &dyn Source, mut header: Header, limits: &Limits) -> Result<Self> {
        let mut faults = Vec::new();
        let section = match section::read(source, &mut header, limits, &mut faults) {
            Err(error) if is_about_content(&error) => return Ok(Self { is_right: false, has_digest: false }),
            other => other?,
        };
        let metadata = section.metadata.filter(|metadata| metadata.tree.is_some());
        Ok(Self {
            is_right: metadata.is_some() && !faults.iter().any(contradicts),
            has_digest: metadata.is_some_and(|metadata| !metadata.digest.is_empty()),
        })
    }
}

const fn contradicts(fault: &Fault) -> bool {
    matches!(
        fault.kind(),
        FaultKind::UnknownChecksum
            | FaultKind::MetadataTruncated
            | FaultKind::MetadataSizes
            | FaultKind::MetadataChecksum
            | FaultKind::MetadataUnreadable
    )
}

/// Returns headers with one field changed, each with the field's name. A size that cannot be computed is tried with each bit flipped.
fn candidates(
    source: &dyn Source,
    stored: &MetadataHeader,
    payload_at: u64,
    limits: &Limits,
) -> Result<Vec<(&'static str, MetadataHeader)>> {
    let mut all = vec![("magic-format", MetadataHeader { magic_format: MetadataHeader::JSON, ..*stored })];
    all.extend([0, 1].map(|meta_codec| ("codec", MetadataHeader { meta_codec, ..*stored })));
    let checksum = |code| ("checksum", MetadataHeader { meta_checksum: ChecksumCode(code), ..*stored });
    all.extend((0..=8).map(checksum));
    let size = |meta_size| ("size", MetadataHeader { meta_size, ..*stored });
    all.push(size(stored.meta_comp_size));
    let payload_end = payload_at.saturating_add(stored.meta_comp_size.into());
    if stored.meta_codec == 1 && stored.meta_comp_size <= MAX_METADATA_LEN && payload_end <= source.len() {
        let payload = section::copy(source, payload_at..payload_end, limits)?;
        let own = inflate_unsized(&payload, limits).ok().and_then(|json| u32::try_from(json.len()).ok());
        all.extend(own.map(size));
    }
    let room = |max_meta_size| ("max-meta-size", MetadataHeader { max_meta_size, ..*stored });
    // As much room as the reference reserves.
    all.extend(stored.meta_size.checked_mul(10).map(room));
    for bit in 0..u32::BITS {
        let turned = |number: u32| number ^ 1_u32.checked_shl(bit).unwrap_or(0);
        all.push(room(turned(stored.max_meta_size)));
        let meta_comp_size = turned(stored.meta_comp_size);
        all.push(("compressed size", MetadataHeader { meta_comp_size, ..*stored }));
    }
    all.retain(|(_, header)| header != stored);
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::super::tests::{repair_bytes, sound, stored};
    use super::Evidence;
    use crate::ChecksumCode;
    use crate::metadata::MetadataOptions;
    use crate::write::WriteOptions;

    /// Files with metadata that are compressed, and with such as are not, with a digest of them and without.
    fn all() -> Vec<Vec<u8>> {
        let mut files = Vec::new();
        let json = br#"{"who": "me", "when": "now now now now now now now now"}"#;
        for level in [None, Some(6)] {
            for checksum in [ChecksumCode::NONE, ChecksumCode::ADLER32, ChecksumCode(5)] {
                let metadata_options = MetadataOptions { level, checksum, ..MetadataOptions::default() };
                files.push(sound(&WriteOptions { json: Some(json.to_vec()), metadata_options, ..stored() }));
            }
        }
        files
    }

    #[test]
    fn any_bit_of_the_header_of_metadata_is_turned_back() {
        for file in all() {
            let whole = repair_bytes(file.clone()).0;
            for at in (32..56).filter(|at| ![40, 43].contains(at)) {
                for bit in 0..8 {
                    let mut damaged = file.clone();
                    damaged[at] ^= 1 << bit;
                    let (repaired, report) = repair_bytes(damaged);
                    assert!(repaired == whole && report.lost.is_empty(), "byte {at}, bit {bit}: {report:?}");
                    // Blanks are read as well.
                    let is_blank = (36..40).contains(&at) && bit == 5;
                    assert!(is_blank || !report.guessed.is_empty(), "byte {at}, bit {bit}: {report:?}");
                    let by = if file[41] == 0 { Evidence::Walk } else { Evidence::Digest };
                    let of_field =
                        report.guessed.iter().filter(|item| item.what.contains("corrected, as no"));
                    let mut evidence = of_field.map(|item| item.evidence);
                    assert!(evidence.all(|own| own == Some(by)), "byte {at}, bit {bit}: {report:?}");
                }
            }
        }
    }

    #[test]
    fn metadata_header_with_two_wrong_fields_is_lost() {
        for mut file in all() {
            file[32..40].fill(b'?');
            file[44] ^= 1;
            let (_, report) = repair_bytes(file);
            assert!(report.lost.iter().any(|item| item.what == "metadata"), "{report:?}");
        }
    }
}

//! The metadata section of each dialect: its content and its faults.

use std::ops::Range;

use container_core::source::{Source, into_vec};
use container_core::{Error, ErrorKind, Limits, Result, Value};

use crate::fault::{Fault, FaultKind};
use crate::header::{Dialect, Header, Options};
use crate::metadata::header::{self as metadata_header, MetadataHeader};
use crate::metadata::{Spelling, decode_payload, from_json, inflate_unsized};

/// The metadata of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The section's own header, in version 3 only.
    pub header: Option<MetadataHeader>,
    /// Range of the whole metadata section.
    pub range: Range<u64>,
    /// Range of the stored text, which may be compressed.
    pub payload: Range<u64>,
    /// The digest of the payload; empty for a section without one.
    pub digest: Range<u64>,
    /// The text, if it can be decoded.
    pub json: Option<Vec<u8>>,
    /// Its tree, if it can be parsed.
    pub tree: Option<Value>,
}

/// End and content of the metadata section.
pub(crate) struct Section {
    pub(crate) metadata: Option<Metadata>,
    /// Start of the table of offsets; `None` where it is unknown.
    pub(crate) end: Option<u64>,
}

/// Reads the bytes after the header, and distinguishes the interim version 3 from the proposal with that version byte: the
/// dialect in `header` is corrected.
pub(crate) fn read(
    source: &dyn Source,
    header: &mut Header,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> Result<Section> {
    match header.dialect {
        Dialect::P0 | Dialect::V1 | Dialect::V2 => {
            Ok(Section { metadata: None, end: Some(header.dialect.header_len()) })
        }
        Dialect::V3 if header.options.has(Options::METADATA) => read_section(source, limits, faults),
        Dialect::V3 => Ok(Section { metadata: None, end: Some(header.dialect.header_len()) }),
        Dialect::V3Interim | Dialect::Vl | Dialect::VlAsV3 => read_bare(source, header, limits, faults),
    }
}

/// Version 3: a header, a payload with room to grow, and a digest.
fn read_section(source: &dyn Source, limits: &Limits, faults: &mut Vec<Fault>) -> Result<Section> {
    let start = Dialect::V3.header_len();
    let file_len = source.len();
    let head = start..start.saturating_add(metadata_header::LEN);
    let mut cut = |claimed| {
        faults.push(Fault::truncated(FaultKind::MetadataTruncated, claimed, file_len, "its metadata"));
        Ok(Section { metadata: None, end: None })
    };
    if head.end > file_len {
        return cut(head);
    }
    let header = MetadataHeader::parse(&source.read(head.clone())?)?;
    let range = start..start.saturating_add(header.section_len());
    if range.end > file_len {
        return cut(range);
    }
    let digest_len = header.meta_checksum.digest_len() as u64;
    let area = head.end..range.end.saturating_sub(digest_len);
    let payload = head.end..head.end.saturating_add(header.meta_comp_size.into());
    let mut metadata = Metadata {
        header: Some(header),
        range: range.clone(),
        payload: payload.start..payload.end.min(area.end),
        digest: area.end..range.end,
        json: None,
        tree: None,
    };
    check_header(&header, &metadata, faults);
    if !header.meta_checksum.is_known() {
        // Without the length of the digest, the start of the rest is unknown.
        return Ok(Section { metadata: Some(metadata), end: None });
    }
    if payload.end <= area.end {
        read_payload(source, &header, &mut metadata, limits, faults)?;
    }
    Ok(Section { metadata: Some(metadata), end: Some(range.end) })
}

/// Checks the fields of the section's header.
fn check_header(header: &MetadataHeader, metadata: &Metadata, faults: &mut Vec<Fault>) {
    let start = metadata.range.start;
    let field = |from: u64, to: u64| start.saturating_add(from)..start.saturating_add(to);
    if header.meta_comp_size > header.max_meta_size {
        let message = format!(
            "{} bytes of metadata do not fit their {} reserved bytes",
            header.meta_comp_size, header.max_meta_size
        );
        faults.push(Fault::new(FaultKind::MetadataSizes, field(16, 24), message));
    }
    if !header.meta_checksum.is_known() {
        let message = format!("unknown metadata checksum {} (expected 0 to 8)", header.meta_checksum.0);
        faults.push(Fault::new(FaultKind::UnknownChecksum, field(9, 10), message));
    }
    if header.meta_options != 0 {
        let message = "reserved options of the metadata are set";
        faults.push(Fault::new(FaultKind::ReservedNotZero, field(8, 9), message));
    }
    if header.user_codec != [0; 8] {
        let message = "the reserved codec name of the metadata is set";
        faults.push(Fault::new(FaultKind::ReservedNotZero, field(24, 32), message));
    }
    if header.is_json() && header.magic_format != MetadataHeader::JSON {
        let message = "the name of the serializer is padded with blanks, which the reference does not read";
        faults.push(Fault::new(FaultKind::MetadataSpelling, field(0, 8), message));
    }
}

fn read_payload(
    source: &dyn Source,
    header: &MetadataHeader,
    metadata: &mut Metadata,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> Result<()> {
    let range = metadata.payload.clone();
    let stored = match copy(source, range.clone(), limits) {
        Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => {
            faults.push(Fault::of_error(FaultKind::MetadataUnreadable, error, range));
            return Ok(());
        }
        other => other?,
    };
    if let Some(algorithm) = header.meta_checksum.algorithm()? {
        let wanted = header.meta_checksum.parse_digest(&source.read(metadata.digest.clone())?)?;
        let computed = algorithm.digest(&stored);
        if let Some(wanted) = wanted.filter(|wanted| *wanted != computed) {
            let kind = ErrorKind::Checksum { stored: wanted.to_string(), computed: computed.to_string() };
            let covered = range.start..metadata.digest.end;
            let fault = Fault::of_error(FaultKind::MetadataChecksum, Error::new(kind), covered);
            faults.push(fault.with_message("the metadata do not match their digest"));
        }
    }
    match decode_payload(header, &stored, limits) {
        Ok(json) => {
            if json.len() as u64 != u64::from(header.meta_size) {
                let message = format!(
                    "{} bytes of metadata (expected {}, by their header)",
                    json.len(),
                    header.meta_size
                );
                let place = metadata.range.start.saturating_add(12);
                faults.push(Fault::new(FaultKind::MetadataSizes, place..place.saturating_add(4), message));
            }
            metadata.tree = read_tree(&json, range, limits, faults);
            metadata.json = Some(json);
        }
        Err(error) => faults.push(Fault::of_error(FaultKind::MetadataUnreadable, error, range)),
    }
    Ok(())
}

/// The interim version and the proposal: the text alone, of the length in the header.
///
/// A text in version byte 3 that starts like a zlib stream is the interim version's; any other is the proposal's, and the dialect in
/// `header` becomes [`Dialect::VlAsV3`].
fn read_bare(
    source: &dyn Source,
    header: &mut Header,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> Result<Section> {
    let start = header.dialect.header_len();
    let flagged = header.options.has(Options::METADATA);
    let size = if flagged { header.meta_size } else { 0 };
    if header.meta_size > i32::MAX.unsigned_abs() {
        let message = format!("{} bytes of metadata are more than the format allows", header.meta_size);
        faults.push(Fault::new(FaultKind::MetadataSizes, 24..28, message));
        return Ok(Section { metadata: None, end: None });
    }
    if flagged == (header.meta_size == 0) {
        let (kind, message) = if flagged {
            (FaultKind::ReservedNotZero, "announced metadata have 0 bytes")
        } else {
            (FaultKind::MetadataSizes, "metadata have a size, but are not announced")
        };
        faults.push(Fault::new(kind, if flagged { 5..6 } else { 24..28 }, message));
    }
    let range = start..start.saturating_add(size.into());
    if range.end > source.len() {
        faults.push(Fault::truncated(FaultKind::MetadataTruncated, range, source.len(), "its metadata"));
        return Ok(Section { metadata: None, end: None });
    }
    let stored = copy(source, range.clone(), limits)?;
    let mut json = Ok(stored);
    if header.dialect == Dialect::V3Interim {
        // The two texts are distinguishable: JSON does not start with an `x`.
        let zlib = json.as_ref().is_ok_and(|stored| stored.first() == Some(&0x78));
        if zlib {
            json = json.and_then(|stored| inflate_unsized(&stored, limits));
        } else {
            header.dialect = Dialect::VlAsV3;
        }
    }
    let mut metadata = Metadata {
        header: None,
        range: range.clone(),
        payload: range.clone(),
        digest: range.end..range.end,
        json: None,
        tree: None,
    };
    match json {
        Ok(_) if size == 0 => return Ok(Section { metadata: None, end: Some(range.end) }),
        Ok(json) => {
            metadata.tree = read_tree(&json, range.clone(), limits, faults);
            let is_map = matches!(metadata.tree, Some(Value::Map(_)) | None);
            if header.dialect == Dialect::Vl && !is_map {
                let message = "the metadata are not a JSON object";
                faults.push(Fault::new(FaultKind::MetadataSpelling, range.clone(), message));
            }
            metadata.json = Some(json);
        }
        Err(error) => faults.push(Fault::of_error(FaultKind::MetadataUnreadable, error, range.clone())),
    }
    Ok(Section { metadata: Some(metadata), end: Some(range.end) })
}

fn read_tree(json: &[u8], range: Range<u64>, limits: &Limits, faults: &mut Vec<Fault>) -> Option<Value> {
    match from_json(json, limits) {
        Ok((tree, spelling)) => {
            let problem = match spelling {
                Spelling::Json => None,
                Spelling::NonFinite => {
                    Some("the metadata contain NaN or infinities, which JSON does not have")
                }
                Spelling::HugeIntegers => Some("the metadata contain integers over 128 bits, read as floats"),
                Spelling::LoneSurrogates => Some("the metadata contain halves of surrogate pairs"),
                Spelling::Python => Some("the metadata are a Python literal, not JSON"),
            };
            faults.extend(problem.map(|what| Fault::new(FaultKind::MetadataSpelling, range, what)));
            Some(tree)
        }
        Err(error) => {
            faults.push(Fault::of_error(FaultKind::MetadataUnreadable, error, range));
            None
        }
    }
}

/// The bytes `range`, copied.
///
/// # Errors
/// `Limit` for more than there is memory for, and those of the source.
pub(crate) fn copy(source: &dyn Source, range: Range<u64>, limits: &Limits) -> Result<Vec<u8>> {
    limits.allocate(range.end.saturating_sub(range.start))?;
    into_vec(source.read(range)?, limits)
}

//! Repairs a chunk header with values of the frame header: impossible filters, a wrong blocksize, and a wrongly set bit for instrumented
//! chunks.

use std::ops::Range;

use blosc_chunk::{Filter, Header, Special};

use super::recovered_frame::RecoveredFrame;
use super::verify_chunks::{ChunkStatus, ChunkVerifier};

const BLOCKSIZE: Range<usize> = 8..12;
const FLAGS: usize = 31;
const INSTRUMENTED: u8 = 0x80;
const FILTERS: Range<usize> = 16..22;
const METAS: Range<usize> = 24..30;

/// A repaired chunk header.
pub(super) struct RepairedHeader {
    /// Bytes of the repaired header.
    pub head: Vec<u8>,
    /// Description of the change, for the report.
    pub what: String,
    /// Whether the chunk with this header matches its digest.
    pub fits_checksum: bool,
}

impl RepairedHeader {
    /// Copies the chunk `stored`, with the repaired header.
    pub fn apply(&self, stored: &[u8]) -> Vec<u8> {
        let mut whole = stored.to_vec();
        for (byte, own) in whole.iter_mut().zip(&self.head) {
            *byte = *own;
        }
        whole
    }
}

/// A header that the chunk may have had.
struct Candidate {
    head: Vec<u8>,
    what: String,
    /// Whether the field is impossible as it is.
    is_wrong: bool,
}

/// Whether no program can have written the filter: numbers up to 31 are Blosc's own, and those up to 159 are plugins, which the
/// header of the frame would name as well.
fn is_impossible_filter(frame: &RecoveredFrame, filter: Filter) -> bool {
    filter.is_unassigned() && (filter.id < 32 || !frame.header.filters.contains(filter.id))
}

/// Whether the header names a codec or filter that no program can have written.
pub(super) fn has_impossible_codec(frame: &RecoveredFrame, header: &Header) -> bool {
    let codec = match header.compressor.0 {
        6..=31 => true,
        41..=159 => frame.header.compressor != header.compressor,
        _ => false,
    };
    codec || header.filters.filters().any(|filter| is_impossible_filter(frame, filter))
}

fn candidates(frame: &RecoveredFrame, stored: &[u8], header: &Header) -> Vec<Candidate> {
    let Some(head) = stored.get(..Header::MAX_LEN) else { return Vec::new() };
    let mut found = Vec::new();
    let own = &frame.header.filters;
    if header.filters != *own && !header.has_variable_blocks() {
        let mut head = head.to_vec();
        for (place, filter) in FILTERS.zip(&own.0) {
            head[place] = filter.id;
        }
        for (place, filter) in METAS.zip(&own.0) {
            head[place] = filter.meta;
        }
        let differs_there = |(its, frames): (&Filter, &Filter)| {
            its == frames || its.meta == frames.meta && is_impossible_filter(frame, *its)
        };
        let is_wrong = header.special().is_none()
            && !header.is_memcpyed()
            && header.filters.0.iter().zip(&own.0).all(differs_there);
        let what = "filters as the frame has them, because no filter has the number that it had".to_owned();
        found.push(Candidate { head, what, is_wrong });
    }
    let block = frame.header.blocksize;
    let is_plain = header.special().is_none() && !header.has_variable_blocks();
    let is_value = header.special() == Some(Special::Value) && !header.has_variable_blocks();
    if (is_plain || is_value)
        && (1..=header.nbytes).contains(&block)
        && head[BLOCKSIZE] != block.to_le_bytes()
    {
        let mut head = head.to_vec();
        head[BLOCKSIZE].copy_from_slice(&block.to_le_bytes());
        let what = format!("blocks of {block} bytes, as the array has them, not of {}", header.blocksize);
        found.push(Candidate { head, what, is_wrong: frame.array.is_some() });
    }
    if is_plain && header.is_instrumented() {
        let mut head = head.to_vec();
        head[FLAGS] &= !INSTRUMENTED;
        // Measurements of a codec do not decode as what it encodes.
        let what = "a chunk of data, as it can be decoded, not of measurements".to_owned();
        found.push(Candidate { head, what, is_wrong: true });
    }
    found
}

impl ChunkVerifier {
    /// Finds a header with which the chunk `stored` matches its digest; without a digest one with which it decodes, if its own is impossible.
    pub(super) fn repair_header(
        &mut self,
        frame: &RecoveredFrame,
        index: u64,
        stored: &[u8],
        header: &Header,
    ) -> Option<ChunkStatus> {
        let digests = frame.digests.as_ref();
        for Candidate { head, what, is_wrong } in candidates(frame, stored, header) {
            let mut repaired = RepairedHeader { head, what, fits_checksum: false };
            let whole = repaired.apply(stored);
            repaired.fits_checksum = digests.and_then(|it| it.fit(index, &whole)) == Some(true);
            let is_wanted = repaired.fits_checksum || digests.is_none() && is_wrong;
            if is_wanted && self.decode(&whole, &frame.limits).is_ok() {
                self.repaired_headers.insert(index, repaired);
                return Some(ChunkStatus::HeaderRepaired);
            }
        }
        None
    }
}

//! Recovers the header of one block of a damaged file.
//!
//! The bytes at a place are read as a header whatever its magic says, and fields that cannot be are replaced by what the places of its
//! neighbours and its digest leave open. What fits the digest is proved; without one, the reading with the fewest changes is taken.

use std::ops::Range;

use container_core::Result;
use container_core::source::Source;

use crate::block_header::{BlockHeader, MAGIC, MIN_LEN, MIN_SIZE, PREFIX_LEN, STREAMED};
use crate::digest;
use crate::layout::{self, StoredBlock};

/// Offset of `data_size` in a header.
const DATA_SIZE_AT: u64 = 30;

/// Evidence for the place and header of a block, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// The header was corrected, and only the places of neighbouring blocks support that.
    Assumed,
    /// The header is valid as stored.
    Header,
    /// The stored bytes fit the checksum.
    Digest,
}

/// A block with a valid header.
#[derive(Clone, Debug)]
pub(super) struct RecoveredBlock {
    /// The block. Its number is given later.
    pub(super) block: StoredBlock,
    /// Evidence for the header.
    pub(super) evidence: Evidence,
    /// Names of the header fields that were corrected.
    pub(super) changes: Vec<&'static str>,
}

/// Recovers the block at `at`, which ends at `next`, the start of the next structure. `None` where no candidate header is valid.
pub(super) fn recover_header(source: &dyn Source, at: u64, next: u64) -> Result<Option<RecoveredBlock>> {
    if next.saturating_sub(at) < MIN_LEN {
        return Ok(None);
    }
    let mut bytes = source.read(at..at.saturating_add(MIN_LEN))?.into_owned();
    let mut base = Vec::new();
    if !bytes.starts_with(&MAGIC) {
        // Of the four bytes of a magic, damage leaves some, or the header behind it makes sense without a change.
        base.push("magic");
        bytes.iter_mut().zip(MAGIC).for_each(|(to, from)| *to = from);
    }
    let mut best: Option<RecoveredBlock> = None;
    for size in header_size_candidates(&bytes) {
        let mut bytes = bytes.clone();
        let mut changes = base.clone();
        let stored = bytes.get(4..6).map(<[u8]>::to_vec);
        bytes.iter_mut().skip(4).zip(size.to_be_bytes()).for_each(|(to, from)| *to = from);
        if bytes.get(4..6) != stored.as_deref() {
            changes.push("header_size");
        }
        let Some(mut header) = BlockHeader::parse(&bytes) else { continue };
        if header.is_streamed() && next < source.len() {
            // Nothing follows a streamed block.
            header.flags &= !STREAMED;
            changes.push("flags");
        }
        let start = at.saturating_add(PREFIX_LEN).saturating_add(size.into());
        if start > next {
            continue;
        }
        let available = available_bytes(source, &header, start, next)?;
        let all = next.saturating_sub(start);
        // Sizes that say too little leave junk behind the block, unless its digest fits all of that.
        let beyond = size_candidates(header, all).into_iter().filter(|_| all > available);
        let within = size_candidates(header, available).into_iter().map(|reading| (reading, false));
        for ((header, more), is_beyond) in within.chain(beyond.map(|reading| (reading, true))) {
            if is_beyond && (header.used_size != all || best.as_ref().is_some_and(has_matching_digest)) {
                continue;
            }
            let changes = [&changes[..], &more].concat();
            let data = start..start.saturating_add(header.used_size);
            let end = if header.is_streamed() { next } else { start.saturating_add(header.allocated_size) };
            let data = if header.is_streamed() { start..next } else { data };
            let block = StoredBlock { index: 0, at, header, data, end };
            let evidence = verify_candidate(source, &block, &changes)?;
            let recovered = RecoveredBlock { block, evidence, changes };
            if is_beyond && !has_matching_digest(&recovered) {
                continue;
            }
            let rank =
                |recovered: &RecoveredBlock| (recovered.evidence, std::cmp::Reverse(recovered.changes.len()));
            if best.as_ref().is_none_or(|best| rank(&recovered) > rank(best)) {
                best = Some(recovered);
            }
        }
        if best.as_ref().is_some_and(has_matching_digest) {
            break;
        }
    }
    // Without a magic, nothing less than all else in order makes a block.
    Ok(best.filter(|best| {
        !best.changes.contains(&"magic") || best.changes.len() == 1 || best.evidence == Evidence::Digest
    }))
}

fn has_matching_digest(recovered: &RecoveredBlock) -> bool {
    recovered.evidence == Evidence::Digest
}

/// Candidates for `header_size`: the stored one, then the minimum.
fn header_size_candidates(bytes: &[u8]) -> Vec<u16> {
    let stored = bytes.get(4..6).and_then(|size| size.try_into().ok()).map_or(0, u16::from_be_bytes);
    let mut sizes = vec![stored, MIN_SIZE];
    sizes.retain(|size| *size >= MIN_SIZE);
    sizes.dedup();
    sizes
}

/// Bytes available to a block whose data begin at `start`: all up to `next`, unless the header allocates less and the bytes between are
/// not zero.
fn available_bytes(source: &dyn Source, header: &BlockHeader, start: u64, next: u64) -> Result<u64> {
    let end = start.saturating_add(header.allocated_size.max(header.used_size));
    let junk = end < next && layout::search::other_than(source, end..next, b"\0")?.is_some();
    Ok(if junk { end } else { next }.saturating_sub(start))
}

/// Candidate headers with sizes that fit into `available` bytes, the stored sizes first.
fn size_candidates(header: BlockHeader, available: u64) -> Vec<(BlockHeader, Vec<&'static str>)> {
    if header.is_streamed() {
        return vec![(header, Vec::new())];
    }
    let allocated = if header.allocated_size == available { None } else { Some(available) };
    let plain = !header.is_compressed();
    let mut used = vec![header.used_size];
    if plain {
        used.extend([header.data_size, header.allocated_size]);
    }
    used.push(available);
    used.retain(|used| *used <= available);
    let mut readings: Vec<(BlockHeader, Vec<&'static str>)> = Vec::new();
    for used in used {
        let mut changes = Vec::new();
        let mut candidate = header;
        if let Some(allocated) = allocated {
            changes.push("allocated_size");
            candidate.allocated_size = allocated;
        }
        if used != header.used_size {
            changes.push("used_size");
            candidate.used_size = used;
        }
        if plain && header.data_size != used {
            changes.push("data_size");
            candidate.data_size = used;
        }
        if !readings.iter().any(|(known, _)| *known == candidate) {
            readings.push((candidate, changes));
        }
    }
    readings
}

/// Evidence for a candidate block: its checksum, if it has one.
pub(super) fn verify_candidate(
    source: &dyn Source,
    block: &StoredBlock,
    changes: &[&str],
) -> Result<Evidence> {
    let assumed = if changes.is_empty() { Evidence::Header } else { Evidence::Assumed };
    let Some(stored) = digest::expected(block) else { return Ok(assumed) };
    // The digest of no bytes fits wherever they begin.
    let says_nothing = block.data.is_empty() && changes.contains(&"header_size");
    Ok(if !says_nothing && digest::of_stored(source, block)? == stored { Evidence::Digest } else { assumed })
}

/// The `data_size` that is stored in the header at `at`.
pub(super) fn data_size_at(source: &dyn Source, at: u64) -> Result<u64> {
    let mut stored = [0; 8];
    source.read_into(at.saturating_add(DATA_SIZE_AT), &mut stored)?;
    Ok(u64::from_be_bytes(stored))
}

/// Byte range of the header after its known fields.
pub(super) fn rest_of_header(block: &StoredBlock) -> Range<u64> {
    block.at.saturating_add(MIN_LEN).min(block.data.start)..block.data.start
}

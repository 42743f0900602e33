//! Recovers the header of a block where some of its fields are damaged.
//!
//! The bytes at a place are read as a header whatever its magic says, and fields that cannot be are replaced by what the other fields, the
//! start of the next structure and the checksum say. A header that fits its checksum is proved. Without a checksum one field may be
//! corrected, if the others and the next structure leave one value for it.

use std::ops::Range;

use container_core::Result;
use container_core::report::Evidence;
use container_core::source::Source;

use crate::blocks::header::{BlockHeader, MAGIC, MIN_LEN, MIN_SIZE, PREFIX_LEN, STREAMED};
use crate::digest;
use crate::layout::{Layout, StoredBlock, find_other_than};

/// Bytes of a header before the first that is not NUL, where its magic is.
const SIZE_BYTE_OFFSET: u64 = 5;

/// Support for the place and header of a block, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Support {
    /// One field was corrected: the other fields and the next structure leave no other value.
    Corrected,
    /// The header is valid as stored.
    Header,
    /// The stored bytes fit the checksum.
    Digest,
}

/// A block with a valid header.
#[derive(Clone, Debug)]
pub(crate) struct RecoveredBlock {
    /// The block. Its number is given later.
    pub(crate) block: StoredBlock,
    /// Support for the header.
    pub(crate) support: Support,
    /// Names of the header fields that were corrected.
    pub(crate) changes: Vec<&'static str>,
}

impl RecoveredBlock {
    /// Evidence for the corrected fields.
    pub(crate) fn evidence(&self) -> Evidence {
        match (self.support, self.changes.first()) {
            (Support::Digest, _) => Evidence::Digest,
            (_, Some(&("used_size" | "data_size"))) => Evidence::SecondCopy,
            _ => Evidence::Walk,
        }
    }
}

/// Finds a block before the first that has a magic, which has lost its own, though its digest fits: those after it have other numbers than in
/// the tree.
///
/// # Errors
/// Those of the source.
pub(crate) fn block_without_magic(source: &dyn Source, layout: &Layout) -> Result<Option<Range<u64>>> {
    let found = before_first(source, layout)?.and_then(|(_, recovered)| recovered);
    let proved = found.filter(|recovered| recovered.support == Support::Digest);
    Ok(proved.map(|recovered| recovered.block.at..recovered.block.end))
}

/// Finds bytes before the first block with a magic that are no padding: perhaps a block that has lost its own.
///
/// # Errors
/// Those of the source.
pub(crate) fn before_first(
    source: &dyn Source,
    layout: &Layout,
) -> Result<Option<(Range<u64>, Option<RecoveredBlock>)>> {
    let end = layout.padding.end;
    let Some(first) = find_other_than(source, layout.padding.clone(), b"\0 \t\r\n")? else {
        return Ok(None);
    };
    // Of a header whose magic is NULs, the size is the first thing that shows.
    let least = first.saturating_sub(SIZE_BYTE_OFFSET).max(layout.padding.start);
    for at in (least..=first).rev() {
        if let Some(recovered) = recover_header(source, at, end)? {
            return Ok(Some((at..end, Some(recovered))));
        }
    }
    Ok(Some((first..end, None)))
}

/// Recovers the block at `at`, which ends at `next`, the start of the next structure. `None` where no candidate header has enough support.
///
/// # Errors
/// Those of the source.
pub(crate) fn recover_header(source: &dyn Source, at: u64, next: u64) -> Result<Option<RecoveredBlock>> {
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
        let stored_size = bytes.get(4..6).map(<[u8]>::to_vec);
        bytes.iter_mut().skip(4).zip(size.to_be_bytes()).for_each(|(to, from)| *to = from);
        if bytes.get(4..6) != stored_size.as_deref() {
            changes.push("header_size");
        }
        let Some(mut header) = BlockHeader::parse(&bytes) else { continue };
        let stored = header;
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
            let support = verify_candidate(source, &block, &changes)?;
            let recovered = RecoveredBlock { block, support, changes };
            let is_proved = has_matching_digest(&recovered);
            if !is_proved && (is_beyond || !is_confirmed(&stored, &recovered, next)) {
                continue;
            }
            let rank =
                |recovered: &RecoveredBlock| (recovered.support, std::cmp::Reverse(recovered.changes.len()));
            if best.as_ref().is_none_or(|best| rank(&recovered) > rank(best)) {
                best = Some(recovered);
            }
        }
        if best.as_ref().is_some_and(has_matching_digest) {
            break;
        }
    }
    Ok(best)
}

fn has_matching_digest(recovered: &RecoveredBlock) -> bool {
    recovered.support == Support::Digest
}

/// Whether the header is valid as stored, or has one other field for which the others and the start of the next structure leave no other
/// value.
fn is_confirmed(stored: &BlockHeader, recovered: &RecoveredBlock, next: u64) -> bool {
    let header = &recovered.block.header;
    match recovered.changes.as_slice() {
        [] => true,
        // Of two sizes of plain data, the wrong one is impossible, or the right one is there a third time.
        ["used_size"] => {
            header.used_size == header.allocated_size || stored.used_size > header.allocated_size
        }
        ["data_size"] => {
            header.used_size == header.allocated_size || stored.data_size > header.allocated_size
        }
        [_] => !header.is_streamed() && recovered.block.end == next,
        _ => false,
    }
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
    let junk = end < next && find_other_than(source, end..next, b"\0")?.is_some();
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

/// Support for a candidate block: its checksum, if it has one.
///
/// # Errors
/// Those of the source.
pub(crate) fn verify_candidate(
    source: &dyn Source,
    block: &StoredBlock,
    changes: &[&str],
) -> Result<Support> {
    let without = if changes.is_empty() { Support::Header } else { Support::Corrected };
    let Some(stored) = digest::expected(block) else { return Ok(without) };
    // The digest of no bytes fits wherever they begin.
    let says_nothing = block.data.is_empty() && changes.contains(&"header_size");
    Ok(if !says_nothing && digest::of_stored(source, block)? == stored { Support::Digest } else { without })
}

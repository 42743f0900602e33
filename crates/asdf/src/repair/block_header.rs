//! One block of a damaged file: its header as it must have been.
//!
//! The bytes at a place are read as a header whatever its magic says, and fields that cannot be are replaced by what the places of its
//! neighbours and its digest leave open. What fits the digest is proved; without one, the reading with the fewest changes is taken.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;

use container_core::Result;
use container_core::source::Source;

use crate::block_header::{BlockHeader, MAGIC, MIN_LEN, MIN_SIZE, PREFIX_LEN, STREAMED};
use crate::digest;
use crate::layout::{self, StoredBlock};

/// Where the size of the data is in a header.
const DATA_SIZE_AT: u64 = 30;

/// What speaks for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// Its header was read otherwise than it is stored, and nothing but its neighbours speaks for that.
    Assumed,
    /// Its header makes sense as it is.
    Sizes,
    /// Its stored bytes fit its digest.
    Digest,
}

/// A block with a header that makes sense.
#[derive(Clone, Debug)]
pub(super) struct Healed {
    /// The block. Its number is given later.
    pub(super) block: StoredBlock,
    /// What speaks for it.
    pub(super) proof: Proof,
    /// What of its header was read otherwise than it is stored.
    pub(super) changes: Vec<&'static str>,
}

/// The block at `at`, which ends where the next thing begins, at `next`. `None` where no reading of its header makes sense.
pub(super) fn heal(source: &dyn Source, at: u64, next: u64) -> Result<Option<Healed>> {
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
    let mut best: Option<Healed> = None;
    for size in sizes(&bytes) {
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
        let room = room(source, &header, start, next)?;
        let all = next.saturating_sub(start);
        // Sizes that say too little leave junk behind the block, unless its digest fits all of that.
        let beyond = readings(header, all).into_iter().filter(|_| all > room);
        let within = readings(header, room).into_iter().map(|reading| (reading, false));
        for ((header, more), is_beyond) in within.chain(beyond.map(|reading| (reading, true))) {
            if is_beyond && (header.used_size != all || best.as_ref().is_some_and(is_proved)) {
                continue;
            }
            let changes = [&changes[..], &more].concat();
            let data = start..start.saturating_add(header.used_size);
            let end = if header.is_streamed() { next } else { start.saturating_add(header.allocated_size) };
            let data = if header.is_streamed() { start..next } else { data };
            let block = StoredBlock { index: 0, at, header, data, end };
            let proof = prove(source, &block, &changes)?;
            let healed = Healed { block, proof, changes };
            if is_beyond && !is_proved(&healed) {
                continue;
            }
            let rank = |healed: &Healed| (healed.proof, std::cmp::Reverse(healed.changes.len()));
            if best.as_ref().is_none_or(|best| rank(&healed) > rank(best)) {
                best = Some(healed);
            }
        }
        if best.as_ref().is_some_and(is_proved) {
            break;
        }
    }
    // Without a magic, nothing less than all else in order makes a block.
    Ok(best.filter(|best| {
        !best.changes.contains(&"magic") || best.changes.len() == 1 || best.proof == Proof::Digest
    }))
}

fn is_proved(healed: &Healed) -> bool {
    healed.proof == Proof::Digest
}

/// Header sizes that may have been meant: the stored one, then the least.
fn sizes(bytes: &[u8]) -> Vec<u16> {
    let stored = bytes.get(4..6).and_then(|size| size.try_into().ok()).map_or(0, u16::from_be_bytes);
    let mut sizes = vec![stored, MIN_SIZE];
    sizes.retain(|size| *size >= MIN_SIZE);
    sizes.dedup();
    sizes
}

/// Bytes that are set aside for a block whose data begin at `start`: all to the next thing, unless the header says less and what is between
/// is no padding.
fn room(source: &dyn Source, header: &BlockHeader, start: u64, next: u64) -> Result<u64> {
    let end = start.saturating_add(header.allocated_size.max(header.used_size));
    let junk = end < next && layout::search::other_than(source, end..next, b"\0")?.is_some();
    Ok(if junk { end } else { next }.saturating_sub(start))
}

/// The header with sizes that fit into `room`, the stored ones first.
fn readings(header: BlockHeader, room: u64) -> Vec<(BlockHeader, Vec<&'static str>)> {
    if header.is_streamed() {
        return vec![(header, Vec::new())];
    }
    let allocated = if header.allocated_size == room { None } else { Some(room) };
    let plain = !header.is_compressed();
    let mut used = vec![header.used_size];
    if plain {
        used.extend([header.data_size, header.allocated_size]);
    }
    used.push(room);
    used.retain(|used| *used <= room);
    let mut readings: Vec<(BlockHeader, Vec<&'static str>)> = Vec::new();
    for used in used {
        let mut changes = Vec::new();
        let mut read = header;
        if let Some(allocated) = allocated {
            changes.push("allocated_size");
            read.allocated_size = allocated;
        }
        if used != header.used_size {
            changes.push("used_size");
            read.used_size = used;
        }
        if plain && header.data_size != used {
            changes.push("data_size");
            read.data_size = used;
        }
        if !readings.iter().any(|(known, _)| *known == read) {
            readings.push((read, changes));
        }
    }
    readings
}

pub(super) fn prove(source: &dyn Source, block: &StoredBlock, changes: &[&str]) -> Result<Proof> {
    let assumed = if changes.is_empty() { Proof::Sizes } else { Proof::Assumed };
    let Some(stored) = digest::expected(block) else { return Ok(assumed) };
    // The digest of no bytes fits wherever they begin.
    let says_nothing = block.data.is_empty() && changes.contains(&"header_size");
    Ok(if !says_nothing && digest::of_stored(source, block)? == stored { Proof::Digest } else { assumed })
}

/// The size of its data that the header at `at` says as it is stored.
pub(super) fn data_size_at(source: &dyn Source, at: u64) -> Result<u64> {
    let mut stored = [0; 8];
    source.read_into(at.saturating_add(DATA_SIZE_AT), &mut stored)?;
    Ok(u64::from_be_bytes(stored))
}

/// Bytes of the header behind the fields that are known.
pub(super) fn rest_of_header(block: &StoredBlock) -> Range<u64> {
    block.at.saturating_add(MIN_LEN).min(block.data.start)..block.data.start
}

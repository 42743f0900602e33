//! How many bytes an encoded block holds, where its header may say something else.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use container_core::codec::Encoded;
use container_core::{Error, ErrorKind, Result};

use super::blocks::Tools;
use crate::compression;
use crate::compression::salvage::{self, is_read};
use crate::digest;
use crate::layout::StoredBlock;

/// What the bytes of a block say of the length in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Len {
    /// They decode to as many.
    AsSaid,
    /// They decode to so many, to their end.
    Other(u64),
    /// They cannot be decoded, or nobody can tell.
    Unknown,
}

/// Compares the two.
///
/// # Errors
/// `Limit` where the stored bytes have to be copied, and those of the source.
pub(super) fn len(block: &StoredBlock, tools: &Tools<'_>) -> Result<Len> {
    let label = block.label().unwrap_or_default();
    let (range, decoded_len) = (block.data.clone(), block.header.data_size);
    let encoded = Encoded { source: tools.source, range, decoded_len, limits: tools.limits, threads: 1 };
    match whole(block, decoded_len, tools) {
        // More than memory holds: it may be true.
        Err(error) if is_limit(&error) => {}
        Ok(true) => return Ok(Len::AsSaid),
        other => _ = other?,
    }
    let told = match (salvage::told_len(label, &encoded)?, tools.codecs.get(label)) {
        (None, Ok(codec)) => codec.decoded_len(&encoded.bytes()?)?,
        (told, _) => told,
    };
    Ok(match told.filter(|len| *len > 0) {
        Some(len) if len == decoded_len => Len::AsSaid,
        Some(len) if whole(block, len, tools)? => Len::Other(len),
        _ => Len::Unknown,
    })
}

/// As many bytes from the start as can be decoded, up to `most`: each is tried by decoding it alone, which takes no memory for those before.
///
/// # Errors
/// Those of the source.
pub(super) fn reach(block: &StoredBlock, most: u64, tools: &Tools<'_>) -> Result<u64> {
    let (mut good, mut bad) = (0_u64, 1_u64);
    while bad <= most && decodes_at(block, bad, tools)? {
        (good, bad) = (bad, bad.saturating_mul(2));
    }
    bad = bad.min(most.saturating_add(1));
    while bad.saturating_sub(good) > 1 {
        let middle = good.midpoint(bad);
        if decodes_at(block, middle, tools)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(good)
}

/// Whether the byte before `len` can be decoded, whatever comes behind it.
pub(super) fn decodes_at(block: &StoredBlock, len: u64, tools: &Tools<'_>) -> Result<bool> {
    let Some(last) = len.checked_sub(1) else { return Ok(true) };
    let longer = said(block, len.saturating_add(1));
    let limits = tools.limits;
    let read = compression::read_range(tools.source, &longer, tools.codecs, limits, 1, last..len, &mut [0]);
    is_read(read)
}

/// Whether the block decodes to exactly so many bytes.
fn whole(block: &StoredBlock, len: u64, tools: &Tools<'_>) -> Result<bool> {
    is_read(digest::decoded(tools.source, &said(block, len), tools.codecs, tools.limits, 1).map(drop))
}

/// The block, with another length in its header.
pub(super) fn said(block: &StoredBlock, len: u64) -> StoredBlock {
    let mut block = block.clone();
    block.header.data_size = len;
    block
}

/// Whether it was too much for the memory.
pub(super) fn is_limit(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. })
}

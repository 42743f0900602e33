//! Recovers the label, `used_size` and `data_size` of an encoded block: each by the checksum, or by the bytes that the block decodes to.

use container_core::codec::{Codecs, Encoded};
use container_core::container::StaleChecksums;
use container_core::source::Source;
use container_core::{Error, ErrorKind, Limits, Result};

use crate::blocks::header::STREAMED;
use crate::compression;
use crate::compression::salvage::{self, is_read};
use crate::digest::{self, ChecksumStatus};
use crate::layout::StoredBlock;

/// Offset of `data_size` in a header.
const DATA_SIZE_AT: u64 = 30;

/// Labels of codecs that only the crate `holdall` provides.
const EXTERNAL_LABELS: [&str; 2] = ["bls2", "bsc2"];

/// Maximum number of times that a block is read for another size of its stored bytes.
const MAX_REREADS: u64 = 8;

/// Source, codecs and limits of a repair.
pub(super) struct Tools<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) codecs: &'a Codecs,
    pub(super) limits: &'a Limits,
    pub(super) digests: StaleChecksums,
}

/// Decoded length of a block's bytes compared with `data_size` of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodedSize {
    /// The bytes decode to `data_size` bytes.
    Matches,
    /// The bytes decode to this many bytes, to their end.
    Differs(u64),
    /// The bytes cannot be decoded, or the length is not known.
    Unknown,
}

/// Compares the decoded length of a block with `data_size`.
///
/// # Errors
/// `Limit` where the stored bytes have to be copied, and those of the source.
pub(super) fn compare_decoded_size(block: &StoredBlock, tools: &Tools<'_>) -> Result<DecodedSize> {
    let label = block.label().unwrap_or_default();
    let (range, decoded_len) = (block.data.clone(), block.header.data_size);
    let encoded = Encoded { source: tools.source, range, decoded_len, limits: tools.limits, threads: 1 };
    let may_be = match decodes_fully(block, decoded_len, tools) {
        // More than memory holds: it may be true.
        Err(error) if is_limit(&error) => true,
        Ok(true) => return Ok(DecodedSize::Matches),
        other => other?,
    };
    let declared = match (salvage::declared_len(label, &encoded)?, tools.codecs.get(label)) {
        (None, Ok(codec)) => codec.decoded_len(&encoded.bytes()?)?,
        (declared, _) => declared,
    };
    Ok(match declared.filter(|len| *len > 0) {
        // What the bytes say of themselves is nothing where they cannot be decoded.
        Some(len) if len == decoded_len => {
            if may_be {
                DecodedSize::Matches
            } else {
                DecodedSize::Unknown
            }
        }
        Some(len) => match decodes_fully(block, len, tools) {
            Ok(true) => DecodedSize::Differs(len),
            Err(error) if !is_limit(&error) => return Err(error),
            _ => DecodedSize::Unknown,
        },
        None => DecodedSize::Unknown,
    })
}

/// Compares a block with its checksum; only the stored bytes where `data_size` is above the memory limit.
///
/// # Errors
/// As [`digest::checksum_status`].
pub(super) fn checksum_status(block: &StoredBlock, tools: &Tools<'_>) -> Result<ChecksumStatus> {
    let state = digest::checksum_status(tools.source, block, tools.codecs, tools.limits, 1);
    match (state, digest::expected(block)) {
        (Err(error), Some(stored)) if is_limit(&error) && block.header.is_compressed() => {
            Ok(ChecksumStatus::Bad { stored, computed: digest::of_stored(tools.source, block)? })
        }
        (state, _) => state,
    }
}

/// The `used_size` with which an encoded block fits its checksum, where the stored one does not: `allocated_size`, or a number that
/// differs in one bit.
///
/// # Errors
/// Those of the source.
pub(super) fn used_size_from_checksum(block: &StoredBlock, tools: &Tools<'_>) -> Result<Option<u64>> {
    let (header, start) = (&block.header, block.data.start);
    let Some(stored) = digest::expected(block).filter(|_| header.is_compressed()) else { return Ok(None) };
    let most = header.allocated_size.min(tools.source.len().saturating_sub(start));
    let mut lens: Vec<u64> = (0..u64::BITS).map(|bit| header.used_size ^ (1 << bit)).collect();
    lens.sort_unstable_by_key(|len| std::cmp::Reverse(*len));
    lens.insert(0, header.allocated_size);
    // Where nothing is set aside beyond what is used, nothing was added to it: such a block is read once and no more.
    let least = if most > header.used_size { 1 } else { most };
    lens.retain(|len| (least..=most).contains(len) && *len != header.used_size);
    lens.dedup();
    let mut left = most.saturating_mul(MAX_REREADS);
    for len in lens {
        let Some(rest) = left.checked_sub(len) else { break };
        left = rest;
        let range = start..start.saturating_add(len);
        if digest::of_range(tools.source, range, |_| Ok(()))? == stored {
            return Ok(Some(len));
        }
    }
    Ok(None)
}

/// Number of bytes from the start that can be decoded, up to `most`. Where the codec does not report it, a binary search decodes single
/// bytes, which takes no memory for those before.
///
/// # Errors
/// `Limit` where the stored bytes have to be copied, and those of the source.
pub(super) fn decodable_len(block: &StoredBlock, most: u64, tools: &Tools<'_>) -> Result<u64> {
    if let Some(declared) = decodable_len_from_codec(block, most, tools)?
        && decodes_at(block, declared, tools)?
        && (declared == most || !decodes_at(block, declared.saturating_add(1), tools)?)
    {
        return Ok(declared);
    }
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

/// As [`decodable_len`], as the codec reports it after one pass.
fn decodable_len_from_codec(block: &StoredBlock, most: u64, tools: &Tools<'_>) -> Result<Option<u64>> {
    let Ok(codec) = tools.codecs.get(block.label().unwrap_or_default()) else { return Ok(None) };
    let (range, limits) = (block.data.clone(), tools.limits);
    let declared =
        codec.reach(&Encoded { source: tools.source, range, decoded_len: most, limits, threads: 1 });
    match declared {
        Err(error) if error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_)) => Ok(None),
        declared => declared,
    }
}

/// Whether the byte before `len` can be decoded, whatever comes behind it.
pub(super) fn decodes_at(block: &StoredBlock, len: u64, tools: &Tools<'_>) -> Result<bool> {
    let Some(last) = len.checked_sub(1) else { return Ok(true) };
    let longer = with_data_size(block, len.saturating_add(1));
    let limits = tools.limits;
    let read = compression::read_range(tools.source, &longer, tools.codecs, limits, 1, last..len, &mut [0]);
    is_read(read)
}

/// Whether the block decodes to exactly so many bytes.
///
/// # Errors
/// `Limit`, and those of the source.
pub(super) fn decodes_fully(block: &StoredBlock, len: u64, tools: &Tools<'_>) -> Result<bool> {
    is_read(
        digest::decoded(tools.source, &with_data_size(block, len), tools.codecs, tools.limits, 1).map(drop),
    )
}

/// The block, with another length in its header.
pub(super) fn with_data_size(block: &StoredBlock, len: u64) -> StoredBlock {
    let mut block = block.clone();
    block.header.data_size = len;
    block
}

/// Whether an error is a limit of memory.
pub(super) fn is_limit(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. })
}

/// Recovers a label that no codec has, or that of a plain block with two sizes of its data: the one with which the block decodes to just its
/// `data_size`. A label that is a name may be that of a codec unknown here, and is replaced only by one that differs in one byte. Returns the
/// block, and the state of its checksum under that label.
///
/// # Errors
/// `Limit` where the stored bytes have to be copied, and those of the source.
pub(super) fn recover_label(
    block: &StoredBlock,
    state_before: ChecksumStatus,
    tools: &Tools<'_>,
) -> Result<Option<(StoredBlock, ChecksumStatus)>> {
    let (header, label) = (&block.header, block.label().unwrap_or_default());
    let mut len = [0; 8];
    tools.source.read_into(block.at.saturating_add(DATA_SIZE_AT), &mut len)?;
    let len = u64::from_be_bytes(len);
    let may_be_wrong = if header.is_compressed() {
        tools.codecs.get(label).is_err() && !EXTERNAL_LABELS.contains(&label)
    } else {
        len != header.used_size && len > 0
    };
    if !may_be_wrong || header.is_streamed() {
        return Ok(None);
    }
    let is_name = header.is_compressed() && block.has_name();
    for name in tools.codecs.names() {
        let mut label = [0; 4];
        let Some(start) = label.get_mut(..name.len()) else { continue };
        start.copy_from_slice(name.as_bytes());
        let wrong = header.compression.iter().zip(label).filter(|(is, was)| **is != *was).count();
        if is_name && wrong != 1 {
            continue;
        }
        let mut block = with_data_size(block, len);
        block.header.compression = label;
        let state = match state_before {
            // A codec may find that the digest is that of the decoded bytes.
            ChecksumStatus::Bad { .. } => checksum_status(&block, tools)?,
            known => known,
        };
        if !matches!(state, ChecksumStatus::Bad { .. }) && decodes_to_data_size(&block, tools)? {
            return Ok(Some((block, state)));
        }
    }
    Ok(None)
}

/// Recovers the flags of a streamed block that names a codec, which cannot be: without the flag of streams, where the block ends with the file
/// and decodes to just its `data_size`.
///
/// # Errors
/// As [`recover_label`].
pub(super) fn without_streamed_flag(block: &StoredBlock, tools: &Tools<'_>) -> Result<Option<StoredBlock>> {
    let mut other = block.clone();
    other.header.flags &= !STREAMED;
    let (header, start) = (other.header, block.data.start);
    let has_room = header.used_size <= header.allocated_size
        && start.saturating_add(header.allocated_size) == block.end
        && header.used_size > 0;
    other.data.end = start.saturating_add(header.used_size);
    Ok((has_room && decodes_to_data_size(&other, tools)?).then_some(other))
}

/// Whether the block decodes to its `data_size`; not where that is more than memory holds.
fn decodes_to_data_size(block: &StoredBlock, tools: &Tools<'_>) -> Result<bool> {
    match decodes_fully(block, block.header.data_size, tools) {
        Err(error) if is_limit(&error) => Ok(false),
        decodes => decodes,
    }
}

/// Whether the label is one of [`EXTERNAL_LABELS`].
pub(super) fn is_external_codec(block: &StoredBlock) -> bool {
    block.label().is_some_and(|label| EXTERNAL_LABELS.contains(&label))
}

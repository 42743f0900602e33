//! Recovers the compression label of a block: the known label closest to the stored one with which the block decodes.

use container_core::Result;

use super::block_header::data_size_at;
use super::decoded_size::{checksum_status, decodes_fully, is_limit, with_data_size};
use super::plan_blocks::Tools;
use crate::block_header::STREAMED;
use crate::digest::ChecksumStatus;
use crate::layout::StoredBlock;

/// Labels of codecs that only the crate `holdall` provides.
const EXTERNAL_LABELS: [&str; 2] = ["bls2", "bsc2"];

/// The block under the label that it must have had, and what its digest is worth then. `None` where its own is known, and where no other
/// makes sense: the block decodes to just what its header says, and what digest it has fits. What is no name at all may have been any label;
/// a name may have been one that differs in one byte.
///
/// # Errors
/// `Limit` where the stored bytes have to be copied, and those of the source.
pub(super) fn corrected_label(
    block: &StoredBlock,
    state_before: ChecksumStatus,
    tools: &Tools<'_>,
) -> Result<Option<(StoredBlock, ChecksumStatus)>> {
    let label = block.label().unwrap_or_default();
    if !block.header.is_compressed() || tools.codecs.get(label).is_ok() || EXTERNAL_LABELS.contains(&label) {
        return Ok(None);
    }
    let was = block.header.compression;
    let bits = |other: &[u8; 4]| -> u32 {
        was.iter().zip(other).map(|(was, other)| (was ^ other).count_ones()).sum()
    };
    let known = tools.codecs.names().filter_map(label_bytes);
    let mut labels: Vec<[u8; 4]> = std::iter::once([0; 4]).chain(known).collect();
    let bytes = |other: &[u8; 4]| was.iter().zip(other).filter(|(was, other)| was != other).count();
    labels.retain(|other| bytes(other) == 1 || !block.has_name());
    // Of those that are further away, plain bytes come last: nothing has to be decoded for them.
    labels.sort_by_key(|other| (bytes(other) > 1, bytes(other) > 1 && *other == [0; 4], bits(other)));
    for label in labels {
        let mut block = block.clone();
        block.header.compression = label;
        let state = match state_before {
            // A codec may tell that the digest is that of the decoded bytes.
            ChecksumStatus::Bad { .. } => checksum_status(&block, tools)?,
            known => known,
        };
        let fits = match state {
            ChecksumStatus::Bad { .. } => false,
            // One bit is damage; a byte may be a name, and nothing but the digest speaks for plain bytes.
            ChecksumStatus::Absent if label == [0; 4] => bits(&label) == 1,
            _ => true,
        };
        let decodes = match label {
            _ if !fits => false,
            [0, 0, 0, 0] => block.header.used_size == block.header.data_size,
            _ => decodes_to_data_size(&block, tools)?,
        };
        if decodes {
            return Ok(Some((block, state)));
        }
    }
    Ok(None)
}

/// A plain block with two sizes of its data, under the label with which it decodes to just as many bytes as its header says: then the label is
/// what is wrong, not the size. A digest of the stored bytes speaks for neither.
///
/// # Errors
/// As [`corrected_label`].
pub(super) fn recover_missing_label(block: &StoredBlock, tools: &Tools<'_>) -> Result<Option<StoredBlock>> {
    let len = data_size_at(tools.source, block.at)?;
    if block.header.is_compressed() || block.header.is_streamed() || len == block.header.used_size || len == 0
    {
        return Ok(None);
    }
    for label in tools.codecs.names().filter_map(label_bytes) {
        let mut block = with_data_size(block, len);
        block.header.compression = label;
        if decodes_to_data_size(&block, tools)? {
            return Ok(Some(block));
        }
    }
    Ok(None)
}

/// A streamed block that names a codec, which cannot be: without its flag, where it ends with the file and decodes to what its header says, or
/// without its label, where that is a wrong bit.
///
/// # Errors
/// As [`corrected_label`].
pub(super) fn without_streamed_flag(
    block: &StoredBlock,
    tools: &Tools<'_>,
) -> Result<Option<(StoredBlock, &'static str)>> {
    let mut other = block.clone();
    other.header.flags &= !STREAMED;
    let (header, start) = (other.header, block.data.start);
    let has_room = header.used_size <= header.allocated_size
        && start.saturating_add(header.allocated_size) == block.end
        && header.used_size > 0;
    if has_room {
        other.data.end = start.saturating_add(header.used_size);
        if decodes_to_data_size(&other, tools)? {
            return Ok(Some((other, "flags")));
        }
    }
    let mut other = block.clone();
    other.header.compression = [0; 4];
    let bits: u32 = block.header.compression.iter().map(|byte| byte.count_ones()).sum();
    Ok((bits == 1).then_some((other, "compression")))
}

/// Whether the block decodes to what its header says; not where that is more than memory holds.
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

fn label_bytes(name: &str) -> Option<[u8; 4]> {
    let mut label = [0; 4];
    label.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    Some(label)
}

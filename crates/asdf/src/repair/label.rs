//! The name of a block's codec, where it is none that is known: the nearest one with which the bytes make sense.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use container_core::Result;

use super::blocks::Tools;
use super::len::{is_limit, state, whole};
use crate::digest::DigestState;
use crate::layout::StoredBlock;

/// Labels of codecs that only the command and the crate `holdall` have.
const ELSEWHERE: [&str; 2] = ["bls2", "bsc2"];

/// The block under the label that it must have had, and what its digest is worth then. `None` where its own is known, and where no label that
/// differs in one byte makes sense: the block decodes to just what its header says, and what digest it has fits.
///
/// # Errors
/// `Limit` where the stored bytes have to be copied, and those of the source.
pub(super) fn mended(
    block: &StoredBlock,
    state_before: DigestState,
    tools: &Tools<'_>,
) -> Result<Option<(StoredBlock, DigestState)>> {
    let label = block.label().unwrap_or_default();
    if !block.header.is_compressed() || tools.codecs.get(label).is_ok() || ELSEWHERE.contains(&label) {
        return Ok(None);
    }
    let was = block.header.compression;
    let bits = |other: &[u8; 4]| -> u32 {
        was.iter().zip(other).map(|(was, other)| (was ^ other).count_ones()).sum()
    };
    let known = tools.codecs.names().filter_map(padded);
    let mut near: Vec<[u8; 4]> = std::iter::once([0; 4]).chain(known).collect();
    near.retain(|other| was.iter().zip(other).filter(|(was, other)| was != other).count() == 1);
    near.sort_by_key(bits);
    for label in near {
        let mut block = block.clone();
        block.header.compression = label;
        let state = match state_before {
            // A codec may tell that the digest is that of the decoded bytes.
            DigestState::Bad { .. } => state(&block, tools)?,
            known => known,
        };
        let fits = match state {
            DigestState::Bad { .. } => false,
            // One bit is damage; a byte may be a name, and nothing but the digest speaks for plain bytes.
            DigestState::Absent if label == [0; 4] => bits(&label) == 1,
            _ => true,
        };
        let decodes = || match label {
            [0, 0, 0, 0] => Ok(block.header.used_size == block.header.data_size),
            _ => whole(&block, block.header.data_size, tools),
        };
        match fits.then(decodes).transpose() {
            Ok(Some(true)) => return Ok(Some((block, state))),
            Ok(_) => {}
            Err(error) if is_limit(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether a label can be a name at all: those of codecs that are not known here are text.
pub(super) fn is_name(block: &StoredBlock) -> bool {
    block.label() != Some("?")
}

/// Whether it is that of a codec which reads files that hold others.
pub(super) fn is_elsewhere(block: &StoredBlock) -> bool {
    block.label().is_some_and(|label| ELSEWHERE.contains(&label))
}

fn padded(name: &str) -> Option<[u8; 4]> {
    let mut label = [0; 4];
    label.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    Some(label)
}

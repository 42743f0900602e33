//! Structural checks of one chunk header.

use std::ops::Range;

use blosc_chunk::{Header as ChunkHeader, Special};

use crate::fault::{Fault, FaultKind};
use crate::frame::Frame;
use crate::frame::chunk_location::ChunkLocation;
use crate::header::ChunkSize;

/// Faults of a chunk header.
pub(super) fn check_header(
    frame: &Frame,
    index: u64,
    header: &ChunkHeader,
    range: &Range<u64>,
) -> Vec<Fault> {
    let field = |from: u64, to: u64| range.start + from..range.start + to;
    let mut faults = Vec::new();
    if let Some(expected) = frame.layout.expected_len(index)
        && expected != u64::from(header.nbytes)
    {
        let message = format!("chunk {index} decodes to {} bytes (expected {expected})", header.nbytes);
        faults.push(Fault::new(FaultKind::ChunkSizeMismatch, field(4, 8), message));
    }
    if !header.extended {
        let message = format!("chunk {index} has the header of Blosc1, which frames do not have");
        faults.push(Fault::new(FaultKind::ChunkShortHeader, field(0, 16), message));
    }
    // A typesize over 255 is stored as 1.
    let typesize = u8::try_from(frame.header().typesize).unwrap_or(1);
    let is_known = (1..=i32::MAX.unsigned_abs()).contains(&frame.header().typesize);
    if is_known && header.special().is_none() && header.typesize != typesize {
        let message = format!(
            "chunk {index} has elements of {} bytes, the frame of {}",
            header.typesize,
            frame.header().typesize
        );
        faults.push(Fault::new(FaultKind::TypesizeDiffers, field(3, 4), message));
    }
    if header.has_variable_blocks() != frame.header().variable_blocks && header.nbytes > 0 {
        let message = if header.has_variable_blocks() {
            format!("the blocks of chunk {index} are of different lengths, those of the frame are not")
        } else {
            format!("the blocks of chunk {index} are of one length, those of the frame each of its own")
        };
        faults.push(Fault::new(FaultKind::MixedBlocks, range.clone(), message));
    }
    // A mark in the index cannot express the size that each chunk of a frame with variable sizes has.
    let has_size = frame.header().chunksize != ChunkSize::Variable;
    let special = matches!(header.special(), Some(Special::Zeros | Special::Nan | Special::Uninit));
    if special && has_size {
        let message = format!("chunk {index} is stored, though it has only special values");
        faults.push(Fault::new(FaultKind::StoredSpecial, range.clone(), message));
    }
    faults
}

/// Whether the stored header gives blocks a length that is not theirs.
pub(super) fn has_wrong_blocksize(place: &ChunkLocation<'_>, header: &ChunkHeader) -> bool {
    let rest = header.nbytes.checked_rem(header.typesize.into()).unwrap_or(0);
    if rest == 0 || header.blocksize.checked_add(rest) != Some(header.nbytes) {
        return false;
    }
    let mut stored = [0; 4];
    let at = place.range().start.saturating_add(8);
    place.source().read_into(at, &mut stored).is_ok() && u32::from_le_bytes(stored) != header.blocksize
}

//! The bytes of chunks: copied, byte-swapped, compared, generated.

use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::{Error, Limits, Result};

use super::source::SourceFile;
use crate::index::IndexEntry;
use crate::read_buffer::ReadBuffer;

/// Number of bytes copied at a time.
const PIECE_LEN: u64 = 256 << 10;

/// Source of the bytes of a new chunk.
#[derive(Clone)]
pub(super) enum Data {
    /// A chunk of an input.
    Chunk {
        /// Place of the input.
        input: usize,
        /// Its entry there.
        entry: IndexEntry,
    },
    /// A little-endian pattern, repeated up to a length.
    Pattern(Vec<u8>, u64),
}

impl Data {
    /// Calls `visit` with the bytes in pieces, little-endian.
    pub(super) fn pieces(
        &self,
        inputs: &mut [SourceFile<'_>],
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Chunk { input, entry } => {
                let input = inputs.get_mut(*input).ok_or_else(|| Error::usage("no such file"))?;
                let range = entry.byte_range().unwrap_or(0..0);
                let mut at = range.start;
                while at < range.end {
                    let end = range.end.min(at.saturating_add(PIECE_LEN));
                    to_little_endian(input, entry, at..end, visit)?;
                    at = end;
                }
                Ok(())
            }
            Self::Pattern(pattern, len) => {
                let repeats = usize::try_from(PIECE_LEN).unwrap_or(0) / pattern.len().max(1);
                let block = pattern.repeat(repeats.max(1));
                let mut left = *len;
                while left > 0 && !block.is_empty() {
                    let part = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
                    visit(&block[..part])?;
                    left -= part as u64;
                }
                Ok(())
            }
        }
    }
}

/// One piece, which holds whole elements: [`PIECE_LEN`] is a multiple of their sizes.
fn to_little_endian(
    input: &mut SourceFile<'_>,
    entry: &IndexEntry,
    range: Range<u64>,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let order = input.file.header().byte_order;
    byte_swapped(input.window.bytes(range)?, order, entry, visit)
}

fn byte_swapped(
    bytes: &[u8],
    order: ByteOrder,
    entry: &IndexEntry,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let size = entry.chunk_type().map_or(1, crate::ChunkType::size);
    if order == ByteOrder::Little || size == 1 {
        return visit(bytes);
    }
    let mut turned = bytes.to_vec();
    turned.chunks_exact_mut(usize::try_from(size).unwrap_or(1)).for_each(<[u8]>::reverse);
    visit(&turned)
}

/// True where two chunks, the second one of a frame 0, hold the same values of the same type in the same shape.
pub(super) fn equal(
    inputs: &mut [SourceFile<'_>],
    a: (usize, &IndexEntry),
    b: (usize, &IndexEntry),
) -> Result<bool> {
    let ((of_a, a), (of_b, b)) = (a, b);
    if (a.type_code, a.n, a.m) != (b.type_code, b.n, b.m) {
        return Ok(false);
    }
    let order = |of: usize| inputs.get(of).map_or(ByteOrder::Little, |input| input.file.header().byte_order);
    let (order_a, order_b) = (order(of_a), order(of_b));
    let (Some(one), Some(other)) = (a.byte_range(), b.byte_range()) else { return Ok(false) };
    if of_a == of_b && one == other {
        return Ok(true);
    }
    let len = one.end - one.start;
    let mut at = 0;
    while at < len {
        let end = len.min(at + PIECE_LEN);
        let no_file = || Error::usage("no such file");
        let piece = |range: &Range<u64>| range.start + at..range.start + end;
        // Moved out, because both may be of one file.
        let beside = inputs.get_mut(of_b).ok_or_else(no_file)?;
        let mut window =
            std::mem::replace(&mut beside.beside, ReadBuffer::new(beside.file.source(), Limits::default()));
        let input = inputs.get_mut(of_a).ok_or_else(no_file)?;
        let mut same = false;
        if order_a == order_b {
            same = window.bytes(piece(&other))? == input.window.bytes(piece(&one))?;
        } else {
            byte_swapped(window.bytes(piece(&other))?, order_b, b, &mut |theirs| {
                to_little_endian(input, a, piece(&one), &mut |ours| {
                    same = ours == theirs;
                    Ok(())
                })
            })?;
        }
        if let Some(beside) = inputs.get_mut(of_b) {
            beside.beside = window;
        }
        if !same {
            return Ok(false);
        }
        at = end;
    }
    Ok(true)
}

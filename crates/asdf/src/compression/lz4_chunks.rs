//! `lz4`: chunks of LZ4 blocks, as Python asdf introduced them; or an LZ4 frame.
//!
//! A chunk is its length as a big-endian `u32`, then that many bytes: the decoded length as a little-endian `u32`, which is how
//! python-lz4 stores a block, and the block. The last chunk has no end mark.

use std::ops::Range;

use container_codecs::lz4::{Lz4, Lz4Frame};
use container_core::codec::{Codec, Encoded, Take, decode_by_range};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

use super::chunks::{Chunk, chunk_at, decode_in_pieces, decode_range, is_chain};

/// Bytes of data in a chunk, as Python asdf cuts them by default (`compression_block_size`).
pub(super) const CHUNK_LEN: usize = 4 << 20;

/// `lz4`: chunks of LZ4 blocks, or an LZ4 frame. The encoder writes chunks of 4 MiB of data each; there are no levels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lz4Chunks;

impl Codec for Lz4Chunks {
    fn name(&self) -> &str {
        "lz4"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        decode_by_range(self, src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        if is_in_frames(encoded)? {
            return Lz4Frame.decode_range(encoded, range, dst);
        }
        decode_range(encoded, range, dst, &head, &decode_chunk(encoded.limits))
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        if is_in_frames(encoded)? {
            return Lz4Frame.decode_in_pieces(encoded, take);
        }
        decode_in_pieces(encoded, take, &head, &decode_chunk(encoded.limits))
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        for piece in src.chunks(CHUNK_LEN) {
            encode_chunk(piece, level, out).inspect_err(|_| out.truncate(start))?;
        }
        // Python asdf does not write empty chunks either.
        Ok(())
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        let chunks = len.div_ceil(CHUNK_LEN).saturating_add(1);
        Lz4.max_encoded_len(len).saturating_add(chunks.saturating_mul(24))
    }
}

/// Finds the range in the decoded data of the chunk that contains byte `at`, from the heads of the chunks before it. `None` for a frame, and where
/// there is no such chunk.
///
/// # Errors
/// As [`Codec::decode_range`], for invalid heads; those of the source.
pub(crate) fn chunk_of(encoded: &Encoded<'_>, at: u64) -> Result<Option<Range<u64>>> {
    if encoded.range.is_empty() || is_frame(encoded)? {
        return Ok(None);
    }
    let (mut place, mut made) = (encoded.range.start, 0_u64);
    while place < encoded.range.end {
        let chunk = chunk_at(encoded, place, &head)?;
        let end = made.saturating_add(chunk.decoded_len);
        if end > encoded.decoded_len {
            return Ok(None);
        }
        if at < end {
            return Ok(Some(made..end));
        }
        (place, made) = (chunk.stored.end, end);
    }
    Ok(None)
}

/// Appends one chunk that holds `src`.
pub(super) fn encode_chunk(src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let decoded_len =
        u32::try_from(src.len()).map_err(|_| Error::unsupported("an lz4 chunk of 4 GiB or more"))?;
    out.extend_from_slice(&decoded_len.to_le_bytes());
    Lz4.encode(src, level, out)?;
    let len = out.len().saturating_sub(start).saturating_sub(4);
    let len = u32::try_from(len).map_err(|_| Error::unsupported("an lz4 chunk of 4 GiB or more"))?;
    if let Some(head) = out.get_mut(start..start.saturating_add(4)) {
        head.copy_from_slice(&len.to_be_bytes());
    }
    Ok(())
}

pub(super) fn head(bytes: &[u8], at: u64) -> Result<Chunk> {
    let words = bytes.first_chunk::<4>().zip(bytes.get(4..).and_then(|rest| rest.first_chunk::<4>()));
    let Some((stored_len, decoded_len)) = words else {
        let problem = "the block ends inside the header of an lz4 chunk";
        return Err(Error::malformed(problem).with_range(at..at.saturating_add(bytes.len() as u64)));
    };
    let (stored_len, decoded_len) = (u32::from_be_bytes(*stored_len), u32::from_le_bytes(*decoded_len));
    // The decoded length, and the shortest block.
    if stored_len < 5 {
        let problem = format!("an lz4 chunk of {stored_len} bytes (expected at least 5)");
        return Err(Error::malformed(problem).with_range(at..at.saturating_add(4)));
    }
    let start = at.saturating_add(4);
    let stored = start..start.saturating_add(u64::from(stored_len));
    Ok(Chunk { stored, decoded_len: u64::from(decoded_len) })
}

/// Decodes a part of one chunk; a whole chunk straight into its destination.
fn decode_chunk(
    limits: &Limits,
) -> impl Fn(&[u8], usize, Range<usize>, &mut [u8], usize) -> Result<()> + Sync + '_ {
    move |bytes, len, part, dst, _threads| {
        let block = bytes.get(4..).unwrap_or_default();
        if part == (0..len) {
            return Lz4.decode(block, dst);
        }
        let mut whole: Vec<u8> = try_zeroed_vec(len as u64, limits)?;
        Lz4.decode(block, &mut whole)?;
        dst.copy_from_slice(whole.get(part).unwrap_or_default());
        Ok(())
    }
}

/// Whether there is a frame instead of chunks.
///
/// # Errors
/// `Malformed` where there is neither; those of the source.
fn is_in_frames(encoded: &Encoded<'_>) -> Result<bool> {
    if encoded.range.is_empty() {
        return Err(Error::malformed("lz4 data without a chunk"));
    }
    // A chunk of 66 MiB can begin like a frame, but a frame is never a whole chain of chunks.
    Ok(is_frame(encoded)? && !is_chain(encoded, &head)?)
}

/// Whether the first bytes are those of a frame.
fn is_frame(encoded: &Encoded<'_>) -> Result<bool> {
    let end = encoded.range.start.saturating_add(4).min(encoded.range.end);
    Ok(Lz4Frame::is_frame(&encoded.part(encoded.range.start..end)?))
}

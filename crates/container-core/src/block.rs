//! Blocks: stored byte ranges with a decoded length that is fixed in advance.

use std::borrow::Cow;
use std::ops::Range;

use crate::checksum::{Checksum, Digest};
use crate::codec::{Codecs, Encoded};
use crate::source::{PIECE_LEN, Source, check_range, read_parallel, try_zeroed_vec};
use crate::{Error, Limits, Progress, Result};

/// A stored block of any format. Each format implements it on its own block-header type.
pub trait Block {
    /// The stored bytes, absolute in their file.
    fn range(&self) -> Range<u64>;

    /// The file of a multi-file container; `None` for the file itself.
    fn part(&self) -> Option<&str> {
        None
    }

    /// Bytes after decoding.
    fn decoded_len(&self) -> u64;

    /// Name of the codec in the [`Codecs`] of the open file; `None` where the bytes are stored plainly.
    fn codec(&self) -> Option<&str>;

    /// The digest that the file stores for this block.
    fn checksum(&self) -> Option<StoredChecksum> {
        None
    }
}

/// A digest that a file stores for a block.
pub struct StoredChecksum {
    /// Name of the algorithm: `md5`.
    pub algorithm: &'static str,
    /// A running digest of the algorithm that has taken no bytes.
    pub running: Box<dyn Checksum>,
    /// The stored value.
    pub digest: Digest,
    /// The bytes that the digest covers.
    pub covers: Covers,
}

/// The bytes that a digest covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// The bytes as stored.
    Stored,
    /// The bytes after decoding.
    Decoded,
}

/// The decoded bytes of a block: borrowed from the source where possible if the block is stored plain, else decoded into memory of their
/// own. The digest is not compared; see [`verify_block`].
///
/// # Errors
/// `Truncated`, `Malformed` from the codec, `Unsupported` for a codec that is not in `codecs`, `Limit`, and those of
/// the source. All carry the block's range.
pub fn read_block<'s>(
    source: &'s dyn Source,
    block: &dyn Block,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
) -> Result<Cow<'s, [u8]>> {
    let range = block.range();
    check_range(&range, source.len())?;
    check_plain_len(block)?;
    if block.codec().is_none()
        && let Some(bytes) = source.lend(range)
    {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut decoded =
        try_zeroed_vec(block.decoded_len(), limits).map_err(|error| error.with_range(block.range()))?;
    read_block_into(source, block, codecs, limits, threads, &mut decoded)?;
    Ok(Cow::Owned(decoded))
}

/// Decodes a block into `dst`, which is exactly as long as the block is after decoding.
///
/// # Errors
/// As [`read_block`]; `Usage` when `dst` has another length.
pub fn read_block_into(
    source: &dyn Source,
    block: &dyn Block,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
    dst: &mut [u8],
) -> Result<()> {
    let range = block.range();
    check_range(&range, source.len())?;
    check_plain_len(block)?;
    if dst.len() as u64 != block.decoded_len() {
        return Err(Error::usage(format!("{} bytes for a block of {}", dst.len(), block.decoded_len())));
    }
    let Some(codec) = block.codec() else {
        return read_parallel(source, range.start, dst, threads, limits.stop);
    };
    let decoded_len = block.decoded_len();
    let encoded = Encoded { source, range: range.clone(), decoded_len, limits, threads };
    codecs
        .get(codec)
        .and_then(|codec| codec.decode_range(&encoded, 0..decoded_len, dst))
        .map_err(|error| error.with_range(range))
}

/// Reads and decodes a block and compares its digest, if it has one. Memory is bounded by the block's decoded length; a
/// plain block passes through in pieces.
///
/// # Errors
/// As [`read_block`]; `Checksum` when the digest differs.
pub fn verify_block(
    source: &dyn Source,
    block: &dyn Block,
    codecs: &Codecs,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<()> {
    let range = block.range();
    check_range(&range, source.len())?;
    check_plain_len(block)?;
    let mut checksum = block.checksum();
    if block.codec().is_some() {
        let decoded = read_block(source, block, codecs, limits, 1)?;
        if let Some(mut checksum) = checksum {
            let stored = match checksum.covers {
                Covers::Stored => Some(stored_bytes(source, range.clone(), limits)?),
                Covers::Decoded => None,
            };
            for piece in stored.as_deref().unwrap_or(&decoded).chunks(PIECE_LEN) {
                limits.stop.check()?;
                checksum.running.update(piece);
            }
            compare(checksum, range)?;
        }
        return progress.tick(decoded.len() as u64, decoded.len() as u64);
    }
    for_each_piece(source, range.clone(), progress, |piece| {
        limits.stop.check()?;
        if let Some(checksum) = &mut checksum {
            checksum.running.update(piece);
        }
        Ok(())
    })?;
    checksum.map_or(Ok(()), |checksum| compare(checksum, range))
}

/// Passes the bytes of `range` through `look`, in pieces that stay in the cache, copied out of the source so that a bad
/// disk shows as an error.
///
/// # Errors
/// Those of the source, of `look`, and `Cancelled`.
pub fn for_each_piece(
    source: &dyn Source,
    range: Range<u64>,
    progress: Progress<'_>,
    mut look: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    check_range(&range, source.len())?;
    let total = range.end - range.start;
    let mut piece = vec![0; PIECE_LEN.min(usize::try_from(total).unwrap_or(PIECE_LEN))];
    let mut at = range.start;
    while at < range.end {
        let len = usize::try_from(range.end - at).map_or(piece.len(), |left| left.min(piece.len()));
        source.read_into(at, &mut piece[..len])?;
        look(&piece[..len])?;
        at += len as u64;
        progress.tick(at - range.start, total)?;
    }
    Ok(())
}

/// The stored bytes, whose length the caller has checked against the source, within the memory limit where they must be copied.
fn stored_bytes<'s>(source: &'s dyn Source, range: Range<u64>, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    if source.lend(range.clone()).is_none() {
        limits.allocate(range.end - range.start).map_err(|error| error.with_range(range.clone()))?;
    }
    source.read(range)
}

fn check_plain_len(block: &dyn Block) -> Result<()> {
    let range = block.range();
    if block.codec().is_none() && range.end - range.start != block.decoded_len() {
        let problem =
            format!("plain block: {} bytes (expected {})", range.end - range.start, block.decoded_len());
        return Err(Error::malformed(problem).with_range(range));
    }
    Ok(())
}

fn compare(checksum: StoredChecksum, range: Range<u64>) -> Result<()> {
    let computed = checksum.running.finish();
    if checksum.digest == computed {
        return Ok(());
    }
    let kind =
        crate::ErrorKind::Checksum { stored: checksum.digest.to_string(), computed: computed.to_string() };
    Err(Error::new(kind).with_range(range).with_context(checksum.algorithm))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
pub(crate) mod tests;

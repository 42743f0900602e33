//! Blocks: stored byte ranges that decode to a known number of bytes.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(feature = "checksums")]
use crate::checksum::{Algorithm, Digest};
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
    #[cfg(feature = "checksums")]
    fn checksum(&self) -> Option<StoredChecksum> {
        None
    }
}

/// A digest in a file, and what it covers.
#[cfg(feature = "checksums")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChecksum {
    /// The algorithm of the digest.
    pub algorithm: Algorithm,
    /// Its stored value.
    pub digest: Digest,
    /// The bytes that the digest covers.
    pub covers: Covers,
}

/// The bytes that a digest covers.
#[cfg(feature = "checksums")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// The bytes as stored.
    Stored,
    /// The bytes after decoding.
    Decoded,
}

/// The decoded bytes of a block: lent where the source can and nothing is encoded, else decoded straight into
/// memory of their own. Its digest is not compared; see [`verify_block`].
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
    if block.codec().is_some() {
        let decoded = read_block(source, block, codecs, limits, 1)?;
        #[cfg(feature = "checksums")]
        if let Some(checksum) = block.checksum() {
            let computed = match checksum.covers {
                Covers::Stored => checksum
                    .algorithm
                    .digest_until(&stored_bytes(source, range.clone(), limits)?, limits.stop)?,
                Covers::Decoded => checksum.algorithm.digest_until(&decoded, limits.stop)?,
            };
            compare(&checksum, computed, range)?;
        }
        return progress.tick(decoded.len() as u64, decoded.len() as u64);
    }
    #[cfg(feature = "checksums")]
    let checksum = block.checksum();
    #[cfg(feature = "checksums")]
    let mut running = checksum.as_ref().map(|checksum| checksum.algorithm.start());
    for_each_piece(source, range.clone(), progress, |_piece| {
        limits.stop.check()?;
        #[cfg(feature = "checksums")]
        if let Some(running) = &mut running {
            running.update(_piece);
        }
        Ok(())
    })?;
    #[cfg(feature = "checksums")]
    if let (Some(checksum), Some(running)) = (checksum, running) {
        compare(&checksum, running.finish(), range)?;
    }
    Ok(())
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
#[cfg(feature = "checksums")]
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
            format!("a plain block of {} bytes is to be {}", range.end - range.start, block.decoded_len());
        return Err(Error::malformed(problem).with_range(range));
    }
    Ok(())
}

#[cfg(feature = "checksums")]
fn compare(stored: &StoredChecksum, computed: Digest, range: Range<u64>) -> Result<()> {
    if stored.digest == computed {
        return Ok(());
    }
    let kind =
        crate::ErrorKind::Checksum { stored: stored.digest.to_string(), computed: computed.to_string() };
    Err(Error::new(kind).with_range(range).with_context(stored.algorithm.name()))
}

#[cfg(all(test, feature = "checksums", feature = "zlib"))]
mod tests {
    use super::*;
    use crate::codec::Codec;
    use crate::codec::zlib::Zlib;
    use crate::{Error, ErrorKind};

    struct Stored {
        range: Range<u64>,
        decoded_len: u64,
        codec: Option<&'static str>,
        checksum: Option<StoredChecksum>,
    }

    impl Block for Stored {
        fn range(&self) -> Range<u64> {
            self.range.clone()
        }
        fn decoded_len(&self) -> u64 {
            self.decoded_len
        }
        fn codec(&self) -> Option<&str> {
            self.codec
        }
        fn checksum(&self) -> Option<StoredChecksum> {
            self.checksum.clone()
        }
    }

    fn verify(file: &[u8], block: &Stored) -> Result<()> {
        verify_block(&file, block, &Codecs::built_in(), &Limits::default(), Progress::none())
    }

    fn digest(covers: Covers, bytes: &[u8]) -> Option<StoredChecksum> {
        let algorithm = Algorithm::Md5;
        Some(StoredChecksum { algorithm, digest: algorithm.digest(bytes), covers })
    }

    #[test]
    fn digests_cover_what_they_say_they_cover() {
        let data = vec![7_u8; if cfg!(miri) { 100 } else { 2 * PIECE_LEN + 5 }];
        let mut file = b"head".to_vec();
        Zlib.encode(&data, None, &mut file).unwrap();
        let range = 4..file.len() as u64;
        let encoded = |checksum| Stored {
            range: range.clone(),
            decoded_len: data.len() as u64,
            codec: Some("zlib"),
            checksum,
        };
        verify(&file, &encoded(None)).unwrap();
        verify(&file, &encoded(digest(Covers::Stored, &file[4..]))).unwrap();
        verify(&file, &encoded(digest(Covers::Decoded, &data))).unwrap();
        let error = verify(&file, &encoded(digest(Covers::Stored, &data))).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checksum { .. }));
        assert_eq!(error.range(), Some(range.clone()));

        let plain = |checksum| Stored {
            range: 1..data.len() as u64,
            decoded_len: data.len() as u64 - 1,
            codec: None,
            checksum,
        };
        verify(&data, &plain(digest(Covers::Stored, &data[1..]))).unwrap();
        verify(&data, &plain(digest(Covers::Decoded, &data[1..]))).unwrap();
        assert!(verify(&data, &plain(digest(Covers::Stored, &data))).is_err());
    }

    #[test]
    fn plain_blocks_are_lent_and_encoded_ones_decoded() {
        let limits = Limits::default();
        let plain = Stored { range: 1..4, decoded_len: 3, codec: None, checksum: None };
        let file = [9, 1, 2, 3];
        let source = &file[..];
        let bytes = read_block(&source, &plain, &Codecs::none(), &limits.with_memory(0), 1);
        assert!(bytes.is_ok_and(|bytes| matches!(bytes, Cow::Borrowed([1, 2, 3]))));
        let kind = |block: Stored, limits: Limits| {
            let read = read_block(&source, &block, &Codecs::built_in(), &limits, 1).map(|_| ());
            read.map_err(Error::into_kind).unwrap_err()
        };
        let block = |range, decoded_len, codec| Stored { range, decoded_len, codec, checksum: None };
        assert!(matches!(kind(block(1..9, 8, None), limits), ErrorKind::Truncated { need: 8, have: 3 }));
        assert!(matches!(kind(block(1..4, 4, None), limits), ErrorKind::Malformed(_)));
        assert!(matches!(kind(block(0..4, 4, Some("nix")), limits), ErrorKind::Unsupported(_)));
        assert!(matches!(kind(block(0..4, 4, Some("zlib")), limits), ErrorKind::Malformed(_)));
        assert!(matches!(kind(block(0..4, 9, Some("zlib")), limits.with_memory(8)), ErrorKind::Limit { .. }));
    }
}

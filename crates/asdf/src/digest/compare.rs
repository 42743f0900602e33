//! Reads whole blocks and compares their digests in one pass: no stored byte is read twice.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, scope};

use container_core::block::Block;
use container_core::checksum::Digest;
use container_core::codec::{Codecs, Encoded};
use container_core::source::{PIECE_LEN, Source};
use container_core::{Error, ErrorKind, Limits, Result, Stop};

use super::{ChecksumStatus, checksum_status, expected};
use crate::blocks::header::BlockHeader;
use crate::compression;
use crate::layout::StoredBlock;

/// Copied pieces that wait to be hashed.
const MAX_QUEUED_PIECES: usize = 64;

/// Stored bytes of a block in memory, at their places in the file.
struct BlockBytes<'a> {
    bytes: &'a [u8],
    /// Offset of the first of them.
    at: u64,
    /// Bytes of the file.
    len: u64,
}

impl Source for BlockBytes<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        let outside = || Error::usage("bytes outside of their block");
        dst.copy_from_slice(self.lend(range).ok_or_else(outside)?);
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let place = range.start.checked_sub(self.at)?..range.end.checked_sub(self.at)?;
        self.bytes.get(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?)
    }
}

/// Decodes all of an encoded block into `dst`, and compares its digest. The stored bytes are read once, or twice where they do not fit into memory.
/// With several threads, one hashes them while the others decode.
///
/// # Errors
/// As [`checksum_status`]; where the digest matches the stored bytes, those of decoding them.
pub(crate) fn decode_comparing(
    source: &dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
    dst: &mut [u8],
) -> Result<ChecksumStatus> {
    let (range, decoded_len) = (block.range(), block.data_size());
    let decode = |source: &dyn Source, threads: usize, dst: &mut [u8]| {
        compression::read_range(source, block, codecs, limits, threads, 0..decoded_len, dst)
    };
    let encoded = Encoded { source, range: range.clone(), decoded_len, limits, threads };
    let (Some(stored), Some(bytes)) = (expected(block), bytes_within(&encoded)?) else {
        return match checksum_status(source, block, codecs, limits, threads)? {
            bad @ ChecksumStatus::Bad { .. } => Ok(bad),
            state => decode(source, threads, dst).map(|()| state),
        };
    };
    let held = BlockBytes { bytes: &bytes, at: range.start, len: source.len() };
    let digest = || BlockHeader::ALGORITHM.digest_until(&bytes, limits.stop);
    // bzip2 takes many times longer to decode than to hash: every thread decodes.
    let is_parallel = threads > 1 && block.label() != Some("bzp2");
    let (computed, decoded) = scope(|scope| {
        let hashing = is_parallel.then(|| Builder::new().spawn_scoped(scope, digest).ok()).flatten();
        let Some(hashing) = hashing else { return (digest(), decode(&held, threads, dst)) };
        let decoded = decode(&held, threads.saturating_sub(1), dst);
        (hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), decoded)
    });
    let computed = computed?;
    match decoded {
        decoded if computed == stored => decoded.map(|()| ChecksumStatus::Stored),
        Ok(()) if BlockHeader::ALGORITHM.digest_until(dst, limits.stop)? == stored => {
            Ok(ChecksumStatus::LegacyDecoded)
        }
        Err(error) if !error.is_damage() && !matches!(error.kind(), ErrorKind::Unsupported(_)) => Err(error),
        _ => Ok(ChecksumStatus::Bad { stored, computed }),
    }
}

/// The stored bytes; `None` where they do not fit into memory.
fn bytes_within<'a>(encoded: &Encoded<'a>) -> Result<Option<Cow<'a, [u8]>>> {
    match encoded.bytes() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Fills `dst` from `at` on, and returns the digest of these bytes. Each piece is hashed after it was copied; with several threads, one hashes while
/// another copies.
///
/// # Errors
/// `Cancelled` after a request of `stop`, and those of the source.
pub(crate) fn copy_hashing(
    source: &dyn Source,
    at: u64,
    threads: usize,
    stop: Stop,
    dst: &mut [u8],
) -> Result<Digest> {
    let mut running = BlockHeader::ALGORITHM.start();
    scope(|scope| {
        let (sender, pieces) = sync_channel::<&[u8]>(MAX_QUEUED_PIECES);
        let mut hashing = None;
        if threads > 1 && dst.len() > PIECE_LEN {
            let mut running = BlockHeader::ALGORITHM.start();
            let hash = move || {
                pieces.iter().for_each(|piece| running.update(piece));
                running.finish()
            };
            hashing = Builder::new().spawn_scoped(scope, hash).ok();
        }
        let mut at = at;
        for piece in dst.chunks_mut(PIECE_LEN) {
            stop.check()?;
            source.read_into(at, piece)?;
            at = at.saturating_add(piece.len() as u64);
            // Without a second thread, this one digests.
            if hashing.is_none() {
                running.update(piece);
            } else {
                let _ = sender.send(piece);
            }
        }
        drop(sender);
        Ok(match hashing {
            Some(hashing) => hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => running.finish(),
        })
    })
}

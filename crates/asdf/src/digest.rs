//! Compares the MD5 checksum of a block with its stored bytes or, as Python asdf before 5.3 wrote it, with the decoded ones.

use std::borrow::Cow;
use std::ops::Range;

use container_core::block::{Block, for_each_piece};
use container_core::checksum::Digest;
use container_core::codec::{Codecs, Take};
use container_core::source::{Source, check_range, try_zeroed_vec};
use container_core::{Error, ErrorKind, Limits, Progress, Result};

use crate::blocks::header::BlockHeader;
use crate::compression;
use crate::layout::StoredBlock;

mod compare;

pub(crate) use compare::{copy_hashing, decode_comparing};

/// Result of checking a block's MD5 checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumStatus {
    /// The block has no checksum: all of its bytes are zero, or the block is streamed.
    Absent,
    /// The checksum fits the stored bytes (ASDF standard 1.6.0, file layout, "Block header").
    Stored,
    /// The checksum fits the decoded bytes, as Python asdf wrote it before 5.3.
    LegacyDecoded,
    /// The checksum fits neither.
    Bad {
        /// The digest in the file.
        stored: Digest,
        /// The computed digest of the bytes as stored.
        computed: Digest,
    },
}

impl ChecksumStatus {
    /// `stored`, `decoded` (legacy), `absent` or `bad`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Stored => "stored",
            Self::LegacyDecoded => "decoded",
            Self::Bad { .. } => "bad",
        }
    }

    /// The error that reading a block with a bad digest gives; `Ok` for the other states.
    ///
    /// # Errors
    /// `Checksum`, with the range of the block.
    pub fn into_result(self, block: &StoredBlock) -> Result<()> {
        match self {
            Self::Bad { stored, computed } => {
                let kind = ErrorKind::Checksum { stored: stored.to_string(), computed: computed.to_string() };
                Err(Error::new(kind).with_range(block.at..block.data.end).with_context("md5"))
            }
            _ => Ok(()),
        }
    }
}

/// Compares the digest of a block with its bytes. A plain block is read in pieces. An encoded block is decoded only where its stored bytes do not
/// match the digest.
///
/// # Errors
/// `Truncated` where the file ends within the block; `Limit`, `Cancelled`, and those of the source. A block that cannot be decoded has a bad digest,
/// which is not an error.
pub fn checksum_status(
    source: &dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
) -> Result<ChecksumStatus> {
    let Some(stored) = expected(block) else { return Ok(ChecksumStatus::Absent) };
    let computed = of_stored_ticking(source, block, |_| limits.stop.check())?;
    if stored == computed {
        return Ok(ChecksumStatus::Stored);
    }
    let bad = ChecksumStatus::Bad { stored, computed };
    if !block.header.is_compressed() {
        return Ok(bad);
    }
    let decoding = Decoding { source, block, codecs, limits, threads, most: limits.memory / 4 };
    match decoding.digest() {
        Ok(digest) if digest == stored => Ok(ChecksumStatus::LegacyDecoded),
        Ok(_) => Ok(bad),
        Err(error) if error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_)) => Ok(bad),
        Err(error) => Err(error),
    }
}

/// The digest of a block; `None` without one.
pub(crate) fn expected(block: &StoredBlock) -> Option<Digest> {
    block.header.digest().filter(|_| !block.header.is_streamed())
}

/// The digest of the bytes as stored.
pub(crate) fn of_stored(source: &dyn Source, block: &StoredBlock) -> Result<Digest> {
    of_range(source, block.range(), |_| Ok(()))
}

/// As [`of_stored`]; `tick` gets the length of each piece, and may end it.
pub(crate) fn of_stored_ticking(
    source: &dyn Source,
    block: &StoredBlock,
    tick: impl Fn(u64) -> Result<()>,
) -> Result<Digest> {
    of_range(source, block.range(), tick)
}

/// The digest of a range. `tick` gets the length of each piece, and may end it.
pub(crate) fn of_range(
    source: &dyn Source,
    range: Range<u64>,
    tick: impl Fn(u64) -> Result<()>,
) -> Result<Digest> {
    check_range(&range, source.len())?;
    let mut running = BlockHeader::ALGORITHM.start();
    for_each_piece(source, range, Progress::none(), |piece| {
        running.update(piece);
        tick(piece.len() as u64)
    })?;
    Ok(running.finish())
}

/// Finds the number of first bytes of a streamed block that match the digest of its header, by one of the sizes there. Readers ignore digest and
/// sizes of a streamed block, so if they match, and the file has more bytes, the flag is wrong. `tick` may end it.
pub(crate) fn matching_prefix_len(
    source: &dyn Source,
    block: &StoredBlock,
    tick: impl Fn() -> Result<()>,
) -> Result<Option<u64>> {
    let Some(stored) = block.header.digest() else { return Ok(None) };
    let (header, range) = (&block.header, block.range());
    let mut sizes = vec![header.used_size, header.data_size, header.allocated_size];
    let len = range.end.saturating_sub(range.start);
    // Where an index follows, the digest may be that of all bytes.
    let most = if range.end < source.len() { len } else { len.saturating_sub(1) };
    sizes.retain(|size| (1..=most).contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        if of_range(source, range.start..range.start.saturating_add(size), |_| tick())? == stored {
            return Ok(Some(size));
        }
    }
    Ok(None)
}

/// An encoded block that is decoded to the end, with the resources for it.
pub(crate) struct Decoding<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) block: &'a StoredBlock,
    pub(crate) codecs: &'a Codecs,
    pub(crate) limits: &'a Limits,
    pub(crate) threads: usize,
    /// Maximum number of bytes that are decoded at once.
    pub(crate) most: u64,
}

impl Decoding<'_> {
    /// The digest of the decoded bytes.
    ///
    /// # Errors
    /// As [`Decoding::pass`].
    pub(crate) fn digest(&self) -> Result<Digest> {
        let mut running = BlockHeader::ALGORITHM.start();
        self.pass(&mut |piece| {
            running.update(piece);
            Ok(())
        })?;
        Ok(running.finish())
    }

    /// Passes all decoded bytes to `take`, and checks them: at once where they are no more than `most`, else in pieces, on fewer threads.
    ///
    /// # Errors
    /// `Truncated`, `Malformed`, `Unsupported`, `Limit` where a codec cannot decode in pieces; those of the source and of `take`.
    pub(crate) fn pass(&self, take: &mut Take<'_>) -> Result<()> {
        let Self { source, block, codecs, limits, threads, most } = *self;
        if block.data_size() <= most {
            return take(&decoded(source, block, codecs, limits, threads)?);
        }
        compression::require(source, block, codecs)?;
        let passed = compression::read_in_pieces(source, block, codecs, limits, threads, take);
        if passed.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Limit { .. })) {
            // Perhaps it is not true.
            compression::require_declared_size(source, block, codecs, limits)?;
        }
        passed
    }
}

/// All of the decoded bytes of a block.
pub(crate) fn decoded<'s>(
    source: &'s dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
) -> Result<Cow<'s, [u8]>> {
    let range = block.range();
    check_range(&range, source.len())?;
    let len = block.data_size();
    if !block.header.is_compressed()
        && range.end.saturating_sub(range.start) == len
        && let Some(bytes) = source.lend(range.clone())
    {
        return Ok(Cow::Borrowed(bytes));
    }
    compression::require(source, block, codecs)?;
    let mut bytes = match try_zeroed_vec(len, limits) {
        Ok(bytes) => bytes,
        Err(error) => {
            // Perhaps it is not true.
            compression::require_declared_size(source, block, codecs, limits)?;
            return Err(error.with_range(range));
        }
    };
    compression::read_range(source, block, codecs, limits, threads, 0..len, &mut bytes)?;
    Ok(Cow::Owned(bytes))
}

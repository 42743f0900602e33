//! What blocks are encoded with: the labels of the specification and of its users, each in every dialect that is known.

use std::ops::Range;

use container_core::codec::Codecs;
use container_core::source::Source;
use container_core::{Limits, Result};

use crate::stored_block::StoredBlock;

/// The codecs of blocks, by their labels on disk: `zlib`, `bzp2`, `lz4`, `lz4f`, `blsc`, `zstd`, `xz`; `bls2` where it holds a bare
/// chunk. Frames (`bls2`, `bsc2`) need a codec of those names that the caller registers.
#[must_use]
pub fn codecs() -> Codecs {
    unimplemented!()
}

/// Decodes the bytes `range` of a block's decoded data into `dst`, which is as long, on up to `threads` threads. Decodes no more than the
/// codec makes necessary: of `lz4` the chunks in question, of `bzp2` the bzip2 blocks, of others from the start.
///
/// # Errors
/// `Truncated`, `Malformed`, `Unsupported` for a label without a codec, `Limit`, and those of the source.
pub fn read_range(
    source: &dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
    range: Range<u64>,
    dst: &mut [u8],
) -> Result<()> {
    let _ = (source, block, codecs, limits, threads, range, dst);
    unimplemented!()
}

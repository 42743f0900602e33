//! Compression of blocks: the labels of the specification and of its users, each in every published dialect.
//!
//! | label | what a block holds | written by |
//! |---|---|---|
//! | `zlib` | one zlib stream | all |
//! | `bzp2` | one or more bzip2 streams | all |
//! | `lz4` | chunks: their length (big-endian), their decoded length (little-endian), an LZ4 block | Python asdf, libasdf, ASDF.jl |
//! | `lz4` | an LZ4 frame | ASDF.jl, by request |
//! | `lz4f` | an LZ4 frame | asdf-cxx, asdf-compression |
//! | `blsc` | one chunk of Blosc1 | asdf-cxx, asdf-compression, ASDF.jl |
//! | `blsc` | chunks of Blosc1, each after its length (big-endian) | abacusutils |
//! | `bls2` | a Blosc2 frame | asdf-cxx |
//! | `bls2` | one chunk of Blosc2 | asdf-compression |
//! | `bsc2` | a Blosc2 frame | abacusutils |
//! | `zstd` | one or more Zstandard frames | asdf-compression, ASDF.jl |
//! | `xz` | xz streams | ASDF.jl |
//!
//! The payload decides between the meanings of a label that has two.

use std::ops::Range;
use std::sync::Arc;

use container_codecs::{bzip2, lz4, xz, zlib, zstd};
use container_core::block::for_each_piece;
use container_core::codec::{Codec, Codecs, Encoded, Take};
use container_core::source::{Source, check_range, read_parallel};
use container_core::{Error, Limits, Progress, Result};

use crate::blocks::StoredBlock;

mod blosc;
mod chunks;
#[expect(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "encodes what is in memory")]
mod encoder;
pub(crate) mod lz4_chunks;
pub(crate) mod names;
pub(crate) mod salvage;

pub use blosc::{Blosc, Blosc2};
pub(crate) use encoder::needs_whole_block;
pub use encoder::{EncodeOptions, Encoder, Sizes, WRITABLE, encode};
pub use lz4_chunks::Lz4Chunks;
pub(crate) use names::{codec_name, codec_of_name, wanted_codec};

/// The codecs of blocks, by their labels on disk: `zlib`, `bzp2`, `lz4`, `lz4f`, `blsc`, `bls2`, `zstd`, `xz`. Of `bls2` only bare
/// chunks are read; see [`codecs_with_frames`].
#[must_use]
pub fn codecs() -> Codecs {
    let mut codecs = Codecs::none();
    codecs.register(zlib::Zlib);
    codecs.register(bzip2::Bzip2);
    codecs.register(Lz4Chunks);
    codecs.register(lz4::Lz4Frame);
    codecs.register(Blosc::default());
    codecs.register(Blosc2::new("bls2", None));
    codecs.register(zstd::Zstd);
    codecs.register(xz::Xz);
    codecs
}

/// The same with a codec of contiguous Blosc2 frames, which `bls2` and `bsc2` may hold.
#[must_use]
pub fn codecs_with_frames(frames: &Arc<dyn Codec>) -> Codecs {
    let mut codecs = codecs();
    codecs.register(Blosc2::new("bls2", Some(Arc::clone(frames))));
    codecs.register(Blosc2::new("bsc2", Some(Arc::clone(frames))));
    codecs
}

/// Decodes the bytes `range` of a block's decoded data into `dst`, which is as long, on up to `threads` threads. Decodes no more than the
/// codec makes necessary: of `lz4` the chunks in question, of `blsc` the Blosc blocks, of others from the start to the end of the range.
///
/// # Errors
/// `Truncated`, `Malformed`, `Unsupported` for a label without a codec, `Limit`, `Usage` when `range` and `dst` do not fit, and those of
/// the source. Those of a damaged block carry its range.
pub fn read_range(
    source: &dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
    range: Range<u64>,
    dst: &mut [u8],
) -> Result<()> {
    let decoded_len = block.data_size();
    let stored = container_core::block::Block::range(block);
    let encoded = Encoded { source, range: stored.clone(), decoded_len, limits, threads };
    encoded.check(&range, dst)?;
    let Some(label) = block.label() else {
        let start = stored.start.saturating_add(range.start);
        let part = start..start.saturating_add(dst.len() as u64);
        if part.end > stored.end {
            let problem = format!(
                "a plain block of {} bytes (expected {decoded_len})",
                stored.end.saturating_sub(stored.start)
            );
            return Err(Error::malformed(problem).with_range(stored));
        }
        check_range(&part, source.len())?;
        return read_parallel(source, start, dst, threads, limits.stop);
    };
    decode(codecs, label, &encoded, |codec| codec.decode_range(&encoded, range, dst))
}

/// Passes all decoded bytes of a block to `take`, in order and in pieces, and checks the whole as [`read_range`] does. A few pieces are in memory at
/// a time; Blosc2 frames and a single chunk of Blosc are decoded whole.
///
/// # Errors
/// As [`read_range`], and those of `take`.
pub(crate) fn read_in_pieces(
    source: &dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
    threads: usize,
    take: &mut Take<'_>,
) -> Result<()> {
    let (stored, decoded_len) = (container_core::block::Block::range(block), block.data_size());
    let Some(label) = block.label() else {
        return for_each_piece(source, stored, Progress::none(), |piece| {
            limits.stop.check()?;
            take(piece)
        });
    };
    let encoded = Encoded { source, range: stored, decoded_len, limits, threads };
    decode(codecs, label, &encoded, |codec| codec.decode_in_pieces(&encoded, take))
}

/// Runs `run` with the codec of an encoded block, all of which the file has. Errors have the range of the block.
fn decode(
    codecs: &Codecs,
    label: &str,
    encoded: &Encoded<'_>,
    run: impl FnOnce(&dyn Codec) -> Result<()>,
) -> Result<()> {
    let stored = &encoded.range;
    check_range(stored, encoded.source.len())?;
    // Some writers store no bytes for a block without data.
    let is_nothing = encoded.decoded_len == 0 && stored.is_empty();
    codecs
        .get(label)
        .and_then(|codec| if is_nothing { Ok(()) } else { run(codec) })
        .map_err(|error| if error.range().is_some() { error } else { error.with_range(stored.clone()) })
}

/// Checks an encoded block before memory is allocated for its decoded data: its codec is available, the file has all of its stored bytes, and these
/// can decode to as many bytes as its header states.
pub(crate) fn require(source: &dyn Source, block: &StoredBlock, codecs: &Codecs) -> Result<()> {
    let Some(label) = block.label() else { return Ok(()) };
    let stored = container_core::block::Block::range(block);
    check_range(&stored, source.len())?;
    let known = codecs.get(label).map(drop);
    let possible = known
        .and_then(|()| size_contradiction(block).map_or(Ok(()), |problem| Err(Error::malformed(problem))));
    possible.map_err(|error| error.with_range(stored))
}

/// Compares the decoded length in a block's header with that in its payload, without decoding. Used for a block whose stated length is more than
/// memory.
///
/// # Errors
/// `Malformed` for that; `Limit` where the stored bytes have to be copied, and those of the source.
pub(crate) fn require_declared_size(
    source: &dyn Source,
    block: &StoredBlock,
    codecs: &Codecs,
    limits: &Limits,
) -> Result<()> {
    let Some(label) = block.label() else { return Ok(()) };
    let (range, decoded_len) = (container_core::block::Block::range(block), block.data_size());
    let encoded = Encoded { source, range: range.clone(), decoded_len, limits, threads: 1 };
    let declared = match salvage::declared_len(label, &encoded)? {
        Some(len) => Some(len),
        None => codecs.get(label)?.told_len(&encoded.bytes()?),
    };
    match declared.filter(|declared| *declared != decoded_len) {
        Some(declared) => {
            let problem = format!("it decodes to {declared} bytes (expected {decoded_len} by its header)");
            Err(Error::malformed(problem).with_range(range))
        }
        None => Ok(()),
    }
}

/// Reports a stated length that the stored bytes cannot reach in any case. One code of Deflate gives at most 258 bytes for 2 bits, and one byte of
/// LZ4 at most 255. A block of zstd (4 bytes at least) gives at most 128 KiB. A block of bzip2 (20 bytes at least) gives at most 900 000 bytes before
/// runs are expanded, where five bytes give 259.
fn size_contradiction(block: &StoredBlock) -> Option<String> {
    let most = match block.label()? {
        "zlib" => 258 * 4,
        "lz4" | "lz4f" => 255,
        "zstd" => (128 << 10) / 4,
        "bzp2" => 900_000 / 5 * 259 / 20,
        _ => return None,
    };
    let used = block.data.end.saturating_sub(block.data.start);
    let more = block.data_size() > used.saturating_mul(most);
    more.then(|| format!("{} bytes cannot decode to {} bytes of data", used, block.data_size()))
}

#[cfg(test)]
mod tests;

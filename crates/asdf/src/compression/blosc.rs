//! `blsc`, `bls2` and `bsc2`: chunks of Blosc1 and Blosc2, and frames of Blosc2.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use blosc_chunk::{BloscCodec, Chunk, Decoder, Header};
use container_core::codec::{Codec, Encoded, Take, decode_by_range};
use container_core::{Error, Limits, Result};

use super::chunks::{self, decode_in_pieces, decode_range};

/// `blsc`: one Blosc1 chunk, or several, each after its length as a big-endian `u32`. The encoder writes one chunk.
#[derive(Clone, Debug, Default)]
pub struct Blosc(BloscCodec);

impl Blosc {
    /// The same, which writes as `codec` does.
    #[must_use]
    pub const fn new(codec: BloscCodec) -> Self {
        Self(codec)
    }
}

impl Codec for Blosc {
    fn name(&self) -> &str {
        "blsc"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        decode_by_range(self, src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        decode_range(encoded, range, dst, head_of(encoded)?, &decode_within(encoded.limits))
            .map_err(|error| error.with_context("blsc data"))
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        decode_in_pieces(encoded, take, head_of(encoded)?, &decode_within(encoded.limits))
            .map_err(|error| error.with_context("blsc data"))
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        self.0.encode(src, level, out)
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        self.0.max_encoded_len(len)
    }
}

/// `bls2` and `bsc2`: one chunk of Blosc2; or a contiguous frame, where there is a codec for those. Only reads.
#[derive(Clone)]
pub struct Blosc2 {
    label: &'static str,
    frames: Option<Arc<dyn Codec>>,
}

impl Blosc2 {
    /// The codec of `label`, with one for frames.
    #[must_use]
    pub fn new(label: &'static str, frames: Option<Arc<dyn Codec>>) -> Self {
        Self { label, frames }
    }
}

impl Codec for Blosc2 {
    fn name(&self) -> &str {
        self.label
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        decode_by_range(self, src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        let stored = &encoded.range;
        let end = stored.start.saturating_add(10).min(stored.end);
        let start = encoded.part(stored.start..end)?;
        // A msgpack array of a string of eight bytes, the frame's magic.
        if start.get(2..) == Some(b"b2frame\0") {
            let frames = self.frames.as_ref().ok_or_else(|| {
                Error::unsupported(format!(
                    "this {} block contains a Blosc2 frame, for which the codec is missing",
                    self.label
                ))
                .with_hint("open the file with codecs_with_frames, or with holdall, which have the codec")
            })?;
            return frames.decode_range(encoded, range, dst);
        }
        decode_range(encoded, range, dst, &bare_head, &decode_within(encoded.limits))
            .map_err(|error| error.with_context(format!("{} data", self.label)))
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported(format!(
            "cannot write {} blocks: two programs store different data under this label",
            self.label
        ))
        .with_hint("blsc and zstd compress as well"))
    }

    fn max_encoded_len(&self, _len: usize) -> usize {
        0
    }
}

impl fmt::Debug for Blosc2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blosc2").field("label", &self.label).field("frames", &self.frames.is_some()).finish()
    }
}

/// Layout of chunk lengths. In files of asdf-cxx and asdf-compression the chunk itself contains its length. abacusutils stores lengths before chunks.
fn head_of(encoded: &Encoded<'_>) -> Result<chunks::Head<'static>> {
    Ok(if is_bare(encoded)? { &bare_head } else { &counted_head })
}

/// Whether the data are one chunk without a length before it. A chunk after a length has its block size where a bare chunk has its stored length, so
/// both layouts may seem valid. Then the decoded length and the chain of chunks decide.
///
/// # Errors
/// As [`chunks::find_chunk_at`].
pub(super) fn is_bare(encoded: &Encoded<'_>) -> Result<bool> {
    let start = encoded.range.start;
    let Some(bare) = chunks::find_chunk_at(encoded, start, &bare_head)? else { return Ok(false) };
    if bare.stored != encoded.range {
        return Ok(false);
    }
    Ok(match chunks::find_chunk_at(encoded, start, &counted_head)? {
        None => true,
        // Both layouts are valid: lengths decide.
        Some(_) => bare.decoded_len == encoded.decoded_len && !chunks::is_chain(encoded, &counted_head)?,
    })
}

/// [`decode_chunk`] within limits.
fn decode_within(
    limits: &Limits,
) -> impl Fn(&[u8], usize, Range<usize>, &mut [u8], usize) -> Result<()> + Sync + '_ {
    move |bytes, len, part, dst, threads| decode_chunk(bytes, len, part, dst, limits, threads)
}

/// The head of a chunk that is all there is.
pub(super) fn bare_head(bytes: &[u8], at: u64) -> Result<chunks::Chunk> {
    let short = || {
        let end = at.saturating_add(bytes.len() as u64);
        Error::malformed("the block ends inside the header of a Blosc chunk").with_range(at..end)
    };
    // The fields are at the same offsets in every version.
    let decoded_len = word(bytes, 4).map(u32::from_le_bytes).ok_or_else(short)?;
    let stored_len = word(bytes, 12).map(u32::from_le_bytes).ok_or_else(short)?;
    if u64::from(stored_len) < Header::MIN_LEN as u64 {
        let problem = format!("a Blosc chunk of {stored_len} bytes (expected at least {})", Header::MIN_LEN);
        return Err(Error::malformed(problem).with_range(at.saturating_add(12)..at.saturating_add(16)));
    }
    let stored = at..at.saturating_add(u64::from(stored_len));
    Ok(chunks::Chunk { stored, decoded_len: u64::from(decoded_len) })
}

/// The head of a chunk after its length.
pub(super) fn counted_head(bytes: &[u8], at: u64) -> Result<chunks::Chunk> {
    let counted = word(bytes, 0).map(u32::from_be_bytes);
    let start = at.saturating_add(4);
    let chunk = bare_head(bytes.get(4..).unwrap_or_default(), start)?;
    let len = chunk.stored.end.saturating_sub(chunk.stored.start);
    if counted.map(u64::from) == Some(len) {
        return Ok(chunk);
    }
    let problem = format!(
        "neither a Blosc chunk nor the length of one: {} (expected {len} by the chunk)",
        counted.unwrap_or(0)
    );
    Err(Error::malformed(problem).with_range(at..start))
}

fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at.saturating_add(4)).and_then(|bytes| bytes.try_into().ok())
}

/// Decodes the bytes `part` of a chunk that decodes to `len` bytes.
pub(super) fn decode_chunk(
    bytes: &[u8],
    len: usize,
    part: Range<usize>,
    dst: &mut [u8],
    limits: &Limits,
    threads: usize,
) -> Result<()> {
    let chunk = Chunk::parse(bytes)?;
    if chunk.bytes().len() != bytes.len() || chunk.nbytes() != len {
        return Err(Error::malformed(format!("a Blosc chunk of {} bytes (expected {len})", chunk.nbytes())));
    }
    let mut decoder = Decoder::new().with_limits(*limits);
    if part == (0..len) {
        decoder.decode_parallel(&chunk, dst, threads)
    } else {
        decoder.decode_range(&chunk, part, dst)
    }
}

//! Finds the chunks of a block that hold a range, and decodes them on threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use container_core::codec::{Encoded, Take};
use container_core::source::try_zeroed_vec;
use container_core::threads::on_threads;
use container_core::{Error, Result};

/// A chunk whose head has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Range of the encoded bytes, absolute in the source.
    pub(super) stored: Range<u64>,
    /// Bytes after decoding.
    pub(super) decoded_len: u64,
}

/// A chunk, and the destination of the wanted bytes in it.
struct Job<'d> {
    chunk: Chunk,
    /// Range of the wanted bytes in the decoded chunk.
    part: Range<usize>,
    dst: &'d mut [u8],
}

/// Fewer bytes than this take longer on a thread of their own.
const MIN_SHARE: usize = 256 << 10;

/// Bytes of a head, at most.
pub(super) const HEAD_LEN: usize = 20;

/// Parses the head of one chunk and returns the chunk's ranges. Its arguments are the next bytes of the block (fewer than [`HEAD_LEN`] at its end)
/// and their offset. It checks neither end against the block.
pub(super) type Head<'a> = &'a (dyn Fn(&[u8], u64) -> Result<Chunk> + Sync);

/// Decodes the bytes `part` of one chunk into a slice as long.
pub(super) type Decode<'a> = &'a (dyn Fn(&[u8], usize, Range<usize>, &mut [u8], usize) -> Result<()> + Sync);

/// Decodes the bytes `range` of a block of chunks. `decode` gets the chunk, its decoded length, the wanted part, the output for it, and its number of
/// threads.
pub(super) fn decode_range(
    encoded: &Encoded<'_>,
    range: Range<u64>,
    dst: &mut [u8],
    head: Head<'_>,
    decode: Decode<'_>,
) -> Result<()> {
    encoded.check(&range, dst)?;
    let wanted = dst.len();
    let mut walk = Walk::new(encoded, range, dst, head);
    let run = |Job { chunk, part, dst }: Job<'_>, threads: usize| {
        let len = usize::try_from(chunk.decoded_len).unwrap_or(usize::MAX);
        let bytes = encoded.part(chunk.stored.clone())?;
        decode(&bytes, len, part, dst, threads).map_err(|error| error.with_range(chunk.stored))
    };
    let first = walk.next()?;
    // All in one chunk: the threads decode its blocks.
    let alone = first.as_ref().is_some_and(|job| job.dst.len() == wanted);
    if let Some(job) = first {
        run(job, if alone { encoded.threads } else { 1 })?;
    }
    let threads = if alone { 1 } else { encoded.threads.clamp(1, wanted.div_ceil(MIN_SHARE).max(1)) };
    let walk = Mutex::new(walk);
    let work = || {
        loop {
            let next = walk.lock().unwrap_or_else(PoisonError::into_inner).next()?;
            let Some(job) = next else { return Ok(()) };
            let done = run(job, 1);
            if done.is_err() {
                walk.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
                return done;
            }
        }
    };
    on_threads(threads, &work)
}

/// Passes all decoded bytes of a block of chunks to `take`: as many chunks at a time as memory has room for, on threads.
pub(super) fn decode_in_pieces(
    encoded: &Encoded<'_>,
    take: &mut Take<'_>,
    head: Head<'_>,
    decode: Decode<'_>,
) -> Result<()> {
    let most = encoded.piece_len();
    let (mut at, mut made) = (encoded.range.start, 0_u64);
    let mut room = Vec::new();
    while at < encoded.range.end {
        let (start, mut len) = (at, 0_u64);
        while at < encoded.range.end {
            let chunk = chunk_at(encoded, at, head)?;
            let more = len.saturating_add(chunk.decoded_len);
            if at > start && more > most {
                break;
            }
            (at, len) = (chunk.stored.end, more);
        }
        made = made.saturating_add(len);
        if made > encoded.decoded_len {
            return Err(inconsistent_chunks(
                encoded,
                &format!("the chunk that ends at byte {at} exceeds them"),
            ));
        }
        let group = Encoded { range: start..at, decoded_len: len, ..encoded.clone() };
        if room.len() as u64 != len {
            room = try_zeroed_vec(len, encoded.limits)?;
        }
        decode_range(&group, 0..len, &mut room, head, decode)?;
        take(&room)?;
    }
    if made < encoded.decoded_len {
        return Err(inconsistent_chunks(encoded, &format!("they decode to only {made}")));
    }
    Ok(())
}

/// From the first chunk up to the end of the range, or of the block where the range reaches the end of the data.
struct Walk<'a, 'd> {
    encoded: &'a Encoded<'a>,
    range: Range<u64>,
    head: Head<'a>,
    to_end: bool,
    /// Offset of the next chunk.
    at: u64,
    /// Decoded bytes before it.
    made: u64,
    /// Part of the destination that is left for the next chunks.
    rest: &'d mut [u8],
    is_over: bool,
}

impl<'a, 'd> Walk<'a, 'd> {
    fn new(encoded: &'a Encoded<'a>, range: Range<u64>, dst: &'d mut [u8], head: Head<'a>) -> Self {
        let to_end = range.end == encoded.decoded_len;
        Self { encoded, range, head, to_end, at: encoded.range.start, made: 0, rest: dst, is_over: false }
    }

    /// The next chunk that holds wanted bytes. `None` after the last one, and after an error.
    fn next(&mut self) -> Result<Option<Job<'d>>> {
        if self.is_over {
            return Ok(None);
        }
        let found = self.find();
        self.is_over = !matches!(found, Ok(Some(_)));
        found
    }

    fn find(&mut self) -> Result<Option<Job<'d>>> {
        let (encoded, range) = (self.encoded, &self.range);
        while self.at < encoded.range.end && (self.made < range.end || self.to_end) {
            encoded.limits.stop.check()?;
            let chunk = chunk_at(encoded, self.at, self.head)?;
            self.at = chunk.stored.end;
            let start = self.made;
            self.made = start.saturating_add(chunk.decoded_len);
            if self.made > encoded.decoded_len {
                return Err(inconsistent_chunks(
                    encoded,
                    &format!("the chunk that ends at byte {} exceeds them", self.at),
                ));
            }
            let wanted = range.start.max(start)..range.end.min(self.made);
            // A chunk without data is decoded, and so checked, with a read of the whole block.
            if wanted.start < wanted.end || (chunk.decoded_len == 0 && encoded.is_all(range)) {
                let part = wanted.start.saturating_sub(start)..wanted.end.saturating_sub(start);
                // Parts of a chunk have lengths of 32 bits.
                let part = usize::try_from(part.start).unwrap_or(0)..usize::try_from(part.end).unwrap_or(0);
                let rest = std::mem::take(&mut self.rest);
                let (dst, rest) = rest.split_at_mut_checked(part.len()).unwrap_or_default();
                self.rest = rest;
                return Ok(Some(Job { chunk, part, dst }));
            }
        }
        if !self.rest.is_empty() || (self.to_end && self.made < encoded.decoded_len) {
            return Err(inconsistent_chunks(encoded, &format!("they decode to only {}", self.made)));
        }
        Ok(None)
    }
}

/// The chunk at `at`, which ends inside the block.
pub(super) fn chunk_at(encoded: &Encoded<'_>, at: u64, head: Head<'_>) -> Result<Chunk> {
    let stored = &encoded.range;
    let left = usize::try_from(stored.end.saturating_sub(at)).unwrap_or(HEAD_LEN).min(HEAD_LEN);
    let mut bytes = [0; HEAD_LEN];
    let bytes = bytes.get_mut(..left).unwrap_or_default();
    encoded.source.read_into(at, bytes)?;
    let chunk = head(bytes, at)?;
    if chunk.stored.end > stored.end || chunk.stored.end <= at {
        let problem = format!("a chunk of {} bytes", chunk.stored.end.saturating_sub(chunk.stored.start));
        return Err(Error::malformed(format!("{problem} reaches past the end of its block"))
            .with_range(at..stored.end));
    }
    Ok(chunk)
}

/// The chunk at `at`; `None` where the bytes there are not one.
///
/// # Errors
/// Interruptions alone ([`Error::is_interruption`]): a failing disk must not decide where chunks are.
pub(super) fn find_chunk_at(encoded: &Encoded<'_>, at: u64, head: Head<'_>) -> Result<Option<Chunk>> {
    match chunk_at(encoded, at, head) {
        Err(error) if error.is_interruption() => Err(error),
        found => Ok(found.ok()),
    }
}

/// Whether the chunks, by their heads alone, fill the block and its decoded length exactly.
///
/// # Errors
/// As [`find_chunk_at`].
pub(super) fn is_chain(encoded: &Encoded<'_>, head: Head<'_>) -> Result<bool> {
    let (mut at, mut made) = (encoded.range.start, 0_u64);
    while at < encoded.range.end {
        let Some(chunk) = find_chunk_at(encoded, at, head)? else { return Ok(false) };
        at = chunk.stored.end;
        made = made.saturating_add(chunk.decoded_len);
    }
    Ok(made == encoded.decoded_len)
}

/// Builds the error for chunks that do not add up.
fn inconsistent_chunks(encoded: &Encoded<'_>, problem: &str) -> Error {
    let len = encoded.decoded_len;
    Error::malformed(format!("the chunks do not decode to exactly {len} bytes: {problem}"))
}

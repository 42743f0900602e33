//! Reads the parts of a damaged payload after the damage whose offset in the data is certain.
//!
//! * Chunks (`lz4`, `blsc` with lengths) are independent. Where their heads form a chain to the end of the block and add up to its data, each has its
//!   place. After a damaged head, chunks in a chain to the end of the block are placed from the end of the data.
//! * Blocks of bzip2 are found by their magics and proved by their checksums. Those before the damage are placed from the start, those after it from
//!   the end.
//! * Blocks of a Blosc chunk are at the offsets in its header, both in the chunk and in the data.
//!
//! Placing data from the end needs the end of the payload. LZ4 and Blosc have no checksums: bytes that decode without an error may still be other
//! data.

use std::ops::Range;

use blosc_chunk::{Chunk as BloscChunk, Decoder, Header};
use container_codecs::bzip2::Blocks;
use container_codecs::lz4::{Lz4, Lz4Frame};
use container_core::codec::{Codec, Encoded};
use container_core::source::try_zeroed_vec;
use container_core::{ErrorKind, Limits, Result};

use super::chunks::{Chunk, Head, find_chunk_at};
use super::{blosc, lz4_chunks};

/// Data that were read of a damaged payload.
pub(crate) struct Salvaged {
    /// The data up to the last byte that was read, with zeros in the holes.
    pub(crate) bytes: Vec<u8>,
    /// Ranges before that byte that could not be read.
    pub(crate) holes: Vec<Hole>,
    /// Whether a checksum of the payload proves the bytes.
    pub(crate) is_proved: bool,
}

/// Data that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Bytes of the decoded data.
    pub(crate) data: Range<u64>,
    /// Bytes of the source that they should be in.
    pub(crate) stored: Range<u64>,
}

/// Decodes all readable parts. `whole` is false where the source ends before the payload does. `None` for payloads that can only be read from their
/// start.
///
/// # Errors
/// `Limit`, and those of the source.
pub(crate) fn salvage(label: &str, encoded: &Encoded<'_>, whole: bool) -> Result<Option<Salvaged>> {
    let stored = &encoded.range;
    let start = encoded.part(stored.start..stored.start.saturating_add(4).min(stored.end))?;
    match label {
        "lz4" if !Lz4Frame::is_frame(&start) => chain(encoded, whole, &lz4_chunks::head, &lz4).map(Some),
        "blsc" | "bls2" => {
            let bare = find_chunk_at(encoded, stored.start, &blosc::bare_head)?;
            // The length of a chunk that the source cuts reaches past it.
            let is_bare = match bare {
                Some(_) if label == "blsc" => blosc::is_bare(encoded)?,
                Some(chunk) => chunk.stored == *stored,
                None => !whole && start.first() != Some(&0),
            };
            match (is_bare, label) {
                (true, _) => blosc_blocks(encoded, whole),
                (false, "blsc") => chain(encoded, whole, &blosc::counted_head, &blosc_whole).map(Some),
                (false, _) => Ok(None),
            }
        }
        "bzp2" => bzip2(encoded, whole),
        _ => Ok(None),
    }
}

/// The decoded length that the heads of chunks add up to, where they reach the end of the payload. `None` for other payloads.
///
/// # Errors
/// Those of the source.
pub(crate) fn declared_len(label: &str, encoded: &Encoded<'_>) -> Result<Option<u64>> {
    let stored = &encoded.range;
    let start = encoded.part(stored.start..stored.start.saturating_add(4).min(stored.end))?;
    let chain = |head: Head<'_>| -> Result<Option<u64>> {
        Ok(chain_from(encoded, stored.start, head)?.map(|chunks| sum(&chunks)))
    };
    match label {
        "lz4" if !Lz4Frame::is_frame(&start) => chain(&lz4_chunks::head),
        "blsc" => match chain(&blosc::counted_head)? {
            None => chain(&blosc::bare_head),
            counted => Ok(counted),
        },
        "bls2" => chain(&blosc::bare_head),
        _ => Ok(None),
    }
}

/// Decodes a chunk into a slice of its length. False where it is damaged.
type Read<'a> = &'a dyn Fn(&[u8], &mut [u8], &Limits) -> Result<bool>;

fn lz4(bytes: &[u8], dst: &mut [u8], _: &Limits) -> Result<bool> {
    is_read(Lz4.decode(bytes.get(4..).unwrap_or_default(), dst))
}

fn blosc_whole(bytes: &[u8], dst: &mut [u8], limits: &Limits) -> Result<bool> {
    is_read(blosc::decode_chunk(bytes, dst.len(), 0..dst.len(), dst, limits, 1))
}

/// Whether it was read. Damage and unsupported features give `false`, other errors are returned.
pub(crate) fn is_read(result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads chunk after chunk, from the start and from the end.
fn chain(encoded: &Encoded<'_>, whole: bool, head: Head<'_>, read: Read<'_>) -> Result<Salvaged> {
    let (stored, total) = (&encoded.range, encoded.decoded_len);
    let mut data = Data::new(encoded)?;
    let all = if whole { chain_from(encoded, stored.start, head)? } else { None };
    if let Some(all) = all.filter(|all| sum(all) == total) {
        let mut at = 0_u64;
        for chunk in &all {
            data.read(encoded, chunk, at, read)?;
            at = at.saturating_add(chunk.decoded_len);
        }
        return Ok(data.finish());
    }
    let (mut at, mut made) = (stored.start, 0_u64);
    while at < stored.end
        && let Some(chunk) = find_chunk_at(encoded, at, head)?
        && chunk.decoded_len <= total.saturating_sub(made)
        && data.read(encoded, &chunk, made, read)?
    {
        made = made.saturating_add(chunk.decoded_len);
        at = chunk.stored.end;
    }
    if !whole {
        return Ok(data.finish());
    }
    // The first later offset from which heads form a chain to the end. The bytes before it may be anything.
    let mut from = at.saturating_add(1);
    let last = loop {
        if from >= stored.end {
            break Vec::new();
        }
        // The first bytes rule out most offsets.
        if find_chunk_at(encoded, from, head)?.is_some_and(|chunk| fits(&chunk, total.saturating_sub(made)))
            && let Some(last) = chain_from(encoded, from, head)?
            && sum(&last) <= total.saturating_sub(made)
        {
            break last;
        }
        from = from.saturating_add(1);
    };
    let (mut end, mut behind) = (total, stored.end);
    for chunk in last.iter().rev() {
        let start = end.saturating_sub(chunk.decoded_len);
        if !data.read(encoded, chunk, start, read)? {
            break;
        }
        (end, behind) = (start, chunk.stored.start);
    }
    data.lost_in = at..behind;
    Ok(data.finish())
}

/// Whether a chunk may be one: no byte of LZ4 gives more than 255, and few chunks of Blosc do.
fn fits(chunk: &Chunk, left: u64) -> bool {
    chunk.decoded_len > 0 && chunk.decoded_len <= left
}

/// The chunks from `at` on, if they end where the block does.
fn chain_from(encoded: &Encoded<'_>, mut at: u64, head: Head<'_>) -> Result<Option<Vec<Chunk>>> {
    let mut chunks = Vec::new();
    while at < encoded.range.end {
        let Some(chunk) = find_chunk_at(encoded, at, head)? else { return Ok(None) };
        at = chunk.stored.end;
        chunks.push(chunk);
    }
    Ok(Some(chunks))
}

fn sum(chunks: &[Chunk]) -> u64 {
    chunks.iter().map(|chunk| chunk.decoded_len).fold(0, u64::saturating_add)
}

/// Reads the blocks of bzip2 streams from the start, then from the end.
fn bzip2(encoded: &Encoded<'_>, whole: bool) -> Result<Option<Salvaged>> {
    let src = encoded.part(encoded.range.clone())?;
    let (blocks, total) = (Blocks::find(&src), encoded.decoded_len);
    let mut data = Data::new(encoded)?;
    data.is_proved = true;
    let absolute = |range: Range<u64>| {
        let start = encoded.range.start;
        start.saturating_add(range.start)..start.saturating_add(range.end)
    };
    let (mut next, mut made, mut at) = (0, 0_u64, encoded.range.start);
    while let Some(decoded) = blocks.decode(next, total.saturating_sub(made))? {
        // A block that does not begin at the end of the last one does not follow it.
        if !blocks.follows(next) {
            break;
        }
        at = absolute(blocks.range(next)).end;
        made = made.saturating_add(data.put(made, &decoded));
        next = next.saturating_add(1);
    }
    let (mut end, mut behind) = (total, encoded.range.end);
    if whole && blocks.reach_end() {
        let mut last = blocks.len();
        while last > next {
            last = last.saturating_sub(1);
            let Some(decoded) = blocks.decode(last, end.saturating_sub(made))? else { break };
            end = end.saturating_sub(decoded.len() as u64);
            data.put(end, &decoded);
            behind = absolute(blocks.range(last)).start;
            if !blocks.follows(last) {
                break;
            }
        }
    }
    data.lost_in = at..behind.max(at);
    Ok(Some(data.finish()))
}

/// Reads the blocks of one chunk of Blosc. If the source cuts the chunk, only those that do not depend on the missing bytes.
fn blosc_blocks(encoded: &Encoded<'_>, whole: bool) -> Result<Option<Salvaged>> {
    let bytes = encoded.part(encoded.range.clone())?;
    let Ok(header) = Header::parse(&bytes) else { return Ok(None) };
    let total = encoded.decoded_len;
    if u64::from(header.nbytes) != total {
        return Ok(None);
    }
    let mut data = Data::new(encoded)?;
    let len = header.cbytes as usize;
    let mut padded = Vec::new();
    if !whole {
        // A block that decodes to the same bytes with different padding does not depend on the missing bytes.
        for pad in [0x55, 0xaa] {
            let mut copy: Vec<u8> = try_zeroed_vec(len as u64, encoded.limits)?;
            copy.fill(pad);
            copy.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
            padded.push(copy);
        }
    }
    let sources: Vec<&[u8]> = if whole { vec![&bytes] } else { padded.iter().map(Vec::as_slice).collect() };
    // Damage here leaves the place of every block unknown.
    let chunks: Result<Vec<_>> = sources.iter().map(|bytes| BloscChunk::parse(bytes)).collect();
    let Ok(chunks) = chunks else { return Ok(None) };
    let Some(first) = chunks.first() else { return Ok(None) };
    let mut decoder = Decoder::new().with_limits(*encoded.limits);
    for (index, block) in first.blocks().enumerate() {
        let mut copies: Vec<Vec<u8>> = Vec::new();
        for chunk in &chunks {
            let mut copy = try_zeroed_vec(block.len() as u64, encoded.limits)?;
            if is_read(decoder.decode_block(chunk, index, &mut copy))? {
                copies.push(copy);
            }
        }
        if copies.len() == chunks.len()
            && let Some((one, others)) = copies.split_first()
            && others.iter().all(|other| other == one)
        {
            data.put(block.start as u64, one);
        }
    }
    data.lost_in = encoded.range.clone();
    Ok(Some(data.finish()))
}

/// Data as they come.
struct Data {
    bytes: Vec<u8>,
    /// Ranges that have been read, in any order.
    have: Vec<Range<u64>>,
    /// Chunks that could not be.
    lost: Vec<Hole>,
    /// Stored range of missing data that is in none of the lost chunks.
    lost_in: Range<u64>,
    is_proved: bool,
}

impl Data {
    fn new(encoded: &Encoded<'_>) -> Result<Self> {
        let bytes = try_zeroed_vec(encoded.decoded_len, encoded.limits)?;
        let lost_in = encoded.range.clone();
        Ok(Self { bytes, have: Vec::new(), lost: Vec::new(), lost_in, is_proved: false })
    }

    fn slice(&mut self, at: u64, len: u64) -> Option<&mut [u8]> {
        let start = usize::try_from(at).ok()?;
        self.bytes.get_mut(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    /// Decodes a chunk to its place. False where it is damaged.
    fn read(&mut self, encoded: &Encoded<'_>, chunk: &Chunk, at: u64, read: Read<'_>) -> Result<bool> {
        let data = at..at.saturating_add(chunk.decoded_len);
        let bytes = encoded.part(chunk.stored.clone())?;
        let Some(dst) = self.slice(at, chunk.decoded_len) else { return Ok(false) };
        let is_read = read(&bytes, dst, encoded.limits)?;
        if is_read {
            self.have.push(data);
        } else {
            // The bytes that a decoder wrote before it failed are not reliable.
            dst.fill(0);
            self.lost.push(Hole { data, stored: chunk.stored.clone() });
        }
        Ok(is_read)
    }

    /// Takes bytes that are decoded already, and returns their number.
    fn put(&mut self, at: u64, bytes: &[u8]) -> u64 {
        let len = bytes.len() as u64;
        if let Some(dst) = self.slice(at, len) {
            dst.copy_from_slice(bytes);
            self.have.push(at..at.saturating_add(len));
        }
        len
    }

    /// Returns the data up to the last byte that was read.
    fn finish(mut self) -> Salvaged {
        self.have.sort_by_key(|range| range.start);
        let (mut at, mut holes) = (0, Vec::new());
        for range in self.have.iter().filter(|range| range.start < range.end) {
            if range.start > at {
                let known: Vec<&Hole> = self
                    .lost
                    .iter()
                    .filter(|hole| at <= hole.data.start && hole.data.end <= range.start)
                    .collect();
                let filled: u64 =
                    known.iter().map(|hole| hole.data.end.saturating_sub(hole.data.start)).sum();
                if filled == range.start.saturating_sub(at) {
                    holes.extend(known.into_iter().cloned());
                } else {
                    holes.push(Hole { data: at..range.start, stored: self.lost_in.clone() });
                }
            }
            at = at.max(range.end);
        }
        self.bytes.truncate(usize::try_from(at).unwrap_or(usize::MAX));
        Salvaged { bytes: self.bytes, holes, is_proved: self.is_proved }
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;

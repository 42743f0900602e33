//! Intact blocks of chunks that are damaged, or cut by the end of the file.
//!
//! Digests cover whole chunks, so these blocks are not proved. They decode, and are in their expected places (see
//! [`Decoder::decode_intact_blocks`]). The contents of the others are listed as lost. A chunk all of whose blocks decode, but which does
//! not match its digest, stays lost as a whole, because the damaged block is unknown.
//!
//! [`Decoder::decode_intact_blocks`]: blosc_chunk::Decoder::decode_intact_blocks

use std::ops::Range;

use blosc_chunk::{Chunk, Header};
use container_core::ranges::merge_adjacent;
use container_core::{Limits, Progress, Result};

use super::input::DamagedFrame;
use super::recovered_frame::{ChunkStatus, PartialChunk, RecoveredFrame};
use super::verify_chunks::ChunkVerifier;
use crate::b2nd::{self, Geometry, Meta};
use crate::header::ChunkSize;
use crate::offsets::Offset;

/// Largest number of parts of a chunk that are listed singly: a hostile chunk has a block for every four bytes.
const MAX_LISTED: usize = 16;

impl RecoveredFrame {
    /// Decodes the intact blocks of damaged chunks that have no other replacement.
    ///
    /// # Errors
    /// `Limit`, `Cancelled`, and those of the source.
    pub fn recover_intact_blocks(
        &self,
        origin: &DamagedFrame,
        statuses: &mut [ChunkStatus],
        progress: Progress<'_>,
    ) -> Result<()> {
        let mut verifier = ChunkVerifier::new(self);
        let count = statuses.len() as u64;
        for (index, status) in (0_u64..).zip(statuses).filter(|(_, status)| **status == ChunkStatus::Damaged)
        {
            progress.tick(index, count)?;
            let Some(Offset::Stored(at)) = self.offset(index) else { continue };
            let stored = match origin.bytes(self.base, at) {
                Ok(stored) => stored,
                Err(error) if error.is_damage() => continue,
                Err(error) => return Err(error),
            };
            if !Header::parse(&stored).is_ok_and(|header| self.is_as_others(index, &header)) {
                continue;
            }
            let have = origin.available_len(self.base, at, stored.len());
            let blocks = match verifier.blocks(&stored, have, &self.limits) {
                Ok((_, blocks)) => blocks,
                Err(error) if error.is_damage() => continue,
                Err(error) => return Err(error),
            };
            let kept = blocks.iter().filter(|is_whole| **is_whole).count();
            if kept > 0 && kept < blocks.len() {
                let lost = self.lost(index, &blocks, &stored);
                *status = ChunkStatus::Partial(Box::new(PartialChunk { kept, count: blocks.len(), lost }));
            }
        }
        Ok(())
    }

    /// Whether a damaged chunk belongs to this frame as far as its header shows: its sizes and filters determine the contents of its
    /// blocks.
    fn is_as_others(&self, index: u64, header: &Header) -> bool {
        let fits = match (self.expected_len(index), self.header.chunksize) {
            (Some(len), _) => u64::from(header.nbytes) == len,
            (None, ChunkSize::Fixed(most)) => header.nbytes <= most,
            _ => true,
        };
        let typesize = u8::try_from(self.header.typesize).unwrap_or(1);
        let is_block = self.array.is_none() || header.block_len() == self.header.blocksize;
        fits && is_block
            && header.typesize == typesize
            && header.filters == self.header.filters
            && !header.has_variable_blocks()
            && !self.header.variable_blocks
    }

    /// Describes the lost content of damaged blocks.
    fn lost(&self, index: u64, blocks: &[bool], stored: &[u8]) -> Vec<String> {
        let Ok(chunk) = Chunk::parse(stored) else { return Vec::new() };
        let lost = chunk.blocks().zip(blocks).enumerate().filter(|(_, (_, is_whole))| !**is_whole);
        if let Some(geometry) = self.geometry() {
            let mut regions = lost.filter_map(|(block, _)| region(&geometry, index, block as u64));
            let first = regions.by_ref().take(MAX_LISTED);
            let mut lines: Vec<String> =
                first.map(|region| format!("elements {region} of the array")).collect();
            lines.extend(others(regions.count()));
            return lines;
        }
        let runs = merge_adjacent(lost.map(|(_, (range, _))| range));
        let start = match self.header.chunksize {
            ChunkSize::Fixed(len) => index.checked_mul(len.into()),
            _ => None,
        };
        let item = u64::from(self.header.typesize).max(1);
        let describe = |run: &Range<usize>| {
            let of =
                |start: u64| start.saturating_add(run.start as u64)..start.saturating_add(run.end as u64);
            match start.map(of) {
                Some(bytes) => {
                    let elements = bytes.start.checked_div(item).unwrap_or(0)..bytes.end.div_ceil(item);
                    format!("elements {elements:?}, bytes {bytes:?} of the data")
                }
                None => format!("bytes {run:?} of the chunk"),
            }
        };
        runs.iter()
            .take(MAX_LISTED)
            .map(describe)
            .chain(others(runs.len().saturating_sub(MAX_LISTED)))
            .collect()
    }

    fn geometry(&self) -> Option<Geometry> {
        self.array?;
        let meta = [b2nd::NAME, b2nd::OLD_NAME].iter().find_map(|name| self.metalayers.get(name))?;
        let meta = Meta::parse(meta).ok()?;
        let item_len = usize::try_from(self.header.typesize).ok()?;
        Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item_len).ok()
    }
}

impl ChunkVerifier {
    /// Decodes the whole blocks of the chunk `stored`, with zeros in between, and lists these blocks. Only the first `have` bytes exist.
    ///
    /// # Errors
    /// Those of the chunk's header, and of taking memory.
    pub(super) fn blocks(
        &mut self,
        stored: &[u8],
        have: usize,
        limits: &Limits,
    ) -> Result<(&[u8], Vec<bool>)> {
        let chunk = Chunk::parse(stored)?;
        let (decoder, room) = self.decoder(chunk.nbytes(), limits)?;
        let blocks = decoder.decode_intact_blocks(&chunk, have, room)?;
        Ok((room, blocks))
    }
}

fn others(count: usize) -> Option<String> {
    (count > 0).then(|| format!("{count} other parts"))
}

/// Returns the part of an array that a block holds, as a selection: `[0:10, 20:30]`; `None` where all of it is padding.
fn region(geometry: &Geometry, index: u64, block: u64) -> Option<String> {
    let (chunk, block) = (geometry.chunk_place(index), geometry.block_place(block));
    let mut axes = Vec::with_capacity(chunk.len());
    let lens = geometry.chunkshape().iter().zip(geometry.blockshape()).zip(geometry.shape());
    for ((chunk, block), ((chunk_len, block_len), len)) in chunk.iter().zip(&block).zip(lens) {
        let (chunk_len, block_len) = (u64::from(*chunk_len), u64::from(*block_len));
        let origin = chunk.checked_mul(chunk_len)?;
        let start = origin.checked_add(block.checked_mul(block_len)?)?;
        // A block may reach over its chunk.
        let end = start.checked_add(block_len)?.min(origin.checked_add(chunk_len)?).min(*len);
        if start >= end {
            return None;
        }
        axes.push(format!("{start}:{end}"));
    }
    Some(format!("[{}]", axes.join(", ")))
}

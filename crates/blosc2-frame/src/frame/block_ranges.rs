//! Blocks of the chunks of a far frame, fetched without the rest of their chunks.
//!
//! The first round fetches header and starts of the blocks of all touched chunks, the second the touched blocks. A block is where the chunk says, and ends
//! at the latest where the next one starts. What is decoded is a copy of the chunk with zeros in the place of the blocks that are not fetched, so that each
//! block is checked to end within what was fetched of it: else the chunk is read whole, as from a near source.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use blosc_chunk::{Chunk, Filter, Header as ChunkHeader};
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Limits, Result};

use super::Frame;
use super::chunk_location::{ChunkLocation, LocatedHeader};

/// Stored length from which a chunk is not fetched whole. At 50 MB/s and 30 ms a trip more takes as long as 1.5 MB, but readers of a slice of a large chunk
/// mostly read further ones, and share the line with others.
/// Tests have small chunks.
const MIN_CHUNK_LEN: u64 = if cfg!(test) { 64 } else { 300 << 10 };

/// Sizes of the chunks of an array, in decoded bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkSizes {
    pub(crate) chunk: u64,
    pub(crate) block: u64,
}

/// Blocks of one chunk that are fetched.
#[derive(Debug)]
pub(crate) struct FetchedBlocks {
    /// Range of the chunk in the file.
    place: Range<u64>,
    /// Bytes of its header, and of the starts of its blocks.
    head_len: u64,
    /// Range of each fetched block in the chunk, by its number.
    blocks: BTreeMap<u64, Range<u64>>,
}

impl Frame {
    /// Announces what a far source has to fetch for the blocks `wanted`, by the number of their chunk. Returns the chunks of which only these blocks are
    /// fetched; the others are fetched whole.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn announce_blocks(
        &self,
        wanted: &BTreeMap<u64, BTreeSet<u64>>,
        sizes: ChunkSizes,
    ) -> Result<HashMap<u64, FetchedBlocks>> {
        let count = sizes.chunk.checked_div(sizes.block).unwrap_or(0);
        let head_len = count.saturating_mul(4).saturating_add(ChunkHeader::MAX_LEN as u64);
        let (mut ranges, mut parts) = (Vec::new(), Vec::new());
        for (index, blocks) in wanted {
            let Some(range) = self.announced_range(*index) else { continue };
            let len = range.end.saturating_sub(range.start);
            let is_part = !blocks.is_empty()
                && len >= MIN_CHUNK_LEN
                && head_len <= len / 4
                && (blocks.len() as u64).saturating_mul(2) <= count;
            if is_part {
                parts.push((*index, blocks, range.clone()));
                ranges.push(range.start..range.start.saturating_add(head_len).min(range.end));
            } else {
                ranges.push(range);
            }
        }
        self.source().prefetch(&ranges)?;
        let (mut ranges, mut fetched) = (Vec::new(), HashMap::new());
        for (index, blocks, range) in parts {
            // Damage is reported by the reader of the chunk.
            match self.locate_blocks(index, blocks, sizes)? {
                Some(part) => {
                    let at = |place: u64| part.place.start.saturating_add(place);
                    ranges.extend(part.blocks.values().map(|block| at(block.start)..at(block.end)));
                    fetched.insert(index, part);
                }
                None => ranges.push(range),
            }
        }
        if !ranges.is_empty() {
            self.source().prefetch(&ranges)?;
        }
        Ok(fetched)
    }

    /// Finds the ranges of `blocks` in the chunk `index`. `None` for chunks that have to be read whole: those whose blocks are not the ones of the array,
    /// or need more than themselves, of which half or more is needed, and damaged ones.
    fn locate_blocks(
        &self,
        index: u64,
        blocks: &BTreeSet<u64>,
        sizes: ChunkSizes,
    ) -> Result<Option<FetchedBlocks>> {
        let located = match self.locate_with_header(index) {
            Err(error) if !error.is_damage() => return Err(error),
            located => located,
        };
        let Ok(LocatedHeader::Stored(ChunkLocation::Frame(source, place), header)) = located else {
            return Ok(None);
        };
        let is_usual = u64::from(header.nbytes) == sizes.chunk
            && header.special().is_none()
            && !header.has_dictionary()
            && !header.has_variable_blocks()
            && !header.is_instrumented();
        let is_plain = header.is_memcpyed();
        if !is_usual || !(is_plain || u64::from(header.block_len()) == sizes.block) {
            return Ok(None);
        }
        let (len, header_len) = (u64::from(header.cbytes), header.len() as u64);
        let mut blocks = blocks.clone();
        let (head_len, ranges): (u64, BTreeMap<u64, Range<u64>>) = if is_plain {
            let block = |number: &u64| {
                let start = number.saturating_mul(sizes.block).saturating_add(header_len);
                (*number, start.min(len)..start.saturating_add(sizes.block).min(len))
            };
            (header_len, blocks.iter().map(block).collect())
        } else {
            if header.filters.contains(Filter::DELTA) {
                blocks.insert(0);
            }
            let head_len =
                u64::from(header.block_count()).saturating_mul(4).saturating_add(header_len).min(len);
            let starts =
                source.read(place.start.saturating_add(header_len)..place.start.saturating_add(head_len))?;
            let Some(ranges) = block_ranges(&starts, &blocks, head_len..len) else { return Ok(None) };
            (head_len, ranges)
        };
        let fetched: u64 = ranges.values().map(|range| range.end.saturating_sub(range.start)).sum();
        let part = FetchedBlocks { place, head_len, blocks: ranges };
        Ok((fetched.saturating_mul(2) <= len).then_some(part))
    }
}

/// Ranges of `blocks` in a chunk whose streams are in `streams`: each from its start to the next start of any block, or to the end of the chunk. `None` for
/// starts outside of `streams`.
fn block_ranges(
    starts: &[u8],
    blocks: &BTreeSet<u64>,
    streams: Range<u64>,
) -> Option<BTreeMap<u64, Range<u64>>> {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, |bytes| u64::from(u32::from_le_bytes(bytes)));
    let starts: Vec<u64> = starts.chunks_exact(4).map(word).collect();
    let mut sorted = starts.clone();
    sorted.sort_unstable();
    let range = |number: &u64| {
        let start = *starts.get(usize::try_from(*number).ok()?)?;
        let next = sorted.get(sorted.partition_point(|other| *other <= start)).unwrap_or(&streams.end);
        let range = start..streams.end.min(*next);
        (streams.start <= range.start && range.start < range.end).then_some((*number, range))
    };
    blocks.iter().map(range).collect()
}

impl FetchedBlocks {
    /// Whether the block is fetched.
    pub(crate) fn has(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    /// The bytes of the chunk, with zeros in the place of the blocks that are not fetched. `None` for a chunk that has to be read whole, because it is damaged
    /// or a block is longer than what was fetched of it.
    ///
    /// # Errors
    /// Those of the source; `Limit`.
    pub(crate) fn read(&self, source: &dyn Source, limits: &Limits) -> Result<Option<Vec<u8>>> {
        let len = self.place.end.saturating_sub(self.place.start);
        let mut bytes = try_zeroed_vec::<u8>(len, limits)?;
        let head = 0..self.head_len;
        for range in std::iter::once(&head).chain(self.blocks.values()) {
            let Some(part) = indices(range).and_then(|part| bytes.get_mut(part)) else { return Ok(None) };
            source.read_until(self.place.start.saturating_add(range.start), part, limits.stop)?;
        }
        let Ok(chunk) = Chunk::parse(&bytes) else { return Ok(None) };
        let is_within = |(number, range): (&u64, &Range<u64>)| {
            let stored = usize::try_from(*number).ok().and_then(|number| chunk.block_range(number).ok());
            let of_chunk = stored.map(|stored| stored.start as u64..stored.end as u64);
            // A plain chunk may have blocks of its own.
            chunk.header().is_memcpyed()
                || of_chunk.is_some_and(|stored| range.start <= stored.start && stored.end <= range.end)
        };
        Ok(self.blocks.iter().all(is_within).then_some(bytes))
    }
}

fn indices(range: &Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(starts: &[u32], wanted: &[u64], streams: Range<u64>) -> Option<Vec<Range<u64>>> {
        let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
        let wanted = wanted.iter().copied().collect();
        block_ranges(&bytes, &wanted, streams).map(|ranges| ranges.into_values().collect())
    }

    #[test]
    fn blocks_end_at_the_next_start_in_any_order() {
        assert_eq!(ranges(&[200, 48, 90], &[0, 1, 2], 44..300).unwrap(), [200..300, 48..90, 90..200]);
        // Two blocks of one start are the same bytes.
        assert_eq!(ranges(&[48, 48], &[0, 1], 40..300).unwrap(), [48..300, 48..300]);
        assert_eq!(ranges(&[48, 400], &[0], 40..300).unwrap(), [48..300]);
    }

    #[test]
    fn starts_outside_of_the_streams_are_not_taken() {
        for starts in [[39, 48], [300, 48], [u32::MAX, 48]] {
            assert_eq!(ranges(&starts, &[0], 40..300), None, "{starts:?}");
        }
        assert_eq!(ranges(&[48], &[1], 40..300), None);
    }
}

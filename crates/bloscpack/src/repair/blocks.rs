//! Whole blocks of chunks that are damaged.
//!
//! The digest is of the chunk, so nothing proves them: they decode, and lie where they are to
//! ([`Decoder::decode_whole_blocks`] says how that is told). They are guesses, and what the others held is listed as lost. A chunk all of whose
//! blocks decode stays lost as a whole, because nothing tells which of them is another.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::collections::BTreeMap;
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::report::{RepairItem, RepairReport};
use container_core::source::zeroed_vec;
use container_core::{ErrorKind, Result};

use super::{Damaged, Proof};
use crate::chunks::{ChunkEntry, State};

/// Most parts of a chunk that are listed each for itself: a hostile one has a block for every four bytes.
const MOST_LISTED: usize = 16;

/// A chunk of which some blocks are whole.
pub(super) struct Partial {
    kept: usize,
    count: usize,
    /// Bytes of the data that the others held.
    lost: Vec<Range<u64>>,
}

/// Damaged chunks by their numbers.
pub(super) type Partials = BTreeMap<usize, Partial>;

/// Looks for whole blocks in the chunks that are all there and not proved.
///
/// # Errors
/// `Limit`, and those of the source.
pub(super) fn keep(damaged: &Damaged, proofs: &[Proof]) -> Result<Partials> {
    let mut decoder = Decoder::new();
    let mut partials = Partials::new();
    let mut start = 0_u64;
    for (index, (entry, proof)) in damaged.chunks().iter().zip(proofs).enumerate() {
        if *proof == Proof::Bad
            && let Some((_, blocks)) = decode(damaged, entry, &mut decoder)?
        {
            let kept = blocks.iter().filter(|(_, is_whole)| *is_whole).count();
            if (1..blocks.len()).contains(&kept) {
                let partial = Partial { kept, count: blocks.len(), lost: lost(start, &blocks) };
                partials.insert(index, partial);
            }
        }
        start = start.saturating_add(entry.nbytes().into());
    }
    Ok(partials)
}

/// What a chunk holds, and which bytes of it a block holds that is whole.
type Blocks = (Vec<u8>, Vec<(Range<usize>, bool)>);

/// What the whole blocks of a chunk hold, between zeros; `None` where its header is not one of this file.
///
/// # Errors
/// As for [`keep`].
pub(super) fn decode(damaged: &Damaged, entry: &ChunkEntry, decoder: &mut Decoder) -> Result<Option<Blocks>> {
    if entry.state() != State::Whole || damaged.stored_range(entry).end > damaged.source.len() {
        return Ok(None);
    }
    let stored = damaged.stored(entry)?;
    let Ok(chunk) = Chunk::parse(stored.chunk()) else { return Ok(None) };
    let own = damaged.layout.header().typesize;
    let header = chunk.header();
    // What it says of sizes decides what its blocks hold.
    if header.nbytes != entry.nbytes() || own != 0 && header.typesize != own || header.has_variable_blocks() {
        return Ok(None);
    }
    let mut data = zeroed_vec(header.nbytes.into(), &damaged.limits)?;
    match decoder.decode_whole_blocks(&chunk, &mut data) {
        Ok(whole) => Ok(Some((data, chunk.blocks().zip(whole).collect()))),
        Err(error) if error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn lost(start: u64, blocks: &[(Range<usize>, bool)]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for (range, _) in blocks.iter().filter(|(_, is_whole)| !is_whole) {
        let range = start.saturating_add(range.start as u64)..start.saturating_add(range.end as u64);
        match runs.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => runs.push(range),
        }
    }
    runs
}

impl Partial {
    /// Tells of the chunk `index`, which lies at `range`.
    pub(super) fn tell(
        &self,
        damaged: &Damaged,
        index: usize,
        range: &Range<u64>,
        report: &mut RepairReport,
    ) {
        let what = format!(
            "chunk {index}: {} of its {} blocks, which decode by themselves; nothing proves what they hold",
            self.kept, self.count
        );
        report.guessed.push(RepairItem::new(range.clone(), what));
        let layout = &damaged.layout;
        let item = layout.numpy().map_or_else(|| layout.header().typesize.into(), |own| own.dtype.itemsize());
        let item = (item as u64).max(1);
        let mut tell = |lost: String| {
            let what = format!("chunk {index}, {lost}: zeros in the new file");
            report.lost.push(RepairItem::new(range.clone(), what));
        };
        for bytes in self.lost.iter().take(MOST_LISTED) {
            let elements = bytes.start.checked_div(item).unwrap_or(0)..bytes.end.div_ceil(item);
            tell(format!("elements {elements:?}, bytes {bytes:?} of the data"));
        }
        let others = self.lost.len().saturating_sub(MOST_LISTED);
        if others > 0 {
            tell(format!("{others} other parts of it"));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use blosc_chunk::Compressor;

    use super::super::tests::{mend, mend_fails, values};
    use super::*;
    use crate::layout::Layout;
    use crate::write::WriteOptions;
    use crate::{ChecksumCode, Writer};
    use container_core::Limits;

    /// Patterns of 8 bytes that come a few times each: no block is of one value.
    fn data(len: usize) -> Vec<u8> {
        let pattern = |at: usize| ((at / 5) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        (0..len.div_ceil(8)).flat_map(pattern).take(len).collect()
    }

    /// A file of chunks of 256 KiB, each of several blocks.
    fn file(len: usize, compressor: Compressor, checksum: ChecksumCode) -> Vec<u8> {
        let mut options = WriteOptions { chunk_size: Some(256 << 10), ..WriteOptions::default() };
        options.chunks.compressor = compressor;
        options.chunks.checksum = checksum;
        options.chunks.typesize = 4;
        options.chunks.level = 1;
        let cursor = std::io::Cursor::new(Vec::new());
        let mut writer = Writer::new(cursor, Some(len as u64), &options).unwrap();
        writer.push(&data(len)).unwrap();
        writer.complete().unwrap().0.into_inner()
    }

    #[test]
    fn a_damaged_block_costs_what_it_held() {
        let len = 600 << 10;
        for compressor in [Compressor::LZ4, Compressor::ZSTD] {
            for checksum in [ChecksumCode::NONE, ChecksumCode::ADLER32] {
                let sound = file(len, compressor, checksum);
                let layout = Layout::parse(&sound, &Limits::default()).unwrap();
                for (index, entry) in layout.chunks().iter().enumerate() {
                    let start = usize::try_from(entry.range().start).unwrap();
                    let chunk = Chunk::parse(&sound[start..]).unwrap();
                    let count = chunk.block_count();
                    assert!(count > 1, "{count} blocks");
                    for block in [0, count - 1] {
                        let place = chunk.block_range(block).unwrap();
                        let mut bytes = sound.clone();
                        bytes[start + place.start..start + place.end].fill(0xff);
                        let (mended, report) = mend(bytes);
                        let held = chunk.blocks().nth(block).unwrap();
                        let lost = (index << 18) + held.start..(index << 18) + held.end;
                        let mut expected = data(len);
                        expected[lost.clone()].fill(0);
                        assert!(values(&mended) == expected, "{compressor:?} {index} {block}: {report:?}");
                        let elements = lost.start / 4..lost.end / 4;
                        let told = format!(
                            "chunk {index}, elements {elements:?}, bytes {lost:?} of the data: zeros in the new file"
                        );
                        assert!(report.lost.len() == 1 && report.lost[0].what == told, "{report:?}");
                        let told = format!("chunk {index}: {} of its {count} blocks", count - 1);
                        assert!(report.guessed.iter().any(|item| item.what.starts_with(&told)), "{report:?}");
                        let (again, second) = mend(mended.clone());
                        assert!(again == mended && second.guessed.is_empty() && second.lost.is_empty());
                    }
                }
            }
        }
    }

    /// The only chunk of a file: before there was nothing that was proved, and no new file.
    #[test]
    fn the_only_chunk_need_not_be_whole() {
        let sound = file(200 << 10, Compressor::LZ4, ChecksumCode::ADLER32);
        let layout = Layout::parse(&sound, &Limits::default()).unwrap();
        let start = usize::try_from(layout.chunks()[0].range().start).unwrap();
        let chunk = Chunk::parse(&sound[start..]).unwrap();
        let place = chunk.block_range(1).unwrap();
        let mut bytes = sound.clone();
        bytes[start + place.start..start + place.end].fill(0xff);
        let (mended, _) = mend(bytes.clone());
        let mut expected = data(200 << 10);
        expected[chunk.blocks().nth(1).unwrap()].fill(0);
        assert!(values(&mended) == expected);
        // A digest that does not fit is not of one block alone.
        let mut bytes = sound.clone();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert!(mend_fails(&bytes));
    }
}

//! Intact blocks of chunks that are damaged, or cut by the end of the file.
//!
//! The digest covers the whole chunk, so blocks cannot be proved: they decode, and are where they should be (see
//! [`Decoder::decode_intact_blocks`]). They are reported as guesses, and the data of the other blocks as lost. A damaged chunk all of whose
//! blocks decode stays lost as a whole, because it is undetermined which of them is wrong. Of a truncated chunk the blocks before the cut
//! are kept.

use std::collections::BTreeMap;
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::ranges::merge_adjacent;
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::try_zeroed_vec;
use container_core::{ErrorKind, Result};

use super::damaged_file::{ChunkStatus, DamagedFile};
use crate::chunk_table::{ChunkEntry, ChunkState};

/// Maximum number of parts of a chunk that are listed one by one: a hostile chunk has a block for every four bytes.
const MAX_LISTED: usize = 16;

/// A chunk of which some blocks are whole.
pub(super) struct PartialChunk {
    /// Description of the whole parts, in words.
    whole: String,
    /// Number of bytes in the new file: all that it held, or, for the last chunk of a truncated file, those up to its last intact block.
    len: usize,
    /// Offset of its bytes in the data.
    start: u64,
    /// Bytes of the data of the damaged blocks.
    lost: Vec<Range<u64>>,
}

/// Damaged chunks by their numbers.
pub(super) type PartialChunks = BTreeMap<usize, PartialChunk>;

/// Finds intact blocks in the chunks that are not proved.
///
/// # Errors
/// `Limit`, and those of the source.
pub(super) fn recover(damaged: &DamagedFile, statuses: &[ChunkStatus]) -> Result<PartialChunks> {
    let mut decoder = Decoder::new();
    let mut partials = PartialChunks::new();
    let mut start = 0_u64;
    for (index, (entry, status)) in damaged.chunks().iter().zip(statuses).enumerate() {
        let parts = match status {
            ChunkStatus::Intact => None,
            ChunkStatus::Damaged => decode(damaged, entry, &mut decoder)?,
            ChunkStatus::Truncated => match decode(damaged, entry, &mut decoder) {
                // It claims more bytes than the limits allow: this chunk has no intact block, the others are recovered.
                Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => None,
                parts => parts?,
            },
        };
        if let Some(DecodedBlocks { data, blocks, is_plain }) = parts {
            let kept = blocks.iter().filter(|(_, is_whole)| *is_whole).count();
            let all = blocks.len().saturating_add(usize::from(*status == ChunkStatus::Truncated));
            if (1..all).contains(&kept) {
                let whole = match blocks.first() {
                    Some((first, _)) if is_plain => {
                        format!("its first {} bytes, stored as they are", first.end)
                    }
                    _ => format!("{kept} of its {} blocks, which end where others begin", blocks.len()),
                };
                let at = |at: usize| start.saturating_add(at as u64);
                let lost = blocks.iter().filter(|(_, is_whole)| !is_whole);
                let lost = merge_adjacent(lost.map(|(range, _)| at(range.start)..at(range.end)));
                partials.insert(index, PartialChunk { whole, len: data.len(), start, lost });
            }
        }
        start = start.saturating_add(entry.nbytes().into());
    }
    // A torn end is not replaced.
    if let (Some(ChunkStatus::Truncated), Some(mut last)) = (statuses.last(), partials.last_entry())
        && statuses
            .get(*last.key()..)
            .is_some_and(|rest| rest.iter().all(|status| *status == ChunkStatus::Truncated))
    {
        let last = last.get_mut();
        let end = last.start.saturating_add(last.len as u64);
        if let Some(cut) = last.lost.last().filter(|lost| lost.end == end) {
            last.len = usize::try_from(cut.start.saturating_sub(last.start)).unwrap_or(last.len);
        }
    }
    Ok(partials)
}

/// The recovered blocks of a chunk.
pub(super) struct DecodedBlocks {
    /// Contents of its intact blocks, with zeros between them.
    pub(super) data: Vec<u8>,
    /// Range of bytes of each block, and whether it is intact.
    blocks: Vec<(Range<usize>, bool)>,
    /// True for uncompressed data: the blocks are the part that is there, and the missing part.
    is_plain: bool,
}

/// Decodes the rest of a chunk; `None` where its header is not one of this file.
///
/// # Errors
/// As for [`recover`].
pub(super) fn decode(
    damaged: &DamagedFile,
    entry: &ChunkEntry,
    decoder: &mut Decoder,
) -> Result<Option<DecodedBlocks>> {
    if !matches!(entry.state(), ChunkState::Whole | ChunkState::Cut) {
        return Ok(None);
    }
    let range = entry.range();
    let there = range.start..entry.end().min(damaged.source.len());
    if there.is_empty() {
        return Ok(None);
    }
    if damaged.source.lend(there.clone()).is_none() {
        damaged.limits.allocate(there.end.saturating_sub(there.start))?;
    }
    let mut stored = damaged.source.read(there)?;
    let have = stored.len();
    if have < usize::try_from(entry.end().saturating_sub(range.start)).unwrap_or(usize::MAX) {
        // Missing bytes are padded with zeros: blocks that contain one of them are not used.
        let mut padded = try_zeroed_vec(entry.end().saturating_sub(range.start), &damaged.limits)?;
        padded.iter_mut().zip(stored.iter()).for_each(|(to, from)| *to = *from);
        stored = padded.into();
    }
    let Ok(chunk) = Chunk::parse(&stored) else { return Ok(None) };
    let own = damaged.layout.header().typesize;
    let header = chunk.header();
    // Its block sizes depend on its own header, which must agree with the file's.
    if header.nbytes != entry.nbytes() || own != 0 && header.typesize != own || header.has_variable_blocks() {
        return Ok(None);
    }
    let mut data = try_zeroed_vec(header.nbytes.into(), &damaged.limits)?;
    if header.is_memcpyed() {
        return Ok(plain(&chunk, have, data));
    }
    let blocks = chunk.blocks().zip(decoder.decode_intact_blocks(&chunk, have, &mut data)?).collect();
    Ok(Some(DecodedBlocks { data, blocks, is_plain: false }))
}

/// Returns the data of an uncompressed chunk that are among its first `have` bytes, up to the last whole element.
fn plain(chunk: &Chunk<'_>, have: usize, mut data: Vec<u8>) -> Option<DecodedBlocks> {
    let stored = chunk.bytes().get(chunk.header().len()..have)?;
    let cut = if stored.len() < data.len() { usize::from(chunk.header().typesize).max(1) } else { 1 };
    let end = stored.len().checked_sub(stored.len().checked_rem(cut)?)?;
    data.get_mut(..end)?.copy_from_slice(stored.get(..end)?);
    let mut blocks = vec![(0..end, end > 0)];
    if end < data.len() {
        blocks.push((end..data.len(), false));
    }
    Some(DecodedBlocks { data, blocks, is_plain: true })
}

impl PartialChunk {
    /// Number of bytes in the new file.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Reports the chunk `index`, stored at `range`.
    pub(super) fn report(
        &self,
        damaged: &DamagedFile,
        index: usize,
        range: &Range<u64>,
        report: &mut RepairReport,
    ) {
        let what = format!("chunk {index}: {}; no digest proves them", self.whole);
        let layout = &damaged.layout;
        // Intact blocks end where others begin.
        let is_cut = range.end > layout.file_len();
        let evidence = if is_cut { Evidence::KnownDamage } else { Evidence::Walk };
        report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(evidence));
        let item = layout.numpy().map_or_else(|| layout.header().typesize.into(), |own| own.dtype.itemsize());
        let item = (item as u64).max(1);
        let end = self.start.saturating_add(self.len as u64);
        let mut push = |lost: String, at: u64| {
            let instead = if at < end { "zeros" } else { "nothing" };
            let what = format!("chunk {index}, {lost}: {instead} in the new file");
            report.lost.push(RepairItem::new(range.clone(), what));
        };
        for bytes in self.lost.iter().take(MAX_LISTED) {
            let elements = bytes.start.checked_div(item).unwrap_or(0)..bytes.end.div_ceil(item);
            push(format!("elements {elements:?}, bytes {bytes:?} of the data"), bytes.start);
        }
        let others = self.lost.len().saturating_sub(MAX_LISTED);
        if others > 0 {
            push(format!("{others} other parts"), self.start);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use blosc_chunk::Compressor;

    use super::super::tests::{repair_bytes, repair_fails, values};
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
                        let (repaired, report) = repair_bytes(bytes);
                        let held = chunk.blocks().nth(block).unwrap();
                        let lost = (index << 18) + held.start..(index << 18) + held.end;
                        let mut expected = data(len);
                        expected[lost.clone()].fill(0);
                        assert!(values(&repaired) == expected, "{compressor:?} {index} {block}: {report:?}");
                        let elements = lost.start / 4..lost.end / 4;
                        let told = format!(
                            "chunk {index}, elements {elements:?}, bytes {lost:?} of the data: zeros in the new file"
                        );
                        assert!(report.lost.len() == 1 && report.lost[0].what == told, "{report:?}");
                        let told = format!("chunk {index}: {} of its {count} blocks", count - 1);
                        assert!(report.guessed.iter().any(|item| item.what.starts_with(&told)), "{report:?}");
                        let (again, second) = repair_bytes(repaired.clone());
                        assert!(again == repaired && second.guessed.is_empty() && second.lost.is_empty());
                    }
                }
            }
        }
    }

    /// The only chunk of a file is recovered in part, although no chunk is proved.
    #[test]
    fn the_only_chunk_need_not_be_whole() {
        let sound = file(200 << 10, Compressor::LZ4, ChecksumCode::ADLER32);
        let layout = Layout::parse(&sound, &Limits::default()).unwrap();
        let start = usize::try_from(layout.chunks()[0].range().start).unwrap();
        let chunk = Chunk::parse(&sound[start..]).unwrap();
        let place = chunk.block_range(1).unwrap();
        let mut bytes = sound.clone();
        bytes[start + place.start..start + place.end].fill(0xff);
        let (repaired, _) = repair_bytes(bytes.clone());
        let mut expected = data(200 << 10);
        expected[chunk.blocks().nth(1).unwrap()].fill(0);
        assert!(values(&repaired) == expected);
        // A digest that does not fit is not of one block alone.
        let mut bytes = sound.clone();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert!(repair_fails(&bytes));
    }

    /// A file that is cut within its last chunk, and at every length of another one.
    #[test]
    fn a_chunk_that_is_cut_keeps_the_blocks_before_the_cut() {
        let len = 600 << 10;
        for (compressor, checksum) in
            [(Compressor::LZ4, ChecksumCode::ADLER32), (Compressor::ZSTD, ChecksumCode::NONE)]
        {
            let sound = file(len, compressor, checksum);
            let layout = Layout::parse(&sound, &Limits::default()).unwrap();
            for (index, entry) in layout.chunks().iter().enumerate() {
                let start = usize::try_from(entry.range().start).unwrap();
                let chunk = Chunk::parse(&sound[start..]).unwrap();
                let blocks: Vec<_> = chunk.blocks().collect();
                let stored: Vec<_> =
                    (0..blocks.len()).map(|block| chunk.block_range(block).unwrap()).collect();
                for (block, place) in stored.iter().enumerate().step_by(3) {
                    // A byte of the block is missing, or all bytes after it.
                    for (cut, kept) in [(place.end - 1, block), (place.end, block + 1)] {
                        if kept == 0 && index == 0 {
                            continue;
                        }
                        let (repaired, report) = repair_bytes(sound[..start + cut].to_vec());
                        let held = blocks.get(kept).map_or(chunk.nbytes(), |held| held.start);
                        let have = (index << 18) + held;
                        assert!(values(&repaired) == data(len)[..have], "{index} {block} {kept}: {report:?}");
                        let told = format!("chunk {index}: {kept} of its {} blocks", blocks.len());
                        let is_told = report.guessed.iter().any(|item| item.what.starts_with(&told));
                        // The chunk is all there, without a digest, or with one that the only chunk might not have.
                        let is_whole = kept == blocks.len() && (checksum == ChecksumCode::NONE || index == 0);
                        assert_eq!(is_told, kept > 0 && !is_whole, "{report:?}");
                        let told = format!("chunk {index}, elements {}..", have / 4);
                        let lost = report.lost.iter().find(|item| item.what.starts_with(&told));
                        assert_eq!(lost.is_some(), 0 < kept && kept < blocks.len(), "{report:?}");
                        assert!(
                            lost.is_none_or(|item| item.what.contains("nothing in the new file")),
                            "{report:?}"
                        );
                        let (again, second) = repair_bytes(repaired.clone());
                        assert!(again == repaired && second.guessed.is_empty() && second.lost.is_empty());
                    }
                }
            }
        }
    }

    /// A missing byte within the last chunk cuts its digest, and the rest of the digest does not fit the chunk.
    #[test]
    fn missing_byte_in_the_last_chunk_differs_from_a_cut_digest() {
        let mut options = WriteOptions { chunk_size: Some(3000), ..WriteOptions::default() };
        options.chunks.checksum = ChecksumCode::ADLER32;
        options.chunks.level = 0;
        let mut writer = Writer::new(std::io::Cursor::new(Vec::new()), Some(6000), &options).unwrap();
        writer.push(&data(6000)).unwrap();
        let sound = writer.complete().unwrap().0.into_inner();
        let (repaired, report) = repair_bytes(sound[..sound.len() - 1].to_vec());
        assert!(values(&repaired) == data(6000), "{report:?}");
        for at in [sound.len() - 2000, sound.len() - 100] {
            let mut damaged = sound.clone();
            damaged.remove(at);
            let (repaired, report) = repair_bytes(damaged);
            let found = values(&repaired);
            assert!(found[..3000] == data(6000)[..3000] && !report.lost.is_empty(), "{at}: {report:?}");
            assert!(found[3000..].iter().all(|byte| *byte == 0), "{at}: {report:?}");
        }
    }

    /// Its data are not compressed, so that they need no decoding.
    #[test]
    fn a_plain_chunk_that_is_cut_keeps_the_elements_before_the_cut() {
        let mut state = 1_u64;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        });
        let noise: Vec<u8> = noise.take(300 << 10).collect();
        let mut options = WriteOptions { chunk_size: Some(256 << 10), ..WriteOptions::default() };
        options.chunks.typesize = 4;
        let mut writer =
            Writer::new(std::io::Cursor::new(Vec::new()), Some(noise.len() as u64), &options).unwrap();
        writer.push(&noise).unwrap();
        let sound = writer.complete().unwrap().0.into_inner();
        let layout = Layout::parse(&sound, &Limits::default()).unwrap();
        let start = usize::try_from(layout.chunks()[0].range().start).unwrap();
        let chunk = Chunk::parse(&sound[start..]).unwrap();
        let header = chunk.header();
        assert!(header.is_memcpyed(), "{header:?}");
        for (there, kept) in [(3, 0), (4, 4), (100_003, 100_000), ((256 << 10) - 1, (256 << 10) - 4)] {
            let cut = &sound[..start + header.len() + there];
            let (repaired, report) = repair_bytes(cut.to_vec());
            assert!(values(&repaired) == noise[..kept], "{report:?}");
            assert!(
                report.lost.iter().any(|item| item.what.contains("nothing in the new file")) || kept == 0
            );
        }
    }

    /// The cut chunk claims a false size, which is more than memory holds.
    #[test]
    fn a_cut_chunk_that_claims_too_much_costs_no_other() {
        let sound = file(600 << 10, Compressor::LZ4, ChecksumCode::NONE);
        let layout = Layout::parse(&sound, &Limits::default()).unwrap();
        let start = usize::try_from(layout.chunks()[1].range().start).unwrap();
        let mut bytes = sound[..start + 5000].to_vec();
        for at in [4, 12] {
            bytes[start + at..][..4].copy_from_slice(&(1_u32 << 30).to_le_bytes());
        }
        let mut options = container_core::container::OpenOptions::default();
        options.limits.memory = 1 << 20;
        let (input, mut out) = (container_core::format::Input::bytes(Box::new(bytes)), Vec::new());
        let none = container_core::Progress::none();
        let report = super::super::repair_to(input, &options, Some(&mut out), none).unwrap();
        assert!(values(&out) == data(256 << 10), "{report:?}");
        assert!(report.lost.iter().any(|item| item.what == "chunk 1 is cut"), "{report:?}");
    }
}

//! The physical map of a frame: header, metalayers, chunks with their blocks, index, trailer, and what is between them.

use std::ops::Range;

use blosc_chunk::{Chunk, Header};
use container_codecs::checksum::Algorithm;
use container_core::Result;
use container_core::container::Segment;

use crate::chunk_stats::codec_word;
use crate::dataset_view::DatasetView;
use crate::frame::{ChunkScan, Frame, LocatedChunk, ScannedChunk};
use crate::header::{FIXED_LEN, Kind};
use crate::metalayer;
use crate::offsets::Offset;
use crate::sparse_directory::{INDEX_NAME, part_name};

/// Bytes before the map of names in the header's metalayers, and in the trailer.
const NAMES_OFFSET: usize = 4;
const TRAILER_NAMES_OFFSET: usize = 6;

/// Marker and length of a value.
const VALUE_MARKER_LEN: u64 = 5;

/// Tells `visit` of every run of bytes, from the first to the last; of a sparse frame file by file.
pub(crate) fn for_each_segment(
    view: &DatasetView,
    scan: &ChunkScan,
    digests: Option<Algorithm>,
    visit: &mut dyn FnMut(Segment) -> Result<()>,
) -> Result<()> {
    let frame = view.frame();
    let sparse = frame.header().kind == Kind::Sparse;
    let layout = frame.layout();
    let part = sparse.then(|| INDEX_NAME.to_owned());
    let mut tiles = Tiles { at: 0, end: layout.file_len(), part, gap: "unknown", visit };
    header(frame, &mut tiles)?;
    if !sparse {
        tiles.gap = "dead space";
        for chunk in &scan.chunks {
            pieces(view, chunk, digests, &mut tiles)?;
        }
        tiles.fill(layout.chunks().end)?;
    }
    tiles.gap = "unknown";
    let index = layout.index();
    if !index.is_empty() {
        let head = index.start..index.end.min(index.start.saturating_add(32));
        let found = frame.source().read(head).ok().and_then(|bytes| Header::parse(&bytes).ok());
        tiles.put(index.clone(), |segment| {
            segment.role = "index".to_owned();
            segment.stored = Some(index.end.saturating_sub(index.start));
            segment.decoded = found.as_ref().map(|header| header.nbytes.into());
            segment.codec = found.as_ref().map(codec_word);
        })?;
    }
    trailer(frame, &mut tiles)?;
    tiles.gap = if layout.end() < layout.file_len() { "trailing" } else { "unknown" };
    tiles.fill(layout.file_len())?;
    if sparse {
        for chunk in &scan.chunks {
            let end = file_len(frame, chunk);
            let mut tiles = Tiles { at: 0, end, part: chunk.part(), gap: "unused", visit: &mut *tiles.visit };
            pieces(view, chunk, digests, &mut tiles)?;
            tiles.fill(end)?;
        }
        // Chunks whose headers cannot be read.
        let mut known: Vec<u64> = scan.chunks.iter().filter_map(|chunk| chunk.file).collect();
        known.sort_unstable();
        let used = used_parts(frame).into_iter();
        for (number, len) in used.filter(|(number, _)| known.binary_search(number).is_err()) {
            let part = Some(part_name(number));
            let mut tiles = Tiles { at: 0, end: len, part, gap: "unknown", visit: &mut *tiles.visit };
            tiles.fill(len)?;
        }
    }
    Ok(())
}

/// Bytes of the files of chunks of a sparse frame.
pub(crate) fn parts_len(frame: &Frame) -> u64 {
    used_parts(frame).into_iter().map(|(_, len)| len).fold(0, u64::saturating_add)
}

/// Numbers and sizes of the files that the index of a sparse frame names and that exist.
fn used_parts(frame: &Frame) -> Vec<(u64, u64)> {
    if frame.header().kind == Kind::Contiguous {
        return Vec::new();
    }
    let mut numbers: Vec<u64> = frame.layout().offsets().distinct().filter_map(stored_number).collect();
    numbers.sort_unstable();
    let mut files = frame.part_sizes();
    files.retain(|(number, _)| numbers.binary_search(number).is_ok());
    files
}

fn stored_number(offset: Offset) -> Option<u64> {
    match offset {
        Offset::Stored(number) => Some(number),
        _ => None,
    }
}

/// Returns the map in one list.
pub(crate) fn segments(view: &DatasetView, scan: &ChunkScan, digests: Option<Algorithm>) -> Vec<Segment> {
    let mut all = Vec::new();
    // What keeps the places from being sorted keeps the map from going on.
    let _ = for_each_segment(view, scan, digests, &mut |segment| {
        all.push(segment);
        Ok(())
    });
    all
}

/// Consecutive runs of bytes: gaps get a name, and overlaps are cut.
struct Tiles<'v> {
    at: u64,
    end: u64,
    part: Option<String>,
    gap: &'static str,
    visit: &'v mut dyn FnMut(Segment) -> Result<()>,
}

impl Tiles<'_> {
    /// Names the bytes before `to`.
    fn fill(&mut self, to: u64) -> Result<()> {
        let to = to.min(self.end);
        if to <= self.at {
            return Ok(());
        }
        let range = self.at..to;
        self.at = to;
        let role = self.gap.to_owned();
        (self.visit)(Segment { part: self.part.clone(), range, role, ..Segment::default() })
    }

    fn put(&mut self, range: Range<u64>, describe: impl FnOnce(&mut Segment)) -> Result<()> {
        self.fill(range.start)?;
        let range = range.start.max(self.at)..range.end.min(self.end);
        if range.start >= range.end {
            return Ok(());
        }
        self.at = range.end;
        let mut segment = Segment { part: self.part.clone(), range, ..Segment::default() };
        describe(&mut segment);
        (self.visit)(segment)
    }

    fn plain(&mut self, range: Range<u64>, role: &str) -> Result<()> {
        self.put(range, |segment| role.clone_into(&mut segment.role))
    }
}

fn header(frame: &Frame, tiles: &mut Tiles<'_>) -> Result<()> {
    let layout = frame.layout();
    let whole = layout.header_range();
    let fixed = whole.start.saturating_add(FIXED_LEN as u64);
    tiles.plain(whole.start..fixed.min(whole.end), "header")?;
    if fixed >= whole.end || whole.end > layout.file_len() {
        return Ok(());
    }
    let bytes = frame.source().read(fixed..whole.end)?;
    // Places of values count from the start of the frame.
    for (name, range) in values(&bytes, NAMES_OFFSET, fixed, whole.start) {
        tiles.gap = "metalayers";
        tiles.put(range, |segment| segment.role = format!("metalayer {name}"))?;
    }
    tiles.gap = "metalayers";
    tiles.fill(whole.end)?;
    tiles.gap = "unknown";
    Ok(())
}

fn trailer(frame: &Frame, tiles: &mut Tiles<'_>) -> Result<()> {
    let range = frame.layout().trailer_range();
    if range.is_empty() {
        return Ok(());
    }
    tiles.gap = "unused";
    tiles.fill(range.start)?;
    let bytes = frame.source().read(range.clone())?;
    tiles.gap = "trailer";
    for (name, place) in values(&bytes, TRAILER_NAMES_OFFSET, range.start, range.start) {
        let start = usize::try_from(place.start.saturating_sub(range.start).saturating_add(VALUE_MARKER_LEN));
        let found = start.ok().and_then(|start| Header::parse(bytes.get(start..)?).ok());
        tiles.put(place.clone(), |segment| {
            segment.role = format!("vlmetalayer {name}");
            segment.codec = found.as_ref().map(codec_word);
            segment.stored = Some(place.end.saturating_sub(place.start).saturating_sub(VALUE_MARKER_LEN));
            segment.decoded = found.as_ref().map(|header| header.nbytes.into());
        })?;
    }
    tiles.fill(range.end)
}

/// Names and places in the file of values, marker and length included, in the order of their places. `at` is the place of `bytes` in the file,
/// and `base` what the stored places count from.
fn values(bytes: &[u8], before: usize, at: u64, base: u64) -> Vec<(String, Range<u64>)> {
    let names = bytes.get(before..).and_then(|rest| metalayer::parse_names(rest).ok());
    let Some((_, names)) = names else { return Vec::new() };
    let place = |(name, offset): (String, i32)| {
        let start = base.checked_add(u64::try_from(offset).ok()?)?;
        let own = usize::try_from(start.checked_sub(at)?).ok()?;
        let value = metalayer::value(bytes.get(own..)?)?;
        // A value may have a shorter marker than C-Blosc2 writes.
        let end = (value.as_ptr().addr() + value.len()).checked_sub(bytes.as_ptr().addr())? as u64;
        Some((name, start..at.checked_add(end)?))
    };
    let mut places: Vec<_> = names.into_iter().filter_map(place).collect();
    places.sort_by_key(|(_, range)| range.start);
    places
}

/// Bytes of the file of a chunk.
fn file_len(frame: &Frame, chunk: &ScannedChunk) -> u64 {
    match frame.locate(chunk.index) {
        Ok(LocatedChunk::Stored(place)) => place.source().len(),
        _ => chunk.range.end,
    }
}

/// Maps header and starts of a chunk, then its blocks.
fn pieces(
    view: &DatasetView,
    chunk: &ScannedChunk,
    digests: Option<Algorithm>,
    tiles: &mut Tiles<'_>,
) -> Result<()> {
    let (index, range) = (chunk.index, chunk.range.clone());
    let bytes = view.frame().chunk_uncompared(index)?;
    let parsed = Chunk::parse(&bytes).ok();
    let header = parsed.as_ref().map(Chunk::header);
    let blocks = parsed.as_ref().map(blocks).unwrap_or_default();
    let first = blocks.first().map_or(range.end, |(block, _)| range.start.saturating_add(block.start as u64));
    tiles.put(range.start..first, |segment| {
        segment.role = "chunk".to_owned();
        segment.checksum = digests.map(|digests| digests.name().to_owned());
        segment.codec = header.map(codec_word);
        segment.stored = Some(range.end.saturating_sub(range.start));
        segment.decoded = header.map(|header| header.nbytes.into());
        segment.dataset = Some(view.path_of(index));
    })?;
    for (block, decoded) in blocks {
        let place =
            range.start.saturating_add(block.start as u64)..range.start.saturating_add(block.end as u64);
        tiles.put(place, |segment| {
            segment.role = "block".to_owned();
            segment.checksum = digests.map(|digests| digests.name().to_owned());
            segment.decoded = Some(decoded);
            segment.dataset = Some(view.path_of(index));
        })?;
    }
    Ok(())
}

/// Returns the places of the blocks of a chunk with what they decode to, in the order of their bytes; none for one that has no
/// streams.
fn blocks(chunk: &Chunk<'_>) -> Vec<(Range<usize>, u64)> {
    let header = chunk.header();
    if header.is_memcpyed() || header.special().is_some() {
        return Vec::new();
    }
    let words = chunk.bytes().get(header.len()..).unwrap_or_default().as_chunks::<4>().0;
    let starts = words.iter().take(chunk.block_count()).zip(0..);
    let mut starts: Vec<(usize, usize)> = starts
        .filter_map(|(word, index)| Some((usize::try_from(i32::from_le_bytes(*word)).ok()?, index)))
        .collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([chunk.bytes().len()]);
    let places = starts.iter().zip(ends).filter(|((start, _), end)| start < end);
    places.map(|((start, index), end)| (*start..end, chunk.block_len(*index) as u64)).collect()
}

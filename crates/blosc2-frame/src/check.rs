//! Searches a frame for damage: by its layout, then by places and headers of chunks, then by decoding every chunk.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use blosc_chunk::{Chunk, Compressor, Filter, MissingPlugin, Special};
use container_core::container::{CheckDepth, Digests, ReadOptions};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::source::try_zeroed_vec;
use container_core::threads::on_threads;
use container_core::{Error, ErrorKind, Limits, Progress, Result};

use crate::b2nd::NdArray;
use crate::b2nd::has_set_padding;
use crate::dataset_view::{DATASET, DatasetView};
use crate::frame::{ChunkScan, Frame, ScannedChunk};
use crate::header::Header;
use crate::offsets::Offset;
use crate::tensor;
use crate::verified_reads;

/// Codes for contradictions between a frame's array and its chunks.
pub(crate) const GEOMETRY: [&str; 2] = ["geometry", "dtype"];

/// Codes of unnamed consequences of a damaged index, which are not odd by themselves.
const CONSEQUENCES: [&str; 4] = ["dead_space", "offsets_unsorted", "stray_file", "stored_sizes_differ"];

/// Looks for damage and oddities.
pub(crate) fn check(
    view: &DatasetView,
    depth: CheckDepth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    let frame = view.frame();
    let layout = frame.layout();
    let mut findings: Vec<Finding> =
        layout.faults().iter().map(|fault| place(view, fault.finding(), fault.index())).collect();
    findings.extend(geometry(view));
    let scan = frame.scan_chunks()?;
    findings.extend(blocks(view, &scan));
    findings.extend(scan.faults.iter().map(|fault| place(view, fault.finding(), fault.index())));
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        findings.retain(|finding| !CONSEQUENCES.contains(&finding.code));
    }
    let stored = layout.offsets().iter().filter(|offset| matches!(offset, Offset::Stored(_)));
    let total = stored.count() as u64;
    let bad = total.saturating_sub(scan.chunks.len() as u64);
    let mut blocks = BlockCounts { total, checked: 0, bad };
    if depth == CheckDepth::Full {
        findings.extend(user_metadata(frame)?);
        let guarded = verified_reads::check_digests(frame, &scan)?;
        blocks.bad = blocks.bad.saturating_add(guarded.damaged.len() as u64).min(total);
        findings.extend(guarded.findings.into_iter().map(|(chunk, finding)| place(view, finding, chunk)));
        let damaged = decode_all(view, &scan, &guarded.damaged, options, progress)?;
        blocks.checked = scan.chunks.len() as u64;
        let bad = damaged.iter().filter(|finding| finding.severity == Severity::Error).count() as u64;
        blocks.bad = blocks.bad.saturating_add(bad).min(total);
        findings.extend(damaged);
    }
    Ok(Report::new(findings, blocks))
}

/// Says which dataset a finding concerns.
pub(crate) fn place(view: &DatasetView, finding: Finding, chunk: Option<u64>) -> Finding {
    match chunk {
        Some(index) => finding.dataset(view.path_of(index)),
        None if view.is_of_chunks() => finding,
        None => finding.dataset(DATASET),
    }
}

/// Shapes of an array that contradict each other, or its chunks.
fn geometry(view: &DatasetView) -> Option<Finding> {
    let error = match view {
        DatasetView::Hidden(_, error) | DatasetView::Flat(_, Some(error)) => error,
        _ => return None,
    };
    let is_tensor = error.context() == Some(tensor::NAME);
    let of_shapes = is_tensor || matches!(error.context(), None | Some("b2nd" | "metalayer b2nd"));
    let [shapes, dtype] = GEOMETRY;
    let code = if of_shapes { shapes } else { dtype };
    let layout = view.frame().layout();
    let place = if is_tensor { layout.trailer_range() } else { layout.header_range() };
    let range = error.range().unwrap_or(place);
    let message = if is_tensor {
        format!("user metadata {:?}: {}", tensor::NAME, error.kind())
    } else {
        format!("the metalayer of the array: {}", error.kind())
    };
    Some(Finding::new(Severity::Error, code, message).at(range).dataset(DATASET))
}

/// Chunks whose blocks are of another length than those of the array: C-Blosc2 does not read them.
fn blocks(view: &DatasetView, scan: &ChunkScan) -> Vec<Finding> {
    const MAX_REPORTED: usize = 64;
    let DatasetView::Array(array) = view else { return Vec::new() };
    let own = array.geometry().block_bytes();
    // A chunk that repeats one value has blocks as well; other special chunks are reported as stored needlessly.
    let has_blocks = |chunk: &ScannedChunk| matches!(chunk.special, None | Some(Special::Value));
    let is_other = |chunk: &&ScannedChunk| has_blocks(chunk) && u64::from(chunk.block_len) != own;
    let tell = |chunk: &ScannedChunk| {
        let index = chunk.index;
        let message = format!(
            "the blocks of chunk {index} have {} bytes (expected {own}, as those of the array): C-Blosc2 does not read it",
            chunk.block_len
        );
        let field = chunk.range.start.saturating_add(8)..chunk.range.start.saturating_add(12);
        let mut finding = Finding::new(Severity::Error, "geometry", message).at(field);
        finding.part = chunk.part();
        place(view, finding, Some(index))
    };
    let mut others = scan.chunks.iter().filter(is_other);
    let mut findings: Vec<Finding> = others.by_ref().take(MAX_REPORTED).map(tell).collect();
    let more = others.count();
    if more > 0
        && let Some(last) = findings.last()
    {
        // With the place of the last one, so that it comes after it.
        findings.push(Finding { message: format!("{more} more of these"), ..last.clone() });
    }
    findings
}

/// Checks the user metadata, and reports chunks that cannot be decoded.
fn user_metadata(frame: &Frame) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    // Each of them, also one of a name that another has: repairs keep what can be decoded.
    for (name, stored) in &frame.layout().trailer().vlmetalayers {
        let Err(error) = frame.decoded(name, stored) else { continue };
        if !error.is_damage() && !matches!(error.kind(), ErrorKind::Unsupported(_)) {
            return Err(error);
        }
        let range = error.range().unwrap_or_else(|| frame.layout().trailer_range());
        let message = format!("user metadata {name:?}: {}", error.kind());
        findings.push(Finding::new(Severity::Error, "user_metadata", message).at(range));
    }
    Ok(findings)
}

/// Decodes every stored chunk that has a place and is not condemned by its digest. Bytes that are set where an array has none are noted once.
fn decode_all(
    view: &DatasetView,
    scan: &ChunkScan,
    condemned: &[u64],
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Vec<Finding>> {
    let frame = view.frame();
    let chunks = &scan.chunks;
    let total = frame.header().cbytes;
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let found: Mutex<Vec<(u64, Finding)>> = Mutex::new(Vec::new());
    let tell = |index: u64, finding: Finding| {
        found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, finding));
    };
    // Of blocks that are averaged the padding gets a share.
    let array = match view {
        DatasetView::Array(array) if !frame.header().filters.contains(Filter::NDMEAN) => Some(&**array),
        _ => None,
    };
    let work = || {
        let mut room = Vec::new();
        loop {
            let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            if condemned.binary_search(&chunk.index).is_ok() {
                continue;
            }
            let len = match decode(frame, array, chunk, &mut room, options) {
                Ok(Decoded { len, padding }) => {
                    if padding {
                        tell(chunk.index, padding_finding(view, chunk));
                    }
                    len
                }
                Err(error) => {
                    tell(chunk.index, place(view, finding(frame, error, chunk)?, Some(chunk.index)));
                    0
                }
            };
            progress.tick(done.fetch_add(len, Ordering::Relaxed).saturating_add(len), total)?;
        }
    };
    on_threads(options.threads.min(chunks.len()).max(1), &work)?;
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Threads end in any order.
    found.sort_by_key(|(index, _)| *index);
    let first_padding = found.iter().find(|(_, finding)| finding.code == PADDING).map(|(index, _)| *index);
    found.retain(|(index, finding)| finding.code != PADDING || Some(*index) == first_padding);
    Ok(found.into_iter().map(|(_, finding)| finding).collect())
}

const PADDING: &str = "padding";

fn padding_finding(view: &DatasetView, chunk: &ScannedChunk) -> Finding {
    let index = chunk.index;
    let message =
        format!("chunk {index}: bytes after the edge of the array are set, perhaps from before it shrank");
    let mut finding = Finding::new(Severity::Note, PADDING, message).at(chunk.range.clone());
    finding.part = chunk.part();
    place(view, finding, Some(index))
}

/// A chunk that could be decoded.
struct Decoded {
    /// Stored bytes.
    len: u64,
    /// Whether it has bytes set in the padding of the array.
    padding: bool,
}

fn decode(
    frame: &Frame,
    array: Option<&NdArray>,
    chunk: &ScannedChunk,
    room: &mut Vec<u8>,
    options: &ReadOptions,
) -> Result<Decoded> {
    let (index, len) = (chunk.index, chunk.range.end.saturating_sub(chunk.range.start));
    if frame.layout().expected_len(index).is_some_and(|expected| expected != u64::from(chunk.nbytes)) {
        // The check of the headers has reported it.
        return Ok(Decoded { len, padding: false });
    }
    if chunk.special.is_some() {
        // No bytes are stored, or one value. Only parsing can fail, and filling gigabytes would prove no more.
        let bytes = frame.chunk_uncompared(index)?;
        Chunk::parse(&bytes)?;
        return Ok(Decoded { len, padding: false });
    }
    let is_rounded =
        matches!(chunk.compressor, Compressor::ZFP_ACC | Compressor::ZFP_PREC | Compressor::ZFP_RATE);
    // Codecs that lose bits do not keep zeros. In blocks of another size than the array's, the places of elements are
    // unknown.
    let has_its_blocks = |array: &&NdArray| array.geometry().block_bytes() == u64::from(chunk.block_len);
    let array = array.filter(|_| !is_rounded).filter(has_its_blocks);
    let nbytes = frame.chunk_len(index)?;
    let piece = piece_len(nbytes, chunk.block_len, &options.limits);
    // Chunks that do not fit their digest were condemned before.
    let mut alone = ReadOptions::default().with_limits(options.limits);
    alone.digests = Digests::Ignore;
    let mut padding = false;
    let mut start = 0_u64;
    loop {
        let end = start.saturating_add(piece).min(nbytes);
        let size = options.limits.allocate(end.saturating_sub(start))?;
        if room.len() < size {
            *room = try_zeroed_vec(size as u64, &options.limits)?;
        }
        let dst = &mut room[..size];
        // No chunk has 2 GiB.
        let from = usize::try_from(start).unwrap_or(usize::MAX);
        frame.read_chunk_into(index, from..from.saturating_add(size), dst, &alone)?;
        padding |= array.is_some_and(|array| {
            let first = start.checked_div(array.geometry().block_bytes()).unwrap_or(0);
            has_set_padding(array.geometry(), index, first, dst)
        });
        if end >= nbytes {
            break;
        }
        start = end;
    }
    // Overwriting zeros may turn a block into one of zeros, which decodes.
    let bytes = frame.chunk_uncompared(index)?;
    let checked = Chunk::parse(&bytes).and_then(|chunk| chunk.check_zeros());
    checked.map_err(|error| error.shifted(chunk.range.start))?;
    Ok(Decoded { len, padding })
}

/// Returns the number of bytes of a chunk that are decoded at once: all of it where that is within the limit on memory, else as many
/// blocks as are.
fn piece_len(nbytes: u64, block_len: u32, limits: &Limits) -> u64 {
    let block = u64::from(block_len);
    match limits.memory.checked_div(block) {
        Some(blocks) if nbytes > limits.memory => blocks.max(1).saturating_mul(block),
        _ => nbytes,
    }
}

/// Whether a chunk cannot be decoded because its codec or filter belongs to a missing plugin, by the header of its frame.
pub(crate) fn misses_plugin(header: &Header, kind: &ErrorKind) -> bool {
    match MissingPlugin::of(kind) {
        Some(MissingPlugin::Codec(id)) => id >= 160 || header.compressor.0 == id,
        Some(MissingPlugin::Filter(id)) => header.filters.contains(id),
        None => false,
    }
}

/// Converts damage, and chunks that need a plugin, to a finding; any other error ends the check.
fn finding(frame: &Frame, error: Error, chunk: &ScannedChunk) -> Result<Finding> {
    let code = match error.kind() {
        ErrorKind::Checksum { .. } => "checksum",
        ErrorKind::Malformed(_) | ErrorKind::Truncated { .. } => "undecodable_chunk",
        ErrorKind::Unsupported(_) => "unsupported_chunk",
        _ => return Err(error),
    };
    let range = error.range().unwrap_or_else(|| chunk.range.clone());
    // Sentence without the place, which the finding has.
    let message = format!("chunk {}: {}", chunk.index, error.kind());
    // A number that the header of the frame does not have is a damaged one, except for codecs of users, which any chunk may
    // have.
    let severity =
        if misses_plugin(frame.header(), error.kind()) { Severity::Unchecked } else { Severity::Error };
    let mut finding = Finding::new(severity, code, message).at(range);
    finding.part = chunk.part();
    Ok(finding)
}

//! The recovered frame: the chosen index, its chunks, their sizes, and the metadata.

use std::collections::BTreeMap;
use std::ops::Range;

use container_core::report::RepairReport;
use container_core::{Limits, Progress, Result};

use super::chunk_header::RepairedHeader;
use super::chunk_order::ChunkOrder;
use super::frame_header::RecoveredHeader;
use super::index;
use super::input::DamagedFrame;
use super::intact_blocks::PartialChunk;
use super::item;
use super::previous_chunks::PreviousChunk;
use super::previous_commits::{PreviousCommits, is_plausible_index};
use super::scan_chunks::{ChunkPattern, FoundChunks, scan};
use super::scan_indexes::{FrameState, last_state, points_to_chunks, trailer_at};
use crate::checksums::Stored;
use crate::fault::FaultKind;
use crate::header::{ChunkSize, Header};
use crate::metalayer::Metalayers;
use crate::offsets::{Offset, Offsets};
use crate::trailer::Trailer;

/// Header, metadata and chunk index chosen for the repaired frame, with the state of its chunks.
pub(super) struct RecoveredFrame {
    /// The header of the new frame; lengths are those of the old one.
    pub header: Header,
    pub metalayers: Metalayers,
    pub trailer: Trailer,
    pub trailer_range: Range<u64>,
    /// Base offset of the chunks.
    pub base: u64,
    pub offsets: Offsets,
    /// Expected number of chunks, where it is stored. Missing ones become zeros, others are left out.
    pub expected: Option<u64>,
    /// Bytes of an array's chunk.
    pub array: Option<u64>,
    /// Whether sizes in the header are reliable.
    pub trusted: bool,
    pub limits: Limits,
    /// The index that lists the chunks; empty without one.
    pub index: Range<u64>,
    /// Chunks with repaired headers, by index.
    pub repaired_headers: BTreeMap<u64, RepairedHeader>,
    /// Earlier versions that replace damaged chunks, by index.
    pub previous_chunks: BTreeMap<u64, PreviousChunk>,
    /// Damaged chunks with some intact blocks, by index.
    pub partial_chunks: BTreeMap<u64, PartialChunk>,
    /// Bytes of the one chunk that is not stored among chunks of different sizes: what the others leave.
    pub left_over: Option<u64>,
    /// Digests of the chunks, where the frame has some that are of its present state.
    pub digests: Option<Stored>,
    /// End of the chunk within which the file ends, where the frame has more chunks than the file holds.
    pub cut: Option<u64>,
}

impl RecoveredFrame {
    /// Reads header, metalayers and indexes, and chooses the state to recover.
    pub fn new(
        origin: &DamagedFrame,
        limits: &Limits,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let head = RecoveredHeader::read(&*origin.source, limits)?;
        let fixed = 0..crate::header::FIXED_LEN as u64;
        match &head.error {
            None => report.kept.push(item(fixed, "header")),
            Some(error) => report.lost.push(item(fixed, format!("header: {}", error.kind()))),
        }
        let mut metalayers = Metalayers::new();
        for (name, value) in head.metalayers.iter() {
            // Of two of one name the first is read.
            if metalayers.get(name).is_some() || metalayers.set(name, value.to_vec()).is_err() {
                let what = format!("metalayer {name:?}: one too many, or its name is");
                report.lost.push(item(crate::header::FIXED_LEN as u64..head.end, what));
            }
        }
        let names: Vec<&str> = metalayers.iter().map(|(name, _)| name).collect();
        let region = crate::header::FIXED_LEN as u64..head.end;
        if !head.has_metalayers {
            report.lost.push(item(region, "metalayers"));
        } else if !names.is_empty() {
            report.kept.push(item(region, format!("metalayers: {}", names.join(", "))));
        }
        let state = choose_state(origin, &head, limits, report, progress)?;
        let (trailer, trailer_range) = match state.trailer {
            Some(found) => found,
            None => {
                let end = origin.len();
                if head.header.has_vlmetalayers {
                    report.lost.push(item(end..end, "user metadata: there is no trailer"));
                }
                (Trailer::default(), end..end)
            }
        };
        let trusted = head.layout.as_ref().is_some_and(|layout| {
            let wrong = [FaultKind::Nbytes, FaultKind::Chunksize, FaultKind::Typesize];
            !layout.faults().iter().any(|fault| wrong.contains(&fault.kind()))
        });
        Ok(Self {
            expected: head.layout.as_ref().filter(|_| trusted).and_then(crate::Layout::expected_chunks),
            header: head.header,
            metalayers,
            trailer,
            trailer_range,
            base: head.end,
            index: state.index,
            repaired_headers: BTreeMap::new(),
            previous_chunks: BTreeMap::new(),
            partial_chunks: BTreeMap::new(),
            offsets: state.offsets,
            array: None,
            trusted,
            limits: *limits,
            left_over: None,
            digests: state.digests,
            cut: state.cut,
        })
    }

    /// Returns the number of chunks in the new frame.
    pub fn count(&self) -> u64 {
        self.expected.unwrap_or(self.offsets.len())
    }

    /// Returns the offset of the chunk `index`; `None` for one that was not found.
    pub fn offset(&self, index: u64) -> Option<Offset> {
        self.offsets.get(index)
    }

    /// Returns the expected bytes of the chunk `index`, if they are determined.
    pub fn expected_len(&self, index: u64) -> Option<u64> {
        let ChunkSize::Fixed(len) = self.header.chunksize else {
            return self.left_over.filter(|_| matches!(self.offset(index), Some(Offset::Special(_))));
        };
        if let Some(len) = self.array {
            return Some(len);
        }
        if !self.trusted || index + 1 < self.count() {
            return (index + 1 < self.count()).then_some(len.into());
        }
        let start = index.checked_mul(len.into())?;
        self.header.nbytes.checked_sub(start).filter(|left| *left > 0).map(|left| left.min(len.into()))
    }
}

/// Chooses the index to recover: the header's, one confirmed by digests, an earlier one, or the order in the file.
///
/// The index of the header is taken as it is if all of its offsets are valid. If only some are, it is repaired: first by digests,
/// then by chunks that the scan found and no offset points to. If the header points to no index of this frame, a scanned order that
/// digests confirm is taken, then the last index in the file whose offsets are all valid. An index that digests do not
/// confirm should have the number of chunks in the header; if it does not, a scan that does replaces it. The last resort is the order of
/// the chunks in the file.
fn choose_state(
    origin: &DamagedFrame,
    head: &RecoveredHeader,
    limits: &Limits,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<FrameState> {
    let expected = head.layout.as_ref().and_then(crate::Layout::expected_chunks);
    let fits = |state: &FrameState| expected.is_none_or(|expected| expected == state.offsets.len());
    // The file is scanned for chunks once, and only if the index leaves a question open.
    let mut scanned = None;
    // Another state than the header's is reported once it is chosen.
    let mut is_other = false;
    let state = match by_header(origin, head, limits) {
        Some(state) => {
            let before = if state.index.is_empty() { origin.len() } else { state.index.start };
            if state.offsets.is_empty() || points_to_chunks(origin, head.end, &state.offsets, before) {
                Some(state)
            } else if is_index_of_frame(origin, head.end, &state) {
                if fits(&state) {
                    let found = scan_all(origin, head, limits, progress)?;
                    let order = ChunkOrder { origin, head, found: &found, limits };
                    let mut state = match order.by_digest(Some(&state), progress)? {
                        Some(proved) => return Ok(proved),
                        None => state,
                    };
                    if let Some(likely) = order.by_majority(Some(&state), report, progress)? {
                        return Ok(likely);
                    }
                    order.fill_by_digest(&mut state, report, progress)?;
                    let none = std::iter::empty();
                    let commits =
                        PreviousCommits::read(origin, head.end, &state.index, none, limits, progress)?;
                    return Ok(index::fill_bad_offsets(origin, head.end, state, &found, &commits, report));
                }
                Some(state)
            } else {
                // The bytes may be those of another chunk, which decodes like an index.
                let found = scan_all(origin, head, limits, progress)?;
                if let Some(proved) =
                    (ChunkOrder { origin, head, found: &found, limits }).by_digest(None, progress)?
                {
                    return Ok(proved);
                }
                let other = last_state(origin, head.end, limits, progress)?;
                is_other = other.is_some();
                // An index without a valid offset counts less than chunks in the file.
                let is_better = other.is_none() && !found.offsets.is_empty();
                scanned = is_better.then_some(found);
                if is_better { None } else { other.or(Some(state)) }
            }
        }
        None => {
            let found = scan_all(origin, head, limits, progress)?;
            if let Some(proved) =
                (ChunkOrder { origin, head, found: &found, limits }).by_digest(None, progress)?
            {
                return Ok(proved);
            }
            is_other = true;
            last_state(origin, head.end, limits, progress)?
        }
    };
    if let Some(state) = state {
        let better = if fits(&state) { None } else { Some(scan_all(origin, head, limits, progress)?) };
        scanned = better.filter(|found| found.offsets.len() == expected.unwrap_or(0));
        if scanned.is_none() {
            return Ok(if is_other { report_other_index(state, report) } else { state });
        }
    }
    let scanned = match scanned {
        Some(scanned) => scanned,
        None => scan_all(origin, head, limits, progress)?,
    };
    let likely =
        (ChunkOrder { origin, head, found: &scanned, limits }).by_majority(None, report, progress)?;
    for gap in scanned.gaps {
        report.lost.push(item(gap, "no chunk begins here"));
    }
    if let Some(state) = likely {
        return Ok(state);
    }
    if !scanned.offsets.is_empty() {
        let what = "the order of the chunks: that in which they lie";
        report.guessed.push(item(head.end..origin.len(), what));
    }
    let cut = scanned.cut.filter(|_| expected.is_some_and(|expected| scanned.offsets.len() < expected));
    Ok(FrameState { offsets: scanned.offsets, index: 0..0, trailer: scanned.trailer, digests: None, cut })
}

/// Returns the index that the header points to; `None` where it is not one.
fn by_header(origin: &DamagedFrame, head: &RecoveredHeader, limits: &Limits) -> Option<FrameState> {
    let layout = head.layout.as_ref().filter(|layout| layout.header_range().end == head.end)?;
    let is_index = match layout.offsets() {
        // Several chunks cannot be in one place.
        Offsets::Same(Offset::Stored(_), count) => *count == 1,
        // A frame without data cannot have chunks of different sizes either.
        offsets => !offsets.is_empty() || layout.header().nbytes == 0,
    };
    let unreadable = |fault: &crate::Fault| fault.kind() == FaultKind::TrailerUnreadable;
    let range = layout.trailer_range();
    let found = (!range.is_empty() && !layout.faults().iter().any(unreadable))
        .then(|| (layout.trailer().clone(), range));
    let trailer = found.or_else(|| trailer_at(&*origin.source, layout.index().end, limits));
    is_index.then(|| FrameState {
        offsets: layout.offsets().clone(),
        index: layout.index(),
        trailer,
        digests: None,
        cut: None,
    })
}

/// Whether the header points to the index of this frame, so that its invalid offsets are due to damaged chunks: a chunk is at its
/// offset, or all of it could be.
fn is_index_of_frame(origin: &DamagedFrame, base: u64, state: &FrameState) -> bool {
    let is_chunk = |offset| match offset {
        Offset::Stored(at) => origin.chunk_header(base, at).is_some(),
        _ => false,
    };
    state.offsets.distinct().any(is_chunk)
        || is_plausible_index(&state.offsets, state.index.start.saturating_sub(base))
}

/// Scans the chunk section for consecutive chunks.
fn scan_all(
    origin: &DamagedFrame,
    head: &RecoveredHeader,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<FoundChunks> {
    let typesize = match u8::try_from(head.header.typesize) {
        Ok(0) => None,
        Ok(typesize) => Some(typesize),
        Err(_) => Some(1),
    };
    let nbytes = match head.header.chunksize {
        ChunkSize::Fixed(len) if head.error.is_none() => Some(len),
        _ => None,
    };
    let scanned = scan(origin, head.end, ChunkPattern { typesize, nbytes }, limits, progress)?;
    if scanned.offsets.is_empty() && head.error.is_some() {
        // The header's values may be the damaged ones.
        return scan(origin, head.end, ChunkPattern::default(), limits, progress);
    }
    Ok(scanned)
}

fn report_other_index(state: FrameState, report: &mut RepairReport) -> FrameState {
    let what = "the chunks that the last whole index of the file leads to";
    report.guessed.push(item(state.index.clone(), what));
    state
}

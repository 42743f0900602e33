//! Chooses the index to recover: the header's, one confirmed by digests, the last one in the file, or the order of the chunks.

use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::{Limits, Progress, Result};

use super::frame_header::RecoveredHeader;
use super::index::ChunkOrder;
use super::input::DamagedFrame;
use super::previous_commits::{PreviousCommits, is_plausible_index};
use super::recovered_frame::RecoveredFrame;
use super::scan_chunks::{ChunkPattern, FoundChunks, scan};
use super::scan_indexes::{FrameState, last_state, points_to_chunks, trailer_at};
use crate::fault::FaultKind;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};
use crate::trailer::Trailer;

impl RecoveredFrame {
    /// Reads header, metalayers and indexes, and chooses the state to recover.
    pub fn new(
        origin: &DamagedFrame,
        limits: &Limits,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let head = RecoveredHeader::read(&*origin.source, limits, report)?;
        let state = choose_state(origin, &head, limits, report, progress)?;
        let (trailer, trailer_range) = match state.trailer {
            Some(found) => found,
            None => {
                let end = origin.len();
                if head.header.has_vlmetalayers {
                    report.lost.push(RepairItem::new(end..end, "user metadata: no trailer found"));
                }
                (Trailer::default(), end..end)
            }
        };
        let faults = head.layout.as_ref().map_or(&[][..], crate::Layout::faults).to_vec();
        let wrong = [FaultKind::Nbytes, FaultKind::Chunksize, FaultKind::Typesize];
        let trusted = head.layout.is_some() && !faults.iter().any(|fault| wrong.contains(&fault.kind()));
        Ok(Self {
            expected: head.layout.as_ref().filter(|_| trusted).and_then(crate::Layout::expected_chunks),
            header: head.header,
            faults,
            metalayers: head.metalayers,
            trailer,
            trailer_range,
            base: head.end,
            index: state.index,
            offsets: state.offsets,
            array: None,
            trusted,
            limits: *limits,
            left_over: None,
            digests: state.digests,
            cut: state.cut,
        })
    }
}

/// Returns the state to recover.
///
/// The index of the header is taken as it is if all of its offsets are valid. If only some are, it is repaired: first by digests,
/// then by chunks that the scan found and no offset points to. If the header points to no index of this frame, a scanned order that
/// digests confirm is taken, then the last index in the file whose offsets are all valid. An index that digests do not
/// confirm should have the number of chunks in the header; if it does not, a scan that does replaces it. The last resort is the order of
/// the chunks in the file.
///
/// # Errors
/// `Limit`, `Cancelled`, and those of the source.
fn choose_state(
    origin: &DamagedFrame,
    head: &RecoveredHeader,
    limits: &Limits,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<FrameState> {
    let expected = head.layout.as_ref().and_then(crate::Layout::expected_chunks);
    let fits = |state: &FrameState| expected.is_none_or(|expected| expected == state.offsets.len());
    let find_chunks = || scan_all(origin, head, limits, progress);
    // The file is scanned for chunks once, and only if the index leaves a question open.
    let mut scanned = None;
    // Another state than the header's is reported once it is chosen.
    let mut is_other = false;
    let own = by_header(origin, head, limits);
    let is_whole = own.as_ref().is_some_and(|state| {
        let before = if state.index.is_empty() { origin.len() } else { state.index.start };
        state.offsets.is_empty() || points_to_chunks(origin, head.end, &state.offsets, before)
    });
    let state = match own {
        Some(state) if is_whole => Some(state),
        Some(state) if is_index_of_frame(origin, head.end, &state) => {
            if fits(&state) {
                let found = find_chunks()?;
                let order = ChunkOrder { origin, head, found: &found, limits };
                return repair_index(&order, state, report, progress);
            }
            Some(state)
        }
        // The bytes of a broken index may be those of another chunk, which decodes like an index.
        own => {
            let found = find_chunks()?;
            let order = ChunkOrder { origin, head, found: &found, limits };
            if let Some(proved) = order.by_digest(None, report, progress)? {
                return Ok(proved);
            }
            let other = last_state(origin, head.end, limits, progress)?;
            is_other = other.is_some();
            // An index without a valid offset counts less than chunks in the file.
            let own = own.filter(|_| found.offsets.is_empty());
            scanned = Some(found);
            other.or(own)
        }
    };
    if let Some(state) = state {
        let is_replaced = |found: &FoundChunks| expected == Some(found.offsets.len());
        scanned = match scanned {
            _ if fits(&state) => None,
            Some(found) => Some(found).filter(is_replaced),
            None => Some(find_chunks()?).filter(is_replaced),
        };
        if scanned.is_none() {
            if is_other {
                let what = "index: the last one in the file whose offsets all point to chunks";
                report
                    .guessed
                    .push(RepairItem::new(state.index.clone(), what).with_evidence(Evidence::Index));
            }
            return Ok(state);
        }
    }
    let scanned = match scanned {
        Some(scanned) => scanned,
        None => find_chunks()?,
    };
    let order = ChunkOrder { origin, head, found: &scanned, limits };
    let placed = order.by_single_digests(expected, report, progress)?;
    for gap in &scanned.gaps {
        report.lost.push(RepairItem::new(gap.clone(), "bytes in which no chunk begins"));
    }
    if let Some(state) = placed {
        return Ok(state);
    }
    if !scanned.offsets.is_empty() {
        let item = RepairItem::new(head.end..origin.len(), "order of the chunks: as in the file");
        report.guessed.push(item.with_evidence(Evidence::Walk));
    }
    let cut = scanned.cut.filter(|_| expected.is_some_and(|expected| scanned.offsets.len() < expected));
    Ok(FrameState { offsets: scanned.offsets, index: 0..0, trailer: scanned.trailer, digests: None, cut })
}

/// Repairs the invalid offsets of `state`, the index that the header points to.
fn repair_index(
    order: &ChunkOrder<'_>,
    mut state: FrameState,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<FrameState> {
    if let Some(proved) = order.by_digest(Some(&state), report, progress)? {
        return Ok(proved);
    }
    order.fill_by_digest(&mut state, report, progress)?;
    let none = std::iter::empty();
    let commits =
        PreviousCommits::read(order.origin, order.head.end, &state.index, none, order.limits, progress)?;
    order.fill_by_walk(&mut state, &commits, report);
    Ok(state)
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
        ChunkSize::Fixed(len) if head.layout.is_some() => Some(len),
        _ => None,
    };
    scan(origin, head.end, ChunkPattern { typesize, nbytes }, limits, progress)
}

//! What the new frame is made of: which chunks in which order, of what size, with which metadata.

use std::collections::BTreeMap;
use std::ops::Range;

use container_core::report::RepairReport;
use container_core::{Limits, Progress, Result};

use super::chunk_header::Healed;
use super::chunk_order::Place;
use super::frame_header::Head;
use super::index;
use super::input::Origin;
use super::intact_blocks::Partial;
use super::item;
use super::previous_chunks::Older;
use super::previous_commits::{History, is_possible};
use super::scan_chunks::{Look, Walked, walk};
use super::scan_indexes::{State, last_state, leads_to_chunks, trailer_at};
use crate::checksums::Stored;
use crate::fault::FaultKind;
use crate::header::{ChunkSize, Header};
use crate::metalayer::Metalayers;
use crate::offsets::{Offset, Offsets};
use crate::trailer::Trailer;

/// What was found, and what becomes of it.
pub(super) struct Collected {
    /// The header of the new frame; lengths are those of the old one.
    pub header: Header,
    pub metalayers: Metalayers,
    pub trailer: Trailer,
    pub trailer_range: Range<u64>,
    /// Where the chunks begin that offsets count from.
    pub base: u64,
    pub offsets: Offsets,
    /// How many chunks are to be there, where something says it. Missing ones become zeros, others are left out.
    pub expected: Option<u64>,
    /// Bytes of an array's chunk.
    pub array: Option<u64>,
    /// Whether sizes in the header can be believed.
    pub trusted: bool,
    pub limits: Limits,
    /// The index by which the chunks are known; empty where none is.
    pub index: Range<u64>,
    /// Chunks whose headers are mended.
    pub healed: BTreeMap<u64, Healed>,
    /// Chunks that take the places of damaged ones.
    pub older: BTreeMap<u64, Older>,
    /// Damaged chunks of which some blocks are whole.
    pub partial: BTreeMap<u64, Partial>,
    /// Bytes of the one chunk that is not stored among chunks of different sizes: what the others leave.
    pub left_over: Option<u64>,
    /// Digests of the chunks, where the frame has some that are of its present state.
    pub digests: Option<Stored>,
    /// Where the chunk ends within which the file does, where the frame has more chunks than lie in it.
    pub cut: Option<u64>,
}

impl Collected {
    /// Reads what is there, and picks the state that is brought back.
    pub fn new(
        origin: &Origin,
        limits: &Limits,
        report: &mut RepairReport,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let head = Head::read(&*origin.source, limits)?;
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
        let state = choose(origin, &head, limits, report, progress)?;
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
            healed: BTreeMap::new(),
            older: BTreeMap::new(),
            partial: BTreeMap::new(),
            offsets: state.offsets,
            array: None,
            trusted,
            limits: *limits,
            left_over: None,
            digests: state.digests,
            cut: state.cut,
        })
    }

    /// How many chunks the new frame has.
    pub fn count(&self) -> u64 {
        self.expected.unwrap_or(self.offsets.len())
    }

    /// Where the chunk `index` is; `None` for one that was not found.
    pub fn offset(&self, index: u64) -> Option<Offset> {
        self.offsets.get(index)
    }

    /// Bytes that the chunk `index` is to hold, where that is settled.
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

/// Which chunks are brought back.
fn choose(
    origin: &Origin,
    head: &Head,
    limits: &Limits,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<State> {
    let expected = head.layout.as_ref().and_then(crate::Layout::expected_chunks);
    let fits = |state: &State| expected.is_none_or(|expected| expected == state.offsets.len());
    // What lies in the file is walked through once, and only where the index leaves something open.
    let mut walked = None;
    // Where the state is another than the header's, it is told of once it is the one that is taken.
    let mut is_other = false;
    let state = match by_header(origin, head, limits) {
        Some(state) => {
            let before = if state.index.is_empty() { origin.len() } else { state.index.start };
            if state.offsets.is_empty() || leads_to_chunks(origin, head.end, &state.offsets, before) {
                Some(state)
            } else if is_own(origin, head.end, &state) {
                if fits(&state) {
                    let found = walk_all(origin, head, limits, progress)?;
                    let place = Place { origin, head, found: &found, limits };
                    let mut state = match place.proved(Some(&state), progress)? {
                        Some(proved) => return Ok(proved),
                        None => state,
                    };
                    if let Some(likely) = place.likely(Some(&state), report, progress)? {
                        return Ok(likely);
                    }
                    place.guessed(&mut state, report, progress)?;
                    let none = std::iter::empty();
                    let history = History::read(origin, head.end, &state.index, none, limits, progress)?;
                    return Ok(index::mended(origin, head.end, state, &found, &history, report));
                }
                Some(state)
            } else {
                // It may be anything that looks like an index.
                let found = walk_all(origin, head, limits, progress)?;
                if let Some(proved) =
                    (Place { origin, head, found: &found, limits }).proved(None, progress)?
                {
                    return Ok(proved);
                }
                let other = last_state(origin, head.end, limits, progress)?;
                is_other = other.is_some();
                // An index that leads to no chunk says less than chunks that are there.
                let is_better = other.is_none() && !found.offsets.is_empty();
                walked = is_better.then_some(found);
                if is_better { None } else { other.or(Some(state)) }
            }
        }
        None => {
            let found = walk_all(origin, head, limits, progress)?;
            if let Some(proved) = (Place { origin, head, found: &found, limits }).proved(None, progress)? {
                return Ok(proved);
            }
            is_other = true;
            last_state(origin, head.end, limits, progress)?
        }
    };
    if let Some(state) = state {
        let better = if fits(&state) { None } else { Some(walk_all(origin, head, limits, progress)?) };
        walked = better.filter(|found| found.offsets.len() == expected.unwrap_or(0));
        if walked.is_none() {
            return Ok(if is_other { told(state, report) } else { state });
        }
    }
    let walked = match walked {
        Some(walked) => walked,
        None => walk_all(origin, head, limits, progress)?,
    };
    let likely = (Place { origin, head, found: &walked, limits }).likely(None, report, progress)?;
    for gap in walked.gaps {
        report.lost.push(item(gap, "no chunk begins here"));
    }
    if let Some(state) = likely {
        return Ok(state);
    }
    if !walked.offsets.is_empty() {
        let what = "the order of the chunks: that in which they lie";
        report.guessed.push(item(head.end..origin.len(), what));
    }
    let cut = walked.cut.filter(|_| expected.is_some_and(|expected| walked.offsets.len() < expected));
    Ok(State { offsets: walked.offsets, index: 0..0, trailer: walked.trailer, digests: None, cut })
}

/// What the header leads to, where that is an index.
fn by_header(origin: &Origin, head: &Head, limits: &Limits) -> Option<State> {
    let layout = head.layout.as_ref().filter(|layout| layout.header_range().end == head.end)?;
    let is_index = match layout.offsets() {
        // All chunks cannot be one.
        Offsets::Same(Offset::Stored(_), count) => *count == 1,
        // Nor are there chunks of different sizes where there is nothing to hold.
        offsets => !offsets.is_empty() || layout.header().nbytes == 0,
    };
    let unreadable = |fault: &crate::Fault| fault.kind() == FaultKind::TrailerUnreadable;
    let range = layout.trailer_range();
    let found = (!range.is_empty() && !layout.faults().iter().any(unreadable))
        .then(|| (layout.trailer().clone(), range));
    let trailer = found.or_else(|| trailer_at(&*origin.source, layout.index().end, limits));
    is_index.then(|| State {
        offsets: layout.offsets().clone(),
        index: layout.index(),
        trailer,
        digests: None,
        cut: None,
    })
}

/// Whether what the header leads to is the index of this frame, so that what it leads to in vain is what is damaged: a chunk is where it
/// says, or all of it could be.
fn is_own(origin: &Origin, base: u64, state: &State) -> bool {
    let is_chunk = |offset| match offset {
        Offset::Stored(at) => origin.chunk_header(base, at).is_some(),
        _ => false,
    };
    state.offsets.distinct().any(is_chunk)
        || is_possible(&state.offsets, state.index.start.saturating_sub(base))
}

/// The chunks that lie one behind the other.
fn walk_all(origin: &Origin, head: &Head, limits: &Limits, progress: Progress<'_>) -> Result<Walked> {
    let typesize = match u8::try_from(head.header.typesize) {
        Ok(0) => None,
        Ok(typesize) => Some(typesize),
        Err(_) => Some(1),
    };
    let nbytes = match head.header.chunksize {
        ChunkSize::Fixed(len) if head.error.is_none() => Some(len),
        _ => None,
    };
    let walked = walk(origin, head.end, Look { typesize, nbytes }, limits, progress)?;
    if walked.offsets.is_empty() && head.error.is_some() {
        // What the header says of them may be what is wrong.
        return walk(origin, head.end, Look::default(), limits, progress);
    }
    Ok(walked)
}

fn told(state: State, report: &mut RepairReport) -> State {
    let what = "the chunks that the last whole index of the file leads to";
    report.guessed.push(item(state.index.clone(), what));
    state
}

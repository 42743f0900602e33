//! What the new frame is made of: which chunks in which order, of what size, with which metadata.

use std::collections::HashMap;
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::report::RepairReport;
use container_core::source::zeroed_vec;
use container_core::{Error, Limits, Progress, Result};

use super::chunks::Origin;
use super::item;
use super::rebuild::Head;
use super::search::{State, last_state, leads_to_chunks, trailer_at};
use super::walk::{Look, walk};
use crate::b2nd::{self, Geometry, Meta};
use crate::checksums::{self, Digests};
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
    /// Whether the chunks are known by an index.
    pub by_index: bool,
    /// Digests of the chunks, where the frame has some that fit its index.
    pub digests: Option<Digests>,
}

impl Collected {
    /// Reads what is there, and picks the state that is brought back.
    pub fn new(origin: &Origin, limits: &Limits, report: &mut RepairReport) -> Result<Self> {
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
        let state = choose(origin, &head, limits, report)?;
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
            by_index: !state.index.is_empty(),
            offsets: state.offsets,
            array: None,
            trusted,
            limits: *limits,
            digests: None,
        })
    }

    /// Settles sizes: what header, metalayers and chunks say of each other.
    pub fn settle(&mut self, origin: &Origin, report: &mut RepairReport) -> Result<()> {
        let seen = Seen::of(origin, self.base, &self.offsets);
        let fixed = 0..crate::header::FIXED_LEN as u64;
        if self.header.typesize == 0 || i32::try_from(self.header.typesize).is_err() {
            self.header.typesize = seen.typesize.map_or(1, u32::from);
            let what = format!("elements of {} bytes, as chunks say", self.header.typesize);
            report.guessed.push(item(fixed.clone(), what));
        }
        const MOST_BLOCK: u32 = 536_866_816;
        if self.header.blocksize > MOST_BLOCK {
            let what = format!("blocks of {} bytes: left to each chunk", self.header.blocksize);
            report.guessed.push(item(fixed.clone(), what));
            self.header.blocksize = 0;
        }
        let by_header = match self.header.chunksize {
            ChunkSize::Variable if self.trusted => None,
            ChunkSize::Fixed(len) => Some(len),
            _ => seen.nbytes.first().copied(),
        };
        if let Some(len) = by_header {
            let usual = seen.usual();
            let fits = seen.nbytes.is_empty() || seen.nbytes.contains(&len);
            // One short chunk alone is no sign that others would be as short.
            let chunksize = if fits || (seen.nbytes.len() == 1 && usual < Some(len) && self.trusted) {
                len
            } else {
                let usual = usual.unwrap_or(len);
                let what = format!("chunks of {usual} bytes, as the chunks say, not of {len}");
                report.guessed.push(item(fixed.clone(), what));
                self.expected = None;
                self.trusted = false;
                usual
            };
            if seen.vary(chunksize) && self.header.version >= 3 {
                self.header.chunksize = ChunkSize::Variable;
            } else {
                self.header.chunksize = ChunkSize::Fixed(chunksize);
            }
        }
        self.settle_array(&seen, report);
        self.settle_count(origin, report)?;
        self.find_digests();
        Ok(())
    }

    /// Digests are of the chunks that the index leads to, and of the bytes that the header counts.
    fn find_digests(&mut self) {
        let stored = self.trailer.vlmetalayers.iter().find(|(name, _)| name == checksums::NAME);
        let value = stored.and_then(|(_, bytes)| {
            let chunk = Chunk::parse(bytes).ok()?;
            let mut value: Vec<u8> = zeroed_vec(chunk.nbytes() as u64, &self.limits).ok()?;
            Decoder::new().with_limits(self.limits).decode(&chunk, &mut value).ok()?;
            Some(value)
        });
        let Some(value) = value else { return };
        let by_array = self.array.map(|len| len.saturating_mul(self.offsets.len()));
        let parse = |nbytes| Digests::parse(&value, &self.offsets, nbytes, &self.limits);
        self.digests = [Some(self.header.nbytes), by_array].into_iter().flatten().find_map(parse);
    }

    /// Whether the shape of an array fits its chunks.
    fn settle_array(&mut self, seen: &Seen, report: &mut RepairReport) {
        let found = [b2nd::NAME, b2nd::OLD_NAME].into_iter().find(|name| self.metalayers.get(name).is_some());
        let Some(name) = found else { return };
        let item_len = usize::try_from(self.header.typesize).unwrap_or(1);
        let geometry = self.metalayers.get(name).map(|bytes| {
            let meta = Meta::parse(bytes)?;
            Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item_len)
        });
        let len = match self.header.chunksize {
            ChunkSize::Fixed(len) => Some(u64::from(len)),
            _ => None,
        };
        match geometry {
            Some(Ok(geometry)) if seen.nbytes.is_empty() || len == Some(geometry.chunk_bytes()) => {
                self.array = Some(geometry.chunk_bytes());
                self.expected = Some(geometry.chunk_count());
                if let Ok(len) = u32::try_from(geometry.chunk_bytes()) {
                    self.header.chunksize = ChunkSize::Fixed(len);
                }
                if let Ok(len) = u32::try_from(geometry.block_bytes()) {
                    self.header.blocksize = len;
                }
            }
            other => {
                let why = match other {
                    Some(Err(error)) => error.kind().to_string(),
                    _ => "its chunks are of another size".to_owned(),
                };
                let what = format!("the shape of the array ({why}): what it held becomes a row of elements");
                report.lost.push(item(crate::header::FIXED_LEN as u64..self.base, what));
                let others = self.metalayers.iter().filter(|(own, _)| *own != name);
                let mut kept = Metalayers::new();
                for (own, value) in others {
                    // Names that could be read can be written, or are no loss beside the shape.
                    let _ = kept.set(own, value.to_vec());
                }
                self.metalayers = kept;
            }
        }
    }

    /// Holds the number of chunks against what it is to be.
    fn settle_count(&mut self, origin: &Origin, report: &mut RepairReport) -> Result<()> {
        let found = self.offsets.len();
        let Some(expected) = self.expected else {
            if found == 0 && self.header.nbytes > 0 {
                return Err(Error::malformed("there is no chunk").at(0..origin.len()));
            }
            return Ok(());
        };
        let end = origin.len();
        if found == 0 && expected > 0 {
            let problem = "not one chunk can be found, nor an index that tells of any";
            return Err(Error::malformed(problem).at(self.base.min(end)..end));
        }
        if found != expected && self.array.is_none() && self.by_index {
            // The index leads to chunks; the header has but a sum.
            let what = format!("{found} chunks, as the index has, where the header speaks of {expected}");
            report.guessed.push(item(29..38, what));
            self.expected = None;
            self.trusted = false;
        } else if found > expected {
            let more = found - expected;
            let what = format!("{more} chunks beyond the {expected} that belong to the frame: left out");
            report.lost.push(item(end..end, what));
        } else if found < expected {
            let what = format!(
                "{} chunks of {expected} are not found: lost, or of zeros and never stored; zeros at the end take their place",
                expected - found
            );
            report.lost.push(item(end..end, what));
        }
        Ok(())
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
        let ChunkSize::Fixed(len) = self.header.chunksize else { return None };
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
fn choose(origin: &Origin, head: &Head, limits: &Limits, report: &mut RepairReport) -> Result<State> {
    let by_header = head.layout.as_ref().and_then(|layout| {
        let is_there = layout.header_range().end == head.end
            && (!layout.offsets().is_empty() || layout.expected_chunks() == Some(0));
        let range = layout.trailer_range();
        let found = (!range.is_empty()
            && !layout.faults().iter().any(|fault| fault.kind() == FaultKind::TrailerUnreadable))
        .then(|| (layout.trailer().clone(), range));
        let trailer = found.or_else(|| trailer_at(&*origin.source, layout.index().end, limits));
        is_there.then(|| State { offsets: layout.offsets().clone(), index: layout.index(), trailer })
    });
    if let Some(state) = by_header {
        let before = if state.index.is_empty() { origin.len() } else { state.index.start };
        if state.offsets.is_empty() || leads_to_chunks(origin, head.end, &state.offsets, before) {
            return Ok(state);
        }
        let good = |state: &State| {
            let is_good = |offset: &Offset| match offset {
                Offset::Stored(at) => origin.chunk_header(head.end, *at).is_some(),
                Offset::Special(_) => true,
                Offset::Unknown(_) => false,
            };
            match &state.offsets {
                Offsets::Same(offset, count) => {
                    if is_good(offset) {
                        *count
                    } else {
                        0
                    }
                }
                Offsets::Each(_) => state.offsets.iter().filter(is_good).count() as u64,
            }
        };
        return Ok(match last_state(origin, head.end, limits)? {
            Some(other) if good(&other) > good(&state) => told(other, report),
            _ => state,
        });
    }
    if let Some(state) = last_state(origin, head.end, limits)? {
        return Ok(told(state, report));
    }
    let typesize = u8::try_from(head.header.typesize).ok().filter(|typesize| *typesize > 0);
    let nbytes = match head.header.chunksize {
        ChunkSize::Fixed(len) if head.error.is_none() => Some(len),
        _ => None,
    };
    let typesize = if head.header.typesize > 255 { Some(1) } else { typesize };
    let look = Look { typesize, nbytes };
    let mut walked = walk(origin, head.end, look, limits, Progress::none())?;
    if walked.offsets.is_empty() && head.error.is_some() {
        // What the header says of them may be what is wrong.
        walked = walk(origin, head.end, Look::default(), limits, Progress::none())?;
    }
    for gap in walked.gaps {
        report.lost.push(item(gap, "no chunk begins here"));
    }
    if !walked.offsets.is_empty() {
        let what = "the order of the chunks: that in which they lie";
        report.guessed.push(item(head.end..origin.len(), what));
    }
    Ok(State { offsets: walked.offsets, index: 0..0, trailer: walked.trailer })
}

fn told(state: State, report: &mut RepairReport) -> State {
    let what = "the chunks that the last whole index of the file leads to";
    report.guessed.push(item(state.index.clone(), what));
    state
}

/// What the headers of chunks say.
struct Seen {
    typesize: Option<u8>,
    nbytes: Vec<u32>,
}

impl Seen {
    /// Of as many as tell something.
    const MOST: usize = 4096;

    fn of(origin: &Origin, base: u64, offsets: &Offsets) -> Self {
        let stored = offsets.iter().take(Self::MOST).filter_map(|offset| match offset {
            Offset::Stored(at) => origin.chunk_header(base, at),
            _ => None,
        });
        let headers: Vec<_> = stored.map(|(header, _)| header).collect();
        Self {
            typesize: headers.first().map(|header| header.typesize),
            nbytes: headers.iter().map(|header| header.nbytes).collect(),
        }
    }

    /// The size that most chunks have.
    fn usual(&self) -> Option<u32> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for nbytes in &self.nbytes {
            *counts.entry(*nbytes).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(nbytes, count)| (*count, *nbytes)).map(|(nbytes, _)| nbytes)
    }

    /// Whether others than the last are of another size.
    fn vary(&self, chunksize: u32) -> bool {
        let before = self.nbytes.len().saturating_sub(1);
        self.nbytes.iter().take(before).filter(|nbytes| **nbytes != chunksize).count() > before / 2
    }
}

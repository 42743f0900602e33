//! Byte map of a file: blocks, chunks, and the ranges between them.

use std::ops::Range;

use container_core::container::Segment;
use container_core::source::PIECE_LEN;
use container_core::{Limits, Result};

use crate::fault::{Fault, FaultKind};
use crate::file::File;
use crate::header;
use crate::index::IndexEntry;

/// The kind of a byte range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SegmentKind {
    /// The header.
    Header,
    /// Entries of the index.
    Index,
    /// Unused slots of the index.
    IndexRoom,
    /// The namelist up to the last name.
    Names,
    /// Unused bytes of the namelist.
    NamesRoom,
    /// The chunk of an entry.
    Chunk(IndexEntry),
    /// Zeros outside every known structure.
    Padding,
    /// An earlier copy of the index.
    DeadIndex,
    /// An earlier copy of the namelist.
    DeadNames,
    /// Data without an index entry.
    Orphan,
}

impl SegmentKind {
    pub(crate) const fn role(&self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Index => "index",
            Self::IndexRoom => "index room",
            Self::Names => "namelist",
            Self::NamesRoom => "namelist room",
            Self::Chunk(_) => "chunk",
            Self::Padding => "padding",
            Self::DeadIndex => "dead index",
            Self::DeadNames => "dead namelist",
            Self::Orphan => "orphan",
        }
    }
}

/// Passes the file to `visit` from the first byte to the last, each run once. Overlapping runs go to `overlap`, with the earlier
/// run.
pub(crate) fn walk(
    file: &File,
    limits: &Limits,
    mut visit: impl FnMut(Range<u64>, SegmentKind) -> Result<()>,
    mut overlap: impl FnMut(&SegmentKind, &SegmentKind, Range<u64>, bool),
) -> Result<()> {
    let len = file.layout().file_len();
    let mut runs = blocks(file);
    let entries = file.index();
    limits.allocate((entries.len() as u64).saturating_mul(size_of::<(Range<u64>, SegmentKind)>() as u64))?;
    for entry in entries.iter() {
        if let Some(range) = entry.byte_range().filter(|range| range.end <= len && range.start < range.end) {
            runs.push((range, SegmentKind::Chunk(entry)));
        }
    }
    runs.sort_by_key(|(range, _)| range.start);
    let marks = CopyMarkers::new(file);
    let (mut at, mut last): (u64, Option<(Range<u64>, SegmentKind)>) = (0, None);
    for (range, part) in runs {
        if let Some((before, owner)) = last.as_ref().filter(|(before, _)| before.end > range.start) {
            let shared = range.start..range.end.min(before.end);
            overlap(owner, &part, shared, *before == range);
        }
        if range.start > at {
            marks.gap(at..range.start, &mut visit)?;
        }
        let own = range.start.max(at)..range.end;
        if own.start < own.end {
            at = own.end;
            visit(own, part)?;
        }
        if last.as_ref().is_none_or(|(before, _)| range.end > before.end) {
            last = Some((range, part));
        }
    }
    if at < len {
        marks.gap(at..len, &mut visit)?;
    }
    Ok(())
}

/// Header, index and namelist, as far as they are in the file.
fn blocks(file: &File) -> Vec<(Range<u64>, SegmentKind)> {
    let (header, layout) = (file.header(), file.layout());
    let len = layout.file_len();
    let mut runs = vec![(0..header::LEN.min(len), SegmentKind::Header)];
    let mut add = |whole: Option<Range<u64>>, used: u64, parts: [SegmentKind; 2]| {
        let Some(whole) = whole else { return };
        let whole = whole.start.min(len)..whole.end.min(len);
        let end = whole.start.saturating_add(used).min(whole.end);
        for (range, part) in [(whole.start..end, parts[0]), (end..whole.end, parts[1])] {
            if range.start < range.end {
                runs.push((range, part));
            }
        }
    };
    let used = layout.entries().saturating_mul(header::INDEX_ENTRY_LEN);
    add(header.index_range(), used, [SegmentKind::Index, SegmentKind::IndexRoom]);
    add(header.namelist_range(), layout.names().used_len(), [SegmentKind::Names, SegmentKind::NamesRoom]);
    runs
}

/// First bytes of earlier copies of index and namelist.
struct CopyMarkers<'f> {
    file: &'f File,
    first_entry: Option<[u8; 32]>,
    first_name: Vec<u8>,
}

impl<'f> CopyMarkers<'f> {
    fn new(file: &'f File) -> Self {
        let first_entry = file.index().get(0).map(|entry| entry.to_bytes(file.header().byte_order));
        let name = file.names().bytes(0).unwrap_or_default();
        let first_name = if name.is_empty() { Vec::new() } else { [name, &[0]].concat() };
        Self { file, first_entry, first_name }
    }

    /// Determines the content of a gap.
    fn gap(
        &self,
        gap: Range<u64>,
        visit: &mut impl FnMut(Range<u64>, SegmentKind) -> Result<()>,
    ) -> Result<()> {
        let mut at = gap.start;
        while at < gap.end {
            // Enough bytes to recognize a copy; a longer gap continues in the next turn.
            let most =
                self.file.source().lend(at..gap.end).map_or(2 * PIECE_LEN as u64, |all| all.len() as u64);
            let bytes = self.file.source().read(at..gap.end.min(at.saturating_add(most)))?;
            let (len, part) = match self.initial(at, &bytes) {
                Some(initial) => initial,
                None => self.recognise(&bytes)?,
            };
            let mut end = at.saturating_add(len as u64);
            if len == bytes.len() && matches!(part, SegmentKind::Orphan) {
                end = gap.end;
            }
            visit(at..end, part)?;
            at = end;
        }
        Ok(())
    }

    /// The first blocks of a new file, unused where they grew before the first write: gsd puts an index of 128 entries at 256 and
    /// the namelist after it.
    fn initial(&self, at: u64, bytes: &[u8]) -> Option<(usize, SegmentKind)> {
        const INDEX: usize = 4096;
        let names = if self.file.header().is_v1() { 8192 } else { 1024 };
        let (len, part) = match at {
            header::LEN => (INDEX, SegmentKind::DeadIndex),
            _ if at == header::LEN + INDEX as u64 => (names, SegmentKind::DeadNames),
            _ => return None,
        };
        let block = bytes.get(..len)?;
        block.iter().all(|byte| *byte == 0).then_some((len, part))
    }

    /// Returns the length and the kind of the segment at the start of `bytes`.
    fn recognise(&self, bytes: &[u8]) -> Result<(usize, SegmentKind)> {
        let set = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
        if set == bytes.len() {
            return Ok((set, SegmentKind::Padding));
        }
        if self.first_entry.is_some_and(|first| bytes.starts_with(&first)) {
            return Ok((self.index_len(bytes), SegmentKind::DeadIndex));
        }
        if !self.first_name.is_empty() && bytes.starts_with(&self.first_name) {
            return Ok((self.names_len(bytes)?, SegmentKind::DeadNames));
        }
        let next = self.first_entry.and_then(|first| find(bytes, &first));
        Ok((next.unwrap_or(bytes.len()), SegmentKind::Orphan))
    }

    /// Entries equal to those of the index, and the zero slots after them.
    fn index_len(&self, bytes: &[u8]) -> usize {
        let order = self.file.header().byte_order;
        let slots = bytes.as_chunks::<32>().0;
        let same =
            self.file.index().iter().zip(slots).take_while(|(entry, slot)| entry.to_bytes(order) == **slot);
        let used = same.count();
        let free = slots[used..].iter().take_while(|slot| **slot == [0; 32]).count();
        (used + free) * 32
    }

    /// Names equal to those of the namelist, and the zeros after them, in whole units.
    fn names_len(&self, bytes: &[u8]) -> Result<usize> {
        let range = self.file.header().namelist_range().unwrap_or_default();
        let own = match self.file.source().read(range) {
            Err(error) if error.is_interruption() => return Err(error),
            own => own.unwrap_or_default(),
        };
        let same = bytes.iter().zip(own.iter()).take_while(|(a, b)| a == b).count();
        let end = bytes[same..].iter().position(|byte| *byte != 0).map_or(bytes.len(), |more| same + more);
        // A copy of a shorter list has a NUL where the present list continues.
        Ok(end.max(self.first_name.len()))
    }
}

/// The first offset of a pattern that begins with eight or more distinctive bytes.
fn find(bytes: &[u8], pattern: &[u8; 32]) -> Option<usize> {
    // The location is never 0, so it is the most selective field.
    let key: [u8; 8] = pattern[16..24].try_into().ok()?;
    (1..bytes.len().saturating_sub(31))
        .find(|at| bytes[at + 16..at + 24] == key && bytes[*at..at + 32] == *pattern)
}

/// One entry of the map.
pub(crate) fn segment(file: &File, range: Range<u64>, part: &SegmentKind) -> Segment {
    let mut segment = Segment { range: range.clone(), role: part.role().to_owned(), ..Segment::default() };
    if let SegmentKind::Chunk(entry) = part {
        let name = file.names().get(entry.id).unwrap_or_default();
        segment.codec = Some("none".to_owned());
        segment.stored = entry.size();
        segment.decoded = entry.size();
        segment.dataset = Some(format!("frames/{}/{name}", entry.frame));
    }
    segment
}

/// Bytes that no reader uses: copies of blocks, and data without an entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waste {
    pub(crate) dead: u64,
    pub(crate) orphan: u64,
}

pub(crate) fn waste(file: &File, limits: &Limits) -> Result<Waste> {
    let mut waste = Waste::default();
    walk(
        file,
        limits,
        |range, part| {
            let len = range.end - range.start;
            match part {
                SegmentKind::DeadIndex | SegmentKind::DeadNames => waste.dead += len,
                SegmentKind::Orphan => waste.orphan += len,
                _ => {}
            }
            Ok(())
        },
        |_, _, _, _| {},
    )?;
    Ok(waste)
}

/// Lists faults and oddities of the positions of chunks.
pub(crate) fn faults(file: &File, limits: &Limits) -> Result<Vec<Fault>> {
    let mut found = crate::fault::Faults::default();
    let mut shared = crate::fault::Faults::default();
    walk(
        file,
        limits,
        |range, part| {
            let len = range.end - range.start;
            match part {
                SegmentKind::DeadIndex => {
                    found.push(Fault::new(
                        FaultKind::DeadIndex,
                        range,
                        format!("{len} bytes of an earlier copy of the index"),
                    ));
                }
                SegmentKind::DeadNames => found.push(Fault::new(
                    FaultKind::DeadBytes,
                    range,
                    format!("{len} bytes of an earlier copy of the namelist"),
                )),
                SegmentKind::Orphan => {
                    found.push(Fault::new(
                        FaultKind::OrphanBytes,
                        range,
                        format!("{len} bytes outside every chunk, where repair looks for frames"),
                    ));
                }
                _ => {}
            }
            Ok(())
        },
        |one, other, range, same| {
            let (kind, what) = match (one, other) {
                (SegmentKind::Chunk(a), SegmentKind::Chunk(b)) if same && a.type_code == b.type_code => {
                    (FaultKind::SharedBytes, "two entries point to the same bytes")
                }
                (SegmentKind::Chunk(_), SegmentKind::Chunk(_)) => {
                    (FaultKind::ChunksOverlap, "two chunks overlap")
                }
                _ => (FaultKind::ChunkInBlock, "a chunk overlaps header, index or namelist"),
            };
            shared.add(kind, range, || what.to_owned());
        },
    )?;
    let mut all = found.into_vec();
    all.extend(shared.into_vec());
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;

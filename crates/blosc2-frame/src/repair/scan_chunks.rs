//! Scans a frame for consecutive chunks, where no index lists them.

use std::ops::Range;

use blosc_chunk::{Chunk, Decoder, Geometry, Header as ChunkHeader};
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Limits, Progress, Result};

use super::input::{DamagedFrame, chunk_start_at, header_at};
use super::scan_indexes::trailer_at;
use crate::offsets::Offsets;
use crate::trailer::Trailer;

/// Result of a scan for chunks.
pub(super) struct FoundChunks {
    pub offsets: Offsets,
    /// Bytes between chunks that belong to none.
    pub gaps: Vec<Range<u64>>,
    /// The last trailer.
    pub trailer: Option<(Trailer, Range<u64>)>,
    /// End of the chunk within which the file ends.
    pub cut: Option<u64>,
}

/// Known properties that every chunk of the frame has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChunkPattern {
    /// Typesize in chunk headers.
    pub typesize: Option<u8>,
    /// Largest decoded size in bytes.
    pub nbytes: Option<u32>,
}

impl ChunkPattern {
    fn fits(self, header: &ChunkHeader) -> bool {
        self.typesize.is_none_or(|typesize| typesize == header.typesize)
            && self.nbytes.is_none_or(|nbytes| header.nbytes <= nbytes)
    }
}

/// Scans for chunks from byte `base` on.
pub(super) fn scan(
    origin: &DamagedFrame,
    base: u64,
    pattern: ChunkPattern,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<FoundChunks> {
    if let Some(parts) = &origin.parts {
        let files = parts.list()?.into_iter().filter(|(number, _)| {
            // A stray or incomplete file is not a chunk.
            origin.chunk_header(0, *number).is_some_and(|(header, _)| pattern.fits(&header))
        });
        let numbers = files.filter_map(|(number, _)| i64::try_from(number).ok()).collect();
        return Ok(FoundChunks {
            offsets: Offsets::Each(numbers),
            gaps: Vec::new(),
            trailer: None,
            cut: None,
        });
    }
    let source = &*origin.source;
    let total = source.len();
    let mut scanner = Scanner {
        source,
        pattern,
        limits,
        decoder: Decoder::new().with_limits(*limits),
        numbers: Vec::new(),
        base,
    };
    let mut gaps = Vec::new();
    let mut trailer = None;
    let mut cut = None;
    let mut at = base;
    while at < total {
        progress.tick(at, total)?;
        if let Some(end) = scanner.step(at) {
            at = end;
        } else if let Some(found) = trailer_at(source, at, limits) {
            at = found.1.end;
            trailer = Some(found);
        } else {
            let next = scanner.next_from(at + 1)?.unwrap_or(total);
            if next == total {
                cut = scanner.cut(at);
            }
            gaps.push(at..next);
            at = next;
        }
    }
    Ok(FoundChunks { offsets: Offsets::Each(scanner.numbers), gaps, trailer, cut })
}

struct Scanner<'s> {
    source: &'s dyn Source,
    pattern: ChunkPattern,
    limits: &'s Limits,
    decoder: Decoder,
    numbers: Vec<i64>,
    base: u64,
}

impl Scanner<'_> {
    /// Takes a chunk of data or of offsets at byte `at`, and returns its end; `None` for other bytes.
    fn step(&mut self, at: u64) -> Option<u64> {
        let (header, range) = header_at(self.source, at)?;
        if self.is_index(&header, &range) {
            return Some(range.end);
        }
        if !self.pattern.fits(&header) {
            return None;
        }
        self.limits.allocate(range.end - range.start).ok()?;
        let bytes = self.source.read(range.clone()).ok()?;
        Chunk::parse(&bytes).ok()?;
        self.numbers.push(i64::try_from(at.checked_sub(self.base)?).ok()?);
        Some(range.end)
    }

    /// Returns the end of the chunk that begins at byte `at` and that the source cuts, if one of its blocks is complete.
    fn cut(&mut self, at: u64) -> Option<u64> {
        let (header, range) = chunk_start_at(self.source, at)?;
        // The most that an encoder makes of incompressible data.
        let most = u64::from(header.nbytes).saturating_add(ChunkHeader::MAX_LEN as u64);
        let may_be = range.end > self.source.len() && u64::from(header.cbytes) <= most;
        if !may_be || !self.pattern.fits(&header) || header.special().is_some() {
            return None;
        }
        let stored = self.source.read(at..self.source.len()).ok()?;
        let mut bytes: Vec<u8> = try_zeroed_vec(range.end - range.start, self.limits).ok()?;
        bytes[..stored.len()].copy_from_slice(&stored);
        let chunk = Chunk::parse(&bytes).ok()?;
        let mut room: Vec<u8> = try_zeroed_vec(chunk.nbytes() as u64, self.limits).ok()?;
        let whole = self.decoder.decode_intact_blocks(&chunk, stored.len(), &mut room).ok()?;
        whole.contains(&true).then_some(range.end)
    }

    /// Offsets of the chunks before. If some of these are damaged, the chunk followed by a trailer counts, as one follows each index. In
    /// a frame of elements of 8 bytes only that distinguishes an index from data.
    fn is_index(&self, header: &ChunkHeader, range: &Range<u64>) -> bool {
        if header.typesize != 8
            || !header.nbytes.is_multiple_of(8)
            || u64::from(header.nbytes / 8) > range.start
        {
            return false;
        }
        if trailer_at(self.source, range.end, self.limits).is_some() {
            return true;
        }
        let decoded = || {
            self.limits.allocate(range.end - range.start).ok()?;
            let bytes = self.source.read(range.clone()).ok()?;
            Offsets::decode(&bytes, None, self.limits).ok()
        };
        let Some(offsets) = decoded() else { return false };
        let is_known = |raw: i64| match crate::offsets::Offset::from_raw(raw) {
            crate::offsets::Offset::Stored(_) => self.numbers.binary_search(&raw).is_ok(),
            crate::offsets::Offset::Special(_) => true,
            crate::offsets::Offset::Unknown(_) => false,
        };
        match offsets {
            Offsets::Same(offset, _) => is_known(offset.to_raw()) && !self.numbers.is_empty(),
            Offsets::Each(numbers) => numbers.iter().all(|raw| is_known(*raw)),
        }
    }

    /// Finds the next byte from `at` on where a chunk begins that decodes, an index or a trailer.
    fn next_from(&mut self, at: u64) -> Result<Option<u64>> {
        const WINDOW_LEN: u64 = 1 << 20;
        let mut start = at;
        while start < self.source.len() {
            let end = (start + WINDOW_LEN).min(self.source.len());
            let bytes = self.source.read(start..end)?;
            for (place, pair) in bytes.windows(4).enumerate() {
                let here = start + place as u64;
                let is_trailer = pair == [0x94, 0x01, 0x93, 0xcd];
                let may_be_chunk =
                    matches!(pair, [5 | 6, _, flags, typesize] if flags & 5 == 5 && *typesize > 0);
                if is_trailer && trailer_at(self.source, here, self.limits).is_some()
                    || may_be_chunk && self.decodes(here)
                {
                    return Ok(Some(here));
                }
            }
            if end == self.source.len() {
                break;
            }
            start = end - 3;
        }
        Ok(None)
    }

    fn decodes(&mut self, at: u64) -> bool {
        let Some((header, range)) = header_at(self.source, at) else { return false };
        if self.is_index(&header, &range) {
            return true;
        }
        if !self.pattern.fits(&header) || header.special().is_some() {
            return false;
        }
        let mut decode = || {
            self.limits.allocate(range.end - range.start).ok()?;
            let bytes = self.source.read(range.clone()).ok()?;
            let chunk = Chunk::parse(&bytes).ok()?;
            let mut room: Vec<u8> = try_zeroed_vec(chunk.nbytes() as u64, self.limits).ok()?;
            self.decoder.decode(&chunk, &mut room).ok()
        };
        decode().is_some()
    }
}

/// Creates a decoder of chunks without their frame.
pub(super) fn decoder(geometry: Geometry, limits: &Limits) -> Decoder {
    Decoder::new().with_limits(*limits).with_geometry(geometry)
}

//! Locations of chunks, and their stored bytes.

use std::borrow::Cow;
use std::ops::Range;

use blosc_chunk::{Compressor, Filter, Header as ChunkHeader, MAX_CHUNK_NBYTES, Pipeline, Special};
use container_core::container::Digests;
use container_core::source::Source;
use container_core::{Error, Result, Stop};

use super::Frame;
use crate::fault::FaultKind;
use crate::header::ChunkSize;
use crate::offsets::Offset;
use crate::sparse_directory::part_name;

/// The longest header of a chunk, and the bytes that determine its number of blocks.
const HEADER_READ_LEN: usize = ChunkHeader::MAX_LEN + 12;

/// Bytes of a chunk that are read at once with its header: twice what chunks take on average, within these bounds. One read more costs as
/// much as some ten kilobytes.
const MIN_GUESS: u64 = 512;
const MAX_GUESS: u64 = 64 << 10;

/// The bytes of a stored chunk, still in their source.
pub(crate) enum ChunkLocation<'f> {
    /// A range of the frame itself.
    Frame(&'f dyn Source, Range<u64>),
    /// A range of a file of its own, with its name.
    Part(Box<dyn Source>, String, Range<u64>),
}

impl<'f> ChunkLocation<'f> {
    pub(crate) fn source(&self) -> &dyn Source {
        match self {
            Self::Frame(source, _) => *source,
            Self::Part(source, ..) => source,
        }
    }

    pub(crate) fn range(&self) -> Range<u64> {
        match self {
            Self::Frame(_, range) | Self::Part(_, _, range) => range.clone(),
        }
    }

    pub(crate) fn part(&self) -> Option<&str> {
        match self {
            Self::Frame(..) => None,
            Self::Part(_, name, _) => Some(name),
        }
    }

    /// Returns the bytes that the range counts in, for longer.
    pub(crate) fn into_source(self) -> Box<dyn Source + 'f> {
        match self {
            Self::Frame(source, _) => Box::new(source),
            Self::Part(source, ..) => source,
        }
    }

    /// Says of an error about the chunk `index`, whose range counts from its start, where in the file that is.
    pub(crate) fn in_chunk(&self, error: Error, index: u64) -> Error {
        if error.is_interruption() {
            return error;
        }
        let own = self.range();
        let range = error.range().map_or_else(
            || own.clone(),
            |range| own.start.saturating_add(range.start)..own.start.saturating_add(range.end),
        );
        let error =
            Error::new(error.into_kind()).with_range(range).with_context(format!("blosc2 chunk {index}"));
        match self.part() {
            Some(part) => error.in_file(part),
            None => error,
        }
    }
}

impl Frame {
    /// Returns the chunk `index` as it is stored, borrowed if the source can; for a mark, the 32 bytes that express it. Its digest, if
    /// the frame has digests, is compared first.
    ///
    /// # Errors
    /// `Usage` for a chunk that does not exist, `Truncated` and `Malformed` for one outside of the area of chunks, `Checksum`, those of
    /// the source.
    pub fn chunk(&self, index: u64) -> Result<Cow<'_, [u8]>> {
        self.chunk_by(index, Digests::Compare, self.options.limits.stop)
    }

    /// As [`Frame::chunk`], with the digest compared or not.
    ///
    /// # Errors
    /// As [`Frame::chunk`].
    pub(crate) fn chunk_by(&self, index: u64, digests: Digests, stop: Stop) -> Result<Cow<'_, [u8]>> {
        let bytes = self.chunk_uncompared(index)?;
        if digests != Digests::Ignore {
            self.verified_reads.compare(self, index, &bytes, stop).map_err(|error| {
                match self.locate(index) {
                    Ok(LocatedChunk::Stored(place)) => place.in_chunk(error, index),
                    _ => error,
                }
            })?;
        }
        Ok(bytes)
    }

    /// Returns the stored bytes of the chunk `index`, even if they do not match its digest: for checks, which compare them themselves,
    /// and for readers that ignore digests. Code that passes bytes on calls [`Frame::chunk`].
    ///
    /// # Errors
    /// As [`Frame::chunk`], but for `Checksum`.
    pub(crate) fn chunk_uncompared(&self, index: u64) -> Result<Cow<'_, [u8]>> {
        if let Some(bytes) = self.small_chunk(index) {
            return Ok(Cow::Owned(bytes));
        }
        match self.locate(index)? {
            LocatedChunk::Special(special) => {
                let mut bytes = Vec::with_capacity(ChunkHeader::MAX_LEN);
                self.special_header(index, special)?.encode(&mut bytes);
                Ok(Cow::Owned(bytes))
            }
            LocatedChunk::Stored(ChunkLocation::Frame(source, range)) => {
                if source.lend(range.clone()).is_none() {
                    self.options.limits.allocate(range.end.saturating_sub(range.start))?;
                }
                source.read(range)
            }
            LocatedChunk::Stored(place) => {
                let range = place.range();
                self.options.limits.allocate(range.end.saturating_sub(range.start))?;
                let bytes = place.source().read(range);
                Ok(Cow::Owned(bytes.map_err(|error| place.in_chunk(error, index))?.into_owned()))
            }
        }
    }

    /// Numbers and sizes of the files of chunks of a sparse frame, by number; none where they cannot be listed.
    pub(crate) fn part_sizes(&self) -> Vec<(u64, u64)> {
        self.parts.as_ref().and_then(|parts| parts.list().ok()).unwrap_or_default()
    }

    /// Reads the stored bytes of a chunk in one read, header and all, if chunks of this frame are small and the source does not lend.
    /// `None` if that fails; the usual way then returns the chunk, or the error.
    pub(crate) fn small_chunk(&self, index: u64) -> Option<Vec<u8>> {
        let Offset::Stored(at) = self.layout.offsets().get(index)? else { return None };
        let section = self.layout.chunks();
        let guess = section.end.saturating_sub(section.start).checked_div(self.chunk_count())?;
        let guess = guess.saturating_mul(2).max(MIN_GUESS);
        let start = section.start.checked_add(at).filter(|start| *start < section.end)?;
        let range = start..start.saturating_add(guess).min(section.end);
        if guess > MAX_GUESS || self.source.lend(range.clone()).is_some() {
            return None;
        }
        self.options.limits.allocate(guess).ok()?;
        let mut bytes = self.source.read(range).ok()?.into_owned();
        let header = ChunkHeader::parse_with_starts(bytes.get(..HEADER_READ_LEN.min(bytes.len()))?).ok()?;
        let len = usize::try_from(header.cbytes).ok().filter(|len| *len <= bytes.len())?;
        bytes.truncate(len);
        Some(bytes)
    }

    /// Returns the offset of the chunk `index` in the index.
    ///
    /// # Errors
    /// `Usage` for a chunk that does not exist; the error of an index that contradicts the header.
    pub(crate) fn offset(&self, index: u64) -> Result<Offset> {
        if let Some(offset) = self.layout.offsets().get(index) {
            return Ok(offset);
        }
        let count = self.chunk_count();
        let announced = self.layout.expected_chunks().is_none_or(|expected| index < expected);
        let is_lost = |kind| matches!(kind, FaultKind::IndexCount | FaultKind::IndexUnreadable);
        let structural = self.layout.faults().iter().filter(|fault| fault.kind().is_structural());
        let mut lost: Vec<_> = structural.collect();
        lost.sort_by_key(|fault| !is_lost(fault.kind()));
        match lost.first() {
            Some(fault) if announced => Err(fault.error()),
            _ => Err(Error::usage(format!("no chunk {index} (there are {count})"))),
        }
    }

    /// Locates the bytes of the chunk `index`, if it has any. Its header is read for their number.
    pub(crate) fn locate(&self, index: u64) -> Result<LocatedChunk<'_>> {
        Ok(match self.locate_with_header(index)? {
            LocatedHeader::Stored(place, _) => LocatedChunk::Stored(place),
            LocatedHeader::Special(special) => LocatedChunk::Special(special),
        })
    }

    /// Range of a stored chunk as it is announced to a far source: to the next offset of the index, and no further than an uncompressed chunk reaches.
    /// Chunks of frames whose chunks are files are not announced.
    pub(super) fn announced_range(&self, index: u64) -> Option<Range<u64>> {
        let ChunkSize::Fixed(chunksize) = self.header().chunksize else { return None };
        if self.header().kind == crate::header::Kind::Sparse {
            return None;
        }
        let section = self.layout.chunks();
        let longest = u64::from(chunksize).saturating_add(ChunkHeader::MAX_LEN as u64);
        let offsets = self.layout.offsets();
        let stored = |index| match offsets.get(index) {
            Some(Offset::Stored(at)) => Some(section.start.saturating_add(at)),
            _ => None,
        };
        let start = stored(index)?;
        let next = stored(index.saturating_add(1)).filter(|next| *next > start).unwrap_or(section.end);
        Some(start..next.min(start.saturating_add(longest)).min(section.end))
    }

    /// As [`Frame::locate`], with the header that was read.
    pub(crate) fn locate_with_header(&self, index: u64) -> Result<LocatedHeader<'_>> {
        let at = match self.offset(index)? {
            Offset::Stored(at) => at,
            Offset::Special(special) => return Ok(LocatedHeader::Special(special)),
            Offset::Unknown(raw) => {
                let problem = format!("unknown offset {raw:#018x}");
                let error = Error::malformed(problem).with_range(self.layout.index());
                return Err(error.with_context(format!("blosc2 chunk {index}")));
            }
        };
        let place = if self.header().kind == crate::header::Kind::Sparse {
            let parts = self.parts.as_ref().ok_or_else(|| {
                Error::unsupported("the chunks of a sparse frame are files of a directory, which is not here")
                    .with_context(format!("blosc2 chunk {index}"))
            })?;
            let limits = &self.options.limits;
            let source = parts
                .open(at, limits)
                .map_err(|error| error.with_context(format!("blosc2 chunk {index}")))?;
            let len = source.len();
            ChunkLocation::Part(source, part_name(at), 0..len)
        } else {
            let section = self.layout.chunks();
            let start = section.start.saturating_add(at);
            if start >= section.end {
                let problem = format!("the offset {at} is outside the chunks, which end at {}", section.end);
                let error = Error::malformed(problem).with_range(self.layout.index());
                return Err(error.with_context(format!("blosc2 chunk {index}")));
            }
            ChunkLocation::Frame(&self.source, start..section.end)
        };
        let room = place.range();
        let have = room.end.saturating_sub(room.start);
        let head = self.head(&place).map_err(|error| place.in_chunk(error, index))?;
        let len = u64::from(head.cbytes);
        if len > have {
            return Err(place.in_chunk(Error::truncated(0..len, have), index));
        }
        let range = room.start..room.start.saturating_add(len);
        let place = match place {
            ChunkLocation::Frame(source, _) => ChunkLocation::Frame(source, range),
            ChunkLocation::Part(source, name, _) => ChunkLocation::Part(source, name, range),
        };
        // Of a chunk that short, some of what was read is not its own.
        let head = if len < HEADER_READ_LEN as u64 { self.head(&place) } else { Ok(head) };
        match head {
            Ok(head) => Ok(LocatedHeader::Stored(place, head)),
            Err(error) => Err(place.in_chunk(error, index)),
        }
    }

    /// Reads the header of the chunk at a place, with ranges from its start.
    fn head(&self, place: &ChunkLocation<'_>) -> Result<ChunkHeader> {
        let range = place.range();
        let end = range.end.min(range.start.saturating_add(HEADER_READ_LEN as u64));
        let mut head = [0; HEADER_READ_LEN];
        let head = &mut head[..usize::try_from(end - range.start).unwrap_or(0)];
        place.source().read_into(range.start, head)?;
        ChunkHeader::parse_with_starts(head)
    }

    /// Reads the header of the chunk `index`; of one that is not stored, the one that it would have.
    ///
    /// # Errors
    /// As [`Frame::chunk`].
    pub fn chunk_header(&self, index: u64) -> Result<ChunkHeader> {
        match self.locate_with_header(index)? {
            LocatedHeader::Special(special) => self.special_header(index, special),
            LocatedHeader::Stored(_, head) => Ok(head),
        }
    }

    /// Returns the header that C-Blosc2 makes up for a chunk that is not stored.
    pub(crate) fn special_header(&self, index: u64, special: Special) -> Result<ChunkHeader> {
        let len = self.chunk_len(index)?;
        let nbytes = u32::try_from(len).ok().filter(|len| *len <= MAX_CHUNK_NBYTES).ok_or_else(|| {
            let problem = format!("a chunk of {len} bytes, more than a chunk can have");
            Error::malformed(problem)
                .with_range(self.layout.index())
                .with_context(format!("blosc2 chunk {index}"))
        })?;
        let blocksize = match self.header().blocksize {
            0 => nbytes,
            len => len.min(nbytes),
        };
        Ok(ChunkHeader {
            version: 5,
            versionlz: 1,
            flags: 0x05,
            typesize: u8::try_from(self.header().typesize).unwrap_or(1).max(1),
            nbytes,
            blocksize: blocksize.max(1),
            cbytes: 32,
            filters: Pipeline([Filter::default(); 6]),
            compressor: Compressor::BLOSCLZ,
            codec_meta: 0,
            blosc2_flags2: 0,
            blosc2_flags: special.code() << 4,
            extended: true,
        })
    }
}

/// A chunk located by its offset: stored bytes, or a special value.
pub(crate) enum LocatedChunk<'f> {
    Stored(ChunkLocation<'f>),
    Special(Special),
}

/// As [`LocatedChunk`], with the chunk header.
pub(crate) enum LocatedHeader<'f> {
    Stored(ChunkLocation<'f>, ChunkHeader),
    Special(Special),
}

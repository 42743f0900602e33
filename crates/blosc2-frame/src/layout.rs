//! Layout of a frame: owned facts, made from any source. Only the index is decoded; chunks are not read.
//!
//! A [`Layout`] is missing only for bytes that are not a frame, a frame of an unknown kind, or one without a whole header. All other
//! damage is recorded as [`Fault`]s, so that a damaged frame can still be shown, explained and repaired.

use std::borrow::Cow;
use std::ops::Range;

use container_core::container::Tolerance;
use container_core::source::Source;
use container_core::{Error, Limits, Result};

use crate::fault::{Fault, FaultKind};
use crate::header::{ChunkSize, FIXED_LEN, Header, Kind};
use crate::metalayer::Metalayers;
use crate::offsets::Offsets;
use crate::trailer::{BARE_LEN, TAIL_LEN, Trailer, len_of};

mod checks;

pub(crate) use checks::MAX_FILTER_META;

/// Bytes from the start of a frame that are read at once: header and metalayers of most frames.
pub(crate) const HEAD_READ_LEN: u64 = 512;

/// Longest end of a frame that is fetched at once from a far source: the index of thousands of chunks, and the trailer.
const FAR_TAIL_LEN: u64 = 64 << 10;

/// Bytes before the end of a frame that are read at once: most trailers are shorter.
const TAIL_READ_LEN: u64 = 512;

/// Largest number of bytes between chunks and trailer that are read at once: the index of some ten thousand chunks.
const MAX_INDEX_READ_LEN: u64 = 64 << 10;

/// The layout of a frame. Ranges are absolute in the file that holds it (of a sparse frame, its index file).
#[derive(Clone, Debug)]
pub struct Layout {
    start: u64,
    file_len: u64,
    header: Header,
    metalayers: Metalayers,
    offsets: Offsets,
    index: Range<u64>,
    trailer: Trailer,
    trailer_range: Range<u64>,
    faults: Vec<Fault>,
}

impl Layout {
    /// Reads header, index and trailer of the frame that begins at byte `start`.
    ///
    /// # Errors
    /// `WrongFormat` without the magic; `Unsupported` for undefined versions and kinds; `Truncated` and `Malformed` for the fixed
    /// part of the header; `Limit` when index or trailer do not fit; those of the source.
    pub fn parse(source: &dyn Source, start: u64, limits: &Limits) -> Result<Self> {
        let file_len = source.len();
        if start > file_len {
            return Err(Error::usage(format!("a frame at byte {start} of {file_len}")));
        }
        let head = source.read(start..start.saturating_add(HEAD_READ_LEN).min(file_len))?;
        Self::parse_after(&head, source, start, limits)
    }

    /// As [`Layout::parse`], after the bytes from `start` on have been read: [`HEAD_READ_LEN`] of them, or as many as there are.
    pub(crate) fn parse_after(head: &[u8], source: &dyn Source, start: u64, limits: &Limits) -> Result<Self> {
        let file_len = source.len();
        let fixed = start.saturating_add(FIXED_LEN as u64).min(file_len);
        let first = head.get(..FIXED_LEN).unwrap_or(head);
        let (header, impossible) = Header::parse_any(first).map_err(|error| error.shifted(start))?;
        let mut layout = Self {
            start,
            file_len,
            header,
            metalayers: Metalayers::new(),
            offsets: Offsets::Each(Vec::new()),
            index: start..start,
            trailer: Trailer::default(),
            trailer_range: start..start,
            faults: Vec::new(),
        };
        for (kind, error) in impossible {
            let error = error.shifted(start);
            let range = error.range().unwrap_or(start..fixed);
            layout.faults.push(Fault::of_error(kind, error, range));
        }
        layout.check_fields(first);
        if layout.read_metalayers(head, source, limits)? {
            layout.read_trailer(source, limits)?;
            layout.read_index(source, limits)?;
            layout.check_offsets();
        }
        layout.check_rest();
        layout.faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity()));
        Ok(layout)
    }

    /// Returns the offset of the frame in its file.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Bytes of the file that holds it.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.file_len
    }

    /// Returns the end of the frame by its header, which may be after the end of the file.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start.saturating_add(self.header.frame_len)
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the bytes of the header with its metalayers.
    #[must_use]
    pub fn header_range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.header.header_len.into())
    }

    /// Returns the metalayers.
    #[must_use]
    pub const fn metalayers(&self) -> &Metalayers {
        &self.metalayers
    }

    /// Returns the bytes between header and index, dead space included; empty in a sparse frame. Cut at the end of the file.
    #[must_use]
    pub fn chunks(&self) -> Range<u64> {
        let start = self.header_range().end.min(self.file_len);
        let len = if self.header.kind == Kind::Sparse { 0 } else { self.header.cbytes };
        let end = start.saturating_add(len).min(self.file_len);
        // A frame whose chunks were all deleted still counts their bytes, and has none of them.
        start..if self.header.nbytes == 0 { end.min(self.index.start.max(start)) } else { end }
    }

    /// Returns the offsets of the chunks.
    #[must_use]
    pub const fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Returns the number of chunks by the header; `None` where chunks are of different sizes, or the header does not give
    /// it.
    #[must_use]
    pub fn expected_chunks(&self) -> Option<u64> {
        match (self.header.chunksize, self.header.nbytes) {
            (ChunkSize::Variable, _) => None,
            (_, 0) => Some(0),
            (ChunkSize::Unset, _) => None,
            (ChunkSize::Fixed(len), nbytes) => Some(nbytes.div_ceil(u64::from(len).max(1))),
        }
    }

    /// Returns the bytes of the decoded chunk `index` by the header; `None` if the header does not determine them.
    #[must_use]
    pub fn expected_len(&self, index: u64) -> Option<u64> {
        let ChunkSize::Fixed(len) = self.header.chunksize else { return None };
        let start = index.checked_mul(len.into())?;
        self.header.nbytes.checked_sub(start).filter(|left| *left > 0).map(|left| left.min(len.into()))
    }

    /// Returns the bytes of the chunk that holds the offsets; empty for a frame without chunks.
    #[must_use]
    pub fn index(&self) -> Range<u64> {
        self.index.clone()
    }

    /// Returns the trailer.
    #[must_use]
    pub const fn trailer(&self) -> &Trailer {
        &self.trailer
    }

    /// Returns the bytes of the trailer; empty where it was not found.
    #[must_use]
    pub fn trailer_range(&self) -> Range<u64> {
        self.trailer_range.clone()
    }

    /// Returns all errors and oddities that are found without reading chunks; errors first.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Returns the first fault that keeps the frame from being opened.
    #[must_use]
    pub fn blocking(&self, tolerance: Tolerance) -> Option<&Fault> {
        let strict = tolerance == Tolerance::Strict;
        self.faults.iter().find(|fault| strict && fault.kind().is_structural())
    }

    fn add_fault(&mut self, kind: FaultKind, range: Range<u64>, message: impl Into<String>) {
        self.faults.push(Fault::new(kind, range, message));
    }

    /// Returns the end of the frame, or of the file that is cut before it.
    fn available_end(&self) -> u64 {
        self.end().min(self.file_len)
    }

    /// Checks the lengths of header and frame, and reads the metalayers. False if the parts after such a header cannot exist.
    fn read_metalayers(&mut self, head: &[u8], source: &dyn Source, limits: &Limits) -> Result<bool> {
        let header_len = u64::from(self.header.header_len);
        let end = self.end();
        if header_len < FIXED_LEN as u64
            || header_len.saturating_add(BARE_LEN.into()) > self.header.frame_len
            || end == u64::MAX
        {
            let message = format!(
                "a header of {header_len} bytes in a frame of {}, which ends with {BARE_LEN} or more of trailer",
                self.header.frame_len
            );
            let kind = if self.header.frame_len < header_len.max(132) || end == u64::MAX {
                FaultKind::FrameLen
            } else {
                FaultKind::HeaderLen
            };
            self.add_fault(kind, self.field(10, 14), message);
            return Ok(false);
        }
        if end > self.file_len {
            let claimed = self.start..end;
            let fault = Fault::truncated(FaultKind::FrameTruncated, claimed, self.file_len, "the frame");
            self.faults.push(fault);
        }
        let region = self.field(FIXED_LEN as u64, header_len.saturating_sub(FIXED_LEN as u64));
        if region.end > self.file_len {
            return Ok(false);
        }
        let bytes = match usize::try_from(header_len).ok().and_then(|end| head.get(FIXED_LEN..end)) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => read(source, region.clone(), limits),
        };
        let parsed = bytes.and_then(|bytes| Metalayers::parse(&bytes, FIXED_LEN as u64));
        match parsed {
            Ok(metalayers) => self.metalayers = metalayers,
            Err(error) => self.fail(FaultKind::MetalayersUnreadable, error.shifted(self.start), region)?,
        }
        Ok(true)
    }

    fn read_trailer(&mut self, source: &dyn Source, limits: &Limits) -> Result<()> {
        let end = self.end();
        self.trailer_range = self.available_end()..self.available_end();
        if end > self.file_len {
            return Ok(());
        }
        let tail = end.saturating_sub(TAIL_LEN as u64)..end;
        if source.is_far() {
            // Index and trailer follow the chunks, and are short in most frames.
            let after_chunks = self.header_range().end.saturating_add(self.header.cbytes);
            source.prefetch(&[after_chunks.max(end.saturating_sub(FAR_TAIL_LEN)).min(end)..end])?;
        }
        let most = self.header.frame_len.saturating_sub(self.header.header_len.into());
        // Most trailers are short, and are read with their last bytes.
        let near = source.read(end.saturating_sub(most.min(TAIL_READ_LEN).max(TAIL_LEN as u64))..end)?;
        let len = len_of(near.get(near.len().saturating_sub(TAIL_LEN)..).unwrap_or_default()).map(u64::from);
        let Some(len) = len.filter(|len| (u64::from(BARE_LEN)..=most).contains(len)) else {
            let message = "the frame does not end with the length of its trailer";
            self.add_fault(FaultKind::TrailerUnreadable, tail, message);
            return Ok(());
        };
        let region = end.saturating_sub(len)..end;
        self.trailer_range = region.clone();
        let at = region.start.saturating_sub(self.start);
        let own = usize::try_from(len).ok().and_then(|len| near.get(near.len().checked_sub(len)?..));
        let bytes = match own {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => read(source, region.clone(), limits),
        };
        match bytes.and_then(|bytes| Trailer::parse(&bytes, at)) {
            Ok(trailer) => self.trailer = trailer,
            Err(error) => {
                self.fail(FaultKind::TrailerUnreadable, error.shifted(self.start), region)?;
                // Its length may be the damaged value.
                self.trailer_range = end..end;
            }
        }
        Ok(())
    }

    fn read_index(&mut self, source: &dyn Source, limits: &Limits) -> Result<()> {
        let start = self.header_range().end;
        let end = self.trailer_range.start;
        let cbytes = if self.header.kind == Kind::Sparse { 0 } else { self.header.cbytes };
        let at = start.saturating_add(cbytes);
        self.index = at.min(end)..end;
        if at > end && self.header.nbytes == 0 {
            let message = format!("the header declares {cbytes} bytes of chunks, but there are no chunks");
            self.add_fault(FaultKind::StoredSizesDiffer, self.field(38, 9), message);
            return Ok(());
        }
        if at > end {
            let message =
                format!("{cbytes} bytes of chunks (expected at most {})", end.saturating_sub(start));
            let kind =
                if self.end() > self.file_len { FaultKind::IndexUnreadable } else { FaultKind::Cbytes };
            self.add_fault(kind, self.field(38, 9), message);
            return Ok(());
        }
        let expected = self.expected_chunks();
        if self.index.is_empty() && (expected == Some(0) || self.header.nbytes == 0) {
            return Ok(());
        }
        match self.decode_index(source, expected, limits) {
            Ok(offsets) => self.offsets = offsets,
            // Where no bytes are expected, any are allowed.
            Err(error) if expected == Some(0) && error.is_damage() => {}
            Err(error) => {
                self.fail(FaultKind::IndexUnreadable, error.shifted(self.index.start), self.index())?;
            }
        }
        Ok(())
    }

    /// Decodes the chunk at the start of the index, which then ends where that does.
    fn decode_index(
        &mut self,
        source: &dyn Source,
        expected: Option<u64>,
        limits: &Limits,
    ) -> Result<Offsets> {
        let room = self.index();
        let have = room.end.saturating_sub(room.start);
        // Behind an index there is little else.
        let head = room.start..room.start.saturating_add(if have <= MAX_INDEX_READ_LEN { have } else { 32 });
        let head = source.read(head)?;
        let len = u64::from(blosc_chunk::Header::parse(head.get(..32).unwrap_or(&head))?.cbytes);
        if len > have {
            return Err(Error::truncated(0..len, have));
        }
        let end = room.start.saturating_add(len);
        let bytes = match usize::try_from(len).ok().and_then(|len| head.get(..len)) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => read(source, room.start..end, limits).map_err(|error| shift_back(error, room.start))?,
        };
        let offsets = Offsets::decode(&bytes, None, limits)?;
        self.index.end = end;
        let found = offsets.len();
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            let message = format!("the index has {found} offsets (expected {expected}, one for each chunk)");
            self.add_fault(FaultKind::IndexCount, self.index(), message);
        }
        if end < room.end && self.trailer_range.end > self.trailer_range.start {
            let message = format!("{} bytes between index and trailer", room.end.saturating_sub(end));
            self.add_fault(FaultKind::IndexSlack, end..room.end, message);
        }
        Ok(offsets)
    }

    /// Records an error as a fault, unless it does not concern the contents of the file.
    fn fail(&mut self, kind: FaultKind, error: Error, range: Range<u64>) -> Result<()> {
        if error.is_interruption() {
            return Err(error);
        }
        let range = error.range().unwrap_or(range);
        self.faults.push(Fault::of_error(kind, error, range));
        Ok(())
    }

    /// Returns the bytes of a field of the header: `len` from byte `at` on.
    fn field(&self, at: u64, len: u64) -> Range<u64> {
        let start = self.start.saturating_add(at);
        start..start.saturating_add(len)
    }
}

/// Reads the bytes of `range`, borrowed or within the limits.
fn read<'s>(source: &'s dyn Source, range: Range<u64>, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    if source.lend(range.clone()).is_none() {
        limits.allocate(range.end.saturating_sub(range.start))?;
    }
    source.read(range)
}

/// Returns the error of a source, as one that counts from `start`, so that it can be shifted with the others.
fn shift_back(error: Error, start: u64) -> Error {
    match error.range() {
        Some(range) if range.start >= start => {
            let own = range.start.saturating_sub(start)..range.end.saturating_sub(start);
            Error::new(error.into_kind()).with_range(own)
        }
        _ => error,
    }
}

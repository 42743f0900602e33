//! Decoded lengths of chunks, and their ranges in the data.

use blosc_chunk::Special;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::Frame;
use super::chunk_location::LocatedHeader;
use crate::offsets::Offset;

impl Frame {
    /// Returns the decoded bytes of the chunk `index`.
    ///
    /// In a frame of chunks of different sizes the header of the chunk stores them. A mark for zeros has no header (C-Blosc2 wrote
    /// such frames, and does not read them): if it is the only one, its length is the rest that the others leave.
    ///
    /// # Errors
    /// `Usage` for a chunk that does not exist; those of reading its header; `Malformed` for an unknown length.
    pub fn chunk_len(&self, index: u64) -> Result<u64> {
        let offset = self.offset(index)?;
        if let Some(len) = self.layout.expected_len(index) {
            return Ok(len);
        }
        match offset {
            Offset::Special(special) => self.recovered_len(index, special),
            _ => match self.locate_with_header(index)? {
                LocatedHeader::Stored(_, header) => Ok(header.nbytes.into()),
                LocatedHeader::Special(special) => self.recovered_len(index, special),
            },
        }
    }

    /// Computes the length of the only chunk without a readable length, from the data and the other chunks.
    fn recovered_len(&self, index: u64, _special: Special) -> Result<u64> {
        let mut others = 0_u64;
        for (other, offset) in (0_u64..).zip(self.layout.offsets().iter()) {
            match offset {
                _ if other == index => {}
                Offset::Special(_) => return Err(self.len_is_lost(index, "others are not stored either")),
                _ => others = others.saturating_add(self.chunk_len(other)?),
            }
        }
        let len = self.header().nbytes.checked_sub(others);
        len.ok_or_else(|| self.len_is_lost(index, "the others contain more than the frame declares"))
    }

    fn len_is_lost(&self, index: u64, why: &str) -> Error {
        let problem = format!("a chunk that is not stored has no length of its own, and {why}");
        Error::malformed(problem)
            .with_range(self.layout.index())
            .with_context(format!("blosc2 chunk {index}"))
    }

    /// Returns the chunk that holds byte `at` of the data, and the byte where it begins; the caller has checked that there is
    /// one.
    pub(crate) fn chunk_of(&self, at: u64) -> Result<(u64, u64)> {
        if let crate::header::ChunkSize::Fixed(len) = self.header().chunksize {
            let index = at / u64::from(len).max(1);
            return Ok((index, index.saturating_mul(len.into())));
        }
        let spans = self.spans()?;
        let index = spans.partition_point(|end| *end <= at);
        let start = index.checked_sub(1).and_then(|before| spans.get(before)).copied().unwrap_or(0);
        Ok((index as u64, start))
    }

    /// Returns the end of each chunk in the data, for chunks of different sizes.
    fn spans(&self) -> Result<&[u64]> {
        if let Some(spans) = self.spans.get() {
            return Ok(spans);
        }
        let mut spans: Vec<u64> = try_zeroed_vec(self.chunk_count(), &self.options.limits)?;
        let mut end = 0_u64;
        for (index, span) in (0_u64..).zip(&mut spans) {
            end = end.saturating_add(self.chunk_len(index)?);
            *span = end;
        }
        if end != self.header().nbytes {
            let problem =
                format!("the chunks contain {end} bytes (expected {}, by the header)", self.header().nbytes);
            let start = self.layout.start();
            let range = start.saturating_add(29)..start.saturating_add(38);
            let error = Error::malformed(problem).with_range(range).with_context("blosc2 frame header");
            return Err(error.with_hint("read the chunks one by one"));
        }
        Ok(self.spans.get_or_init(|| spans))
    }
}

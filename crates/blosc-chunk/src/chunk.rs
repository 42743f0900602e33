//! A chunk in memory: its header and the offsets of its blocks.
//!
//! Spec: "Blosc1/Blosc2 chunk format": after the header the starts of the blocks, then perhaps a dictionary, then the streams of
//! each block. Blocks are in any order and may have gaps, as threads write each one when it is done.

use std::ops::Range;

use container_core::{Error, Result};

use crate::Header;

/// C-Blosc2 2.x wrote dictionaries up to this; 3.x writes and reads no more than a quarter of it.
const MAX_DICTIONARY: usize = 128 << 10;

/// The bytes of one chunk, checked as far as can be done without decoding.
#[derive(Clone, Debug)]
pub struct Chunk<'a> {
    bytes: &'a [u8],
    header: Header,
    dictionary: &'a [u8],
    /// Offset of the first stream: no block starts before it.
    streams_at: usize,
}

impl<'a> Chunk<'a> {
    /// Parses the chunk at the start of `bytes`; bytes after its `cbytes` are ignored. Ranges in errors count from its start. The
    /// length of blocks is as in [`Header::parse_with_starts`].
    ///
    /// # Errors
    /// `Truncated`, `Malformed`, `Unsupported`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = Header::parse_with_starts(bytes)?;
        let cbytes = header.cbytes as usize;
        let Some(own) = bytes.get(..cbytes) else {
            return Err(Error::truncated(0..cbytes as u64, bytes.len() as u64).with_context("blosc chunk"));
        };
        let streams_at = header.len();
        let mut chunk = Self { bytes: own, header, dictionary: &[], streams_at };
        if chunk.has_blocks() {
            chunk.find_streams().map_err(|error| error.with_context("blosc chunk"))?;
        }
        Ok(chunk)
    }

    /// Its header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its bytes, `cbytes` of them.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes after decoding.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.header.nbytes as usize
    }

    /// Returns the dictionary of its streams, or an empty slice without one.
    #[must_use]
    pub fn dictionary(&self) -> &'a [u8] {
        self.dictionary
    }

    /// Returns the number of its blocks; without streams, the number that they would be.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.header.block_count() as usize
    }

    /// Contents of each block, as ranges of the decoded bytes, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let lens = (0..self.block_count()).map(|index| self.block_len(index));
        lens.scan(0_usize, |at, len| {
            let start = *at;
            *at = at.saturating_add(len);
            Some(start..*at)
        })
    }

    /// Returns the bytes of the block `index` after decoding, or 0 for an index past the last.
    #[must_use]
    pub fn block_len(&self, index: usize) -> usize {
        if index >= self.block_count() {
            return 0;
        }
        if self.header.has_variable_blocks() {
            // Checked to be there and to be the right sum.
            return self.start_of(index).and_then(|start| self.word(start)).map_or(0, |len| len as usize);
        }
        let len = self.header.block_len() as usize;
        len.min(self.nbytes().saturating_sub(index.saturating_mul(len)))
    }

    /// Whether there are blocks of streams.
    pub(crate) const fn has_blocks(&self) -> bool {
        !self.header.is_memcpyed() && self.header.special().is_none()
    }

    /// Bytes after the header: the data of a memcpyed chunk, the value of a repeated one.
    pub(crate) fn value(&self) -> &'a [u8] {
        self.bytes.get(self.header.len()..).unwrap_or_default()
    }

    /// Returns the number of streams of the block `index`.
    pub(crate) fn stream_count(&self, index: usize) -> usize {
        let is_whole = self.block_len(index) == self.header.block_len() as usize;
        if self.header.is_split() && is_whole { usize::from(self.header.typesize) } else { 1 }
    }

    /// Returns the offset of the streams of the block `index`.
    pub(crate) fn block_start(&self, index: usize) -> Result<usize> {
        let entry = self.entry_at(index);
        match self.start_of(index) {
            // Nothing is shorter than the length of a stream.
            Some(at) if at >= self.streams_at && self.bytes.len().saturating_sub(at) >= 4 => Ok(at),
            Some(at) => {
                let problem = format!(
                    "block {index} starts at byte {at}, outside of {}..{}",
                    self.streams_at,
                    self.bytes.len()
                );
                Err(Error::malformed(problem).with_range(entry))
            }
            None => Err(Error::malformed(format!("no block {index}")).with_range(entry)),
        }
    }

    /// Returns the range of the payload of the block `index` of variable length.
    pub(crate) fn variable_payload(&self, index: usize) -> Result<Range<usize>> {
        let start = self.block_start(index)?;
        let next = index.saturating_add(1);
        let end = if next < self.block_count() { self.block_start(next)? } else { self.bytes.len() };
        match start.checked_add(4) {
            Some(at) if at < end => Ok(at..end),
            _ => {
                let problem = format!("block {index} spans bytes {start}..{end}, too few");
                Err(Error::malformed(problem).with_range(self.entry_at(index)))
            }
        }
    }

    /// Reads the 32-bit number at byte `at`.
    pub(crate) fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Returns the stored start of the block `index`, unchecked.
    fn start_of(&self, index: usize) -> Option<usize> {
        let at = self.word(index.checked_mul(4)?.checked_add(self.header.len())?)?;
        Some(at as usize)
    }

    /// Returns the range of the stored start of the block `index`.
    pub(crate) fn entry_at(&self, index: usize) -> Range<u64> {
        let at = index.saturating_mul(4).saturating_add(self.header.len()) as u64;
        at..at.saturating_add(4)
    }

    fn find_streams(&mut self) -> Result<()> {
        let header = &self.header;
        if header.nbytes == 0 {
            // A chunk of zero bytes consists of its header.
            if self.bytes.len() > header.len() {
                let problem = format!("{} bytes follow the header of an empty chunk", self.value().len());
                return Err(Error::malformed(problem).with_range(12..16));
            }
            return Ok(());
        }
        let len = u64::from(header.block_count()).saturating_mul(4);
        let end = len.saturating_add(header.len() as u64);
        let room = self.bytes.len() as u64;
        if end > room {
            let problem =
                format!("the starts of {} blocks do not fit a chunk of {room} bytes", header.block_count());
            return Err(Error::malformed(problem).with_range(header.len() as u64..room));
        }
        self.streams_at = usize::try_from(end).unwrap_or(usize::MAX);
        if header.has_dictionary() {
            self.find_dictionary()?;
        }
        if self.header.has_variable_blocks() { self.check_variable() } else { self.check_split() }
    }

    fn find_dictionary(&mut self) -> Result<()> {
        let at = self.streams_at;
        let size = self.word(at).map_or(0, |size| size as usize);
        let bytes = self.bytes.get(at.saturating_add(4)..).and_then(|rest| rest.get(..size));
        match bytes {
            Some(bytes) if (1..=MAX_DICTIONARY).contains(&size) => {
                self.dictionary = bytes;
                self.streams_at = at.saturating_add(4).saturating_add(size);
                Ok(())
            }
            _ => {
                let problem = format!("invalid dictionary of {size} bytes at byte {at}");
                Err(Error::malformed(problem).with_range(at as u64..(at as u64).saturating_add(4)))
            }
        }
    }

    /// Streams of equal length hold a block only if its length is a multiple of theirs.
    fn check_split(&self) -> Result<()> {
        let len = self.header.block_len();
        let typesize = u32::from(self.header.typesize);
        if self.header.is_split() && len.checked_rem(typesize) != Some(0) {
            let problem = format!("blocks of {len} bytes cannot be split into {typesize} streams");
            return Err(Error::malformed(problem).with_range(8..12));
        }
        Ok(())
    }

    /// Checks that blocks of variable length are stored in order, and that their lengths add up.
    fn check_variable(&self) -> Result<()> {
        let mut before = None;
        let mut sum = 0_u64;
        for index in 0..self.block_count() {
            let start = self.block_start(index)?;
            if before.is_some_and(|before| start <= before) {
                let problem = format!("block {index} starts at byte {start}, not after the one before");
                return Err(Error::malformed(problem).with_range(self.entry_at(index)));
            }
            before = Some(start);
            self.variable_payload(index)?;
            let len = self.block_len(index);
            // The C library counts in i32.
            if !(1..=i32::MAX as usize).contains(&len) {
                let problem = format!("block {index}: invalid length of {len} bytes");
                return Err(
                    Error::malformed(problem).with_range(start as u64..(start as u64).saturating_add(4))
                );
            }
            sum = sum.saturating_add(len as u64);
        }
        if sum != u64::from(self.header.nbytes) {
            let problem =
                format!("{} bytes of data (expected {sum}, the sum of the blocks)", self.header.nbytes);
            return Err(Error::malformed(problem).with_range(4..8));
        }
        Ok(())
    }
}

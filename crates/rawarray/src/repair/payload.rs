//! Evidence about a header from the payload: the decoded size of an LZ4 block, and the number of encoded integers.

use std::borrow::Cow;

use container_codecs::lz4::{BlockEnd, block_shape};
use container_core::dtype::ByteOrder;
use container_core::region::element_count;
use container_core::source::Source;
use container_core::{Limits, Result};

use crate::eltype::element_type;
use crate::header::{Flags, Header};
use crate::leb128::{Leb128, Stop};

/// Bytes after the data that are checked for text.
const MAX_TEXT_LEN: u64 = 1 << 16;

/// Largest file of plain data that is read for this, in bytes.
const MAX_PLAIN_FILE_LEN: u64 = 1 << 26;

/// The file and the evidence from its data.
pub(super) struct PayloadEvidence<'a> {
    source: &'a dyn Source,
    /// All of it, where there is room; `None` where its data are of no use.
    file: Option<Cow<'a, [u8]>>,
    /// Decoded lengths of ranges of bytes as one LZ4 block, for the ranges that have been asked for.
    blocks: Vec<((u64, u64), Option<u64>)>,
}

impl<'a> PayloadEvidence<'a> {
    /// Reads the file, unless that takes more memory than there may be.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn new(source: &'a dyn Source, header: &Header, limits: &Limits) -> Result<Self> {
        let whole = 0..source.len();
        // Of data that a header calls plain it is only asked whether they are: a lost flag.
        let is_small = header.flags.has(Flags::ENCODED) || source.len() <= MAX_PLAIN_FILE_LEN;
        let has_room =
            source.lend(whole.clone()).is_some() || (is_small && limits.allocate(source.len()).is_ok());
        let file = if has_room { Some(source.read(whole)?) } else { None };
        Ok(Self { source, file, blocks: Vec::new() })
    }

    pub(super) fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// Whether there is text from `at` to the end of the file.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn is_text_from(&self, at: u64) -> Result<bool> {
        let end = self.source.len().min(at.saturating_add(MAX_TEXT_LEN));
        let bytes = self.source.read(at.min(end)..end)?;
        let is_odd = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
        let text = match str::from_utf8(&bytes) {
            Ok(_) => true,
            // Within the last character, where the rest is not looked at.
            Err(error) => error.error_len().is_none() && end < self.source.len(),
        };
        Ok(text && !bytes.is_empty() && !bytes.iter().any(is_odd))
    }

    /// Returns the decoded length of the data as an LZ4 block, if they are one.
    pub(super) fn decoded_len(&mut self, header: &Header) -> Option<u64> {
        if !header.flags.has(Flags::ENCODED) {
            return None;
        }
        let data_at = header.dims_end()?;
        let place = (data_at, header.size);
        if let Some((_, known)) = self.blocks.iter().find(|(known, _)| *known == place) {
            return *known;
        }
        let start = usize::try_from(data_at).ok()?;
        let end = usize::try_from(data_at.checked_add(header.size)?).ok()?;
        let block = self.file.as_deref()?.get(start..end)?;
        let shape = block_shape(block, u64::MAX);
        let len = (shape.end == BlockEnd::Complete).then_some(shape.decoded_len);
        self.blocks.push((place, len));
        len
    }

    /// Returns the length of an LZ4 block of `decoded_len` bytes that begins where the data do, wherever it ends: with the literals that make the
    /// last of these bytes.
    pub(super) fn block_len(&self, header: &Header, decoded_len: u64) -> Option<u64> {
        let data = self.encoded(header)?;
        let reached = block_shape(data, decoded_len.checked_sub(1)?);
        let block = data.get(..reached.encoded_len)?;
        block_shape(block, decoded_len).is_exactly(decoded_len).then_some(block.len() as u64)
    }

    /// Whether the data are the varints of a header but for a few, or the first of them up to the end of the file. Of plain data about half of the
    /// bytes, or all, would end a varint.
    pub(super) fn is_nearly_varints(&self, header: &Header, dims: &[u64]) -> bool {
        let scan = || {
            let codec = Leb128::new(&element_type(header, ByteOrder::Little).ok()?)?;
            let count = element_count(dims.iter().copied())?;
            let is_size = count.checked_mul(header.elbyte) == Some(header.size);
            let data = self.encoded(header).filter(|_| is_size)?;
            // Two that were joined may be too large for the type, but each ends in one byte of its kind.
            let ends = data.iter().filter(|byte| **byte < 0x80).count() as u64;
            let most = if ends < data.len() as u64 { (count / 4).clamp(1, 64) } else { 1 };
            Some(ends.abs_diff(count) <= most || codec.scan(data, count).stop == Stop::EndsEarly)
        };
        scan().unwrap_or(false)
    }

    /// Encoded data, and what follows them.
    fn encoded(&self, header: &Header) -> Option<&[u8]> {
        let data_at = header.dims_end()?;
        let file = self.file.as_deref().filter(|_| header.flags.has(Flags::ENCODED))?;
        file.get(usize::try_from(data_at).ok()?..)
    }

    /// Returns the end of the data of a header with encoded data, if its words and the data agree.
    pub(super) fn end(&mut self, header: &Header, dims: &[u64]) -> Option<u64> {
        let is_encoded = header.flags.0 & !Flags::BIG_ENDIAN == Flags::ENCODED;
        let dtype =
            element_type(header, ByteOrder::Little).ok().filter(|_| is_encoded && header.elbyte > 0)?;
        let count = element_count(dims.iter().copied())?;
        let bytes = count.checked_mul(header.elbyte)?;
        let data_at = header.dims_end()?;
        // A byte of LZ4 makes at most 255: what asks for more is not even looked at.
        let is_possible = bytes <= header.size.saturating_mul(255).saturating_add(64);
        if is_possible && self.decoded_len(header) == Some(bytes) {
            return data_at.checked_add(header.size);
        }
        let codec = Leb128::new(&dtype).filter(|_| header.size == bytes)?;
        let data = self.encoded(header)?;
        if count > data.len() as u64 {
            return None;
        }
        let scan = codec.scan(data, count);
        (scan.stop == Stop::Done && scan.used == data.len()).then_some(self.source.len())
    }
}

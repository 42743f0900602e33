//! A block that is being written.

use container_core::dtype::DType;
use container_core::{Error, Result};

use super::datatype::packed_size;
use super::digest::Hasher;
use super::encode::BlockEncoder;
use super::options::WriteOptions;
use super::output::{Spool, Target};
use super::pack_records::RecordPacker;
use crate::blocks::header::{BlockHeader, MIN_LEN, MIN_SIZE, STREAMED};

/// The block that takes data now.
pub(crate) struct OpenBlock {
    header: BlockHeader,
    /// Bytes that are still to come; `None` where the end of the file ends the block.
    left: Option<u64>,
    given: u64,
    packer: Option<RecordPacker>,
    encoder: Option<BlockEncoder>,
    body: Body,
    scratch: Vec<u8>,
}

/// The stored bytes on their way.
struct Body {
    stored: u64,
    hasher: Hasher,
    spool: Option<Spool>,
}

impl Body {
    fn put(&mut self, bytes: &[u8], target: &mut Target<'_>) -> Result<()> {
        self.stored += bytes.len() as u64;
        self.hasher.update(bytes);
        match &mut self.spool {
            Some(spool) => spool.write(bytes),
            None => target.write(bytes),
        }
    }
}

/// Parts of a block.
pub(crate) struct BlockParts {
    /// Number of bytes that will come; `None` for a streamed block.
    pub(crate) given: Option<u64>,
    /// Bytes that this comes to decoded.
    pub(crate) data: u64,
    pub(crate) packer: Option<RecordPacker>,
    pub(crate) encoder: Option<BlockEncoder>,
    pub(crate) label: [u8; 4],
}

impl BlockParts {
    /// The parts of an array's block.
    pub(crate) fn of_array(
        dtype: &DType,
        given: u64,
        data: u64,
        compression: Option<&(String, Option<i32>)>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let start = |(label, level): &(String, Option<i32>)| {
            BlockEncoder::start(label, *level, data, packed_size(dtype), options)
        };
        let (encoder, label) = match compression.map(start).transpose()? {
            Some((encoder, label)) => (Some(encoder), label),
            None => (None, [0; 4]),
        };
        Ok(Self { given: Some(given), data, packer: RecordPacker::of(dtype)?, encoder, label })
    }
}

impl OpenBlock {
    /// Begins a block at byte `at` of the file.
    pub(crate) fn start(
        at: u64,
        parts: BlockParts,
        options: &WriteOptions,
        target: &mut Target<'_>,
    ) -> Result<Self> {
        let streamed = parts.given.is_none();
        let plain = parts.encoder.is_none();
        let header = BlockHeader {
            header_size: header_size(at, options.align)?,
            flags: if streamed { STREAMED } else { 0 },
            compression: parts.label,
            allocated_size: 0,
            used_size: 0,
            data_size: 0,
            checksum: [0; 16],
        };
        let can_patch = target.position()?.is_some();
        // Fields that are known in advance are written now.
        let is_final = streamed || plain && !options.checksums;
        let mut open = Self {
            header,
            left: parts.given,
            given: 0,
            packer: parts.packer,
            encoder: parts.encoder,
            body: Body {
                stored: 0,
                hasher: Hasher::start(options.checksums && !streamed, parts.data, options.threads),
                spool: (!can_patch && !is_final).then(Spool::new),
            },
            scratch: Vec::new(),
        };
        if is_final && !streamed {
            open.sizes(parts.data, parts.data, options);
        }
        if open.body.spool.is_none() {
            open.write_header(target)?;
        }
        Ok(open)
    }

    /// Takes data.
    pub(crate) fn write(&mut self, bytes: &[u8], target: &mut Target<'_>) -> Result<()> {
        let len = bytes.len() as u64;
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(len).ok_or_else(|| {
                Error::usage(format!(
                    "array of {} bytes: the next {len} bytes are too many",
                    self.given + *left
                ))
            })?;
        }
        self.given += len;
        let bytes = match &mut self.packer {
            Some(packer) => {
                self.scratch.clear();
                packer.take(bytes, &mut self.scratch);
                &self.scratch
            }
            None => bytes,
        };
        let body = &mut self.body;
        match &mut self.encoder {
            Some(encoder) => encoder.push(bytes, &mut |stored| body.put(stored, target)),
            None => body.put(bytes, target),
        }
    }

    /// Bytes that are still to come; `None` where the end of the file ends the block.
    pub(crate) const fn remaining(&self) -> Option<u64> {
        self.left
    }

    /// True where all has come that was announced.
    pub(crate) fn is_full(&self) -> bool {
        self.left == Some(0)
    }

    /// Ends the block, and returns the number of its bytes in the file. The data of a streamed block are a multiple of `row`.
    pub(crate) fn end(
        mut self,
        row: Option<u64>,
        options: &WriteOptions,
        target: &mut Target<'_>,
    ) -> Result<u64> {
        match (self.left, row) {
            (Some(left @ 1..), _) => {
                let all = self.given + left;
                return Err(Error::usage(format!(
                    "wrong number of bytes: {} (expected {all} for the array)",
                    self.given
                )));
            }
            (None, Some(row)) if !self.given.is_multiple_of(row) => {
                let problem = format!("{} bytes are not whole rows of {row} bytes", self.given);
                return Err(Error::usage(problem));
            }
            _ => {}
        }
        if self.packer.as_ref().is_some_and(RecordPacker::has_partial_record) {
            return Err(Error::usage("an array ends within a record"));
        }
        let mut data = self.body.stored;
        if let Some(encoder) = self.encoder.take() {
            let body = &mut self.body;
            data = encoder.finish(&mut |stored| body.put(stored, target))?;
        }
        let stored = self.body.stored;
        let hasher = std::mem::replace(&mut self.body.hasher, Hasher::Off);
        self.header.checksum = hasher.finish();
        if self.left.is_none() {
            return Ok(self.header.len() + stored);
        }
        self.sizes(stored, data, options);
        let padding = self.header.allocated_size - stored;
        if let Some(spool) = self.body.spool.take() {
            self.write_header(target)?;
            spool.copy_to(target)?;
        } else if options.checksums || self.header.is_compressed() {
            // Needed only where the header was not final from the start.
            self.patch_header(target)?;
        }
        target.fill(padding)?;
        Ok(self.header.len() + stored + padding)
    }

    fn sizes(&mut self, stored: u64, data: u64, options: &WriteOptions) {
        self.header.used_size = stored;
        self.header.data_size = data;
        self.header.allocated_size = stored + options.padding.after(stored);
    }

    fn write_header(&self, target: &mut Target<'_>) -> Result<()> {
        target.write(&self.header.to_bytes())?;
        target.fill(self.header.len() - MIN_LEN)
    }

    fn patch_header(&self, target: &mut Target<'_>) -> Result<()> {
        let now = target.position()?.unwrap_or_default();
        let start = now - self.body.stored - self.header.len();
        target.patch(start, &self.header.to_bytes())
    }
}

/// A header with the length that aligns the data of a block at `at`.
pub(crate) fn header_size(at: u64, align: Option<u64>) -> Result<u16> {
    let Some(align) = align else { return Ok(MIN_SIZE) };
    if !align.is_power_of_two() || align > 1 << 15 {
        return Err(Error::usage(format!(
            "invalid alignment of {align} bytes (expected a power of two up to 32768)"
        )));
    }
    let data = at.checked_add(MIN_LEN).and_then(|data| data.checked_next_multiple_of(align));
    let size = data.map(|data| data - at - 6).and_then(|size| u16::try_from(size).ok());
    size.ok_or_else(|| Error::usage("a file of more than 2^64 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_end_where_data_are_aligned() {
        for at in [0, 1, 500, 4042, 4043, 8191] {
            for align in [1, 64, 4096, 32768] {
                let size = header_size(at, Some(align)).unwrap();
                assert!(size >= 48 && (at + 6 + u64::from(size)).is_multiple_of(align), "{at} {align}");
            }
        }
        assert_eq!(header_size(7, None).unwrap(), 48);
        assert!(header_size(0, Some(48)).is_err() && header_size(0, Some(65536)).is_err());
    }
}

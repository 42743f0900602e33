//! The data as one run of bytes or items, over all chunks.

use std::ops::Range;

use container_core::container::ReadOptions;
use container_core::{Error, Result};

use super::Frame;
use crate::decoder_pool;

impl Frame {
    /// Reads the bytes `range` of all chunks joined into `dst`, which is as long; on the threads of `options`.
    ///
    /// # Errors
    /// As [`Frame::read_chunk_into`]; `Usage` for a range that ends after the data.
    pub fn read_into(&self, range: Range<u64>, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        let len = self.data_len();
        if range.start > range.end || range.end > len || dst.len() as u64 != range.end - range.start {
            let problem =
                format!("bytes {}..{} of {len} do not fit a buffer of {}", range.start, range.end, dst.len());
            return Err(Error::usage(problem));
        }
        if dst.is_empty() {
            return Ok(());
        }
        let (index, start) = self.chunk_of(range.start)?;
        decoder_pool::read(self, index, range.start.saturating_sub(start), dst, options)
    }

    /// Reads the bytes `range` of all chunks joined.
    ///
    /// # Errors
    /// As [`Frame::read_into`]; `Limit`.
    pub fn read_range(&self, range: Range<u64>, options: &ReadOptions) -> Result<Vec<u8>> {
        let len = range.end.saturating_sub(range.start).min(self.data_len());
        let mut bytes = self.room(len, options)?;
        self.read_into(range, &mut bytes, options)?;
        Ok(bytes)
    }

    /// Returns the number of whole items of the frame's typesize.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.data_len() / self.header().item_len()
    }

    /// Reads the items `range`, of the frame's typesize each, across chunks.
    ///
    /// # Errors
    /// As [`Frame::read_range`].
    pub fn read_items(&self, range: Range<u64>, options: &ReadOptions) -> Result<Vec<u8>> {
        let count = self.item_count();
        if range.start > range.end || range.end > count {
            return Err(Error::usage(format!("items {}..{} of {count}", range.start, range.end)));
        }
        let len = self.header().item_len();
        self.read_range(range.start.saturating_mul(len)..range.end.saturating_mul(len), options)
    }
}

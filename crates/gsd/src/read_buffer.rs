//! Read buffer for many small reads of one source. It borrows where the source lends, else it reads ahead, further as reads stay sequential.

use std::ops::Range;

use container_core::source::{Source, check_range, try_zeroed_vec};
use container_core::{Limits, Result};

/// Minimum and maximum length of one fetch in bytes; a single longer read exceeds the maximum.
const MIN_FETCH: u64 = 4 << 10;
const MAX_FETCH: u64 = 1 << 20;

pub(crate) struct ReadBuffer<'s> {
    source: &'s dyn Source,
    /// All bytes, borrowed from the source.
    all: Option<&'s [u8]>,
    buffer: Vec<u8>,
    start: u64,
    /// Bytes that the next fetch asks for.
    ahead: u64,
    limits: Limits,
}

impl<'s> ReadBuffer<'s> {
    pub(crate) fn new(source: &'s dyn Source, limits: Limits) -> Self {
        let all = source.lend(0..source.len());
        Self { source, all, buffer: Vec::new(), start: 0, ahead: MIN_FETCH, limits }
    }

    /// The bytes of `range`, until the next call.
    pub(crate) fn bytes(&mut self, range: Range<u64>) -> Result<&[u8]> {
        if let Some(all) = self.all
            && let Some(bytes) = within(all, 0, &range)
        {
            return Ok(bytes);
        }
        let end = self.start.saturating_add(self.buffer.len() as u64);
        if range.start < self.start || range.end > end {
            self.fetch(&range, end)?;
        }
        Ok(within(&self.buffer, self.start, &range).unwrap_or_default())
    }

    fn fetch(&mut self, range: &Range<u64>, end: u64) -> Result<()> {
        check_range(range, self.source.len())?;
        let near = range.start >= self.start && range.start <= end.saturating_add(MIN_FETCH);
        self.ahead = if near { self.ahead.saturating_mul(2).min(MAX_FETCH) } else { MIN_FETCH };
        // A far source reads ahead by itself, and holds what was announced to it, to the byte.
        let ahead = if self.source.is_far() { 0 } else { self.ahead };
        let len = range.end.saturating_sub(range.start).max(ahead);
        let len = len.min(self.source.len().saturating_sub(range.start));
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        if count > self.buffer.capacity() {
            self.buffer = try_zeroed_vec(len, &self.limits)?;
        }
        self.buffer.resize(count, 0);
        self.start = range.start;
        let read = self.source.read_into(range.start, &mut self.buffer);
        if read.is_err() {
            self.buffer.clear();
        }
        read
    }

    /// Copies the bytes from `at` on to `dst`, bypassing the window for long reads.
    pub(crate) fn copy(&mut self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        if self.all.is_none() && dst.len() as u64 >= MAX_FETCH {
            return self.source.read_into(at, dst);
        }
        let bytes = self.bytes(range)?;
        if bytes.len() == dst.len() {
            dst.copy_from_slice(bytes);
            return Ok(());
        }
        self.source.read_into(at, dst)
    }
}

fn within<'b>(bytes: &'b [u8], start: u64, range: &Range<u64>) -> Option<&'b [u8]> {
    let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(start)?).ok()?;
    bytes.get(from..to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that are only copied.
    struct CopyingSource(Vec<u8>);

    impl Source for CopyingSource {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
            self.0.read_into(at, dst)
        }
    }

    #[test]
    fn bytes_are_those_of_the_source_in_any_order() {
        let bytes: Vec<u8> =
            (0..3_000_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        let source = CopyingSource(bytes.clone());
        for source in [&source as &dyn Source, &bytes] {
            let mut window = ReadBuffer::new(source, Limits::default());
            let mut at = 1_u64;
            for step in 0..3000_u64 {
                // Forwards, with jumps back and long reads between.
                at = if step % 97 == 0 { step * 7 } else { at + step % 50 };
                let len = if step % 500 == 3 { 1_500_000 } else { step % 33 };
                let range = at..at + len;
                let expected =
                    &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
                assert_eq!(window.bytes(range).unwrap(), expected);
                let mut copy = vec![0; expected.len()];
                window.copy(at, &mut copy).unwrap();
                assert_eq!(copy, expected);
            }
            assert!(window.bytes(2_999_999..3_000_001).is_err());
            assert_eq!(window.bytes(2_999_999..3_000_000).unwrap(), &bytes[2_999_999..]);
        }
    }
}

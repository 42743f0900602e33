//! Reads many small pieces of a source, with neighbouring pieces coalesced into one read.

use container_core::source::{Source, prefetch_in_turns, try_zeroed_vec};
use container_core::{Limits, Result};

/// Number of pieces that are collected before they are read.
const MAX_PIECES: usize = 1 << 14;

/// Length of a coalesced read in bytes.
const MAX_READ: u64 = 1 << 20;

/// Maximum gap between two pieces that is read along: eight times the piece, within these bounds in bytes. One read of a page takes
/// as long as copying some kilobytes.
const READ_ALONG_LEN: std::ops::RangeInclusive<u64> = 64..=4096;

/// Reads pieces of a source, each with a tag.
pub(crate) struct CoalescedReads<'s, T> {
    source: &'s dyn Source,
    limits: Limits,
    pieces: Vec<(u64, u64, T)>,
    buffer: Vec<u8>,
}

impl<'s, T: Copy> CoalescedReads<'s, T> {
    pub(crate) const fn new(source: &'s dyn Source, limits: Limits) -> Self {
        Self { source, limits, pieces: Vec::new(), buffer: Vec::new() }
    }

    /// Requests `len` bytes at `at`. Once enough pieces are requested, `take` gets the bytes of each piece with its tag.
    pub(crate) fn request(
        &mut self,
        at: u64,
        len: u64,
        tag: T,
        take: &mut dyn FnMut(T, &[u8]) -> Result<()>,
    ) -> Result<()> {
        if let Some(bytes) = self.source.lend(at..at.saturating_add(len)) {
            return take(tag, bytes);
        }
        self.pieces.push((at, len, tag));
        if self.pieces.len() < MAX_PIECES { Ok(()) } else { self.finish(take) }
    }

    /// Reads all requested pieces.
    pub(crate) fn finish(&mut self, take: &mut dyn FnMut(T, &[u8]) -> Result<()>) -> Result<()> {
        self.pieces.sort_by_key(|(at, ..)| *at);
        if self.source.is_far() {
            return self.finish_far(take);
        }
        let mut rest = self.pieces.as_slice();
        while let Some((start, len, _)) = rest.first().copied() {
            let mut end = start.saturating_add(len);
            let mut count = 1_usize;
            for (at, len, _) in rest.iter().skip(1) {
                let reach = end.saturating_add(
                    len.saturating_mul(8).clamp(*READ_ALONG_LEN.start(), *READ_ALONG_LEN.end()),
                );
                let joined = end.max(at.saturating_add(*len));
                if *at > reach || joined.saturating_sub(start) > MAX_READ {
                    break;
                }
                end = joined;
                count = count.saturating_add(1);
            }
            let len = end.saturating_sub(start);
            if self.buffer.len() as u64 != len {
                if len > self.buffer.capacity() as u64 {
                    self.buffer = try_zeroed_vec(len, &self.limits)?;
                }
                self.buffer.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
            }
            self.source.read_into(start, &mut self.buffer)?;
            let (own, others) = rest.split_at(count);
            for (at, len, tag) in own {
                let from = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
                let to = from.saturating_add(usize::try_from(*len).unwrap_or(usize::MAX));
                take(*tag, self.buffer.get(from..to).unwrap_or_default())?;
            }
            rest = others;
        }
        self.pieces.clear();
        Ok(())
    }

    /// As [`CoalescedReads::finish`], for a source that fetches all pieces together and joins neighbours by itself.
    fn finish_far(&mut self, take: &mut dyn FnMut(T, &[u8]) -> Result<()>) -> Result<()> {
        let pieces = std::mem::take(&mut self.pieces);
        let ranges: Vec<_> = pieces.iter().map(|(at, len, _)| *at..at.saturating_add(*len)).collect();
        prefetch_in_turns(self.source, &ranges, |number, range| match pieces.get(number) {
            Some((.., tag)) => take(*tag, &self.source.read(range.clone())?),
            None => Ok(()),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Bytes that are only copied, and what was asked of them.
    struct CountingSource(Vec<u8>, Mutex<Vec<(u64, usize)>>);

    impl Source for CountingSource {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
            self.1.lock().unwrap().push((at, dst.len()));
            self.0.read_into(at, dst)
        }
    }

    #[test]
    fn only_nearby_ranges_are_read_together() {
        let bytes: Vec<u8> =
            (0..200_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        let source = CountingSource(bytes.clone(), Mutex::default());
        let mut joined = CoalescedReads::new(&source, Limits::default());
        let mut found = [0; 8 * 6];
        let mut take = |tag: usize, piece: &[u8]| {
            found[tag * 8..][..8].copy_from_slice(piece);
            Ok(())
        };
        // Out of order; two adjacent, two near each other, one twice.
        let places = [100_000, 0, 8, 50_000, 50_060, 0];
        for (tag, at) in places.into_iter().enumerate() {
            joined.request(at, 8, tag, &mut take).unwrap();
        }
        joined.finish(&mut take).unwrap();
        for (tag, at) in places.into_iter().enumerate() {
            assert_eq!(found[tag * 8..][..8], bytes[usize::try_from(at).unwrap()..][..8]);
        }
        assert_eq!(*source.1.lock().unwrap(), [(0, 16), (50_000, 68), (100_000, 8)]);
        let mut joined = CoalescedReads::new(&source, Limits::default());
        assert!(
            joined
                .request(199_999, 2, 0, &mut |_, _| Ok(()))
                .and_then(|()| joined.finish(&mut |_, _| Ok(())))
                .is_err()
        );
    }
}

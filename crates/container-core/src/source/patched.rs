//! A source with some bytes replaced: by a corrected header, or by the bytes of a journal that a crash kept back.

use std::ops::Range;

use super::{Source, check_range};
use crate::Result;

/// Another source, but for some of its bytes, and perhaps with an earlier end.
pub struct Overlay<S> {
    source: S,
    /// Offsets and their new bytes; of two that overlap, the later wins.
    patches: Vec<(u64, Vec<u8>)>,
    len: u64,
}

impl<S: Source> Overlay<S> {
    /// `source` with `head` in the place of its first bytes; bytes of `head` past its end are ignored.
    pub fn new(source: S, head: Vec<u8>) -> Self {
        Self::patched(source, vec![(0, head)])
    }

    /// Wraps `source` with other bytes at some offsets. Of two patches that overlap, the later wins; bytes past the end of the source are
    /// ignored.
    pub fn patched(source: S, patches: Vec<(u64, Vec<u8>)>) -> Self {
        let len = source.len();
        Self { source, patches, len }
    }

    /// Ends it at byte `len`, if it is longer.
    #[must_use]
    pub fn cut(mut self, len: u64) -> Self {
        self.len = self.len.min(len);
        self
    }

    /// Puts `head` in the place of the first bytes, and takes all other patches away.
    pub fn set_head(&mut self, head: Vec<u8>) {
        self.patches = vec![(0, head)];
    }
}

impl<S: Source> Source for Overlay<S> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(dst.len() as u64);
        check_range(&(at..end), self.len)?;
        self.source.read_into(at, dst)?;
        for (place, bytes) in &self.patches {
            let (start, end) = (at.max(*place), end.min(place.saturating_add(bytes.len() as u64)));
            let index = |of: u64, from: u64| usize::try_from(of.saturating_sub(from)).unwrap_or(usize::MAX);
            if start < end
                && let Some(dst) = dst.get_mut(index(start, at)..index(end, at))
                && let Some(bytes) = bytes.get(index(start, *place)..index(end, *place))
            {
                dst.copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let is_apart = |(at, bytes): &(u64, Vec<u8>)| {
            let end = at.saturating_add(bytes.len() as u64);
            bytes.is_empty() || range.end <= *at || end <= range.start
        };
        let is_lent = range.end <= self.len && self.patches.iter().all(is_apart);
        if is_lent { self.source.lend(range) } else { None }
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        self.source.prefetch(ranges)
    }

    fn is_far(&self) -> bool {
        self.source.is_far()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every range with `expected`, and reads one past its end.
    fn reads(source: &dyn Source, expected: &[u8]) {
        let len = expected.len() as u64;
        assert_eq!(source.len(), len);
        for start in 0..=len {
            for end in start..=len {
                let wanted = &expected[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
                assert_eq!(&*source.read(start..end).unwrap(), wanted);
                let mut copy = vec![0; wanted.len()];
                source.read_into(start, &mut copy).unwrap();
                assert_eq!(copy, wanted);
            }
            assert!(source.read(start..len + 1).is_err() && source.lend(start..len + 1).is_none());
        }
        assert!(source.read_into(len, &mut [0]).is_err());
    }

    #[test]
    fn the_first_bytes_are_others_however_they_are_read() {
        let source = Overlay::new(b"0123456789".to_vec(), b"abc".to_vec());
        reads(&source, b"abc3456789");
        assert!(source.lend(2..5).is_none() && source.lend(3..5) == Some(b"34"));
        let mut other = source;
        other.set_head(b"x".to_vec());
        reads(&other, b"x123456789");
        reads(&Overlay::new(b"01".to_vec(), b"abc".to_vec()), b"ab");
    }

    #[test]
    fn bytes_at_places_are_others_and_the_end_is_earlier() {
        let patches = |all: &[(u64, &[u8])]| all.iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect();
        let source = || b"0123456789".to_vec();
        let all = patches(&[(7, b"xyz?"), (2, b"ab"), (3, b"c"), (5, b""), (u64::MAX, b"no")]);
        let patched = Overlay::patched(source(), all);
        assert!(patched.lend(4..7) == Some(b"456") && patched.lend(4..8).is_none());
        reads(&patched, b"01ac456xyz");
        let cut = patched.cut(9);
        reads(&cut, b"01ac456xy");
        reads(&cut.cut(1 << 40), b"01ac456xy");
        reads(&Overlay::patched(source(), Vec::new()).cut(4), b"0123");
    }
}

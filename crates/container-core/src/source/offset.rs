//! A source without its first bytes: a file after a foreign prefix.

use std::ops::Range;

use super::{Source, check_range};
use crate::Result;

/// The bytes of another source from a place on.
pub struct Behind<S> {
    source: S,
    start: u64,
}

impl<S: Source> Behind<S> {
    /// The bytes of `source` from `start` on: none where it is not that long.
    pub fn new(source: S, start: u64) -> Self {
        let start = start.min(source.len());
        Self { source, start }
    }
}

impl<S: Source> Source for Behind<S> {
    fn len(&self) -> u64 {
        self.source.len().saturating_sub(self.start)
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len())?;
        self.source.read_into(at.saturating_add(self.start), dst)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let at = |place: u64| place.checked_add(self.start);
        self.source.lend(at(range.start)?..at(range.end)?)
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        let at = |place: u64| place.saturating_add(self.start);
        let ranges: Vec<_> = ranges.iter().map(|range| at(range.start)..at(range.end)).collect();
        self.source.prefetch(&ranges)
    }

    fn is_far(&self) -> bool {
        self.source.is_far()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_the_start() {
        let source = Behind::new(b"0123456789".to_vec(), 4);
        assert_eq!((source.len(), &*source.read(0..6).unwrap()), (6, &b"456789"[..]));
        let mut two = [0; 2];
        source.read_into(4, &mut two).unwrap();
        assert_eq!((&two, source.lend(1..3)), (b"89", Some(&b"56"[..])));
        assert!(source.read(5..7).is_err() && source.read_into(5, &mut two).is_err());
        assert!(source.lend(5..7).is_none() && source.lend(u64::MAX - 1..u64::MAX).is_none());
        assert!(Behind::new(b"01".to_vec(), 3).is_empty());
    }
}

//! A source with holes, and the driver that fills them.
//!
//! A reader of remote files needs no parser of its own: it runs the ordinary one on a [`SparseSource`]; a hole
//! ends the run with [`ErrorKind::Missing`], [`drive`] fetches the range and runs it again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Source, check_range};
use crate::{Error, ErrorKind, Result};

/// The parts of a file that are loaded so far. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct SparseSource {
    len: u64,
    /// Loaded pieces by offset; they neither overlap nor are empty.
    pieces: BTreeMap<u64, Arc<[u8]>>,
}

impl SparseSource {
    /// A file of `len` bytes, all of them still to be loaded.
    #[must_use]
    pub const fn new(len: u64) -> Self {
        Self { len, pieces: BTreeMap::new() }
    }

    /// Adds the bytes at `at`. Bytes that are already loaded stay.
    ///
    /// # Errors
    /// `Truncated` when they end past the file.
    pub fn insert(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let range = at..at.saturating_add(bytes.len() as u64);
        check_range(&range, self.len)?;
        let mut from = at;
        while let Some(hole) = self.hole(from..range.end) {
            if let Some(piece) = bytes.lend(hole.start - at..hole.end - at) {
                self.pieces.insert(hole.start, piece.into());
            }
            from = hole.end;
        }
        Ok(())
    }

    /// Bytes loaded so far.
    #[must_use]
    pub fn loaded(&self) -> u64 {
        self.pieces.values().map(Source::len).sum()
    }

    /// The first part of `range` that is not loaded.
    #[must_use]
    pub fn hole(&self, range: Range<u64>) -> Option<Range<u64>> {
        let mut from = range.start;
        while from < range.end {
            let Some((start, piece)) = self.piece_at(from) else {
                let next = self.pieces.range(from..).next().map_or(range.end, |(start, _)| *start);
                return Some(from..next.min(range.end));
            };
            from = start.saturating_add(piece.len() as u64);
        }
        None
    }

    /// The piece that holds the byte at `at`, with its offset.
    fn piece_at(&self, at: u64) -> Option<(u64, &[u8])> {
        let (start, piece) = self.pieces.range(..=at).next_back()?;
        (at - start < piece.len()).then_some((*start, piece))
    }
}

impl Source for SparseSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, self.len)?;
        let mut from = at;
        let mut rest = dst;
        while !rest.is_empty() {
            let Some((start, piece)) = self.piece_at(from) else {
                let hole = self.hole(from..range.end).unwrap_or(from..range.end);
                return Err(Error::new(ErrorKind::Missing(hole)));
            };
            let piece = piece.lend(from - start..piece.len() as u64).unwrap_or_default();
            let count = piece.len().min(rest.len());
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(&piece[..count]);
            rest = tail;
            from += count as u64;
        }
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.is_empty() {
            return (range.start <= self.len).then_some(&[]);
        }
        let (start, piece) = self.piece_at(range.start)?;
        piece.lend(range.start - start..range.end.checked_sub(start)?)
    }
}

/// Runs `operation` until it meets no more holes, calling `fetch` for each range it misses.
///
/// `operation` must be a pure function of the source. Every round loads at least one byte, so it ends.
///
/// # Errors
/// Those of `operation` and `fetch`; `Usage` when `fetch` returns another number of bytes than requested.
pub fn drive<T>(
    source: &mut SparseSource,
    mut fetch: impl FnMut(Range<u64>) -> Result<Vec<u8>>,
    mut operation: impl FnMut(&SparseSource) -> Result<T>,
) -> Result<T> {
    loop {
        let error = match operation(source) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let ErrorKind::Missing(range) = error.kind() else { return Err(error) };
        let range = range.clone();
        let bytes = fetch(range.clone())?;
        if bytes.is_empty() || bytes.len() as u64 != range.end - range.start {
            let problem =
                format!("requested bytes {}..{}, received {} bytes", range.start, range.end, bytes.len());
            return Err(Error::usage(problem).with_context("fetch"));
        }
        source.insert(range.start, &bytes)?;
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_reported_exactly() {
        let mut source = SparseSource::new(10);
        source.insert(2, &[2, 3]).unwrap();
        source.insert(6, &[6]).unwrap();
        assert_eq!(source.hole(0..10), Some(0..2));
        assert_eq!(source.hole(2..10), Some(4..6));
        assert_eq!(source.hole(6..7), None);
        let missing = source.read(2..7).unwrap_err();
        assert!(matches!(missing.kind(), ErrorKind::Missing(range) if *range == (4..6)));
        source.insert(0, &[9; 8]).unwrap();
        assert_eq!(*source.read(0..8).unwrap(), [9, 9, 2, 3, 9, 9, 6, 9]);
        assert_eq!(source.lend(2..4), Some(&[2, 3][..]));
        assert!(matches!(source.read(5..11).unwrap_err().kind(), ErrorKind::Truncated { need: 6, have: 5 }));
    }

    #[test]
    fn drive_fetches_only_the_requested_ranges() {
        let file: Vec<u8> = (0..100).collect();
        let mut source = SparseSource::new(100);
        let fetch = |range: Range<u64>| Ok(file[range.start as usize..range.end as usize].to_vec());
        let sum = drive(&mut source, fetch, |source| {
            let at = u64::from(source.read(3..4)?[0]);
            Ok(source.read(at * 10..at * 10 + 2)?.iter().map(|byte| u32::from(*byte)).sum::<u32>())
        });
        assert_eq!(sum.unwrap(), 30 + 31);
        assert_eq!(source.loaded(), 3);
        let error = drive(&mut source, |_| Ok(vec![]), |source| source.read(50..51).map(|_| ()));
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::Usage(_)));
    }
}

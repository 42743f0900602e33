//! A source assembled from ranges of another one, bytes of its own and zeros.

use std::ops::Range;

use super::{Source, check_range};
use crate::Result;

/// Ranges of another source, with other bytes between them.
pub struct Joined<S> {
    source: S,
    pieces: Vec<Piece>,
    len: u64,
}

/// A part of the whole, and its first byte there.
struct Piece {
    at: u64,
    of: Of,
}

/// Contents of a piece.
enum Of {
    Range(Range<u64>),
    Bytes(Vec<u8>),
    Zeros(u64),
}

impl Of {
    fn len(&self) -> u64 {
        match self {
            Self::Range(range) => range.end.saturating_sub(range.start),
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Zeros(len) => *len,
        }
    }
}

impl<S: Source> Joined<S> {
    /// A joined source before the first read of `source`.
    pub const fn new(source: S) -> Self {
        Self { source, pieces: Vec::new(), len: 0 }
    }

    /// Appends a range of the source.
    ///
    /// # Errors
    /// `Usage` and `Truncated` for a range that the source does not have.
    pub fn push_range(&mut self, range: Range<u64>) -> Result<()> {
        check_range(&range, self.source.len())?;
        // Ranges that follow one another are one.
        if let Some(Piece { of: Of::Range(last), .. }) = self.pieces.last_mut()
            && last.end == range.start
        {
            last.end = range.end;
            self.len = self.len.saturating_add(range.end.saturating_sub(range.start));
            return Ok(());
        }
        self.push(Of::Range(range));
        Ok(())
    }

    /// Appends bytes.
    pub fn push_bytes(&mut self, bytes: Vec<u8>) {
        self.push(Of::Bytes(bytes));
    }

    /// Appends zeros.
    pub fn push_zeros(&mut self, len: u64) {
        self.push(Of::Zeros(len));
    }

    fn push(&mut self, of: Of) {
        let len = of.len();
        if len > 0 {
            self.pieces.push(Piece { at: self.len, of });
            self.len = self.len.saturating_add(len);
        }
    }

    /// Byte of the source that is at `at` here; for bytes that the source does not have, the one that follows them.
    #[must_use]
    pub fn place_in_source(&self, at: u64) -> u64 {
        let from = self.pieces.partition_point(|piece| piece.at.saturating_add(piece.of.len()) <= at);
        for piece in self.pieces.get(from..).unwrap_or_default() {
            if let Of::Range(range) = &piece.of {
                return range.start.saturating_add(at.saturating_sub(piece.at));
            }
        }
        self.source.len()
    }
}

impl<S: Source> Source for Joined<S> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        let (mut at, mut left) = (at, dst);
        let mut piece = self.pieces.partition_point(|piece| piece.at.saturating_add(piece.of.len()) <= at);
        while !left.is_empty() {
            let Some(Piece { at: start, of }) = self.pieces.get(piece) else { break };
            let skip = at.saturating_sub(*start);
            let here = of.len().saturating_sub(skip);
            let len = usize::try_from(here).unwrap_or(usize::MAX).min(left.len());
            let (dst, rest) = left.split_at_mut(len);
            match of {
                Of::Range(range) => self.source.read_into(range.start.saturating_add(skip), dst)?,
                Of::Bytes(bytes) => {
                    let from = usize::try_from(skip).unwrap_or(usize::MAX);
                    let bytes = bytes.get(from..from.saturating_add(len)).unwrap_or_default();
                    dst.copy_from_slice(bytes);
                }
                Of::Zeros(_) => dst.fill(0),
            }
            left = rest;
            at = at.saturating_add(len as u64);
            piece = piece.saturating_add(1);
        }
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.end > self.len || range.start > range.end {
            return None;
        }
        let piece =
            self.pieces.partition_point(|piece| piece.at.saturating_add(piece.of.len()) <= range.start);
        let Some(Piece { at, of }) = self.pieces.get(piece) else { return Some(&[]) };
        let within = range.start.saturating_sub(*at)..range.end.saturating_sub(*at);
        if within.end > of.len() {
            return None;
        }
        match of {
            Of::Range(of) => {
                let place = |at: u64| of.start.saturating_add(at);
                self.source.lend(place(within.start)..place(within.end))
            }
            Of::Bytes(bytes) => {
                bytes.get(usize::try_from(within.start).ok()?..usize::try_from(within.end).ok()?)
            }
            Of::Zeros(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_reads_the_joined_pieces() {
        let mut joined = Joined::new(b"0123456789".to_vec());
        joined.push_range(2..4).unwrap();
        joined.push_range(4..5).unwrap();
        joined.push_bytes(b"ab".to_vec());
        joined.push_bytes(Vec::new());
        joined.push_zeros(3);
        joined.push_range(0..2).unwrap();
        assert!(joined.push_range(9..11).is_err());
        let expected = b"234ab\0\0\x0001";
        let len = expected.len() as u64;
        assert_eq!(joined.len(), len);
        for start in 0..=len {
            for end in start..=len {
                let wanted = &expected[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
                assert_eq!(&*joined.read(start..end).unwrap(), wanted, "{start}..{end}");
                let mut copy = vec![9; wanted.len()];
                joined.read_into(start, &mut copy).unwrap();
                assert_eq!(copy, wanted);
            }
            assert!(joined.read(start..len + 1).is_err() && joined.lend(start..len + 1).is_none());
        }
        assert_eq!((joined.lend(1..3), joined.lend(3..5)), (Some(&b"34"[..]), Some(&b"ab"[..])));
        assert_eq!((joined.lend(2..4), joined.lend(5..6)), (None, None));
    }

    #[test]
    fn joined_offsets_map_back_to_the_source() {
        let mut joined = Joined::new(b"0123456789".to_vec());
        joined.push_range(2..5).unwrap();
        joined.push_bytes(b"ab".to_vec());
        joined.push_range(7..9).unwrap();
        let places: Vec<u64> = (0..9).map(|at| joined.place_in_source(at)).collect();
        assert_eq!(places, [2, 3, 4, 7, 7, 7, 8, 10, 10]);
    }
}

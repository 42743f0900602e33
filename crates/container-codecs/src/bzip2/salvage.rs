//! The blocks of streams that are damaged somewhere: each has a checksum of its own, which proves it wherever it is.

use std::ops::Range;

use super::bits::number;
use super::blocks::{BLOCK_MAGIC, CRC_LEN, HEADER_LEN, MAGIC_LEN};
use super::parallel::decode;
use super::scan::{Found, next_magic};
use container_core::{ErrorKind, Result};

/// Candidates for blocks of bzip2 streams, in the order in which they are stored.
pub struct Blocks<'s> {
    src: &'s [u8],
    /// Each with whether it begins where the one before ended, or the first block of a source does.
    found: Vec<(Found, bool)>,
    reach_end: bool,
}

impl<'s> Blocks<'s> {
    /// Searches all of `src` for the magics of blocks. A block with a damaged magic counts as part of the previous one.
    #[must_use]
    pub fn find(src: &'s [u8]) -> Self {
        let len = (src.len() as u64).saturating_mul(8);
        let (mut found, mut reach_end) = (Vec::new(), false);
        // The place of a block that directly follows the previous one.
        let mut expected = HEADER_LEN;
        let mut next = next_magic(src, 0);
        while let Some(at) = next {
            let after = at.saturating_add(u64::from(MAGIC_LEN)).saturating_add(u64::from(CRC_LEN));
            next = next_magic(src, after);
            if number(src, at, MAGIC_LEN) == Some(BLOCK_MAGIC) {
                let end = next.unwrap_or(len);
                found.push((Found { bits: at..end, level: b'9' }, at == expected));
                expected = end;
            } else {
                let end = after.next_multiple_of(8);
                reach_end = end == len;
                expected = if at == expected { end.saturating_add(HEADER_LEN) } else { u64::MAX };
            }
        }
        Self { src, found, reach_end }
    }

    /// Number of candidates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// True if no block was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The bytes of the source that the block `index` is in, those that it shares with its neighbours with them.
    #[must_use]
    pub fn range(&self, index: usize) -> Range<u64> {
        let bits = self.found.get(index).map_or(0..0, |(found, _)| found.bits.clone());
        bits.start / 8..bits.end.div_ceil(8)
    }

    /// Whether the block `index` starts directly after the previous one, or at the place of the first.
    #[must_use]
    pub fn follows(&self, index: usize) -> bool {
        self.found.get(index).is_some_and(|(_, follows)| *follows)
    }

    /// Whether the end of a stream is the end of the source.
    #[must_use]
    pub const fn reach_end(&self) -> bool {
        self.reach_end
    }

    /// Decoded bytes of the block `index`, if they are at most `most` and fit its checksum; `None` for damaged blocks and past the last one.
    ///
    /// # Errors
    /// `Io` when memory runs out.
    pub fn decode(&self, index: usize, most: u64) -> Result<Option<Vec<u8>>> {
        let Some((found, _)) = self.found.get(index) else { return Ok(None) };
        let mut bytes = Vec::new();
        match decode(self.src, found, most, &mut bytes) {
            Ok(()) if bytes.len() as u64 <= most => Ok(Some(bytes)),
            Ok(()) => Ok(None),
            Err(error) if matches!(error.kind(), ErrorKind::Malformed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::super::Bzip2;
    use super::*;
    use container_core::codec::Codec;

    #[test]
    fn blocks_are_found_around_the_damage() {
        let data: Vec<u8> = (0..350_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 27) as u8).collect();
        let mut src = Vec::new();
        Bzip2.encode(&data, Some(1), &mut src).unwrap();
        let blocks = Blocks::find(&src);
        assert_eq!((blocks.len(), blocks.reach_end(), blocks.is_empty()), (4, true, false));
        let all: Vec<Vec<u8>> = (0..4).map(|at| blocks.decode(at, 1 << 20).unwrap().unwrap()).collect();
        assert_eq!(all.concat(), data);
        assert!((0..4).all(|at| blocks.follows(at)) && blocks.decode(4, 1).unwrap().is_none());
        assert!(blocks.decode(0, 99).unwrap().is_none());
        let middle = blocks.range(1);
        let mut bad = src.clone();
        bad[usize::try_from(middle.start.midpoint(middle.end)).unwrap()] ^= 0x10;
        let blocks = Blocks::find(&bad);
        let good: Vec<bool> = (0..4).map(|at| blocks.decode(at, 1 << 20).unwrap().is_some()).collect();
        assert_eq!(good, [true, false, true, true]);
        // Two streams, one after the other; then one that is cut.
        let twice = [&src[..], &src[..]].concat();
        let blocks = Blocks::find(&twice);
        assert_eq!((blocks.len(), blocks.reach_end()), (8, true));
        assert!((0..8).all(|at| blocks.follows(at)));
        let cut = Blocks::find(&src[..src.len() - 3]);
        assert_eq!((cut.len(), cut.reach_end(), cut.follows(0)), (4, false, true));
        assert!(!Blocks::find(&src[3..]).follows(0));
    }
}

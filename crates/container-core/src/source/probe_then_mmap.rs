//! Mapped files that are first probed at a few places: the first access to a page of a map takes several times as long as a positioned read
//! of a few bytes.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::mmap::map_file;
use super::{FileSource, MmapSource, Source, check_range};
use crate::Result;

/// Reads up to this length are small.
const MAX_SMALL_READ: usize = 512;

/// Number of small reads that are positioned reads: those of a binary search, and a few more.
const MAX_SMALL_READS: u32 = 64;

/// A mapped file, of which the first small copies are read by position. Borrowed ranges come from the map.
///
/// The conditions of [`MmapSource`] hold for it, too.
#[derive(Debug)]
pub(super) struct ProbedSource {
    positioned: FileSource,
    /// `None` where it cannot be mapped.
    map: Option<MmapSource>,
    small: AtomicU32,
}

impl ProbedSource {
    /// Takes an open regular file.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn new(file: File) -> Result<Self> {
        let positioned = FileSource::new(file)?;
        // It may have been cut meanwhile, and then the end is an error when it is read by position, and a signal in a map.
        let is_whole = |map: &MmapSource| map.len() >= positioned.len();
        let map = map_file(positioned.file()).ok().filter(is_whole);
        Ok(Self { positioned, map, small: AtomicU32::new(0) })
    }
}

impl Source for ProbedSource {
    fn len(&self) -> u64 {
        self.positioned.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let is_probe = dst.len() <= MAX_SMALL_READ && self.small.load(Ordering::Relaxed) < MAX_SMALL_READS;
        match &self.map {
            Some(map) if !is_probe => {
                check_range(&(at..at.saturating_add(dst.len() as u64)), self.len())?;
                map.read_into(at, dst)
            }
            _ => {
                self.small.fetch_add(u32::from(is_probe), Ordering::Relaxed);
                self.positioned.read_into(at, dst)
            }
        }
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        check_range(&range, self.len()).ok()?;
        self.map.as_ref()?.lend(range)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::lazy_mmap::tests::file_of;
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn small_and_large_reads_give_the_same_bytes() {
        let (mut file, bytes) = file_of(100_000);
        let source = ProbedSource::new(file.try_clone().unwrap()).unwrap();
        // Bytes appended after opening are not part of it.
        file.write_all(&bytes).unwrap();
        assert_eq!(source.lend(10..90_000), Some(&bytes[10..90_000]));
        for round in 0..2 * MAX_SMALL_READS as usize {
            for len in [0, 1, MAX_SMALL_READ, MAX_SMALL_READ + 1, 5000] {
                let mut copy = vec![0; len];
                source.read_into(round as u64 * 7, &mut copy).unwrap();
                assert_eq!(copy, bytes[round * 7..][..len]);
            }
            assert!(source.read_into(99_999, &mut [0; 2]).is_err());
        }
        assert!(source.read_into(99_000, &mut [0; 1001]).is_err() && source.lend(99_999..100_001).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn the_first_small_reads_of_a_file_that_was_cut_are_errors() {
        let (file, bytes) = file_of(100_000);
        let source = ProbedSource::new(file.try_clone().unwrap()).unwrap();
        file.set_len(50_000).unwrap();
        let error = source.read_into(60_000, &mut [0; 32]).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Truncated { need: 32, have: 0 }));
        let mut copy = [0; 32];
        source.read_into(40_000, &mut copy).unwrap();
        assert_eq!(copy, bytes[40_000..40_032]);
    }
}

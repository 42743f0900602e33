//! Files that are mapped late: to map a file and to touch its first page takes longer than a few small reads.

use std::fs::File;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::mmap::map_file;
use super::{FileSource, MmapSource, Source, check_range};
use crate::Result;

/// Reads up to this length are small.
const MAX_SMALL_READ: u64 = 16 << 10;

/// Number of small reads that are positioned reads: those that opening takes, and a few more.
const MAX_SMALL_READS: u32 = 16;

/// A file that is read by position at first, and mapped with the first large read or after some small ones. It cannot lend bytes until it
/// is mapped.
///
/// The conditions of [`MmapSource`] hold for it, too.
#[derive(Debug)]
pub(super) struct LateSource {
    positioned: FileSource,
    /// `None` inside where it cannot be mapped.
    map: OnceLock<Option<MmapSource>>,
    small: AtomicU32,
}

impl LateSource {
    /// Takes an open regular file.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn new(file: File) -> Result<Self> {
        Ok(Self { positioned: FileSource::new(file)?, map: OnceLock::new(), small: AtomicU32::new(0) })
    }

    /// The map, if it exists already or a read of `len` bytes justifies making it.
    fn map(&self, len: u64) -> Option<&MmapSource> {
        if let Some(map) = self.map.get() {
            return map.as_ref();
        }
        if len <= MAX_SMALL_READ && self.small.load(Ordering::Relaxed) < MAX_SMALL_READS {
            return None;
        }
        // A file may have grown meanwhile. In one that was cut the end is an error when it is read by position, and a signal in a map.
        let is_whole = |map: &MmapSource| map.len() >= self.len();
        self.map.get_or_init(|| map_file(self.positioned.file()).ok().filter(is_whole)).as_ref()
    }
}

impl Source for LateSource {
    fn len(&self) -> u64 {
        self.positioned.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        if let Some(map) = self.map(dst.len() as u64) {
            check_range(&(at..at.saturating_add(dst.len() as u64)), self.len())?;
            return map.read_into(at, dst);
        }
        self.small.fetch_add(1, Ordering::Relaxed);
        self.positioned.read_into(at, dst)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        check_range(&range, self.len()).ok()?;
        self.map(range.end.saturating_sub(range.start))?.lend(range)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use super::*;

    /// A file without a name, and its bytes.
    pub(in crate::source) fn file_of(len: usize) -> (File, Vec<u8>) {
        let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        (file, bytes)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn large_reads_and_many_small_ones_are_lent() {
        let (file, bytes) = file_of(100_000);
        let source = LateSource::new(file.try_clone().unwrap()).unwrap();
        assert!(source.lend(0..512).is_none() && *source.read(7..512).unwrap() == bytes[7..512]);
        assert_eq!(source.lend(10..90_000), Some(&bytes[10..90_000]));
        assert_eq!(source.lend(0..512), Some(&bytes[..512]));
        let source = LateSource::new(file).unwrap();
        for at in 0..u64::from(MAX_SMALL_READS) {
            assert!(source.lend(at..at + 1).is_none() && source.read(at..at + 1).is_ok());
        }
        assert_eq!(source.lend(3..5), Some(&bytes[3..5]));
        assert!(source.read(99_999..100_001).is_err() && source.lend(99_999..100_001).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_file_that_grew_is_mapped_and_ends_where_it_did() {
        let (mut file, bytes) = file_of(100_000);
        let source = LateSource::new(file.try_clone().unwrap()).unwrap();
        file.write_all(&bytes).unwrap();
        assert_eq!(source.lend(0..100_000), Some(&bytes[..]));
        assert!(source.lend(0..100_001).is_none() && source.read(99_999..100_001).is_err());
        assert!(source.read_into(99_999, &mut [0; 2]).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_file_that_was_cut_is_not_mapped() {
        let (file, _) = file_of(100_000);
        let source = LateSource::new(file.try_clone().unwrap()).unwrap();
        file.set_len(50_000).unwrap();
        assert!(source.lend(0..40_000).is_none());
        let error = source.read(40_000..60_000).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Truncated { need: 20_000, have: 10_000 }));
    }
}

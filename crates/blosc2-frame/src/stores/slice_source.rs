//! Sources for parts of a store: a member of a zip file, a frame inside a super-chunk.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use container_core::container::ReadOptions;
use container_core::source::{FileSource, Source, check_range};
use container_core::{Limits, Result, Stop};

use crate::frame::Frame;

/// Bytes that several leaves share.
pub(crate) type Shared = Arc<dyn Source>;

/// A source cut at `end`. Offsets stay those of the whole source, so that findings in a member of a zip file have offsets in the zip
/// file.
pub(crate) struct SliceSource {
    pub(crate) source: Shared,
    pub(crate) end: u64,
}

impl Source for SliceSource {
    fn len(&self) -> u64 {
        self.end.min(self.source.len())
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), Source::len(self))?;
        self.source.read_into(at, dst)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        check_range(&range, Source::len(self)).ok()?;
        self.source.lend(range)
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        self.source.prefetch(ranges)
    }

    fn is_far(&self) -> bool {
        self.source.is_far()
    }
}

/// A file opened for each read, to bound the number of open files.
pub(crate) struct ReopenedFile {
    pub(crate) path: PathBuf,
    pub(crate) len: u64,
}

impl Source for ReopenedFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        FileSource::new(File::open(&self.path)?)?.read_into(at, dst)
    }
}

/// The decoded bytes of a super-chunk, decoded on demand.
pub(crate) struct DecodedSource {
    pub(crate) frame: Arc<Frame>,
    pub(crate) limits: Limits,
}

impl Source for DecodedSource {
    fn len(&self) -> u64 {
        self.frame.header().nbytes
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, Source::len(self))?;
        self.frame.read_into(range, dst, &ReadOptions::default().with_limits(self.limits))
    }

    /// Decodes in one go, which checks the request that the options have.
    fn read_until(&self, at: u64, dst: &mut [u8], _stop: Stop) -> Result<()> {
        self.read_into(at, dst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_ends_earlier_keeps_its_places() {
        let source: Shared = Arc::new(b"0123456789".to_vec());
        let slice = SliceSource { source: Arc::clone(&source), end: 6 };
        assert_eq!(Source::len(&slice), 6);
        assert_eq!(&*slice.read(4..6).unwrap(), b"45");
        assert!(slice.read(4..7).is_err());
        assert!(slice.lend(5..7).is_none());
        assert!(slice.read_into(5, &mut [0; 2]).is_err());
        assert_eq!(Source::len(&SliceSource { source, end: 60 }), 10);
    }

    #[test]
    fn a_file_is_opened_for_each_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let source = ReopenedFile { path: path.clone(), len: 10 };
        assert_eq!(&*source.read(3..6).unwrap(), b"345");
        assert!(source.read(8..11).is_err());
        std::fs::remove_file(path).unwrap();
        assert!(source.read(3..6).is_err());
    }
}

//! Parts of larger things as bytes of their own: a member of a zip file, a frame inside a super-chunk.

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

/// A source that ends earlier than it does. Places keep their numbers, so that what is found in a member of a zip file is told with
/// its place in the zip file.
pub(crate) struct Until {
    pub(crate) source: Shared,
    pub(crate) end: u64,
}

impl Source for Until {
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
}

/// A file that is opened for each read, where there are more files than may be open.
pub(crate) struct Reopened {
    pub(crate) path: PathBuf,
    pub(crate) len: u64,
}

impl Source for Reopened {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        FileSource::new(File::open(&self.path)?)?.read_into(at, dst)
    }
}

/// What a super-chunk decodes to, decoded as it is asked for.
pub(crate) struct Decoded {
    pub(crate) frame: Arc<Frame>,
    pub(crate) limits: Limits,
}

impl Source for Decoded {
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
        let until = Until { source: Arc::clone(&source), end: 6 };
        assert_eq!(Source::len(&until), 6);
        assert_eq!(&*until.read(4..6).unwrap(), b"45");
        assert!(until.read(4..7).is_err());
        assert!(until.lend(5..7).is_none());
        assert!(until.read_into(5, &mut [0; 2]).is_err());
        assert_eq!(Source::len(&Until { source, end: 60 }), 10);
    }

    #[test]
    fn a_file_is_opened_for_each_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let source = Reopened { path: path.clone(), len: 10 };
        assert_eq!(&*source.read(3..6).unwrap(), b"345");
        assert!(source.read(8..11).is_err());
        std::fs::remove_file(path).unwrap();
        assert!(source.read(3..6).is_err());
    }
}

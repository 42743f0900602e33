//! A file that is mapped while it is opened, and read by position from when it is known that all of it passes through.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{FileSource, Source};
use crate::Result;

/// Sets a source of [`open_path_to_pass`](super::open_path_to_pass) to reading by position.
#[derive(Clone, Debug, Default)]
pub struct Passing(Arc<AtomicBool>);

impl Passing {
    /// From now on the source lends nothing but what it has lent before, so that the memory of the process does not grow to the size of the file, and a bad disk is an error
    /// instead of a signal.
    pub fn read_by_position(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Two ways to one open file.
pub(super) struct PassingSource {
    mapped: Box<dyn Source>,
    positioned: FileSource,
    passing: Passing,
    /// Start and end of the ranges lent while the file was opened: readers keep no copy of those (GSD's index) and ask for them again.
    lent: Mutex<BTreeMap<u64, u64>>,
}

impl PassingSource {
    pub(super) fn new(mapped: Box<dyn Source>, positioned: FileSource) -> (Self, Passing) {
        let passing = Passing::default();
        (Self { mapped, positioned, passing: passing.clone(), lent: Mutex::default() }, passing)
    }

    fn lent(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for PassingSource {
    fn len(&self) -> u64 {
        self.mapped.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        match self.passing.is_set() {
            true => self.positioned.read_into(at, dst),
            false => self.mapped.read_into(at, dst),
        }
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let mut lent = self.lent();
        let is_lent = lent.range(..=range.start).next_back().is_some_and(|(_, end)| *end >= range.end);
        if !is_lent && self.passing.is_set() {
            return None;
        }
        let bytes = self.mapped.lend(range.clone())?;
        if !is_lent {
            lent.insert(range.start, range.end);
        }
        Some(bytes)
    }

    fn read(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        match self.passing.is_set() {
            true => self.positioned.read(range),
            false => self.mapped.read(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::source::open_path_to_pass;

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_file_that_passes_through_is_lent_no_more_and_has_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let bytes: Vec<u8> = (0..=250).cycle().take(100_000).collect();
        std::fs::write(&path, &bytes).unwrap();
        let (source, passing) = open_path_to_pass(&path, &Limits::default()).unwrap();
        let passing = passing.unwrap();
        let lent = source.lend(10..50_000);
        assert!(lent.is_none_or(|lent| lent == &bytes[10..50_000]));
        assert_eq!(*source.read(0..512).unwrap(), bytes[..512]);
        passing.read_by_position();
        assert_eq!((source.lend(10..90_000), source.lend(50_000..50_001)), (None, None));
        // A reader that keeps no copy of what it was lent asks for it again.
        assert_eq!((source.lend(10..50_000), source.lend(20..30)), (lent, lent.map(|lent| &lent[10..20])));
        assert_eq!((source.len(), &*source.read(0..100_000).unwrap()), (100_000, &bytes[..]));
        assert!(source.read(99_999..100_001).is_err() && source.read_into(100_000, &mut [0]).is_err());
        // What is no regular file with bytes is in memory.
        std::fs::write(&path, b"").unwrap();
        assert!(open_path_to_pass(&path, &Limits::default()).unwrap().1.is_none());
    }
}

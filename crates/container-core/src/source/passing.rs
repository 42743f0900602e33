//! A file that is mapped while it is opened, and read by position once a caller announces to read all of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{FileSource, Source};
use crate::Result;

/// State while the file is being opened: lent ranges are recorded.
const OPENING: u8 = 0;
/// All of the file is lent.
const MAPPED: u8 = 1;
/// State of positioned reads: only ranges that were lent during opening are lent.
const POSITIONED: u8 = 2;

/// Sets a source of [`open_path_to_pass`](super::open_path_to_pass) to reading by position. The source stays mapped where this is dropped
/// without a call.
#[derive(Debug)]
pub struct Passing(Arc<AtomicU8>);

impl Passing {
    /// Switches to positioned reads: the source lends only ranges that it lent during opening. The memory of the process then does not grow to the
    /// size of the file, and a bad disk is an error instead of a signal.
    pub fn read_by_position(&self) {
        self.0.store(POSITIONED, Ordering::Relaxed);
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // Fails where the source was set to reading by position, and stays so.
        let _ = self.0.compare_exchange(OPENING, MAPPED, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// One open file, both mapped and read by position.
pub(super) struct PassingSource {
    mapped: Box<dyn Source>,
    positioned: FileSource,
    state: Arc<AtomicU8>,
    /// Start and end of the ranges lent while the file was opened: readers keep no copy of those (GSD's index) and request them again.
    lent: RwLock<BTreeMap<u64, u64>>,
}

impl PassingSource {
    pub(super) fn new(mapped: Box<dyn Source>, positioned: FileSource) -> (Self, Passing) {
        let state = Arc::new(AtomicU8::new(OPENING));
        let passing = Passing(Arc::clone(&state));
        (Self { mapped, positioned, state, lent: RwLock::default() }, passing)
    }

    fn state(&self) -> u8 {
        self.state.load(Ordering::Relaxed)
    }

    fn was_lent(&self, range: &Range<u64>) -> bool {
        let lent = self.lent.read().unwrap_or_else(PoisonError::into_inner);
        lent.range(..=range.start).next_back().is_some_and(|(_, end)| *end >= range.end)
    }
}

impl Source for PassingSource {
    fn len(&self) -> u64 {
        self.mapped.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        match self.state() {
            POSITIONED => self.positioned.read_into(at, dst),
            _ => self.mapped.read_into(at, dst),
        }
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let state = self.state();
        if state == POSITIONED && !self.was_lent(&range) {
            return None;
        }
        let bytes = self.mapped.lend(range.clone())?;
        if state == OPENING && !self.was_lent(&range) {
            self.lent.write().unwrap_or_else(PoisonError::into_inner).insert(range.start, range.end);
        }
        Some(bytes)
    }

    fn read(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        match self.state() {
            POSITIONED => self.positioned.read(range),
            _ => self.mapped.read(range),
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
        // A reader without a copy of a lent range requests it again.
        assert_eq!((source.lend(10..50_000), source.lend(20..30)), (lent, lent.map(|lent| &lent[10..20])));
        assert_eq!((source.len(), &*source.read(0..100_000).unwrap()), (100_000, &bytes[..]));
        assert!(source.read(99_999..100_001).is_err() && source.read_into(100_000, &mut [0]).is_err());
        drop(passing);
        assert_eq!(source.lend(50_000..50_001), None);
        // Without a call the source is mapped as any other.
        let (source, passing) = open_path_to_pass(&path, &Limits::default()).unwrap();
        drop(passing);
        assert!(source.lend(10..90_000).is_none_or(|lent| lent == &bytes[10..90_000]));
        // Empty files and files that are not regular are read into memory.
        std::fs::write(&path, b"").unwrap();
        assert!(open_path_to_pass(&path, &Limits::default()).unwrap().1.is_none());
    }
}

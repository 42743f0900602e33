//! A file as it is to be read while a crash has left its journal behind. Nothing is written.

use std::ops::Range;
use std::path::Path;

use container_core::source::{Source, check_range};
use container_core::{Limits, Result};

use super::journal::{Journal, Pending, pending};
use super::sidecar::FileSidecar;

/// The file at `path` as it is to be read: as it was before a change that a crash cut short, or as it is after it, if a journal says so.
/// `source` is the file as it is.
///
/// # Errors
/// `Io`; those of the source.
pub fn recovered(path: &Path, source: Box<dyn Source>, limits: &Limits) -> Result<Box<dyn Source>> {
    Ok(match pending(&FileSidecar::beside(path), &source, limits)? {
        None => source,
        Some(Pending::Cut(len)) => Box::new(Recovered { source, len, journal: None }),
        Some(Pending::Redo(journal)) => {
            Box::new(Recovered { source, len: journal.new_len, journal: Some(journal) })
        }
    })
}

/// A source with another end, and some bytes replaced.
struct Recovered {
    source: Box<dyn Source>,
    len: u64,
    journal: Option<Journal>,
}

impl Source for Recovered {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(dst.len() as u64);
        check_range(&(at..end), self.len)?;
        self.source.read_into(at, dst)?;
        for patch in self.journal.iter().flat_map(|journal| &journal.patches) {
            let (start, end) = (patch.at.max(at), patch.end().min(end));
            let index =
                |place: u64, from: u64| usize::try_from(place.saturating_sub(from)).unwrap_or(usize::MAX);
            if start < end
                && let Some(dst) = dst.get_mut(index(start, at)..index(end, at))
                && let Some(new) = patch.new.get(index(start, patch.at)..index(end, patch.at))
            {
                dst.copy_from_slice(new);
            }
        }
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let mut patches = self.journal.iter().flat_map(|journal| &journal.patches);
        let apart = patches.all(|patch| range.end <= patch.at || patch.end() <= range.start);
        if apart && range.end <= self.len { self.source.lend(range) } else { None }
    }
}

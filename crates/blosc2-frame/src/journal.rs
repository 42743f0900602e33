//! The journals of this format: `<file>.b2journal`. The mechanism is [`container_core::write::journal`]. This format decides the
//! contents: the changed part of a frame's header, if that crosses sectors of a disk. The data that the new header points to are on the
//! disk before, and those of the old one are not overwritten.

use std::path::Path;

use container_core::source::Source;
use container_core::write::journal::{self, FileJournalStore, JournalKind, Notice};
use container_core::{Limits, Result};

pub use container_core::write::journal::{JournalStore, NoJournal};

pub(crate) const KIND: JournalKind = JournalKind { suffix: ".b2journal", magic: *b"b2journ3" };

/// Returns the journal of the file at `path`.
pub(crate) fn sidecar(path: &Path) -> FileJournalStore {
    FileJournalStore::beside(path, &KIND)
}

/// Returns the file at `path` as it is to be read, and the notice about its journal. If a crash interrupted a write of the header and a
/// journal has the rest, the header comes from there. `source` is the file as it is.
///
/// # Errors
/// `Io`; `Limit` for a journal over the limits; those of the source.
pub(crate) fn noticed(
    path: &Path,
    source: Box<dyn Source>,
    limits: &Limits,
) -> Result<(Box<dyn Source>, Option<Notice>)> {
    journal::open_recovered(path, &KIND, source, limits)
}

/// As [`noticed`], for callers without a report.
///
/// # Errors
/// As [`noticed`].
pub(crate) fn recovered(path: &Path, source: Box<dyn Source>, limits: &Limits) -> Result<Box<dyn Source>> {
    Ok(noticed(path, source, limits)?.0)
}

//! The journals of this format: `<file>.b2journal`. The mechanism is [`container_core::write::journal`]; this format decides that a journal has
//! what differs in the header of a frame, where that lies across sectors of a disk. Everything that the new header leads to is on the disk
//! before, and nothing that the old one leads to is overwritten.

use std::path::Path;

use container_core::source::Source;
use container_core::write::journal::{self, FileJournalStore, JournalKind, Notice};
use container_core::{Limits, Result};

pub use container_core::write::journal::{JournalStore, NoJournal};

pub(crate) const KIND: JournalKind = JournalKind { suffix: ".b2journal", magic: *b"b2journ3" };

/// The journal of the file at `path`.
pub(crate) fn sidecar(path: &Path) -> FileJournalStore {
    FileJournalStore::beside(path, &KIND)
}

/// The file at `path` as it is to be read, with the header that a crash kept from being finished if a journal has it, and what there is to
/// say of the journal. `source` is the file as it is.
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

/// As [`noticed`], for those who have nobody to tell.
///
/// # Errors
/// As [`noticed`].
pub(crate) fn recovered(path: &Path, source: Box<dyn Source>, limits: &Limits) -> Result<Box<dyn Source>> {
    Ok(noticed(path, source, limits)?.0)
}

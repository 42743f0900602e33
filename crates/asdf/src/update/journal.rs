//! The journals of this format: `<file>.asdfjournal`. The mechanism is [`container_core::write::journal`]; this format decides that a journal has the
//! tree with its padding, the headers and data of replaced blocks, and the bytes after the last block.

use std::path::Path;

use container_core::source::Source;
use container_core::write::journal::{self, FileJournalStore, JournalKind, Notice};
use container_core::{Limits, Result};

pub(crate) const KIND: JournalKind = JournalKind { suffix: ".asdfjournal", magic: *b"asdfjrn2" };

/// The journal of the file at `path`.
pub(crate) fn sidecar(path: &Path) -> FileJournalStore {
    FileJournalStore::beside(path, &KIND)
}

/// The file at `path` read through its journal: as before or after an interrupted change. `source` is the file on disk.
///
/// # Errors
/// `Io`; `Limit` for a journal over the limits; those of the source.
pub fn read_through_journal(
    path: &Path,
    source: Box<dyn Source>,
    limits: &Limits,
) -> Result<Box<dyn Source>> {
    Ok(read_with_notice(path, source, limits)?.0)
}

/// As [`read_through_journal`], with a notice about the journal.
pub(crate) fn read_with_notice(
    path: &Path,
    source: Box<dyn Source>,
    limits: &Limits,
) -> Result<(Box<dyn Source>, Option<Notice>)> {
    journal::open_recovered(path, &KIND, source, limits)
}

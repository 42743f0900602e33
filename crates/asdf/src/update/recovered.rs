//! A file as it is to be read while a crash has left its journal behind. Nothing is written.

use std::path::Path;

use container_core::source::{Overlay, Source};
use container_core::{Limits, Result};

use super::journal::{Pending, pending};
use super::sidecar::FileSidecar;

/// The file at `path` as it is to be read: as it was before a change that a crash cut short, or as it is after it, if a journal says so.
/// `source` is the file as it is.
///
/// # Errors
/// `Io`; those of the source.
pub fn recovered(path: &Path, source: Box<dyn Source>, limits: &Limits) -> Result<Box<dyn Source>> {
    Ok(match pending(&FileSidecar::beside(path), &source, limits)? {
        None => source,
        Some(Pending::Cut(len)) => Box::new(Overlay::patched(source, Vec::new()).cut(len)),
        Some(Pending::Redo(journal)) => {
            let patches = journal.patches.into_iter().map(|patch| (patch.at, patch.new)).collect();
            Box::new(Overlay::patched(source, patches).cut(journal.new_len))
        }
    })
}

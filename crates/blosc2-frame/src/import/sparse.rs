//! Sparse frames as targets: directories with a file for each chunk.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::{DirectoryTarget, WriteRequest};
use container_core::report::Loss;
use container_core::source::FileSource;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result};

use super::import;
use super::options::SPARSE;
use crate::compact::fill_directory;
use crate::container::is_sparse;
use crate::frame::Frame;

/// A sparse frame in the table of formats.
pub(crate) const TARGET: DirectoryTarget = DirectoryTarget {
    is_asked: |options| options.get(SPARSE) == Some("yes"),
    write,
    read_back: None,
    is_one: is_sparse,
    not_a_stream: || {
        Error::usage("a sparse frame is a directory, not a stream").with_hint("name one: NAME.b2nd")
    },
};

/// Writes an unnamed contiguous frame, and its chunks into the directory.
fn write(request: &WriteRequest<'_>, directory: &Path) -> Result<Vec<Loss>> {
    let mut options = request.options.clone();
    options.extra.retain(|(name, _)| name != SPARSE);
    let request = WriteRequest { options: &options, ..*request };
    let mut out = AtomicFile::create(directory.join("contiguous"), Overwrite::Refuse)?;
    let losses = import(&request, &mut out)?;
    let mut plainly = OpenOptions::default();
    plainly.limits = options.limits;
    let written = FileSource::new(out.file().try_clone()?)?;
    let frame = Frame::from_source(Box::new(written), 0, &(&plainly).into())?;
    fill_directory(&frame, directory, Durability::Cached)?;
    Ok(losses)
}

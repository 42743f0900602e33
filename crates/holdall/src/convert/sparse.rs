//! Sparse Blosc2 frames as targets: directories with a file for each chunk.

use std::path::Path;

use blosc2_frame::{Frame, fill_directory};
use container_core::container::OpenOptions;
use container_core::format::{Format, ImportFn, TargetOptions, WriteRequest};
use container_core::report::Loss;
use container_core::source::FileSource;
use container_core::write::{AtomicDirectory, Durability, Overwrite};
use container_core::{Error, Result};

use super::{ConvertOptions, ReadBack, Written, read_back, refuse_damaged};
use crate::folder::is_sparse_frame;
use crate::open::{Accept, is_stream, open_with};
use crate::output_file::{Target, refuse_foreign, warned};

/// The word of the options.
const WORD: &str = "sparse";

/// The options without the word for a sparse frame, if they have it.
pub(super) fn asked(format: &Format, options: &TargetOptions) -> Option<TargetOptions> {
    if format.name != blosc2_frame::FORMAT.name {
        return None;
    }
    (options.get(WORD) == Some("yes")).then(|| {
        let mut rest = options.clone();
        rest.extra.retain(|(word, _)| word != WORD);
        rest
    })
}

/// Writes an unnamed contiguous frame, and its chunks into a new directory, which appears when it is complete. `known` are losses that were found
/// before.
///
/// # Errors
/// `Usage` for standard output, and for an existing directory of another kind; those of the conversion; `Io`.
pub(super) fn write(
    task: &WriteRequest<'_>,
    import: ImportFn,
    format: &Format,
    target: &Path,
    options: &ConvertOptions<'_>,
    known: &[Loss],
) -> Result<Written> {
    if is_stream(target) {
        return Err(
            Error::usage("a sparse frame is a directory, not a stream").with_hint("name one: NAME.b2nd")
        );
    }
    if options.overwrite == Overwrite::Replace {
        refuse_foreign(target, is_sparse_frame)?;
    }
    let directory = AtomicDirectory::create(target, options.overwrite)?;
    let mut out = Target::create(&directory.path().join("contiguous"), Overwrite::Refuse)?;
    let losses = import(task, &mut out)?;
    options.losses.check(&[known, &losses].concat())?;
    let written = out.written().ok_or_else(|| Error::usage("a pipe cannot be read back"))??;
    let mut plainly = OpenOptions::default();
    plainly.limits = task.options.limits;
    let frame = Frame::from_source(Box::new(FileSource::new(written)?), 0, &(&plainly).into())?;
    fill_directory(&frame, directory.path(), Durability::Cached)?;
    // The contiguous frame is removed before the directory appears.
    drop((frame, out));
    let made = open_with(directory.path(), Accept::Containers, &plainly)?.container;
    let differences = match options.verify {
        ReadBack::Yes => read_back(task, &*made, &losses)?,
        ReadBack::No => Vec::new(),
    };
    if !differences.is_empty() {
        return Ok(Written { losses, differences, warning: None });
    }
    refuse_damaged(task, format, &*made, options.verify)?;
    drop(made);
    let warning = warned(directory.commit(options.durability))?;
    Ok(Written { losses, differences, warning })
}

//! Directories as targets: Zarr, sparse frames of Blosc2.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::{DirectoryTarget, Format, Input, WriteRequest};
use container_core::report::Loss;
use container_core::write::{AtomicDirectory, Overwrite};
use container_core::{Error, ErrorKind, Result};

use super::{ConvertOptions, ConvertOutcome, ReadBack, done, read_back, refuse_damaged};
use crate::address::shown;
use crate::diff::Difference;
use crate::open::is_stream;
use crate::output_file::{refuse_foreign, warned};

/// An error of writing: one of the operating system without a file is the target's, since the source names its own.
fn of_target(error: Error, target: &Path) -> Error {
    let is_io = matches!(error.kind(), ErrorKind::Io(_)) && error.subject().is_none();
    if is_io { error.with_subject(shown(target)).with_context("writing") } else { error }
}

/// Writes a new directory, which appears when it is complete and, where asked for, compared with its source. `known` are losses that were found
/// before.
///
/// # Errors
/// `Usage` for standard output, and for an existing directory of another kind; those of the conversion; `Io`.
pub(super) fn write(
    task: &WriteRequest<'_>,
    kind: &DirectoryTarget,
    format: &Format,
    target: &Path,
    options: &ConvertOptions<'_>,
    known: &[Loss],
) -> Result<ConvertOutcome> {
    if is_stream(target) {
        return Err((kind.not_a_stream)());
    }
    if options.overwrite == Overwrite::Replace {
        refuse_foreign(target, kind.is_one)?;
    }
    let directory = AtomicDirectory::create(target, options.overwrite)?;
    let written = (kind.write)(task, directory.path()).map_err(|error| of_target(error, target));
    let losses = [known, &written?].concat();
    options.losses.check(&losses)?;
    let differences = match (kind.read_back, options.verify) {
        (Some(compare), ReadBack::Yes) => {
            let found = compare(task, directory.path())?;
            found.into_iter().map(|Loss { dataset, what }| Difference { dataset, what }).collect()
        }
        (Some(_), ReadBack::No) => Vec::new(),
        (None, verify) => {
            let mut plainly = OpenOptions::default();
            plainly.limits = task.options.limits;
            let input = Input { source: None, path: Some(directory.path().to_owned()) };
            let made = (format.open)(input, &plainly)?;
            let new = losses.get(known.len()..).unwrap_or_default();
            let differences = match verify {
                ReadBack::Yes => read_back(task, format, &*made, new)?,
                ReadBack::No => Vec::new(),
            };
            if differences.is_empty() {
                refuse_damaged(task, format, &*made, verify)?;
            }
            differences
        }
    };
    if !differences.is_empty() {
        return Ok(ConvertOutcome::Differs(differences));
    }
    let warning = warned(directory.commit(options.durability))?;
    Ok(done(task.container, task.selection, format, losses, warning))
}

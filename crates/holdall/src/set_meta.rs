//! Changing metadata in place.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::Format;
use container_core::write::Durability;
use container_core::{Error, Result};

use crate::open::{Accept, is_stream, recognise};

/// A change of metadata, by JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaChange {
    /// The value at a pointer, as YAML 1.1 in flow style. A place that is not there is made where what holds it is; `/list/-` appends. The tag of
    /// what is there stays, unless the value has one.
    Set {
        /// Where.
        pointer: String,
        /// What.
        value: String,
    },
    /// What is at the pointer goes.
    Unset {
        /// Where.
        pointer: String,
    },
}

/// Whether a value may take the place of a mapping or of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Only that of scalars, and of lists of scalars.
    #[default]
    Scalars,
    /// That of anything.
    Anything,
}

/// Changes the metadata of the file at `path` where it lies, in the order of `changes`, all or none. ASDF alone: nothing of its tree but what is
/// named changes, and no block does. A tree that becomes longer than its padding takes a new file in the place of the old one, with the blocks byte for byte.
/// Gives notes on tags that go with what they were on, and on values that YAML 1.1 reads as something that they do not look like.
///
/// # Errors
/// `Usage` for other formats, for standard input, for a pointer that finds nothing to change, for a mapping or an array that a value would
/// replace unless `replace` says so, and for a value that is no YAML; those of opening the file; `Io`.
pub fn set_meta(
    path: &Path,
    changes: &[MetaChange],
    replace: Replace,
    open: &OpenOptions,
    durability: Durability,
) -> Result<Vec<String>> {
    if is_stream(path) {
        return Err(Error::usage("standard input cannot be changed"));
    }
    let (format, _) = recognise(path, Accept::ContainersAndArrays, open)?;
    change(format, path, changes, replace, open, durability)
}

#[cfg(feature = "asdf")]
fn change(
    format: &Format,
    path: &Path,
    changes: &[MetaChange],
    replace: Replace,
    open: &OpenOptions,
    durability: Durability,
) -> Result<Vec<String>> {
    if format.name != asdf::FORMAT.name {
        return Err(cannot(format));
    }
    let changes: Vec<asdf::lens::Change<'_>> = changes
        .iter()
        .map(|change| match change {
            MetaChange::Set { pointer, value } => asdf::lens::Change::Set(pointer, value),
            MetaChange::Unset { pointer } => asdf::lens::Change::Unset(pointer),
        })
        .collect();
    let mut options = asdf::update::UpdateOptions::default();
    (options.limits, options.durability) = (open.limits, durability);
    let replace = match replace {
        Replace::Scalars => asdf::lens::Replace::Scalars,
        Replace::Anything => asdf::lens::Replace::Anything,
    };
    asdf::lens::change(path, &changes, replace, options).map(|(_, notes)| notes)
}

#[cfg(not(feature = "asdf"))]
fn change(
    format: &Format,
    _: &Path,
    _: &[MetaChange],
    _: Replace,
    _: &OpenOptions,
    _: Durability,
) -> Result<Vec<String>> {
    Err(cannot(format))
}

fn cannot(format: &Format) -> Error {
    Error::usage(format!("metadata of {} files are not changed in place", format.title))
        .hint("ASDF files: their trees are text")
}

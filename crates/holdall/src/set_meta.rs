//! Changing metadata in place.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::{Format, MetadataChanges};
pub use container_core::format::{MetaChange, Replace};
use container_core::source::read_stream;
use container_core::write::Durability;
use container_core::{Error, Limits, Result, Value};

use crate::formats::containers;
use crate::open::{Accept, is_stream, recognise};

pub(crate) mod json_value;

/// Metadata of the user from a file: a JSON object.
///
/// # Errors
/// `Io`; `Limit`; `Usage` for anything but a JSON object.
pub fn metadata_of_file(path: &Path, limits: &Limits) -> Result<Value> {
    let bytes = match is_stream(path) {
        true => read_stream(&mut std::io::stdin().lock(), limits)?,
        false => read_stream(&mut std::fs::File::open(path)?, limits)?,
    };
    match serde_json::from_slice(&bytes) {
        Ok(json @ serde_json::Value::Object(_)) => Ok(json_value::of_json(json)),
        Ok(_) => Err(Error::usage("metadata are a JSON object: {\"name\": value}")),
        Err(error) => Err(Error::usage(format!("not JSON: {error}"))),
    }
}

/// Changes the metadata of the file at `path`, in the order of `changes`, all or none: the tree of ASDF, the metadata of Bloscpack, the user metadata
/// of Blosc2 below `/vlmeta`, the trailer of RawArray below `/trailer`, application and schema of GSD. GSD files and Blosc2 frames change in place;
/// Bloscpack and RawArray files are written anew and replaced in one step. ASDF trees change only at the given places, and blocks are unchanged. A
/// tree that outgrows its padding needs a new file, with the blocks byte for byte. Returns notes on tags that were removed with their values, and on
/// values that YAML 1.1 reads as another type than they appear to be.
///
/// # Errors
/// `Usage` for other formats, for standard input, for a pointer that finds no place to change, for a mapping or an array that a value would
/// replace unless `replace` permits it, and for invalid YAML; those of opening the file; `Io`.
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
    let change = format.change_metadata.ok_or_else(|| cannot(format, open))?;
    change(path, &MetadataChanges { list: changes, replace, open, durability, parse: json_value::parse })
}

fn cannot(format: &Format, open: &OpenOptions) -> Error {
    let able = containers(open.formats).filter(|format| format.change_metadata.is_some());
    let able: Vec<&str> = able.map(|format| format.title).collect();
    let error = Error::usage(format!("metadata of {} files cannot be changed", format.title));
    match able.as_slice() {
        [] => error,
        able => error.with_hint(format!("those of other formats are: {}", able.join(", "))),
    }
}

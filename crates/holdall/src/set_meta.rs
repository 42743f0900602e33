//! Changing metadata in place.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::Format;
use container_core::source::read_stream;
use container_core::write::Durability;
use container_core::{Error, Limits, Result, Value};

use crate::open::{Accept, is_stream, recognise};

pub(crate) mod tree;

/// A change of metadata, by JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaChange {
    /// The value at a pointer: for ASDF YAML 1.1 in flow style, else JSON, or text that does not begin as JSON. A missing entry is created where its
    /// parent exists; `/list/-` appends. An existing tag stays, unless the value has one.
    Set {
        /// The JSON pointer.
        pointer: String,
        /// The new value.
        value: String,
    },
    /// Removes the node at the pointer.
    Unset {
        /// The JSON pointer.
        pointer: String,
    },
}

/// Permission for a value to take the place of a mapping or of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Only that of scalars, and of lists of scalars.
    #[default]
    Scalars,
    /// Any value.
    Anything,
}

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
        Ok(json @ serde_json::Value::Object(_)) => Ok(tree::of_json(json)),
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
    change(format, path, changes, replace, open, durability)
}

fn change(
    format: &Format,
    path: &Path,
    changes: &[MetaChange],
    replace: Replace,
    open: &OpenOptions,
    durability: Durability,
) -> Result<Vec<String>> {
    let changed = |tree: Value, root: Option<&str>| tree::changed(tree, changes, root);
    // Unused without the features of the formats.
    let _ = (path, replace, open, durability, &changed);
    match format.name {
        #[cfg(feature = "asdf")]
        name if name == asdf::FORMAT.name => change_asdf(path, changes, replace, open, durability),
        #[cfg(feature = "bloscpack")]
        name if name == bloscpack::FORMAT.name => {
            bloscpack::set_metadata(path, open, durability, |tree| changed(tree, None)).map(|()| Vec::new())
        }
        #[cfg(feature = "blosc2")]
        name if name == blosc2_frame::FORMAT.name => {
            blosc2_frame::set_user_metadata(path, open, durability, |user| below(VLMETA, user, &changed))
                .map(|()| Vec::new())
        }
        #[cfg(feature = "rawarray")]
        name if name == rawarray::FORMAT.name => {
            rawarray::set_trailer(path, open, durability, |trailer| changed(trailer, Some(TRAILER)))
                .map(|()| Vec::new())
        }
        #[cfg(feature = "gsd")]
        name if name == gsd::FORMAT.name => {
            gsd::set_names(path, &gsd_names(changes)?, durability).map(|()| Vec::new())
        }
        _ => Err(cannot(format)),
    }
}

/// Header fields of GSD that change: pointers to them need no slash, because they are words of `convert -O` as well.
pub const GSD_WORDS: [&str; 4] = ["application", "schema", "schema_version", "schema-version"];

/// The fields of a GSD header that `changes` set. Values are plain text, or quoted as in JSON.
#[cfg(feature = "gsd")]
fn gsd_names(changes: &[MetaChange]) -> Result<gsd::HeaderNames> {
    let mut names = gsd::HeaderNames::default();
    for change in changes {
        let (pointer, value) = match change {
            MetaChange::Set { pointer, value } => (pointer, Some(value)),
            MetaChange::Unset { pointer } => (pointer, None),
        };
        let word = pointer.strip_prefix('/').unwrap_or(pointer);
        if !GSD_WORDS.contains(&word) {
            let problem =
                format!("{pointer}: of a GSD file only application, schema and schema_version change");
            return Err(Error::usage(problem).with_hint("--set application=NAME"));
        }
        let Some(value) = value else {
            let problem = format!("{pointer}: a GSD file cannot lack it");
            return Err(Error::usage(problem).with_hint(format!("--set {word}=VALUE")));
        };
        let text = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.clone());
        match word {
            "application" => names.application = Some(text),
            "schema" => names.schema = Some(text),
            _ => {
                let version = text.split_once('.').and_then(|(major, minor)| {
                    Some(gsd::Version::new(major.parse().ok()?, minor.parse().ok()?))
                });
                let wrong = || Error::usage(format!("{pointer}: {text:?} is not a version such as 1.4"));
                names.schema_version = Some(version.ok_or_else(wrong)?);
            }
        }
    }
    Ok(names)
}

/// Key of the user metadata of Blosc2 among those of a frame.
#[cfg(feature = "blosc2")]
const VLMETA: &str = "vlmeta";

/// Key of the trailer after the data of a RawArray file.
#[cfg(feature = "rawarray")]
const TRAILER: &str = "trailer";

/// Changes a map that has its place under a key.
#[cfg(feature = "blosc2")]
fn below(key: &str, inner: Value, changed: &dyn Fn(Value, Option<&str>) -> Result<Value>) -> Result<Value> {
    match changed(Value::Map(vec![(key.to_owned(), inner)]), Some(key))? {
        Value::Map(entries) => match <[(String, Value); 1]>::try_from(entries) {
            Ok([(own, inner)]) if own == key => Ok(inner),
            Ok(_) => Ok(Value::Map(Vec::new())),
            Err(entries) if entries.is_empty() => Ok(Value::Map(Vec::new())),
            Err(entries) => {
                let other =
                    entries.iter().map(|(own, _)| own.as_str()).find(|own| *own != key).unwrap_or_default();
                let error = Error::usage(format!("of a frame only the metadata below /{key} change"));
                Err(error.with_hint(format!("--set /{key}/{other}=…")))
            }
        },
        other => Ok(other),
    }
}

#[cfg(feature = "asdf")]
fn change_asdf(
    path: &Path,
    changes: &[MetaChange],
    replace: Replace,
    open: &OpenOptions,
    durability: Durability,
) -> Result<Vec<String>> {
    let changes: Vec<asdf::facade::Change<'_>> = changes
        .iter()
        .map(|change| match change {
            MetaChange::Set { pointer, value } => asdf::facade::Change::Set(pointer, value),
            MetaChange::Unset { pointer } => asdf::facade::Change::Unset(pointer),
        })
        .collect();
    let mut options = asdf::update::UpdateOptions::default();
    (options.limits, options.durability) = (open.limits, durability);
    let replace = match replace {
        Replace::Scalars => asdf::facade::Replace::Scalars,
        Replace::Anything => asdf::facade::Replace::Anything,
    };
    asdf::facade::change(path, &changes, replace, options).map(|(_, notes)| notes)
}

fn cannot(format: &Format) -> Error {
    Error::usage(format!("metadata of {} files cannot be changed", format.title)).with_hint(
        "ASDF, Bloscpack, Blosc2 and RawArray have metadata of the user, GSD application and schema",
    )
}

//! ASDF trees for `holdall.asdf`: read with their tags, written, and changed in place.

use std::path::PathBuf;
use std::sync::Arc;

use container_core::container::MetadataText as _;
use container_core::report::Finding;
use container_core::write::{Durability, Overwrite};
use holdall::asdf::writer::{Plan, WriteOptions};
use holdall::asdf::{File, Version};
use holdall::{Error, OpenFile, Result};
use pyo3::prelude::*;

use crate::errors::{raise, raise_at};
use crate::file::Core;
use crate::patient::{Told, patiently};

mod arrays;
mod editor;
mod place;
mod read;
mod to_yaml;

pub(crate) use editor::AsdfEditor;

/// Text and name of a schema.
type Schema = Option<(Vec<u8>, String)>;

/// A finding: severity, code, message, range, dataset, part.
type Found = (&'static str, &'static str, String, Option<(u64, u64)>, Option<String>, Option<String>);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<AsdfEditor>()?;
    module.add_function(wrap_pyfunction!(asdf_tree, module)?)?;
    module.add_function(wrap_pyfunction!(place::asdf_place, module)?)?;
    module.add_function(wrap_pyfunction!(asdf_validate, module)?)?;
    module.add_function(wrap_pyfunction!(asdf_write, module)?)
}

/// The ASDF file behind an open file, with or without a tree; `None` for other formats.
fn behind(opened: &OpenFile) -> Option<&File> {
    opened.container.as_any().and_then(|native| native.downcast_ref())
}

/// The ASDF file with a tree behind an open file.
fn native(opened: &OpenFile) -> Result<&File> {
    let file = behind(opened)
        .ok_or_else(|| Error::wrong_format(format!("an ASDF file, not {}", opened.format.title)))?;
    file.require_tree()?;
    Ok(file)
}

fn found(findings: Vec<Finding>) -> Vec<Found> {
    let one = |found: Finding| {
        let range = found.range.map(|range| (range.start, range.end));
        (found.severity.name(), found.code, found.message, range, found.dataset, found.part)
    };
    findings.into_iter().map(one).collect()
}

/// The tree as Python objects. `dataset(index)` gives what stands for an array.
#[pyfunction]
fn asdf_tree<'py>(py: Python<'py>, core: &Core, dataset: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let file = native(&core.opened).map_err(raise)?;
    read::tree(py, file, None, &[], dataset)
}

/// Findings of the tree against the schemas of its tags, and a schema of the caller's.
#[pyfunction]
fn asdf_validate(py: Python<'_>, core: &Core, schema: Schema) -> PyResult<Vec<Found>> {
    let opened = Arc::clone(&core.opened);
    let judged = patiently(py, None, move |_, _| {
        let schema = schema.as_ref().map(|(text, name)| (text.as_slice(), name.as_str()));
        native(&opened).and_then(|file| file.validate(schema))
    })?;
    judged.map(found).map_err(raise)
}

/// Options of a new file: the keywords of `write`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Words {
    version: String,
    overwrite: bool,
    durable: bool,
    checksums: bool,
    threads: usize,
}

impl Words {
    fn options(&self) -> Result<WriteOptions> {
        let mut options = WriteOptions::default();
        options.standard = Version::parse(&self.version).ok_or_else(|| {
            Error::usage(format!(
                "unknown version {:?} of the ASDF standard (expected one such as 1.6.0)",
                self.version
            ))
        })?;
        options.checksums = self.checksums;
        options.threads = self.threads;
        options.durability = if self.durable { Durability::Synced } else { Durability::Cached };
        Ok(options)
    }
}

/// Writes a tree and its arrays, which `holdall.asdf._arrays` has found in it, to a new file.
#[pyfunction]
fn asdf_write(
    py: Python<'_>,
    path: PathBuf,
    tree: Bound<'_, PyAny>,
    found: Bound<'_, PyAny>,
    words: Words,
    told: Told<'_, '_>,
) -> PyResult<()> {
    let options = words.options().map_err(raise)?;
    let (standard, threads) = (options.standard, options.threads);
    let mut plan = Plan::new(options);
    let arrays = arrays::declare(&mut plan, &found)?;
    let tree = to_yaml::of(&tree, &found, &arrays.nodes, standard)?;
    let overwrite = if words.overwrite { Overwrite::Replace } else { Overwrite::Refuse };
    let (name, data) = (path.clone(), arrays.data);
    let done = patiently(py, told, move |progress, stop| {
        let total = data.iter().map(|one| one.len).fold(0, u64::saturating_add);
        let mut writer = plan.create(tree, &path, overwrite)?;
        let mut done = 0_u64;
        for one in data {
            one.pass(threads, stop, &mut |bytes| {
                writer.write(bytes)?;
                done = done.saturating_add(bytes.len() as u64);
                progress.tick(done, total)
            })?;
        }
        stop.check()?;
        writer.finish()
    })?;
    done.map_err(|error| raise_at(error, &name))
}

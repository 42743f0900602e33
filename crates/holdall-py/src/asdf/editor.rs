//! Changes of a tree in place.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use container_core::write::Durability;
use holdall::asdf::Version;
use holdall::asdf::edit::under_own_tag;
use holdall::asdf::facade;
use holdall::asdf::update::{CommitKind, DataSource, UpdateOptions, Updater};
use holdall::asdf::yaml::Document;
use holdall::{Error, Stop};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrays::{Data, Placed, declare};
use super::{Found, Schema, found, native, read, to_yaml};
use crate::errors::{raise, raise_at};
use crate::file::Core;
use crate::patient::{opening, patiently};

/// A file that is being changed. It is locked until this is closed.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct AsdfEditor {
    path: PathBuf,
    threads: usize,
    open: Arc<Mutex<Option<Updater<'static>>>>,
    /// Arrays that the next commit writes.
    placed: Mutex<Vec<Placed>>,
    /// Request that stops the commit that runs.
    stop: Arc<Mutex<Stop>>,
}

#[pymethods]
impl AsdfEditor {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        is_durable: bool,
        threads: usize,
        max_memory: Option<u64>,
    ) -> PyResult<Self> {
        let mut options = UpdateOptions::default();
        options.durability = if is_durable { Durability::Synced } else { Durability::Cached };
        options.write.threads = threads;
        if let Some(bytes) = max_memory {
            options.limits = options.limits.with_memory(bytes);
        }
        let at = path.clone();
        let updater = opening(py, &path, move || Updater::open(&at, options))?;
        let updater = updater.map_err(|error| raise_at(error, &path))?;
        Ok(Self {
            path,
            threads,
            open: Arc::new(Mutex::new(Some(updater))),
            placed: Mutex::default(),
            stop: Arc::default(),
        })
    }

    /// Sets the value at a pointer. `found` are its arrays, as `holdall.asdf._arrays` has them.
    fn set(
        &self,
        py: Python<'_>,
        pointer: String,
        value: Py<PyAny>,
        found: Py<PyAny>,
        keeps_tag: bool,
    ) -> PyResult<()> {
        let mut raised = None;
        let mut placed = Vec::new();
        let done = py.detach(|| {
            facade::require_pointer(&pointer)?;
            let mut open = self.lock();
            let updater = open.as_mut().ok_or_else(closed)?;
            let standard = updater.layout().header.standard_or_first();
            updater.set_with(&pointer, |plan, editor| {
                let made = Python::attach(|py| -> PyResult<_> {
                    let found = found.bind(py);
                    let arrays = declare(plan, found)?;
                    let value = to_yaml::of(value.bind(py), found, &arrays.nodes, standard)?;
                    Ok((value, arrays))
                });
                let (value, arrays) = made.map_err(|error| {
                    raised = Some(error);
                    Error::usage("a value that cannot be set")
                })?;
                let value = if keeps_tag { under_own_tag(editor, &pointer, value) } else { value };
                placed = arrays.placed;
                let producer = |data| producer(data, self.threads, Arc::clone(&self.stop));
                Ok((value, arrays.data.into_iter().map(producer).collect()))
            })
        });
        if let Some(raised) = raised {
            return Err(raised);
        }
        done.map_err(raise)?;
        self.placed.lock().unwrap_or_else(PoisonError::into_inner).append(&mut placed);
        Ok(())
    }

    fn unset(&self, py: Python<'_>, pointer: String) -> PyResult<()> {
        let done = py.detach(|| {
            facade::require_pointer(&pointer)?;
            self.lock().as_mut().ok_or_else(closed)?.remove(&pointer)
        });
        done.map_err(raise)
    }

    /// The tree as it is to be. `core` is the file as it is, whose arrays `dataset(index)` gives.
    fn tree<'py>(
        &self,
        py: Python<'py>,
        core: &Core,
        dataset: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (document, _) = self.document(py)?;
        let file = native(&core.opened).map_err(raise)?;
        // Python code runs meanwhile, which may set something.
        let placed: Vec<Placed> = {
            let placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
            placed.iter().map(|one| one.clone_ref(py)).collect()
        };
        read::tree(py, file, Some(&document), &placed, dataset)
    }

    fn validate(&self, py: Python<'_>, schema: Schema) -> PyResult<Vec<Found>> {
        let (document, standard) = self.document(py)?;
        let judged = patiently(py, None, move |_, _| {
            let schema = schema.as_ref().map(|(text, name)| (text.as_slice(), name.as_str()));
            facade::validate_tree(&document, standard, schema)
        })?;
        judged.map(found).map_err(raise)
    }

    /// Makes all changes, or none: `unchanged`, `in place` or `new file`.
    fn commit(&self, py: Python<'_>) -> PyResult<&'static str> {
        let (open, slot) = (Arc::clone(&self.open), Arc::clone(&self.stop));
        let committed = patiently(py, None, move |_, stop| {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = stop;
            let done = open.as_mut().ok_or_else(closed).and_then(Updater::commit);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Stop::never();
            done
        })?;
        let committed = committed.map_err(|error| raise_at(error, &self.path))?;
        self.placed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(match committed {
            CommitKind::Unchanged => "unchanged",
            CommitKind::OneWrite | CommitKind::Journal => "in place",
            CommitKind::NewFile => "new file",
        })
    }

    /// Lets the file go. Changes that were not committed are dropped.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
        self.placed.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl AsdfEditor {
    fn lock(&self) -> MutexGuard<'_, Option<Updater<'static>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn document(&self, py: Python<'_>) -> PyResult<(Document, Version)> {
        let found = py.detach(|| {
            let open = self.lock();
            let updater = open.as_ref()?;
            Some((updater.tree().clone(), updater.layout().header.standard_or_first()))
        });
        found.ok_or_else(|| PyValueError::new_err("I/O operation on closed file."))
    }
}

fn closed() -> Error {
    Error::usage("the file was closed")
}

/// Source of the data when the commit runs.
fn producer(data: Data, threads: usize, stop: Arc<Mutex<Stop>>) -> DataSource<'static> {
    Box::new(move |put| {
        let stop = *stop.lock().unwrap_or_else(PoisonError::into_inner);
        data.pass(threads, stop, put)
    })
}

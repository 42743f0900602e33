//! Pictures, by the command's own words.

use std::ffi::OsString;

use holdall::Address;
use holdall_cli::library::{Drawing, draw as draw_picture};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::file::Core;
use crate::held::Held;
use crate::patient::{Told, patiently};

/// A picture that was drawn.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct Drawn(Drawing);

#[pymethods]
impl Drawn {
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.png()).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.svg()).map_err(raise)
    }

    fn pdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.pdf()).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes().to_vec()
    }

    /// The command that makes the same picture, less its target.
    #[getter]
    fn recipe(&self) -> String {
        self.0.recipe()
    }

    #[getter]
    fn size(&self) -> (u32, u32) {
        self.0.size()
    }
}

/// Draws what `address` names of an open file: a dataset, frames of particles.
#[pyfunction]
pub(crate) fn draw(
    py: Python<'_>,
    core: &Core,
    address: OsString,
    words: Vec<OsString>,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<Drawn> {
    let (opened, limits) = (std::sync::Arc::clone(&core.opened), core.limits);
    let drawn = patiently(py, told, move |progress, stop| {
        let read = crate::options::read(threads, Default::default(), limits).with_stop(stop);
        draw_picture(&*opened.container, &Address::parse_os(&address), &words, read, progress)
    })?;
    Ok(Drawn(drawn.map_err(raise)?))
}

/// Draws one array.
#[pyfunction]
pub(crate) fn draw_arrays(
    py: Python<'_>,
    arrays: &Bound<'_, PyAny>,
    words: Vec<OsString>,
    told: Told<'_, '_>,
) -> PyResult<Drawn> {
    let held = Held::new(arrays, None)?;
    let drawn = patiently(py, told, move |progress, stop| {
        let read = crate::options::read(1, Default::default(), holdall::Limits::default()).with_stop(stop);
        draw_picture(&held, &Address::file("array"), &words, read, progress)
    })?;
    Ok(Drawn(drawn.map_err(raise)?))
}

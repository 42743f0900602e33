//! The few things that are asked of numpy, which is imported when the first values are read.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

/// `numpy.ndarray`.
pub(crate) fn ndarray(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = NDARRAY.get_or_try_init(py, || py.import("numpy")?.getattr("ndarray").map(Bound::unbind))?;
    Ok(class.bind(py))
}

/// An array without a byte: `numpy.ndarray(shape, dtype)`.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    ndarray(py)?.call1((PyTuple::new(py, shape)?, dtype))
}

//! numpy's basic indexing as a region. What is not basic is done by the package's Python, around a basic read.

use container_core::region::{AxisSelection, Kept, Region};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PySlice, PyTuple};

use crate::errors::raise;

const fn whole(len: u64) -> AxisSelection {
    AxisSelection { start: 0, step: 1, count: len, kept: Kept::Yes }
}

/// The region of `index` (an integer, a slice, `...`, or a tuple of them) in an array of `shape`; `None` for an index that is not basic.
///
/// # Errors
/// `IndexError` for too many indices and one outside its axis, with numpy's sentences; `ValueError` for a step of 0.
pub(crate) fn region(index: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Option<Region>> {
    let single;
    let terms = match index.cast::<PyTuple>() {
        Ok(terms) => terms,
        Err(_) => {
            single = PyTuple::new(index.py(), [index])?;
            &single
        }
    };
    let ellipsis = index.py().Ellipsis();
    let dots = terms.iter().filter(|term| term.is(&ellipsis)).count();
    let named = terms.len() - dots;
    if dots > 1 {
        return Err(PyIndexError::new_err("an index can only have a single ellipsis ('...')"));
    }
    let mut axes = Vec::with_capacity(shape.len());
    for term in terms.iter() {
        if term.is(&ellipsis) {
            let rest = shape.len().saturating_sub(named);
            axes.extend(shape.iter().skip(axes.len()).take(rest).map(|len| whole(*len)));
            continue;
        }
        if term.is_none() || term.is_instance_of::<PyBool>() {
            return Ok(None);
        }
        let is_index = term.is_instance_of::<PySlice>() || term.hasattr("__index__")?;
        if !is_index || term.hasattr("shape")? && term.getattr("shape")?.len()? > 0 {
            return Ok(None);
        }
        let Some(len) = shape.get(axes.len()).copied() else {
            let problem = format!(
                "too many indices for array: array is {}-dimensional, but {named} were indexed",
                shape.len()
            );
            return Err(PyIndexError::new_err(problem));
        };
        axes.push(axis(&term, len, axes.len())?);
    }
    axes.extend(shape.iter().skip(axes.len()).map(|len| whole(*len)));
    Region::new(axes, shape).map(Some).map_err(raise)
}

fn axis(term: &Bound<'_, PyAny>, len: u64, number: usize) -> PyResult<AxisSelection> {
    let signed = i64::try_from(len).unwrap_or(i64::MAX);
    if let Ok(slice) = term.cast::<PySlice>() {
        let indices = slice.indices(isize::try_from(signed).unwrap_or(isize::MAX))?;
        let count = indices.slicelength as u64;
        // An empty slice may begin at the end, or before the start.
        let start = if count == 0 { 0 } else { indices.start.cast_unsigned() as u64 };
        return Ok(AxisSelection { start, step: indices.step as i64, count, kept: Kept::Yes });
    }
    let outside = |at: &dyn std::fmt::Display| {
        PyIndexError::new_err(format!("index {at} is out of bounds for axis {number} with size {len}"))
    };
    let at = term.call_method0("__index__")?;
    let Ok(index) = at.extract::<i64>() else { return Err(outside(&at)) };
    let from = if index < 0 { index.checked_add(signed) } else { Some(index) };
    match from.and_then(|from| u64::try_from(from).ok()).filter(|from| *from < len) {
        Some(start) => Ok(AxisSelection { start, step: 1, count: 1, kept: Kept::No }),
        None => Err(outside(&index)),
    }
}

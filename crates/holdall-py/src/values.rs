//! Metadata to and from Python's own types.

use container_core::python_literal::Literal;
use holdall::Value;
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// Most levels of what is handed over: as deep as Python's own stack would follow.
const MAX_DEPTH: usize = 500;

/// A value as `None`, `bool`, `int`, `float`, `str`, `bytes`, `list` or `dict`.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => PyFloat::new(py, *value).into_any(),
        Value::Text(value) => PyString::new(py, value).into_any(),
        Value::Bytes(value) => PyBytes::new(py, value).into_any(),
        Value::List(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(to_python(py, item)?))?;
            list.into_any()
        }
        Value::Map(entries) => entries_to_python(py, entries)?.into_any(),
        _ => return Err(PyTypeError::new_err("unsupported kind of metadata")),
    })
}

/// Named values as a `dict`. Of keys that repeat the last one is kept.
pub(crate) fn entries_to_python<'py>(
    py: Python<'py>,
    entries: &[(String, Value)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    entries.iter().try_for_each(|(key, value)| dict.set_item(key, to_python(py, value)?))?;
    Ok(dict)
}

/// A value made of Python's own types, numpy scalars and small arrays among them.
///
/// # Errors
/// `TypeError` for other types; `ValueError` for integers beyond 128 bits; `RecursionError` where it is too deep.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    from(value, 0)
}

fn from(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyRecursionError::new_err("metadata nested too deeply"));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(value) = value.cast::<PyInt>() {
        let number =
            value.extract().map_err(|_| PyValueError::new_err(format!("{value} is over 128 bits")))?;
        return Ok(Value::Int(number));
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(Value::Float(value.value()));
    }
    if let Ok(value) = value.cast::<PyString>() {
        return Ok(Value::Text(value.to_str()?.to_owned()));
    }
    if let Ok(value) = value.cast::<PyBytes>() {
        return Ok(Value::Bytes(value.as_bytes().to_vec()));
    }
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        let items = value.try_iter()?.map(|item| from(&item?, depth + 1));
        return Ok(Value::List(items.collect::<PyResult<_>>()?));
    }
    if let Ok(map) = value.cast::<PyMapping>() {
        let entries = map.items()?.into_iter().map(|pair| {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            let key: String = key.extract().map_err(|_| {
                PyTypeError::new_err(format!("a key of metadata is text, not {}", type_name(&key)))
            })?;
            Ok((key, from(&value, depth + 1)?))
        });
        return Ok(Value::Map(entries.collect::<PyResult<_>>()?));
    }
    // numpy's scalars and arrays.
    if value.hasattr("dtype")? && value.hasattr("tolist")? {
        return from(&value.call_method0("tolist")?, depth + 1);
    }
    Err(PyTypeError::new_err(format!("{} cannot be stored as metadata", type_name(value))))
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this object".into(), |name| name.to_string())
}

/// numpy's description of a type, for `numpy.dtype`.
pub(crate) fn literal<'py>(py: Python<'py>, value: &Literal) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Literal::None => py.None().into_bound(py),
        Literal::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Literal::Int(value) => value.into_pyobject(py)?.into_any(),
        Literal::Float(value) => PyFloat::new(py, *value).into_any(),
        Literal::Str(value) => PyString::new(py, value).into_any(),
        Literal::Bytes(value) => PyBytes::new(py, value).into_any(),
        Literal::List(items) => PyList::new(py, all(py, items)?)?.into_any(),
        Literal::Tuple(items) => PyTuple::new(py, all(py, items)?)?.into_any(),
        Literal::Dict(entries) => {
            let dict = PyDict::new(py);
            entries
                .iter()
                .try_for_each(|(key, value)| dict.set_item(literal(py, key)?, literal(py, value)?))?;
            dict.into_any()
        }
    })
}

fn all<'py>(py: Python<'py>, items: &[Literal]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.iter().map(|item| literal(py, item)).collect()
}

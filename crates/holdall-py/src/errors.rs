//! Errors as exceptions of `holdall._errors`, and of Python itself.

use holdall::address::{is_url, shown};
use holdall::{Error, ErrorKind};
use pyo3::exceptions::{
    PyConnectionRefusedError, PyFileNotFoundError, PyKeyError, PyKeyboardInterrupt, PyOSError,
    PyPermissionError, PyTimeoutError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyTuple};

/// The exception for an error: a class of `holdall._errors` with range, part and hint; `OSError` with its number for what the operating system
/// refused; `KeyError` for a dataset that is not there; `KeyboardInterrupt` for what was stopped.
pub(crate) fn raise(error: Error) -> PyErr {
    Python::attach(|py| exception(py, &error, None).unwrap_or_else(|other| other))
}

/// As [`raise`], for an error about the file at `path`, which `OSError`s name. Other messages leave it to the caller, and `part` is for the other files
/// of a container.
pub(crate) fn raise_at(error: Error, path: &std::path::Path) -> PyErr {
    let error = if is_url(path) { error } else { error.without_file(&shown(path)) };
    Python::attach(|py| exception(py, &error, Some(path)).unwrap_or_else(|other| other))
}

fn exception(py: Python<'_>, error: &Error, path: Option<&std::path::Path>) -> PyResult<PyErr> {
    let class = match error.kind() {
        ErrorKind::Io(io) => return with_note(py, os_error(error, io, path), error),
        ErrorKind::Cancelled => return Ok(PyKeyboardInterrupt::new_err("stopped")),
        ErrorKind::Absent(what) => return with_note(py, PyKeyError::new_err(what.to_string()), error),
        ErrorKind::WrongFormat { .. } => "WrongFormatError",
        ErrorKind::Truncated { .. } => "TruncatedError",
        ErrorKind::Malformed(_) => "MalformedError",
        ErrorKind::Checksum { .. } => "ChecksumError",
        ErrorKind::Unsupported(_) => "UnsupportedError",
        ErrorKind::Limit { .. } => "LimitError",
        ErrorKind::Usage(_) => "UsageError",
        _ => "HoldallError",
    };
    let range = error.range().map(|range| (range.start, range.end));
    let common = (error.to_string(), range, error.file_name(), error.hint());
    let class = module(py)?.getattr(class)?;
    let made = match error.kind() {
        ErrorKind::Truncated { need, have } => class.call1(join(py, common, (need, have))?)?,
        ErrorKind::Checksum { stored, computed } => class.call1(join(py, common, (stored, computed))?)?,
        _ => class.call1(common)?,
    };
    Ok(PyErr::from_value(made))
}

/// An exception of Python's own, with the hint as a note below its traceback.
fn with_note(py: Python<'_>, exception: PyErr, error: &Error) -> PyResult<PyErr> {
    if let Some(hint) = error.hint() {
        let note = module(py)?.getattr("as_note")?.call1((hint,))?;
        exception.value(py).call_method1("add_note", (note,))?;
    }
    Ok(exception)
}

type Common<'e> = (String, Option<(u64, u64)>, Option<&'e str>, Option<&'e str>);

fn join<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    (message, range, part, hint): Common<'_>,
    (a, b): (T, T),
) -> PyResult<Bound<'py, PyTuple>> {
    (message, range, part, hint, a, b).into_pyobject(py)
}

fn os_error(error: &Error, io: &std::io::Error, path: Option<&std::path::Path>) -> PyErr {
    let Some(code) = io.raw_os_error() else {
        // A server's answer: its class as that of the same refusal by the operating system.
        let text = error.to_string();
        return match io.kind() {
            std::io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            std::io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            std::io::ErrorKind::TimedOut => PyTimeoutError::new_err(text),
            std::io::ErrorKind::ConnectionRefused => PyConnectionRefusedError::new_err(text),
            _ => PyOSError::new_err(text),
        };
    };
    // "No such file or directory (os error 2)" less what Python adds itself.
    let text = io.to_string();
    let text = text.rsplit_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned();
    let path = path.filter(|_| error.subject().is_none());
    if let (Some(file), None) = (error.subject(), path) {
        return PyOSError::new_err((code, text, file.to_owned()));
    }
    match (error.context(), path) {
        (_, Some(path)) if is_url(path) => PyOSError::new_err((code, text, shown(path))),
        (_, Some(path)) => PyOSError::new_err((code, text, path.to_owned().into_os_string())),
        (Some(what), None) => PyOSError::new_err((code, format!("{what}: {text}"))),
        (None, None) => PyOSError::new_err((code, text)),
    }
}

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(ERRORS.get_or_try_init(py, || py.import("holdall._errors").map(Bound::unbind))?.bind(py))
}

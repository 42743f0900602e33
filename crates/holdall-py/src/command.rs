//! The command, run in this process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs `holdall` with these arguments, the first of which is the program's name, and gives its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| holdall_cli::main(arguments))
}

//! The extension module `holdall._holdall`: private, with positional arguments. The package's Python is the typed façade over it.

mod asdf;
mod blosc2;
mod bloscpack;
mod command;
mod draw;
mod errors;
mod file;
mod functions;
mod gsd;
mod held;
mod indexing;
#[allow(unsafe_code)]
mod memory;
mod numpy;
mod options;
mod patient;
mod source;
mod urls;
mod values;

use pyo3::prelude::*;

/// Classes and functions, registered.
#[pymodule(gil_used = false)]
fn _holdall(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<file::Core>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<draw::Drawn>()?;
    module.add_class::<blosc2::Blosc2File>()?;
    module.add_class::<gsd::GsdFile>()?;
    module.add_class::<gsd::GsdFollower>()?;
    module.add_class::<urls::UrlBytes>()?;
    asdf::register(module)?;
    functions::register(module)?;
    bloscpack::register(module)?;
    module.add_function(wrap_pyfunction!(urls::is_url_text, module)?)?;
    module.add_function(wrap_pyfunction!(urls::shown_address, module)?)?;
    module.add_function(wrap_pyfunction!(urls::list_address, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(draw::draw, module)?)?;
    module.add_function(wrap_pyfunction!(draw::draw_arrays, module)?)?;
    Ok(())
}

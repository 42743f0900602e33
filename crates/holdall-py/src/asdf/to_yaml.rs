//! Python objects as trees to be written: what the package asdf's YAML dumper makes of them, with the nodes of arrays in their places.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use container_core::json_pointer::escape;
use holdall::Error;
use holdall::asdf::Version;
use holdall::asdf::types::{Integer, complex};
use holdall::asdf::yaml::{Timestamp, Yaml};
use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping,
    PySequence, PySet, PyString, PyTuple, PyType,
};

use super::read::cannot;
use crate::errors::raise;

/// Most levels of what is handed over.
const MAX_DEPTH: usize = 500;

const COMPLEX: &str = "tag:stsci.edu:asdf/core/complex-1.0.0";
const YAML: &str = "tag:yaml.org,2002:";

/// The tree of `value`. `found` is what `holdall.asdf._arrays` has found in it: the arrays by the identity of the objects (`nodes`) and the
/// identities of what it has more than once (`shared`).
///
/// # Errors
/// `TypeError` for objects that a tree does not hold; `UnsupportedError` for keys that the standard does not allow.
pub(super) fn of(
    value: &Bound<'_, PyAny>,
    found: &Bound<'_, PyAny>,
    nodes: &[Yaml],
    standard: Version,
) -> PyResult<Yaml> {
    let arrays: HashMap<usize, usize> = found.getattr("nodes")?.extract()?;
    let shared: HashSet<usize> = found.getattr("shared")?.extract()?;
    let py = value.py();
    let mut maker = Maker {
        types: Types::of(py)?,
        nodes,
        arrays,
        shared,
        names: HashMap::new(),
        standard,
        place: String::new(),
    };
    maker.value(value, 0)
}

/// Classes that are asked for by name.
struct Types {
    tagged: Py<PyType>,
    datetime: Py<PyType>,
    date: Py<PyType>,
    ordered: Py<PyType>,
}

impl Types {
    fn of(py: Python<'_>) -> PyResult<&Self> {
        static TYPES: PyOnceLock<Types> = PyOnceLock::new();
        TYPES.get_or_try_init(py, || {
            let class = |module: &str, name: &str| -> PyResult<Py<PyType>> {
                Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            Ok(Self {
                tagged: class("holdall.asdf._tagged", "Tagged")?,
                datetime: class("datetime", "datetime")?,
                date: class("datetime", "date")?,
                ordered: class("collections", "OrderedDict")?,
            })
        })
    }
}

struct Maker<'a> {
    types: &'a Types,
    nodes: &'a [Yaml],
    arrays: HashMap<usize, usize>,
    shared: HashSet<usize>,
    /// Names of what is shared and has been come by.
    names: HashMap<usize, String>,
    standard: Version,
    /// The pointer to what is being made.
    place: String,
}

impl Maker<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Yaml> {
        if depth > MAX_DEPTH {
            return Err(PyRecursionError::new_err("a tree nested too deeply"));
        }
        let id = value.as_ptr() as usize;
        if !self.shared.contains(&id) {
            return self.once(value, id, depth);
        }
        if let Some(name) = self.names.get(&id) {
            return Ok(Yaml::Alias(name.clone()));
        }
        let name = format!("id{:03}", self.names.len() + 1);
        self.names.insert(id, name.clone());
        Ok(Yaml::Anchored(name, Box::new(self.once(value, id, depth)?)))
    }

    fn once(&mut self, value: &Bound<'_, PyAny>, id: usize, depth: usize) -> PyResult<Yaml> {
        if let Some(node) = self.arrays.get(&id).and_then(|at| self.nodes.get(*at)) {
            return Ok(node.clone());
        }
        let py = value.py();
        let made = self.plain(value, depth)?;
        let is_own = value.is_instance(self.types.tagged.bind(py))?;
        // The package asdf's own name for it, in trees without its converters.
        let name = if is_own { intern!(py, "tag") } else { intern!(py, "_tag") };
        let can_have_one = matches!(made, Yaml::Text(..) | Yaml::Sequence(..) | Yaml::Mapping(..));
        let tag = if can_have_one { value.getattr_opt(name)? } else { None };
        Ok(match tag.and_then(|tag| tag.extract::<String>().ok()).filter(|tag| !tag.is_empty()) {
            Some(tag) => made.tagged(tag),
            None => made,
        })
    }

    fn plain(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Yaml> {
        if value.is_none() {
            return Ok(Yaml::Null);
        }
        if let Ok(value) = value.cast::<PyString>() {
            return Ok(Yaml::text(value.to_str()?));
        }
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(Yaml::Bool(value.is_true()));
        }
        if value.cast::<PyInt>().is_ok() {
            return self.integer(value);
        }
        if let Ok(value) = value.cast::<PyFloat>() {
            return Ok(Yaml::Float(value.value()));
        }
        if let Ok(value) = value.cast_exact::<PyDict>() {
            return self.mapping(value.as_any(), value.items().as_any(), depth);
        }
        // Classes derived from it may keep their items elsewhere.
        if value.cast::<PyDict>().is_ok() {
            let items = value.call_method0(intern!(value.py(), "items"))?;
            return self.mapping(value, &items, depth);
        }
        if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
            return Ok(Yaml::sequence(self.items(value, depth)?));
        }
        self.other(value, depth)
    }

    fn other(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Yaml> {
        let py = value.py();
        if let Ok(value) = value.cast::<PyComplex>() {
            let number = complex::Complex { re: value.real(), im: value.imag() };
            return Ok(Yaml::text(complex::text(number)).tagged(COMPLEX));
        }
        if let Ok(value) = value.cast::<PyBytes>() {
            return Ok(Yaml::Binary(value.as_bytes().to_vec()));
        }
        if let Ok(value) = value.cast::<PyByteArray>() {
            return Ok(Yaml::Binary(value.to_vec()));
        }
        if value.is_instance(self.types.datetime.bind(py))? {
            return self.time(value).map(Yaml::Timestamp);
        }
        if value.is_instance(self.types.date.bind(py))? {
            return date(value).map(Yaml::Timestamp);
        }
        if value.cast::<PySet>().is_ok() || value.cast::<PyFrozenSet>().is_ok() {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                pairs.push((self.key(&key?)?, Yaml::Null));
            }
            return Ok(Yaml::Mapping(pairs, None).tagged(format!("{YAML}set")));
        }
        if let Ok(map) = value.cast::<PyMapping>() {
            return self.mapping(value, map.items()?.as_any(), depth);
        }
        if value.cast::<PySequence>().is_ok() {
            return Ok(Yaml::sequence(self.items(value, depth)?));
        }
        self.numpy(value, depth)
    }

    /// A scalar of numpy.
    fn numpy(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Yaml> {
        let py = value.py();
        let hint = "cannot be stored in a tree: it needs a converter, which the package asdf may have";
        let dtype = value.getattr_opt(intern!(py, "dtype"))?;
        let (Some(dtype), true) = (dtype, value.hasattr(intern!(py, "item"))?) else {
            return Err(cannot(&self.place, value, hint));
        };
        let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
        let item = value.call_method0(intern!(py, "item"))?;
        // Long doubles are their own items, dates finer than microseconds are numbers, and records have names that a list has not.
        let is_number = matches!(kind.as_str(), "m" | "M") && item.cast::<PyInt>().is_ok();
        if item.get_type().is(value.get_type()) || is_number || kind == "V" {
            let name = value.get_type().fully_qualified_name()?;
            let error = Error::unsupported(format!("{}: a scalar of {name} in a tree", self.place));
            return Err(raise(error.with_hint("an array of it, or a number or text")));
        }
        self.value(&item, depth + 1)
    }

    fn integer(&self, value: &Bound<'_, PyAny>) -> PyResult<Yaml> {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Yaml::int(number));
        }
        // What 64 bits do not hold no reader has to read as a number.
        let py = value.py();
        let bits: usize = value.call_method0(intern!(py, "bit_length"))?.extract()?;
        let negative: bool = value.lt(0)?;
        let size = bits.div_ceil(32) * 4;
        let bytes = value.call_method0(intern!(py, "__abs__"))?.call_method1("to_bytes", (size, "little"))?;
        let bytes = bytes.cast_into::<PyBytes>()?;
        let (words, _) = bytes.as_bytes().as_chunks::<4>();
        let words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Ok(Integer { negative, words }.to_yaml(self.standard))
    }

    fn mapping(
        &mut self,
        value: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
        depth: usize,
    ) -> PyResult<Yaml> {
        let mut pairs = Vec::new();
        let here = self.place.len();
        for pair in items.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            let name = key.str()?;
            _ = write!(self.place, "/{}", escape(&name.to_string_lossy()));
            pairs.push((self.key(&key)?, self.value(&value, depth + 1)?));
            self.place.truncate(here);
        }
        // As the package asdf writes them.
        if value.get_type().is(self.types.ordered.bind(value.py())) {
            let items = pairs.into_iter().map(|pair| Yaml::Mapping(vec![pair], None));
            return Ok(Yaml::sequence(items).tagged(format!("{YAML}omap")));
        }
        Ok(Yaml::Mapping(pairs, None))
    }

    fn items(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Vec<Yaml>> {
        let mut items = Vec::new();
        let here = self.place.len();
        for (at, item) in value.try_iter()?.enumerate() {
            _ = write!(self.place, "/{at}");
            items.push(self.value(&item?, depth + 1)?);
            self.place.truncate(here);
        }
        Ok(items)
    }

    /// A key: text, a whole number or a truth value from version 1.6.0 of the standard on.
    fn key(&self, key: &Bound<'_, PyAny>) -> PyResult<Yaml> {
        let is_tagged = key.is_instance(self.types.tagged.bind(key.py()))?;
        if !is_tagged {
            if let Ok(text) = key.cast::<PyString>() {
                return Ok(Yaml::text(text.to_str()?));
            }
            if let Ok(value) = key.cast::<PyBool>() {
                return Ok(Yaml::Bool(value.is_true()));
            }
            if let (true, Ok(value)) = (key.cast::<PyInt>().is_ok(), key.extract::<i64>()) {
                return Ok(Yaml::int(value));
            }
            if self.standard.minor < 6 {
                if key.is_none() {
                    return Ok(Yaml::Null);
                }
                if let Ok(value) = key.cast::<PyFloat>() {
                    return Ok(Yaml::Float(value.value()));
                }
            }
        }
        let name = key.get_type().fully_qualified_name()?;
        let what = format!("{}: a key that is a {name}", self.place);
        Err(raise(Error::unsupported(what).with_hint("text, a whole number of 64 bits or a truth value")))
    }

    fn time(&self, value: &Bound<'_, PyAny>) -> PyResult<Timestamp> {
        let py = value.py();
        let part = |name: &str| value.getattr(name)?.extract::<u8>();
        let micro: u32 = value.getattr(intern!(py, "microsecond"))?.extract()?;
        let mut time = date(value)?;
        time.time = Some((part("hour")?, part("minute")?, part("second")?, micro));
        let offset = value.call_method0(intern!(py, "utcoffset"))?;
        if !offset.is_none() {
            let seconds: f64 = offset.call_method0(intern!(py, "total_seconds"))?.extract()?;
            if seconds % 60.0 != 0.0 {
                let what = format!("{}: a zone that is not of whole minutes", self.place);
                return Err(raise(Error::unsupported(what)));
            }
            // Less than a day.
            #[expect(clippy::cast_possible_truncation)]
            let minutes = (seconds / 60.0) as i32;
            time.offset = Some(minutes);
        }
        Ok(time)
    }
}

fn date(value: &Bound<'_, PyAny>) -> PyResult<Timestamp> {
    Ok(Timestamp {
        year: value.getattr("year")?.extract()?,
        month: value.getattr("month")?.extract()?,
        day: value.getattr("day")?.extract()?,
        time: None,
        offset: None,
    })
}

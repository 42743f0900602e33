//! Trees as Python objects: what the package asdf's YAML loader makes of them, with arrays as datasets.

use std::collections::HashMap;

use holdall::Error;
use holdall::asdf::types::{Integer, Value, complex};
use holdall::asdf::yaml::{Document, Int, Kind, Node, NodeId, Scalar, Timestamp};
use holdall::asdf::{ByteSource, File, NdArray};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyList, PyModule, PySet, PyString, PyTuple};

use super::arrays::Placed;
use crate::errors::raise;

/// Most collections within one another, aliases followed.
const MAX_DEPTH: usize = 512;

/// Bytes of a node in Python, about: the smallest object and its place in a collection.
const NODE: u64 = 64;

/// Nodes between two looks at signals.
const BEAT: usize = 1 << 16;

const YAML: &str = "tag:yaml.org,2002:";

/// The tree of a file, or a tree that is edited with the arrays that are new in it, as Python objects.
///
/// # Errors
/// `LimitError`; `MalformedError` for a `core/integer` that is none; what Python raises.
pub(super) fn tree<'py>(
    py: Python<'py>,
    file: &File,
    edited: Option<&Document>,
    placed: &[Placed],
    dataset: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let document = edited.unwrap_or_else(|| file.tree().document());
    let bytes = (document.len() as u64).saturating_mul(NODE);
    file.options().limits.allocate(bytes).map_err(|error| raise(error.with_context("asdf tree")))?;
    let stored = Stored::new(file, edited.is_some());
    let tagged = PyModule::import(py, "holdall.asdf._tagged")?;
    let class = |name| tagged.getattr(name);
    let mut builder = Builder {
        py,
        stored,
        placed,
        dataset,
        dict: class("TaggedDict")?,
        list: class("TaggedList")?,
        text: class("TaggedStr")?,
        made: HashMap::new(),
        seen: 0,
    };
    builder.value(document.root(), 0)
}

/// Contents of the file: arrays, and numbers whose words are arrays.
struct Stored<'f> {
    file: &'f File,
    indices: HashMap<NodeId, usize>,
    /// Their nodes by tag and text, for a tree that is edited: what reads the same is the same.
    texts: Option<HashMap<(&'f str, &'f str), NodeId>>,
}

impl<'f> Stored<'f> {
    fn new(file: &'f File, is_edited: bool) -> Self {
        let texts = is_edited.then(|| {
            let nodes = file.tree().document().nodes();
            let nodes = nodes.filter(|node| !node.is_alias() && is_stored(*node));
            nodes.filter_map(|node| Some((key(node)?, node.id()))).collect()
        });
        Self { file, indices: file.arrays_by_node(), texts }
    }

    /// The node in the file that a node of the tree is.
    fn node(&self, node: Node<'_>) -> Option<Node<'f>> {
        let id = match &self.texts {
            None => node.target().id(),
            Some(texts) => *texts.get(&key(node)?)?,
        };
        Some(self.file.tree().document().node(id))
    }
}

fn is_stored(node: Node<'_>) -> bool {
    node.tag().is_some_and(|tag| NdArray::is_tag(tag) || is_integer(tag))
}

fn is_integer(tag: &str) -> bool {
    tag.starts_with("tag:stsci.edu:asdf/core/integer-1.")
}

fn key<'d>(node: Node<'d>) -> Option<(&'d str, &'d str)> {
    Some((node.tag()?, node.document().text().get(node.target().content_span())?))
}

struct Builder<'a, 'py> {
    py: Python<'py>,
    stored: Stored<'a>,
    placed: &'a [Placed],
    dataset: Bound<'py, PyAny>,
    dict: Bound<'py, PyAny>,
    list: Bound<'py, PyAny>,
    text: Bound<'py, PyAny>,
    /// Collections and arrays: aliases name the same object.
    made: HashMap<NodeId, Bound<'py, PyAny>>,
    seen: usize,
}

impl<'py> Builder<'_, 'py> {
    fn value(&mut self, node: Node<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let node = node.target();
        self.seen = self.seen.wrapping_add(1);
        if self.seen.is_multiple_of(BEAT) {
            self.py.check_signals()?;
        }
        if node.kind() == Kind::Scalar {
            return self.scalar(node);
        }
        if let Some(made) = self.made.get(&node.id()) {
            return Ok(made.clone());
        }
        if depth >= MAX_DEPTH {
            let error = Error::limit("collections within one another", depth as u64, MAX_DEPTH as u64);
            return Err(raise(error.with_context("asdf tree").with_range(node.range())));
        }
        let tag = node.tag().filter(|tag| *tag != "!");
        if let Some(tag) = tag.filter(|_| is_stored(node)) {
            let special = if is_integer(tag) { self.integer(node)? } else { self.array(node)? };
            if let Some(special) = special {
                self.made.insert(node.id(), special.clone());
                return Ok(special);
            }
        }
        match (node.kind(), tag.map(|tag| tag.strip_prefix(YAML).unwrap_or(""))) {
            (Kind::Sequence, Some("omap")) => self.ordered(node, depth),
            (Kind::Sequence, Some("pairs")) => self.pairs(node, depth),
            (Kind::Mapping, Some("set")) => self.set(node, depth),
            (Kind::Sequence, None | Some("seq")) => {
                self.items(node, PyList::empty(self.py).into_any(), depth)
            }
            (_, None | Some("map")) => self.entries(node, PyDict::new(self.py).into_any(), depth),
            (Kind::Sequence, Some(_)) => {
                let list = self.list.call1((PyTuple::empty(self.py), tag))?;
                self.items(node, list, depth)
            }
            (_, Some(_)) => {
                let dict = self.dict.call1((PyTuple::empty(self.py), tag))?;
                self.entries(node, dict, depth)
            }
        }
    }

    fn items(
        &mut self,
        node: Node<'_>,
        list: Bound<'py, PyAny>,
        depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.made.insert(node.id(), list.clone());
        let to = list.cast::<PyList>()?.clone();
        for item in node.items() {
            to.append(self.value(item, depth + 1)?)?;
        }
        Ok(list)
    }

    fn entries(
        &mut self,
        node: Node<'_>,
        dict: Bound<'py, PyAny>,
        depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.made.insert(node.id(), dict.clone());
        let to = dict.cast::<PyDict>()?.clone();
        // Of keys that are equal Python keeps the first and the last value, as PyYAML has it; where others are merged, those that count.
        let merges = node.entries().any(|(key, _)| key.scalar() == Some(Scalar::Merge));
        let pairs = if merges { node.pairs() } else { node.entries().collect() };
        for (key, value) in pairs {
            let key = self.key(key, depth + 1)?;
            let value = self.value(value, depth + 1)?;
            to.set_item(key, value)?;
        }
        Ok(dict)
    }

    /// A key: collections, which Python cannot hash, are tuples of their items.
    fn key(&mut self, node: Node<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        if depth >= MAX_DEPTH {
            let error = Error::limit("collections within one another", depth as u64, MAX_DEPTH as u64);
            return Err(raise(error.with_context("asdf tree").with_range(node.range())));
        }
        let mut keys = Vec::new();
        match node.kind() {
            Kind::Scalar => return self.scalar(node.target()),
            Kind::Sequence => {
                for item in node.items() {
                    keys.push(self.key(item, depth + 1)?);
                }
            }
            Kind::Mapping => {
                for (key, value) in node.pairs() {
                    let pair = [self.key(key, depth + 1)?, self.key(value, depth + 1)?];
                    keys.push(PyTuple::new(self.py, pair)?.into_any());
                }
            }
        }
        Ok(PyTuple::new(self.py, keys)?.into_any())
    }

    fn ordered(&mut self, node: Node<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let made = PyModule::import(self.py, "collections")?.getattr("OrderedDict")?.call0()?;
        self.made.insert(node.id(), made.clone());
        for (key, value) in node.items().flat_map(Node::pairs) {
            let key = self.key(key, depth + 1)?;
            made.set_item(key, self.value(value, depth + 1)?)?;
        }
        Ok(made)
    }

    fn pairs(&mut self, node: Node<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let made = PyList::empty(self.py);
        self.made.insert(node.id(), made.clone().into_any());
        for (key, value) in node.items().flat_map(Node::pairs) {
            let key = self.value(key, depth + 1)?;
            made.append((key, self.value(value, depth + 1)?))?;
        }
        Ok(made.into_any())
    }

    fn set(&mut self, node: Node<'_>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let made = PySet::empty(self.py)?;
        self.made.insert(node.id(), made.clone().into_any());
        for (key, _) in node.pairs() {
            made.add(self.key(key, depth + 1)?)?;
        }
        Ok(made.into_any())
    }

    fn scalar(&self, node: Node<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let Some(scalar) = node.scalar() else { return Ok(py.None().into_bound(py)) };
        let foreign = node.tag().filter(|tag| *tag != "!" && !tag.starts_with(YAML));
        if let Some(tag) = foreign {
            let number = complex::is_tag(tag).then(|| complex::parse(node.text())).flatten();
            return match number {
                Some(number) => Ok(PyComplex::from_doubles(py, number.re, number.im).into_any()),
                None => self.text.call1((node.text(), tag)),
            };
        }
        Ok(match scalar {
            Scalar::Null => py.None().into_bound(py),
            Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
            Scalar::Int(Int::Small(value)) => value.into_pyobject(py)?.into_any(),
            Scalar::Int(value) => match Integer::of(&value) {
                Some(value) => whole(py, &value)?,
                None => PyString::new(py, node.text()).into_any(),
            },
            Scalar::Float(value) => PyFloat::new(py, value).into_any(),
            Scalar::Text(text) => PyString::new(py, text).into_any(),
            Scalar::Merge => PyString::new(py, "<<").into_any(),
            Scalar::Default => PyString::new(py, "=").into_any(),
            Scalar::Binary(bytes) => PyBytes::new(py, &bytes).into_any(),
            Scalar::Timestamp(time) => self::time(py, &time)?,
        })
    }

    /// A `core/integer`; `None` where it is in a tree that is edited and not read yet.
    fn integer(&self, node: Node<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let read = match self.stored.node(node) {
            Some(stored) => match Value::from_node(stored, self.stored.file).map_err(raise)? {
                Value::Integer(integer) => Some(integer),
                _ => None,
            },
            None => inline_integer(node),
        };
        read.map(|integer| whole(self.py, &integer)).transpose()
    }

    /// The Python object of an array; `None` for a node that has the tag of one and is none.
    fn array(&self, node: Node<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let stored = self.stored.node(node).and_then(|node| self.stored.indices.get(&node.id()));
        if let Some(index) = stored {
            return self.dataset.call1((*index,)).map(Some);
        }
        Ok(self.new_array(node).map(|object| object.bind(self.py).clone()))
    }

    /// An array that is not in the file yet.
    fn new_array(&self, node: Node<'_>) -> Option<&Py<PyAny>> {
        let array = NdArray::parse(node).ok()?;
        let ByteSource::Block(block) = array.source else { return None };
        let shape: Vec<u64> = array.shape.into_iter().collect::<Option<_>>()?;
        let mut fitting = self.placed.iter().filter(|placed| {
            placed.block as u64 == block.unsigned_abs() && block >= 0 && placed.shape == shape
        });
        let first = fitting.clone().next()?;
        let is_exact = |placed: &&Placed| {
            let dtype = array.datatype.as_ref().map(|datatype| &datatype.dtype);
            placed.offset == array.offset
                && dtype == Some(&placed.dtype)
                && (placed.strides.is_none() || placed.strides == array.strides)
        };
        Some(&fitting.find(is_exact).unwrap_or(first).object)
    }
}

/// A `core/integer` whose words are in the tree.
fn inline_integer(node: Node<'_>) -> Option<Integer> {
    let data = node.get("words")?;
    let data = data.get("data").unwrap_or(data);
    let word = |item: Node<'_>| match item.scalar()? {
        Scalar::Int(Int::Small(word)) => u32::try_from(word).ok(),
        _ => None,
    };
    let words = data.items().map(word).collect::<Option<_>>()?;
    Some(Integer { negative: node.get("sign")?.text() == "-", words })
}

/// A whole number of any size, without decimal digits, of which Python reads no more than some thousand.
fn whole<'py>(py: Python<'py>, integer: &Integer) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = integer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let int = py.get_type::<pyo3::types::PyInt>();
    let value = int.call_method1(intern!(py, "from_bytes"), (PyBytes::new(py, &bytes), "little"))?;
    if integer.negative { value.neg() } else { Ok(value) }
}

/// `datetime.date`, or `datetime.datetime` with a zone where one is written.
fn time<'py>(py: Python<'py>, time: &Timestamp) -> PyResult<Bound<'py, PyAny>> {
    static DATETIME: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        DATETIME.get_or_try_init(py, || PyModule::import(py, "datetime").map(Bound::unbind))?.bind(py);
    let (year, month, day) = (time.year, time.month, time.day);
    let Some((hour, minute, second, micro)) = time.time else {
        return module.getattr("date")?.call1((year, month, day));
    };
    let zone = match time.offset {
        None => py.None().into_bound(py),
        Some(minutes) => {
            let delta = module.getattr("timedelta")?.call1((0, i64::from(minutes) * 60))?;
            module.getattr("timezone")?.call1((delta,))?
        }
    };
    module.getattr("datetime")?.call1((year, month, day, hour, minute, second, micro, zone))
}

/// # Errors
/// `TypeError`, with the type's name and the place.
pub(super) fn cannot(place: &str, value: &Bound<'_, PyAny>, why: &str) -> PyErr {
    let name = value.get_type().fully_qualified_name();
    let name = name.map_or_else(|_| "an object".into(), |name| name.to_string());
    let place = if place.is_empty() { "the tree" } else { place };
    PyTypeError::new_err(format!("{place}: {name} {why}"))
}

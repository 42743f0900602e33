//! An open file: what `holdall.File` and `holdall.Dataset` are made on.

use std::path::PathBuf;
use std::sync::Arc;

use container_core::container::{Container, Digests, ReadOptions, visible_datasets};
use container_core::dtype::Order;
use container_core::region::Region;
use holdall::remote::{CachedSource, RemoteOptions};
use holdall::{Accept, OpenFile, Result};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::{raise, raise_at};
use crate::indexing;
use crate::memory::{self, Values, Writable};
use crate::options::{OpenWords, digests, read};
use crate::patient::{opening, patiently, patiently_if};
use crate::source::Ranges;
use crate::values::{entries_to_python, literal, to_python};

/// Bytes of elements from which a read is worth a thread of its own, so that Ctrl-C ends it: some milliseconds of copying.
const WORTH_PATIENCE: u64 = 16 << 20;

/// Most datasets among whose names a nearest one is looked for.
const MAX_NAMES: usize = 10_000;

/// The file.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct Core {
    pub(crate) opened: Arc<OpenFile>,
    pub(crate) limits: holdall::Limits,
}

/// One of the datasets: index and region.
pub(crate) type Part = (usize, Region);

#[pymethods]
impl Core {
    /// Opens the file at `path`; without words, as all are by default.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, words: Option<OpenWords>) -> PyResult<Self> {
        let words = words.unwrap_or_default();
        let (options, limits) = (words.options()?, words.limits());
        let place = path.clone();
        let opened =
            opening(py, &path, move || holdall::open_with(&place, Accept::ContainersAndArrays, &options))?;
        let opened = opened.map_err(|error| raise_at(error, &path))?;
        Ok(Self { opened: Arc::new(opened), limits })
    }

    /// Opens what `read_range(start, stop) -> bytes` gives of `len` bytes, called by up to `at_once` threads at a time.
    #[staticmethod]
    fn from_ranges(
        py: Python<'_>,
        read_range: Py<PyAny>,
        len: u64,
        at_once: usize,
        words: OpenWords,
    ) -> PyResult<Self> {
        let (options, limits) = (words.options()?, words.limits());
        let reader = Box::new(Ranges::new(read_range, len));
        let mut remote = RemoteOptions::default();
        remote.max_in_flight = at_once.max(1);
        let opened = patiently(py, None, move |_, _| {
            let source = Box::new(CachedSource::over(reader, &remote, &limits)?);
            holdall::open::open_source(source, None, Accept::ContainersAndArrays, &options)
        })?;
        Ok(Self { opened: Arc::new(opened.map_err(raise)?), limits })
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.opened.format.name
    }

    /// Format, version, size, completeness and details.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let about = py.detach(|| self.container().about());
        let dict = PyDict::new(py);
        dict.set_item("format", about.format)?;
        dict.set_item("version", about.version)?;
        dict.set_item("size", about.size)?;
        dict.set_item("complete", about.complete)?;
        for (key, value) in entries_to_python(py, &about.details)?.iter() {
            if !dict.contains(&key)? {
                dict.set_item(key, value)?;
            }
        }
        Ok(dict)
    }

    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &py.detach(|| self.container().meta()).map_err(raise)?)
    }

    fn listed(&self) -> usize {
        self.container().listed_count()
    }

    fn count(&self) -> usize {
        self.container().dataset_count()
    }

    /// Path of a dataset by its index.
    fn path(&self, index: usize) -> PyResult<String> {
        let dataset = self.container().dataset(index);
        dataset.map(|dataset| dataset.path.clone()).ok_or_else(|| PyIndexError::new_err(index))
    }

    /// Index of a dataset by its path.
    fn find(&self, py: Python<'_>, path: &str) -> Option<usize> {
        py.detach(|| self.container().find(path))
    }

    /// Paths of the datasets that a plain listing shows, for a message: no more than some thousand.
    fn names(&self) -> Vec<String> {
        visible_datasets(self.container()).take(MAX_NAMES).map(|(_, dataset)| dataset.path.clone()).collect()
    }

    /// `(path, dtype, shape, order, chunks, codec, stored, logical, attributes, has_frames, has_bfloat)`.
    fn info<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyTuple>> {
        let container = self.container();
        let dataset = container.require(index).map_err(raise)?;
        let chunks = dataset.chunks.as_ref().map(|chunks| PyTuple::new(py, chunks)).transpose()?;
        (
            dataset.path.as_str(),
            literal(py, &dataset.dtype.descr())?,
            PyTuple::new(py, &dataset.shape)?,
            dataset.order.letter(),
            chunks,
            dataset.codec.as_str(),
            dataset.stored,
            dataset.logical,
            entries_to_python(py, &dataset.attributes)?,
            container.has_frame_axis(&dataset),
            dataset.dtype.has_bfloat(),
        )
            .into_pyobject(py)
    }

    /// The elements of a basic index in new memory, in the order `K`, `C` or `F`. `None` for an index that is not basic.
    fn read<'py>(
        &self,
        py: Python<'py>,
        dataset: usize,
        index: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        order: &str,
        threads: usize,
        digests: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(read) = self.reading(dataset, index, threads, digests)? else { return Ok(None) };
        let order = order_of(order)?;
        let is_empty = read.is_empty;
        let values = self.run(py, read, move |opened, region, options| {
            memory::fresh(opened, dataset, region, order, options)
        })?;
        values.into_numpy(py, dtype, is_empty).map(Some)
    }

    /// The elements of a basic index where the file lends them, read-only; `False` where it does not, `None` for another index.
    fn view<'py>(
        &self,
        py: Python<'py>,
        dataset: usize,
        index: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        digests: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(read) = self.reading(dataset, index, 1, digests)? else { return Ok(None) };
        let shape = &self.container().require(dataset).map_err(raise)?.codec;
        if shape != "none" {
            return Ok(Some(false.into_pyobject(py)?.to_owned().into_any()));
        }
        let is_empty = read.is_empty;
        let values = self
            .run(py, read, move |opened, region, options| memory::lent(opened, dataset, region, options))?;
        match values {
            None => Ok(Some(false.into_pyobject(py)?.to_owned().into_any())),
            Some(values) => values.into_numpy(py, dtype, is_empty).map(Some),
        }
    }

    /// The elements of a basic index into `out`: bytes without gaps, in the order `C` or `F`. `False` for an index that is not basic.
    fn read_into(
        &self,
        py: Python<'_>,
        dataset: usize,
        index: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        order: &str,
        threads: usize,
        digests: &str,
    ) -> PyResult<bool> {
        let Some(read) = self.reading(dataset, index, threads, digests)? else { return Ok(false) };
        let order = order_of(order)?.ok_or_else(|| PyValueError::new_err("out= has an order"))?;
        let mut out = Writable::new(out)?;
        self.run(py, read, move |opened, region, options| {
            out.fill(opened, (dataset, region, order), options)
        })?;
        Ok(true)
    }

    /// `(dtype, mask)` of a basic index, `None` where nothing is missing, `False` for an index that is not basic.
    fn mask<'py>(
        &self,
        py: Python<'py>,
        dataset: usize,
        index: &Bound<'py, PyAny>,
        threads: usize,
        numpy_dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(read) = self.reading(dataset, index, threads, "whole")? else {
            return Ok(Some(false.into_pyobject(py)?.to_owned().into_any()));
        };
        let is_empty = read.is_empty;
        let mask = self
            .run(py, read, move |opened, region, options| opened.container.mask(dataset, region, options))?;
        let Some(mask) = mask else { return Ok(None) };
        let dtype = numpy_dtype.call1((literal(py, &mask.dtype().descr())?,))?;
        let array = Values::owned(mask).into_numpy(py, &dtype, is_empty)?;
        Ok(Some(array))
    }

    /// Whether anything can be missing of a dataset.
    fn has_mask(&self, py: Python<'_>, dataset: usize) -> PyResult<bool> {
        let options = ReadOptions::default().with_limits(self.limits);
        py.detach(|| self.container().has_mask(dataset, &options)).map_err(raise)
    }

    /// `(start, stop, role, codec, stored, decoded, checksum, dataset, part)` of each range of the file.
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let opened = Arc::clone(&self.opened);
        let segments = patiently(py, None, move |_, _| {
            opened.container.read_structure().map(|()| opened.container.byte_map())
        })?;
        let segments = segments.map_err(raise)?;
        let list = PyList::empty(py);
        for it in segments {
            list.append((
                it.range.start,
                it.range.end,
                it.role,
                it.codec,
                it.stored,
                it.decoded,
                it.checksum,
                it.dataset,
                it.part,
            ))?;
        }
        Ok(list)
    }

    /// Digest of the elements of a basic index, as `holdall digest` prints it. `None` for another index.
    fn digest(
        &self,
        py: Python<'_>,
        dataset: usize,
        index: &Bound<'_, PyAny>,
        threads: usize,
        told: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let Some(Reading { region, options, .. }) = self.reading(dataset, index, threads, "compare")? else {
            return Ok(None);
        };
        let opened = Arc::clone(&self.opened);
        let made = patiently(py, told, move |progress, stop| {
            let options = options.with_stop(stop);
            holdall::digest::digest(&*opened.container, dataset, &region, &options, progress)
        })?;
        Ok(Some(made.map_err(raise)?.digest.to_string()))
    }

    /// `holdall.stat/1`, a line for the dataset or for each field of its records. `None` for an index that is not basic.
    fn stat(
        &self,
        py: Python<'_>,
        dataset: usize,
        index: &Bound<'_, PyAny>,
        threads: usize,
        told: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Vec<String>>> {
        let Some(Reading { region, options, .. }) = self.reading(dataset, index, threads, "whole")? else {
            return Ok(None);
        };
        let path = self.path(dataset)?;
        let opened = Arc::clone(&self.opened);
        let found = patiently(py, told, move |progress, stop| {
            holdall::stat(&*opened.container, dataset, &region, &options.with_stop(stop), progress)
        })?;
        let line = |stat| holdall::stat::stat_json("", &path, None, stat).to_string();
        Ok(Some(found.map_err(raise)?.iter().map(line).collect()))
    }

    /// Lines of the tree: `(depth, path, name, kind, text, dtype, tag)`.
    fn tree(&self, py: Python<'_>, depth: Option<usize>) -> PyResult<Vec<TreeLine>> {
        let nodes = py.detach(|| holdall_cli::library::tree(self.container(), depth)).map_err(raise)?;
        let line = |node: holdall_cli::library::Node| {
            (node.depth, node.path, node.name, node.kind, node.text, node.dtype, node.tag)
        };
        Ok(nodes.into_iter().map(line).collect())
    }

    /// Notices about what is next to the file, and the first digest that reads have not compared.
    fn notices(&self) -> Vec<String> {
        let mut notices = self.container().notices();
        notices.extend(self.container().uncompared());
        notices
    }
}

type TreeLine = (usize, String, String, &'static str, String, Option<String>, Option<String>);

/// A read that is about to be done.
struct Reading {
    region: Region,
    options: ReadOptions,
    bytes: u64,
    is_empty: bool,
}

impl Core {
    pub(crate) fn container(&self) -> &dyn Container {
        &*self.opened.container
    }

    /// Runs a read: on this thread where it is short, else as [`patiently`] does.
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        Reading { region, options, bytes, .. }: Reading,
        work: impl FnOnce(&Arc<OpenFile>, &Region, &ReadOptions) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let opened = Arc::clone(&self.opened);
        let read = move |stop| work(&opened, &region, &options.with_stop(stop));
        patiently_if(py, bytes >= WORTH_PATIENCE, read)?.map_err(raise)
    }

    fn reading(
        &self,
        dataset: usize,
        index: &Bound<'_, PyAny>,
        threads: usize,
        word: &str,
    ) -> PyResult<Option<Reading>> {
        let info = self.container().require(dataset).map_err(raise)?;
        let Some(region) = indexing::region(index, &info.shape)? else { return Ok(None) };
        let itemsize = info.dtype.itemsize() as u64;
        let bytes = region.len().unwrap_or(u64::MAX).saturating_mul(itemsize);
        let is_empty = region.is_empty() || itemsize == 0;
        let options = read(threads, digests(word)?, self.limits);
        // What little is asked for may take the decoding of much, or its comparison with a digest.
        let is_part = info.codec == "none" && options.digests != Digests::Compare;
        let bytes = if is_part { bytes } else { bytes.max(info.logical) };
        Ok(Some(Reading { region, options, bytes, is_empty }))
    }
}

fn order_of(word: &str) -> PyResult<Option<Order>> {
    match word {
        "K" => Ok(None),
        "C" => Ok(Some(Order::C)),
        "F" => Ok(Some(Order::F)),
        _ => Err(PyValueError::new_err(format!("unknown order {word:?} (expected 'K', 'C' or 'F')"))),
    }
}

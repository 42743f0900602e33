//! Blosc2 frames that are changed in place: what `holdall.blosc2.Array` and `Frame` are made on.
//!
//! Locks are waited for without the interpreter's lock: work on another thread may need that to let memory of numpy go.

mod open;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use container_core::array::Array;
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::write::Durability;
use holdall::blosc2_frame::b2nd::NdOptions;
use holdall::blosc2_frame::{
    ChunkSize, EditOptions, Editor, FrameOptions, Header, Kind, default_params, msgpack,
};
use holdall::{Error, Limits, Result, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::errors::{raise, raise_at};
use crate::indexing;
use crate::memory::{Exported, Values};
use crate::options::{OpenWords, WriteWords};
use crate::patient::{opening, patiently, patiently_if};
use crate::values::{from_python, literal, to_python};
use open::{New, Open};

/// Bytes of elements from which work gets a thread of its own, so that Ctrl-C ends it: some milliseconds of encoding.
const WORTH_PATIENCE: u64 = 1 << 20;

/// The frame.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct Blosc2File {
    path: PathBuf,
    edit: EditOptions,
    state: Arc<Mutex<State>>,
}

struct State {
    open: Open,
    /// The file has no name before the first commit.
    is_new: bool,
}

#[pymethods]
impl Blosc2File {
    /// Opens the frame at `path`; `None` for what is no frame.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        is_edited: bool,
        words: OpenWords,
        threads: usize,
        may_vary: bool,
    ) -> PyResult<Option<Self>> {
        let options = (&words.options()?).into();
        let edit = editing(words.limits(), threads, may_vary);
        let (place, edited) = (path.clone(), edit.clone());
        let opened = opening(py, &path, move || {
            let read = Open::read(&place, &options)?;
            match read {
                Some(_) if is_edited => {
                    drop(read);
                    Open::edit(&place, &edited).map(Some)
                }
                other => Ok(other),
            }
        })?;
        let opened = opened.map_err(|error| raise_at(error, &path))?;
        Ok(opened.map(|open| Self::with(path, edit, open, false)))
    }

    /// Makes an array of zeros, or of the element in `fill`, that appears at `path` with the first commit.
    #[staticmethod]
    fn create_array(
        py: Python<'_>,
        path: PathBuf,
        dtype: &str,
        shape: Vec<u64>,
        fill: Option<Vec<u8>>,
        words: WriteWords,
        threads: usize,
    ) -> PyResult<Self> {
        let dtype = DType::parse(dtype).map_err(raise)?;
        let mut options = NdOptions::default().with_words(&words.import(), &dtype, &shape).map_err(raise)?;
        options.params.threads = threads;
        Self::create(py, path, New::Array { dtype, shape, fill, options }, &words, threads, false)
    }

    /// Makes a frame without chunks that appears at `path` with the first commit.
    #[staticmethod]
    fn create_frame(
        py: Python<'_>,
        path: PathBuf,
        typesize: usize,
        chunksize: Option<u32>,
        words: WriteWords,
        threads: usize,
        may_vary: bool,
    ) -> PyResult<Self> {
        let mut options = FrameOptions::default();
        options.params = default_params(typesize);
        options.chunksize = chunksize;
        let mut options = options.with_words(&words.import()).map_err(raise)?;
        options.params.threads = threads;
        options.variable_chunks = may_vary;
        Self::create(py, path, New::Frame(options), &words, threads, may_vary)
    }

    /// `(dtype, shape, chunks, blocks, has_bfloat, is_numpy)` of an array; `None` for plain chunks.
    fn array<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some((dtype, geometry)) = self.look(py, |open| open.array())? else { return Ok(None) };
        let shape = PyTuple::new(py, geometry.shape())?;
        let (chunks, blocks) =
            (PyTuple::new(py, geometry.chunkshape())?, PyTuple::new(py, geometry.blockshape())?);
        let described = literal(py, &dtype.descr())?;
        (described, shape, chunks, blocks, dtype.has_bfloat(), dtype.is_plain_numpy())
            .into_pyobject(py)
            .map(Some)
    }

    /// Sizes, codec and filters, by python-blosc2's words.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (header, count, nbytes, layer) = self.look(py, |open| {
            let layer = open.editor().ok().and_then(Editor::content_layer);
            Ok((open.header()?.clone(), open.chunk_count()?, open.data_len()?, layer))
        })?;
        let dict = described(py, &header)?;
        dict.set_item("nchunks", count)?;
        dict.set_item("nbytes", nbytes)?;
        dict.set_item("content_layer", layer)?;
        Ok(dict)
    }

    /// The metalayers of the header, decoded.
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let limits = self.edit.limits;
        let all = self.look(py, |open| {
            let layers = open.metalayers()?.iter();
            layers
                .map(|(name, bytes)| {
                    Ok((name.to_owned(), msgpack::metalayer_to_value(name, bytes, &limits)?))
                })
                .collect::<Result<Vec<_>>>()
        })?;
        crate::values::entries_to_python(py, &all)
    }

    fn vlmeta_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.look(py, Open::names)
    }

    /// A piece of user metadata, decoded: `(value,)`, or `None` where there is none.
    fn vlmeta<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let limits = self.edit.limits;
        let found = self.look(py, |open| {
            let bytes = open.vlmetalayer(name)?;
            bytes.map(|bytes| msgpack::metalayer_to_value("", &bytes, &limits)).transpose()
        })?;
        found.map(|value| PyTuple::new(py, [to_python(py, &value)?])).transpose()
    }

    fn set_vlmeta(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = msgpack::from_value(&from_python(value)?).map_err(raise)?;
        self.change(py, |open| open.set_vlmetalayer(name, &value))
    }

    fn remove_vlmeta(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.change(py, |open| open.remove_vlmetalayer(name))
    }

    /// The elements of a basic index, uncommitted changes included; `None` for an index that is not basic.
    fn read<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
        numpy_dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((region, bytes)) = self.region(py, index)? else { return Ok(None) };
        let is_empty = region.is_empty();
        let read = self.work(py, bytes, move |open| open.read_elements(&region))?;
        Values::owned(read).into_numpy(py, numpy_dtype, is_empty).map(Some)
    }

    /// Sets the elements of a basic index to `values`, which have its shape, or with `is_one` are one element. `False` for another index.
    fn set(
        &self,
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        values: Option<Bound<'_, PyAny>>,
        is_one: bool,
    ) -> PyResult<bool> {
        let values = exported(values)?;
        let Some((region, bytes)) = self.region(py, index)? else { return Ok(false) };
        self.work(py, bytes, move |open| {
            let array = open.elements()?;
            if is_one {
                return array.fill(&region, values.bytes());
            }
            let given = Array::new(array.dtype().clone(), region.shape(), Order::C, values.bytes().into())?;
            array.set(&region, &given)
        })?;
        Ok(true)
    }

    /// Adds `values` of `shape` behind the end of an axis.
    fn append(
        &self,
        py: Python<'_>,
        axis: usize,
        shape: Vec<u64>,
        values: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let values = exported(values)?;
        self.work(py, values.bytes().len() as u64, move |open| {
            let array = open.elements()?;
            let given = Array::new(array.dtype().clone(), shape, Order::C, values.bytes().into())?;
            array.append(axis, &given)
        })
    }

    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        self.work(py, u64::MAX, move |open| open.elements()?.resize(&shape))
    }

    /// The bytes from `start` to `stop` of all chunks.
    fn read_range<'py>(&self, py: Python<'py>, start: u64, stop: u64) -> PyResult<Bound<'py, PyBytes>> {
        let limits = self.edit.limits;
        let threads = self.edit.threads;
        let bytes = self.work_stopped(py, stop.saturating_sub(start), move |open, asked| match open {
            Open::Reading(reading) => {
                let read = crate::options::read(threads, Default::default(), limits).with_stop(asked);
                reading.frame.read_range(start..stop, &read)
            }
            _ => open.editor()?.read_range(start..stop),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Puts bytes over those from `start` on, and behind the end.
    fn write_range(&self, py: Python<'_>, start: u64, bytes: Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = Exported::new(&bytes)?;
        let len = bytes.bytes().len() as u64;
        self.work(py, len, move |open| open.chunks()?.write_range(start, bytes.bytes()))
    }

    /// The bytes of a chunk, decoded or as they are stored.
    fn chunk<'py>(&self, py: Python<'py>, index: u64, is_encoded: bool) -> PyResult<Bound<'py, PyBytes>> {
        let limits = self.edit.limits;
        let bytes = self.work_stopped(py, u64::MAX, move |open, asked| match open {
            Open::Reading(reading) if is_encoded => {
                reading.frame.chunk(index).map(std::borrow::Cow::into_owned)
            }
            Open::Reading(reading) => {
                let read = crate::options::read(1, Default::default(), limits).with_stop(asked);
                reading.frame.read_chunk(index, &read)
            }
            _ if is_encoded => open.editor()?.encoded_chunk(index),
            _ => open.editor()?.read_chunk(index),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Adds a chunk before the chunk `index`, or replaces that.
    fn put_chunk(
        &self,
        py: Python<'_>,
        index: u64,
        bytes: Bound<'_, PyAny>,
        is_update: bool,
        is_encoded: bool,
    ) -> PyResult<()> {
        let bytes = Exported::new(&bytes)?;
        let len = bytes.bytes().len() as u64;
        self.work(py, len, move |open| {
            let (editor, bytes) = (open.chunks()?, bytes.bytes());
            match (is_update, is_encoded) {
                (true, true) => editor.update_chunk(index, bytes),
                (true, false) => editor.update(index, bytes),
                (false, true) => editor.insert_chunk(index, bytes),
                (false, false) => editor.insert(index, bytes),
            }
        })
    }

    fn delete_chunk(&self, py: Python<'_>, index: u64) -> PyResult<()> {
        self.change(py, |open| open.chunks()?.delete(index, 1))
    }

    fn reorder(&self, py: Python<'_>, order: Vec<u64>) -> PyResult<()> {
        self.change(py, |open| open.chunks()?.reorder(&order))
    }

    fn is_changed(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |open| Ok(open.is_changed()))
    }

    /// Whether the file has its name: a new one gets it with the first commit.
    fn has_name(&self, py: Python<'_>) -> bool {
        py.detach(|| !self.lock().is_new)
    }

    /// Makes the changes the file.
    fn commit(&self, py: Python<'_>, is_durable: bool) -> PyResult<()> {
        let durability = if is_durable { Durability::Synced } else { Durability::Cached };
        let done = py.detach(|| {
            let mut state = self.lock();
            match &mut state.open {
                Open::Frame(editor) => editor.commit(durability),
                Open::Array(array) => array.commit(durability),
                other => other.editor().map(|_| ()),
            }?;
            state.is_new = false;
            Ok(())
        });
        done.map_err(|error| raise_at(error, &self.path))
    }

    /// Goes back to the last commit. A file that had none is closed.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| {
            let mut state = self.lock();
            state.open.editor()?;
            // The lock on the file goes with what holds it.
            drop(std::mem::replace(&mut state.open, Open::Closed));
            if !state.is_new {
                state.open = Open::edit(&self.path, &self.edit)?;
            }
            Ok(())
        });
        done.map_err(|error: Error| raise_at(error, &self.path))
    }

    /// Lets the file go, without what was not committed.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(std::mem::replace(&mut self.lock().open, Open::Closed)));
    }
}

impl Blosc2File {
    fn with(path: PathBuf, edit: EditOptions, open: Open, is_new: bool) -> Self {
        Self { path, edit, state: Arc::new(Mutex::new(State { open, is_new })) }
    }

    fn create(
        py: Python<'_>,
        path: PathBuf,
        new: New,
        words: &WriteWords,
        threads: usize,
        may_vary: bool,
    ) -> PyResult<Self> {
        let edit = editing(Limits::default(), threads, may_vary);
        let (place, edited, overwrite) = (path.clone(), edit.clone(), words.overwrites());
        let open = patiently(py, None, move |_, _| Open::create(&place, overwrite, &new, &edited))?;
        let open = open.map_err(|error| raise_at(error, &path))?;
        Ok(Self::with(path, edit, open, true))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn look<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Open) -> Result<T> + Send) -> PyResult<T> {
        py.detach(|| work(&self.lock().open)).map_err(|error| raise_at(error, &self.path))
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Open) -> Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut self.lock().open)).map_err(|error| raise_at(error, &self.path))
    }

    /// Work on so many bytes of elements, which Ctrl-C ends.
    fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        bytes: u64,
        work: impl FnOnce(&mut Open) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.work_stopped(py, bytes, move |open, _| work(open))
    }

    fn work_stopped<T: Send + 'static>(
        &self,
        py: Python<'_>,
        bytes: u64,
        work: impl FnOnce(&mut Open, Stop) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let state = Arc::clone(&self.state);
        let done = patiently_if(py, bytes >= WORTH_PATIENCE, move |stop| {
            let mut state = lock(&state);
            state.open.set_stop(stop);
            let done = work(&mut state.open, stop);
            state.open.set_stop(Stop::never());
            done
        })?;
        done.map_err(|error| raise_at(error, &self.path))
    }

    /// The region of a basic index, and the bytes that it may take to decode.
    fn region(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Option<(Region, u64)>> {
        let array = self.look(py, |open| open.array())?;
        let none = || raise(Error::usage("a frame without a shape is not an array"));
        let (dtype, geometry) = array.ok_or_else(none)?;
        let Some(region) = indexing::region(index, geometry.shape())? else { return Ok(None) };
        let bytes = region.len().unwrap_or(u64::MAX).saturating_mul(dtype.itemsize() as u64);
        let bytes = if region.is_empty() { 0 } else { bytes.max(geometry.chunk_bytes()) };
        Ok(Some((region, bytes)))
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn exported(values: Option<Bound<'_, PyAny>>) -> PyResult<Exported> {
    values.map_or_else(|| Ok(Exported::none()), |values| Exported::new(&values))
}

fn editing(limits: Limits, threads: usize, may_vary: bool) -> EditOptions {
    let mut edit = EditOptions::default();
    edit.limits = limits;
    edit.threads = threads.clamp(1, 1024);
    edit.variable_chunks = may_vary;
    edit
}

/// Sizes and parameters that a header has for all chunks.
fn described<'py>(py: Python<'py>, header: &Header) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let chunksize = match header.chunksize {
        ChunkSize::Fixed(len) => Some(len),
        ChunkSize::Unset => None,
        ChunkSize::Variable => Some(0),
    };
    dict.set_item("typesize", header.typesize)?;
    dict.set_item("chunksize", chunksize)?;
    dict.set_item("blocksize", header.blocksize)?;
    dict.set_item("cbytes", header.cbytes)?;
    dict.set_item("contiguous", header.kind == Kind::Contiguous)?;
    dict.set_item("codec", header.compressor.name())?;
    dict.set_item("clevel", header.level)?;
    dict.set_item("filters", header.filters.names())?;
    dict.set_item("use_dict", header.use_dictionary)?;
    Ok(dict)
}

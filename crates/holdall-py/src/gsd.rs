//! A GSD file at the level of chunks and frames: what `holdall.gsd.fl.GSDFile` is made on.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use container_core::array::Array;
use container_core::dtype::{ByteOrder, DType, Order};
use gsd::hoomd::columns::{Changes, LogOptions, LogTable, Values as Columns};
use gsd::hoomd::schema;
use gsd::{
    Change, ChunkType, Commit, CommitScheme, Durability, File, Follower, IndexEntry, LastFramePolicy,
    OpenOptions, Strictness, Version, WriteMode, Writer, WriterOptions,
};
use holdall::gsd;
use holdall::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{raise, raise_at};
use crate::memory::{Exported, Values};

/// Most bytes of names of applications and schemas, which the reference cuts there.
const MAX_NAME: usize = 63;

/// Start of the names of logs.
const LOG: &str = "log/";

/// A file that is read, or written and read.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct GsdFile {
    path: PathBuf,
    open: Mutex<Open>,
}

enum Open {
    Reading(Box<File>),
    /// With the frames and names that there were at the last flush, which are all that the reference shows.
    Writing {
        writer: Box<Writer>,
        frames: u64,
        names: Vec<String>,
    },
    Closed,
}

/// A chunk: type in numpy's words, or `text`; rows; columns; bytes.
type Found = (String, u64, u32, Vec<u8>);

/// The name of a log, and its values: an array over the frames, or a list of texts.
type LoggedValue<'py> = (String, Bound<'py, PyAny>);

impl Open {
    fn new(
        path: &PathBuf,
        mode: &str,
        (application, schema, version): (&str, &str, u32),
        scheme: CommitScheme,
    ) -> Result<Self> {
        let Some(mode) = WriteMode::from_name(mode) else {
            let options = OpenOptions::default().with_strictness(Strictness::Compatible);
            return Ok(Self::Reading(Box::new(File::open_with(path, &options)?)));
        };
        let cut = |name: &str| name.chars().take(MAX_NAME).collect::<String>();
        let options = WriterOptions::default()
            .with_schema(&cut(application), &cut(schema), Version(version))
            .with_scheme(scheme)
            .with_commit(Commit::Manual)
            .with_durability(Durability::Cached);
        let mut open = Self::Writing {
            writer: Box::new(Writer::open_mode(path, mode, &options)?),
            frames: 0,
            names: Vec::new(),
        };
        open.see();
        Ok(open)
    }

    /// Shows what has been flushed.
    fn see(&mut self) {
        if let Self::Writing { writer, frames, names } = self {
            *frames = writer.committed_frames();
            *names = writer.names().map(std::borrow::Cow::into_owned).collect();
        }
    }

    fn frames(&self) -> u64 {
        match self {
            Self::Reading(file) => file.nframes(),
            Self::Writing { frames, .. } => *frames,
            Self::Closed => 0,
        }
    }

    fn find(&self, frame: u64, name: &str) -> Result<Option<IndexEntry>> {
        match self {
            Self::Reading(file) => Ok(file.find_chunk(frame, name)),
            Self::Writing { writer, frames, .. } if frame < *frames => writer.find_chunk(frame, name),
            Self::Writing { .. } | Self::Closed => Ok(None),
        }
    }

    fn read(&self, frame: u64, name: &str) -> Result<Option<Found>> {
        let Some(entry) = self.find(frame, name)? else { return Ok(None) };
        self.values(name, &entry).map(Some)
    }

    fn values(&self, name: &str, entry: &IndexEntry) -> Result<Found> {
        let chunk_type =
            entry.chunk_type().ok_or_else(|| Error::malformed(format!("chunk {name}: no type of GSD's")))?;
        let (bytes, order) = match self {
            Self::Reading(file) => (file.read_chunk(entry)?.into_owned(), file.header().byte_order),
            Self::Writing { writer, .. } => (writer.read_chunk(entry)?, writer.header().byte_order),
            Self::Closed => return Err(Error::usage("the file is closed")),
        };
        let dtype = match chunk_type {
            ChunkType::Character => "text".to_owned(),
            other => other.dtype(order).to_string(),
        };
        Ok((dtype, entry.n, entry.m, bytes))
    }

    /// The chunks of a frame whose names are known, each as a search by its name finds it.
    fn frame(&self, frame: u64, is_known: impl Fn(&str) -> bool) -> Result<Vec<(String, Found)>> {
        let mut found = Vec::new();
        match self {
            Self::Reading(file) => {
                for (name, entry) in file.frame_chunks(frame) {
                    if is_known(&name) && file.names().id(&name) == Some(entry.id) {
                        found.push((name.clone().into_owned(), self.values(&name, &entry)?));
                    }
                }
            }
            Self::Writing { names, .. } => {
                for name in names.iter().filter(|name| is_known(name)) {
                    let chunk = self.read(frame, name)?;
                    found.extend(chunk.map(|chunk| (name.clone(), chunk)));
                }
            }
            Self::Closed => return Err(Error::usage("the file is closed")),
        }
        Ok(found)
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Reading(file) => file.names().iter().map(std::borrow::Cow::into_owned).collect(),
            Self::Writing { names, .. } => names.clone(),
            Self::Closed => Vec::new(),
        }
    }
}

#[pymethods]
impl GsdFile {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        mode: &str,
        schema: (String, String, u32),
        is_reference: bool,
    ) -> PyResult<Self> {
        let scheme = if is_reference { CommitScheme::Reference } else { CommitScheme::Atomic };
        let (application, name, version) = &schema;
        let open = py.detach(|| Open::new(&path, mode, (application, name, *version), scheme));
        let open = Mutex::new(open.map_err(|error| raise_at(error, &path))?);
        Ok(Self { path, open })
    }

    /// `(gsd_version, schema_version, application, schema)`.
    fn header(&self) -> PyResult<(u32, u32, String, String)> {
        let open = self.lock();
        let header = match &*open {
            Open::Reading(file) => file.header(),
            Open::Writing { writer, .. } => writer.header(),
            Open::Closed => return Err(closed()),
        };
        let (version, schema) = (header.gsd_version.0, header.schema_version.0);
        Ok((version, schema, header.application_name(), header.schema_name()))
    }

    fn nframes(&self) -> u64 {
        self.lock().frames()
    }

    fn names(&self) -> Vec<String> {
        self.lock().names()
    }

    fn exists(&self, py: Python<'_>, frame: u64, name: &str) -> PyResult<bool> {
        py.detach(|| self.lock().find(frame, name)).map(|found| found.is_some()).map_err(raise)
    }

    /// `(dtype, array or text)` of a chunk, of one axis where it has one column; `None` for one that is not there.
    fn read<'py>(
        &self,
        py: Python<'py>,
        frame: u64,
        name: &str,
        numpy_dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = py.detach(|| self.lock().read(frame, name)).map_err(raise)?;
        found.map(|found| to_python(py, found, numpy_dtype)).transpose()
    }

    /// The chunks of a frame that the schema `hoomd` has, logs among them: a dict of arrays and texts, as [`GsdFile::read`] gives them.
    fn frame<'py>(
        &self,
        py: Python<'py>,
        frame: u64,
        numpy_dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let is_known = |name: &str| name.starts_with(LOG) || schema::field(name).is_some();
        let found = py.detach(|| self.lock().frame(frame, is_known)).map_err(raise)?;
        let dict = PyDict::new(py);
        for (name, found) in found {
            dict.set_item(name, to_python(py, found, numpy_dtype)?)?;
        }
        Ok(dict)
    }

    /// Time steps and logs of all frames: of a file that is read, those logs that frame 0 has and that have one type and shape in all frames. `None`
    /// where they cannot be read at once.
    fn logs<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        numpy_dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Vec<LoggedValue<'py>>)>> {
        let table = py.detach(|| match &*self.lock() {
            Open::Reading(file) => {
                let options = LogOptions::default().with_changes(Changes::Skip);
                LogTable::read_named(file, &names, &options).ok()
            }
            Open::Writing { .. } | Open::Closed => None,
        });
        let Some(table) = table else { return Ok(None) };
        let array = |chunk_type: ChunkType, shape: Vec<u64>, bytes: &[u8]| {
            let dtype = chunk_type.dtype(ByteOrder::NATIVE);
            let kind = numpy_dtype.call1((dtype.to_string(),))?;
            let array = Array::new(dtype, shape, Order::C, bytes.to_vec().into()).map_err(raise)?;
            Values::owned(array).into_numpy(py, &kind, bytes.is_empty())
        };
        let frames = table.len() as u64;
        let steps: Vec<u8> = table.steps.iter().flat_map(|step| step.to_ne_bytes()).collect();
        let steps = array(ChunkType::Uint64, vec![frames], &steps)?;
        let mut logs = Vec::new();
        for column in table.columns.iter().filter(|column| !column.has_nulls()) {
            let values = match &column.values {
                Columns::Text(texts) => {
                    let texts = (0..texts.len()).map(|row| texts.get(row).unwrap_or_default());
                    PyList::new(py, texts)?.into_any()
                }
                numbers => {
                    let shape = std::iter::once(frames).chain(column.shape()).collect();
                    array(column.chunk_type, shape, numbers.number_bytes())?
                }
            };
            logs.push((column.name.clone(), values));
        }
        Ok(Some((steps, logs)))
    }

    /// Adds a chunk to the frame: `text`, or elements of a type in numpy's words.
    fn write(
        &self,
        py: Python<'_>,
        name: &str,
        dtype: &str,
        shape: (u64, u32),
        bytes: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let values = bytes.map_or_else(|| Ok(Exported::none()), |bytes| Exported::new(&bytes))?;
        let chunk_type = match dtype {
            "text" => Some(ChunkType::Character),
            other => ChunkType::from_dtype(&DType::parse(other).map_err(raise)?),
        };
        let problem = || PyRuntimeError::new_err(format!("GSD has no type for {dtype}"));
        let chunk_type = chunk_type.ok_or_else(problem)?;
        self.written(py, |writer| {
            writer.write_chunk_bytes(name, chunk_type, shape.0, shape.1, values.bytes())
        })
    }

    fn end_frame(&self, py: Python<'_>) -> PyResult<()> {
        self.written(py, Writer::end_frame)
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.written(py, Writer::flush)?;
        self.lock().see();
        Ok(())
    }

    fn truncate(&self, py: Python<'_>) -> PyResult<()> {
        self.written(py, Writer::truncate)?;
        self.lock().see();
        Ok(())
    }

    fn upgrade(&self, py: Python<'_>) -> PyResult<()> {
        self.written(py, Writer::upgrade)
    }

    fn set_buffer(&self, py: Python<'_>, bytes: usize) -> PyResult<()> {
        self.written(py, |writer| writer.set_maximum_write_buffer_size(bytes))
    }

    /// Writes what is buffered, and lets the file go.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = std::mem::replace(&mut *self.lock(), Open::Closed);
        match open {
            Open::Writing { writer, .. } => {
                py.detach(|| writer.close()).map_err(|error| raise_at(error, &self.path))
            }
            Open::Reading(_) | Open::Closed => Ok(()),
        }
    }
}

impl GsdFile {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self, py: Python<'_>, work: impl FnOnce(&mut Writer) -> Result<()> + Send) -> PyResult<()> {
        let done = py.detach(|| match &mut *self.lock() {
            Open::Writing { writer, .. } => Some(work(writer)),
            Open::Reading(_) | Open::Closed => None,
        });
        match done {
            Some(done) => done.map_err(|error| raise_at(error, &self.path)),
            None => Err(PyRuntimeError::new_err(format!("File must be writable: {}", self.path.display()))),
        }
    }
}

/// A numpy array of one axis where the chunk has one column, or its text.
fn to_python<'py>(
    py: Python<'py>,
    (dtype, n, m, bytes): Found,
    numpy_dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if dtype == "text" {
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default());
        return Ok(text.into_pyobject(py)?.into_any());
    }
    let shape = if m == 1 { vec![n] } else { vec![n, m.into()] };
    let is_empty = bytes.is_empty();
    let kind = numpy_dtype.call1((&dtype,))?;
    let array = Array::new(DType::parse(&dtype).map_err(raise)?, shape, Order::C, bytes.into());
    Values::owned(array.map_err(raise)?).into_numpy(py, &kind, is_empty)
}

fn closed() -> PyErr {
    pyo3::exceptions::PyValueError::new_err("File is not open")
}

/// The frames of a file that grows.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct GsdFollower(Mutex<Follower>);

#[pymethods]
impl GsdFollower {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let follower =
            py.detach(|| Follower::open_with(&path, &OpenOptions::default(), LastFramePolicy::Twice));
        follower.map(|follower| Self(Mutex::new(follower))).map_err(|error| raise_at(error, &path))
    }

    /// `(first, end)` of the frames that are new, `None` where none is; an error where the file is another.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let change = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).poll());
        match change.map_err(raise)? {
            Change::Nothing => Ok(None),
            Change::Frames(frames) => Ok(Some((frames.start, frames.end))),
            Change::Replaced => {
                let error = Error::usage("the file was replaced or truncated while it was followed");
                Err(raise(error.with_hint("open it again")))
            }
        }
    }
}

//! Bloscpack files and single chunks: what `holdall.bloscpack` is made on.

use std::fs;
use std::io::{Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

use container_core::container::{Digests, OpenOptions, ReadOptions};
use container_core::source::{STOP_LEN, Source, check_range};
use container_core::write::{AtomicFile, Durability, Overwrite};
use holdall::bloscpack::blosc_chunk::Compressor;
use holdall::bloscpack::{
    AppendOptions, ChecksumCode, ChunkOptions, File, MetadataOptions, Offsets, Shuffle, Straddle,
    WriteOptions, Writer, append_bytes, decode_chunk, encode_chunk, set_metadata,
};
use holdall::{Error, Limits, Progress, Result, Stop, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{raise, raise_at};
use crate::memory::Exported;
use crate::options::read;
use crate::patient::{Told, patiently};
use crate::values::{from_python, to_python};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bloscpack_encode, module)?)?;
    module.add_function(wrap_pyfunction!(bloscpack_decode, module)?)?;
    module.add_function(wrap_pyfunction!(bloscpack_pack, module)?)?;
    module.add_function(wrap_pyfunction!(bloscpack_unpack, module)?)?;
    module.add_function(wrap_pyfunction!(bloscpack_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(bloscpack_set_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(bloscpack_append, module)?)
}

/// `(typesize, level, shuffle, codec)`, as bloscpack's `BloscArgs` has them.
type ChunkWords = (usize, u8, u8, String);

fn chunk_options((typesize, level, shuffle, codec): ChunkWords) -> Result<ChunkOptions> {
    let options = ChunkOptions::default().with_typesize(typesize).with_shuffle(shuffle_of(shuffle)?);
    Ok(options.with_codec(compressor(&codec)?, level))
}

fn compressor(name: &str) -> Result<Compressor> {
    Compressor::from_name(name).ok_or_else(|| {
        Error::usage(format!("codec {name:?} cannot be written (expected blosclz, lz4, lz4hc, zlib or zstd)"))
    })
}

fn shuffle_of(number: u8) -> Result<Shuffle> {
    match number {
        0 => Ok(Shuffle::None),
        1 => Ok(Shuffle::Bytes),
        2 => Ok(Shuffle::Bits),
        _ => Err(Error::usage(format!("shuffle {number} (expected 0, 1 or 2)"))),
    }
}

/// A chunk of Blosc1.
#[pyfunction]
fn bloscpack_encode<'py>(
    py: Python<'py>,
    bytes: &Bound<'py, PyAny>,
    words: ChunkWords,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = Exported::new(bytes)?;
    let options = chunk_options(words).map_err(raise)?.with_threads(threads);
    let chunk = py.detach(|| encode_chunk(bytes.bytes(), &options)).map_err(raise)?;
    Ok(PyBytes::new(py, &chunk))
}

/// The decoded bytes of a chunk.
#[pyfunction]
fn bloscpack_decode<'py>(py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let chunk = Exported::new(chunk)?;
    let bytes = py.detach(|| decode_chunk(chunk.bytes(), &Limits::default())).map_err(raise)?;
    Ok(PyBytes::new(py, &bytes))
}

/// The words of a new file.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PackWords {
    chunk: ChunkWords,
    chunk_size: usize,
    offsets: bool,
    checksum: String,
    max_app_chunks: u64,
    /// JSON text.
    metadata: Option<String>,
    meta_checksum: String,
    /// `None` stores the text as it is.
    meta_level: Option<u8>,
    max_meta_size: u32,
    threads: usize,
}

impl PackWords {
    fn options(self) -> Result<WriteOptions> {
        let mut options = WriteOptions::default();
        options.chunks = chunk_options(self.chunk)?
            .with_checksum(ChecksumCode::from_name(&self.checksum)?)
            .with_threads(self.threads);
        options.chunk_size = Some(self.chunk_size.max(1));
        options.straddle = Straddle::Allowed;
        options.offsets = if self.offsets { Offsets::Table } else { Offsets::None };
        options.max_app_chunks = Some(self.max_app_chunks);
        options.overwrite = Overwrite::Replace;
        options.durability = Durability::Cached;
        if let Some(json) = self.metadata {
            let mut how = MetadataOptions::default();
            how.checksum = ChecksumCode::from_name(&self.meta_checksum)?;
            how.level = self.meta_level;
            how.max_meta_size = Some(self.max_meta_size);
            options.metadata_options = how;
            options = options.with_metadata_json(json);
        }
        Ok(options)
    }
}

/// Packs a file, or bytes, into a file, or bytes, which are returned.
#[pyfunction]
fn bloscpack_pack<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: Option<PathBuf>,
    words: PackWords,
    told: Told<'_, 'py>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let (source, options) = (Bytes::new(source)?, words.options().map_err(raise)?);
    let name = source.path().or_else(|| target.clone());
    let done = patiently(py, told, move |progress, stop| {
        let work = Watched { progress, stop };
        match &target {
            Some(path) => {
                let out = AtomicFile::create(path, options.overwrite)?;
                work.pack(&source, out, &options)?.commit(options.durability)?;
                Ok(None)
            }
            None => Ok(Some(work.pack(&source, Cursor::new(Vec::new()), &options)?.into_inner())),
        }
    })?;
    let packed = done.map_err(|error| at(error, name.as_deref()))?;
    Ok(packed.map(|bytes| PyBytes::new(py, &bytes)))
}

/// Unpacks a file, or bytes, into a file, or bytes: `(bytes or None, has metadata, metadata)`.
#[pyfunction]
fn bloscpack_unpack<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: Option<PathBuf>,
    threads: usize,
    told: Told<'_, 'py>,
) -> PyResult<(Option<Bound<'py, PyBytes>>, bool, Bound<'py, PyAny>)> {
    let source = Bytes::new(source)?;
    let name = source.path();
    let done = patiently(py, told, move |progress, stop| {
        let file = source.open()?;
        let metadata = metadata_of(&file)?;
        let options = read(threads, Digests::Compare, Limits::default()).with_stop(stop);
        let work = Watched { progress, stop };
        let bytes = match &target {
            Some(path) => {
                let mut out = AtomicFile::create(path, Overwrite::Replace)?;
                work.unpack(&file, &mut out, &options)?;
                out.commit(Durability::Cached)?;
                None
            }
            None => Some(file.read_range(0..file.len()?, &options)?),
        };
        Ok((bytes, metadata))
    })?;
    let (bytes, metadata) = done.map_err(|error| at(error, name.as_deref()))?;
    let (has, metadata) = known(py, metadata)?;
    Ok((bytes.map(|bytes| PyBytes::new(py, &bytes)), has, metadata))
}

/// `(has metadata, metadata)` of a file, or bytes.
#[pyfunction]
fn bloscpack_metadata<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
) -> PyResult<(bool, Bound<'py, PyAny>)> {
    let source = Bytes::new(source)?;
    let name = source.path();
    let found = py.detach(|| metadata_of(&source.open()?)).map_err(|error| at(error, name.as_deref()))?;
    known(py, found)
}

/// Writes the metadata of a file anew.
#[pyfunction]
fn bloscpack_set_metadata(py: Python<'_>, path: PathBuf, metadata: &Bound<'_, PyAny>) -> PyResult<()> {
    let (value, name) = (from_python(metadata)?, path.clone());
    let done = patiently(py, None, move |_, _| {
        set_metadata(&path, &OpenOptions::default(), Durability::Synced, |_| Ok(value))
    })?;
    done.map_err(|error| at(error, Some(&name)))
}

/// Appends a file, or bytes, to the data of the file at `path`. Shuffle, and codec with level, where they are given; else those of the last chunk.
#[pyfunction]
fn bloscpack_append(
    py: Python<'_>,
    path: PathBuf,
    source: &Bound<'_, PyAny>,
    codec: Option<(String, u8)>,
    shuffle: Option<u8>,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<()> {
    let (source, name) = (Bytes::new(source)?, path.clone());
    let mut options = AppendOptions::default();
    let codec = codec.map(|(codec, level)| compressor(&codec).map(|codec| (codec, level))).transpose();
    options.codec = codec.map_err(raise)?;
    options.shuffle = shuffle.map(shuffle_of).transpose().map_err(raise)?;
    options.threads = threads;
    let done = patiently(py, told, move |progress, stop| {
        let (reader, len) = source.reader()?;
        let mut reader = WatchedReader { reader, done: 0, total: len, work: Watched { progress, stop } };
        append_bytes(&path, &mut reader, len, &options).map_err(|error| match stop.check() {
            Err(stopped) => stopped,
            Ok(()) => error,
        })
    })?;
    done.map_err(|error| at(error, Some(&name)))
}

type Metadata = Option<Value>;

/// The metadata, or what is wrong with them.
fn metadata_of(file: &File) -> Result<Metadata> {
    let layout = file.layout();
    if let Some(fault) = layout.faults().iter().find(|fault| fault.kind().affects_metadata()) {
        return Err(fault.error());
    }
    Ok(layout.metadata().and_then(|_| file.metadata()).cloned())
}

fn known(py: Python<'_>, metadata: Metadata) -> PyResult<(bool, Bound<'_, PyAny>)> {
    let value =
        metadata.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |value| to_python(py, value))?;
    Ok((metadata.is_some(), value))
}

fn at(error: Error, path: Option<&Path>) -> PyErr {
    match path {
        Some(path) if error.context().is_none() => raise_at(error, path),
        _ => raise(error),
    }
}

/// Bytes in a file or in memory.
enum Bytes {
    At(PathBuf),
    Held(Exported),
}

impl Bytes {
    /// A path as text or an `os.PathLike`, or an object with a buffer.
    fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        match source.extract() {
            Ok(path) => Ok(Self::At(path)),
            Err(_) => Exported::new(source).map(Self::Held),
        }
    }

    fn path(&self) -> Option<PathBuf> {
        match self {
            Self::At(path) => Some(path.clone()),
            Self::Held(_) => None,
        }
    }

    fn open(self) -> Result<File> {
        match self {
            Self::At(path) => File::open(path),
            Self::Held(bytes) => File::from_source(Box::new(InMemory(bytes)), &OpenOptions::default()),
        }
    }

    fn reader(&self) -> Result<(Box<dyn Read + '_>, u64)> {
        match self {
            Self::At(path) => {
                let file = fs::File::open(path)?;
                let len = file.metadata()?.len();
                Ok((Box::new(file), len))
            }
            Self::Held(bytes) => Ok((Box::new(bytes.bytes()), bytes.bytes().len() as u64)),
        }
    }
}

struct InMemory(Exported);

impl Source for InMemory {
    fn len(&self) -> u64 {
        self.0.bytes().len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, self.len())?;
        dst.copy_from_slice(self.lend(range).unwrap_or_default());
        Ok(())
    }

    fn lend(&self, range: std::ops::Range<u64>) -> Option<&[u8]> {
        self.0.bytes().lend(range)
    }
}

/// Work that reports how far it is and can be stopped.
#[derive(Clone, Copy)]
struct Watched<'a> {
    progress: Progress<'a>,
    stop: Stop,
}

impl Watched<'_> {
    fn pack<W: Write + Seek>(self, source: &Bytes, out: W, options: &WriteOptions) -> Result<W> {
        let (mut reader, total) = source.reader()?;
        let mut writer = Writer::new(out, Some(total), options)?;
        if let Bytes::Held(bytes) = source {
            let mut done = 0;
            for piece in bytes.bytes().chunks(STOP_LEN) {
                self.stop.check()?;
                writer.push(piece)?;
                done += piece.len() as u64;
                self.progress.tick(done, total)?;
            }
        } else {
            let mut done = 0;
            loop {
                self.stop.check()?;
                let got = writer.push_all(&mut reader.by_ref().take(STOP_LEN as u64))?;
                if got == 0 {
                    break;
                }
                done += got;
                self.progress.tick(done, total)?;
            }
        }
        Ok(writer.complete()?.0)
    }

    fn unpack(self, file: &File, out: &mut dyn Write, options: &ReadOptions) -> Result<()> {
        let total = file.len()?;
        let stride = u64::try_from(file.header().chunk_size).unwrap_or(0).max(1);
        // Whole chunks, so that each is decoded once.
        let step = stride.saturating_mul((STOP_LEN as u64 / stride).max(1));
        let mut done = 0;
        while done < total {
            let end = total.min(done + step);
            out.write_all(&file.read_range(done..end, options)?)?;
            done = end;
            self.progress.tick(done, total)?;
        }
        Ok(())
    }
}

/// A reader whose end comes early where it is asked to stop.
struct WatchedReader<'a, R> {
    reader: R,
    done: u64,
    total: u64,
    work: Watched<'a>,
}

impl<R: Read> Read for WatchedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let stopped = |_| std::io::Error::other("stopped");
        self.work.stop.check().map_err(stopped)?;
        let got = self.reader.read(buffer)?;
        self.done += got as u64;
        self.work.progress.tick(self.done, self.total).map_err(stopped)?;
        Ok(got)
    }
}

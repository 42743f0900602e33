//! bcolz directories, read-only: a carray is one array in many chunk files of version 1, a ctable a directory of them.
//!
//! Under the root of a carray, `meta/sizes` holds the shape, `meta/storage` type and chunk length, both JSON, and
//! `data/__0.blp`, `data/__1.blp` … one chunk each, the last one with the remaining elements.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use container_core::array::{Array, StoredArray, byte_len};
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions, Segment,
    Visibility,
};
use container_core::dtype::{DType, Order};
use container_core::python_literal;
use container_core::region::Region;
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::source::{Source, check_range};
use container_core::{Error, Limits, Progress, Result, Stop, Value};

use crate::check::{self, DATASET};
use crate::file::File;
use crate::metadata::from_json;

/// Maximum length of a metadata file in bytes. Such files have a few lines.
const MAX_METADATA: u64 = 16 << 20;

/// The file in which a ctable lists its columns.
const ROOTDIRS: &str = "__rootdirs__";

/// Whether a directory is a carray or a ctable, by its files. A folder that contains carrays and other files is neither: a ctable has a
/// list of its columns.
pub(crate) fn is_bcolz(directory: &Path) -> bool {
    let names_any =
        || matches!(table_check::named(directory, &Limits::default()), Ok(Some(names)) if !names.is_empty());
    is_carray(directory)
        || directory.join(ROOTDIRS).is_file() && (!columns(directory).is_empty() || names_any())
}

fn is_carray(directory: &Path) -> bool {
    directory.join("meta/storage").is_file() && directory.join("data").is_dir()
}

/// The carrays right below a directory, by name.
fn columns(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let carrays = entries.filter(|entry| is_carray(&entry.path()));
    let mut names: Vec<String> = carrays.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// A bcolz directory as a container.
pub(crate) struct Directory {
    columns: Vec<Column>,
    datasets: Vec<Dataset>,
    meta: Value,
    size: u64,
    /// The columns that a ctable lists, or the reason why they cannot be read.
    named: std::result::Result<Option<Vec<String>>, String>,
}

/// One carray.
struct Column {
    dtype: DType,
    shape: Vec<u64>,
    /// Bytes of the elements in each chunk file but the last.
    chunk_len: u64,
    /// Directory of the chunk files: its path from the root (`part`), and its path in the file system (`data`).
    part: String,
    data: PathBuf,
    files: u64,
    /// Number of chunk files by the shape.
    needed: u64,
    options: OpenOptions,
    /// The number of the column in its table.
    number: usize,
    open: Arc<OpenFiles>,
}

/// Maximum number of open chunk files: each may hold a decoded chunk, of up to a quarter of the limit on memory.
const MAX_OPEN: usize = 4;

/// The chunk files of all columns that were read last, by column and number; the last one is the latest.
type OpenFiles = Mutex<VecDeque<((usize, u64), Arc<File>)>>;

impl Directory {
    /// Opens a carray, or a ctable with all its columns.
    ///
    /// # Errors
    /// `Io`; `Malformed` for metadata that are not bcolz's; `Unsupported` for arrays of Python objects, which are pickles.
    pub(crate) fn open(root: &Path, options: &OpenOptions) -> Result<Self> {
        let is_carray = is_carray(root);
        let names = if is_carray { vec![String::new()] } else { columns(root) };
        let named = if is_carray { Ok(None) } else { table_check::named(root, &options.limits) };
        let mut directory =
            Self { columns: Vec::new(), datasets: Vec::new(), meta: Value::Null, size: 0, named };
        let (mut meta, open) = (Vec::new(), Arc::default());
        for name in names {
            let path = if name.is_empty() { DATASET } else { &name };
            let (column, about) = Column::open(root, &name, options, (directory.columns.len(), &open))
                .map_err(|error| error.in_file(path))?;
            directory.datasets.push(column.dataset(path, about.1));
            directory.size = directory.size.saturating_add(about.1);
            directory.columns.push(column);
            meta.push((path.to_owned(), about.0));
        }
        if directory.columns.is_empty() && !matches!(&directory.named, Ok(Some(names)) if !names.is_empty()) {
            return Err(Error::wrong_format("a bcolz directory"));
        }
        directory.meta = Value::Map(meta);
        Ok(directory)
    }
}

impl Column {
    /// Opens a carray; also returns its metadata and the bytes of its chunk files.
    fn open(
        root: &Path,
        name: &str,
        options: &OpenOptions,
        (number, open): (usize, &Arc<OpenFiles>),
    ) -> Result<(Self, (Value, u64))> {
        let directory = root.join(name);
        let read = |file: &str| -> Result<Value> {
            let path = directory.join(file);
            let len = std::fs::metadata(&path)?.len();
            if len > MAX_METADATA {
                return Err(Error::limit("bytes of metadata", len, MAX_METADATA));
            }
            let json = from_json(&std::fs::read(path)?, &options.limits);
            Ok(json.map_err(|error| error.with_context(format!("bcolz {file}")))?.0)
        };
        let (storage, sizes) = (read("meta/storage")?, read("meta/sizes")?);
        let malformed =
            |what: &str| Error::malformed(format!("missing {what}")).with_context("bcolz metadata");
        let Some(Value::Text(dtype)) = storage.get("dtype") else { return Err(malformed("dtype")) };
        let (dtype, inner) = parse_dtype(dtype)?;
        let chunklen = storage.get("chunklen").and_then(length).ok_or_else(|| malformed("chunklen"))?;
        let Some(Value::List(shape)) = sizes.get("shape") else { return Err(malformed("shape")) };
        let shape: Option<Vec<u64>> = shape.iter().map(length).collect();
        let shape = shape.filter(|shape| !shape.is_empty()).ok_or_else(|| malformed("shape"))?;
        // The elements of a row belong to its type, and to the shape: those of the shape count.
        let rows = shape.first().copied().unwrap_or(0);
        let row: Vec<u64> = match shape.get(1..) {
            Some(row) if !row.is_empty() => row.to_vec(),
            _ => inner.into_iter().map(|len| len as u64).collect(),
        };
        let row_len = byte_len(&dtype, &row).ok_or_else(|| Error::malformed("a row over 2^64 bytes"))?;
        let chunk_len = chunklen.checked_mul(row_len).filter(|len| *len > 0 || rows == 0);
        let chunk_len = chunk_len.ok_or_else(|| malformed("chunk length"))?.max(1);
        let total = rows.checked_mul(row_len).ok_or_else(|| Error::malformed("over 2^64 bytes"))?;
        let part = if name.is_empty() { "data".to_owned() } else { format!("{name}/data") };
        let data = directory.join("data");
        let mut column = Self {
            dtype,
            shape: [rows].into_iter().chain(row).collect(),
            chunk_len,
            part,
            data,
            files: total.div_ceil(chunk_len),
            needed: total.div_ceil(chunk_len),
            options: options.clone(),
            number,
            open: Arc::clone(open),
        };
        let mut stored = 0_u64;
        for index in 0..column.files {
            let Ok(found) = std::fs::metadata(column.path(index)) else {
                // Reading and the check report the missing file; counting all files could take as long as the metadata claim.
                column.files = column.files.min(index.saturating_add(1));
                break;
            };
            stored = stored.saturating_add(found.len());
        }
        Ok((column, (Value::Map(vec![("storage".into(), storage), ("sizes".into(), sizes)]), stored)))
    }

    fn path(&self, index: u64) -> PathBuf {
        self.data.join(format!("__{index}.blp"))
    }

    fn part(&self, index: u64) -> String {
        format!("{}/__{index}.blp", self.part)
    }

    /// Bytes of all elements.
    fn len(&self) -> u64 {
        byte_len(&self.dtype, &self.shape).unwrap_or(u64::MAX)
    }

    /// The chunk file `index`, of the expected decoded length.
    fn file(&self, index: u64) -> Result<Arc<File>> {
        let lock = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.number, index);
        if let Some((_, file)) = lock().iter().find(|(own, _)| *own == key) {
            return Ok(file.clone());
        }
        let named = |error: Error| Error::in_file(error, self.part(index));
        let file = File::open_with(self.path(index), &self.options).map_err(named)?;
        let expected = self.len().saturating_sub(index.saturating_mul(self.chunk_len)).min(self.chunk_len);
        let have = file.len().map_err(named)?;
        if have != expected {
            let problem = format!("this chunk file has {have} bytes (expected {expected})");
            return Err(named(Error::malformed(problem)));
        }
        let file = Arc::new(file);
        let mut open = lock();
        // Of one column the next file is likely.
        open.retain(|((column, _), _)| *column != self.number);
        open.push_back((key, file.clone()));
        if open.len() > MAX_OPEN {
            open.pop_front();
        }
        Ok(file)
    }

    fn dataset(&self, path: &str, stored: u64) -> Dataset {
        let first = self.file(0).ok().and_then(|file| file.chunks().first().copied());
        let row_len = self.len().checked_div(self.shape.first().copied().unwrap_or(0)).unwrap_or(1).max(1);
        let mut chunks = self.shape.clone();
        if let Some(rows) = chunks.first_mut() {
            *rows = self.chunk_len / row_len;
        }
        Dataset {
            path: path.to_owned(),
            dtype: self.dtype.clone(),
            shape: self.shape.clone(),
            order: Order::C,
            chunks: Some(chunks),
            codec: first.map_or("none", |chunk| chunk.codec()).to_owned(),
            stored,
            logical: self.len(),
            attributes: Vec::new(),
            visibility: Visibility::Always,
        }
    }
}

/// Parses numpy's `str(dtype)`: a name, a list of fields, or a type with the shape of a row. Arrays of `object` are pickles, which are
/// never opened.
fn parse_dtype(text: &str) -> Result<(DType, Vec<usize>)> {
    if text.starts_with('(') {
        return DType::from_descr(&python_literal::parse(text)?);
    }
    Ok((DType::parse(text)?, Vec::new()))
}

fn length(value: &Value) -> Option<u64> {
    match value {
        Value::Int(len) => u64::try_from(*len).ok(),
        _ => None,
    }
}

/// The decoded bytes of all chunk files in a row.
struct Decoded<'c> {
    column: &'c Column,
    options: &'c ReadOptions,
}

impl Source for Decoded<'_> {
    fn len(&self) -> u64 {
        self.column.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len())?;
        let (mut at, mut rest) = (at, dst);
        while !rest.is_empty() {
            let (index, within) = (at / self.column.chunk_len, at % self.column.chunk_len);
            let room = usize::try_from(self.column.chunk_len - within).unwrap_or(usize::MAX);
            let (piece, next) = rest.split_at_mut(room.min(rest.len()));
            let named = |error: Error| error.in_file(self.column.part(index));
            self.column.file(index)?.read_range_into(within, piece, self.options).map_err(named)?;
            at += piece.len() as u64;
            rest = next;
        }
        Ok(())
    }

    /// Decodes in one go, which checks the request that the options have.
    fn read_until(&self, at: u64, dst: &mut [u8], _stop: Stop) -> Result<()> {
        self.read_into(at, dst)
    }
}

impl Directory {
    /// Findings about the table as a whole.
    fn findings(&self) -> Vec<Finding> {
        let there: Vec<String> = self.datasets.iter().map(|dataset| dataset.path.clone()).collect();
        let mut findings = table_check::of_names(&self.named, &there);
        let rows = |dataset: &Dataset| dataset.shape.first().copied().unwrap_or(0);
        let lengths: Vec<_> =
            self.datasets.iter().map(|dataset| (dataset.path.as_str(), rows(dataset))).collect();
        findings.extend(table_check::of_lengths(&lengths));
        let columns = self.columns.iter().zip(&self.datasets);
        findings.extend(columns.filter_map(|(column, dataset)| {
            column.uncounted().map(|finding| finding.dataset(dataset.path.clone()))
        }));
        findings
    }

    fn has_missing_columns(&self) -> bool {
        let is_there = |name: &String| self.datasets.iter().any(|dataset| dataset.path == *name);
        matches!(&self.named, Ok(Some(names)) if !names.iter().all(is_there))
    }
}

impl Container for Directory {
    fn about(&self) -> About {
        let kind = if self.columns.iter().any(|column| column.part == "data") { "carray" } else { "ctable" };
        let files = self.columns.iter().map(|column| column.files).sum::<u64>();
        let there = !self.has_missing_columns();
        let complete = there
            && self.columns.iter().all(|column| (0..column.files).all(|index| column.path(index).is_file()));
        About {
            format: "bloscpack",
            version: Some("1".to_owned()),
            size: self.size,
            complete,
            details: vec![
                ("dialect".into(), format!("bcolz {kind}").into()),
                ("chunk files".into(), files.into()),
            ],
        }
    }

    fn meta(&self) -> Result<Value> {
        Ok(self.meta.clone())
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let column = self.columns.get(index).ok_or_else(|| Error::usage(format!("no dataset {index}")))?;
        let (dtype, shape) = (column.dtype.clone(), column.shape.clone());
        let stored = StoredArray { dtype, shape, order: Order::C, data_at: 0 };
        let limits = &column.options.limits.with_stop(options.limits.stop);
        stored.read(&Decoded { column, options }, region, limits, 1)?.into_owned(limits)
    }
}

impl FileStructure for Directory {
    fn blocks(&self) -> Vec<&dyn Block> {
        Vec::new()
    }

    fn byte_map(&self) -> Vec<Segment> {
        let mut parts = Vec::new();
        for (column, dataset) in self.columns.iter().zip(&self.datasets) {
            for index in 0..column.files {
                let Ok(found) = std::fs::metadata(column.path(index)) else { continue };
                parts.push(Segment {
                    part: Some(column.part(index)),
                    range: 0..found.len(),
                    role: "chunk file".to_owned(),
                    dataset: Some(dataset.path.clone()),
                    ..Segment::default()
                });
            }
        }
        parts
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        let mut findings = self.findings();
        let mut blocks = BlockCounts::default();
        for (column, dataset) in self.columns.iter().zip(&self.datasets) {
            for index in 0..column.files {
                let part = Some(column.part(index));
                progress.tick(index, column.files)?;
                let report = match column.file(index) {
                    Ok(file) => check::check(&file, depth, options, Progress::none())?,
                    Err(error) => {
                        let finding = Finding::new(Severity::Error, "chunk_file", error.to_string());
                        let bad = BlockCounts { total: 1, checked: 0, bad: 1 };
                        Report::new(vec![Finding { range: error.range(), ..finding }], bad)
                    }
                };
                let place =
                    |finding| Finding { part: part.clone(), dataset: Some(dataset.path.clone()), ..finding };
                findings.extend(report.findings.into_iter().map(place));
                blocks.total += report.blocks.total;
                blocks.checked += report.blocks.checked;
                blocks.bad += report.blocks.bad;
            }
        }
        Ok(Report::new(findings, blocks))
    }
}

impl Interchange for Directory {}

mod table_check;
#[cfg(test)]
mod tests;

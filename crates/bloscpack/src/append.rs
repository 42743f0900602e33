//! Appends to a file in one step: the new file is written next to the old one, mostly copied by the kernel, and then replaces it.
//! A crash at any time leaves the old file. Until then the old one is locked: of two programs that append at once, the second
//! would replace the file that the first has written.
//!
//! The last chunk is filled up first, after its digest has been compared. Files that the reference refuses are accepted, too:
//! files without offsets, with a full table, of a single small chunk (which gets a new chunk size), and of no bytes at all.

mod items;
mod metadata;

pub(crate) use metadata::change_metadata;
pub use metadata::set_metadata;

use std::io::Read;
use std::path::{Path, PathBuf};

use blosc_chunk::{Compressor, Decoder};
use container_core::array::byte_len;
use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::{Dataset, OpenOptions};
use container_core::dtype::{DType, Order};
use container_core::format::WriteRequest;
use container_core::region::Region;
use container_core::report::{Loss, Severity};
use container_core::source::{Source, open_path};
use container_core::write::storage::{FileStorage, require_at};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Limits, Result, Value};

use crate::header::{Dialect, Header};
use crate::import::options::{self, CHECKSUM, FILTER};
use crate::items::writer::with_entry;
use crate::layout::Layout;
use crate::metadata::section;
use crate::metadata::{MetadataOptions, Spelling, encode_section, from_json, to_python_json};
use crate::stored_chunk::{StoredChunk, stored_range};
use crate::write::{ChunkOptions, Shuffle};
use crate::writer::{Chunker, Head, OrderedOutput};

pub use items::append_items;
pub(crate) use items::read_item;

/// Options for appending. Options that are not set are taken from the last chunk of the file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AppendOptions {
    /// Codec and level, 0 to 9. A file does not store its level; the default is 7.
    pub codec: Option<(Compressor, u8)>,
    /// The filter.
    pub shuffle: Option<Shuffle>,
    /// Maximum number of threads.
    pub threads: usize,
    /// Whether the file is on the disk when the call returns.
    pub durability: Durability,
    /// Limits on the memory that the file may claim.
    pub limits: Limits,
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self {
            codec: None,
            shuffle: None,
            threads: 1,
            durability: Durability::default(),
            limits: Limits::default(),
        }
    }
}

impl AppendOptions {
    pub(crate) fn apply(&self, mut chunks: ChunkOptions) -> ChunkOptions {
        if let Some((compressor, level)) = self.codec {
            chunks = chunks.with_codec(compressor, level);
        }
        chunks.shuffle = self.shuffle.unwrap_or(chunks.shuffle);
        chunks.with_threads(self.threads)
    }
}

/// Appends the `len` bytes of `reader` to the data of the file at `path`. For an array they are whole rows, and its shape
/// grows along the first axis.
///
/// # Errors
/// `Usage` for bytes that are not whole rows, for column-major arrays of several dimensions, for variable-length files and
/// old versions, when there are not `len` bytes, and while another program writes to the file; the first error of a file that is
/// damaged; `Io`. The file is then unchanged.
pub fn append_bytes(
    path: impl AsRef<Path>,
    mut reader: impl Read,
    len: u64,
    options: &AppendOptions,
) -> Result<()> {
    let mut open = OpenOptions::default();
    open.limits = options.limits;
    let old = ExistingFile::open(path.as_ref(), &open)?;
    old.expect_version_3()?;
    let tree = old.layout.numpy().map(|array| {
        let row = row_len(&array.dtype, array.shape.get(1..).unwrap_or_default())?;
        if !len.is_multiple_of(row) {
            return Err(Error::usage(format!("{len} bytes are not whole rows of {row} bytes")));
        }
        old.grown_tree(len / row)
    });
    let chunks = options.apply(old.own_options());
    old.grow(len, tree.transpose()?.as_ref(), &chunks, options.durability, |chunker, sink| {
        chunker.push_all(&mut reader, sink).map(|_| ())
    })
}

/// The entry for the table of formats: appends the selected dataset to the array of the file at `path`, or the selected
/// datasets as items to a variable-length file.
pub(crate) fn append(
    path: &Path,
    open: &OpenOptions,
    job: &WriteRequest<'_>,
    durability: Durability,
) -> Result<Vec<Loss>> {
    let old = ExistingFile::open(path, open)?;
    job.options.check_append_options("Bloscpack", &[FILTER, CHECKSUM])?;
    let own = old.own_options();
    let chunks = options::apply(own.clone(), job.options)?.with_threads(job.read.threads);
    if chunks.checksum != own.checksum {
        let problem = format!("this file has {} after each chunk and cannot have another", own.checksum);
        return Err(Error::usage(problem));
    }
    if old.layout.header().dialect.is_variable_length() {
        return items::append_datasets(&old, job, &chunks, durability);
    }
    old.expect_version_3()?;
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let len = row_len(&dataset.dtype, &region.shape())?;
    let len = if region.is_empty() { 0 } else { len };
    let mut losses = Vec::new();
    let mut swap = None;
    let tree = match old.layout.numpy() {
        Some(array) => {
            swap = dataset.dtype.order_for(&array.dtype)?;
            Some(old.grown_tree(old.rows_of(region)?)?)
        }
        None => {
            losses = losses_of_plain(dataset, region);
            None
        }
    };
    check_readable(job.container, index, region, &job.read)?;
    old.grow(len, tree.as_ref(), &chunks, durability, |chunker, sink| {
        let mut swapped = Vec::new();
        for_each_chunk(job.container, index, region, Order::C, &job.read, job.progress, |bytes| {
            let Some(order) = swap else { return chunker.push(bytes, sink) };
            swapped.clear();
            swapped.extend_from_slice(bytes);
            dataset.dtype.swap_to(order, &mut swapped)?;
            chunker.push(&swapped, sink)
        })
    })?;
    losses.extend(job.container.losses());
    Ok(losses)
}

/// Number of bytes of a shape's elements; at least 1.
fn row_len(dtype: &DType, shape: &[u64]) -> Result<u64> {
    let len = byte_len(dtype, shape).ok_or_else(|| Error::usage("rows of more than 2^64 bytes"))?;
    Ok(len.max(1))
}

/// Type and shape of a dataset, as losses where it is appended as plain bytes.
fn losses_of_plain(dataset: &Dataset, region: &Region) -> Vec<Loss> {
    let dtype = &dataset.dtype;
    if (dtype.itemsize() == 1 || dtype.is_void()) && region.shape().len() == 1 {
        return Vec::new();
    }
    let what = format!("type {dtype} and shape {:?}: the file has plain bytes", region.shape());
    vec![Loss { dataset: Some(dataset.path.clone()), what }]
}

/// The file that is appended to, locked against other writers.
pub(crate) struct ExistingFile {
    pub(crate) storage: FileStorage,
    pub(crate) path: PathBuf,
    source: Box<dyn Source>,
    pub(crate) layout: Layout,
    limits: Limits,
}

impl ExistingFile {
    /// Opens a file without faults that could spread to the new one.
    pub(crate) fn open(path: &Path, open: &OpenOptions) -> Result<Self> {
        // Locked before reading, because the new file contains the bytes read.
        let storage = FileStorage::open(path)?;
        let source = open_path(path, open.access, &open.limits)?;
        let layout = Layout::parse(&*source, &open.limits)?;
        let fault = layout.faults().iter().find(|fault| fault.severity() == Severity::Error);
        let unfinished = || layout.faults().iter().find(|_| !layout.is_complete());
        if let Some(fault) = fault.or_else(unfinished) {
            return Err(fault.error().with_hint("repair it into a new file first: holdall repair"));
        }
        Ok(Self { storage, path: path.to_owned(), source, layout, limits: open.limits })
    }

    /// Replaces this file by the new one.
    pub(crate) fn replace_by(&self, new: AtomicFile, durability: Durability) -> Result<()> {
        // Some programs replace a file without taking the lock.
        require_at(self.storage.file(), &self.path)?;
        new.commit(durability)
    }

    fn expect_version_3(&self) -> Result<()> {
        match self.layout.header().dialect {
            Dialect::V3 => Ok(()),
            dialect if dialect.is_variable_length() => {
                Err(Error::usage("a variable-length file takes items"))
            }
            dialect => {
                let problem = format!("cannot append to version {}", dialect.name());
                Err(Error::usage(problem).with_hint("convert the file first, which makes it version 3"))
            }
        }
    }

    /// Returns the options of the last chunk, as far as it records them.
    pub(crate) fn own_options(&self) -> ChunkOptions {
        let header = self.layout.header();
        let typesize = usize::from(header.typesize.max(1));
        let mut own = ChunkOptions::default().with_typesize(typesize).with_checksum(header.checksum);
        if let Some(last) = self.layout.chunks().last() {
            own.typesize = last.typesize.max(1).into();
            (own.compressor, own.shuffle) = made_by(last);
        }
        own
    }

    /// Number of rows that a region adds to the array of the file.
    fn rows_of(&self, region: &Region) -> Result<u64> {
        let Some(array) = self.layout.numpy() else { return Ok(0) };
        let shape = region.shape();
        match (shape.as_slice(), array.shape.as_slice()) {
            ([rows, row @ ..], [_, own @ ..]) if row == own => Ok(*rows),
            (_, []) => Err(Error::usage("the file has a single value, which has no axis to append along")),
            ([], _) => Err(Error::usage("a single value has no axis to append along")),
            _ => {
                let problem = format!("an array of shape {:?} does not take {shape:?}", array.shape);
                Err(Error::usage(problem).with_hint("all axes but the first have to agree"))
            }
        }
    }

    /// The metadata with an added number of rows.
    fn grown_tree(&self, rows: u64) -> Result<Value> {
        let (Some(array), Some(tree)) = (self.layout.numpy(), self.layout.tree()) else {
            return Err(Error::usage("the file does not contain an array"));
        };
        if array.order == Order::F && array.shape.len() > 1 {
            let problem = "rows cannot be appended to a column-major array of several dimensions";
            let hint = "a row-major copy: holdall convert OLD.blp ROWS.b2nd, then ROWS.b2nd NEW.blp; or one with the axes reversed: holdall convert --reversed-dims OLD.blp NEW.blp";
            return Err(Error::usage(problem).with_hint(hint));
        }
        let mut shape = array.shape.clone();
        let first = shape.first_mut().ok_or_else(|| Error::usage("a scalar has no axis to append to"))?;
        *first = first.checked_add(rows).ok_or_else(|| Error::usage("more than 2^64 rows"))?;
        Ok(with_entry(tree, "shape", shape.into_iter().map(Value::from).collect::<Vec<_>>().into()))
    }

    /// The metadata section, with `tree` as its new content if that is given. It keeps its length if possible.
    fn section(&self, tree: Option<&Value>) -> Result<Vec<u8>> {
        let Some(metadata) = self.layout.metadata() else { return Ok(Vec::new()) };
        let (Some(tree), Some(header)) = (tree, &metadata.header) else {
            return section::copy(&*self.source, metadata.range.clone(), &self.limits);
        };
        // Text with values that the parsed tree cannot represent is not rewritten.
        let spelling = metadata.json.as_deref().map(|json| from_json(json, &self.limits)).transpose()?;
        if let Some((_, Spelling::HugeIntegers | Spelling::LoneSurrogates)) = spelling {
            let problem = "the metadata hold what would be lost when the shape changes: integers over 128 bits, or \
                           halves of surrogate pairs";
            return Err(Error::usage(problem).with_range(metadata.payload.clone()));
        }
        self.limits
            .allocate(header.max_meta_size.into())
            .map_err(|error| error.with_range(metadata.range.clone()))?;
        let json = to_python_json(tree)?;
        let usual = MetadataOptions { checksum: header.meta_checksum, ..MetadataOptions::default() };
        let same = MetadataOptions { max_meta_size: Some(header.max_meta_size), ..usual };
        encode_section(json.as_bytes(), &same).or_else(|_| encode_section(json.as_bytes(), &usual))
    }

    /// Writes the file with `added` more bytes, which `feed` pushes.
    fn grow(
        &self,
        added: u64,
        tree: Option<&Value>,
        chunks: &ChunkOptions,
        durability: Durability,
        feed: impl FnOnce(&mut Chunker, &mut OrderedOutput<AtomicFile>) -> Result<()>,
    ) -> Result<()> {
        if added == 0 {
            return Ok(());
        }
        let growth = Growth::new(self, added, chunks, self.section(tree)?)?;
        let total = added.saturating_add(growth.refilled.len() as u64);
        let mut chunker = Chunker::new(chunks, growth.chunk_size, Some(total))?;
        let out = AtomicFile::create(&self.path, Overwrite::Replace)?;
        let mut sink = OrderedOutput::new(out, Some(&growth.head))?;
        let kept = self.layout.chunks().get(..growth.keep).unwrap_or_default();
        let checksum = self.layout.header().checksum;
        sink.take_over(self.storage.file(), kept.iter().map(|entry| stored_range(checksum, entry)))?;
        chunker.push(&growth.refilled, &mut sink)?;
        feed(&mut chunker, &mut sink)?;
        chunker.finish(&mut sink)?;
        self.replace_by(sink.finish(&growth.head)?, durability)
    }
}

/// Codec and filter of a chunk. A chunk stored uncompressed contains them, too.
pub(crate) fn made_by(chunk: &crate::ChunkEntry) -> (Compressor, Shuffle) {
    let compressor = match chunk.flags >> 5 {
        1 => Compressor::LZ4,
        3 => Compressor::ZLIB,
        4 => Compressor::ZSTD,
        // Snappy cannot be written.
        _ => Compressor::BLOSCLZ,
    };
    let shuffle = match chunk.flags & 0b101 {
        0 => Shuffle::None,
        0b100 => Shuffle::Bits,
        _ => Shuffle::Bytes,
    };
    (compressor, shuffle)
}

/// Plan for growing a file of fixed-size chunks.
struct Growth {
    head: Head,
    /// Number of chunks that are copied unchanged.
    keep: usize,
    chunk_size: usize,
    /// Contents of the last chunk, if it is filled up.
    refilled: Vec<u8>,
}

impl Growth {
    fn new(old: &ExistingFile, added: u64, chunks: &ChunkOptions, section: Vec<u8>) -> Result<Self> {
        let (layout, header) = (&old.layout, *old.layout.header());
        let count = layout.chunks().len();
        let too_long = || Error::usage("a file over 2^63 bytes");
        let total = layout.data_len().and_then(|len| len.checked_add(added)).ok_or_else(too_long)?;
        let own = u64::try_from(header.chunk_size).map_err(|_| too_long())?;
        // The chunk size of a file with one chunk is not recorded: its header has the length of that chunk.
        let chunk_size = if count > 1 { own } else { own.max(default_chunk_size(chunks).min(total)).max(1) };
        let last = layout.chunks().last();
        let is_full = last.is_some_and(|last| u64::from(last.nbytes()) == chunk_size);
        let keep = if is_full { count } else { count.saturating_sub(1) };
        let refilled = match last.filter(|_| !is_full) {
            Some(last) => {
                let stored = StoredChunk::read(&*old.source, header.checksum, last, &old.limits)?;
                stored.decode(&mut Decoder::new(), &old.limits)?
            }
            None => Vec::new(),
        };
        let new_count = total.div_ceil(chunk_size).max(1);
        let last_chunk = total - (new_count - 1) * chunk_size;
        let signed = |number: u64| i64::try_from(number).map_err(|_| too_long());
        let spare = match header.offset_count().filter(|_| header.has_offsets()) {
            None => 0,
            // A full table gets as many spare entries as that of a new file.
            Some(entries) => entries.checked_sub(new_count).unwrap_or_else(|| new_count.saturating_mul(10)),
        };
        let header = Header {
            chunk_size: i32::try_from(chunk_size).map_err(|_| too_long())?,
            last_chunk: i32::try_from(last_chunk).map_err(|_| too_long())?,
            nchunks: signed(new_count)?,
            max_app_chunks: signed(spare)?,
            ..header
        };
        let bytes = [header.to_bytes(), section].concat();
        let head = Head { bytes, entries: header.offset_count().unwrap_or(0) };
        let chunk_size = usize::try_from(chunk_size).map_err(|_| too_long())?;
        Ok(Self { head, keep, chunk_size, refilled })
    }
}

/// 1 MiB, in whole elements.
fn default_chunk_size(chunks: &ChunkOptions) -> u64 {
    let typesize = chunks.typesize.max(1) as u64;
    ((1 << 20) / typesize).max(1) * typesize
}

#[cfg(test)]
mod tests;

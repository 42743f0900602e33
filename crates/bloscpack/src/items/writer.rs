//! Writes files whose items have individual lengths: one chunk for each.

use std::io::{Seek, Write};
use std::path::Path;

use blosc_chunk::BatchEncoder;
use container_core::dtype::DType;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result, Value};

use crate::ItemType;
use crate::header::{Dialect, Header, Options};
use crate::items::item_type::items_of_shape;
use crate::metadata::{to_json, to_python_json};
use crate::write::{ChunkOptions, MAX_CHUNK_SIZE, Shuffle};
use crate::writer::{Head, OrderedOutput};

/// Small items are encoded together, up to this many bytes for each thread…
const MAX_BATCH_LEN: usize = 1 << 20;

/// … and this many items.
const MAX_BATCH_ITEMS: usize = 4096;

/// Refuses bytes that are not an item of the type.
pub(crate) fn check_item(items: &ItemType, item: &[u8]) -> Result<()> {
    match items {
        ItemType::Text if std::str::from_utf8(item).is_err() => {
            Err(Error::usage("text that is not UTF-8").with_hint("write it as bytes"))
        }
        ItemType::Ragged(dtype) if !item.len().is_multiple_of(dtype.itemsize().max(1)) => {
            Err(Error::usage(format!("{} bytes are not whole elements of {dtype}", item.len())))
        }
        _ => Ok(()),
    }
}

/// Options for writing a file of items.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VarOptions {
    /// Encoding of chunks. The default has no filter, for bytes, and is otherwise that of [`ChunkOptions`].
    pub chunks: ChunkOptions,
    /// The type of the items.
    pub items: ItemType,
    /// Bytes left free after each item, so that it can be replaced in place.
    pub reserve: u64,
    /// Names of the items, as many as there are.
    pub names: Option<Vec<String>>,
    /// Other metadata to keep, as the list `others` of the metadata.
    pub others: Vec<Value>,
    /// Entries of the metadata besides holdall's own.
    pub metadata: Vec<(String, Value)>,
    /// Treatment of an existing file.
    pub overwrite: Overwrite,
    /// Whether the file is on the disk when the call returns.
    pub durability: Durability,
    /// Metadata to start from: those of the file that is rewritten, null for none.
    pub(crate) base: Option<Value>,
}

impl Default for VarOptions {
    fn default() -> Self {
        Self {
            chunks: ChunkOptions::default().with_typesize(1).with_shuffle(Shuffle::None),
            items: ItemType::Bytes,
            reserve: 0,
            names: None,
            others: Vec::new(),
            metadata: Vec::new(),
            overwrite: Overwrite::default(),
            durability: Durability::default(),
            base: None,
        }
    }
}

impl VarOptions {
    /// For UTF-8 text.
    #[must_use]
    pub fn text() -> Self {
        Self { items: ItemType::Text, ..Self::default() }
    }

    /// For rows of elements of one type.
    #[must_use]
    pub fn rows(dtype: DType) -> Self {
        let chunks = ChunkOptions::default().with_typesize(dtype.itemsize().max(1));
        Self { chunks, items: ItemType::Ragged(dtype), ..Self::default() }
    }

    /// The metadata for a number of items, as JSON; none where the file had none.
    fn metadata(&self, count: u64) -> Result<String> {
        let mut tree = match &self.base {
            Some(Value::Null) => return Ok(String::new()),
            Some(base) => base.clone(),
            None => Value::Map(vec![
                ("dtype".to_owned(), self.items.to_string().into()),
                ("shape".to_owned(), Value::Null),
                ("others".to_owned(), self.others.clone().into()),
            ]),
        };
        // A shape of several axes is kept as long as it is true; none is invented.
        if tree.get("shape").is_some_and(|shape| items_of_shape(shape) != Some(count)) {
            tree = with_entry(&tree, "shape", vec![Value::from(count)].into());
        }
        if let Some(names) = &self.names {
            let names: Vec<Value> = names.iter().map(|name| name.as_str().into()).collect();
            tree = with_entry(&tree, "names", names.into());
        }
        for (key, value) in &self.metadata {
            if ["dtype", "shape", "others", "names"].contains(&key.as_str()) {
                return Err(Error::usage(format!(
                    "{key} of the metadata is reserved for the type of the items"
                )));
            }
            tree = with_entry(&tree, key, value.clone());
        }
        if self.base.is_some() { to_python_json(&tree) } else { to_json(&tree) }
    }

    /// Builds the head of a file for `count` items.
    pub(crate) fn head(&self, count: u64) -> Result<Head> {
        var_head(&self.chunks, self.metadata(count)?.as_bytes(), count)
    }
}

/// A map with one entry changed or added.
pub(crate) fn with_entry(tree: &Value, key: &str, value: Value) -> Value {
    let Value::Map(entries) = tree else { return tree.clone() };
    let mut entries = entries.clone();
    match entries.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => entries.push((key.to_owned(), value)),
    }
    Value::Map(entries)
}

/// Header, metadata and table size of a file of `count` items.
fn var_head(chunks: &ChunkOptions, metadata: &[u8], count: u64) -> Result<Head> {
    let meta_size = i32::try_from(metadata.len()).ok().map(i32::cast_unsigned);
    let meta_size = meta_size.ok_or_else(|| Error::usage("metadata of more than 2^31 bytes"))?;
    let new = Header::new(Dialect::Vl);
    let bit = if metadata.is_empty() { 0 } else { Options::METADATA };
    let header = Header {
        options: Options(new.options.0 | bit),
        checksum: chunks.checksum,
        typesize: chunks.stored_typesize(),
        chunk_size: -1,
        last_chunk: -1,
        nchunks: i64::try_from(count).map_err(|_| Error::usage("more than 2^63 items"))?,
        meta_size,
        ..new
    };
    Ok(Head { bytes: [&header.to_bytes(), metadata].concat(), entries: count })
}

/// Writes a file of items. Items are encoded in batches, on the number of threads in the options; the bytes of the file are the
/// same for any number.
///
/// If the number of items or their names are given, the table of offsets is written first, all -1, and filled in at the end: a
/// file that was aborted has -1 everywhere. Else items wait, encoded, in a temporary file without a name (in memory, up to 8
/// MiB).
#[derive(Debug)]
pub struct VarWriter<W: Write + Seek = AtomicFile> {
    sink: OrderedOutput<W>,
    encoder: BatchEncoder,
    options: VarOptions,
    expected: Option<u64>,
    pending: Vec<u8>,
    /// End of each pending item.
    ends: Vec<usize>,
    failed: bool,
}

impl VarWriter<AtomicFile> {
    /// Starts a file that appears at `path` when it is finished. Dropped before, it leaves no file.
    ///
    /// # Errors
    /// `Usage` for options that make no sense, and for an existing file that may not be replaced; `Io`.
    pub fn create(path: impl AsRef<Path>, count: Option<u64>, options: &VarOptions) -> Result<Self> {
        Self::new(AtomicFile::create(path, options.overwrite)?, count, options)
    }

    /// Completes the file and moves it to its path; returns the number of items.
    ///
    /// # Errors
    /// `Usage` when the number of items differs from the announced one, `Io`. No file appears then.
    pub fn finish(self) -> Result<u64> {
        let durability = self.options.durability;
        let (file, count) = self.complete()?;
        file.commit(durability)?;
        Ok(count)
    }
}

impl<W: Write + Seek> VarWriter<W> {
    /// Starts a file of `count` items, if that is given, at the position of `out`.
    ///
    /// # Errors
    /// `Usage` for options that make no sense together, `Io`.
    pub fn new(out: W, count: Option<u64>, options: &VarOptions) -> Result<Self> {
        let named = options.names.as_ref().map(|names| names.len() as u64);
        if let (Some(count), Some(named)) = (count, named)
            && count != named
        {
            return Err(Error::usage(format!("{named} names for {count} items")));
        }
        let expected = count.or(named);
        let head = expected.map(|count| options.head(count)).transpose()?;
        Self::over(OrderedOutput::new(out, head.as_ref())?, options, expected)
    }

    /// Continues after the items that a sink has already; `expected` includes them.
    pub(crate) fn over(sink: OrderedOutput<W>, options: &VarOptions, expected: Option<u64>) -> Result<Self> {
        Ok(Self {
            sink,
            encoder: options.chunks.encoder()?,
            options: options.clone(),
            expected,
            pending: Vec::new(),
            ends: Vec::new(),
            failed: false,
        })
    }

    /// Appends an item.
    ///
    /// # Errors
    /// `Usage` when it does not match the options, when there are more than announced, and for an item of more than
    /// 2147483631 bytes; `Io`, perhaps for an earlier item.
    pub fn push(&mut self, item: impl AsRef<[u8]>) -> Result<()> {
        let item = item.as_ref();
        self.check_usable()?;
        let number = self.len();
        if let Some(expected) = self.expected.filter(|expected| number >= *expected) {
            return Err(Error::usage(format!("more items than the announced {expected}")));
        }
        let place = || format!("item {number}");
        check_item(&self.options.items, item).map_err(|error| error.with_context(place()))?;
        if item.len() > MAX_CHUNK_SIZE {
            let problem = format!("{} bytes (expected at most {MAX_CHUNK_SIZE} for an item)", item.len());
            return Err(Error::usage(problem).with_context(place()));
        }
        self.failed = true;
        if item.len() >= MAX_BATCH_LEN {
            self.flush_batch()?;
            self.write_items(&[item])?;
        } else {
            self.pending.extend_from_slice(item);
            self.ends.push(self.pending.len());
            let room = MAX_BATCH_LEN.saturating_mul(self.options.chunks.threads.clamp(1, 64));
            if self.pending.len() >= room || self.ends.len() >= MAX_BATCH_ITEMS {
                self.flush_batch()?;
            }
        }
        self.failed = false;
        Ok(())
    }

    /// Number of items so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.sink.count().saturating_add(self.ends.len() as u64)
    }

    /// True before the first item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Completes the file and returns the output, positioned at its end, with the number of items.
    ///
    /// # Errors
    /// `Usage` when the number of items differs from the announced one, or an earlier call failed; `Io`.
    pub fn complete(mut self) -> Result<(W, u64)> {
        self.check_usable()?;
        let count = self.len();
        if let Some(expected) = self.expected.filter(|expected| *expected != count) {
            return Err(Error::usage(format!("{count} items (expected {expected}, as announced)")));
        }
        self.flush_batch()?;
        let head = self.options.head(count)?;
        Ok((self.sink.finish(&head)?, count))
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            return Err(Error::usage("an earlier write failed, so items are missing"));
        }
        Ok(())
    }

    fn flush_batch(&mut self) -> Result<()> {
        let (pending, ends) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.ends));
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let items = starts.zip(&ends).map(|(start, end)| pending.get(start..*end).unwrap_or_default());
        let items: Vec<&[u8]> = items.collect();
        self.write_items(&items)?;
        drop(items);
        (self.pending, self.ends) = (pending, ends);
        self.pending.clear();
        self.ends.clear();
        Ok(())
    }

    fn write_items(&mut self, items: &[&[u8]]) -> Result<()> {
        let (sink, reserve) = (&mut self.sink, self.options.reserve);
        let checksum = self.options.chunks.checksum;
        let mut put = |encoded: &[u8]| sink.chunk(encoded, reserve);
        self.encoder.encode_with(items, &|chunk| checksum.complete(chunk), &mut put)
    }
}

#[cfg(test)]
mod tests;

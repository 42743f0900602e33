//! Variable-length files: one item a chunk.

use std::path::Path;

use container_core::array::Array;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::dtype::{Element, Order};
use container_core::source::Source;
use container_core::{Error, Result, Value};

use crate::file::File;
use crate::items::item_type::ItemType;

/// An open variable-length file.
///
/// Items are read one by one, each through its own offset. The metadata determine their type, [`ItemType`]; Python's pickles
/// are never opened.
#[derive(Debug)]
pub struct VarReader {
    file: File,
    item_type: Option<ItemType>,
    names: Option<Vec<String>>,
    read: ReadOptions,
}

impl VarReader {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// As [`File::open`]; `Usage` for a file of another kind.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(File::open(path)?)
    }

    /// Opens bytes from anywhere.
    ///
    /// # Errors
    /// As [`VarReader::open`].
    pub fn from_source(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        Self::new(File::from_source(source, options)?)
    }

    /// Reads the items of an open file.
    ///
    /// # Errors
    /// `Usage` for a file that is not of variable length; what keeps all of it from being read.
    pub fn new(file: File) -> Result<Self> {
        if !file.header().dialect.is_variable_length() {
            return Err(Error::usage("this is not a variable-length file"));
        }
        file.is_open()?;
        let item_type = file.layout().item_type();
        let names = names(&file);
        Ok(Self { file, item_type, names, read: ReadOptions::default() })
    }

    /// The same with options for reading; the threads are those of one item.
    #[must_use]
    pub fn with_options(self, read: ReadOptions) -> Self {
        Self { read, ..self }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.file.chunks().len() as u64
    }

    /// True for a file without items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.file.chunks().is_empty()
    }

    /// The type of the items; `None` where the metadata do not give it.
    #[must_use]
    pub fn item_type(&self) -> Option<&ItemType> {
        self.item_type.as_ref()
    }

    /// The items' names, where the metadata have one for each.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Number of bytes of item `index`, without reading it; `None` where it does not exist.
    #[must_use]
    pub fn item_len(&self, index: u64) -> Option<u64> {
        let chunk = self.file.chunks().get(usize::try_from(index).ok()?)?;
        Some(chunk.nbytes().into())
    }

    /// The bytes of item `index`.
    ///
    /// # Errors
    /// `Usage` when the item does not exist; `Truncated`, `Malformed`, `Checksum`, `Unsupported` where it is damaged; `Limit`;
    /// those of the source.
    pub fn item(&self, index: u64) -> Result<Vec<u8>> {
        self.file.read_chunk(index, &self.read)
    }

    /// Item `index` as text.
    ///
    /// # Errors
    /// As [`VarReader::item`]; `Malformed` when it is not UTF-8.
    pub fn text(&self, index: u64) -> Result<String> {
        let problem =
            |_| Error::malformed(format!("item {index} is not UTF-8")).with_context("bloscpack item");
        String::from_utf8(self.item(index)?).map_err(problem)
    }

    /// Item `index`, a row of a ragged array, as Rust values.
    ///
    /// # Errors
    /// As [`VarReader::item`]; `Usage` when the items are not rows of `T`, byte order aside; `Malformed` when the item is not a whole
    /// number of them.
    pub fn elements<T: Element>(&self, index: u64) -> Result<Vec<T>> {
        let Some(ItemType::Ragged(dtype)) = &self.item_type else {
            let what = self.item_type.as_ref().map_or_else(|| "bytes".to_owned(), ToString::to_string);
            return Err(Error::usage(format!("the items are {what}, not rows of elements")));
        };
        let bytes = self.item(index)?;
        let itemsize = dtype.itemsize().max(1);
        if !bytes.len().is_multiple_of(itemsize) {
            let problem = format!("item {index} has {} bytes, not whole elements of {itemsize}", bytes.len());
            return Err(Error::malformed(problem).with_context("bloscpack item"));
        }
        let shape = vec![(bytes.len() / itemsize) as u64];
        let array = Array::new(dtype.clone(), shape, Order::C, bytes.into())?;
        Ok(array.elements::<T>(Order::C, &self.file.options().limits)?.into_owned())
    }

    /// The bytes of every item, in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        (0..self.len()).map(|index| self.item(index))
    }
}

/// The list `names` of the metadata, if it has one text for each item.
pub(crate) fn names(file: &File) -> Option<Vec<String>> {
    let Some(Value::List(names)) = file.metadata()?.get("names") else { return None };
    if names.len() != file.chunks().len() {
        return None;
    }
    let text = |name: &Value| match name {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    names.iter().map(text).collect()
}

//! The meaning of chunks of different lengths that were packed as items: texts, bytes or numbers, with names.
//!
//! Kept in the user metadata `holdall.items`, a map: `item` is `text`, `bytes` or `numbers`, `dtype` the type of the numbers, `names` a list as
//! long as there are chunks, `others` notes of the program that packed them. Other programs see a variable-length super-chunk, and one more entry of user metadata.

use container_core::dtype::{DType, Kind};
use container_core::format::ItemKind;
use container_core::{Error, Result, Value};

use crate::frame::Frame;
use crate::msgpack;

mod write;

pub(crate) use write::pack;

/// Name of the user metadata.
pub(crate) const LAYER: &str = "holdall.items";

/// Key of the notes, also in the tree of metadata.
pub(crate) const NOTES: &str = "others";

const KIND: &str = "item";
const NAMES: &str = "names";
const DTYPE: &str = "dtype";

/// Type and names of the items in chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Items {
    pub(crate) is_text: bool,
    /// The type of the elements, where they are numbers.
    pub(crate) dtype: Option<DType>,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) others: Vec<Value>,
}

impl Items {
    /// Reads the description of its chunks in a frame; bytes without names if there is no description.
    pub(crate) fn read(frame: &Frame) -> Self {
        let bytes = frame.vlmetalayer(LAYER).ok().flatten();
        let value = bytes.and_then(|bytes| msgpack::to_value(&bytes, &frame.options().limits).ok());
        let items = value.as_ref().map(Self::from_value).unwrap_or_default();
        let fits = items.names.as_ref().is_none_or(|names| names.len() as u64 == frame.chunk_count());
        if fits { items } else { Self { names: None, ..items } }
    }

    /// Items of a kind, without names.
    ///
    /// # Errors
    /// `Usage` for records and for types that numpy does not have.
    pub(crate) fn of_kind(kind: ItemKind, dtype: Option<&DType>) -> Result<Self> {
        let dtype = dtype.filter(|_| kind == ItemKind::Numbers);
        if let Some(dtype) =
            dtype.filter(|dtype| !DType::parse(&dtype.to_string()).is_ok_and(|named| named == **dtype))
        {
            let error = Error::usage(format!("items of {dtype}, which the metadata cannot name"));
            return Err(error.with_hint("one field of it, or the bytes: --items files"));
        }
        Ok(Self { is_text: kind == ItemKind::Text, dtype: dtype.cloned(), ..Self::default() })
    }

    /// Returns type and number of the elements of a chunk of `len` bytes; bytes where it is not whole elements.
    pub(crate) fn elements(&self, len: u64) -> (DType, u64) {
        let whole = |dtype: &&DType| len.is_multiple_of(dtype.itemsize().max(1) as u64);
        match self.dtype.as_ref().filter(whole) {
            Some(dtype) => (dtype.clone(), len / dtype.itemsize().max(1) as u64),
            None => (DType::native(Kind::Uint, 1), len),
        }
    }

    pub(crate) fn from_value(value: &Value) -> Self {
        let text = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        let list = |key: &str| match value.get(key) {
            Some(Value::List(list)) => Some(list.clone()),
            _ => None,
        };
        Self {
            is_text: value.get(KIND).and_then(text).is_some_and(|kind| kind == ItemKind::Text.word()),
            dtype: value
                .get(DTYPE)
                .and_then(text)
                .and_then(|dtype| DType::parse(&dtype).ok())
                .filter(|dtype| dtype.itemsize() > 0),
            names: list(NAMES).and_then(|names| names.iter().map(text).collect()),
            others: list(NOTES).unwrap_or_default(),
        }
    }

    /// Encodes the value of the user metadata.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut entries = vec![(KIND.to_owned(), Value::from(self.kind_word()))];
        if let Some(dtype) = &self.dtype {
            entries.push((DTYPE.to_owned(), dtype.to_string().into()));
        }
        if let Some(names) = &self.names {
            let names = names.iter().map(|name| Value::from(name.as_str())).collect::<Vec<_>>();
            entries.push((NAMES.to_owned(), names.into()));
        }
        if !self.others.is_empty() {
            entries.push((NOTES.to_owned(), self.others.clone().into()));
        }
        msgpack::from_value(&Value::Map(entries))
    }

    pub(crate) const fn kind_word(&self) -> &'static str {
        match (self.is_text, &self.dtype) {
            (true, _) => ItemKind::Text.word(),
            (false, Some(_)) => ItemKind::Numbers.word(),
            (false, None) => ItemKind::Bytes.word(),
        }
    }

    /// Returns the word for a chunk of `len` bytes: bytes where it is not whole elements.
    pub(crate) fn kind_of(&self, len: u64) -> &'static str {
        match &self.dtype {
            Some(dtype) if !len.is_multiple_of(dtype.itemsize().max(1) as u64) => ItemKind::Bytes.word(),
            _ => self.kind_word(),
        }
    }

    pub(crate) fn name(&self, index: usize) -> Option<&str> {
        self.names.as_ref()?.get(index).map(String::as_str)
    }
}

/// Returns the notes in decoded user metadata.
pub(crate) fn notes(user: &[(String, Value)]) -> Option<Value> {
    let (_, layer) = user.iter().find(|(name, _)| name == LAYER)?;
    layer.get(NOTES).cloned()
}

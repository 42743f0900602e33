//! The item type of a variable-length file.
//!
//! Spec: "Description of the metadata section" of the proposal names `varchar`; `blob` and `vlen:<dtype>` are holdall's.

use std::fmt;

use container_core::dtype::{DType, Kind};
use container_core::region::element_count;
use container_core::{Error, Result, Value};

/// Meaning of the bytes of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// `varchar`: UTF-8 text.
    Text,
    /// `blob`: bytes.
    Bytes,
    /// `vlen:<dtype>`: any number of elements of one type.
    Ragged(DType),
    /// Any other type, by its word. The items are bytes; pickles are never opened.
    Other(String),
}

impl ItemType {
    /// The type that metadata name, as text under `dtype`; `None` where they name none.
    #[must_use]
    pub fn from_metadata(metadata: &Value) -> Option<Self> {
        let Some(Value::Text(word)) = metadata.get("dtype") else { return None };
        let ragged = word.strip_prefix("vlen:").and_then(|dtype| DType::parse(dtype).ok());
        Some(match (word.as_str(), ragged) {
            ("varchar", _) => Self::Text,
            ("blob", _) => Self::Bytes,
            (_, Some(dtype)) if dtype.itemsize() > 0 => Self::Ragged(dtype),
            _ => Self::Other(word.clone()),
        })
    }

    /// The element type, read back from its `vlen:` word, so that unsupported types are refused.
    ///
    /// # Errors
    /// `Usage` for records and for types that numpy does not have.
    pub(crate) fn element(dtype: &DType) -> Result<DType> {
        let word = Self::Ragged(dtype.clone()).to_string();
        let named = Self::from_metadata(&Value::Map(vec![("dtype".to_owned(), word.into())]));
        match named {
            Some(Self::Ragged(named)) if named == *dtype => Ok(named),
            _ => Err(Error::usage(format!("items of {dtype}, which the metadata cannot name"))
                .with_hint("one field of it, or the bytes: --items files")),
        }
    }

    /// Bytes of an element in the header's typesize: 1 for text and bytes, and for sizes over 255.
    #[must_use]
    pub fn typesize(&self) -> u8 {
        match self {
            Self::Ragged(dtype) => u8::try_from(dtype.itemsize()).unwrap_or(1),
            _ => 1,
        }
    }
}

/// The elements of one item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Elements {
    /// Type of an element.
    pub(crate) dtype: DType,
    /// Number of elements.
    pub(crate) count: u64,
    /// Whether the type is the one that the metadata name.
    pub(crate) is_declared: bool,
}

impl Elements {
    /// The elements of an item of `nbytes` bytes: of the declared type where the item is a whole number of them, else bytes.
    pub(crate) fn of(items: Option<&ItemType>, nbytes: u32) -> Self {
        let nbytes = u64::from(nbytes);
        if let Some(ItemType::Ragged(dtype)) = items {
            let itemsize = dtype.itemsize().max(1) as u64;
            if nbytes.is_multiple_of(itemsize) {
                return Self { dtype: dtype.clone(), count: nbytes / itemsize, is_declared: true };
            }
        }
        Self { dtype: DType::native(Kind::Uint, 1), count: nbytes, is_declared: false }
    }
}

/// Number of items by the `shape` of the metadata; `None` where it is not a list of lengths.
pub(crate) fn items_of_shape(shape: &Value) -> Option<u64> {
    let Value::List(dims) = shape else { return None };
    let dim = |value: &Value| match value {
        Value::Int(dim) => u64::try_from(*dim).ok(),
        _ => None,
    };
    element_count(dims.iter().map(dim).collect::<Option<Vec<u64>>>()?.into_iter())
}

/// The word in the metadata.
impl fmt::Display for ItemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("varchar"),
            Self::Bytes => f.write_str("blob"),
            Self::Ragged(dtype) => write!(f, "vlen:{dtype}"),
            Self::Other(word) => f.write_str(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_type_names_round_trip() {
        for word in ["varchar", "blob", "vlen:<f8", "vlen:>i4", "object", "vlen:O", "vlen:|S0"] {
            let metadata = Value::Map(vec![("dtype".into(), word.into())]);
            let item_type = ItemType::from_metadata(&metadata).unwrap();
            assert_eq!(item_type.to_string(), word);
            let other = matches!(item_type, ItemType::Other(_));
            assert_eq!(other, ["object", "vlen:O", "vlen:|S0"].contains(&word), "{word}");
        }
        assert_eq!(ItemType::from_metadata(&Value::Map(Vec::new())), None);
        assert_eq!(ItemType::Ragged(DType::parse("<c16").unwrap()).typesize(), 16);
    }
}

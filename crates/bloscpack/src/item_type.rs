//! What the items of a variable-length file are.
//!
//! Spec: "Description of the metadata section" of the proposal names `varchar`; `blob` and `vlen:<dtype>` are holdall's.

use std::fmt;

use container_core::Value;
use container_core::dtype::DType;
use container_core::region::element_count;

/// What the bytes of an item mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// `varchar`: UTF-8 text.
    Text,
    /// `blob`: bytes.
    Bytes,
    /// `vlen:<dtype>`: any number of elements of one type.
    Ragged(DType),
    /// Anything else, by its word. The items are bytes; pickles are never opened.
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

    /// Bytes of an element, as the header's typesize has it: 1 for text and bytes, and for what is over 255.
    #[must_use]
    pub fn typesize(&self) -> u8 {
        match self {
            Self::Ragged(dtype) => u8::try_from(dtype.itemsize()).unwrap_or(1),
            _ => 1,
        }
    }
}

/// How many items the `shape` of metadata says that there are; `None` where it is no list of lengths.
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
    fn words_come_back_as_they_were() {
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

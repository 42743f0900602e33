//! Values in a tree of metadata as datasets: scalars, and lists of them.

use std::borrow::Cow;

use container_core::array::Array;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::region::Region;
use container_core::{Error, Limits, Result, Value};
use serde_json::{Value as Json, json};

use super::types::{text_json, type_json};

/// A scalar, or a list of scalars as an array of one axis.
#[derive(Clone, Debug)]
pub(super) enum Inline {
    /// A null: a dataset without elements and without a shape.
    Null,
    /// Numbers, truth values, or opaque bytes, little-endian.
    Fixed {
        /// Their type.
        dtype: DType,
        /// No axis, or one.
        shape: Vec<u64>,
        /// The elements.
        bytes: Vec<u8>,
    },
    /// Texts.
    Texts {
        /// No axis, or one.
        shape: Vec<u64>,
        /// The elements.
        texts: Vec<String>,
    },
}

impl Inline {
    /// A scalar. `None` for a map or a list.
    pub(super) fn scalar(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bytes(bytes) => {
                let dtype = DType::void(bytes.len());
                Some(Self::Fixed { dtype, shape: Vec::new(), bytes: bytes.clone() })
            }
            Value::List(_) | Value::Map(_) => None,
            _ => {
                let one = std::slice::from_ref(value);
                let dtype = common(one);
                Some(Self::of(one, Vec::new(), dtype))
            }
        }
    }

    /// An array of the items of a list: numbers or truth values where all are, else texts.
    pub(super) fn list(items: &[Value]) -> Self {
        Self::of(items, vec![u64::try_from(items.len()).unwrap_or(u64::MAX)], common(items))
    }

    fn of(items: &[Value], shape: Vec<u64>, common: Option<DType>) -> Self {
        match common {
            None => Self::Texts { shape, texts: items.iter().map(text).collect() },
            Some(dtype) => {
                let is_float = matches!(dtype.as_scalar(), Some(scalar) if scalar.kind == Kind::Float);
                let mut bytes = Vec::new();
                items.iter().for_each(|item| append(item, is_float, &mut bytes));
                Self::Fixed { dtype, shape, bytes }
            }
        }
    }

    /// Lengths of the axes; `None` for a null.
    pub(super) fn shape(&self) -> Option<&[u64]> {
        match self {
            Self::Null => None,
            Self::Fixed { shape, .. } | Self::Texts { shape, .. } => Some(shape),
        }
    }

    pub(super) fn type_json(&self) -> Json {
        match self {
            Self::Fixed { dtype, .. } => type_json(dtype, None),
            Self::Null | Self::Texts { .. } => text_json(),
        }
    }

    pub(super) fn shape_json(&self) -> Json {
        self.shape().map_or(Json::Null, |shape| json!(shape))
    }

    /// The elements of a region.
    ///
    /// # Errors
    /// `Usage` for a region of another shape; `Limit`.
    pub(super) fn select(self, region: &Region, limits: &Limits) -> Result<Self> {
        match self {
            Self::Null => Ok(Self::Null),
            Self::Fixed { dtype, shape, bytes } => {
                let array = Array::new(dtype.clone(), shape, Order::C, Cow::Owned(bytes))?.select(region)?;
                let bytes = array.bytes(Order::C, limits)?.into_owned();
                Ok(Self::Fixed { dtype, shape: array.shape().to_vec(), bytes })
            }
            Self::Texts { shape, texts } => {
                let places: Vec<u64> = (0..).take(texts.len()).collect();
                let lens = shape.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX));
                let places = Array::from_elements(&places, &lens.collect::<Vec<_>>())?.select(region)?;
                let shape = places.shape().to_vec();
                let gone = || Error::usage("a selection outside of a list");
                let pick = |place: &u64| {
                    let text = usize::try_from(*place).ok().and_then(|place| texts.get(place));
                    text.cloned().ok_or_else(gone)
                };
                let texts =
                    places.elements::<u64>(Order::C, limits)?.iter().map(pick).collect::<Result<_>>()?;
                Ok(Self::Texts { shape, texts })
            }
        }
    }
}

/// The number type that all items fit; `None` for texts and mixtures.
fn common(items: &[Value]) -> Option<DType> {
    let all = |fits: &dyn Fn(&Value) -> bool| items.iter().all(fits);
    let is_signed = |value: &Value| matches!(value, Value::Int(value) if i64::try_from(*value).is_ok());
    let is_unsigned = |value: &Value| matches!(value, Value::Int(value) if u64::try_from(*value).is_ok());
    let (kind, size) = match () {
        // h5web draws no numbers without a range, and shows an empty table of texts.
        () if items.is_empty() => return None,
        () if all(&|value| matches!(value, Value::Bool(_))) => (Kind::Bool, 1),
        () if all(&is_signed) => (Kind::Int, 8),
        () if all(&is_unsigned) => (Kind::Uint, 8),
        () if all(&|value| matches!(value, Value::Float(_)) || is_signed(value)) => (Kind::Float, 8),
        () => return None,
    };
    Some(DType::new(kind, size, ByteOrder::Little))
}

fn append(value: &Value, as_float: bool, bytes: &mut Vec<u8>) {
    match value {
        Value::Bool(value) => bytes.push(u8::from(*value)),
        #[allow(clippy::cast_precision_loss)]
        Value::Int(value) if as_float => bytes.extend((*value as f64).to_le_bytes()),
        // Within 64 bits: the lower half in two's complement.
        Value::Int(value) => bytes.extend(value.to_le_bytes().into_iter().take(8)),
        Value::Float(value) => bytes.extend(value.to_le_bytes()),
        _ => {}
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Text(text) => text.clone(),
        other => holdall::json::value_json(other).to_string(),
    }
}

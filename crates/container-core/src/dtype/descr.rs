//! Element types as numpy describes them: `dtype.str`, and the list of fields for records.
//!
//! [`DType::parse`] reads text and [`DType::from_descr`] a literal; [`DType::descr`] gives a literal and `Display` text. Output equals that
//! of `numpy.lib.format`, byte for byte. Input is all that numpy 1 and 2 read from a file, and `bfloat16`, which neither has.
//!
//! Spec: <https://numpy.org/doc/stable/reference/arrays.dtypes.html>

use std::fmt;

use super::{DType, Kind};
use crate::python_literal::{self, Literal};
use crate::{Error, Result, Value};

mod record;
mod scalar;

impl DType {
    /// Reads a type from text: `<f4`, `float32`, `bfloat16`, `M8[ns]`, or a record as the literal list of
    /// `(name, type)` and `(name, type, shape)`, where JSON's brackets and quotes will do.
    ///
    /// A missing order or `=` is little-endian on every machine, as for numpy on nearly all, so that a file reads the same everywhere.
    /// (bcolz writes such names; its elements have the order of the machine that wrote them.)
    ///
    /// # Errors
    /// `Malformed` for what is not a type; `Unsupported` for Python objects, variable-length strings, the long
    /// doubles of other machines, and sub-arrays without a field to hold them.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if !text.starts_with(['[', '(', '{', '\'', '"']) {
            return scalar::parse(text);
        }
        match Self::from_descr(&python_literal::parse(text)?)? {
            (dtype, shape) if shape.is_empty() => Ok(dtype),
            _ => Err(Error::unsupported("a sub-array type is only valid as a field")),
        }
    }

    /// Reads a type from numpy's description of it: a string, a list of fields, the dict with `names`, `formats` and
    /// `offsets`, or a pair of a type and a sub-array shape. Gives the type and that shape, which is empty otherwise.
    ///
    /// Opaque fields without a name are padding, as in a `.npy` file; others are numbered `f0`, `f1`, …
    ///
    /// # Errors
    /// As [`DType::parse`]; `Malformed` for names that repeat and for sizes beyond what memory can address.
    pub fn from_descr(descr: &Literal) -> Result<(Self, Vec<usize>)> {
        match descr {
            Literal::Str(text) => Ok((scalar::parse(text)?, Vec::new())),
            // Python 3 takes a byte string, too.
            Literal::Bytes(bytes) => Ok((scalar::parse(&String::from_utf8_lossy(bytes))?, Vec::new())),
            Literal::List(items) => match items.as_slice() {
                // (type, shape) as JSON has it: no list of fields holds numbers.
                [base, shape @ Literal::List(dims)] if matches!(dims.as_slice(), [Literal::Int(_), ..]) => {
                    record::sub_array(base, Some(shape))
                }
                fields => Ok((record::from_list(fields)?, Vec::new())),
            },
            Literal::Dict(_) => Ok((record::from_dict(descr)?, Vec::new())),
            Literal::Tuple(pair) => match pair.as_slice() {
                [base, shape] => record::sub_array(base, Some(shape)),
                _ => Err(Error::malformed("a type as a tuple is not (type, shape)")),
            },
            _ => Err(Error::malformed("invalid description of a type (expected text, a list or a dict)")),
        }
    }

    /// Reads a type from metadata: text as [`DType::parse`] takes it, or numpy's description as lists. One field without a name is a plain type, as
    /// numpy 1 describes it.
    ///
    /// # Errors
    /// As [`DType::parse`].
    pub fn from_value(value: &Value) -> Result<Self> {
        if let Value::Text(text) = value {
            return Self::parse(text);
        }
        if let Value::List(fields) = value
            && let [Value::List(field)] = fields.as_slice()
            && let [Value::Text(name), plain @ Value::Text(_)] = field.as_slice()
            && name.is_empty()
        {
            return Self::from_value(plain);
        }
        let descr =
            to_literal(value).ok_or_else(|| Error::malformed("the dtype is neither text nor a list"))?;
        match Self::from_descr(&descr)? {
            (dtype, shape) if shape.is_empty() => Ok(dtype),
            _ => Err(Error::unsupported("a sub-array type is only valid as a field")),
        }
    }

    /// The type as numpy describes it: `dtype.str`, or `dtype.descr` for a record.
    ///
    /// Gaps in a record are fields `('', '|V<n>')`. That list cannot hold fields that overlap or go backwards; such a record gives the dict
    /// with `names`, `formats`, `offsets` and `itemsize` that `numpy.dtype` takes. Types that numpy lacks are `|V<n>`, but for `bfloat16`,
    /// which has its name.
    #[must_use]
    pub fn descr(&self) -> Literal {
        match self {
            Self::Scalar(scalar) => Literal::Str(scalar::text(scalar)),
            Self::Record(record) => record::to_list(record).unwrap_or_else(|| record::to_dict(record)),
        }
    }

    /// True where numpy has every part of this type, so that [`DType::descr`] is lossless.
    #[must_use]
    pub fn is_plain_numpy(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar::numpy_code(scalar).is_some(),
            Self::Record(record) => record.fields.iter().all(|field| field.dtype.is_plain_numpy()),
        }
    }

    /// True where a part is bfloat16, whose name no `.npy` file may hold.
    #[must_use]
    pub fn has_bfloat(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.kind == Kind::BFloat,
            Self::Record(record) => record.fields.iter().any(|field| field.dtype.has_bfloat()),
        }
    }
}

/// numpy's `dtype.str`; for a record its description as JSON.
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.pad(&scalar::text(scalar)),
            Self::Record(_) => f.pad(&self.descr().json()),
        }
    }
}

/// Lists as the literal that they were made from.
fn to_literal(value: &Value) -> Option<Literal> {
    match value {
        Value::Int(value) => Some(Literal::Int(*value)),
        Value::Text(text) => Some(Literal::Str(text.clone())),
        Value::List(items) => items.iter().map(to_literal).collect::<Option<_>>().map(Literal::List),
        _ => None,
    }
}

/// The start of a text, for a message.
fn excerpt(text: &str) -> String {
    const MAX_QUOTED_LEN: usize = 40;
    if text.chars().nth(MAX_QUOTED_LEN).is_none() {
        return Literal::Str(text.into()).repr();
    }
    let start: String = text.chars().take(MAX_QUOTED_LEN).collect();
    format!("{}…", Literal::Str(start).repr())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;

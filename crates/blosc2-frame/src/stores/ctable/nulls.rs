//! Null values of a column: by a flag for each row in a leaf next to it, by a value of its own that means null, or by a code.

use container_core::dtype::{ByteOrder, DType, Kind, Scalar};
use container_core::to_f64::{self, ComplexPart};
use container_core::{Error, Result, Value};

/// The rows of a column that are null.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Nulls {
    /// No row.
    None,
    /// Rows whose flag in the leaf is false, which python-blosc2 calls mask storage.
    Flags(usize),
    /// Rows that hold this value, a sentinel of the schema.
    Value(Value),
    /// Rows whose item is nil.
    Nil,
}

/// A value that means null, as elements have it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sentinel {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A floating-point number, NaN among them.
    Number(f64),
    /// NaT, or this count.
    Time(Option<i64>),
    /// A value that no element can be.
    Never,
}

impl Sentinel {
    /// Returns the value of a schema in elements of a type.
    ///
    /// # Errors
    /// `Unsupported` for a value that is not of the column's kind.
    pub(crate) fn new(value: &Value, dtype: &DType) -> Result<Self> {
        let unlike = || Error::unsupported(format!("null values {value:?} in a column of {dtype}"));
        let scalar = dtype.as_scalar().ok_or_else(unlike)?;
        let number = match value {
            Value::Int(number) => Some(*number),
            Value::Bool(flag) => Some(i128::from(*flag)),
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 10^18")]
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e18 => Some(*number as i128),
            _ => None,
        };
        Ok(match (&scalar.kind, value) {
            (Kind::Int | Kind::Uint | Kind::Bool, _) => {
                integer(number.ok_or_else(unlike)?, scalar).map_or(Self::Never, Self::Bytes)
            }
            (Kind::Datetime(_) | Kind::Timedelta(_), _) => {
                Self::Time(Some(number.ok_or_else(unlike)?).and_then(|number| i64::try_from(number).ok()))
            }
            (Kind::Float | Kind::BFloat, Value::Float(number)) => Self::Number(*number),
            (Kind::Float | Kind::BFloat, Value::Int(number)) => Self::Number(*number as f64),
            (Kind::Unicode, Value::Text(text)) => text_element(text, scalar),
            (Kind::Bytes, Value::Text(text)) => padded(text.as_bytes().to_vec(), scalar),
            (Kind::Bytes, Value::Map(_)) => padded(bytes_of(value).ok_or_else(unlike)?, scalar),
            _ => return Err(unlike()),
        })
    }

    /// Whether all elements in `bytes` are this value.
    pub(crate) fn is_all(&self, bytes: &[u8], dtype: &DType) -> bool {
        let (Some(scalar), size @ 1..) = (dtype.as_scalar(), dtype.itemsize()) else { return false };
        let doubles = || {
            let mut found = Vec::new();
            to_f64::to_f64(scalar, bytes, ComplexPart::Re, &mut found);
            found
        };
        match self {
            Self::Never => false,
            Self::Bytes(value) => bytes.chunks_exact(size).all(|element| element == value),
            Self::Number(value) if value.is_nan() => doubles().iter().all(|number| number.is_nan()),
            Self::Number(value) => {
                // Compared as numpy does, in the type of the column.
                #[expect(clippy::cast_possible_truncation, reason = "rounded to the type of the column")]
                let value = match (&scalar.kind, size) {
                    (Kind::Float, 4) => f64::from(*value as f32),
                    _ => *value,
                };
                doubles().iter().all(|number| *number == value)
            }
            Self::Time(value) => bytes.as_chunks::<8>().0.iter().all(|element| {
                let count = match scalar.order {
                    ByteOrder::Little => i64::from_le_bytes(*element),
                    ByteOrder::Big => i64::from_be_bytes(*element),
                };
                count == i64::MIN || Some(count) == *value
            }),
        }
    }
}

/// Returns an integer as an element; `None` where it does not fit.
fn integer(number: i128, scalar: &Scalar) -> Option<Vec<u8>> {
    let bits = u32::try_from(scalar.size.checked_mul(8)?).ok().filter(|bits| (8..=64).contains(bits))?;
    let (least, most) = match scalar.kind {
        Kind::Int => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        _ => (0, (1_i128 << bits) - 1),
    };
    if !(least..=most).contains(&number) {
        return None;
    }
    let mut bytes = number.to_le_bytes().get(..scalar.size)?.to_vec();
    if scalar.order == ByteOrder::Big {
        bytes.reverse();
    }
    Some(bytes)
}

/// Returns a text as an element of numpy's type `U`.
fn text_element(text: &str, scalar: &Scalar) -> Sentinel {
    let units = text.chars().map(|c| match scalar.order {
        ByteOrder::Little => u32::from(c).to_le_bytes(),
        ByteOrder::Big => u32::from(c).to_be_bytes(),
    });
    padded(units.flatten().collect(), scalar)
}

fn padded(mut bytes: Vec<u8>, scalar: &Scalar) -> Sentinel {
    if bytes.len() > scalar.size {
        return Sentinel::Never;
    }
    bytes.resize(scalar.size, 0);
    Sentinel::Bytes(bytes)
}

/// Bytes as python-blosc2 writes them into JSON: `{"__bytes__": true, "base64": "…"}`.
fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let (Some(Value::Bool(true)), Some(Value::Text(text))) = (value.get("__bytes__"), value.get("base64"))
    else {
        return None;
    };
    let digit = |c: u8| -> Option<u32> {
        Some(u32::from(match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for group in digits.chunks(4) {
        let bits = group.iter().try_fold(0_u32, |bits, c| Some(bits << 6 | digit(*c)?))?;
        let bits = bits << (6 * (4 - group.len()));
        let [_, three @ ..] = bits.to_be_bytes();
        bytes.extend_from_slice(three.get(..group.len().checked_sub(1).filter(|len| *len > 0)?)?);
    }
    Some(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn dtype(text: &str) -> DType {
        DType::parse(text).unwrap()
    }

    /// The values by numpy 2: `np.array(v, dtype).tobytes()`.
    #[test]
    fn a_sentinel_is_an_element_of_the_column() {
        let is = |value: Value, dtype_text: &str, bytes: &[u8]| {
            let dtype = dtype(dtype_text);
            Sentinel::new(&value, &dtype).unwrap().is_all(bytes, &dtype)
        };
        assert!(is(Value::Int(-2), "<i2", &[0xfe, 0xff]));
        assert!(is(Value::Int(-2), ">i2", &[0xff, 0xfe, 0xff, 0xfe]));
        assert!(!is(Value::Int(-2), "<i2", &[0xfe, 0xff, 0, 0]));
        assert!(!is(Value::Int(-1), "|u1", &[0xff]));
        assert!(is(Value::Float(f64::NAN), "<f4", &f32::NAN.to_le_bytes()));
        assert!(is(Value::Float(0.1), "<f4", &0.1_f32.to_le_bytes()));
        assert!(!is(Value::Float(f64::NAN), "<f8", &1.0_f64.to_le_bytes()));
        assert!(is(Value::from("é"), "<U2", &[0xe9, 0, 0, 0, 0, 0, 0, 0]));
        assert!(is(Value::from("é"), ">U1", &[0, 0, 0, 0xe9]));
        assert!(is(Value::Int(7), "<M8[s]", &i64::MIN.to_le_bytes()));
        assert!(Sentinel::new(&Value::from("no"), &dtype("<i4")).is_err());
    }

    /// By Python's `base64.b64encode`.
    #[test]
    fn bytes_of_a_schema_are_base64() {
        let of = |text: &str| {
            bytes_of(&Value::Map(vec![
                ("__bytes__".into(), Value::Bool(true)),
                ("base64".into(), text.into()),
            ]))
        };
        assert_eq!(of("bm9uZQ=="), Some(b"none".to_vec()));
        assert_eq!(of("AP8="), Some(vec![0, 255]));
        assert_eq!(of("YWJj"), Some(b"abc".to_vec()));
        assert_eq!(of(""), Some(vec![]));
        assert_eq!(of("?"), None);
    }
}

//! Elements in binary as JavaScript's typed arrays take them (`dtype=safe`), and NaN for missing floats.

use container_core::dtype::{ByteOrder, DType, Kind, Scalar};
use container_core::mask::Hidden;
use container_core::to_f64::{ComplexPart, to_f64};
use container_core::{Error, Result};

use super::json_text::narrow;
use super::types::Class;

/// Conversion of stored elements to those that are sent.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    from: DType,
    to: DType,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The bytes as they are.
    Stored,
    /// In little-endian.
    Little,
    /// Halves and bfloats as singles, little-endian.
    Single,
    /// Any byte but 0 as 1.
    Bool,
}

impl Conversion {
    /// No conversion.
    pub(super) fn none(dtype: &DType) -> Self {
        Self { from: dtype.clone(), to: dtype.clone(), how: How::Stored }
    }

    /// A conversion to a type with a typed array in JavaScript, little-endian. Complex numbers are pairs.
    ///
    /// # Errors
    /// `Usage` for a type that is not numeric, with h5grove's message.
    pub(super) fn safe(dtype: &DType) -> Result<Self> {
        let class = dtype.as_scalar().map(Class::of);
        let (how, to) = match class {
            Some(Class::Bool) => (How::Bool, dtype.clone()),
            Some(Class::Float) if dtype.itemsize() == 2 => {
                (How::Single, DType::new(Kind::Float, 4, ByteOrder::Little))
            }
            Some(class) if class.is_numeric() => (How::Little, dtype.with_order(ByteOrder::Little)),
            _ => return Err(Error::usage("Unsupported dtype safe for non-numeric data")),
        };
        Ok(Self { from: dtype.clone(), to, how })
    }

    /// A single element of h5grove's: numpy has its scalars in native order, which is little-endian wherever h5grove runs.
    pub(super) fn scalar(dtype: &DType) -> Self {
        match dtype.as_scalar() {
            Some(scalar) if Class::of(scalar).is_numeric() => {
                Self { from: dtype.clone(), to: dtype.with_order(ByteOrder::Little), how: How::Little }
            }
            _ => Self::none(dtype),
        }
    }

    /// The type of the result.
    pub(super) const fn dtype(&self) -> &DType {
        &self.to
    }

    /// Converts whole elements.
    ///
    /// # Errors
    /// As [`DType::swap_to`].
    pub(super) fn apply(&self, items: &[u8]) -> Result<Vec<u8>> {
        match (self.how, self.from.as_scalar()) {
            (How::Bool, _) => Ok(items.iter().map(|byte| u8::from(*byte != 0)).collect()),
            (How::Single, Some(scalar)) => {
                let mut values = Vec::new();
                to_f64(scalar, items, ComplexPart::Re, &mut values);
                Ok(values.iter().flat_map(|value| narrow(*value).to_le_bytes()).collect())
            }
            (How::Little, _) => Ok(self.from.little_endian(items)?.into_owned()),
            _ => Ok(items.to_vec()),
        }
    }
}

/// Puts NaN in the place of missing floats. Other elements keep their stored values.
pub(super) fn fill_missing(dtype: &DType, hidden: &Hidden, items: &mut [u8]) {
    if dtype.as_scalar().is_some_and(|scalar| nan(scalar).is_some()) {
        hidden.fill(dtype, items, &|scalar, part| {
            if let Some(nan) = nan(scalar).filter(|nan| nan.len() == part.len()) {
                part.copy_from_slice(&nan);
            }
        });
    }
}

/// The bytes of a quiet NaN of a float type.
fn nan(scalar: &Scalar) -> Option<Vec<u8>> {
    let mut bytes = match (&scalar.kind, scalar.size) {
        (Kind::Float, 2) => vec![0x7e, 0],
        (Kind::BFloat, 2) => vec![0x7f, 0xc0],
        (Kind::Float, 4) => f32::NAN.to_be_bytes().to_vec(),
        (Kind::Float, 8) => f64::NAN.to_be_bytes().to_vec(),
        _ => return None,
    };
    if scalar.order == ByteOrder::Little {
        bytes.reverse();
    }
    Some(bytes)
}

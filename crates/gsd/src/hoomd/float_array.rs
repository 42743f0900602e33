//! Float arrays as they are stored: f32, or from schema 2.0 on f64.

use std::borrow::Cow;

use container_core::{Error, Result};

/// A number or a row of numbers in single precision, and its counterpart in double precision.
pub trait SinglePrecision: bytemuck::Pod + PartialEq + Send + Sync {
    /// The same in f64.
    type Double: bytemuck::Pod + PartialEq + Send + Sync;

    /// The same value; exact.
    fn widen(self) -> Self::Double;
}

impl SinglePrecision for f32 {
    type Double = f64;

    fn widen(self) -> f64 {
        f64::from(self)
    }
}

impl<const M: usize> SinglePrecision for [f32; M] {
    type Double = [f64; M];

    fn widen(self) -> [f64; M] {
        self.map(f64::from)
    }
}

/// Rows of reals in the precision in which they are stored. Values are never narrowed from f64 to f32.
#[derive(Clone, Debug, PartialEq)]
pub enum FloatArray<'a, S: SinglePrecision> {
    /// Single precision.
    F32(Cow<'a, [S]>),
    /// Double precision.
    F64(Cow<'a, [S::Double]>),
}

/// One real per row: masses, charges, diameters.
pub type Scalars<'a> = FloatArray<'a, f32>;
/// Three per row: positions, velocities.
pub type Vectors<'a> = FloatArray<'a, [f32; 3]>;
/// Four per row, the real part first: orientations, angular momenta.
pub type Quaternions<'a> = FloatArray<'a, [f32; 4]>;

impl<'a, S: SinglePrecision> FloatArray<'a, S> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(rows) => rows.len(),
            Self::F64(rows) => rows.len(),
        }
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, where they are f32.
    #[must_use]
    pub fn as_f32(&self) -> Option<&[S]> {
        match self {
            Self::F32(rows) => Some(rows),
            Self::F64(_) => None,
        }
    }

    /// The rows, where they are f64.
    #[must_use]
    pub fn as_f64(&self) -> Option<&[S::Double]> {
        match self {
            Self::F32(_) => None,
            Self::F64(rows) => Some(rows),
        }
    }

    /// The rows as f32, without a copy.
    ///
    /// # Errors
    /// `Usage` where they are f64, which would lose digits.
    pub fn into_f32(self) -> Result<Cow<'a, [S]>> {
        match self {
            Self::F32(rows) => Ok(rows),
            Self::F64(_) => {
                Err(Error::usage("the values are f64 and would lose digits as f32")
                    .with_hint("read them as f64"))
            }
        }
    }

    /// The rows as f64: f32 widened, which is exact and copies; f64 as they are.
    #[must_use]
    pub fn into_f64(self) -> Cow<'a, [S::Double]> {
        match self {
            Self::F32(rows) => Cow::Owned(rows.iter().map(|row| row.widen()).collect()),
            Self::F64(rows) => rows,
        }
    }

    /// The same, borrowed.
    #[must_use]
    pub fn borrowed(&self) -> FloatArray<'_, S> {
        match self {
            Self::F32(rows) => FloatArray::F32(Cow::Borrowed(rows)),
            Self::F64(rows) => FloatArray::F64(Cow::Borrowed(rows)),
        }
    }

    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> FloatArray<'static, S> {
        match self {
            Self::F32(rows) => FloatArray::F32(Cow::Owned(rows.into_owned())),
            Self::F64(rows) => FloatArray::F64(Cow::Owned(rows.into_owned())),
        }
    }

    /// The rows as bytes, in this machine's order.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(rows) => bytemuck::cast_slice(rows),
            Self::F64(rows) => bytemuck::cast_slice(rows),
        }
    }
}

macro_rules! conversions {
    ($($single:ty, $double:ty, [$($generics:tt)*];)+) => {$(
        impl<'a, $($generics)*> From<&'a [$single]> for FloatArray<'a, $single> {
            fn from(rows: &'a [$single]) -> Self {
                Self::F32(Cow::Borrowed(rows))
            }
        }
        impl<'a, $($generics)*> From<&'a [$double]> for FloatArray<'a, $single> {
            fn from(rows: &'a [$double]) -> Self {
                Self::F64(Cow::Borrowed(rows))
            }
        }
        impl<$($generics)*> From<Vec<$single>> for FloatArray<'_, $single> {
            fn from(rows: Vec<$single>) -> Self {
                Self::F32(Cow::Owned(rows))
            }
        }
        impl<$($generics)*> From<Vec<$double>> for FloatArray<'_, $single> {
            fn from(rows: Vec<$double>) -> Self {
                Self::F64(Cow::Owned(rows))
            }
        }
    )+};
}

conversions! {
    f32, f64, [];
    [f32; M], [f64; M], [const M: usize];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_f32_rejects_doubles_and_widening_is_exact() {
        let single = Vectors::from(vec![[0.1_f32, 2.0, -3.5]]);
        assert_eq!(single.as_f32(), Some(&[[0.1_f32, 2.0, -3.5]][..]));
        assert_eq!(single.as_f64(), None);
        // The nearest f32 to 0.1, written out.
        assert_eq!(&*single.into_f64(), [[0.100_000_001_490_116_12, 2.0, -3.5]]);
        let double = Scalars::from(vec![0.1_f64]);
        assert_eq!(double.as_f32(), None);
        assert!(double.into_f32().is_err());
    }
}

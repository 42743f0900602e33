//! Values as integers that sort as they do.

use container_core::dtype::{ByteOrder, Kind, Scalar};
use container_core::to_f64::{ComplexPart, is_beyond_f64, to_f64};

use super::Number;

/// Meaning of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    Signed,
    Unsigned,
    Doubles,
}

const SIGN: u64 = 1 << 63;

impl Keys {
    pub(super) fn double(self, key: u64) -> f64 {
        match self {
            Self::Signed => (key ^ SIGN).cast_signed() as f64,
            Self::Unsigned => key as f64,
            // The bits of negative numbers sort in reverse.
            Self::Doubles => f64::from_bits(if key & SIGN == 0 { !key } else { key ^ SIGN }),
        }
    }

    /// Distance from the integer `base` to the number of a key; of floating-point numbers the number.
    pub(super) fn beyond(self, key: u64, base: i128) -> f64 {
        match self.number(key) {
            Number::Integer(value) if base != 0 => value.saturating_sub(base) as f64,
            number => number.value(),
        }
    }

    /// The integer from which the numbers between two keys are counted, so that doubles distinguish them: 0 where they do so without it.
    pub(super) fn base(self, (low, high): (u64, u64)) -> i128 {
        match self.number(low) {
            Number::Integer(base) if !self.is_double(low) || !self.is_double(high) => base,
            _ => 0,
        }
    }

    /// Whether all integers up to the number of a key are doubles; floating-point numbers are.
    pub(super) fn is_double(self, key: u64) -> bool {
        match self.number(key) {
            Number::Integer(value) => !is_beyond_f64(value),
            Number::Float(_) => true,
        }
    }

    pub(super) fn number(self, key: u64) -> Number {
        match self {
            Self::Signed => Number::Integer((key ^ SIGN).cast_signed().into()),
            Self::Unsigned => Number::Integer(key.into()),
            Self::Doubles => Number::Float(self.double(key)),
        }
    }
}

fn key_of(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The keys of the finite values of some elements, and how many others there are.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) keys: Vec<u64>,
    pub(super) nan: u64,
    pub(super) negative_infinity: u64,
    pub(super) positive_infinity: u64,
    pub(super) empty: u64,
    doubles: Vec<f64>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        (self.nan, self.negative_infinity, self.positive_infinity, self.empty) = (0, 0, 0, 0);
    }

    /// Adds floating-point numbers, or complex ones by their modulus.
    pub(super) fn floats(&mut self, scalar: &Scalar, bytes: &[u8]) {
        self.doubles.clear();
        to_f64(scalar, bytes, ComplexPart::Abs, &mut self.doubles);
        self.keys.reserve(self.doubles.len());
        for value in &self.doubles {
            if value.is_finite() {
                // Both zeros are one number.
                self.keys.push(key_of(if *value == 0.0 { 0.0 } else { *value }));
            } else if value.is_nan() {
                self.nan += 1;
            } else if *value > 0.0 {
                self.positive_infinity += 1;
            } else {
                self.negative_infinity += 1;
            }
        }
    }

    /// Adds booleans, integers, dates and differences of time; of the last two, NaT is counted.
    pub(super) fn integers(&mut self, scalar: &Scalar, bytes: &[u8]) {
        macro_rules! each {
            ($type:ty, $key:expr) => {{
                let (items, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                #[allow(clippy::redundant_closure_call)]
                match scalar.order {
                    ByteOrder::Little => {
                        self.keys.extend(items.iter().map(|item| $key(<$type>::from_le_bytes(*item))));
                    }
                    ByteOrder::Big => {
                        self.keys.extend(items.iter().map(|item| $key(<$type>::from_be_bytes(*item))));
                    }
                }
            }};
        }
        let signed = |value: i64| value.cast_unsigned() ^ SIGN;
        match (&scalar.kind, scalar.size) {
            (Kind::Bool, 1) => self.keys.extend(bytes.iter().map(|byte| u64::from(*byte != 0))),
            (Kind::Uint, 1) => each!(u8, u64::from),
            (Kind::Uint, 2) => each!(u16, u64::from),
            (Kind::Uint, 4) => each!(u32, u64::from),
            (Kind::Uint, 8) => each!(u64, |value| value),
            (Kind::Int, 1) => each!(i8, |value| signed(i64::from(value))),
            (Kind::Int, 2) => each!(i16, |value| signed(i64::from(value))),
            (Kind::Int, 4) => each!(i32, |value| signed(i64::from(value))),
            (Kind::Int, 8) => each!(i64, signed),
            (Kind::Datetime(_) | Kind::Timedelta(_), 8) => {
                each!(i64, signed);
                let before = self.keys.len();
                // NaT is the least integer, whose key is 0.
                self.keys.retain(|key| *key != 0);
                self.nan += (before - self.keys.len()) as u64;
            }
            _ => {}
        }
    }

    /// Adds the length of a string.
    pub(super) fn length(&mut self, length: usize) {
        self.empty += u64::from(length == 0);
        self.keys.push(length as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_the_numbers_do_and_come_back() {
        let numbers = [f64::MIN, -1.5, -f64::MIN_POSITIVE, -5e-324, 0.0, 5e-324, 1.0, 1.5, f64::MAX];
        assert!(numbers.map(key_of).is_sorted());
        assert_eq!(numbers.map(|number| Keys::Doubles.double(key_of(number))), numbers);
        let key = |value: i64| value.cast_unsigned() ^ SIGN;
        assert!([i64::MIN, -1, 0, 1, i64::MAX].map(key).is_sorted());
        assert_eq!(Keys::Signed.number(key(i64::MIN)), Number::Integer(i64::MIN.into()));
        assert_eq!(Keys::Unsigned.number(u64::MAX), Number::Integer(u64::MAX.into()));
    }
}

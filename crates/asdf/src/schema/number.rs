//! Numbers of trees and schemas, compared exactly across kinds.

use std::cmp::Ordering;

use crate::yaml::{Int, Node, Scalar};

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    /// Beyond 128 bits: decimal digits without leading zeros, perhaps after `-`.
    Big(String),
    Float(f64),
}

impl Number {
    /// The number at a node; `None` for other values, truth values included.
    pub(super) fn of(node: Node<'_>) -> Option<Self> {
        match node.scalar()? {
            Scalar::Int(Int::Small(value)) => Some(Self::Int(value)),
            Scalar::Int(Int::Big(digits)) => Some(Self::Big(digits)),
            Scalar::Float(value) => Some(Self::Float(value)),
            _ => None,
        }
    }

    /// Compares two numbers; `None` where either is NaN.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => Some(one.cmp(two)),
            (Self::Float(one), Self::Float(two)) => one.partial_cmp(two),
            (Self::Int(one), Self::Float(two)) => int_to_float(*one, *two),
            (Self::Float(one), Self::Int(two)) => int_to_float(*two, *one).map(Ordering::reverse),
            (Self::Big(one), Self::Big(two)) => Some(compare_digits(one, two)),
            (Self::Big(one), Self::Int(_)) => Some(beyond(one)),
            (Self::Int(_), Self::Big(two)) => Some(beyond(two).reverse()),
            (Self::Big(one), Self::Float(two)) => compare_big(one, *two),
            (Self::Float(one), Self::Big(two)) => compare_big(two, *one).map(Ordering::reverse),
        }
    }

    /// Whether this is a whole number of times `unit`, which is positive. With a fractional unit the quotient counts as whole where it is when
    /// rounded to a `f64`, as in Python: 0.0075 is a multiple of 0.0001.
    pub(super) fn is_multiple_of(&self, unit: &Self) -> bool {
        match (self, unit) {
            (Self::Int(value), Self::Int(unit)) => value.checked_rem(*unit) == Some(0),
            (Self::Big(digits), Self::Int(unit)) => remainder(digits, unit.unsigned_abs()) == Some(0),
            (Self::Int(_), Self::Big(_)) => matches!(self, Self::Int(0)),
            (Self::Big(one), Self::Big(two)) => one.trim_start_matches('-') == two,
            (Self::Float(value), Self::Int(_) | Self::Big(_)) => value % unit.float() == 0.0,
            (_, Self::Float(unit)) => {
                let value = self.float();
                let quotient = value / unit;
                if quotient.is_finite() { quotient.trunc() == quotient } else { value % unit == 0.0 }
            }
        }
    }

    /// The nearest `f64`.
    pub(super) fn float(&self) -> f64 {
        match self {
            #[allow(clippy::cast_precision_loss)]
            Self::Int(value) => *value as f64,
            Self::Big(digits) => digits.parse().unwrap_or(f64::NAN),
            Self::Float(value) => *value,
        }
    }
}

/// Orders integers of more than 128 bits, which are above or below all others.
fn beyond(digits: &str) -> Ordering {
    if digits.starts_with('-') { Ordering::Less } else { Ordering::Greater }
}

fn compare_digits(one: &str, two: &str) -> Ordering {
    let size = |text: &str| (text.len(), text.to_owned());
    match (one.strip_prefix('-'), two.strip_prefix('-')) {
        (Some(one), Some(two)) => size(two).cmp(&size(one)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => size(one).cmp(&size(two)),
    }
}

/// Floats of that size are integers, of which the nearest to the digits decides.
fn compare_big(digits: &str, float: f64) -> Option<Ordering> {
    digits.parse::<f64>().ok()?.partial_cmp(&float)
}

fn int_to_float(int: i128, float: f64) -> Option<Ordering> {
    /// 2^127, the first float above all of them.
    const END: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float.is_nan() {
        return None;
    }
    if float >= END {
        return Some(Ordering::Less);
    }
    if float < -END {
        return Some(Ordering::Greater);
    }
    #[allow(clippy::cast_possible_truncation)]
    let whole = float.trunc() as i128;
    Some(int.cmp(&whole).then_with(|| 0.0f64.total_cmp(&(float.fract() + 0.0))))
}

fn remainder(digits: &str, unit: u128) -> Option<u128> {
    let mut left = 0u128;
    for digit in digits.bytes().filter(u8::is_ascii_digit) {
        let next = left.checked_mul(10)?.checked_add(u128::from(digit.checked_sub(b'0')?))?;
        left = next.checked_rem(unit)?;
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_numbers_are_compared_exactly() {
        use Number::{Big, Float, Int};
        let big = |text: &str| Big(text.into());
        for (one, two, want) in [
            (Int(1), Float(1.0), Some(Ordering::Equal)),
            (Int(1), Float(1.5), Some(Ordering::Less)),
            (Int(-1), Float(-1.5), Some(Ordering::Greater)),
            (Int(0), Float(-0.0), Some(Ordering::Equal)),
            (Int(0), Float(-0.5), Some(Ordering::Greater)),
            // No float equals 2^53 + 1.
            (Int(9_007_199_254_740_993), Float(9_007_199_254_740_992.0), Some(Ordering::Greater)),
            (Int(i128::MAX), Float(f64::INFINITY), Some(Ordering::Less)),
            (Int(5), Float(f64::NAN), None),
            (big("999999999999999999999999999999999999999999"), Int(i128::MAX), Some(Ordering::Greater)),
            (big("-999999999999999999999999999999999999999999"), Float(-1.0), Some(Ordering::Less)),
            (
                big("-999999999999999999999999999999999999999999"),
                big("-1999999999999999999999999999999999999999999"),
                Some(Ordering::Greater),
            ),
        ] {
            assert_eq!(one.compare(&two), want, "{one:?} {two:?}");
            assert_eq!(two.compare(&one), want.map(Ordering::reverse), "{two:?} {one:?}");
        }
    }

    #[test]
    fn multiples() {
        use Number::{Big, Float, Int};
        for (value, unit, want) in [
            (Int(10), Int(2), true),
            (Int(7), Int(2), false),
            (Float(4.5), Float(1.5), true),
            (Float(35.0), Float(1.5), false),
            (Float(0.0075), Float(0.0001), true),
            (Float(0.00751), Float(0.0001), false),
            (Float(1e308), Float(0.123_456_789), false),
            (Float(1e308), Float(0.5), true),
            (Float(f64::NAN), Int(2), false),
            (Float(f64::INFINITY), Float(0.1), false),
            (Big("1000000000000000000000000000000000000000000".into()), Int(8), true),
            (Big("1000000000000000000000000000000000000000001".into()), Int(8), false),
        ] {
            assert_eq!(value.is_multiple_of(&unit), want, "{value:?} {unit:?}");
        }
    }
}

//! Ends of ranges, as exact as the integers between them.

use std::cmp::Ordering;
use std::fmt;

use container_core::to_f64::is_beyond_f64;

/// One end of a range. Doubles round integers beyond 2⁵³: such an end is held in billionths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound(Held);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Double(f64),
    /// Billionths of a number beyond ±2⁵³.
    Billionths(i128),
}

const BILLION: i128 = 1_000_000_000;

/// Maximum number of digits before the point: those of the integers that files hold, and room for a sum of two.
const MAX_DIGITS: usize = 20;

impl From<f64> for Bound {
    fn from(value: f64) -> Self {
        Self(Held::Double(value))
    }
}

impl Bound {
    /// An integer that a file holds.
    pub(crate) fn integer(value: i128) -> Self {
        Self::billionths(value.saturating_mul(BILLION))
    }

    /// The number `beyond` after the integer `base`; to the billionth, unless the base is 0.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "to the billionth; integers of 8 bytes are far below the greatest of 16"
    )]
    pub(crate) fn at(base: i128, beyond: f64) -> Self {
        if base == 0 || !beyond.is_finite() {
            return beyond.into();
        }
        let part = (beyond.fract() * BILLION as f64).round() as i128;
        let whole = base.saturating_add(beyond.trunc() as i128);
        Self::billionths(whole.saturating_mul(BILLION).saturating_add(part))
    }

    fn billionths(value: i128) -> Self {
        if is_beyond_f64(value / BILLION) {
            Self(Held::Billionths(value))
        } else {
            (value as f64 / BILLION as f64).into()
        }
    }

    /// A number; as an integer with at most nine decimals where doubles would round it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let double = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(digits(text).map_or(double.into(), |value| Self(Held::Billionths(value))))
    }

    /// Distance from the integer `base` to this.
    pub(crate) fn beyond(self, base: i128) -> f64 {
        match self.0 {
            Held::Double(value) if base == 0 => value,
            Held::Double(value) => value - base as f64,
            Held::Billionths(value) => {
                let rest = value.saturating_sub(base.saturating_mul(BILLION));
                // The double of an integer is that of the integer, not that of its billionths.
                if rest % BILLION == 0 { (rest / BILLION) as f64 } else { rest as f64 / BILLION as f64 }
            }
        }
    }

    /// The integer from which numbers near it are counted, so that doubles distinguish them; 0 where they do so without it.
    pub(crate) fn base(self) -> i128 {
        match self.0 {
            Held::Double(_) => 0,
            Held::Billionths(value) => value.div_euclid(BILLION),
        }
    }
}

/// Billionths of a number that is written without an exponent and beyond ±2⁵³.
fn digits(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let are_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty()
        || whole.len() > MAX_DIGITS
        || part.len() > 9
        || !are_digits(whole)
        || !are_digits(part)
    {
        return None;
    }
    let whole: i128 = whole.parse().ok()?;
    let part: i128 = format!("{part:0<9}").parse().ok()?;
    let sign = if text.starts_with('-') { -1 } else { 1 };
    is_beyond_f64(whole).then_some(sign * (whole * BILLION + part))
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.0, other.0) {
            (Held::Billionths(one), Held::Billionths(other)) => Some(one.cmp(&other)),
            _ => self.beyond(0).partial_cmp(&other.beyond(0)),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Held::Double(value) => write!(f, "{value:?}"),
            Held::Billionths(value) => {
                let sign = if value < 0 { "-" } else { "" };
                let (whole, part) = (
                    value.unsigned_abs() / BILLION.unsigned_abs(),
                    value.unsigned_abs() % BILLION.unsigned_abs(),
                );
                let text = format!("{sign}{whole}.{part:09}");
                write!(f, "{}", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_doubles_keep_their_digits() {
        for text in [
            "1152921504606846977",
            "-9223372036854775808",
            "18446744073709551615",
            "9007199254740993.000000001",
        ] {
            assert_eq!(Bound::parse(text).unwrap().to_string(), text);
        }
        for (text, again) in
            [("9007199254740992", "9007199254740992.0"), ("1e300", "1e300"), ("-0.5", "-0.5")]
        {
            assert_eq!(Bound::parse(text).unwrap().to_string(), again);
        }
        for bad in ["", "inf", "nan", "1.2.3", "--5", "99999999999999999999999x"] {
            assert_eq!(Bound::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn difference_to_a_base_is_exact() {
        let base = 1 << 60;
        let bound = Bound::parse("1152921504606846983.25").unwrap();
        assert_eq!((bound.base(), bound.beyond(base)), (base + 7, 7.25));
        assert_eq!(Bound::at(base, 7.25), bound);
        assert_eq!(Bound::at(-base, -0.5).to_string(), "-1152921504606846976.5");
        assert_eq!(Bound::at(-base, -0.5).base(), -base - 1);
        assert_eq!(Bound::integer(i128::from(u64::MAX)).beyond(0), 18_446_744_073_709_551_616.0);
        assert_eq!(Bound::at(base, -(base as f64)), Bound::from(0.0));
        assert!(
            Bound::from(3.0) < bound && bound < Bound::integer(base + 8) && bound > Bound::integer(base + 7)
        );
    }
}

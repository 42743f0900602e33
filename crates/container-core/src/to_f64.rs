//! Elements as doubles, for statistics and plots.

use half::{bf16, f16};

use crate::dtype::{ByteOrder, Kind, Scalar};

/// Part of a complex number that becomes a double. Of other numbers each part is the value itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComplexPart {
    /// The modulus.
    #[default]
    Abs,
    /// The argument, from -π to π.
    Phase,
    /// The real part.
    Re,
    /// The imaginary part.
    Im,
}

/// True where [`to_f64`] converts the type: booleans, integers of 1, 2, 4 and 8 bytes, IEEE numbers up to 8 bytes,
/// bfloat16, complex numbers of IEEE parts, and dates and times as counts of their unit.
#[must_use]
pub fn is_number(scalar: &Scalar) -> bool {
    matches!(
        (&scalar.kind, scalar.size),
        (Kind::Bool, 1)
            | (Kind::Int | Kind::Uint, 1 | 2 | 4 | 8)
            | (Kind::Float, 2 | 4 | 8)
            | (Kind::BFloat, 2)
            | (Kind::Complex, 4 | 8 | 16)
            | (Kind::Datetime(_) | Kind::Timedelta(_), 8)
    )
}

/// True where [`to_f64`] converts the type whatever the part: numbers that are not complex.
pub(crate) fn is_real(scalar: &Scalar) -> bool {
    is_number(scalar) && scalar.kind != Kind::Complex
}

/// True of integers that doubles may round: those beyond ±2^53.
#[must_use]
pub const fn is_beyond_f64(value: i128) -> bool {
    const MAX_EXACT_INTEGER: u128 = 1 << f64::MANTISSA_DIGITS;
    value.unsigned_abs() > MAX_EXACT_INTEGER
}

/// Appends the elements in `bytes`, which are in the scalar's byte order, as doubles. Integers beyond 2^53 are rounded. Types that are not
/// numbers ([`is_number`]) append nothing; an incomplete last element is left out.
pub fn to_f64(scalar: &Scalar, bytes: &[u8], part: ComplexPart, out: &mut Vec<f64>) {
    macro_rules! each {
        ($type:ty, $value:expr) => {{
            let (items, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
            out.reserve(items.len());
            #[allow(clippy::redundant_closure_call)]
            match scalar.order {
                ByteOrder::Little => {
                    out.extend(items.iter().map(|item| $value(<$type>::from_le_bytes(*item))));
                }
                ByteOrder::Big => {
                    out.extend(items.iter().map(|item| $value(<$type>::from_be_bytes(*item))));
                }
            }
        }};
    }
    match (&scalar.kind, scalar.size) {
        (Kind::Bool, 1) => out.extend(bytes.iter().map(|byte| f64::from(u8::from(*byte != 0)))),
        (Kind::Int, 1) => each!(i8, f64::from),
        (Kind::Int, 2) => each!(i16, f64::from),
        (Kind::Int, 4) => each!(i32, f64::from),
        (Kind::Int, 8) => each!(i64, |value| value as f64),
        // The least integer is not a time.
        (Kind::Datetime(_) | Kind::Timedelta(_), 8) => {
            each!(i64, |value| if value == i64::MIN { f64::NAN } else { value as f64 });
        }
        (Kind::Uint, 1) => each!(u8, f64::from),
        (Kind::Uint, 2) => each!(u16, f64::from),
        (Kind::Uint, 4) => each!(u32, f64::from),
        (Kind::Uint, 8) => each!(u64, |value| value as f64),
        (Kind::Float, 2) => each!(f16, f16::to_f64),
        (Kind::Float, 4) => each!(f32, f64::from),
        (Kind::Float, 8) => each!(f64, |value| value),
        (Kind::BFloat, 2) => each!(bf16, bf16::to_f64),
        (Kind::Complex, 4 | 8 | 16) => {
            let half = Scalar { kind: Kind::Float, size: scalar.size / 2, order: scalar.order };
            let mut parts = Vec::new();
            to_f64(&half, bytes, part, &mut parts);
            let (pairs, _) = parts.as_chunks::<2>();
            out.extend(pairs.iter().map(|[re, im]| match part {
                ComplexPart::Abs => re.hypot(*im),
                ComplexPart::Phase => im.atan2(*re),
                ComplexPart::Re => *re,
                ComplexPart::Im => *im,
            }));
        }
        _ => {}
    }
}

/// The ranks of the two of `count` sorted values that enclose a percentile (0 to 100), and its fraction of the way between them, 0 to 1.
/// Linear interpolation, numpy's default. For a percentile that equals one of the values, both ranks are that one.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank below count")]
pub fn percentile_ranks(percent: f64, count: u64) -> ([u64; 2], f64) {
    let last = count.saturating_sub(1);
    let place = last as f64 * (percent / 100.0);
    let low = (place.floor() as u64).min(last);
    let part = place - place.floor();
    // A value of weight 0 must not matter, whatever it is.
    let high = if part > 0.0 { low.saturating_add(1).min(last) } else { low };
    ([low, high], part)
}

/// The number at `part` (0 to 1) of the way from `low` to `high`: from the nearer end, as numpy does it, so that the last bit is the same. Finite for
/// any two finite numbers.
#[must_use]
pub fn interpolate(low: f64, high: f64, part: f64) -> f64 {
    let distance = high - low;
    if !distance.is_finite() && low.is_finite() && high.is_finite() {
        // The distance of halves is finite.
        return 2.0 * interpolate(low / 2.0, high / 2.0, part);
    }
    if part >= 0.5 { high - distance * (1.0 - part) } else { low + distance * part }
}

#[cfg(test)]
mod tests;

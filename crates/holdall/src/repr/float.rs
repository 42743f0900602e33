//! Floating point as text: the fewest digits that read back as the same number, laid out as numpy's scalars are.
//!
//! The standard library finds the fewest digits of singles and doubles. Where the exact value is halfway between two such decimals, it
//! takes the larger, while Python and numpy take the even one (`580807545643588.2` for …8.25). It lacks halves and bfloats.

use std::fmt::{LowerExp, Write};
use std::str::FromStr;

use container_core::dtype::ByteOrder;
use half::{bf16, f16};

/// A floating-point number in its own precision, which decides how many digits distinguish it from its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Float {
    F16(f16),
    BF16(bf16),
    F32(f32),
    F64(f64),
}

impl Float {
    /// IEEE 754 of 2, 4 or 8 bytes. The 16 bytes of a long double differ between machines: `None`.
    pub(crate) fn ieee(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        let bits = word(bytes, order)?;
        Some(match bytes.len() {
            2 => Self::F16(f16::from_bits(u16::try_from(bits).ok()?)),
            4 => Self::F32(f32::from_bits(u32::try_from(bits).ok()?)),
            8 => Self::F64(f64::from_bits(bits)),
            _ => return None,
        })
    }

    /// bfloat16.
    pub(crate) fn bfloat(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        let bits = word(bytes, order).filter(|_| bytes.len() == 2)?;
        Some(Self::BF16(bf16::from_bits(u16::try_from(bits).ok()?)))
    }

    /// The same number as a double; every narrower one is exact.
    pub(crate) fn value(self) -> f64 {
        match self {
            Self::F16(value) => value.to_f64(),
            Self::BF16(value) => value.to_f64(),
            Self::F32(value) => value.into(),
            Self::F64(value) => value,
        }
    }

    /// Appends it as numpy's scalars print: `1.0`, `1e-05`, `nan`, `-inf`.
    pub(crate) fn write(self, out: &mut String) {
        if self.write_digits(out) == Form::Whole {
            out.push_str(".0");
        }
    }

    /// Appends the digits without the `.0` of whole numbers.
    fn write_digits(self, out: &mut String) -> Form {
        let value = self.value();
        if value.is_nan() {
            // The sign of NaN is not shown.
            out.push_str("nan");
            return Form::Other;
        }
        if value.is_sign_negative() {
            out.push('-');
        }
        if value.is_infinite() {
            out.push_str("inf");
            return Form::Other;
        }
        let text = self.digits();
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        // numpy decides by the value, not by its digits: the single 9.9999997e-05, in short 1e-04, is scientific.
        if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
            return write_positional(digits, exponent.parse().unwrap_or(0), out);
        }
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        let _ = write!(out, "{digits}e{sign}{exponent:0>2}");
        Form::Other
    }

    /// The fewest digits, without a point, and the exponent of the first; `None` for NaN and infinities.
    pub(crate) fn shortest(self) -> Option<(String, i32)> {
        if !self.value().is_finite() {
            return None;
        }
        let text = self.digits();
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Some((digits.chars().filter(|c| *c != '.').collect(), exponent.parse().ok()?))
    }

    /// The least magnitude with which numpy prints an array of such numbers with exponents: 1e8, or fewer digits if the type has fewer.
    pub(crate) const fn scientific_from(self) -> f64 {
        match self {
            Self::F16(_) => 1e3,
            Self::BF16(_) => 1e2,
            Self::F32(_) => 1e6,
            Self::F64(_) => 1e8,
        }
    }

    /// The fewest digits of a finite number's magnitude: `1.5e-3`.
    fn digits(self) -> String {
        let value = self.value();
        match self {
            Self::F16(number) => narrow_digits(number.to_bits(), |bits| f16::from_bits(bits).to_f64()),
            Self::BF16(number) => narrow_digits(number.to_bits(), |bits| bf16::from_bits(bits).to_f64()),
            Self::F32(number) => even_digits(number.abs(), value),
            Self::F64(number) => even_digits(number.abs(), value),
        }
    }
}

/// Notation of a number: digits alone, or any other.
#[derive(PartialEq)]
enum Form {
    Whole,
    Other,
}

/// Appends `1.5`, `-3` as `0.0015`; `12.5`, 3 as `12500`.
fn write_positional(digits: &str, exponent: i32, out: &mut String) -> Form {
    let digits = digits.bytes().filter(|byte| *byte != b'.').map(char::from);
    let count = i32::try_from(digits.clone().count()).unwrap_or(i32::MAX);
    if exponent < 0 {
        out.push_str("0.");
        out.extend((exponent..-1).map(|_| '0'));
        out.extend(digits);
        return Form::Other;
    }
    for (at, digit) in (0_i32..).zip(digits) {
        if at == exponent.saturating_add(1) {
            out.push('.');
        }
        out.push(digit);
    }
    out.extend((count..=exponent).map(|_| '0'));
    if count > exponent.saturating_add(1) { Form::Other } else { Form::Whole }
}

/// The fewest digits of a single or double that is not negative, ties to even: `1.5e-3`.
fn even_digits<T: Copy + LowerExp + FromStr + PartialEq>(number: T, value: f64) -> String {
    let text = format!("{number:e}");
    if !may_be_tie(value) {
        return text;
    }
    // The other rounding of the standard library, to a given number of digits, is to even.
    let decimals = text.split_once('e').map_or(0, |(digits, _)| digits.len().saturating_sub(2));
    let even = format!("{number:.decimals$e}");
    if even.parse::<T>().is_ok_and(|read| read == number) { even } else { text }
}

/// False where the exact decimal has more digits than a shortest one and a 5 after it: `m * 2^-k` with an odd `m` has at
/// least `0.69 k` of them, and the shortest of a double 17 at most.
fn may_be_tie(value: f64) -> bool {
    value != 0.0 && (value * f64::from(1_u32 << 26)).fract() == 0.0
}

/// The fewest digits of the magnitude of a number of 16 bits, by trying; nearest first, ties to even.
fn narrow_digits(bits: u16, value_of: fn(u16) -> f64) -> String {
    let bits = bits & 0x7fff;
    let value = value_of(bits);
    let below = value_of(bits.saturating_sub(1));
    let above = value_of(bits.saturating_add(1));
    // The interval of the largest number is taken as symmetric.
    let above = if above.is_finite() { above } else { value + (value - below) };
    // All exact: two neighbouring numbers and their mean fit a double. A short decimal that is not such a mean is too far from one for the
    // double next to it to equal it.
    let (low, high) = ((below + value) / 2.0, (value + above) / 2.0);
    let reads_back = |text: &str| {
        let within = |decimal: f64| low < decimal && decimal < high;
        let at_edge = |decimal: f64| bits & 1 == 0 && (decimal == low || decimal == high);
        text.parse().is_ok_and(|decimal| decimal == value || within(decimal) || at_edge(decimal))
    };
    // 5 digits distinguish all halves, 4 all bfloats.
    for decimals in 0..5 {
        let nearest = format!("{value:.decimals$e}");
        if reads_back(&nearest) {
            return nearest;
        }
        // Below a power of two the neighbours are closer than above: where the nearest decimal is below and belongs to
        // another number, one above may be this one's.
        let above = nearest.split_once('e').and_then(|(digits, exponent)| {
            let last = digits.len().checked_sub(1)?;
            let (head, digit) = (digits.get(..last)?, digits.get(last..)?.parse::<u8>().ok()?);
            (digit < 9).then(|| format!("{head}{}e{exponent}", digit.saturating_add(1)))
        });
        if let Some(above) = above.filter(|above| reads_back(above)) {
            return above;
        }
    }
    format!("{value:e}")
}

/// Appends a complex number as numpy does: `(1+2j)`, and `2j` where the real part is a positive zero.
pub(crate) fn write_complex(re: Float, im: Float, out: &mut String) {
    let only_imaginary = re.value() == 0.0 && re.value().is_sign_positive();
    if !only_imaginary {
        out.push('(');
        re.write_digits(out);
        if im.value().is_nan() || im.value().is_sign_positive() {
            out.push('+');
        }
    }
    im.write_digits(out);
    out.push_str(if only_imaginary { "j" } else { "j)" });
}

/// Up to 8 bytes as an unsigned number.
fn word(bytes: &[u8], order: ByteOrder) -> Option<u64> {
    let mut wide = [0; 8];
    let place = wide.get_mut(..bytes.len())?;
    place.copy_from_slice(bytes);
    if order == ByteOrder::Big {
        place.reverse();
    }
    Some(u64::from_le_bytes(wide))
}

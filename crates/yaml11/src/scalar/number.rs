//! Recognises plain scalars that are numbers, and computes their values.

use super::{Int, Scalar};

/// Longest whole number: Python refuses more decimal digits, and longer ones in other bases would take quadratic time.
const MAX_DIGITS: usize = 4300;

/// The number of a plain scalar that begins with a sign, a dot or a digit.
pub(super) fn plain(text: &str) -> Option<Scalar<'_>> {
    // Most numbers have a few digits.
    if let Some(small) = few_digits(text) {
        return Some(Scalar::Int(Int::Small(small)));
    }
    if let Some(value) = plain_float(text) {
        return Some(Scalar::Float(value));
    }
    if is_int(text) {
        return int(text).map(Scalar::Int);
    }
    if is_float(text) { float(text).map(Scalar::Float) } else { None }
}

/// Whether a text has the form of an integer and no digit: `0x_`.
pub(super) fn is_impossible(text: &str) -> bool {
    text.len() <= MAX_DIGITS && is_int(text) && int(text).is_none()
}

/// Digits with a dot and perhaps an exponent, which is how nearly all fractions are written.
fn plain_float(text: &str) -> Option<f64> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let bytes = unsigned(text).as_bytes();
    let whole = digits(bytes);
    let (dot, rest) = bytes.get(whole..)?.split_first()?;
    if whole == 0 || *dot != b'.' {
        return None;
    }
    let rest = rest.get(digits(rest)..)?;
    let fits = match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', exponent @ ..] => {
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        _ => false,
    };
    if fits { text.parse().ok() } else { None }
}

/// Decimal digits that fit without further checks.
fn few_digits(text: &str) -> Option<i128> {
    let bytes = unsigned(text).as_bytes();
    let fits = (1..=18).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_digit)
        && (bytes.first() != Some(&b'0') || bytes.len() == 1);
    if fits { text.parse::<i64>().ok().map(i128::from) } else { None }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn all(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    text.bytes().all(allowed)
}

/// The minutes and seconds of a number of base 60: two digits, the first at most 5, or one.
fn is_sixtieth(part: &str) -> bool {
    matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

fn is_int(text: &str) -> bool {
    let text = unsigned(text);
    let digits = |rest: &str| all(rest, |byte| byte.is_ascii_digit() || byte == b'_');
    match text.as_bytes() {
        [b'0'] => true,
        [b'0', b'b', _, ..] => {
            text.get(2..).is_some_and(|rest| all(rest, |byte| matches!(byte, b'0' | b'1' | b'_')))
        }
        [b'0', b'x', _, ..] => {
            text.get(2..).is_some_and(|rest| all(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_'))
        }
        [b'0', _, ..] => {
            text.get(1..).is_some_and(|rest| all(rest, |byte| matches!(byte, b'0'..=b'7' | b'_')))
        }
        [b'1'..=b'9', ..] => {
            let mut parts = text.split(':');
            parts.next().is_some_and(digits) && parts.all(is_sixtieth)
        }
        _ => false,
    }
}

fn is_float(text: &str) -> bool {
    let plain = unsigned(text);
    if matches!(plain, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = plain.split_once('.') else { return false };
    let digit_or_blank = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    if whole.is_empty() {
        // A sign before a leading dot makes text of it.
        let (fraction, exponent) = split_exponent(rest);
        return plain.len() == text.len()
            && fraction.as_bytes().first().is_some_and(u8::is_ascii_digit)
            && all(fraction, digit_or_blank)
            && exponent.is_none_or(is_exponent);
    }
    if !whole.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    if let Some((first, sixtieths)) = whole.split_once(':') {
        return all(first, digit_or_blank)
            && sixtieths.split(':').all(is_sixtieth)
            && all(rest, digit_or_blank);
    }
    let (fraction, exponent) = split_exponent(rest);
    all(whole, digit_or_blank) && all(fraction, digit_or_blank) && exponent.is_none_or(is_exponent)
}

fn split_exponent(text: &str) -> (&str, Option<&str>) {
    text.split_once(['e', 'E']).map_or((text, None), |(fraction, exponent)| (fraction, Some(exponent)))
}

/// The sign of an exponent is not optional in YAML 1.1.
fn is_exponent(text: &str) -> bool {
    text.strip_prefix(['+', '-'])
        .is_some_and(|digits| !digits.is_empty() && all(digits, |byte| byte.is_ascii_digit()))
}

/// The whole number of a text, with or without the form of one: base by prefix, `:` for base 60.
pub(super) fn int(text: &str) -> Option<Int> {
    if text.len() > MAX_DIGITS {
        return None;
    }
    let text: String = text.chars().filter(|character| *character != '_').collect();
    let negative = text.starts_with('-');
    let digits = unsigned(&text);
    let mut number = Number::default();
    if let Some(digits) = digits.strip_prefix("0b") {
        number.add_digits(digits, 2)?;
    } else if let Some(digits) = digits.strip_prefix("0x") {
        number.add_digits(digits, 16)?;
    } else if digits == "0" {
        return Some(Int::Small(0));
    } else if let Some(digits) = digits.strip_prefix('0').filter(|digits| !digits.is_empty()) {
        // Python's int() accepts 0o too.
        number.add_digits(digits.strip_prefix(['o', 'O']).unwrap_or(digits), 8)?;
    } else if digits.contains(':') {
        number = sixtieths(digits)?;
    } else {
        number.add_digits(digits, 10)?;
    }
    Some(number.finish(negative))
}

fn sixtieths(digits: &str) -> Option<Number> {
    let mut number = Number::default();
    let mut parts = digits.split(':');
    number.add_digits(parts.next()?, 10)?;
    for part in parts {
        // Longer parts occur under an explicit tag only.
        let value = part.parse::<u32>().ok().filter(|_| !part.starts_with('+'))?;
        number.multiply_add(60, value);
    }
    Some(number)
}

/// The number of a text, with or without the form of a float: base 60 by `:`, else as Python's `float` reads.
pub(super) fn float(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|character| *character != '_').collect();
    let text = text.to_ascii_lowercase();
    let negative = text.starts_with('-');
    let digits = unsigned(&text);
    let value = if digits == ".inf" {
        f64::INFINITY
    } else if digits == ".nan" {
        return Some(f64::NAN);
    } else if digits.contains(':') {
        base_60(digits)?
    } else {
        digits.trim_ascii().parse().ok()?
    };
    Some(if negative { -value } else { value })
}

/// In PyYAML's order of operations, on which the last bit depends: from the last part to the first, each times a power of 60.
fn base_60(digits: &str) -> Option<f64> {
    let mut power = Number::default();
    power.multiply_add(1, 1);
    let mut value = 0.0_f64;
    for part in digits.rsplit(':') {
        let weight: f64 = power.clone().decimal().parse().ok()?;
        // Python cannot turn such a power into a float.
        if weight.is_infinite() {
            return None;
        }
        value += part.parse::<f64>().ok()? * weight;
        power.multiply_add(60, 0);
    }
    Some(value)
}

/// A natural number in limbs of nine decimal digits, the lowest first.
#[derive(Clone, Default)]
struct Number {
    limbs: Vec<u32>,
}

const LIMB: u64 = 1_000_000_000;

impl Number {
    #[allow(clippy::cast_possible_truncation)]
    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.limbs {
            // At most (10^9 - 1) * (2^32 - 1) + 2^33, which 64 bits hold.
            let value = u64::from(*limb).wrapping_mul(u64::from(factor)).wrapping_add(carry);
            *limb = (value % LIMB) as u32;
            carry = value / LIMB;
        }
        while carry > 0 {
            self.limbs.push((carry % LIMB) as u32);
            carry /= LIMB;
        }
    }

    /// Appends digits of a base, several at a time; `None` for an empty text and for other characters.
    fn add_digits(&mut self, digits: &str, base: u32) -> Option<()> {
        let at_once = match base {
            2 => 29,
            8 => 9,
            10 => 9,
            _ => 7,
        };
        if digits.is_empty() {
            return None;
        }
        for chunk in digits.as_bytes().chunks(at_once) {
            let (mut factor, mut value) = (1_u32, 0_u32);
            for byte in chunk {
                let digit = char::from(*byte).to_digit(base)?;
                factor = factor.checked_mul(base)?;
                value = value.checked_mul(base)?.checked_add(digit)?;
            }
            self.multiply_add(factor, value);
        }
        Some(())
    }

    fn decimal(self) -> String {
        let mut limbs = self.limbs.iter().rev();
        let Some(highest) = limbs.next() else { return "0".to_owned() };
        let mut text = highest.to_string();
        for limb in limbs {
            text.push_str(&format!("{limb:09}"));
        }
        text
    }

    fn finish(self, negative: bool) -> Int {
        let mut text = self.decimal();
        if negative && text != "0" {
            text.insert(0, '-');
        }
        match text.parse() {
            Ok(small) => Int::Small(small),
            Err(_) => Int::Big(text),
        }
    }
}

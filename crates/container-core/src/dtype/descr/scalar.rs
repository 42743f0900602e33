//! Type strings of scalars.

use super::super::{ByteOrder, DType, Kind, Scalar};
use super::excerpt;
use crate::{Error, Result};

/// Names that numpy takes in place of a kind and a size. Left out are those whose width depends on the platform that
/// wrote them (`int`, `long`, `intp` and their letters).
const NAMES: [(&str, &str); 52] = [
    ("bool", "b1"),
    ("bool_", "b1"),
    ("?", "b1"),
    ("int8", "i1"),
    ("byte", "i1"),
    ("b", "i1"),
    ("uint8", "u1"),
    ("ubyte", "u1"),
    ("B", "u1"),
    ("int16", "i2"),
    ("short", "i2"),
    ("h", "i2"),
    ("uint16", "u2"),
    ("ushort", "u2"),
    ("H", "u2"),
    ("int32", "i4"),
    ("intc", "i4"),
    ("i", "i4"),
    ("uint32", "u4"),
    ("uintc", "u4"),
    ("I", "u4"),
    ("int64", "i8"),
    ("longlong", "i8"),
    ("q", "i8"),
    ("uint64", "u8"),
    ("ulonglong", "u8"),
    ("Q", "u8"),
    ("float16", "f2"),
    ("half", "f2"),
    ("e", "f2"),
    ("float32", "f4"),
    ("single", "f4"),
    ("f", "f4"),
    ("float64", "f8"),
    ("double", "f8"),
    ("float", "f8"),
    ("d", "f8"),
    ("float128", "f16"),
    ("complex64", "c8"),
    ("csingle", "c8"),
    ("F", "c8"),
    ("complex128", "c16"),
    ("cdouble", "c16"),
    ("complex", "c16"),
    ("D", "c16"),
    ("complex256", "c32"),
    ("bytes", "S0"),
    ("bytes_", "S0"),
    ("str", "U0"),
    ("str_", "U0"),
    ("unicode", "U0"),
    ("void", "V0"),
];

const UNITS: [&str; 13] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/// A scalar's `dtype.str`.
pub(super) fn text(scalar: &Scalar) -> String {
    match (numpy_code(scalar), &scalar.kind) {
        (Some(code), _) => code,
        // One name for both byte orders, as machine output promises.
        (None, Kind::BFloat) if scalar.size == 2 => "bfloat16".into(),
        _ => format!("|V{}", scalar.size),
    }
}

/// numpy's code for the same scalar, or `None` where numpy lacks it.
///
/// Floats of 16 and complex numbers of 32 bytes are the long doubles of numpy on x86-64.
pub(super) fn numpy_code(scalar: &Scalar) -> Option<String> {
    let Scalar { kind, size, .. } = scalar;
    let (letter, number, unit) = match (kind, size) {
        (Kind::Bool, 1) => ('b', *size, ""),
        (Kind::Int, 1 | 2 | 4 | 8) => ('i', *size, ""),
        (Kind::Uint, 1 | 2 | 4 | 8) => ('u', *size, ""),
        (Kind::Float, 2 | 4 | 8 | 16) => ('f', *size, ""),
        (Kind::Complex, 8 | 16 | 32) => ('c', *size, ""),
        (Kind::Bytes, _) => ('S', *size, ""),
        (Kind::Unicode, _) if size.is_multiple_of(4) => ('U', size / 4, ""),
        (Kind::Void, _) => ('V', *size, ""),
        (Kind::Datetime(unit), 8) => ('M', *size, unit.as_str()),
        (Kind::Timedelta(unit), 8) => ('m', *size, unit.as_str()),
        _ => return None,
    };
    let order = match (kind, scalar.order) {
        (Kind::Bool | Kind::Bytes | Kind::Void, _) => '|',
        (Kind::Int | Kind::Uint, _) if *size == 1 => '|',
        (_, ByteOrder::Little) => '<',
        (_, ByteOrder::Big) => '>',
    };
    Some(format!("{order}{letter}{number}{unit}"))
}

/// Reads a type string or a name.
pub(super) fn parse(text: &str) -> Result<DType> {
    let unknown = || Error::malformed(format!("{} is not a type", excerpt(text)));
    let (order, code) = match text.strip_prefix(['<', '>', '=', '|']) {
        Some(code) if text.starts_with('<') => (ByteOrder::Little, code),
        Some(code) if text.starts_with('>') => (ByteOrder::Big, code),
        Some(code) => (ByteOrder::Little, code),
        None => (ByteOrder::Little, text),
    };
    if code == "bfloat16" {
        return Ok(DType::new(Kind::BFloat, 2, order));
    }
    let named = NAMES.iter().find(|(name, _)| *name == code);
    let code = named.map_or(code, |(_, short)| short);
    for (name, kind) in [("datetime64", "M8"), ("timedelta64", "m8"), ("M8", "M8"), ("m8", "m8")] {
        if let Some(unit) = code.strip_prefix(name) {
            let unit = time_unit(unit).ok_or_else(unknown)?;
            let kind = if kind == "M8" { Kind::Datetime(unit) } else { Kind::Timedelta(unit) };
            return Ok(DType::new(kind, 8, order));
        }
    }
    let mut rest = code.chars();
    let letter = rest.next().ok_or_else(unknown)?;
    // Objects and strings of varying length are pointers; pickled objects follow such a header.
    if letter == 'O' || code == "object" || code == "object_" {
        return Err(Error::unsupported("Python objects (dtype object) are pickled and cannot be read"));
    }
    if letter == 'T' || code.starts_with("StringDType") {
        return Err(Error::unsupported("numpy's variable-length strings (StringDType) have no stored form"));
    }
    let size = match rest.as_str() {
        "" if matches!(letter, 'S' | 'a' | 'U' | 'V') => 0,
        digits => decimal(digits).ok_or_else(unknown)?,
    };
    sized(letter, size, order).unwrap_or_else(|| Err(unknown()))
}

/// The type of a kind letter and the size after it; `None` for an unknown pair.
fn sized(letter: char, size: usize, order: ByteOrder) -> Option<Result<DType>> {
    let kind = match (letter, size) {
        ('b', 1) => Kind::Bool,
        ('i', 1 | 2 | 4 | 8) => Kind::Int,
        ('u', 1 | 2 | 4 | 8) => Kind::Uint,
        ('f', 2 | 4 | 8 | 16) => Kind::Float,
        ('c', 8 | 16 | 32) => Kind::Complex,
        ('S' | 'a', _) => Kind::Bytes,
        ('U', _) => Kind::Unicode,
        ('V', _) => Kind::Void,
        ('f', 10 | 12) | ('c', 20 | 24) => {
            let what = format!("{letter}{size}, the long double of another machine, cannot be read");
            return Some(Err(Error::unsupported(what)));
        }
        _ => return None,
    };
    let bytes = if kind == Kind::Unicode { size.checked_mul(4) } else { Some(size) };
    // No Rust allocation is larger than isize::MAX, so no element can be.
    match bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) {
        Some(bytes) => Some(Ok(DType::new(kind, bytes, order))),
        None => Some(Err(Error::malformed("an element is larger than memory can address"))),
    }
}

/// A number in ASCII digits, without a sign.
fn decimal(digits: &str) -> Option<usize> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The unit of a time in numpy's own spelling: empty for the generic one, `[ns]`, `[25s]`.
///
/// Fractions such as `[s/10]` are for people to type: numpy stores them as `[100ms]`.
fn time_unit(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let unit = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = inner.strip_suffix(unit)?;
    let count = if count.is_empty() { 1 } else { decimal(count)? };
    // numpy keeps the count in a C int.
    i32::try_from(count).ok()?;
    match unit {
        "generic" => Some(String::new()),
        "μs" | "µs" => time_unit(&format!("[{count}us]")),
        _ if !UNITS.contains(&unit) => None,
        _ if count == 1 => Some(format!("[{unit}]")),
        _ => Some(format!("[{count}{unit}]")),
    }
}

//! Cells into the bytes of their type.

use std::str::FromStr;

use container_core::dtype::{ByteOrder, DType, Kind, Record, Scalar};
use container_core::{Error, Result};
use half::f16;

use super::rows::Row;
use crate::export::{MAX_COLUMNS, has_columns};
use crate::repr;

/// Characters of a cell that an error shows.
const SHOWN: usize = 40;

/// Number of digits that always fit in 64 bits.
const ALWAYS_FIT: usize = 19;

/// Writes the elements of rows.
pub(super) struct Encoder<'a> {
    slots: Slots<'a>,
    /// Cells at the start of a row that are not values.
    skipped: usize,
}

enum Slots<'a> {
    /// Each cell is an element.
    Elements(&'a Scalar),
    /// The row is a record of this many bytes, with the offset and type of each cell.
    Record(usize, Vec<(usize, &'a Scalar)>),
}

impl<'a> Encoder<'a> {
    /// For elements of `dtype`, whose fields take the cells after the first `skipped`, one for each item of a sub-array.
    pub(super) fn new(dtype: &'a DType, skipped: usize) -> Result<Self> {
        let slots = match dtype {
            DType::Scalar(scalar) => Slots::Elements(scalar),
            DType::Record(record) => {
                let mut slots = Vec::new();
                flatten(record, 0, &mut slots)?;
                Slots::Record(record.size, slots)
            }
        };
        Ok(Self { slots, skipped })
    }

    /// Number of cells of a record; `None` where each cell is an element.
    pub(super) fn cells(&self) -> Option<usize> {
        match &self.slots {
            Slots::Elements(_) => None,
            Slots::Record(_, slots) => Some(slots.len()),
        }
    }

    /// Bytes of the elements of a row.
    pub(super) fn len(&self, row: &Row<'_>) -> usize {
        match &self.slots {
            Slots::Elements(scalar) => row.len().saturating_sub(self.skipped).saturating_mul(scalar.size),
            Slots::Record(size, _) => *size,
        }
    }

    /// Appends the elements of a row.
    pub(super) fn encode(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        let mut cells = row.cells().enumerate().skip(self.skipped);
        let wrong = |column: usize, cell: &[u8], scalar: &Scalar| {
            let shown: String = String::from_utf8_lossy(cell).chars().take(SHOWN).collect();
            let dtype = DType::Scalar(scalar.clone());
            row.error(format!("column {}: {shown:?} is not {dtype}", column.saturating_add(1)))
        };
        match &self.slots {
            Slots::Elements(scalar) => cells.try_for_each(|(column, cell)| {
                let start = out.len();
                out.resize(start.saturating_add(scalar.size), 0);
                let element = out.get_mut(start..).unwrap_or_default();
                encode(cell, scalar, element).ok_or_else(|| wrong(column, cell, scalar))
            }),
            Slots::Record(size, slots) => {
                let start = out.len();
                out.resize(start.saturating_add(*size), 0);
                let element = out.get_mut(start..).unwrap_or_default();
                slots.iter().zip(cells).try_for_each(|((at, scalar), (column, cell))| {
                    let part = element.get_mut(*at..).and_then(|part| part.get_mut(..scalar.size));
                    part.and_then(|part| encode(cell, scalar, part))
                        .ok_or_else(|| wrong(column, cell, scalar))
                })
            }
        }
    }
}

/// The scalars of a record in the order of their columns.
fn flatten<'a>(record: &'a Record, base: usize, slots: &mut Vec<(usize, &'a Scalar)>) -> Result<()> {
    for field in record.fields.iter().filter(|field| has_columns(field)) {
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        for item in 0..count {
            if slots.len() >= MAX_COLUMNS {
                return Err(too_wide());
            }
            let at =
                item.saturating_mul(field.dtype.itemsize()).saturating_add(field.offset).saturating_add(base);
            match &field.dtype {
                DType::Scalar(scalar) => slots.push((at, scalar)),
                DType::Record(inner) => flatten(inner, at, slots)?,
            }
        }
    }
    Ok(())
}

pub(super) fn too_wide() -> Error {
    let problem = format!("a record of more than {MAX_COLUMNS} columns");
    Error::unsupported(problem).with_hint("--header skip and --dtype of one type for all cells")
}

/// Writes a cell over `out`, which is zeros; `None` where it is not of the type.
pub(super) fn encode(cell: &[u8], scalar: &Scalar, out: &mut [u8]) -> Option<()> {
    if scalar.kind == Kind::Bytes {
        return (cell.last() != Some(&0) && put(out, cell).is_some()).then_some(());
    }
    let order = scalar.order;
    // Most cells are numbers without spaces, which need no check for UTF-8.
    if matches!(scalar.kind, Kind::Int | Kind::Uint)
        && let Some(value) = whole(cell)
    {
        return integer(value, &scalar.kind, order, out);
    }
    let text = std::str::from_utf8(cell).ok()?;
    if scalar.kind == Kind::Unicode {
        let mut places = out.chunks_exact_mut(4);
        for character in text.chars() {
            put_number(places.next()?, &u32::from(character).to_le_bytes(), order)?;
        }
        return (!text.ends_with('\0')).then_some(());
    }
    let text = match trimmed(text) {
        "" if matches!(scalar.kind, Kind::Float | Kind::BFloat | Kind::Complex) => "nan",
        text => text,
    };
    match &scalar.kind {
        Kind::Bool => put_number(out, &[u8::from(truth(text)?)], order),
        Kind::Int | Kind::Uint => integer(whole(text.as_bytes())?, &scalar.kind, order, out),
        Kind::Float => real(text, order, out),
        Kind::Complex => {
            let (re, im) = complex_parts(text)?;
            let (to_re, to_im) = out.split_at_mut_checked(scalar.size.checked_div(2)?)?;
            real(re, order, to_re).and(real(im, order, to_im))
        }
        Kind::Datetime(unit) => {
            let count = if text == "NaT" { i64::MIN } else { repr::date_count(text, unit)? };
            put_number(out, &count.to_le_bytes(), order)
        }
        Kind::Timedelta(_) if text == "NaT" => put_number(out, &i64::MIN.to_le_bytes(), order),
        Kind::Timedelta(_) => integer(whole(text.as_bytes())?, &Kind::Int, order, out),
        Kind::BFloat => None,
        // Uninterpreted bytes, shown in stored order.
        _ => {
            let bytes = repr::unhex(text.strip_prefix("0x")?.as_bytes())?;
            (bytes.len() == out.len()).then(|| put(out, &bytes))?
        }
    }
}

/// Text without the spaces around it.
pub(super) fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [b' ', ..] | [.., b' '] => text.trim_matches(' '),
        _ => text,
    }
}

/// Copies `bytes` over the start of `out`; `None` where they are too many.
fn put(out: &mut [u8], bytes: &[u8]) -> Option<()> {
    out.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(())
}

/// Writes little-endian bytes over `out` in another order; `None` where it is of another size.
fn put_number(out: &mut [u8], bytes: &[u8], order: ByteOrder) -> Option<()> {
    if out.len() != bytes.len() {
        return None;
    }
    out.copy_from_slice(bytes);
    if order == ByteOrder::Big {
        out.reverse();
    }
    Some(())
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "True" | "true" | "TRUE" | "1" => Some(true),
        "False" | "false" | "FALSE" | "0" => Some(false),
        _ => None,
    }
}

/// Writes an integer of up to 8 bytes; `None` beyond its type.
fn integer(value: i128, kind: &Kind, order: ByteOrder, out: &mut [u8]) -> Option<()> {
    let bits = u32::try_from(out.len().checked_mul(8)?).ok().filter(|bits| (8..=64).contains(bits))?;
    let (least, beyond) = match kind {
        Kind::Int => {
            let half = 1_i128.checked_shl(bits.checked_sub(1)?)?;
            (half.checked_neg()?, half)
        }
        _ => (0, 1_i128.checked_shl(bits)?),
    };
    let bytes = value.to_le_bytes();
    (least..beyond).contains(&value).then(|| put_number(out, bytes.get(..out.len())?, order))?
}

/// The integer that a text spells; `None` for other text, and for integers further from 0 than 2⁶⁴ − 1.
pub(super) fn whole(text: &[u8]) -> Option<i128> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let digit = |letter: &u8| letter.checked_sub(b'0').filter(|digit| *digit < 10).map(u64::from);
    let number = if digits.len() <= ALWAYS_FIT {
        digits
            .iter()
            .try_fold(0_u64, |number, letter| Some(number.wrapping_mul(10).wrapping_add(digit(letter)?)))?
    } else {
        digits.iter().try_fold(0_u64, |number, letter| number.checked_mul(10)?.checked_add(digit(letter)?))?
    };
    let number = i128::from(number);
    let number = if is_negative { number.checked_neg()? } else { number };
    (!digits.is_empty()).then_some(number)
}

/// Writes a number of 2, 4 or 8 bytes, the nearest to the text.
fn real(text: &str, order: ByteOrder, out: &mut [u8]) -> Option<()> {
    match out.len() {
        2 => {
            let wide: f64 = decimal(text)?;
            let number = f16::from_f64(wide);
            let is_beyond = number.is_infinite() && wide.is_finite();
            (!is_beyond).then(|| put_number(out, &number.to_le_bytes(), order))?
        }
        4 => put_number(out, &decimal::<f32>(text)?.to_le_bytes(), order),
        8 => put_number(out, &decimal::<f64>(text)?.to_le_bytes(), order),
        _ => None,
    }
}

/// The nearest number; `None` for other text, and for digits beyond the greatest number.
pub(super) fn decimal<T: FromStr + Copy + Into<f64>>(text: &str) -> Option<T> {
    let number: T = text.parse().ok()?;
    let is_beyond = number.into().is_infinite() && text.contains(|letter: char| letter.is_ascii_digit());
    (!is_beyond).then_some(number)
}

/// Whether it is a complex number: two parts as Python spells them, `(1+2j)`, or the imaginary one alone.
pub(super) fn is_complex(text: &str) -> bool {
    let has_imaginary = text.trim_end_matches(')').ends_with(['j', 'J']);
    has_imaginary
        && complex_parts(text).is_some_and(|(re, im)| decimal::<f64>(re).and(decimal::<f64>(im)).is_some())
}

/// The texts of its real and imaginary part; a number without `j` is real.
fn complex_parts(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let Some(digits) = inner.strip_suffix(['j', 'J']) else { return Some((inner, "0")) };
    // The sign between the parts: the last that is not part of an exponent.
    let is_exponent = |at: usize| {
        at.checked_sub(1)
            .and_then(|before| digits.as_bytes().get(before))
            .is_some_and(|letter| b"eE".contains(letter))
    };
    let between = digits.rmatch_indices(['+', '-']).map(|(at, _)| at).find(|at| !is_exponent(*at));
    match between {
        Some(at) if at > 0 => digits.split_at_checked(at),
        _ => Some(("0", digits)),
    }
}

//! Values as text, as Python's interpreter and numpy would show them.
//!
//! Numbers are the shortest decimals that read back as the same number of their own type, positional from 1e-4 up to 1e16 as numpy's
//! scalars are: `0.1`, `1.0`, `1e+16`, `nan`, `(1+2j)`. The same rules apply to types that numpy lacks. Text comes from files: control
//! characters are escaped, so that no value can steer a terminal or break a line.

use std::fmt::Write;

use container_core::dtype::{ByteOrder, DType, Field, Kind, Record, Scalar};
use container_core::mask::field_scalars;

pub(crate) mod float;
pub(crate) mod integer;
mod strings;
mod time;

pub(crate) use strings::{hex, unhex, unicode};

use float::{Float, write_complex};
use integer::Integer;
pub(crate) use time::count as date_count;

/// One scalar, decoded if its type is supported.
pub(crate) enum Item<'a> {
    Bool(bool),
    Integer(Integer),
    Float(Float),
    Complex(Float, Float),
    /// Without the NULs that pad it.
    Bytes(&'a [u8]),
    Text(String),
    /// ISO 8601 or `NaT`.
    Datetime(String),
    /// `None` for NaT.
    Timedelta(Option<i64>),
    /// Bytes without an interpretation.
    Opaque(&'a [u8]),
}

impl<'a> Item<'a> {
    /// Decodes the bytes of one scalar. Bytes that do not fit the type become opaque.
    pub(crate) fn decode(scalar: &Scalar, bytes: &'a [u8]) -> Self {
        Self::known(scalar, bytes).unwrap_or(Self::Opaque(bytes))
    }

    fn known(scalar: &Scalar, bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() != scalar.size {
            return None;
        }
        let order = scalar.order;
        Some(match &scalar.kind {
            Kind::Bool => Self::Bool(bytes.iter().any(|byte| *byte != 0)),
            Kind::Int => Self::Integer(Integer::signed(bytes, order)?),
            Kind::Uint => Self::Integer(Integer::unsigned(bytes, order)?),
            Kind::Float => Self::Float(Float::ieee(bytes, order)?),
            Kind::BFloat => Self::Float(Float::bfloat(bytes, order)?),
            Kind::Complex => {
                let (re, im) = bytes.split_at_checked(bytes.len().checked_div(2)?)?;
                Self::Complex(Float::ieee(re, order)?, Float::ieee(im, order)?)
            }
            Kind::Bytes => Self::Bytes(strings::without_padding(bytes)),
            Kind::Unicode => Self::Text(unicode(bytes, order)),
            Kind::Datetime(unit) => match time_value(bytes, order)? {
                i64::MIN => Self::Datetime("NaT".into()),
                value => time::iso(value, unit)
                    .map_or(Self::Integer(Integer::Signed(value.into())), Self::Datetime),
            },
            Kind::Timedelta(_) => {
                Self::Timedelta(Some(time_value(bytes, order)?).filter(|value| *value != i64::MIN))
            }
            _ => return None,
        })
    }
}

fn time_value(bytes: &[u8], order: ByteOrder) -> Option<i64> {
    let bytes: [u8; 8] = bytes.try_into().ok()?;
    Some(match order {
        ByteOrder::Little => i64::from_le_bytes(bytes),
        ByteOrder::Big => i64::from_be_bytes(bytes),
    })
}

/// The text in the place of a missing scalar, as numpy's masked arrays have it.
pub(crate) const MISSING: &str = "--";

/// Appends one element in the words of Python and numpy. `bytes` are those of the element, in the type's byte order.
///
/// Byte strings are Python literals (`b'ab'`); text has its control characters escaped. Datetimes are ISO 8601 as numpy's, time differences
/// their count of units. Records are `(1, 2.5)` with sub-arrays as `[1, 2]` and text in quotes. Uninterpreted bytes are `0x` and their
/// digits in stored order.
pub fn write_item(dtype: &DType, bytes: &[u8], out: &mut String) {
    write_masked(dtype, bytes, &[], out);
}

/// As [`write_item`], with `--` for each scalar that is missing: `mask` has a byte for each, as in [`Hidden`](container_core::mask::Hidden), or
/// is empty where none is missing.
pub(crate) fn write_masked(dtype: &DType, bytes: &[u8], mask: &[u8], out: &mut String) {
    match dtype {
        DType::Scalar(_) if is_missing(mask) => out.push_str(MISSING),
        DType::Scalar(scalar) => match Item::decode(scalar, bytes) {
            Item::Text(text) => strings::escape(&text, out),
            item => write_scalar(&item, out),
        },
        DType::Record(record) => write_record(record, bytes, mask, out),
    }
}

/// Appends a decoded scalar, text in quotes.
pub(crate) fn write_decoded(item: &Item<'_>, out: &mut String) {
    write_scalar(item, out);
}

/// Whether the mask of a scalar hides it.
pub(crate) fn is_missing(mask: &[u8]) -> bool {
    mask.first().is_some_and(|byte| *byte != 0)
}

/// Appends a scalar as within a record: text in quotes.
fn write_scalar(item: &Item<'_>, out: &mut String) {
    match item {
        Item::Bool(true) => out.push_str("True"),
        Item::Bool(false) => out.push_str("False"),
        Item::Integer(value) => value.write(out),
        Item::Float(value) => value.write(out),
        Item::Complex(re, im) => write_complex(*re, *im, out),
        Item::Bytes(bytes) => strings::bytes_literal(bytes, out),
        Item::Text(text) => strings::text_literal(text, out),
        Item::Datetime(text) => out.push_str(text),
        Item::Timedelta(None) => out.push_str("NaT"),
        Item::Timedelta(Some(count)) => {
            let _ = write!(out, "{count}");
        }
        Item::Opaque(bytes) => {
            out.push_str("0x");
            hex(bytes, out);
        }
    }
}

fn write_record(record: &Record, bytes: &[u8], mask: &[u8], out: &mut String) {
    out.push('(');
    let mut masks = FieldMasks::new(mask);
    for (at, field) in record.fields.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_axis(&field.dtype, &field.shape, field_bytes(field, bytes), masks.next(field), out);
    }
    out.push_str(if record.fields.len() == 1 { ",)" } else { ")" });
}

/// A sub-array as nested lists; without axes the item itself.
fn write_axis(dtype: &DType, shape: &[usize], bytes: &[u8], mask: &[u8], out: &mut String) {
    let Some((&count, inner)) = shape.split_first() else {
        return match dtype {
            DType::Scalar(_) if is_missing(mask) => out.push_str(MISSING),
            DType::Scalar(scalar) => write_scalar(&Item::decode(scalar, bytes), out),
            DType::Record(record) => write_record(record, bytes, mask, out),
        };
    };
    // Items without bytes are not spelled out: a type may claim any number of empty items.
    let count = if bytes.is_empty() { 0 } else { count };
    out.push('[');
    for at in 0..count {
        if at > 0 {
            out.push_str(", ");
        }
        write_axis(dtype, inner, part(bytes, at, count), part(mask, at, count), out);
    }
    out.push(']');
}

/// The masks of the fields of a record, one after the other.
pub(crate) struct FieldMasks<'m> {
    rest: &'m [u8],
}

impl<'m> FieldMasks<'m> {
    /// The mask of one record; empty where no scalar is missing.
    pub(crate) const fn new(mask: &'m [u8]) -> Self {
        Self { rest: mask }
    }

    /// The mask of the next field, sub-array and all.
    pub(crate) fn next(&mut self, field: &Field) -> &'m [u8] {
        if self.rest.is_empty() {
            return self.rest;
        }
        let (own, rest) = self.rest.split_at(field_scalars(field).min(self.rest.len()));
        self.rest = rest;
        own
    }
}

/// The bytes of a field, sub-array and all; empty where the record is too short for it.
pub(crate) fn field_bytes<'a>(field: &Field, record: &'a [u8]) -> &'a [u8] {
    let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
    let len = field.dtype.itemsize().saturating_mul(count);
    record.get(field.offset..field.offset.saturating_add(len)).unwrap_or_default()
}

/// Part `at` of `count` equal parts.
pub(crate) fn part(bytes: &[u8], at: usize, count: usize) -> &[u8] {
    let len = bytes.len().checked_div(count).unwrap_or(0);
    let start = at.saturating_mul(len);
    bytes.get(start..start.saturating_add(len)).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

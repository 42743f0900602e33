//! Elements as h5grove's JSON: NaN and infinities are null, records lists, complex numbers pairs.

use std::fmt::Write;

use container_core::dtype::{ByteOrder, DType, Field, Kind, Record, Scalar};
use container_core::to_f64::{ComplexPart, to_f64};
use holdall::repr;

use super::types::Class;

/// Sub-arrays of several axes within records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubArrays {
    /// Lists of lists, as h5grove sends them.
    Nested,
    /// One list: h5web 17 refuses a record whose sub-array begins with a list.
    Flat,
}

/// Appends one element.
pub(super) fn write_element(dtype: &DType, bytes: &[u8], sub_arrays: SubArrays, out: &mut String) {
    match dtype {
        DType::Scalar(scalar) => write_scalar(scalar, bytes, out),
        DType::Record(record) => write_record(record, bytes, sub_arrays, out),
    }
}

/// Appends text in quotes.
pub(super) fn write_text(text: &str, out: &mut String) {
    let _ = write!(out, "{}", serde_json::Value::from(text));
}

fn write_record(record: &Record, bytes: &[u8], sub_arrays: SubArrays, out: &mut String) {
    out.push('[');
    for (at, field) in record.fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        let flat = [count];
        let is_flat = sub_arrays == SubArrays::Flat && !field.shape.is_empty();
        let shape = if is_flat { &flat } else { field.shape.as_slice() };
        write_axis(&field.dtype, shape, field_bytes(field, bytes), sub_arrays, out);
    }
    out.push(']');
}

fn write_axis(dtype: &DType, shape: &[usize], bytes: &[u8], sub_arrays: SubArrays, out: &mut String) {
    let Some((&count, inner)) = shape.split_first() else {
        return write_element(dtype, bytes, sub_arrays, out);
    };
    // A type may claim any number of items without bytes: these are not spelled out.
    let count = if bytes.is_empty() { 0 } else { count };
    out.push('[');
    for at in 0..count {
        if at > 0 {
            out.push(',');
        }
        write_axis(dtype, inner, part(bytes, at, count), sub_arrays, out);
    }
    out.push(']');
}

/// Bytes of a field, its sub-array spelled out; empty where the record is too short.
fn field_bytes<'b>(field: &Field, record: &'b [u8]) -> &'b [u8] {
    let len = field.shape.iter().copied().fold(field.dtype.itemsize(), usize::saturating_mul);
    record.get(field.offset..field.offset.saturating_add(len)).unwrap_or_default()
}

/// Part `at` of `count` equal ones.
fn part(bytes: &[u8], at: usize, count: usize) -> &[u8] {
    let len = bytes.len().checked_div(count).unwrap_or(0);
    let start = at.saturating_mul(len);
    bytes.get(start..start.saturating_add(len)).unwrap_or_default()
}

fn write_scalar(scalar: &Scalar, bytes: &[u8], out: &mut String) {
    match Class::of(scalar) {
        Class::Bool => out.push_str(if bytes.iter().any(|byte| *byte != 0) { "true" } else { "false" }),
        Class::Integer { signed } => write_integer(scalar.order, signed, bytes, out),
        Class::Float => write_float(scalar, bytes, out),
        Class::Complex(half) => {
            let part = Scalar { kind: Kind::Float, size: half, order: scalar.order };
            let (re, im) = bytes.split_at(half.min(bytes.len()));
            out.push('[');
            write_float(&part, re, out);
            out.push(',');
            write_float(&part, im, out);
            out.push(']');
        }
        Class::Bytes => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
            write_text(&String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()), out);
        }
        Class::Text if scalar.kind == Kind::Unicode => write_text(&unicode(scalar.order, bytes), out),
        Class::Text => {
            let mut text = String::new();
            repr::write_item(&DType::Scalar(scalar.clone()), bytes, &mut text);
            write_text(&text, out);
        }
        // h5grove decodes the bytes of opaque elements as UTF-8, and fails where they are not.
        Class::Opaque => match std::str::from_utf8(bytes) {
            Ok(text) => write_text(text, out),
            Err(_) => {
                out.push_str("\"0x");
                for byte in bytes {
                    let _ = write!(out, "{byte:02x}");
                }
                out.push('"');
            }
        },
    }
}

/// UCS-4 without the NULs at the end.
fn unicode(order: ByteOrder, bytes: &[u8]) -> String {
    let (points, _) = bytes.as_chunks::<4>();
    let points = points.iter().map(|point| match order {
        ByteOrder::Little => u32::from_le_bytes(*point),
        ByteOrder::Big => u32::from_be_bytes(*point),
    });
    let points = points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
    let mut text: String = points.collect();
    text.truncate(text.trim_end_matches('\0').len());
    text
}

fn write_integer(order: ByteOrder, signed: bool, bytes: &[u8], out: &mut String) {
    let top = match order {
        ByteOrder::Little => bytes.last(),
        ByteOrder::Big => bytes.first(),
    };
    let fill = if signed && top.is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut wide = [fill; 8];
    let Some(place) = wide.get_mut(..bytes.len()) else { return out.push_str("null") };
    place.copy_from_slice(bytes);
    if order == ByteOrder::Big {
        place.reverse();
    }
    let _ = if signed {
        write!(out, "{}", i64::from_le_bytes(wide))
    } else {
        write!(out, "{}", u64::from_le_bytes(wide))
    };
}

fn write_float(scalar: &Scalar, bytes: &[u8], out: &mut String) {
    let value = float(scalar, bytes).filter(|value| value.is_finite());
    // Numbers of up to four bytes are singles: fewer digits distinguish them. Rust's spelling is JSON's for finite numbers.
    let _ = match value {
        None => write!(out, "null"),
        Some(value) if scalar.size < 8 => write!(out, "{:?}", narrow(value)),
        Some(value) => write!(out, "{value:?}"),
    };
}

fn float(scalar: &Scalar, bytes: &[u8]) -> Option<f64> {
    let is_big = scalar.order == ByteOrder::Big;
    match scalar.size {
        8 => bytes.try_into().ok().map(if is_big { f64::from_be_bytes } else { f64::from_le_bytes }),
        4 => bytes
            .try_into()
            .ok()
            .map(if is_big { f32::from_be_bytes } else { f32::from_le_bytes })
            .map(f64::from),
        _ => {
            let mut value = Vec::new();
            to_f64(scalar, bytes, ComplexPart::Re, &mut value);
            value.first().copied()
        }
    }
}

/// A number that came from four bytes or fewer, as a single: exact.
#[allow(clippy::cast_possible_truncation)]
pub(super) const fn narrow(value: f64) -> f32 {
    value as f32
}

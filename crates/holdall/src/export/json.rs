//! Values as JSON: nested lists, one line for each row.

use std::fmt::Write as _;
use std::io::Write;

use container_core::Result;
use container_core::dtype::{DType, Record};

use super::iterate::{Gathered, Odometer, Walk};
use crate::json::special_float;
use crate::repr::float::Float;
use crate::repr::integer::Integer;
use crate::repr::{FieldMasks, Item, field_bytes, hex, is_missing, part};

/// Empty lists that an array without elements is spelled out to; one that claims more is a single one.
const MAX_EMPTY_LISTS: u64 = 1 << 16;

pub(super) fn write(walk: &Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let ndim = walk.shape.len();
    let mut gathered = Gathered::new(out);
    if walk.shape.contains(&0) {
        let outer: Vec<u64> = walk.shape.iter().copied().take_while(|len| *len > 0).collect();
        let lists = outer.iter().copied().fold(1, u64::saturating_mul);
        let outer = if lists > MAX_EMPTY_LISTS { &[][..] } else { &outer };
        write_empty(outer, &mut gathered.text);
    } else {
        gathered.text.extend(std::iter::repeat_n('[', ndim));
        let mut odometer = Odometer::new(&walk.shape);
        walk.items(|item, mask| {
            write_element(&walk.dataset.dtype, item, mask, &mut gathered.text);
            let ended = odometer.step();
            gathered.text.extend(std::iter::repeat_n(']', ended));
            if ended < ndim {
                gathered.text.push_str(if ended == 0 { "," } else { ",\n" });
                gathered.text.extend(std::iter::repeat_n('[', ended));
            }
            gathered.pass()
        })?;
    }
    gathered.text.push('\n');
    gathered.finish()
}

/// Lists of lists around empty ones.
fn write_empty(outer: &[u64], out: &mut String) {
    out.push('[');
    if let Some((&len, inner)) = outer.split_first() {
        for at in 0..len {
            if at > 0 {
                out.push(',');
            }
            write_empty(inner, out);
        }
    }
    out.push(']');
}

fn write_element(dtype: &DType, bytes: &[u8], mask: &[u8], out: &mut String) {
    match dtype {
        DType::Scalar(_) if is_missing(mask) => out.push_str("null"),
        DType::Scalar(scalar) => write_scalar(&Item::decode(scalar, bytes), out),
        DType::Record(record) => write_record(record, bytes, mask, out),
    }
}

fn write_record(record: &Record, bytes: &[u8], mask: &[u8], out: &mut String) {
    out.push('{');
    let mut masks = FieldMasks::new(mask);
    for (at, field) in record.fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(&field.name, out);
        out.push(':');
        write_axis(&field.dtype, &field.shape, field_bytes(field, bytes), masks.next(field), out);
    }
    out.push('}');
}

fn write_axis(dtype: &DType, shape: &[usize], bytes: &[u8], mask: &[u8], out: &mut String) {
    let Some((&count, inner)) = shape.split_first() else { return write_element(dtype, bytes, mask, out) };
    // Items without bytes are not spelled out: a type may claim any number of empty items.
    let count = if bytes.is_empty() { 0 } else { count };
    out.push('[');
    for at in 0..count {
        if at > 0 {
            out.push(',');
        }
        write_axis(dtype, inner, part(bytes, at, count), part(mask, at, count), out);
    }
    out.push(']');
}

fn write_scalar(item: &Item<'_>, out: &mut String) {
    match item {
        Item::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Item::Integer(value) => write_integer(*value, out),
        Item::Float(value) => write_float(*value, out),
        Item::Complex(re, im) => {
            out.push('[');
            write_float(*re, out);
            out.push(',');
            write_float(*im, out);
            out.push(']');
        }
        Item::Text(text) => write_text(text, out),
        Item::Datetime(text) => write_text(text, out),
        Item::Timedelta(None) => write_text("NaT", out),
        Item::Timedelta(Some(count)) => {
            let _ = write!(out, "{count}");
        }
        Item::Bytes(bytes) | Item::Opaque(bytes) => {
            out.push('"');
            hex(bytes, out);
            out.push('"');
        }
    }
}

fn write_integer(value: Integer, out: &mut String) {
    let is_wide = match value {
        Integer::Signed(value) => i64::try_from(value).is_err() && u64::try_from(value).is_err(),
        Integer::Unsigned(value) => u64::try_from(value).is_err(),
    };
    let quote = if is_wide { "\"" } else { "" };
    out.push_str(quote);
    value.write(out);
    out.push_str(quote);
}

fn write_float(value: Float, out: &mut String) {
    match special_float(value.value()) {
        Some(word) => write_text(word, out),
        None => value.write(out),
    }
}

fn write_text(text: &str, out: &mut String) {
    let _ = write!(out, "{}", serde_json::Value::from(text));
}

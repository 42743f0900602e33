//! Comma-separated values (RFC 4180, with plain line feeds).

use std::fmt::Write as _;
use std::io::Write;

use container_core::dtype::{DType, Field, Kind, Record};
use container_core::{Error, Result};

use super::iterate::{Gathered, Odometer, Walk};
use crate::repr::{FieldMasks, Item, field_bytes, is_missing, part, write_item};

/// Most columns that a record is spread over: a sub-array gives one for each of its items.
pub(crate) const MAX_COLUMNS: usize = 1 << 16;

pub(super) fn write(walk: &Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let ndim = walk.shape.len();
    let mut gathered = Gathered::new(out);
    let record = match &walk.dataset.dtype {
        DType::Record(record) => Some(record),
        DType::Scalar(_) => None,
    };
    // A matrix of records needs index columns for its second axis.
    let has_indices = ndim > 2 || (ndim == 2 && record.is_some());
    if has_indices || record.is_some() {
        let mut names: Vec<String> =
            if has_indices { (0..ndim).map(|axis| format!("axis{axis}")).collect() } else { vec![] };
        match record {
            Some(record) => record_names(record, "", &mut names)?,
            None => names.push("value".into()),
        }
        write_header(&names, &mut gathered.text);
    }
    let is_lone =
        !has_indices && (ndim < 2 || walk.shape.last() == Some(&1)) && has_one_cell(&walk.dataset.dtype);
    let mut odometer = Odometer::new(&walk.shape);
    let mut field = String::new();
    walk.items(|item, mask| {
        if has_indices {
            for at in &odometer.at {
                let _ = write!(gathered.text, "{at},");
            }
        }
        let start = gathered.text.len();
        write_cells(&walk.dataset.dtype, item, mask, &mut field, &mut gathered.text);
        // An empty line would be no row for most readers.
        if is_lone && gathered.text.len() == start {
            gathered.text.push_str("\"\"");
        }
        let row_ended = odometer.step() > 0 || ndim < 2 || has_indices;
        gathered.text.push(if row_ended { '\n' } else { ',' });
        gathered.pass()
    })?;
    gathered.finish()
}

fn write_header(names: &[String], out: &mut String) {
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        quote(name, out);
    }
    out.push('\n');
}

/// False for records without bytes, of which a type may claim any number.
pub(crate) fn has_columns(field: &Field) -> bool {
    match &field.dtype {
        _ if field.shape.contains(&0) => false,
        DType::Scalar(_) => true,
        DType::Record(inner) => inner.fields.iter().any(has_columns),
    }
}

/// Whether an element is one cell.
fn has_one_cell(dtype: &DType) -> bool {
    let DType::Record(record) = dtype else { return true };
    let mut fields = record.fields.iter().filter(|field| has_columns(field));
    let first = fields.next().filter(|field| field.shape.iter().all(|len| *len == 1));
    first.is_some_and(|field| has_one_cell(&field.dtype)) && fields.next().is_none()
}

/// The columns of a record: `name`, `name.inner` for records within, `name[0]` for sub-arrays.
pub(crate) fn record_names(record: &Record, prefix: &str, names: &mut Vec<String>) -> Result<()> {
    for field in record.fields.iter().filter(|field| has_columns(field)) {
        let name = format!("{prefix}{}", field.name);
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        if count > MAX_COLUMNS {
            return Err(too_wide());
        }
        let mut odometer = Odometer::new(&field.shape.iter().map(|len| *len as u64).collect::<Vec<_>>());
        for _ in 0..count {
            let mut name = name.clone();
            for at in &odometer.at {
                let _ = write!(name, "[{at}]");
            }
            match &field.dtype {
                DType::Scalar(_) => names.push(name),
                DType::Record(inner) => record_names(inner, &format!("{name}."), names)?,
            }
            if names.len() > MAX_COLUMNS {
                return Err(too_wide());
            }
            odometer.step();
        }
    }
    Ok(())
}

fn too_wide() -> Error {
    Error::unsupported(format!("the records would need over {MAX_COLUMNS} columns"))
        .with_hint("another form of output: json, npy or raw")
}

/// The cells of one element, separated by commas; those of missing scalars are empty.
fn write_cells(dtype: &DType, bytes: &[u8], mask: &[u8], scratch: &mut String, out: &mut String) {
    let record = match dtype {
        DType::Record(record) => record,
        DType::Scalar(_) if is_missing(mask) => return,
        DType::Scalar(scalar) if matches!(scalar.kind, Kind::Bytes | Kind::Unicode) => {
            return match Item::decode(scalar, bytes) {
                Item::Text(text) => quote(&text, out),
                // As text where it is some; else as Python spells it.
                Item::Bytes(text) if text.iter().all(|byte| (0x20..0x7f).contains(byte)) => {
                    quote(&String::from_utf8_lossy(text), out);
                }
                _ => write_quoted(dtype, bytes, scratch, out),
            };
        }
        DType::Scalar(_) => return write_item(dtype, bytes, out),
    };
    let mut first = true;
    let mut masks = FieldMasks::new(mask);
    for field in record.fields.iter().filter(|field| has_columns(field)) {
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        let (all, mask) = (field_bytes(field, bytes), masks.next(field));
        for at in 0..count {
            if !first {
                out.push(',');
            }
            first = false;
            write_cells(&field.dtype, part(all, at, count), part(mask, at, count), scratch, out);
        }
    }
}

fn write_quoted(dtype: &DType, bytes: &[u8], scratch: &mut String, out: &mut String) {
    scratch.clear();
    write_item(dtype, bytes, scratch);
    quote(scratch, out);
}

/// Appends a cell, in quotes where it would be misread without. U+FEFF at its start would be a mark of the byte order where the table
/// begins with it.
fn quote(cell: &str, out: &mut String) {
    if !cell.contains([',', '"', '\n', '\r']) && !cell.starts_with('\u{feff}') {
        return out.push_str(cell);
    }
    out.push('"');
    for character in cell.chars() {
        if character == '"' {
            out.push('"');
        }
        out.push(character);
    }
    out.push('"');
}

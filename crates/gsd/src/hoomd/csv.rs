//! Log columns as comma-separated values.
//!
//! RFC 4180 with `\n` at the ends of lines: a header line, then a line for each frame: `frame`, `step`, and every quantity under
//! its name in the file. A quantity of several values per frame has a column for each, `log/x_0`, `log/x_1`; of n by m values,
//! `log/x_0_0`, row by row. Floating-point numbers have the fewest digits that read back as the same number; `nan`, `inf` and
//! `-inf` are spelled so. A null is an empty field.

use std::fmt::Write as _;
use std::io::Write;

use container_core::Result;

use super::columns::{Column, LogTable, Values};

/// Length of text that is buffered before it is written, in bytes.
const TEXT_BUFFER_LEN: usize = 1 << 16;

/// Writes a table.
///
/// # Errors
/// `Io`.
pub fn write(table: &LogTable, out: &mut dyn Write) -> Result<()> {
    let mut text = String::from("frame,step");
    for column in &table.columns {
        header(column, &mut text);
    }
    text.push('\n');
    for (row, (frame, step)) in table.frames.iter().zip(&table.steps).enumerate() {
        // Writing to a string does not fail.
        _ = write!(text, "{frame},{step}");
        for column in &table.columns {
            fields(column, row, &mut text);
        }
        text.push('\n');
        if text.len() > TEXT_BUFFER_LEN {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn header(column: &Column, text: &mut String) {
    let mut name = |suffix: std::fmt::Arguments<'_>| {
        text.push(',');
        quote(&format!("{}{suffix}", column.name), text);
    };
    match (column.n, column.m) {
        (1, 1) => name(format_args!("")),
        (n, 1) => (0..n).for_each(|at| name(format_args!("_{at}"))),
        (1, m) => (0..m).for_each(|at| name(format_args!("_{at}"))),
        (n, m) => (0..n).for_each(|i| (0..m).for_each(|j| name(format_args!("_{i}_{j}")))),
    }
}

fn fields(column: &Column, row: usize, text: &mut String) {
    let width = column.width();
    if column.is_null(row) {
        return text.extend(std::iter::repeat_n(',', width));
    }
    let range = row.saturating_mul(width)..row.saturating_add(1).saturating_mul(width);
    macro_rules! numbers {
        ($values:expr, $write:expr) => {
            for value in $values.get(range).unwrap_or_default() {
                text.push(',');
                $write(*value, &mut *text);
            }
        };
    }
    match &column.values {
        Values::U8(values) => numbers!(values, integer),
        Values::U16(values) => numbers!(values, integer),
        Values::U32(values) => numbers!(values, integer),
        Values::U64(values) => numbers!(values, integer),
        Values::I8(values) => numbers!(values, integer),
        Values::I16(values) => numbers!(values, integer),
        Values::I32(values) => numbers!(values, integer),
        Values::I64(values) => numbers!(values, integer),
        Values::F32(values) => numbers!(values, |value: f32, text| float(value, value.is_nan(), text)),
        Values::F64(values) => numbers!(values, |value: f64, text| float(value, value.is_nan(), text)),
        Values::Text(texts) => {
            text.push(',');
            quote(texts.get(row).unwrap_or_default(), text);
        }
    }
}

fn integer(value: impl std::fmt::Display, text: &mut String) {
    _ = write!(text, "{value}");
}

/// The standard library's debug form has the fewest digits, and an exponent where they would be many.
fn float(value: impl std::fmt::Debug, is_nan: bool, text: &mut String) {
    if is_nan {
        text.push_str("nan");
    } else {
        _ = write!(text, "{value:?}");
    }
}

/// A field, in quotes where it has to be: quotes inside are doubled. A null is empty, so an empty text is quoted, too.
fn quote(field: &str, text: &mut String) {
    if !field.is_empty() && !field.contains([',', '"', '\n', '\r']) {
        return text.push_str(field);
    }
    text.push('"');
    for c in field.chars() {
        text.push(c);
        if c == '"' {
            text.push(c);
        }
    }
    text.push('"');
}

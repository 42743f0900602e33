//! Import of text tables into a container: comma-separated values (RFC 4180), as `cat --format csv` and others write them.
//!
//! The text is read twice, except for tables of integers alone: first for the types of its columns, then for their values. Many values go
//! to an unnamed temporary file of the array's size. Memory is bounded by the longest row and its elements.
//!
//! Without a requested type, a column has the first of these types that fits all its cells: `True` and `False`, `|b1`; integers, `<i8`, or `<u8`
//! where they need it; decimals, `<f8`; complex numbers as Python spells them, `<c16`; text, `<U<n>`, or `|S<n>` where it is not UTF-8. Text that
//! would lose digits as a number stays text: integers of more than 64 bits and those with leading zeros. Decimals are rounded to the nearest number
//! of their type. An empty cell among numbers is NaN.

use std::path::Path;

use container_core::container::Container;
use container_core::dtype::{DType, Order, Scalar};
use container_core::source::Source;
use container_core::{Limits, Result};

use crate::convert::{ConvertOptions, ConvertOutcome, write};
use crate::pack::{check_target, raw_source};
use crate::raw_bytes::Plain;

mod cell;
mod column;
mod header;
mod inference;
mod integer_buffer;
mod rows;
mod spill;

use cell::Encoder;
use header::Names;
use inference::{OneType, Table};
use rows::Rows;
use spill::Elements;

/// A cell as the bytes of an element; `None` where it is not of the type.
pub(crate) fn element(cell: &str, scalar: &Scalar) -> Option<Vec<u8>> {
    let mut bytes = vec![0; scalar.size];
    cell::encode(cell.as_bytes(), scalar, &mut bytes).map(|()| bytes)
}

/// Options for reading a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Csv {
    /// Type of the cells: a scalar for each of them, or a record whose fields are the columns. `None` infers it.
    pub dtype: Option<DType>,
    /// Meaning of the first row.
    pub header: Header,
    /// Delimiter between the cells of a row.
    pub delimiter: u8,
}

impl Default for Csv {
    /// Commas; the rest is found out.
    fn default() -> Self {
        Self { dtype: None, header: Header::default(), delimiter: b',' }
    }
}

/// Meaning of the first row of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Names, where all of its cells are text that does not begin as numbers do, and one of these holds: they are above places along `axis0`, `axis1`
    /// and so on; they are above a column that is not text; they are not values of the requested type. For records of text alone, names only if they
    /// are those of the columns. Else values.
    #[default]
    Auto,
    /// The names of the columns, which become those of fields.
    Names,
    /// Something that is left out.
    Skip,
    /// Values as the others.
    None,
}

/// Writes a table to a new file of any format that is written. `-` is standard input, which is read into memory.
///
/// Columns without names that have one type, or the requested one, are a matrix of rows by columns, or one axis for one column. Others are an array
/// of records, whose fields have the names of the columns, or `f0`, `f1` and so on; adjacent `p[0]`, `p[1]` become one field `p`. Where columns
/// `axis0`, `axis1` and so on count through an array of that many axes in C order, as `cat --format csv` writes it, they become its shape.
///
/// # Errors
/// As [`convert`](crate::convert()). `Usage` for rows of other lengths, for names that belong to other columns of the requested record, and for a
/// delimiter that ends lines or texts. `Usage`, with the bytes of the row, for cells that are not of their type. `Limit` for rows, or their elements,
/// over the limit on memory. `Limit` also for text columns so much longer in one cell than elsewhere that the array would be hundreds of times the
/// text.
pub fn pack_csv(
    source: &Path,
    csv: &Csv,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<ConvertOutcome> {
    let format = check_target([source], target, options)?;
    let text = raw_source(source, &options.open)?;
    let plain = decode(&text, csv, &options.open.limits)?;
    write(&plain, &plain.whole(), format, target, options)
}

/// A table as a container of one array, called `data`, as [`pack_csv`] describes it.
///
/// # Errors
/// Those of [`pack_csv`] that are about the table.
pub fn open_csv(text: &dyn Source, csv: &Csv, limits: &Limits) -> Result<Box<dyn Container>> {
    Ok(Box::new(decode(text, csv, limits)?))
}

/// A table as rows for an existing array, of elements of `dtype` and `row` as the shape of each.
///
/// # Errors
/// As [`pack_csv`], and `Usage` for names that are not those of the record's columns. Rows of another shape are returned as such, and the append
/// reports them.
pub(crate) fn rows_like(
    text: &dyn Source,
    csv: &Csv,
    (dtype, row): (&DType, &[u64]),
    limits: &Limits,
) -> Result<Plain> {
    let csv = Csv { dtype: Some(csv.dtype.as_ref().unwrap_or(dtype).clone()), ..*csv };
    // Names of columns do not turn a type without fields into records.
    let mut table = Table::find(text, &csv, OneType::Elements, limits)?;
    table.check_names(Names::Same)?;
    // A single column is one axis, and a table without rows is no more than that.
    if let [rows] = table.shape[..]
        && (rows == 0 || row.iter().all(|len| *len == 1))
    {
        table.shape.extend_from_slice(row);
    }
    values(text, &csv, table, limits)
}

/// The array that a table is.
fn decode(text: &dyn Source, csv: &Csv, limits: &Limits) -> Result<Plain> {
    let table = Table::find(text, csv, OneType::Fields, limits)?;
    // A requested type is not questioned.
    if csv.dtype.is_none() {
        table.check_size(text.len())?;
    }
    values(text, csv, table, limits)
}

/// The second reading, if needed: the values of a table whose type and shape are settled.
fn values(text: &dyn Source, csv: &Csv, table: Table, limits: &Limits) -> Result<Plain> {
    if let Some(elements) = table.integers {
        return Plain::new(elements.into_source()?, table.dtype, table.shape, Order::C);
    }
    let encoder = Encoder::new(&table.dtype, table.skipped_columns)?;
    let mut elements = Elements::new();
    let mut rows = Rows::new(text, csv.delimiter, limits);
    if table.has_header {
        rows.next()?;
    }
    while let Some(row) = rows.next()? {
        encoder.encode(&row, elements.row(encoder.len(&row), limits)?)?;
    }
    Plain::new(elements.into_source()?, table.dtype, table.shape, Order::C)
}

#[cfg(test)]
mod tests;

//! First reading of a table: shape and type.

use container_core::array::byte_len;
use container_core::dtype::{DType, Kind};
use container_core::source::Source;
use container_core::{Error, Limits, Result};

use super::cell::Encoder;
use super::column::{Column, common, is_name};
use super::header::{Counter, Names, are_names_of, axes, check_names, column_name, record};
use super::integer_buffer::Integers;
use super::rows::{Row, Rows};
use super::spill::{Elements, reserve};
use super::{Csv, Header};

/// Largest size of an array of inferred types, as a multiple of its text. Text columns take four bytes for each character of their longest cell, in
/// every row.
const MAX_TIMES: u64 = 256;

/// Arrays below this size, in bytes, are never too large.
const MAX_UNCHECKED_SIZE: u64 = 64 << 20;

/// The array that a table is.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) dtype: DType,
    pub(super) shape: Vec<u64>,
    /// Whether the first row is not values.
    pub(super) has_header: bool,
    /// Columns at the start that only count.
    pub(super) skipped_columns: usize,
    /// The names of the columns after those, where it has names.
    pub(super) names: Vec<String>,
    /// All values, if the first pass collected them.
    pub(super) integers: Option<Elements>,
}

/// Treatment of one type for all cells where columns have names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OneType {
    /// Each column is a field of it.
    Fields,
    /// The cells are elements of it all the same.
    Elements,
}

impl Table {
    /// Reads the whole text, and decides type, shape and header.
    ///
    /// The first row is kept apart (`top`): it may be names. All later rows go into the columns of `body`, which record the type of their cells.
    /// Columns named after axes are checked to count through an array. Once the header is decided, the first row joins `body` if it is values, and
    /// the type follows from the request, the names or the columns.
    ///
    /// # Errors
    /// Those of [`pack_csv`](super::pack_csv), but for cells that are not of the requested type.
    pub(super) fn find(text: &dyn Source, csv: &Csv, named: OneType, limits: &Limits) -> Result<Self> {
        if b"\"\r\n".contains(&csv.delimiter) {
            return Err(Error::usage("the delimiter is a quote or a line end"));
        }
        let mut rows = Rows::new(text, csv.delimiter, limits);
        let Some(first) = rows.next()? else { return Self::empty(csv) };
        let width = first.len();
        // First, because it checks the number of columns against the limits.
        let mut top = columns(width, limits)?;
        let names: Vec<String> =
            first.cells().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let could_be_names = first.cells().all(is_name);
        let asked = csv.dtype.as_ref().map(|dtype| Encoder::new(dtype, 0)).transpose()?;
        let is_a_row = match &asked {
            Some(asked) if could_be_names => fits(asked, &first, limits)?,
            _ => false,
        };
        let mut integers = Integers::new(csv.dtype.is_none());
        integers.push(&mut top, &first, limits)?;
        let is_left_out = matches!(csv.header, Header::Names | Header::Skip);
        if csv.dtype.is_none() && (is_left_out || could_be_names) {
            integers.begin_again();
        }
        // Axis columns are not split off if the columns are all the fields of the requested record.
        let has_all = asked.and_then(|asked| asked.cells()) == Some(width);
        let has_axes = matches!(csv.header, Header::Auto | Header::Names) && !has_all;
        let axes = if has_axes { axes(&names) } else { 0 };
        let mut counter = Counter::new(axes);
        let mut body = columns(width, limits)?;
        let mut count = 0_u64;
        while let Some(row) = rows.next()? {
            if row.len() != width {
                let problem = format!("{} cells (expected {width}, as in the first row)", row.len());
                return Err(row.error(problem));
            }
            counter.push(&row);
            // A requested type needs no inference.
            if csv.dtype.is_none() {
                integers.push(&mut body, &row, limits)?;
            }
            count = count.saturating_add(1);
        }
        let counted = counter.shape();
        let after_axes = names.get(if counted.is_some() { axes } else { 0 }..).unwrap_or_default();
        let has_header = match csv.header {
            Header::Auto if !could_be_names => false,
            // The places along axes have only the names of the axes above them.
            Header::Auto => {
                counted.is_some() || is_above_values(&body, csv.dtype.as_ref(), is_a_row, after_axes)?
            }
            Header::Names | Header::Skip => true,
            Header::None => false,
        };
        if !has_header {
            body.iter_mut().zip(&top).for_each(|(column, top)| column.merge(top));
            count = count.saturating_add(1);
        }
        let counted = counted.filter(|_| has_header);
        let skipped = if counted.is_some() { axes } else { 0 };
        let has_names = has_header && csv.header != Header::Skip;
        let lead = counted.unwrap_or_else(|| vec![count]);
        let body = body.get(skipped..).unwrap_or_default();
        let names = if has_names { names.get(skipped..).unwrap_or_default() } else { &[] };
        let (dtype, is_matrix) = match &csv.dtype {
            Some(dtype @ DType::Scalar(_))
                if csv.header == Header::Names && named == OneType::Fields && skipped == 0 =>
            {
                (record(&with_names(names, body, |_| dtype.clone()))?, false)
            }
            Some(dtype @ DType::Scalar(_)) => (dtype.clone(), body.len() > 1),
            Some(dtype) => (dtype.clone(), false),
            None if count == 0 => return Self::empty(csv),
            None if has_names && !(skipped > 0 && names == ["value"]) => {
                (record(&with_names(names, body, Column::dtype))?, false)
            }
            None => match common(body) {
                Some(dtype) => (dtype, body.len() > 1),
                None => (record(&with_names(&[], body, Column::dtype))?, false),
            },
        };
        let shape = lead.into_iter().chain(is_matrix.then_some(body.len() as u64)).collect();
        let integers = if skipped == 0 { integers.all(&dtype, width, has_header) } else { None };
        let names = names.to_vec();
        let table = Self { dtype, shape, has_header, skipped_columns: skipped, names, integers };
        match Encoder::new(&table.dtype, skipped)?.cells() {
            Some(cells) if cells != body.len() => {
                let problem = format!("{} columns ({} has {cells})", body.len(), table.dtype);
                Err(Error::usage(problem))
            }
            _ => {
                table.check_names(Names::InTheirOrder)?;
                Ok(table)
            }
        }
    }

    /// A table without values is an empty array of the requested type.
    fn empty(csv: &Csv) -> Result<Self> {
        let dtype = csv
            .dtype
            .clone()
            .ok_or_else(|| Error::usage("a table without values has no type").with_hint("--dtype '<f8'"))?;
        Ok(Self {
            dtype,
            shape: vec![0],
            has_header: true,
            skipped_columns: 0,
            names: Vec::new(),
            integers: None,
        })
    }

    /// Refuses names that are not those of the record, as [`check_names`].
    pub(super) fn check_names(&self, asked: Names) -> Result<()> {
        match &self.dtype {
            DType::Record(record) => check_names(&self.names, self.skipped_columns, record, asked),
            DType::Scalar(_) => Ok(()),
        }
    }

    /// Refuses an array that is larger than its text by a factor that only a few long cells can explain.
    pub(super) fn check_size(&self, text: u64) -> Result<()> {
        let most = text.saturating_mul(MAX_TIMES).max(MAX_UNCHECKED_SIZE);
        let asked = byte_len(&self.dtype, &self.shape).unwrap_or(u64::MAX);
        if asked <= most {
            return Ok(());
        }
        let problem = format!("bytes of an array of {} from a table of {text} bytes", self.dtype);
        Err(Error::limit(problem, asked, most).with_hint("--dtype sets the length of text, such as '<U40'"))
    }
}

/// Whether the first row, which is all text, is names: a later row is of another kind, or it does not fit the requested type.
fn is_above_values(body: &[Column], dtype: Option<&DType>, is_a_row: bool, names: &[String]) -> Result<bool> {
    let Some(dtype) = dtype else { return Ok(body.iter().any(Column::has_values)) };
    match dtype {
        // Text alone fits anything, even if too long: the names decide.
        DType::Record(record) if is_a_row || is_text(dtype) => are_names_of(record, names),
        DType::Record(_) => Ok(true),
        DType::Scalar(_) => Ok(!is_a_row && !is_text(dtype)),
    }
}

/// Whether a row is values of the type: `NaT` is text, and a date.
fn fits(encoder: &Encoder<'_>, row: &Row<'_>, limits: &Limits) -> Result<bool> {
    let mut elements = Vec::new();
    reserve(&mut elements, encoder.len(row), limits)?;
    Ok(encoder.cells().is_none_or(|cells| cells == row.len()) && encoder.encode(row, &mut elements).is_ok())
}

fn is_text(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(scalar) => matches!(scalar.kind, Kind::Bytes | Kind::Unicode),
        DType::Record(record) => record.fields.iter().all(|field| is_text(&field.dtype)),
    }
}

/// The columns with their names, if any, and their types.
fn with_names(
    names: &[String],
    columns: &[Column],
    dtype: impl Fn(&Column) -> DType,
) -> Vec<(String, DType)> {
    let name = |at: usize| column_name(at, names.get(at).map_or("", String::as_str));
    columns.iter().enumerate().map(|(at, column)| (name(at), dtype(column))).collect()
}

fn columns(width: usize, limits: &Limits) -> Result<Vec<Column>> {
    let asked = (width as u64).saturating_mul(size_of::<Column>() as u64);
    if asked > limits.memory / 4 {
        let error = Error::limit(format!("memory in bytes ({width} columns)"), asked, limits.memory / 4);
        return Err(error.with_hint("a larger --limit-memory"));
    }
    Ok(vec![Column::default(); width])
}

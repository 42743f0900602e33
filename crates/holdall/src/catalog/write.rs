//! Writing a catalogue, row group by row group.

use std::io::Write;
use std::sync::Arc;

use container_core::{Error, Result};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::row::{COLUMNS, Form, KEY, Row, Table};

/// Rows of a row group, at most: that many are held in memory.
const MAX_ROWS: usize = 1 << 16;

/// Bytes of texts of a row group, about. Catalogues have few long ones.
const MAX_TEXT: usize = 16 << 20;

/// Writes rows to a Parquet file. Values are not compressed; repeated ones are in dictionaries.
pub struct CatalogWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Vec<Row>,
    /// Bytes of texts of `rows`.
    text_len: usize,
    pointers: usize,
}

impl<W: Write + Send> CatalogWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// `Io`; `Usage` for columns that cannot be.
    pub fn new(out: W, table: &Table) -> Result<Self> {
        let mut fields = Vec::new();
        for (name, form) in COLUMNS {
            fields.push(field(name, form).map_err(failed)?);
        }
        for pointer in &table.pointers {
            fields.push(field(Table::column_of(pointer), Form::Text).map_err(failed)?);
        }
        let schema = Type::group_type_builder("catalog").with_fields(fields).build().map_err(failed)?;
        let texts = vec![KeyValue::new(KEY.to_owned(), table.text())];
        let properties = WriterProperties::builder()
            .set_created_by(format!("holdall version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(texts))
            .set_offset_index_disabled(true)
            .build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        Ok(Self { file, rows: Vec::new(), text_len: 0, pointers: table.pointers.len() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `Io`.
    pub fn push(&mut self, row: Row) -> Result<()> {
        let texts = [&row.dataset, &row.dtype, &row.message, &row.codec];
        let texts = texts.into_iter().chain(&row.meta).flatten();
        let len = texts.fold(row.path.len(), |sum, text| sum.saturating_add(text.len()));
        self.text_len = self.text_len.saturating_add(len);
        self.rows.push(row);
        if self.rows.len() >= MAX_ROWS || self.text_len >= MAX_TEXT { self.flush() } else { Ok(()) }
    }

    /// Writes the rest, and returns the output.
    ///
    /// # Errors
    /// `Io`.
    pub fn finish(mut self) -> Result<W> {
        self.flush()?;
        self.file.into_inner().map_err(failed)
    }

    /// Writes a row group.
    fn flush(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        let rows = &self.rows;
        for (name, _) in COLUMNS {
            write_own(&mut group, name, rows).map_err(failed)?;
        }
        for at in 0..self.pointers {
            texts(&mut group, rows.iter().map(|row| row.meta.get(at)?.as_deref())).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.rows.clear();
        self.text_len = 0;
        Ok(())
    }
}

/// The error of the library, or that of the output.
fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::from(*error),
            Err(other) => Error::usage(format!("the catalogue cannot be written: {other}")),
        },
        other => Error::usage(format!("the catalogue cannot be written: {other}")),
    }
}

/// A column: required for paths, else optional.
fn field(name: &str, form: Form) -> Result<TypePtr, ParquetError> {
    let repetition = if name == "path" { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let unsigned = Some(LogicalType::integer(64, false));
    let plain = |physical, logical| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        builder.with_logical_type(logical).build()
    };
    Ok(Arc::new(match form {
        Form::Text => plain(Physical::BYTE_ARRAY, Some(LogicalType::String))?,
        Form::Bytes => plain(Physical::INT64, unsigned)?,
        Form::Time => plain(Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS)))?,
        // Three levels, as the specification has lists: the list, its repetition, the item.
        Form::Lengths => {
            let item = Type::primitive_type_builder("element", Physical::INT64)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(unsigned)
                .build()?;
            let repeated = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(item)])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(repetition)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(repeated)])
                .build()?
        }
    }))
}

type Group<'a, W> = SerializedRowGroupWriter<'a, W>;

fn write_own<W: Write + Send>(
    group: &mut Group<'_, W>,
    name: &str,
    rows: &[Row],
) -> Result<(), ParquetError> {
    let rows = rows.iter();
    let unsigned = |value: Option<u64>| value.map(u64::cast_signed);
    match name {
        "path" => required(group, rows),
        "dataset" => texts(group, rows.map(|row| row.dataset.as_deref())),
        "format" => texts(group, rows.map(|row| row.format.as_deref())),
        "shape" => lists(group, rows.map(|row| row.shape.as_deref())),
        "dtype" => texts(group, rows.map(|row| row.dtype.as_deref())),
        "chunks" => lists(group, rows.map(|row| row.chunks.as_deref())),
        "codec" => texts(group, rows.map(|row| row.codec.as_deref())),
        "bytes" => integers(group, rows.map(|row| unsigned(row.bytes))),
        "stored" => integers(group, rows.map(|row| unsigned(row.stored))),
        "file_bytes" => integers(group, rows.map(|row| unsigned(row.file_bytes))),
        "modified" => integers(group, rows.map(|row| row.modified)),
        "head_sha256" => texts(group, rows.map(|row| row.head_sha256.as_deref())),
        "verdict" => texts(group, rows.map(|row| row.verdict.as_deref())),
        "message" => texts(group, rows.map(|row| row.message.as_deref())),
        "checked" => integers(group, rows.map(|row| row.checked)),
        other => Err(ParquetError::General(format!("no column {other}"))),
    }
}

fn column<'g, W: Write + Send>(
    group: &'g mut Group<'_, W>,
) -> Result<SerializedColumnWriter<'g>, ParquetError> {
    group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))
}

fn required<'r, W: Write + Send>(
    group: &mut Group<'_, W>,
    rows: impl Iterator<Item = &'r Row>,
) -> Result<(), ParquetError> {
    let values: Vec<ByteArray> = rows.map(|row| ByteArray::from(row.path.as_str())).collect();
    let mut column = column(group)?;
    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
    column.close()
}

fn texts<'r, W: Write + Send>(
    group: &mut Group<'_, W>,
    rows: impl Iterator<Item = Option<&'r str>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for text in rows {
        levels.push(i16::from(text.is_some()));
        values.extend(text.map(ByteArray::from));
    }
    let mut column = column(group)?;
    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

fn integers<W: Write + Send>(
    group: &mut Group<'_, W>,
    rows: impl Iterator<Item = Option<i64>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in rows {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    let mut column = column(group)?;
    column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

/// Lists of integers. The levels of definition: 0 no list, 1 an empty one, 2 an item. Of repetition: 0 the first of a row, 1 another.
fn lists<'r, W: Write + Send>(
    group: &mut Group<'_, W>,
    rows: impl Iterator<Item = Option<&'r [u64]>>,
) -> Result<(), ParquetError> {
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for list in rows {
        match list {
            None | Some([]) => {
                definition.push(i16::from(list.is_some()));
                repetition.push(0);
            }
            Some(items) => {
                for (number, item) in items.iter().enumerate() {
                    values.push(item.cast_signed());
                    definition.push(2);
                    repetition.push(i16::from(number > 0));
                }
            }
        }
    }
    let mut column = column(group)?;
    column.typed::<Int64Type>().write_batch(&values, Some(&definition), Some(&repetition))?;
    column.close()
}

//! Log columns as Apache Arrow record batches, and as Arrow IPC (Feather) and Parquet files. Feature `arrow`.
//!
//! The first columns are `frame` and `step`, unsigned 64-bit integers without nulls. A quantity keeps its name and type; of
//! several values a frame it is a `FixedSizeList`, of n by m values a list of lists, row by row; texts are `Utf8`. A quantity of
//! no values (n = 0) is left out. Rows without a value are null. [`InheritedValues`] selects how values inherited from frame 0
//! are marked. Parquet files are not compressed; columns of few distinct values are small nevertheless, by dictionaries.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{ArrowError, Field, Schema};
use container_core::{Error, Limits, Result};

use super::columns::{Column, LogTable, Texts, ValidityBitmap, Values};

pub use {arrow_array, arrow_schema};

/// Representation of values that were inherited from frame 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InheritedValues {
    /// As their number, in the field's metadata: `gsd:inherited`.
    #[default]
    Count,
    /// Also as a Boolean column after the quantity's, `<name>:inherited`.
    Columns,
}

/// The table as one record batch; numbers are moved, not copied. `limits` bound the memory of texts, which are held once in the
/// table and once a row in the batch.
///
/// # Errors
/// `Limit`; `Unsupported` for texts of more than 2 GiB in one column, and for quantities of more than 2^31 values a frame.
pub fn record_batch(table: LogTable, inherited: InheritedValues, limits: &Limits) -> Result<RecordBatch> {
    let LogTable { frames, steps, columns, .. } = table;
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (name, numbers) in [("frame", frames), ("step", steps)] {
        let array = PrimitiveArray::<UInt64Type>::new(numbers.into(), None);
        fields.push(Field::new(name, UInt64Type::DATA_TYPE, false));
        arrays.push(Arc::new(array));
    }
    for column in columns {
        if column.width() == 0 {
            continue;
        }
        let name = column.name.clone();
        let gaps = column.stored.len() - column.stored.count();
        let count = if column.inherits { gaps } else { 0 };
        let flags = (inherited == InheritedValues::Columns).then(|| {
            let rows = 0..column.stored.len();
            BooleanArray::from(rows.map(|row| column.is_inherited(row)).collect::<Vec<bool>>())
        });
        let array = array(column, limits)?;
        let metadata = HashMap::from([("gsd:inherited".to_owned(), count.to_string())]);
        let field = Field::new(&name, array.data_type().clone(), array.is_nullable());
        fields.push(field.with_metadata(metadata));
        arrays.push(array);
        if let Some(flags) = flags {
            fields.push(Field::new(format!("{name}:inherited"), flags.data_type().clone(), false));
            arrays.push(Arc::new(flags));
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(arrow_error)
}

/// Writes a batch as an Arrow IPC file, which Feather version 2 is.
///
/// # Errors
/// `Io`; `Unsupported` on big-endian machines.
pub fn write_ipc(batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    little_endian()?;
    let mut writer = arrow_ipc::writer::FileWriter::try_new(out, &batch.schema()).map_err(arrow_error)?;
    writer.write(batch).map_err(arrow_error)?;
    writer.finish().map_err(arrow_error)
}

/// Writes a batch as a Parquet file, without compression.
///
/// # Errors
/// `Io`; `Unsupported` on big-endian machines.
pub fn write_parquet(batch: &RecordBatch, out: impl Write + Send) -> Result<()> {
    little_endian()?;
    let failed = |error: parquet::errors::ParquetError| match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::from(*error),
            Err(inner) => Error::unsupported(inner.to_string()),
        },
        other => Error::unsupported(other.to_string()),
    };
    let mut writer = parquet::arrow::ArrowWriter::try_new(out, batch.schema(), None).map_err(failed)?;
    writer.write(batch).map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(())
}

/// arrow-rs 60 writes numbers in memory order and declares them little-endian.
fn little_endian() -> Result<()> {
    if cfg!(target_endian = "little") {
        return Ok(());
    }
    Err(Error::unsupported("Arrow's library writes no files on big-endian machines"))
}

fn arrow_error(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        other => Error::unsupported(other.to_string()),
    }
}

fn array(column: Column, limits: &Limits) -> Result<ArrayRef> {
    let rows = column.stored.len();
    let nulls = column.has_nulls().then(|| null_buffer(&column.stored, rows));
    let (n, m) = (column.n, column.m);
    macro_rules! numbers {
        ($values:expr, $kind:ty) => {{
            let lists = (n, m) != (1, 1);
            let own = nulls.clone().filter(|_| !lists);
            let values: ArrayRef = Arc::new(PrimitiveArray::<$kind>::new($values.into(), own));
            if lists { in_lists(values, n, m, nulls)? } else { values }
        }};
    }
    Ok(match column.values {
        Values::U8(values) => numbers!(values, UInt8Type),
        Values::U16(values) => numbers!(values, UInt16Type),
        Values::U32(values) => numbers!(values, UInt32Type),
        Values::U64(values) => numbers!(values, UInt64Type),
        Values::I8(values) => numbers!(values, Int8Type),
        Values::I16(values) => numbers!(values, Int16Type),
        Values::I32(values) => numbers!(values, Int32Type),
        Values::I64(values) => numbers!(values, Int64Type),
        Values::F32(values) => numbers!(values, Float32Type),
        Values::F64(values) => numbers!(values, Float64Type),
        Values::Text(texts) => strings(&texts, nulls.as_ref(), limits)?,
    })
}

/// The bits as Arrow stores them: a byte's lowest first.
fn null_buffer(stored: &ValidityBitmap, rows: usize) -> NullBuffer {
    let words: Vec<u64> = stored.words().iter().map(|word| word.to_le()).collect();
    NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(words), 0, rows))
}

/// Rows of n by m values: a list each, of lists where both are above 1. The outer one may be null.
fn in_lists(values: ArrayRef, n: u64, m: u32, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let list = |values: ArrayRef, len: u64, nulls| -> Result<ArrayRef> {
        let len = i32::try_from(len)
            .map_err(|_| Error::unsupported(format!("Arrow has no lists of {len} values")))?;
        let item = Arc::new(Field::new("item", values.data_type().clone(), false));
        Ok(Arc::new(FixedSizeListArray::try_new(item, len, values, nulls).map_err(arrow_error)?))
    };
    match (n, m) {
        (1, m) => list(values, m.into(), nulls),
        (n, 1) => list(values, n, nulls),
        (n, m) => list(list(values, m.into(), None)?, n, nulls),
    }
}

fn strings(texts: &Texts, nulls: Option<&NullBuffer>, limits: &Limits) -> Result<ArrayRef> {
    let len = |row| texts.get(row).map_or(0, str::len) as u64;
    let total: u64 = (0..texts.len()).map(len).fold(0, u64::saturating_add);
    if i32::try_from(total).is_err() {
        return Err(Error::unsupported(format!("{total} bytes of texts in one Arrow column")));
    }
    let mut builder = StringBuilder::with_capacity(texts.len(), limits.allocate(total)?);
    for row in 0..texts.len() {
        let present = nulls.is_none_or(|nulls| nulls.is_valid(row));
        builder.append_option(texts.get(row).filter(|_| present));
    }
    Ok(Arc::new(builder.finish()))
}

#[cfg(test)]
mod tests;

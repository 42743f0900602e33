//! The log as one array of records, a row for each frame: `frame`, `step`, and a field for each quantity.

use container_core::array::Array;
use container_core::container::{Dataset, Listed};
use container_core::dtype::{ByteOrder, DType, Field, Kind, Order, Record};
use container_core::source::zeroed_vec;
use container_core::{Error, Limits, Result};

use crate::hoomd::columns::{Changes, Column, LogOptions, LogTable, Values};
use crate::hoomd::schema::Container;
use crate::{File, Type};

/// Path of the dataset.
pub(crate) const PATH: &str = "log";

/// Start of the names of logs.
const PREFIX: &str = "log/";

/// The records and what they consist of.
pub(crate) struct LogRecords {
    dataset: Dataset,
    bytes: Vec<u8>,
}

impl LogRecords {
    /// Reads the log of all frames; `None` where nothing is logged. Quantities of each particle, bond and so on are left out, and
    /// those that change in type or shape. What a frame lacks is frame 0's value; where that has none either it is NaN (integers
    /// become doubles for it) or an empty text.
    ///
    /// # Errors
    /// `Malformed`, `Truncated`, `Limit`, `Io`.
    pub(crate) fn read(file: &File) -> Result<Option<Self>> {
        let counted = |name: &str| {
            let first = name.split('/').next().unwrap_or_default();
            name.contains('/') && Container::COUNTED.iter().any(|of| of.name() == first)
        };
        let names = file.names().iter().filter_map(|name| {
            let short = name.strip_prefix(PREFIX).filter(|short| !counted(short))?;
            Some(format!("{PREFIX}{}", escaped(short)))
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() || file.nframes() == 0 {
            return Ok(None);
        }
        let options = LogOptions::default().with_names(names).with_changes(Changes::Skip);
        let table = LogTable::read(file, &options)?;
        Self::of(&table, &file.options().limits).map(Some)
    }

    fn of(table: &LogTable, limits: &Limits) -> Result<Self> {
        let u64s = DType::native(Kind::Uint, 8);
        let mut fields = Vec::new();
        let mut size = 0_usize;
        let mut field = |name: &str, dtype: DType, shape: Vec<usize>| {
            let len = shape.iter().copied().fold(dtype.itemsize(), usize::saturating_mul);
            fields.push(Field { name: name.to_owned(), title: None, dtype, shape, offset: size });
            size = size.saturating_add(len);
        };
        field("frame", u64s.clone(), vec![]);
        field("step", u64s, vec![]);
        for column in &table.columns {
            let name = column.name.strip_prefix(PREFIX).unwrap_or(&column.name);
            // The two first fields keep their names.
            let name = if matches!(name, "frame" | "step") { &column.name } else { name };
            let shape = column.shape().into_iter().map(|len| usize::try_from(len).unwrap_or(usize::MAX));
            field(name, dtype_of(column), shape.collect());
        }
        let rows = table.len() as u64;
        let too_wide = || Error::limit("bytes of the log", u64::MAX, limits.memory);
        let len = rows.checked_mul(size as u64).ok_or_else(too_wide)?;
        let mut bytes: Vec<u8> = zeroed_vec(len, limits)?;
        for (row, record) in bytes.chunks_exact_mut(size.max(1)).enumerate() {
            put(record, 0, &number(&table.frames, row));
            put(record, 8, &number(&table.steps, row));
            for (column, field) in table.columns.iter().zip(fields.iter().skip(2)) {
                fill(column, row, field, record);
            }
        }
        let dataset = Dataset {
            path: PATH.into(),
            dtype: DType::Record(Record { fields, size }),
            shape: vec![rows],
            order: Order::C,
            chunks: None,
            codec: "none".into(),
            stored: 0,
            logical: len,
            attributes: vec![],
            listed: Listed::Recursive,
        };
        Ok(Self { dataset, bytes })
    }

    /// Its description.
    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The records, lent.
    pub(crate) fn array(&self) -> Result<Array<'_>> {
        let Dataset { dtype, shape, order, .. } = &self.dataset;
        Array::new(dtype.clone(), shape.clone(), *order, self.bytes.as_slice().into())
    }
}

/// A name that a pattern matches as it is.
fn escaped(name: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[');
    name.chars().flat_map(|c| if special(c) { vec!['[', c, ']'] } else { vec![c] }).collect()
}

/// True where integers have to leave room for a missing value.
fn is_widened(column: &Column) -> bool {
    column.has_nulls() && !matches!(column.chunk_type, Type::Float | Type::Double | Type::Character)
}

fn dtype_of(column: &Column) -> DType {
    match &column.values {
        Values::Text(texts) => {
            let chars = |row| texts.get(row).map_or(0, |text: &str| text.chars().count());
            let longest = (0..texts.len()).map(chars).max().unwrap_or(0);
            DType::native(Kind::Unicode, longest.max(1).saturating_mul(4))
        }
        _ if is_widened(column) => DType::native(Kind::Float, 8),
        _ => column.chunk_type.dtype(ByteOrder::NATIVE),
    }
}

/// Writes a row's values to their place.
fn fill(column: &Column, row: usize, field: &Field, record: &mut [u8]) {
    if let Values::Text(texts) = &column.values {
        let text = texts.get(row).unwrap_or_default();
        let chars: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
        return put(record, field.offset, &chars);
    }
    let width = column.width();
    if column.is_null(row) {
        let nan: Vec<u8> = match column.chunk_type {
            Type::Float => f32::NAN.to_ne_bytes().repeat(width),
            _ => f64::NAN.to_ne_bytes().repeat(width),
        };
        return put(record, field.offset, &nan);
    }
    let size = usize::try_from(column.chunk_type.size()).unwrap_or(1);
    let start = row.saturating_mul(width).saturating_mul(size);
    let end = start.saturating_add(width.saturating_mul(size));
    let own = column.values.number_bytes().get(start..end).unwrap_or_default();
    if !is_widened(column) {
        return put(record, field.offset, own);
    }
    let doubles = own.chunks_exact(size).flat_map(|value| to_double(column.chunk_type, value).to_ne_bytes());
    put(record, field.offset, &doubles.collect::<Vec<u8>>());
}

fn put(record: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = record.get_mut(at..at.saturating_add(bytes.len())) {
        place.copy_from_slice(bytes);
    }
}

fn number(all: &[u64], row: usize) -> [u8; 8] {
    all.get(row).copied().unwrap_or(0).to_ne_bytes()
}

/// An integer as the double next to it.
#[expect(
    clippy::cast_precision_loss,
    reason = "a column that is not whole has no integers of its own in numpy either"
)]
fn to_double(of: Type, value: &[u8]) -> f64 {
    let mut wide = [0; 8];
    let signed = matches!(of, Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64);
    let order = |index: usize| if cfg!(target_endian = "big") { 8 - value.len() + index } else { index };
    let negative = signed
        && (if cfg!(target_endian = "big") { value.first() } else { value.last() })
            .is_some_and(|top| *top > 127);
    if negative {
        wide = [0xFF; 8];
    }
    for (index, byte) in value.iter().enumerate() {
        if let Some(place) = wide.get_mut(order(index)) {
            *place = *byte;
        }
    }
    if signed { i64::from_ne_bytes(wide) as f64 } else { u64::from_ne_bytes(wide) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{Plan, to_vec};
    use crate::{OpenOptions, Version};

    type Chunk<'a> = (u64, &'a str, Type, u64, u32, &'a [u8]);

    fn records(chunks: &[Chunk<'_>]) -> Option<LogRecords> {
        let plan = Plan::new("a", "hoomd", Version::new(2, 0)).unwrap();
        let bytes = to_vec(plan, chunks).unwrap();
        let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
        LogRecords::read(&file).unwrap()
    }

    #[test]
    fn a_field_for_each_quantity_and_a_row_for_each_frame() {
        let (half, quarter) = (0.5_f64.to_le_bytes(), 0.25_f64.to_le_bytes());
        let vector: Vec<u8> = [1_u16, 2].iter().flat_map(|one| one.to_le_bytes()).collect();
        let seven = 7_u64.to_le_bytes();
        let found = records(&[
            (0, "log/energy", Type::Double, 1, 1, &half),
            (0, "log/vector", Type::Uint16, 1, 2, &vector),
            (0, "log/state", Type::Character, 2, 1, b"ok"),
            (0, "log/particles/x", Type::Double, 1, 1, &half),
            (1, "configuration/step", Type::Uint64, 1, 1, &seven),
            (1, "log/energy", Type::Double, 1, 1, &quarter),
            (1, "log/state", Type::Character, 3, 1, "né".as_bytes()),
            (2, "log/late", Type::Int8, 1, 1, &[0xFE]),
        ])
        .unwrap();
        let described = "[[\"frame\", \"<u8\"], [\"step\", \"<u8\"], [\"energy\", \"<f8\"], [\"vector\", \"<u2\", [2]], \
            [\"state\", \"<U2\"], [\"late\", \"<f8\"]]";
        assert_eq!(found.dataset().shape, [3]);
        if cfg!(target_endian = "little") {
            assert_eq!(
                found.dataset().dtype.to_string().replace('\'', "\"").replace('(', "[").replace(')', "]"),
                described
            );
        }
        let size = 8 + 8 + 8 + 4 + 8 + 8;
        let row = |row: usize| &found.bytes[row * size..][..size];
        let f64_at = |row: &[u8], at: usize| f64::from_ne_bytes(row[at..at + 8].try_into().unwrap());
        assert_eq!((f64_at(row(0), 16), f64_at(row(1), 16), f64_at(row(2), 16)), (0.5, 0.25, 0.5));
        assert_eq!(row(1)[8..16], 7_u64.to_ne_bytes());
        assert_eq!(row(2)[24..28], [1_u16, 2].map(u16::to_ne_bytes).concat());
        assert_eq!(row(1)[28..36], ['n', 'é'].map(|c| u32::from(c).to_ne_bytes()).concat());
        assert!(f64_at(row(0), 36).is_nan() && f64_at(row(1), 36).is_nan());
        assert_eq!(f64_at(row(2), 36).to_bits(), (-2.0_f64).to_bits());
    }

    #[test]
    fn without_logs_there_are_no_records() {
        assert!(records(&[(0, "particles/N", Type::Uint32, 1, 1, &[0; 4])]).is_none());
        assert!(records(&[(0, "log/particles/x", Type::Uint8, 1, 1, &[0])]).is_none());
        assert!(records(&[]).is_none());
    }
}

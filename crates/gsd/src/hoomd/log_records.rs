//! The log as one array of records, a row for each frame: `frame`, `step`, and a field for each quantity.

use container_core::array::Array;
use container_core::container::{Dataset, Visibility};
use container_core::dtype::{ByteOrder, DType, Field, Kind, Order, Record};
use container_core::mask::{self, mask_dtype};
use container_core::report::Loss;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

use crate::hoomd::columns::{Changes, Column, Gaps, LogOptions, LogTable, Values};
use crate::hoomd::schema::Container;
use crate::stacked::Defaults;
use crate::{ChunkType, File};

/// Path of the dataset.
pub(crate) const PATH: &str = "log";

/// Start of the names of logs.
const PREFIX: &str = "log/";

/// Maximum number of quantities that a message lists.
const MAX_NAMED: usize = 8;

/// The records with their dataset, mask and losses.
pub(crate) struct LogRecords {
    dataset: Dataset,
    bytes: Vec<u8>,
    /// Records of [`mask_dtype`]; empty where no value is missing.
    mask: Vec<u8>,
    left_out: Vec<Loss>,
}

impl LogRecords {
    /// Reads the log of all frames; `None` for a file without logs. Quantities keep the type in which they are stored. A value that
    /// a frame lacks is frame 0's or missing, depending on `defaults`. Quantities of each particle, bond and so on are left out,
    /// and those that change in type or shape: see [`LogRecords::left_out`].
    ///
    /// # Errors
    /// `Malformed`, `Truncated`, `Limit`, `Io`.
    pub(crate) fn read(file: &File, defaults: Defaults) -> Result<Option<Self>> {
        let is_counted = |short: &str| {
            let first = short.split('/').next().unwrap_or_default();
            short.contains('/') && Container::COUNTED.iter().any(|of| of.name() == first)
        };
        let shorts: Vec<String> =
            file.names().iter().filter_map(|name| name.strip_prefix(PREFIX).map(str::to_owned)).collect();
        let (counted, single): (Vec<String>, Vec<String>) =
            shorts.into_iter().partition(|short| is_counted(short));
        if single.is_empty() || file.nframes() == 0 {
            return Ok(None);
        }
        let gaps = if defaults.applies(file) { Gaps::FromFrame0 } else { Gaps::Null };
        let names: Vec<String> = single.iter().map(|short| format!("{PREFIX}{short}")).collect();
        let options = LogOptions::default().with_changes(Changes::Skip).with_gaps(gaps);
        let table = LogTable::read_named(file, &names, &options)?;
        let mut records = Self::of(&table, gaps, &file.options().limits)?;
        records.left_out.extend(per_member_loss(&counted));
        Ok(Some(records))
    }

    /// Builds the records of a table.
    ///
    /// The fields are laid out first, without padding. Each record is then filled column by column. A mask of the same fields, one byte for
    /// each scalar, is built only if a value is missing.
    fn of(table: &LogTable, gaps: Gaps, limits: &Limits) -> Result<Self> {
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
        let mut bytes: Vec<u8> = try_zeroed_vec(len, limits)?;
        let is_step_missing = |row: usize| gaps == Gaps::Null && !table.stored_steps.get(row);
        for (row, record) in bytes.chunks_exact_mut(size.max(1)).enumerate() {
            put(record, 0, &number(&table.frames, row));
            if !is_step_missing(row) {
                put(record, 8, &number(&table.steps, row));
            }
            for (column, field) in table.columns.iter().zip(fields.iter().skip(2)) {
                fill(column, row, field, record);
            }
        }
        let dtype = DType::Record(Record { fields, size });
        let mut mask = Vec::new();
        if (0..table.len()).any(is_step_missing) || table.columns.iter().any(Column::has_nulls) {
            let each = mask::scalars(&dtype);
            let len = rows.checked_mul(each as u64).ok_or_else(too_wide)?;
            mask = try_zeroed_vec(len, limits)?;
            for (row, record) in mask.chunks_exact_mut(each).enumerate() {
                put(record, 1, &[is_step_missing(row).into()]);
                let mut at = 2_usize;
                for column in &table.columns {
                    // Texts are one value of any length.
                    let end = at.saturating_add(column.width());
                    if let Some(part) = record.get_mut(at..end).filter(|_| column.is_null(row)) {
                        part.fill(1);
                    }
                    at = end;
                }
            }
        }
        let dataset = Dataset {
            path: PATH.into(),
            dtype,
            shape: vec![rows],
            order: Order::C,
            chunks: None,
            codec: "none".into(),
            stored: 0,
            logical: len,
            attributes: vec![],
            visibility: Visibility::Recursive,
        };
        let left_out = table.skipped.iter().map(|skipped| {
            let name = skipped.name.strip_prefix(PREFIX).unwrap_or(&skipped.name);
            Loss { dataset: Some(PATH.into()), what: format!("{name}: {}", skipped.why) }
        });
        Ok(Self { dataset, bytes, mask, left_out: left_out.collect() })
    }

    /// The quantities that the records lack, with the reason.
    pub(crate) fn left_out(&self) -> &[Loss] {
        &self.left_out
    }

    /// The mask of missing values, in records of [`mask_dtype`]; `None` where none is.
    pub(crate) fn mask(&self) -> Result<Option<Array<'_>>> {
        if self.mask.is_empty() {
            return Ok(None);
        }
        let Dataset { dtype, shape, order, .. } = &self.dataset;
        Array::new(mask_dtype(dtype), shape.clone(), *order, self.mask.as_slice().into()).map(Some)
    }

    /// Its description.
    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The records, borrowed.
    pub(crate) fn array(&self) -> Result<Array<'_>> {
        let Dataset { dtype, shape, order, .. } = &self.dataset;
        Array::new(dtype.clone(), shape.clone(), *order, self.bytes.as_slice().into())
    }
}

/// The loss of quantities that have a value for each member of a container.
fn per_member_loss(names: &[String]) -> Option<Loss> {
    if names.is_empty() {
        return None;
    }
    let more = names.len().saturating_sub(MAX_NAMED);
    let named: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what =
        format!("{}{more}: one value for each particle, bond and so on: see log/NAME", named.join(", "));
    Some(Loss { dataset: Some(PATH.into()), what })
}

fn dtype_of(column: &Column) -> DType {
    match &column.values {
        Values::Text(texts) => {
            let chars = |row| texts.get(row).map_or(0, |text: &str| text.chars().count());
            let longest = (0..texts.len()).map(chars).max().unwrap_or(0);
            DType::native(Kind::Unicode, longest.max(1).saturating_mul(4))
        }
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
        // Missing floats are NaN, so that they are visible without the mask, too.
        match column.chunk_type {
            ChunkType::Float => put(record, field.offset, &f32::NAN.to_ne_bytes().repeat(width)),
            ChunkType::Double => put(record, field.offset, &f64::NAN.to_ne_bytes().repeat(width)),
            _ => {}
        }
        return;
    }
    let size = usize::try_from(column.chunk_type.size()).unwrap_or(1);
    let start = row.saturating_mul(width).saturating_mul(size);
    let end = start.saturating_add(width.saturating_mul(size));
    put(record, field.offset, column.values.number_bytes().get(start..end).unwrap_or_default());
}

fn put(record: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = record.get_mut(at..at.saturating_add(bytes.len())) {
        place.copy_from_slice(bytes);
    }
}

fn number(all: &[u64], row: usize) -> [u8; 8] {
    all.get(row).copied().unwrap_or(0).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::sequential::{Plan, to_vec};
    use crate::{OpenOptions, Version};

    type Chunk<'a> = (u64, &'a str, ChunkType, u64, u32, &'a [u8]);

    fn records(chunks: &[Chunk<'_>], defaults: Defaults) -> Option<LogRecords> {
        let plan = Plan::new("a", "hoomd", Version::new(2, 0)).unwrap();
        let bytes = to_vec(plan, chunks).unwrap();
        let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
        LogRecords::read(&file, defaults).unwrap()
    }

    #[test]
    fn a_field_for_each_quantity_and_a_row_for_each_frame() {
        let (half, quarter) = (0.5_f64.to_le_bytes(), 0.25_f64.to_le_bytes());
        let vector: Vec<u8> = [1_u16, 2].iter().flat_map(|one| one.to_le_bytes()).collect();
        let seven = 7_u64.to_le_bytes();
        let found = records(
            &[
                (0, "log/energy", ChunkType::Double, 1, 1, &half),
                (0, "log/vector", ChunkType::Uint16, 1, 2, &vector),
                (0, "log/state", ChunkType::Character, 2, 1, b"ok"),
                (0, "log/particles/x", ChunkType::Double, 1, 1, &half),
                (1, "configuration/step", ChunkType::Uint64, 1, 1, &seven),
                (1, "log/energy", ChunkType::Double, 1, 1, &quarter),
                (1, "log/state", ChunkType::Character, 3, 1, "né".as_bytes()),
                (2, "log/late", ChunkType::Int64, 1, 1, &((1_i64 << 53) + 1).to_le_bytes()),
            ],
            Defaults::Schema,
        )
        .unwrap();
        let described = "[[\"frame\", \"<u8\"], [\"step\", \"<u8\"], [\"energy\", \"<f8\"], [\"vector\", \"<u2\", [2]], \
            [\"state\", \"<U2\"], [\"late\", \"<i8\"]]";
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
        assert_eq!(row(2)[36..44], ((1_i64 << 53) + 1).to_ne_bytes());
        // Two values of the vector, and the last that frames 0 and 1 lack.
        assert_eq!(found.mask, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let left: Vec<&str> = found.left_out().iter().map(|loss| loss.what.as_str()).collect();
        assert!(matches!(left[..], [one] if one.starts_with("particles/x: ")), "{left:?}");
    }

    #[test]
    fn log_records_require_a_global_log() {
        let none = |chunks: &[Chunk<'_>]| records(chunks, Defaults::Schema).is_none();
        assert!(none(&[(0, "particles/N", ChunkType::Uint32, 1, 1, &[0; 4])]));
        assert!(none(&[(0, "log/particles/x", ChunkType::Uint8, 1, 1, &[0])]));
        assert!(none(&[]));
    }

    #[test]
    fn only_what_is_stored_is_there_without_the_schema() {
        let value = |of: u16| of.to_le_bytes();
        let found = records(
            &[
                (0, "log/p", ChunkType::Uint16, 1, 1, &value(7)),
                (1, "configuration/step", ChunkType::Uint64, 1, 1, &9_u64.to_le_bytes()),
                (2, "log/p", ChunkType::Uint16, 1, 1, &value(8)),
            ],
            Defaults::StoredOnly,
        )
        .unwrap();
        // Frame, step and p of each row.
        assert_eq!(found.mask, [0, 1, 0, 0, 0, 1, 0, 1, 0]);
        let row = |row: usize| &found.bytes[row * 18..][..18];
        assert_eq!(row(0)[16..], 7_u16.to_ne_bytes());
        assert_eq!((&row(1)[8..16], &row(1)[16..]), (&9_u64.to_ne_bytes()[..], &[0, 0][..]));
        assert_eq!((&row(2)[8..16], &row(2)[16..]), (&[0; 8][..], &8_u16.to_ne_bytes()[..]));
    }

    #[test]
    fn a_quantity_that_changes_is_named_with_its_frame() {
        let pair = [1.0_f64.to_le_bytes(), 2.0_f64.to_le_bytes()].concat();
        let found = records(
            &[
                (0, "log/e", ChunkType::Double, 1, 1, &pair[..8]),
                (1, "log/f", ChunkType::Int8, 1, 1, &[1]),
                (3, "log/e", ChunkType::Double, 2, 1, &pair),
            ],
            Defaults::Schema,
        )
        .unwrap();
        let [left] = found.left_out() else { panic!() };
        assert!(left.what.starts_with("e: frame 3 has 2 by 1"), "{}", left.what);
    }
}

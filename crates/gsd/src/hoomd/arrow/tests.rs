use arrow_array::cast::AsArray;
use arrow_schema::DataType;

use super::*;
use crate::hoomd::columns::{Gaps, LogOptions};
use crate::writer::sequential::{NewChunk, Plan, to_vec};
use crate::{ChunkType, File, OpenOptions, Version};

/// Scalars, vectors, a matrix, a text, a quantity that comes later, one of no values.
fn table(gaps: Gaps) -> LogTable {
    let word = |value: f64| value.to_le_bytes();
    let pair = [word(3.0), word(4.0)].concat();
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "log/energy", ChunkType::Double, 1, 1, &[0, 0, 0, 0, 0, 0, 0xF8, 0x3F]),
        (0, "log/empty", ChunkType::Double, 0, 3, b""),
        (0, "log/matrix", ChunkType::Uint8, 2, 3, &[1, 2, 3, 4, 5, 6]),
        (0, "log/note", ChunkType::Character, 2, 1, "é".as_bytes()),
        (0, "log/pair", ChunkType::Double, 2, 1, &pair),
        (1, "configuration/step", ChunkType::Uint64, 1, 1, &[9, 0, 0, 0, 0, 0, 0, 0]),
        (1, "log/late", ChunkType::Int16, 1, 2, &[1, 0, 255, 255]),
        (2, "log/note", ChunkType::Character, 1, 1, b"b"),
    ];
    let bytes = to_vec(Plan::new("test", "hoomd", Version::new(1, 4)).unwrap(), &chunks).unwrap();
    let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
    LogTable::read(&file, &LogOptions::default().with_gaps(gaps)).unwrap()
}

fn check(batch: &RecordBatch) {
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["frame", "step", "log/energy", "log/matrix", "log/note", "log/pair", "log/late"]);
    let numbers = |at: usize| batch.column(at).as_primitive::<UInt64Type>().values().to_vec();
    assert_eq!((numbers(0), numbers(1)), (vec![0, 1, 2], vec![0, 9, 0]));
    let energy = batch.column(2).as_primitive::<Float64Type>();
    assert_eq!((energy.value(0), energy.null_count(), energy.is_null(2)), (1.5, 2, true));
    let matrix = batch.column(3).as_fixed_size_list();
    let rows = matrix.value(0);
    let rows = rows.as_fixed_size_list();
    assert_eq!((matrix.value_length(), rows.value_length(), matrix.is_null(1)), (2, 3, true));
    assert_eq!(rows.value(1).as_primitive::<UInt8Type>().values(), &[4, 5, 6]);
    let note: Vec<Option<&str>> = batch.column(4).as_string::<i32>().iter().collect();
    assert_eq!(note, [Some("é"), None, Some("b")]);
    let late = batch.column(6).as_fixed_size_list();
    assert_eq!(late.value(1).as_primitive::<Int16Type>().values(), &[1, -1]);
    assert!(late.is_null(0) && late.is_null(2));
}

#[test]
fn gaps_are_nulls_in_batches_and_files() {
    let batch = record_batch(table(Gaps::Null), InheritedValues::Count, &Limits::default()).unwrap();
    check(&batch);
    let mut ipc = Vec::new();
    if cfg!(target_endian = "big") {
        // Both formats declare little-endian values, so that they are refused here.
        assert!(
            write_ipc(&batch, &mut ipc).is_err()
                && write_parquet(&batch, &mut ipc).is_err()
                && ipc.is_empty()
        );
        return;
    }
    write_ipc(&batch, &mut ipc).unwrap();
    let mut reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(ipc), None).unwrap();
    let read = reader.next().unwrap().unwrap();
    assert_eq!(read, batch);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.parquet");
    write_parquet(&batch, std::fs::File::create(&path).unwrap()).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    check(&reader.build().unwrap().next().unwrap().unwrap());
}

#[test]
fn inherited_values_are_counted_or_flagged() {
    let limits = Limits::default();
    let batch = record_batch(table(Gaps::FromFrame0), InheritedValues::Columns, &limits).unwrap();
    let schema = batch.schema();
    let field = schema.field_with_name("log/note").unwrap();
    assert_eq!((field.metadata()["gsd:inherited"].as_str(), field.is_nullable()), ("1", false));
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let flags: Vec<Option<bool>> = column("log/note:inherited").as_boolean().iter().collect();
    assert_eq!(flags, [Some(false), Some(true), Some(false)]);
    let note: Vec<Option<&str>> = column("log/note").as_string::<i32>().iter().collect();
    assert_eq!(note, [Some("é"), Some("é"), Some("b")]);
    // Frame 0 has none to inherit.
    assert_eq!(column("log/late").null_count(), 2);
    assert!(matches!(column("log/pair").data_type(), DataType::FixedSizeList(_, 2)));
    let little = Limits::default().with_memory(3);
    assert!(record_batch(table(Gaps::FromFrame0), InheritedValues::Count, &little).is_err());
}

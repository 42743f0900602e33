use container_core::ErrorKind;

use super::super::WriterOptions;
use super::*;

fn usage<T: std::fmt::Debug>(result: Result<T>) {
    let error = result.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn threads_fill_a_chunk_and_the_frame_waits_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gsd");
    let mut writer = Writer::create(&path, &WriterOptions::default()).unwrap();
    writer.write_chunk("before", 1, 1, &[1_u8]).unwrap();
    let chunk = writer.reserve_chunk("values", ChunkType::Uint32, 4000, 2).unwrap();
    writer.write_chunk("after", 1, 1, &[2_u8]).unwrap();
    usage(writer.reserve_chunk("values", ChunkType::Uint32, 1, 1));
    usage(writer.reserve_chunk("m", ChunkType::Uint32, 1, 0));
    usage(writer.reserve_chunk("n", ChunkType::Double, u64::MAX / 4, 1));
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let rows = chunk.row_writer();
            scope.spawn(move || {
                for part in 0..10 {
                    let first = (part * 4 + thread) * 100;
                    let values: Vec<u32> =
                        (0..200).map(|at| u32::try_from(first * 2 + at).unwrap()).collect();
                    rows.write_rows(first, &values).unwrap();
                }
            });
        }
    });
    assert_eq!(chunk.missing(), None);
    writer.end_frame().unwrap();

    let empty = writer.reserve_chunk("values", ChunkType::Uint32, 0, 2).unwrap();
    assert_eq!(empty.missing(), None);
    let held = writer.reserve_chunk("held", ChunkType::Uint8, 10, 1).unwrap();
    let rows = held.row_writer();
    usage(rows.write_rows(0, &[1_u16]));
    usage(rows.write_rows(8, &[1_u8; 3]));
    usage(rows.write_rows(u64::MAX, &[1_u8; 3]));
    rows.write_rows(2, &[7_u8; 3]).unwrap();
    usage(rows.write_rows(4, &[1_u8]));
    usage(rows.write_rows(0, &[1_u8; 10]));
    assert_eq!(held.missing(), Some(0..2));
    usage(writer.end_frame());
    held.confirm(0..2).unwrap();
    usage(held.confirm(1..6));
    assert_eq!(held.missing(), Some(5..10));
    held.confirm(5..10).unwrap();
    writer.end_frame().unwrap();
    usage(rows.write_rows(0, &[1_u8]));
    let given_up = writer.reserve_chunk("held", ChunkType::Uint8, 10, 1).unwrap();
    writer.close().unwrap();
    usage(given_up.row_writer().write_rows(0, &[1_u8]));
    usage(given_up.confirm(0..1));

    let file = crate::File::open(&path).unwrap();
    assert_eq!(file.nframes(), 2);
    let values = file.find_chunk(0, "values").unwrap();
    assert!(file.read_elements::<u32>(&values).unwrap().iter().copied().eq(0..8000));
    let of = |frame, name| file.read_chunk(&file.find_chunk(frame, name).unwrap()).unwrap();
    assert_eq!((&*of(0, "before"), &*of(0, "after")), (&[1][..], &[2][..]));
    assert_eq!(*of(1, "held"), [0, 0, 7, 7, 7, 0, 0, 0, 0, 0]);
}

#[test]
fn a_sparse_chunk_of_over_four_gibibytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.gsd");
    let mut writer = Writer::create(&path, &WriterOptions::default()).unwrap();
    let rows = (5 << 30) / 24;
    let chunk = writer.reserve_chunk("position", ChunkType::Double, rows, 3).unwrap();
    let row_writer = chunk.row_writer();
    row_writer.write_rows(0, &[1_f64, 2.0, 3.0]).unwrap();
    row_writer.write_rows(rows - 1, &[4_f64, 5.0, 6.0]).unwrap();
    chunk.confirm(1..rows - 1).unwrap();
    writer.write_chunk("step", 1, 1, &[8_u64]).unwrap();
    writer.end_frame().unwrap();
    writer.close().unwrap();
    let file = crate::File::open(&path).unwrap();
    let entry = file.find_chunk(0, "position").unwrap();
    let row = |at: u64| file.read_rows(&entry, at..at + 1).unwrap().into_owned();
    assert_eq!(row(0), [1_f64, 2.0, 3.0].map(f64::to_le_bytes).concat());
    assert_eq!(row(1), [0; 24]);
    assert_eq!(row(rows - 1), [4_f64, 5.0, 6.0].map(f64::to_le_bytes).concat());
    let step = file.find_chunk(0, "step").unwrap();
    assert!(step.location > 5 << 30);
    assert_eq!(*file.read_elements::<u64>(&step).unwrap(), [8]);
}

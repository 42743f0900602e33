use container_core::ErrorKind;
use container_core::source::Source;
use proptest::prelude::*;

use super::*;
use crate::writer::sequential::{NewChunk, Plan, to_vec};
use crate::{OpenOptions, Strictness, Version};

/// Bytes that are only copied, never lent.
struct CopyingSource(Vec<u8>);

impl Source for CopyingSource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

fn file(chunks: &[NewChunk<'_>]) -> [File; 2] {
    let plan = Plan::new("test", "hoomd", Version::new(1, 4)).unwrap();
    let bytes = to_vec(plan, chunks).unwrap();
    let options = OpenOptions::default().with_strictness(Strictness::Strict);
    let lent = File::from_source(Box::new(bytes.clone()), &options).unwrap();
    [lent, File::from_source(Box::new(CopyingSource(bytes)), &options).unwrap()]
}

fn csv(table: &LogTable) -> String {
    let mut out = Vec::new();
    crate::hoomd::csv::write(table, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const STEP: &str = "configuration/step";

/// Values with gaps, a late one, a vector, a text: what `gsd.hoomd` writes for a logger.
fn logged() -> [File; 2] {
    let word = |value: f64| value.to_le_bytes();
    let (a, b, c) = (word(1.5), word(-0.25), word(1e300));
    let pair = [a, b].concat();
    let step = 7_u64.to_le_bytes();
    file(&[
        (0, "log/energy", ChunkType::Double, 1, 1, &a),
        (0, "log/note", ChunkType::Character, 5, 1, b"a,\"b\""),
        (0, "log/pair", ChunkType::Double, 2, 1, &pair),
        (1, STEP, ChunkType::Uint64, 1, 1, &step),
        (1, "log/late", ChunkType::Int16, 1, 2, &[1, 0, 255, 255]),
        (2, "log/energy", ChunkType::Double, 1, 1, &c),
        (2, "log/note", ChunkType::Character, 4, 1, "é\0\0".as_bytes()),
        (3, "other", ChunkType::Uint8, 1, 1, b"x"),
    ])
}

#[test]
fn gaps_are_frame_0s_or_null() {
    for file in logged() {
        let table = LogTable::read(&file, &LogOptions::default()).unwrap();
        assert_eq!((&table.frames[..], &table.steps[..]), (&[0, 1, 2, 3][..], &[0, 7, 0, 0][..]));
        let energy = table.column("energy").unwrap();
        assert_eq!(energy.values.elements::<f64>().unwrap(), [1.5, 1.5, 1e300, 1.5]);
        let inherited: Vec<bool> = (0..4).map(|row| energy.is_inherited(row)).collect();
        assert_eq!((inherited, energy.has_nulls()), (vec![false, true, false, true], false));
        let late = table.column("log/late").unwrap();
        assert_eq!(
            (late.shape(), late.values.elements::<i16>().unwrap()),
            (vec![2], &[0, 0, 1, -1, 0, 0, 0, 0][..])
        );
        assert!(late.is_null(0) && !late.is_null(1) && late.is_null(3));
        assert_eq!(
            csv(&table),
            "frame,step,log/energy,log/note,log/pair_0,log/pair_1,log/late_0,log/late_1\n\
             0,0,1.5,\"a,\"\"b\"\"\",1.5,-0.25,,\n\
             1,7,1.5,\"a,\"\"b\"\"\",1.5,-0.25,1,-1\n\
             2,0,1e300,é,1.5,-0.25,,\n\
             3,0,1.5,\"a,\"\"b\"\"\",1.5,-0.25,,\n"
        );
        let options = LogOptions::default().with_gaps(Gaps::Null).with_shapes(Shapes::Scalars);
        assert_eq!(
            csv(&LogTable::read(&file, &options).unwrap()),
            "frame,step,log/energy,log/note\n0,0,1.5,\"a,\"\"b\"\"\"\n1,7,,\n2,0,1e300,é\n3,0,,\n"
        );
    }
}

#[test]
fn logs_are_read_by_their_very_names() {
    let value = 1.5_f64.to_le_bytes();
    let odd = ["log/a*", "log/[a]", "log/ab"].map(|name| (0, name, ChunkType::Double, 1, 1, &value[..]));
    for file in file(&odd) {
        let read = |names: &[&str]| LogTable::read_named(&file, names, &LogOptions::default());
        let names = |names: &[&str]| {
            let table = read(names).unwrap();
            table.columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["log/a*"]), ["log/a*"]);
        assert_eq!(names(&["log/ab", "log/[a]", "log/ab"]), ["log/[a]", "log/ab"]);
        assert_eq!(names(&[]), [""; 0]);
        for unknown in ["log/b", "ab"] {
            assert!(matches!(read(&[unknown]).unwrap_err().kind(), ErrorKind::Usage(_)));
        }
    }
}

#[test]
fn names_and_frames_are_chosen() {
    for file in logged() {
        let frames = Frames { start: 3, step: -2, count: 2 };
        let options = LogOptions::default().with_names(["late", "log/e*"]).with_frames(frames);
        let table = LogTable::read(&file, &options).unwrap();
        assert_eq!(csv(&table), "frame,step,log/energy,log/late_0,log/late_1\n3,0,1.5,,\n1,7,1.5,1,-1\n");
        let only = LogOptions::default().with_names(["late"]).with_frames(Frames::range(2..4));
        let table = LogTable::read(&file, &only).unwrap();
        assert_eq!((table.columns.len(), table.skipped[0].frame), (0, None));
        let none = LogTable::read(&file, &LogOptions::default().with_names(["enrgy"])).unwrap_err();
        assert!(matches!(none.kind(), ErrorKind::Usage(_)));
        assert!(LogTable::read(&file, &only.clone().with_frames(Frames::range(2..5))).is_err());
    }
}

#[test]
fn a_quantity_that_changes_is_refused_or_left_out() {
    let (one, two) = (1_f64.to_le_bytes(), [1_f32.to_le_bytes(), 2_f32.to_le_bytes()].concat());
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "log/a", ChunkType::Double, 1, 1, &one),
        (0, "log/b", ChunkType::Double, 1, 1, &one),
        (1, "log/a", ChunkType::Float, 1, 2, &two),
        (1, "log/b", ChunkType::Double, 1, 1, &one),
        (2, "log/a", ChunkType::Float, 2, 1, &two),
    ];
    for file in file(&chunks) {
        let error = LogTable::read(&file, &LogOptions::default()).unwrap_err();
        assert!(error.to_string().contains("frame 1 has 1 by 2 of float"), "{error}");
        let table = LogTable::read(&file, &LogOptions::default().with_changes(Changes::Skip)).unwrap();
        assert_eq!((table.columns.len(), table.skipped[0].name.as_str()), (1, "log/a"));
        assert_eq!(table.skipped[0].frame, Some(1));
        assert_eq!(csv(&table), "frame,step,log/b\n0,0,1.0\n1,0,1.0\n2,0,1.0\n");
    }
}

#[test]
fn numbers_of_every_type_have_their_shortest_text() {
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "log/f", ChunkType::Float, 1, 1, &[0xCD, 0xCC, 0xCC, 0x3D]),
        (0, "log/i", ChunkType::Int8, 1, 1, &[0x80]),
        (
            0,
            "log/n",
            ChunkType::Double,
            3,
            1,
            &[0, 0, 0, 0, 0, 0, 0xF8, 0x7F, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF, 1, 0, 0, 0, 0, 0, 0, 0],
        ),
        (0, "log/t", ChunkType::Character, 0, 1, b""),
        (0, "log/u", ChunkType::Uint64, 1, 1, &[0xFF; 8]),
        (0, "log/z", ChunkType::Double, 0, 3, b""),
    ];
    for file in file(&chunks) {
        let table = LogTable::read(&file, &LogOptions::default()).unwrap();
        assert_eq!(
            csv(&table),
            "frame,step,log/f,log/i,log/n_0,log/n_1,log/n_2,log/t,log/u\n\
             0,0,0.1,-128,nan,-inf,5e-324,\"\",18446744073709551615\n"
        );
    }
}

#[test]
fn steps_of_other_widths_are_widened_and_others_refused() {
    for file in file(&[(0, STEP, ChunkType::Uint32, 1, 1, &[5, 0, 0, 0])]) {
        assert_eq!(LogTable::read(&file, &LogOptions::default()).unwrap().steps, [5]);
    }
    for file in file(&[(0, STEP, ChunkType::Float, 1, 1, &[5, 0, 0, 0])]) {
        let error = LogTable::read(&file, &LogOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Against looking up chunk by chunk; long enough for several shares of rows.
    #[test]
    fn columns_are_their_chunks(
        rows in prop_oneof![9 => 1..200_u64, 1 => 17_000..35_000_u64],
        every in prop::collection::vec((0..3_u64, 1..2000_u64), 1..5),
        step in prop_oneof![Just(1_i64), -3..4_i64],
        threads in 0..4_usize, null in any::<bool>(),
    ) {
        prop_assume!(step != 0);
        let mut chunks: Vec<(u64, String, Vec<u8>)> = Vec::new();
        for frame in 0..rows {
            for (at, (first, every)) in every.iter().enumerate() {
                if frame >= *first && (frame - first) % every == 0 {
                    chunks.push((frame, format!("log/{at}"), (frame * 31 + at as u64).to_le_bytes().to_vec()));
                }
            }
        }
        let chunks: Vec<NewChunk<'_>> =
            chunks.iter().map(|(frame, name, bytes)| (*frame, name.as_str(), ChunkType::Uint64, 1, 1, &bytes[..])).collect();
        for file in file(&chunks) {
            let all = file.nframes();
            let count = all.div_ceil(step.unsigned_abs());
            let frames = Frames { start: if step > 0 { 0 } else { all.saturating_sub(1) }, step, count };
            let gaps = if null { Gaps::Null } else { Gaps::FromFrame0 };
            let options = LogOptions::default().with_frames(frames).with_threads(threads).with_gaps(gaps);
            let table = LogTable::read(&file, &options).unwrap();
            prop_assert_eq!(table.len() as u64, count);
            prop_assert_eq!(table.columns.len() + table.skipped.len(), file.names().len());
            for column in &table.columns {
                let values = column.values.elements::<u64>().unwrap();
                for (row, frame) in table.frames.iter().enumerate() {
                    let own = file.find_chunk(*frame, &column.name);
                    let entry = own.or_else(|| file.find_chunk(0, &column.name).filter(|_| !null));
                    let value = entry.map(|entry| file.read_elements::<u64>(&entry).unwrap()[0]);
                    prop_assert_eq!((value.is_none(), own.is_some()), (column.is_null(row), column.stored.get(row)));
                    prop_assert_eq!(values[row], value.unwrap_or(0), "row {}", row);
                }
            }
        }
    }
}

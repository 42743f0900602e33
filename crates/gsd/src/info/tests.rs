use container_core::source::{SparseSource, drive};

use super::*;
use crate::writer::sequential::{NewChunk, Plan, to_vec};
use crate::{ChunkType, OpenOptions, Version};

#[test]
fn missing_ranges_are_requested_for_info() {
    let lengths = [2.0_f32, 3.0, 4.0, 0.0, 0.0, 0.0].map(f32::to_le_bytes).concat();
    let chunks: [NewChunk<'_>; 2] = [
        (0, "configuration/box", ChunkType::Float, 6, 1, &lengths),
        (0, "particles/types", ChunkType::Int8, 2, 2, b"A\0B\0"),
    ];
    let bytes = to_vec(Plan::new("test", "hoomd", Version::new(1, 4)).unwrap(), &chunks).unwrap();
    let told = |source: Box<dyn container_core::source::Source>| {
        meta(&File::from_source(source, &OpenOptions::default())?)
    };
    let whole = told(Box::new(bytes.clone())).unwrap();
    assert_eq!(whole.get("types"), Some(&Value::List(vec!["A".into(), "B".into()])));
    let mut sparse = SparseSource::new(bytes.len() as u64);
    let load = |range: std::ops::Range<u64>| {
        Ok(bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()].to_vec())
    };
    assert_eq!(drive(&mut sparse, load, |source| told(Box::new(source.clone()))).unwrap(), whole);
}

/// The details of a file, as the lens lists them.
fn told(bytes: Vec<u8>) -> Vec<(String, Value)> {
    let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
    let name_stats = NameStats::new(&file, Defaults::Schema).unwrap();
    details(&file, &name_stats, &Limits::default())
}

fn file(schema: &str, chunks: &[NewChunk<'_>]) -> Vec<u8> {
    to_vec(Plan::new("a program", schema, Version::new(1, 4)).unwrap(), chunks).unwrap()
}

fn named(details: &[(&str, Value)]) -> Vec<(String, Value)> {
    details.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

#[test]
fn details_of_a_trajectory_are_its_steps_counts_types_and_logs() {
    let (first, last) = (10_u64.to_le_bytes(), 300_u16.to_le_bytes());
    let (three, five) = (3_u32.to_le_bytes(), 5_u32.to_le_bytes());
    let chunks: [NewChunk<'_>; 6] = [
        (0, "configuration/step", ChunkType::Uint64, 1, 1, &first),
        (0, "particles/N", ChunkType::Uint32, 1, 1, &three),
        (0, "particles/types", ChunkType::Int8, 2, 3, b"A\0\0bcd"),
        (0, "log/e", ChunkType::Double, 1, 1, &[0; 8]),
        (2, "particles/N", ChunkType::Uint32, 1, 1, &five),
        (3, "configuration/step", ChunkType::Uint16, 1, 1, &last),
    ];
    let common = [
        ("frames", 4_u64.into()),
        ("chunks", 6_u64.into()),
        ("names", 4_u64.into()),
        ("schema", "hoomd".into()),
        ("schema version", "1.4".into()),
        ("application", "a program".into()),
    ];
    let of_schema = [
        ("first step", 10_u64.into()),
        ("last step", 300_u64.into()),
        ("particles", 3_u64.into()),
        ("least particles", 3_u64.into()),
        ("most particles", 5_u64.into()),
        ("particle types", Value::List(vec!["A".into(), "bcd".into()])),
        ("log", Value::List(vec!["log/e".into()])),
        ("chunk bytes", (8_u64 + 4 + 6 + 8 + 4 + 2).into()),
        ("dead bytes", 0_u64.into()),
        ("orphan bytes", 0_u64.into()),
    ];
    let little = file("hoomd", &chunks);
    assert_eq!(told(little.clone()), named(&[&common[..], &of_schema].concat()));
    // A big-endian file says so, and its numbers are the same.
    let mut expected = named(&[&common[..], &[("byte order", "big".into())], &of_schema].concat());
    assert_eq!(told(crate::rewrite::big_endian(&little)), expected);
    // Bytes that no entry describes.
    let mut more = little;
    more.extend([7; 11]);
    expected.retain(|(name, _)| name != "byte order");
    expected.last_mut().unwrap().1 = 11_u64.into();
    assert_eq!(told(more), expected);
    // Of another schema there is no more than of any file.
    let other = told(file("none", &chunks));
    let names: Vec<&str> = other.iter().map(|(name, _)| name.as_str()).collect();
    let all = ["frames", "chunks", "names", "schema", "schema version", "application"];
    assert_eq!(names, [&all[..], &["chunk bytes", "dead bytes", "orphan bytes"]].concat());
}

#[test]
fn details_of_a_frame_without_chunks_are_the_defaults() {
    let five = 5_u32.to_le_bytes();
    let detail = |chunks: &[NewChunk<'_>], name: &str| {
        told(file("hoomd", chunks)).into_iter().find(|(own, _)| own == name).map(|(_, value)| value)
    };
    let log: NewChunk<'_> = (0, "log/e", ChunkType::Double, 1, 1, &[0; 8]);
    assert_eq!(detail(&[log], "first step"), Some(0_u64.into()));
    assert_eq!(detail(&[log], "particles"), Some(0_u64.into()));
    assert_eq!(detail(&[log], "particle types"), Some(Value::List(vec!["A".into()])));
    assert_eq!(detail(&[], "first step"), None);
    // As many particles in each frame, stored once or twice: nothing is said of least and most.
    let n = |frame: u64| -> NewChunk<'_> { (frame, "particles/N", ChunkType::Uint32, 1, 1, &five) };
    for chunks in [&[n(0)][..], &[n(0), n(1)]] {
        assert_eq!(detail(chunks, "particles"), Some(5_u64.into()));
        assert_eq!(detail(chunks, "least particles"), None);
    }
    // Stored in frame 1 alone, so that frame 0 has none.
    let late = [log, n(1)];
    assert_eq!(detail(&late, "least particles"), Some(0_u64.into()));
    assert_eq!(detail(&late, "most particles"), Some(5_u64.into()));
    // Two numbers are no step.
    let two: NewChunk<'_> = (0, "configuration/step", ChunkType::Uint32, 2, 1, &[0; 8]);
    assert_eq!(detail(&[two], "first step"), None);
}

#[test]
fn metadata_have_the_box_in_either_precision_or_the_default() {
    let single = [2.0_f32, 3.0, 4.0, 0.5, 0.25, -1.0].map(f32::to_le_bytes).concat();
    let double = [2.0_f64, 3.0, 4.0, 0.5, 0.25, -1.0].map(f64::to_le_bytes).concat();
    let values: Value = [2.0, 3.0, 4.0, 0.5, 0.25, -1.0].map(Value::from).to_vec().into();
    let unit: Value = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0].map(Value::from).to_vec().into();
    let simulation_box = |chunks: &[NewChunk<'_>], schema: &str| {
        let file = File::from_source(Box::new(file(schema, chunks)), &OpenOptions::default()).unwrap();
        meta(&file).unwrap().get("box").cloned()
    };
    let of = |kind: ChunkType, n: u64, bytes| {
        simulation_box(&[(0, "configuration/box", kind, n, 1, bytes)], "hoomd")
    };
    assert_eq!(of(ChunkType::Float, 6, &single), Some(values.clone()));
    assert_eq!(of(ChunkType::Double, 6, &double), Some(values));
    // Longer than a box.
    assert_eq!(of(ChunkType::Double, 7, &[0; 56]), Some(unit.clone()));
    assert_eq!(of(ChunkType::Int32, 6, &[0; 24]), Some(Value::List(vec![])));
    assert_eq!(simulation_box(&[], "hoomd"), Some(unit));
    assert_eq!(simulation_box(&[], "none"), None);
}

//! Elements of chunks as Rust values: borrowed, copied, swapped.

use std::borrow::Cow;
use std::path::PathBuf;

use container_core::dtype::{Element, Order};
use container_core::source::Access;
use gsd::sequential::{Plan, to_vec};
use gsd::{ChunkType, ErrorKind, File, IndexEntry, Limits, OpenOptions, Version};

const VALUES: [f32; 6] = [1.5, -2.0, 3.0, 4.0, 5.0, 6.25];

/// One byte before the values, so that they are aligned only with the plan's alignment.
fn file(alignment: u64) -> File {
    let plan = Plan::new("test", "none", Version::new(1, 0)).unwrap().with_alignment(alignment).unwrap();
    let values: Vec<u8> = VALUES.iter().flat_map(|value| value.to_le_bytes()).collect();
    let chunks = [(0, "a", ChunkType::Uint8, 1, 1, &[7][..]), (0, "b", ChunkType::Float, 3, 2, &values)];
    // Words, so that offsets aligned in the file are aligned in memory.
    let bytes = to_vec(plan, &chunks).unwrap();
    let mut words = vec![0_u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    let bytes: &'static [u8] = bytemuck::cast_slice(Vec::leak(words));
    File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap()
}

#[test]
fn aligned_elements_are_borrowed_and_others_copied() {
    for (alignment, borrowed) in [(8, cfg!(target_endian = "little")), (1, false)] {
        let file = file(alignment);
        let entry = file.find_chunk(0, "b").unwrap();
        let elements = file.read_elements::<f32>(&entry).unwrap();
        assert_eq!((&*elements, matches!(elements, Cow::Borrowed(_))), (&VALUES[..], borrowed));
        let mut copy = [0.0_f32; 6];
        file.read_chunk_into(&entry, &mut copy).unwrap();
        assert_eq!(copy, VALUES);
    }
}

#[test]
fn other_types_and_other_counts_are_refused() {
    let file = file(8);
    let entry = file.find_chunk(0, "b").unwrap();
    let usage = |result: gsd::Result<()>| matches!(result.unwrap_err().kind(), ErrorKind::Usage(_));
    assert!(usage(file.read_chunk_into(&entry, &mut [0.0_f32; 5])));
    assert!(usage(file.read_chunk_into(&entry, &mut [0.0_f32; 7])));
    assert!(usage(file.read_chunk_into(&entry, &mut [0_u32; 6])));
    assert!(usage(file.read_chunk_into(&entry, &mut [0.0_f64; 3])));
    assert!(usage(file.read_elements::<i32>(&entry).map(drop)));
}

/// A chunk in both ways, if it is of `T`, as the array has it.
fn compare<T: Element + PartialEq + std::fmt::Debug>(
    file: &File,
    entry: &IndexEntry,
    chunk_type: ChunkType,
) -> usize {
    if entry.chunk_type() != Some(chunk_type) {
        return 0;
    }
    let array = file.read_array(entry).unwrap();
    let expected = array.elements::<T>(Order::C, &Limits::default()).unwrap();
    let same =
        |elements: &[T]| bytemuck::cast_slice::<T, u8>(elements) == bytemuck::cast_slice::<T, u8>(&expected);
    assert!(same(&file.read_elements::<T>(entry).unwrap()));
    let mut copy = vec![T::zeroed(); expected.len()];
    file.read_chunk_into(entry, &mut copy).unwrap();
    assert!(same(&copy));
    1
}

#[test]
fn both_byte_orders_and_all_ways_into_a_file_give_the_same() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/ok");
    for name in ["fl_all_types.gsd", "be_v21_types.gsd"] {
        for access in [Access::Auto, Access::Positioned, Access::Memory] {
            let mut options = OpenOptions::default();
            options.access = access;
            let file = File::open_with(folder.join(name), &options).unwrap();
            let mut compared = 0;
            for entry in file.index().iter() {
                compared += compare::<u8>(&file, &entry, ChunkType::Uint8);
                compared += compare::<i16>(&file, &entry, ChunkType::Int16);
                compared += compare::<u32>(&file, &entry, ChunkType::Uint32);
                compared += compare::<i64>(&file, &entry, ChunkType::Int64);
                compared += compare::<f32>(&file, &entry, ChunkType::Float);
                compared += compare::<f64>(&file, &entry, ChunkType::Double);
            }
            assert!(compared >= 6, "{name}: {compared}");
        }
    }
}

#[test]
fn names_are_found_one_after_the_other_to_the_end() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/odd");
    let found = |fixture: &str, prefix: &str| {
        let file = File::open(folder.join(fixture)).unwrap();
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = file.find_matching_chunk_name(prefix, names.last().map(String::as_str)) {
            assert!(names.len() < file.names().len(), "{names:?}");
            names.push(name.into_owned());
        }
        names
    };
    assert_eq!(found("names_same.gsd", ""), ["a"]);
    assert_eq!(found("name_not_utf8.gsd", ""), ["caf\u{fffd}", "b"]);
}

#[test]
fn rows_are_part_of_what_all_are() {
    for alignment in [8, 1] {
        let file = file(alignment);
        let entry = file.find_chunk(0, "b").unwrap();
        for (start, end) in (0..4_u32).flat_map(|start| (start..4).map(move |end| (start, end))) {
            let rows = file.read_rows_elements::<f32>(&entry, start.into()..end.into()).unwrap();
            let expected = &VALUES[2 * start as usize..2 * end as usize];
            assert_eq!(
                (&*rows, matches!(rows, Cow::Borrowed(_))),
                (expected, alignment == 8 && cfg!(target_endian = "little"))
            );
        }
        for (start, end) in [(0, 4), (4, 4), (2, 1)] {
            let error = file.read_rows_elements::<f32>(&entry, start..end).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        }
        assert!(file.read_rows_elements::<u32>(&entry, 0..1).is_err());
    }
}

#[test]
fn text_ends_where_its_padding_begins() {
    let plan = Plan::new("test", "none", Version::new(1, 0)).unwrap();
    let text = |name, chunk_type, bytes: &'static [u8]| (0, name, chunk_type, bytes.len() as u64, 1, bytes);
    let chunks = [
        text("a", ChunkType::Character, "caf\u{e9}\0".as_bytes()),
        text("b", ChunkType::Int8, b"a\0b\0\0"),
        text("c", ChunkType::Uint8, b"\0\0"),
        text("d", ChunkType::Character, b""),
        text("e", ChunkType::Character, b"\xff"),
        (0, "f", ChunkType::Float, 1, 1, &[0; 4]),
    ];
    let bytes = to_vec(plan, &chunks).unwrap();
    let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
    let read = |name| file.read_string(&file.find_chunk(0, name).unwrap());
    for (name, expected) in [("a", "caf\u{e9}"), ("b", "a\0b"), ("c", ""), ("d", "")] {
        assert_eq!(read(name).unwrap(), expected);
    }
    assert!(matches!(read("e").unwrap_err().kind(), ErrorKind::Malformed(_)));
    assert!(matches!(read("f").unwrap_err().kind(), ErrorKind::Usage(_)));
    assert_eq!((file.application(), file.schema()), ("test".to_owned(), "none".to_owned()));
    let names: Vec<_> = file.frame_chunks(0).map(|(name, entry)| (name.into_owned(), entry.n)).collect();
    let expected = [("a", 6), ("b", 5), ("c", 2), ("d", 0), ("e", 1), ("f", 1)];
    assert_eq!(names, expected.map(|(name, n)| (name.to_owned(), n)));
    assert_eq!((file.contains(0, "f"), file.contains(0, "g"), file.contains(1, "f")), (true, false, false));
    assert_eq!(file.frame_chunks(1).count(), 0);
}

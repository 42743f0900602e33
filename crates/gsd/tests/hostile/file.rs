//! The file layer: claims of header and index, names, versions.

use std::fs;

use container_core::source::Access;
use gsd::{ErrorKind, File, OpenOptions, Strictness, Version};

use crate::crafted::{Chunk, change, entry, file, open, said, word};

const V2: Version = Version::new(2, 1);
const V1: Version = Version::new(1, 0);

/// `frames` frames with a number each.
fn counted(frames: u64, slots: usize) -> Vec<u8> {
    let chunks: Vec<Chunk<'_>> = (0..frames).map(|frame| (frame, 0, 1, 1, 1, &[7_u8][..])).collect();
    file(V2, b"none", slots, b"a", &chunks)
}

#[test]
fn blocks_whose_sizes_wrap() {
    for (at, value) in [
        (16, 1 << 59),
        (16, (1 << 59) + 128),
        (16, u64::MAX),
        (32, (1 << 58) + 16),
        (32, u64::MAX),
        (8, u64::MAX - 31),
        (8, 1 << 63),
        (24, u64::MAX - 63),
        (24, 1 << 63),
    ] {
        let (opens, codes) = said(&word(counted(2, 8), at, value));
        assert_eq!(opens, [false, false, true], "{at} {value}");
        assert!(codes.iter().any(|code| code.ends_with("_past_end")), "{at} {value}: {codes:?}");
    }
}

#[test]
fn chunks_whose_sizes_wrap() {
    for (n, m, location) in [
        (1 << 62, 4, 584),
        ((1 << 62) + 1, 4, 584),
        (u64::MAX, u32::MAX, 584),
        (1, 1, -1),
        (1, 1, i64::MIN),
        (1, 1, i64::MAX),
        (1 << 40, 1, 584),
    ] {
        let broken = change(counted(3, 8), 1, |it| (it.n, it.m, it.location) = (n, m, location));
        let (opens, codes) = said(&broken);
        assert_eq!(opens[1..], [false, true], "{n} {m} {location}");
        assert!(codes.contains(&"entry_range"), "{n} {m} {location}: {codes:?}");
        let lenient = open(&broken, Strictness::Lenient).unwrap();
        let listed = lenient.frame_chunks(1).next();
        assert!(listed.is_none_or(|(_, chunk)| lenient.read_chunk(&chunk).is_err()));
    }
}

#[test]
fn entries_that_no_probe_visits() {
    for (code, what) in [
        ("entry_type", (|it| it.type_code = 12) as fn(&mut gsd::IndexEntry)),
        ("entry_flags", |it| it.flags = 255),
        ("entry_id", |it| it.id = 77),
        ("entry_frame", |it| it.frame = 1000),
        ("entry_order", |it| it.frame = 0),
    ] {
        // Of 32 slots the search for the end of 20 entries reads 16, 24, 20, 18 and 19.
        let (opens, codes) = said(&change(counted(20, 32), 7, what));
        assert_eq!(opens, [true, false, true], "{code}");
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
}

#[test]
fn searching_before_the_first_entry() {
    let late: [Chunk<'_>; 2] = [(3, 0, 1, 1, 1, &[7]), (4, 0, 1, 1, 1, &[8])];
    for version in [V1, V2] {
        let bytes = file(version, b"none", 8, b"a", &late);
        for strictness in [Strictness::Compatible, Strictness::Strict, Strictness::Lenient] {
            let file = open(&bytes, strictness).unwrap();
            assert_eq!(file.nframes(), 5);
            assert!((0..3).all(|frame| file.find_chunk(frame, "a").is_none()), "{strictness:?}");
            assert_eq!(*file.read_chunk(&file.find_chunk(4, "a").unwrap()).unwrap(), [8]);
            assert!(file.find_chunk(5, "a").is_none() && file.find_chunk(u64::MAX, "a").is_none());
        }
        assert_eq!(said(&bytes).1, ["chunkless_frames"]);
    }
}

#[test]
fn an_empty_name_ends_the_list() {
    // `a`, an empty name, `b`: the reference reads one name, so that the second chunk has none.
    let bytes = file(V2, b"none", 8, b"a\0\0b", &[(0, 0, 1, 1, 1, &[7]), (0, 1, 1, 1, 1, &[8])]);
    let (opens, codes) = said(&bytes);
    assert_eq!(opens[1..], [false, true]);
    assert!(codes.contains(&"entry_id"), "{codes:?}");
    assert_eq!(open(&bytes, Strictness::Lenient).unwrap().names().len(), 1);
}

#[test]
fn names_of_layer_1_that_were_cut() {
    // 63 bytes of a longer name end within `é`, and two long names are one at that length.
    let cut = [&[b'x'; 62][..], &[0xC3, 0], &[b'y'; 63], &[0], &[b'y'; 63], &[0]].concat();
    let chunks: [Chunk<'_>; 3] = [(0, 0, 1, 1, 1, &[1]), (0, 1, 1, 1, 1, &[2]), (0, 2, 1, 1, 1, &[3])];
    let bytes = file(V1, b"none", 8, &cut, &chunks);
    let (opens, codes) = said(&bytes);
    assert_eq!((opens, codes), ([true; 3], vec!["name_duplicate", "name_not_utf8"]));
    let file = open(&bytes, Strictness::Strict).unwrap();
    assert_eq!(file.names().len(), 3);
    let by_name = file.find_chunk(0, &"y".repeat(63)).unwrap();
    assert_eq!(*file.read_chunk(&by_name).unwrap(), [2]);
    let all: Vec<u8> = (0..3).map(|id| file.read_chunk(&file.find_id(0, id).unwrap()).unwrap()[0]).collect();
    assert_eq!(all, [1, 2, 3]);
}

#[test]
fn frames_that_are_far_apart() {
    let far =
        |last: u64, slots| file(V2, b"none", slots, b"a", &[(0, 0, 1, 1, 1, &[7]), (last, 0, 1, 1, 1, &[8])]);
    let (opens, codes) = said(&far(1_000_000, 8));
    assert_eq!(opens, [false, false, true]);
    assert!(codes.contains(&"entry_frame"), "{codes:?}");
    // Within the slots it is allowed, and costs no more for it.
    let bytes = far(29_999, 30_000);
    assert_eq!(said(&bytes), ([true; 3], vec!["chunkless_frames"]));
    assert_eq!(open(&bytes, Strictness::Strict).unwrap().nframes(), 30_000);
}

#[test]
fn data_in_another_order_than_entries() {
    let mut bytes = counted(3, 8);
    let places = [0, 1, 2].map(|at| entry(&bytes, at).location);
    for (at, place) in places.into_iter().rev().enumerate() {
        bytes = change(bytes, at, |it| it.location = place);
        bytes[usize::try_from(place).unwrap()] = 10 + u8::try_from(at).unwrap();
    }
    assert_eq!(said(&bytes), ([true; 3], vec![]));
    let file = open(&bytes, Strictness::Strict).unwrap();
    for frame in 0..3_u8 {
        let chunk = file.find_chunk(frame.into(), "a").unwrap();
        assert_eq!(*file.read_chunk(&chunk).unwrap(), [10 + frame]);
    }
}

#[test]
fn versions_at_the_borders() {
    for (major, minor, opens) in [(2, 9, true), (3, 0, false), (1, 7, true), (0, 3, true), (0, 2, false)] {
        let version = Version::new(major, minor);
        let names = if major < 2 {
            [[&b"a"[..], &[0; 63]].concat(), b"bb".to_vec()].concat()
        } else {
            b"a\0bb".to_vec()
        };
        let bytes = file(version, b"none", 8, &names, &[(0, 0, 1, 1, 1, &[1]), (0, 1, 1, 1, 1, &[2])]);
        assert_eq!(said(&bytes).0[..2], [opens; 2], "{version}");
        let Ok(file) = open(&bytes, Strictness::Strict) else { continue };
        assert_eq!(*file.read_chunk(&file.find_chunk(0, "bb").unwrap()).unwrap(), [2], "{version}");
    }
}

#[test]
fn text_in_columns_and_with_nul() {
    let names = b"columns\0within\0wrong\0none";
    let chunks: [Chunk<'_>; 4] = [
        (0, 0, 11, 3, 2, b"abcdef"),
        (0, 1, 11, 4, 1, b"a\0b\0"),
        (0, 2, 11, 1, 1, &[0xFF]),
        (0, 3, 11, 0, 1, b""),
    ];
    let bytes = file(V2, b"none", 8, names, &chunks);
    assert_eq!(said(&bytes).0, [true; 3]);
    let file = open(&bytes, Strictness::Strict).unwrap();
    let text = |name| file.read_string(&file.find_chunk(0, name).unwrap()).map(std::borrow::Cow::into_owned);
    assert_eq!(text("columns").unwrap(), "abcdef");
    assert_eq!(text("within").unwrap(), "a\0b");
    assert!(matches!(text("wrong").unwrap_err().kind(), ErrorKind::Malformed(_)));
    assert_eq!(text("none").unwrap(), "");
}

#[test]
fn a_file_that_shrinks_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinks.gsd");
    fs::write(&path, file(V2, b"none", 8, b"a", &[(0, 0, 1, 4096, 1, &[7; 4096])])).unwrap();
    let mut options = OpenOptions::default();
    options.access = Access::Positioned;
    let file = File::open_with(&path, &options).unwrap();
    let chunk = file.find_chunk(0, "a").unwrap();
    assert_eq!(file.read_chunk(&chunk).unwrap().len(), 4096);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
    let error = file.read_chunk(&chunk).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. } | ErrorKind::Io(_)), "{error}");
}

#[test]
fn an_index_of_holes() {
    // A file with a claimed length only: 32 GiB of slots without a byte on disk.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse.gsd");
    fs::write(&path, word(word(counted(0, 8), 8, 4096), 16, 1 << 30)).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096 + (32 << 30)).unwrap();
    for strictness in [Strictness::Compatible, Strictness::Strict, Strictness::Lenient] {
        let mut options = OpenOptions::default().with_strictness(strictness);
        options.access = Access::Positioned;
        options.limits = options.limits.with_memory(crate::crafted::MEMORY);
        let error = File::open_with(&path, &options).err();
        assert!(error.is_some_and(|error| matches!(error.kind(), ErrorKind::Limit { .. })), "{strictness:?}");
    }
}

#![allow(clippy::ptr_arg, clippy::single_range_in_vec_init)]

use container_core::ErrorKind;

use super::*;
use crate::repair::tests::build::Builder;

fn open(file: &Vec<u8>) -> DamagedFile<'_> {
    DamagedFile::open(file, Limits::default(), &mut Vec::new()).unwrap()
}

fn entry(range: Range<u64>) -> IndexEntry {
    let location = range.start.cast_signed();
    IndexEntry { frame: 0, n: range.end - range.start, location, m: 1, id: 0, type_code: 1, flags: 0 }
}

#[test]
fn entries_are_impossible_for_the_first_reason_that_applies() {
    let file = Builder::hoomd().file;
    let damaged = open(&file);
    let len = file.len() as u64;
    assert_eq!(len, 5376);
    let good = entry(300..310);
    let cases = [
        (good, None),
        (IndexEntry { type_code: 0, ..good }, Some("unknown type")),
        (IndexEntry { type_code: 12, ..good }, Some("unknown type")),
        (IndexEntry { location: -5, ..good }, Some("impossible size or location")),
        (IndexEntry { n: u64::MAX, ..good }, Some("impossible size or location")),
        (entry(255..260), Some("a chunk in the header")),
        (entry(256..260), None),
        // Without rows it may lie anywhere but at 0, as an unused slot does.
        (entry(255..255), None),
        (entry(0..0), Some("a chunk in the header")),
        (entry(300..len), None),
        (entry(300..len + 1), Some(PAST_END)),
        (IndexEntry { m: 0, ..good }, Some("no columns")),
        (IndexEntry { frame: 167, ..good }, None),
        // As many frames as entries find room in the file.
        (IndexEntry { frame: 168, ..good }, Some("impossible frame number")),
        (IndexEntry { flags: 1, ..good }, Some("unknown flags")),
        (IndexEntry { id: 65534, ..good }, None),
        (IndexEntry { id: 65535, ..good }, Some("a name that is not in the namelist")),
    ];
    for (entry, problem) in cases {
        assert_eq!(damaged.entry_problem(&entry, None), problem, "{entry:?}");
    }
    let third = IndexEntry { id: 2, ..good };
    assert_eq!(damaged.entry_problem(&third, Some(3)), None);
    assert_eq!(damaged.entry_problem(&third, Some(2)), Some("a name that is not in the namelist"));
}

#[test]
fn frames_are_bounded_by_the_room_for_their_entries() {
    let mut builder = Builder::hoomd();
    assert_eq!(open(&builder.file).max_frames(), 5376 / 32);
    builder.file.truncate(1000);
    assert_eq!(open(&builder.file).max_frames(), 128);
    builder.file.resize(1 << 20, 0);
    assert_eq!(open(&builder.file).max_frames(), 1 << 15);
    assert_eq!(DamagedFile { frames: Some(7), ..open(&builder.file) }.max_frames(), 7);
}

#[test]
fn the_index_block_is_the_part_of_it_in_the_file() {
    let block = |at: u64, slots: u64| {
        let mut builder = Builder::hoomd();
        builder.header.index_location = at;
        builder.header.index_allocated_entries = slots;
        builder.file[..256].copy_from_slice(&builder.header.to_bytes());
        open(&builder.file).index_block()
    };
    assert_eq!(block(256, 128), 256..4352);
    assert_eq!(block(5000, 128), 5000..5376);
    assert_eq!(block(256, u64::MAX), 256..5376);
    for nowhere in [0, 255, 5376, 5377, u64::MAX] {
        assert_eq!(block(nowhere, 128), 5376..5376, "{nowhere}");
    }
    let file = Builder::hoomd().file;
    let damaged = open(&file);
    assert_eq!(damaged.clip(Some(5000..6000)), 5000..5376);
    assert_eq!(damaged.clip(Some(6000..7000)), 5376..5376);
    assert_eq!(damaged.clip(None), 5376..5376);
}

/// Bytes that are never lent.
struct CopyingSource(Vec<u8>);

impl Source for CopyingSource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

#[test]
fn windows_overlap_where_bytes_are_copied_and_are_one_where_they_are_lent() {
    let mut file = Builder::hoomd().file;
    file.resize(10 << 20, 7);
    let source = CopyingSource(file.clone());
    let damaged = DamagedFile::open(&source, Limits::default(), &mut Vec::new()).unwrap();
    let windows = |damaged: &DamagedFile<'_>, range: Range<u64>, overlap| {
        let all = damaged.windows(range, overlap).map(|window| {
            let (at, bytes) = window.unwrap();
            assert!(*bytes == file[at as usize..at as usize + bytes.len()]);
            at..at + bytes.len() as u64
        });
        all.collect::<Vec<_>>()
    };
    let mib = 1 << 20;
    let expected = [mib..5 * mib + 31, 5 * mib..9 * mib + 31, 9 * mib..10 * mib];
    assert_eq!(windows(&damaged, mib..10 * mib, 31), expected);
    assert_eq!(windows(&damaged, mib..5 * mib, 0), [mib..5 * mib]);
    assert_eq!(windows(&damaged, 300..300, 31), []);
    assert_eq!(windows(&open(&file), mib..10 * mib, 31), [mib..10 * mib]);
    assert_eq!(windows(&open(&file), 300..300, 31), []);
}

#[test]
fn a_header_with_a_wrong_magic_or_layer_is_read_where_all_else_is_right() {
    let opened = |file: &Vec<u8>| {
        let mut guessed = Vec::new();
        DamagedFile::open(file, Limits::default(), &mut guessed).map(|damaged| (damaged.header, guessed))
    };
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let builder = Builder::new("none", Version::new(2, 1), order);
        let (header, guessed) = opened(&builder.file).unwrap();
        assert_eq!((header, guessed), (builder.header, vec![]));
        let mut file = builder.file.clone();
        file[..8].copy_from_slice(b"no magic");
        let (header, guessed) = opened(&file).unwrap();
        assert_eq!(header, builder.header);
        let item = RepairItem::new(0..8, "the first 8 bytes are those of a GSD file");
        assert_eq!(guessed, [item.with_evidence(Evidence::Walk)]);
        // Where the index is not in the file either, it is no GSD file.
        let short = file[..4351].to_vec();
        assert!(matches!(opened(&short).unwrap_err().kind(), ErrorKind::WrongFormat { .. }));
        // The magic of the other order.
        let mut file = builder.file.clone();
        file[..8].reverse();
        assert_eq!(opened(&file).unwrap().0, builder.header);
    }
    // The layer by the form of the names: in slots of 64 bytes each, or packed.
    for (version, names, layer) in [
        (Version::new(1, 0), &[(0, b"a"), (64, b"b")][..], Version::new(1, 0)),
        (Version::new(1, 0), &[(0, b"a")], Version::new(2, 0)),
        (Version::new(2, 1), &[(0, b"a"), (2, b"b")], Version::new(2, 0)),
    ] {
        let mut builder = Builder::new("none", version, ByteOrder::Little);
        builder.header.gsd_version = Version::new(7, 3);
        builder.file[..256].copy_from_slice(&builder.header.to_bytes());
        for (at, name) in names {
            builder.file[4352 + at] = name[0];
        }
        let (header, guessed) = opened(&builder.file).unwrap();
        assert_eq!(header.gsd_version, layer);
        let what = format!("file layer {layer}, by the form of the namelist, not 7.3");
        assert_eq!(guessed, [RepairItem::new(44..48, what).with_evidence(Evidence::Index)]);
    }
}

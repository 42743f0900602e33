use std::path::Path;

use blosc_chunk::Special;

use super::*;
use crate::header::Kind;
use crate::{Durability, EditOptions, Editor, FrameOptions, Writer, default_params};

fn numbers(start: u16) -> Vec<u8> {
    (start..start + 500).flat_map(|number| number.wrapping_mul(12345).to_le_bytes()).collect()
}

fn options() -> FrameOptions {
    FrameOptions { params: default_params(2), checksums: Some(Algorithm::Crc32), ..FrameOptions::default() }
}

fn check(frame: &Frame) -> Option<ChecksumReport> {
    check_checksums(frame).unwrap()
}

fn sound(stored: u64) -> Option<ChecksumReport> {
    Some(ChecksumReport::Compared { algorithm: Algorithm::Crc32, stored, damaged: Vec::new() })
}

fn frame() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, options()).unwrap();
    writer.append(&numbers(0)).unwrap();
    writer.append_special(Special::Zeros, 1000).unwrap();
    writer.append(&numbers(1)).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn each_damaged_chunk_is_named() {
    let bytes = frame();
    let frame = Frame::from_bytes(bytes.clone()).unwrap();
    assert_eq!(check(&frame), sound(2));
    let chunks = frame.layout().chunks();
    let second = frame.chunk(0).unwrap().len() as u64 + chunks.start;
    for at in chunks {
        let mut flipped = bytes.clone();
        flipped[usize::try_from(at).unwrap()] ^= 4;
        let frame = Frame::from_bytes(flipped).unwrap();
        let damaged = vec![if at < second { 0 } else { 2 }];
        assert_eq!(
            check(&frame),
            Some(ChecksumReport::Compared { algorithm: Algorithm::Crc32, stored: 2, damaged }),
            "byte {at}"
        );
    }
}

/// The digest of the stored bytes and of the numbers, by zlib's crc32.
#[test]
fn the_map_is_as_it_is_described() {
    let frame = Frame::from_bytes(frame()).unwrap();
    let value = frame.vlmetalayer(NAME).unwrap().unwrap();
    let Value::Map(map) = msgpack::to_value(&value, &Limits::default()).unwrap() else { panic!() };
    let names: Vec<&str> = map.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["version", "algorithm", "index", "chunks"]);
    let crc = |bytes: &[u8]| Algorithm::Crc32.digest(bytes).as_bytes().to_vec();
    let chunks = [crc(&frame.chunk(0).unwrap()), vec![0; 4], crc(&frame.chunk(2).unwrap())].concat();
    let second = frame.chunk(0).unwrap().len() as i64;
    let numbers = [3000, 0, 1, i64::MIN | 1 << 56, 1, second, 1];
    let index: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(
        (&map[0].1, &map[1].1, &map[2].1, &map[3].1),
        (&Value::Int(1), &Value::Text("crc32".into()), &Value::Bytes(crc(&index)), &Value::Bytes(chunks))
    );
}

#[test]
fn every_change_of_ours_keeps_them_in_step() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2frame");
        let frame = FrameOptions { kind, ..options() };
        let mut editor = Editor::create(&path, frame, &EditOptions::default()).unwrap();
        let after = |editor: &mut Editor, path: &Path| {
            editor.commit(Durability::Cached).unwrap();
            check(&Frame::open(path).unwrap())
        };
        assert_eq!(after(&mut editor, &path), sound(0));
        editor.append_all(&[&numbers(0), &numbers(1), &numbers(2)]).unwrap();
        assert_eq!(after(&mut editor, &path), sound(3));
        editor.insert_special(1, Special::Zeros, 1000, 2).unwrap();
        editor.update(0, &numbers(4)).unwrap();
        assert_eq!(after(&mut editor, &path), sound(3));
        drop(editor);
        let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
        editor.reorder(&[4, 3, 2, 1, 0]).unwrap();
        editor.delete(0, 1).unwrap();
        assert_eq!(after(&mut editor, &path), sound(2));
        editor.set_checksums(Some(Algorithm::Sha256)).unwrap();
        let by_sha =
            ChecksumReport::Compared { algorithm: Algorithm::Sha256, stored: 2, damaged: Vec::new() };
        assert_eq!(after(&mut editor, &path), Some(by_sha));
        editor.set_checksums(None).unwrap();
        assert_eq!(after(&mut editor, &path), None);
    }
}

#[test]
fn checksums_of_an_externally_changed_frame_are_stale() {
    // Another program appends, and keeps user metadata as they are.
    let bytes = frame();
    let old = Frame::from_bytes(bytes.clone()).unwrap();
    let stored = old.vlmetalayer(NAME).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    std::fs::write(&path, &bytes).unwrap();
    let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
    editor.set_checksums(None).unwrap();
    editor.append(&numbers(9)).unwrap();
    editor.set_vlmetalayer(NAME, &stored).unwrap();
    editor.commit(Durability::Cached).unwrap();
    assert_eq!(check(&Frame::open(&path).unwrap()), Some(ChecksumReport::Stale));
    drop(editor);
    // They stay so until they are asked for again.
    let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
    editor.append(&numbers(10)).unwrap();
    editor.commit(Durability::Cached).unwrap();
    assert_eq!(check(&Frame::open(&path).unwrap()), Some(ChecksumReport::Stale));
    editor.set_checksums(Some(Algorithm::Crc32)).unwrap();
    editor.commit(Durability::Cached).unwrap();
    assert_eq!(check(&Frame::open(&path).unwrap()), sound(4));
}

#[test]
fn truncated_checksum_metadata_is_refused() {
    let bytes = frame();
    let frame = Frame::from_bytes(bytes).unwrap();
    let value = frame.vlmetalayer(NAME).unwrap().unwrap();
    let offsets = frame.layout().offsets();
    assert!(Digests::parse(&value, offsets, 3000, &Limits::default()).is_some());
    for at in 0..value.len() {
        assert!(Digests::parse(&value[..at], offsets, 3000, &Limits::default()).is_none(), "cut at {at}");
        let mut other = value.clone();
        other[at] ^= 0x11;
        // What is flipped within a digest of a chunk shows with the chunk.
        let _ = Digests::parse(&other, offsets, 3000, &Limits::default());
    }
    assert!(Digests::parse(&value, offsets, 3001, &Limits::default()).is_none());
}

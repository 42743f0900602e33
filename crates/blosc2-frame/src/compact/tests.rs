use std::path::PathBuf;

use blosc_chunk::Special;
use container_codecs::checksum::Algorithm;
use container_core::ErrorKind;
use container_core::container::ReadOptions;

use super::*;
use crate::{ChecksumReport, EditOptions, Editor, FrameOptions, check_checksums, default_params};

fn numbers(start: u16) -> Vec<u8> {
    (start..start + 500).flat_map(|number| number.wrapping_mul(12345).to_le_bytes()).collect()
}

/// Makes a frame that was changed in many ways, with dead space of each.
fn changed(kind: Kind) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    let mut options = FrameOptions { params: default_params(2), kind, ..FrameOptions::default() };
    options.metalayers.set("m", vec![1, 2, 3]).unwrap();
    options.checksums = Some(Algorithm::Crc32);
    let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
    for number in 0..6 {
        editor.append(&numbers(number)).unwrap();
        editor.commit(Durability::Cached).unwrap();
    }
    editor.set_vlmetalayer("v", b"value").unwrap();
    editor.insert_special(2, Special::Zeros, 1000, 3).unwrap();
    editor.delete(0, 1).unwrap();
    editor.update(1, &numbers(77)).unwrap();
    editor.append(&numbers(8)[..20]).unwrap();
    editor.reorder(&[3, 2, 1, 0, 4, 5, 6, 7, 8]).unwrap();
    editor.commit(Durability::Cached).unwrap();
    (folder, path)
}

type Contents = (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<u8>, Vec<u8>, Header);

fn contents(frame: &Frame) -> Contents {
    let all = 0..frame.chunk_count();
    let header = Header { frame_len: 0, cbytes: 0, kind: Kind::Contiguous, ..frame.header().clone() };
    (
        all.clone().map(|index| frame.read_chunk(index, &ReadOptions::default()).unwrap()).collect(),
        all.map(|index| frame.chunk(index).unwrap().into_owned()).collect(),
        frame.metalayers().get("m").unwrap().to_vec(),
        frame.vlmetalayer("v").unwrap().unwrap(),
        header,
    )
}

fn assert_sound(frame: &Frame) {
    assert!(frame.layout().faults().is_empty(), "{:?}", frame.layout().faults());
    let checked = check_checksums(frame).unwrap().unwrap();
    assert!(
        matches!(&checked, ChecksumReport::Compared { damaged, stored: 7, .. } if damaged.is_empty()),
        "{checked:?}"
    );
}

#[test]
fn a_compact_frame_holds_the_same_in_less() {
    let (_folder, path) = changed(Kind::Contiguous);
    let before = contents(&Frame::open(&path).unwrap());
    let done = compact(&path, &CompactOptions::default()).unwrap();
    assert_eq!(done.after, path.metadata().unwrap().len());
    assert!(done.after < done.before / 4 * 3, "{done:?}");
    let frame = Frame::open(&path).unwrap();
    assert!(contents(&frame) == before);
    assert_sound(&frame);
    let used: u64 = before.1.iter().map(|chunk| chunk.len() as u64).filter(|len| *len > 32).sum();
    assert_eq!(frame.header().cbytes, used);
    // A second run finds no dead space.
    let again = compact(&path, &CompactOptions::default()).unwrap();
    assert_eq!((again.before, again.after), (done.after, done.after));
}

#[test]
fn unused_chunk_files_are_removed() {
    let (_folder, path) = changed(Kind::Sparse);
    let before = contents(&Frame::open(&path).unwrap());
    fs::write(path.join("000000FF.chunk"), [1; 100]).unwrap();
    fs::write(path.join("notes.txt"), b"mine").unwrap();
    let done = compact(&path, &CompactOptions::default()).unwrap();
    assert_eq!(done.before - done.after, 100);
    assert!(path.join("notes.txt").exists());
    let frame = Frame::open(&path).unwrap();
    assert!(contents(&frame) == before);
    assert_eq!(path.read_dir().unwrap().count(), 7 + 2);
}

#[test]
fn trailing_bytes_are_dropped_only_on_request() {
    let (_folder, path) = changed(Kind::Contiguous);
    let whole = fs::read(&path).unwrap();
    let with = [&whole[..], b"another's"].concat();
    fs::write(&path, &with).unwrap();
    let error = compact(&path, &CompactOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_some(), "{error}");
    assert!(fs::read(&path).unwrap() == with);
    let options = CompactOptions { drop_trailing: true, ..CompactOptions::default() };
    let done = compact(&path, &options).unwrap();
    assert_eq!(done.after, path.metadata().unwrap().len());
    assert_sound(&Frame::open(&path).unwrap());
}

#[test]
fn a_frame_that_is_being_written_stays() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let (_folder, path) = changed(kind);
        let editor = Editor::open(&path, &EditOptions::default()).unwrap();
        let error = compact(&path, &CompactOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        drop(editor);
        compact(&path, &CompactOptions::default()).unwrap();
    }
}

#[test]
fn a_frame_becomes_a_directory_and_a_file_again() {
    let (folder, path) = changed(Kind::Contiguous);
    let frame = Frame::open(&path).unwrap();
    let dir = folder.path().join("dir.b2frame");
    to_directory(&frame, &dir, Durability::Synced).unwrap();
    let sparse = Frame::open(&dir).unwrap();
    assert!(contents(&sparse) == contents(&frame) && sparse.header().kind == Kind::Sparse);
    assert_sound(&sparse);
    assert!(to_directory(&frame, &dir, Durability::Synced).is_err());
    let back = Frame::from_bytes(sparse.to_cframe().unwrap()).unwrap();
    assert!(contents(&back) == contents(&frame));
    assert_sound(&back);
}

#[test]
fn zeros_stay_a_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    let options = FrameOptions { params: default_params(4), ..FrameOptions::default() };
    let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
    editor.insert_special(0, Special::Zeros, 1 << 20, 1 << 26).unwrap();
    editor.commit(Durability::Cached).unwrap();
    drop(editor);
    let done = compact(&path, &CompactOptions::default()).unwrap();
    assert_eq!(done.after, 97 + 40 + 35);
    let dir = folder.path().join("dir");
    to_directory(&Frame::open(&path).unwrap(), &dir, Durability::Cached).unwrap();
    assert_eq!(Frame::open(&dir).unwrap().chunk_count(), 1 << 26);
}

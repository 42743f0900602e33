//! Frames whose chunks are files of a directory.

use std::fs;
use std::path::Path;

use blosc2_frame::{ErrorKind, FaultKind, Frame, OpenOptions};
use container_core::container::{ReadOptions, Tolerance};
use tempfile::TempDir;

use crate::manifest::testdata;

/// Copies a frame of five chunks, into a directory of its own.
fn copy() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.b2frame");
    fs::create_dir(&path).unwrap();
    for entry in fs::read_dir(testdata().join("ok/sparse.b2frame")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), path.join(entry.file_name())).unwrap();
    }
    (folder, path)
}

fn chunks(path: &Path) -> Vec<Result<Vec<u8>, String>> {
    let frame = Frame::open(path).unwrap();
    let options = ReadOptions::default();
    frame.chunks(&options).map(|chunk| chunk.map_err(|error| error.to_string())).collect()
}

fn kinds(path: &Path) -> Vec<(FaultKind, Option<String>)> {
    let scan = Frame::open(path).unwrap().scan_chunks().unwrap();
    scan.faults.iter().map(|fault| (fault.kind(), fault.part().map(str::to_owned))).collect()
}

#[test]
fn the_index_may_be_opened_as_well() {
    let (_folder, path) = copy();
    let by_index = Frame::open(path.join("chunks.b2frame")).unwrap();
    let options = ReadOptions::default();
    let whole = by_index.read_range(0..by_index.data_len(), &options).unwrap();
    assert_eq!(whole, chunks(&path).into_iter().map(Result::unwrap).collect::<Vec<_>>().concat());
    // Elsewhere, or as bytes, it has no chunks.
    let alone = path.parent().unwrap().join("other.b2frame");
    fs::copy(path.join("chunks.b2frame"), &alone).unwrap();
    assert!(matches!(Frame::open(&alone).unwrap_err().kind(), ErrorKind::Unsupported(_)));
    let bytes = Frame::from_bytes(fs::read(&alone).unwrap()).unwrap();
    assert_eq!(bytes.chunk_count(), 5);
    assert!(matches!(bytes.read_chunk(0, &options).unwrap_err().kind(), ErrorKind::Unsupported(_)));
}

#[test]
fn files_that_are_not_as_they_should_be() {
    let good = chunks(&testdata().join("ok/sparse.b2frame"));
    let name = "00000003.chunk";
    let part = || Some(name.to_owned());
    let (_folder, path) = copy();
    let file = path.join(name);
    let stored = fs::read(&file).unwrap();

    fs::write(&file, [&stored[..], b"more"].concat()).unwrap();
    assert_eq!(chunks(&path), good);
    assert_eq!(kinds(&path), [(FaultKind::PartSize, part())]);

    for len in [0, 15, 31, 32, stored.len() - 1] {
        fs::write(&file, &stored[..len]).unwrap();
        let read = chunks(&path);
        let error = read[3].as_ref().unwrap_err();
        assert!(error.contains(name), "{error}");
        assert_eq!(read.iter().filter(|chunk| chunk.is_ok()).count(), 4);
        assert_eq!(kinds(&path), [(FaultKind::PartSize, part())], "{len}");
    }

    fs::remove_file(&file).unwrap();
    assert!(chunks(&path)[3].as_ref().unwrap_err().contains(name));
    assert_eq!(kinds(&path), [(FaultKind::PartMissing, part())]);

    // An entry that is not a file.
    fs::create_dir(&file).unwrap();
    assert!(chunks(&path)[3].is_err());
    assert_eq!(kinds(&path), [(FaultKind::PartMissing, part())]);
}

#[test]
fn empty_chunk_files_are_reported_and_foreign_files_ignored() {
    let (_folder, path) = copy();
    let good = chunks(&path);
    fs::write(path.join("0000000A.chunk"), b"").unwrap();
    fs::write(path.join("0000000a.chunk"), b"no name of a chunk").unwrap();
    fs::write(path.join("notes.txt"), b"mine").unwrap();
    assert_eq!(chunks(&path), good);
    assert_eq!(kinds(&path), [(FaultKind::PartUnused, Some("0000000A.chunk".to_owned()))]);
}

/// A link may point to any file, which does not belong to the frame.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (folder, path) = copy();
    let file = path.join("00000002.chunk");
    let outside = folder.path().join("outside");
    fs::rename(&file, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &file).unwrap();
    assert!(chunks(&path)[2].is_err());
    assert_eq!(kinds(&path), [(FaultKind::PartMissing, Some("00000002.chunk".to_owned()))]);
    let index = path.join("chunks.b2frame");
    fs::rename(&index, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &index).unwrap();
    assert!(Frame::open(&path).is_err());
}

#[test]
fn sparse_directory_without_an_index_is_refused() {
    let (_folder, path) = copy();
    fs::remove_file(path.join("chunks.b2frame")).unwrap();
    let mut lenient = OpenOptions::default();
    lenient.tolerance = Tolerance::Lenient;
    for options in [OpenOptions::default(), lenient] {
        let error = Frame::open_with(&path, &options).unwrap_err();
        assert!(error.to_string().contains("s.b2frame"), "{error}");
    }
}

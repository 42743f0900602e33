use std::io;
use std::process::Command;

use super::*;
use crate::ErrorKind;
use crate::write::{Overwrite, sync_directory};

fn io_kind(error: &Error) -> io::ErrorKind {
    match error.kind() {
        ErrorKind::Io(error) => error.kind(),
        other => panic!("{other:?}"),
    }
}

/// Applies the same operations to any storage, and returns its contents.
fn exercise(storage: &mut dyn Storage) -> Vec<u8> {
    storage.reserve(0..4096).unwrap();
    assert_eq!(storage.len().unwrap(), 0);
    storage.write_at(3, b"abc").unwrap();
    let many: Vec<Vec<u8>> = (0..3000_u32).map(|at| vec![(at % 251) as u8; (at % 5) as usize]).collect();
    let parts: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
    storage.write_vectored_at(5, &parts).unwrap();
    storage.write_vectored_at(9, &[]).unwrap();
    storage.set_len(9000).unwrap();
    storage.set_len(4000).unwrap();
    storage.write_at(4100, b"").unwrap();
    storage.write_at(4100, b"end").unwrap();
    storage.sync().unwrap();
    let mut bytes = vec![0; usize::try_from(storage.len().unwrap()).unwrap()];
    storage.read_at(0, &mut bytes).unwrap();
    let error = storage.read_at(4101, &mut [0; 4]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 4, have: 2 }), "{error}");
    assert_eq!(error.range(), Some(4101..4105));
    let error = storage.write_at(u64::MAX, b"xy").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let expected: Vec<u8> = [0, 0, 0, b'a', b'b'].into_iter().chain(many.concat()).take(4000).collect();
    assert!(bytes[..4000] == expected && bytes[4000..4100] == [0; 100] && &bytes[4100..] == b"end");
    bytes
}

#[test]
fn files_and_memory_take_the_same_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let mut file = FileStorage::create(&path, Overwrite::Refuse).unwrap();
    let bytes = exercise(&mut file);
    assert!(std::fs::read(&path).unwrap() == bytes);
    let mut memory = Vec::new();
    assert!(exercise(&mut memory) == bytes && memory == bytes);
    let source = StorageSource::new(&file).unwrap();
    assert_eq!(&*source.read(4099..4103).unwrap(), b"\0end");
    assert!(matches!(source.read(4099..4104).unwrap_err().kind(), ErrorKind::Truncated { .. }));
    sync_directory(&path).unwrap();
}

#[test]
fn a_hole_keeps_what_is_around_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = FileStorage::create(directory.path().join("a"), Overwrite::Refuse).unwrap();
    for storage in [&mut file as &mut dyn Storage, &mut Vec::new()] {
        storage.write_at(0, &[7; 20_000]).unwrap();
        storage.punch_hole(100..19_000).unwrap();
        storage.punch_hole(30_000..40_000).unwrap();
        let mut bytes = vec![0; 20_000];
        storage.read_at(0, &mut bytes).unwrap();
        assert_eq!(storage.len().unwrap(), 20_000);
        assert!(bytes[..100] == [7; 100] && bytes[19_000..] == [7; 1000]);
        assert!(bytes.iter().all(|byte| *byte == 7 || *byte == 0));
    }
}

#[test]
fn one_writer_keeps_out_another_and_no_reader() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let mut first = FileStorage::create(&path, Overwrite::Refuse).unwrap();
    first.write_at(0, b"kept").unwrap();
    for second in [FileStorage::open(&path), FileStorage::create(&path, Overwrite::Replace)] {
        let error = second.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()) && error.hint().is_some());
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    // The handle that a process started now inherits.
    let inherited = first.file().try_clone().unwrap();
    drop(first);
    let second = FileStorage::open(&path).unwrap();
    drop(inherited);
    assert_eq!(second.len().unwrap(), 4);
    drop(second);
    let error = FileStorage::create(&path, Overwrite::Refuse).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert_eq!(FileStorage::create(&path, Overwrite::Replace).unwrap().len().unwrap(), 0);
    let error = FileStorage::open(directory.path().join("b")).unwrap_err();
    assert_eq!(io_kind(&error), io::ErrorKind::NotFound);
}

#[cfg(target_os = "linux")]
/// A writer that waits for the lock of a file gets that of the one which has taken its place.
#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_meanwhile_is_nobodys() {
    let folder = tempfile::tempdir().unwrap();
    let (path, new) = (folder.path().join("a"), folder.path().join("new"));
    std::fs::write(&path, b"old").unwrap();
    let old = FileStorage::open(&path).unwrap();
    assert!(file::is_at(old.file(), &path).unwrap());
    std::fs::write(&new, b"newer").unwrap();
    std::fs::rename(&new, &path).unwrap();
    assert!(!file::is_at(old.file(), &path).unwrap());
    assert_eq!(FileStorage::open(&path).unwrap().len().unwrap(), 5);
    std::fs::remove_file(&path).unwrap();
    assert!(!file::is_at(old.file(), &path).unwrap());
}

#[test]
fn more_room_than_the_disk_has_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = FileStorage::create(directory.path().join("a"), Overwrite::Refuse).unwrap();
    file.write_at(0, b"kept").unwrap();
    let error = file.reserve(4..1 << 60).unwrap_err();
    assert_eq!((io_kind(&error), error.range()), (io::ErrorKind::StorageFull, Some(4..1 << 60)));
    file.reserve(4..1 << 20).unwrap();
    assert_eq!(file.len().unwrap(), 4);
}

/// Runs itself under a limit on file sizes, which it cannot lift again.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_file_sizes_is_an_error_and_not_the_end_of_the_process() {
    const NAME: &str = "a_limit_on_file_sizes_is_an_error_and_not_the_end_of_the_process";
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    let Some(limit @ 1..=0x10_0000) = limit else {
        // In blocks of 512 or 1024 bytes.
        let script = r#"ulimit -f 64 && exec "$0" --exact "$1""#;
        let name = format!("{}::{NAME}", module_path!().split_once("::").unwrap().1);
        let mut child = Command::new("sh");
        let output =
            child.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(name).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut file = FileStorage::create(directory.path().join("a"), Overwrite::Refuse).unwrap();
    file.write_at(limit - 4, b"kept").unwrap();
    for error in [
        file.write_at(limit - 2, b"last"),
        file.write_vectored_at(limit - 2, &[b"la", b"st"]),
        file.reserve(0..limit + 2),
        file.set_len(limit + 2),
    ] {
        let error = error.unwrap_err();
        assert_eq!(io_kind(&error), io::ErrorKind::FileTooLarge, "{error}");
        assert_eq!(error.range().map(|range| range.end), Some(limit + 2));
    }
    let mut bytes = [0; 4];
    file.read_at(limit - 4, &mut bytes).unwrap();
    assert_eq!((file.len().unwrap(), &bytes), (limit, b"kept"));
}

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

#[cfg(target_os = "linux")]
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

/// Answers each call otherwise than by default, and records it.
#[derive(Default)]
struct Answering(std::sync::Mutex<Vec<&'static str>>);

impl Answering {
    fn note(&self, call: &'static str) -> Result<()> {
        self.0.lock().unwrap().push(call);
        Ok(())
    }
}

impl Storage for Answering {
    fn len(&self) -> Result<u64> {
        Ok(7)
    }

    fn read_at(&self, _at: u64, dst: &mut [u8]) -> Result<()> {
        dst.fill(5);
        self.note("read")
    }

    fn write_at(&mut self, _at: u64, _bytes: &[u8]) -> Result<()> {
        self.note("write")
    }

    fn write_vectored_at(&mut self, _at: u64, _parts: &[&[u8]]) -> Result<()> {
        self.note("write all")
    }

    fn set_len(&mut self, _len: u64) -> Result<()> {
        self.note("set length")
    }

    fn sync(&mut self) -> Result<()> {
        self.note("sync")
    }

    fn reserve(&mut self, _range: Range<u64>) -> Result<()> {
        self.note("reserve")
    }

    fn punch_hole(&mut self, _range: Range<u64>) -> Result<()> {
        self.note("hole")
    }
}

/// Makes each call once.
fn call(storage: &mut dyn Storage) {
    let mut two = [0; 2];
    storage.read_at(0, &mut two).unwrap();
    assert_eq!((storage.len().unwrap(), two), (7, [5, 5]));
    storage.write_at(0, &two).unwrap();
    storage.write_vectored_at(0, &[&two]).unwrap();
    storage.set_len(3).unwrap();
    storage.sync().unwrap();
    storage.reserve(0..9).unwrap();
    storage.punch_hole(0..9).unwrap();
    storage.sync_change().unwrap();
}

#[test]
fn a_storage_in_another_gets_each_call() {
    let calls = ["read", "write", "write all", "set length", "sync", "reserve", "hole", "sync"];
    let mut boxed = Box::new(Answering::default());
    call(&mut boxed);
    assert_eq!(*boxed.0.lock().unwrap(), calls);
    let mut watched = Watched::new(Answering::default());
    call(&mut watched);
    assert_eq!(*watched.get().0.lock().unwrap(), calls);
}

#[test]
fn a_storage_that_only_writes_does_the_rest_by_writes() {
    struct Plain(Vec<u8>, bool);
    impl Storage for Plain {
        fn len(&self) -> Result<u64> {
            Ok(self.0.len() as u64)
        }
        fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
            self.0.read_at(at, dst)
        }
        fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
            self.0.write_at(at, bytes)
        }
        fn set_len(&mut self, len: u64) -> Result<()> {
            Storage::set_len(&mut self.0, len)
        }
        fn sync(&mut self) -> Result<()> {
            if self.1 { Ok(()) } else { Err(io::Error::from(io::ErrorKind::StorageFull).into()) }
        }
    }
    let mut plain = Plain(Vec::new(), true);
    plain.write_vectored_at(1, &[b"ab", b"", b"c"]).unwrap();
    plain.reserve(0..1 << 60).unwrap();
    plain.punch_hole(0..2).unwrap();
    plain.sync_change().unwrap();
    assert_eq!((plain.0.as_slice(), plain.len().unwrap()), (&b"\0abc"[..], 4));
    plain.1 = false;
    assert!(!plain.sync().unwrap_err().is_after_change());
    let error = plain.sync_change().unwrap_err();
    assert!(error.is_after_change() && io_kind(&error) == io::ErrorKind::StorageFull);
}

#[test]
fn holes_in_memory_are_zeros_within_the_file() {
    let mut memory = vec![7; 10];
    memory.punch_hole(2..5).unwrap();
    memory.punch_hole(8..20).unwrap();
    memory.punch_hole(15..20).unwrap();
    assert_eq!(memory, [7, 7, 0, 0, 0, 7, 7, 7, 0, 0]);
    memory.write_at(12, b"x").unwrap();
    assert_eq!(memory[9..], [0, 0, 0, b'x']);
    let error = Storage::set_len(&mut memory, 1 << 62).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

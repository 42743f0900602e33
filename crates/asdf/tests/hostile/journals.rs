//! Journals that are old, of other files, cut or made to harm: they change only the file that they belong to.

use std::fs;
use std::path::{Path, PathBuf};

use asdf::update::{UpdateOptions, Updater};
use asdf::{File, Strictness};
use container_codecs::checksum::Algorithm;

use crate::crafted::{file, options, plain};

/// A journal of places, with its length and sum.
fn journal(old_len: u64, new_len: u64, places: &[(u64, &[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = b"asdfjrn2\0\0\0\0\0\0\0\0".to_vec();
    for number in [old_len, new_len, places.len() as u64] {
        bytes.extend(number.to_le_bytes());
    }
    for (at, old, new) in places {
        for number in [*at, old.len() as u64, new.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(*old);
        bytes.extend(*new);
    }
    sealed(bytes)
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let len = bytes.len() as u64 + 4;
    bytes[8..16].copy_from_slice(&len.to_le_bytes());
    let sum = Algorithm::Crc32.digest(&bytes);
    bytes.extend(sum.as_bytes().iter().rev());
    bytes
}

struct Case {
    _folder: tempfile::TempDir,
    path: PathBuf,
    beside: PathBuf,
}

fn case(bytes: &[u8], journal: &[u8]) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.asdf");
    let beside = folder.path().join("x.asdf.asdfjournal");
    fs::write(&path, bytes).unwrap();
    fs::write(&beside, journal).unwrap();
    Case { _folder: folder, path, beside }
}

/// Reads the file while the journal is there, and after an update: both give the same. Reading leaves the file unchanged. The update removes a
/// journal that belongs to the file, and no other.
fn left(bytes: &[u8], journal: &[u8], is_about: bool) -> Vec<u8> {
    let case = case(bytes, journal);
    let read = File::open_with(&case.path, options(Strictness::Lenient)).ok();
    let read = read.map(|file| {
        let source = file.source();
        source.read(0..source.len()).unwrap().into_owned()
    });
    assert_eq!(fs::read(&case.path).unwrap(), bytes, "reading changes the file");
    assert_eq!(fs::read(&case.beside).unwrap(), journal);
    if Updater::open(&case.path, UpdateOptions::default()).is_ok() {
        assert_eq!(Path::new(&case.beside).exists(), !is_about);
    }
    let left = fs::read(&case.path).unwrap();
    assert!(read.is_none_or(|read| read == left));
    left
}

fn bytes() -> Vec<u8> {
    file(
        "a: !core/ndarray-1.1.0 {source: 0, datatype: int8, byteorder: big, shape: [4]}\nb: 1",
        &[plain(b"abcd")],
    )
}

#[test]
fn journals_that_are_about_the_file() {
    let bytes = bytes();
    let len = bytes.len() as u64;
    let at = bytes.windows(5).position(|five| five == b"\nb: 1").unwrap() + 4;
    let torn = [&bytes[..at], b"2", &bytes[at + 1..]].concat();
    let last = bytes.windows(4).rposition(|four| four == b"abcd").unwrap();
    let after = [&torn[..last], b"e", &torn[last + 1..]].concat();
    let change = journal(len, len, &[(at as u64, b"1", b"2"), (last as u64, b"a", b"e")]);
    assert_eq!(left(&bytes, &change, true), bytes);
    assert_eq!(left(&torn, &change, true), after);
    assert_eq!(left(&after, &change, true), after);
    let more = [&bytes[..], b"more"].concat();
    assert_eq!(left(&more, &journal(len, len + 9, &[(len, b"", b"more, more")]), false), more);
    assert_eq!(left(&more, &journal(len, len + 10, &[(len, b"", b"more, more")]), true), bytes);
}

#[test]
fn journals_that_are_not() {
    let bytes = bytes();
    let len = bytes.len() as u64;
    let change = journal(len, len, &[(30, &bytes[30..34], b"abcd")]);
    let mut broken = change.clone();
    broken[17] ^= 1;
    let head = |rest: &[u64]| {
        let mut bytes = b"asdfjrn2\0\0\0\0\0\0\0\0".to_vec();
        rest.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        sealed(bytes)
    };
    let more = vec![0; 300];
    for (name, journal) in [
        ("empty", vec![]),
        ("a word", b"asdfjrn2".to_vec()),
        ("another format", b"SQLite format 3\0 and more of that".to_vec()),
        ("a wrong sum", broken),
        ("of a shorter file", journal(len - 4, len - 4, &[(30, &bytes[30..34], b"abcd")])),
        ("of a longer file", journal(len + 4, len + 4, &[(30, &bytes[30..34], b"abcd")])),
        ("of other bytes", journal(len, len, &[(30, b"wxyz", b"abcd")])),
        (
            "one place of another file",
            journal(len, len, &[(30, &bytes[30..34], b"abcd"), (40, b"wxyz", b"abcd")]),
        ),
        ("a place behind the end", journal(len, len, &[(len - 2, &[0; 4], b"abcd")])),
        ("a place that wraps", journal(len, len, &[(u64::MAX - 1, &[0; 4], b"abcd")])),
        ("a length without bytes", head(&[len, len, 1, 30, u64::MAX, u64::MAX])),
        ("places without end", head(&[len, len, u64::MAX, 30, 0, 0])),
        ("a file that grew from another", journal(50, len, &[(0, b"#ASDF 9", b"#ASDF 9")])),
        ("a file that grew from nothing known", journal(20, 20, &[])),
        ("an end without a place", journal(len, 20, &[])),
        ("nothing to change and another end", journal(len, 20, &[(30, b"", b"")])),
        ("a length of all", journal(len, u64::MAX, &[(30, &bytes[30..34], b"abcd")])),
        ("places of nothing", journal(20, 20, &vec![(5, &b""[..], &b""[..]); 1000])),
        ("zeros", more),
    ] {
        assert_eq!(left(&bytes, &journal, false), bytes, "{name}");
    }
    for len in 0..change.len() {
        assert_eq!(left(&bytes, &change[..len], false), bytes, "{len} bytes");
    }
}

#[cfg(unix)]
#[test]
fn journals_that_are_symlinks_or_directories_are_ignored() {
    let bytes = bytes();
    let len = bytes.len() as u64;
    let at = 30;
    let change = journal(len, len, &[(at, &bytes[30..34], b"abcd")]);
    let case = case(&bytes, b"");
    let elsewhere = case.path.with_file_name("elsewhere");
    fs::write(&elsewhere, &change).unwrap();
    fs::remove_file(&case.beside).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &case.beside).unwrap();
    let file = File::open_with(&case.path, options(Strictness::Strict)).unwrap();
    assert_eq!(*file.source().read(0..len).unwrap(), bytes[..]);
    drop(file);
    let _ = Updater::open(&case.path, UpdateOptions::default());
    assert_eq!(fs::read(&case.path).unwrap(), bytes);
    assert_eq!(fs::read(&elsewhere).unwrap(), change);
    fs::remove_file(&case.beside).unwrap();
    fs::create_dir(&case.beside).unwrap();
    assert!(File::open_with(&case.path, options(Strictness::Strict)).is_ok());
    let _ = Updater::open(&case.path, UpdateOptions::default());
    assert_eq!(fs::read(&case.path).unwrap(), bytes);
}

/// A journal that a kill leaves is not damage: it has every byte.
#[test]
fn a_repair_finishes_what_a_crash_cut_short() {
    let block = |data: &[u8]| plain(data);
    let lines = "a: !core/ndarray-1.1.0 {source: 0, datatype: int8, byteorder: big, shape: [1000]}";
    let (old, new) = (file(lines, &[block(&[1; 1000])]), file(lines, &[block(&[2; 1000])]));
    let differing: Vec<usize> = (0..old.len()).filter(|at| old[*at] != new[*at]).collect();
    let (start, end) = (differing[0], differing[differing.len() - 1] + 1);
    // A sector of the change is there, another not.
    let cut = (start + 512) / 512 * 512;
    let torn = [&new[..cut], &old[cut..]].concat();
    let len = old.len() as u64;
    let case = case(&torn, &journal(len, len, &[(start as u64, &old[start..end], &new[start..end])]));
    let target = case.path.with_file_name("new.asdf");
    let report = asdf::repair(&case.path, &target).unwrap();
    assert!(report.lost.is_empty(), "{report:?}");
    let file = File::open(&target).unwrap();
    assert!(*file.read_block(0, &Default::default()).unwrap() == [2; 1000]);
}

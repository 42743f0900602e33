//! Files next to a frame, and in its directory, that do not match their names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use blosc2_frame::{Durability, EditOptions, Editor, ErrorKind, Frame, FrameOptions, Locking, OpenOptions};
use container_core::container::ReadOptions;
use tempfile::TempDir;

/// Makes a frame whose header crosses sectors, so that changes have a journal.
fn wide() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    let mut options = FrameOptions::default();
    options.metalayers.set("wide", vec![7; 600]).unwrap();
    let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
    editor.append(&[1; 100]).unwrap();
    editor.commit(Durability::Synced).unwrap();
    (folder, path)
}

/// Changes a byte of the header in its first sector, and one in its second.
fn change(path: &Path, options: &EditOptions, value: u8) -> blosc2_frame::Result<()> {
    let mut editor = Editor::open(path, options)?;
    editor.append(&[2; 100])?;
    editor.set_metalayer("wide", vec![value; 600])?;
    editor.commit(Durability::Synced)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", path.display()))
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A link with a journal's name points to an unrelated file, which stays as it is.
#[test]
fn a_journal_that_is_a_link() {
    for target_exists in [true, false] {
        let (folder, path) = wide();
        let victim = folder.path().join("victim");
        if target_exists {
            fs::write(&victim, b"mine").unwrap();
        }
        symlink(&victim, beside(&path, ".b2journal")).unwrap();
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
        assert!(change(&path, &EditOptions::default(), 8).is_err());
        assert_eq!(fs::read(&victim).ok(), target_exists.then(|| b"mine".to_vec()));
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1, "the frame as it was");
    }
}

#[test]
fn a_journal_that_is_a_pipe_or_a_directory() {
    for make in [pipe as fn(&Path), |path| fs::create_dir(path).unwrap()] {
        let (_folder, path) = wide();
        make(&beside(&path, ".b2journal"));
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
        assert!(change(&path, &EditOptions::default(), 8).is_err());
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
    }
}

/// A file with the name of a journal that does not belong to the frame has no effect and stays. A change that needs a journal is refused
/// until it is gone.
#[test]
fn a_journal_of_anything() {
    let claims = |len: u64| [b"b2journ3", &len.to_le_bytes()[..], &[0xff; 24], &[0; 40]].concat();
    let older = [&b"b2journ2"[..], &[0xff; 24], &[0; 40]].concat();
    for bytes in [vec![], b"b2journ3".to_vec(), vec![0xff; 5000], older, claims(80), claims(u64::MAX)] {
        let (_folder, path) = wide();
        let (journal, before) = (beside(&path, ".b2journal"), fs::read(&path).unwrap());
        fs::write(&journal, &bytes).unwrap();
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
        let refused = change(&path, &EditOptions::default(), 8).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Usage(_)), "{refused}");
        assert!(fs::read(&journal).unwrap() == bytes && fs::read(&path).unwrap() == before);
        fs::remove_file(&journal).unwrap();
        change(&path, &EditOptions::default(), 8).unwrap();
        let frame = Frame::open(&path).unwrap();
        assert_eq!((frame.chunk_count(), frame.metalayers().get("wide")), (2, Some(&[8; 600][..])));
        assert!(!journal.exists());
    }
}

#[test]
fn lock_files_that_are_pipes_directories_or_symlinks_are_refused() {
    let makes: [fn(&Path); 3] = [
        pipe,
        |path| fs::create_dir(path).unwrap(),
        |path| symlink(path.with_file_name("victim"), path).unwrap(),
    ];
    for make in makes {
        let (folder, path) = wide();
        let victim = folder.path().join("victim");
        fs::write(&victim, b"mine, and longer than sixteen bytes").unwrap();
        make(&beside(&path, ".b2lock"));
        let mut edit = EditOptions::default();
        edit.lock = Locking::JournalStore;
        let mut open = OpenOptions::default();
        open.lock = Locking::JournalStore;
        for error in [change(&path, &edit, 8).unwrap_err(), Frame::open_with(&path, &open).unwrap_err()] {
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"mine, and longer than sixteen bytes");
    }
}

/// Makes a sparse frame of three chunks.
fn sparse() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.b2frame");
    let mut options = FrameOptions::default();
    options.kind = blosc2_frame::Kind::Sparse;
    let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
    for number in 1..4 {
        editor.append(&[number; 100]).unwrap();
    }
    editor.commit(Durability::Synced).unwrap();
    (folder, path)
}

#[test]
fn special_or_oversized_chunk_files_lose_only_their_chunk() {
    let makes: [fn(&Path); 5] = [
        pipe,
        |path| fs::create_dir(path).unwrap(),
        |path| symlink("/dev/zero", path).unwrap(),
        |path| symlink(path.with_file_name("00000000.chunk"), path).unwrap(),
        // A terabyte of holes.
        |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
    ];
    for make in makes {
        let (_folder, path) = sparse();
        let file = path.join("00000001.chunk");
        fs::remove_file(&file).unwrap();
        make(&file);
        let frame = Frame::open(&path).unwrap();
        let options = ReadOptions::default();
        let chunks: Vec<bool> = (0..3).map(|at| frame.read_chunk(at, &options).is_ok()).collect();
        assert_eq!(chunks, [true, false, true]);
        assert!(frame.scan_chunks().unwrap().faults.iter().any(|fault| fault.index() == Some(1)));
        let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
        assert!(editor.read_chunk(1).is_err());
        let target = path.with_file_name("repaired.b2frame");
        let report = blosc2_frame::repair(&path, &target).unwrap();
        assert!(!report.lost.is_empty(), "{report:?}");
        let repaired = Frame::open(&target).unwrap();
        assert_eq!(repaired.read_chunk(2, &options).unwrap(), [3; 100]);
        assert_eq!(editor.chunk_count(), repaired.chunk_count());
        editor.append(&[4; 100]).unwrap();
        editor.commit(Durability::Synced).unwrap();
    }
}

/// An index of another frame, whose numbers are those of missing files.
#[test]
fn index_entries_of_missing_files_fail_only_their_chunk() {
    for number in [3_i64, 0xffff_ffff, 0x1_0000_0000, i64::MAX] {
        let (_folder, path) = sparse();
        let file = path.join("chunks.b2frame");
        let mut bytes = fs::read(&file).unwrap();
        let at = 97 + 32 + 8;
        assert_eq!(bytes[at..at + 8], 1_u64.to_le_bytes());
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        fs::write(&file, bytes).unwrap();
        let frame = Frame::open(&path).unwrap();
        let options = ReadOptions::default();
        assert!(frame.read_chunk(1, &options).is_err(), "{number}");
        assert_eq!(frame.read_chunk(2, &options).unwrap(), [3; 100]);
    }
}

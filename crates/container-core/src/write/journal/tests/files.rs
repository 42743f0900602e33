//! Journals next to files.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;

use super::*;
use crate::write::journal::FileJournalStore;

/// A file with two bytes of a torn change, and a name for its journal.
struct Folder {
    path: PathBuf,
    journal: PathBuf,
    folder: tempfile::TempDir,
}

fn folder() -> Folder {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, torn()).unwrap();
    Folder { journal: folder.path().join("a.journal"), path, folder }
}

fn torn() -> Vec<u8> {
    with(old(), &[(510, b"wx")])
}

/// The bytes that a reader sees, and whether a journal, if reported, is pending.
fn read(place: &Folder) -> (Vec<u8>, Option<bool>) {
    let source: Box<dyn Source> = Box::new(fs::read(&place.path).unwrap());
    let (source, notice) = open_recovered(&place.path, &KIND, source, &Limits::default()).unwrap();
    if let Some(notice) = &notice {
        assert!(notice.message.contains("journal a.journal"), "{}", notice.message);
        assert_eq!(notice.segment().part.as_deref(), Some("a.journal"));
    }
    (source.read(0..source.len()).unwrap().into_owned(), notice.map(|notice| notice.is_pending))
}

/// Asserts that readers and writers ignore it, and see the file itself.
fn is_ignored(place: &Folder) {
    assert_eq!(read(place), (torn(), Some(false)));
    let before = fs::symlink_metadata(&place.journal).unwrap();
    let mut storage = fs::read(&place.path).unwrap();
    let mut sidecar = FileJournalStore::beside(&place.path, &KIND);
    let found = recover(&mut storage, &mut sidecar, &KIND, &Limits::default()).unwrap();
    assert!(matches!(found, Place::Taken(_)) && storage == torn());
    let refused = sidecar.put(b"journal").unwrap_err();
    assert!(matches!(refused.kind(), crate::ErrorKind::Usage(_)), "{refused}");
    let after = fs::symlink_metadata(&place.journal).unwrap();
    assert!(before.modified().unwrap() == after.modified().unwrap() && before.len() == after.len());
}

#[test]
fn a_journal_of_ours_is_read_and_finished() {
    let place = folder();
    assert_eq!(read(&place), (torn(), None));
    let mut sidecar = FileJournalStore::beside(&place.path, &KIND);
    sidecar.put(&within().encode(&KIND)).unwrap();
    let new = with(old(), &[(510, b"wxyz"), (600, b"2")]);
    assert_eq!(read(&place), (new.clone(), Some(true)));
    let mut storage = fs::read(&place.path).unwrap();
    assert_eq!(recover(&mut storage, &mut sidecar, &KIND, &Limits::default()).unwrap(), Place::Free);
    assert!(storage == new && !place.journal.exists());
    // A change that has not begun is not visible.
    sidecar.put(&within().encode(&KIND)).unwrap();
    fs::write(&place.path, old()).unwrap();
    assert_eq!(read(&place), (old(), Some(true)));
}

#[test]
fn links_pipes_folders_and_files_with_two_names_are_ignored() {
    let journal = within().encode(&KIND);
    for kind in 0..4 {
        let place = folder();
        let other = place.folder.path().join("other");
        fs::write(&other, &journal).unwrap();
        match kind {
            0 => symlink(&other, &place.journal).unwrap(),
            1 => fs::hard_link(&other, &place.journal).unwrap(),
            2 => fs::create_dir(&place.journal).unwrap(),
            _ => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, &place.journal, rustix::fs::FileType::Fifo, mode, 0)
                    .unwrap();
            }
        }
        is_ignored(&place);
        FileJournalStore::beside(&place.path, &KIND).remove().unwrap();
        fs::symlink_metadata(&place.journal).unwrap();
    }
}

/// Runs where this process may give files away, as the superuser may.
#[test]
fn a_journal_of_another_user_is_ignored() {
    let place = folder();
    fs::write(&place.journal, within().encode(&KIND)).unwrap();
    if chown(&place.journal, Some(1234), None).is_err() {
        return;
    }
    is_ignored(&place);
    // Of the user who has the file, it is one.
    chown(&place.path, Some(1234), None).unwrap();
    assert_eq!(read(&place).1, Some(true));
}

#[test]
fn incomplete_journals_are_ignored_at_any_length() {
    let journal = within().encode(&KIND);
    let mut broken = journal.clone();
    broken[70] ^= 1;
    for bytes in [&b""[..], b"short", &journal[..journal.len() - 1], &[&journal[..], b"+"].concat(), &broken]
    {
        let place = folder();
        fs::write(&place.journal, bytes).unwrap();
        is_ignored(&place);
    }
    let place = folder();
    fs::write(&place.journal, &journal).unwrap();
    // A hole of a terabyte.
    fs::OpenOptions::new().write(true).open(&place.journal).unwrap().set_len(1 << 40).unwrap();
    is_ignored(&place);
    // One that is whole and over the limits is not passed over: the file may be torn.
    fs::write(&place.journal, &journal).unwrap();
    let source: Box<dyn Source> = Box::new(torn());
    let refused =
        open_recovered(&place.path, &KIND, source, &Limits::default().with_memory(3)).err().unwrap();
    assert!(matches!(refused.kind(), crate::ErrorKind::Limit { .. }), "{refused}");
}

use container_core::dtype::{DType, Kind};
use crash_test::{Crash, Operation, RecordingStorage, power_loss_states, process_kill_states};

use super::*;
use crate::writer::{ArraySpec, Plan, WriteOptions};
use crate::yaml::Yaml;
use container_core::write::journal::NoJournal;

/// A file with an array of bytes, and one of rows of two 32-bit numbers.
fn file(rows: &[u8]) -> Vec<u8> {
    let mut plan = Plan::new(WriteOptions::default());
    let plain = plan.array(&ArraySpec::new(DType::native(Kind::Uint, 1), [5])).unwrap();
    let streamed = plan.streamed(&ArraySpec::new(DType::native(Kind::Uint, 4), [0, 2])).unwrap();
    let mut bytes = Vec::new();
    let tree = Yaml::mapping([("plain", plain), ("rows", streamed)]);
    let mut writer = plan.start(tree, &mut bytes).unwrap();
    writer.write(b"plain").unwrap();
    writer.finish().unwrap();
    bytes.extend_from_slice(rows);
    bytes
}

fn open(storage: &RecordingStorage) -> Result<Appender> {
    Appender::open_storage(Box::new(storage.clone()), Box::new(NoJournal), &UpdateOptions::default())
}

#[test]
fn rows_go_behind_rows_and_over_a_torn_one() {
    let storage = RecordingStorage::new(file(b"row one.row two.torn"));
    let mut appender = open(&storage).unwrap();
    assert_eq!(
        (appender.array(), appender.row_len(), appender.rows(), appender.partial_row_len()),
        ("rows", 8, 2, 4)
    );
    appender.append(b"row").unwrap();
    assert!(appender.commit(Durability::Cached).is_err());
    appender.append(b" 3..row 4..").unwrap();
    appender.append(b"....").unwrap();
    assert!(appender.commit(Durability::Cached).is_err());
    appender.append(b"......").unwrap();
    appender.commit(Durability::Synced).unwrap();
    assert_eq!((appender.rows(), appender.partial_row_len()), (5, 0));
    assert!(storage.image() == file(b"row one.row two.row 3..row 4............"));
    // Without appended rows a torn row stays: its bytes may be wanted.
    let storage = RecordingStorage::new(file(b"row one.torn"));
    open(&storage).unwrap().commit(Durability::Synced).unwrap();
    assert!(storage.image() == file(b"row one.torn"));
}

#[test]
fn more_than_is_gathered_goes_at_once() {
    let storage = RecordingStorage::new(file(b""));
    let mut appender = open(&storage).unwrap();
    let rows: Vec<u8> = (0..800_000_u32).map(|at| (at % 253) as u8).collect();
    for piece in rows.chunks(300_001) {
        appender.append(piece).unwrap();
    }
    for piece in rows.chunks(1000) {
        appender.append(piece).unwrap();
    }
    appender.commit(Durability::Synced).unwrap();
    assert_eq!(appender.rows(), 200_000);
    assert!(storage.image() == file(&[&rows[..], &rows].concat()));
}

#[test]
fn crashes_leave_rows_that_were_committed() {
    let start = file(b"row one.torn");
    let storage = RecordingStorage::new(start.clone());
    let mut appender = open(&storage).unwrap();
    let mut promised = vec![(0, 1)];
    let mut all = b"row one.".to_vec();
    for commit in 0..4_u64 {
        for row in 0..100 * commit + 1 {
            let row = (row.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).to_le_bytes();
            all.extend_from_slice(&row);
            appender.append(&row).unwrap();
        }
        appender.commit(Durability::Synced).unwrap();
        promised.push((storage.operation_count(), appender.rows()));
    }
    let look = |crash: &Crash<'_>, may_be_zero: bool| {
        let image = RecordingStorage::new(crash.image.to_vec());
        let rows = open(&image).unwrap().rows();
        let safe = promised.iter().rfind(|(done, _)| *done <= crash.done).unwrap().1;
        assert!(rows >= safe, "{}: {rows} rows of {safe}", crash.what);
        let len = usize::try_from(if may_be_zero { safe } else { rows }).unwrap() * 8;
        let from = start.len() - b"row one.torn".len();
        assert!(crash.image[from..from + len] == all[..len], "{}", crash.what);
    };
    process_kill_states(&start, &storage.operations(), |crash| look(crash, false));
    power_loss_states(&start, &storage.operations(), 5, |crash| look(crash, true));
    // Without its syncs there is no guarantee.
    let lax: Vec<_> = storage.operations().into_iter().filter(|one| *one != Operation::Sync).collect();
    let mut lost = 0;
    power_loss_states(&start, &lax, 5, |crash| {
        let image = RecordingStorage::new(crash.image.to_vec());
        lost += usize::from(open(&image).unwrap().rows() < 5);
    });
    assert!(lost > 0);
}

#[test]
fn files_without_such_rows_are_refused() {
    let mut plan = Plan::new(WriteOptions::default());
    let node = plan.array(&ArraySpec::new(DType::native(Kind::Uint, 1), [5])).unwrap();
    let mut bytes = Vec::new();
    let mut writer = plan.start(Yaml::mapping([("a", node)]), &mut bytes).unwrap();
    writer.write(b"plain").unwrap();
    writer.finish().unwrap();
    assert!(open(&RecordingStorage::new(bytes)).is_err());
    let text = |from: &[u8], to: &[u8]| {
        let bytes = file(b"");
        let at = bytes.windows(from.len()).position(|here| here == from).unwrap();
        [&bytes[..at], to, &bytes[at + from.len()..]].concat()
    };
    assert!(open(&RecordingStorage::new(text(b"source: -1", b"source: 00"))).is_err());
    assert!(open(&RecordingStorage::new(text(b"['*', 2]", b"[0, 2]  "))).is_err());
    assert!(open(&RecordingStorage::new(text(b"['*', 2]", b"['*', 0]"))).is_err());
}

#[test]
fn a_file_is_locked_while_it_takes_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.asdf");
    std::fs::write(&path, file(b"")).unwrap();
    let mut appender = Appender::open(&path, &UpdateOptions::default()).unwrap();
    assert!(cfg!(windows) || Appender::open(&path, &UpdateOptions::default()).is_err());
    appender.append(b"row one.").unwrap();
    appender.commit(Durability::Synced).unwrap();
    drop(appender);
    assert!(std::fs::read(&path).unwrap() == file(b"row one."));
}

/// A write of which a full disk took a part: whoever tries again would have those rows twice.
#[test]
fn rows_that_a_full_disk_cut_short_are_taken_back() {
    let start = file(b"row one.torn");
    let storage = RecordingStorage::new(start.clone());
    let mut appender = open(&storage).unwrap();
    appender.append(&[7; 800]).unwrap();
    storage.set_room(Some(start.len() as u64 + 100));
    appender.commit(Durability::Synced).unwrap_err();
    assert_eq!(storage.image().len(), start.len() + 100);
    appender.rollback().unwrap();
    assert!(storage.image() == file(b"row one."));
    storage.set_room(None);
    appender.append(b"row two.").unwrap();
    appender.commit(Durability::Synced).unwrap();
    assert!(storage.image() == file(b"row one.row two."));
    // Without a write, a torn row stays, and so do the bytes that another program has added.
    let storage = RecordingStorage::new(file(b"row one.torn"));
    let mut appender = open(&storage).unwrap();
    storage.clone().write_at(start.len() as u64, b" row.").unwrap();
    appender.append(b"row two.").unwrap();
    appender.rollback().unwrap();
    assert!(storage.image() == file(b"row one.torn row."));
}

#[test]
fn rows_that_may_not_be_on_the_disk_are_taken_back() {
    let storage = RecordingStorage::new(file(b"row one."));
    let mut appender = open(&storage).unwrap();
    appender.append(b"row two.").unwrap();
    storage.refuse_sync_after(0);
    appender.commit(Durability::Synced).unwrap_err();
    appender.rollback().unwrap();
    assert!(storage.image() == file(b"row one."));
}

#[test]
fn no_row_goes_over_an_index_after_the_streamed_block() {
    let mut bytes = file(b"row one.");
    let layout = Layout::parse(&bytes, &container_core::Limits::default()).unwrap();
    bytes.extend_from_slice(crate::BlockIndex { offsets: layout.offsets() }.to_text().as_bytes());
    let storage = RecordingStorage::new(bytes.clone());
    let error = open(&storage).err().unwrap();
    assert!(error.to_string().contains("index"), "{error}");
    assert!(storage.image() == bytes);
}

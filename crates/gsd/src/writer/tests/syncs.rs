//! Disks that refuse a sync.

use super::*;

/// Callers repeat an append that failed, so its frames must not be in the file.
#[test]
fn close_error_reports_whether_frames_were_committed() {
    for created in [WriterOptions::default(), WriterOptions::default().with_scheme(CommitScheme::Reference)] {
        let start = RecordingStorage::default();
        let mut writer = Writer::create_storage(start.clone(), &created).unwrap();
        write(&mut writer, 0..3);
        writer.close().unwrap();
        let mut failed = 0;
        for syncs in 0..20 {
            let storage = RecordingStorage::new(start.image());
            let options = options().with_commit(Commit::Manual).with_durability(Durability::Synced);
            let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
            write(&mut writer, 3..200);
            storage.refuse_sync_after(syncs);
            let closed = writer.close();
            let is_changed = closed.as_ref().map_or_else(Error::is_after_change, |()| true);
            check(&opened(&storage), if is_changed { 200 } else { 3 });
            failed += usize::from(closed.is_err());
        }
        assert!(failed >= 2, "{failed}");
    }
}

/// As above, for every scheme and every other change of a file: where only the last sync fails, the change is in the file, and the error
/// says so.
#[test]
fn is_after_change_matches_the_file_for_every_change() {
    type Change = fn(&mut Writer<RecordingStorage>) -> Result<()>;
    let changes: [(&str, Change); 3] =
        [("flush", Writer::flush), ("truncate", Writer::truncate), ("upgrade", Writer::upgrade)];
    let v1 =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd/ok/v1_small.gsd")).unwrap();
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        let manual = options().with_scheme(scheme).with_commit(Commit::Manual);
        for (name, change) in changes {
            let start = RecordingStorage::default();
            if name == "upgrade" {
                start.clone().write_at(0, &v1).unwrap();
            } else {
                let mut writer = Writer::create_storage(start.clone(), &manual).unwrap();
                write(&mut writer, 0..3);
                writer.close().unwrap();
            }
            let is_changed = |storage: &RecordingStorage| {
                let file = File::from_source(Box::new(storage.image()), &OpenOptions::default()).unwrap();
                match name {
                    "flush" => file.nframes() == 200,
                    "truncate" => file.nframes() == 0,
                    _ => file.header().gsd_version == Version::new(2, 1),
                }
            };
            let (mut told, mut done) = (0, false);
            for syncs in 0..20 {
                let storage = RecordingStorage::new(start.image());
                let mut writer = Writer::open_storage(storage.clone(), &manual).unwrap();
                if name == "flush" {
                    write(&mut writer, 3..200);
                }
                storage.refuse_sync_after(syncs);
                let changed = change(&mut writer);
                drop(writer);
                let says = changed.as_ref().map_or_else(Error::is_after_change, |()| true);
                // Between its syncs the reference's upgrade leaves what no reader opens.
                let may_be_torn = scheme == CommitScheme::Reference && name == "upgrade" && !says;
                assert!(
                    may_be_torn || is_changed(&storage) == says,
                    "{scheme:?} {name} {syncs}: {changed:?}"
                );
                told += usize::from(changed.is_err() && says);
                done |= changed.is_ok();
            }
            assert!(told >= 1 && done, "{scheme:?} {name}: {told}");
        }
    }
}

#[test]
fn a_file_that_may_not_be_on_the_disk_is_made_all_the_same() {
    for (syncs, is_made) in [(0, false), (1, true)] {
        let storage = RecordingStorage::default();
        storage.refuse_sync_after(syncs);
        let error = Writer::create_storage(storage.clone(), &options()).err().unwrap();
        assert_eq!(error.is_after_change(), is_made);
        let opened = File::from_source(Box::new(storage.image()), &OpenOptions::default());
        assert_eq!(opened.is_ok(), is_made);
    }
}

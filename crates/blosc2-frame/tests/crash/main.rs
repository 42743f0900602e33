//! Every state in which a crash can leave a frame opens as one that was committed, with all that it held.
//!
//! Scripts are written to a disk that records, and the record is replayed: stopped after every operation and in the middle of
//! writes, and with any subset of sectors between two syncs. What the editor had promised by then must be there.

use blosc2_frame::Durability;
use blosc2_frame::container_core::write::recording::{Operation, RecordingStorage};
use blosc2_frame::container_core::write::replay::{self, Crash};

mod disk;
mod reference;
mod script;

use script::{Looker, Script, change_all, frame, numbers, resize};

const LOOKERS: [Looker; 3] = [Looker::Plain, Looker::Path, Looker::Editor];

#[test]
fn changes_of_every_kind() {
    // The second is a frame in a larger file, whose header lies otherwise in its sectors but crosses none.
    for (before, metadata) in [(0, 60), (520, 60), (1024, 30)] {
        for chunks in [1, 40] {
            let file = [vec![7; before], frame(chunks, metadata)].concat();
            let mut script = Script::new(&file, before as u64);
            let mut editor = script.disk.edit(before as u64, true).unwrap();
            if chunks == 1 {
                editor.append(&numbers(77)).unwrap();
                script.commit(&mut editor, Durability::Synced);
            }
            change_all(&mut script, &mut editor, metadata, Durability::Synced);
            script.check(&format!("{chunks} chunks behind {before} bytes"));
        }
    }
}

/// The fields that change when chunks are appended lie in 31 bytes.
#[test]
fn appends_on_file_systems_that_tear_anywhere() {
    let mut script = Script::new(&frame(3, 60), 0);
    script.torn = true;
    let mut editor = script.disk.edit(0, true).unwrap();
    for seed in 0..6 {
        editor.append(&numbers(seed)).unwrap();
        editor.append(&numbers(seed + 50)).unwrap();
        script.commit(&mut editor, Durability::Synced);
    }
    drop(editor);
    script.check("appends");
}

#[test]
fn the_first_chunks_of_a_frame() {
    let mut script = Script::new(&frame(0, 60), 0);
    let mut editor = script.disk.edit(0, true).unwrap();
    for seed in 0..4 {
        editor.append(&numbers(seed)).unwrap();
        script.commit(&mut editor, Durability::Synced);
    }
    drop(editor);
    script.check("a new frame");
}

/// A header of more than a sector, or across two: without the journal a power cut tears it.
#[test]
fn headers_across_sectors() {
    for (before, metadata) in [(0, 1300), (470, 60), (490, 900)] {
        for looker in LOOKERS {
            if before > 0 && looker == Looker::Editor {
                // What a crash left behind a frame in a larger file may be another's, and is not written over.
                continue;
            }
            let file = [vec![7; before], frame(5, metadata)].concat();
            let mut script = Script::new(&file, before as u64);
            script.looker = looker;
            let mut editor = script.disk.edit(before as u64, true).unwrap();
            change_all(&mut script, &mut editor, metadata, Durability::Synced);
            let what = format!("{looker:?}, {metadata} bytes behind {before}");
            if looker == Looker::Plain {
                // C-Blosc2 knows no journals, and may find such a header torn until somebody finishes it.
                let broken = script.broken();
                assert!(
                    !broken.is_empty() && broken.iter().all(|crash| !crash.contains("after everything")),
                    "{what}"
                );
            } else {
                script.check(&what);
            }
        }
    }
}

/// Editors that come after a crash: a new one goes on, and crashes as well.
#[test]
fn crashes_after_crashes() {
    let mut script = Script::new(&frame(5, 1300), 0);
    let mut editor = script.disk.edit(0, true).unwrap();
    resize(&mut editor, 1, 1300);
    script.commit(&mut editor, Durability::Synced);
    drop(editor);
    let (start, operations) = (script.start.clone(), script.disk.0.operations());
    let mut crashes = 0_usize;
    let mut go_on = |crash: &Crash<'_>| {
        crashes += 1;
        if !crashes.is_multiple_of(9) {
            return;
        }
        let disk = disk::Disk(RecordingStorage::new(crash.image.to_vec()));
        // What it is now is promised, however it came about.
        let mut again = Script::new(&frame(5, 1300), 0);
        again.start = crash.image.to_vec();
        again.disk = disk;
        let mut editor = again.disk.edit(0, true).unwrap();
        again.promised.clear();
        again.promise();
        again.promised[0].0 = 0;
        resize(&mut editor, 1, 1300);
        again.commit(&mut editor, Durability::Synced);
        drop(editor);
        again.looker = Looker::Editor;
        again.check(&format!("{}, and another crash", crash.what));
    };
    replay::process_kill_states(&start, &operations, &mut go_on);
    replay::power_loss_states(&start, &operations, 3, &mut go_on);
    assert!(crashes > 100, "{crashes}");
}

/// The harness has to find what is wrong: the order of C-Blosc2, commits that forget to sync, and headers without a journal.
#[test]
fn writers_that_can_be_torn_are_found_out() {
    let mut script = Script::new(&frame(5, 60), 0);
    for seed in 0..3 {
        reference::append(&mut script.disk, &numbers(seed));
        script.promise();
    }
    let broken = script.broken();
    assert!(broken.iter().any(|what| what.starts_with("killed")), "no kill found");
    assert!(broken.iter().any(|what| what.starts_with("power")), "no power cut found");

    let mut script = Script::new(&frame(5, 60), 0);
    let mut editor = script.disk.edit(0, true).unwrap();
    change_all(&mut script, &mut editor, 60, Durability::Cached);
    drop(editor);
    let broken = script.broken();
    assert!(broken.iter().all(|what| what.starts_with("power")), "{broken:#?}");
    assert!(!broken.is_empty(), "nothing was synced, and nothing was found");
    assert!(script.disk.0.operations().iter().all(|operation| *operation != Operation::Sync));

    for looker in LOOKERS {
        let mut script = Script::new(&frame(5, 1300), 0);
        script.looker = looker;
        let mut editor = script.disk.edit(0, false).unwrap();
        change_all(&mut script, &mut editor, 1300, Durability::Synced);
        drop(editor);
        assert!(!script.broken().is_empty(), "{looker:?} finds nothing wrong without a journal");
    }
}

/// Each sync is needed: leave one out, and something breaks. The last of a commit is what its promise stands on, which the script looks
/// at; and a sync of the journal is one of the file as well here, which a disk does not do. Of a journal, its bytes and its name are synced.
#[test]
fn every_sync_is_needed() {
    for (metadata, needed) in [(60, &[0, 2][..]), (1300, &[1, 2, 3, 6, 7, 8])] {
        let mut script = Script::new(&frame(5, metadata), 0);
        script.looker = Looker::Editor;
        let mut editor = script.disk.edit(0, true).unwrap();
        for _ in 0..2 {
            resize(&mut editor, 1, metadata);
            script.commit(&mut editor, Durability::Synced);
        }
        drop(editor);
        script.check("all syncs");
        let operations = script.disk.0.operations();
        let syncs: Vec<usize> =
            (0..operations.len()).filter(|index| operations[*index] == Operation::Sync).collect();
        assert_eq!(syncs.len(), if metadata == 60 { 4 } else { 10 });
        for number in needed {
            let broken = reference::broken_without(&script, syncs[*number]);
            assert!(!broken.is_empty(), "{metadata}: sync {number} is not needed");
        }
    }
}

//! Every state in which a crash can leave a frame opens as one that was committed, with all that it held.
//!
//! Scripts are written to a disk that records, and the record is replayed: stopped after every operation and in the middle of
//! writes, and with any subset of sectors between two syncs. What the editor had promised by then must be there.

use blosc2_frame::{Durability, EditOptions, Editor, NoJournal};
use crash_test::{Opener, Operation};

mod reference;
mod script;

use script::{change_all, commit, edit, frame, numbers, resize, script};

const OPENERS: [Opener; 3] = [Opener::Reader, Opener::PathReader, Opener::Writer];

#[test]
fn changes_of_every_kind() {
    // The second is a frame in a larger file, whose header has another position in its sectors but crosses none.
    for (before, metadata) in [(0, 60), (520, 60), (1024, 30)] {
        for chunks in [1, 40] {
            let file = [vec![7; before], frame(chunks, metadata)].concat();
            let mut script = script(&file, before as u64);
            let mut editor = edit(&script.storage, before as u64).unwrap();
            if chunks == 1 {
                editor.append(&numbers(77)).unwrap();
                commit(&mut script, &mut editor, Durability::Synced);
            }
            change_all(&mut script, &mut editor, metadata, Durability::Synced);
            script.check(&[Opener::Reader], &format!("{chunks} chunks behind {before} bytes"));
        }
    }
}

/// The fields that change when chunks are appended are within 31 bytes.
#[test]
fn appends_on_file_systems_that_tear_anywhere() {
    let mut script = script(&frame(3, 60), 0);
    script.tears_anywhere = true;
    let mut editor = edit(&script.storage, 0).unwrap();
    for seed in 0..6 {
        editor.append(&numbers(seed)).unwrap();
        editor.append(&numbers(seed + 50)).unwrap();
        commit(&mut script, &mut editor, Durability::Synced);
    }
    drop(editor);
    script.check(&[Opener::Reader], "appends");
}

#[test]
fn the_first_chunks_of_a_frame() {
    let mut script = script(&frame(0, 60), 0);
    let mut editor = edit(&script.storage, 0).unwrap();
    for seed in 0..4 {
        editor.append(&numbers(seed)).unwrap();
        commit(&mut script, &mut editor, Durability::Synced);
    }
    drop(editor);
    script.check(&[Opener::Reader], "a new frame");
}

/// A header of more than a sector, or across two: without the journal a power cut tears it.
#[test]
fn headers_across_sectors() {
    for (before, metadata) in [(0, 1300), (470, 60), (490, 900)] {
        let file = [vec![7; before], frame(5, metadata)].concat();
        let mut script = script(&file, before as u64);
        let mut editor = edit(&script.storage, before as u64).unwrap();
        change_all(&mut script, &mut editor, metadata, Durability::Synced);
        let what = format!("{metadata} bytes behind {before}");
        // C-Blosc2 does not read journals, and may find such a header torn until a reader of ours finishes it.
        let broken = script.broken(Opener::Reader);
        assert!(
            !broken.is_empty() && broken.iter().all(|crash| !crash.contains("after everything")),
            "{what}"
        );
        script.check(&[Opener::PathReader], &what);
        // Bytes that a crash left after a frame in a larger file may belong to another program, and are not overwritten.
        if before == 0 {
            script.check(&[Opener::Writer], &what);
        }
    }
}

/// Editors that come after a crash: a new one goes on, and crashes as well.
#[test]
fn crashes_after_crashes() {
    let mut script = script(&frame(5, 1300), 0);
    let mut editor = edit(&script.storage, 0).unwrap();
    resize(&mut editor, 1, 1300);
    commit(&mut script, &mut editor, Durability::Synced);
    drop(editor);
    script.after_crashes(9, |mut again, crash| {
        let mut editor = edit(&again.storage, 0).unwrap();
        resize(&mut editor, 1, 1300);
        commit(&mut again, &mut editor, Durability::Synced);
        drop(editor);
        again.check(&[Opener::Writer], &format!("{}, and another crash", crash.what));
    });
}

/// The harness has to find what is wrong: the order of C-Blosc2, commits that forget to sync, and headers without a journal.
#[test]
fn writers_that_can_be_torn_are_found_out() {
    let start = frame(5, 60);
    let mut by_reference = script(&start, 0);
    for seed in 0..3 {
        reference::append(&mut by_reference.storage, &numbers(seed));
        by_reference.promise_change();
    }
    let broken = by_reference.broken(Opener::Reader);
    assert!(broken.iter().any(|what| what.starts_with("killed")), "no kill found");
    assert!(broken.iter().any(|what| what.starts_with("power")), "no power cut found");

    let mut unsynced = script(&start, 0);
    let mut editor = edit(&unsynced.storage, 0).unwrap();
    change_all(&mut unsynced, &mut editor, 60, Durability::Cached);
    drop(editor);
    let broken = unsynced.broken(Opener::Reader);
    assert!(broken.iter().all(|what| what.starts_with("power")), "{broken:#?}");
    assert!(!broken.is_empty(), "nothing was synced, and nothing was found");
    assert!(unsynced.storage.operations().iter().all(|operation| *operation != Operation::Sync));

    let mut script = script(&frame(5, 1300), 0);
    let storage = Box::new(script.storage.clone());
    let mut editor =
        Editor::open_storage_with(storage, Box::new(NoJournal), 0, &EditOptions::default()).unwrap();
    change_all(&mut script, &mut editor, 1300, Durability::Synced);
    drop(editor);
    for opener in OPENERS {
        assert!(!script.broken(opener).is_empty(), "{opener:?} finds nothing wrong without a journal");
    }
}

/// Each sync is needed: without any one, a check fails. The promise of a commit depends on its last one, which the script checks; and a
/// sync of the journal is one of the file as well here, which a disk does not do. Of a journal, its bytes and its name are synced.
#[test]
fn every_sync_is_needed() {
    for (metadata, needed) in [(60, &[0, 2][..]), (1300, &[1, 2, 3, 6, 7, 8])] {
        let mut script = script(&frame(5, metadata), 0);
        let mut editor = edit(&script.storage, 0).unwrap();
        for _ in 0..2 {
            resize(&mut editor, 1, metadata);
            commit(&mut script, &mut editor, Durability::Synced);
        }
        drop(editor);
        script.check(&[Opener::Writer], "all syncs");
        assert_eq!(script.syncs().len(), if metadata == 60 { 4 } else { 10 });
        for &number in needed {
            let broken = script.broken_without_sync(Opener::Writer, number);
            assert!(!broken.is_empty(), "{metadata}: sync {number} is not needed");
        }
    }
}

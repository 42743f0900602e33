//! Every state in which a crash can leave a file opens as one that was committed, with all that it held.
//!
//! Scripts are written to a disk that records, and the record is replayed: stopped after every operation and in the middle of writes, and with any
//! subset of sectors between two syncs. All changes that the updater had completed by then must be there.

use asdf::container_core::write::journal::{JournalStore, NoJournal};
use asdf::update::{CommitKind, UpdateOptions, Updater};
use asdf::writer::WriteOptions;
use crash_test::{Opener, RecordingStorage, process_kill_states, random_bytes};

mod script;

use script::{add, check, commit, edit, edit_words, file, padded, script, update};

#[test]
fn a_tree_that_fits_its_padding() {
    let mut script = script(&file(&[700, 3000], 100, padded()));
    let mut updater = update(&script.storage).unwrap();
    // Within a sector, shorter and longer.
    edit(&mut updater, "word0001", "WORD0001");
    commit(&mut script, &mut updater, CommitKind::OneWrite);
    edit(&mut updater, "last: a", "last: bcd");
    commit(&mut script, &mut updater, CommitKind::Journal);
    edit(&mut updater, "word", "longer");
    commit(&mut script, &mut updater, CommitKind::Journal);
    edit(&mut updater, "longer", "w");
    commit(&mut script, &mut updater, CommitKind::Journal);
    assert_eq!(updater.commit().unwrap(), CommitKind::Unchanged);
    drop(updater);
    check(&script, "a tree");
}

#[test]
fn blocks_that_are_replaced() {
    let mut script = script(&file(&[700, 3000, 20], 3, padded()));
    let mut updater = update(&script.storage).unwrap();
    updater.replace_block(1, &random_bytes(10, 3000)).unwrap();
    commit(&mut script, &mut updater, CommitKind::Journal);
    updater.replace_block(0, &random_bytes(11, 1000)).unwrap();
    updater.replace_block(2, &[]).unwrap();
    edit(&mut updater, "word0001", "another");
    commit(&mut script, &mut updater, CommitKind::Journal);
    drop(updater);
    check(&script, "blocks");
}

/// Blocks after the last one: over the index, and past the end of the file.
#[test]
fn arrays_that_are_added() {
    let mut without_index = padded();
    without_index.index = false;
    for options in [padded(), without_index] {
        let mut script = script(&file(&[700, 900], 5, options.clone()));
        let mut updater = update(&script.storage).unwrap();
        add(&mut updater, "third", 10, 3000);
        commit(&mut script, &mut updater, CommitKind::Journal);
        // Shorter than the index that it is written over.
        add(&mut updater, "fourth", 11, 3);
        add(&mut updater, "fifth", 12, 0);
        edit_words(&mut updater);
        updater.replace_block(0, &random_bytes(13, 650)).unwrap();
        commit(&mut script, &mut updater, CommitKind::Journal);
        updater.remove("words").unwrap();
        commit(&mut script, &mut updater, CommitKind::Journal);
        drop(updater);
        assert_eq!(script.promised(2).blocks.len(), 5);
        assert_eq!(script.promised(2).blocks[2].0, random_bytes(10, 3000));
        assert_eq!(script.promised(2).blocks[3].0, random_bytes(11, 3));
        check(&script, if options.index { "arrays" } else { "arrays without an index" });
    }
}

/// Each sync of a file that grows is needed, that of the added bytes before the others change among them.
#[test]
fn every_sync_of_an_addition_is_needed() {
    let mut script = script(&file(&[700], 5, padded()));
    let mut updater = update(&script.storage).unwrap();
    for seed in 0..2 {
        add(&mut updater, &format!("new{seed}"), seed, 1500);
        commit(&mut script, &mut updater, CommitKind::Journal);
    }
    drop(updater);
    check(&script, "all syncs");
    // For each commit: the journal's bytes and its name, the bytes past the end, the change, the removal.
    assert_eq!(script.syncs().len(), 10);
    for number in [1, 2, 3] {
        let broken = script.broken_without_sync(Opener::Writer, number);
        assert!(!broken.is_empty(), "sync {number} is not needed");
    }
}

/// Updaters that come after a crash: a new one continues, and crashes as well.
#[test]
fn crashes_after_crashes() {
    let mut script = script(&file(&[700, 900], 100, padded()));
    let mut updater = update(&script.storage).unwrap();
    updater.replace_block(1, &random_bytes(10, 900)).unwrap();
    edit(&mut updater, "word", "longer");
    commit(&mut script, &mut updater, CommitKind::Journal);
    drop(updater);
    script.after_crashes(67, |mut again, crash| {
        let mut updater = update(&again.storage).unwrap();
        updater.replace_block(0, &random_bytes(12, 701)).unwrap();
        edit(&mut updater, "last: a", "last: x");
        commit(&mut again, &mut updater, CommitKind::Journal);
        drop(updater);
        check(&again, &format!("{}, and another crash", crash.what));
    });
}

/// The harness has to find faults: changes without a journal, and readers that ignore the journal.
#[test]
fn changes_that_can_be_torn_are_found_out() {
    let change = |with_journal: bool| {
        let mut script = script(&file(&[700, 3000], 100, padded()));
        let journal: Box<dyn JournalStore> =
            if with_journal { Box::new(script.storage.clone()) } else { Box::new(NoJournal) };
        let storage = Box::new(script.storage.clone());
        let mut updater = Updater::open_storage(storage, journal, UpdateOptions::default()).unwrap();
        updater.replace_block(1, &random_bytes(10, 3000)).unwrap();
        edit(&mut updater, "word", "longer");
        commit(&mut script, &mut updater, CommitKind::Journal);
        drop(updater);
        script
    };
    let script = change(false);
    for opener in [Opener::Reader, Opener::PathReader, Opener::Writer] {
        let broken = script.broken(opener);
        assert!(broken.iter().any(|what| what.starts_with("killed")), "{opener:?}: no kill found");
        assert!(broken.iter().any(|what| what.starts_with("power")), "{opener:?}: no power cut found");
    }
    let script = change(true);
    check(&script, "with a journal");
    // Python asdf does not read journals, and may find the file torn until another program finishes the change.
    let broken = script.broken(Opener::Reader);
    assert!(!broken.is_empty() && broken.iter().all(|crash| !crash.contains("after everything")));
}

/// Each sync is needed: leave one out, and something breaks.
#[test]
fn every_sync_is_needed() {
    let mut script = script(&file(&[700, 3000], 100, padded()));
    let mut updater = update(&script.storage).unwrap();
    for (seed, from, to) in [(10, "word", "longer"), (11, "longer", "w")] {
        updater.replace_block(1, &random_bytes(seed, 3000)).unwrap();
        edit(&mut updater, from, to);
        commit(&mut script, &mut updater, CommitKind::Journal);
    }
    drop(updater);
    check(&script, "all syncs");
    // For each commit: the journal's bytes and its name, the file, the removal of the journal. The first is covered by the second, and only changes
    // without a journal need the last.
    assert_eq!(script.syncs().len(), 8);
    for number in [1, 2, 5, 6] {
        let broken = script.broken_without_sync(Opener::Writer, number);
        assert!(!broken.is_empty(), "sync {number} is not needed");
    }
}

/// A journal that belongs to another state of the file, or to another file, has no effect.
#[test]
fn stale_journal_has_no_effect() {
    let mut script = script(&file(&[700, 3000], 100, padded()));
    let start = script.storage.image();
    let mut updater = update(&script.storage).unwrap();
    edit(&mut updater, "word", "longer");
    commit(&mut script, &mut updater, CommitKind::Journal);
    drop(updater);
    // The journal as it was before it was removed.
    let mut journal = None;
    process_kill_states(&start, &script.storage.operations(), |crash| {
        journal = script.storage.with_image(crash.image.to_vec()).journal().or(journal.take());
    });
    let journal = journal.unwrap();
    let others = [
        file(&[700, 3000], 99, padded()),
        file(&[700, 3001], 100, WriteOptions::default()),
        file(&[1], 0, WriteOptions::default()),
        script.storage.file(),
    ];
    for (number, other) in others.into_iter().enumerate() {
        let mut storage = RecordingStorage::with_journal(&other);
        storage.put(&journal).unwrap();
        drop(update(&storage).unwrap());
        // The last is the file after the change: it needs no journal any more.
        assert!(storage.file() == other && storage.journal().is_none() == (number == 3), "file {number}");
    }
}

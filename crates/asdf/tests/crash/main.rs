//! Every state in which a crash can leave a file opens as one that was committed, with all that it held.
//!
//! Scripts are written to a disk that records, and the record is replayed: stopped after every operation and in the middle of
//! writes, and with any subset of sectors between two syncs. What the updater had promised by then must be there.

use asdf::container_core::write::recording::{Operation, RecordingStorage};
use asdf::container_core::write::replay::{self, Crash};
use asdf::container_core::write::storage::Storage;
use asdf::update::CommitKind;
use asdf::writer::WriteOptions;

mod disk;
mod script;

use script::{Looker, Script, add, edit, edit_words, file, noise, padded};

#[test]
fn a_tree_that_fits_its_padding() {
    let mut script = Script::new(&file(&[700, 3000], 100, padded()));
    let mut updater = script.disk.update(true).unwrap();
    // Within a sector, shorter and longer.
    edit(&mut updater, "word0001", "WORD0001");
    script.commit(&mut updater, CommitKind::OneWrite);
    edit(&mut updater, "last: a", "last: bcd");
    script.commit(&mut updater, CommitKind::Journal);
    edit(&mut updater, "word", "longer");
    script.commit(&mut updater, CommitKind::Journal);
    edit(&mut updater, "longer", "w");
    script.commit(&mut updater, CommitKind::Journal);
    assert_eq!(updater.commit().unwrap(), CommitKind::Unchanged);
    drop(updater);
    script.check("a tree");
}

#[test]
fn blocks_that_are_replaced() {
    let mut script = Script::new(&file(&[700, 3000, 20], 3, padded()));
    let mut updater = script.disk.update(true).unwrap();
    updater.replace_block(1, &noise(10, 3000)).unwrap();
    script.commit(&mut updater, CommitKind::Journal);
    updater.replace_block(0, &noise(11, 1000)).unwrap();
    updater.replace_block(2, &[]).unwrap();
    edit(&mut updater, "word0001", "another");
    script.commit(&mut updater, CommitKind::Journal);
    drop(updater);
    script.check("blocks");
}

/// Blocks behind the last one: over the index, and behind the end of the file.
#[test]
fn arrays_that_are_added() {
    let mut without_index = padded();
    without_index.index = false;
    for options in [padded(), without_index] {
        let mut script = Script::new(&file(&[700, 900], 5, options.clone()));
        let mut updater = script.disk.update(true).unwrap();
        add(&mut updater, "third", 10, 3000);
        script.commit(&mut updater, CommitKind::Journal);
        // Shorter than the index that it is written over.
        add(&mut updater, "fourth", 11, 3);
        add(&mut updater, "fifth", 12, 0);
        edit_words(&mut updater);
        updater.replace_block(0, &noise(13, 650)).unwrap();
        script.commit(&mut updater, CommitKind::Journal);
        updater.remove("words").unwrap();
        script.commit(&mut updater, CommitKind::Journal);
        drop(updater);
        assert_eq!(script.promised[2].1.blocks.len(), 5);
        assert_eq!(script.promised[2].1.blocks[2].0, noise(10, 3000));
        assert_eq!(script.promised[2].1.blocks[3].0, noise(11, 3));
        script.check(if options.index { "arrays" } else { "arrays without an index" });
    }
}

/// Each sync of a file that grows is needed, that of the added bytes before the others change among them.
#[test]
fn every_sync_of_an_addition_is_needed() {
    let mut script = Script::new(&file(&[700], 5, padded()));
    let mut updater = script.disk.update(true).unwrap();
    for seed in 0..2 {
        add(&mut updater, &format!("new{seed}"), seed, 1500);
        script.commit(&mut updater, CommitKind::Journal);
    }
    drop(updater);
    script.check("all syncs");
    let operations = script.disk.0.operations();
    let syncs: Vec<usize> = (0..operations.len()).filter(|at| operations[*at] == Operation::Sync).collect();
    // Of each commit: of the journal, of what is behind the end, of the change, of the removal.
    assert_eq!(syncs.len(), 8);
    for number in [0, 1, 2] {
        let broken = script.broken_without(syncs[number]);
        assert!(!broken.is_empty(), "sync {number} is not needed");
    }
}

/// Updaters that come after a crash: a new one goes on, and crashes as well.
#[test]
fn crashes_after_crashes() {
    let mut script = Script::new(&file(&[700, 900], 100, padded()));
    let mut updater = script.disk.update(true).unwrap();
    updater.replace_block(1, &noise(10, 900)).unwrap();
    edit(&mut updater, "word", "longer");
    script.commit(&mut updater, CommitKind::Journal);
    drop(updater);
    let (start, operations) = (script.start.clone(), script.disk.0.operations());
    let mut crashes = 0_usize;
    let mut go_on = |crash: &Crash<'_>| {
        crashes += 1;
        if !crashes.is_multiple_of(67) {
            return;
        }
        let mut again = Script::new(&file(&[700, 900], 100, padded()));
        again.start = crash.image.to_vec();
        again.disk = disk::Disk(RecordingStorage::new(crash.image.to_vec()));
        let mut updater = again.disk.update(true).unwrap();
        // What it is now is promised, however it came about.
        again.promised.clear();
        again.promise();
        again.promised[0].0 = 0;
        updater.replace_block(0, &noise(12, 701)).unwrap();
        edit(&mut updater, "last: a", "last: x");
        again.commit(&mut updater, CommitKind::Journal);
        drop(updater);
        again.check(&format!("{}, and another crash", crash.what));
    };
    replay::process_kill_states(&start, &operations, &mut go_on);
    replay::power_loss_states(&start, &operations, 3, &mut go_on);
    assert!(crashes > 100, "{crashes}");
}

/// The harness has to find what is wrong: changes without a journal, and readers that look at no journal.
#[test]
fn changes_that_can_be_torn_are_found_out() {
    let change = |with_journal: bool| {
        let mut script = Script::new(&file(&[700, 3000], 100, padded()));
        let mut updater = script.disk.update(with_journal).unwrap();
        updater.replace_block(1, &noise(10, 3000)).unwrap();
        edit(&mut updater, "word", "longer");
        script.commit(&mut updater, CommitKind::Journal);
        drop(updater);
        script
    };
    for looker in [Looker::Plain, Looker::Path, Looker::Updater] {
        let mut script = change(false);
        script.looker = looker;
        let broken = script.broken();
        assert!(broken.iter().any(|what| what.starts_with("killed")), "{looker:?}: no kill found");
        assert!(broken.iter().any(|what| what.starts_with("power")), "{looker:?}: no power cut found");
    }
    let mut script = change(true);
    script.check("with a journal");
    // Python asdf knows no journals, and may find the file torn until somebody finishes the change.
    script.looker = Looker::Plain;
    let broken = script.broken();
    assert!(!broken.is_empty() && broken.iter().all(|crash| !crash.contains("after everything")));
}

/// Each sync is needed: leave one out, and something breaks.
#[test]
fn every_sync_is_needed() {
    let mut script = Script::new(&file(&[700, 3000], 100, padded()));
    let mut updater = script.disk.update(true).unwrap();
    for (seed, from, to) in [(10, "word", "longer"), (11, "longer", "w")] {
        updater.replace_block(1, &noise(seed, 3000)).unwrap();
        edit(&mut updater, from, to);
        script.commit(&mut updater, CommitKind::Journal);
    }
    drop(updater);
    script.check("all syncs");
    script.looker = Looker::Updater;
    let operations = script.disk.0.operations();
    let syncs: Vec<usize> = (0..operations.len()).filter(|at| operations[*at] == Operation::Sync).collect();
    // Of each commit: of the journal, of the file, of the journal that is gone. The last is needed by changes without a journal only.
    assert_eq!(syncs.len(), 6);
    for number in [0, 1, 3, 4] {
        assert!(!script.broken_without(syncs[number]).is_empty(), "sync {number} is not needed");
    }
}

/// A journal that belongs to another state of the file, or to another file, does nothing.
#[test]
fn a_stale_journal_is_nothing() {
    let mut script = Script::new(&file(&[700, 3000], 100, padded()));
    let mut updater = script.disk.update(true).unwrap();
    edit(&mut updater, "word", "longer");
    script.commit(&mut updater, CommitKind::Journal);
    drop(updater);
    // The journal as it was before it was removed.
    let mut journal = None;
    replay::process_kill_states(&script.start, &script.disk.0.operations(), |crash| {
        if let Some(found) = disk::parts(crash.image).1 {
            journal = Some(found.to_vec());
        }
    });
    let journal = journal.unwrap();
    let others = [
        file(&[700, 3000], 99, padded()),
        file(&[700, 3001], 100, WriteOptions::default()),
        file(&[1], 0, WriteOptions::default()),
        disk::parts(&script.disk.0.image()).0.to_vec(),
    ];
    for (number, other) in others.into_iter().enumerate() {
        let disk = disk::Disk::new(&other);
        asdf::update::JournalStore::put(&mut disk.journal(), &journal).unwrap();
        drop(disk.update(true).unwrap());
        let image = disk.0.image();
        let (file, journal) = disk::parts(&image);
        // The last is the file after the change: it needs no journal any more.
        assert!(file == other && journal.is_none() == (number == 3), "file {number}");
        assert_eq!(disk.file().len().unwrap(), other.len() as u64);
    }
}

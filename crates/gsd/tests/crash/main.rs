//! Every state in which a crash can leave a file opens as one that was committed, with all of its data.
//!
//! Scripts are written to a storage that records, and the record is replayed: stopped after every operation and in the middle of
//! writes, and with any subset of sectors between two syncs. What the writer had promised by then must be there.

use crash_test::{Opener, Operation, RecordingStorage, process_kill_states};
use gsd::{Commit, CommitScheme, Durability, Strictness, Writer};

mod script;

use script::{append, check, made_by, options, read, read_as, script, write_frame};

#[test]
fn a_new_file_and_its_frames() {
    for commit in [Commit::EveryFrame, Commit::Every(20), Commit::Manual] {
        let mut script = script(Vec::new());
        let options = options(CommitScheme::Atomic, commit);
        drop(Writer::create_storage(script.storage.clone(), &options).unwrap());
        script.promise();
        append(&mut script, &options, 70, 3);
        script.tears_anywhere = true;
        check(&script, &format!("{commit:?}"));
    }
}

#[test]
fn names_that_outgrow_their_room() {
    let mut script = script(made_by(CommitScheme::Atomic, 3));
    append(&mut script, &options(CommitScheme::Atomic, Commit::EveryFrame), 60, 300);
    check(&script, "long names");
}

#[test]
fn an_index_that_outgrows_its_room() {
    let mut script = script(made_by(CommitScheme::Atomic, 120));
    append(&mut script, &options(CommitScheme::Atomic, Commit::EveryFrame), 40, 3);
    check(&script, "a moved index");
}

#[test]
fn frames_behind_those_of_the_reference() {
    for frames in [0, 1, 30, 60] {
        let mut script = script(made_by(CommitScheme::Reference, frames));
        append(&mut script, &options(CommitScheme::Atomic, Commit::EveryFrame), 9, 3);
        check(&script, &format!("{frames} frames of the reference"));
    }
}

#[test]
fn frames_behind_ones_without_chunks() {
    let mut script = script(made_by(CommitScheme::Atomic, 2));
    let mut writer =
        Writer::open_storage(script.storage.clone(), &options(CommitScheme::Atomic, Commit::EveryFrame))
            .unwrap();
    for frame in 0..60_u8 {
        if frame >= 20 {
            writer.write_chunk("a", 1, 1, &[frame]).unwrap();
            writer.write_chunk("b", 1, 1, &[frame]).unwrap();
        }
        writer.end_frame().unwrap();
        script.promise();
    }
    writer.close().unwrap();
    check(&script, "frames without chunks");
}

/// Zeros after the index that an earlier writer released are room for more entries, which may not be on the disk.
#[test]
fn zeros_after_a_released_index_survive_a_crash() {
    let mut script = script(made_by(CommitScheme::Atomic, 60));
    let options = options(CommitScheme::Atomic, Commit::EveryFrame);
    for zeros in [0, 4000, 0] {
        let mut writer = Writer::open_storage(script.storage.clone(), &options).unwrap();
        writer.write_chunk("given up", zeros, 1, &vec![0_u8; usize::try_from(zeros).unwrap()]).unwrap();
        writer.discard_frame().unwrap();
        writer.close().unwrap();
        script.promise();
    }
    check(&script, "zeros behind the index");
}

/// The harness has to find two faults: the reference's order of writing, and commits that forget to sync.
#[test]
fn writers_that_can_be_torn_are_found_out() {
    let mut by_reference = script(made_by(CommitScheme::Reference, 30));
    append(&mut by_reference, &options(CommitScheme::Reference, Commit::EveryFrame), 10, 3);
    let broken = by_reference.broken(Opener::Reader);
    assert!(broken.iter().any(|what| what.starts_with("killed")), "no kill found");
    assert!(broken.iter().any(|what| what.starts_with("power")), "no power cut found");

    let mut script = script(made_by(CommitScheme::Atomic, 30));
    append(
        &mut script,
        &options(CommitScheme::Atomic, Commit::EveryFrame).with_durability(Durability::Cached),
        10,
        3,
    );
    let broken = script.broken(Opener::Reader);
    assert!(broken.iter().all(|what| what.starts_with("power")), "{broken:#?}");
    assert!(!broken.is_empty(), "nothing was synced, and nothing was found");
    // What survives without syncs is what the end of the process leaves.
    assert!(script.storage.operations().iter().all(|operation| *operation != Operation::Sync));
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/ok");
    std::fs::read(folder.join(format!("{name}.gsd"))).unwrap()
}

#[test]
fn files_of_older_versions_before_and_after_their_upgrade() {
    for name in ["v1_0_frames", "v1_small", "v1_types", "v1_write_order", "v03_small", "v20_small"] {
        let mut script = script(fixture(name));
        append(&mut script, &options(CommitScheme::Atomic, Commit::EveryFrame), 9, 3);
        let mut writer =
            Writer::open_storage(script.storage.clone(), &options(CommitScheme::Atomic, Commit::EveryFrame))
                .unwrap();
        writer.upgrade().unwrap();
        assert!(!writer.header().is_v1());
        script.promise();
        write_frame(&mut writer, 80);
        script.promise();
        writer.close().unwrap();
        check(&script, name);
    }
}

#[test]
fn a_file_that_is_truncated() {
    for start in
        [made_by(CommitScheme::Atomic, 40), made_by(CommitScheme::Reference, 40), fixture("v1_small")]
    {
        let mut script = script(start);
        let mut writer =
            Writer::open_storage(script.storage.clone(), &options(CommitScheme::Atomic, Commit::EveryFrame))
                .unwrap();
        writer.truncate().unwrap();
        assert_eq!(script.storage.image().len(), 4416);
        script.promise();
        for _ in 0..8 {
            write_frame(&mut writer, 3);
            script.promise();
        }
        writer.close().unwrap();
        check(&script, "truncated");
    }
}

/// Frames of zeros, which look like room once they are orphans, after an index that fills up.
fn write_zeros(writer: &mut Writer<RecordingStorage>) {
    writer.write_chunk("step", 1, 1, &[writer.nframes()]).unwrap();
    writer.write_chunk("zeros", 700, 1, &[0_u8; 700]).unwrap();
    writer.write_chunk("none", 0, 3, &[0_f32; 0]).unwrap();
    writer.end_frame().unwrap();
}

/// Bytes left by a crash are not reused as free space, and the next write can crash as well.
#[test]
fn frames_after_a_crash() {
    let options = options(CommitScheme::Atomic, Commit::EveryFrame);
    for frames in [0, 41] {
        let storage = RecordingStorage::default();
        let mut writer = Writer::create_storage(storage.clone(), &options).unwrap();
        (0..frames).for_each(|_| write_zeros(&mut writer));
        drop(writer);
        let script = script(storage.image());
        let mut writer = Writer::open_storage(script.storage.clone(), &options).unwrap();
        (0..3).for_each(|_| write_zeros(&mut writer));
        writer.close().unwrap();

        let mut crashes = 0_usize;
        script.after_crashes(1, |mut again, crash| {
            crashes += 1;
            let mut writer = Writer::open_storage(again.storage.clone(), &options).unwrap();
            for _ in 0..3 {
                write_zeros(&mut writer);
                again.promise();
            }
            writer.close().unwrap();
            let (before, after) = (again.promised(0), read(&again.storage.file()).unwrap());
            assert_eq!(after.len(), before.len() + 3, "{}", crash.what);
            assert_eq!(after[..before.len()], before[..], "{}", crash.what);
            if crashes.is_multiple_of(41) {
                check(&again, &format!("{}, and another crash", crash.what));
            }
        });
    }
}

/// All valid files of any writer: their content stays, even if it looks like free room.
#[test]
fn frames_behind_those_of_every_producer() {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd");
    let mut appended = 0;
    for kind in ["ok", "odd", "bad"] {
        for path in std::fs::read_dir(folder.join(kind)).unwrap().map(|entry| entry.unwrap().path()) {
            let image = std::fs::read(&path).unwrap();
            let storage = RecordingStorage::new(image.clone());
            let options = options(CommitScheme::Atomic, Commit::EveryFrame);
            let Ok(mut writer) = Writer::open_storage(storage.clone(), &options) else {
                // Big-endian, or damaged. It is as it was.
                let big = image.starts_with(&[0x65, 0xdf]);
                assert!(kind != "ok" || big, "{path:?}");
                assert!(storage.image() == image, "{path:?}");
                continue;
            };
            let Ok(before) = read_as(&image, Strictness::Compatible) else { continue };
            let frames = writer.nframes();
            for _ in 0..3 {
                write_frame(&mut writer, 3);
            }
            assert_eq!(writer.nframes(), frames + 3);
            writer.close().unwrap();
            let after = read_as(&storage.image(), Strictness::Compatible).unwrap();
            assert_eq!((after.len(), &after[..before.len()]), (before.len() + 3, &before[..]), "{path:?}");
            appended += 1;
        }
    }
    assert!(appended > 100, "{appended}");
}

/// A kill within a commit leaves entries that no header counts. They are room for the next commit, not a reason to copy the index.
#[test]
fn a_kill_within_a_commit_costs_no_copy_of_the_index() {
    let options = options(CommitScheme::Atomic, Commit::EveryFrame);
    let mut image = made_by(CommitScheme::Atomic, 500);
    let (start, frames) = (image.len(), read(&image).unwrap().len());
    for round in 0..25 {
        let storage = RecordingStorage::new(image.clone());
        let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
        write_frame(&mut writer, 3);
        // Stopped with the entries of the next frame written, before the header is.
        let before = storage.operations().len();
        write_frame(&mut writer, 3);
        let operations = storage.operations();
        let is_header = |operation: &Operation| matches!(operation, Operation::Write { at, .. } if *at < 256);
        let header = before + operations[before..].iter().rposition(is_header).unwrap();
        let mut killed = Vec::new();
        process_kill_states(&image, &operations[..header], |crash| {
            killed = crash.image.to_vec();
        });
        std::mem::forget(writer);
        image = killed;
        assert_eq!(read(&image).unwrap().len(), frames + round + 1);
    }
    let grown = image.len() - start;
    // Two frames a round, and the index once or twice.
    assert!(grown < 250_000, "{start} {grown}");
}

/// Wherever the kills fall, a trajectory that is killed again and again takes no more than a tenth more than in the reference's scheme.
#[test]
fn kills_and_reopens_cost_no_more_room_than_in_the_references_scheme() {
    let write = |writer: &mut Writer<RecordingStorage>| {
        let step = [writer.nframes()];
        writer.write_chunk("configuration/step", 1, 1, &step).unwrap();
        writer.write_chunk("particles/position", 100, 3, &[0.5_f32; 300]).unwrap();
        writer.write_chunk("log/energy", 1, 1, &[0.25_f64]).unwrap();
        writer.end_frame().unwrap();
    };
    let len_after = |scheme: CommitScheme, first: usize| {
        let storage = RecordingStorage::default();
        let mut writer = Writer::create_storage(storage.clone(), &options(scheme, Commit::Manual)).unwrap();
        (0..2000).for_each(|_| write(&mut writer));
        writer.close().unwrap();
        let mut image = storage.image();
        let options = options(scheme, Commit::EveryFrame);
        for round in 0..25 {
            let storage = RecordingStorage::new(image.clone());
            let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
            write(&mut writer);
            let before = storage.operations().len();
            write(&mut writer);
            let operations = storage.operations();
            let kill = before + (first + round) % (operations.len() - before);
            process_kill_states(&image.clone(), &operations[..kill], |crash| {
                image = crash.image.to_vec();
            });
            std::mem::forget(writer);
        }
        assert!(read(&image).unwrap().len() >= 2025);
        image.len()
    };
    for first in [0, 3] {
        let [atomic, reference] =
            [CommitScheme::Atomic, CommitScheme::Reference].map(|scheme| len_after(scheme, first));
        assert!(atomic * 10 <= reference * 11, "{atomic} {reference}");
    }
}

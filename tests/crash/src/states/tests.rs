use std::collections::BTreeSet;

use container_core::{ErrorKind, Result};

use super::*;
use crate::RecordingStorage;

/// A file of a count (eight bytes, little-endian) and so many bytes, each 7.
const DATA_AT: u64 = 8;

fn file(count: usize) -> Vec<u8> {
    [&(count as u64).to_le_bytes()[..], &vec![7; count]].concat()
}

/// The count, of a file that keeps to the format.
fn count(image: &[u8]) -> Option<u64> {
    let count = u64::from_le_bytes(image.get(..8)?.try_into().ok()?);
    let data = image.get(8..usize::try_from(count + DATA_AT).ok()?)?;
    data.iter().all(|byte| *byte == 7).then_some(count)
}

const OLD: usize = 100;
const NEW: usize = 1500;

type Writer = fn(&mut RecordingStorage) -> Result<()>;

fn data(file: &mut RecordingStorage) -> Result<()> {
    file.write_at(DATA_AT + OLD as u64, &[7; NEW - OLD])
}

fn header(file: &mut RecordingStorage) -> Result<()> {
    file.write_at(0, &(NEW as u64).to_le_bytes())
}

/// Whether a killed process, and a power cut, leave the old file or the new one in any case, and the new one when the writer is done.
fn survives(write: Writer) -> (bool, bool) {
    let start = file(OLD);
    let mut storage = RecordingStorage::new(start.clone());
    write(&mut storage).unwrap();
    let operations = storage.operations();
    assert_eq!(count(&storage.image()), Some(NEW as u64));
    let is_right = |crash: &Crash<'_>| match count(crash.image) {
        Some(count) if count == OLD as u64 => crash.done < operations.len(),
        Some(count) => count == NEW as u64,
        None => false,
    };
    let (mut killed, mut cut) = (true, true);
    process_kill_states(&start, &operations, |crash| killed &= is_right(crash));
    let mut torn = true;
    torn_write_states(&start, &operations, |crash| torn &= is_right(crash));
    assert_eq!(killed, torn, "the header is small, and the data are not");
    for seed in 0..4 {
        power_loss_states(&start, &operations, seed, |crash| cut &= is_right(crash));
    }
    (killed, cut)
}

#[test]
fn a_right_writer_passes_and_each_wrong_one_is_caught() {
    let right: Writer = |file| {
        file.reserve(0..4096)?;
        data(file)?;
        file.sync()?;
        header(file)?;
        file.sync()
    };
    assert_eq!(survives(right), (true, true));
    let header_first: Writer = |file| {
        header(file)?;
        data(file)?;
        file.sync()
    };
    assert_eq!(survives(header_first), (false, false));
    let in_one_write: Writer = |storage| {
        storage.write_vectored_at(0, &[&file(NEW)])?;
        storage.sync()
    };
    assert_eq!(survives(in_one_write), (false, false));
    let without_a_sync_between: Writer = |file| {
        data(file)?;
        header(file)?;
        file.sync()
    };
    assert_eq!(survives(without_a_sync_between), (true, false));
    let without_a_last_sync: Writer = |file| {
        data(file)?;
        file.sync()?;
        header(file)
    };
    assert_eq!(survives(without_a_last_sync), (true, true));
    let cut_first: Writer = |storage| {
        storage.set_len(0)?;
        storage.write_at(0, &file(NEW))?;
        storage.sync()
    };
    assert_eq!(survives(cut_first), (false, false));
}

#[test]
fn a_writer_without_a_last_sync_has_promised_what_it_did_not_keep() {
    let start = vec![1];
    let mut storage = RecordingStorage::new(start.clone());
    storage.write_at(0, &[2]).unwrap();
    let mut ends = Vec::new();
    power_loss_states(&start, &storage.operations(), 0, |crash| ends.push((crash.done, crash.image[0])));
    // Before the sync that never came nothing is sure; the last state is the one in which the power stayed on.
    assert!(ends.contains(&(0, 1)) && ends.contains(&(0, 2)));
    assert_eq!(ends.last(), Some(&(1, 2)));
}

#[test]
fn a_killed_writer_leaves_the_first_bytes_of_its_last_write() {
    let operations =
        [Operation::Write { at: 1, bytes: (1..=70).collect() }, Operation::SetLen(3), Operation::Punch(1..2)];
    let mut images = Vec::new();
    torn_write_states(&[9], &operations, |crash| images.push((crash.done, crash.image.to_vec())));
    let torn: Vec<usize> =
        images.iter().filter(|(done, _)| *done == 0).map(|(_, image)| image.len() - 1).collect();
    assert_eq!(torn, [0, 1, 7, 32, 33, 36, 61, 64, 69]);
    let whole: Vec<u8> = [9].into_iter().chain(1..=70).collect();
    assert!(images.iter().all(|(done, image)| *done > 0 || whole.starts_with(image)));
    let rest: Vec<_> = images.split_off(torn.len());
    assert_eq!(rest, [(1, whole), (2, vec![9, 1, 2]), (3, vec![9, 0, 2])]);
    // Where it stays within a sector it is not torn at all.
    let mut count = 0;
    process_kill_states(&[9], &operations, |_| count += 1);
    assert_eq!(count, 4);
}

#[test]
fn long_writes_are_torn_at_sectors_of_the_file_and_not_too_often() {
    let short = cuts(500, 700);
    assert!(short.contains(&12) && short.contains(&524));
    assert!((32..700).step_by(32).all(|cut| short.contains(&cut)));
    let len = 10 << 20;
    let long = cuts(500, len);
    assert!(long.len() <= MAX_CUTS && long.is_sorted());
    assert!(long[0] == 1 && long[long.len() - 1] == len - 1);
    assert_eq!(cuts(0, 0), [0; 0]);
    assert_eq!(cuts(0, 1), [0; 0]);
}

/// All images of a power cut, each once.
fn images(start: &[u8], write: impl Fn(&mut RecordingStorage) -> Result<()>) -> BTreeSet<Vec<u8>> {
    let mut storage = RecordingStorage::new(start.to_vec());
    write(&mut storage).unwrap();
    let mut images = BTreeSet::new();
    power_loss_states(start, &storage.operations(), 5, |crash| _ = images.insert(crash.image.to_vec()));
    images
}

#[test]
fn sectors_and_lengths_come_about_each_for_itself() {
    let image = |first: u8, second: u8, len: usize| {
        let mut image = vec![first; 512];
        image.resize(len.min(600), second);
        image.resize(len, 0);
        image
    };
    let found = images(&image(1, 1, 600), |file| file.write_at(0, &vec![2; 700]));
    let mut last = image(2, 2, 600);
    last.resize(700, 2);
    let mut behind = image(1, 2, 600);
    behind.resize(700, 2);
    let expected = [
        image(1, 1, 600),
        image(2, 1, 600),
        image(1, 2, 600),
        image(2, 2, 600),
        image(1, 1, 700),
        image(2, 1, 700),
        behind,
        last,
    ];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn a_sector_never_holds_a_later_write_without_the_earlier_one() {
    let found = images(&[0; 4], |file| {
        file.write_at(0, &[1])?;
        file.write_at(1, &[2])
    });
    assert_eq!(found, BTreeSet::from([vec![0, 0, 0, 0], vec![1, 0, 0, 0], vec![1, 2, 0, 0]]));
}

#[test]
fn a_cut_and_a_hole_come_about_or_not() {
    let found = images(&[1, 2, 3], |file| {
        file.set_len(1)?;
        file.punch_hole(0..1)
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2, 3], vec![0, 2, 3], vec![1], vec![0]]));
    // What was cut off does not come back.
    let found = images(&[1, 2, 3], |file| {
        file.set_len(1)?;
        file.set_len(2)
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2, 3], vec![1], vec![1, 2], vec![1, 0]]));
}

#[test]
fn synced_writes_survive_power_loss() {
    let mut storage = RecordingStorage::new(vec![]);
    for byte in 1..4_u8 {
        storage.write_at(u64::from(byte) - 1, &[byte]).unwrap();
        storage.sync().unwrap();
    }
    power_loss_states(&[], &storage.operations(), 3, |crash| {
        assert!(crash.image.len() >= crash.done / 2, "{}: {:?}", crash.what, crash.image);
        assert!([1, 2, 3].starts_with(&crash.image[..crash.done / 2]));
    });
}

#[test]
fn a_full_disk_takes_what_fits() {
    let mut storage = RecordingStorage::new(vec![1, 2]);
    storage.set_room(Some(4));
    storage.reserve(0..4).unwrap();
    for error in [storage.reserve(2..5), storage.set_len(5), storage.write_vectored_at(3, &[&[3], &[4]])] {
        let error = error.unwrap_err();
        let ErrorKind::Io(io) = error.kind() else { panic!("{error}") };
        assert_eq!(io.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(error.range().map(|range| range.end), Some(5));
    }
    assert_eq!(storage.image(), [1, 2, 0, 3]);
    storage.write_at(0, &[9; 4]).unwrap();
    storage.set_room(None);
    storage.write_at(4, &[5]).unwrap();
    assert_eq!(storage.image(), [9, 9, 9, 9, 5]);
    assert_eq!(storage.operation_count(), 4);
}

//! Frames that were changed in place, damaged where the last change put something: what else it changed stays.
#![allow(clippy::cast_possible_truncation, reason = "small numbers made here")]

use std::path::Path;

use super::*;
use crate::ChunkScan;
use crate::header::Kind;

const LEN: usize = 400;

/// Makes a chunk in which every byte encodes its number and its state.
fn chunk(number: usize, state: usize) -> Vec<u8> {
    (0..LEN).map(|at| (at % 7 * 31 + number * 5 + state * 89) as u8).collect()
}

/// A frame in which several commits changed chunks, what is in it now, and what was in each place before, the latest first.
struct Changed {
    bytes: Vec<u8>,
    now: Vec<Vec<u8>>,
    before: Vec<Vec<Vec<u8>>>,
}

fn start(path: &Path, count: usize, checksums: bool) -> Editor {
    let options = FrameOptions {
        params: default_params(4),
        kind: Kind::Contiguous,
        checksums: checksums.then(|| container_codecs::checksum::Algorithm::from_name("crc32").unwrap()),
        ..FrameOptions::default()
    };
    let mut editor = Editor::create(path, options, &EditOptions::default()).unwrap();
    for number in 0..count {
        editor.append(&chunk(number, 0)).unwrap();
    }
    editor.set_vlmetalayer("state", &[0]).unwrap();
    editor.commit(Durability::Cached).unwrap();
    editor
}

fn changed(checksums: bool) -> Changed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2frame");
    let mut editor = start(&path, 7, checksums);
    let mut now: Vec<Vec<u8>> = (0..7).map(|number| chunk(number, 0)).collect();
    let mut before = vec![Vec::new(); 7];
    for (state, numbers) in [(1, &[1, 4][..]), (2, &[0, 1, 2, 5]), (3, &[1, 3, 5])] {
        for &number in numbers {
            editor.update(number as u64, &chunk(number, state)).unwrap();
            before[number].insert(0, std::mem::replace(&mut now[number], chunk(number, state)));
        }
        if state == 3 {
            // A chunk in front: places in the index are not what they were.
            editor.insert(0, &chunk(40, 3)).unwrap();
            now.insert(0, chunk(40, 3));
            before.insert(0, Vec::new());
        }
        editor.set_vlmetalayer("state", &[state as u8]).unwrap();
        editor.commit(Durability::Cached).unwrap();
    }
    drop(editor);
    Changed { bytes: std::fs::read(&path).unwrap(), now, before }
}

fn scan(bytes: &[u8]) -> ChunkScan {
    Frame::from_bytes(bytes.to_vec()).unwrap().scan_chunks().unwrap()
}

fn state_of(out: &[u8]) -> Option<Vec<u8>> {
    Frame::from_bytes(out.to_vec()).unwrap().vlmetalayer("state").unwrap()
}

/// Outcomes for one damaged chunk.
#[derive(Default, Debug)]
struct Outcomes {
    same: usize,
    older: usize,
    zeros: usize,
}

/// Repairs `bytes`, in which the chunk `damaged` is damaged, and holds all chunks against what they were.
fn check_repair(frame: &Changed, bytes: &[u8], damaged: usize, what: &str, outcomes: &mut Outcomes) {
    let (report, out) = repaired(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(state_of(&out), Some(vec![3]), "{what}");
    let found = chunks(out, what);
    assert_eq!(found.len(), frame.now.len(), "{what}");
    for (number, (found, now)) in found.iter().zip(&frame.now).enumerate() {
        assert!(number == damaged || found == now, "{what}: chunk {number} is another: {report:?}");
    }
    let name = format!("chunk {damaged}:");
    let found = &found[damaged];
    if *found == frame.now[damaged] {
        outcomes.same += 1;
        let is_proved = |line: &RepairItem| line.evidence == Some(Evidence::Digest);
        let mut lines = report.guessed.iter().filter(|line| line.what.starts_with(&name));
        assert!(lines.all(is_proved), "{what}: {report:?}");
    } else if frame.before[damaged].first() == Some(found) {
        outcomes.older += 1;
        let told: Vec<_> = report.guessed.iter().filter(|line| line.what.starts_with(&name)).collect();
        let [line] = told[..] else { panic!("{what}: {report:?}") };
        // The bytes of the present occupant.
        let range = line.range.clone().unwrap();
        let stored = &bytes[range.start as usize..range.end as usize];
        let header = blosc_chunk::Header::parse(stored).unwrap();
        assert_eq!((header.nbytes as usize, header.cbytes as usize), (LEN, stored.len()), "{what}");
        assert!(!report.kept.iter().any(|line| line.what == format!("chunk {damaged}")), "{what}");
    } else {
        outcomes.zeros += 1;
        assert_eq!(found, &vec![0; LEN], "{what}: {report:?}");
        assert!(frame.before[damaged].is_empty(), "{what}: there is an older one: {report:?}");
        assert!(report.lost.iter().any(|line| line.what.starts_with(&name)), "{what}: {report:?}");
    }
}

#[test]
fn every_byte_of_every_chunk_of_a_changed_frame_with_digests() {
    let frame = changed(true);
    let mut outcomes = Outcomes::default();
    for place in scan(&frame.bytes).chunks {
        for at in place.range.clone() {
            for mask in [0xff, 0x01, 0x10] {
                let mut bytes = frame.bytes.clone();
                bytes[at as usize] ^= mask;
                let what = format!("chunk {} with byte {at} changed by {mask:#x}", place.index);
                check_repair(&frame, &bytes, place.index as usize, &what, &mut outcomes);
            }
        }
    }
    // Twelve bytes of filters that the frame has as well, of eight chunks, each changed in three ways.
    assert!(outcomes.older > 1000 && outcomes.zeros > 300 && outcomes.same == 12 * 8 * 3, "{outcomes:?}");
}

#[test]
fn whole_chunks_of_a_changed_frame_overwritten() {
    let frame = changed(false);
    let mut outcomes = Outcomes::default();
    for place in scan(&frame.bytes).chunks {
        for filler in [0, 0xff, 0x05] {
            for from in [0, 16, 32] {
                let mut bytes = frame.bytes.clone();
                let (start, end) = (place.range.start as usize, place.range.end as usize);
                bytes[start + from..end].fill(filler);
                let what = format!("chunk {} from byte {from} on {filler}", place.index);
                check_repair(&frame, &bytes, place.index as usize, &what, &mut outcomes);
            }
        }
    }
    // Two places of each chunk that was changed, and the new one.
    assert!(outcomes.older >= 6 * 6 && outcomes.zeros >= 6 && outcomes.same == 0, "{outcomes:?}");
}

/// Several at once, among them one that older states have in common.
#[test]
fn several_chunks_of_a_changed_frame_at_once() {
    let frame = changed(false);
    let places = scan(&frame.bytes).chunks;
    for first in &places {
        for second in places.iter().filter(|second| second.index != first.index) {
            let mut bytes = frame.bytes.clone();
            for place in [first, second] {
                bytes[place.range.start as usize..][..32].fill(0xee);
            }
            let what = format!("chunks {} and {}", first.index, second.index);
            let (report, out) = repaired(&bytes).unwrap();
            assert_eq!(state_of(&out), Some(vec![3]), "{what}");
            for (number, chunk) in chunks(out, &what).iter().enumerate() {
                if [first.index, second.index].contains(&(number as u64)) {
                    let is_zeros = chunk.iter().all(|byte| *byte == 0);
                    assert!(is_zeros || frame.before[number].contains(chunk), "{what}: {number}");
                    let list = if is_zeros { &report.lost } else { &report.guessed };
                    let name = format!("chunk {number}:");
                    assert!(list.iter().any(|line| line.what.starts_with(&name)), "{what}: {report:?}");
                } else {
                    assert_eq!(*chunk, frame.now[number], "{what}: chunk {number}: {report:?}");
                }
            }
        }
    }
}

/// An index that is stored plainly, with one damaged number: the chunk at the original offset is whole, and the last state of
/// it.
#[test]
fn chunk_with_a_wrong_offset_is_recovered() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2frame");
    let mut editor = start(&path, 3, false);
    editor.update(1, &chunk(1, 1)).unwrap();
    editor.commit(Durability::Cached).unwrap();
    drop(editor);
    let sound = std::fs::read(&path).unwrap();
    let frame = Frame::from_bytes(sound.clone()).unwrap();
    let place = frame.layout().index().start as usize + 32 + 8;
    for byte in 0..8 {
        let mut bytes = sound.clone();
        bytes[place + byte] ^= 0x2b;
        let (report, out) = repaired(&bytes).unwrap();
        let what = format!("byte {byte}: {report:?}");
        assert_eq!(chunks(out, &what), [chunk(0, 0), chunk(1, 1), chunk(2, 0)], "{what}");
        assert!(report.guessed.iter().any(|line| line.what.starts_with("chunk 1:")), "{what}");
    }
}

/// A chunk that was deleted before a damaged chunk is not that chunk.
#[test]
fn a_deleted_chunk_does_not_take_the_place_of_its_neighbour() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2frame");
    let mut editor = start(&path, 5, false);
    editor.delete(2, 1).unwrap();
    editor.commit(Durability::Cached).unwrap();
    drop(editor);
    let mut bytes = std::fs::read(&path).unwrap();
    let place = scan(&bytes).chunks.iter().find(|place| place.index == 2).unwrap().range.start as usize;
    bytes[place..place + 16].fill(0xff);
    let (report, out) = repaired(&bytes).unwrap();
    assert_eq!(chunks(out, "deleted"), [chunk(0, 0), chunk(1, 0), vec![0; LEN], chunk(4, 0)], "{report:?}");
    assert!(report.lost.iter().any(|line| line.what.starts_with("chunk 2:")), "{report:?}");
}

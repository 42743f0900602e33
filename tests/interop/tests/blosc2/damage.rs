//! Frames that python-blosc2 and ours changed in turns, damaged where the last change put something: a repair keeps what else it changed.

use std::path::Path;

use blosc2_frame::{EditOptions, Editor, Frame, FrameOptions, default_params};
use container_core::container::ReadOptions;
use container_core::report::RepairReport;
use container_core::write::Durability;
use serde_json::json;

use crate::peers::{Peer, folder, hex, put};

/// Bytes of a chunk.
const LEN: usize = 1200;
const COUNT: usize = 6;

/// A chunk of which every byte tells its number and its state. The more states, the worse it compresses.
fn chunk(number: usize, state: usize) -> Vec<u8> {
    (0..LEN).map(|at| (at % (7 + 40 * state) * 31 + number * 5 + state * 89) as u8).collect()
}

/// Who makes a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Ours,
    Newest,
    Old,
}

fn update(path: &Path, by: Writer, peers: &mut [Peer; 2], changes: &[(usize, usize)]) {
    let peer = match by {
        Writer::Newest => &mut peers[0],
        Writer::Old => &mut peers[1],
        Writer::Ours => {
            let mut editor = Editor::open(path, &EditOptions::default()).unwrap();
            for (number, state) in changes {
                editor.update(*number as u64, &chunk(*number, *state)).unwrap();
            }
            return editor.commit(Durability::Cached).unwrap();
        }
    };
    let step =
        |(number, state): &(usize, usize)| json!(["update", number, {"hex": hex(&chunk(*number, *state))}]);
    peer.ask("mutate", json!({"path": path, "steps": changes.iter().map(step).collect::<Vec<_>>()}));
}

fn create(path: &Path, by: Writer, peers: &mut [Peer; 2]) {
    let values: Vec<Vec<u8>> = (0..COUNT).map(|number| chunk(number, 0)).collect();
    let peer = match by {
        Writer::Newest => &mut peers[0],
        Writer::Old => &mut peers[1],
        Writer::Ours => {
            let mut options = FrameOptions::default();
            options.params = default_params(4);
            let mut editor = Editor::create(path, options, &EditOptions::default()).unwrap();
            values.iter().for_each(|chunk| editor.append(chunk).unwrap());
            return editor.commit(Durability::Cached).unwrap();
        }
    };
    let hex = hex(&values.concat());
    peer.ask("frame", json!({"path": path, "hex": hex, "typesize": 4, "chunksize": LEN}));
}

fn repaired(path: &Path, target: &Path) -> RepairReport {
    let _ = std::fs::remove_file(target);
    blosc2_frame::repair(path, target).unwrap()
}

#[test]
fn one_damaged_chunk_takes_no_other_back() {
    use Writer::{Newest, Old, Ours};
    let mut peers = Peer::both();
    let folder = folder();
    let target = folder.path().join("mended.b2frame");
    let mut counts = [0; 2];
    for (case, writers) in [
        [Newest, Newest, Newest],
        [Old, Old, Old],
        [Ours, Ours, Ours],
        [Newest, Ours, Ours],
        [Old, Ours, Old],
        [Ours, Newest, Ours],
        [Ours, Ours, Newest],
        [Ours, Ours, Old],
    ]
    .into_iter()
    .enumerate()
    {
        let (mut older, mut zeros) = (0, 0);
        let path = folder.path().join(format!("{case}.b2frame"));
        let [maker, first, second] = writers;
        create(&path, maker, &mut peers);
        update(&path, first, &mut peers, &[(1, 1), (4, 1)]);
        update(&path, second, &mut peers, &[(1, 2), (3, 2)]);
        let now =
            [(0, 0), (1, 2), (2, 0), (3, 2), (4, 1), (5, 0)].map(|(number, state)| chunk(number, state));
        let bytes = std::fs::read(&path).unwrap();
        let scan = Frame::open(&path).unwrap().scan_chunks().unwrap();
        assert_eq!(scan.chunks.len(), COUNT);
        for place in &scan.chunks {
            let damaged = place.index as usize;
            let (start, end) = (place.range.start as usize, place.range.end as usize);
            for range in [start..start + 16, start + 32..end, start..end] {
                let label = format!("{writers:?}: bytes {range:?} of chunk {damaged}");
                let mut bytes = bytes.clone();
                bytes[range].fill(0xff);
                let broken = put(&folder, "broken.b2frame", &bytes);
                let report = repaired(&broken, &target);
                let frame = Frame::open(&target).unwrap();
                assert_eq!(frame.chunk_count(), COUNT as u64, "{label}");
                let found: Vec<Vec<u8>> = frame.chunks(&ReadOptions::default()).map(Result::unwrap).collect();
                for (number, now) in now.iter().enumerate() {
                    let is_right = number == damaged || found[number] == *now;
                    assert!(is_right, "{label}: chunk {number} is another: {report:?}");
                }
                assert!(peers[0].read(&target).1 == found.concat(), "{label}");
                let found = &found[damaged];
                let name = format!("chunk {damaged}:");
                let list = if found.iter().all(|byte| *byte == 0) {
                    zeros += 1;
                    &report.lost
                } else {
                    older += 1;
                    let states = if damaged == 4 { 0..1 } else { 0..2 };
                    let known = states.map(|state| chunk(damaged, state)).collect::<Vec<_>>();
                    assert!(known.contains(found), "{label}: {report:?}");
                    &report.guessed
                };
                assert!(list.iter().any(|line| line.what.starts_with(&name)), "{label}: {report:?}");
            }
        }
        // Of each of the three chunks that ours changed there is an older one.
        assert!(writers != [Ours; 3] || (older, zeros) == (9, 9), "{older} {zeros}");
        counts[0] += older;
        counts[1] += zeros;
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

/// A frame of python-blosc2 without its end: blocks before the cut are restored, and python-blosc2 reads them.
#[test]
fn the_blocks_in_front_of_a_cut_are_read_by_python() {
    let mut peers = Peer::both();
    let folder = folder();
    let target = folder.path().join("mended.b2frame");
    let data: Vec<u8> = (0..300_000_u32).flat_map(|at| (at / 3 * 7).to_le_bytes()).collect();
    for (case, chunksize) in [(0, data.len()), (1, 500_000)] {
        for peer in 0..2 {
            let path = folder.path().join(format!("{case}-{peer}.b2frame"));
            let frame = json!({"path": path, "hex": hex(&data), "typesize": 4, "chunksize": chunksize});
            peers[peer].ask("frame", frame);
            let bytes = std::fs::read(&path).unwrap();
            let mut kept = 0;
            for part in 2..8 {
                let cut = bytes.len() * part / 8;
                let broken = put(&folder, "broken.b2frame", &bytes[..cut]);
                let report = repaired(&broken, &target);
                let frame = Frame::open(&target).unwrap();
                let found: Vec<u8> = frame.chunks(&ReadOptions::default()).flat_map(Result::unwrap).collect();
                assert!(peers[0].read(&target).1 == found, "{case}, {cut}: {report:?}");
                let good = found.iter().zip(&data).take_while(|(found, data)| found == data).count();
                assert!(found[good..].iter().all(|byte| *byte == 0), "{case}, {cut}: {report:?}");
                assert!(good >= kept && !report.lost.is_empty(), "{case}, {cut}: {good} after {kept}");
                kept = good;
            }
            assert!(kept > data.len() / 2, "{case}: {kept}");
        }
    }
}

//! GSD files on a server.

use super::Remote;
use crate::counted::Holes;

/// Bytes of the positions of a frame of [`trajectory`].
const POSITIONS: u64 = 100_000 * 12;

/// A GSD file of `frames` frames with positions and a logged number each, which are zeros.
fn trajectory(frames: u64) -> Holes {
    let data_at = 256 + frames * 2 * 32 + 64;
    let mut head = 0x65DF_65DF_65DF_65DF_u64.to_le_bytes().to_vec();
    [256, frames * 2, 256 + frames * 2 * 32, 1].iter().for_each(|word: &u64| head.extend(word.to_le_bytes()));
    [0x0001_0000_u32, 0x0002_0000].iter().for_each(|word| head.extend(word.to_le_bytes()));
    head.resize(256, 0);
    for frame in 0..frames {
        let at = data_at + frame * (POSITIONS + 8);
        for (id, at, n, m, kind) in [(0_u16, at, 100_000_u64, 3_u32, 9_u8), (1, at + POSITIONS, 1, 1, 10)] {
            [frame, n, at].iter().for_each(|word| head.extend(word.to_le_bytes()));
            head.extend(m.to_le_bytes());
            head.extend(id.to_le_bytes());
            head.extend([kind, 0]);
        }
    }
    head.extend(b"particles/position\0log/e\0");
    head.resize(usize::try_from(data_at).unwrap(), 0);
    Holes::new(data_at + frames * (POSITIONS + 8), vec![(0, head)])
}

#[test]
fn frames_and_logs_of_a_trajectory_take_one_round_each() {
    const FRAMES: u64 = 10_000;
    let index = FRAMES * 2 * 32;
    let mut remote = Remote::new(trajectory(FRAMES));
    let opened = remote.open();
    let file = opened.container.as_ref();
    let read = |path: &str, selection: &str| super::read(file, path, selection).len() as u64;
    assert_eq!(read("particles/position", "700"), POSITIONS);
    let frame = remote.cost();
    println!("positions of a frame: {frame:?}");
    assert!(frame.requests <= 4 && frame.bytes <= index + POSITIONS * 11 / 10 + (128 << 10), "{frame:?}");
    assert_eq!(read("log/e", ":"), FRAMES * 8);
    let log = remote.cost();
    println!("a logged number: {log:?}");
    assert!(log.rounds <= 2 && log.requests <= FRAMES && log.bytes <= FRAMES * 8, "{log:?}");
    assert_eq!(read("particles/position", "::4000"), 3 * POSITIONS);
    let frames = remote.cost();
    assert!(frames.rounds <= 1 && frames.bytes <= 3 * POSITIONS, "{frames:?}");
}

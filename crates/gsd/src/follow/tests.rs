use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{ChunkType, Commit, CommitScheme, Durability, Writer, WriterOptions};

fn options(scheme: CommitScheme) -> WriterOptions {
    WriterOptions::default().with_scheme(scheme).with_durability(Durability::Cached)
}

/// Writes frame `frame`: as many rows as its number, and a name of its own now and then.
fn write(writer: &mut Writer, frame: u64) {
    writer.write_chunk("step", 1, 1, &[frame]).unwrap();
    let rows = frame % 7 + 1;
    writer.write_chunk("values", rows, 3, &values(frame)).unwrap();
    if frame.is_multiple_of(5) {
        writer.write_chunk(&format!("log/of/frame/{frame}"), 1, 1, &[frame]).unwrap();
    }
    writer.end_frame().unwrap();
}

fn values(frame: u64) -> Vec<u32> {
    let rows = u32::try_from(frame % 7 + 1).unwrap();
    (0..rows * 3).map(|at| at + u32::try_from(frame).unwrap() * 1000).collect()
}

/// Checks that `frame` is whole.
fn check(file: &File, frame: u64) {
    let names: Vec<String> = file.frame_chunks(frame).map(|(name, _)| name.into_owned()).collect();
    let own = format!("log/of/frame/{frame}");
    assert_eq!(names.len(), if frame.is_multiple_of(5) { 3 } else { 2 }, "frame {frame}: {names:?}");
    let step = file.find_chunk(frame, "step").unwrap();
    assert_eq!(*file.read_elements::<u64>(&step).unwrap(), [frame]);
    let chunk = file.find_chunk(frame, "values").unwrap();
    assert_eq!(*file.read_elements::<u32>(&chunk).unwrap(), values(frame));
    assert_eq!(file.contains(frame, &own), frame.is_multiple_of(5));
}

/// Follows until `count` frames are there, which is to be so when `done` is.
fn follow(follower: &mut Follower, count: u64, done: &AtomicBool) {
    let (mut seen, mut idle) = (0, 0);
    while seen < count {
        let last = done.load(Ordering::SeqCst);
        match follower.poll().unwrap() {
            Change::Frames(frames) => {
                assert_eq!(frames.start, seen);
                assert_eq!(frames.end, follower.file().nframes());
                frames.clone().for_each(|frame| check(follower.file(), frame));
                seen = frames.end;
            }
            // The last frame is held once where closing has shown the room after it.
            Change::Nothing if last && idle > 1 => panic!("{seen} frames came"),
            Change::Nothing if last => idle += 1,
            Change::Nothing => std::thread::yield_now(),
            Change::Replaced => panic!("it is the same file"),
        }
    }
    (0..count).for_each(|frame| check(follower.file(), frame));
    assert_eq!(seen, count);
}

#[test]
fn a_writer_beside_is_followed_frame_by_frame() {
    // Index and names move several times.
    const FRAMES: u64 = 600;
    for (scheme, commit) in [
        (CommitScheme::Atomic, Commit::EveryFrame),
        (CommitScheme::Atomic, Commit::Every(7)),
        (CommitScheme::Reference, Commit::EveryFrame),
        (CommitScheme::Reference, Commit::Every(11)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.gsd");
        let options = options(scheme).with_commit(commit);
        let mut writer = Writer::create(&path, &options).unwrap();
        // Polls come one upon the other, so that the reference's write in parts may be seen twice.
        let (last_frame, given) = match scheme {
            CommitScheme::Atomic => (LastFramePolicy::Twice, FRAMES),
            CommitScheme::Reference => (LastFramePolicy::Followed, FRAMES - 1),
        };
        let mut follower = Follower::open_with(&path, &OpenOptions::default(), last_frame).unwrap();
        assert_eq!(follower.poll().unwrap(), Change::Nothing);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..FRAMES).for_each(|frame| write(&mut writer, frame));
                writer.close().unwrap();
                done.store(true, Ordering::SeqCst);
            });
            follow(&mut follower, given, &done);
        });
        assert_eq!(follower.poll().unwrap(), Change::Nothing);
        // Opened again, it is followed further.
        let mut writer = Writer::open(&path, &options).unwrap();
        (FRAMES..FRAMES + 20).for_each(|frame| write(&mut writer, frame));
        writer.close().unwrap();
        // The last frame is visible, with room after it.
        assert_eq!(follower.poll().unwrap(), Change::Frames(given..FRAMES + 19));
        let held = FRAMES + 19..FRAMES + 20;
        let next = if last_frame == LastFramePolicy::Twice { Change::Frames(held) } else { Change::Nothing };
        assert_eq!(follower.poll().unwrap(), next);
        let snapshot = follower.snapshot().unwrap();
        (0..FRAMES + 19).for_each(|frame| check(&snapshot, frame));
    }
}

#[test]
fn files_that_exist_are_read_from_their_first_frame_on() {
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("done.gsd");
        let mut writer = Writer::create(&path, &options(scheme)).unwrap();
        (0..300).for_each(|frame| write(&mut writer, frame));
        writer.close().unwrap();
        // A closed file has visible room: its last frame counts when it is found twice.
        let mut follower = Follower::open(&path).unwrap();
        assert_eq!(follower.poll().unwrap(), Change::Frames(0..299));
        assert!(!follower.file().contains(299, "step"));
        assert_eq!(follower.poll().unwrap(), Change::Frames(299..300));
        assert_eq!(follower.poll().unwrap(), Change::Nothing);
        check(follower.file(), 299);
        let mut follower =
            Follower::open_with(&path, &OpenOptions::default(), LastFramePolicy::Followed).unwrap();
        assert_eq!(follower.poll().unwrap(), Change::Frames(0..299));
        assert_eq!(follower.wait(|| false).unwrap(), Change::Nothing);
    }
}

#[test]
fn a_frame_whose_entries_come_one_by_one_is_given_whole() {
    // A write of entries into visible slots as other processes see it, 16 bytes at a time.
    let folder = tempfile::tempdir().unwrap();
    let (path, seen) = (folder.path().join("whole.gsd"), folder.path().join("seen.gsd"));
    let mut writer = Writer::create(&path, &options(CommitScheme::Reference)).unwrap();
    (0..2).for_each(|frame| write(&mut writer, frame));
    writer.flush().unwrap();
    let before = std::fs::read(&path).unwrap();
    (2..4).for_each(|frame| write(&mut writer, frame));
    writer.close().unwrap();
    let after = std::fs::read(&path).unwrap();
    let (first, last) = (256 + 5 * 32, 256 + 9 * 32);
    for (step, last_frame) in [
        (32, LastFramePolicy::Twice),
        (32, LastFramePolicy::Followed),
        (16, LastFramePolicy::Followed),
        (8, LastFramePolicy::Followed),
    ] {
        let mut now = after.clone();
        now[first..last].copy_from_slice(&before[first..last]);
        std::fs::write(&seen, &now).unwrap();
        let mut follower = Follower::open_with(&seen, &OpenOptions::default(), last_frame).unwrap();
        assert_eq!(follower.poll().unwrap(), Change::Frames(0..1));
        let mut given = Vec::new();
        let mut look = || {
            if let Change::Frames(frames) = follower.poll().unwrap() {
                frames.clone().for_each(|frame| check(follower.file(), frame));
                given.extend(frames);
            }
        };
        look();
        for at in (first..last).step_by(step) {
            let mut file = std::fs::OpenOptions::new().write(true).open(&seen).unwrap();
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&after[at..at + step]).unwrap();
            look();
        }
        (0..3).for_each(|_| look());
        let expected: &[u64] = if last_frame == LastFramePolicy::Twice { &[1, 2, 3] } else { &[1, 2] };
        assert_eq!(given, expected, "{step} bytes at a time");
    }
}

/// The reference writes the header of a new file before it makes room for the index.
#[test]
fn a_file_that_is_being_made_has_no_frames_yet() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, path) = (folder.path().join("whole.gsd"), folder.path().join("run.gsd"));
    let mut writer = Writer::create(&whole, &options(CommitScheme::Reference)).unwrap();
    (0..3).for_each(|frame| write(&mut writer, frame));
    writer.close().unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    std::fs::write(&path, &bytes[..256]).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    assert_eq!(follower.poll().unwrap(), Change::Nothing);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&bytes[256..]).unwrap();
    follow(&mut follower, 3, &AtomicBool::new(true));
}

#[test]
fn file_replaced_at_the_path_is_reported() {
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("restart.gsd");
        for number in 0..3 {
            crate::write_restart(&path, &options(scheme), |writer| {
                writer.write_chunk("step", 1, 1, &[number])
            })
            .unwrap();
            let mut follower = Follower::open(&path).unwrap();
            let given = follower.wait(|| true).unwrap();
            assert_eq!(given, Change::Frames(0..1));
            let next = [number + 1];
            crate::write_restart(&path, &options(scheme), |writer| writer.write_chunk("step", 1, 1, &next))
                .unwrap();
            assert_eq!(follower.poll().unwrap(), Change::Replaced);
            assert_eq!(follower.poll().unwrap(), Change::Replaced);
            // What was open stays readable.
            let chunk = follower.file().find_chunk(0, "step").unwrap();
            assert_eq!(*follower.file().read_elements::<u64>(&chunk).unwrap(), [number]);
            follower.reopen().unwrap();
            assert_eq!(follower.wait(|| true).unwrap(), Change::Frames(0..1));
            let chunk = follower.file().find_chunk(0, "step").unwrap();
            assert_eq!(*follower.file().read_elements::<u64>(&chunk).unwrap(), next);
        }
        let mut follower = Follower::open(&path).unwrap();
        assert_eq!(follower.wait(|| true).unwrap(), Change::Frames(0..1));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(follower.poll().unwrap(), Change::Replaced);
        assert!(matches!(follower.reopen().unwrap_err().kind(), ErrorKind::Io(_)));
    }
}

#[test]
fn truncated_file_is_reported_as_replaced_after_any_rewrite() {
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        for frames in [0, 1, 3, 40, 400] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("run.gsd");
            let mut writer = Writer::create(&path, &options(scheme)).unwrap();
            (0..40).for_each(|frame| write(&mut writer, frame));
            let mut follower = Follower::open(&path).unwrap();
            while follower.file().nframes() < 40 {
                follower.poll().unwrap();
            }
            writer.truncate().unwrap();
            // Other frames than before.
            for frame in 0..frames {
                writer.write_chunk("one", 2, 1, &[frame, frame]).unwrap();
                writer.end_frame().unwrap();
            }
            assert_eq!(follower.poll().unwrap(), Change::Replaced, "{scheme:?}, {frames} frames");
        }
    }
}

#[test]
fn an_entry_that_stays_senseless_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.gsd");
    let mut writer = Writer::create(&path, &options(CommitScheme::Reference)).unwrap();
    (0..4).for_each(|frame| write(&mut writer, frame));
    writer.close().unwrap();
    let good = std::fs::read(&path).unwrap();
    // The type of entry 5, the first of frame 2.
    let mut bad = good.clone();
    bad[256 + 5 * 32 + 30] = 77;
    std::fs::write(&path, &bad).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    assert_eq!(follower.poll().unwrap(), Change::Frames(0..1));
    let error = follower.poll().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
    assert_eq!(error.range(), Some(416..448));
    // Written after all.
    std::fs::write(&path, &good).unwrap();
    assert_eq!(follower.poll().unwrap(), Change::Frames(1..3));
    assert_eq!(follower.poll().unwrap(), Change::Frames(3..4));
}

#[test]
fn names_of_unreported_frames_are_read_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.gsd");
    let mut writer = Writer::create(&path, &options(CommitScheme::Reference)).unwrap();
    writer.write_chunk_bytes("first", ChunkType::Uint8, 1, 1, &[1]).unwrap();
    writer.end_frame().unwrap();
    writer.close().unwrap();
    // A name as a writer leaves it that has come as far as its fourth letter.
    let mut bytes = std::fs::read(&path).unwrap();
    let names = 256 + 128 * 32;
    bytes[names + 6..names + 10].copy_from_slice(b"seco");
    std::fs::write(&path, &bytes).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    assert_eq!(follower.wait(|| true).unwrap(), Change::Frames(0..1));
    assert_eq!(follower.file().names().iter().collect::<Vec<_>>(), ["first"]);
    bytes[names + 6..names + 12].copy_from_slice(b"second");
    let entry = IndexEntry { frame: 1, n: 1, location: 300, m: 1, id: 1, type_code: 1, flags: 0 };
    bytes[288..320].copy_from_slice(&entry.to_bytes(container_core::dtype::ByteOrder::Little));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(follower.wait(|| true).unwrap(), Change::Frames(1..2));
    assert!(follower.file().contains(1, "second"));
}

#[test]
fn files_of_layer_1_and_frames_without_chunks_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let old = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/ok/v1_small.gsd");
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        let path = folder.path().join(format!("{scheme:?}.gsd"));
        std::fs::copy(&old, &path).unwrap();
        let mut follower = Follower::open(&path).unwrap();
        let count = File::open(&path).unwrap().nframes();
        while follower.file().nframes() < count {
            assert!(matches!(follower.poll().unwrap(), Change::Frames(_) | Change::Nothing));
        }
        let mut writer = Writer::open(&path, &options(scheme)).unwrap();
        for _ in 0..3 {
            writer.end_frame().unwrap();
        }
        assert_eq!(follower.poll().unwrap(), Change::Nothing);
        writer.write_chunk("of their own", 2, 1, &[1_u8, 2]).unwrap();
        writer.end_frame().unwrap();
        writer.flush().unwrap();
        let frames = follower.wait(|| true).unwrap();
        assert_eq!(frames, Change::Frames(count..count + 4), "{scheme:?}");
        let chunk = follower.file().find_chunk(count + 3, "of their own").unwrap();
        assert_eq!(*follower.file().read_elements::<u8>(&chunk).unwrap(), [1, 2]);
        // An upgrade orders the index anew.
        writer.upgrade().unwrap();
        assert_eq!(follower.poll().unwrap(), Change::Replaced);
    }
}

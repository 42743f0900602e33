//! The schema `hoomd`: shapes, types and numbers that do not go together, and chunks that name the same bytes.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use container_core::Progress;
use container_core::container::{self, CheckDepth, ReadOptions};
use container_core::format::Input;
use gsd::hoomd::{Trajectory, check_file, check_trajectory};
use gsd::rewrite::{RewriteOptions, slice};
use gsd::{ErrorKind, FORMAT, File, Frames, OpenOptions, Strictness, Version};

use crate::crafted::{Chunk, Counted, change, entry, file, open, put, said};

fn hoomd(names: &[u8], chunks: &[Chunk<'_>]) -> Vec<u8> {
    file(Version::new(2, 1), b"hoomd", 16, names, chunks)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn trajectory(bytes: &[u8]) -> Trajectory {
    Trajectory::from_file(open(bytes, Strictness::Strict).unwrap()).unwrap()
}

#[test]
fn tables_of_types_of_any_form() {
    for (form, what, n, m, bytes, types) in [
        ("full width", 5, 2, 2, &b"ABCD"[..], &["AB", "CD"][..]),
        ("unsigned", 1, 1, 2, b"A\0", &["A"]),
        ("no rows", 5, 0, 2, b"", &[]),
        ("NUL within", 5, 1, 4, b"A\0B\0", &["A\0B"]),
    ] {
        let bytes = hoomd(b"particles/types", &[(0, 0, what, n, m, bytes)]);
        assert_eq!(said(&bytes), ([true; 3], vec![]), "{form}");
        assert_eq!(*trajectory(&bytes).frame(0).unwrap().particles().types().unwrap(), *types, "{form}");
    }
}

#[test]
fn tables_of_types_with_more_rows_than_bytes() {
    // Short strings take more memory than their bytes, and empty ones take memory without any bytes in the file.
    for (n, m, len) in [(1 << 24, 0, 0), (1 << 20, 1, 1 << 20)] {
        let bytes = hoomd(b"particles/types", &[(0, 0, 5, n, m, &vec![b'A'; len])]);
        let trajectory = Trajectory::from_file(open(&bytes, Strictness::Compatible).unwrap()).unwrap();
        let error = trajectory.frame(0).unwrap().particles().types().err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{n} × {m}: {error}");
    }
}

#[test]
fn a_count_without_arrays() {
    // 2^32 − 1 particles without stored values: their defaults are not created, and the file is valid.
    let bytes = hoomd(b"particles/N", &[(0, 0, 3, 1, 1, &[0xFF; 4])]);
    assert_eq!(said(&bytes), ([true; 3], vec![]));
    let trajectory = trajectory(&bytes);
    let error = trajectory.frame(0).unwrap().particles().position().err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    assert!(matches!(trajectory.get(0).err().unwrap().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn numbers_that_the_type_of_the_schema_does_not_hold() {
    let (huge, three) = ((5_u64 << 40).to_le_bytes(), 3_u64.to_le_bytes());
    for (name, what, bytes, is_out) in [
        ("particles/N", 4, &huge[..], true),
        ("particles/N", 4, &three, false),
        ("particles/N", 5, &[0xFF], true),
        ("bonds/N", 5, &[3], false),
        ("bonds/N", 8, &[0xFF; 8], true),
        ("configuration/step", 8, &[0xFF; 8], true),
        ("configuration/step", 8, &three, false),
        ("configuration/dimensions", 2, &[2, 1], true),
        ("configuration/dimensions", 2, &[2, 0], false),
    ] {
        for frame in 0..2 {
            let names = format!("other\0{name}");
            let bytes = hoomd(names.as_bytes(), &[(0, 0, 1, 1, 1, b"x"), (frame, 1, what, 1, 1, bytes)]);
            let mut codes = vec!["schema_type"];
            if is_out {
                codes.insert(0, "schema_range");
            }
            let (_, found) = said(&bytes);
            assert_eq!(found, codes, "{name} {what} in frame {frame}");
            let view = Trajectory::from_file(open(&bytes, Strictness::Compatible).unwrap());
            let is_read = view
                .is_ok_and(|trajectory| trajectory.frame(frame).and_then(|frame| frame.to_frame()).is_ok());
            assert_eq!(is_read, !is_out, "{name} {what} in frame {frame}");
        }
    }
}

#[test]
fn a_count_that_changes() {
    let position = floats(&[0.25; 6]);
    let names = b"particles/N\0particles/position";
    let bytes = hoomd(
        names,
        &[(0, 0, 3, 1, 1, &[2, 0, 0, 0]), (0, 1, 9, 2, 3, &position), (1, 0, 3, 1, 1, &[3, 0, 0, 0])],
    );
    assert_eq!(said(&bytes), ([true; 3], vec![]));
    let trajectory = trajectory(&bytes);
    let positions = trajectory.frame(1).unwrap().particles().position().unwrap().into_f64();
    assert_eq!(*positions, [[0.0; 3]; 3]);
}

#[test]
fn boxes_in_a_row_and_in_a_column() {
    let values = floats(&[4.0, 5.0, 6.0, 0.0, 0.0, 0.0]);
    for (n, m) in [(6, 1), (1, 6)] {
        let bytes = hoomd(b"configuration/box", &[(0, 0, 9, n, m, &values)]);
        assert_eq!(said(&bytes), ([true; 3], vec![]), "{n} × {m}");
        let shown = trajectory(&bytes).frame(0).unwrap().simulation_box().unwrap();
        assert_eq!(shown.lengths, [4.0, 5.0, 6.0]);
    }
}

#[test]
fn logs_that_change_shape() {
    let chunks: [Chunk<'_>; 3] = [(0, 0, 1, 2, 1, b"ab"), (1, 0, 1, 1, 3, b"cde"), (2, 0, 1, 0, 1, b"")];
    let bytes = hoomd(b"log/a", &chunks);
    assert_eq!(said(&bytes), ([true; 3], vec![]));
    let trajectory = trajectory(&bytes);
    let shapes = [0, 1, 2].map(|frame| trajectory.frame(frame).unwrap().log("a").unwrap().unwrap().shape());
    assert_eq!(shapes, [(2, 1), (1, 3), (0, 1)]);
}

#[test]
fn a_log_whose_name_is_not_utf8_stays_with_later_frames() {
    let names = b"configuration/step\0log/\xA8";
    let bytes = hoomd(names, &[(0, 0, 4, 1, 1, &[1; 8]), (0, 1, 1, 1, 1, b"x"), (1, 0, 4, 1, 1, &[2; 8])]);
    let mut copy = Vec::new();
    let last = Frames::range(1..2);
    let options = RewriteOptions::default();
    slice(&open(&bytes, Strictness::Strict).unwrap(), &last, &mut copy, &options, Progress::none()).unwrap();
    let logged = trajectory(&copy).frame(0).unwrap().log("\u{FFFD}").unwrap().unwrap().bytes().to_vec();
    assert_eq!(logged, b"x");
}

/// Frames that all name one chunk of positions, of which one is not finite and one outside the box; with as many particles.
fn shared(frames: u64, particles: u32) -> Vec<u8> {
    let n = particles.to_le_bytes();
    let mut positions = vec![0.0; 3 * particles as usize];
    (positions[0], positions[3]) = (f32::NAN, 9.0);
    let positions = floats(&positions);
    let names = b"particles/N\0particles/position";
    let slots = usize::try_from(frames).unwrap() + 1;
    let first: [Chunk<'_>; 2] = [(0, 0, 3, 1, 1, &n), (0, 1, 9, particles.into(), 3, &positions)];
    let mut bytes = file(Version::new(2, 1), b"hoomd", slots, names, &first);
    for frame in 1..frames {
        let chunk = gsd::IndexEntry { frame, ..entry(&bytes, 1) };
        put(&mut bytes, usize::try_from(frame).unwrap() + 1, &chunk);
    }
    bytes
}

#[test]
fn chunks_that_name_the_same_bytes_are_looked_at_once() {
    let (frames, particles) = (5000, 10_000);
    let bytes = shared(frames, particles);
    let (len, read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
    let file =
        File::from_source(Box::new(Counted(bytes, Arc::clone(&read))), &OpenOptions::default()).unwrap();
    let problems = check_file(&file, Progress::none()).unwrap();
    let told: Vec<_> = problems.iter().map(|it| (it.code, it.frame, it.frames)).collect();
    // Every frame is counted all the same.
    assert_eq!(told, [("not_finite", 0, frames), ("outside_box", 0, frames)]);
    assert!(read.load(Ordering::Relaxed) < 4 * len, "{} of {len}", read.load(Ordering::Relaxed));
}

#[test]
fn the_same_bytes_in_another_place_of_the_schema_are_looked_at_again() {
    let ids = [0, 0, 0, 0, 1, 0, 0, 0];
    let names = b"particles/N\0particles/types\0particles/typeid\0particles/mass";
    let nan = floats(&[f32::NAN, 1.0]);
    let chunks: [Chunk<'_>; 6] = [
        (0, 0, 3, 1, 1, &[2, 0, 0, 0]),
        (0, 1, 5, 2, 2, b"A\0B\0"),
        (0, 2, 3, 2, 1, &ids),
        (0, 3, 9, 2, 1, &nan),
        (1, 1, 5, 1, 2, b"A\0"),
        (1, 2, 3, 2, 1, b""),
    ];
    let bytes = hoomd(names, &chunks);
    let at = entry(&bytes, 2).location;
    // Frame 1 names frame 0's ids, and has one type less.
    let bytes = change(bytes, 5, |it| it.location = at);
    let problems = check_file(&open(&bytes, Strictness::Strict).unwrap(), Progress::none()).unwrap();
    let told: Vec<_> = problems.iter().map(|it| (it.code, it.frame, it.frames)).collect();
    assert_eq!(told, [("not_finite", 0, 1), ("typeid", 1, 1)]);
}

/// As gsd.hoomd 5.0.1 writes the type `""`, at which it fails when it reads.
#[test]
fn single_column_type_names_are_reported() {
    let chunks: [Chunk<'_>; 3] =
        [(0, 0, 3, 1, 1, &[1, 0, 0, 0]), (0, 1, 5, 1, 1, b"\0"), (1, 1, 5, 1, 2, b"A\0")];
    let bytes = hoomd(b"particles/N\0particles/types", &chunks);
    let problems = check_file(&open(&bytes, Strictness::Strict).unwrap(), Progress::none()).unwrap();
    let told: Vec<_> = problems.iter().map(|it| (it.code, it.chunk.as_str(), it.frame, it.frames)).collect();
    assert_eq!(told, [("narrow_text", "particles/types", 0, 1)]);
}

#[test]
fn a_check_by_the_schema_can_be_ended() {
    let bytes = shared(2000, 10);
    let stop = |_, _| ControlFlow::Break(());
    let file = Trajectory::from_file(open(&bytes, Strictness::Strict).unwrap()).unwrap();
    let error = check_trajectory(&file, Progress::new(&stop)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    // The dataset reports progress in bytes first, and continues: once per frame, and never less than before.
    let (last, ticks) = (AtomicU64::new(0), AtomicU64::new(0));
    let count = |done, total| {
        assert!(done <= total && last.fetch_max(done, Ordering::Relaxed) <= total);
        ticks.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let lens =
        (FORMAT.open)(Input::bytes(Box::new(bytes.clone())), &container::OpenOptions::default()).unwrap();
    lens.check(CheckDepth::Full, &ReadOptions::default(), Progress::new(&count)).unwrap();
    let all = ticks.load(Ordering::Relaxed);
    assert!(all >= 2000, "{all}");
    let left = AtomicU64::new(all - 1000);
    let stop = |_, _| match left.fetch_sub(1, Ordering::Relaxed) {
        0 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let error = lens.check(CheckDepth::Full, &ReadOptions::default(), Progress::new(&stop)).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
}

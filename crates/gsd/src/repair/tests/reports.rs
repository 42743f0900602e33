//! Reports of repairs: each item with its bytes, its text and its evidence.
//!
//! Frame 0 of the sample has five chunks of 24, 4, 8, 48 and 8 bytes from 5376 on; each later frame has three of 8, 48 and 8. Slots of the
//! index, at 256, are in the same order.

use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::report::{Evidence, RepairItem, RepairReport};

use super::build::*;
use crate::header::Version;

const HEADER: &str = "header, schema \"hoomd\", 5 names";

/// First bytes of a frame, and of the end after the last one.
fn frame_at(frame: u64) -> u64 {
    if frame == 0 { 5376 } else { 5468 + 64 * (frame - 1) }
}

/// Bytes of an index slot: chunk `at` of a later frame.
fn slot(frame: u64, at: u64) -> Range<usize> {
    let slot = 256 + 32 * (5 + 3 * (frame - 1) + at) as usize;
    slot..slot + 32
}

fn kept(range: Range<u64>, what: &str) -> RepairItem {
    RepairItem::new(range, what)
}

fn guessed(range: Range<u64>, what: &str, evidence: Evidence) -> RepairItem {
    RepairItem::new(range, what).with_evidence(evidence)
}

/// Six frames, committed at once.
fn six(order: ByteOrder) -> Builder {
    let mut builder = Builder::new("hoomd", Version::new(2, 1), order);
    (0..6).for_each(|frame| _ = builder.hoomd_frame(1000 * (frame + 1), 4));
    builder.flush();
    assert_eq!(builder.file.len() as u64, frame_at(6));
    builder
}

fn number(order: ByteOrder, value: u64) -> [u8; 8] {
    if order == ByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() }
}

const BOTH: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// Repairs the six frames after a change, and compares the report.
fn assert_report(
    change: impl Fn(&mut Vec<u8>, ByteOrder),
    kept_frames: &[(Range<u64>, &str)],
    guessed: &[RepairItem],
    lost: &[RepairItem],
) {
    for order in BOTH {
        let mut file = six(order).file;
        change(&mut file, order);
        let (_, report) = repaired(&file).unwrap();
        assert_eq!(report, expected(kept_frames, guessed, lost), "{order:?}");
    }
}

fn expected(kept_frames: &[(Range<u64>, &str)], guessed: &[RepairItem], lost: &[RepairItem]) -> RepairReport {
    let frames = kept_frames.iter().map(|(range, what)| kept(range.clone(), what));
    let all = [kept(0..256, HEADER)].into_iter().chain(frames).collect();
    RepairReport { kept: all, guessed: guessed.to_vec(), lost: lost.to_vec() }
}

#[test]
fn a_sound_file_is_kept_with_all_its_frames() {
    assert_report(|_, _| {}, &[(5376..frame_at(6), "frames 0 to 5, 20 chunks")], &[], &[]);
}

#[test]
fn a_frame_without_one_of_its_entries_is_left_out() {
    let others = [
        (5376..frame_at(2), "frames 0 to 1, 8 chunks"),
        (frame_at(3)..frame_at(6), "frames 3 to 5, 9 chunks"),
    ];
    // Positions and energy are left of it.
    let left = frame_at(2) + 8..frame_at(3);
    let lost = |what: &str, chunks: Range<u64>| {
        [kept(512..544, what), kept(chunks, "frame 2, 2 chunks, lacks chunks: left out")]
    };
    let at = slot(2, 0).start;
    assert_eq!(at, 512);
    let unknown = lost("1 index entries: unknown type", left.clone());
    assert_report(|file, _| file[at + 30] = 99, &others, &[], &unknown);
    let flags = lost("1 index entries: unknown flags", left.clone());
    assert_report(|file, _| file[at + 31] = 1, &others, &[], &flags);
    let columns = lost("1 index entries: no columns", left.clone());
    assert_report(|file, _| file[at + 24..at + 28].fill(0), &others, &[], &columns);
    let frame = lost("1 index entries: impossible frame number", left.clone());
    let far = |file: &mut Vec<u8>, order| file[at..at + 8].copy_from_slice(&number(order, 1 << 40));
    assert_report(far, &others, &[], &frame);
    let place =
        |to: u64| move |file: &mut Vec<u8>, order| file[at + 16..at + 24].copy_from_slice(&number(order, to));
    let header = lost("1 index entries: a chunk in the header", left.clone());
    assert_report(place(248), &others, &[], &header);
    let nowhere = lost("1 index entries: impossible size or location", left.clone());
    assert_report(place(1 << 63), &others, &[], &nowhere);
    // A place that another structure has.
    let dropped = |range: Range<u64>, why: &str| {
        let what = format!("configuration/step of frame 2: {why}");
        [kept(range, &what), kept(left.clone(), "frame 2, 2 chunks, lacks chunks: left out")]
    };
    let block = dropped(300..308, "a chunk in the index or the namelist");
    assert_report(place(300), &others, &[], &block);
    let overlap = dropped(5377..5385, "a chunk that overlaps another");
    assert_report(place(5377), &others, &[], &overlap);
}

#[test]
fn entries_in_another_order_are_sorted() {
    let frames = [(5376..frame_at(6), "frames 0 to 5, 20 chunks")];
    let sorted = guessed(256..896, "entries in order, 1 were not", Evidence::Walk);
    let swap = |file: &mut Vec<u8>, _| {
        let (one, other) = (file[slot(2, 0)].to_vec(), file[slot(2, 1)].to_vec());
        file[slot(2, 0)].copy_from_slice(&other);
        file[slot(2, 1)].copy_from_slice(&one);
    };
    assert_report(swap, &frames, std::slice::from_ref(&sorted), &[]);
}

#[test]
fn a_file_that_is_cut_loses_its_last_frame() {
    let cut = |file: &mut Vec<u8>, _| file.truncate(file.len() - 10);
    let end = frame_at(6) - 10;
    assert_report(
        cut,
        &[(5376..frame_at(5), "frames 0 to 4, 17 chunks")],
        &[],
        &[
            kept(832..896, "2 index entries: a chunk past the end of the file"),
            kept(frame_at(5)..frame_at(5) + 8, "frame 5, 1 chunk, lacks chunks: left out"),
            kept(frame_at(5)..end, "54 bytes after the last frame that no entry describes"),
        ],
    );
}

#[test]
fn frames_whose_entries_are_zeros_are_found_between_others() {
    for (first, last, what) in [(2, 2, "frames 2 to 2, 3 chunks"), (2, 3, "frames 2 to 3, 6 chunks")] {
        let slots = slot(first, 0).start..slot(last, 2).end;
        let data = frame_at(first)..frame_at(last + 1);
        let count = slots.len() / 32;
        let invalid =
            kept(slots.start as u64..slots.end as u64, &format!("{count} index entries: an empty slot"));
        let found = format!("{what}: no entry is left, found by the form of the frames before");
        assert_report(
            |file, _| file[slots.clone()].fill(0),
            &[(5376..frame_at(6), "frames 0 to 5, 20 chunks")],
            &[guessed(data.clone(), &found, Evidence::CommittedFrame)],
            std::slice::from_ref(&invalid),
        );
        // Without a search, they are lost with their data.
        for order in BOTH {
            let mut file = six(order).file;
            file[slots.clone()].fill(0);
            let (_, report) = committed(&file).unwrap();
            let gone =
                if first == last { format!("frame {first}") } else { format!("frames {first} to {last}") };
            let len = data.end - data.start;
            let lost = [
                invalid.clone(),
                kept(data.clone(), &format!("{len} bytes between frames that no entry describes")),
                RepairItem::of_file(format!("{gone}: no entry is left")),
            ];
            let after = format!("frames {} to 5, {} chunks", last + 1, 3 * (5 - last));
            let frames =
                [(5376..frame_at(first), "frames 0 to 1, 8 chunks"), (data.end..frame_at(6), after.as_str())];
            assert_eq!(report, expected(&frames, &[], &lost));
        }
    }
}

#[test]
fn frames_after_the_committed_ones_are_told_by_number() {
    for (more, what) in [
        (1, "frame 3, 3 chunks, was written and not committed"),
        (2, "frames 3 to 4, 6 chunks, were written and not committed"),
    ] {
        for order in BOTH {
            let mut builder = Builder::new("hoomd", Version::new(2, 1), order);
            for frame in 0..3 + more {
                builder.hoomd_frame(1000 * (frame + 1), 4);
                if frame == 2 {
                    builder.flush();
                }
            }
            let frames = [(5376..frame_at(3), "frames 0 to 2, 11 chunks")];
            let (start, end) = (frame_at(3), frame_at(3 + more));
            let (_, report) = repaired(&builder.file).unwrap();
            let found = guessed(start..end, what, Evidence::CommittedFrame);
            assert_eq!(report, expected(&frames, &[found], &[]));
            let (_, report) = committed(&builder.file).unwrap();
            let len = end - start;
            let lost = kept(start..end, &format!("{len} bytes after the last frame that no entry describes"));
            assert_eq!(report, expected(&frames, &[], &[lost]));
        }
    }
}

#[test]
fn bytes_after_the_last_frame_are_left_out() {
    let end = frame_at(6);
    let frames = [(5376..end, "frames 0 to 5, 20 chunks")];
    let unused = guessed(end..end + 70, "70 bytes that belong to no frame: left out", Evidence::Index);
    assert_report(|file, _| file.extend([0xFF; 70]), &frames, &[unused], &[]);
    // A copy of the index, as a writer leaves it that was stopped while the index moved.
    let copied = |file: &mut Vec<u8>, _| {
        let index = file[256..4352].to_vec();
        file.extend(index);
    };
    let what = "4096 bytes of a copy of the index from an interrupted writer: left out";
    assert_report(copied, &frames, &[guessed(end..end + 4096, what, Evidence::SecondCopy)], &[]);
}

#[test]
fn an_index_at_another_place_than_the_headers_is_told() {
    let frames = [(5376..frame_at(6), "frames 0 to 5, 20 chunks")];
    let set = |at: usize, value: u64| {
        move |file: &mut Vec<u8>, order| file[at..at + 8].copy_from_slice(&number(order, value))
    };
    let found =
        guessed(256..896, "an index of 20 entries, at another location than in the header", Evidence::Walk);
    for place in [0, 255, u64::MAX] {
        assert_report(set(8, place), &frames, std::slice::from_ref(&found), &[]);
    }
    // One that would be after the end of the file may have had more.
    let what = "the index, cut off with the end of the file: frames that only it listed";
    assert_report(
        set(8, 5_000_000),
        &frames,
        std::slice::from_ref(&found),
        &[kept(5_000_000..5_004_096, what)],
    );
    // The first entries are before the place in the header, and a later one is damaged.
    let before = guessed(256..320, "entries before the location in the header", Evidence::Walk);
    let later = |file: &mut Vec<u8>, order| {
        file[8..16].copy_from_slice(&number(order, 320));
        file[16..24].copy_from_slice(&number(order, 126));
        file[slot(2, 0).start + 30] = 99;
    };
    let others = [
        (5376..frame_at(2), "frames 0 to 1, 8 chunks"),
        (frame_at(3)..frame_at(6), "frames 3 to 5, 9 chunks"),
    ];
    let lost = [
        kept(512..544, "1 index entries: unknown type"),
        kept(frame_at(2) + 8..frame_at(3), "frame 2, 2 chunks, lacks chunks: left out"),
    ];
    assert_report(later, &others, std::slice::from_ref(&before), &lost);
    let ends = guessed(256..896, "the index ends at 896", Evidence::Walk);
    let what = "20 chunks in the bytes that the header allocates to index or names: these end before them";
    let within = guessed(5376..frame_at(6), what, Evidence::Index);
    assert_report(set(16, 1 << 40), &frames, &[ends, within], &[]);
}

#[test]
fn fields_of_the_header_are_told_with_their_bytes() {
    let frames = [(5376..frame_at(6), "frames 0 to 5, 20 chunks")];
    let version = |file: &mut Vec<u8>, order| {
        let number: u32 = 9 << 16 | 4;
        let bytes = if order == ByteOrder::Big { number.to_be_bytes() } else { number.to_le_bytes() };
        file[44..48].copy_from_slice(&bytes);
    };
    let layer = guessed(44..48, "file layer 2.0, by the form of the namelist, not 9.4", Evidence::Index);
    assert_report(version, &frames, &[layer], &[]);
    let filled = guessed(
        48..112,
        "the application fills its field: its end is left out, for the NUL after it",
        Evidence::KnownDamage,
    );
    assert_report(|file, _| file[48..112].fill(b'x'), &frames, &[filled], &[]);
    let more = kept(48..112, "the bytes after the text of the application");
    assert_report(|file, _| file[50] = 7, &frames, &[], &[more]);
    let schema = guessed(112..176, "schema \"hoomd\": the field is not all text", Evidence::Index);
    assert_report(|file, _| file[117] = 7, &frames, &[schema], &[]);
}

#[test]
fn chunks_that_no_reader_finds_are_counted() {
    for (again, what) in [
        (&[2][..], "frame 2: 1 chunk with a duplicate name is"),
        (&[2, 4], "frames 2 to 4: 2 chunks with a duplicate name are"),
    ] {
        let mut builder = Builder::hoomd();
        for frame in 0..6 {
            if again.contains(&frame) {
                let step: u64 = 1000 * (frame + 1);
                builder.chunk("configuration/step", crate::ChunkType::Uint64, 1, 1, &step.to_le_bytes());
            }
            builder.hoomd_frame(1000 * (frame + 1), 4);
        }
        builder.flush();
        let (_, report) = repaired(&builder.file).unwrap();
        let what = format!("{what} left out, since readers find the other one");
        assert_eq!(report.guessed, [guessed(256..4352, &what, Evidence::KnownDamage)]);
        assert_eq!(report.lost, []);
    }
}

#[test]
fn files_without_anything_to_keep_are_errors() {
    use container_core::ErrorKind;
    let file = six(ByteOrder::Little).file;
    assert!(matches!(
        repaired(&file[..255]).unwrap_err().kind(),
        ErrorKind::Truncated { need: 256, have: 255 }
    ));
    assert!(matches!(repaired(b"no GSD file").unwrap_err().kind(), ErrorKind::WrongFormat { .. }));
    // Names, and data that no schema lays out.
    let mut file = file;
    file[112..117].copy_from_slice(b"none\0");
    file[256..4352].fill(0);
    let error = repaired(&file).unwrap_err();
    assert_eq!(error.range(), Some(256..frame_at(6)));
    assert_eq!(error.context(), Some("gsd index"));
    assert!(error.to_string().contains("no entry of an index describes a chunk of this file"), "{error}");
    // Without names they may be anything.
    file[4352..5376].fill(0);
    let (_, report) = repaired(&file).unwrap();
    let header = kept(0..256, "header, schema \"none\", 0 names");
    let unused = guessed(5376..frame_at(6), "412 bytes that belong to no frame: left out", Evidence::Index);
    assert_eq!(report, RepairReport { kept: vec![header], guessed: vec![unused], lost: vec![] });
}

use container_core::ErrorKind;
use container_core::array::Array;
use container_core::dtype::{DType, Order};
use crash_test::{Operation, RecordingStorage};

use super::*;
use crate::{ChunkType, File, OpenOptions, Strictness};

mod syncs;

fn options() -> WriterOptions {
    WriterOptions::default().with_schema("test", "none", Version::new(1, 2))
}

fn opened(storage: &RecordingStorage) -> File {
    let strict = OpenOptions::default().with_strictness(Strictness::Strict);
    File::from_source(Box::new(storage.image()), &strict).unwrap()
}

/// Frames `frames` of two chunks each, whose values identify the frame.
fn write(writer: &mut Writer<RecordingStorage>, frames: std::ops::Range<u64>) {
    for frame in frames {
        writer.write_chunk("step", 1, 1, &[frame]).unwrap();
        writer.write_chunk("position", 2, 3, &[frame as f32; 6]).unwrap();
        writer.end_frame().unwrap();
    }
}

fn check(file: &File, frames: u64) {
    assert_eq!(file.nframes(), frames);
    for frame in 0..frames {
        let step = file.find_chunk(frame, "step").unwrap();
        assert_eq!(*file.read_elements::<u64>(&step).unwrap(), [frame]);
        let position = file.find_chunk(frame, "position").unwrap();
        assert_eq!(position.shape(), [2, 3]);
        assert_eq!(*file.read_elements::<f32>(&position).unwrap(), [frame as f32; 6]);
    }
}

fn usage<T>(result: Result<T>) {
    match result {
        Err(error) => assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}"),
        Ok(_) => panic!("taken"),
    }
}

#[test]
fn frames_are_read_back_as_they_were_committed() {
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        for commit in [Commit::EveryFrame, Commit::Every(7), Commit::Manual] {
            let storage = RecordingStorage::default();
            let options = options().with_scheme(scheme).with_commit(commit);
            let mut writer = Writer::create_storage(storage.clone(), &options).unwrap();
            assert_eq!(opened(&storage).nframes(), 0);
            write(&mut writer, 0..300);
            let committed = match commit {
                Commit::EveryFrame => 300,
                Commit::Every(_) => 294,
                Commit::Manual => 0,
            };
            assert_eq!((writer.nframes(), writer.committed_frames()), (300, committed));
            check(&opened(&storage), committed);
            writer.close().unwrap();
            check(&opened(&storage), 300);
            assert_eq!(opened(&storage).header().schema_version, Version::new(1, 2));

            // Another writer continues, in either scheme.
            for scheme in [CommitScheme::Reference, CommitScheme::Atomic] {
                let before = opened(&storage).nframes();
                let options = options.clone().with_scheme(scheme);
                let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
                write(&mut writer, before..before + 20);
                drop(writer);
                check(&opened(&storage), before + 20);
            }
        }
    }
}

#[test]
fn appending_uses_the_room_that_is_there() {
    let storage = RecordingStorage::default();
    let mut writer = Writer::create_storage(storage.clone(), &options()).unwrap();
    write(&mut writer, 0..3);
    writer.close().unwrap();
    let index = opened(&storage).header().index_location;
    let mut writer = Writer::open_storage(storage.clone(), &options()).unwrap();
    write(&mut writer, 3..40);
    assert_eq!(writer.header().index_location, index);
    check(&opened(&storage), 40);
}

#[test]
fn usage_errors_leave_the_file_unchanged() {
    let storage = RecordingStorage::default();
    let mut writer = Writer::create_storage(storage.clone(), &options()).unwrap();
    write(&mut writer, 0..1);
    let before = storage.image();
    usage(writer.write_chunk("", 1, 1, &[1_u8]));
    usage(writer.write_chunk("a\0b", 1, 1, &[1_u8]));
    usage(writer.write_chunk("a", 1, 0, &[1_u8; 0]));
    usage(writer.write_chunk("a", 2, 2, &[1_u8; 3]));
    usage(writer.write_chunk("a", u64::MAX, 2, &[1_u16]));
    usage(writer.write_chunk("a", 1 << 62, 4, &[1_u8]));
    usage(writer.write_chunk("a", 1, 1, &[1_u128]));
    writer.write_chunk("a", 1, 1, &[1_u8]).unwrap();
    usage(writer.write_chunk("a", 1, 1, &[1_u8]));
    writer.discard_frame().unwrap();
    assert_eq!(writer.buffered_len(), 0);
    writer.write_chunk("a", 1, 1, &[7_u8]).unwrap();
    assert!(storage.image() == before);
    writer.end_frame().unwrap();
    let file = opened(&storage);
    let entry = file.find_chunk(1, "a").unwrap();
    assert_eq!(*file.read_chunk(&entry).unwrap(), [7]);
    assert_eq!(file.index().len(), 3);

    let long = "x".repeat(64);
    for options in [
        options().with_schema(&long, "s", Version::default()),
        options().with_schema("a", &long, Version::default()),
    ] {
        usage(Writer::create_storage(RecordingStorage::default(), &options));
    }
    let mut options = options();
    options.maximum_write_buffer_size = 0;
    usage(Writer::open_storage(storage, &options));
}

#[test]
fn all_names_there_can_be_and_no_more() {
    let storage = RecordingStorage::default();
    let mut writer = Writer::create_storage(storage.clone(), &options()).unwrap();
    for name in 0..65535 {
        writer.write_chunk(&format!("n{name}"), 1, 1, &[name]).unwrap();
    }
    usage(writer.write_chunk("one more", 1, 1, &[1_u8]));
    writer.end_frame().unwrap();
    let file = opened(&storage);
    assert_eq!(file.names().len(), 65535);
    let entry = file.find_chunk(0, "n65534").unwrap();
    assert_eq!(*file.read_elements::<i32>(&entry).unwrap(), [65534]);
}

#[test]
fn frames_without_chunks_never_hide_those_after_them() {
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        let storage = RecordingStorage::default();
        let mut writer = Writer::create_storage(storage.clone(), &options().with_scheme(scheme)).unwrap();
        (0..50).for_each(|_| writer.end_frame().unwrap());
        assert_eq!(opened(&storage).nframes(), 0);
        for frame in 50..70_u64 {
            writer.write_chunk("step", 1, 1, &[frame]).unwrap();
            writer.write_chunk("a", 1, 1, &[1_u8]).unwrap();
            writer.end_frame().unwrap();
            let file = opened(&storage);
            assert_eq!(file.nframes(), frame + 1);
            let entry = file.find_chunk(frame, "step").unwrap();
            assert_eq!(*file.read_elements::<u64>(&entry).unwrap(), [frame]);
            assert_eq!(file.find_chunk(49, "step"), None);
        }
        writer.end_frame().unwrap();
        writer.close().unwrap();
        assert_eq!(opened(&storage).nframes(), 70);
    }
}

#[test]
fn files_that_no_reader_opens_are_not_made() {
    let storage = RecordingStorage::default();
    let options = options().with_scheme(CommitScheme::Reference).with_commit(Commit::Manual);
    let mut writer = Writer::create_storage(storage.clone(), &options).unwrap();
    for frame in 0..130_u64 {
        if frame == 127 || frame == 129 {
            writer.write_chunk("step", 1, 1, &[frame]).unwrap();
        }
        writer.end_frame().unwrap();
        if frame == 128 {
            writer.flush().unwrap();
        }
    }
    let before = storage.image();
    // Frame 129 does not fit 128 slots, which two entries do not fill.
    usage(writer.flush());
    assert!(storage.image() == before);
    usage(writer.close());
    assert_eq!(opened(&storage).nframes(), 128);
}

#[test]
fn chunks_are_found_before_they_are_committed() {
    let storage = RecordingStorage::default();
    let mut options = options().with_commit(Commit::Manual);
    options.maximum_write_buffer_size = 64;
    let mut writer = Writer::create_storage(storage, &options).unwrap();
    for frame in 0..30_u64 {
        writer.write_chunk("step", 1, 1, &[frame]).unwrap();
        writer.write_chunk("large", 40, 1, &[frame; 40]).unwrap();
        if frame == 17 {
            writer.flush().unwrap();
        }
        for known in 0..=frame {
            let entry = writer.find_chunk(known, "step").unwrap().unwrap();
            assert_eq!(writer.read_chunk(&entry).unwrap(), known.to_le_bytes());
            let entry = writer.find_chunk(known, "large").unwrap().unwrap();
            assert_eq!(writer.read_chunk(&entry).unwrap(), known.to_le_bytes().repeat(40));
        }
        assert_eq!(writer.find_chunk(frame + 1, "step").unwrap(), None);
        writer.end_frame().unwrap();
    }
}

#[test]
fn arrays_of_every_rank_keep_their_shape() {
    let storage = RecordingStorage::default();
    let mut writer = Writer::create_storage(storage.clone(), &options()).unwrap();
    let shapes: [&[u64]; 6] = [&[], &[4], &[2, 3], &[5, 1], &[2, 0], &[2, 3, 2]];
    for (number, shape) in shapes.iter().enumerate() {
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
        let bytes: Vec<u8> = (0_u16..).take(count).flat_map(u16::to_be_bytes).collect();
        let array = Array::new(DType::parse(">u2").unwrap(), shape.to_vec(), Order::C, bytes.into());
        writer.write_array(&format!("{number}"), &array.unwrap()).unwrap();
    }
    writer.write_string("text", "größer").unwrap();
    writer.write_blob("blob", b"\0\x01").unwrap();
    writer.end_frame().unwrap();
    let file = opened(&storage);
    for (number, shape) in shapes.iter().enumerate() {
        let entry = file.find_chunk(0, &format!("{number}")).unwrap();
        assert_eq!(entry.chunk_type(), Some(ChunkType::Uint16));
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
        let values: Vec<u16> = (0..).take(count).collect();
        assert_eq!(*file.read_elements::<u16>(&entry).unwrap(), values);
        match file.find_chunk(0, &format!("{number}/shape")) {
            Some(stored) => {
                assert_eq!((entry.n, entry.m), (count as u64, 1));
                assert_eq!(*file.read_elements::<u64>(&stored).unwrap(), **shape);
            }
            None => assert_eq!(entry.shape(), *shape),
        }
    }
    let text = file.find_chunk(0, "text").unwrap();
    assert_eq!((text.chunk_type(), text.n, text.m), (Some(ChunkType::Character), 8, 1));
    assert_eq!(&*file.read_chunk(&text).unwrap(), "größer".as_bytes());
}

#[test]
fn a_full_disk_ends_the_writing_and_leaves_what_was_committed() {
    for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
        let whole = RecordingStorage::default();
        let options = options().with_scheme(scheme);
        let mut writer = Writer::create_storage(whole.clone(), &options).unwrap();
        write(&mut writer, 0..3);
        let start = whole.image();
        write(&mut writer, 3..100);
        writer.close().unwrap();
        for room in (start.len() as u64..whole.image().len() as u64).step_by(97) {
            let storage = RecordingStorage::new(start.clone());
            let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
            storage.set_room(Some(room));
            let mut frame = 3_u64;
            let failed = loop {
                let chunks = writer
                    .write_chunk("step", 1, 1, &[frame])
                    .and_then(|()| writer.write_chunk("position", 2, 3, &[frame as f32; 6]));
                if let Err(error) = chunks.and_then(|()| writer.end_frame()) {
                    break error;
                }
                frame += 1;
            };
            assert!(matches!(failed.kind(), ErrorKind::Io(_)), "{failed}");
            let committed = writer.committed_frames();
            assert_eq!(committed, frame);
            usage(writer.end_frame());
            usage(writer.write_chunk("more", 1, 1, &[1_u8]));
            usage(writer.flush());
            let operations = storage.operation_count();
            drop(writer);
            // Nothing but what was not committed is given back.
            let last = storage.operations().split_off(operations);
            assert!(matches!(last.as_slice(), [] | [Operation::SetLen(_)]), "{last:?}");
            assert!(scheme == CommitScheme::Atomic || last.is_empty(), "{last:?}");
            check(&opened(&storage), committed);
            // With room again, it continues.
            storage.set_room(None);
            let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
            write(&mut writer, committed..committed + 3);
            writer.close().unwrap();
            check(&opened(&storage), committed + 3);
        }
    }
}

#[test]
fn modes_are_those_of_the_reference() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.gsd");
    let one_frame = |mut writer: Writer| {
        let frame = writer.nframes();
        writer.write_chunk("step", 1, 1, &[frame]).unwrap();
        writer.end_frame().unwrap();
        writer.close().unwrap();
        File::open(&path).unwrap().nframes()
    };
    let mode = |name| WriteMode::from_name(name).unwrap();
    let open = |name| Writer::open_mode(&path, mode(name), &options());
    assert!(matches!(open("r+").err().unwrap().kind(), ErrorKind::Io(_)));
    assert_eq!(one_frame(open("a").unwrap()), 1);
    usage(open("x"));
    assert_eq!(one_frame(open("a").unwrap()), 2);
    assert_eq!(one_frame(open("r+").unwrap()), 3);
    assert_eq!(one_frame(open("w").unwrap()), 1);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(one_frame(open("x").unwrap()), 1);
    // One writer at a time.
    let held = open("a").unwrap();
    for name in ["r+", "a", "w", "x"] {
        usage(open(name));
    }
    drop(held);
    assert_eq!(one_frame(open("a").unwrap()), 2);
    assert_eq!(WriteMode::from_name("r"), None);
}

#[test]
fn chunks_start_where_they_are_to() {
    for (alignment, bytes) in
        [(ChunkAlignment::Packed, 1), (ChunkAlignment::Eight, 8), (ChunkAlignment::SixtyFour, 64)]
    {
        let storage = RecordingStorage::default();
        let mut options = options();
        options.alignment = alignment;
        options.maximum_write_buffer_size = 100;
        let mut writer = Writer::create_storage(storage.clone(), &options).unwrap();
        for frame in 0..9_u8 {
            writer.write_chunk("odd", 3, 1, &[frame; 3]).unwrap();
            writer.write_chunk("long", 101, 1, &[frame; 101]).unwrap();
            writer.end_frame().unwrap();
        }
        let file = opened(&storage);
        for entry in file.index().iter() {
            assert_eq!(entry.location % bytes, 0);
            let frame = u8::try_from(entry.frame).unwrap();
            assert!(file.read_chunk(&entry).unwrap().iter().all(|byte| *byte == frame));
        }
    }
}

#[test]
fn damaged_files_are_refused_or_written_without_panic() {
    let storage = RecordingStorage::default();
    let mut writer =
        Writer::create_storage(storage.clone(), &options().with_scheme(CommitScheme::Reference)).unwrap();
    write(&mut writer, 0..3);
    writer.close().unwrap();
    let whole = storage.image();
    let mut images: Vec<Vec<u8>> = (0..whole.len()).step_by(13).map(|len| whole[..len].to_vec()).collect();
    for at in (0..48).chain(256..256 + 7 * 32).chain(4352..4380) {
        for byte in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut image = whole.clone();
            image[at] = byte;
            images.push(image);
        }
    }
    let mut taken = 0;
    for image in images {
        for scheme in [CommitScheme::Atomic, CommitScheme::Reference] {
            let storage = RecordingStorage::new(image.clone());
            let Ok(mut writer) = Writer::open_storage(storage, &options().with_scheme(scheme)) else {
                continue;
            };
            taken += 1;
            let frames = writer.nframes();
            let written = writer.write_chunk("new", 1, 1, &[1_u8]).and_then(|()| writer.end_frame());
            assert!(written.is_err() || writer.committed_frames() == frames + 1);
            let _ = writer.upgrade();
            let _ = writer.truncate();
        }
    }
    assert!(taken > 100, "{taken}");
}

/// The bytes that a header refers to are not cut off, whatever the number of frames when the file was opened.
#[test]
fn abandon_keeps_committed_frames() {
    let storage = RecordingStorage::default();
    let manual = options().with_commit(Commit::Manual);
    let mut writer = Writer::create_storage(storage.clone(), &manual).unwrap();
    write(&mut writer, 0..3);
    writer.close().unwrap();

    let before = storage.image();
    let mut writer = Writer::open_storage(storage.clone(), &manual).unwrap();
    writer.write_chunk("large", 2 << 20, 1, &vec![1_u8; 2 << 20]).unwrap();
    writer.abandon();
    assert!(storage.image() == before, "nothing was committed");

    let mut writer = Writer::open_storage(storage.clone(), &manual).unwrap();
    writer.truncate().unwrap();
    writer.write_chunk("large", 2 << 20, 1, &vec![1_u8; 2 << 20]).unwrap();
    writer.discard_frame().unwrap();
    write(&mut writer, 0..3);
    writer.flush().unwrap();
    writer.abandon();
    check(&opened(&storage), 3);

    let v1 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd/ok/v1_small.gsd");
    let storage = RecordingStorage::new(std::fs::read(v1).unwrap());
    let frames = opened(&storage).nframes();
    let mut writer = Writer::open_storage(storage.clone(), &manual).unwrap();
    writer.upgrade().unwrap();
    writer.abandon();
    assert_eq!(opened(&storage).nframes(), frames);
}

#[test]
fn a_failed_commit_gives_back_the_room_that_it_took() {
    let manual = options().with_commit(Commit::Manual);
    let storage = RecordingStorage::default();
    let mut writer = Writer::create_storage(storage.clone(), &manual).unwrap();
    write(&mut writer, 0..3);
    writer.close().unwrap();
    let start = storage.image();
    for (size, buffered) in [(1 << 10, true), (4 << 20, false)] {
        for is_dropped in [false, true] {
            let storage = RecordingStorage::new(start.clone());
            let mut options = manual.clone();
            options.maximum_write_buffer_size = 1 << 20;
            let mut writer = Writer::open_storage(storage.clone(), &options).unwrap();
            // Room for the chunks, and none for an index that has to move.
            storage.set_room(Some(start.len() as u64 + 4 * size + 64));
            for frame in 3..7_u64 {
                let bytes = vec![1_u8; usize::try_from(size).unwrap()];
                writer.write_chunk("step", 1, 1, &[frame]).unwrap();
                writer.write_chunk("large", size, 1, &bytes).unwrap();
                for id in 0..64 {
                    writer.write_chunk(&format!("none/{id}"), 0, 1, &[0_u8; 0]).unwrap();
                }
                writer.end_frame().unwrap();
            }
            assert_eq!(storage.image().len() == start.len(), buffered);
            if is_dropped {
                writer.flush().unwrap_err();
                drop(writer);
            } else {
                writer.close().unwrap_err();
            }
            assert_eq!(storage.image().len(), start.len());
            check(&opened(&storage), 3);
        }
    }
}

/// Not everyone asks for the lock: HOOMD does not.
#[test]
fn abandon_keeps_bytes_appended_by_another_program() {
    let manual = options().with_commit(Commit::Manual);
    // A writer that wrote no chunk, and one that wrote at the same offset and whose header has changed.
    for wrote in [false, true] {
        let storage = RecordingStorage::default();
        let mut writer = Writer::create_storage(storage.clone(), &manual).unwrap();
        write(&mut writer, 0..3);
        writer.close().unwrap();
        let mut writer = Writer::open_storage(storage.clone(), &manual).unwrap();
        let mut other = Writer::open_storage(storage.clone(), &manual).unwrap();
        if wrote {
            writer.write_chunk("large", 2 << 20, 1, &vec![1_u8; 2 << 20]).unwrap();
        }
        write(&mut other, 3..1000);
        other.close().unwrap();
        let image = storage.image();
        writer.abandon();
        assert!(storage.image() == image, "{wrote}");
        if !wrote {
            check(&opened(&storage), 1000);
        }
    }
}

//! Damaged fixtures and damaged files of our own: what is written is whole, and holds what was whole.

use std::path::PathBuf;

use blosc_chunk::Special;
use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::report::{Evidence, RepairItem, Severity};
use container_core::write::Durability;

use super::*;
use crate::{EditOptions, Editor, ErrorKind, Fault, FaultKind, Frame, FrameOptions, Writer, default_params};

mod blocks;
mod chunk_order;
mod claims;
mod evidence;
mod headers;
mod updates;

fn corpus(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2").join(path)
}

fn repaired(bytes: &[u8]) -> Result<(RepairReport, Vec<u8>)> {
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(bytes.to_vec()));
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(64 << 20);
    let report = repair_to(input, &options, Some(&mut out), Progress::none())?;
    Ok((report, out))
}

/// Returns the chunks of a frame that has to be sound.
fn chunks(bytes: Vec<u8>, what: &str) -> Vec<Vec<u8>> {
    let frame = Frame::from_bytes(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    let scan = frame.scan_chunks().unwrap();
    // Faults of the original writers that a new file does not repair.
    let kept = [FaultKind::StoredSpecial, FaultKind::VersionFlags];
    let faults = scan.faults.iter().chain(frame.layout().faults());
    let bad: Vec<_> =
        faults.filter(|fault| fault.severity() > Severity::Note && !kept.contains(&fault.kind())).collect();
    assert!(bad.is_empty(), "{what}: {bad:?}");
    let options = ReadOptions::default();
    let read = |index| frame.read_chunk(index, &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    (0..frame.chunk_count().min(1000)).map(read).collect()
}

#[test]
fn every_damaged_fixture_is_repaired_or_refused() {
    // Chunks that no program can decode are copied as they are.
    let undecodable = ["chunk_instrumented.b2frame"];
    let (mut mended, mut refused) = (0, 0);
    let mut paths: Vec<_> =
        std::fs::read_dir(corpus("bad")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() || !name.ends_with(".b2frame") && !name.ends_with(".b2nd") {
            continue;
        }
        match repaired(&std::fs::read(&path).unwrap()) {
            Ok((report, out)) => {
                mended += 1;
                assert!(!report.kept.is_empty() || !report.lost.is_empty(), "{name}");
                if !undecodable.contains(&name.as_str()) {
                    chunks(out, &name);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Io(_)), "{name}: {error}");
            }
        }
    }
    assert!(mended > 130 && refused > 10, "{mended} mended, {refused} refused");
}

/// Frames with chunks of different contents, by C-Blosc2's order of writing and by ours.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let chunk = |number: u8| -> Vec<u8> { (0..100_u8).map(|at| at.wrapping_mul(number | 1)).collect() };
    let mut options = FrameOptions { params: default_params(2), ..FrameOptions::default() };
    options.metalayers.set("name", vec![0xa1, b'x']).unwrap();
    let mut whole = Vec::new();
    let mut writer = Writer::new(&mut whole, options.clone()).unwrap();
    for number in 1..6 {
        writer.append(&chunk(number)).unwrap();
    }
    writer.set_vlmetalayer("key", &[1, 2, 3]).unwrap();
    writer.finish().unwrap();

    let mut start = Vec::new();
    Writer::new(&mut start, options).unwrap().finish().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grown.b2frame");
    std::fs::write(&path, &start).unwrap();
    for number in 1..5 {
        let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
        editor.append(&chunk(number)).unwrap();
        if number == 3 {
            editor.update(0, &chunk(9)).unwrap();
        }
        editor.commit(Durability::Synced).unwrap();
    }
    vec![("whole", whole), ("grown", std::fs::read(&path).unwrap())]
}

/// Checks that every chunk has its contents, perhaps of an earlier state, or zeros that the report lists.
fn check_report(what: &str, known: &[Vec<u8>], report: &RepairReport, out: Vec<u8>) {
    for (index, chunk) in chunks(out, what).iter().enumerate() {
        let is_zeros = chunk.iter().all(|byte| *byte == 0);
        assert!(known.contains(chunk) || is_zeros, "{what}: chunk {index} is {chunk:?}");
        assert!(!is_zeros || !report.lost.is_empty(), "{what}: nothing is said of chunk {index}");
    }
}

#[test]
fn a_frame_without_chunks_loses_the_bytes_behind_it_and_no_more() {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, FrameOptions::default()).unwrap().finish().unwrap();
    let end = bytes.len();
    bytes.extend_from_slice(b"behind the frame");
    // The size of a chunk in the frame, 100, and 0, which marks chunks of different sizes.
    for size in [None, Some(100_i32), Some(0)] {
        let mut bytes = bytes.clone();
        if let Some(size) = size {
            bytes[58..62].copy_from_slice(&size.to_be_bytes());
        }
        let (report, out) = repaired(&bytes).unwrap();
        assert!(report.guessed.is_empty(), "{size:?}: {report:?}");
        let lost: Vec<_> = report.lost.iter().map(|lost| lost.range.clone()).collect();
        assert_eq!(lost, [Some(end as u64..bytes.len() as u64)], "{size:?}: {report:?}");
        assert_eq!(chunks(out, "without chunks"), [[0_u8; 0]; 0]);
        // Zeros are room that was reserved.
        bytes[end..].fill(0);
        let (report, _) = repaired(&bytes).unwrap();
        assert!(report.lost.is_empty() && report.guessed.is_empty(), "{size:?}: {report:?}");
    }
}

#[test]
fn earlier_nan_chunk_is_restored_only_for_types_with_nan() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("frame");
    let mut frame = FrameOptions { params: default_params(8), ..FrameOptions::default() };
    frame.params.level = 0;
    let mut editor = Editor::create(&path, frame, &EditOptions::default()).unwrap();
    editor.append(&[1; 800]).unwrap();
    editor.update_special(0, Special::Nan).unwrap();
    editor.commit(Durability::Synced).unwrap();
    editor.update(0, &[7; 800]).unwrap();
    editor.commit(Durability::Synced).unwrap();
    drop(editor);
    let mut bytes = std::fs::read(&path).unwrap();
    let chunk = bytes.windows(64).position(|part| part == [7; 64]).unwrap() - 32;
    // No chunk any more, in a frame of bytes.
    bytes[chunk] = 99;
    let old = repaired(&bytes).unwrap().0;
    assert!(old.guessed.iter().any(|item| item.what.contains("as it was before")), "{old:?}");
    bytes[51] = 1;
    let (report, out) = repaired(&bytes).unwrap();
    assert!(!report.lost.is_empty(), "{report:?}");
    assert!(Frame::from_bytes(out).unwrap().layout().faults().is_empty());
}

/// The file of a writer that is killed between two commits: the first chunks are kept, and the others counted.
#[test]
fn chunks_that_were_not_committed_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2frame");
    for (typesize, len) in [(1, 100), (8, 100), (300, 3)] {
        let options = FrameOptions { params: default_params(typesize), ..FrameOptions::default() };
        let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
        let chunk = |value: u8| vec![value; len * typesize];
        (0..3).for_each(|value| editor.append(&chunk(value)).unwrap());
        editor.commit(Durability::Cached).unwrap();
        (3..8).for_each(|value| editor.append(&chunk(value)).unwrap());
        let killed = std::fs::read(&path).unwrap();
        drop(editor);
        std::fs::remove_file(&path).unwrap();
        let (report, out) = repaired(&killed).unwrap();
        let [RepairItem { range: Some(range), what, .. }] = &report.lost[..] else { panic!("{report:?}") };
        assert!(what.contains("5 whole chunks that a writer did not commit"), "{typesize}: {what}");
        assert_eq!(range.end, killed.len() as u64);
        assert_eq!(chunks(out, "killed"), (0..3).map(chunk).collect::<Vec<_>>());
    }
}

#[test]
fn user_metadata_of_a_name_that_others_have_are_looked_at_too() {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, FrameOptions::default()).unwrap();
    let mut set = Vec::new();
    crate::writer::set_vlmetalayer(&mut set, "c", b"a value of some length").unwrap();
    let stored = set.remove(0).1;
    let mut broken = stored.clone();
    broken[4] = 77;
    let vlmetalayers = vec![("c".to_owned(), stored), ("c".to_owned(), broken)];
    writer.take_trailer(crate::trailer::Trailer { vlmetalayers, ..Default::default() });
    writer.finish().unwrap();
    let input = Input::bytes(Box::new(bytes.clone()));
    let file = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
    let report = file
        .check(container_core::container::CheckDepth::Full, &ReadOptions::default(), Progress::none())
        .unwrap();
    assert!(report.findings.iter().any(|finding| finding.code == "user_metadata"), "{report:?}");
    let (report, out) = repaired(&bytes).unwrap();
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let frame = Frame::from_bytes(out).unwrap();
    assert_eq!(frame.vlmetalayer("c").unwrap().unwrap(), b"a value of some length");
    assert_eq!(frame.vlmetalayer_names().count(), 1);
}

#[test]
fn a_mark_may_end_within_an_element() {
    for special in [Special::Nan, Special::Uninit] {
        let mut bytes = Vec::new();
        let options = FrameOptions { params: default_params(8), ..FrameOptions::default() };
        let mut writer = Writer::new(&mut bytes, options).unwrap();
        writer.append_specials(special, 400, 2).unwrap();
        writer.take_marks(special, 260, 1).unwrap();
        writer.finish().unwrap();
        let (report, out) = repaired(&bytes).unwrap();
        assert!(report.lost.is_empty() && report.guessed.is_empty(), "{report:?}");
        assert!(out == bytes);
    }
}

/// Bytes between the last metalayer and the end of the header are the header's if the trailer begins after them.
#[test]
fn a_header_may_be_longer_than_its_metalayers() {
    let mut bytes = Vec::new();
    let mut options = FrameOptions::default();
    options.metalayers.set("note", vec![7; 40]).unwrap();
    Writer::new(&mut bytes, options).unwrap().finish().unwrap();
    let value = bytes.windows(5).position(|part| part == [0xC6, 0, 0, 0, 40]).unwrap();
    bytes[value + 4] = 37;
    let (report, out) = repaired(&bytes).unwrap();
    assert!(report.lost.is_empty() && report.guessed.is_empty(), "{report:?}");
    let frame = Frame::from_bytes(out).unwrap();
    assert_eq!(frame.metalayers().get("note"), Some(&[7; 37][..]));
}

#[test]
fn a_frame_cut_anywhere_gives_what_was_before() {
    for (name, bytes) in samples() {
        let known: Vec<Vec<u8>> =
            (0..10).map(|number: u8| (0..100_u8).map(|at| at.wrapping_mul(number | 1)).collect()).collect();
        let (mut mended, mut most) = (0, 0);
        for cut in 0..=bytes.len() {
            let what = format!("{name} cut at {cut}");
            if let Ok((report, out)) = repaired(&bytes[..cut]) {
                mended += 1;
                most = most.max(report.kept.len());
                check_report(&what, &known, &report, out);
            }
        }
        assert!(mended > bytes.len() / 2 && most > 2, "{name}: {mended} of {}", bytes.len());
        let (report, out) = repaired(&bytes).unwrap();
        assert!(report.lost.is_empty() && report.guessed.is_empty(), "{name}: {report:?}");
        let now = Frame::from_bytes(bytes).unwrap();
        let new = Frame::from_bytes(out).unwrap();
        assert_eq!(now.chunk_count(), new.chunk_count());
        assert_eq!(now.metalayers(), new.metalayers());
        assert_eq!(now.vlmetalayer("key").unwrap(), new.vlmetalayer("key").unwrap());
        for index in 0..now.chunk_count() {
            assert_eq!(now.chunk(index).unwrap(), new.chunk(index).unwrap(), "{name}: chunk {index}");
        }
    }
}

#[test]
fn a_frame_with_any_byte_changed_gives_a_sound_one() {
    for (name, bytes) in samples() {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= if at % 2 == 0 { 0xff } else { 0x10 };
            if let Ok((_, out)) = repaired(&changed) {
                // Without digests a changed byte of a chunk may decode to others.
                let frame = Frame::from_bytes(out);
                assert!(frame.is_ok(), "{name} at {at}: {}", frame.err().unwrap());
            }
        }
    }
}

#[test]
fn checksums_reveal_changed_chunks_that_still_decode() {
    let mut out = Vec::new();
    let options = FrameOptions {
        params: blosc_chunk::Params { level: 0, ..default_params(1) },
        checksums: Some(container_codecs::checksum::Algorithm::from_name("crc32").unwrap()),
        ..FrameOptions::default()
    };
    let mut writer = Writer::new(&mut out, options).unwrap();
    for number in 1..4_u8 {
        writer.append(&[number; 200].iter().zip(0_u8..).map(|(a, b)| a ^ b).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    let place = out.windows(4).position(|bytes| bytes == [2, 3, 0, 1]).unwrap();
    out[place + 20] ^= 1;
    let (report, new) = repaired(&out).unwrap();
    assert_eq!(report.lost.len(), 1, "{report:?}");
    assert!(report.lost[0].what.starts_with("chunk 1"), "{report:?}");
    let frame = Frame::from_bytes(new).unwrap();
    assert_eq!(frame.read_chunk(1, &ReadOptions::default()).unwrap(), [0; 200]);
    assert!(matches!(
        crate::check_checksums(&frame).unwrap(),
        Some(crate::ChecksumReport::Compared { damaged, .. }) if damaged.is_empty()
    ));
}

#[test]
fn a_sparse_frame_without_a_chunk_or_its_index_gives_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse");
    let options =
        FrameOptions { params: default_params(1), kind: crate::Kind::Sparse, ..FrameOptions::default() };
    let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
    let chunk = |number: u8| -> Vec<u8> { (0..150_u8).map(|at| at.wrapping_mul(number | 1)).collect() };
    for number in 1..5 {
        editor.append(&chunk(2 * number)).unwrap();
    }
    editor.commit(Durability::Synced).unwrap();
    drop(editor);
    let target = directory.path().join("mended.b2frame");
    std::fs::remove_file(path.join("00000001.chunk")).unwrap();
    let report = repair(&path, &target).unwrap();
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let read = |target: &Path| chunks(std::fs::read(target).unwrap(), "sparse");
    assert_eq!(read(&target), [chunk(2), vec![0; 150], chunk(6), chunk(8)]);

    // The index file ends after its header.
    let index = path.join("chunks.b2frame");
    let bytes = std::fs::read(&index).unwrap();
    std::fs::write(&index, &bytes[..100]).unwrap();
    std::fs::remove_file(&target).unwrap();
    let report = repair(&path, &target).unwrap();
    assert!(!report.guessed.is_empty() && !report.lost.is_empty(), "{report:?}");
    assert_eq!(read(&target)[..3], [chunk(2), chunk(6), chunk(8)]);
}

/// Frame that python-blosc2 4.14.1 writes of `SChunk(chunksize=200, cparams={"typesize": 2})` and `fill_special(266,
/// SpecialValue.NAN)`, and does not read: `-3`, "Unsupported typesize for NaN".
const NAN_OF_TWO_BYTES: &str = "\
    9ea862326672616d6500d200000061cf00000000000000aca412005502d30000000000000214d30000000000000000d200000002d2000000c8d2000000c8d100\
    02d10002c2d8060000000000010500000000000000000093cd0007de0000dc000005010508180000001800000028000000000000000000000000000000000000\
    300000000000000082940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";

/// A frame of version 3 with chunks of different sizes, none of which is stored: the report without a target is that of the repair.
#[test]
fn repair_of_chunks_of_unknown_size_fails_with_and_without_target() {
    let digits = NAN_OF_TWO_BYTES.as_bytes().chunks(2).map(|two| str::from_utf8(two).unwrap());
    let mut bytes: Vec<u8> = digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect();
    bytes[25] = 0x53;
    bytes[58..62].fill(0);
    let wet = repaired(&bytes).unwrap_err();
    let input = Input::bytes(Box::new(bytes));
    let dry = repair_to(input, &OpenOptions::default(), None, Progress::none()).unwrap_err();
    assert!(wet.to_string().contains("length unknown"), "{wet}");
    assert_eq!(wet.to_string(), dry.to_string());
}

#[test]
fn nan_chunks_with_an_invalid_typesize_are_damage() {
    let digits = NAN_OF_TWO_BYTES.as_bytes().chunks(2).map(|two| str::from_utf8(two).unwrap());
    let bytes: Vec<u8> = digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect();
    for typesize in [2_u32, 4, 65_544] {
        let mut bytes = bytes.clone();
        bytes[48..52].copy_from_slice(&typesize.to_be_bytes());
        let frame = Frame::from_bytes(bytes.clone()).unwrap();
        let faults: Vec<_> = frame.layout().faults().iter().map(Fault::code).collect();
        let read = frame.read_chunk(0, &ReadOptions::default());
        if typesize == 4 {
            let (report, _) = repaired(&bytes).unwrap();
            assert_eq!(faults, [""; 0]);
            assert!(read.is_ok() && report.lost.is_empty(), "{read:?} {report:?}");
            continue;
        }
        assert_eq!(faults, ["nan_width"]);
        assert!(matches!(read.unwrap_err().kind(), ErrorKind::Malformed(_)));
        if typesize != 2 {
            // Its chunks are not elements either.
            continue;
        }
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(report.lost.len(), 1, "{report:?}");
        assert!(report.kept.iter().all(|item| !item.what.contains("chunk")), "{report:?}");
        let zeros = [200, 200, 132].map(|len| vec![0; len]);
        assert_eq!(chunks(out, "NaN"), zeros, "{report:?}");
    }
}

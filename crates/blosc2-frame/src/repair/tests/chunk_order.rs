//! Indexes with wrong offsets, and chunks in other places: digests identify them.
#![allow(clippy::cast_possible_truncation, reason = "small numbers made here")]

use container_codecs::checksum::Algorithm;
use container_core::container::CheckDepth;

use super::*;
use crate::{ChecksumReport, check_checksums};

/// Bytes of a chunk that is stored plainly, with its header.
const LEN: usize = 232;

fn chunk(number: u8) -> Vec<u8> {
    (0..200_u8).map(|at| at.wrapping_mul(2 * number + 1) ^ number).collect()
}

/// Makes three chunks that are stored plainly, and so is their index.
fn plain(checksums: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let options = FrameOptions {
        params: blosc_chunk::Params { level: 0, ..default_params(1) },
        checksums: checksums.then(|| Algorithm::from_name("sha256").unwrap()),
        ..FrameOptions::default()
    };
    let mut writer = Writer::new(&mut out, options).unwrap();
    for number in 0..3 {
        writer.append(&chunk(number)).unwrap();
    }
    writer.finish().unwrap();
    out
}

/// Offsets of the chunks and of the index of `bytes`.
fn places(bytes: &[u8]) -> (usize, usize) {
    let frame = Frame::from_bytes(bytes.to_vec()).unwrap();
    (frame.layout().chunks().start as usize, frame.layout().index().start as usize)
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    let input = Input::bytes(Box::new(bytes.to_vec()));
    let file = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
    let report = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    report.findings.iter().map(|finding| finding.code).collect()
}

fn is_guarded(out: &[u8]) -> bool {
    let frame = Frame::from_bytes(out.to_vec()).unwrap();
    matches!(check_checksums(&frame).unwrap(), Some(ChecksumReport::Compared { damaged, .. }) if damaged.is_empty())
}

/// Whether the report has the order of the chunks by digest.
fn is_proved_order(report: &RepairReport) -> bool {
    let is_order = |line: &RepairItem| line.what.starts_with("order of the chunks: each where");
    report.guessed.iter().any(|line| is_order(line) && line.evidence == Some(Evidence::Digest))
}

fn has_line(list: &[RepairItem], start: &str) -> bool {
    list.iter().any(|line| line.what.starts_with(start))
}

/// Chunk 1 is eight bytes from its place, and overwrites the beginning of chunk 2. Chunk 0 has other bytes.
#[test]
fn one_chunk_that_was_moved_does_not_switch_off_the_digests_of_the_others() {
    let sound = plain(true);
    let (start, _) = places(&sound);
    let mut bytes = sound.clone();
    bytes[start + 100] ^= 1;
    bytes.copy_within(start + LEN..start + 2 * LEN, start + LEN + 8);
    bytes[start + LEN..start + LEN + 8].fill(0xee);
    let (report, out) = repaired(&bytes).unwrap();
    assert_eq!(chunks(out.clone(), "moved"), [vec![0; 200], chunk(1), vec![0; 200]], "{report:?}");
    assert!(has_line(&report.lost, "chunk 0") && has_line(&report.lost, "chunk 2"), "{report:?}");
    assert!(is_proved_order(&report) && is_guarded(&out), "{report:?}");
    // One that is whole, and not what belongs there.
    bytes[start + LEN + 100] ^= 1;
    let (report, out) = repaired(&bytes).unwrap();
    assert_eq!(chunks(out.clone(), "moved and changed"), vec![vec![0; 200]; 3], "{report:?}");
    assert!(report.guessed.is_empty() && is_guarded(&out), "{report:?}");
}

/// Any offsets in the place of the right ones.
#[test]
fn digests_prove_the_order_where_the_index_is_damaged() {
    let sound = plain(true);
    let (start, index) = places(&sound);
    let own: [u64; 3] = [0, LEN as u64, 2 * LEN as u64];
    for others in [[0, 0, 0], [1, 1, 0], [2, 1, 1], [2, 2, 2], [0, 1, 9], [9, 8, 9], [7, 7, 7]] {
        let mut bytes = sound.clone();
        for (place, other) in others.iter().enumerate() {
            let offset = own.get(*other).copied().unwrap_or(*other as u64 * 0x0100_0000);
            bytes[index + 32 + 8 * place..][..8].copy_from_slice(&offset.to_le_bytes());
        }
        let what = format!("{others:?}");
        assert!(codes(&bytes).iter().any(|code| ["offset", "offsets"].contains(code)), "{what}");
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(chunks(out.clone(), &what), [chunk(0), chunk(1), chunk(2)], "{what}: {report:?}");
        assert!(is_proved_order(&report) && report.lost.is_empty() && is_guarded(&out), "{what}: {report:?}");
        // One of the chunks is damaged as well.
        bytes[start + LEN + 50] ^= 4;
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(chunks(out.clone(), &what), [chunk(0), vec![0; 200], chunk(2)], "{what}: {report:?}");
        assert!(has_line(&report.lost, "chunk 1") && is_guarded(&out), "{what}: {report:?}");
    }
}

#[test]
fn an_index_that_has_a_chunk_twice_gives_way_to_the_order_in_the_file() {
    let sound = plain(false);
    let (_, index) = places(&sound);
    let mut bytes = sound.clone();
    bytes[index + 32 + 8..][..8].fill(0);
    let (report, out) = repaired(&bytes).unwrap();
    assert_eq!(chunks(out, "twice"), [chunk(0), chunk(1), chunk(2)], "{report:?}");
    assert!(has_line(&report.guessed, "order of the chunks: as in the file"), "{report:?}");
}

#[test]
fn unreadable_checksums_are_reported() {
    let sound = plain(true);
    let value = sound.windows(8).position(|bytes| bytes == b"\xa7version").unwrap() - 1;
    for (at, byte, code) in [
        (value, 0x86, "user_metadata"),
        (value + 3, b'E', "user_metadata"),
        (value + 9, 3, "checksums_unknown"),
        (value + 22, b'S', "checksums_unknown"),
    ] {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        assert_eq!(codes(&bytes), [code], "{at}");
        let (report, out) = repaired(&bytes).unwrap();
        assert!(has_line(&report.lost, "checksums: unreadable"), "{report:?}");
        assert_eq!(codes(&out), [""; 0]);
    }
}

/// Inserted bytes: no offset is right any more, and digests still identify the chunks.
#[test]
fn chunks_that_were_moved_are_where_their_digests_have_them() {
    let sound = plain(true);
    let (start, _) = places(&sound);
    let cut = start + LEN + 100;
    for len in [1, 7, 40] {
        let bytes: Vec<u8> = [&sound[..cut], &vec![7; len], &sound[cut..]].concat();
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(chunks(out.clone(), "moved"), [chunk(0), vec![0; 200], chunk(2)], "{len}: {report:?}");
        assert!(has_line(&report.lost, "chunk 1") && is_guarded(&out), "{len}: {report:?}");
        assert!(is_proved_order(&report), "{len}: {report:?}");
    }
}

/// The digest of a chunk that is not stored is zeros: it is one of zeros where its mark is damaged, and keeps any mark that is there.
#[test]
fn chunks_that_are_not_stored_keep_their_marks() {
    for mark in [Special::Zeros, Special::Uninit] {
        let mut sound = Vec::new();
        let options = FrameOptions {
            params: blosc_chunk::Params { level: 0, ..default_params(1) },
            checksums: Some(Algorithm::Sha256),
            ..FrameOptions::default()
        };
        let mut writer = Writer::new(&mut sound, options).unwrap();
        writer.append(&chunk(0)).unwrap();
        writer.append_specials(mark, 200, 1).unwrap();
        writer.append(&chunk(2)).unwrap();
        writer.finish().unwrap();
        let (_, index) = places(&sound);
        for damaged in [1, 2] {
            let mut bytes = sound.clone();
            bytes[index + 32 + 8 * damaged..][..8].copy_from_slice(&0x0900_0000_u64.to_le_bytes());
            assert!(codes(&bytes).contains(&"offset"), "{mark:?} {damaged}");
            let (report, out) = repaired(&bytes).unwrap();
            assert_eq!(chunks(out.clone(), "mark"), [chunk(0), vec![0; 200], chunk(2)], "{report:?}");
            let kept = if damaged == 1 { Special::Zeros } else { mark };
            let is_proved = report.guessed.iter().any(|line| line.evidence == Some(Evidence::Digest));
            assert!(report.lost.is_empty() && is_proved, "{report:?}");
            // The digest of the index is that of the original marks.
            let is_original = kept == mark;
            assert_eq!(
                check_checksums(&Frame::from_bytes(out.clone()).unwrap()).unwrap().is_some(),
                is_original
            );
            assert!(!is_original || is_guarded(&out), "{report:?}");
            let offsets = Frame::from_bytes(out).unwrap().layout().offsets().get(1);
            assert_eq!(offsets, Some(crate::offsets::Offset::Special(kept)), "{report:?}");
        }
    }
}

/// The index of a frame of one chunk is one offset for all: it stays where its digest confirms it, and the chunk alone is lost.
#[test]
fn a_damaged_header_of_the_only_chunk_does_not_change_its_place() {
    let mut sound = Vec::new();
    let options = FrameOptions {
        params: blosc_chunk::Params { level: 0, ..default_params(1) },
        checksums: Some(Algorithm::Sha256),
        ..FrameOptions::default()
    };
    let mut writer = Writer::new(&mut sound, options).unwrap();
    writer.append(&chunk(1)).unwrap();
    writer.finish().unwrap();
    let (start, _) = places(&sound);
    let (report, out) = repaired(&sound).unwrap();
    assert!(out == sound && report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
    // Version, flags, typesize, sizes.
    for at in [0, 2, 3, 5, 9, 13] {
        let mut bytes = sound.clone();
        bytes[start + at] ^= 0x48;
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(chunks(out.clone(), "header"), [vec![0; 200]], "{at}: {report:?}");
        assert!(report.guessed.is_empty() && has_line(&report.lost, "chunk 0"), "{at}: {report:?}");
        assert!(report.lost.len() == 1 && is_guarded(&out), "{at}: {report:?}");
    }
}

//! Damage: each kind with its code and place; cuts and flips everywhere.

use bloscpack::{ErrorKind, MetadataOptions, encode_section};
use container_core::array::Array;
use container_core::container::{CheckDepth, Digests, ReadOptions};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::report::{Severity, Verdict};
use container_core::{Limits, Progress, Result};

use crate::support::{
    VARCHAR, check, chunk, codes, contents, lenient, lens, minimal, open, variable, version_3,
};

/// A file of three chunks with offsets, crc32 and numpy metadata: `'<u2'`, 7 elements.
fn array() -> Vec<u8> {
    let json = br#"{"dtype":"'<u2'","shape":[7],"order":"C","container":"numpy"}"#;
    let mut options = MetadataOptions::default();
    options.max_meta_size = Some(80);
    let mut bytes = b"blpk\x03\x03\x02\x02\x06\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    bytes.extend(encode_section(json, &options).unwrap());
    let mut at = bytes.len() as u64 + 32;
    let mut chunks = Vec::new();
    for data in [&b"abcdef"[..], b"ghijkl", b"mn"] {
        bytes.extend(at.to_le_bytes());
        let stored = chunk(data);
        let digest = container_codecs::checksum::Algorithm::Crc32.digest(&stored);
        at += stored.len() as u64 + 4;
        chunks.extend(stored);
        chunks.extend(digest.as_bytes().iter().rev());
    }
    bytes.extend([0xff; 8]);
    bytes.extend(chunks);
    bytes
}

/// Offsets of the table and of the chunks of [`array`].
const TABLE: usize = 32 + 32 + 80 + 4;
const CHUNKS: usize = TABLE + 32;

fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = array();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

fn values(bytes: &[u8]) -> Result<Vec<u8>> {
    let file = open(bytes)?;
    let array: Array<'_> = file.read_all(&ReadOptions::default())?;
    Ok(array.bytes(Order::C, &Limits::default())?.into_owned())
}

#[test]
fn the_array_itself_is_sound() {
    assert_eq!((values(&array()).unwrap(), codes(&array())), (b"abcdefghijklmn".to_vec(), vec![]));
}

#[test]
fn each_kind_of_damage_has_its_code_and_place() {
    let cases: [(Vec<u8>, &[&str], std::ops::Range<u64>); 14] = [
        (patched(5, &[0x0b]), &["undefined_options"], 5..6),
        (patched(6, &[9]), &["unknown_checksum"], 6..7),
        (patched(8, &(-2_i32).to_le_bytes()), &["impossible_size"], 8..12),
        (patched(8, &[1]), &["impossible_size", "chunk_size_mismatch"], 8..16),
        (patched(12, &[3]), &["chunk_size_mismatch"], CHUNKS as u64 + 56..CHUNKS as u64 + 60),
        (patched(16, &[4]), &["chunk_header"], CHUNKS as u64..CHUNKS as u64),
        (patched(24, &[0xff; 8]), &["impossible_size"], 24..32),
        (patched(41, &[9]), &["unknown_checksum"], 41..42),
        (patched(44, &[0x7f]), &["metadata_sizes"], 44..48),
        (patched(64, b"x"), &["metadata_checksum", "metadata_unreadable"], 64..148),
        (patched(TABLE, &[0xff; 24]), &["offsets_unset"], TABLE as u64..TABLE as u64 + 24),
        (patched(TABLE + 8, &[1]), &["offset_mismatch"], TABLE as u64 + 8..TABLE as u64 + 16),
        (patched(TABLE + 24, &[1]), &["spare_offset"], TABLE as u64 + 24..TABLE as u64 + 32),
        (patched(CHUNKS + 16, b"?"), &["checksum"], CHUNKS as u64..CHUNKS as u64 + 26),
    ];
    for (index, (bytes, expected, range)) in cases.into_iter().enumerate() {
        let report = check(&bytes);
        let found: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
        assert!(expected.iter().all(|code| found.contains(code)), "case {index}: {found:?}");
        let first = report.findings.iter().find(|finding| finding.code == expected[0]).unwrap();
        if !range.is_empty() {
            assert_eq!(first.range, Some(range), "case {index}: {first:?}");
        }
    }
}

#[test]
fn a_lost_chunk_leaves_the_others_readable() {
    // The length of the first chunk is wrong, so that the walk is lost; the offsets are not.
    let bytes = patched(CHUNKS + 12, &[0x99, 0x99]);
    let file = open(&bytes).unwrap();
    let read = ReadOptions::default();
    assert_eq!(
        file.rows(3..7, &read).unwrap().bytes(Order::C, &Limits::default()).unwrap()[..],
        *b"ghijklmn"
    );
    let error = file.rows(0..4, &read).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)) && error.range().unwrap().start == CHUNKS as u64);
    assert_eq!(check(&bytes).blocks.bad, 1);
    // A wrong number of spare entries shifts everything but the offsets.
    let bytes = patched(24, &[9]);
    assert_eq!(values(&bytes).unwrap(), b"abcdefghijklmn");
    assert_eq!(codes(&bytes)[0], "offset_mismatch");
}

/// Wrong offsets of nearly all chunks: the first of them are reported one by one, then the number of the others.
#[test]
fn unlisted_faults_of_one_kind_are_counted() {
    let data: Vec<[u8; 2]> = (0..100).map(|at| [at, at]).collect();
    let chunks: Vec<&[u8]> = data.iter().map(|data| &data[..]).collect();
    let mut bytes = version_3(2, 2, 100, &chunks);
    // With a table of offsets, of which the first and the last are right.
    bytes[5] = 1;
    let place = |index: usize| (32 + 8 * 100 + 18 * index) as u64;
    let offsets = (0..100).map(|index| place(index) + u64::from(index % 99 != 0));
    bytes.splice(32..32, offsets.flat_map(u64::to_le_bytes));
    let report = check(&bytes);
    let found: Vec<_> = report.findings.iter().filter(|it| it.code == "offset_mismatch").collect();
    assert_eq!(found.len(), 65);
    assert_eq!(
        (found[64].message.as_str(), found[64].range.clone()),
        ("34 more of these", found[63].range.clone())
    );
    assert_eq!(found[64].severity, Severity::Error);
    assert_eq!(contents(&open(&bytes).unwrap()).unwrap(), data.concat());
}

#[test]
fn unfinished_file_with_an_invalid_first_chunk_is_damaged() {
    let mut bytes = version_3(-1, -1, -1, &[b"abcd", b"ef"]);
    assert_eq!(check(&bytes).verdict(), Verdict::Sound);
    // A chunk of one byte.
    bytes[44..48].copy_from_slice(&1_u32.to_le_bytes());
    let report = check(&bytes);
    assert_eq!(report.verdict(), Verdict::Damaged);
    let found = report.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
    assert_eq!((found.code, found.range.clone()), ("chunk_header", Some(32..48)));
}

#[test]
fn a_count_beyond_the_table_shows_no_offsets() {
    let mut bytes = array();
    bytes[16..24].copy_from_slice(&i64::MAX.to_le_bytes());
    let details = lens(&bytes).unwrap().about().details;
    assert!(details.iter().all(|(name, _)| name != "first offsets"), "{details:?}");
    let details = lens(&array()).unwrap().about().details;
    assert!(details.iter().any(|(name, _)| name == "first offsets"), "{details:?}");
}

#[test]
fn digests_are_compared_unless_they_are_to_be_ignored() {
    let bytes = patched(CHUNKS + 16, b"?");
    let file = open(&bytes).unwrap();
    let error = file.read_range(0..1, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }));
    assert_eq!(error.range(), Some(CHUNKS as u64..CHUNKS as u64 + 26));
    assert_eq!(file.read_range(6..14, &ReadOptions::default()).unwrap(), b"ghijklmn");
    let mut ignore = ReadOptions::default();
    ignore.digests = Digests::Ignore;
    assert_eq!(file.read_range(0..14, &ignore).unwrap(), b"?bcdefghijklmn");
    // Data read without verification do not count as verified, in part or whole.
    assert_eq!(file.read_range(1..5, &ignore).unwrap(), b"bcde");
    assert!(file.read_range(1..5, &ReadOptions::default()).is_err());
    assert!(file.read_range(0..6, &ReadOptions::default()).is_err());
}

#[test]
fn damaged_metadata_hide_the_array_but_not_the_bytes() {
    let bytes = patched(144, &[0]);
    assert_eq!(codes(&bytes), ["metadata_checksum"]);
    assert!(matches!(values(&bytes).unwrap_err().kind(), ErrorKind::Checksum { .. }));
    assert_eq!(contents(&open(&bytes).unwrap()).unwrap(), b"abcdefghijklmn");
    let file = lenient(&bytes).unwrap();
    assert_eq!(file.read_all(&ReadOptions::default()).unwrap().shape(), [7]);
}

/// 2500 bytes at `-z 1000 -t 7`, as bloscpack 0.14 stores them: 994 + 994 + 500.
#[test]
fn bytes_that_0_11_to_0_14_lost_are_named() {
    let json = br#"{"dtype":"'|V7'","shape":[357],"order":"C","container":"numpy"}"#;
    let mut bytes = version_3(994, 500, 3, &[]);
    bytes[5] = 2;
    bytes[7] = 7;
    bytes.extend(encode_section(json, &MetadataOptions::default()).unwrap());
    for len in [994, 994, 500] {
        bytes.extend(chunk(&vec![7; len]));
    }
    let report = check(&bytes);
    assert_eq!(report.findings[0].code, "shape_mismatch");
    assert!(report.findings[0].message.contains("0.11 to 0.14"), "{}", report.findings[0].message);
    let file = open(&bytes).unwrap();
    assert!(matches!(file.read_all(&ReadOptions::default()).unwrap_err().kind(), ErrorKind::Malformed(_)));
    assert_eq!(file.rows(0..355, &ReadOptions::default()).unwrap().shape(), [355]);
}

#[test]
fn trailing_bytes_are_noted_and_bombs_are_not_believed() {
    let bytes = [array(), b"left over".to_vec()].concat();
    let report = check(&bytes);
    assert_eq!((report.verdict(), report.findings[0].code), (Verdict::Sound, "trailing_bytes"));
    let mut bomb = minimal();
    for nchunks in [i64::MAX, 1 << 60, 1 << 40] {
        bomb[16..24].copy_from_slice(&nchunks.to_le_bytes());
        bomb[24..32].copy_from_slice(&(i64::MAX - nchunks).to_le_bytes());
        assert_eq!(codes(&bomb), ["offsets_truncated"]);
        bomb[5] = 0;
        assert!(!codes(&bomb).is_empty());
        bomb[5] = 1;
    }
    // A chunk that claims 2 GiB of zeros is held against the limit.
    let zeros = b"\x05\x01\x05\x01\xdf\xff\xff\x7f\0\0\0\x10\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10";
    let mut bytes = version_3(0x7fff_ffdf, 0x7fff_ffdf, 1, &[]);
    bytes.extend(zeros);
    let file = open(&bytes).unwrap();
    assert!(matches!(contents(&file).unwrap_err().kind(), ErrorKind::Limit { .. }));
    assert_eq!(file.read_range(1 << 30..(1 << 30) + 9, &ReadOptions::default()).unwrap(), [0; 9]);
}

#[test]
fn a_part_of_a_chunk_of_one_huge_block_is_held_against_the_limit() {
    let mut bytes = version_3(1 << 29, 1 << 29, 1, &[]);
    // One stream of LZ4, which does not contain its decoded size.
    bytes.extend(b"\x02\x01\x30\x01\0\0\0\x20\0\0\0\x20\x1d\0\0\0\x14\0\0\0\x05\0\0\0\x1fa\x01\0\xff");
    let error = open(&bytes).unwrap().read_range(0..9, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

/// Opens, lists, reads and checks everything in a file.
fn look(bytes: &[u8]) -> Option<(Verdict, Vec<Result<Vec<u8>>>)> {
    let lens = lens(bytes).ok()?;
    let _ = (lens.about(), lens.meta(), lens.losses(), lens.blocks().len());
    let layout = lens.byte_map();
    let mut at = 0;
    for part in &layout {
        assert!(part.range.start == at && part.range.end > at, "{layout:?}");
        at = part.range.end;
    }
    assert_eq!(at, bytes.len() as u64);
    let read = ReadOptions::default();
    let all = |index: usize| {
        let array = lens.read(index, &Region::whole(&lens.datasets()[index].shape), &read)?;
        Ok(array.bytes(Order::C, &Limits::default())?.into_owned())
    };
    let values = (0..lens.datasets().len()).map(all).collect();
    let quick = lens.check(CheckDepth::Quick, &read, Progress::none()).ok()?;
    let full = lens.check(CheckDepth::Full, &read, Progress::none()).ok()?;
    assert!(quick.verdict() == Verdict::Sound || full.verdict() == Verdict::Damaged);
    for finding in &full.findings {
        assert!(finding.range.as_ref().is_some_and(|range| range.start < range.end), "{finding:?}");
    }
    Some((full.verdict(), values))
}

fn samples() -> Vec<Vec<u8>> {
    let stream = version_3(-1, -1, -1, &[b"abcd", b"ef"]);
    let old = [&b"blpk\x02\0\0\0"[..], &chunk(b"abcd"), &chunk(b"ef")].concat();
    vec![minimal(), array(), variable(VARCHAR, &[0, 1, 2], 0), variable(VARCHAR, &[2, 0, 1], 5), stream, old]
}

#[test]
fn file_truncated_anywhere_is_damaged() {
    for (number, bytes) in samples().into_iter().enumerate() {
        let trailing = lens(&bytes)
            .unwrap()
            .byte_map()
            .last()
            .filter(|part| part.role == "trailing")
            .map(|it| it.range.start);
        let end = trailing.map_or(bytes.len(), |at| usize::try_from(at).unwrap());
        for cut in 0..end {
            let Some((verdict, values)) = look(&bytes[..cut]) else { continue };
            // A stream may end after any chunk, and is as long as it is.
            let stream = number == 4 && [32, 52].contains(&cut);
            assert!(stream || verdict == Verdict::Damaged, "sample {number} cut at {cut}");
            assert!(
                number == 4 || values.is_empty() || values.iter().any(Result::is_err),
                "sample {number} cut at {cut}"
            );
            let report = check(&bytes[..cut]);
            let mut errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
            let cut = cut as u64;
            let missing = |range: &std::ops::Range<u64>| range.start <= cut && range.end > cut;
            assert!(
                stream || errors.any(|finding| finding.range.as_ref().is_some_and(missing)),
                "sample {number} cut at {cut}: {:?}",
                report.findings
            );
        }
    }
}

#[test]
fn a_flip_anywhere_is_found_or_harmless() {
    for (number, bytes) in samples().into_iter().enumerate() {
        let (_, whole) = look(&bytes).unwrap();
        let whole: Vec<Vec<u8>> = whole.into_iter().map(Result::unwrap).collect();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let Some((verdict, values)) = look(&damaged) else { continue };
                // The last two samples have no digests.
                if number >= 4 || verdict == Verdict::Damaged {
                    continue;
                }
                let read: Vec<Vec<u8>> = values.into_iter().filter_map(Result::ok).collect();
                assert_eq!(read, whole, "sample {number}, bit {bit} of byte {at}");
            }
        }
    }
}

/// The header of an unknown number of chunks, and a table of offsets all the same.
#[test]
fn an_unknown_number_of_chunks_is_found_by_their_offsets_or_is_an_error() {
    let file = |first: u64| {
        let mut bytes = b"blpk\x03\x01\0\x01\x06\0\0\0\x02\0\0\0".to_vec();
        bytes.extend([&[0xff; 8][..], &[0; 8]].concat());
        bytes.extend([first, 70].map(u64::to_le_bytes).concat());
        bytes.extend([chunk(b"abcdef"), chunk(b"gh")].concat());
        bytes
    };
    assert_eq!(values(&file(48)).unwrap(), b"abcdefgh");
    // Into the header, the table and a chunk; between entries; to the end, beyond it, and nowhere.
    for first in [9, 40, 70, 50, 88, 1000, u64::MAX >> 1] {
        let bytes = file(first);
        assert!(matches!(values(&bytes).unwrap_err().kind(), ErrorKind::Malformed(_)), "{first}");
        let opened = open(&bytes).unwrap();
        assert!(opened.len().is_err() && opened.read_range(0..0, &ReadOptions::default()).is_err());
    }
}

#[test]
fn a_header_that_announces_less_than_is_there_does_not_hide_a_missing_chunk() {
    // Chunks of 2 and 0 bytes are announced; two of 4 are there, and no third.
    let bytes = version_3(2, 0, 3, &[b"abcd", b"efgh"]);
    let file = open(&bytes).unwrap();
    assert_eq!(file.chunks().len(), 2);
    let error = contents(&file).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
    assert_eq!(error.range(), Some(72..88));
    assert_eq!(file.read_chunk(1, &ReadOptions::default()).unwrap(), b"efgh");
}

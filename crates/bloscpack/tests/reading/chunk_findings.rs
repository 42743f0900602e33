//! Findings about offsets and chunks: their ranges and numbers.

use bloscpack::ErrorKind;
use container_core::container::{CheckDepth, ReadOptions};
use container_core::report::{Severity, Verdict};
use container_core::{Limits, Progress};

use crate::support::{
    VARCHAR, check, chunk, codes, contents, expect, lens, minimal, open, patched, two_chunks, variable,
    version_3, with_offsets,
};

#[test]
fn chunks_of_the_wrong_size_are_counted() {
    let file = version_3(4, 2, 4, &[b"abcd", b"efg", b"hijkl", b"mno"]);
    let found = expect(&file, "chunk_size_mismatch", 56..60, &["chunk 1", "3 bytes", "expected 4", "2 more"]);
    assert_eq!(found.dataset.as_deref(), Some("data"));
    let one = version_3(4, 2, 2, &[b"abcd", b"efg"]);
    let found = expect(&one, "chunk_size_mismatch", 56..60, &["chunk 1", "3 bytes", "expected 2"]);
    assert!(!found.message.contains("more"), "{found:?}");
}

#[test]
fn chunks_of_blosc2_are_counted() {
    let zeros = b"\x05\x01\x05\x01\x08\0\0\0\x08\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10";
    let mut bytes = version_3(8, 8, 3, &[b"12345678"]);
    bytes.extend([&zeros[..], zeros].concat());
    let found = expect(&bytes, "blosc2_chunk", 56..88, &["2"]);
    assert_eq!(found.severity, Severity::Note);
}

#[test]
fn trailing_bytes_are_reported_with_their_number() {
    let trailing = |more: &[u8]| [two_chunks(), more.to_vec()].concat();
    let end = two_chunks().len() as u64;
    expect(&trailing(b"12345"), "trailing_bytes", end..end + 5, &["5"]);
    assert_eq!(open(&trailing(b"12345")).unwrap().layout().trailing(), end..end + 5);
    assert_eq!(open(&two_chunks()).unwrap().layout().trailing(), end..end);
    // Of an unknown number of chunks, what follows may have been one.
    let stream = [version_3(4, -1, -1, &[b"abcd"]), vec![0; 20]].concat();
    let found = expect(&stream, "unknown_tail", 52..72, &["20"]);
    assert_eq!(found.severity, Severity::Error);
    assert_eq!(open(&stream).unwrap().layout().trailing(), 52..72);
}

#[test]
fn faults_of_offsets_are_at_their_entries() {
    let data: [&[u8]; 3] = [b"abcd", b"efgh", b"ij"];
    let bytes = with_offsets(&data);
    let entry = |index: usize, offset: u64| patched(bytes.clone(), 32 + 8 * index, &offset.to_le_bytes());
    let found = expect(&entry(1, 77), "offset_mismatch", 40..48, &["chunk 1", "77", "76"]);
    assert_eq!(found.dataset.as_deref(), Some("data"));
    expect(&patched(bytes.clone(), 32, &[0xff; 24]), "offsets_unset", 32..56, &[]);
    expect(&bytes[..50], "offsets_truncated", 32..56, &[]);
    assert!(open(&bytes[..50]).unwrap().chunks().is_empty());
    // The chunk before it has a false length, so that only offsets lead to it, and that is past the end.
    let lost = patched(entry(2, 5000), 56 + 12, &99_u32.to_le_bytes());
    expect(&lost, "chunk_header", 56..72, &["chunk 0"]);
    // A spare entry is set.
    let mut spare = bytes[..56].to_vec();
    spare[24] = 2;
    (0..3).for_each(|index| spare[32 + 8 * index] += 16);
    spare.extend([[0xff; 8], [1; 8]].concat());
    spare.extend(&bytes[56..]);
    expect(&spare, "spare_offset", 64..72, &[]);
    assert_eq!(contents(&open(&spare).unwrap()).unwrap(), b"abcdefghij");
}

/// The lengths of chunks cannot be believed, so that offsets place them.
#[test]
fn gaps_and_overlaps_of_chunks_have_their_bytes() {
    let data: [&[u8]; 3] = [b"abcd", b"efgh", b"ij"];
    let bytes = with_offsets(&data);
    // By its header, chunk 0 is one byte shorter or two longer, so that the walk is lost.
    let resized = |len: u32| {
        let sizes = [len, len.min(4), len + 16].map(u32::to_le_bytes).concat();
        patched(bytes.clone(), 60, &sizes)
    };
    let found = expect(&resized(3), "gap", 75..76, &["1 unused bytes", "1 places"]);
    assert_eq!(found.severity, Severity::Warning);
    expect(&resized(6), "chunk_overlap", 56..78, &["chunk 0"]);
    // Room between items is no fault, and the bytes after the last are counted apart.
    let items = variable(VARCHAR, &[0, 1, 2], 5);
    let first = (32 + VARCHAR.len() + 24 + 25) as u64;
    let found = expect(&items, "reserved_room", first..first + 5, &["10 unused bytes", "2 places"]);
    assert_eq!((found.severity, found.dataset), (Severity::Note, None));
}

#[test]
fn a_chunk_cut_by_the_end_claims_its_bytes() {
    let bytes = two_chunks();
    let end = bytes.len();
    expect(&bytes[..end - 1], "chunk_truncated", 52..70, &["chunk 1"]);
    // Not even a header: the claim is as many as there are to come.
    let head = [version_3(4, 2, 4, &[b"abcd"]), chunk(b"efgh")[..8].to_vec()].concat();
    expect(&head, "chunk_truncated", 52..100, &["chunk 1 of 4"]);
    let report = check(&bytes[..end - 1]);
    assert_eq!((report.blocks.total, report.blocks.checked, report.blocks.bad), (2, 1, 1));
}

#[test]
fn blocks_of_a_check_are_those_announced_and_found() {
    let counts = |bytes: &[u8], depth| {
        let report = lens(bytes).unwrap().check(depth, &ReadOptions::default(), Progress::none()).unwrap();
        (report.blocks.total, report.blocks.checked, report.blocks.bad)
    };
    assert_eq!(counts(&two_chunks(), CheckDepth::Full), (2, 2, 0));
    assert_eq!(counts(&two_chunks(), CheckDepth::Quick), (2, 0, 0));
    // Three of a hundred are there, in 92 bytes: no more than five have room in them.
    let cut = version_3(4, 4, 100, &[&b"abcd"[..]; 3]);
    assert_eq!(counts(&cut, CheckDepth::Full), (5, 3, 2));
    let cut = version_3(4, 4, 4, &[&b"abcd"[..]; 3]);
    assert_eq!(counts(&cut, CheckDepth::Full), (4, 3, 1));
    // A complete file has the chunks that were found.
    let trailing = [version_3(4, 4, 1, &[b"abcd"]), vec![0; 64]].concat();
    assert_eq!(counts(&trailing, CheckDepth::Full), (1, 1, 0));
    let damaged = patched(minimal(), 140, b"?");
    assert_eq!(counts(&damaged, CheckDepth::Full), (1, 1, 1));
    assert_eq!(counts(&damaged, CheckDepth::Quick), (1, 0, 0));
}

#[test]
fn chunks_that_do_not_decode_have_a_code_of_their_own() {
    // The start of its block is outside of the chunk; then a version of BloscLZ that does not exist.
    let mut bytes = version_3(40, 40, 1, &[&[7; 40][..]]);
    bytes[34] = 0;
    let found = expect(&bytes, "undecodable_chunk", 48..52, &["chunk 0"]);
    assert_eq!((found.severity, found.dataset.as_deref()), (Severity::Error, Some("data")));
    bytes[33] = 9;
    let report = check(&bytes);
    assert_eq!((report.findings[0].code, report.verdict()), ("unsupported_chunk", Verdict::Damaged));
    let mut items = variable(VARCHAR, &[0, 1, 2], 0);
    let last = items.len() - 1;
    items[last] ^= 1;
    let start = items.len() as u64 - 47;
    let found = expect(&items, "checksum", start..start + 47, &["chunk 2"]);
    assert_eq!(found.dataset.as_deref(), Some("items/2"));
}

#[test]
fn a_limit_ends_a_check() {
    let mut bytes = version_3(0x7fff_ffdf, 0x7fff_ffdf, 1, &[]);
    bytes.extend(b"\x05\x01\x05\x01\xdf\xff\xff\x7f\0\0\0\x10\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10");
    let lens = lens(&bytes).unwrap();
    let error = lens.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    assert!(Limits::default().memory > 1 << 22);
}

#[test]
fn progress_of_a_check_counts_stored_bytes() {
    let seen = std::sync::Mutex::new(Vec::new());
    let tick = |done: u64, total: u64| {
        seen.lock().unwrap().push((done, total));
        std::ops::ControlFlow::Continue(())
    };
    let lens = lens(&two_chunks()).unwrap();
    lens.check(CheckDepth::Full, &ReadOptions::default(), Progress::new(&tick)).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(20, 38), (38, 38)]);
}

/// A chunk whose header is impossible hides no end of the file where the offsets place all chunks; where the walk is lost, what follows may be chunks.
#[test]
fn bytes_after_a_bad_chunk_are_trailing_where_all_chunks_are_placed() {
    let mut placed = [with_offsets(&[b"ab", b"cd", b"ef"]), b"left".to_vec()].concat();
    placed[56 + 18 + 3] = 0;
    assert_eq!(codes(&placed), ["chunk_header", "trailing_bytes"]);
    expect(&placed, "trailing_bytes", 110..114, &["4"]);
    let mut walked = [version_3(2, 2, 3, &[b"ab", b"cd", b"ef"]), b"left".to_vec()].concat();
    walked[32 + 18 + 12] = 3;
    assert_eq!(codes(&walked), ["chunk_header"]);
}

/// As many as are reported one by one.
#[test]
fn sixty_four_faults_of_one_kind_are_all_listed() {
    for (wrong, listed) in [(63, 63), (64, 64), (65, 65), (66, 65)] {
        let mut bytes = with_offsets(&[&b"ab"[..]; 70]);
        for entry in 1..=wrong {
            bytes[32 + 8 * entry] ^= 1;
        }
        let found = check(&bytes).findings;
        assert!(found.iter().all(|finding| finding.code == "offset_mismatch"), "{found:?}");
        assert_eq!(found.len(), listed, "{wrong}");
        assert_eq!(found.iter().any(|finding| finding.message.contains("more of these")), wrong > 64);
    }
}

/// A table of spare entries alone, of which the second is set.
#[test]
fn spare_entries_of_a_file_without_chunks_are_checked() {
    let mut bytes = version_3(0, 0, 0, &[]);
    (bytes[5], bytes[24]) = (1, 2);
    bytes.extend([[0xff; 8], [0xff; 8]].concat());
    assert_eq!(check(&bytes).findings, []);
    bytes[40] = 0;
    expect(&bytes, "spare_offset", 40..48, &[]);
}

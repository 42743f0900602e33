//! Findings about header and metadata: their ranges and numbers.

use std::ops::Range;

use bloscpack::{ErrorKind, MetadataOptions, encode_section};
use container_core::report::Severity;

use crate::support::{
    VARCHAR, check, chunk, codes, contents, expect, lenient, open, patched, two_chunks, variable, version_1,
    version_3, with_offsets,
};

#[test]
fn reserved_bytes_are_those_of_their_version() {
    expect(&patched(version_1(), 7, &[9]), "reserved_not_zero", 5..8, &[]);
    expect(&patched(patched(two_chunks(), 4, &[2]), 31, &[1]), "reserved_not_zero", 24..32, &[]);
    expect(&patched(variable(VARCHAR, &[0, 1, 2], 0), 31, &[1]), "reserved_not_zero", 28..32, &[]);
    // In version 3 there are none.
    assert_eq!(codes(&two_chunks()), Vec::<&str>::new());
}

#[test]
fn undefined_options_are_named_by_their_bits() {
    let undefined = |bytes: &[u8], range, bits: &str| expect(bytes, "undefined_options", range, &[bits]);
    undefined(&patched(version_1(), 5, &[4]), 5..6, "0x04");
    undefined(&patched(patched(two_chunks(), 4, &[2]), 5, &[4]), 5..6, "0x04");
    undefined(&patched(two_chunks(), 5, &[0x0a]), 5..6, "0x08");
    undefined(&patched(two_chunks(), 5, &[0xf0]), 5..6, "0xf0");
    undefined(&patched(variable(VARCHAR, &[0, 1, 2], 0), 5, &[3]), 4..6, "version 4");
    let file = patched(two_chunks(), 5, &[0x80]);
    let error = contents(&open(&file).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.range() == Some(5..6), "{error}");
    // Not even on request.
    assert!(contents(&lenient(&file).unwrap()).is_err());
    let report = check(&file);
    assert_eq!((report.blocks.total, report.blocks.checked, report.blocks.bad), (2, 0, 2));
    // Version 2 checks bit 0 alone: other bits are odd, and bit 0 is not one of them.
    let two = |options: u8| patched(patched(two_chunks(), 4, &[2]), 5, &[options]);
    expect(&two(2), "reserved_not_zero", 5..6, &["0x02"]);
    expect(&two(8), "reserved_not_zero", 5..6, &["0x08"]);
    let mut offsets = patched(with_offsets(&[b"abcd", b"ef"]), 4, &[2]);
    assert_eq!(codes(&offsets), Vec::<&str>::new());
    offsets[5] = 0x11;
    expect(&offsets, "reserved_not_zero", 5..6, &["0x10"]);
}

#[test]
fn unknown_checksums_hide_all_chunks() {
    let file = patched(two_chunks(), 6, &[9]);
    expect(&file, "unknown_checksum", 6..7, &["9"]);
    assert_eq!(codes(&file), ["unknown_checksum"]);
    let opened = open(&file).unwrap();
    assert_eq!((opened.chunks().len(), opened.layout().offsets()), (0, 32..32));
    let error = contents(&opened).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.range() == Some(6..7), "{error}");
    assert!(contents(&lenient(&file).unwrap()).is_err());
    assert_eq!(codes(&patched(two_chunks(), 6, &[8]))[0], "chunk_truncated");
}

#[test]
fn impossible_sizes_are_at_their_field() {
    let size = |at: usize, value: i32| patched(two_chunks(), at, &value.to_le_bytes());
    expect(&size(8, -2), "impossible_size", 8..12, &["-2"]);
    expect(&size(12, -2), "impossible_size", 12..16, &["-2"]);
    expect(&size(12, 5), "impossible_size", 8..16, &["5", "4"]);
    // A chunk has at most 2^31 - 1 bytes less Blosc's header.
    expect(&size(8, 0x7fff_fff0), "impossible_size", 8..12, &["2147483632"]);
    assert!(!codes(&size(8, 0x7fff_ffef)).contains(&"impossible_size"));
    // Equal sizes are possible, and unknown ones.
    for bytes in [size(12, 4), size(12, -1), size(8, -1)] {
        assert!(!codes(&bytes).contains(&"impossible_size"));
    }
    let count = |bytes: Vec<u8>, at: usize, value: i64| patched(bytes, at, &value.to_le_bytes());
    expect(&count(two_chunks(), 16, -2), "impossible_size", 16..24, &["-2"]);
    expect(&count(version_1(), 8, -2), "impossible_size", 8..16, &["-2"]);
    for bytes in [version_3(4, 0, 0, &[]), version_3(1, 1, 0, &[])] {
        expect(&bytes, "impossible_size", 8..24, &["no chunks"]);
    }
    expect(&count(two_chunks(), 24, -3), "impossible_size", 24..32, &["-3"]);
    expect(&count(count(two_chunks(), 16, -1), 24, 7), "impossible_size", 16..32, &["7"]);
    // Spare entries of no table are odd.
    let found = expect(&count(two_chunks(), 24, 6), "reserved_not_zero", 24..32, &["6"]);
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn versions_of_items_are_reported_at_version_and_options() {
    let items = variable(VARCHAR, &[0, 1, 2], 0);
    let found = expect(&patched(items.clone(), 4, &[3]), "proposal_version", 4..6, &[]);
    assert_eq!(found.severity, Severity::Warning);
    // With damage it may not be one.
    let mut damaged = patched(items.clone(), 4, &[3]);
    damaged.pop();
    expect(&damaged, "variable_length_version", 4..6, &[]);
    expect(&patched(items, 5, &[6]), "offsets_missing", 5..6, &[]);
}

#[test]
fn unfinished_files_are_reported_at_their_counts() {
    expect(&version_3(-1, -1, -1, &[b"abcd", b"ef"]), "unfinished", 16..24, &[]);
    let found = expect(&version_3(-1, -1, -1, &[b"abcd"]), "size_unknown", 8..16, &[]);
    assert_eq!(found.severity, Severity::Warning);
    for sizes in [(-1, 2), (4, -1)] {
        expect(&version_3(sizes.0, sizes.1, 2, &[b"abcd", b"ef"]), "size_unknown", 8..16, &[]);
    }
    expect(&patched(version_1(), 8, &[0xff; 8]), "unfinished", 8..16, &[]);
    let items = patched(variable(VARCHAR, &[0, 1, 2], 0), 16, &[0xff; 8]);
    expect(&items, "unfinished", 16..24, &["3"]);
}

#[test]
fn faults_of_metadata_headers_are_at_their_field() {
    let section = encode_section(br#"{"a": 1}"#, &MetadataOptions::default()).unwrap();
    let file = |at: usize, with: &[u8]| {
        let mut bytes = patched(version_3(2, 2, 1, &[]), 5, &[2]);
        bytes.extend(patched(section.clone(), at, with));
        bytes.extend(chunk(b"ab"));
        bytes
    };
    assert_eq!(codes(&file(0, b"JSON")), Vec::<&str>::new());
    expect(&file(0, b"JSON    "), "metadata_spelling", 32..40, &[]);
    expect(&file(8, &[1]), "reserved_not_zero", 40..41, &[]);
    expect(&file(9, &[9]), "unknown_checksum", 41..42, &["9"]);
    expect(&file(12, &[9]), "metadata_sizes", 44..48, &["8", "9"]);
    expect(&file(20, &[81]), "metadata_sizes", 48..56, &["81", "80"]);
    expect(&file(24, b"lz4"), "reserved_not_zero", 56..64, &[]);
    expect(&file(32 + 80, &[1]), "metadata_checksum", 64..148, &[]);
    // Room of zeros; something else is what an older version left.
    let found = expect(&file(32 + 40, &[1]), "metadata_padding", 72..144, &[]);
    assert_eq!(found.severity, Severity::Note);
    // As long as its room: no byte is left to look at.
    let mut tight = MetadataOptions::default();
    tight.max_meta_size = Some(8);
    let mut bytes = patched(version_3(2, 2, 1, &[]), 5, &[2]);
    bytes.extend(encode_section(br#"{"a": 1}"#, &tight).unwrap());
    bytes.extend(chunk(b"ab"));
    assert_eq!(codes(&bytes), Vec::<&str>::new());
    expect(&bytes[..60], "metadata_truncated", 32..64, &[]);
    expect(&bytes[..70], "metadata_truncated", 32..76, &[]);
    let cut = open(&bytes[..70]).unwrap();
    assert!(cut.chunks().is_empty() && !cut.layout().is_complete());
}

#[test]
fn faults_of_the_metadata_of_items_are_at_their_size() {
    let items = variable(VARCHAR, &[0, 1, 2], 0);
    let size = |value: u32| patched(items.clone(), 24, &value.to_le_bytes());
    expect(&size(0x8000_0000), "metadata_sizes", 24..28, &["2147483648"]);
    let len = items.len() as u64;
    expect(&size(4000), "metadata_truncated", 32..4032, &[]);
    assert!(len < 4032 && open(&size(4000)).unwrap().chunks().is_empty());
    let bare = variable("", &[0, 1, 2], 0);
    expect(&bare, "reserved_not_zero", 5..6, &["0"]);
    let mut unannounced = items.clone();
    unannounced[5] = 5;
    expect(&unannounced, "metadata_sizes", 24..28, &[]);
    let list = variable("[1, 2]", &[0, 1, 2], 0);
    let found = expect(&list, "metadata_spelling", 32..38, &[]);
    assert_eq!((found.severity, found.dataset), (Severity::Warning, None));
}

/// NumPy's metadata for other lengths than the chunks have.
#[test]
fn misfits_of_the_shape_are_explained() {
    let file = |shape: u64, sizes: [i32; 2], typesize: u8, lens: &[usize]| {
        let json = format!(r#"{{"dtype":"'|V4'","shape":[{shape}],"order":"C","container":"numpy"}}"#);
        let mut bytes = patched(version_3(sizes[0], sizes[1], lens.len() as i64, &[]), 5, &[2]);
        bytes[7] = typesize;
        let section = encode_section(json.as_bytes(), &MetadataOptions::default()).unwrap();
        let end = 64 + u64::from(u32::from_le_bytes(section[20..24].try_into().unwrap()));
        bytes.extend(section);
        bytes.extend(lens.iter().flat_map(|len| chunk(&vec![1; *len])));
        (bytes, 64..end)
    };
    let message = |(bytes, range): (Vec<u8>, Range<u64>)| {
        let found = expect(&bytes, "shape_mismatch", range, &[]);
        assert!(found.severity == Severity::Error, "{found:?}");
        found.message
    };
    let lost = |message: &str| message.contains("0.11 to 0.14");
    let appended = |message: &str| message.contains("append");
    // 20 bytes of 24; the two chunks but the last may have lost up to 4 bytes each, less one altogether.
    let short = message(file(6, [8, 4], 4, &[8, 8, 4]));
    assert!(short.contains("20 bytes") && short.contains("24") && lost(&short), "{short}");
    // Eight bytes are too many for that, and one chunk loses none.
    for (shape, sizes, typesize, lens) in
        [(7, [8, 4], 4, &[8, 8, 4][..]), (3, [8, 8], 4, &[8]), (6, [8, 4], 3, &[8, 8, 4])]
    {
        let found = message(file(shape, sizes, typesize, lens));
        assert!(!lost(&found) && !appended(&found), "{found}");
    }
    let longer = message(file(4, [8, 4], 4, &[8, 8, 4]));
    assert!(longer.contains("20 bytes") && longer.contains("16") && appended(&longer), "{longer}");
    let huge = message(file(u64::MAX >> 1, [8, 4], 4, &[8, 8, 4]));
    assert!(huge.contains("2^64"), "{huge}");
}

#[test]
fn items_that_are_no_whole_elements_are_counted() {
    let items = |word: &str| variable(&format!(r#"{{"dtype": "{word}", "shape": [3]}}"#), &[0, 1, 2], 0);
    // Items of 5, 0 and 420 bytes.
    let bytes = items("vlen:<f8");
    let at = bytes.len() as u64 - 92;
    let found = expect(&bytes, "item_elements", at + 4..at + 8, &["item 0", "5 bytes", "<f8", "1 more"]);
    assert_eq!((found.dataset.as_deref(), found.severity), (Some("items/0"), Severity::Warning));
    let found = expect(&items("vlen:<f4"), "item_elements", at + 4..at + 8, &["item 0", "5 bytes"]);
    assert!(!found.message.contains("more"), "{found:?}");
    assert_eq!(codes(&items("vlen:|u1")), Vec::<&str>::new());
}

#[test]
fn shapes_of_items_are_compared_with_their_number() {
    let items = |shape: &str| {
        let metadata = format!(r#"{{"dtype": "blob", "shape": {shape}}}"#);
        (variable(&metadata, &[0, 1, 2], 0), 32..32 + metadata.len() as u64)
    };
    for shape in ["[4]", "[2, 2]", "[1.0]", "3"] {
        let (bytes, range) = items(shape);
        let found = expect(&bytes, "item_count", range, &[]);
        assert!(shape == "3" || found.message.contains("3 items"), "{found:?}");
        assert_eq!(found.dataset, None);
    }
    for shape in ["[3]", "[1, 3]"] {
        assert_eq!(codes(&items(shape).0), Vec::<&str>::new());
    }
}

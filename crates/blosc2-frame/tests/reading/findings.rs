//! Findings are placed at the fields that are wrong. Offsets: docs/formats/blosc2.md, "Header".

use std::ops::Range;

use container_core::Progress;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions, Tolerance};

use crate::container::open_with;
use crate::manifest::fixtures;

/// Code and place of each finding, and of the error where the file does not open.
fn findings(name: &str) -> Vec<(String, Range<u64>)> {
    let fixture = fixtures().into_iter().find(|it| it.path == name).unwrap();
    let mut options = OpenOptions::default();
    options.tolerance = Tolerance::Lenient;
    match open_with(&fixture, &options) {
        Ok(container) => {
            let report =
                container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
            report.findings.into_iter().map(|it| (it.code.to_owned(), it.range.unwrap())).collect()
        }
        Err(error) => vec![("unreadable".to_owned(), error.range().unwrap_or(0..0))],
    }
}

#[test]
fn fields_of_the_header_are_named_by_their_bytes() {
    let mut problems = Vec::new();
    for (name, code, range) in [
        ("bad/header_len_0.b2frame", "header_len", 10..15),
        ("bad/header_len_86.b2frame", "header_len", 10..15),
        // That of the frame is less than that of its header.
        ("bad/frame_len_0.b2frame", "frame_len", 10..24),
        ("bad/nbytes_minus_1.b2frame", "nbytes", 29..38),
        ("bad/variable_nbytes.b2frame", "nbytes", 29..38),
        ("bad/cbytes_minus_1.b2frame", "cbytes", 38..47),
        ("bad/cbytes_max.b2frame", "cbytes", 38..47),
        ("bad/typesize_0.b2frame", "typesize", 47..52),
        ("bad/typesize_minus_1.b2frame", "typesize", 47..52),
        ("bad/blocksize_minus_1.b2frame", "blocksize", 52..57),
        ("bad/chunksize_0.b2frame", "chunksize", 57..62),
        ("bad/chunksize_minus_2.b2frame", "chunksize", 57..62),
        ("bad/chunksize_unset.b2frame", "chunksize", 57..62),
        ("odd/vlmeta_flag.b2frame", "vlmeta_flag", 68..69),
    ] {
        let found = findings(name);
        if !found.contains(&(code.to_owned(), range)) {
            problems.push(format!("{name}: {found:?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn chunks_trailers_and_what_follows_are_named_by_their_bytes() {
    for fixture in fixtures().iter().filter(|it| it.trailing.is_some()) {
        let len = std::fs::metadata(fixture.full_path()).unwrap().len();
        let found = findings(&fixture.path);
        let expected = ("trailing_bytes".to_owned(), len - fixture.trailing.unwrap()..len);
        assert!(found.contains(&expected), "{}: {found:?}", fixture.path);
    }
    // The last 17 bytes of a trailer: type and bytes of the fingerprint.
    let fixture = fixtures().into_iter().find(|it| it.path == "odd/fingerprint.b2frame").unwrap();
    let len = std::fs::metadata(fixture.full_path()).unwrap().len();
    assert_eq!(findings(&fixture.path), [("fingerprint".to_owned(), len - 17..len)]);
    // Fields of chunks: the typesize is byte 3, the decoded size bytes 4 to 8, the block size bytes 8 to 12.
    for (name, code, range) in [
        ("odd/mixed_typesizes.b2frame", "typesize_differs", 3..4),
        ("bad/chunk_nbytes_less.b2frame", "chunk_size", 4..8),
        ("bad/chunk_nbytes_other.b2frame", "chunk_size", 4..8),
        ("bad/chunk_16.b2frame", "chunk_header", 0..16),
        ("bad/chunk_blocksize_0.b2frame", "chunk_header", 8..12),
        ("bad/chunk_typesize_0.b2frame", "chunk_header", 3..4),
        ("bad/chunk_version_7.b2frame", "chunk_header", 0..1),
        ("bad/chunk_lazy.b2frame", "chunk_header", 31..32),
    ] {
        let path = fixtures().into_iter().find(|it| it.path == name).unwrap().full_path();
        let bytes = std::fs::read(path).unwrap();
        let found = findings(name);
        let places: Vec<_> =
            found.iter().filter(|(own, _)| own == code).map(|(_, range)| range.clone()).collect();
        assert!(!places.is_empty(), "{name}: {found:?}");
        for place in places {
            assert_eq!(place.end - place.start, range.end - range.start, "{name}: {place:?}");
            // A chunk begins with its version and the version of its codec.
            let start = usize::try_from(place.start - range.start).unwrap();
            assert!(bytes[start] <= 7 && bytes[start + 1] == 1, "{name}: {place:?}");
        }
    }
}

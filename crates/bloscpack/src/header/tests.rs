use container_core::ErrorKind;
use proptest::prelude::*;

use super::*;

/// A memcpyed chunk of the byte `q`, typesize 1, as Blosc 1.1 writes it.
const CHUNK: &[u8] = b"\x02\x01\x02\x01\x01\0\0\0\x01\0\0\0\x11\0\0\0q";

fn file(head: &[u8]) -> Vec<u8> {
    [&MAGIC[..], head, CHUNK].concat()
}

fn parse(bytes: &[u8]) -> Result<Header> {
    Header::parse(&bytes[..bytes.len().min(MAX_LEN)])
}

#[test]
fn the_minimal_file_of_the_description_parses() {
    let bytes =
        b"blpk\x03\x01\x01\x08\x0f\0\0\0\x0f\0\0\0\x01\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0\x78\0\0\0\0\0\0\0";
    let header = parse(bytes).unwrap();
    let expected = Header {
        options: Options(1),
        checksum: ChecksumCode::ADLER32,
        typesize: 8,
        chunk_size: 15,
        last_chunk: 15,
        nchunks: 1,
        max_app_chunks: 10,
        ..Header::new(Dialect::V3)
    };
    assert_eq!(header, expected);
    assert_eq!((header.offset_count(), header.decoded_len()), (Some(11), Some(15)));
    assert_eq!(header.to_bytes(), bytes[..32]);
}

#[test]
fn the_example_of_the_proposal_parses() {
    let bytes = b"blpk\x04\x07\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x03\0\0\0\0\0\0\0\x30\0\0\0\0\0\0\0";
    let header = parse(bytes).unwrap();
    assert_eq!((header.dialect, header.options, header.nchunks), (Dialect::Vl, Options(7), 3));
    assert_eq!((header.chunk_size, header.last_chunk, header.meta_size), (-1, -1, 0x30));
    assert_eq!((header.offset_count(), header.decoded_len()), (Some(3), None));
    // The same fields after version byte 3 fit two layouts; the bytes after the header decide.
    let mut older = *bytes;
    older[4] = 3;
    assert_eq!(parse(&older).unwrap().dialect, Dialect::V3Interim);
}

#[test]
fn oldest_layout_is_detected_by_the_chunk_at_byte_8() {
    for nchunks in [1_u32, 2, 3, 4, 0x0101, 0x0807_0103, 7] {
        let header = parse(&file(&nchunks.to_le_bytes())).unwrap();
        assert_eq!((header.dialect, header.nchunks), (Dialect::P0, nchunks.into()));
    }
    let v1 = parse(&file(b"\x01\0\0\0\x01\0\0\0\0\0\0\0")).unwrap();
    assert_eq!((v1.dialect, v1.nchunks), (Dialect::V1, 1));
    let unknown = parse(&file(b"\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff")).unwrap();
    assert_eq!((unknown.dialect, unknown.nchunks), (Dialect::V1, -1));
    assert_eq!(parse(b"blpk\0\0\0\0").unwrap(), Header::new(Dialect::P0));
}

#[test]
fn header_errors_distinguish_format_truncation_and_version() {
    for other in [&b""[..], b"blp", b"BLP1\0\0\0\0", b"BLP2", b"BLPK\x03"] {
        assert!(matches!(parse(other).unwrap_err().kind(), ErrorKind::WrongFormat { .. }));
    }
    for (bytes, need) in
        [(&b"blpk\x03"[..], 8), (b"blpk\x01\0\0\0\x01\0\0", 16), (b"blpk\x03\x01\x01\x08\x0f", 32)]
    {
        let error = parse(bytes).unwrap_err();
        let ErrorKind::Truncated { need: found, have } = error.kind() else { panic!("{error}") };
        assert_eq!((*found, *have, error.range()), (need, bytes.len() as u64, Some(0..need)));
    }
    for version in [0, 5, 66, 255] {
        let error = parse(&[b"blpk", &[version][..], &[1; 27]].concat()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.range() == Some(4..5));
    }
}

#[test]
fn hostile_counts_have_no_table_and_no_length() {
    let header = |nchunks, max_app_chunks| Header {
        options: Options(Options::OFFSETS),
        chunk_size: i32::MAX,
        last_chunk: 1,
        nchunks,
        max_app_chunks,
        ..Header::new(Dialect::V3)
    };
    assert_eq!(header(i64::MAX, 1).offset_count(), None);
    assert_eq!(header(-1, 0).offset_count(), None);
    assert_eq!(header(i64::MAX, 0).decoded_len(), None);
    assert_eq!(header(0, 5).decoded_len(), Some(0));
    assert_eq!(header(5, -3).offset_count(), Some(5));
}

proptest! {
    #[test]
    fn reader_and_writer_are_inverse(
        bytes in prop::array::uniform28(any::<u8>()), version in 1_u8..5,
    ) {
        let mut bytes = [&MAGIC[..], &bytes].concat();
        bytes[4] = version;
        let header = parse(&bytes).unwrap();
        let len = usize::try_from(header.dialect.header_len()).unwrap();
        prop_assert_eq!(&header.to_bytes()[..], &bytes[..len]);
    }
}

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

/// Chunks of Blosc 1.1: version 2 of the format and 1 of BloscLZ, no flags but those of shuffle and of data as they are, sizes that a chunk can have.
#[test]
fn bytes_that_are_no_chunk_of_2012_are_fields_of_version_1() {
    let chunk = |change: &dyn Fn(&mut [u8])| {
        let mut head = *b"\x02\x01\x03\x01\x64\0\0\0\x64\0\0\0\x74\0\0\0";
        change(&mut head);
        let bytes = [&b"blpk\x01\0\0\0"[..], &head].concat();
        parse(&bytes).unwrap().dialect
    };
    let number =
        |at: usize, value: u32| move |head: &mut [u8]| head[at..at + 4].copy_from_slice(&value.to_le_bytes());
    let sizes = |sizes: [u32; 3]| {
        move |head: &mut [u8]| head[4..16].copy_from_slice(&sizes.map(u32::to_le_bytes).concat())
    };
    assert_eq!(chunk(&|_| {}), Dialect::P0);
    for possible in [[100, 1, 16], [0, 1, 16], [MAX_CHUNK, 100, 16], [100, 100, 116], [100, 100, 17]] {
        assert_eq!(chunk(&sizes(possible)), Dialect::P0, "{possible:?}");
    }
    for (at, byte) in [(0, 1), (0, 3), (1, 0), (1, 2), (2, 0x04), (2, 0x10), (3, 0)] {
        assert_eq!(chunk(&|head| head[at] = byte), Dialect::V1, "byte {at}: {byte}");
    }
    for (at, value) in [(4, MAX_CHUNK + 1), (8, 0), (8, 101), (12, 15), (12, 117)] {
        assert_eq!(chunk(&number(at, value)), Dialect::V1, "byte {at}: {value}");
    }
}

#[test]
fn dialects_have_the_lengths_and_names_of_their_descriptions() {
    let of = |dialect: Dialect| (dialect.header_len(), dialect.version_byte(), dialect.name());
    assert_eq!(of(Dialect::P0), (8, 0, "0 (before versions)"));
    assert_eq!(of(Dialect::V1), (16, 1, "1"));
    assert_eq!(of(Dialect::V2), (32, 2, "2"));
    assert_eq!(of(Dialect::V3), (32, 3, "3"));
    assert_eq!(of(Dialect::V3Interim), (32, 3, "3 (interim)"));
    assert_eq!(of(Dialect::Vl), (32, 4, "4 (variable length)"));
    assert_eq!(of(Dialect::VlAsV3), (32, 3, "3 (variable length)"));
    let items = [Dialect::P0, Dialect::V1, Dialect::V2, Dialect::V3, Dialect::V3Interim]
        .iter()
        .filter(|dialect| dialect.is_variable_length());
    assert_eq!(items.count(), 0);
    for dialect in [Dialect::Vl, Dialect::VlAsV3] {
        assert!(dialect.is_variable_length());
        let new = Header::new(dialect);
        assert_eq!((new.options, new.offset_count(), new.decoded_len()), (Options(5), Some(0), None));
    }
    assert_eq!(Header::new(Dialect::V3).options, Options(0));
    // Older versions have no table, whatever is in the byte of the options.
    for (dialect, count) in [(Dialect::P0, 0), (Dialect::V1, 0), (Dialect::V2, 3), (Dialect::V3, 3)] {
        let header = Header { options: Options(1), nchunks: 3, ..Header::new(dialect) };
        assert_eq!((header.has_offsets(), header.offset_count()), (count > 0, Some(count)), "{dialect:?}");
    }
    let bits = Options(0b110);
    assert!(bits.has(Options::METADATA) && bits.has(6) && !bits.has(Options::OFFSETS) && !bits.has(7));
}

/// Three chunks of 10 bytes and one of 4, which older versions and items do not announce.
#[test]
fn announced_lengths_are_the_sum_of_the_chunks() {
    let header = |dialect, chunk_size, last_chunk, nchunks| {
        Header { chunk_size, last_chunk, nchunks, ..Header::new(dialect) }.decoded_len()
    };
    for dialect in [Dialect::V2, Dialect::V3, Dialect::V3Interim] {
        assert_eq!(header(dialect, 10, 4, 4), Some(34));
        assert_eq!(header(dialect, 10, 4, 1), Some(4));
        for (chunk_size, last_chunk, nchunks) in [(-1, 4, 4), (10, -1, 4), (10, 4, -1)] {
            assert_eq!(header(dialect, chunk_size, last_chunk, nchunks), None);
        }
    }
    for dialect in [Dialect::P0, Dialect::V1, Dialect::Vl, Dialect::VlAsV3] {
        assert_eq!(header(dialect, 10, 4, 4), None, "{dialect:?}");
    }
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

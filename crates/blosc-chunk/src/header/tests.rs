use super::*;
use container_core::ErrorKind;

/// A header of 32 bytes with a different value in each field.
const EXTENDED_HEADER: [u8; 32] = [
    5, 1, 0x3d, 4, 160, 0, 0, 0, 64, 0, 0, 0, 117, 0, 0, 0, 3, 1, 0, 4, 0, 35, 2, 7, 11, 12, 13, 14, 15, 16,
    0, 2,
];

#[test]
fn a_long_header_has_its_fields_where_they_belong() {
    let header = Header::parse(&EXTENDED_HEADER).unwrap();
    assert_eq!((header.version, header.versionlz, header.flags, header.typesize), (5, 1, 0x3d, 4));
    assert_eq!((header.nbytes, header.blocksize, header.cbytes), (160, 64, 117));
    let ids = [3, 1, 0, 4, 0, 35];
    assert_eq!(header.filters.0.map(|filter| filter.id), ids);
    assert_eq!(header.filters.0.map(|filter| filter.meta), [11, 12, 13, 14, 15, 16]);
    assert_eq!((header.compressor, header.codec_meta), (Compressor::LZ4HC, 7));
    assert_eq!((header.blosc2_flags2, header.blosc2_flags), (0, 2));
    assert!(header.extended && !header.is_split() && !header.is_memcpyed());
    assert_eq!((header.block_len(), header.block_count()), (64, 3));
}

#[test]
fn the_first_16_bytes_are_alike_and_parse_alone() {
    let prefix = Header::parse_prefix(&EXTENDED_HEADER[..16]).unwrap();
    let header = Header::parse(&EXTENDED_HEADER).unwrap();
    let fields =
        |header: &Header| (header.version, header.flags, header.typesize, header.cbytes, header.extended);
    assert_eq!(fields(&prefix), fields(&header));
    assert_eq!(prefix.len(), 32);
    assert_eq!(Header::parse_prefix(&EXTENDED_HEADER[..15]), None);
}

#[test]
fn parser_and_writer_are_inverse() {
    let short = [2, 1, 0x21, 4, 0, 1, 0, 0, 0, 1, 0, 0, 50, 0, 0, 0];
    let empty = [2, 1, 2, 4, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0];
    let mut special = EXTENDED_HEADER;
    special[12..16].copy_from_slice(&[32, 0, 0, 0]);
    special[31] = 0x10;
    for bytes in [&EXTENDED_HEADER[..], &short, &empty, &special] {
        let header = Header::parse(bytes).unwrap();
        let mut back = Vec::new();
        header.encode(&mut back);
        assert_eq!(back, bytes);
        assert_eq!(header.len(), bytes.len());
    }
}

#[test]
fn flags_of_short_headers_are_pipelines() {
    let parse = |version: u8, flags: u8, typesize: u8| {
        let header =
            Header::parse(&[version, 1, flags, typesize, 64, 0, 0, 0, 64, 0, 0, 0, 60, 0, 0, 0]).unwrap();
        let ids = header.filters.0.map(|filter| filter.id);
        assert_eq!(ids[..4], [0; 4]);
        (header.extended, ids[4], ids[5])
    };
    assert_eq!(parse(2, 0x01, 4), (false, 0, Filter::SHUFFLE));
    assert_eq!(parse(2, 0x01, 1), (false, 0, 0));
    assert_eq!(parse(2, 0x04, 1), (false, 0, Filter::BITSHUFFLE));
    // Both at once is the long header's mark, but Blosc1 had none.
    assert_eq!(parse(2, 0x05, 4), (false, 0, Filter::SHUFFLE));
    assert_eq!(parse(5, 0x09, 4), (false, Filter::DELTA, Filter::SHUFFLE));
}

#[test]
fn blosc1_splits_by_its_own_rule() {
    let split = |version: u8, flags: u8, typesize: u8, blocksize: u16| {
        let [low, high] = blocksize.to_le_bytes();
        let bytes = [version, 1, flags, typesize, low, high, 0, 0, low, high, 0, 0, 60, 0, 0, 0];
        Header::parse(&bytes).unwrap().is_split()
    };
    assert!(split(2, 1, 4, 512) && split(2, 1, 16, 2048) && split(5, 1, 4, 508));
    assert!(
        !split(2, 1, 4, 511) && !split(2, 1, 17, 4352) && !split(2, 0x11, 4, 512) && !split(5, 0x11, 4, 512)
    );
}

#[test]
fn the_alpha_has_five_filters() {
    let mut bytes = EXTENDED_HEADER;
    bytes[0] = 3;
    let header = Header::parse(&bytes).unwrap();
    assert_eq!(header.filters.0[5], Filter::default());
    assert_eq!(header.filters.0[0], Filter::new(3, 11));
}

#[test]
fn invalid_header_fields_are_refused_with_their_offset() {
    type Damage = &'static [(usize, u8)];
    let unsupported: &[(Damage, u64)] = &[
        (&[(0, 0)], 0),
        (&[(0, 7)], 0),
        (&[(1, 2)], 1),
        (&[(2, 0x5d)], 2),
        (&[(2, 0xbd)], 2),
        (&[(2, 0xdd)], 2),
        (&[(30, 2)], 30),
        (&[(31, 4)], 31),
        (&[(31, 0x50)], 31),
    ];
    let malformed: &[(Damage, u64)] = &[
        (&[(0, 2), (2, 0x39)], 2),
        (&[(3, 0)], 3),
        (&[(7, 0x80)], 4),
        (&[(7, 0x7f), (6, 0xff), (5, 0xff), (4, 0xe0)], 4),
        (&[(8, 0)], 8),
        (&[(11, 0x20)], 8),
        (&[(12, 31)], 12),
        (&[(15, 0x80)], 12),
        (&[(2, 0x3f)], 12),
        (&[(30, 1)], 30),
        (&[(0, 6), (30, 1), (31, 0x10), (12, 32)], 30),
        (&[(31, 8)], 31),
        (&[(2, 0x1d), (31, 1)], 31),
        (&[(31, 0x10)], 12),
        (&[(31, 0x20), (12, 32), (3, 5)], 3),
        (&[(31, 0x40), (12, 32), (3, 7)], 4),
        (&[(31, 0x30), (12, 32)], 12),
        (&[(31, 0x30), (12, 32 + 3)], 12),
        (&[(31, 0x30), (12, 32 + 161)], 12),
    ];
    for (is_unsupported, table) in [(true, unsupported), (false, malformed)] {
        for (damage, at) in table {
            let mut bytes = EXTENDED_HEADER;
            for (at, byte) in *damage {
                bytes[*at] = *byte;
            }
            let error = Header::parse(&bytes).expect_err(&format!("{damage:?}"));
            assert_eq!(
                matches!(error.kind(), ErrorKind::Unsupported(_)),
                is_unsupported,
                "{damage:?}: {error}"
            );
            assert_eq!(
                matches!(error.kind(), ErrorKind::Malformed(_)),
                !is_unsupported,
                "{damage:?}: {error}"
            );
            assert_eq!(error.range().unwrap().start, *at, "{damage:?}: {error}");
        }
    }
}

#[test]
fn truncated_header_reports_the_needed_length() {
    for len in 0..32 {
        let error = Header::parse(&EXTENDED_HEADER[..len]).unwrap_err();
        let need = if len < 16 { 16 } else { 32 };
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
        assert_eq!(error.range(), Some(0..need));
    }
}

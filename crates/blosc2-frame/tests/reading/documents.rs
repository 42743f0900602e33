//! Bytes that documents of the format show.

use blosc2_frame::b2nd::Meta;
use blosc2_frame::blosc_chunk::{Compressor, Filter, SplitMode};
use blosc2_frame::{ChunkSize, Frame, Header, Kind, Metalayers, Offset, Offsets, Trailer};
use container_core::Limits;
use container_core::container::ReadOptions;

/// Digits in pairs; all else is for people.
fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|it| it.to_digit(16)).map(|digit| u8::try_from(digit).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The header of 5000 numbers of 4 bytes in chunks of 8000, zstd at level 6, by python-blosc2.
const HEADER: &str = "9e a8 6232 6672 616d 6500 d2 00000061 cf 00000000000004d0 a4 12 00 65 01
    d3 0000000000004e20 d3 0000000000000414 d2 00000004 d2 00000000 d2 00001f40
    d1 0002 d1 0002 c2 d8 06 00 00 00 00 00 01 05 00 00 00 00 00 00 00 00 00
    93 cd 0007 de 0000 dc 0000";

const INDEX: &str = "05 01 07 08 18000000 18000000 38000000 0000000000000000 0000000000000000
    0000000000000000 6101000000000000 c102000000000000";

const TRAILER: &str = "94 01 93 cd 0006 de 0000 dc 0000 ce 00000023 d8 00 00000000000000000000000000000000";

#[test]
fn the_worked_frame() {
    let head = bytes(HEADER);
    assert_eq!(head.len(), 97);
    let header = Header::parse(&head).unwrap();
    assert_eq!((header.header_len, header.frame_len, header.version), (97, 1232, 2));
    assert_eq!((header.nbytes, header.cbytes), (20_000, 1044));
    assert_eq!((header.typesize, header.blocksize, header.chunksize), (4, 0, ChunkSize::Fixed(8000)));
    assert_eq!((header.compressor, header.level, header.split), (Compressor::ZSTD, 6, SplitMode::Never));
    assert_eq!((header.kind, header.threads, header.has_vlmetalayers), (Kind::Contiguous, (2, 2), false));
    assert_eq!(header.filters.0.map(|filter| filter.id), [0, 0, 0, 0, 0, Filter::SHUFFLE]);
    assert!(!header.variable_chunks && !header.variable_blocks && !header.use_dictionary);
    assert_eq!(header.encode(), head[..87]);
    assert_eq!(Metalayers::parse(&head[87..], 87).unwrap(), Metalayers::new());
    assert_eq!(Metalayers::new().encode(), head[87..]);

    let index = Offsets::decode(&bytes(INDEX), Some(3), &Limits::default()).unwrap();
    assert_eq!(index.iter().collect::<Vec<_>>(), [0, 0x161, 0x2c1].map(Offset::Stored));
    assert!(Offsets::decode(&bytes(INDEX), Some(4), &Limits::default()).is_err());

    let trailer = Trailer::parse(&bytes(TRAILER), 1197).unwrap();
    assert_eq!(trailer, Trailer::default());
    assert_eq!(trailer.encode(), bytes(TRAILER));
}

/// The empty frame by C-Blosc2 3.3.5: 132 bytes.
#[test]
fn the_empty_frame() {
    let mut file = bytes(HEADER);
    file[15..24].copy_from_slice(&bytes("cf 0000000000000084"));
    file[29..47].copy_from_slice(&bytes("d3 0000000000000000 d3 0000000000000000"));
    file[57..62].copy_from_slice(&bytes("d2 ffffffff"));
    file.extend(bytes(TRAILER));
    assert_eq!(file.len(), 132);
    let frame = Frame::from_bytes(file.clone()).unwrap();
    assert_eq!((frame.chunk_count(), frame.data_len()), (0, 0));
    assert_eq!(frame.header().chunksize, ChunkSize::Unset);
    assert_eq!(frame.layout().faults(), []);
    assert_eq!(frame.to_cframe().unwrap(), file);
    assert!(frame.read_chunk(0, &ReadOptions::default()).is_err());
    assert_eq!(frame.read_range(0..0, &ReadOptions::default()).unwrap(), []);
    for end in 0..132 {
        assert!(Frame::from_bytes(file[..end].to_vec()).is_err(), "{end}");
    }
}

/// README_CFRAME_FORMAT.rst shows the header of an example field by field, its filters and its metalayer in base64.
#[test]
fn the_header_of_the_document() {
    let metalayer = bytes(
        "96 00 02 92 d3 0000000000000190 d3 0000000000000003 92 d2 0000006e d2 00000003 92 d2 00000039 d2 00000003
        db 00000005 75696e7438",
    );
    let file = [
        bytes("9e a8 6232 6672 616d 6500 d2 000000a6 cf 0000000000000f6b a4 12 00 50 03"),
        bytes("d3 0000000000001560 d3 0000000000000e62 d2 00000004 d2 000002ac d2 00000558 d1 0001 d1 0001 c2"),
        bytes("d8 06 000000000001 00 00 000000000000 00 00 93 cd 0011 de 0001 a4 62326e64 d2 0000006b dc 0001 c6 00000036"),
        metalayer.clone(),
    ]
    .concat();
    assert_eq!(file.len(), 166);
    let header = Header::parse(&file).unwrap();
    assert_eq!((header.header_len, header.frame_len), (166, 3947));
    assert_eq!((header.nbytes, header.cbytes, header.typesize), (5472, 3682, 4));
    assert_eq!((header.blocksize, header.chunksize), (684, ChunkSize::Fixed(1368)));
    assert_eq!((header.compressor, header.level), (Compressor::BLOSCLZ, 5));
    assert_eq!(header.split, SplitMode::ForwardCompat);
    let metalayers = Metalayers::parse(&file[87..], 87).unwrap();
    assert_eq!(metalayers.get("b2nd"), Some(&metalayer[..]));
    assert_eq!([header.encode(), metalayers.encode()].concat(), file);
    let meta = Meta::parse(&metalayer).unwrap();
    assert_eq!((meta.shape.as_slice(), meta.chunkshape.as_slice()), (&[400, 3][..], &[110, 3][..]));
    assert_eq!((meta.blockshape.as_slice(), meta.dtype.as_str()), (&[57, 3][..], "uint8"));
    assert_eq!(meta.encode(), metalayer);
}

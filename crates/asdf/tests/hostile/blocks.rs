//! Encoded blocks with wrong sizes, and bombs: decoding is bounded by the wanted bytes.

use asdf::Strictness;
use asdf::compression::{EncodeOptions, WRITABLE, encode};
use asdf::container_core::container::ReadOptions;
use asdf::container_core::dtype::Order;
use asdf::container_core::region::Region;
use asdf::container_core::{ErrorKind, Limits};

use crate::crafted::{Clock, LONGEST, MEMORY, block, file, open, plain, said};

const LABELS: [&[u8]; 9] = [b"zlib", b"bzp2", b"lz4", b"lz4f", b"blsc", b"bls2", b"bsc2", b"zstd", b"xz"];

fn encoded(label: &str, data: &[u8]) -> Vec<u8> {
    let mut stored = Vec::new();
    encode(label, data, &EncodeOptions::default(), &mut stored).unwrap();
    stored
}

fn named(len: u64) -> String {
    format!("a: !core/ndarray-1.1.0 {{source: 0, datatype: uint8, byteorder: big, shape: [{len}]}}")
}

#[test]
fn sizes_that_are_not_those_of_the_data() {
    let data: Vec<u8> = (0..1000_u32).map(|at| (at % 7) as u8).collect();
    for label in WRITABLE.iter().filter(|label| !label.is_empty() && **label != "none") {
        let stored = encoded(label, &data);
        assert_eq!(
            said(&file(&named(1000), &[block(label.as_bytes(), &stored, 1000)])).reads,
            [true; 3],
            "{label}"
        );
        for len in [0, 1, 999, 1001, 1 << 20, 1 << 31, 1 << 32, 1 << 33, 1 << 40, 1 << 63, u64::MAX] {
            let said = said(&file(&named(len), &[block(label.as_bytes(), &stored, len)]));
            assert!(!said.reads[0] && !said.reads[1], "{label} {len}: {said:?}");
            assert!(
                said.codes.contains(&"undecodable_block")
                    || said.codes.contains(&"limit")
                    || said.codes.contains(&"array"),
                "{label} {len}: {said:?}"
            );
        }
    }
}

#[test]
fn invalid_compressed_payloads_are_refused() {
    for label in LABELS {
        for stored in [
            &b""[..],
            b"\0",
            b"abcd",
            &[0xff; 64],
            &[0; 64],
            b"\x02\x01\x13\x01\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f",
        ] {
            for len in [1, 64, 1 << 20, u64::MAX] {
                let said = said(&file(&named(len), &[block(label, stored, len)]));
                assert!(!said.reads[0], "{label:?} {stored:?} {len}: {said:?}");
            }
        }
    }
}

#[test]
fn bombs() {
    // The header states a part of the decoded length, or more than it.
    let zeros = vec![0; 16 << 20];
    for label in ["zlib", "bzp2", "lz4", "zstd"] {
        let stored = encoded(label, &zeros);
        for len in [4, 100_000, 1 << 40] {
            let began = Clock::start();
            let bytes = file(&named(len), &[block(label.as_bytes(), &stored, len)]);
            let file = open(&bytes, Strictness::Compatible).unwrap();
            let limits = Limits::default().with_memory(MEMORY);
            let options = ReadOptions::default().with_limits(limits);
            let error = file.read_block(0, &options).unwrap_err();
            assert!(
                error.is_damage() || matches!(error.kind(), ErrorKind::Limit { .. }),
                "{label} {len}: {error}"
            );
            assert!(began.elapsed() < LONGEST, "{label} {len}: {:?}", began.elapsed());
        }
        // A valid block: it expands to its stated length, and the first bytes of it are read within the limits.
        let len = zeros.len() as u64;
        let bytes = file(&named(len), &[block(label.as_bytes(), &stored, len)]);
        let file = open(&bytes, Strictness::Compatible).unwrap();
        let whole = file.whole(0).unwrap();
        let limited = ReadOptions::default().with_limits(Limits::default().with_memory(MEMORY));
        assert!(
            matches!(file.read_index(0, &whole, &limited).unwrap_err().kind(), ErrorKind::Limit { .. }),
            "{label}"
        );
        let first = Region::parse("0:10", &[len]).unwrap();
        let read = file.read_index(0, &first, &limited);
        assert!(
            read.is_ok() || matches!(read.as_ref().unwrap_err().kind(), ErrorKind::Limit { .. }),
            "{label}: {read:?}"
        );
    }
}

#[test]
fn inconsistent_lz4_chunks_are_refused() {
    let chunk = |length: u32, decoded: u32, body: &[u8]| {
        [&length.to_be_bytes(), &decoded.to_le_bytes()[..], body].concat()
    };
    let body = [0x50, b'a', b'b', b'c', b'd', b'e'];
    let good = chunk(10, 5, &body);
    assert_eq!(said(&file(&named(5), &[block(b"lz4", &good, 5)])).reads, [true; 3]);
    for (name, stored, len) in [
        ("length 0", chunk(0, 5, &body), 5),
        ("length 4", chunk(4, 5, &body), 5),
        ("length past the end", chunk(11, 5, &body), 5),
        ("length of all", chunk(u32::MAX, 5, &body), 5),
        ("decoded longer", chunk(10, 6, &body), 5),
        ("decoded of all", chunk(10, u32::MAX, &body), 5),
        ("decoded nothing", chunk(10, 0, &body), 5),
        ("one chunk more", [&good[..], &good].concat(), 5),
        ("one chunk less", good.clone(), 10),
        ("an offset before the data", chunk(11, 40, &[0x1f, b'a', 9, 0, 10, 0, 0]), 40),
    ] {
        let said = said(&file(&named(len), &[block(b"lz4", &stored, len)]));
        assert!(!said.reads[0] && !said.reads[1], "{name}: {said:?}");
    }
    // A great many empty chunks, or of one byte each.
    let nothing = chunk(5, 0, &[0]).repeat(100_000);
    assert!(!said(&file(&named(5), &[block(b"lz4", &nothing, 5)])).reads[0]);
    let bytes = chunk(6, 1, &[0x10, b'a']).repeat(50_000);
    assert_eq!(said(&file(&named(50_000), &[block(b"lz4", &bytes, 50_000)])).reads, [true; 3]);
}

#[test]
fn inconsistent_blosc_chunks_are_refused() {
    // A chunk of Blosc1 that is stored as it is: version, version of the codec, flags, type size, then nbytes, blocksize, cbytes.
    let chunk = |nbytes: u32, blocksize: u32, cbytes: u32, body: &[u8]| {
        let words = [nbytes, blocksize, cbytes].map(u32::to_le_bytes).concat();
        [&[2, 1, 2, 1][..], &words, body].concat()
    };
    let behind_length =
        |chunk: &[u8]| [&u32::try_from(chunk.len()).unwrap().to_be_bytes()[..], chunk].concat();
    let good = chunk(5, 5, 21, b"abcde");
    for stored in [good.clone(), behind_length(&good)] {
        assert_eq!(said(&file(&named(5), &[block(b"blsc", &stored, 5)])).reads, [true; 3], "{stored:?}");
    }
    let twice = [behind_length(&good), behind_length(&good)].concat();
    assert_eq!(said(&file(&named(10), &[block(b"blsc", &twice, 10)])).reads, [true; 3]);
    for (name, lie) in [
        ("decoded longer", chunk(6, 6, 21, b"abcde")),
        ("decoded shorter", chunk(4, 4, 21, b"abcde")),
        ("decoded of all", chunk(u32::MAX, 5, 21, b"abcde")),
        ("decoded two gigabytes", chunk(i32::MAX as u32, 5, 21, b"abcde")),
        ("no blocks", chunk(5, 0, 21, b"abcde")),
        ("a block of all", chunk(5, u32::MAX, 21, b"abcde")),
        ("stored longer", chunk(5, 5, 22, b"abcde")),
        ("stored of all", chunk(5, 5, u32::MAX, b"abcde")),
        ("stored nothing", chunk(5, 5, 0, b"abcde")),
        ("a header alone", chunk(5, 5, 16, b"")),
        ("a byte behind", chunk(5, 5, 21, b"abcdef")),
    ] {
        for stored in [lie.clone(), behind_length(&lie), [behind_length(&good), behind_length(&lie)].concat()]
        {
            for len in [5, 10] {
                let said = said(&file(&named(len), &[block(b"blsc", &stored, len)]));
                assert!(!said.reads[0] && !said.reads[1], "{name} {len}: {said:?}");
            }
        }
    }
    // Lengths before chunks that are not those of the chunks, and chunks that are missing.
    for (stored, len) in [
        ([&20_u32.to_be_bytes()[..], &good].concat(), 5),
        ([&22_u32.to_be_bytes()[..], &good].concat(), 5),
        ([&u32::MAX.to_be_bytes()[..], &good].concat(), 5),
        (twice.clone(), 5),
        (twice[..30].to_vec(), 10),
        (twice, 15),
    ] {
        assert!(!said(&file(&named(len), &[block(b"blsc", &stored, len)])).reads[0], "{stored:?} {len}");
    }
}

#[test]
fn no_memory_for_what_no_codec_makes() {
    for (label, kind) in [(&b"huff"[..], "unsupported"), (b"zlib", "damage"), (b"lz4", "damage")] {
        let bytes = file(&named(1 << 50), &[block(label, b"abcd", 1 << 50)]);
        let file = open(&bytes, Strictness::Compatible).unwrap();
        let whole = file.whole(0).unwrap();
        for error in [
            file.read_block(0, &ReadOptions::default()).unwrap_err(),
            file.read_index(0, &whole, &ReadOptions::default()).unwrap_err(),
        ] {
            let is = if kind == "damage" {
                error.is_damage()
            } else {
                matches!(error.kind(), ErrorKind::Unsupported(_))
            };
            assert!(is, "{label:?}: {error:?}");
        }
    }
}

#[test]
fn one_bad_block_among_good_ones() {
    let lines = "a: !core/ndarray-1.1.0 {source: 0, datatype: int8, byteorder: big, shape: [4]}\nb: !core/ndarray-1.1.0 {source: 1, datatype: int8, byteorder: big, shape: [4]}\nc: !core/ndarray-1.1.0 {source: 2, datatype: int8, byteorder: big, shape: [4]}";
    let bytes = file(lines, &[plain(b"abcd"), block(b"zlib", b"junk", 4), plain(b"efgh")]);
    let file = open(&bytes, Strictness::Compatible).unwrap();
    let read = |index| {
        let whole = file.whole(index).unwrap();
        file.read_index(index, &whole, &ReadOptions::default())
            .map(|array| array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
    };
    assert_eq!((read(0).unwrap(), read(2).unwrap()), (b"abcd".to_vec(), b"efgh".to_vec()));
    assert!(read(1).unwrap_err().is_damage());
}

use container_core::ErrorKind;
use container_core::report::Verdict;

use super::*;
use crate::{BloscVersion, Encoder, Params, Pipeline, SplitMode};

/// By python-blosc 1.11.4: `blosc.compress(b"hello bloscpack")`.
const HELLO: &[u8] = b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack";

fn is_recognised(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(Probe::LEN)];
    (FORMAT.sniff)(&Probe { head, directory: None, len: Some(bytes.len() as u64) })
}

fn lens(bytes: &[u8]) -> Result<Box<dyn Container>> {
    open(Input::bytes(Box::new(bytes.to_vec())), &OpenOptions::default())
}

fn elements(bytes: &[u8], region: &str) -> Vec<u8> {
    let lens = lens(bytes).unwrap();
    let region = Region::parse(region, &lens.datasets()[0].shape).unwrap();
    let array = lens.read(0, &region, &ReadOptions::default()).unwrap();
    array.bytes(Order::C, &Limits::default()).unwrap().into_owned()
}

fn check(bytes: &[u8]) -> Result<Report> {
    lens(bytes)?.check(CheckDepth::Full, &ReadOptions::default(), Progress::none())
}

fn encoded(data: &[u8], blosc_version: BloscVersion, compressor: crate::Compressor) -> Vec<u8> {
    let params = Params {
        blosc_version,
        compressor,
        codec_meta: 0,
        level: 5,
        typesize: 4,
        filters: Pipeline::shuffle(),
        split: SplitMode::default(),
        blocksize: Some(4096),
        dictionary: false,
        threads: 1,
    };
    let mut out = Vec::new();
    Encoder::new(params).unwrap().encode(data, &mut out).unwrap();
    out
}

#[test]
fn a_chunk_that_is_all_of_a_file_is_a_dataset_of_its_elements() {
    assert!(is_recognised(HELLO));
    let container = lens(HELLO).unwrap();
    let dataset = &container.datasets()[0];
    // 15 bytes are not whole elements of 8.
    assert_eq!((dataset.dtype.to_string(), &dataset.shape[..]), ("|u1".into(), &[15][..]));
    assert_eq!((dataset.codec.as_str(), dataset.stored, dataset.logical), ("none", 31, 15));
    assert_eq!(elements(HELLO, ":"), b"hello bloscpack");
    assert_eq!(elements(HELLO, "6:11"), b"blosc");
    assert_eq!(check(HELLO).unwrap().verdict(), Verdict::Sound);
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    for blosc_version in [BloscVersion::Blosc1, BloscVersion::Blosc2] {
        for compressor in [crate::Compressor::LZ4, crate::Compressor::ZLIB] {
            let file = encoded(&data, blosc_version, compressor);
            assert!(is_recognised(&file) && file.len() < data.len() / 2);
            let container = lens(&file).unwrap();
            let dataset = &container.datasets()[0];
            assert_eq!((dataset.dtype.to_string(), &dataset.shape[..]), ("|V4".into(), &[5000][..]));
            assert!(!container.is_typed(0));
            assert_eq!(elements(&file, ":"), data);
            assert_eq!(elements(&file, "1020:1030"), data[4 * 1020..4 * 1030]);
            assert_eq!(check(&file).unwrap().blocks, BlockCounts { total: 1, checked: 1, bad: 0 });
        }
    }
}

#[test]
fn recognition_requires_the_length_in_the_header() {
    assert!(!is_recognised(&HELLO[..30]) && !is_recognised(&[HELLO, b"\0"].concat()) && !is_recognised(b""));
    // The length of the file is unknown.
    assert!(!(FORMAT.sniff)(&Probe { head: HELLO, directory: None, len: None }));
    for (at, byte) in [(0, 0), (0, 7), (3, 0), (4, 0x10), (8, 0), (12, 0x1e)] {
        let mut other = HELLO.to_vec();
        other[at] = byte;
        assert!(!is_recognised(&other), "{at}");
    }
    let error = lens(&HELLO[..30]).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
}

#[test]
fn damage_within_a_chunk_is_found() {
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let mut file = encoded(&data, BloscVersion::Blosc1, crate::Compressor::ZLIB);
    let last = file.len() - 1;
    file[last] ^= 0x55;
    assert!(is_recognised(&file));
    let report = check(&file).unwrap();
    assert_eq!((report.verdict(), report.blocks.bad), (Verdict::Damaged, 1));
    assert_eq!(report.findings[0].code, "undecodable_chunk");
    // The start of a block outside of the chunk.
    file[last] ^= 0x55;
    file[16..20].fill(0xff);
    assert_eq!(check(&file).unwrap().verdict(), Verdict::Damaged);
}

#[test]
fn empty_and_oversized_chunks_are_read_within_the_limits() {
    let empty = b"\x02\x01\x12\x01\0\0\0\0\x01\0\0\0\x10\0\0\0";
    assert!(is_recognised(empty));
    assert_eq!((elements(empty, ":"), check(empty).unwrap().verdict()), (vec![], Verdict::Sound));
    // A chunk of 32 bytes that claims a gigabyte of zeros.
    let mut zeros = b"\x05\x01\x05\x08\0\0\0\x40\0\0\x10\0\x20\0\0\0".to_vec();
    zeros.resize(31, 0);
    zeros.push(0x10);
    assert!(is_recognised(&zeros));
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1 << 20);
    let container = open(Input::bytes(Box::new(zeros)), &options).unwrap();
    let whole = Region::whole(&container.datasets()[0].shape);
    assert!(container.read(0, &whole, &ReadOptions::default()).is_err());
    let few = Region::parse("5:7", &container.datasets()[0].shape).unwrap();
    assert_eq!(
        &*container
            .read(0, &few, &ReadOptions::default())
            .unwrap()
            .bytes(Order::C, &Limits::default())
            .unwrap(),
        [0; 16]
    );
}

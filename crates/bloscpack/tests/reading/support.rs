//! Files made by hand, and their findings.

use std::ops::Range;

use bloscpack::{File, Result};
use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions, Tolerance};
use container_core::format::Input;
use container_core::report::{Finding, Report};
use container_core::{Limits, Progress};

/// `blpk compress` of `hello bloscpack`: the 155 bytes of the format's description.
pub(crate) fn minimal() -> Vec<u8> {
    let mut file = b"blpk\x03\x01\x01\x08\x0f\0\0\0\x0f\0\0\0\x01\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0".to_vec();
    file.extend(b"\x78\0\0\0\0\0\0\0");
    file.extend([0xff; 80]);
    file.extend(b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack\x3b\x06\xdb\x36");
    file
}

/// Three items by python-blosc 1.11.4, each with its adler32: `hello`, an empty one, and `bloscpack ` 42 times.
pub(crate) const ITEMS: [&[u8]; 3] = [
    b"\x02\x01\x13\x01\x05\0\0\0\x05\0\0\0\x15\0\0\0hello\x4b\x02\x48\x09",
    b"\x02\x01\x12\x01\0\0\0\0\x01\0\0\0\x10\0\0\0\x28\0\x90\x01",
    b"\x02\x01\x01\x01\xa4\x01\0\0\xa4\x01\0\0\x2b\0\0\0\x14\0\0\0\x13\0\0\0\x29bloscpack \xe0\xff\x8f\x09\x02ck \
      \x04\x09\x56\x85",
];

/// A variable-length file of these items; `gaps` bytes follow each.
pub(crate) fn variable(metadata: &str, order: &[usize], gaps: usize) -> Vec<u8> {
    let count = ITEMS.len() as u64;
    let mut file = b"blpk\x04\x07\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff".to_vec();
    file.extend(count.to_le_bytes());
    file.extend(u32::try_from(metadata.len()).unwrap().to_le_bytes());
    file.extend([0; 4]);
    file.extend(metadata.as_bytes());
    let mut at = (file.len() + 8 * ITEMS.len()) as u64;
    let mut offsets = [0_u64; 3];
    let mut chunks = Vec::new();
    for index in order {
        offsets[*index] = at;
        chunks.extend(ITEMS[*index]);
        chunks.extend(vec![b'-'; gaps]);
        at += (ITEMS[*index].len() + gaps) as u64;
    }
    file.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    file.extend(chunks);
    file
}

pub(crate) const VARCHAR: &str = r#"{"dtype": "varchar", "shape": [3], "others": []}"#;

/// A chunk that stores its bytes as they are, typesize 1.
pub(crate) fn chunk(data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    let sizes = [len, len.max(1), len + 16].into_iter().flat_map(u32::to_le_bytes);
    [2, 1, 2, 1].into_iter().chain(sizes).chain(data.iter().copied()).collect()
}

/// A file of version 3 without offsets and checksum.
pub(crate) fn version_3(chunk_size: i32, last: i32, nchunks: i64, chunks: &[&[u8]]) -> Vec<u8> {
    let mut file = b"blpk\x03\0\0\x01".to_vec();
    file.extend(chunk_size.to_le_bytes());
    file.extend(last.to_le_bytes());
    file.extend(nchunks.to_le_bytes());
    file.extend([0; 8]);
    file.extend(chunks.iter().flat_map(|data| chunk(data)));
    file
}

/// The same with a table of offsets; all chunks but the last have one length.
pub(crate) fn with_offsets(chunks: &[&[u8]]) -> Vec<u8> {
    let len = |data: Option<&&[u8]>| i32::try_from(data.map_or(0, |data| data.len())).unwrap();
    let mut file = version_3(len(chunks.first()), len(chunks.last()), chunks.len().try_into().unwrap(), &[]);
    file[5] = 1;
    let mut at = (32 + 8 * chunks.len()) as u64;
    for data in chunks {
        file.extend(at.to_le_bytes());
        at += 16 + data.len() as u64;
    }
    file.extend(chunks.iter().flat_map(|data| chunk(data)));
    file
}

pub(crate) fn options(tolerance: Tolerance) -> OpenOptions {
    let mut options = OpenOptions::default();
    options.tolerance = tolerance;
    options.limits = Limits::default().with_memory(1 << 22);
    options
}

pub(crate) fn open(bytes: &[u8]) -> Result<File> {
    File::from_source(Box::new(bytes.to_vec()), &options(Tolerance::Strict))
}

pub(crate) fn lenient(bytes: &[u8]) -> Result<File> {
    File::from_source(Box::new(bytes.to_vec()), &options(Tolerance::Lenient))
}

/// All bytes of a file.
pub(crate) fn contents(file: &File) -> Result<Vec<u8>> {
    file.read_range(0..file.len()?, &ReadOptions::default())
}

pub(crate) fn lens(bytes: &[u8]) -> Result<Box<dyn Container>> {
    (bloscpack::FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &options(Tolerance::Strict))
}

pub(crate) fn check(bytes: &[u8]) -> Report {
    lens(bytes).unwrap().check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap()
}

/// The codes of a full check.
pub(crate) fn codes(bytes: &[u8]) -> Vec<&'static str> {
    check(bytes).findings.iter().map(|finding| finding.code).collect()
}

/// The finding with this code, and its range; its message has all of these words.
pub(crate) fn expect(bytes: &[u8], code: &str, range: Range<u64>, words: &[&str]) -> Finding {
    let report = check(bytes);
    let found = report.findings.iter().find(|finding| finding.code == code);
    let found = found.unwrap_or_else(|| panic!("no {code}: {report:?}")).clone();
    assert_eq!(found.range, Some(range), "{found:?}");
    assert!(words.iter().all(|word| found.message.contains(word)), "{found:?}");
    found
}

pub(crate) fn patched(mut bytes: Vec<u8>, at: usize, with: &[u8]) -> Vec<u8> {
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

/// Version 3 of two chunks, `abcd` and `ef`.
pub(crate) fn two_chunks() -> Vec<u8> {
    version_3(4, 2, 2, &[b"abcd", b"ef"])
}

/// Version 1, of two chunks.
pub(crate) fn version_1() -> Vec<u8> {
    [&b"blpk\x01\0\0\0\x02\0\0\0\0\0\0\0"[..], &chunk(b"abcd"), &chunk(b"ef")].concat()
}

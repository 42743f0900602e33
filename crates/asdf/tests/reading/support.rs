//! Files made by hand.

use asdf::container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use asdf::container_core::format::Input;
use asdf::container_core::report::Report;
use asdf::container_core::{Progress, Result};
use asdf::{BlockHeader, BlockIndex, FORMAT};
use container_codecs::checksum::Algorithm;

/// 33 bytes.
pub(crate) const HEAD: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n";

/// A tree of these lines, with the handle `!` for tags of the standard.
pub(crate) fn tree(lines: &str) -> String {
    format!("{HEAD}%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{lines}...\n")
}

/// An empty tree after the header, 54 bytes together.
pub(crate) fn empty() -> Vec<u8> {
    format!("{HEAD}%YAML 1.1\n--- {{}}\n...\n").into_bytes()
}

/// The header of a block of `len` bytes with this digest.
pub(crate) fn header(len: u64, digest: &[u8]) -> BlockHeader {
    BlockHeader {
        header_size: 48,
        flags: 0,
        compression: [0; 4],
        allocated_size: len,
        used_size: len,
        data_size: len,
        checksum: digest.try_into().unwrap_or_default(),
    }
}

/// A block with its digest, changed by `change`: 54 bytes and the data.
pub(crate) fn block_with(data: &[u8], change: impl Fn(&mut BlockHeader)) -> Vec<u8> {
    let mut header = header(data.len() as u64, Algorithm::Md5.digest(data).as_bytes());
    change(&mut header);
    [&header.to_bytes()[..], data].concat()
}

pub(crate) fn block(data: &[u8]) -> Vec<u8> {
    block_with(data, |_| {})
}

/// A file of these parts, and the index of blocks at these offsets.
pub(crate) fn file(start: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = start.to_vec();
    let mut offsets = Vec::new();
    for block in blocks {
        offsets.push(bytes.len() as u64);
        bytes.extend(block);
    }
    bytes.extend(BlockIndex { offsets }.to_text().as_bytes());
    bytes
}

pub(crate) fn open(bytes: &[u8]) -> Result<Box<dyn Container>> {
    (FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &OpenOptions::default())
}

pub(crate) fn check(bytes: &[u8], depth: CheckDepth) -> Report {
    open(bytes).unwrap().check(depth, &ReadOptions::default(), Progress::none()).unwrap()
}

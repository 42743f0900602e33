//! Bytes of small files changed, and ends cut off: no reader panics, and no policy reads wrong values in a block with a digest.
//!
//! Places spread over the files; `HOLDALL_CASES=20` takes every byte.

use asdf::Strictness;
use asdf::compression::{EncodeOptions, encode};
use asdf::container_core::container::ReadOptions;
use asdf::container_core::dtype::Order;
use container_codecs::checksum::Algorithm;

use crate::crafted::{block, expected, file, open, places, plain, read_all, repaired};

const LINES: &str = concat!(
    "a: &a !core/ndarray-1.1.0 {source: 0, datatype: int16, byteorder: big, shape: [2, 2], strides: [2, 4]}\n",
    "b: [*a, !core/ndarray-1.1.0 {source: 1, datatype: uint8, byteorder: big, shape: [9], mask: 3}]",
);

fn summed(mut block: Vec<u8>) -> Vec<u8> {
    let sum = Algorithm::Md5.digest(&block[54..]);
    block[38..54].copy_from_slice(sum.as_bytes());
    block
}

fn whole(label: &str) -> Vec<u8> {
    let data = b"aaaaaaaab";
    let second = if label.is_empty() {
        plain(data)
    } else {
        let mut stored = Vec::new();
        encode(label, data, &EncodeOptions::default(), &mut stored).unwrap();
        block(label.as_bytes(), &stored, 9)
    };
    file(LINES, &[summed(plain(b"\0\x01\0\x02\0\x03\0\x04")), summed(second)])
}

/// Opens by a policy and reads all, checks and repairs.
fn survive(bytes: &[u8], strictness: Strictness) {
    match open(bytes, strictness) {
        Ok(file) => _ = read_all(&file),
        Err(error) => expected(&error),
    }
}

#[test]
fn cuts_do_no_harm() {
    for label in ["", "zlib"] {
        let whole = whole(label);
        for len in places(whole.len(), 100) {
            let cut = &whole[..len];
            for strictness in [Strictness::Strict, Strictness::Compatible, Strictness::Lenient] {
                survive(cut, strictness);
            }
            repaired(cut);
        }
    }
}

#[test]
fn changed_bytes_do_no_harm() {
    for (label, strictness) in [("", Strictness::Compatible), ("lz4", Strictness::Lenient)] {
        let whole = whole(label);
        for at in places(whole.len(), 60) {
            for change in [0x01, 0x20, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                survive(&bytes, strictness);
                if change == 0x80 {
                    repaired(&bytes);
                }
            }
        }
    }
}

#[test]
fn a_changed_block_is_never_read_as_if_it_were_whole() {
    for label in ["", "zlib", "bzp2", "lz4", "zstd"] {
        let whole = whole(label);
        let starts: Vec<usize> = open(&whole, Strictness::Strict)
            .unwrap()
            .blocks()
            .iter()
            .map(|block| usize::try_from(block.at).unwrap())
            .collect();
        let values = |bytes: &[u8], strictness| {
            let file = open(bytes, strictness).ok()?;
            let index = file.find_array("b/1")?;
            let read = file.read_index(index, &file.whole(index).ok()?, &ReadOptions::default()).ok()?;
            Some(read.bytes(Order::C, &Default::default()).unwrap().into_owned())
        };
        let right = values(&whole, Strictness::Strict).unwrap();
        // After the checksum come the stored bytes: a change of any of them must be found.
        let end = usize::try_from(open(&whole, Strictness::Strict).unwrap().blocks()[1].data.end).unwrap();
        for at in starts[1] + 54..end {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                for strictness in [Strictness::Strict, Strictness::Compatible] {
                    let read = values(&bytes, strictness);
                    assert!(read.as_ref().is_none_or(|read| *read == right), "{label} {at} {bit}: {read:?}");
                }
            }
        }
    }
}

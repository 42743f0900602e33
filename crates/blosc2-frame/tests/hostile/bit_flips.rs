//! Every cut, and every bit of header, index and trailer: described, read, checked, and repaired without a target.

use std::path::Path;

use blosc2_frame::Frame;

use crate::crafted::said;

const FILES: &[&str] = &[
    "ok/hand_variable.b2frame",
    "ok/hand_vl_blocks.b2frame",
    "ok/hand_special_kinds.b2frame",
    "ok/hand_no_chunks.b2frame",
    "odd/vlmeta_flag.b2frame",
];

fn file(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2").join(path)).unwrap()
}

#[test]
fn every_cut() {
    for path in FILES {
        let bytes = file(path);
        assert_eq!(said(&bytes).0, [true; 2], "{path}");
        for len in 0..bytes.len() {
            let (opens, codes) = said(&bytes[..len]);
            assert!(!opens[0] && !codes.is_empty(), "{path} cut at {len}: {codes:?}");
        }
    }
}

#[test]
fn every_bit_flip_outside_the_data_is_handled() {
    for path in FILES {
        let bytes = file(path);
        let frame = Frame::from_bytes(bytes.clone()).unwrap();
        let layout = frame.layout();
        for range in [layout.header_range(), layout.index(), layout.trailer_range()] {
            for at in range {
                for bit in 0..8 {
                    let mut flipped = bytes.clone();
                    flipped[usize::try_from(at).unwrap()] ^= 1 << bit;
                    said(&flipped);
                }
            }
        }
    }
}

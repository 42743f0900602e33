//! Headers, shapes and chunks that claim what others contradict.
#![allow(clippy::cast_possible_truncation, reason = "small numbers made here")]

use container_core::array::Array;
use container_core::dtype::{DType, Order};

use super::*;
use crate::b2nd::{Meta, NAME, NdOptions, write_array};

/// Ten by nine elements in chunks of four by three.
fn array() -> Vec<u8> {
    let bytes: Vec<u8> = (0..90).map(|at: u8| at.wrapping_mul(37)).collect();
    let array = Array::new(DType::parse("|u1").unwrap(), vec![10, 9], Order::C, bytes.into()).unwrap();
    let options = NdOptions { chunkshape: Some(vec![4, 3]), ..NdOptions::default() };
    let mut file = Vec::new();
    write_array(&mut file, &array, &options).unwrap();
    file
}

#[test]
fn a_shape_that_header_and_index_contradict_is_mended_or_lost() {
    let sound = array();
    let place = sound.windows(9).position(|bytes| bytes == [0xd3, 0, 0, 0, 0, 0, 0, 0, 10]).unwrap() + 1;
    let read = |out: &[u8]| chunks(out.to_vec(), "array");
    let own = read(&sound);
    let shape = |out: Vec<u8>| {
        let frame = Frame::from_bytes(out).unwrap();
        frame.metalayers().get(NAME).map(|bytes| Meta::parse(bytes).unwrap().shape)
    };
    let axis = |bytes: &mut [u8], at: usize, len: u64| {
        bytes[place + 9 * at..][..8].copy_from_slice(&len.to_be_bytes());
    };
    for bit in 5..62 {
        for (at, len) in [(0, 10), (1, 9)] {
            let mut bytes = sound.clone();
            axis(&mut bytes, at, len ^ 1 << bit);
            let (report, out) = repaired(&bytes).unwrap();
            assert!(report.lost.is_empty() && report.guessed.len() == 1, "{at} {bit}: {report:?}");
            assert_eq!(read(&out), own);
            assert_eq!(shape(out), Some(vec![10, 9]), "{at} {bit}: {report:?}");
        }
    }
    // More than a bit, and both: no shape, and all chunks.
    let mut bytes = sound;
    axis(&mut bytes, 0, 10_000_007);
    let (report, out) = repaired(&bytes).unwrap();
    assert!(report.guessed[0].what.contains("may be padding"), "{report:?}");
    assert_eq!(shape(out), Some(vec![12, 9]));
    axis(&mut bytes, 1, 10_000_003);
    let (report, out) = repaired(&bytes).unwrap();
    assert!(report.lost[0].what.starts_with("the shape of the array (it needs"), "{report:?}");
    assert_eq!(read(&out), own);
    assert_eq!(shape(out), None);
}

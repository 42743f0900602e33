//! Single bits of headers and of the index, in frames without digests: the rest of the file determines them.
#![allow(clippy::cast_possible_truncation, reason = "small numbers made here")]

use container_core::array::Array;
use container_core::dtype::{DType, Order};

use super::*;
use crate::b2nd::{NdOptions, write_array_to};

/// Makes an array of 7 by 5 elements in chunks of 2 by 3.
fn array(dtype: &str) -> Vec<u8> {
    let dtype = DType::parse(dtype).unwrap();
    let bytes: Vec<u8> = (0..35 * dtype.itemsize()).map(|at| (at * 37 % 251) as u8).collect();
    let array = Array::new(dtype, vec![7, 5], Order::C, bytes.into()).unwrap();
    let options = NdOptions { chunkshape: Some(vec![2, 3]), ..NdOptions::default() };
    let mut file = Vec::new();
    write_array_to(&mut file, &array, &options).unwrap();
    file
}

/// Flips each bit of each of `bytes`, and passes the result to `look`.
fn each_bit(sound: &[u8], bytes: impl Iterator<Item = usize>, look: impl Fn(&str, RepairReport, Vec<u8>)) {
    for at in bytes {
        for bit in 0..8 {
            let mut damaged = sound.to_vec();
            damaged[at] ^= 1 << bit;
            let what = format!("byte {at}, bit {bit}");
            let (report, out) = repaired(&damaged).unwrap_or_else(|error| panic!("{what}: {error}"));
            look(&what, report, out);
        }
    }
}

/// Without a marker no field after it is sure: the chunks have their sizes themselves, and the index is found by the walk.
#[test]
fn a_header_without_a_marker_is_lost_and_no_element() {
    let sound = array("<f8");
    let own = chunks(sound.clone(), "sound");
    let meta = Frame::from_bytes(sound.clone()).unwrap().metalayers().clone();
    let markers = [10, 15, 24, 29, 38, 47, 52, 57, 62, 65, 69];
    each_bit(&sound, markers.into_iter(), |what, report, out| {
        assert_eq!(chunks(out.clone(), what), own, "{report:?}");
        assert_eq!(*Frame::from_bytes(out).unwrap().metalayers(), meta, "{what}");
        let [lost] = &report.lost[..] else { panic!("{what}: {report:?}") };
        assert!(lost.what.starts_with("header: "), "{what}: {report:?}");
    });
}

#[test]
fn elements_are_as_long_as_shape_and_chunks_have_them() {
    for dtype in ["<f8", "|u1", "<U80"] {
        let sound = array(dtype);
        let whole = repaired(&sound).unwrap().1;
        each_bit(&sound, 48..52, |what, report, out| {
            assert!(report.lost.is_empty() && out == whole, "{dtype}, {what}: {report:?}");
            assert!(report.guessed[0].what.starts_with("typesize: corrected"), "{what}: {report:?}");
        });
    }
}

/// The index of an array of elements of 8 bytes looks like one of its chunks. All of these are there, in their order.
#[test]
fn damaged_index_is_distinguished_from_a_chunk() {
    let sound = array("<f8");
    let own = chunks(sound.clone(), "sound");
    let index = Frame::from_bytes(sound.clone()).unwrap().layout().index();
    each_bit(&sound, index.start as usize + 32..index.end as usize, |what, report, out| {
        assert!(chunks(out, what) == own, "{what}: {report:?}");
        // The bytes of the index itself do not belong to a chunk.
        let is_index = |item: &RepairItem| item.range == Some(index.clone());
        assert!(report.lost.iter().all(is_index), "{what}: {report:?}");
    });
}

#[test]
fn a_bit_does_not_make_measurements_of_data_where_a_digest_fits() {
    for level in [0, 5] {
        let mut options = FrameOptions { params: default_params(4), ..FrameOptions::default() };
        options.checksums = Some(container_codecs::checksum::Algorithm::from_name("crc32").unwrap());
        options.params.level = level;
        let mut sound = Vec::new();
        let mut writer = Writer::new(&mut sound, options).unwrap();
        for number in 1..3_usize {
            writer.append(&(0..2000).map(|at| (at % 7 * 31 * number) as u8).collect::<Vec<_>>()).unwrap();
        }
        writer.finish().unwrap();
        let start = Frame::from_bytes(sound.clone()).unwrap().layout().chunks().start as usize;
        let mut bytes = sound.clone();
        bytes[start + 31] |= 0x80;
        let (report, out) = repaired(&bytes).unwrap();
        assert!(out == sound && report.lost.is_empty(), "{report:?}");
        assert_eq!(report.guessed[0].evidence, Some(Evidence::Digest), "{report:?}");
    }
}

/// A repair takes the word of chunks for elements that no encoder takes, so that `verify` must not call such a frame sound.
#[test]
fn elements_wider_than_any_are_damage() {
    let sound = array("<f4");
    let name = sound.windows(4).position(|name| name == b"b2nd").unwrap();
    for (typesize, is_damage) in [(512_u32 << 20, false), (0x7000_0004, true), (4, false)] {
        let mut bytes = sound.clone();
        bytes[48..52].copy_from_slice(&typesize.to_be_bytes());
        // Without the shape there is no other evidence for the size.
        bytes[name..name + 4].copy_from_slice(b"mine");
        let is_told = match Frame::from_bytes(bytes.clone()) {
            Ok(frame) => frame.layout().faults().iter().any(|fault| fault.code() == "typesize"),
            Err(error) => error.range() == Some(47..52),
        };
        let (report, _) = repaired(&bytes).unwrap();
        assert_eq!((is_told, !report.guessed.is_empty()), (is_damage, is_damage), "{typesize}: {report:?}");
    }
}

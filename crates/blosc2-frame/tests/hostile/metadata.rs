//! Metalayers and user metadata that go too deep, count too much, or are somewhere else.

use blosc2_frame::msgpack::to_value;
use blosc2_frame::{
    EditOptions, Editor, ErrorKind, Frame, FrameOptions, Limits, Metalayers, Trailer, Writer, default_params,
};
use crash_test::RecordingStorage;

use crate::crafted::{MEMORY, Parts, index, lens, plain, said};

fn with_note(value: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut options = FrameOptions::default();
    options.params = default_params(1);
    let mut writer = Writer::new(&mut file, options).unwrap();
    writer.append(&[1; 50]).unwrap();
    writer.set_vlmetalayer("note", value).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn msgpack_that_goes_too_deep_or_counts_too_much() {
    let limits = Limits::default().with_memory(MEMORY);
    let bombs: [Vec<u8>; 8] = [
        vec![0x91; 1 << 20],
        vec![0x81; 1 << 20],
        [0xdd, 0xff, 0xff, 0xff, 0xff].repeat(1 << 16),
        [0xdf, 0xff, 0xff, 0xff, 0xff, 0xc0].repeat(1 << 16),
        vec![0xc6, 0xff, 0xff, 0xff, 0xff, 0],
        vec![0xdb, 0xff, 0xff, 0xff, 0xff, 0],
        vec![0xc9, 0xff, 0xff, 0xff, 0xff, 42],
        [&[0xdd, 0, 0x10, 0, 0][..], &vec![0xc0; 1 << 20]].concat(),
    ];
    for bomb in bombs {
        let decoded = to_value(&bomb, &limits);
        let is_whole = bomb[1..5] == [0, 0x10, 0, 0];
        assert_eq!(decoded.is_ok(), is_whole, "{:x?}", &bomb[..5]);
        let file = with_note(&bomb);
        assert_eq!(said(&file), ([true; 2], vec![]));
        let meta = lens(&file).unwrap().meta();
        assert!(meta.is_ok() || meta.is_err_and(|error| matches!(error.kind(), ErrorKind::Limit { .. })));
    }
}

/// The bytes of metalayers with one of their numbers replaced.
#[test]
fn places_of_metalayers() {
    let mut metalayers = Metalayers::new();
    metalayers.set("name", vec![0xa1, b'x']).unwrap();
    let encoded = metalayers.encode();
    // Size of the index, number of names, place of the value, number of values, length of the value.
    let place = encoded.iter().position(|byte| *byte == 0xd2).unwrap();
    let length = encoded.iter().position(|byte| *byte == 0xc6).unwrap();
    let numbers = [(2, 2), (5, 2), (place + 1, 4), (length - 2, 2), (length + 1, 4)];
    for (at, len) in numbers {
        for value in [0_u32, 1, 2, 0x7fff, 0xffff, 0x7fff_ffff, u32::MAX] {
            let mut parts = Parts::new(100, 100);
            parts.metalayers = metalayers.clone();
            parts.section = plain(1, &[1; 100]);
            parts.index = index(&[0]);
            let mut bytes = parts.bytes();
            bytes[87 + at..87 + at + len].copy_from_slice(&value.to_be_bytes()[4 - len..]);
            said(&bytes);
        }
    }
}

#[test]
fn wrong_trailer_lengths_are_reported() {
    let mut parts = Parts::new(100, 100);
    parts.section = plain(1, &[1; 100]);
    parts.index = index(&[0]);
    let bytes = parts.bytes();
    let at = bytes.len() - 22;
    let own = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(own as usize, Trailer::default().encode().len());
    for len in [0, 1, 34, 36, 75, 100, u32::try_from(bytes.len()).unwrap(), 0x7fff_ffff, u32::MAX] {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&len.to_be_bytes());
        let (opens, codes) = said(&bytes);
        assert!(!opens[0] && opens[1], "{len}: {codes:?}");
        assert!(
            codes.iter().any(|code| code.starts_with("trailer") || code.starts_with("index")),
            "{codes:?}"
        );
    }
}

/// A value whose chunk claims to hold 2 GiB.
#[test]
fn a_note_of_two_gibibytes() {
    let trailer = Trailer {
        vlmetalayers: vec![("note".to_owned(), crate::crafted::zeros(0x7fff_ff00))],
        ..Trailer::default()
    };
    let mut parts = Parts::new(100, 100);
    parts.header.has_vlmetalayers = true;
    parts.section = plain(1, &[1; 100]);
    parts.index = index(&[0]);
    let mut bytes = parts.bytes();
    bytes.truncate(bytes.len() - Trailer::default().encode().len());
    bytes.extend(trailer.encode());
    let len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&len.to_be_bytes());
    said(&bytes);
    let frame = Frame::from_source(
        Box::new(bytes),
        0,
        &crate::crafted::own_options(container_core::container::Tolerance::Strict),
    );
    let error = frame.unwrap().vlmetalayer("note").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

/// Two metalayers, one within the other, take less room than when they are written again, and would then overwrite chunks.
#[test]
fn metalayers_within_each_other_are_not_edited() {
    let mut parts = Parts::new(100, 100);
    parts.metalayers.set("one", vec![0xc6, 0, 0, 0, 1, 7, 8, 9]).unwrap();
    parts.section = plain(1, &[1; 100]);
    parts.index = index(&[0]);
    let bytes = parts.bytes();
    // The value of a second one: one byte within that of the first.
    let first = bytes.windows(5).position(|window| window == [0xc6, 0, 0, 0, 8]).unwrap();
    let mut metalayers = Metalayers::new();
    metalayers.set("one", vec![0; 2]).unwrap();
    metalayers.set("two", vec![7]).unwrap();
    let mut region = metalayers.encode();
    let second = region.windows(4).position(|window| window == b"\xa3two").unwrap();
    let values = region.windows(3).position(|window| window == [0xdc, 0, 2]).unwrap() + 3;
    region.truncate(values);
    region.extend_from_slice(&bytes[first..first + 13]);
    for (at, place) in [(second - 4, values), (second + 5, values + 5)] {
        region[at..at + 4].copy_from_slice(&u32::try_from(87 + place).unwrap().to_be_bytes());
    }
    let mut file = [&bytes[..87], &region, &bytes[first + 13..]].concat();
    let len = u32::try_from(file.len()).unwrap();
    file[11..15].copy_from_slice(&u32::try_from(87 + region.len()).unwrap().to_be_bytes());
    file[20..24].copy_from_slice(&len.to_be_bytes());
    said(&file);
    Frame::from_bytes(file.clone()).unwrap();
    let storage = Box::new(RecordingStorage::new(file));
    let error = Editor::open_storage(storage, 0, &EditOptions::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

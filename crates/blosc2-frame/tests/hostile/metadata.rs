//! Metalayers and user metadata that go too deep, count too much, or are somewhere else.

use blosc2_frame::msgpack::to_value;
use blosc2_frame::{ErrorKind, Frame, FrameOptions, Limits, Metalayers, Trailer, Writer, default_params};

use crate::made::{MEMORY, Parts, index, lens, plain, said};

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
fn trailers_that_lie_about_their_length() {
    let mut parts = Parts::new(100, 100);
    parts.section = plain(1, &[1; 100]);
    parts.index = index(&[0]);
    let bytes = parts.bytes();
    let at = bytes.len() - 22;
    let own = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(own as usize, Trailer::default().encode().len());
    for len in [0, 1, 34, 36, 75, 100, bytes.len() as u32, i32::MAX as u32, u32::MAX] {
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

/// A value whose chunk says that it holds 2 GiB.
#[test]
fn a_note_of_two_gibibytes() {
    let trailer = Trailer {
        vlmetalayers: vec![("note".to_owned(), crate::made::zeros(0x7fff_ff00))],
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
        &crate::made::own_options(container_core::container::Tolerance::Strict),
    );
    let error = frame.unwrap().vlmetalayer("note").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

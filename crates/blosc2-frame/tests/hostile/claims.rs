//! Sizes, counts and places that are not so.

use blosc2_frame::b2nd::{Meta, NAME};
use blosc2_frame::{ChunkSize, Frame};
use container_core::Progress;
use container_core::container::{CheckDepth, ReadOptions, Tolerance};

use crate::crafted::{MEMORY, Parts, index, lens, own_options, plain, said, same_index, zeros};

const ZEROS: i64 = i64::MIN | 1 << 56;

/// Makes three chunks of 100 bytes.
fn three(change: impl Fn(&mut [i64; 3])) -> Vec<u8> {
    let mut parts = Parts::new(300, 100);
    for number in 1..4_u8 {
        parts.section.extend(plain(1, &[number; 100]));
    }
    let mut offsets = [0, 132, 264];
    change(&mut offsets);
    parts.index = index(&offsets);
    parts.bytes()
}

#[test]
fn unmodified_frame_is_sound() {
    assert_eq!(said(&three(|_| ())), ([true; 2], vec![]));
}

#[test]
fn offsets_anywhere() {
    // Behind the chunks, at the ends of numbers, in the index, the trailer and the header.
    for offset in
        [396, 397, 381, 380, 400, 456, i64::MAX, i64::MAX - 40, -1, i64::MIN, -97, -(1 << 57), 1 << 60]
    {
        let (_, codes) = said(&three(|offsets| offsets[1] = offset));
        let is_told = |code: &&str| code.starts_with("offset") || code.starts_with("chunk");
        assert!(codes.iter().any(is_told), "{offset}: {codes:?}");
    }
    // An offset inside another chunk, where no chunk begins.
    for offset in [1, 16, 31, 33, 131, 133] {
        let (_, codes) = said(&three(|offsets| offsets[1] = offset));
        assert!(codes.contains(&"chunk_header"), "{offset}: {codes:?}");
    }
}

#[test]
fn chunks_that_are_others_as_well() {
    let bytes = three(|offsets| *offsets = [264, 264, 264]);
    let (opens, codes) = said(&bytes);
    assert!(opens[1], "{codes:?}");
    assert!(codes.contains(&"shared_chunk"), "{codes:?}");
    // A chunk in a chunk: the payload of the first begins with the second.
    let mut parts = Parts::new(200, 100);
    let inner = plain(1, &[9; 68]);
    parts.section = plain(1, &inner);
    parts.header.chunksize = ChunkSize::Variable;
    parts.header.variable_chunks = true;
    parts.header.version = 3;
    parts.header.nbytes = 168;
    parts.index = index(&[0, 32]);
    let (_, codes) = said(&parts.bytes());
    assert!(codes.contains(&"chunk_overlap"), "{codes:?}");
}

#[test]
fn an_index_of_more_chunks_than_there_can_be() {
    // The header claims 2^63 - 1 chunks of a byte, and the index has as many as one can have.
    for count in [1, 5, (1 << 28) - 5] {
        let mut parts = Parts::new(i64::MAX as u64, 1);
        parts.index = same_index(count, ZEROS);
        let (opens, codes) = said(&parts.bytes());
        assert!(!opens[0] && codes.contains(&"offsets"), "{codes:?}");
    }
}

#[test]
fn one_offset_for_millions_of_chunks() {
    let mut parts = Parts::new((1 << 24) * 100, 100);
    parts.section = plain(1, &[1; 100]);
    parts.index = same_index(1 << 24, 0);
    let (opens, codes) = said(&parts.bytes());
    assert!(opens[1] && codes.contains(&"shared_chunk"), "{codes:?}");
}

/// 64 KiB that claim to be 4 TiB: reading it takes the memory of the stored bytes.
#[test]
fn thousands_of_chunks_of_two_gibibytes() {
    let (count, len) = (2000_u32, 0x7fff_ff00_u32);
    let mut parts = Parts::new(u64::from(count) * u64::from(len), len);
    parts.section = zeros(len).repeat(count as usize);
    parts.index = index(&(0..i64::from(count)).map(|at| at * 32).collect::<Vec<_>>());
    let bytes = parts.bytes();
    let (opens, codes) = said(&bytes);
    assert_eq!((opens, codes), ([true; 2], vec!["stored_special"]));
    let frame = Frame::from_source(Box::new(bytes), 0, &own_options(Tolerance::Strict)).unwrap();
    let options = ReadOptions::default();
    let at = frame.data_len() - 70_000;
    assert_eq!(frame.read_range(at..at + 70_000, &options).unwrap(), vec![0; 70_000]);
    assert!(frame.read_chunk(0, &options).is_err(), "over the limit");
}

#[test]
fn shapes_whose_products_wrap() {
    let shapes: [(&[u64], &[u32], &[u32]); 9] = [
        (&[1 << 16, 1 << 16, 1 << 16, 1 << 16], &[1 << 16, 1 << 16, 1, 1], &[1, 1, 1, 1]),
        (&[1 << 32, 1 << 32], &[1, 1], &[1, 1]),
        (&[100], &[u32::MAX], &[u32::MAX]),
        (&[100], &[0], &[0]),
        (&[100], &[100], &[0]),
        (&[0, 100], &[0, 0], &[0, 0]),
        (&[u64::MAX], &[100], &[100]),
        (&[100, 0, u64::MAX >> 1], &[1, 0, 1], &[1, 0, 1]),
        (&[1 << 31, 1 << 31, 1 << 31], &[1 << 10, 1 << 10, 1 << 11], &[1 << 10, 1 << 10, 1 << 11]),
    ];
    for (shape, chunks, blocks) in shapes {
        let meta = Meta {
            version: 0,
            shape: shape.to_vec(),
            chunkshape: chunks.to_vec(),
            blockshape: blocks.to_vec(),
            dtype_format: Some(0),
            dtype: "|u1".to_owned(),
        };
        let mut parts = Parts::new(100, 100);
        parts.metalayers.set(NAME, meta.encode()).unwrap();
        parts.section = plain(1, &[1; 100]);
        parts.index = index(&[0]);
        let (_, codes) = said(&parts.bytes());
        assert!(codes.contains(&"geometry"), "{shape:?} {chunks:?} {blocks:?}: {codes:?}");
    }
}

/// The first are reported one by one, then the number of the others.
#[test]
fn chunks_of_other_blocks_than_the_arrays_are_counted() {
    let meta = Meta {
        version: 0,
        shape: vec![280],
        chunkshape: vec![4],
        blockshape: vec![2],
        dtype_format: Some(0),
        dtype: "|u1".to_owned(),
    };
    let mut parts = Parts::new(280, 4);
    parts.metalayers.set(NAME, meta.encode()).unwrap();
    let chunk = plain(1, &[1; 4]);
    let offsets: Vec<i64> = (0..70).map(|at| at * i64::try_from(chunk.len()).unwrap()).collect();
    parts.section = chunk.repeat(70);
    parts.index = index(&offsets);
    let lens = lens(&parts.bytes()).unwrap();
    let report = lens.check(CheckDepth::Quick, &ReadOptions::default(), Progress::none()).unwrap();
    let found: Vec<_> = report.findings.iter().filter(|finding| finding.code == "geometry").collect();
    assert_eq!((found.len(), found[64].message.as_str()), (65, "6 more of these"));
    assert_eq!(found[64].dataset, found[63].dataset);
}

#[test]
fn frames_of_the_largest_numbers() {
    for (nbytes, chunksize, typesize, blocksize) in [
        (u64::MAX >> 1, 0x7fff_ffff, 1, 0),
        (u64::MAX >> 1, 1, 0x7fff_ffff, 0x7fff_ffff),
        (1 << 62, 0x4000_0000, 0, 0),
        (100, 100, 0x7fff_ffff, 1),
        (100, 100, 1, 0x7fff_ffff),
    ] {
        for mark in [ZEROS, i64::MIN | 2 << 56, i64::MIN | 4 << 56, 0] {
            let mut parts = Parts::new(nbytes, chunksize);
            (parts.header.typesize, parts.header.blocksize) = (typesize, blocksize);
            parts.section = plain(1, &[1; 100]);
            parts.index = index(&[mark]);
            said(&parts.bytes());
        }
    }
}

/// Blocks of one byte in a chunk of 2 GiB: its list of blocks alone would be 8 GiB.
#[test]
fn a_chunk_of_more_blocks_than_bytes() {
    for (nbytes, blocksize) in [(0x7fff_ff00, 1), (1 << 20, 1), (100, 7)] {
        let mut parts = Parts::new(nbytes.into(), nbytes);
        let mut chunk = crate::crafted::chunk_head(0x15, 1, nbytes, blocksize, 40, 0);
        chunk.extend([0; 8]);
        parts.section = chunk;
        parts.index = index(&[0]);
        let (_, codes) = said(&parts.bytes());
        assert!(codes.contains(&"undecodable_chunk"), "{codes:?}");
    }
}

/// A run of one byte over whole blocks: 46 bytes are 64 MiB and more, which is read in parts, and checked within the limit or refused.
#[test]
fn a_run_that_is_larger_than_memory() {
    let (len, block) = (0x1fff_f000_u32 - 4096, 0x1fff_f000_u32 - 4096);
    let mut chunk = crate::crafted::chunk_head(0x15, 1, len, block, 41, 0);
    chunk.extend(36_u32.to_le_bytes());
    chunk.extend((-7_i32).to_le_bytes());
    chunk.push(1);
    let mut parts = Parts::new(len.into(), len);
    parts.section = chunk;
    parts.index = index(&[0]);
    let bytes = parts.bytes();
    let (opens, _) = said(&bytes);
    assert!(opens[0]);
    let report = lens(&bytes).unwrap().check(CheckDepth::Full, &ReadOptions::default(), Progress::none());
    // Decoded as a whole it would be over what was granted at opening.
    assert!(u64::from(len) > MEMORY && report.is_ok_and(|report| report.findings.len() <= 1));
}

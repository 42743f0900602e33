use blosc_chunk::{Compressor, Filter, Pipeline, SplitMode};
use container_core::ErrorKind;
use container_core::format::Pipe;
use container_core::write::{AtomicFile, Durability, Overwrite};

use super::*;
use crate::default_params;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};
use crate::trailer::len_of;

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn ints(numbers: std::ops::Range<i32>) -> Vec<u8> {
    numbers.flat_map(i32::to_le_bytes).collect()
}

fn written(options: FrameOptions, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, options).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    bytes
}

fn plain(typesize: usize) -> FrameOptions {
    FrameOptions { params: default_params(typesize), ..FrameOptions::default() }
}

/// Parts of a frame: header, offsets, trailer.
fn parts(bytes: &[u8]) -> (Header, Offsets, Trailer) {
    let header = Header::parse(bytes).unwrap();
    assert_eq!(header.frame_len, bytes.len() as u64);
    let trailer_at = bytes.len() - len_of(bytes).unwrap() as usize;
    let index_at = usize::try_from(u64::from(header.header_len) + header.cbytes).unwrap();
    let offsets = match &bytes[index_at..trailer_at] {
        [] => Offsets::Each(Vec::new()),
        index => {
            let count = Chunk::parse(index).unwrap().nbytes() as u64 / 8;
            Offsets::decode(index, Some(count), &Limits::default()).unwrap()
        }
    };
    (header, offsets, Trailer::parse(&bytes[trailer_at..], trailer_at as u64).unwrap())
}

/// Returns all chunks of a frame, decoded.
fn chunks(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (header, offsets, _) = parts(bytes);
    let decode = |offset| {
        let Offset::Stored(at) = offset else { panic!("{offset:?}") };
        let at = usize::try_from(u64::from(header.header_len) + at).unwrap();
        let chunk = Chunk::parse(&bytes[at..]).unwrap();
        let mut data = vec![1; chunk.nbytes()];
        blosc_chunk::Decoder::new().decode(&chunk, &mut data).unwrap();
        data
    };
    offsets.iter().map(decode).collect()
}

/// Written by python-blosc2 4.14.1: zstd at level 0, elements of 4 bytes, chunks of 40 bytes, the last of 12.
const FROM_PYTHON: &str = "
    9ea862326672616d6500d200000061cf0000000000000178a412000502d3000000000000005cd300000000000000bcd200000004d200000000d200000028
    d10001d10001c2d8060100000000000500000000000000000093cd0007de0000dc0000
    0501070428000000280000004800000001000000000005000000000000000000
    00000000010000000200000003000000040000000500000006000000070000000800000009000000
    0501070428000000280000004800000001000000000005000000000000000000
    00000000000000000000000000000000000000000000000000000000000000000000000000000000
    050107040c0000000c0000002c00000001000000000005000000000000000000 000000000100000002000000
    0501070818000000180000003800000000000000000100000000000000000000 000000000000000048000000000000009000000000000000
    940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";

#[test]
fn a_frame_is_byte_for_byte_that_of_python_blosc2() {
    let mut options = plain(4);
    options.params.level = 0;
    // It puts the shuffle first, and stores the number of threads it may use (two for decoding; here one).
    options.params.filters = Pipeline::none();
    options.params.filters.0[0] = Filter::new(Filter::SHUFFLE, 0);
    let bytes = written(options, |writer| {
        writer.append(&ints(0..10)).unwrap();
        writer.append(&[0; 40]).unwrap();
        writer.append(&ints(0..3)).unwrap();
    });
    assert_eq!(bytes, unhex(FROM_PYTHON));
}

#[test]
fn an_empty_frame_has_132_bytes() {
    let bytes = written(plain(4), |_| {});
    let (header, offsets, trailer) = parts(&bytes);
    assert_eq!((bytes.len(), header.chunksize, header.nbytes, header.cbytes), (132, ChunkSize::Unset, 0, 0));
    assert!(offsets.is_empty() && trailer.vlmetalayers.is_empty() && !header.has_vlmetalayers);
}

#[test]
fn zeros_and_nan_are_marks_in_frames_of_chunks_of_one_size() {
    let bytes = written(plain(8), |writer| {
        writer.append(&[0; 800]).unwrap();
        writer.append(&f64::NAN.to_le_bytes().repeat(100)).unwrap();
        writer.append_special(Special::Uninit, 800).unwrap();
        writer.append(&1_f64.to_le_bytes().repeat(100)).unwrap();
        writer.append_specials(Special::Zeros, 800, 2).unwrap();
        writer.append(&[0; 8]).unwrap();
    });
    let (header, offsets, _) = parts(&bytes);
    let marks: Vec<Offset> = offsets.iter().collect();
    let mark = Offset::Special;
    let zeros = mark(Special::Zeros);
    assert_eq!(
        marks,
        [zeros, mark(Special::Nan), mark(Special::Uninit), Offset::Stored(0), zeros, zeros, zeros]
    );
    // A header and the value.
    assert_eq!((header.cbytes, header.nbytes, header.chunksize), (40, 4808, ChunkSize::Fixed(800)));
    assert_eq!((header.version, bytes[25]), (2, 0x12));
}

#[test]
fn any_number_of_zeros_takes_no_room() {
    let bytes = written(plain(4), |writer| writer.append_specials(Special::Zeros, 1 << 30, 1 << 27).unwrap());
    assert_eq!(bytes.len(), 97 + 40 + 35);
    let (header, offsets, _) = parts(&bytes);
    assert_eq!(offsets, Offsets::Same(Offset::Special(Special::Zeros), 1 << 27));
    assert_eq!(header.nbytes, 1 << 57);
}

#[test]
fn sizes_vary_only_where_they_may() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, plain(1)).unwrap();
    writer.append(b"abc").unwrap();
    let error = writer.append(b"abcd").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_some(), "{error}");
    writer.append(b"a").unwrap();
    assert!(writer.append(b"abc").is_err());
    assert!(writer.append(b"").is_err());
    // A refused chunk does no harm.
    writer.finish().unwrap();
    assert_eq!(chunks(&out), [&b"abc"[..], b"a"]);

    let options = FrameOptions { variable_chunks: true, ..plain(1) };
    let bytes = written(options, |writer| {
        [&[0; 50][..], &[9; 50], &[7, 8]].iter().for_each(|data| writer.append(data).unwrap());
    });
    let (header, ..) = parts(&bytes);
    assert_eq!((header.version, header.chunksize, bytes[25]), (2, ChunkSize::Fixed(50), 0x12));
}

#[test]
fn chunks_of_different_sizes_are_all_stored() {
    let options = FrameOptions { variable_chunks: true, ..plain(4) };
    let bytes = written(options, |writer| {
        writer.append(&[0; 64]).unwrap();
        writer.append_special(Special::Nan, 64).unwrap();
        writer.append(&ints(0..100)).unwrap();
        writer.append(&[0; 20]).unwrap();
        writer.append_special(Special::Uninit, 8).unwrap();
        writer.append(&[0; 7]).unwrap();
    });
    let (header, ..) = parts(&bytes);
    assert_eq!((header.version, header.chunksize, bytes[25]), (3, ChunkSize::Variable, 0x53));
    let nan = 0x7FC0_0000_u32.to_le_bytes().repeat(16);
    assert_eq!(chunks(&bytes), [vec![0; 64], nan, ints(0..100), vec![0; 20], vec![0; 8], vec![0; 7]]);
    assert_eq!(header.nbytes, 64 + 64 + 400 + 20 + 8 + 7);
}

#[test]
fn blocks_of_different_lengths_are_marked_in_the_flags() {
    let bytes = written(plain(1), |writer| {
        writer.append_blocks(&[b"one", b"twenty"]).unwrap();
        writer.append_blocks(&[b"123456789"]).unwrap();
        assert!(writer.append(b"123456789").is_err());
    });
    assert_eq!(bytes[25], 0x93);
    let bytes = written(plain(1), |writer| {
        writer.append_blocks(&[b"one", b"twenty"]).unwrap();
        writer.append_blocks(&[b"ten"]).unwrap();
        writer.append_blocks(&[b"thirteen letters"]).unwrap();
    });
    assert_eq!(bytes[25], 0xd3);
    assert_eq!(chunks(&bytes), [&b"onetwenty"[..], b"ten", b"thirteen letters"]);
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, plain(1)).unwrap();
    writer.append(b"abc").unwrap();
    assert!(writer.append_blocks(&[b"abc"]).is_err());
}

#[test]
fn encoded_chunks_are_taken_as_they_are() {
    let mut encoder = blosc_chunk::Encoder::new(default_params(4)).unwrap();
    let mut chunk = Vec::new();
    encoder.encode(&ints(0..1000), &mut chunk).unwrap();
    let mut zeros = Vec::new();
    encoder.encode(&[0; 4000], &mut zeros).unwrap();
    let bytes = written(
        FrameOptions { params: Params { compressor: Compressor::LZ4, ..default_params(4) }, ..plain(4) },
        |writer| {
            writer.append_chunk(&chunk).unwrap();
            writer.append_chunk(&zeros).unwrap();
            assert!(writer.append_chunk(&chunk[..chunk.len() - 1]).is_err());
            let blosc1 = Params { blosc_version: blosc_chunk::BloscVersion::Blosc1, ..default_params(4) };
            let mut old = Vec::new();
            blosc_chunk::Encoder::new(blosc1).unwrap().encode(&[1; 4000], &mut old).unwrap();
            assert!(writer.append_chunk(&old).is_err());
        },
    );
    let (_, offsets, _) = parts(&bytes);
    assert_eq!(offsets, Offsets::Each(vec![0, Offset::Special(Special::Zeros).to_raw()]));
    assert_eq!(bytes[97..][..chunk.len()], chunk);
}

#[test]
fn metadata_have_their_bounds() {
    let mut options = plain(1);
    options.metalayers.set("a", vec![1, 2, 3]).unwrap();
    options.metalayers.set("bb", vec![]).unwrap();
    let bytes = written(options, |writer| {
        assert!(writer.set_metalayer("a", vec![1]).is_err());
        assert!(writer.set_metalayer("c", vec![]).is_err());
        writer.set_metalayer("a", vec![4, 5, 6]).unwrap();
        for number in 0..16_u8 {
            writer.set_vlmetalayer(&format!("v{number}"), &vec![number; 1000]).unwrap();
        }
        assert!(writer.set_vlmetalayer("v16", b"").is_err());
        assert!(writer.set_vlmetalayer(&"n".repeat(32), b"").is_err());
        writer.set_vlmetalayer("v3", b"short").unwrap();
    });
    let (header, _, trailer) = parts(&bytes);
    let metalayers = Metalayers::parse(&bytes[87..header.header_len as usize], 87).unwrap();
    assert_eq!(metalayers.iter().collect::<Vec<_>>(), [("a", &[4, 5, 6][..]), ("bb", &[])]);
    assert!(header.has_vlmetalayers);
    for (number, (name, value)) in trailer.vlmetalayers.iter().enumerate() {
        assert_eq!(*name, format!("v{number}"));
        let chunk = Chunk::parse(value).unwrap();
        assert!(chunk.header().special().is_none());
        let mut data = vec![0; chunk.nbytes()];
        blosc_chunk::Decoder::new().decode(&chunk, &mut data).unwrap();
        let want = if number == 3 { b"short".to_vec() } else { vec![u8::try_from(number).unwrap(); 1000] };
        assert_eq!(data, want);
    }
}

#[test]
fn every_output_gets_the_same_bytes_on_any_number_of_threads() {
    let data: Vec<Vec<u8>> = (0..40).map(|seed| ints(seed * 999..seed * 999 + 20_000)).collect();
    let write = |writer: &mut Writer<'_>| {
        let pieces: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        writer.append_all(&pieces[..30]).unwrap();
        pieces[30..].iter().for_each(|piece| writer.append(piece).unwrap());
    };
    let want = written(plain(4), write);
    for threads in [2, 3, 8] {
        let options = FrameOptions { params: Params { threads, ..default_params(4) }, ..plain(4) };
        assert!(written(options, write) == want, "{threads} threads");
    }
    let mut piped = Pipe(Vec::new());
    let mut writer = Writer::new(&mut piped, plain(4)).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    assert!(piped.0 == want);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    let mut file = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
    std::io::Write::write_all(&mut file, b"before").unwrap();
    let mut writer = Writer::new(&mut file, plain(4)).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    std::io::Write::write_all(&mut file, b"behind").unwrap();
    file.commit(Durability::Cached).unwrap();
    assert!(std::fs::read(&path).unwrap() == [b"before", &want[..], b"behind"].concat());
}

#[test]
fn header_records_the_encoding_parameters() {
    let params = Params {
        compressor: Compressor::LZ4HC,
        level: 7,
        split: SplitMode::ForwardCompat,
        blocksize: Some(64),
        dictionary: true,
        ..default_params(16)
    };
    let bytes = written(FrameOptions { params, chunksize: Some(640), ..plain(1) }, |_| {});
    let (header, ..) = parts(&bytes);
    assert_eq!(bytes[25..29], [0x12, 0, 0x72, 3]);
    assert_eq!((header.typesize, header.blocksize, header.chunksize), (16, 64, ChunkSize::Fixed(640)));
    assert!(header.use_dictionary && bytes[77] == 2 && bytes[85] == 1 && header.threads == (1, 1));
    let mut out = Vec::new();
    assert!(Writer::new(&mut out, FrameOptions { chunksize: Some(0), ..plain(1) }).is_err());
}

use std::io;

use container_core::ErrorKind;
use container_core::codec::Codec;

use super::*;
use crate::compression::codecs;

/// Numbers that compress, for a few segments of each codec.
fn data(len: u32) -> Vec<u8> {
    (0..len / 4).flat_map(|k| (k.wrapping_mul(k) >> 7).to_le_bytes()).collect()
}

fn decode(label: &str, stored: &[u8], len: usize) -> Vec<u8> {
    let mut back = vec![0; len];
    codecs().get(label).unwrap().decode(stored, &mut back).unwrap();
    back
}

fn options(threads: usize) -> EncodeOptions {
    EncodeOptions { threads, typesize: 4, ..EncodeOptions::default() }
}

#[test]
fn the_bytes_do_not_depend_on_threads_and_pieces() {
    // Some segments of each.
    for (label, level, len) in [
        ("zlib", None, 1_400_000),
        ("bzp2", Some(1), 350_000),
        ("lz4", None, 9 << 20),
        ("zstd", None, 2_500_000),
        ("blsc", None, 700_000),
    ] {
        let data = data(len);
        let mut whole = Vec::new();
        let mut options = EncodeOptions { level, ..options(1) };
        let sizes = encode(label, &data, &options, &mut whole).unwrap();
        assert_eq!(sizes, Sizes { data: data.len() as u64, used: whole.len() as u64 });
        assert!(decode(label, &whole, data.len()) == data, "{label}");
        options.len = Some(data.len() as u64);
        for (threads, piece) in [(1, 100_003), (3, 1 << 20), (2, 4_000_001), (3, 50_001)] {
            options.threads = threads;
            let mut out = Vec::new();
            let mut encoder = Encoder::new(label, &options).unwrap();
            data.chunks(piece).try_for_each(|piece| encoder.push(piece, &mut out)).unwrap();
            assert_eq!(encoder.finish(&mut out).unwrap(), sizes);
            assert!(out == whole, "{label} on {threads} threads, {piece} bytes at a time");
        }
    }
}

/// Counts whose low bytes are noise, which have an encoder of their own, with a stretch of text that has none.
#[test]
fn zlib_of_noise_does_not_depend_on_threads() {
    let mut state = 7_u32;
    let mut data: Vec<u8> = (0..900_000_u32)
        .flat_map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (state >> 24) as u16;
            (8000 + (at / 40 % 9) as u16 * 256 + noise).to_le_bytes()
        })
        .collect();
    data[600_000..1_200_000].fill(b'a');
    let mut whole = Vec::new();
    encode("zlib", &data, &options(1), &mut whole).unwrap();
    assert!(decode("zlib", &whole, data.len()) == data);
    for threads in 2..=5 {
        let mut out = Vec::new();
        encode("zlib", &data, &options(threads), &mut out).unwrap();
        assert!(out == whole, "{threads} threads");
    }
    let mut alone = Vec::new();
    codecs().get("zlib").unwrap().encode(&data, None, &mut alone).unwrap();
    assert!(alone == whole);
    let mut level = Vec::new();
    encode("zlib", &data, &EncodeOptions { level: Some(4), ..options(1) }, &mut level).unwrap();
    assert!(whole.len() < level.len(), "{} and {}", whole.len(), level.len());
}

/// bzip2 has one way to write a stream, whoever cuts its blocks.
#[test]
fn bzip2_is_what_the_library_writes_alone() {
    let data = data(250_000);
    let (mut ours, mut whole) = (Vec::new(), Vec::new());
    encode("bzp2", &data, &EncodeOptions { level: Some(1), ..options(2) }, &mut ours).unwrap();
    container_codecs::bzip2::Bzip2.encode(&data, Some(1), &mut whole).unwrap();
    assert!(ours == whole);
}

/// zlib.compress(b'', 4), zlib.compress(b''), bz2.compress(b''); Python asdf writes no chunk of lz4 for no data.
#[test]
fn empty_data_encodes_as_in_python() {
    let mut out = Vec::new();
    encode("zlib", b"", &options(2), &mut out).unwrap();
    assert_eq!(out, b"\x78\x5e\x03\0\0\0\0\x01");
    out.clear();
    encode("zlib", b"", &EncodeOptions { level: Some(6), ..options(2) }, &mut out).unwrap();
    assert_eq!(out, b"\x78\x9c\x03\0\0\0\0\x01");
    out.clear();
    encode("bzp2", b"", &options(2), &mut out).unwrap();
    assert_eq!(out, b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0");
    out.clear();
    assert_eq!(encode("lz4", b"", &options(2), &mut out).unwrap(), Sizes::default());
    for label in ["zstd", "blsc"] {
        out.clear();
        encode(label, b"", &options(2), &mut out).unwrap();
        assert!(decode(label, &out, 0).is_empty() && !out.is_empty());
    }
}

/// By Python asdf 6.0.0: the start of the block of `numpy.arange(1000)`.
#[test]
fn lz4_chunks_are_laid_out_as_python_does() {
    let data: Vec<u8> = (0..1000_u64).flat_map(u64::to_le_bytes).collect();
    let mut out = Vec::new();
    encode("lz4", &data, &options(1), &mut out).unwrap();
    assert_eq!(out[4..18], *b"\x40\x1f\0\0\x13\0\x01\0\x13\x01\x08\0\x13\x02");
    assert_eq!(u32::from_be_bytes(out[..4].try_into().unwrap()) as usize, out.len() - 4);
}

#[test]
fn encoder_refuses_invalid_labels_levels_and_lengths() {
    let kind = |label, level| {
        let options = EncodeOptions { level, ..options(1) };
        Encoder::new(label, &options).map(drop).unwrap_err().into_kind()
    };
    for label in ["xz", "bls2", "lz4f", "", "zlib "] {
        assert!(matches!(kind(label, None), ErrorKind::Unsupported(_)), "{label}");
    }
    for (label, level) in [("zlib", 10), ("bzp2", 0), ("lz4", 1), ("zstd", 23), ("blsc", 10), ("blsc", -1)] {
        assert!(matches!(kind(label, Some(level)), ErrorKind::Usage(_)), "{label} {level}");
    }
    let mut announced = Encoder::new("zstd", &EncodeOptions { len: Some(5), ..options(1) }).unwrap();
    let pushed = announced.push(b"123456", &mut Vec::new());
    let error = pushed.and_then(|()| announced.finish(&mut Vec::new())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn an_error_of_the_output_ends_the_work() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let data = data(200_000);
    for label in WRITABLE {
        for threads in [1, 3] {
            let mut encoder = Encoder::new(label, &options(threads)).unwrap();
            let done = encoder.push(&data, &mut Full).and_then(|()| encoder.finish(&mut Full));
            assert!(matches!(done.unwrap_err().kind(), ErrorKind::Io(_)), "{label}");
        }
    }
}

//! Seeds of the targets of Blosc chunks and Bloscpack.

use std::fs;
use std::path::Path;

use blosc_chunk::{BloscVersion, Chunk, Compressor, Encoder, Params, Pipeline, SplitMode};

use crate::mutate::XorShift;
use crate::seeds::{choices as noise, gather};

/// Every `.blp` file of the fixtures.
pub(crate) fn files() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bloscpack"), "blp", &mut paths);
    paths.sort();
    let files: Vec<Vec<u8>> =
        paths.iter().map(|path| fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))).collect();
    assert!(files.len() > 100, "the fixtures are not where they should be");
    files.into_iter().filter(|file| file.len() < 1 << 14).collect()
}

/// Chunks by C-Blosc2, by Python's bloscpack (out of the fixtures), and of our own where others write none.
pub(crate) fn chunks() -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/blosc-chunk/tests/data/chunks.txt");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut all: Vec<Vec<u8>> = text.lines().filter_map(|line| from_hex(line.rsplit('|').next()?)).collect();
    assert!(all.len() > 20, "the chunks are not where they should be");
    for file in files() {
        // The first chunk, by its version and stream version.
        let starts = (16..file.len()).filter(|at| file[*at..].starts_with(&[2, 1]));
        let found = starts.filter_map(|at| Chunk::parse(&file[at..]).ok()).next();
        all.extend(found.map(|chunk| chunk.bytes().to_vec()));
    }
    all.extend(own_chunks());
    all
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim().as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn values() -> Vec<u8> {
    let mut numbers = XorShift::new(3);
    (0..500_u32).flat_map(|at| (at * 3 + numbers.below(4) as u32).to_le_bytes()).collect()
}

fn own_chunks() -> Vec<Vec<u8>> {
    let values = values();
    let mut all = Vec::new();
    let codecs =
        [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD];
    let pipelines =
        [&["none"][..], &["shuffle"], &["bitshuffle"], &["delta", "shuffle"], &["shuffle", "bytedelta"]];
    for compressor in codecs {
        for (at, words) in pipelines.iter().enumerate() {
            let blosc_version = if at < 3 { BloscVersion::Blosc1 } else { BloscVersion::Blosc2 };
            let params = Params {
                blosc_version,
                compressor,
                codec_meta: 0,
                level: 5,
                typesize: 4,
                filters: Pipeline::parse_words(words).expect("filters that there are"),
                split: if at % 2 == 0 { SplitMode::Always } else { SplitMode::Never },
                blocksize: Some(512 + at * 200),
                dictionary: blosc_version == BloscVersion::Blosc2 && compressor.format() % 3 == 1,
                threads: 1,
            };
            let mut chunk = Vec::new();
            let mut encoder = Encoder::new(params.clone()).expect("parameters that make sense");
            encoder.encode(&values, &mut chunk).expect("memory");
            all.push(chunk);
            if blosc_version == BloscVersion::Blosc2 {
                let mut chunk = Vec::new();
                let blocks = [&values[..700], &values[700..703], &values[703..]];
                encoder.encode_blocks(&blocks, &mut chunk).expect("memory");
                all.push(chunk);
                let mut special = |make: &dyn Fn(&Encoder, &mut Vec<u8>)| {
                    let mut chunk = Vec::new();
                    make(&encoder, &mut chunk);
                    all.push(chunk);
                };
                special(&|encoder, out| _ = encoder.zeros(1000, out).expect("memory"));
                special(&|encoder, out| _ = encoder.nan(1000, out).expect("memory"));
                special(&|encoder, out| _ = encoder.value(b"abcd", 1000, out).expect("memory"));
                special(&|encoder, out| _ = encoder.uninit(1000, out).expect("memory"));
            }
        }
    }
    all
}

/// Streams behind the choices that `blosclz_lz4_streams` makes: of encoders, and by hand.
pub(crate) fn streams() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        // The samples of the description: a period of six, one byte over and over.
        &b"\x25abcabc\xe0\xff\xcf\x05\x02abc"[..],
        b"\x23QQQQ\xe0\xff\xe5\x03\x02QQQ",
        b"\x2aabcdefghijk\x20\x03\x60\x02\x01xy",
        b"\x23QQQQ\xff\x00\xff\x00\x05\x00Q",
    ]
    .iter()
    .map(|stream| [b"\0\0\0\0", *stream].concat())
    .collect();
    all.extend(crate::seeds::lz4_blocks().iter().map(|block| [&[0, 0, 1, 0], &block[..]].concat()));
    // Streams of whole chunks: behind header, start and length.
    for chunk in own_chunks() {
        let head = if chunk[0] == 2 { 16 } else { 32 };
        if let Some(start) = chunk.get(head..head + 4).and_then(|start| start.try_into().ok()) {
            let start = u32::from_le_bytes(start) as usize;
            let stream = chunk.get(start + 4..).unwrap_or_default();
            let len = chunk.get(start..start + 4).map_or(0, |len| u16::from_le_bytes([len[0], len[1]]));
            let stream = &stream[..stream.len().min(len.into())];
            all.push([&[0, 0, 0, 5, 1, 2, 3, 4, 5], stream].concat());
        }
    }
    all
}

/// Noise, of more lengths.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let mut all = noise();
    let mut numbers = XorShift::new(11);
    all.extend((0..200).map(|at| (0..40 + at).map(|_| numbers.next().to_le_bytes()[3]).collect()));
    all
}

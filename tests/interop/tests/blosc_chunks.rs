//! python-blosc2 and python-blosc read the chunks that are written here, and theirs are read here: whole, on two threads,
//! block by block and in parts.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use blosc_chunk::{BloscVersion, Chunk, Compressor, Decoder, Encoder, Params, Pipeline, SplitMode};
use interop::peer::{python, script};
use tempfile::tempdir;

const CODECS: [Compressor; 5] =
    [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD];
const TYPESIZES: [usize; 13] = [1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 255, 256, 300];
const LENGTHS: [usize; 12] = [0, 1, 31, 32, 33, 127, 128, 129, 1000, 4099, 20_000, 70_001];
const LEVELS: [u8; 5] = [1, 5, 0, 9, 3];
const SPLITS: [SplitMode; 4] =
    [SplitMode::ForwardCompat, SplitMode::Always, SplitMode::Never, SplitMode::Auto];
const PIPELINES: [&[&str]; 10] = [
    &[],
    &["shuffle"],
    &["bitshuffle"],
    &["delta"],
    &["delta", "shuffle"],
    &["delta", "bitshuffle"],
    &["shuffle", "delta"],
    &["shuffle:2"],
    &["shuffle", "bytedelta"],
    &["bytedelta"],
];

/// Runs the Python script; gives what it prints.
fn peer(command: &str, file: &Path) -> String {
    let output = Command::new(python().unwrap())
        .args(["-W", "error::RuntimeWarning"])
        .arg(script("blosc_cases.py"))
        .arg(command)
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A chunk and what it holds.
struct Case<'a> {
    name: &'a str,
    chunk: &'a [u8],
    plain: &'a [u8],
}

/// The cases of a file, as the script describes it.
fn cases(mut bytes: &[u8]) -> Vec<Case<'_>> {
    let mut next = || {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
        bytes = rest;
        Some(field)
    };
    let mut all = Vec::new();
    while let Some(name) = next() {
        let (chunk, plain) = (next().unwrap(), next().unwrap());
        all.push(Case { name: std::str::from_utf8(name).unwrap(), chunk, plain });
    }
    all
}

/// Ranges that begin and end inside elements, streams and blocks.
fn parts(len: usize, number: usize) -> Vec<Range<usize>> {
    if len == 0 {
        return std::iter::once(0..0).collect();
    }
    let mut seed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % limit
    };
    let (start, item, long) = (below(len), below(len), below(len));
    let end = start + below(len - start + 1);
    vec![0..1, len - 1..len, start..end, item..(item + 8).min(len), long..len]
}

/// Reads `case`, and returns an error for a wrong result.
fn read(decoder: &mut Decoder, case: &Case<'_>, number: usize) -> Result<(), String> {
    let fail = |what: &str, error: container_core::Error| format!("{}: {what}: {error}", case.name);
    let chunk = Chunk::parse(case.chunk).map_err(|error| fail("parse", error))?;
    if chunk.nbytes() != case.plain.len() || chunk.bytes().len() != case.chunk.len() {
        return Err(format!("{}: lengths {} and {}", case.name, chunk.nbytes(), chunk.bytes().len()));
    }
    let mut whole = vec![0xa5; case.plain.len()];
    decoder.decode(&chunk, &mut whole).map_err(|error| fail("whole", error))?;
    if whole != case.plain {
        let at = whole.iter().zip(case.plain).position(|(a, b)| a != b);
        return Err(format!("{}: other bytes, from {at:?}", case.name));
    }
    whole.fill(0xa5);
    decoder.decode_parallel(&chunk, &mut whole, 2).map_err(|error| fail("two threads", error))?;
    if whole != case.plain {
        return Err(format!("{}: other bytes on two threads", case.name));
    }
    for range in parts(case.plain.len(), number) {
        let mut part = vec![0xa5; range.len()];
        decoder.decode_range(&chunk, range.clone(), &mut part).map_err(|error| fail("part", error))?;
        if part != case.plain[range.clone()] {
            return Err(format!("{}: other bytes in {range:?}", case.name));
        }
    }
    for (index, range) in chunk.blocks().enumerate() {
        let mut block = vec![0xa5; range.len()];
        decoder.decode_block(&chunk, index, &mut block).map_err(|error| fail("block", error))?;
        if block != case.plain[range.clone()] {
            return Err(format!("{}: other bytes in block {index}, {range:?}", case.name));
        }
    }
    Ok(())
}

#[test]
fn every_chunk_of_theirs_is_read_whole_and_in_parts() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("theirs.bin");
    let counts = peer("write", &file);
    let bytes = std::fs::read(&file).unwrap();
    let cases = cases(&bytes);
    assert!(cases.len() > 7000, "only {} chunks:\n{counts}", cases.len());
    let mut decoder = Decoder::new();
    let problems: Vec<String> = cases
        .iter()
        .enumerate()
        .filter_map(|(number, case)| read(&mut decoder, case, number).err())
        .collect();
    let shown = problems.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} of {} chunks:\n{shown}", problems.len(), cases.len());
}

/// Turns out numbers that look like chance, the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Small steps, a smooth field with noise, few values, noise, a value over and over.
fn values(kind: usize, len: usize, typesize: usize, chance: &mut Chance) -> Vec<u8> {
    let mut sum = 0_u32;
    let mut bytes: Vec<u8> = match kind {
        0 => (0..len.div_ceil(4)).flat_map(|_| step(&mut sum, chance)).collect(),
        1 => (0..len.div_ceil(8))
            .flat_map(|at| ((at as f64 / 50.0).sin() + chance.below(1000) as f64 * 1e-6).to_le_bytes())
            .collect(),
        2 => (0..len).map(|_| chance.below(3) as u8 * 7).collect(),
        3 => (0..len).map(|_| chance.below(256) as u8).collect(),
        _ => (0..len).map(|at| (at % typesize.min(200)) as u8).collect(),
    };
    bytes.truncate(len);
    bytes
}

fn step(sum: &mut u32, chance: &mut Chance) -> [u8; 4] {
    *sum += chance.below(9) as u32;
    sum.to_le_bytes()
}

/// Writes the cases as the script describes them, and reads each as a check of its own.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    count: usize,
    decoder: Decoder,
}

impl Written {
    fn put(&mut self, name: &str, chunk: &[u8], plain: &[u8]) {
        if let Err(problem) = read(&mut self.decoder, &Case { name, chunk, plain }, self.count) {
            panic!("{problem}");
        }
        for field in [name.as_bytes(), chunk, plain] {
            self.bytes.extend((field.len() as u32).to_le_bytes());
            self.bytes.extend(field);
        }
        self.count += 1;
    }

    fn encode(&mut self, name: &str, params: &Params, plain: &[u8]) {
        let mut encoder = Encoder::new(params.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut chunk = Vec::new();
        let len = encoder.encode(plain, &mut chunk).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(len, chunk.len(), "{name}");
        assert!(len <= encoder.max_encoded_len(plain.len()), "{name}: {len} bytes");
        self.put(name, &chunk, plain);
    }

    /// Has the reference read all; gives how many it read.
    fn judged(&self) -> usize {
        let folder = tempdir().unwrap();
        let file = folder.path().join("ours.bin");
        std::fs::write(&file, &self.bytes).unwrap();
        peer("read", &file).trim().parse().unwrap()
    }
}

fn params(blosc_version: BloscVersion, compressor: Compressor, typesize: usize, filters: Pipeline) -> Params {
    let split = SplitMode::ForwardCompat;
    let (codec_meta, blocksize, dictionary, threads) = (0, None, false, 1);
    Params {
        blosc_version,
        compressor,
        codec_meta,
        level: 5,
        typesize,
        filters,
        split,
        blocksize,
        dictionary,
        threads,
    }
}

#[test]
fn every_chunk_of_ours_is_read_by_python_blosc2() {
    let mut written = Written::default();
    let mut number = 0;
    for compressor in CODECS {
        for words in PIPELINES {
            let filters = Pipeline::parse_words(words).unwrap();
            for (typesize, len) in TYPESIZES.iter().flat_map(|&typesize| LENGTHS.map(|len| (typesize, len))) {
                number += 1;
                // Without its frame, a chunk cannot tell C the typesize that its byte lacks room for.
                let unsaid = typesize > 255 && words.contains(&"bytedelta");
                if unsaid || len > 5000 && number % 3 != 0 {
                    continue;
                }
                let mut chance = Chance(number);
                let mut params = params(BloscVersion::Blosc2, compressor, typesize, filters);
                (params.level, params.split) = (LEVELS[chance.below(5)], SPLITS[chance.below(4)]);
                params.threads = 1 + chance.below(2);
                params.blocksize = [None, None, None, Some(2048), Some(7168)][chance.below(5)];
                let kind = chance.below(5);
                let plain = values(kind, len, typesize, &mut chance);
                let name = format!("blosc2 {number} {words:?} kind {kind} length {len} {params:?}");
                written.encode(&name, &params, &plain);
            }
        }
    }
    assert!(written.count > 5000, "only {} chunks", written.count);
    assert_eq!(written.judged(), written.count);
}

#[test]
fn every_chunk_of_ours_is_read_by_python_blosc() {
    let mut written = Written::default();
    let mut number = 0;
    for compressor in CODECS {
        for words in &PIPELINES[..3] {
            let filters = Pipeline::parse_words(words).unwrap();
            for (typesize, len) in TYPESIZES.iter().flat_map(|&typesize| LENGTHS.map(|len| (typesize, len))) {
                number += 1;
                let mut chance = Chance(number);
                let mut params = params(BloscVersion::Blosc1, compressor, typesize, filters);
                (params.level, params.threads) = (LEVELS[chance.below(5)], 1 + chance.below(2));
                params.blocksize = [None, None, None, Some(2048), Some(7168)][chance.below(5)];
                let kind = chance.below(5);
                let plain = values(kind, len, typesize, &mut chance);
                let name = format!("blosc1 {number} {words:?} kind {kind} length {len} {params:?}");
                written.encode(&name, &params, &plain);
            }
        }
    }
    assert!(written.count > 2000, "only {} chunks", written.count);
    assert_eq!(written.judged(), written.count);
}

#[test]
fn special_chunks_are_read_by_python_blosc2() {
    let mut written = Written::default();
    for typesize in [1, 4, 8, 24, 255] {
        let params = params(BloscVersion::Blosc2, Compressor::LZ4, typesize, Pipeline::shuffle());
        let encoder = Encoder::new(params).unwrap();
        let value: Vec<u8> = (0..typesize).map(|at| (at + 7) as u8).collect();
        let mut special = |name: &str, chunk: Vec<u8>, plain: Vec<u8>| {
            written.put(&format!("blosc2 special {name} typesize {typesize}"), &chunk, &plain);
        };
        for items in [1, 100, 5000] {
            let len = items * typesize;
            let mut chunk = Vec::new();
            encoder.zeros(len, &mut chunk).unwrap();
            special("zeros", std::mem::take(&mut chunk), vec![0; len]);
            encoder.value(&value, len, &mut chunk).unwrap();
            special("value", std::mem::take(&mut chunk), value.repeat(items));
            if let 4 | 8 = typesize {
                let nan = if typesize == 4 {
                    f32::NAN.to_le_bytes().to_vec()
                } else {
                    f64::NAN.to_le_bytes().to_vec()
                };
                encoder.nan(len, &mut chunk).unwrap();
                special("nan", chunk, nan.repeat(items));
            }
        }
    }
    assert_eq!(written.judged(), written.count);
}

#[test]
fn dictionaries_are_read_by_python_blosc2() {
    let mut written = Written::default();
    let lines = |number: usize| format!("{{\"id\":{number},\"name\":\"item {}\"}}\n", number * number % 977);
    let text: Vec<u8> = (0..6000).flat_map(|number| lines(number).into_bytes()).collect();
    let mut dictionaries = 0;
    for compressor in [Compressor::LZ4, Compressor::LZ4HC, Compressor::ZSTD] {
        for level in [1, 5, 9] {
            for blocksize in [512, 1024, 4096] {
                let mut params = params(BloscVersion::Blosc2, compressor, 1, Pipeline::none());
                (params.level, params.blocksize, params.dictionary) = (level, Some(blocksize), true);
                written.encode(&format!("blosc2 dictionary {params:?}"), &params, &text);
                let mut chunk = Vec::new();
                Encoder::new(params).unwrap().encode(&text, &mut chunk).unwrap();
                dictionaries += usize::from(!Chunk::parse(&chunk).unwrap().dictionary().is_empty());
            }
        }
    }
    assert!(dictionaries > 9, "{dictionaries} chunks have a dictionary");
    assert_eq!(written.judged(), written.count);
}

#[test]
fn blocks_of_any_length_are_read_by_python_blosc2() {
    let mut written = Written::default();
    for compressor in CODECS {
        for words in &PIPELINES[..3] {
            let params = params(BloscVersion::Blosc2, compressor, 4, Pipeline::parse_words(words).unwrap());
            let mut chance = Chance(1);
            let blocks: Vec<Vec<u8>> = (0..12)
                .map(|number| values(number % 4, 1 + number * number * 37 % 3001, 4, &mut chance))
                .collect();
            let slices: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let mut chunk = Vec::new();
            Encoder::new(params).unwrap().encode_blocks(&slices, &mut chunk).unwrap();
            written.put(&format!("vl {compressor} {words:?}"), &chunk, &blocks.concat());
        }
    }
    assert_eq!(written.judged(), written.count);
}

//! Blocks of the fixtures, with decoded bytes from the reference implementations.
#![allow(clippy::arithmetic_side_effects, reason = "a test")]

mod sizes;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use container_codecs::checksum::Algorithm;
use container_core::source::FileSource;
use container_core::{ErrorKind, Limits, Stop};

use super::*;
use crate::Layout;

/// A codec of frames of one length: the test only needs to see its bytes arrive.
struct Frames;

impl Codec for Frames {
    fn name(&self) -> &str {
        "frames"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.fill(0);
        dst[..8].copy_from_slice(&src[2..10]);
        Ok(())
    }

    fn encode(&self, _: &[u8], _: Option<i32>, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("only reads"))
    }

    fn max_encoded_len(&self, _: usize) -> usize {
        0
    }
}

fn testdata() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/asdf")
}

/// The files of `folder` that begin with `prefix`: name, and the digests of the decoded blocks that have one.
fn files(folder: &str, prefix: &str) -> BTreeMap<String, Vec<Option<String>>> {
    let manifest = std::fs::read_to_string(testdata().join("MANIFEST.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let start = format!("{folder}/{prefix}");
    let files = manifest["file"].as_array().unwrap().iter().filter_map(|file| {
        let path = file["path"].as_str().filter(|path| path.starts_with(&start))?;
        let blocks =
            file.get("stored_blocks").and_then(|blocks| blocks.as_array()).cloned().unwrap_or_default();
        let digest =
            |block: &toml::Value| block.get("decoded").and_then(|digest| digest.as_str()).map(str::to_owned);
        Some((path.to_owned(), blocks.iter().map(digest).collect()))
    });
    files.collect()
}

/// Reads the part `range` of block `index`, or all of it, from memory (which lends) and by position (which does not).
fn read(
    path: &str,
    index: usize,
    range: Option<&Range<u64>>,
    threads: usize,
    limits: &Limits,
) -> Result<Vec<u8>> {
    let path = testdata().join(path);
    let bytes = std::fs::read(&path).unwrap();
    let file = FileSource::open(&path)?;
    let mut results = [&bytes as &dyn Source, &file].map(|source| {
        let layout = Layout::parse(source, limits)?;
        let block = layout.blocks.get(index).ok_or_else(|| Error::malformed("no such block"))?;
        let range = range.cloned().unwrap_or(0..block.data_size());
        let mut dst = vec![0xaa; limits.allocate(range.end - range.start)?];
        read_range(source, block, &codecs(), limits, threads, range, &mut dst).map(|()| dst)
    });
    let last = results[1].as_ref().map_err(ToString::to_string);
    assert_eq!(results[0].as_ref().map_err(ToString::to_string), last, "{}", path.display());
    std::mem::replace(&mut results[0], Ok(Vec::new()))
}

#[test]
fn every_block_decodes_to_the_reference_digest() {
    let limits = Limits::default();
    let files = files("ok", "label");
    assert!(files.len() >= 30, "{}", files.len());
    let mut decoded_blocks = 0;
    for (path, blocks) in &files {
        for (index, digest) in blocks.iter().enumerate() {
            let digest = digest.as_ref().unwrap();
            let frame = path.contains("bls2_frame") || path.contains("bsc2");
            let whole = read(path, index, None, 1, &limits);
            if frame {
                assert!(matches!(whole.unwrap_err().kind(), ErrorKind::Unsupported(_)), "{path}");
                continue;
            }
            let whole = whole.unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(Algorithm::Sha256.digest(&whole).to_string(), *digest, "{path} {index}");
            decoded_blocks += 1;
            let len = whole.len() as u64;
            for threads in [1, 3] {
                for range in [0..len, 0..len / 3, len / 3..len / 3 + len.min(5), len / 2..len, len..len, 0..0]
                {
                    let part = read(path, index, Some(&range), threads, &limits).unwrap();
                    let start = usize::try_from(range.start).unwrap();
                    assert!(part == whole[start..start + part.len()], "{path} {index} {range:?}");
                }
            }
        }
    }
    assert!(decoded_blocks >= 30);
}

/// All of block `index` in pieces, within so much memory.
fn in_pieces(bytes: &[u8], index: usize, memory: u64, threads: usize) -> Result<Vec<u8>> {
    let limits = Limits::default().with_memory(memory);
    let layout = Layout::parse(&bytes, &Limits::default())?;
    let block = layout.blocks.get(index).ok_or_else(|| Error::malformed("no such block"))?;
    let mut all = Vec::new();
    let mut take = |piece: &[u8]| {
        all.extend_from_slice(piece);
        Ok(())
    };
    read_in_pieces(&bytes, block, &codecs(), &limits, threads, &mut take)?;
    Ok(all)
}

#[test]
fn every_block_decodes_in_pieces_to_the_reference_digest() {
    for (path, blocks) in &files("ok", "label") {
        if path.contains("bls2_frame") || path.contains("bsc2") {
            continue;
        }
        let bytes = std::fs::read(testdata().join(path)).unwrap();
        for (index, digest) in blocks.iter().enumerate() {
            for (memory, threads) in [(u64::MAX, 1), (64 << 20, 3)] {
                let all = in_pieces(&bytes, index, memory, threads).expect(path);
                let sha256 = Algorithm::Sha256.digest(&all).to_string();
                assert_eq!(Some(&sha256), digest.as_ref(), "{path} {index}");
            }
        }
    }
    for path in files("bad", "block_").keys() {
        let bytes = std::fs::read(testdata().join(path)).unwrap();
        let layout = Layout::parse(&bytes, &Limits::default()).unwrap();
        for block in layout.blocks.iter().filter(|block| block.label().is_some()) {
            // One call is the reference.
            let limits = Limits::default().with_memory(64 << 20);
            let Ok(len) = limits.allocate(block.data_size()) else { continue };
            let mut dst = vec![0; len];
            let (range, codecs) = (0..block.data_size(), codecs());
            let whole = read_range(&bytes, block, &codecs, &limits, 1, range, &mut dst);
            let pieces = in_pieces(&bytes, block.index, 64 << 20, 2);
            assert_eq!(whole.is_ok(), pieces.is_ok(), "{path}: {whole:?}, {:?}", pieces.err());
        }
    }
}

/// Chunks are in memory a few at a time, streams a piece.
#[test]
fn pieces_are_short() {
    let values =
        |count: u32| -> Vec<u8> { (0..count).flat_map(|k| (k.wrapping_mul(k) / 50).to_le_bytes()).collect() };
    for (label, count, memory, most) in [
        ("lz4", 2_700_000, 10 << 20, 4 << 20),
        ("zlib", 250_000, 800_000, 64 << 10),
        ("bzp2", 250_000, 800_000, 64 << 10),
        ("zstd", 2_700_000, 10 << 20, 64 << 10),
    ] {
        let (values, mut stored) = (values(count), Vec::new());
        encode(label, &values, &EncodeOptions::default(), &mut stored).unwrap();
        let (limits, range) = (Limits::default().with_memory(memory), 0..stored.len() as u64);
        let decoded_len = values.len() as u64;
        for threads in [1, 3] {
            let encoded =
                Encoded { source: &stored, range: range.clone(), decoded_len, limits: &limits, threads };
            let mut at = 0;
            let mut take = |piece: &[u8]| {
                assert!(piece.len() <= most, "{label}: {}", piece.len());
                assert!(values[at..].starts_with(piece), "{label} {at}");
                at += piece.len();
                Ok(())
            };
            codecs().get(label).unwrap().decode_in_pieces(&encoded, &mut take).unwrap();
            assert_eq!(at, values.len(), "{label}");
        }
    }
}

/// A source that makes the request with its read number `last`.
struct Stopping {
    bytes: Vec<u8>,
    last: u64,
    reads: AtomicU64,
    flag: &'static AtomicBool,
}

impl Source for Stopping {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        if self.reads.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.bytes.read_into(at, dst)
    }
}

/// A chunk has two reads: its head and itself.
#[test]
fn no_chunk_is_begun_after_a_request() {
    let values: Vec<u8> = (0..600_000_u32).flat_map(|k| (k.wrapping_mul(k) / 50).to_le_bytes()).collect();
    let (mut stored, chunk_len) = (Vec::new(), 300_000);
    for chunk in values.chunks(chunk_len) {
        lz4_chunks::encode_chunk(chunk, None, &mut stored).unwrap();
    }
    let chunks = values.len().div_ceil(chunk_len) as u64;
    for threads in [1, 3] {
        let flag: &'static AtomicBool = Box::leak(Box::default());
        let source = Stopping { bytes: stored.clone(), last: 5, reads: AtomicU64::new(0), flag };
        let limits = Limits::default().with_stop(Stop::when(flag));
        let (range, decoded_len) = (0..stored.len() as u64, values.len() as u64);
        let encoded = Encoded { source: &source, range, decoded_len, limits: &limits, threads };
        let mut dst = vec![0; values.len()];
        let done = codecs().get("lz4").unwrap().decode_range(&encoded, 0..decoded_len, &mut dst);
        assert!(matches!(done.unwrap_err().kind(), ErrorKind::Cancelled));
        let reads = source.reads.into_inner();
        assert!(reads < 5 + 2 * threads as u64 && reads < chunks * 2, "{threads} threads, {reads} reads");
    }
}

fn last_encoded(path: &str) -> usize {
    let bytes = std::fs::read(testdata().join(path)).unwrap();
    let layout = Layout::parse(&bytes, &Limits::default()).unwrap();
    layout.blocks.iter().rposition(|block| block.label().is_some()).expect(path)
}

#[test]
fn blocks_that_do_not_decode_are_refused_in_whole_and_without_panic_in_parts() {
    // Large enough for the real data, not for some stated lengths.
    let limits = Limits::default().with_memory(64 << 20);
    let mut refused = 0;
    for path in files("bad", "block_").keys() {
        let is_of_codec = ["bls2", "blsc", "bsc2", "bzp2", "lz4", "xz", "zlib", "zstd"]
            .iter()
            .any(|label| path.starts_with(&format!("bad/block_{label}_")));
        if !is_of_codec {
            continue;
        }
        for threads in [1, 2] {
            // The last block that is encoded; others before it are sound.
            let index = last_encoded(path);
            let error = read(path, index, None, threads, &limits).expect_err(path);
            let is_told = matches!(
                error.kind(),
                ErrorKind::Malformed(_)
                    | ErrorKind::Truncated { .. }
                    | ErrorKind::Unsupported(_)
                    | ErrorKind::Limit { .. }
            );
            assert!(is_told, "{path}: {error}");
            // A part may well be whole.
            let _ = read(path, index, Some(&(0..3)), threads, &limits);
        }
        refused += 1;
    }
    assert!(refused >= 40, "{refused}");
}

#[test]
fn frames_go_to_the_codec_of_frames_and_chunks_do_not() {
    let frames: Arc<dyn Codec> = Arc::new(Frames);
    let codecs = codecs_with_frames(&frames);
    for (path, is_frame) in [
        ("ok/label_bls2_frame.asdf", true),
        ("ok/label_bsc2.asdf", true),
        ("ok/label_bls2_chunk.asdf", false),
    ] {
        let bytes = std::fs::read(testdata().join(path)).unwrap();
        let limits = Limits::default();
        let layout = Layout::parse(&bytes, &limits).unwrap();
        let block = &layout.blocks[0];
        let mut dst = vec![0; 12_000];
        read_range(&bytes, block, &codecs, &limits, 2, 0..12_000, &mut dst).unwrap();
        assert_eq!(dst.starts_with(b"b2frame\0"), is_frame, "{path}");
    }
}

/// Every byte of a block's payload changed, one at a time: never a panic, and decoded bytes have the right length.
#[test]
fn changed_bytes_do_no_harm() {
    let values: Vec<u8> = (0..400_u32).flat_map(|k| (k * k / 50).to_le_bytes()).collect();
    let limits = Limits::default().with_memory(1 << 26);
    for label in WRITABLE {
        let mut stored = Vec::new();
        encode(label, &values, &EncodeOptions { typesize: 4, ..EncodeOptions::default() }, &mut stored)
            .unwrap();
        for at in 0..stored.len() {
            let mut changed = stored.clone();
            changed[at] ^= 1 << (at % 8);
            let codecs = codecs();
            let codec = codecs.get(label).unwrap();
            for range in [0..values.len() as u64, 700..900] {
                let encoded = Encoded {
                    source: &changed,
                    range: 0..changed.len() as u64,
                    decoded_len: values.len() as u64,
                    limits: &limits,
                    threads: 1,
                };
                let mut dst = vec![0; usize::try_from(range.end - range.start).unwrap()];
                let done = codec.decode_range(&encoded, range.clone(), &mut dst);
                // These have a checksum of their own.
                if ["zlib", "bzp2"].contains(&label) && range.start == 0 && at > 1 && done.is_ok() {
                    assert!(dst == values, "{label} {at}");
                }
            }
        }
    }
}

/// Chunks by python-blosc2 4.14.1, each with its length before it, whose first one has blocks of as many bytes as are stored in all: one of 160
/// bytes, and two of 200. The data are noise, then zeros.
const COUNTED: [(&str, usize, usize); 2] = [
    (
        "0000009c05013501a0000000a00000009c000000000000000000010000000000000000002400000074000000ff5a6643c38fb6a0dabab8\
    d3750582a483b16e9305705cbc21f18b7c05087f5b450fbbdf06787afbc5b0f0efc3126a3e22ec0837bfb56a5fc679b9e2650eb7c5a056\
    444113a9d4fd149a209568c3bc6b0abb01da20cbcb3dbd1c6fe178fb1c10cf1b77bc565c000000000005001f500000000000",
        100,
        160,
    ),
    (
        "000000a005013501c8000000c8000000a0000000000000000000010000000000000000002400000078000000ff5e6643c38fb6a0dabab8\
    d3750582a483b16e9305705cbc21f18b7c05087f5b450fbbdf06787afbc5b0f0efc3126a3e22ec0837bfb56a5fc679b9e2650eb7c5a056\
    444113a9d4fd149a209568c3bc6b0abb01da20cbcb3dbd1c6fe178fb1c10cf1b77bc565c468e23a3000000000005004350000000000000\
    00002005013501c8000000c80000002000000000000000000001000000000000000010",
        104,
        400,
    ),
];

const NOISE: &str = "6643c38fb6a0dabab8d3750582a483b16e9305705cbc21f18b7c05087f5b450fbbdf06787afbc5b0f0efc3126a3e22ec0837bfb56a5fc6\
    79b9e2650eb7c5a056444113a9d4fd149a209568c3bc6b0abb01da20cbcb3dbd1c6fe178fb1c10cf1b77bc565c468e23a3";

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn length_prefixed_chunk_with_blocksize_of_the_stored_size_decodes() {
    let limits = Limits::default();
    for (stored, noise, len) in COUNTED {
        let stored = hex(stored);
        let mut data = hex(NOISE)[..noise].to_vec();
        data.resize(len, 0);
        let encoded = Encoded {
            source: &stored,
            range: 0..stored.len() as u64,
            decoded_len: len as u64,
            limits: &limits,
            threads: 1,
        };
        let codec = Blosc::default();
        for part in [0..len, 3..len - 1, len - 1..len] {
            let mut dst = vec![0xaa; part.len()];
            codec.decode_range(&encoded, part.start as u64..part.end as u64, &mut dst).unwrap();
            assert!(dst == data[part.clone()], "{len}: {part:?}");
        }
        let mut all = Vec::new();
        codec
            .decode_in_pieces(&encoded, &mut |piece| {
                all.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        assert!(all == data);
        assert_eq!(salvage::declared_len("blsc", &encoded).unwrap(), Some(len as u64));
        let salvaged = salvage::salvage("blsc", &encoded, true).unwrap().unwrap();
        assert!(salvaged.bytes == data && salvaged.holes.is_empty());
    }
}

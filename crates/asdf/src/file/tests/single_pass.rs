//! Whole reads of blocks with digests: each stored byte is read once, from a source that cannot lend bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use container_codecs::checksum::Algorithm;

use super::*;

/// A file that is read by position, and counts the bytes that are read.
struct Counted(Vec<u8>, Arc<AtomicU64>);

impl Source for Counted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1.fetch_add(dst.len() as u64, Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
}

fn counted(bytes: Vec<u8>, options: OpenOptions) -> (File, Arc<AtomicU64>) {
    let count = Arc::<AtomicU64>::default();
    let file = File::from_source(Box::new(Counted(bytes, Arc::clone(&count))), None, options).unwrap();
    count.store(0, Ordering::Relaxed);
    (file, count)
}

fn comparing(threads: usize) -> ReadOptions {
    let mut options = ReadOptions::default().with_threads(threads);
    options.digests = Digests::Compare;
    options
}

/// Bytes that are neither all alike nor noise.
fn data(len: u32) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(at >> 9) >> 7) as u8).collect()
}

#[test]
fn a_block_is_read_once_for_its_values_and_its_digest_whatever_its_codec() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/asdf/ok");
    let mut labels = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !(name.starts_with("label_") || name.starts_with("codec_")) {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for threads in [1, 3] {
            let (file, count) = counted(bytes.clone(), OpenOptions::default());
            for index in 0..file.blocks().len() {
                let block = &file.blocks()[index];
                // Frames are read by a codec that the façade brings.
                let Ok(lent) = File::from_bytes(bytes.clone(), OpenOptions::default())
                    .unwrap()
                    .read_block(index, &comparing(1))
                    .map(Cow::into_owned)
                else {
                    continue;
                };
                assert!(*file.read_block(index, &comparing(threads)).unwrap() == lent, "{name}");
                assert_eq!(count.swap(0, Ordering::Relaxed), block.header.used_size, "{name}, {threads}");
                // Compared once: the next read compares no digest.
                assert!(!file.is_unverified(block));
                labels.insert(block.label().unwrap_or("none").to_owned());
            }
        }
    }
    let all = ["bls2", "blsc", "bzp2", "lz4", "lz4f", "none", "xz", "zlib", "zstd"];
    assert!(all.iter().all(|label| labels.contains(*label)), "{labels:?}");
}

#[test]
fn an_array_that_is_all_of_a_block_is_read_once() {
    // More pieces than one.
    let data = data(1_200_001);
    let tree = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, shape: [1200001]}";
    for label in ["none", "zlib", "bzp2", "lz4", "blsc", "zstd"] {
        let block = if label == "none" { plain(&data) } else { encoded(label, &data) };
        for (threads, digests) in [(1, Digests::Whole), (2, Digests::Whole), (2, Digests::Compare)] {
            let block = block.clone();
            let stored = block.len() as u64 - 54;
            let (file, count) = counted(bytes(tree, &[block]), OpenOptions::default());
            let mut options = comparing(threads);
            options.digests = digests;
            let read = |region: &str| {
                let region = Region::parse(region, &[1_200_001]).unwrap();
                file.read("a", &region, &options)
                    .unwrap()
                    .bytes(Order::C, &Limits::default())
                    .unwrap()
                    .into_owned()
            };
            assert!(read(":") == data, "{label}");
            assert_eq!(count.load(Ordering::Relaxed), stored, "{label}, {threads} threads");
            assert!(file.uncompared().is_none());
        }
    }
}

#[test]
fn a_digest_that_does_not_fit_is_reported_whether_or_not_the_block_decodes() {
    let data = data(50_001);
    for label in ["none", "zlib", "bzp2", "lz4", "blsc", "zstd"] {
        let whole = if label == "none" { plain(&data) } else { encoded(label, &data) };
        for threads in [1, 2] {
            let (whole, len) = (whole.clone(), whole.len());
            let read = |block: Vec<u8>, digests: Digests| {
                let mut options = comparing(threads);
                options.digests = digests;
                let (file, _) = counted(bytes("a: 1", &[block]), OpenOptions::default());
                file.read_block(0, &options).map(Cow::into_owned)
            };
            // The digest's own bytes end before the data.
            let mut wrong = whole.clone();
            wrong[53] ^= 1;
            let error = read(wrong.clone(), Digests::Compare).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{label}: {error}");
            assert!(read(wrong, Digests::Ignore).unwrap() == data);
            // Stored bytes that do not fit it, and may not decode either.
            let mut damaged = whole.clone();
            damaged[54 + (len - 54) / 2] ^= 0xff;
            let error = read(damaged, Digests::Whole).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{label}: {error}");
            // Bytes that fit it and do not decode.
            if label != "none" {
                let mut short = whole.clone();
                short[30..38].copy_from_slice(&(data.len() as u64 + 1).to_be_bytes());
                let error = read(short, Digests::Compare).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{label}: {error}");
                // As Python asdf wrote it before 5.3.
                let mut legacy = whole;
                legacy[38..54].copy_from_slice(Algorithm::Md5.digest(&data).as_bytes());
                assert!(read(legacy, Digests::Compare).unwrap() == data, "{label}");
            }
        }
    }
}

#[test]
fn stored_bytes_that_memory_has_no_room_for_are_compared_all_the_same() {
    // Noise: stored in as many bytes as it has.
    let noise: Vec<u8> =
        (0..1_u64 << 20).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u8).collect();
    let mut block = encoded("lz4", &noise);
    let options = comparing(1).with_limits(Limits::default().with_memory(noise.len() as u64));
    let read = |block: &[u8]| {
        counted(bytes("a: 1", &[block.to_vec()]), OpenOptions::default())
            .0
            .read_block(0, &options)
            .map(Cow::into_owned)
    };
    assert!(read(&block).unwrap() == noise);
    block[53] ^= 1;
    assert!(matches!(read(&block).unwrap_err().kind(), ErrorKind::Checksum { .. }));
}

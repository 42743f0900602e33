//! Random frames both ways: every size of element, odd lengths, chunks and blocks of different sizes, dictionaries, directories, frames
//! inside of other files.

use std::path::PathBuf;

use blosc2_frame::blosc_chunk::{Compressor, Filter};
use blosc2_frame::{EditOptions, Editor, Frame, FrameOptions, Kind, OpenOptions, Writer, default_params};
use container_core::container::ReadOptions;
use container_core::write::{AtomicFile, Durability, Overwrite};
use serde_json::json;
use tempfile::TempDir;

use crate::peers::{Peer, Release, folder, put};
use crate::random::{Random, cases};

const TYPESIZES: [usize; 13] = [1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 255, 256, 300];

const PIPELINES: [&str; 6] = ["", "shuffle", "bitshuffle", "shuffle bytedelta", "delta", "delta shuffle"];

/// Lengths of chunks: all but the last `chunksize`, or any.
fn sizes(random: &mut Random, typesize: usize, variable: bool) -> Vec<usize> {
    let count = random.below(5) as usize;
    let chunksize = typesize * (1 + random.below(900) as usize);
    if variable {
        return (0..=count).map(|_| typesize * (1 + random.below(700) as usize)).collect();
    }
    let last = if random.chance(5) { chunksize } else { 1 + random.below(chunksize as u64) as usize };
    let mut sizes = vec![chunksize; count];
    sizes.push(last);
    sizes
}

fn contents(frame: &Frame) -> Vec<Vec<u8>> {
    frame.chunks(&ReadOptions::default()).map(Result::unwrap).collect()
}

/// A copy of a frame, chunk by chunk.
fn copied(folder: &TempDir, frame: &Frame, typesize: usize) -> PathBuf {
    let mut bytes = Vec::new();
    let mut options = FrameOptions::default();
    options.params = default_params(typesize);
    let mut writer = Writer::new(&mut bytes, options).unwrap();
    for index in 0..frame.chunk_count() {
        writer.append_chunk(&frame.chunk(index).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    put(folder, "copied.b2frame", &bytes)
}

#[test]
fn frames_of_every_size_of_element_come_over_both_ways() {
    let mut random = Random::new(10);
    let mut peers = Peer::both();
    let (mut by_old, mut uneven) = ([0; 2], 0);
    for number in 0..cases(150) {
        let folder = folder();
        let typesize = random.pick(&TYPESIZES);
        let variable = random.chance(3);
        let sizes = sizes(&mut random, typesize, variable);
        let total = sizes.iter().sum();
        let mut values = random.bytes(total);
        // C-Blosc2 loses the size of a chunk of zeros where sizes vary.
        let mut start = 0;
        let chunks: Vec<Vec<u8>> = sizes
            .iter()
            .map(|size| {
                let end = start + size;
                values[start] |= u8::from(variable);
                let chunk = values[start..end].to_vec();
                start = end;
                chunk
            })
            .collect();
        let (params, cparams) = random.params(typesize, &PIPELINES);
        let has = |id| params.filters.filters().any(|filter| filter.id == id);
        let label = format!("case {number}: {typesize} {sizes:?} {variable} {cparams}");
        // python-blosc2 takes the size of an element for a signed byte there.
        if has(Filter::BYTEDELTA) && typesize > 127 {
            continue;
        }
        // What 2.16 does otherwise; see the tests of arrays.
        let for_old = !variable && typesize < 256 && !has(Filter::BYTEDELTA) && !has(Filter::DELTA);
        let at = random.below(3) * 1000;
        let sparse = at == 0 && random.chance(4);
        let path = folder.path().join("ours.b2frame");
        let mut options = FrameOptions::default();
        options.params = params.clone();
        options.variable_chunks = variable;
        if sparse {
            options.kind = Kind::Sparse;
            let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
            let pieces: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            editor.append_all(&pieces).unwrap();
            editor.commit(Durability::Cached).unwrap();
        } else {
            let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
            let mut writer = Writer::new(&mut out, options).unwrap();
            for chunk in &chunks {
                writer.append(chunk).unwrap();
            }
            writer.finish().unwrap();
            out.commit(Durability::Cached).unwrap();
            let frame = std::fs::read(&path).unwrap();
            let around = [vec![0xaa; at as usize], frame, b"behind".to_vec()].concat();
            std::fs::write(&path, around).unwrap();
        }
        let opened = if sparse {
            Frame::open(&path).unwrap()
        } else {
            Frame::open_at(&path, at, &OpenOptions::default()).unwrap()
        };
        assert!(contents(&opened) == chunks, "{label}");
        let raw = folder.path().join("raw");
        for peer in &mut peers {
            if peer.release == Release::Old {
                if !for_old {
                    continue;
                }
                by_old[0] += 1;
            }
            let mut request = json!({"path": path, "raw": raw});
            if at > 0 {
                request["offset"] = at.into();
            }
            let answer = peer.ask("read", request);
            assert_eq!(answer["nchunks"], chunks.len(), "{label}");
            assert_eq!(answer["typesize"], typesize, "{label}");
            assert!(std::fs::read(&raw).unwrap() == values, "{label} by {:?}", peer.release);
        }
        // The other way. C-Blosc2 loses the last bytes under DELTA, where they are not a whole element.
        let even = sizes.iter().all(|size| size.is_multiple_of(typesize));
        if !even && has(Filter::DELTA) {
            continue;
        }
        let source = put(&folder, "source", &values);
        let theirs = folder.path().join("theirs.b2frame");
        let writer = usize::from(for_old && random.chance(5));
        by_old[1] += writer;
        let request = json!({"path": theirs, "raw": source, "typesize": typesize, "sizes": sizes,
            "sparse": random.chance(3), "cparams": cparams});
        peers[writer].try_ask("frame", request).unwrap_or_else(|error| panic!("{label}: {error}"));
        let frame = Frame::open(&theirs).unwrap();
        assert!(contents(&frame) == chunks, "{label}, written by {:?}", peers[writer].release);
        if !even {
            // In a chunk that is shorter than a block 3.3.5 writes what it does not read itself, until it is copied.
            uneven += 1;
            let path = copied(&folder, &frame, typesize);
            assert!(peers[0].read(&path).1 == values, "{label}, copied");
        }
        for _ in 0..3 {
            let start = random.below(total as u64 + 1);
            let end = start + random.below(total as u64 - start + 1);
            let part = frame.read_range(start..end, &ReadOptions::default()).unwrap();
            assert!(part == values[start as usize..end as usize], "{label}: {start}..{end}");
        }
    }
    assert!(by_old.iter().all(|count| *count >= 15), "{by_old:?}");
    assert!(uneven > 4, "{uneven} of parts of elements");
}

#[test]
fn blocks_of_different_lengths_come_over_both_ways() {
    let mut random = Random::new(11);
    let mut peer = Peer::start(Release::Newest);
    for number in 0..cases(20) {
        let folder = folder();
        let path = folder.path().join("ours.b2frame");
        let (mut params, _) = random.params(1, &["", "shuffle"]);
        params.dictionary = params.compressor == Compressor::ZSTD && random.chance(5);
        params.level = params.level.max(1);
        let mut options = FrameOptions::default();
        options.params = params.clone();
        options.variable_chunks = true;
        let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
        let mut writer = Writer::new(&mut out, options).unwrap();
        let block = |random: &mut Random| {
            let len = 1 + random.below(800) as usize;
            random.bytes(len)
        };
        let chunks: Vec<Vec<Vec<u8>>> = (0..1 + random.below(4))
            .map(|_| (0..1 + random.below(6)).map(|_| block(&mut random)).collect())
            .collect();
        for chunk in &chunks {
            let blocks: Vec<&[u8]> = chunk.iter().map(Vec::as_slice).collect();
            writer.append_blocks(&blocks).unwrap();
        }
        writer.finish().unwrap();
        out.commit(Durability::Cached).unwrap();
        let raw = folder.path().join("raw");
        for (n, chunk) in chunks.iter().enumerate() {
            for (block, expected) in chunk.iter().enumerate() {
                peer.ask("vlblock", json!({"path": path, "n": n, "block": block, "raw": raw}));
                assert!(std::fs::read(&raw).unwrap() == *expected, "case {number}: {params:?}: {n}, {block}");
            }
        }
        // Lists of numbers below 128, which are one byte each in msgpack; up to 15 of them have one byte before.
        let batches: Vec<Vec<u64>> = (0..1 + random.below(4))
            .map(|_| (0..1 + random.below(30)).map(|_| random.below(128)).collect())
            .collect();
        let per_block = 1 + random.below(15);
        let theirs = folder.path().join("theirs.b2b");
        peer.ask("batches", json!({"path": theirs, "batches": batches, "items_per_block": per_block}));
        let frame = Frame::open(&theirs).unwrap();
        assert_eq!(frame.chunk_count(), batches.len() as u64);
        for (n, batch) in batches.iter().enumerate() {
            let blocks: Vec<Vec<u8>> = batch
                .chunks(per_block as usize)
                .map(|items| {
                    [0x90 + items.len() as u8].into_iter().chain(items.iter().map(|it| *it as u8)).collect()
                })
                .collect();
            let options = ReadOptions::default();
            let found: Vec<Vec<u8>> = (0..frame.block_count(n as u64).unwrap())
                .map(|block| frame.read_block(n as u64, block, &options).unwrap())
                .collect();
            assert_eq!(found, blocks, "case {number}, batch {n}");
        }
    }
}

#[test]
fn dictionaries_come_over_both_ways() {
    let mut peers = Peer::both();
    let words: Vec<u8> = (0..60_000_u32)
        .flat_map(|at| format!("{{\"id\": {}, \"name\": \"n{}\"}}\n", at * 7919 % 5003, at % 13).into_bytes())
        .collect();
    let mut made = 0;
    for (compressor, name) in
        [(Compressor::ZSTD, "zstd"), (Compressor::LZ4, "lz4"), (Compressor::LZ4HC, "lz4hc")]
    {
        for blocksize in [2048, 16_384] {
            let folder = folder();
            let path = folder.path().join("ours.b2frame");
            let mut options = FrameOptions::default();
            options.params = default_params(1);
            options.params.compressor = compressor;
            options.params.blocksize = Some(blocksize);
            options.params.dictionary = true;
            let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
            let mut writer = Writer::new(&mut out, options).unwrap();
            for chunk in words.chunks(600_000) {
                writer.append(chunk).unwrap();
            }
            writer.finish().unwrap();
            out.commit(Durability::Cached).unwrap();
            // The last byte of the first chunk's header has the flag.
            made += u32::from(std::fs::read(&path).unwrap()[97 + 31] & 1);
            for peer in &mut peers {
                // 2.16 reads no dictionaries, not even its own.
                if peer.release == Release::Newest {
                    assert!(peer.read(&path).1 == words, "{name} {blocksize} by {:?}", peer.release);
                }
            }
            let source = put(&folder, "source", &words);
            let theirs = folder.path().join("theirs.b2frame");
            let writer = usize::from(compressor == Compressor::ZSTD && blocksize == 2048);
            peers[writer].ask(
                "frame",
                json!({"path": theirs, "raw": source, "typesize": 1, "chunksize": 600_000,
                    "cparams": {"codec": name, "use_dict": true, "blocksize": blocksize}}),
            );
            assert!(contents(&Frame::open(&theirs).unwrap()).concat() == words, "{name} {blocksize}");
        }
    }
    assert!(made >= 2, "{made} with a dictionary");
}

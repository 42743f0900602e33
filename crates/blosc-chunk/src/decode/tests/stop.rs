//! Requests to stop, values that are long, and geometry that changes between chunks.

use std::sync::atomic::{AtomicBool, Ordering};

use container_core::ErrorKind;

use super::*;
use crate::{BloscVersion, Compressor, Encoder, Params, Pipeline, SplitMode};

fn encoder(words: &[&str], level: u8) -> Encoder {
    Encoder::new(Params {
        blosc_version: BloscVersion::Blosc2,
        compressor: Compressor::LZ4,
        codec_meta: 0,
        level,
        typesize: 4,
        filters: Pipeline::parse_words(words).unwrap(),
        split: SplitMode::default(),
        blocksize: Some(4096),
        dictionary: false,
        threads: 1,
    })
    .unwrap()
}

#[test]
fn every_kind_of_chunk_stops_on_request() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let data: Vec<u8> = (0..5000_i32).flat_map(|k| (k / 3).to_le_bytes()).collect();
    let mut chunks = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    encoder(&["shuffle"], 5).encode(&data, &mut chunks[0]).unwrap();
    encoder(&["none"], 5).encode(&data, &mut chunks[1]).unwrap();
    encoder(&["none"], 0).encode(&data, &mut chunks[2]).unwrap();
    encoder(&["none"], 5).value(b"abcd", 20_000, &mut chunks[3]).unwrap();
    let mut decoder = Decoder::new();
    decoder.set_stop(Stop::when(&STOP));
    for bytes in &chunks {
        let chunk = Chunk::parse(bytes).unwrap();
        let mut dst = vec![0; 20_000];
        STOP.store(false, Ordering::Relaxed);
        decoder.decode(&chunk, &mut dst).unwrap();
        decoder.decode_range(&chunk, 5..105, &mut dst[..100]).unwrap();
        STOP.store(true, Ordering::Relaxed);
        for threads in [1, 2] {
            let error = decoder.decode_parallel(&chunk, &mut dst, threads).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
        }
        let error = decoder.decode_block(&chunk, 0, &mut dst[..4096]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    }
}

/// Stops are checked every few MiB; values and copies go on from there.
#[test]
#[cfg_attr(miri, ignore = "long data")]
fn long_values_and_copies_go_on_in_every_piece() {
    let nbytes = 3 * (STOP_LEN + 1);
    let mut bytes = Vec::new();
    encoder(&["none"], 5).value(b"abc", nbytes, &mut bytes).unwrap();
    let mut dst = vec![0; nbytes - 1];
    Decoder::new().decode_range(&Chunk::parse(&bytes).unwrap(), 1..nbytes, &mut dst).unwrap();
    assert!(dst.chunks(3).all(|three| three == &b"bca"[..three.len()]));

    let data: Vec<u8> = (0..2 * STOP_LEN + 9).map(|at| (at / 5).to_le_bytes()[0]).collect();
    bytes.clear();
    encoder(&["none"], 0).encode(&data, &mut bytes).unwrap();
    let mut dst = vec![0; data.len() - 7];
    Decoder::new().decode_range(&Chunk::parse(&bytes).unwrap(), 7..data.len(), &mut dst).unwrap();
    assert!(dst == data[7..]);
}

#[test]
fn the_geometry_is_that_of_the_last_call() {
    let data: Vec<u8> = (0..1024_i32).flat_map(|k| (k / 3).to_le_bytes()).collect();
    let geometry = Geometry { typesize: Some(4), blockshape: vec![32, 32] };
    let mut bytes = Vec::new();
    encoder(&["ndcell:5"], 5).with_geometry(geometry.clone()).encode(&data, &mut bytes).unwrap();
    let chunk = Chunk::parse(&bytes).unwrap();
    assert!(!chunk.header().is_memcpyed());
    let mut dst = vec![0; data.len()];
    let mut decoder = Decoder::new();
    decoder.decode(&chunk, &mut dst).unwrap_err();
    decoder.set_geometry(&geometry);
    decoder.decode(&chunk, &mut dst).unwrap();
    assert!(dst == data);
    decoder.set_geometry(&Geometry { blockshape: vec![1024], ..geometry });
    decoder.decode(&chunk, &mut dst).unwrap();
    assert!(dst != data, "cells of rows of 5");
    decoder.set_geometry(&Geometry::default());
    decoder.decode(&chunk, &mut dst).unwrap_err();
}

#[test]
fn buffers_of_another_length_are_refused() {
    let mut bytes = Vec::new();
    encoder(&["none"], 5).zeros(10_000, &mut bytes).unwrap();
    let chunk = Chunk::parse(&bytes).unwrap();
    let mut decoder = Decoder::new();
    let is_usage = |done: Result<()>| matches!(done.unwrap_err().kind(), ErrorKind::Usage(_));
    for len in [9_999, 10_001] {
        let mut dst = vec![0; len];
        assert!(is_usage(decoder.decode(&chunk, &mut dst)));
        assert!(is_usage(decoder.decode_parallel(&chunk, &mut dst, 2)));
        assert!(is_usage(decoder.decode_blocks(&chunk, |_| true, &mut dst)));
        assert!(is_usage(decoder.decode_intact_blocks(&chunk, 32, &mut dst).map(drop)));
    }
    assert!(is_usage(decoder.decode_block(&chunk, 2, &mut [0; 1809])));
    decoder.decode_block(&chunk, 2, &mut [0; 1808]).unwrap();
    assert!(is_usage(decoder.decode_range(&chunk, 3..5, &mut [0; 3])));
    #[expect(clippy::reversed_empty_ranges, reason = "what is refused")]
    let backwards = 5..3;
    assert!(is_usage(decoder.decode_range(&chunk, backwards, &mut [])));
    assert!(is_usage(decoder.decode_range(&chunk, 9_999..10_001, &mut [0; 2])));
}

//! Many chunks with the same parameters: batches, threads and order.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use container_core::ErrorKind;

use super::*;
use crate::{BloscVersion, Chunk, Compressor, Decoder, Pipeline, SplitMode};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn params(threads: usize) -> Params {
    Params {
        blosc_version: BloscVersion::Blosc2,
        compressor: Compressor::LZ4,
        codec_meta: 0,
        level: 5,
        typesize: 4,
        filters: Pipeline::shuffle(),
        split: SplitMode::default(),
        blocksize: None,
        dictionary: false,
        threads,
    }
}

fn batches(params: Params) -> BatchEncoder {
    BatchEncoder::new(params, Geometry::default(), Plugins::new())
}

#[test]
fn a_batch_is_at_most_64_mib_and_has_several_chunks_for_each_thread() {
    for (chunk_size, count) in
        [(16 * MIB, 4), (16 * MIB + 1, 3), (64 * MIB, 1), (64 * MIB + 1, 1), (usize::MAX, 1)]
    {
        assert_eq!(batches(params(64)).batch_count(chunk_size), count, "{chunk_size}");
    }
    for threads in [1, 2, 7] {
        for chunk_size in [0, 1, 1000, MIB] {
            let count = batches(params(threads)).batch_count(chunk_size);
            assert!((2 * threads..=8 * threads).contains(&count), "{threads} {chunk_size}: {count}");
        }
    }
    // No thread means the caller's.
    assert_eq!(batches(params(0)).batch_count(MIB), batches(params(1)).batch_count(MIB));
}

/// Encodes zeros in pieces of these lengths, and returns the number of threads that did so. Each waits until there are `expected`, but not
/// forever.
fn threads_for(threads: usize, lens: &[usize], expected: usize) -> usize {
    let zeros = vec![0; *lens.iter().max().unwrap()];
    let pieces: Vec<&[u8]> = lens.iter().map(|len| &zeros[..*len]).collect();
    let (seen, more) = (Mutex::new(HashSet::<ThreadId>::new()), Condvar::new());
    let complete = |_: &mut Vec<u8>| {
        let mut seen = seen.lock().unwrap();
        seen.insert(thread::current().id());
        more.notify_all();
        drop(more.wait_timeout_while(seen, Duration::from_secs(5), |seen| seen.len() < expected).unwrap());
    };
    let mut count = 0;
    let mut encoder = batches(params(threads));
    encoder
        .encode_with(&pieces, &complete, &mut |chunk| {
            count += 1;
            assert_eq!(chunk.len(), 32, "a header for zeros");
            Ok(())
        })
        .unwrap();
    assert_eq!(count, lens.len());
    seen.into_inner().unwrap().len()
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn each_thread_has_64_kib_and_each_batch_64_mib() {
    let cases: [(usize, &[usize], usize); 9] = [
        (2, &[64 * KIB, 64 * KIB], 2),
        (2, &[64 * KIB, 64 * KIB - 1], 1),
        (1, &[64 * KIB; 4], 1),
        (9, &[128 * KIB; 2], 2),
        (3, &[64 * KIB; 3], 3),
        (2, &[32 * MIB, 32 * MIB], 2),
        // Each is a batch of its own, which takes one thread.
        (2, &[32 * MIB, 32 * MIB + 1], 1),
        (2, &[64 * MIB + 1, 64 * KIB], 1),
        (2, &[64 * MIB, 64 * KIB, 64 * KIB], 2),
    ];
    for (threads, lens, expected) in cases {
        assert_eq!(threads_for(threads, lens, expected), expected, "{threads} threads, {lens:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn chunks_come_in_order_with_what_completes_them() {
    let pieces: Vec<Vec<u8>> = (1..20_u32)
        .map(|piece| (0..9000 * piece).map(|at| (at * piece / 7).to_le_bytes()[0]).collect())
        .collect();
    let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let mut encoder = batches(params(3));
    // The memory of earlier chunks is used again.
    for _ in 0..2 {
        let mut chunks = Vec::new();
        encoder
            .encode_with(&slices, &|chunk| chunk.extend(b"end"), &mut |chunk| {
                chunks.push(chunk.to_vec());
                Ok(())
            })
            .unwrap();
        assert_eq!(chunks.len(), pieces.len());
        for (chunk, piece) in chunks.iter().zip(&pieces) {
            let mut own = Vec::new();
            Encoder::new(params(1)).unwrap().encode(piece, &mut own).unwrap();
            own.extend(b"end");
            assert_eq!(*chunk, own);
        }
    }
    let mut count = 0;
    encoder
        .encode(&slices, &mut |chunk| {
            let mut data = vec![0; pieces[count].len()];
            Decoder::new().decode_whole(chunk, &mut data).unwrap();
            assert_eq!(data, pieces[count]);
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(count, pieces.len());
}

#[test]
fn a_failing_sink_ends_the_batch() {
    let zeros = vec![0; 64 * KIB];
    for threads in [1, 2] {
        let mut count = 0;
        let error = batches(params(threads))
            .encode(&[&zeros[..]; 9], &mut |_| {
                count += 1;
                if count == 3 { Err(Error::usage("full")) } else { Ok(()) }
            })
            .unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(problem) if problem == "full"), "{error}");
        assert_eq!(count, 3);
    }
}

#[test]
fn the_encoder_of_one_chunk_uses_all_threads() {
    let mut encoder = batches(params(5));
    assert_eq!(encoder.params().threads, 5);
    assert_eq!(encoder.encoder().unwrap().params(), &params(5));
    // Batches encode each chunk on one thread.
    let zeros = vec![0; 128 * KIB];
    encoder.encode(&[&zeros[..]; 2], &mut |_| Ok(())).unwrap();
    assert_eq!(encoder.encoder().unwrap().params().threads, 5);
    let error = batches(Params { level: 10, ..params(1) }).encoder().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

/// Cells need the shape of the blocks, which the parameters do not have.
#[test]
fn geometry_and_plugins_go_to_every_encoder() {
    let filters = Pipeline::parse_words(&["ndcell:4"]).unwrap();
    let params = Params { filters, typesize: 1, blocksize: Some(64), ..params(2) };
    let geometry = Geometry { typesize: Some(1), blockshape: vec![8, 8] };
    let data: Vec<u8> = (0..128 * KIB).map(|at| (at / 100).to_le_bytes()[0]).collect();
    let mut encoder = BatchEncoder::new(params.clone(), geometry.clone(), Plugins::new());
    assert_eq!((encoder.params(), encoder.geometry()), (&params, &geometry));
    assert_eq!(format!("{:?}", encoder.plugins()), format!("{:?}", Plugins::new()));
    let encode = |encoder: &mut BatchEncoder, count: usize| {
        encoder.encode(&[&data[..]].repeat(count), &mut |chunk| {
            let chunk = Chunk::parse(chunk)?;
            let mut back = vec![0; data.len()];
            Decoder::new().with_geometry(geometry.clone()).decode(&chunk, &mut back)?;
            assert_eq!(back, data);
            Ok(())
        })
    };
    for count in [1, 3] {
        encode(&mut encoder, count).unwrap();
    }
    // Both have all that is needed to go on.
    let mut taken = encoder.take();
    assert!(encoder.encoders.is_empty() && taken.encoders.len() == 2);
    for encoder in [&mut encoder, &mut taken] {
        assert_eq!((encoder.params(), encoder.geometry()), (&params, &geometry));
        encode(encoder, 2).unwrap();
    }
    let error = encode(&mut batches(params.clone()), 2).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

//! Requests to stop: the amount decoded, read or copied after one.
#![allow(clippy::arithmetic_side_effects, reason = "a test")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;
use container_core::source::{STOP_LEN, Source};
use container_core::{Limits, Stop};

/// A flag of this test alone.
fn flag() -> &'static AtomicBool {
    Box::leak(Box::default())
}

/// Bytes that are read by position; the request is made with the read number `last`.
struct Stopping<'a> {
    bytes: &'a [u8],
    last: u64,
    reads: AtomicU64,
    flag: &'static AtomicBool,
}

impl Source for Stopping<'_> {
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

fn is_cancelled<T>(result: Result<T>) -> bool {
    result.is_err_and(|error| matches!(error.kind(), ErrorKind::Cancelled))
}

#[test]
fn decoding_ends_after_a_stop_request() {
    for_each_vector(|codec, encoded, data| {
        if data.len() < 20 {
            return;
        }
        let flag = flag();
        flag.store(true, Ordering::Relaxed);
        let limits = Limits::default().with_stop(Stop::when(flag));
        let copied = Stopping { bytes: encoded, last: 0, reads: AtomicU64::new(0), flag };
        for source in [&encoded as &dyn Source, &copied] {
            for threads in [1, 3] {
                let (range, decoded_len) = (0..encoded.len() as u64, data.len() as u64);
                let encoded = Encoded { source, range, decoded_len, limits: &limits, threads };
                for part in [0..data.len(), 3..data.len() - 3] {
                    let mut dst = vec![0xAA; part.len()];
                    let done = codec.decode_range(&encoded, part.start as u64..part.end as u64, &mut dst);
                    assert!(is_cancelled(done), "{} {part:?}", codec.name());
                    assert!(dst.iter().all(|byte| *byte == 0xAA), "{} {part:?}", codec.name());
                }
                let passed = codec.decode_in_pieces(&encoded, &mut |_| panic!("{}", codec.name()));
                assert!(is_cancelled(passed), "{}", codec.name());
            }
        }
    });
}

#[test]
fn no_piece_follows_a_request() {
    let data: Vec<u8> = (0..1_500_000_u32).map(|at| (at.wrapping_mul(at) / 77).to_le_bytes()[0]).collect();
    for codec in [&zlib::Zlib as &dyn Codec, &bzip2::Bzip2, &zstd::Zstd] {
        let src = encode(codec, &data, Some(1));
        let flag = flag();
        let limits = Limits::default().with_stop(Stop::when(flag));
        let (range, decoded_len) = (0..src.len() as u64, data.len() as u64);
        let encoded = Encoded { source: &src, range, decoded_len, limits: &limits, threads: 1 };
        let mut pieces = 0;
        let passed = codec.decode_in_pieces(&encoded, &mut |_| {
            pieces += 1;
            flag.store(pieces == 3, Ordering::Relaxed);
            Ok(())
        });
        assert!(is_cancelled(passed) && pieces == 3, "{}: {pieces}", codec.name());
    }
}

#[test]
fn no_window_of_encoded_bytes_is_read_after_a_request() {
    let mut x = 1_u32;
    let mut noise = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x.to_be_bytes()[0]
    };
    let data: Vec<u8> = (0..3_000_000).map(|_| noise()).collect();
    for codec in [&zlib::Zlib as &dyn Codec, &zstd::Zstd] {
        let src = encode(codec, &data, Some(1));
        assert!(src.len() > 1_500_000, "{}", codec.name());
        let flag = flag();
        let source = Stopping { bytes: &src, last: 2, reads: AtomicU64::new(0), flag };
        let limits = Limits::default().with_stop(Stop::when(flag));
        let (range, decoded_len) = (0..src.len() as u64, data.len() as u64);
        let encoded = Encoded { source: &source, range, decoded_len, limits: &limits, threads: 1 };
        let mut dst = vec![0; data.len() - 1];
        assert!(is_cancelled(codec.decode_range(&encoded, 0..decoded_len - 1, &mut dst)));
        assert_eq!(source.reads.load(Ordering::Relaxed), 2, "{}", codec.name());
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn large_copies_end_between_two_pieces() {
    let bytes = vec![7; 4 * STOP_LEN];
    for threads in [1, 2] {
        let flag = flag();
        let source = Stopping { bytes: &bytes, last: 2, reads: AtomicU64::new(0), flag };
        let mut dst = vec![0; bytes.len()];
        let read = container_core::source::read_parallel(&source, 0, &mut dst, threads, Stop::when(flag));
        assert!(is_cancelled(read));
        let reads = source.reads.load(Ordering::Relaxed);
        assert!(reads <= 1 + threads as u64, "{threads} threads, {reads} reads");
        assert!(is_cancelled(container_core::source::try_copy(
            &bytes,
            &Limits::default().with_stop(Stop::when(flag))
        )));
    }
}

/// Windows, several frames, checksums, and contents that are not as announced: as by one call.
#[test]
#[cfg_attr(miri, ignore = "foreign code")]
fn zstd_in_steps_gives_what_one_call_gives() {
    let data: Vec<u8> =
        (0..6_000_000_u32).flat_map(|at| (at.wrapping_mul(at) / 5000).to_le_bytes()).collect();
    let (head, tail) = data.split_at(9_000_001);
    let mut src = Vec::new();
    for part in [head, tail] {
        zstd::Zstd.encode(part, Some(3), &mut src).unwrap();
    }
    let one = |src: &[u8], len: usize| {
        let mut dst = vec![0; len];
        zstd::Zstd.decode(src, &mut dst).map(|()| dst)
    };
    let steps = |src: &[u8], len: usize| {
        let mut dst = vec![0; len];
        zstd::Zstd.decode_until(src, &mut dst, Stop::never()).map(|()| dst)
    };
    assert!(steps(&src, data.len()).unwrap() == data);
    let mut damaged = src.clone();
    damaged[src.len() / 2] ^= 0x55;
    for (src, len) in [
        (&src[..], data.len() - 1),
        (&src[..], data.len() + 1),
        (&src[..src.len() - 1], data.len()),
        (&[&src[..], b"\0"].concat()[..], data.len()),
        (&damaged[..], data.len()),
    ] {
        match (one(src, len), steps(src, len)) {
            (Ok(one), Ok(steps)) => assert!(one == steps),
            (Err(one), Err(steps)) => assert_eq!(one.to_string(), steps.to_string()),
            (one, steps) => panic!("{:?} {:?}", one.err(), steps.err()),
        }
    }
}

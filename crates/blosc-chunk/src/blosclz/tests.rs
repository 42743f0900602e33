//! Streams of C-Blosc, streams of ours, and streams of nobody's.

#![allow(clippy::cast_possible_truncation, reason = "bytes made of whatever")]

use super::decode::run;
use super::{Encoder, Fault, decode, decode_prefix};
use crate::simd::lz;

/// Bytes from hexadecimal digits; blanks do not count.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// Streams that C-Blosc 1 and 2 wrote, and what they hold.
fn vectors() -> Vec<(Vec<u8>, Vec<u8>)> {
    let twice = [&b"abc".repeat(13)[..], b"defghijklmnop"].concat().repeat(2);
    vec![
        (hex("25 616263616263 e01705 0d 636465666768696a6b6c6d6e6f70 e0172d 804e e00233 02 6e6f70"), twice),
        (hex("25 616263616263 e0ffcf0502 616263"), b"abc".repeat(160)),
        (hex("23 51515151 e0ffe50302 515151"), b"Q".repeat(500)),
    ]
}

#[test]
fn streams_of_c_blosc_decode() {
    for (stream, data) in vectors() {
        let mut out = vec![0; data.len()];
        assert_eq!(decode(&stream, &mut out), Ok(()));
        assert_eq!(out, data);
        for len in 0..data.len() {
            let mut out = vec![0; len];
            assert_eq!(decode_prefix(&stream, &mut out), Ok(()), "{len} bytes");
            assert_eq!(out, data[..len]);
        }
    }
}

#[test]
fn a_cut_stream_is_at_fault() {
    for (stream, data) in vectors() {
        for cut in 0..stream.len() {
            let mut out = vec![0; data.len()];
            assert!(decode(&stream[..cut], &mut out).is_err(), "{cut} bytes");
        }
        let mut long = vec![0; data.len() + 1];
        assert!(decode(&stream, &mut long).is_err());
        assert!(decode_prefix(&stream, &mut long).is_err());
        let mut short = vec![0; data.len() - 1];
        assert!(decode(&stream, &mut short).is_err());
    }
}

#[test]
fn faults_say_what_and_where() {
    let fault = |text: &str, len: usize| decode(&hex(text), &mut vec![0; len]).unwrap_err();
    assert_eq!(fault("", 1), Fault::at(0, "the stream ends in a match"));
    assert_eq!(fault("20 61 20 00", 4), Fault::at(4, "the stream ends in a match"));
    assert_eq!(fault("20 61 20 01 00 61", 5), Fault::at(2, "a match reaches before the start"));
    // The nearest far distance is 8192.
    assert_eq!(fault("20 61 3f ff 00 00 00 61", 5), Fault::at(2, "a match reaches before the start"));
    assert_eq!(fault("20 61 20", 4), Fault::at(3, "the stream ends inside a match"));
    assert_eq!(fault("23 61 62", 4), Fault::at(3, "the stream ends inside literals"));
    let endless = [vec![0x20, 0x61], vec![0xe0], vec![0xff; 100_000]].concat();
    assert_eq!(
        decode(&endless, &mut [0; 9]),
        Err(Fault::at(endless.len(), "the stream ends inside a match"))
    );
}

#[test]
fn what_is_encoded_decodes() {
    let mut encoder = Encoder::default();
    for (_, data) in vectors() {
        for level in 0..=9 {
            let mut stream = vec![0; data.len() + 64];
            let len = encoder.encode(&data, &mut stream, level).unwrap();
            assert!(len < data.len());
            let mut out = vec![0; data.len()];
            assert_eq!(decode(&stream[..len], &mut out), Ok(()));
            assert_eq!(out, data);
            // Not one byte is needed more than is used, but a few bytes of slack may be asked for.
            assert_eq!(encoder.encode(&data, &mut stream[..len - 1], level), None);
        }
    }
}

/// All that can be asked of a damaged stream: the kernel and the plain loop agree, on the bytes as well.
fn agree(stream: &[u8], len: usize) -> bool {
    let (mut fast, mut slow) = (vec![0xAA; len], vec![0x55; len]);
    let result = run::<true>(stream, &mut fast, lz::blosclz());
    assert_eq!(result, run::<true>(stream, &mut slow, lz::stay));
    assert!(result.is_err() || fast == slow);
    let (mut fast, mut slow) = (vec![0xAA; len / 2], vec![0x55; len / 2]);
    let prefix = run::<false>(stream, &mut fast, lz::blosclz());
    assert_eq!(prefix, run::<false>(stream, &mut slow, lz::stay));
    assert!(prefix.is_err() || fast == slow);
    assert!(result.is_err() || prefix.is_ok());
    result.is_ok()
}

#[test]
fn damaged_streams_are_refused_alike() {
    for data in samples() {
        let mut stream = vec![0; data.len() + 200];
        let len = Encoder::default().encode(&data, &mut stream, 9).unwrap();
        stream.truncate(len);
        assert!(agree(&stream, data.len()));
        assert!(!agree(&stream, data.len() + 1));
        let step = if cfg!(miri) { 97 } else { 1 };
        for cut in (0..stream.len()).step_by(step) {
            assert!(!agree(&stream[..cut], data.len()), "{cut} bytes");
            let mut flipped = stream.clone();
            for bit in [0, 4, 5, 7] {
                flipped[cut] ^= 1 << bit;
                agree(&flipped, data.len());
            }
            flipped[cut] = 0xff;
            agree(&flipped, data.len());
        }
    }
}

#[test]
fn every_distance_and_length_is_copied() {
    for distance in (1..=70_usize).chain([8190, 8191, 8192, 8193, 73_727]) {
        for len in (3..=30).chain([31, 32, 33, 63, 64, 65, 100, 263, 264, 265, 520]) {
            // The match, and enough after it for the kernel to dare; then not enough.
            for after in [100, 1] {
                let mut data: Vec<u8> = (0..distance).map(|i| (i % 251) as u8 ^ (i / 256) as u8).collect();
                let mut stream = Vec::new();
                runs(&mut stream, &data);
                stream[0] |= 32;
                let (near, high) = (distance < 8192, ((distance - 1) >> 8).min(31) as u8);
                if len < 9 {
                    stream.push(((len - 2) << 5) as u8 | high);
                } else {
                    stream.push(0xe0 | high);
                    stream.extend(vec![255; (len - 9) / 255]);
                    stream.push(((len - 9) % 255) as u8);
                }
                match near {
                    true => stream.push((distance - 1) as u8),
                    false => stream.extend([255, ((distance - 8192) >> 8) as u8, (distance - 8192) as u8]),
                }
                for _ in 0..len {
                    data.push(data[data.len() - distance]);
                }
                let last: Vec<u8> = (0..after).map(|i| i ^ 0x5a).collect();
                runs(&mut stream, &last);
                data.extend(&last);
                for kernel in [lz::blosclz(), lz::stay] {
                    let mut out = vec![0; data.len()];
                    assert_eq!(run::<true>(&stream, &mut out, kernel), Ok(()));
                    assert!(out == data, "distance {distance}, length {len}");
                }
            }
        }
    }
}

/// Appends literals.
fn runs(stream: &mut Vec<u8>, literals: &[u8]) {
    for run in literals.chunks(32) {
        stream.push(run.len() as u8 - 1);
        stream.extend(run);
    }
}

/// Data of several kinds: runs, periods, text, noise.
fn samples() -> Vec<Vec<u8>> {
    let mut seed = 1_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    let mut all =
        vec![vec![7; 16], b"abc".repeat(100), vec![0; 5000], (0..=255).cycle().take(3000).collect()];
    all.push((0..2000).map(|_| noise()).collect());
    all.push((0..4000).map(|i: u32| if i % 7 < 5 { 3 } else { noise() & 3 }).collect());
    all
}

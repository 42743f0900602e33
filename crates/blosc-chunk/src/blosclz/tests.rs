//! Streams of C-Blosc, streams of our own encoder, and streams of no encoder.

#![allow(clippy::cast_possible_truncation, reason = "bytes made of whatever")]

use super::decode::run;
use super::{Encoder, Fault, decode, decode_prefix};
use crate::simd::lz;

/// Bytes from hexadecimal digits; blanks do not count.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// Bytes that do not repeat soon.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let step = |state: &mut u32| {
        *state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
        Some((*state >> 16) as u8)
    };
    std::iter::successors(Some(seed), |_| None).cycle().scan(seed, |state, _| step(state)).take(len).collect()
}

/// Streams that C-Blosc 1 and 2 wrote, and what they hold.
fn vectors() -> Vec<(Vec<u8>, Vec<u8>)> {
    let far = [noise(40, 7), vec![0; 9000], noise(40, 7), b"end of it".to_vec()].concat();
    let periods = [2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17_u8]
        .map(|p| (0..p).collect::<Vec<_>>().repeat(60 / usize::from(p) + 2));
    let twice = [&b"abc".repeat(13)[..], b"defghijklmnop"].concat().repeat(2);
    vec![
        (hex("25 616263616263 e01705 0d 636465666768696a6b6c6d6e6f70 e0172d 804e e00233 02 6e6f70"), twice),
        (hex("25 616263616263 e0ffcf0502 616263"), b"abc".repeat(160)),
        (hex("23 51515151 e0ffe50302 515151"), b"Q".repeat(500)),
        // python-blosc 1.11.4 and python-blosc2 4.14.1, level 9, to the byte the same.
        (
            hex(concat!(
                "3f6c4e74921325222e31a1cd13be12ed426966ce24fc23d7da8d2097616a06956e08c28ad403136828d400e0ffffffffffffffffffffffff",
                "ffffffffffffffffffffffffffffffffffffffffffffff40000000ff1eff035009d4656e64206f66206974"
            )),
            far,
        ),
        (
            hex(concat!(
                "2300010001e03403010102e03802010203e03a0302030400e03b04040405060001e03a060106078046e03807010708a048e037080208090ac0",
                "49e03b0a040a0b0c0d0ee00150e0460e010e0fe0055ae0380f010f10e00650e02910020e0f10"
            )),
            periods.concat(),
        ),
    ]
}

#[test]
fn streams_of_c_blosc_decode() {
    for (stream, data) in vectors() {
        let mut out = vec![0; data.len()];
        assert_eq!(decode(&stream, &mut out), Ok(()));
        assert_eq!(out, data);
        let lens = (0..data.len()).filter(|len| len % 100 < 2 || *len < 1000);
        for len in lens.step_by(if cfg!(miri) { 401 } else { 1 }) {
            let mut out = vec![0; len];
            assert_eq!(decode_prefix(&stream, &mut out), Ok(()), "{len} bytes");
            assert_eq!(out, data[..len]);
        }
    }
}

#[test]
fn a_cut_stream_is_at_fault() {
    for (stream, data) in vectors() {
        for cut in (0..stream.len()).step_by(if cfg!(miri) { 23 } else { 1 }) {
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
fn faults_report_offset_and_problem() {
    let fault = |text: &str, len: usize| decode(&hex(text), &mut vec![0; len]).unwrap_err();
    assert_eq!(fault("", 1), Fault::at(0, "the stream ends in a match"));
    assert_eq!(fault("20 61 20 00", 4), Fault::at(4, "the stream ends in a match"));
    assert_eq!(fault("20 61 20 01 00 61", 5), Fault::at(2, "a match reaches before the start"));
    // The nearest far distance is 8192.
    assert_eq!(fault("20 61 3f ff 00 00 00 61", 5), Fault::at(2, "a match reaches before the start"));
    assert_eq!(fault("20 61 20", 4), Fault::at(3, "the stream ends inside a match"));
    assert_eq!(fault("23 61 62", 4), Fault::at(3, "the stream ends inside literals"));
    let endless =
        [vec![0x20, 0x61], vec![0xe0], vec![0xff; if cfg!(miri) { 1000 } else { 100_000 }]].concat();
    assert_eq!(
        decode(&endless, &mut [0; 9]),
        Err(Fault::at(endless.len(), "the stream ends inside a match"))
    );
}

#[test]
fn encoded_streams_decode_to_the_source() {
    let mut encoder = Encoder::default();
    for (_, data) in vectors().into_iter().filter(|(_, data)| !cfg!(miri) || data.len() < 600) {
        for level in (0..=9).step_by(if cfg!(miri) { 8 } else { 1 }) {
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

/// Checks on a damaged stream that the kernel and the plain loop agree, on the bytes as well.
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
        if let Some(len) = Encoder::default().encode(&data, &mut stream, 9) {
            stream.truncate(len);
        } else {
            stream.clear();
            runs(&mut stream, &data);
            stream[0] |= 32;
        }
        assert!(agree(&stream, data.len()));
        assert!(!agree(&stream, data.len() + 1));
        // Big-endian machines are emulated.
        let step = if cfg!(any(miri, target_endian = "big")) { 97 } else { 1 };
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
    let (sparse, step) = if cfg!(miri) { (36, 12) } else { (1, 1) };
    for distance in (1..=70_usize).chain([8190, 8191, 8192, 8193, 73_727]).step_by(sparse) {
        for len in (3..=30).chain([31, 32, 33, 63, 64, 65, 100, 263, 264, 265, 520]).step_by(step) {
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

/// Makes data of several kinds: runs, periods, text, noise.
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
    if cfg!(miri) {
        all.iter_mut().for_each(|data| data.truncate(150));
    }
    all
}

/// Makes data long enough to be probed, for tables of either kind, and for far matches.
fn long_samples() -> Vec<Vec<u8>> {
    let words = (0..50_000_u32).flat_map(|i| (i * i / 4096).to_le_bytes()).collect::<Vec<_>>();
    let planes = (0..8).flat_map(|k| if k % 2 == 0 { noise(9000, k) } else { vec![k as u8; 9000] }).collect();
    // The end is what keeps it from being taken for noise.
    let again = [noise(73_000, 3), noise(73_000, 3), vec![0; 1024]].concat();
    vec![words[..60_000].to_vec(), words, planes, again, noise(100_000, 9), vec![1; 65_536], vec![1; 65_537]]
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn long_data_come_back_at_every_level() {
    for data in long_samples() {
        for level in [1, 2, 5, 8, 9] {
            let mut encoder = Encoder::default();
            let mut stream = vec![0; data.len()];
            let Some(len) = encoder.encode(&data, &mut stream, level) else {
                continue;
            };
            assert!(agree(&stream[..len], data.len()));
            let mut out = vec![0; data.len()];
            decode(&stream[..len], &mut out).unwrap();
            assert!(out == data);
            // What went before does not show, and neither does room to spare.
            let mut again = vec![0; data.len() + 100];
            encoder.encode(&noise(70_000, 2), &mut again, level);
            assert_eq!(encoder.encode(&data, &mut again, level), Some(len));
            assert!(again[..len] == stream[..len]);
            assert_eq!(encoder.encode(&data, &mut again[..len], level), Some(len));
            assert_eq!(encoder.encode(&data, &mut again[..len - 1], level), None);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn levels_shrink_what_can_be_shrunk() {
    let mut stream = vec![0; 300_000];
    let mut sizes = |level| {
        long_samples()
            .iter()
            .map(|data| Encoder::default().encode(data, &mut stream, level))
            .collect::<Vec<_>>()
    };
    let sizes = [sizes(1), sizes(5), sizes(9)];
    // Noise is refused by every level, runs take almost no room, and a copy 73 000 bytes back is found.
    assert!(sizes.iter().all(|sizes| sizes[5..].iter().all(|size| size.unwrap() < 300)));
    assert_eq!(sizes[0][4], None);
    assert_eq!(sizes[1][4], None);
    assert_eq!(sizes[2][4], None);
    assert!(sizes[2][3].unwrap() < 76_000);
    assert!(sizes.iter().all(|sizes| sizes[2].unwrap() < 38_000));
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn periods_go_on_where_a_match_ends() {
    // Runs of 64 with a period of 16 384, as in a plane of shuffled counters. C-Blosc 1.21 writes a stream of 1749 bytes; an
    // encoder that loses the step of a period writes a match for each run.
    let runs: Vec<u8> = (0..65_536_u32).map(|i| (i / 64) as u8).collect();
    let mut stream = vec![0; runs.len()];
    for level in [5, 7, 9] {
        let len = Encoder::default().encode(&runs, &mut stream, level).unwrap();
        assert!(len <= 1749, "level {level}: {len}");
    }
}

//! Blocks of liblz4, of lz4_flex, of our own encoder, and of no encoder.

#![allow(clippy::cast_possible_truncation, reason = "bytes made of whatever")]

use super::decode::run;
use super::{Encoder, Fault, decode, decode_prefix, decode_with_dictionary, high_compression};
use crate::simd::lz;

/// Makes data of several kinds: runs, periods, text, noise.
fn samples() -> Vec<Vec<u8>> {
    let mut seed = 1_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    let mut all =
        vec![vec![], vec![7], b"abc".repeat(100), vec![0; 5000], (0..=255).cycle().take(3000).collect()];
    all.push((0..2000).map(|_| noise()).collect());
    all.push((0..4000).map(|i: u32| if i % 7 < 5 { 3 } else { noise() & 3 }).collect());
    if cfg!(miri) {
        all.iter_mut().for_each(|data| data.truncate(150));
    }
    all
}

#[test]
fn blocks_go_both_ways_with_lz4_flex() {
    let mut encoder = Encoder::default();
    let mut slow = high_compression::Encoder::default();
    for data in samples() {
        let theirs = lz4_flex::block::compress(&data);
        let mut out = vec![0; data.len()];
        assert_eq!(decode(&theirs, &mut out), Ok(()));
        assert_eq!(out, data);
        let mut block = vec![0; data.len() + data.len() / 250 + 20];
        for effort in (0..=12).step_by(if cfg!(miri) { 4 } else { 1 }) {
            let len = encoder.encode(&data, &mut block, u32::from(effort)).unwrap();
            assert_eq!(lz4_flex::block::decompress(&block[..len], data.len()).unwrap(), data);
            let len = slow.encode(&data, &mut block, effort).unwrap();
            assert_eq!(lz4_flex::block::decompress(&block[..len], data.len()).unwrap(), data);
        }
    }
}

#[test]
fn prefixes_decode() {
    for data in samples() {
        let block = lz4_flex::block::compress(&data);
        for len in (0..=data.len()).step_by(if cfg!(miri) { 61 } else { 1 }) {
            let mut out = vec![0; len];
            assert_eq!(decode_prefix(&block, &mut out), Ok(()));
            assert_eq!(out, data[..len]);
        }
        assert!(decode_prefix(&block, &mut vec![0; data.len() + 1]).is_err());
    }
}

#[test]
fn dictionaries_are_reached_into() {
    let dictionary = b"the quick brown fox jumps over the lazy dog".repeat(3);
    let data = b"the lazy dog jumps over the quick brown fox, the quick brown fox jumps".repeat(2);
    let theirs = lz4_flex::block::compress_with_dict(&data, &dictionary);
    let mut out = vec![0; data.len()];
    assert_eq!(decode_with_dictionary(&theirs, &dictionary, &mut out), Ok(()));
    assert_eq!(out, data);
    let mut block = vec![0; data.len()];
    let len = Encoder::default().encode_with_dictionary(&data, &dictionary, &mut block, 1).unwrap();
    assert!(len < 80);
    assert_eq!(lz4_flex::block::decompress_with_dict(&block[..len], data.len(), &dictionary).unwrap(), data);
    let len = high_compression::Encoder::default()
        .encode_with_dictionary(&data, &dictionary, &mut block, 9)
        .unwrap();
    assert_eq!(lz4_flex::block::decompress_with_dict(&block[..len], data.len(), &dictionary).unwrap(), data);
}

#[test]
fn faults_report_offset_and_problem() {
    let fault = |block: &[u8], len: usize| decode(block, &mut vec![0; len]).unwrap_err();
    assert_eq!(fault(&[], 0), Fault::at(0, "the block ends where a token should be"));
    assert_eq!(fault(&[0x10, 1, 0, 0], 9), Fault::at(2, "a match has the offset 0"));
    assert_eq!(fault(&[0x10, 1, 2, 0], 9), Fault::at(2, "a match reaches before the start"));
    assert_eq!(fault(&[0x10, 1, 1, 0], 5), Fault::at(4, "the block ends where a token should be"));
    assert_eq!(
        fault(&[0x10, 1, 1, 0, 0x10, 2], 5),
        Fault::at(5, "the block holds more bytes than it should")
    );
    assert_eq!(fault(&[0x10, 1, 1], 5), Fault::at(3, "the block ends inside an offset"));
    assert_eq!(fault(&[0x30, 1, 1], 5), Fault::at(3, "the block ends inside literals"));
    assert_eq!(fault(&[0xf0, 255, 255], 5), Fault::at(3, "the block ends inside a length"));
}

/// Checks on a damaged block that the kernel, the plain loop and lz4_flex agree, on the bytes as well.
fn agree(block: &[u8], len: usize) {
    let mut fast = vec![0xAA; len];
    let mut slow = vec![0x55; len];
    let result = run::<true>(block, &[], &mut fast, lz::lz4());
    assert_eq!(result, run::<true>(block, &[], &mut slow, lz::stay));
    let theirs = lz4_flex::block::decompress(block, len);
    match result {
        Ok(()) => {
            assert_eq!(fast, slow);
            assert_eq!(theirs.unwrap(), fast);
        }
        // lz4_flex is content with less than was asked for.
        Err(_) => assert!(theirs.is_err() || theirs.unwrap().len() < len),
    }
    let (mut fast, mut slow) = (vec![0xAA; len / 2], vec![0x55; len / 2]);
    let prefix = run::<false>(block, &[], &mut fast, lz::lz4());
    assert_eq!(prefix, run::<false>(block, &[], &mut slow, lz::stay));
    assert!(prefix.is_err() || fast == slow);
    assert!(result.is_err() || prefix.is_ok());
}

#[test]
fn damaged_blocks_are_refused_alike() {
    for data in samples() {
        let block = lz4_flex::block::compress(&data);
        // Big-endian machines are emulated.
        let step = if cfg!(any(miri, target_endian = "big")) { 97 } else { 1 };
        for cut in (0..block.len()).step_by(step) {
            agree(&block[..cut], data.len());
            let mut flipped = block.clone();
            for bit in [0, 3, 4, 7] {
                flipped[cut] ^= 1 << bit;
                agree(&flipped, data.len());
            }
            flipped[cut] = 0xff;
            agree(&flipped, data.len());
        }
        agree(&block, data.len());
        agree(&block, data.len() + 1);
        agree(&block, data.len().saturating_sub(1));
    }
}

#[test]
fn every_offset_and_length_is_copied() {
    for offset in (1..=70_u8).step_by(if cfg!(miri) { 23 } else { 1 }) {
        for len in (4..=150_usize).step_by(if cfg!(miri) { 49 } else { 1 }) {
            // So many literals, the match, and enough after it for the kernel to dare; then not enough.
            for after in [100_u8, 0] {
                let literals: Vec<u8> = (0..offset).map(|i| i.wrapping_mul(37) ^ 5).collect();
                let mut block = vec![0xf0 | u8::try_from((len - 4).min(15)).unwrap()];
                match offset.checked_sub(15) {
                    Some(rest) => block.push(rest),
                    None => block[0] = (block[0] & 15) | (offset << 4),
                }
                block.extend(&literals);
                block.extend([offset, 0]);
                if len >= 19 {
                    block.push(u8::try_from(len - 19).unwrap());
                }
                block.extend([0xf0, after + 5]);
                block.extend((0..after + 20).map(|i| i ^ 0x5a));
                let mut data = literals;
                data.extend((0..len).scan(data.clone(), |all, _| {
                    let byte = all[all.len() - usize::from(offset)];
                    all.push(byte);
                    Some(byte)
                }));
                data.extend((0..after + 20).map(|i| i ^ 0x5a));
                for kernel in [lz::lz4(), lz::stay] {
                    let mut out = vec![0; data.len()];
                    assert_eq!(run::<true>(&block, &[], &mut out, kernel), Ok(()));
                    assert_eq!(out, data, "offset {offset}, length {len}");
                }
            }
        }
    }
}

#[test]
fn blocks_of_liblz4_decode() {
    // python-lz4 (liblz4 1.10), fast and at the highest level.
    let periods = [2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17_u8]
        .map(|p| (0..p).collect::<Vec<_>>().repeat(60 / usize::from(p) + 2));
    let blocks = [
        concat!(
            "2f000102002d1f0203002f1f030400311f0405003321050648000f07002e130747000f08002e140849000f09002d25090a4a000f0b0031470b0c",
            "0d0e51000f0f003c1b0f5b000f10002e1c1051000f11001c500c0d0e0f10"
        ),
        concat!(
            "2f000102002d1f0203002f1f030400311f040500332f05060700331f070800351f080900352f090a0b003a4f0b0c0d0e0f00471f0f10003d1f10",
            "11002c500c0d0e0f10"
        ),
    ];
    for block in blocks {
        let digits: Vec<u32> = block.chars().filter_map(|c| c.to_digit(16)).collect();
        let block: Vec<u8> = digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
        let mut out = vec![0; 814];
        assert_eq!(decode(&block, &mut out), Ok(()));
        assert_eq!(out, periods.concat());
        agree(&block, 814);
    }
}

/// Makes data long enough for either table, and for matches out of reach.
fn long_samples() -> Vec<Vec<u8>> {
    let words = (0..50_000_u32).flat_map(|i| (i * i / 4096).to_le_bytes()).collect::<Vec<_>>();
    let mut noise = samples().swap_remove(5);
    noise.extend(vec![3; 70_000]);
    let again = noise.clone();
    noise.extend(again);
    vec![words[..60_000].to_vec(), words, noise, vec![1; 65_536], vec![1; 65_537]]
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn long_data_come_back_at_every_effort() {
    let mut encoder = Encoder::default();
    let mut slow = high_compression::Encoder::default();
    for data in long_samples() {
        let mut block = vec![0; data.len() + data.len() / 250 + 20];
        let mut again = block.clone();
        for acceleration in [0, 1, 5, 9, u32::MAX] {
            let len = encoder.encode(&data, &mut block, acceleration).unwrap();
            assert!(lz4_flex::block::decompress(&block[..len], data.len()).unwrap() == data);
            agree(&block[..len], data.len());
            // What went before does not show; a byte too few is noticed.
            assert_eq!(Encoder::default().encode(&data, &mut again, acceleration), Some(len));
            assert!(again[..len] == block[..len]);
            assert_eq!(encoder.encode(&data, &mut again[..len - 1], acceleration), None);
        }
        for level in [1, 4, 9] {
            let len = slow.encode(&data, &mut block, level).unwrap();
            assert!(lz4_flex::block::decompress(&block[..len], data.len()).unwrap() == data);
            assert_eq!(high_compression::Encoder::default().encode(&data, &mut again, level), Some(len));
            assert!(again[..len] == block[..len]);
            assert_eq!(slow.encode(&data, &mut again[..len - 1], level), None);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn higher_effort_gives_smaller_or_equal_blocks() {
    let data = long_samples().swap_remove(1);
    let mut block = vec![0; data.len()];
    let fast = [9, 1].map(|acceleration| Encoder::default().encode(&data, &mut block, acceleration).unwrap());
    let slow = [1, 5, 9, 12]
        .map(|level| high_compression::Encoder::default().encode(&data, &mut block, level).unwrap());
    assert!(fast[0] >= fast[1] && fast[1] > slow[0], "{fast:?} {slow:?}");
    assert!(slow.windows(2).all(|pair| pair[0] >= pair[1]), "{slow:?}");
}

proptest::proptest! {
    #[test]
    fn anything_goes_both_ways(parts in proptest::collection::vec((0..4_u8, 1..40_usize, 0..250_u8), 0..60), seed in 0..9_u8) {
        let mut data = Vec::new();
        for (kind, len, value) in parts {
            match kind {
                0 => data.extend(std::iter::repeat_n(value, len)),
                1 => data.extend((0..len).map(|i| (i as u8).wrapping_mul(value) ^ seed)),
                _ => {
                    let from = data.len().saturating_sub(usize::from(value) + 1);
                    let part = data[from..].iter().copied().cycle().take(if data.is_empty() { 0 } else { len }).collect::<Vec<u8>>();
                    data.extend(part);
                }
            }
        }
        agree(&lz4_flex::block::compress(&data), data.len());
        let mut block = vec![0; data.len() + data.len() / 250 + 20];
        for level in [1, 9] {
            let len = high_compression::Encoder::default().encode(&data, &mut block, level).unwrap();
            assert_eq!(lz4_flex::block::decompress(&block[..len], data.len()).unwrap(), data);
            let len = Encoder::default().encode(&data, &mut block, u32::from(level)).unwrap();
            assert_eq!(lz4_flex::block::decompress(&block[..len], data.len()).unwrap(), data);
            let (dictionary, rest) = data.split_at(data.len() / 3);
            let len = Encoder::default().encode_with_dictionary(rest, dictionary, &mut block, 1).unwrap();
            let mut out = vec![0; rest.len()];
            assert_eq!(decode_with_dictionary(&block[..len], dictionary, &mut out), Ok(()));
            assert_eq!(out, rest);
        }
    }
}

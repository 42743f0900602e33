//! Blocks of liblz4's, of lz4_flex's, of ours, and of nobody's.

use super::{Encoder, Fault, decode, decode_prefix, decode_with_dictionary, hc};

/// Data of several kinds: runs, periods, text, noise.
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
    all
}

#[test]
fn blocks_go_both_ways_with_lz4_flex() {
    let mut encoder = Encoder::default();
    let mut slow = hc::Encoder::default();
    for data in samples() {
        let theirs = lz4_flex::block::compress(&data);
        let mut out = vec![0; data.len()];
        assert_eq!(decode(&theirs, &mut out), Ok(()));
        assert_eq!(out, data);
        let mut block = vec![0; data.len() + data.len() / 250 + 20];
        for effort in 0..=12 {
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
        for len in 0..=data.len() {
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
    let len = hc::Encoder::default().encode_with_dictionary(&data, &dictionary, &mut block, 9).unwrap();
    assert_eq!(lz4_flex::block::decompress_with_dict(&block[..len], data.len(), &dictionary).unwrap(), data);
}

#[test]
fn faults_say_what_and_where() {
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

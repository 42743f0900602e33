#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use lz4_flex::block::{compress, decompress_into};
use proptest::prelude::*;

use super::*;

const ANY: u64 = u64::MAX;

/// Bytes by hand from the format's description; lengths counted by hand.
#[test]
fn shapes_of_handmade_blocks() {
    let complete = BlockEnd::Complete;
    let cut = BlockEnd::Cut;
    let bad = BlockEnd::BadOffset;
    let cases: &[(&[u8], u64, usize, BlockEnd)] = &[
        // Empty input, and the block of empty data.
        (&[], 0, 0, cut),
        (&[0x00], 0, 1, complete),
        // Literals: all there, cut, with more length bytes, with those cut.
        (&[0x10, b'a'], 1, 2, complete),
        (&[0x30, b'a', b'b'], 2, 3, cut),
        (&[&[0xF0, 0x01][..], &[7; 16]].concat(), 16, 18, complete),
        (&[&[0xF0, 0xFF, 0x00][..], &[7; 270]].concat(), 270, 273, complete),
        (&[&[0xF0, 0xFF, 0x00][..], &[7; 269]].concat(), 269, 272, cut),
        (&[0xF0], 0, 0, cut),
        (&[0xF0, 0xFF, 0xFF], 0, 0, cut),
        // The match length in the last token is ignored.
        (&[0x1F, b'a'], 1, 2, complete),
        // A match: whole but not followed by the last literals, whole, cut in each part.
        (&[0x10, b'a', 1, 0], 5, 4, cut),
        (&[0x10, b'a', 1, 0, 0x00], 5, 5, complete),
        (&[0x1F, b'a', 1, 0, 0xFF, 0xFF, 0x00, 0x10, b'b'], 531, 9, complete),
        (&[0x1F, b'a', 1, 0, 0xFF], 1, 2, cut),
        (&[0x10, b'a', 1], 1, 2, cut),
        // Offset 0, and one byte too far back.
        (&[0x10, b'a', 0, 0, 0x00], 1, 2, bad),
        (&[0x10, b'a', 2, 0, 0x00], 1, 2, bad),
        (&[0x20, b'a', b'b', 2, 0, 0x10, b'c'], 7, 7, complete),
        (&[0x00, 1, 0, 0x00], 0, 1, bad),
    ];
    for (src, decoded_len, encoded_len, end) in cases {
        let want = BlockShape { decoded_len: *decoded_len, encoded_len: *encoded_len, end: *end };
        assert_eq!(block_shape(src, ANY), want, "{src:02x?}");
    }
}

#[test]
fn the_walk_stops_past_its_limit() {
    let src = [0x1F, b'a', 1, 0, 0xFF, 0xFF, 0x00, 0x10, b'b'];
    assert_eq!(block_shape(&src, 531).end, BlockEnd::Complete);
    assert_eq!(block_shape(&src, 530).end, BlockEnd::PastLimit);
    let early = BlockShape { decoded_len: 530, encoded_len: 7, end: BlockEnd::PastLimit };
    assert_eq!(block_shape(&src, 529), early);
}

#[test]
fn only_a_complete_block_of_that_length_is_exactly_it() {
    assert!(block_shape(&[0x10, b'a'], 1).is_exactly(1));
    assert!(!block_shape(&[0x10, b'a'], 2).is_exactly(2));
    assert!(!block_shape(&[0x20, b'a'], 1).is_exactly(1));
}

#[test]
fn a_match_repeats_its_own_output() {
    // "ab", then 9 bytes from two back, then "c".
    let src = [0x25, b'a', b'b', 2, 0, 0x10, b'c'];
    let mut dst = [0; 12];
    assert_eq!(decode_prefix(&src, &mut dst), 12);
    assert_eq!(&dst, b"abababababac");
}

/// Data with matches near and far, and noise between them.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60),
        (any::<u8>(), 0..600_usize).prop_map(|(byte, len)| vec![byte; len]),
        (proptest::collection::vec(any::<u8>(), 1..9), 1..80_usize)
            .prop_map(|(unit, times)| unit.repeat(times)),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Blocks assembled from tokens, most of them valid.
fn handmade_block() -> impl Strategy<Value = Vec<u8>> {
    let sequence = (proptest::collection::vec(any::<u8>(), 0..14), 0..16_u8, 0..24_u16, any::<u8>())
        .prop_map(|(literals, match_nibble, offset, more)| {
            let mut bytes = vec![(literals.len() as u8) << 4 | match_nibble];
            bytes.extend_from_slice(&literals);
            bytes.extend_from_slice(&offset.to_le_bytes());
            if match_nibble == 15 {
                bytes.push(more);
            }
            bytes
        });
    (proptest::collection::vec(sequence, 0..6), any::<u8>())
        .prop_map(|(sequences, last)| [sequences.concat(), vec![0x10, last]].concat())
}

/// Asserts that lz4_flex takes `src` exactly where the walk does.
fn agrees_with_lz4_flex(src: &[u8]) -> Result<(), TestCaseError> {
    let shape = block_shape(src, ANY);
    let len = shape.decoded_len as usize;
    let mut dst = vec![0; len];
    let decoded = decompress_into(src, &mut dst).ok();
    prop_assert_eq!(decoded == Some(len), shape.end == BlockEnd::Complete, "{:02x?} {:?}", src, shape);
    if shape.end == BlockEnd::Complete {
        let mut own = vec![0; len];
        prop_assert_eq!(decode_prefix(src, &mut own), len);
        prop_assert!(own == dst);
    } else {
        // The reason is not a lack of room either.
        prop_assert!(decompress_into(src, &mut vec![0; len + 300 * src.len() + 64]).is_err());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 512 }))]

    #[test]
    fn blocks_of_lz4_flex_are_complete(data in data()) {
        let block = compress(&data);
        prop_assert!(block_shape(&block, data.len() as u64).is_exactly(data.len() as u64));
        agrees_with_lz4_flex(&block)?;
    }

    #[test]
    fn handmade_blocks_get_the_verdict_of_lz4_flex(block in handmade_block()) {
        agrees_with_lz4_flex(&block)?;
    }

    #[test]
    fn mutants_get_the_verdict_of_lz4_flex(
        data in data(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut block = compress(&data);
        for (at, byte) in changes {
            let at = at.index(block.len());
            block[at] = byte;
        }
        agrees_with_lz4_flex(&block)?;
        block.remove(cut.index(block.len()));
        agrees_with_lz4_flex(&block)?;
        block.truncate(cut.index(block.len() + 1));
        agrees_with_lz4_flex(&block)?;
    }

    #[test]
    fn random_bytes_get_the_verdict_of_lz4_flex(src in proptest::collection::vec(any::<u8>(), 0..80)) {
        agrees_with_lz4_flex(&src)?;
    }

    #[test]
    fn a_cut_block_yields_the_start_of_its_data(data in data(), cut in any::<prop::sample::Index>()) {
        let block = compress(&data);
        let cut = cut.index(block.len());
        let shape = block_shape(&block[..cut], ANY);
        let mut dst = vec![0xAA; data.len() + 10];
        let made = decode_prefix(&block[..cut], &mut dst);
        prop_assert_eq!(made as u64, shape.decoded_len);
        prop_assert!(shape.encoded_len <= cut);
        prop_assert!(dst[..made] == data[..made]);
        prop_assert!(dst[made..].iter().all(|byte| *byte == 0xAA));
    }

    #[test]
    fn a_short_destination_is_filled(data in data(), len in any::<prop::sample::Index>()) {
        let len = len.index(data.len() + 1);
        let mut dst = vec![0; len];
        prop_assert_eq!(decode_prefix(&compress(&data), &mut dst), len);
        prop_assert!(dst == data[..len]);
    }
}

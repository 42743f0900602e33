//! Encoded data are decoded to the original by an independent decoder; codes are what RFC 1951 allows, and sizes as expected.

use flate2::{Decompress, FlushDecompress, Status};
use proptest::prelude::*;

use super::bits::Bits;
use super::tokens::{Counts, END, LENGTH_EXTRA, LENGTH_SYMBOL, LONGEST, Step, UNIT, distance_symbol, log2};
use super::*;
use crate::tests::noise;

/// Runs of some minutes under Miri are made short there.
const SHORT: bool = cfg!(miri);

fn inflate(src: &[u8], len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 1);
    let mut decoder = Decompress::new(false);
    let status = decoder.decompress_vec(src, &mut out, FlushDecompress::Finish).unwrap();
    assert_eq!((status, decoder.total_in()), (Status::StreamEnd, src.len() as u64));
    out
}

/// Encodes `data` in segments of `len`.
fn encode(data: &[u8], len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let to = data.len().min(at + len);
        let end = if to == data.len() { End::Last } else { End::Open };
        assert!(deflate(&data[..at], &data[at..to], end, Taken::All, &mut out).unwrap());
        if end == End::Last {
            return out;
        }
        assert!(out.ends_with(&[0, 0, 0xff, 0xff]));
        at = to;
    }
}

#[track_caller]
fn check(data: &[u8]) -> usize {
    let whole = encode(data, usize::MAX / 2);
    assert!(inflate(&whole, data.len()) == data, "{} bytes", data.len());
    let cut = encode(data, data.len() / 3 + 1);
    assert!(inflate(&cut, data.len()) == data, "{} bytes in three segments", data.len());
    // Never longer than stored blocks.
    assert!(whole.len() <= data.len() + 5 * data.len().div_ceil(CHUNK).max(1) + 1, "{}", whole.len());
    whole.len()
}

/// Items of `len` bytes, of which the last `kept` are nearly always those of some item before.
fn records(count: usize, len: usize, kept: usize) -> Vec<u8> {
    let random = noise(count * (len + 1));
    let mut data = Vec::new();
    for item in random.chunks_exact(len + 1) {
        data.extend_from_slice(&item[..len - kept]);
        data.extend((0..kept).map(|at| item[len] % 7 + at as u8));
    }
    data
}

#[test]
fn small_and_plain_data() {
    assert_eq!(encode(b"", 1), [3, 0]);
    let lens = [1, 2, 3, 7, 8, 9, 70, 71, 72, 73, 74, 257, 258, 259, 260, 261, 516, 517, 1000, 70_000];
    for len in lens.into_iter().filter(|len| !SHORT || *len == 9) {
        check(&vec![0; len]);
        check(&vec![255; len]);
        check(&noise(len));
        check(&noise(len / 2).repeat(2));
    }
    // A long run is matches of 258 bytes, and little more.
    let size = check(&vec![7; if SHORT { 1 << 9 } else { 1 << 20 }]);
    assert!(size < if SHORT { 40 } else { 1400 }, "{size}");
    // Each literal once, and each twice.
    let all: Vec<u8> = (0..=255).collect();
    check(&all);
    check(&all.repeat(2));
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn matches_reach_as_far_as_the_window_and_no_further() {
    let word = noise(64);
    for (far, is_found) in [(32_767, true), (32_768, true), (32_769, false), (40_000, false), (65_536, false)]
    {
        let mut data = word.clone();
        // Of other bytes than the word, and much smaller than it.
        data.extend((0..far - 64).map(|at| if at % 2 == 0 { 1 } else { 2 }));
        data.extend_from_slice(&word);
        let alone = check(&data[..far]);
        data.extend(std::iter::repeat_n(3, 100));
        let both = check(&data);
        assert_eq!(both < alone + 35, is_found, "{far}: {alone}, {both}");
    }
}

#[test]
fn records_with_noise() {
    for (len, kept) in
        [(2, 1), (3, 1), (4, 2), (12, 9), (16, 4), (8, 5)].into_iter().skip(if SHORT { 5 } else { 0 })
    {
        let data = records(if SHORT { 700 } else { 200_000 } / len, len, kept);
        let size = check(&data);
        assert!(size < data.len() - data.len() * kept / len / 4, "{len}, {kept}: {size} of {}", data.len());
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn a_block_ends_where_the_statistics_change() {
    let mut data = noise(100_000);
    data.extend(noise(100_000).iter().map(|byte| byte & 3));
    let size = check(&data);
    assert!(size < 135_000, "{size}");
    // And noise is stored.
    assert!(check(&noise(100_000)) <= 100_000 + 5 * 7);
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn only_arrays_with_noise_are_taken() {
    let taken = |data: &[u8]| {
        let mut out = vec![1, 2, 3];
        let is_taken = deflate(&[], data, End::Last, Taken::Arrays, &mut out).unwrap();
        assert_eq!(is_taken, out.len() > 3);
        assert_eq!(out[..3], [1, 2, 3]);
        is_taken
    };
    assert!(taken(&records(100_000, 2, 1)));
    assert!(taken(&records(20_000, 8, 5)));
    assert!(taken(&noise(100_000)));
    assert!(!taken(&vec![0; 100_000]));
    let words =
        noise(20_000).into_iter().map(|byte| ["noise ", "array ", "the ", "of "][usize::from(byte % 4)]);
    assert!(!taken(words.collect::<String>().as_bytes()));
}

/// Codes are complete, not longer than allowed, and cost at most what RFC 1951 section 3.2.7 allows.
#[test]
fn codes_are_complete_and_limited() {
    let mut fibonacci = vec![1_u32, 1];
    while fibonacci.len() < 30 {
        fibonacci.push(fibonacci[fibonacci.len() - 1] + fibonacci[fibonacci.len() - 2]);
    }
    let steps: Vec<u32> = (0..286).map(|k| 1 << (k % 20)).collect();
    let skewed: Vec<u32> = (0..286).map(|k| if k == 7 { 1 << 24 } else { 1 }).collect();
    for (counts, longest) in [
        (&fibonacci, 15),
        (&fibonacci, 14),
        (&fibonacci, 7),
        (&fibonacci, 5),
        (&steps, 14),
        (&steps, 9),
        (&skewed, 9),
    ] {
        let mut lens = vec![0; counts.len()];
        huffman::lengths(counts, longest, &mut lens);
        assert!(lens.iter().all(|len| (1..=longest).contains(&usize::from(*len))));
        let sum: u64 = lens.iter().map(|len| 1 << (longest - usize::from(*len))).sum();
        assert_eq!(sum, 1 << longest, "{lens:?}");
        for (a, b) in (0..counts.len())
            .step_by(if SHORT { 47 } else { 1 })
            .flat_map(|a| (0..counts.len()).map(move |b| (a, b)))
        {
            assert!(counts[a] <= counts[b] || lens[a] <= lens[b], "what is more often has no longer code");
        }
    }
    // Too few symbols for a code: another one gets one, too.
    for (counts, want) in [([0, 0, 0], [1, 1, 0]), ([5, 0, 0], [1, 1, 0]), ([0, 0, 5], [1, 0, 1])] {
        let mut lens = [9; 3];
        huffman::lengths(&counts, 15, &mut lens);
        assert_eq!(lens, want);
    }
    // The example of section 3.2.2, its codes written from their highest bit on.
    let mut codes = [0; 8];
    huffman::codes(&[3, 3, 3, 3, 3, 2, 4, 4], &mut codes);
    let codes = codes.map(|code| ((code & 0xffff).reverse_bits() >> (32 - (code >> 16)), code >> 16));
    assert_eq!(codes, [(2, 3), (3, 3), (4, 3), (5, 3), (6, 3), (0, 2), (14, 4), (15, 4)]);
}

/// Lengths that Huffman codes overflow come out of a block whose literals are as often as Fibonacci numbers.
#[test]
fn a_block_whose_codes_overflow() {
    let mut data = Vec::new();
    let (mut a, mut b) = (1, 1);
    for literal in 0..if SHORT { 16 } else { 24 } {
        data.extend(std::iter::repeat_n(literal, a));
        (a, b) = (b, a + b);
    }
    let mut counts = Counts::NONE;
    counts.add_literals(&data);
    let steps = [Step { literals: data.len() as u32, len: 0, back: 0 }];
    let mut out = Vec::new();
    let mut bits = Bits::new(&mut out);
    blocks::write(&mut bits, &data, &steps, &mut counts, true);
    bits.finish();
    assert!(inflate(&out, data.len()) == data);
    check(if SHORT { &data[..300] } else { &data });
}

/// Every length, and the distances around every border between symbols.
#[test]
fn every_length_and_distance() {
    let furthest = if SHORT { 1 << 9 } else { 1 << 15 };
    let mut data = noise(furthest + 232);
    let literals = data.len() as u32;
    let (mut steps, mut counts) = (vec![Step { literals, len: 0, back: 0 }], Counts::NONE);
    let borders = (1..=15).flat_map(|high: u32| {
        [1 << high, (1 << high) + 1, (1 << high) - 1, 3 << (high - 1), (3 << (high - 1)) + 1]
    });
    let distances: Vec<usize> = borders.map(|far| far as usize).filter(|far| *far <= furthest).collect();
    for (at, len) in (3..=LONGEST).step_by(if SHORT { 17 } else { 1 }).enumerate() {
        let back = distances[at % distances.len()];
        for _ in 0..len {
            data.push(data[data.len() - back]);
        }
        steps.push(Step { literals: 0, len: len as u16, back: (back - 1) as u16 });
        counts.add(&data[data.len() - len..], back as u32 - 1);
    }
    counts.add_literals(&data);
    let mut out = Vec::new();
    let mut bits = Bits::new(&mut out);
    blocks::write(&mut bits, &data, &steps, &mut counts, true);
    bits.finish();
    assert!(inflate(&out, data.len()) == data);
    assert!(out.len() < data.len());
}

/// The tables of RFC 1951 section 3.2.5.
#[test]
fn symbols_are_those_of_the_specification() {
    let lengths =
        [(3, 257, 0), (10, 264, 0), (11, 265, 1), (12, 265, 1), (13, 266, 1), (19, 269, 2), (34, 272, 2)];
    let more = [
        (35, 273, 3),
        (66, 276, 3),
        (67, 277, 4),
        (130, 280, 4),
        (131, 281, 5),
        (257, 284, 5),
        (258, 285, 0),
    ];
    for (len, symbol, extra) in lengths.into_iter().chain(more) {
        assert_eq!(
            (LENGTH_SYMBOL[len], LENGTH_EXTRA[usize::from(symbol) - END - 1]),
            (symbol, extra),
            "{len}"
        );
    }
    for (distance, symbol, extra) in [
        (1, 0, 0),
        (4, 3, 0),
        (5, 4, 1),
        (6, 4, 1),
        (7, 5, 1),
        (9, 6, 2),
        (24, 8, 3),
        (25, 9, 3),
        (513, 18, 8),
        (8193, 26, 12),
        (24_576, 28, 13),
        (24_577, 29, 13),
        (32_768, 29, 13),
    ] {
        assert_eq!(distance_symbol(distance - 1), (symbol, extra), "{distance}");
    }
}

#[test]
fn logarithms_are_near() {
    for x in (1..3000_u32).step_by(if SHORT { 13 } else { 1 }).chain([
        65_535,
        1 << 20,
        (1 << 31) + 12_345_678,
        u32::MAX,
    ]) {
        let near = f64::from(log2(x)) / f64::from(UNIT);
        assert!((near - f64::from(x).log2()).abs() < 0.008, "{x}: {near}");
    }
}

/// Maximum length of generated input.
const MAX_INPUT_LEN: usize = if SHORT { 60 } else { 3000 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if SHORT { 3 } else { 96 }))]

    #[test]
    fn any_data_round_trip(
        data in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..MAX_INPUT_LEN),
            proptest::collection::vec(0..3_u8, 0..MAX_INPUT_LEN * 7),
            (proptest::collection::vec(any::<u8>(), 1..40), 0..MAX_INPUT_LEN)
                .prop_map(|(piece, count)| piece.iter().copied().cycle().take(count * 7).collect()),
            (1..=MAX_INPUT_LEN / 6, 1..17_usize, 0..17_usize)
                .prop_map(|(count, len, kept)| records(count * 20, len, kept.min(len))),
        ],
        len in 1..70_000_usize,
    ) {
        let encoded = encode(&data, len);
        prop_assert!(inflate(&encoded, data.len()) == data);
    }
}

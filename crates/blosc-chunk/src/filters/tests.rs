use super::*;

use container_core::ErrorKind;

mod names;

/// Bytes that do not repeat soon.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

fn hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// Returns the output of `encode` for `src`.
fn made(src: &[u8], encode: impl Fn(&[u8], &mut [u8])) -> Vec<u8> {
    let mut dst = vec![0xee; src.len()];
    encode(src, &mut dst);
    dst
}

/// Returns lengths at and around the limits of kernels, for elements of `typesize` bytes.
fn lengths(typesize: usize) -> Vec<usize> {
    let counts =
        [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 511, 512, 513];
    let tails = [0, 1, typesize / 2, typesize - 1];
    let mut all: Vec<_> = counts.iter().flat_map(|count| tails.map(|tail| count * typesize + tail)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

const WORDS: &str = "000002010402060308040a050c060e0710081209140a160b180c1a0d1c0e1e0f";

#[test]
fn shuffle_makes_what_c_blosc2_makes() {
    let shuffled = hex("00020406080a0c0e10121416181a1c1e000102030405060708090a0b0c0d0e0f");
    assert_eq!(made(&hex(WORDS), |src, dst| shuffle(2, src, dst)), shuffled);
    assert_eq!(made(&shuffled, |src, dst| unshuffle(2, src, dst)), hex(WORDS));
}

#[test]
fn bitshuffle_makes_what_c_blosc2_makes() {
    let shuffled = hex("0000aaaaccccf0f000ff000000000000aaaaccccf0f000ff0000000000000000");
    assert_eq!(made(&hex(WORDS), |src, dst| bitshuffle(2, src, dst)), shuffled);
    assert_eq!(made(&shuffled, |src, dst| bitunshuffle(2, src, dst)), hex(WORDS));
    assert_eq!(made(&hex(WORDS), |src, dst| bitshuffle_blosc1(2, src, dst)), shuffled);
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn shuffle_keeps_to_its_definition_and_comes_back() {
    for width in (1..=64).chain([100, 255, 256, 1000]) {
        for len in lengths(width) {
            let src = noise(len, width as u64);
            let count = len / width;
            let mut expected = src.clone();
            for i in 0..count {
                for j in 0..width {
                    expected[j * count + i] = src[i * width + j];
                }
            }
            let dst = made(&src, |src, dst| shuffle(width, src, dst));
            assert!(dst == expected, "width {width}, {len} bytes");
            assert!(
                made(&dst, |src, dst| unshuffle(width, src, dst)) == src,
                "back: width {width}, {len} bytes"
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn bitshuffle_keeps_to_its_definition_and_comes_back() {
    for typesize in (1..=64).chain([255, 300]) {
        for len in lengths(typesize) {
            let src = noise(len, typesize as u64);
            let rows = len / typesize / 8;
            let mut expected = src.clone();
            expected[..rows * 8 * typesize].fill(0);
            for element in 0..rows * 8 {
                for bit in 0..typesize * 8 {
                    let value = src[element * typesize + bit / 8] >> (bit % 8) & 1;
                    expected[bit * rows + element / 8] |= value << (element % 8);
                }
            }
            let dst = made(&src, |src, dst| bitshuffle(typesize, src, dst));
            assert!(dst == expected, "typesize {typesize}, {len} bytes");
            assert!(
                made(&dst, |src, dst| bitunshuffle(typesize, src, dst)) == src,
                "back: {typesize}, {len} bytes"
            );
        }
    }
}

#[test]
fn blosc1_bitshuffle_requires_a_multiple_of_8_elements() {
    let src = noise(4 * 16 + 3, 1);
    assert_eq!(
        made(&src, |src, dst| bitshuffle_blosc1(4, src, dst)),
        made(&src, |src, dst| bitshuffle(4, src, dst))
    );
    let src = noise(4 * 17 + 3, 1);
    assert_eq!(made(&src, |src, dst| bitshuffle_blosc1(4, src, dst)), src);
    assert_eq!(made(&src, |src, dst| bitunshuffle_blosc1(4, src, dst)), src);
}

#[test]
fn delta_word_size_follows_the_typesize() {
    let src = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
    let two = [1, 2, 1 ^ 3, 2 ^ 4, 3 ^ 5, 4 ^ 6, 5 ^ 7, 6 ^ 8];
    assert_eq!(made(&src, |src, dst| delta_encode(2, None, src, dst))[..8], two);
    let single: Vec<u8> = [1].into_iter().chain(src.windows(2).map(|pair| pair[0] ^ pair[1])).collect();
    assert_eq!(made(&src, |src, dst| delta_encode(3, None, src, dst)), single);
    let eight = made(&src, |src, dst| delta_encode(24, None, src, dst));
    assert_eq!(eight[..9], [1, 2, 3, 4, 5, 6, 7, 8, 9 ^ 1]);
    assert_eq!(eight[16], 17, "the rest is kept");
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn delta_comes_back_whatever_the_length() {
    for typesize in (1..=32).chain([255, 256]) {
        for len in [0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 200, 255, 1001] {
            let (src, zero) = (noise(len, 1), noise(len + 5, 2));
            for reference in [None, Some(&zero[..]), Some(&zero[..len / 2])] {
                let mut block = made(&src, |src, dst| delta_encode(typesize, reference, src, dst));
                delta_decode(typesize, reference, &mut block);
                assert!(block == src, "typesize {typesize}, {len} bytes");
            }
        }
    }
    let later = made(&[5, 6, 7, 8, 9], |src, dst| delta_encode(4, Some(&[1, 1, 1, 1, 1, 1]), src, dst));
    assert_eq!(later, [4, 7, 6, 9, 9], "the last byte makes no word");
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn bytedelta_begins_anew_in_each_stream_and_keeps_the_tail() {
    let src = [10, 13, 12, 200, 100, 101, 255, 7];
    let dst = made(&src, |src, dst| bytedelta_encode(2, src, dst));
    assert_eq!(dst, [10, 3, 255, 188, 100, 1, 154, 8]);
    let dst = made(&src, |src, dst| bytedelta_encode(3, src, dst));
    assert_eq!(dst, [10, 3, 12, 188, 100, 1, 255, 7]);
    for streams in [0, 1, 2, 3, 4, 7, 8, 16, 255, 1000] {
        for len in (0..80).chain([127, 128, 129, 300, 1000, 1001]) {
            let src = noise(len, 3);
            let mut block = made(&src, |src, dst| bytedelta_encode(streams, src, dst));
            bytedelta_decode(streams, &mut block);
            assert!(block == src, "{streams} streams, {len} bytes");
        }
    }
}

#[test]
fn the_old_bytedelta_begins_anew_at_the_last_16_bytes() {
    let mut block = [1; 2 * 20 + 1];
    bytedelta_buggy_decode(2, &mut block);
    let part: Vec<u8> = (1..=16).chain(1..=4).collect();
    assert_eq!(block[..20], part);
    assert_eq!(block[20..40], part);
    assert_eq!(block[40], 1);
}

#[test]
fn trunc_prec_clears_the_mantissa_from_below() {
    let src: Vec<u8> =
        [1.999_999_9_f32, -3.3].iter().flat_map(|value| value.to_le_bytes()).chain([7]).collect();
    let dst = made(&src, |src, dst| trunc_prec(10, 4, src, dst).unwrap());
    let bits = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    assert_eq!(bits(&dst[..4]), bits(&src[..4]) & (u32::MAX << 13));
    assert_eq!(bits(&dst[4..8]), bits(&src[4..8]) & (u32::MAX << 13));
    assert_eq!(dst[8], 7);
    let same = made(&src, |src, dst| trunc_prec(-13, 4, src, dst).unwrap());
    assert_eq!(same, dst);
    let double = made(&f64::MAX.to_le_bytes(), |src, dst| trunc_prec(-51, 8, src, dst).unwrap());
    assert_eq!(u64::from_le_bytes(double.try_into().unwrap()), f64::MAX.to_bits() & (u64::MAX << 51));
    for (bits, typesize) in [(0, 4), (24, 4), (-23, 4), (53, 8), (-52, 8), (5, 2), (i8::MIN, 8)] {
        let error = trunc_prec(bits, typesize, &src, &mut [0; 9]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{bits} {typesize}");
    }
}

#[test]
fn int_trunc_clears_low_bits() {
    let dst = made(&[0xff; 7], |src, dst| int_trunc(-3, 2, src, dst).unwrap());
    assert_eq!(dst, [0xf8, 0xff, 0xf8, 0xff, 0xf8, 0xff, 0xff]);
    let dst = made(&[0xff; 3], |src, dst| int_trunc(3, 1, src, dst).unwrap());
    assert_eq!(dst, [0xe0; 3]);
    let dst = made(&[0xff; 21], |src, dst| int_trunc(20, 4, src, dst).unwrap());
    assert_eq!(dst[16..], [0, 0xf0, 0xff, 0xff, 0xff]);
    for (bits, typesize) in [(0, 4), (9, 1), (-8, 1), (5, 3), (i8::MIN, 8)] {
        let error = int_trunc(bits, typesize, &[0; 8], &mut [0; 8]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{bits} {typesize}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn ndcell_goes_cell_by_cell() {
    // A block of 3 by 5 in cells of 2: the last row and column of cells are cut.
    let src: Vec<u8> = (0..15).collect();
    let dst = made(&src, |src, dst| ndcell_encode(2, &[3, 5], 1, src, dst).unwrap());
    assert_eq!(dst, [0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14]);
    assert_eq!(made(&dst, |src, dst| ndcell_decode(2, &[3, 5], 1, src, dst).unwrap()), src);
    for shape in [&[7][..], &[4, 6], &[5, 3, 2], &[2, 1, 3, 3], &[1, 1, 1]] {
        for cell in [1, 2, 3, 4, 255] {
            for typesize in [1, 3, 8] {
                let src = noise(shape.iter().product::<usize>() * typesize, 4);
                let dst = made(&src, |src, dst| ndcell_encode(cell, shape, typesize, src, dst).unwrap());
                assert!(
                    made(&dst, |src, dst| ndcell_decode(cell, shape, typesize, src, dst).unwrap()) == src
                );
            }
        }
    }
}

#[test]
fn ndmean_gives_every_cell_its_mean() {
    let src: Vec<u8> =
        [1.0_f32, 2.0, 10.0, 3.0, 6.0, 20.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let dst = made(&src, |src, dst| ndmean_encode(2, &[2, 3], 4, src, dst).unwrap());
    let back = made(&dst, |src, dst| ndmean_decode(2, &[2, 3], 4, src, dst).unwrap());
    let floats: Vec<_> = back.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
    assert_eq!(floats, [3.0, 3.0, 15.0, 3.0, 3.0, 15.0]);
    assert!(ndmean_encode(2, &[2, 3], 3, &[0; 18], &mut [0; 18]).is_err());
}

#[test]
fn cells_without_a_fitting_shape_are_refused() {
    let cases =
        [(0, &[2, 3][..], 1), (2, &[2, 4], 1), (2, &[], 6), (2, &[usize::MAX, 2], 3), (2, &[0, 9], 1)];
    for (cell, shape, typesize) in cases {
        let error = ndcell_decode(cell, shape, typesize, &[0; 6], &mut [0; 6]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{cell} {shape:?}");
        let error = ndcell_encode(cell, shape, typesize, &[0; 6], &mut [0; 6]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{cell} {shape:?}");
    }
    ndcell_decode(2, &[0, 9], 1, &[], &mut []).unwrap();
    assert!(ndmean_decode(128, &[6], 1, &[0; 6], &mut [0; 6]).is_err());
}

#[test]
fn parsed_filters_fill_the_last_slots() {
    assert_eq!(Pipeline::parse_words(&["shuffle"]).unwrap(), Pipeline::shuffle());
    assert_eq!(Pipeline::parse_words(&["bitshuffle"]).unwrap(), Pipeline::bitshuffle());
    assert_eq!(Pipeline::parse_words(&["none"]).unwrap(), Pipeline::none());
    let pipeline = Pipeline::parse_words(&["trunc_prec:-7", "delta", "shuffle:4", "bytedelta:4"]).unwrap();
    let expected = [(0, 0), (0, 0), (4, 0xf9), (3, 0), (1, 4), (35, 4)];
    assert_eq!(pipeline.0, expected.map(|(id, meta)| Filter::new(id, meta)));
    assert_eq!(pipeline.to_string(), "trunc_prec:-7, delta, shuffle:4, bytedelta:4");
    let names = pipeline.names();
    let words: Vec<_> = names.iter().map(String::as_str).collect();
    assert_eq!(Pipeline::parse_words(&words).unwrap(), pipeline);
    assert!(pipeline.contains(Filter::DELTA) && !pipeline.contains(Filter::NONE) && pipeline.is_lossy());
    assert_eq!(Pipeline::none().to_string(), "none");
}

#[test]
fn invalid_filter_names_are_refused() {
    let wrong =
        ["shuffel", "shuffle:256", "delta:1", "trunc_prec", "trunc_prec:200", "int_trunc:x", ":", "ndcell"];
    for word in wrong {
        let error = Pipeline::parse_words(&[word]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{word}");
    }
    assert!(Pipeline::parse_words(&["delta"; 7]).is_err());
    assert!(Pipeline::parse_words(&["delta"; 6]).is_ok());
}

const NONE: Plugins = Plugins::new();

const CONTEXT: BlockContext<'_> = BlockContext {
    typesize: 4,
    schunk_typesize: 4,
    version: 5,
    reference: None,
    blockshape: &[],
    plugins: &NONE,
};

/// Encodes and decodes `src` through `pipeline`.
fn through(pipeline: Pipeline, cx: &BlockContext<'_>, src: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut scratch = Scratch::default();
    let encoded = pipeline.encode(cx, src, &mut scratch).unwrap().to_vec();
    let (mut streams, mut dst) = (encoded.clone(), vec![0xee; src.len()]);
    pipeline.decode(cx, &mut streams, &mut dst, &mut scratch).unwrap();
    (encoded, dst)
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn every_pipeline_of_three_comes_back() {
    let words = ["none", "shuffle", "shuffle:3", "bitshuffle", "delta", "bytedelta", "ndcell:3"];
    let zero = noise(4 * 7 * 11, 9);
    let cx = BlockContext { blockshape: &[7, 11], ..CONTEXT };
    let later = BlockContext { reference: Some(&zero), ..cx };
    let src = noise(4 * 7 * 11, 8);
    for cx in [cx, later, BlockContext { version: 2, typesize: 2, blockshape: &[14, 11], ..cx }] {
        for one in words {
            for two in words {
                for three in words {
                    let pipeline = Pipeline::parse_words(&[one, two, three]).unwrap();
                    assert!(through(pipeline, &cx, &src).1 == src, "{pipeline}");
                }
            }
        }
    }
}

#[test]
fn pipelines_run_in_the_order_of_the_slots() {
    let src = noise(411, 5);
    let (encoded, back) = through(Pipeline::parse_words(&["shuffle", "bytedelta"]).unwrap(), &CONTEXT, &src);
    let shuffled = made(&src, |src, dst| shuffle(4, src, dst));
    assert_eq!(encoded, made(&shuffled, |src, dst| bytedelta_encode(4, src, dst)));
    assert_eq!(back, src);
}

#[test]
fn an_empty_pipeline_lends_the_source() {
    let src = [1, 2, 3];
    let mut scratch = Scratch::default();
    let single = BlockContext { typesize: 1, ..CONTEXT };
    for (pipeline, cx) in [(Pipeline::none(), &CONTEXT), (Pipeline::shuffle(), &single)] {
        let encoded = pipeline.encode(cx, &src, &mut scratch).unwrap();
        assert!(std::ptr::eq(encoded, &raw const src[..]));
        assert_eq!(pipeline.moves(cx), 0);
    }
    assert_eq!(through(Pipeline::shuffle(), &CONTEXT, &[]).1, []);
}

#[test]
fn filters_of_others_are_named_and_refused() {
    for id in [5, 31, 37, 159, 160, 255] {
        let pipeline = Pipeline([Filter::new(id, 0); 6]);
        let error = pipeline.decode(&CONTEXT, &mut [0; 8], &mut [0; 8], &mut Scratch::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
        assert!(error.to_string().contains(&id.to_string()));
        assert!(pipeline.encode(&CONTEXT, &[0; 8], &mut Scratch::default()).is_err());
        assert!(pipeline.check_known_with(&Plugins::new()).is_err());
    }
    Pipeline([Filter::new(34, 0); 6]).check_known_with(&Plugins::new()).unwrap();
}

#[test]
fn delta_makes_what_c_blosc2_makes() {
    // Two blocks of the same chunk.
    let src: Vec<u8> = (0..48_i32).flat_map(|i| (i / 3 * 1_000_003).to_le_bytes()).collect();
    let (zero, one) = src.split_at(96);
    assert_eq!(made(zero, |src, dst| delta_encode(4, None, src, dst)), hex(DELTA_0));
    assert_eq!(made(one, |src, dst| delta_encode(4, Some(zero), src, dst)), hex(DELTA_1));
}

#[test]
fn bytedelta_makes_what_c_blosc2_makes() {
    let src: Vec<u8> = (0..48_i32).flat_map(|i| (i / 3 * 77).to_le_bytes()).collect();
    let shuffled = made(&src, |src, dst| shuffle(4, src, dst));
    let mut expected = vec![0; 192];
    for at in (3..48).step_by(3) {
        expected[at] = 77;
    }
    for at in [60, 69, 78, 90] {
        expected[at] = 1;
    }
    assert_eq!(made(&shuffled, |src, dst| bytedelta_encode(4, src, dst)), expected);
}

#[test]
fn trunc_prec_makes_what_c_blosc2_makes() {
    for (src, expected) in [
        ("1c4f5a5125e2673f", "0000000025e2673f"),
        ("1c4f5a5125e2973f", "0000000025e2973f"),
        ("c032a47ccf26b43f", "00000000cf26b43f"),
        ("1c4f5a5125e2c73f", "0000000025e2c73f"),
    ] {
        assert_eq!(made(&hex(src), |src, dst| trunc_prec(20, 8, src, dst).unwrap()), hex(expected));
    }
}

#[test]
fn ndcell_makes_what_c_blosc2_makes() {
    let items = (0..7_u16).flat_map(|row| (0..14).map(move |column| row / 3 * 10 + column / 4));
    let src: Vec<u8> = items.flat_map(u16::to_le_bytes).collect();
    assert_eq!(made(&src, |src, dst| ndcell_encode(3, &[7, 14], 2, src, dst).unwrap()), hex(CELLS));
}

#[test]
fn ndmean_makes_what_c_blosc2_makes() {
    let means = [
        ("9999193f", 16),
        ("6566e63f", 16),
        ("cdcc2c40", 8),
        ("0000803f", 16),
        ("cdcc0c40", 16),
        ("66664640", 8),
    ];
    let expected: Vec<u8> = means.iter().flat_map(|(mean, count)| hex(mean).repeat(*count)).collect();
    let dst = made(&hex(MEAN_SOURCE), |src, dst| ndmean_encode(4, &[8, 10], 4, src, dst).unwrap());
    assert_eq!(dst, expected);
}

/// Block 0 of 24 i32 after DELTA, by C-Blosc2 3.3.5.
const DELTA_0: &str = "\
    00000000000000000000000043420f000000000000000000c5c6110000000000000000004f4233000000000000000000c5cf\
    10000000000000000000434271000000000000000000ddc617000000000000000000474231000000000000000000";

/// Block 1.
const DELTA_1: &str = "\
    18127a0018127a0018127a00181686001816860018168600181286001812860018128600281e8a00281e8a00281e8a002812\
    8a0028128a0028128a0028168a0028168a0028168a0038128e0038128e0038128e00382e8e00382e8e00382e8e00";

/// A block of 7 by 14 u16 in cells of 3.
const CELLS: &str = "\
    0000000000000000000000000000000000000000010001000000010001000000010001000100010002000100010002000100\
    010002000200020002000200020002000200020002000300030003000300030003000a000a000a000a000a000a000a000a00\
    0a000a000b000b000a000b000b000a000b000b000b000b000c000b000b000c000b000b000c000c000c000c000c000c000c00\
    0c000c000c000d000d000d000d000d000d0014001400140014001500150015001500160016001600160017001700";

/// A block of 8 by 10 f32.
const MEAN_SOURCE: &str = "\
    000000009a99993e9a99193f6666663f9a99993f0000c03f6666e63f666606409a991940cdcc2c40cdcccc3dcdcccc3e3333\
    333f0000803f6666a63fcdcccc3f3333f33fcdcc0c400000204033333340cdcc4c3e0000003fcdcc4c3fcdcc8c3f3333b33f\
    9a99d93f0000004033331340666626409a9939409a99993e9a99193f6666663f9a99993f0000c03f6666e63f666606409a99\
    1940cdcc2c4000004040cdcccc3e3333333f0000803f6666a63fcdcccc3f3333f33fcdcc0c40000020403333334066664640\
    0000003fcdcc4c3fcdcc8c3f3333b33f9a99d93f0000004033331340666626409a993940cdcc4c409a99193f6666663f9a99\
    993f0000c03f6666e63f666606409a991940cdcc2c4000004040333353403333333f0000803f6666a63fcdcccc3f3333f33f\
    cdcc0c400000204033333340666646409a995940";

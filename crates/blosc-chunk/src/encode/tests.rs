use container_core::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::{Chunk, Decoder, Special};

mod bounds;

/// Those of this crate alone for Miri, which cannot run C.
const CODECS: [Compressor; 5] = if cfg!(miri) {
    [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::LZ4, Compressor::BLOSCLZ]
} else {
    [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD]
};

fn params(blosc_version: BloscVersion, compressor: Compressor, typesize: usize, filters: &[&str]) -> Params {
    Params {
        blosc_version,
        compressor,
        codec_meta: 0,
        level: 5,
        typesize,
        filters: Pipeline::parse_words(filters).unwrap(),
        split: SplitMode::default(),
        blocksize: None,
        dictionary: false,
        threads: 1,
    }
}

fn encode(params: &Params, src: &[u8]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    let len = Encoder::new(params.clone()).unwrap().encode(src, &mut out).unwrap();
    assert_eq!(&out[..6], b"before");
    assert_eq!(out.len(), 6 + len);
    assert!(
        len <= src.len() + params.blosc_version.header_len(),
        "{len} bytes for {}: {params:?}",
        src.len()
    );
    out.split_off(6)
}

fn decode(chunk: &[u8]) -> Vec<u8> {
    let chunk = Chunk::parse(chunk).unwrap();
    let mut dst = vec![0xAA; chunk.header().nbytes as usize];
    Decoder::new().decode(&chunk, &mut dst).unwrap();
    dst
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Counts that compress, noise that does not, zeros, and something of one byte, one after the other.
fn sample(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    let counts = (0_u32..).flat_map(|k| (k * 3).to_le_bytes());
    let part = len.div_ceil(4);
    let zeros = std::iter::repeat_n(0, part);
    counts.take(part).chain(noise.take(part)).chain(zeros).chain(std::iter::repeat(7)).take(len).collect()
}

/// `blosc.compress(b"", typesize=4)` and `blosc2.compress2(b"", typesize=4, filters=[SHUFFLE])` of python-blosc 1.11.4 and
/// python-blosc2 4.14.1.
#[test]
fn empty_data_encodes_to_a_header() {
    let blosc1 = params(BloscVersion::Blosc1, Compressor::BLOSCLZ, 4, &["shuffle"]);
    assert_eq!(encode(&blosc1, b""), hex("02011304 00000000 01000000 10000000"));
    let mut blosc2 = params(BloscVersion::Blosc2, Compressor::ZSTD, 4, &[]);
    blosc2.filters.0[0] = Filter::new(Filter::SHUFFLE, 0);
    let want = hex("05010704 00000000 01000000 20000000 010000000000 05 00 000000000000 00 00");
    assert_eq!(encode(&blosc2, b""), want);
    for params in [blosc1, blosc2] {
        assert_eq!(decode(&encode(&params, b"")), b"");
    }
}

/// As the C libraries write them: level 0, and data too short to gain from a codec.
#[test]
fn stored_bytes_follow_the_header() {
    let blosc1 = params(BloscVersion::Blosc1, Compressor::LZ4, 4, &["shuffle"]);
    assert_eq!(encode(&blosc1, b"abc"), hex("02013304 03000000 01000000 13000000 616263"));
    let mut blosc2 = params(BloscVersion::Blosc2, Compressor::ZSTD, 4, &[]);
    blosc2.filters.0[0] = Filter::new(Filter::SHUFFLE, 0);
    let want = hex("05010704 03000000 01000000 23000000 010000000000 05 00 000000000000 00 00 616263");
    assert_eq!(encode(&blosc2, b"abc"), want);
    blosc2.level = 0;
    let data = vec![7; 1000];
    let chunk = encode(&blosc2, &data);
    assert_eq!(chunk[..16], hex("05010704 e8030000 e8030000 08040000"));
    assert_eq!(chunk[32..], data);
}

/// Spec: blosc2 section 15, i32 0 to 39 with LZ4, split into four streams, of which three are zeros.
#[test]
fn vectors_of_c_blosc2_are_met() {
    let src: Vec<u8> = (0_i32..40).flat_map(i32::to_le_bytes).collect();
    let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, 4, &[]);
    params.filters.0[0] = Filter::new(Filter::SHUFFLE, 0);
    let head = "05012504a0000000a00000005c0000000100000000000100000000000000000024000000 28000000";
    let mut want = hex(head);
    want.extend(0..40);
    want.extend([0; 12]);
    assert_eq!(encode(&params, &src), want);

    params.filters.0[1] = Filter::new(Filter::BYTEDELTA, 0);
    let want = "05012504a0000000a000000040000000012300000000010000040000000000002400\
                0000 0c0000002f000101000e500101010101000000000000000000000000";
    let chunk = encode(&params, &src);
    assert_eq!(decode(&hex(want)), src);
    // All but the length: LZ4 encoders differ.
    assert_eq!((&chunk[..12], &chunk[16..36]), (&hex(want)[..12], &hex(want)[16..36]));
    assert_eq!(decode(&chunk), src);
}

/// Spec: blosc2 section 1.6: a negative byte and a token.
#[test]
fn streams_of_one_byte_are_runs() {
    let mut src: Vec<u8> = 7.5_f64.to_le_bytes().repeat(1000);
    src[0] = 1;
    let chunk = encode(&params(BloscVersion::Blosc2, Compressor::LZ4, 8, &["shuffle"]), &src);
    let streams = &chunk[chunk.len() - 5 * 4 - 2 * 5..];
    assert_eq!(streams, hex("00000000 00000000 00000000 00000000 00000000 e2ffffff01 c0ffffff01"));
    assert_eq!(decode(&chunk), src);
}

/// Spec: blosc2 section 1.4, with its example.
#[test]
fn values_all_alike_are_special_chunks() {
    let doubles = params(BloscVersion::Blosc2, Compressor::LZ4, 8, &["shuffle"]);
    let src = 7.5_f64.to_le_bytes().repeat(10);
    let want =
        hex("05010508 50000000 50000000 28000000 00000000 00000000 00000000 00000030 0000000000001e40");
    assert_eq!(encode(&doubles, &src), want);
    let kind = |params: &Params, src: &[u8]| {
        let chunk = encode(params, src);
        assert_eq!(decode(&chunk), src);
        (Chunk::parse(&chunk).unwrap().header().special(), chunk.len())
    };
    assert_eq!(kind(&doubles, &f64::NAN.to_le_bytes().repeat(10)), (Some(Special::Nan), 32));
    assert_eq!(kind(&doubles, &(-f64::NAN).to_le_bytes().repeat(10)), (Some(Special::Value), 40));
    assert_eq!(kind(&doubles, &[0; 83]), (Some(Special::Zeros), 32));
    // No whole elements, so no value that C-Blosc2 2 would take.
    assert_eq!(kind(&doubles, &[5; 83]).0, None);
    assert_eq!(kind(&doubles, &[5; 80]), (Some(Special::Value), 40));
    let floats = params(BloscVersion::Blosc2, Compressor::ZLIB, 4, &[]);
    assert_eq!(kind(&floats, &f32::NAN.to_le_bytes().repeat(10)), (Some(Special::Nan), 32));
    let wide = params(BloscVersion::Blosc2, Compressor::ZLIB, 300, &[]);
    assert_eq!(kind(&wide, &sample(300).repeat(5)), (Some(Special::Value), 332));
    // Once is no repetition, one byte more neither.
    assert_eq!(kind(&wide, &sample(300)).0, None);
    assert_eq!(kind(&doubles, &[&src[..], &[0]].concat()).0, None);
    // Values that a lossy filter would have changed are left to it.
    let lossy = params(BloscVersion::Blosc2, Compressor::LZ4, 8, &["trunc_prec:10", "shuffle"]);
    assert_eq!(Chunk::parse(&encode(&lossy, &src)).unwrap().header().special(), None);
    assert_eq!(kind(&lossy, &[0; 80]), (Some(Special::Zeros), 32));
    // Blosc1 has no special values.
    let blosc1 = params(BloscVersion::Blosc1, Compressor::LZ4, 8, &["shuffle"]);
    assert_eq!(kind(&blosc1, &[0; 800]).0, None);
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn special_chunks_are_encoded_on_request() {
    let mut out = Vec::new();
    let encoder = Encoder::new(params(BloscVersion::Blosc2, Compressor::LZ4, 8, &["shuffle"])).unwrap();
    let check = |len: usize, out: &mut Vec<u8>, want: &[u8], special: Special| {
        let chunk = Chunk::parse(&out[out.len() - len..]).unwrap();
        assert_eq!(chunk.header().special(), Some(special));
        assert_eq!(decode(chunk.bytes()), want);
    };
    let len = encoder.zeros(1001, &mut out).unwrap();
    check(len, &mut out, &[0; 1001], Special::Zeros);
    let len = encoder.nan(80, &mut out).unwrap();
    check(len, &mut out, &f64::NAN.to_le_bytes().repeat(10), Special::Nan);
    let len = encoder.value(b"abc", 300_000, &mut out).unwrap();
    check(len, &mut out, &b"abc".repeat(100_000), Special::Value);
    let len = encoder.uninit(80, &mut out).unwrap();
    check(len, &mut out, &[0; 80], Special::Uninit);

    let is_usage = |done: Result<usize>| matches!(done.unwrap_err().kind(), ErrorKind::Usage(_));
    assert!(is_usage(encoder.nan(81, &mut out)));
    assert!(is_usage(encoder.uninit(81, &mut out)));
    assert!(is_usage(encoder.value(b"", 80, &mut out)));
    assert!(is_usage(encoder.value(b"abc", 80, &mut out)));
    assert!(is_usage(encoder.zeros(1 << 31, &mut out)));
    let blosc1 = Encoder::new(params(BloscVersion::Blosc1, Compressor::LZ4, 8, &["shuffle"])).unwrap();
    assert!(is_usage(blosc1.zeros(80, &mut out)));
}

#[test]
fn every_length_and_typesize_comes_back() {
    let lens = [1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 1000, 4096, 20_001];
    let typesizes = [1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 255, 256, 300];
    let (lens, step) = if cfg!(miri) { (&lens[3..9], 5) } else { (&lens[..], 1) };
    let src = sample(lens[lens.len() - 1]);
    for (turn, &len) in lens.iter().enumerate().step_by(step) {
        for (other, &typesize) in typesizes.iter().enumerate().step_by(step) {
            for blosc_version in [BloscVersion::Blosc1, BloscVersion::Blosc2] {
                for filters in [&[][..], &["shuffle"], &["bitshuffle"]] {
                    let codec = CODECS[(turn + other) % 5];
                    let mut params = params(blosc_version, codec, typesize, filters);
                    for blocksize in [None, Some(100), Some(4096)] {
                        params.blocksize = blocksize;
                        let chunk = encode(&params, &src[..len]);
                        assert!(decode(&chunk) == src[..len], "{len} bytes: {params:?}");
                    }
                }
            }
        }
    }
}

/// Input with a partial last element, of which the reference loses bytes.
#[test]
fn odd_tails_are_kept() {
    let (len, step, block) = if cfg!(miri) { (203, 3, 99) } else { (10_003, 1, 999) };
    let src = sample(len);
    for filters in [
        &["delta"][..],
        &["delta", "shuffle"],
        &["shuffle", "bytedelta"],
        &["bitshuffle"],
        &["bitshuffle", "delta"],
    ] {
        for typesize in [2, 4, 8, 7, 16].into_iter().step_by(step) {
            for blocksize in [Some(block), None, Some(1024)].into_iter().step_by(step) {
                let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, typesize, filters);
                params.blocksize = blocksize;
                assert!(decode(&encode(&params, &src)) == src, "{params:?}");
            }
        }
    }
}

/// Readers reverse differences with the block 0 that they decode, not with the original one.
#[test]
fn differences_after_a_lossy_filter_refer_to_what_readers_see() {
    let (count, block) = if cfg!(miri) { (60, 400) } else { (5000, 4000) };
    let src: Vec<u8> = (0..count).flat_map(|k| (f64::from(k).sqrt()).to_le_bytes()).collect();
    let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, 8, &["trunc_prec:20", "delta", "shuffle"]);
    params.blocksize = Some(block);
    let mut want = vec![0; src.len()];
    crate::filters::trunc_prec(20, 8, &src, &mut want).unwrap();
    assert_eq!(decode(&encode(&params, &src)), want);
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn the_number_of_threads_does_not_show() {
    let src = sample(350_007);
    for compressor in CODECS {
        for (blosc_version, filters) in [
            (BloscVersion::Blosc1, &["shuffle"][..]),
            (BloscVersion::Blosc2, &["delta", "shuffle"]),
            (BloscVersion::Blosc2, &["bitshuffle"]),
        ] {
            for dictionary in [false, blosc_version == BloscVersion::Blosc2 && compressor == Compressor::LZ4]
            {
                let mut params = params(blosc_version, compressor, 4, filters);
                params.level = 1;
                params.dictionary = dictionary;
                params.blocksize = Some(16 << 10);
                let one = encode(&params, &src);
                for threads in [2, 5] {
                    params.threads = threads;
                    assert!(encode(&params, &src) == one, "{params:?}");
                }
                assert!(decode(&one) == src, "{params:?}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn encoder_output_is_independent_of_earlier_data() {
    let (one, other) = (sample(100_000), sample(40_000).repeat(2));
    for compressor in CODECS {
        let params = params(BloscVersion::Blosc2, compressor, 4, &["shuffle"]);
        let mut encoder = Encoder::new(params.clone()).unwrap();
        for src in [&one, &other, &one] {
            let mut out = Vec::new();
            encoder.encode(src, &mut out).unwrap();
            assert!(out == encode(&params, src), "{compressor}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn noise_is_stored_whatever_the_threads() {
    let src: Vec<u8> = sample(800_000)[200_000..400_000].to_vec();
    for blosc_version in [BloscVersion::Blosc1, BloscVersion::Blosc2] {
        for compressor in CODECS {
            let mut params = params(blosc_version, compressor, 1, &[]);
            for threads in [1, 4] {
                params.threads = threads;
                params.blocksize = Some(10_000);
                let chunk = encode(&params, &src);
                assert_eq!(chunk.len(), src.len() + blosc_version.header_len());
                assert_ne!(chunk[2] & 0x02, 0);
                assert!(decode(&chunk) == src);
            }
        }
    }
}

/// Leading stored blocks are held back until one that is not stored is found.
#[test]
#[cfg_attr(miri, ignore = "long data")]
fn blocks_come_in_order_wherever_some_are_stored() {
    let noise = &sample(40_000)[10_000..20_000];
    let counts: Vec<u8> = (0_u32..2500).flat_map(|k| (k / 16).to_le_bytes()).collect();
    let counts = &counts[..];
    let zeros = &[0; 10_000][..];
    for parts in [
        [noise, noise, counts, noise],
        [noise, noise, zeros, zeros],
        [noise, counts, counts, noise],
        [counts, noise, noise, zeros],
        [noise, noise, noise, counts],
    ] {
        let src = parts.concat();
        for filters in [&[][..], &["shuffle"], &["delta"]] {
            let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, 4, filters);
            params.split = SplitMode::Never;
            params.blocksize = Some(10_000);
            let one = encode(&params, &src);
            assert!(one.len() < src.len());
            assert!(decode(&one) == src);
            let starts: Vec<u8> = one[32..48].to_vec();
            assert!(starts.chunks(4).is_sorted_by_key(|start| u32::from_le_bytes(start.try_into().unwrap())));
            params.threads = 4;
            assert!(
                encode(&params, &src.repeat(8)) == {
                    params.threads = 1;
                    encode(&params, &src.repeat(8))
                }
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn dictionaries_are_written_where_they_help() {
    let text: String = (0..20_000)
        .map(|k| format!("{{\"station\": {}, \"temperature\": {}}}\n", k % 97, (k * k) % 311))
        .collect();
    for compressor in [Compressor::ZSTD, Compressor::LZ4, Compressor::LZ4HC] {
        let mut params = params(BloscVersion::Blosc2, compressor, 1, &[]);
        params.blocksize = Some(2048);
        let plain = encode(&params, text.as_bytes());
        params.dictionary = true;
        let chunk = encode(&params, text.as_bytes());
        assert!(Chunk::parse(&chunk).unwrap().header().has_dictionary());
        assert!(chunk.len() < plain.len(), "{compressor}: {} against {}", chunk.len(), plain.len());
        assert!(decode(&chunk) == text.as_bytes());
        let noise = &sample(100_000)[25_000..50_000];
        assert!(!Chunk::parse(&encode(&params, noise)).unwrap().header().has_dictionary());
    }
}

/// Spec: blosc2 section 15: two blocks of 500 bytes, 171 bytes in all with C's LZ4.
#[test]
fn blocks_of_any_length_are_encoded_each_on_its_own() {
    let (times, noise) = if cfg!(miri) { (5, 100) } else { (40, 3000) };
    let blocks: [&[u8]; 4] = [&b"the same again ".repeat(times), b"x", &sample(noise), &[0; 500]];
    let nbytes = blocks.iter().map(|block| block.len()).sum::<usize>();
    for compressor in CODECS.into_iter().take(if cfg!(miri) { 3 } else { 5 }) {
        for filters in [&[][..], &["shuffle"], &["delta"], &["bitshuffle"]] {
            // Miri takes minutes to look through the samples of a dictionary.
            for dictionary in
                [false, !cfg!(miri) && !matches!(compressor, Compressor::BLOSCLZ | Compressor::ZLIB)]
            {
                let mut params = params(BloscVersion::Blosc2, compressor, 4, filters);
                params.dictionary = dictionary;
                let mut out = Vec::new();
                let len = Encoder::new(params.clone()).unwrap().encode_blocks(&blocks, &mut out).unwrap();
                assert_eq!(len, out.len());
                let chunk = Chunk::parse(&out).unwrap();
                assert_eq!((out[0], out[2] & 0x17, out[0x1E]), (6, 0x15, 1));
                assert_eq!(chunk.header().blocksize, 4);
                assert_eq!(chunk.header().nbytes as usize, nbytes);
                assert!(decode(&out) == blocks.concat(), "{params:?}");
            }
        }
    }
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    let encode = |blosc_version, blocks: &[&[u8]]| {
        let mut out = b"before".to_vec();
        let mut encoder = Encoder::new(params(blosc_version, Compressor::LZ4, 1, &[])).unwrap();
        let error = encoder.encode_blocks(blocks, &mut out).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)));
        assert_eq!(out, b"before");
    };
    encode(BloscVersion::Blosc1, &[b"abc"]);
    encode(BloscVersion::Blosc2, &[]);
    encode(BloscVersion::Blosc2, &[b"abc", b""]);
}

#[test]
fn invalid_parameters_are_refused() {
    let good = params(BloscVersion::Blosc2, Compressor::LZ4, 4, &["shuffle"]);
    let refused = |change: &dyn Fn(&mut Params)| {
        let mut params = good.clone();
        change(&mut params);
        Encoder::new(params).unwrap_err().into_kind()
    };
    let usage: [&dyn Fn(&mut Params); 8] = [
        &|params| params.level = 10,
        &|params| params.typesize = 0,
        &|params| params.typesize = (512 << 20) + 1,
        &|params| params.blocksize = Some(0),
        &|params| params.blocksize = Some(1 << 30),
        &|params| (params.blosc_version, params.dictionary) = (BloscVersion::Blosc1, true),
        &|params| (params.compressor, params.dictionary) = (Compressor::ZLIB, true),
        &|params| {
            params.blosc_version = BloscVersion::Blosc1;
            params.filters = Pipeline::parse_words(&["delta", "shuffle"]).unwrap();
        },
    ];
    for (index, change) in usage.iter().enumerate() {
        assert!(matches!(refused(change), ErrorKind::Usage(_)), "{index}");
    }
    for compressor in [Compressor::SNAPPY, Compressor::NDLZ, Compressor(35), Compressor(200)] {
        assert!(matches!(refused(&|params| params.compressor = compressor), ErrorKind::Unsupported(_)));
    }
    for id in [5, 34, 37, 160] {
        assert!(matches!(
            refused(&|params| params.filters.0[0] = Filter::new(id, 0)),
            ErrorKind::Unsupported(_)
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 300 }))]

    #[test]
    fn whatever_is_encoded_comes_back(
        pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..9), 1..if cfg!(miri) { 20 } else { 400_usize }), 0..12),
        codec in 0..5_usize,
        level in 0..=9_u8,
        typesize in prop_oneof![1..40_usize, Just(255), Just(256), Just(1000)],
        filters in prop::sample::subsequence(vec!["delta", "shuffle", "bytedelta", "bitshuffle"], 0..4),
        split in prop::sample::select(vec![SplitMode::Always, SplitMode::Never, SplitMode::Auto]),
        blocksize in prop::option::of(1..5000_usize),
        is_blosc1 in any::<bool>(),
    ) {
        let src: Vec<u8> = pieces.iter().flat_map(|(piece, times)| piece.repeat(*times)).collect();
        let blosc_version = if is_blosc1 { BloscVersion::Blosc1 } else { BloscVersion::Blosc2 };
        let filters = if is_blosc1 { &filters[..0] } else { &filters[..] };
        let mut params = params(blosc_version, CODECS[codec], typesize, filters);
        (params.level, params.split, params.blocksize) = (level, split, blocksize);
        prop_assert_eq!(decode(&encode(&params, &src)), src);
    }
}

//! Parameters and lengths at their bounds, and the headers of special values.

use super::*;
use crate::MAX_BLOCKSIZE;

/// `BLOSC_MAX_BUFFERSIZE` of blosc.h and `BLOSC2_MAX_BUFFERSIZE` of blosc2.h: INT_MAX less the longest header.
#[test]
fn chunks_hold_as_many_bytes_as_those_of_the_c_libraries() {
    assert_eq!((BloscVersion::Blosc1.header_len(), BloscVersion::Blosc1.max_nbytes()), (16, 2_147_483_631));
    assert_eq!((BloscVersion::Blosc2.header_len(), BloscVersion::Blosc2.max_nbytes()), (32, 2_147_483_615));
    let mut out = Vec::new();
    let encoder = Encoder::new(params(BloscVersion::Blosc2, Compressor::LZ4, 1, &[])).unwrap();
    assert_eq!(encoder.zeros(2_147_483_615, &mut out).unwrap(), 32);
    assert_eq!(Chunk::parse(&out).unwrap().nbytes(), 2_147_483_615);
    assert!(matches!(encoder.zeros(2_147_483_616, &mut out).unwrap_err().kind(), ErrorKind::Usage(_)));
    assert_eq!(out.len(), 32);
    assert_eq!(encoder.max_encoded_len(100), 132);
    let blosc1 = Encoder::new(params(BloscVersion::Blosc1, Compressor::LZ4, 1, &[])).unwrap();
    assert_eq!(blosc1.max_encoded_len(100), 116);
}

#[test]
fn parameters_are_accepted_up_to_their_bounds() {
    let good = params(BloscVersion::Blosc2, Compressor::LZ4, 4, &["shuffle"]);
    let accepted: [&dyn Fn(&mut Params); 10] = [
        &|params| params.level = 9,
        &|params| params.level = 0,
        &|params| params.typesize = 512 << 20,
        &|params| params.typesize = 1,
        &|params| params.blocksize = Some(MAX_BLOCKSIZE as usize),
        &|params| params.blocksize = Some(1),
        &|params| params.codec_meta = 7,
        &|params| (params.compressor, params.dictionary) = (Compressor::LZ4HC, true),
        &|params| (params.blosc_version, params.filters) = (BloscVersion::Blosc1, Pipeline::bitshuffle()),
        &|params| (params.blosc_version, params.filters) = (BloscVersion::Blosc1, Pipeline::none()),
    ];
    for (index, change) in accepted.iter().enumerate() {
        let mut params = good.clone();
        change(&mut params);
        assert_eq!(Encoder::new(params.clone()).unwrap().params(), &params, "{index}");
    }
    let usage: [&dyn Fn(&mut Params); 6] = [
        &|params| params.blocksize = Some(MAX_BLOCKSIZE as usize + 1),
        &|params| (params.blosc_version, params.codec_meta) = (BloscVersion::Blosc1, 7),
        &|params| params.filters = Pipeline::parse_words(&["shuffle:4"]).unwrap(),
        &|params| params.filters = Pipeline::parse_words(&["delta"]).unwrap(),
        &|params| params.filters = Pipeline::parse_words(&["bitshuffle", "shuffle"]).unwrap(),
        &|params| (params.compressor, params.dictionary) = (Compressor::BLOSCLZ, true),
    ];
    for (index, change) in usage.iter().enumerate() {
        let mut params = Params { blosc_version: BloscVersion::Blosc1, ..good.clone() };
        change(&mut params);
        let error = Encoder::new(params).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{index}: {error}");
    }
    let old = Filter::new(Filter::BYTEDELTA_BUGGY, 4);
    let mut params = good;
    params.filters.0[5] = old;
    assert!(matches!(Encoder::new(params).unwrap_err().kind(), ErrorKind::Unsupported(_)));
}

/// Chunks are readable without their frame, which has the typesize.
#[test]
fn bytedelta_stores_its_number_of_streams() {
    let meta = |typesize: usize, word: &str| {
        let params = params(BloscVersion::Blosc2, Compressor::LZ4, typesize, &["shuffle", word]);
        Encoder::new(params).unwrap().params().filters.0.map(|filter| filter.meta)
    };
    assert_eq!(meta(8, "bytedelta"), [0, 0, 0, 0, 0, 8]);
    assert_eq!(meta(300, "bytedelta"), [0, 0, 0, 0, 0, 1]);
    assert_eq!(meta(8, "bytedelta:4"), [0, 0, 0, 0, 0, 4]);
}

/// Values that are all alike after the filters: C-Blosc2 writes the same header (3.3.5).
#[test]
fn data_of_which_a_lossy_filter_leaves_zeros_become_zeros() {
    // Mantissas below 2^13, which 10 bits of precision do not keep.
    let src: Vec<u8> = (1..5000_u32).flat_map(u32::to_le_bytes).collect();
    for threads in [1, 3] {
        let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, 4, &["trunc_prec:10", "shuffle"]);
        params.threads = threads;
        for src in [src.clone(), src.repeat(20)] {
            let chunk = encode(&params, &src);
            assert_eq!(
                (chunk.len(), Chunk::parse(&chunk).unwrap().header().special()),
                (32, Some(Special::Zeros))
            );
            assert_eq!(decode(&chunk), vec![0; src.len()]);
        }
    }
}

/// C-Blosc2 fills special values block by block, and wants whole ones in each.
#[test]
fn blocks_of_special_values_are_whole_values() {
    let header = |typesize: usize, make: &dyn Fn(&Encoder, &mut Vec<u8>) -> Result<usize>| {
        let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, typesize, &["shuffle"]);
        params.blocksize = Some(100_000);
        let mut out = Vec::new();
        make(&Encoder::new(params).unwrap(), &mut out).unwrap();
        Chunk::parse(&out).unwrap().header().clone()
    };
    let three = header(8, &|encoder, out| encoder.value(b"abc", 3_000_000, out));
    let value = vec![7; 1_000_000];
    let long = header(8, &|encoder, out| encoder.value(&value, 3_000_000, out));
    let nan = header(8, &|encoder, out| encoder.nan(3_000_000, out));
    let uninit = header(7, &|encoder, out| encoder.uninit(7_000_000, out));
    let sizes = [&three, &long, &nan, &uninit].map(|header| header.blocksize);
    assert_eq!(sizes, [99_999, 1_000_000, 100_000, 99_995]);
    let few = header(8, &|encoder, out| encoder.value(b"abc", 6, out));
    assert_eq!((few.blocksize, few.cbytes, few.block_count()), (6, 35, 1));
    let none = header(8, &|encoder, out| encoder.zeros(0, out));
    assert_eq!((none.nbytes, none.blocksize, none.cbytes), (0, 1, 32));
    for header in [three, long, nan, uninit, few, none] {
        assert_eq!((header.flags, header.versionlz, header.codec_meta), (5, 1, 0));
        assert_eq!((header.filters, header.compressor), (Pipeline::none(), Compressor::BLOSCLZ));
    }
}

#[test]
fn special_values_that_do_not_fit_are_refused() {
    let encoder =
        |typesize| Encoder::new(params(BloscVersion::Blosc2, Compressor::LZ4, typesize, &[])).unwrap();
    let mut out = Vec::new();
    for typesize in [1, 2, 3, 5, 7, 16] {
        let error = encoder(typesize).nan(80, &mut out).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{typesize}: {error}");
    }
    assert!(matches!(encoder(4).value(b"abc", 0, &mut out).unwrap_err().kind(), ErrorKind::Usage(_)));
    let huge = vec![0; MAX_BLOCKSIZE as usize + 1];
    assert!(matches!(encoder(4).value(&huge, huge.len(), &mut out).unwrap_err().kind(), ErrorKind::Usage(_)));
    assert_eq!(out, b"");
}

/// The table and the lengths of blocks count as well, and nothing is encoded before.
#[test]
fn blocks_of_more_bytes_than_a_chunk_holds_are_refused() {
    let mut encoder = Encoder::new(params(BloscVersion::Blosc2, Compressor::LZ4, 1, &[])).unwrap();
    let zeros = vec![0; 1 << 27];
    let most = 2_147_483_615;
    let last = most - 15 * zeros.len() - 16 * 8 + 1;
    let blocks: Vec<&[u8]> = [&[&zeros[..]; 15][..], &[&zeros[..last]]].concat();
    let mut out = b"before".to_vec();
    let error = encoder.encode_blocks(&blocks, &mut out).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert_eq!(out, b"before");
}

#[test]
fn blocks_of_level_0_are_stored_each_after_its_length() {
    let mut params = params(BloscVersion::Blosc2, Compressor::LZ4, 1, &[]);
    (params.level, params.dictionary) = (0, true);
    let mut out = Vec::new();
    let blocks: [&[u8]; 2] = [&[7; 20], b"xyz"];
    assert_eq!(Encoder::new(params).unwrap().encode_blocks(&blocks, &mut out).unwrap(), 32 + 8 + 24 + 7);
    let starts = [40_u32, 64].map(u32::to_le_bytes).concat();
    assert_eq!(out[32..], [&starts[..], &[20, 0, 0, 0], &[7; 20], &[3, 0, 0, 0], b"xyz"].concat());
    assert_eq!(decode(&out), [&[7; 20][..], b"xyz"].concat());
}

/// `BLOSC_MIN_BUFFERSIZE` of both libraries: shorter data are stored.
#[test]
fn short_data_are_stored() {
    for (blosc_version, least) in [(BloscVersion::Blosc1, 128), (BloscVersion::Blosc2, 32)] {
        let params = params(blosc_version, Compressor::ZSTD, 1, &[]);
        let is_stored = |len: u8| {
            let src: Vec<u8> = (0..len).map(|at| at / 64 + u8::from(at == 5)).collect();
            let chunk = encode(&params, &src);
            assert_eq!(decode(&chunk), src);
            Chunk::parse(&chunk).unwrap().header().is_memcpyed()
        };
        assert!(is_stored(least - 1) && !is_stored(least + (least - 1)), "{blosc_version:?}");
    }
}

/// zstd trains dictionaries, which begin with its magic (RFC 8878, 5); LZ4 takes pieces of the data as they are.
#[test]
#[cfg_attr(miri, ignore = "long data")]
fn dictionaries_are_of_the_kind_of_their_codec() {
    let text: String = (0..20_000)
        .map(|k| format!("{{\"station\": {}, \"temperature\": {}}}\n", k % 97, (k * k) % 311))
        .collect();
    let text = text.as_bytes();
    let dictionary = |compressor| {
        let mut params = params(BloscVersion::Blosc2, compressor, 1, &[]);
        (params.dictionary, params.blocksize) = (true, Some(2048));
        let chunk = encode(&params, text);
        assert_eq!(decode(&chunk), text);
        Chunk::parse(&chunk).unwrap().dictionary().to_vec()
    };
    let of_zstd = dictionary(Compressor::ZSTD);
    assert_eq!(of_zstd[..4], [0x37, 0xa4, 0x30, 0xec]);
    for compressor in [Compressor::LZ4, Compressor::LZ4HC] {
        let of_lz4 = dictionary(compressor);
        // At most a twentieth of the data, and no more than C-Blosc2 reads.
        assert!((256..=(32 << 10).min(text.len() / 20)).contains(&of_lz4.len()), "{}", of_lz4.len());
        for piece in of_lz4.chunks(512) {
            assert!(text.windows(piece.len()).any(|own| own == piece), "{compressor}");
        }
    }
    assert!((256..=(32 << 10).min(text.len() / 20)).contains(&of_zstd.len()), "{}", of_zstd.len());
}

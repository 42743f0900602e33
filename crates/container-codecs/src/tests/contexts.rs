//! Contexts that are kept between streams give the results of the codecs without state, whatever came before.

use super::*;
#[cfg(feature = "zlib")]
use crate::zlib::{Deflater, Inflater};
#[cfg(feature = "zstd")]
use crate::zstd::{Compressor, Decompressor, train};

#[cfg(feature = "zlib")]
#[test]
fn one_inflater_decodes_every_vector_of_zlib_and_any_prefix_of_it() {
    let mut inflater = Inflater::default();
    for vector in vectors::all().iter().filter(|vector| vector.codec == "zlib") {
        let (encoded, want) = (vector.encoded(), vector.data.bytes());
        let mut dst = vec![0; want.len()];
        inflater.decode(&encoded, &mut dst).unwrap();
        assert_eq!(dst, want, "{}", vector.made_by);
        for len in [0, 1.min(want.len()), want.len() / 2, want.len()] {
            let mut dst = vec![0; len];
            inflater.decode_prefix(&encoded, &mut dst).unwrap();
            assert_eq!(dst, want[..len], "{} of {}", len, vector.made_by);
        }
        // A broken stream leaves no trace.
        assert!(inflater.decode(&encoded[..encoded.len() - 1], &mut dst).is_err());
        assert!(inflater.decode_prefix(&encoded, &mut vec![0; want.len() + 1]).is_err());
    }
}

#[cfg(feature = "zlib")]
#[test]
fn deflater_matches_the_codec_or_returns_none() {
    for level in (1..=9).step_by(if cfg!(miri) { 8 } else { 1 }) {
        let mut deflater = Deflater::new(level).unwrap();
        for data in [b"".to_vec(), vec![7; if cfg!(miri) { 50 } else { 5000 }], Data::Mixed.bytes()] {
            let want = encode(&zlib::Zlib, &data, Some(level));
            let mut dst = vec![0; want.len() + 100];
            assert_eq!(deflater.encode(&data, &mut dst).unwrap(), Some(want.len()), "level {level}");
            assert_eq!(dst[..want.len()], want);
            assert_eq!(deflater.encode(&data, &mut dst[..want.len()]).unwrap(), Some(want.len()));
            assert_eq!(deflater.encode(&data, &mut dst[..want.len() - 1]).unwrap(), None);
            assert_eq!(deflater.encode(&data, &mut []).unwrap(), None);
        }
    }
    assert!(matches!(Deflater::new(10).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_contexts_are_the_codec() {
    let mut decompressor = Decompressor::new().unwrap();
    for level in [-7, 1, 3, 22] {
        let mut compressor = Compressor::new(level).unwrap();
        for data in [b"".to_vec(), vec![7; 5000], Data::Mixed.bytes()] {
            let want = encode(&zstd::Zstd, &data, Some(level));
            let mut dst = vec![0; want.len() + 100];
            assert_eq!(compressor.encode(&data, &mut dst[..want.len() - 1]).unwrap(), None);
            assert_eq!(compressor.encode(&data, &mut dst).unwrap(), Some(want.len()), "level {level}");
            assert_eq!(dst[..want.len()], want);
            let mut back = vec![0; data.len()];
            assert!(decompressor.decode(&want[..want.len() - 1], &mut back).is_err());
            decompressor.decode(&want, &mut back).unwrap();
            assert_eq!(back, data);
        }
    }
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_takes_raw_dictionaries_as_python_zstandard_does() {
    let dictionary = b"the quick brown fox jumps over the lazy dog".repeat(3);
    let text = b"the quick brown fox; the lazy dog; jumps over";
    // zstandard.ZstdCompressor(level=3, dict_data=ZstdCompressionDict(dictionary, DICT_TYPE_RAWCONTENT))
    let encoded = vectors::unhex("28b52ffd202d6d0000103b3b03005d0dd1c3712e5141");
    let mut back = vec![0; text.len()];
    let mut decompressor = Decompressor::new().unwrap();
    assert!(decompressor.decode(&encoded, &mut back).is_err());
    decompressor.set_dictionary(&dictionary).unwrap();
    decompressor.decode(&encoded, &mut back).unwrap();
    assert_eq!(back, text);
    let mut compressor = Compressor::new(3).unwrap();
    compressor.set_dictionary(&dictionary).unwrap();
    let mut dst = [0; 100];
    let made = compressor.encode(text, &mut dst).unwrap().unwrap();
    assert!(made <= encoded.len());
    decompressor.decode(&dst[..made], &mut back).unwrap();
    assert_eq!(back, text);
    decompressor.set_dictionary(&[]).unwrap();
    assert!(decompressor.decode(&encoded, &mut back).is_err());
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_trains_dictionaries_only_from_enough_samples() {
    let samples: Vec<String> =
        (0..500).map(|k| format!("{{\"id\": {k}, \"name\": \"item {}\", \"ok\": true}}", k * k)).collect();
    let sizes: Vec<usize> = samples.iter().map(String::len).collect();
    let dictionary = train(samples.concat().as_bytes(), &sizes, 4096).unwrap();
    assert!(dictionary.starts_with(&[0x37, 0xa4, 0x30, 0xec]) && dictionary.len() <= 4096);
    assert!(train(b"abc", &[1, 2], 4096).is_none());
    let mut compressor = Compressor::new(3).unwrap();
    let mut dst = [0; 200];
    let plain = compressor.encode(samples[77].as_bytes(), &mut dst).unwrap().unwrap();
    compressor.set_dictionary(&dictionary).unwrap();
    let made = compressor.encode(samples[77].as_bytes(), &mut dst).unwrap().unwrap();
    assert!(made < plain, "{made} < {plain}");
    // Damaged after its magic number.
    let error = Decompressor::new().unwrap().set_dictionary(&dictionary[..20]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
}

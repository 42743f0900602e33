//! The claims that hold for every codec, over encodings made by other implementations and by our own.

use std::ops::Range;
use std::sync::Mutex;

use proptest::prelude::*;

use container_core::codec::{Codec, Codecs, Encoded};
use container_core::{Error, ErrorKind, Result};

use super::*;

mod contexts;
mod ranges;
#[cfg(all(feature = "zlib", feature = "bzip2", feature = "zstd"))]
mod stops;
mod vectors;

use vectors::Data;

/// Levels of each codec that has them: the first, the last and the default.
const SCALES: &[(&str, i32, i32, i32)] = &[("zlib", 0, 9, 4), ("bzp2", 1, 9, 9), ("zstd", -7, 22, 3)];

/// Bytes of the longest data that are thought of.
const LONGEST: usize = if cfg!(miri) { 100 } else { 3000 };

/// All codecs of this build, those included that only some formats register.
fn all_codecs() -> Codecs {
    #[allow(unused_mut)]
    let mut codecs = built_in();
    #[cfg(feature = "lz4")]
    codecs.register(lz4::Lz4Frame);
    #[cfg(feature = "xz")]
    codecs.register(xz::Xz);
    codecs
}

fn decode(codec: &dyn Codec, src: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut dst = vec![0xAA; len];
    codec.decode(src, &mut dst).map(|()| dst)
}

fn encode(codec: &dyn Codec, src: &[u8], level: Option<i32>) -> Vec<u8> {
    let mut out = Vec::new();
    codec.encode(src, level, &mut out).unwrap();
    out
}

#[track_caller]
fn assert_malformed(codec: &dyn Codec, src: &[u8], len: usize) {
    match decode(codec, src, len) {
        Err(error) => assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{}: {error}", codec.name()),
        Ok(_) => panic!("{} took {} bytes as an encoding of {len}", codec.name(), src.len()),
    }
}

/// Runs `check` with every vector: codec, encoded bytes, decoded bytes.
pub(super) fn for_each_vector(mut check: impl FnMut(&dyn Codec, &[u8], &[u8])) {
    let codecs = all_codecs();
    for vector in vectors::all() {
        check(codecs.get(vector.codec).unwrap(), &vector.encoded(), &vector.data.bytes());
    }
}

fn for_each_codec(mut check: impl FnMut(&dyn Codec)) {
    let codecs = built_in();
    codecs.names().for_each(|name| check(codecs.get(name).unwrap()));
}

/// Levels to try with `codec`: its ends and default, and none at all.
fn levels(codec: &dyn Codec) -> Vec<Option<i32>> {
    let scale = SCALES.iter().find(|scale| scale.0 == codec.name());
    let named = scale.map_or(vec![], |scale| vec![Some(scale.1), Some(scale.2), Some(scale.3)]);
    named.into_iter().chain([None]).collect()
}

/// Bytes without pattern (xorshift64).
pub(super) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let step = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(step).take(len).collect()
}

#[test]
fn encodings_of_other_implementations_decode() {
    let codecs = all_codecs();
    for vector in vectors::all() {
        let data = vector.data.bytes();
        let decoded = decode(codecs.get(vector.codec).unwrap(), &vector.encoded(), data.len());
        assert!(decoded.is_ok_and(|decoded| decoded == data), "{}: {}", vector.codec, vector.made_by);
    }
}

#[test]
fn decoded_len_of_foreign_encodings_is_exact_or_none() {
    let mut told = 0;
    for_each_vector(|codec, encoded, values| {
        let len = codec.decoded_len(encoded).unwrap();
        if len.is_none() {
            return assert!(!["zlib", "bzp2"].contains(&codec.name()), "{}", codec.name());
        }
        told += 1;
        assert_eq!(len, Some(values.len() as u64), "{}", codec.name());
        // A stream that is cut, or continues, has no length either.
        assert_eq!(codec.decoded_len(&encoded[..encoded.len() - 1]).unwrap(), None);
        assert_eq!(codec.decoded_len(&[encoded, b"x"].concat()).unwrap(), None);
    });
    assert!(told > 3, "{told}");
}

#[test]
fn every_codec_has_vectors_and_every_vector_a_codec() {
    let codecs = all_codecs();
    for name in codecs.names() {
        assert!(vectors::all().iter().any(|vector| vector.codec == name), "{name}");
    }
    assert!(vectors::all().iter().all(|vector| codecs.get(vector.codec).is_ok()));
}

#[test]
fn a_destination_of_another_length_is_malformed() {
    for_each_vector(|codec, encoded, data| {
        assert_malformed(codec, encoded, data.len() + 1);
        assert_malformed(codec, encoded, data.len() + 1000);
        if !data.is_empty() {
            assert_malformed(codec, encoded, data.len() - 1);
            assert_malformed(codec, encoded, data.len() / 2);
            assert_malformed(codec, encoded, 0);
        }
    });
}

/// bzip2 and zstd allow concatenation, so a cut at the end of a stream leaves a sound but shorter one.
#[test]
fn input_cut_at_any_byte_is_malformed() {
    for_each_vector(|codec, encoded, data| {
        let len = data.len().min(1000);
        let whole = if data.len() > len { encode(codec, &data[..len], None) } else { encoded.to_vec() };
        let sound_cut = |cut: usize| {
            codec.name() == "bzp2" && whole.len() - cut == 14 && whole[cut..].starts_with(b"BZh")
        };
        for cut in (0..whole.len()).step_by(if cfg!(miri) { 97 } else { 1 }).filter(|cut| !sound_cut(*cut)) {
            assert_malformed(codec, &whole[..cut], len);
        }
    });
}

#[test]
fn input_after_the_end_is_malformed() {
    for_each_vector(|codec, encoded, data| {
        // Which xz allows, four zeros at a time.
        let zeros: &[u8] = if codec.name() == "xz" { &[0; 63] } else { &[0; 64] };
        for trailing in [&b"\0"[..], b"\xFF", b"BZh", b"BZh9trailing", zeros] {
            assert_malformed(codec, &[encoded, trailing].concat(), data.len());
        }
        if !data.is_empty() {
            assert_malformed(codec, &[encoded, encoded].concat(), data.len());
        }
    });
}

#[test]
fn no_input_is_malformed_for_any_length() {
    for_each_codec(|codec| {
        assert_malformed(codec, &[], 0);
        assert_malformed(codec, &[], 1);
    });
}

#[test]
fn empty_data_round_trips_through_nonempty_encodings() {
    for_each_codec(|codec| {
        for level in levels(codec) {
            let encoded = encode(codec, &[], level);
            assert!(!encoded.is_empty());
            assert!(encoded.len() <= codec.max_encoded_len(0), "{} level {level:?}", codec.name());
            assert_eq!(decode(codec, &encoded, 0).unwrap(), []);
        }
    });
}

/// zlib and bzip2 hold checksums of the decoded data, so a flip is found or harmless.
#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    for_each_vector(|codec, encoded, data| {
        let checked = matches!(codec.name(), "zlib" | "bzp2");
        // Not the long runs of zeros, which would take minutes.
        let bits = if data.len() > 1000 { 0 } else { encoded.len() * 8 };
        for bit in (0..bits).step_by(if cfg!(miri) { 211 } else { 1 }) {
            let mut mutant = encoded.to_vec();
            mutant[bit / 8] ^= 1 << (bit % 8);
            match decode(codec, &mutant, data.len()) {
                Ok(decoded) => assert!(!checked || decoded == data, "{} bit {bit}", codec.name()),
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::Malformed(_) | ErrorKind::Unsupported(_)),
                    "{} bit {bit}: {error}",
                    codec.name()
                ),
            }
        }
    });
}

#[test]
fn level_none_selects_the_default_level() {
    let codecs = built_in();
    let data = Data::Mixed.bytes();
    for (name, _, _, default) in SCALES.iter().filter(|scale| codecs.get(scale.0).is_ok()) {
        let codec = codecs.get(name).unwrap();
        if *name == "zlib" {
            // It has an encoder of its own then, and writes the same level.
            assert_eq!(encode(codec, &data, None)[..2], encode(codec, &data, Some(*default))[..2]);
            continue;
        }
        assert_eq!(encode(codec, &data, None), encode(codec, &data, Some(*default)), "{name}");
    }
}

#[test]
fn level_outside_the_scale_is_a_usage_error_without_output() {
    let codecs = built_in();
    for (name, first, last, _) in SCALES.iter().filter(|scale| codecs.get(scale.0).is_ok()) {
        for level in [first - 1, last + 1, i32::MIN, i32::MAX] {
            let mut out = Vec::new();
            let error = codecs.get(name).unwrap().encode(b"data", Some(level), &mut out).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name} level {level}: {error}");
            assert!(out.is_empty());
        }
    }
}

#[test]
fn encoding_appends_and_does_not_depend_on_what_is_there() {
    for_each_codec(|codec| {
        for level in levels(codec) {
            let data = noise(if cfg!(miri) { 200 } else { 100_000 });
            let mut out = Vec::with_capacity(300_000);
            out.extend_from_slice(b"before");
            codec.encode(&data, level, &mut out).unwrap();
            assert_eq!(&out[..6], b"before");
            assert!(out[6..] == encode(codec, &data, level), "{} level {level:?}", codec.name());
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn incompressible_data_stay_within_the_bound() {
    // Fixed pairs, runs of four (bzip2's run-length step adds a byte to each) and plain noise, across
    // the lengths at which blocks of the libraries end.
    let pieces = noise(300_000);
    let runs: Vec<u8> = pieces.iter().take(40_000).flat_map(|byte| [*byte; 4]).collect();
    for_each_codec(|codec| {
        for level in levels(codec) {
            for data in [&pieces[..65_535], &pieces[..65_536], &pieces[..131_073], &pieces, &runs] {
                let encoded = encode(codec, data, level);
                assert!(
                    encoded.len() <= codec.max_encoded_len(data.len()),
                    "{} level {level:?}: {} bytes to {}",
                    codec.name(),
                    data.len(),
                    encoded.len()
                );
                assert!(decode(codec, &encoded, data.len()).unwrap() == data);
            }
        }
    });
}

#[test]
fn the_bound_of_any_length_is_not_below_that_length() {
    for_each_codec(|codec| {
        for len in [0, 1, usize::MAX / 2, usize::MAX - 20] {
            assert!(codec.max_encoded_len(len) >= len, "{} of {len}", codec.name());
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

    #[test]
    fn any_bytes_round_trip_within_the_bound(
        data in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..LONGEST),
            proptest::collection::vec(0..3_u8, 0..LONGEST),
        ],
        level in -7..=22_i32,
    ) {
        let codecs = built_in();
        for name in codecs.names() {
            let codec = codecs.get(name).unwrap();
            let level = SCALES.iter().find(|scale| scale.0 == name).map(|scale| level.clamp(scale.1, scale.2));
            let encoded = encode(codec, &data, level);
            prop_assert!(encoded.len() <= codec.max_encoded_len(data.len()), "{} level {:?}", name, level);
            prop_assert_eq!(decode(codec, &encoded, data.len()).unwrap(), &data[..]);
        }
    }

    #[test]
    fn random_bytes_never_panic(src in proptest::collection::vec(any::<u8>(), 0..LONGEST / 10), len in 0..LONGEST) {
        for_each_codec(|codec| {
            decode(codec, &src, len).ok();
            // After a valid start, so that more than the magic number is checked.
            let start = encode(codec, &src, None);
            decode(codec, &[&start[..start.len() / 2], &src].concat(), len).ok();
        });
    }
}

#[cfg(feature = "zlib")]
#[test]
fn zlib_with_a_preset_dictionary_is_unsupported() {
    // zlib.compressobj(zdict=b"holdall holdall"), of Mixed
    let encoded = vectors::unhex(
        "78bb2f1905e1cb40e5529d6660e5e217919453d6d03532b77174f30e088d8a4fc9cc2baea86d6aef99386df682a5abd6\
         6fd9b9eff089b397aedf79f8ecf587afbffe0300f93b3de7",
    );
    let error = decode(&zlib::Zlib, &encoded, Data::Mixed.bytes().len()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_with_a_dictionary_is_unsupported() {
    // An empty raw block after a header that names dictionary 7 (RFC 8878, 3.1.1.1.3).
    let error = decode(&zstd::Zstd, &vectors::unhex("28b52ffd210700010000"), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

#[cfg(feature = "zstd")]
#[test]
fn a_zstd_window_beyond_the_library_is_unsupported() {
    // The same block after a window descriptor of 3.75 TiB, the largest (RFC 8878, 3.1.1.1.2).
    let error = decode(&zstd::Zstd, &vectors::unhex("28b52ffd00ff010000"), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

#[cfg(feature = "zstd")]
#[test]
fn a_zstd_content_checksum_is_checked() {
    let vector = vectors::all().into_iter().find(|vector| vector.made_by.contains("checksum")).unwrap();
    let mut encoded = vector.encoded();
    *encoded.last_mut().unwrap() ^= 1;
    assert_malformed(&zstd::Zstd, &encoded, vector.data.bytes().len());
}

struct Named(&'static str, Mutex<Vec<u8>>);

impl Codec for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn decode(&self, _: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&self.1.lock().unwrap());
        Ok(())
    }

    fn encode(&self, _: &[u8], _: Option<i32>, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("only reads"))
    }

    fn max_encoded_len(&self, _: usize) -> usize {
        0
    }
}

#[test]
fn a_later_codec_of_the_same_name_wins() {
    let mut codecs = built_in();
    codecs.register(Named("own", Mutex::new(b"first".to_vec())));
    codecs.register(Named("own", Mutex::new(b"later".to_vec())));
    assert_eq!(decode(codecs.get("own").unwrap(), &[], 5).unwrap(), b"later");
}

#[test]
fn unknown_codec_error_lists_the_registered_codecs() {
    let mut codecs = Codecs::none();
    codecs.register(Named("one", Mutex::default()));
    codecs.register(Named("two", Mutex::default()));
    let Err(error) = codecs.get("three") else { panic!("there is no such codec") };
    assert!(matches!(error.kind(), ErrorKind::Unsupported(text) if text.contains("one, two")), "{error}");
}

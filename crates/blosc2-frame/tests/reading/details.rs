//! Details of `info`, compared with the manifest of the corpus.

use container_core::Value;
use container_core::container::{Container, OpenOptions, Tolerance};

use crate::container::{open, open_with, sound};
use crate::manifest::fixtures;

fn named(name: &str) -> Box<dyn Container> {
    open(fixtures().iter().find(|it| it.path == name).unwrap())
}

/// The value of a detail, or of a field within one.
fn detail(container: &dyn Container, name: &str) -> Option<Value> {
    let (name, field) = name.split_once('/').map_or((name, None), |(name, field)| (name, Some(field)));
    let details = container.about().details;
    let value = details.into_iter().find(|(own, _)| own == name).map(|(_, value)| value)?;
    match field {
        Some(field) => value.get(field).cloned(),
        None => Some(value),
    }
}

#[test]
fn fields_are_those_of_the_manifest() {
    for fixture in sound() {
        let (container, path) = (open(&fixture), &fixture.path);
        let about = container.about();
        assert_eq!((about.format, about.complete), ("blosc2", true), "{path}");
        assert_eq!(about.version, fixture.frame_version.map(|version| version.to_string()), "{path}");
        let is = |name: &str, expected: Option<Value>| {
            assert_eq!(detail(&*container, name), expected, "{path}: {name}");
        };
        is("header/version", fixture.frame_version.map(Value::from));
        is("header/nbytes", fixture.nbytes.map(Value::from));
        is("header/cbytes", fixture.cbytes.map(Value::from));
        is("header/typesize", fixture.typesize.map(Value::from));
        is("header/chunksize", fixture.chunksize.map(Value::from));
        is("header/offset_bits", Some(64_u8.into()));
        is("typesize", fixture.typesize.map(Value::from));
        is("chunks", fixture.nchunks.map(Value::from));
        is("decoded bytes", fixture.nbytes.map(Value::from));
        let chunk_size = match fixture.chunksize {
            Some(-1) | None => Value::Null,
            Some(0) => "different".into(),
            Some(len) => len.into(),
        };
        is("chunk size", Some(chunk_size));
        let is_sparse = fixture.full_path().is_dir();
        is("kind", Some(if is_sparse { "sparse" } else { "contiguous" }.into()));
        is("header/frame_type", Some(u8::from(is_sparse).into()));
        let lens = |lens: &Vec<u64>| Value::List(lens.iter().map(|len| Value::from(*len)).collect());
        is("chunk shape", fixture.chunks.as_ref().map(lens));
        let count = fixture.vlmeta.as_ref().map_or(0, Vec::len) as u64;
        is("trailer/vlmetalayers", Some(count.into()));
        is("trailer/version", Some(1_u8.into()));
        let is_flagged = count > 0 && !path.ends_with("vlmeta_flag.b2frame");
        is("header/vlmetalayers", Some(is_flagged.into()));
        is("bytes after the frame", fixture.trailing.map(Value::from));
        let names = |layers: &Option<Vec<crate::manifest::Named>>| -> Option<Value> {
            let names: Vec<Value> = layers.iter().flatten().map(|layer| layer.name.as_str().into()).collect();
            (!names.is_empty()).then(|| names.into())
        };
        is("metalayers", names(&fixture.meta));
        is("user metadata", names(&fixture.vlmeta));
        let axes = fixture
            .shape
            .as_ref()
            .filter(|_| fixture.is_array())
            .map(|shape| Value::from(shape.len() as u64));
        is("b2nd/ndim", axes);
        if let Some(Value::Int(dead)) = detail(&*container, "dead bytes") {
            assert_eq!(dead > 0, fixture.codes.iter().any(|code| code == "dead_space"), "{path}");
            let Some(Value::Int(stored)) = detail(&*container, "stored bytes") else { panic!("{path}") };
            let is_shared = fixture.codes.iter().any(|code| code == "shared_chunk");
            let blocks = container.blocks();
            let sum: u64 = blocks.iter().map(|block| block.range().end - block.range().start).sum();
            // Bytes before the first chunk do not count as stored.
            let map = container.byte_map();
            let before = map.iter().take_while(|it| it.role != "chunk").find(|it| it.role == "dead space");
            let before = before.map_or(0, |gap| gap.range.end - gap.range.start);
            let is_all = stored + i128::from(before) == i128::from(sum) + dead;
            assert!(is_shared || sum == 0 || is_all, "{path}: {stored} {before} {sum} {dead}");
        }
    }
}

#[test]
fn codecs_levels_filters_and_splits_are_named() {
    for (name, expected) in [
        ("ok/lz4_shuffle.b2frame", &[("codec", Value::from("lz4")), ("header/codec", 1_u8.into())][..]),
        ("ok/lz4hc_delta.b2frame", &[("codec", "lz4hc".into()), ("header/codec", 2_u8.into())]),
        (
            "ok/zlib_none.b2frame",
            &[("codec", "zlib".into()), ("header/codec", 4_u8.into()), ("filters", Value::List(vec![]))],
        ),
        (
            "ok/zstd_bitshuffle.b2frame",
            &[("codec", "zstd".into()), ("filters", vec![Value::from("bitshuffle")].into())],
        ),
        ("ok/blosclz_none.b2frame", &[("codec", "blosclz".into()), ("header/codec", 0_u8.into())]),
        ("ok/level_0.b2frame", &[("level", 0_u8.into()), ("header/level", 0_u8.into())]),
        ("ok/level_9.b2frame", &[("level", 9_u8.into())]),
        ("ok/split_always.b2frame", &[("split", "always".into()), ("header/split", 0_u8.into())]),
        ("ok/split_never.b2frame", &[("split", "never".into()), ("header/split", 1_u8.into())]),
        (
            "ok/split_forward_compat.b2frame",
            &[("split", "forward compatible".into()), ("header/split", 3_u8.into())],
        ),
        ("ok/dict_zstd.b2frame", &[("dictionary", true.into()), ("header/dictionary", true.into())]),
        ("ok/fingerprint", &[]),
        (
            "odd/fingerprint.b2frame",
            &[(
                "trailer/fingerprint_type",
                detail(&*named("odd/fingerprint.b2frame"), "fingerprint type").unwrap(),
            )],
        ),
        (
            "ok/variable.b2frame",
            &[("header/variable_chunks", true.into()), ("header/variable_blocks", false.into())],
        ),
        (
            "ok/hand_vl_blocks.b2frame",
            &[("header/variable_blocks", true.into()), ("block size", "different".into())],
        ),
        ("ok/objects.b2f", &[("holds", "ObjectArray: a chunk for each object, as msgpack".into())]),
        ("ok/batches.b2b", &[("holds", "BatchArray: a chunk for each batch, as msgpack".into())]),
        ("ok/tensor.b2frame", &[("holds", "a tensor of numpy".into())]),
        (
            "ok/expression_on_server.b2nd",
            &[("holds", "a reference to an array on a server, which is shown but not followed".into())],
        ),
    ] {
        if expected.is_empty() {
            continue;
        }
        let container = named(name);
        for (field, value) in expected {
            assert_eq!(detail(&*container, field).as_ref(), Some(value), "{name}: {field}");
        }
    }
    assert_eq!(detail(&*named("ok/lz4_shuffle.b2frame"), "dictionary"), None);
    let Some(Value::List(filters)) = detail(&*named("ok/lz4_shuffle.b2frame"), "header/filters") else {
        panic!()
    };
    assert_eq!(filters.iter().filter(|id| **id == Value::from(1_u8)).count(), 1);
    assert_eq!(filters.len(), 6);
}

#[test]
fn chunks_of_one_value_and_codecs_of_chunks_are_counted() {
    let count = |name: &str, detail_name: &str| detail(&*named(name), detail_name);
    // Zeros, NaN and uninitialised, which are not stored.
    let Some(Value::Map(kinds)) = count("ok/hand_special_kinds.b2frame", "chunks of one value") else {
        panic!()
    };
    let words: Vec<&str> = kinds.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["zeros", "uninit", "nan"]);
    for (name, word) in [
        ("ok/zeros.b2nd", "zeros"),
        ("ok/nans_f8.b2nd", "nan"),
        ("ok/uninit.b2nd", "uninit"),
        ("ok/fill_zeros.b2frame", "zeros"),
        ("ok/full_i2.b2nd", "value"),
    ] {
        let fixture = fixtures().into_iter().find(|it| it.path == name).unwrap();
        let expected = Value::Map(vec![(word.to_owned(), fixture.nchunks.unwrap().into())]);
        assert_eq!(count(name, "chunks of one value"), Some(expected), "{name}");
        assert_eq!(count(name, "blocks"), Some(0_u8.into()), "{name}");
        assert_eq!(named(name).datasets()[0].codec, "none", "{name}");
    }
    // Three chunks of up to 1000 bytes by one codec.
    let three = fixtures().into_iter().find(|it| it.path == "ok/three_chunks.b2frame").unwrap();
    let codec = named(&three.path).datasets()[0].codec.clone();
    let expected = Value::Map(vec![(codec, three.nchunks.unwrap().into())]);
    assert_eq!(count(&three.path, "chunk codecs"), Some(expected));
    let Some(Value::Map(mixed)) = count("odd/mixed_codecs.b2frame", "chunk codecs") else { panic!() };
    assert!(mixed.len() > 1, "{mixed:?}");
    let Some(Value::Map(stored)) = count("ok/hand_copied.b2frame", "chunk codecs") else { panic!() };
    assert_eq!(stored.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(), ["none"]);
    // More than a few are not looked at.
    assert_eq!(count("ok/many_chunks.b2frame", "chunk codecs"), Some(Value::Null));
    assert_eq!(count("ok/many_chunks.b2frame", "dead bytes"), Some(Value::Null));
    assert_eq!(count("ok/sparse.b2frame", "dead bytes"), None);
}

#[test]
fn blocks_of_all_chunks_are_counted() {
    for fixture in sound() {
        let container = open(&fixture);
        let Some(Value::Int(found)) = detail(&*container, "blocks") else { continue };
        let map = container.byte_map();
        let is_plain =
            map.iter().filter(|it| it.role == "chunk").all(|chunk| chunk.codec.as_deref() != Some("none"));
        let shared = fixture.codes.iter().any(|code| code == "shared_chunk" || code == "mixed_typesizes");
        if is_plain && !shared {
            let blocks = map.iter().filter(|segment| segment.role == "block").count();
            assert_eq!(found, blocks as i128, "{}", fixture.path);
        }
    }
}

#[test]
fn the_ratio_has_three_digits_after_the_point() {
    for fixture in sound() {
        let container = open(&fixture);
        let Some(Value::Float(ratio)) = detail(&*container, "ratio") else { panic!("{}", fixture.path) };
        let Some(Value::Int(stored)) = detail(&*container, "stored bytes") else {
            panic!("{}", fixture.path)
        };
        #[allow(clippy::cast_precision_loss)]
        let exact = fixture.nbytes.unwrap() as f64 / stored.max(1) as f64;
        assert!((ratio - exact).abs() <= 0.000_500_1, "{}: {ratio} {exact}", fixture.path);
        assert!(((ratio * 1000.0).round() - ratio * 1000.0).abs() < 1e-6, "{}: {ratio}", fixture.path);
    }
}

/// Metadata that are hidden by damage are refused, unless what is readable is asked for.
#[test]
fn hidden_metadata_are_refused_unless_tolerated() {
    for (name, is_hidden) in [
        ("bad/meta_offset_max.b2frame", true),
        ("bad/cut_in_trailer.b2frame", true),
        ("ok/meta_plain.b2frame", false),
    ] {
        let fixture = fixtures().into_iter().find(|it| it.path == name).unwrap();
        for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
            let mut options = OpenOptions::default();
            options.tolerance = tolerance;
            let Ok(container) = open_with(&fixture, &options) else { panic!("{name}") };
            let is_refused = is_hidden && tolerance == Tolerance::Strict;
            assert_eq!(container.meta().is_err(), is_refused, "{name} {tolerance:?}");
            assert_eq!(container.logical_meta().is_err(), is_refused, "{name} {tolerance:?}");
            assert_eq!(container.export_metadata(&[]).is_err(), is_refused, "{name} {tolerance:?}");
            let is_lost =
                container.losses().iter().any(|loss| loss.what.starts_with("metadata that cannot be read"));
            assert_eq!(is_lost, is_hidden, "{name}");
        }
    }
}

//! msgpack that python-blosc2 4.14.1 and msgpack-python write (`msgpack_packb` of `blosc2.msgpack_utils`), and none at all.

use container_core::{ErrorKind, Limits, Value};
use proptest::prelude::*;

use super::*;

fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| u8::try_from(digit).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn decoded(hex: &str) -> Value {
    to_value(&unhex(hex), &Limits::default()).unwrap_or_else(|error| panic!("{hex}: {error}"))
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn list<const N: usize>(items: [Value; N]) -> Value {
    Value::List(items.into())
}

fn ints<const N: usize>(items: [i128; N]) -> Value {
    list(items.map(Value::Int))
}

fn text(text: &str) -> Value {
    text.into()
}

/// As Python writes it, and what it is.
fn plain() -> [(&'static str, Value); 4] {
    [
        (
            // {"a": 1, "b": [1.5, None, True, False], "c": {"d": "grüß", "e": b"\x00\xff"}}
            "83a16101a16294cb3ff8000000000000c0c3c2a16382a164a66772c3bcc39fa165c40200ff",
            map([
                ("a", Value::Int(1)),
                ("b", list([Value::Float(1.5), Value::Null, true.into(), false.into()])),
                ("c", map([("d", text("grüß")), ("e", Value::Bytes(vec![0, 0xff]))])),
            ]),
        ),
        (
            "dc0015007fcc80ccffcd0100cdffffce00010000ceffffffffcf0000000100000000cf8000000000000000cfffffffffffffffff\
             ffe0d0dfd080d1ff7fd18000d2ffff7fffd280000000d3ffffffff7fffffffd38000000000000000",
            ints([
                0,
                127,
                128,
                255,
                256,
                65535,
                65536,
                (1 << 32) - 1,
                1 << 32,
                1 << 63,
                (1 << 64) - 1,
                -1,
                -32,
                -33,
                -128,
                -129,
                -32768,
                -32769,
                -(1 << 31),
                -(1 << 31) - 1,
                -(1 << 63),
            ]),
        ),
        (
            "93cb3fb999999999999acb7ff0000000000000cb8000000000000000",
            list([0.1, f64::INFINITY, -0.0].map(Value::Float)),
        ),
        ("82a568656c6c6fc400a090", map([("hello", Value::Bytes(Vec::new())), ("", list([]))])),
    ]
}

#[test]
fn plain_values_are_read_and_written_as_python_does() {
    for (hex, value) in plain() {
        assert_eq!(decoded(hex), value, "{hex}");
        assert_eq!(from_value(&value).unwrap(), unhex(hex), "{hex}");
    }
}

#[test]
fn python_blosc2_types_are_converted_to_plain_values() {
    let cases = [
        // {"shape": (2, 3), "nested": ((1,), [])}
        (
            "82a5736861706593a95f5f7475706c655f5f0203a66e657374656493a95f5f7475706c655f5f92a95f5f7475706c655f5f0190",
            map([("shape", ints([2, 3])), ("nested", list([ints([1]), list([])]))]),
        ),
        // {1: "one", 2: "two"}
        (
            "8201a36f6e6502a374776f",
            list([list([Value::Int(1), text("one")]), list([Value::Int(2), text("two")])]),
        ),
        // [complex(1.5, -2)]
        (
            "91d82c3ff8000000000000c000000000000000",
            list([map([
                ("ext", Value::Int(44)),
                ("kind", text("complex")),
                ("value", list([Value::Float(1.5), Value::Float(-2.0)])),
            ])]),
        ),
        // {7}
        ("d52d9107", map([("ext", Value::Int(45)), ("kind", text("set")), ("value", ints([7]))])),
        // np.array([[1, 2], [3, 4]], dtype="<i2")
        (
            "c7282e83a5647479706581a3737472a33c6932a57368617065920202a464617461c4080100020003000400",
            map([
                ("ext", Value::Int(46)),
                ("kind", text("ndarray")),
                (
                    "value",
                    map([
                        ("dtype", map([("str", text("<i2"))])),
                        ("shape", ints([2, 2])),
                        ("data", Value::Bytes(vec![1, 0, 2, 0, 3, 0, 4, 0])),
                    ]),
                ),
            ]),
        ),
        // blosc2.Ref("urlpath", urlpath="x.b2nd")
        (
            "c73d2b83a46b696e64a3726566a776657273696f6e01a372656683a46b696e64a775726c70617468a776657273696f6e01\
             a775726c70617468a6782e62326e64",
            map([
                ("ext", Value::Int(43)),
                ("kind", text("reference")),
                (
                    "value",
                    map([
                        ("kind", text("ref")),
                        ("version", Value::Int(1)),
                        (
                            "ref",
                            map([
                                ("kind", text("urlpath")),
                                ("version", Value::Int(1)),
                                ("urlpath", text("x.b2nd")),
                            ]),
                        ),
                    ]),
                ),
            ]),
        ),
        // 2026-09-01 12:00:00.5 UTC
        (
            "d7ff773594006a96be40",
            map([
                ("ext", Value::Int(-1)),
                ("kind", text("timestamp")),
                ("value", ints([1_788_264_000, 500_000_000])),
            ]),
        ),
        // The first bytes of a frame.
        (
            "c7032a9ea862",
            map([
                ("ext", Value::Int(42)),
                ("kind", text("cframe")),
                ("nbytes", Value::Int(3)),
                ("value", Value::Bytes(vec![0x9e, 0xa8, 0x62])),
            ]),
        ),
        // Marked as a set, but not one.
        (
            "d52d9207",
            map([("ext", Value::Int(45)), ("kind", text("set")), ("value", Value::Bytes(vec![0x92, 7]))]),
        ),
        ("d40563", map([("ext", Value::Int(5)), ("value", Value::Bytes(vec![0x63]))])),
        // By msgpack.packb with use_bin_type=False, and with use_single_float=True.
        ("91a1ff", list([Value::Bytes(vec![0xff])])),
        ("91ca3dcccccd", list([Value::Float(f64::from(0.1_f32))])),
    ];
    for (hex, want) in cases {
        assert_eq!(decoded(hex), want, "{hex}");
    }
}

/// That of `example_day_month_temp.b2nd` and an older one of it, both from the document of the format; and that of an array of 16
/// dimensions by C-Blosc2 3.3.5, whose lists begin with a byte that means an empty text.
#[test]
fn metalayers_of_arrays_are_lists() {
    let limits = Limits::default();
    let lists = || vec![Value::Int(0), Value::Int(2), ints([400, 3]), ints([110, 3]), ints([57, 3])];
    let want = |tail: &[Value]| Value::List([lists(), tail.to_vec()].concat());
    let shape = "92d30000000000000190d3000000000000000392d20000006ed20000000392d200000039d200000003";
    let old = unhex(&format!("960002{shape}db0000000575696e7438"));
    assert_eq!(metalayer_to_value("b2nd", &old, &limits).unwrap(), want(&[text("uint8")]));
    let new = unhex(&format!("970002{shape}00db000000037c7531"));
    let dtype = [Value::Int(0), text("|u1")];
    assert_eq!(metalayer_to_value("b2nd", &new, &limits).unwrap(), want(&dtype));
    assert_eq!(to_value(&new, &limits).unwrap(), want(&dtype));
    let caterva = unhex(&format!("950002{shape}"));
    assert_eq!(metalayer_to_value("caterva", &caterva, &limits).unwrap(), want(&[]));

    let long = |last: &str| format!("{}d3{last}", "d30000000000000001".repeat(15));
    let word = |last: &str| format!("{}d2{last}", "d200000001".repeat(15));
    let hex = format!(
        "970010a0{}a0{}a0{}00db000000033c6634",
        long("0000000000000003"),
        word("00000002"),
        word("00000002")
    );
    let Value::List(items) = metalayer_to_value("b2nd", &unhex(&hex), &limits).unwrap() else {
        panic!("no list")
    };
    let ones = |last: i128| Value::List([vec![Value::Int(1); 15], vec![Value::Int(last)]].concat());
    assert_eq!(items[1..5], [Value::Int(16), ones(3), ones(2), ones(2)]);
    assert_eq!(items[6], text("<f4"));
    // Other bytes than msgpack are bytes in any other metalayer, and a value that is not an array stays as it is.
    let bytes = unhex(&hex);
    assert_eq!(metalayer_to_value("mine", &bytes, &limits).unwrap(), Value::Bytes(bytes));
    assert_eq!(metalayer_to_value("b2nd", &[0x01], &limits).unwrap(), Value::Int(1));
}

#[test]
fn json_in_text_is_shown_decoded() {
    // json.dumps of Python, and what no dumps makes.
    let json = r#" {"columns": [{"name": "x\u00e9\ud83d\ude00\n", "n": -12, "f": 1.5e3}], "a": [], "b": {}, "c": null} "#;
    let value =
        map([("schema", text(json)), ("kind", text("ctable")), ("list", list([text("[true, false]")]))]);
    let want = map([
        (
            "schema",
            map([
                (
                    "columns",
                    list([map([
                        ("name", text("xé😀\n")),
                        ("n", Value::Int(-12)),
                        ("f", Value::Float(1500.0)),
                    ])]),
                ),
                ("a", list([])),
                ("b", map([])),
                ("c", Value::Null),
            ]),
        ),
        ("kind", text("ctable")),
        ("list", list([list([true.into(), false.into()])])),
    ]);
    assert_eq!(decode_json_text(value), want);
}

#[test]
fn text_that_is_not_json_stays_text() {
    let deep = ["[".repeat(65), "]".repeat(65)].concat();
    let kept = [
        "",
        "12",
        "true",
        "\"text\"",
        "[('a', '<i4')]",
        "['a']",
        "[1,]",
        "[1 2]",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[1e]",
        "[-]",
        "[1e999]",
        "[NaN]",
        "[tru]",
        "{\"a\"}",
        "{1: 2}",
        "{\"a\": 1,}",
        "[1] 2",
        "[",
        "{\"a",
        "[\"\\x\"]",
        "[\"\\u12\"]",
        "[\"\\ud800\"]",
        "[\"\\ud800\\u0041\"]",
        "[\"\\udc00\"]",
        "[\"\\u+123\"]",
        "[\"a\nb\"]",
        "[999999999999999999999999999999999999999999]",
        &deep,
    ];
    for kept in kept {
        assert_eq!(decode_json_text(text(kept)), text(kept), "{kept}");
    }
    let deep = &deep[1..deep.len() - 1];
    assert_ne!(decode_json_text(text(deep)), text(deep));
}

fn refused(hex: &str) -> container_core::Error {
    to_value(&unhex(hex), &Limits::default()).unwrap_err()
}

#[test]
fn invalid_msgpack_is_refused_with_its_range() {
    // Nothing; cut; lengths past the end; a marker without meaning; two values.
    for (hex, range) in [
        ("", 0..1),
        ("cd01", 1..3),
        ("93c0c0", 1..4),
        ("a561", 1..6),
        ("dfffffffff", 5..(5 + 2 * 0xffff_ffff)),
        ("c6ffffffff00", 5..(5 + 0xffff_ffff)),
        ("c9ffffffff2a00", 6..(6 + 0xffff_ffff)),
        ("92c0c1", 2..3),
        ("c0c0", 1..2),
    ] {
        let error = refused(hex);
        assert!(error.is_damage(), "{hex}: {error}");
        assert_eq!(error.range(), Some(range), "{hex}: {error}");
    }
}

#[test]
fn depth_and_memory_are_bounded() {
    let nested = |marker: &str, levels: usize| [marker.repeat(levels), "c0".to_owned()].concat();
    for marker in ["91", "81c0"] {
        decoded(&nested(marker, MAX_DEPTH));
        let error = refused(&nested(marker, MAX_DEPTH + 1));
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    }
    // Sets of sets: each level is bytes to the one around it.
    let mut sets = vec![0xc0];
    for level in 1..100 {
        let [high, low] = u16::try_from(sets.len()).unwrap().to_be_bytes();
        sets = [&[0xc8, high, low, 45], &sets[..]].concat();
        match to_value(&sets, &Limits::default()) {
            Ok(value) => assert!(level <= MAX_DEPTH && value.get("kind") == Some(&text("set"))),
            Err(error) => {
                assert!(level > MAX_DEPTH, "{error}");
                assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
            }
        }
    }
    let deep = (0..=MAX_DEPTH).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    assert!(matches!(from_value(&deep).unwrap_err().kind(), ErrorKind::Usage(_)));
    // A million nils.
    let many = [&[0xdd, 0, 0x0f, 0x42, 0x40][..], &[0xc0; 1_000_000]].concat();
    let error = to_value(&many, &Limits::default().with_memory(1 << 20)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let error = metalayer_to_value("mine", &many, &Limits::default().with_memory(1 << 20)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

#[test]
fn integers_that_msgpack_lacks_are_refused() {
    for value in [1 << 64, -(1 << 63) - 1, i128::MAX, i128::MIN] {
        assert!(matches!(from_value(&Value::Int(value)).unwrap_err().kind(), ErrorKind::Usage(_)), "{value}");
    }
}

/// Values that are the same after they were written and read.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::Float),
        ".{0,40}".prop_map(Value::Text),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(5, 60, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::List),
            proptest::collection::vec((".{0,40}", inner), 0..20).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #[test]
    fn values_come_back(value in any_value()) {
        let bytes = from_value(&value).unwrap();
        prop_assert_eq!(to_value(&bytes, &Limits::default()).unwrap(), value);
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error_within(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        look(&bytes)?;
    }

    /// Mostly markers, so that more of it is msgpack.
    #[test]
    fn any_markers_are_a_value_or_an_error_within(bytes in proptest::collection::vec(prop_oneof![0x80_u8..0xa4, 0xc0_u8..=0xdf, 0_u8..3], 0..200)) {
        look(&bytes)?;
    }

    #[test]
    fn any_text_is_json_or_stays(json in r#"[\[\]{}",:\\0-9a-f.eu \-]{0,60}"#) {
        let _ = decode_json_text(Value::Text(json));
    }
}

fn look(bytes: &[u8]) -> std::result::Result<(), TestCaseError> {
    match to_value(bytes, &Limits::default().with_memory(1 << 20)) {
        Ok(value) => {
            let again = from_value(&value).unwrap();
            // NaN is not itself.
            prop_assert_eq!(
                format!("{value:?}"),
                format!("{:?}", to_value(&again, &Limits::default()).unwrap())
            );
        }
        Err(error) => {
            let is_truncated = matches!(error.kind(), ErrorKind::Truncated { .. });
            if let Some(range) = error.range() {
                prop_assert!(is_truncated || range.end <= bytes.len() as u64, "{}", error);
            }
        }
    }
    metalayer_to_value("b2nd", bytes, &Limits::default()).unwrap();
    Ok(())
}

use proptest::prelude::*;

use super::*;
use crate::ErrorKind;

fn text(text: &str) -> Literal {
    Literal::Str(text.into())
}

fn bytes(bytes: &[u8]) -> Literal {
    Literal::Bytes(bytes.to_vec())
}

/// The values are those of Python 3.13's `ast.literal_eval`.
#[test]
fn literals_are_read_as_python_reads_them() {
    let int = Literal::Int;
    let cases = [
        ("None", Literal::None),
        (" True\n", Literal::Bool(true)),
        ("-0", int(0)),
        ("- 12", int(-12)),
        ("+1_000", int(1000)),
        ("00", int(0)),
        ("0xFf", int(255)),
        ("0o1_7", int(15)),
        ("0b_101", int(5)),
        ("-170141183460469231731687303715884105728", int(i128::MIN)),
        ("1.", Literal::Float(1.0)),
        (".5", Literal::Float(0.5)),
        ("1_0.2_5e-1", Literal::Float(1.025)),
        ("012.5", Literal::Float(12.5)),
        ("1e400", Literal::Float(f64::INFINITY)),
        ("''", text("")),
        (r#""it's""#, text("it's")),
        ("u'a'", text("a")),
        ("R'\\n\\''", text("\\n\\'")),
        (r"'\x41\u00e9\U0001f388\101\0\t\\\'\q'", text("A\u{e9}\u{1f388}A\0\t\\'\\q")),
        ("'a\\\nb'", text("ab")),
        (r"b'\xff\377\u0041'", bytes(b"\xff\xff\\u0041")),
        (r"rb'\x'", bytes(b"\\x")),
        ("()", Literal::Tuple(vec![])),
        ("(1)", int(1)),
        ("(1,)", Literal::Tuple(vec![int(1)])),
        ("[1,2 , ]", Literal::List(vec![int(1), int(2)])),
        ("{'a':1,\n'a':()}", Literal::Dict(vec![(text("a"), int(1)), (text("a"), Literal::Tuple(vec![]))])),
    ];
    for (source, want) in cases {
        assert_eq!(parse(source).unwrap(), want, "{source}");
    }
}

#[test]
fn long_integers_of_python_2_are_integers() {
    let want = Literal::Tuple(vec![Literal::Int(3), Literal::Int(255)]);
    assert_eq!(parse("(3L, 0xFFl)").unwrap(), want);
    assert!(parse("1.5L").is_err());
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    let dict = parse("{'a': 1, 'b': 2, 'a': 3}").unwrap();
    assert_eq!(dict.get("a"), Some(&Literal::Int(3)));
    assert_eq!(dict.get("c"), None);
}

#[test]
fn a_fault_is_reported_where_it_is() {
    let cases = [
        ("", 0),
        ("  ", 2),
        ("1 2", 2),
        ("[1 2]", 3),
        ("[1, 2", 5),
        ("[,]", 1),
        ("(1}", 2),
        ("{1}", 2),
        ("{'a': }", 6),
        ("'abc", 4),
        ("'a\nb'", 2),
        ("''''", 2),
        ("'a' 'b'", 4),
        ("['\u{e9}', x]", 7),
        ("f''", 0),
        (r"'\x4'", 3),
        (r"'\ud800'", 3),
        (r"'\U00110000'", 3),
        (r"'\N{DIGIT ONE}'", 2),
        ("b'\u{e9}'", 2),
        (r"b'\777'", 0),
        ("0x", 2),
        ("0b2", 2),
        ("012", 0),
        ("1__0", 1),
        ("1_", 1),
        ("12abc", 2),
        ("1.2.3", 3),
        ("1e", 1),
        ("2j", 1),
        ("-", 1),
        (".", 0),
        ("--1", 1),
        ("170141183460469231731687303715884105728", 0),
        ("nan", 0),
        ("__import__('os')", 0),
        ("[1]+[2]", 3),
        ("\0", 0),
    ];
    for (source, at) in cases {
        let error = parse(source).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{source}: {error}");
        assert_eq!(error.range(), Some(at..at + 1), "{source}: {error}");
    }
}

#[test]
fn brackets_nest_up_to_the_bound() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().range(), Some(32..33));
    assert_eq!(
        parse(&"({".repeat(if cfg!(miri) { 1 << 8 } else { 1 << 20 })).unwrap_err().range(),
        Some(32..33)
    );
}

/// Texts that Python 3.13's `repr` gave.
#[test]
fn repr_is_spelled_as_python_spells_it() {
    let cases = [
        "None",
        "True",
        "-170141183460469231731687303715884105728",
        "0.0",
        "-0.0",
        "1000000000000000.0",
        "1e+16",
        "1.2345678901234568e+17",
        "0.0001",
        "1e-05",
        "1.7976931348623157e+308",
        "5e-324",
        "''",
        "\"it's\"",
        r#"'say "it\'s"'"#,
        "'\\\\\\n\\r\\t\\x00\\x7f\\x80\\xa0\\xad\u{e9}\\u200b\\u2028\u{65e5}\u{1f388}\\U000e0001'",
        "'\u{301}a\u{301}'",
        r#"b"it's\x00\xff""#,
        "[]",
        "[1]",
        "()",
        "(1,)",
        "(1, 2)",
        "{}",
        "{'a': (1,), 2: [None]}",
    ];
    for python in cases {
        assert_eq!(parse(python).unwrap().repr(), python);
    }
    let odd = [(f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf"), (f64::NAN, "nan")];
    for (value, python) in odd {
        assert_eq!(Literal::Float(value).repr(), python);
    }
}

/// Texts that Python's `json.dumps(…, ensure_ascii=False)` gave.
#[test]
fn json_is_spelled_as_python_spells_it() {
    let literal = parse(r#"[("a", '<f4', (2, 3)), {'k"\\': None, 1: [True, 1e16]}, '\x01é\n']"#).unwrap();
    let json = r#"[["a", "<f4", [2, 3]], {"k\"\\": null, "1": [true, 1e+16]}, "\u0001é\n"]"#;
    assert_eq!(literal.json(), json);
}

fn any_literal() -> impl Strategy<Value = Literal> {
    let leaf = prop_oneof![
        Just(Literal::None),
        any::<bool>().prop_map(Literal::Bool),
        any::<i128>().prop_map(Literal::Int),
        // Infinities and NaN cannot be written as literals.
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Literal::Float),
        any::<String>().prop_map(Literal::Str),
        any::<Vec<u8>>().prop_map(Literal::Bytes),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            items.clone().prop_map(Literal::List),
            items.prop_map(Literal::Tuple),
            prop::collection::vec((inner.clone(), inner), 0..4).prop_map(Literal::Dict),
        ]
    })
}

proptest! {
    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn written_literals_parse_back_unchanged(literal in any_literal()) {
        prop_assert_eq!(parse(&literal.repr()).unwrap(), literal);
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn no_text_panics(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn no_nearly_good_text_panics(text in r#"[\[\](){}'"\\, :0-9.eExuUbrLNone+\n_-]{0,60}"#) {
        let _ = parse(&text);
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn fault_offsets_are_char_boundaries_of_the_text(text in r#"[\[\](){}'"\\, :0-9aé\n]{0,40}"#) {
        if let Err(fault) = locate(&text) {
            prop_assert!(text.is_char_boundary(fault.at));
        }
    }
}

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

#[test]
fn parts_of_a_literal_are_what_they_are_in_python() {
    assert_eq!((text("a").as_str(), Literal::Int(1).as_str()), (Some("a"), None));
    let one = vec![Literal::None];
    assert_eq!(Literal::List(one.clone()).items(), Some(&one[..]));
    assert_eq!(Literal::Tuple(one.clone()).items(), Some(&one[..]));
    assert_eq!((Literal::Dict(vec![]).items(), text("a").items()), (None, None));
    assert_eq!((Literal::Int(7).as_usize(), Literal::Int(-1).as_usize()), (Some(7), None));
    assert_eq!((Literal::Int(i128::MAX).as_usize(), Literal::Float(1.0).as_usize()), (None, None));
    assert_eq!(Literal::List(one).get("a"), None);
}

/// Texts that Python's `json.dumps(…, ensure_ascii=False)` gave, bytes as latin-1 and what JSON lacks as null.
#[test]
fn json_escapes_as_python_does() {
    let json = |literal: &Literal| literal.json();
    assert_eq!(json(&text("a\"\\\n\r\t\u{1f}\u{0}\u{7f}é")), "\"a\\\"\\\\\\n\\r\\t\\u001f\\u0000\u{7f}é\"");
    assert_eq!(json(&bytes(b"a\xff\"")), "\"aÿ\\\"\"");
    assert_eq!(json(&Literal::Bool(true)), "true");
    assert_eq!(json(&Literal::Bool(false)), "false");
    assert_eq!(json(&Literal::Float(f64::NAN)), "null");
    assert_eq!(json(&Literal::Float(-1e-5)), "-1e-05");
    assert_eq!(json(&Literal::Int(-7)), "-7");
    let pairs = vec![(Literal::Bool(true), Literal::List(vec![])), (text("k"), Literal::Tuple(vec![]))];
    assert_eq!(json(&Literal::Dict(pairs)), "{\"True\": [], \"k\": []}");
}

#[test]
fn every_fault_says_what_is_wrong() {
    for (source, what) in [
        ("", "text ends where a value should be"),
        ("[", "text ends where a value should be"),
        ("1 2", "more text after the literal"),
        ("[1 2]", "neither a comma nor the closing bracket follows a value"),
        ("{1}", "no colon after a key"),
        ("{1 2}", "no colon after a key"),
        ("*", "no value starts with this character"),
        ("nan", "a name that is not a literal"),
        ("f''", "no such string prefix"),
        ("'abc", "a string does not end"),
        ("'a\nb'", "a string does not end"),
        ("'a\rb'", "a string does not end"),
        (r"'\x4'", "too few hexadecimal digits in an escape"),
        (r"'\u12'", "too few hexadecimal digits in an escape"),
        (r"'\ud800'", "an escape is not a Unicode character"),
        (r"'\N{DIGIT ONE}'", "characters by name are not supported"),
        ("b'é'", "a byte string holds a character that is not ASCII"),
        (r"b'\777'", "a byte string holds a character that is not a byte"),
        ("0x", "no digits in a number"),
        (".", "no digits in a number"),
        ("012", "an integer starts with 0"),
        ("12abc", "unexpected character after a number"),
        ("1e", "unexpected character after a number"),
        ("170141183460469231731687303715884105728", "an integer needs more than 128 bits"),
        ("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "brackets nest deeper than 32"),
    ] {
        let error = parse(source).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{source}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("Python literal: {what} (bytes ")), "{source}: {text}");
    }
}

#[test]
fn rare_spellings_are_read_as_python_reads_them() {
    for (source, want) in [
        ("1E5", Literal::Float(1e5)),
        ("1e+2", Literal::Float(100.0)),
        ("-1e-2", Literal::Float(-0.01)),
        ("5e0", Literal::Float(5.0)),
        ("0.", Literal::Float(0.0)),
        ("0e0", Literal::Float(0.0)),
        ("+ .5", Literal::Float(0.5)),
        ("0_0", Literal::Int(0)),
        ("0XfF", Literal::Int(255)),
        ("-0B11", Literal::Int(-3)),
        ("0O17", Literal::Int(15)),
        ("0x_f", Literal::Int(15)),
        ("1l", Literal::Int(1)),
        ("False", Literal::Bool(false)),
        ("\x0c[\t1\r\n,\x0c]", Literal::List(vec![Literal::Int(1)])),
        ("((),)", Literal::Tuple(vec![Literal::Tuple(vec![])])),
        ("{}", Literal::Dict(vec![])),
        ("{'a' : 1 , }", Literal::Dict(vec![(text("a"), Literal::Int(1))])),
        ("U'a'", text("a")),
        ("B'a'", bytes(b"a")),
        ("Br'\\n'", bytes(b"\\n")),
        ("bR'\\''", bytes(b"\\'")),
        (r"r'\\'", text(r"\\")),
        (r#"'\"\a\b\f\r\v'"#, text("\"\x07\x08\x0c\r\x0b")),
        (r"'\08\7777'", text("\08\u{1ff}7")),
        (r"b'\N\u'", bytes(b"\\N\\u")),
        ("\"\"", text("")),
        ("\"a'b\"", text("a'b")),
        (r"'\U0001F388x'", text("\u{1f388}x")),
    ] {
        assert_eq!(parse(source).unwrap(), want, "{source}");
    }
}

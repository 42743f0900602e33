use container_core::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::edit::holds_value;
use crate::{Document, Int, Scalar, ScalarStyle, Timestamp, YamlLimits};

fn options() -> EmitOptions {
    EmitOptions::default().with_tag_handle("!", "tag:example.org:ab/")
}

fn document(value: &Yaml) -> String {
    emit_document(value, &options()).unwrap()
}

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), 0, &YamlLimits::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The lines after `---` and its blank or line break, before `...`.
fn body(value: &Yaml) -> String {
    let text = document(value);
    let body = text.strip_prefix("%YAML 1.1\n%TAG ! tag:example.org:ab/\n---").unwrap();
    body.strip_suffix("\n...\n").unwrap().trim_start().to_owned()
}

fn flow_mapping<const N: usize>(pairs: [(&str, Yaml); N]) -> Yaml {
    let pairs = pairs.into_iter().map(|(key, value)| (Yaml::text(key), value));
    Yaml::Mapping(pairs.collect(), Some(Collection::Flow))
}

#[test]
fn the_layout_is_that_of_pyyaml() {
    let words = |count: usize| "word ".repeat(count);
    let value = Yaml::mapping([
        (
            "a",
            Yaml::sequence([
                Yaml::mapping([
                    ("b", Yaml::int(1)),
                    ("c", Yaml::sequence([Yaml::text("x"), Yaml::text("y")])),
                ]),
                Yaml::sequence([Yaml::int(1), Yaml::sequence([Yaml::int(2)])]),
                Yaml::sequence([]),
                Yaml::Mapping(vec![], None),
            ]),
        ),
        (
            "k",
            flow_mapping([
                ("text", Yaml::text(words(30))),
                ("quoted", Yaml::text(format!("it's: {}", words(20)))),
                ("double", Yaml::text(format!("tab\there {}", words(20)))),
            ]),
        ),
        ("yes", Yaml::text("no")),
        ("1", Yaml::text("1:30")),
        ("e", Yaml::text("")),
        (
            "flow",
            Yaml::sequence([
                flow_mapping([("p", Yaml::Float(1.0)), ("q", Yaml::Null)]),
                Yaml::sequence((0..40).map(Yaml::int)),
            ]),
        ),
        ("bytes", Yaml::Binary((0..100).collect())),
    ]);
    // Output of `yaml.dump(..., Dumper=CSafeDumper, default_flow_style=None, allow_unicode=True, explicit_end=True)` of PyYAML 6.0.3.
    let expected = "\
%YAML 1.1
%TAG ! tag:example.org:ab/
---
a:
- b: 1
  c: [x, y]
- - 1
  - [2]
- []
- {}
k: {text: 'word word word word word word word word word word word word word word word
    word word word word word word word word word word word word word word word ',
  quoted: 'it''s: word word word word word word word word word word word word word
    word word word word word word word ', double: \"tab\\there word word word word word
    word word word word word word word word word word word word word word word \"}
'yes': 'no'
'1': '1:30'
e: ''
flow:
- {p: 1.0, q: null}
- [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
  23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]
bytes: !!binary |
  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4
  OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiYw==
...
";
    assert_eq!(document(&value), expected);
    let crlf = EmitOptions { newline: "\r\n", ..options() };
    assert_eq!(emit_document(&value, &crlf).unwrap(), expected.replace('\n', "\r\n"));
}

#[test]
fn floats_are_spelled_as_python_does() {
    // `repr` of CPython, with the dot and sign that PyYAML adds.
    let cases = [
        (1e22, "1.0e+22"),
        (1e-7, "1.0e-07"),
        (5e-324, "5.0e-324"),
        (1e16, "1.0e+16"),
        (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
        (0.1, "0.1"),
        (1e15, "1000000000000000.0"),
        (9_999_999_999_999_998.0, "9999999999999998.0"),
        (1e-4, "0.0001"),
        (1e-5, "1.0e-05"),
        (-0.0, "-0.0"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::from(0.1_f32), "0.10000000149011612"),
        (f64::INFINITY, ".inf"),
        (f64::NEG_INFINITY, "-.inf"),
        (f64::NAN, ".nan"),
    ];
    for (value, text) in cases {
        assert_eq!(body(&Yaml::Float(value)), text);
    }
}

#[test]
fn dates_and_large_numbers_are_spelled_as_python_does() {
    let date = Timestamp { year: 2001, month: 2, day: 3, time: None, offset: None };
    let with = |time, offset| Timestamp { time: Some(time), offset, ..date.clone() };
    assert_eq!(body(&Yaml::Timestamp(date.clone())), "2001-02-03");
    assert_eq!(body(&Yaml::Timestamp(with((3, 4, 5, 678), None))), "2001-02-03 03:04:05.000678");
    assert_eq!(body(&Yaml::Timestamp(with((3, 4, 5, 0), Some(0)))), "2001-02-03 03:04:05+00:00");
    assert_eq!(body(&Yaml::Timestamp(with((3, 4, 5, 0), Some(-330)))), "2001-02-03 03:04:05-05:30");
    assert_eq!(body(&Yaml::int(i128::MIN)), "-170141183460469231731687303715884105728");
    let digits = format!("-9{:060}", 0);
    assert_eq!(body(&Yaml::Int(Int::Big(digits.clone()))), digits);
}

#[test]
fn text_is_quoted_where_some_reader_would_misread_it() {
    // (text, in a block collection, in a flow collection)
    let cases = [
        ("word", "word", "word"),
        ("1.6.0", "1.6.0", "1.6.0"),
        ("y", "y", "y"),
        ("yes", "'yes'", "'yes'"),
        ("0o17", "'0o17'", "'0o17'"),
        ("1e3", "'1e3'", "'1e3'"),
        ("1:30", "'1:30'", "'1:30'"),
        ("2001-12-14", "'2001-12-14'", "'2001-12-14'"),
        ("=", "'='", "'='"),
        ("<<", "'<<'", "'<<'"),
        ("~", "'~'", "'~'"),
        ("", "''", "''"),
        ("a:b", "a:b", "'a:b'"),
        ("a: b", "'a: b'", "'a: b'"),
        ("a #b", "'a #b'", "'a #b'"),
        ("a#b", "a#b", "a#b"),
        ("-a", "-a", "-a"),
        ("- a", "'- a'", "'- a'"),
        ("?a", "?a", "'?a'"),
        ("a, b", "a, b", "'a, b'"),
        ("%a", "'%a'", "'%a'"),
        ("@a", "'@a'", "'@a'"),
        ("--- a", "'--- a'", "'--- a'"),
        ("... a", "'... a'", "'... a'"),
        (" a", "' a'", "' a'"),
        ("a ", "'a '", "'a '"),
        ("it's", "it's", "it's"),
        ("日本", "日本", "日本"),
        ("\u{1F600}", "\"\\U0001F600\"", "\"\\U0001F600\""),
        ("\u{feff}", "\"\\uFEFF\"", "\"\\uFEFF\""),
        ("a\u{85}b", "\"a\\Nb\"", "\"a\\Nb\""),
        ("a\tb", "\"a\\tb\"", "\"a\\tb\""),
        ("\0\u{1b}\u{7f}", "\"\\0\\e\\x7F\"", "\"\\0\\e\\x7F\""),
        ("a\nb", "|-\n  a\n  b", "\"a\\nb\""),
        ("a\n\nb\n", "|\n  a\n\n  b", "\"a\\n\\nb\\n\""),
        ("a \nb", "\"a \\nb\"", "\"a \\nb\""),
        (" a\nb", "\" a\\nb\"", "\" a\\nb\""),
        ("a\r\nb", "\"a\\r\\nb\"", "\"a\\r\\nb\""),
    ];
    for (text, block, flow) in cases {
        assert_eq!(body(&Yaml::mapping([("k", Yaml::text(text))])), format!("k: {block}"));
        let in_flow = Yaml::Sequence(vec![Yaml::text(text)], Some(Collection::Flow));
        assert_eq!(body(&in_flow), format!("[{flow}]"));
    }
}

#[test]
fn wishes_for_a_style_are_granted_where_it_can_hold_the_text() {
    let styled = |text: &str, style| body(&Yaml::mapping([("k", Yaml::Text(text.into(), Some(style)))]));
    assert_eq!(styled("a", ScalarStyle::SingleQuoted), "k: 'a'");
    assert_eq!(styled("a", ScalarStyle::DoubleQuoted), "k: \"a\"");
    assert_eq!(styled("a\nb\n", ScalarStyle::Folded), "k: >\n  a\n\n  b");
    assert_eq!(styled("a\n\nb", ScalarStyle::Folded), "k: >-\n  a\n\n\n  b");
    assert_eq!(styled("a\n b", ScalarStyle::Folded), "k: \"a\\n b\"");
    assert_eq!(styled("a\nb", ScalarStyle::SingleQuoted), "k: \"a\\nb\"");
    assert_eq!(styled("yes", ScalarStyle::Plain), "k: 'yes'");
}

#[test]
fn tags_are_shorthand_only_where_they_read_back() {
    let handles =
        vec![("!".to_owned(), "tag:example.org:ab/".to_owned()), ("!x!".to_owned(), "tag:x.org:".to_owned())];
    let cases = [
        ("tag:example.org:ab/core/mdarray-1.1.0", "!core/mdarray-1.1.0"),
        ("tag:yaml.org,2002:set", "!!set"),
        ("tag:x.org:a/b", "!x!a/b"),
        ("tag:x.org:a,b", "!<tag:x.org:a,b>"),
        ("tag:example.org:ab/a!b", "!<tag:example.org:ab/a!b>"),
        ("tag:example.org:ab/", "!<tag:example.org:ab/>"),
        ("http://x.org/tags/t-1.0.0", "!<http://x.org/tags/t-1.0.0>"),
        ("!local", "!<!local>"),
        ("tag:a b%é{", "!<tag:a%20b%25%C3%A9%7B>"),
        ("!", "!"),
    ];
    for (tag, text) in cases {
        assert_eq!(tag::spell(tag, &handles).unwrap(), text);
    }
    assert_eq!(tag::spell("!local", &[]).unwrap(), "!local");
    // A document may give `!!` another meaning.
    let own = vec![("!!".to_owned(), "tag:own:".to_owned())];
    assert_eq!(tag::spell("tag:yaml.org,2002:set", &own).unwrap(), "!<tag:yaml.org,2002:set>");
}

#[test]
fn values_invalid_in_yaml_are_refused() {
    let anchored = |name: &str, value| Yaml::Anchored(name.into(), Box::new(value));
    let date = |year, month, day| Timestamp { year, month, day, time: None, offset: None };
    let time = |time, offset| Timestamp { time, offset, ..date(2001, 2, 3) };
    // As plain text, PyYAML fails at nearly all of them.
    let dates = [
        date(2001, 13, 3),
        date(0, 1, 1),
        date(10_000, 1, 1),
        date(2001, 2, 29),
        date(2001, 4, 31),
        time(Some((24, 0, 0, 0)), None),
        time(Some((0, 0, 60, 0)), None),
        time(Some((0, 0, 0, 1_000_000)), None),
        time(Some((0, 0, 0, 0)), Some(24 * 60)),
        time(None, Some(0)),
    ];
    let cases = [
        Yaml::Alias("a".into()),
        Yaml::sequence([anchored("a", Yaml::Null), anchored("a", Yaml::Null)]),
        anchored("a b", Yaml::Null),
        anchored("", Yaml::Null),
        Yaml::Null.tagged(""),
        Yaml::Null.tagged("a\nb"),
        Yaml::Null.tagged("a").tagged("b"),
        Yaml::sequence([anchored("a", Yaml::Null), Yaml::Alias("a".into()).tagged("t")]),
        Yaml::Int(Int::Big("017".into())),
        Yaml::Int(Int::Big("1e3".into())),
    ];
    for value in cases.into_iter().chain(dates.map(Yaml::Timestamp)) {
        let error = emit_document(&value, &options()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{value:?}: {error}");
    }
    let deep = (0..2000).fold(Yaml::Null, |value, _| Yaml::sequence([value]));
    let error = emit_document(&deep, &options()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
}

#[test]
fn keys_that_no_line_can_hold_have_a_question_mark() {
    let key = Yaml::sequence([Yaml::int(1)]);
    let value = Yaml::Mapping(
        vec![
            (key, Yaml::mapping([("a", Yaml::int(1)), ("b", Yaml::Null)])),
            (Yaml::text("x".repeat(129)), Yaml::sequence([Yaml::sequence([])])),
            (Yaml::Null, Yaml::Null),
            (Yaml::Anchored("k".into(), Box::new(Yaml::text("k"))), Yaml::Null),
            (Yaml::Alias("k".into()), Yaml::int(1)),
        ],
        None,
    );
    let long = "x".repeat(129);
    let expected = format!("? [1]\n: a: 1\n  b: null\n? {long}\n: - []\nnull: null\n&k k: null\n*k : 1");
    assert_eq!(body(&value), expected);
}

#[test]
fn emitted_nodes_fit_after_an_indicator_in_block_and_flow() {
    let options = options();
    let emit = |value: &Yaml, within| emit_node(value, 4, within, &options).unwrap();
    let pairs = Yaml::mapping([("a", Yaml::sequence([Yaml::sequence([])])), ("b", Yaml::text("x\ny\n"))]);
    assert_eq!(emit(&pairs, Collection::Block), "\n      a:\n        - []\n      b: |\n        x\n        y");
    assert_eq!(emit(&pairs, Collection::Flow), " {a: [[]], b: \"x\\ny\\n\"}");
    assert_eq!(emit(&Yaml::text("yes"), Collection::Block), " 'yes'");
    assert_eq!(
        emit(&Yaml::sequence([Yaml::Mapping(vec![], None), pairs]), Collection::Block).lines().count(),
        7
    );
}

#[test]
fn anchors_and_aliases_are_preserved() {
    let text = "a: &x {me: *x}\nb: [*x, &y 1, *y]\nm:\n  <<: *x\n  k: =\n";
    let document = parse(text);
    let whole = Yaml::from_node(document.root()).unwrap();
    assert_eq!(body(&whole), "a: &x {me: *x}\nb: [*x, &y 1, *y]\nm:\n  <<: *x\n  k: =");
    // Elsewhere the first alias becomes the anchored node.
    let part = Yaml::from_node(document.find("b").unwrap()).unwrap();
    assert_eq!(body(&part), "[&x {me: *x}, &y 1, *y]");
    let part = Yaml::from_node(document.find("m").unwrap()).unwrap();
    assert_eq!(body(&part), "<<: &x {me: *x}\nk: =");
    assert!(matches!(
        parse(&emit_document(&part, &options()).unwrap()).find("k").unwrap().scalar(),
        Some(Scalar::Default)
    ));
}

#[test]
fn alias_chains_beyond_the_depth_limit_are_refused() {
    let mut text = String::from("l0: &a0 []\n");
    for at in 1..3000 {
        text.push_str(&format!("l{at}: &a{at} [*a{}]\n", at - 1));
    }
    let document = parse(&text);
    assert!(Yaml::from_node(document.root()).is_ok());
    let error = Yaml::from_node(document.find("l2999").unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
}

const PIECES: [&str; 70] = [
    "yes",
    "no",
    "on",
    "y",
    "null",
    "~",
    "true",
    "0x1F",
    "017",
    "08",
    "0o17",
    "1e3",
    "1.0e+3",
    ".5",
    "+.5",
    "1:30",
    "190:20:30.5",
    "1_000",
    "_1",
    "2001-12-14",
    "2001-1-1",
    "=",
    "<<",
    ".inf",
    "-.inf",
    ".nan",
    "inf",
    "-",
    "--",
    "---",
    "...",
    "... b",
    ": ",
    ":",
    " #",
    "#",
    "?",
    "!",
    "&a",
    "*a",
    "|",
    ">",
    "%",
    "@",
    "`",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{a0}",
    "\u{feff}",
    "é",
    "日本",
    "😀",
    "\u{7f}",
    "\0",
    "\\",
    "word",
    "long words are here",
];

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec((0..PIECES.len(), any::<bool>()), 0..30).prop_map(|pieces| {
        pieces
            .into_iter()
            .map(|(at, blank)| format!("{}{}", PIECES[at], if blank { " " } else { "" }))
            .collect()
    })
}

fn values() -> impl Strategy<Value = Yaml> {
    let style = prop_oneof![
        4 => Just(None),
        1 => Just(Some(ScalarStyle::SingleQuoted)),
        1 => Just(Some(ScalarStyle::Literal)),
        1 => Just(Some(ScalarStyle::Folded)),
    ];
    let scalar = prop_oneof![
        Just(Yaml::Null),
        any::<bool>().prop_map(Yaml::Bool),
        any::<i64>().prop_map(Yaml::int),
        any::<f64>().prop_map(Yaml::Float),
        (texts(), style).prop_map(|(text, style)| Yaml::Text(text, style)),
    ];
    let layout = || prop_oneof![Just(None), Just(Some(Collection::Flow)), Just(Some(Collection::Block))];
    scalar.prop_recursive(4, 40, 5, move |inner| {
        let items = proptest::collection::vec(inner.clone(), 0..5);
        let pairs = proptest::collection::btree_map(texts(), inner, 0..5);
        prop_oneof![
            (items, layout()).prop_map(|(items, style)| Yaml::Sequence(items, style)),
            (pairs, layout()).prop_map(|(pairs, style)| {
                Yaml::Mapping(pairs.into_iter().map(|(key, value)| (Yaml::text(key), value)).collect(), style)
            }),
        ]
    })
}

/// Compares a value with the result of libyaml's parser, by way of `serde_yaml`. It resolves plain scalars by YAML 1.2.
fn is_read(value: &Yaml, read: &serde_yaml::Value) -> bool {
    match (value, read) {
        (Yaml::Null, serde_yaml::Value::Null) => true,
        (Yaml::Bool(value), serde_yaml::Value::Bool(read)) => value == read,
        (Yaml::Int(Int::Small(value)), serde_yaml::Value::Number(read)) => {
            read.as_i64().map(i128::from) == Some(*value)
        }
        (Yaml::Float(value), serde_yaml::Value::Number(read)) => read
            .as_f64()
            .is_some_and(|read| read.to_bits() == value.to_bits() || (read.is_nan() && value.is_nan())),
        (Yaml::Text(value, _), serde_yaml::Value::String(read)) => value == read,
        (Yaml::Sequence(value, _), serde_yaml::Value::Sequence(read)) => {
            value.len() == read.len() && value.iter().zip(read).all(|(value, read)| is_read(value, read))
        }
        (Yaml::Mapping(value, _), serde_yaml::Value::Mapping(read)) => {
            let mut both = value.iter().zip(read);
            value.len() == read.len()
                && both.all(|((key, value), (read_key, read))| is_read(key, read_key) && is_read(value, read))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn readers_of_both_versions_read_the_same_values(value in values(), width in 0_usize..100, crlf in any::<bool>()) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let options = EmitOptions { width, newline, ..options() };
        let text = emit_document(&value, &options).unwrap();
        prop_assert!(holds_value(&value, parse(&text).root()), "{}", text);
        let read: serde_yaml::Value = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert!(is_read(&value, &read), "{}\n{:?}", text, read);
    }
}

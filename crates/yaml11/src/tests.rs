//! Documents against the values of PyYAML 6.0.3 (libyaml 0.2.5), and places against the text.

use container_core::{ErrorKind, Limits};

use super::{Document, DuplicateKeys, Kind, Node, NodeId, YamlLimits};

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap()
}

/// Every node by path with its span and content as written in the text.
fn places(text: &str) -> Vec<(String, String, String)> {
    let document = parse(text);
    let mut found = Vec::new();
    document
        .walk(false, &Limits::default(), &mut |path, node| {
            found.push((path.to_owned(), text[node.span()].to_owned(), text[node.content_span()].to_owned()));
            Ok(true)
        })
        .unwrap();
    found
}

/// The scalars are those of PyYAML.
#[test]
fn separators_end_lines_as_in_yaml_1_1() {
    for (text, values) in [
        ("'x\u{85}y'", &["x y"][..]),
        ("'x \u{85}  y'", &["x y"]),
        ("'x\u{2028} \u{2028}y'", &["x\u{2028}\u{2028}y"]),
        ("'\u{85}'", &[" "]),
        ("\"x\u{2029}y\"", &["x\u{2029}y"]),
        ("'\u{2028}    '", &["\u{2028}"]),
        ("\"a \\u2028 b\"", &["a \u{2028} b"]),
        ("'a\u{85}\u{2028}b'", &["a\u{2028}b"]),
        ("\"a\\t\u{2028}b\"", &["a\t\u{2028}b"]),
        ("a\u{2028}b", &["a\u{2028}b"]),
        ("a\u{85}b", &["a b"]),
        ("a\u{85}\u{85}b", &["a\nb"]),
        ("a\n\u{2028}b", &["a\u{2028}b"]),
        ("a: 1\u{85}b: 2", &["a", "1", "b", "2"]),
        ("- a\u{2028}- b", &["a", "b"]),
        ("a: b\u{2028} c", &["a", "b\u{2028}c"]),
        ("a: # c\u{85}b: 2", &["a", "", "b", "2"]),
        ("- |\u{85} x\u{85} y\u{85}", &["x\ny\n"]),
        ("- |\n x\u{2028} y\n z\n", &["x\u{2028}y\nz\n"]),
        ("[a,\u{85}b]", &["a", "b"]),
        ("%YAML 1.1\u{85}---\u{85}a: 1", &["a", "1"]),
        ("x: a \u{2029} b\ny: 1", &["x", "a\u{2029}b", "y", "1"]),
        ("&a\u{85}b", &["b"]),
        ("[a\u{85}\n b]", &["a\nb"]),
        ("a: b\u{2028}c: d", &["a", "b", "c", "d"]),
    ] {
        let document = parse(text);
        assert_eq!(scalars(&document), values, "{text:?}");
    }
    assert!(Document::parse("a: \u{85}b".as_bytes(), 0, &YamlLimits::default()).is_err());
}

/// The scalars are those of PyYAML.
#[test]
fn a_dash_in_a_flow_collection_is_text_where_the_item_ends_behind_it() {
    for (text, values) in [
        ("{k: -, l: 1}", Some(&["k", "-", "l", "1"][..])),
        ("[-, 1]", Some(&["-", "1"])),
        ("[-]", Some(&["-"])),
        ("{-: 1}", Some(&["-", "1"])),
        ("{-}", Some(&["-", ""])),
        ("[--, -]", Some(&["--", "-"])),
        ("{k: -1, -: 2}", Some(&["k", "-1", "-", "2"])),
        ("[-: 1]", Some(&["-", "1"])),
        ("[-,]", Some(&["-"])),
        ("['-', -\"a\", \"\\x2d, -,\"]", Some(&["-", "-\"a\"", "-, -,"])),
        ("{-, b: 'x -, y', c: z -, \"d\": -}", Some(&["-", "", "b", "x -, y", "c", "z -", "d", "-"])),
        ("a: [x,\n-, y]\nb: |\n  c -,\n  d\n", Some(&["a", "x", "-", "y", "b", "c -,\nd\n"])),
        ("? a\n: [-, '\u{2028} -]']", Some(&["a", "-", "\u{2028}-]"])),
        ("a: -,", Some(&["a", "-,"])),
        ("[a, -\n]", None),
        ("[- ]", None),
        ("[-[a]]", None),
        ("[-{a: b}]", None),
    ] {
        let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default());
        assert_eq!(document.ok().as_ref().map(scalars).as_deref(), values, "{text:?}");
    }
}

#[test]
fn duplicate_keys_are_refused_on_request() {
    let limits = YamlLimits { duplicate_keys: DuplicateKeys::Refuse, ..YamlLimits::default() };
    for (text, second) in [
        ("a: 1\nb: {x: 1, x: 2}", Some(15..16)),
        ("1: a\ntrue: b", Some(5..9)),
        ("0x1: a\n1.0: b", Some(7..10)),
        ("'1': a\n1: b", None),
        ("a: &a {b: 1}\nc: {<<: *a, b: 2, <<: *a}", None),
        ("- a: 1\n- a: 1", None),
    ] {
        let error = Document::parse(text.as_bytes(), 10, &limits).err();
        let range = error.and_then(|error| error.range());
        assert_eq!(range, second.map(|at| at.start + 10..at.end + 10), "{text}");
    }
}

/// The texts of all scalars, aliases not among them.
fn scalars(document: &Document) -> Vec<&str> {
    let nodes = (0..document.len()).map(|at| document.node(NodeId(u32::try_from(at).unwrap())));
    nodes.filter(|node| !node.is_alias() && node.kind() == Kind::Scalar).map(Node::text).collect()
}

#[test]
fn span_of_an_empty_node_covers_its_anchor_and_tag() {
    let found = places("- &x\n- !!str\n- &y !!str\n- !!str &z\n-\n- *x\n");
    let spans: Vec<_> = found.iter().skip(1).map(|(_, span, _)| span.as_str()).collect();
    assert_eq!(spans, ["&x", "!!str", "&y !!str", "!!str &z", "", "*x"]);
    assert!(found.iter().skip(1).all(|(_, _, content)| content.is_empty()));
}

#[test]
fn every_node_has_its_exact_byte_span() {
    let text = "--- !t\na: &x   !<tag:foo,1> 5 # c\nb:\nc: # com\n- 1\n- [a , {b: c, d: }, ]\nd: |\n  foo\n\n  bar\n\n\n# x\ne: \"x\\\n y\"\n\
                g: &y\n  h: |+\n   i\n\n\nj: *y\nk:\n...\n";
    let found = places(text);
    let expected = [
        ("a", "&x   !<tag:foo,1> 5", "5"),
        ("b", "", ""),
        ("c", "- 1\n- [a , {b: c, d: }, ]", "- 1\n- [a , {b: c, d: }, ]"),
        ("c/0", "1", "1"),
        ("c/1", "[a , {b: c, d: }, ]", "[a , {b: c, d: }, ]"),
        ("c/1/0", "a", "a"),
        ("c/1/1", "{b: c, d: }", "{b: c, d: }"),
        ("c/1/1/b", "c", "c"),
        ("c/1/1/d", "", ""),
        ("d", "|\n  foo\n\n  bar", "|\n  foo\n\n  bar"),
        ("e", "\"x\\\n y\"", "\"x\\\n y\""),
        ("g", "&y\n  h: |+\n   i\n\n", "h: |+\n   i\n\n"),
        ("g/h", "|+\n   i\n\n", "|+\n   i\n\n"),
        ("j", "*y", "h: |+\n   i\n\n"),
        ("k", "", ""),
    ];
    let found: Vec<_> = found[1..]
        .iter()
        .map(|(path, span, content)| (path.as_str(), span.as_str(), content.as_str()))
        .collect();
    assert_eq!(found, expected);
    let document = parse(text);
    // An absent value comes after its colon, where a value can be put.
    assert!(text[..document.find("k").unwrap().span().start].ends_with("\nk:"));
    assert!(text[..document.find("b").unwrap().span().start].ends_with("\nb:"));
}

#[test]
fn documents_refused_by_pyyaml_are_refused() {
    for text in [
        "\ta: b\n  c: d\n\t- e",
        "a: 1\n\tb: 2",
        "a: b: c",
        "a: - b",
        "[&a 1, &a 2]",
        "*a",
        "&a *a",
        "--- 1\n--- 2",
        "- a\n...\nb",
        "%YAML 1.3\n--- 1",
        "%YAML 1.1\n%YAML 1.1\n--- 1",
        "%TAG !foo tag:x\n--- 1",
        "!foo!bar 1",
        "a: @b",
        "a: `b",
        "\"\\z\"",
        "[a,,b]",
        "{a: 1",
        "a\u{7}b",
        "a: \u{7f}",
        "\"a\u{0}\"",
        "a\u{fffe}",
        "a: \u{85}b",
    ] {
        assert!(Document::parse(text.as_bytes(), 0, &YamlLimits::default()).is_err(), "{text:?}");
    }
    let error = Document::parse(b"a: \xff\n", 50, &YamlLimits::default()).unwrap_err();
    assert_eq!(error.range(), Some(53..54));
    for text in ["%YAML 1.2\n--- yes", "", "# c\n", "---\n...\n", "&a\n- *a", "- \"a\u{2028}b\"", "a:\tb"] {
        assert!(Document::parse(text.as_bytes(), 0, &YamlLimits::default()).is_ok(), "{text:?}");
    }
}

#[test]
fn limits_hold() {
    let mut limits = YamlLimits::default();
    let is_limit = |text: &str, limits: &YamlLimits| {
        let error = Document::parse(text.as_bytes(), 0, limits).unwrap_err();
        matches!(error.kind(), ErrorKind::Limit { .. })
    };
    assert!(is_limit(&"[".repeat(100_000), &limits));
    assert!(is_limit(&"- ".repeat(100_000), &limits));
    assert!(is_limit(&"{a: ".repeat(100_000), &limits));
    assert!(
        Document::parse(format!("{}{}", "[".repeat(255), "]".repeat(255)).as_bytes(), 0, &limits).is_ok()
    );
    limits.nodes = 3;
    assert!(is_limit("[1, 2, 3]", &limits));
    limits.bytes = 5;
    assert!(is_limit("abcdef", &limits));
}

#[test]
fn of_equal_keys_the_last_counts_and_merged_ones_least() {
    let text = "x: &x {a: 1, b: 2}\ny: &y {a: 3, c: 4}\nz: {b: 5, <<: [*x, *y], <<: {c: 6}, b: 7, 1: n, true: t}\nw: &w {<<: *w, k: 8}\n";
    let document = parse(text);
    let z = document.find("z").unwrap();
    // PyYAML: {'a': 1, 'c': 6, 'b': 7, 1: 't'}
    let pairs: Vec<_> = z.pairs().into_iter().map(|(key, value)| (key.text(), value.text())).collect();
    assert_eq!(pairs, [("b", "7"), ("true", "t"), ("c", "6"), ("a", "1")]);
    assert_eq!(z.get("a").unwrap().text(), "1");
    assert_eq!(z.get("c").unwrap().text(), "6");
    assert_eq!(z.get("b").unwrap().text(), "7");
    assert_eq!(z.len(), 6);
    assert_eq!(document.find("w").unwrap().pairs().len(), 1);
    assert!(z.get("<<").is_none());
}

#[test]
fn walks_stop_at_cycles_and_expand_aliases_on_request() {
    let document = parse("a: &a {b: [1, *a]}\nc: *a\nk/~: {x~1: 2}\n");
    let paths = |expand| {
        let mut found = Vec::new();
        let mut look = |path: &str, _: Node<'_>| {
            found.push(path.to_owned());
            Ok(true)
        };
        document.walk(expand, &Limits::default(), &mut look).unwrap();
        found.join(" ")
    };
    assert_eq!(paths(false), " a a/b a/b/0 a/b/1 c k~1~0 k~1~0/x~01");
    assert_eq!(paths(true), " a a/b a/b/0 a/b/1 c c/b c/b/0 c/b/1 k~1~0 k~1~0/x~01");
    assert_eq!(document.find("k~1~0/x~01").unwrap().text(), "2");
    assert_eq!(document.find("/c/b/1/b/0").unwrap().text(), "1");
    assert!(
        document.find("c/b/2").is_none()
            && document.find("c/b/-1").is_none()
            && document.find("c/b/0/x").is_none()
    );
}

/// `count` mappings that merge one of `keys` pairs.
fn merges(keys: usize, count: usize) -> String {
    let base: Vec<String> = (0..keys).map(|key| format!("k{key}: 1")).collect();
    let merging: String = (0..count).map(|number| format!("b{number}: {{<<: *a}}\n")).collect();
    format!("a: &a {{{}}}\n{merging}", base.join(", "))
}

#[test]
fn merge_keys_make_no_more_pairs_than_allowed() {
    let limits = YamlLimits { merged: 1000, ..YamlLimits::default() };
    let parse = |text: &str| Document::parse(text.as_bytes(), 0, &limits);
    // For each merging mapping: its own pair, that of the key `<<`, the merged mapping, and its pairs.
    assert!(parse(&merges(98, 10)).is_ok());
    let refused = parse(&merges(98, 11)).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Limit { allowed: 1000, .. }), "{refused}");
    // Mappings that merge one another, of which each counts with all before it.
    let chain = |count: usize| -> String {
        let links = (1..count).map(|link| format!("m{link}: &m{link} {{<<: *m{}}}\n", link - 1));
        std::iter::once("m0: &m0 {x: 1}\n".to_owned()).chain(links).collect()
    };
    assert!(parse(&chain(30)).is_ok() && parse(&chain(33)).is_err());
    // A long list of the same one.
    assert!(parse(&format!("a: &a {{x: 1}}\nb: {{<<: [{}]}}\n", "*a, ".repeat(998))).is_ok());
    assert!(parse(&format!("a: &a {{x: 1}}\nb: {{<<: [{}]}}\n", "*a, ".repeat(1001))).is_err());
    // Within itself a mapping counts once.
    assert!(parse("a: &a {x: 1, <<: {<<: *a}}\n").is_ok());
    assert!(Document::parse(merges(997, 1000).as_bytes(), 0, &YamlLimits::default()).is_ok());
    assert!(Document::parse(merges(999, 1100).as_bytes(), 0, &YamlLimits::default()).is_err());
}

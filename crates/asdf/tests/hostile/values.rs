//! Trees of little text and very many values, and texts that are not trees.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use asdf::container_core::{ErrorKind, Limits};
use asdf::yaml::{Document, EmitOptions, Yaml, YamlLimits, emit_document};
use asdf::{File, Strictness, Tree};

use crate::crafted::{HEAD, MEMORY, file, open, options, said, tree};

#[test]
fn aliases_that_double() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
    for level in 1..100 {
        writeln!(text, "a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 8].join(", ")).unwrap();
    }
    let bytes = file(&text, &[]);
    assert!(said(&bytes).opens[0]);
    let mut opts = options(Strictness::Compatible);
    opts.yaml.expanded = 100_000;
    let file = File::from_bytes(bytes, opts).unwrap();
    let limits = Limits::default().with_memory(MEMORY);
    let document = file.tree().document();
    let error = document.walk(true, &limits, &mut |_, _| Ok(true)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    document.walk(false, &limits, &mut |_, _| Ok(true)).unwrap();
    // A conversion that keeps aliases takes no more than the text; one that cannot reports a limit.
    let value = Yaml::from_node(document.root()).unwrap();
    assert!(emit_document(&value, &EmitOptions::default()).unwrap().len() < 20_000);
    assert!(matches!(Tree::new(document.clone()).to_value().unwrap_err().kind(), ErrorKind::Limit { .. }));
}

/// Checks that conversions of a tree to a caller's values report too many values before they make them.
fn cannot_be_copied(name: &str, text: &str) {
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap();
    let tree = Tree::new(document);
    let last = tree.root().pairs().last().unwrap().0.text().to_owned();
    let start = Instant::now();
    let errors = [
        tree.to_value().unwrap_err(),
        tree.get::<serde_yaml::Value>(&last).unwrap_err(),
        tree.get::<BTreeMap<String, Any>>("").unwrap_err(),
        tree.get::<Any>(&last).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{name}: {error}");
    }
    // A hundredth of a second each in truth, and minutes where they are made.
    assert!(start.elapsed() < Duration::from_secs(10), "{name}: {:?}", start.elapsed());
}

/// A type of a caller's that goes wherever the tree does.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is only made")]
enum Any {
    List(Vec<Any>),
    Map(BTreeMap<String, Any>),
    Text(String),
}

#[test]
fn few_bytes_that_are_many_values() {
    for (levels, ways) in [(6, 20), (60, 2), (9, 9), (200, 3)] {
        let mut list = String::from("a0: &a0 [x, y]\n");
        let mut map = String::from("a0: &a0 {x: y}\n");
        let mut merge = String::from("a0: &a0 {x: y}\n");
        for level in 1..=levels {
            let before = level - 1;
            writeln!(list, "a{level}: &a{level} [{}]", vec![format!("*a{before}"); ways].join(", ")).unwrap();
            let pairs: Vec<String> = (0..ways).map(|key| format!("k{key}: *a{before}")).collect();
            writeln!(map, "a{level}: &a{level} {{{}}}", pairs.join(", ")).unwrap();
            let own = &pairs[1..];
            writeln!(
                merge,
                "a{level}: &a{level} {{<<: *a{before}, l{level}: *a{before}, {}}}",
                own.join(", ")
            )
            .unwrap();
        }
        cannot_be_copied(&format!("lists {levels} {ways}"), &list);
        cannot_be_copied(&format!("mappings {levels} {ways}"), &map);
        cannot_be_copied(&format!("merges {levels} {ways}"), &merge);
    }
}

#[test]
fn file_with_exponentially_many_alias_paths_opens() {
    let mut text = String::from("a0: &a0 [!core/ndarray-1.1.0 {data: [1]}]\n");
    for level in 1..100 {
        writeln!(text, "a{level}: &a{level} [*a{0}, *a{0}, *a{0}]", level - 1).unwrap();
    }
    let said = said(&file(&text, &[]));
    assert!(said.opens[0], "{said:?}");
}

#[test]
fn merges_that_double() {
    let mut text = String::from("m0: &m0 {k0: 0}\n");
    for level in 1..100 {
        let merged = vec![format!("*m{}", level - 1); 4].join(", ");
        writeln!(text, "m{level}: &m{level} {{<<: [{merged}], k{level}: {level}}}").unwrap();
    }
    let said = said(tree(&text).as_bytes());
    assert!(said.opens[0], "{said:?}");
    let file = open(tree(&text).as_bytes(), Strictness::Compatible).unwrap();
    assert_eq!(file.tree().find("m99/k3").map(asdf::yaml::Node::text), Some("3"));
    assert_eq!(file.tree().find("m99").unwrap().pairs().len(), 100);
}

#[test]
fn scalars_of_any_length() {
    const LONG_LEN: usize = 1 << 16;
    for scalar in [
        "9".repeat(LONG_LEN),
        format!("0x{}", "f".repeat(LONG_LEN)),
        format!("1{}.5", ":59".repeat(LONG_LEN / 4)),
        format!("1.{}e+5", "0".repeat(LONG_LEN)),
        format!("1.0e+{}", "9".repeat(LONG_LEN)),
        format!("1{}", "_".repeat(LONG_LEN)),
        format!("!!binary {}", "A".repeat(LONG_LEN)),
        format!("!!int {}", "9".repeat(LONG_LEN)),
        format!("!<{}> x", "t".repeat(LONG_LEN)),
        format!("\"{}\"", "\\U0010FFFF".repeat(LONG_LEN / 8)),
        format!("'{}'", "''".repeat(LONG_LEN / 2)),
        format!("'{}'", "\n ".repeat(LONG_LEN / 2)),
        format!("|+\n{}  x", "\n".repeat(LONG_LEN)),
        format!(">\n{}", "  x\n".repeat(LONG_LEN / 8)),
        format!("x\n{}", "  x\n\n".repeat(LONG_LEN / 8)),
    ] {
        let text = tree(&format!("a: {scalar}\nb: 1"));
        let said = said(text.as_bytes());
        let shown = scalar.chars().take(20).collect::<String>();
        assert!(said.opens[0] || said.codes == ["not opened"], "{shown}: {said:?}");
        let Ok(file) = open(text.as_bytes(), Strictness::Compatible) else { continue };
        assert_eq!(file.tree().find("b").unwrap().text(), "1", "{shown}");
        let value = Yaml::from_node(file.tree().root()).unwrap();
        emit_document(&value, &EmitOptions::default()).unwrap();
    }
}

#[test]
fn directives() {
    let many: String = (0..5000).map(|at| format!("%TAG !h{at}! tag:x{at},\n")).collect();
    let _ = said(format!("{HEAD}%YAML 1.1\n{many}---\na: 1\n...\n").as_bytes());
    // Tags of 10 kB each, more than memory allows, from 30 kB of text.
    let (prefix, items) = ("y".repeat(10_000), "- !x!z 1\n".repeat(2000));
    let _ = said(format!("{HEAD}%YAML 1.1\n%TAG !x! {prefix}\n---\n{items}\n...\n").as_bytes());
    for (directive, opens) in [
        ("%YAML 1.1", true),
        ("%YAML 1.2", true),
        ("%YAML 1.3", false),
        ("%YAML 3.0", false),
        ("%YAML 99999999999999999999.1", false),
        ("%YAML 1.1\n%YAML 1.1", false),
        ("%YAML 1.1\n%TAG", false),
        ("%YAML 1.1\n%TAG !", false),
        ("%YAML 1.1\n%TAG ! ! !", false),
    ] {
        let said = said(format!("{HEAD}{directive}\n---\na: 1\n...\n").as_bytes());
        assert_eq!(said.opens[0], opens, "{directive}: {said:?}");
    }
}

#[test]
fn malformed_yaml_documents_are_refused() {
    let whole = tree("a: 1\nb: 2");
    let (head, rest) = whole.split_at(whole.find("a: 1").unwrap());
    for (name, text) in [
        ("two documents", [head, "a: 1\n--- 2\n", rest].concat().into_bytes()),
        ("NUL", [head, "c: \0\n", rest].concat().into_bytes()),
        ("NUL in quotes", [head, "c: 'x\0y'\n", rest].concat().into_bytes()),
        ("a control character", [head, "c: \u{1b}\n", rest].concat().into_bytes()),
        ("no UTF-8", [head.as_bytes(), b"c: \xff\xfe\n", rest.as_bytes()].concat()),
        ("half a character", [head.as_bytes(), b"c: \xe2\x82\n", rest.as_bytes()].concat()),
        ("a surrogate", [head.as_bytes(), b"c: \xed\xa0\x80\n", rest.as_bytes()].concat()),
        ("UTF-16", whole.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("a mark of byte order", ["\u{feff}", &whole].concat().into_bytes()),
    ] {
        let said = said(&text);
        assert!(!said.opens[0], "{name}: {said:?}");
    }
}

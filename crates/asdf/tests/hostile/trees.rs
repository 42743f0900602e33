//! Trees that would never end, or take all memory or the whole stack.

use std::fmt::Write as _;

use asdf::container_core::Result;
use asdf::yaml::{Document, EmitOptions, Scalar, Yaml, YamlLimits, emit_document};
use asdf::{DuplicateKeys, File, Strictness, TreeEditor};

use crate::crafted::{HEAD, MEMORY, file, open, options, said, tree};

fn parse(text: &str) -> Result<Document> {
    Document::parse(text.as_bytes(), 0, &YamlLimits::default())
}

#[test]
fn depth() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("[{a: ", "}]")] {
        for count in [100_000, 200] {
            let text = tree(&format!("a: [\n  {}1{}]", open.repeat(count), close.repeat(count)));
            let said = said(text.as_bytes());
            assert!(count == 200 || !said.opens[0], "{open:?} {count}: {said:?}");
        }
    }
    let block = (0..20_000).fold(String::new(), |mut text, depth| {
        writeln!(text, "{}a:", " ".repeat(depth.min(400))).unwrap();
        text
    });
    assert!(!said(tree(&block).as_bytes()).opens[0]);
    let unclosed = format!("{HEAD}%YAML 1.1\n--- {}", "[".repeat(100_000));
    assert!(!said(unclosed.as_bytes()).opens[0]);
    // The maximum depth, in all code that walks, writes and edits.
    let text = format!("{}1{}", "[".repeat(256), "]".repeat(256));
    let document = parse(&text).unwrap();
    let written = emit_document(&Yaml::from_node(document.root()).unwrap(), &EmitOptions::default()).unwrap();
    assert_eq!(parse(&written).unwrap().len(), 257);
    let mut editor = TreeEditor::new(document);
    editor.set(&["0"; 256].join("/"), &Yaml::int(2)).unwrap();
    assert!(editor.text().contains("[2]"));
    assert!(parse(&format!("[{text}]")).is_err());
}

#[test]
fn circles() {
    let text = tree(
        "a: &a [1, *a, {b: *a}]\nc: &c {d: *c, <<: {e: *c}}\nf: {$ref: '#/f'}\ng: {$ref: '#/h'}\nh: {$ref: '#/g'}\ni: {$ref: '#/i/i'}",
    );
    let said = said(text.as_bytes());
    assert!(said.opens[0] && said.opens[2], "{said:?}");
    let file = open(text.as_bytes(), Strictness::Compatible).unwrap();
    for reference in file.find_references().unwrap() {
        assert!(file.find_reference(&reference.uri).is_err(), "{}", reference.uri);
    }
    let value = Yaml::from_node(file.tree().document().root()).unwrap();
    let again = parse(&emit_document(&value, &EmitOptions::default()).unwrap()).unwrap();
    assert_eq!(Yaml::from_node(again.root()).unwrap(), value);
    assert!(file.tree().to_value().is_err());
}

#[test]
fn keys() {
    let twice = tree("a: 1\na: 2");
    let file = open(twice.as_bytes(), Strictness::Compatible).unwrap();
    assert_eq!(file.tree().find("a").unwrap().text(), "2");
    assert!(open(twice.as_bytes(), Strictness::Strict).is_err());
    let mut refuse = options(Strictness::Compatible);
    refuse.duplicate_keys = DuplicateKeys::Refuse;
    assert!(File::from_bytes(twice.into_bytes(), refuse).is_err());
    for keys in [
        "? [a, b]\n: 1",
        "? {a: b}\n: 1",
        "? &a [*a]\n: 1",
        "1: a\ntrue: b\n~: c\n1.5: d\n.nan: e",
        "'': 1",
        "'~1': 1\n/: 2",
    ] {
        let _ = said(tree(keys).as_bytes());
    }
    // Many equal ones, and many that share a beginning.
    let same = "same: 1\n".repeat(20_000);
    assert!(said(tree(&same).as_bytes()).opens[0]);
    let long: String = (0..5000).map(|at| format!("{}{at}: 1\n", "k".repeat(200))).collect();
    assert!(said(tree(&long).as_bytes()).opens[0]);
}

#[test]
fn limits_of_trees() {
    let bytes = file(&"- 1\n".repeat(1000), &[]);
    for (nodes, len, opens) in [(500, 1 << 20, false), (2000, 1000, false), (2000, 1 << 20, true)] {
        let mut opts = options(Strictness::Lenient);
        (opts.yaml.nodes, opts.yaml.bytes) = (nodes, len);
        assert_eq!(File::from_bytes(bytes.clone(), opts).is_ok(), opens, "{nodes} {len}");
    }
    // A tree beyond the permitted memory does not count as lost: the file is not opened.
    let large = file(&format!("a: '{}'", "x".repeat(usize::try_from(MEMORY).unwrap())), &[]);
    assert_eq!(said(&large).opens, [false; 3]);
}

#[test]
fn huge_integers_and_python_tags_are_plain_data() {
    // Past 4300 digits an integer is text, and one beyond 128 bits is kept as its digits.
    for digits in [40, 4300, 5000, 1 << 17] {
        let text = "9".repeat(digits);
        let document = parse(&format!("a: {text}\n")).unwrap();
        let scalar = document.find("a").unwrap().scalar();
        assert_eq!(matches!(scalar, Some(Scalar::Text(_))), digits > 4300, "{digits}");
        assert!(said(tree(&format!("a: {text}")).as_bytes()).reads[0], "{digits}");
    }
    // No tag makes an object or runs anything: its node is plain data.
    for value in [
        "!!python/object/apply:os.system [x]",
        "!!python/name:os.system ''",
        "!!python/module:os ''",
        "!!python/tuple [x]",
        "!<tag:yaml.org,2002:python/object/new:os.system> {args: [x]}",
    ] {
        let bytes = tree(&format!("a: {value}"));
        assert!(said(bytes.as_bytes()).opens[0], "{value}");
        let document = parse(&format!("a: {value}\n")).unwrap();
        let node = document.find("a").unwrap();
        assert!(node.tag().is_some_and(|tag| tag.starts_with("tag:yaml.org,2002:python/")), "{value}");
    }
    // Long tags, anchors and keys.
    let long = "x".repeat(1 << 17);
    for lines in
        [format!("a: !{long} 1"), format!("a: &{long} 1"), format!("{long}: 1"), format!("? {long}\n: 1")]
    {
        let _ = said(tree(&lines).as_bytes());
    }
    // Invalid UTF-8, UTF-16, a lone surrogate, an undefined alias, an anchor twice.
    for bad in [
        &b"a: \xff"[..],
        b"a: \xc3",
        b"a: \xed\xa0\x80",
        b"a: \xf8\x88\x80\x80\x80",
        b"\xff\xfea\0",
        b"a: *none",
    ] {
        let text = tree("XX").into_bytes();
        let at = text.windows(2).position(|two| two == b"XX").unwrap();
        let bytes = [&text[..at], bad, &text[at + 2..]].concat();
        let said = said(&bytes);
        assert!(!said.opens[0] && !said.opens[1] && said.codes.contains(&"tree"), "{bad:?}: {said:?}");
    }
}

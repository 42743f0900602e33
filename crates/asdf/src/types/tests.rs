use super::*;
use crate::OpenOptions;
use crate::yaml::Int;

fn file(tree: &str) -> File {
    let text =
        format!("#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{tree}...\n");
    File::from_bytes(text.into_bytes(), OpenOptions::default()).unwrap()
}

#[test]
fn integers_are_written_as_they_are_read() {
    for words in [vec![], vec![7], vec![0, 0, 0, 0, 1], vec![u32::MAX; 9]] {
        for negative in [false, true] {
            for version in ["1.5.0", "1.6.0"] {
                let integer = Integer { negative, words: words.clone() };
                let standard = crate::Version::parse(version).unwrap();
                let tree = crate::yaml::Yaml::mapping([("n", integer.to_yaml(standard))]);
                let text = crate::yaml::emit_document(&tree, &crate::tree::emit_options()).unwrap();
                let text = format!("#ASDF 1.0.0\n{text}");
                let file = File::from_bytes(text.clone().into_bytes(), OpenOptions::default()).unwrap();
                match file.value("n") {
                    Ok(Value::Integer(read)) => assert_eq!(read, integer, "{text}"),
                    other => panic!("{text}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn integers_are_the_ones_of_the_schemas_examples() {
    // ASDF standard 1.6.0, core schemas, integer, example 2.
    let file = file(concat!(
        "n: !core/integer-1.1.0\n  sign: '-'\n  string: '1193942770599561143856918438330'\n",
        "  words: !core/ndarray-1.1.0\n    data: [1103110586, 1590521629, 299257845, 15]\n    datatype: uint32\n    shape: [4]\n",
        "zero: !core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 []}\n",
        "plain: !core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 [5, 1]}\n",
        "big: !core/integer-1.2.0 {sign: +, words: !core/ndarray-1.2.0 {data: [0, 0, 0, 0, 1], datatype: uint32}}\n",
        "bad: !core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 [-5]}\n",
        "next: !core/integer-2.0.0 {sign: +}\n",
    ));
    let value = |path: &str| match file.value(path).unwrap() {
        Value::Integer(integer) => {
            assert_eq!(Integer::of(&integer.value()).unwrap().value(), integer.value());
            integer.value()
        }
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(value("n"), Int::Small(-1_193_942_770_599_561_143_856_918_438_330));
    assert_eq!(value("zero"), Int::Small(0));
    assert_eq!(value("plain"), Int::Small((1 << 32) + 5));
    assert_eq!(value("big"), Int::Big("340282366920938463463374607431768211456".into()));
    assert!(file.value("bad").is_err());
    assert!(matches!(file.value("next").unwrap(), Value::Other(_)));
    let least = Integer { negative: true, words: vec![0, 0, 0, 1 << 31] };
    assert_eq!(least.value(), Int::Small(i128::MIN));
}

#[test]
fn history_has_two_forms() {
    let newer = file(concat!(
        "asdf_library: !core/software-1.0.0 {author: A, name: asdf, version: 6.0.0}\n",
        "history:\n  entries:\n  - !core/history_entry-1.0.0\n    description: made\n    time: 2020-01-02 03:04:05\n",
        "    software: !core/software-1.0.0 {name: x, version: 1.10}\n",
        "  extensions:\n  - !core/extension_metadata-1.0.0\n    extension_class: a.B\n    extension_uri: asdf://e\n",
        "    manifest_software: !core/software-1.0.0 {name: m, version: '2'}\n",
        "    software: !core/software-1.0.0 {name: s, version: '3'}\n    supported_compression: [lz4f, blsc]\n",
    ));
    assert_eq!(newer.library().unwrap().unwrap().version, "6.0.0");
    let history = newer.history().unwrap();
    let entry = history.entries.first().unwrap();
    assert_eq!((entry.description, entry.time), ("made", Some("2020-01-02 03:04:05")));
    assert_eq!(entry.software.first().unwrap().version, "1.10");
    let extension = history.extensions.first().unwrap();
    assert_eq!(extension.supported_compression, ["lz4f", "blsc"]);
    assert_eq!((extension.extension_class, extension.software.as_ref().unwrap().name), ("a.B", "s"));

    let older = file(concat!(
        "history:\n- !core/history_entry-1.0.0\n  description: old\n",
        "  software: [!core/software-1.0.0 {name: a, version: b}, !core/software-1.0.0 {name: c, version: d}]\n",
    ));
    let history = older.history().unwrap();
    assert_eq!((history.entries.len(), history.extensions.len()), (1, 0));
    assert_eq!(history.entries.first().unwrap().software.len(), 2);
    assert!(file("a: 1\n").history().unwrap().entries.is_empty());
    assert!(file("history: text\n").history().is_err());
}

#[test]
fn time_values_report_format_and_scale() {
    // The first four and the last: ASDF standard 1.6.0, time schema, examples.
    let file = file(concat!(
        "iso: !time/time-1.1.0 \"2000-12-31T13:05:27.737\"\n",
        "yday: !time/time-1.1.0 \"2001:003:04:05:06.789\"\n",
        "byear: !time/time-1.1.0 B2000.0\n",
        "list: !time/time-1.1.0 [\"2000-12-31T13:05:27.737\", \"2000-12-31T13:06:38.444\"]\n",
        "unquoted: !time/time-1.4.0 2000-12-31 13:05:27\n",
        "mjd: !time/time-1.2.0 {value: 51544, format: mjd, scale: tai, base_format: iso}\n",
        "array: !time/time-1.1.0\n  value: !core/ndarray-1.0.0\n    data: [2000, 2001]\n    datatype: float64\n  format: jyear\n",
    ));
    let time = |path: &str| match file.value(path).unwrap() {
        Value::Time(time) => time,
        other => panic!("{path}: {other:?}"),
    };
    for (path, format) in
        [("iso", "iso"), ("yday", "yday"), ("byear", "byear"), ("list", "iso"), ("unquoted", "iso")]
    {
        let time = time(path);
        assert_eq!((time.format, time.scale), (Some(format), Some("utc")), "{path}");
    }
    assert!(matches!(time("unquoted").value, TimeValue::Text("2000-12-31 13:05:27")));
    let mjd = time("mjd");
    assert!(matches!(mjd.value, TimeValue::Number(51544.0)));
    assert_eq!((mjd.format, mjd.scale, mjd.base_format), (Some("mjd"), Some("tai"), Some("iso")));
    let array = time("array");
    assert!(
        matches!(array.value, TimeValue::Array(_)) && array.format == Some("jyear") && array.scale.is_none()
    );
}

#[test]
fn the_other_types_are_read_by_their_tags() {
    let file = file(concat!(
        "c: !core/complex-1.0.0 (1-2j)\n",
        "bad: !core/complex-1.0.0 1.+2j\n",
        "k: !core/constant-1.0.0 [1, 2]\n",
        "x: !core/externalarray-1.0.0 {datatype: int16, fileuri: a.fits, shape: [4096, 2], target: 1}\n",
        "sub: !core/subclass_metadata-1.0.0 {name: a.B}\n",
        "u: !unit/unit-1.0.0 m s-1\n",
        "q: !unit/quantity-1.2.0 {value: 3.14159, unit: !unit/unit-1.0.0 km}\n",
        "qa: !unit/quantity-1.1.0 {value: !core/ndarray-1.0.0 [1, 2], unit: s}\n",
        "d: !unit/defunit-1.0.0 {name: chain, unit: null}\n",
        "t: !table/table-1.1.0\n  columns:\n  - !table/column-1.1.0 {name: a, data: !core/ndarray-1.1.0 [1], unit: !unit/unit-1.0.0 deg}\n",
        "f: !fits/fits-1.0.0\n- header:\n  - [SIMPLE, true, conforms]\n  - []\n  - ['', Text]\n  data: !core/ndarray-1.0.0 [1, 2]\n",
        "other: !<asdf://somewhere/tags/thing-1.0.0> {a: !core/ndarray-1.1.0 [1]}\n",
    ));
    let value = |path: &str| file.value(path).unwrap();
    assert!(matches!(value("c"), Value::Complex(Complex { re: 1.0, im: -2.0 })));
    let error = file.value("bad").unwrap_err();
    assert_eq!(error.context(), Some("asdf core/complex"));
    let text = file.tree().document().text().find("!core/complex-1.0.0 1.").unwrap() as u64;
    let tree = file.layout().tree.clone().unwrap().start;
    assert_eq!(error.range().unwrap().start, tree + text);
    assert!(matches!(value("k"), Value::Constant(node) if node.len() == 2));
    assert!(
        matches!(value("x"), Value::ExternalArray(array) if array.shape == [4096, 2] && array.target == "1")
    );
    assert!(matches!(value("sub"), Value::SubclassMetadata("a.B")));
    assert!(matches!(value("u"), Value::Unit("m s-1")));
    assert!(
        matches!(value("q"), Value::Quantity(quantity) if quantity.unit == "km" && quantity.array.is_none())
    );
    assert!(matches!(value("qa"), Value::Quantity(quantity) if quantity.array.is_some()));
    assert!(matches!(value("d"), Value::DefUnit(unit) if unit.name == "chain" && unit.unit.is_none()));
    let Value::Table(table) = value("t") else { panic!("no table") };
    assert_eq!(table.columns.first().unwrap().unit, Some("deg"));
    let Value::Fits(hdus) = value("f") else { panic!("no FITS") };
    let hdu = hdus.first().unwrap();
    let words: Vec<_> = hdu.header.iter().map(|card| card.keyword).collect();
    assert_eq!(words, [Some("SIMPLE"), None, Some("")]);
    assert!(hdu.data.is_some());
    assert!(matches!(value("other"), Value::Other(_)));
    let paths: Vec<&str> = file.arrays().iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["qa/value", "t/columns/0/data", "f/0/data", "other/a"]);
}

/// By the standard's schemas of these tags (1.6.0).
#[test]
fn nodes_that_do_not_fit_their_tag_are_malformed_at_their_text() {
    for (node, wrong, told) in [
        ("!table/table-1.1.0 {columns: {}}", "{}", "the columns are not a list"),
        ("!table/table-1.1.0 {a: 1}", "!table/table-1.1.0 {a: 1}", "missing key columns"),
        (
            "!table/column-1.1.0 {name: null, data: 1}",
            "!table/column-1.1.0 {name: null, data: 1}",
            "missing key name",
        ),
        ("!table/column-1.1.0 {name: [a], data: 1}", "[a]", "a list or mapping (expected text)"),
        ("!fits/fits-1.0.0 {}", "!fits/fits-1.0.0 {}", "not a list of headers"),
        ("!fits/fits-1.0.0 [{header: 5}]", "5", "the header is not a list of cards"),
        ("!fits/fits-1.0.0 [{header: [[A, 1, c, d]]}]", "[A, 1, c, d]", "the card is not a list"),
        ("!fits/fits-1.0.0 [{header: [A]}]", "A]", "the card is not a list"),
        (
            "!core/externalarray-1.0.0 {fileuri: x, target: 1, datatype: int8, shape: 5}",
            "5",
            "the shape is not a list",
        ),
        ("!core/externalarray-1.0.0 {fileuri: x, target: 1, datatype: int8, shape: [-5]}", "-5", "below 0"),
        ("!core/integer-1.0.0 {sign: x, words: !core/ndarray-1.0.0 [1]}", "x", "unknown sign"),
        (
            "!core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 [[1]]}",
            "!core/ndarray-1.0.0 [[1]]",
            "not a list of uint32",
        ),
        (
            "!core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 [1.5]}",
            "!core/ndarray-1.0.0 [1.5]",
            "not a list of uint32",
        ),
        (
            "!core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 [4294967296]}",
            "!core/ndarray-1.0.0 [4294967296]",
            "does not fit 32 bits",
        ),
        ("!core/extension_metadata-1.0.0 {package: 5}", "5", ""),
        (
            "!core/history_entry-1.0.0 {time: x}",
            "!core/history_entry-1.0.0 {time: x}",
            "missing key description",
        ),
    ] {
        let file = file(&format!("v: {node}\n"));
        let error = file.value("v").unwrap_err();
        assert!(matches!(error.kind(), container_core::ErrorKind::Malformed(_)), "{node}: {error}");
        assert!(error.to_string().contains(told), "{node}: {error}");
        let text = file.tree().document().text();
        let wrong = text[text.find(node).unwrap()..].find(wrong.trim_end_matches(']')).unwrap()
            + text.find(node).unwrap();
        let base = file.layout().tree.clone().unwrap().start;
        if !told.is_empty() {
            assert_eq!(error.range().unwrap().start, base + wrong as u64, "{node}: {error}");
        }
    }
    for (history, told) in [
        ("text", "neither a list nor a mapping"),
        ("{entries: 5}", "not a list"),
        ("{extensions: {}}", "not a list"),
        ("[5]", "missing key description"),
    ] {
        let file = file(&format!("history: {history}\n"));
        assert!(file.history().unwrap_err().to_string().contains(told), "{history}");
    }
    assert!(file("history: ''\n").history().unwrap().entries.is_empty());
    assert!(file("history: {entries: null}\n").history().unwrap().extensions.is_empty());
}

/// As many words as are converted to digits in a moment.
#[test]
fn integers_of_too_many_words_are_over_the_limit() {
    let words = |count: usize| {
        format!(
            "n: !core/integer-1.0.0 {{sign: +, words: !core/ndarray-1.0.0 [{}]}}\n",
            vec!["1"; count].join(", ")
        )
    };
    assert!(
        matches!(file(&words(16_384)).value("n").unwrap(), Value::Integer(integer) if integer.words.len() == 16_384)
    );
    let error = file(&words(16_385)).value("n").unwrap_err();
    assert!(matches!(error.kind(), container_core::ErrorKind::Limit { .. }), "{error}");
}

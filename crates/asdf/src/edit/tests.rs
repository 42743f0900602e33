//! Values as people type them.

use container_core::ErrorKind;

use super::*;
use crate::yaml::{Document, YamlLimits};

fn editor(text: &str) -> TreeEditor {
    TreeEditor::new(Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap())
}

fn set(text: &str, path: &str, typed: &str) -> (String, Vec<String>) {
    let mut editor = editor(text);
    let notes = set_typed(&mut editor, path, typed, Replace::Scalars).unwrap();
    (editor.text().to_owned(), notes)
}

const TIME: &str = "%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\nt: !time/time-1.4.0 2026-10-31\n";

#[test]
fn the_tag_of_a_value_stays_unless_another_is_given() {
    let after = |typed: &str| {
        let (text, notes) = set(TIME, "/t", typed);
        assert_eq!(notes, [""; 0], "{typed}");
        text.lines().last().unwrap().to_owned()
    };
    assert_eq!(after("2027-01-01T00:00:00.000"), "t: !time/time-1.4.0 2027-01-01T00:00:00.000");
    // Under a tag it is a text, as it is typed.
    assert_eq!(after("017"), "t: !time/time-1.4.0 017");
    assert_eq!(after("!unit/unit-1.0.0 m"), "t: !unit/unit-1.0.0 m");
    assert_eq!(after("!!str word"), "t: word");
    let aliased = format!("{TIME}u: &u !unit/unit-1.0.0 m\nv: *u\n");
    assert!(set(&aliased, "/v", "s").0.ends_with("v: !unit/unit-1.0.0 s\n"));
    let (text, notes) = set(TIME, "/t", "[1]");
    assert!(text.ends_with("t: [1]\n"), "{text}");
    assert_eq!(notes, ["/t: the tag !time/time-1.4.0 is removed with the value that it was on"]);
}

#[test]
fn a_value_of_the_same_kind_goes_under_the_tag_of_what_is_there() {
    let array = "%TAG ! tag:stsci.edu:asdf/\n---\na: !core/ndarray-1.1.0 [1]\nm: !x/y-1.0.0 {b: 1}\ns: !!str 1\nt: !x/t-1.0.0 q\n";
    let editor = editor(array);
    let tag = |path: &str, value: Yaml| match under_own_tag(&editor, path, value) {
        Yaml::Tagged(tag, _) => Some(tag),
        _ => None,
    };
    assert_eq!(tag("/m", Yaml::mapping([("c", Yaml::Null)])).unwrap(), "tag:stsci.edu:asdf/x/y-1.0.0");
    assert_eq!(tag("/t", Yaml::text("r")).unwrap(), "tag:stsci.edu:asdf/x/t-1.0.0");
    assert_eq!(tag("/t", Yaml::text("r").tagged("!own")).unwrap(), "!own");
    for (path, value) in [
        ("/m", Yaml::text("c")),
        ("/t", Yaml::int(1)),
        ("/a", Yaml::sequence([])),
        ("/s", Yaml::text("r")),
        ("/n", Yaml::text("r")),
    ] {
        assert_eq!(tag(path, value), None, "{path}");
    }
}

#[test]
fn a_tag_of_yamls_own_has_to_fit() {
    assert_eq!(set("a: !!float 1\n", "/a", "2").0, "a: !!float 2\n");
    assert_eq!(set("a: !!str 1\n", "/a", "017"), ("a: '017'\n".to_owned(), vec![]));
    let error = set_typed(&mut editor("a: !!int 1\n"), "/a", "word", Replace::Scalars).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn mappings_and_arrays_are_replaced_only_on_request() {
    let array = "!core/ndarray-1.1.0 {source: 0, datatype: int8, byteorder: big, shape: [1]}";
    let tree = format!(
        "%TAG ! tag:stsci.edu:asdf/\n---\na: {array}\nb: !core/ndarray-1.1.0 [1, 2]\nc: {{x: 1}}\nd: [[{{x: 1}}]]\n\
         e: [[1], 2]\nf: {{}}\ng: {{y: &g {{z: 1}}}}\nh: *g\n"
    );
    for refused in ["a", "b", "c", "d", "g", "g/y"] {
        let mut editor = editor(&tree);
        let error = set_typed(&mut editor, refused, "3", Replace::Scalars).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{refused}");
        assert_eq!(editor.text(), tree);
    }
    for free in ["e", "f", "h", "c/x", "new"] {
        assert_eq!(set(&tree, free, "3").1, [""; 0], "{free}");
    }
    let replaced = |path: &str, typed: &str| {
        let mut editor = editor(&tree);
        let notes = set_typed(&mut editor, path, typed, Replace::Anything).unwrap();
        (editor.document().find(path).unwrap().tag().map(str::to_owned), notes.len())
    };
    let ndarray = Some("tag:stsci.edu:asdf/core/ndarray-1.1.0".to_owned());
    assert_eq!(replaced("a", "3"), (None, 1));
    assert_eq!(replaced("a", "{x: 1}"), (None, 1));
    assert_eq!(replaced("a", "{data: [1], datatype: int8, shape: [1]}"), (ndarray.clone(), 0));
    assert_eq!(replaced("b", "[3]"), (ndarray, 0));
}

/// PyYAML 6 (`yaml.safe_load`) of each text; a text of the type that it seems to have gets no note.
#[test]
fn scalars_with_a_different_yaml_1_1_type_get_a_note() {
    for (typed, told) in [
        ("017", "017 is the number 15 in YAML 1.1 (in quotes, \"017\", it is a text)"),
        ("-010", "-010 is the number -8 in YAML 1.1 (in quotes, \"-010\", it is a text)"),
        ("1:30", "1:30 is the number 90 in YAML 1.1 (in quotes, \"1:30\", it is a text)"),
        ("1:30.5", "1:30.5 is the number 90.5 in YAML 1.1 (in quotes, \"1:30.5\", it is a text)"),
        ("1_000", "1_000 is the number 1000 in YAML 1.1 (in quotes, \"1_000\", it is a text)"),
        ("yes", "yes is the truth value true in YAML 1.1 (in quotes, \"yes\", it is a text)"),
        ("[a, Off]", "Off is the truth value false in YAML 1.1 (in quotes, \"Off\", it is a text)"),
        ("{no: 1}", "no is the truth value false in YAML 1.1 (in quotes, \"no\", it is a text)"),
        ("2020-01-02", "2020-01-02 is a date in YAML 1.1 (in quotes, \"2020-01-02\", it is a text)"),
        ("1e5", "1e5 is a text, not a number, in YAML 1.1"),
        ("08", "08 is a text, not a number, in YAML 1.1"),
        ("nan", "nan is a text, not a number, in YAML 1.1"),
        ("", "an empty value is null (two quotes, \"\", are an empty text)"),
    ] {
        assert_eq!(set("a: 1\n", "/a", typed).1, [format!("/a: {told}")], "{typed}");
    }
    for plain in
        ["5", "0", "1.5", "-1.0e+5", "true", "False", "null", "~", "word", "'017'", "!!str yes", ".nan", "y"]
    {
        assert_eq!(set("a: 1\n", "/a", plain).1, [""; 0], "{plain}");
    }
    let mut editor = editor("l: [1]\n");
    assert_eq!(push_typed(&mut editor, "/l", "on").unwrap().len(), 1);
}

#[test]
fn typed_values_are_read_as_yaml_1_1() {
    let value = |text: &str| parse_value(text).unwrap();
    assert_eq!(value("yes"), Yaml::Bool(true));
    assert_eq!(value("017"), Yaml::int(15));
    assert_eq!(value(""), Yaml::Null);
    assert_eq!(
        value("!unit/unit-1.0.0 m"),
        Yaml::Text("m".into(), Some(ScalarStyle::Plain)).tagged("tag:stsci.edu:asdf/unit/unit-1.0.0")
    );
    for bad in ["[1", "'a", "*x", "%a", "@a", "a: b: c"] {
        let error = parse_value(bad).unwrap_err();
        // A mistake in the typed text, not damage of the file.
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{bad}: {error}");
        assert!(error.range().is_none() && !error.to_string().contains("line"), "{bad}: {error}");
    }
}

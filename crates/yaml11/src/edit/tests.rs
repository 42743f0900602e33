use container_core::ErrorKind;

mod random_documents;
mod random_edits;

use super::*;
use crate::YamlLimits;

fn editor(text: &str) -> TreeEditor {
    TreeEditor::new(Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap())
}

fn value(text: &str) -> Yaml {
    let text = format!("%TAG ! tag:example.org:ab/\n---\n {text}\n");
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap();
    Yaml::from_node(document.root()).unwrap()
}

/// Applies an edit to a text: `set PATH VALUE`, `insert PATH INDEX VALUE`, `push PATH VALUE`, `remove PATH`, `rename PATH KEY`.
fn edited(text: &str, edit: &str) -> Result<String> {
    let mut editor = editor(text);
    let (verb, rest) = edit.split_once(' ').unwrap();
    let (path, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match verb {
        "set" => editor.set(path, &value(rest))?,
        "push" => editor.push(path, &value(rest))?,
        "insert" => {
            let (index, rest) = rest.split_once(' ').unwrap();
            editor.insert(path, index.parse().unwrap(), &value(rest))?;
        }
        "remove" => editor.remove(path)?,
        "rename" => editor.rename(path, rest)?,
        _ => panic!("{verb}"),
    }
    let changed = editor.changed();
    let (new, old) = (editor.text(), text);
    assert_eq!(new[..changed.start], old[..changed.start]);
    let behind = new.len() - changed.end;
    assert_eq!(new[changed.end..], old[old.len() - behind..]);
    Ok(editor.into_document().text().to_owned())
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (before, edit, after) in cases {
        match edited(before, edit) {
            Ok(text) => assert_eq!(text, *after, "\n{edit}\nof:\n{before}\ngave:\n{text}"),
            Err(error) => panic!("{edit}\nof:\n{before}\n{error}"),
        }
    }
}

/// RFC 6901: a slash alone is the empty key, and no root.
#[test]
fn empty_keys_have_pointers() {
    let before = "'': 1\nb:\n  '': 2\n  x: 3\n";
    check(&[
        (before, "set / 5", "'': 5\nb:\n  '': 2\n  x: 3\n"),
        (before, "set /b/ 5", "'': 1\nb:\n  '': 5\n  x: 3\n"),
        (before, "set b/ 5", "'': 1\nb:\n  '': 5\n  x: 3\n"),
        (before, "remove /", "b:\n  '': 2\n  x: 3\n"),
        ("'':\n  '': 1\n  x: 2\n", "set // 5", "'':\n  '': 5\n  x: 2\n"),
        ("'':\n  '': 1\n  x: 2\n", "set //x 5", "'':\n  '': 1\n  x: 5\n"),
        ("b: 1\n", "set / 5", "b: 1\n'': 5\n"),
    ]);
    refuse(&[("b: 1\n", "remove /"), ("x: 1\n", "set //x 5"), ("'': 1\n", "remove //x")]);
}

#[track_caller]
fn refuse(cases: &[(&str, &str)]) {
    for (before, edit) in cases {
        match edited(before, edit) {
            Ok(text) => panic!("{edit}\nof:\n{before}\ngave:\n{text}"),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{edit}: {error}"),
        }
    }
}

#[test]
fn values_of_lines_are_set() {
    check(&[
        ("---\na: 1\nb: 2\n...\n", "set a 3", "---\na: 3\nb: 2\n...\n"),
        ("---\na: 1 # one\nb: 2\n...\n", "set a 'x y'", "---\na: 'x y' # one\nb: 2\n...\n"),
        ("---\na:   'old'   # one\n", "set a new", "---\na:   new   # one\n"),
        ("a:\nb: 2\n", "set a 1", "a: 1\nb: 2\n"),
        ("a: # c\nb: 2\n", "set a 1", "a: 1 # c\nb: 2\n"),
        ("a:", "set a 1", "a: 1"),
        // Block collections come below the key, after its comment.
        ("a: 1 # one\nb: 2\n", "set a {b: [1, 2]}", "a: {b: [1, 2]} # one\nb: 2\n"),
        ("a: 1\n", "set a []", "a: []\n"),
        ("- 1 # one\n- 2\n", "set 0 x", "- x # one\n- 2\n"),
        ("-\n- 2\n", "set 0 x", "- x\n- 2\n"),
        ("- # c\n- 2\n", "set 0 x", "- x # c\n- 2\n"),
        // Old values of several lines go as a whole.
        ("a: |\n  x\n  y\nb: 2\n", "set a 1", "a: 1\nb: 2\n"),
        ("a: 'x\n  y' # c\nb: 2\n", "set a 1", "a: 1 # c\nb: 2\n"),
        ("a: # c\n  # own\n  x: 1 # x\n  y: 2 # y\nb: 2\n", "set a 1", "a: 1 # c\n  # own\nb: 2\n"),
        ("a:\n- 1\n- 2\nb: 2\n", "set a 1", "a: 1\nb: 2\n"),
        ("- a: 1\n  b: 2\n- c\n", "set 0 1", "- 1\n- c\n"),
        ("a: !t\n  x: 1\nb: 2\n", "set a 1", "a: 1\nb: 2\n"),
        ("a:\n  value # c\nb: 2\n", "set a 1", "a:\n  1 # c\nb: 2\n"),
        ("? a # c\nb: 2\n", "set a 3", "? a # c\n: 3\nb: 2\n"),
        ("? a\n: 1 # c\nb: 2\n", "set a 3", "? a\n: 3 # c\nb: 2\n"),
        ("//: about\na: 1\n", "set ~1~1 more", "//: more\na: 1\n"),
        ("1: a\ntrue: b\n", "set 1 c", "1: c\ntrue: b\n"),
        ("a: 1\nb: 2\na: 3\n", "set a 4", "a: 1\nb: 2\na: 4\n"),
        ("a: 1\r\nb: 2\r\n", "set a 4", "a: 4\r\nb: 2\r\n"),
        ("a: {x: {y: 1}}\n", "set a/x/y 2", "a: {x: {y: 2}}\n"),
    ]);
}

#[test]
fn block_collections_are_set_below_their_key() {
    let block = Yaml::mapping([
        ("x", Yaml::int(1)),
        ("y", Yaml::Sequence(vec![Yaml::mapping([("z", Yaml::Null)])], None)),
    ]);
    let literal = Yaml::text("two\nlines\n");
    let cases = [
        ("a: 1 # one\nb: 2\n", "a", &block, "a: # one\n  x: 1\n  y:\n  - z: null\nb: 2\n"),
        (
            "k:\n  s:\n    - 1\n  a: 1\n",
            "k/a",
            &block,
            "k:\n  s:\n    - 1\n  a:\n    x: 1\n    y:\n      - z: null\n",
        ),
        ("- 1\n- 2\n", "0", &block, "- x: 1\n  y:\n  - z: null\n- 2\n"),
        ("- 1 # one\n- 2\n", "0", &block, "- # one\n  x: 1\n  y:\n  - z: null\n- 2\n"),
        ("a: 1 # one\nb: 2\n", "a", &literal, "a: | # one\n  two\n  lines\nb: 2\n"),
        ("a: {b: 1}\n", "a/b", &block, "a: {b: {x: 1, y: [{z: null}]}}\n"),
        ("a: 1\r\nb: 2\r\n", "a", &block, "a:\r\n  x: 1\r\n  y:\r\n  - z: null\r\nb: 2\r\n"),
        ("a: 1", "a", &literal, "a: |\n  two\n  lines\n"),
        ("%YAML 1.1\n--- !t\na: 1\n...\n", "", &block, "%YAML 1.1\n---\nx: 1\ny:\n- z: null\n...\n"),
        ("--- 5 # c\n...\n", "", &block, "--- # c\nx: 1\ny:\n- z: null\n...\n"),
        ("---\n...\n", "", &block, "---\nx: 1\ny:\n- z: null\n...\n"),
        ("5\n", "", &block, "x: 1\ny:\n- z: null\n"),
        ("-\n 'x'\n", "0", &block, "-\n  x: 1\n  y:\n  - z: null\n"),
        ("? a\n: 1\n", "a", &block, "? a\n: x: 1\n  y:\n  - z: null\n"),
    ];
    for (before, path, value, after) in cases {
        let mut editor = editor(before);
        editor.set(path, value).unwrap_or_else(|error| panic!("{before}{path}: {error}"));
        assert_eq!(editor.text(), after, "{before}");
    }
}

#[test]
fn roots_are_set() {
    check(&[
        ("--- 1\n...\n", "set  2", "--- 2\n...\n"),
        ("---\n...\n", "set  2", "--- 2\n...\n"),
        ("1", "set  2", "2"),
        ("%YAML 1.1\n--- !core/root-1.1.0\na: 1\n...\n", "set  {}", "%YAML 1.1\n--- {}\n...\n"),
    ]);
}

#[test]
fn keys_are_added_behind_the_last() {
    check(&[
        ("---\na: 1\n...\n", "set b 2", "---\na: 1\nb: 2\n...\n"),
        ("a: 1 # one", "set b 2", "a: 1 # one\nb: 2"),
        ("k:\n    a: 1\nz: 0\n", "set k/b 2", "k:\n    a: 1\n    b: 2\nz: 0\n"),
        ("- a: 1\n-   b: 1\n", "set 1/c 2", "- a: 1\n-   b: 1\n    c: 2\n"),
        ("a:\n- 1\n", "set b 2", "a:\n- 1\nb: 2\n"),
        ("a: |\n  text\n\n\n# end\nb: 1\n", "set c 2", "a: |\n  text\n\n\n# end\nb: 1\nc: 2\n"),
        ("k:\n  a: |+\n    text\n\nz: 1\n", "set k/b 2", "k:\n  a: |+\n    text\n\n  b: 2\nz: 1\n"),
        ("k:\n  a: # c\nz: 1\n", "set k/b 2", "k:\n  a: # c\n  b: 2\nz: 1\n"),
        ("k:\n  a:\n  - # c\nz: 1\n", "set k/b 2", "k:\n  a:\n  - # c\n  b: 2\nz: 1\n"),
        ("k: {}\n", "set k/b 2", "k: {b: 2}\n"),
        ("k: { }\n", "set k/b 2", "k: {b: 2 }\n"),
        ("k: {a: 1}\n", "set k/b 2", "k: {a: 1, b: 2}\n"),
        ("k: {a: }\n", "set k/b 2", "k: {a: , b: 2}\n"),
        ("k: {\"a\":}\n", "set k/b 2", "k: {\"a\": , b: 2}\n"),
        ("k: {a:  # of a\n  }\n", "set k/b 2", "k: {a: , b: 2  # of a\n  }\n"),
        ("k: {a: 1,}\n", "set k/b 2", "k: {a: 1, b: 2}\n"),
        ("k: {a}\n", "set k/b 2", "k: {a, b: 2}\n"),
        ("k: {a}\n", "set k/a 2", "k: {a: 2}\n"),
        ("k: {a: , b: 1}\n", "set k/a 2", "k: {a: 2, b: 1}\n"),
        ("k: {\"a\":1}\n", "set k/a x", "k: {\"a\": x}\n"),
        (
            "k: {\n  a: 1, # one\n  b: 2 # two\n  }\n",
            "set k/c 3",
            "k: {\n  a: 1, # one\n  b: 2, c: 3 # two\n  }\n",
        ),
        // An empty value becomes a mapping.
        ("%YAML 1.1\n--- !core/root-1.1.0\n...\n", "set a 1", "%YAML 1.1\n--- !core/root-1.1.0\na: 1\n...\n"),
        ("k:\nz: 1\n", "set k/a 1", "k:\n  a: 1\nz: 1\n"),
        ("k: !t # c\nz: 1\n", "set k/a 1", "k: !t # c\n  a: 1\nz: 1\n"),
        ("-\n- z\n", "set 0/a 1", "-\n  a: 1\n- z\n"),
        // A merged key stays where it came from.
        ("b: &b {x: 1}\nm:\n  <<: *b\n  y: 2\n", "set m/x 3", "b: &b {x: 1}\nm:\n  <<: *b\n  y: 2\n  x: 3\n"),
        ("m:\n  '<<':\n", "set m/<</x 1", "m:\n  '<<':\n    x: 1\n"),
        ("a: 1\n", "set 'yes' 2", "a: 1\n'''yes''': 2\n"),
        ("a: 1\n", "set yes 2", "a: 1\n'yes': 2\n"),
        ("a: 1\n", "set x~1y 2", "a: 1\nx/y: 2\n"),
        ("a: 1\r\n", "set b 2", "a: 1\r\nb: 2\r\n"),
    ]);
}

#[test]
fn edits_through_aliases_change_the_anchored_node() {
    check(&[
        ("a: &x {p: 1}\nb: *x\n", "set b/p 2", "a: &x {p: 2}\nb: *x\n"),
        ("a: &x {p: 1}\nb: *x\n", "set b 2", "a: &x {p: 1}\nb: 2\n"),
        ("a: &x [1]\nb: *x\n", "push b 2", "a: &x [1, 2]\nb: *x\n"),
        ("a: &x 1\nb: 2\n", "set a 2", "a: 2\nb: 2\n"),
        ("a: &x\n  me: *x\n", "set a/me/me/n 1", "a: &x\n  me: *x\n  n: 1\n"),
    ]);
    refuse(&[
        ("m:\n  <<:\n", "set m/<</x 1"),
        ("<<:\n", "set <</x 1"),
        ("b: &b {y: 1}\nn: &n\nm:\n  <<: [*b, *n]\n", "set m/<</1/x 1"),
        ("a: &x 1\nb: *x\n", "set a 2"),
        ("a: {c: &x 1}\nb: *x\n", "set a 2"),
        ("a: {c: &x 1}\nb: *x\n", "remove a"),
        ("a: &x 1\nb: *x\n", "remove a"),
        ("&x a: 1\nb: *x\n", "rename a c"),
    ]);
    // With the alias the anchor goes.
    check(&[("a: {c: &x 1, d: *x}\nb: 2\n", "remove a", "b: 2\n")]);
}

#[test]
fn anchors_of_a_value_get_names_that_are_free() {
    let mut editor = editor("a: &id001 [1]\nb: *id001\n");
    editor.set("c", &value("[&id001 {x: *id001}, *id001]")).unwrap();
    assert_eq!(editor.text(), "a: &id001 [1]\nb: *id001\nc: [&id002 {x: *id002}, *id002]\n");
}

#[test]
fn items_are_inserted() {
    check(&[
        ("- 1\n- 3\n", "insert  1 2", "- 1\n- 2\n- 3\n"),
        ("- 1\n# three\n- 3\n", "insert  1 2", "- 1\n- 2\n# three\n- 3\n"),
        ("- 1\n- 3\n", "insert  0 0", "- 0\n- 1\n- 3\n"),
        ("- 1\n- 3 # c\n", "push  4", "- 1\n- 3 # c\n- 4\n"),
        ("- 1\n-\n", "push  4", "- 1\n-\n- 4\n"),
        ("-\n-\n-\n", "insert  2 4", "-\n-\n- 4\n-\n"),
        ("- 1\n- - 2\n  - 3\n", "insert 1 0 4", "- 1\n- - 4\n  - 2\n  - 3\n"),
        ("a:\n- 1\nb: 2\n", "push a {c: 1}", "a:\n- 1\n- {c: 1}\nb: 2\n"),
        ("a:\n  - x: 1\n    y: 2\nb: 2\n", "set a/- 5", "a:\n  - x: 1\n    y: 2\n  - 5\nb: 2\n"),
        ("[]\n", "push  1", "[1]\n"),
        ("[1]\n", "push  'a: b'", "[1, 'a: b']\n"),
        ("[1, 3]\n", "insert  1 2", "[1, 2, 3]\n"),
        ("[1, 3]\n", "insert  0 0", "[0, 1, 3]\n"),
        ("[1, 3, ]\n", "push  4", "[1, 3, 4 ]\n"),
        ("[a: 1, b]\n", "insert  0 c", "[c, a: 1, b]\n"),
    ]);
    refuse(&[
        ("- 1\n", "insert  2 4"),
        ("a: 1\n", "push  4"),
        ("[a: 1]\n", "set 0/b 4"),
        ("- 1\n", "set 1 4"),
        ("- 1\n", "set -1 4"),
        ("a: 1\n", "set a/b 4"),
        ("a: 1\n", "set b/c 4"),
    ]);
}

#[test]
fn keys_and_items_are_removed_with_their_lines() {
    check(&[
        ("a: 1\nb: 2 # two\nc: 3\n", "remove b", "a: 1\nc: 3\n"),
        (
            "a: 1\n# two\nb:\n  # in\n  x: 1\n  y: 2 # y\n# three\nc: 3\n",
            "remove b",
            "a: 1\n# two\n# three\nc: 3\n",
        ),
        ("a: 1\nb: 2", "remove b", "a: 1"),
        ("a: 1\r\nb: 2", "remove b", "a: 1"),
        ("a: 1\nb: 2", "remove a", "b: 2"),
        ("a: 1\nb: |\n  text\n\n\nc: 3\n", "remove b", "a: 1\n\n\nc: 3\n"),
        ("- a: 1\n  b: 2\n", "remove 0/a", "- b: 2\n"),
        ("- a: 1 # c\n  b: 2\n", "remove 0/a", "- b: 2\n"),
        ("- a: 1\n  # about b\n  b: 2\n", "remove 0/a", "-\n  # about b\n  b: 2\n"),
        ("- - 1\n  - 2\n- 3\n", "remove 0/0", "- - 2\n- 3\n"),
        ("- - 1\n  - 2\n- 3\n", "remove 0", "- 3\n"),
        ("- 1\n-\n- 3\n", "remove 1", "- 1\n- 3\n"),
        ("? a\n: 1\nb: 2\n", "remove a", "b: 2\n"),
        ("a: 1\nb: 2\na: 3\n", "remove a", "b: 2\n"),
        // The text that is left of a collection without children.
        ("k:\n  a: 1\nz: 1\n", "remove k/a", "k: {}\nz: 1\n"),
        ("k: # c\n  # own\n  a: 1 # a\nz: 1\n", "remove k/a", "k: {} # c\n  # own\nz: 1\n"),
        ("k: !t # c\n  a: 1\nz: 1\n", "remove k/a", "k: !t {} # c\nz: 1\n"),
        ("k: &x !t\n- a\nz: *x\n", "remove k/0", "k: &x !t []\nz: *x\n"),
        ("- a: 1 # c\n- z\n", "remove 0/a", "- {}\n- z\n"),
        (
            "%YAML 1.1\n--- !core/root-1.1.0\na: 1\n...\n",
            "remove a",
            "%YAML 1.1\n--- !core/root-1.1.0 {}\n...\n",
        ),
        ("---\n- 1\n...\n", "remove 0", "--- []\n...\n"),
        // Flow.
        ("{a: 1, b: 2, c: 3}\n", "remove a", "{b: 2, c: 3}\n"),
        ("{a: 1, b: 2, c: 3}\n", "remove b", "{a: 1, c: 3}\n"),
        ("{a: 1, b: 2, c: 3}\n", "remove c", "{a: 1, b: 2}\n"),
        ("{a: 1}\n", "remove a", "{}\n"),
        ("[ 1, ]\n", "remove 0", "[  ]\n"),
        ("[1, 2, ]\n", "remove 1", "[1, ]\n"),
        ("[a: 1, b]\n", "remove 0", "[b]\n"),
        ("{a: , b}\n", "remove a", "{b}\n"),
        ("{a: , b}\n", "remove b", "{a: }\n"),
        ("{a: 1, # c\n b: 2 # d\n }\n", "remove b", "{a: 1, # c\n  # d\n }\n"),
        ("{a: 1, # c\n b: 2}\n", "remove a", "{ # c\n b: 2}\n"),
        ("{a: 1 # c\n }\n", "remove a", "{ # c\n }\n"),
    ]);
    refuse(&[
        ("a: 1\n", "remove b"),
        ("a: 1\n", "remove "),
        ("a: &a {x: 1}\nb: {<<: *a}\n", "remove b/x"),
        ("[a: 1]\n", "remove 0/a"),
    ]);
}

#[test]
fn keys_are_renamed() {
    check(&[
        ("a: 1 # one\nb: 2\n", "rename a c", "c: 1 # one\nb: 2\n"),
        ("'a' : 1\n", "rename a 1", "'1' : 1\n"),
        ("{a: 1, b}\n", "rename b c", "{a: 1, c}\n"),
        ("? a\n: 1\n", "rename a c", "? c\n: 1\n"),
        ("x: &x k\n*x : 1\n", "rename k c", "x: &x k\nc : 1\n"),
        ("{\"a\":1, b}\n", "rename a c", "{c: 1, b}\n"),
    ]);
    refuse(&[
        ("a: 1\nb: 2\n", "rename a b"),
        ("a: 1\n", "rename b c"),
        ("- 1\n", "rename 0 c"),
        ("a: 1\na: 2\n", "rename a b"),
    ]);
}

#[test]
fn several_values_are_set_at_once() {
    let mut editor = editor("a: 1 # one\nb: [1, {c: 2}]\nd:\n- 1\n- 2\n");
    let (one, two) = (Yaml::int(10), Yaml::text("x"));
    editor.set_all([("a", &one), ("b/1/c", &two), ("d/1", &one)]).unwrap();
    assert_eq!(editor.text(), "a: 10 # one\nb: [1, {c: x}]\nd:\n- 1\n- 10\n");
    let before = editor.text().to_owned();
    assert!(editor.set_all([("a", &one), ("nothing", &two)]).is_err());
    assert!(editor.set_all([("b", &one), ("b/0", &two)]).is_err());
    assert_eq!(editor.text(), before);
}

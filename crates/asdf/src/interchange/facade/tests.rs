use std::fs;

use container_core::ErrorKind;
use container_core::container::OpenOptions;
use container_core::format::Replace;
use container_core::write::Durability;

use super::*;

const HEAD: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- ";

fn tree(lines: &str) -> String {
    format!("{HEAD}!core/asdf-1.1.0\n{lines}...\n")
}

fn file(lines: &str) -> File {
    File::from_bytes(tree(lines).into_bytes(), crate::OpenOptions::default()).unwrap()
}

#[test]
fn pointers_begin_with_a_slash_and_escape_tildes() {
    for pointer in ["/a", "/", "/a~1b/~0", "/a/0"] {
        require_pointer(pointer).unwrap();
    }
    for (pointer, hint) in [
        ("", "/key/0"),
        ("a", "/key/0"),
        ("a/b", "/key/0"),
        ("/a~2", "~0 for a tilde"),
        ("/a~", "~0 for a tilde"),
    ] {
        let error = require_pointer(pointer).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{pointer}: {error}");
        assert!(error.hint().is_some_and(|it| it.starts_with(hint)), "{pointer}: {error:?}");
    }
}

fn set(pointer: &str, value: &str) -> MetaChange {
    MetaChange::Set { pointer: pointer.to_owned(), value: value.to_owned() }
}

fn unset(pointer: &str) -> MetaChange {
    MetaChange::Unset { pointer: pointer.to_owned() }
}

/// The result of changes, and the file afterwards.
fn changed(lines: &str, list: &[MetaChange], replace: Replace) -> (Result<Vec<String>>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.asdf");
    fs::write(&path, tree(lines)).unwrap();
    let changes = MetadataChanges {
        list,
        replace,
        open: &OpenOptions::default(),
        durability: Durability::Cached,
        parse: |_| unreachable!("YAML has a notation of its own"),
    };
    let result = change_metadata(&path, &changes);
    (result, fs::read_to_string(&path).unwrap())
}

#[test]
fn changes_are_made_in_their_order_and_the_rest_stays() {
    let lines = "a: 1 # one\nl: [1, 2]\nm: {x: 1}\n";
    let list = [set("/a", "2"), set("/l/-", "3"), set("/l/0", "yes"), unset("/m/x"), set("/n", "word")];
    let (notes, after) = changed(lines, &list, Replace::Scalars);
    assert_eq!(after, tree("a: 2 # one\nl: [true, 2, 3]\nm: {}\nn: word\n"));
    assert_eq!(
        notes.unwrap(),
        ["/l/0: yes is the truth value true in YAML 1.1 (in quotes, \"yes\", it is a text)"]
    );
    let (notes, after) = changed("l: [1]\n", &[set("/l/-", "on")], Replace::Scalars);
    assert_eq!((notes.unwrap().len(), after), (1, tree("l: [1, true]\n")));
}

#[test]
fn a_change_that_fails_undoes_those_before_it() {
    let lines = "a: 1\nm: {x: 1}\n";
    for (wrong, told) in [
        (set("/b", "[1"), "the value for /b"),
        (set("b", "1"), "is not a JSON pointer"),
        (set("", "1"), "is not a JSON pointer"),
        (unset(""), "is not a JSON pointer"),
        (unset("m"), "is not a JSON pointer"),
        (unset("/z"), "/z"),
        (set("/m", "1"), "contains a mapping"),
        (set("/a/-", "1"), "/a"),
    ] {
        let (result, after) = changed(lines, &[set("/a", "2"), wrong], Replace::Scalars);
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains(told), "{error}");
        assert_eq!(after, tree(lines));
    }
    let (result, after) = changed(lines, &[set("/m", "1")], Replace::Anything);
    assert_eq!((result.unwrap(), after), (vec![], tree("a: 1\nm: 1\n")));
}

/// Findings of the schemas of a tree, with their text as range.
fn validated(lines: &str, custom: Option<&str>) -> Vec<(Severity, &'static str, String, String)> {
    let text = tree(lines);
    let file = file(lines);
    let base = text.find("%YAML").unwrap();
    assert_eq!(file.tree().document().base(), base as u64);
    let custom = custom.map(|schema| (schema.as_bytes(), "own.yaml"));
    let found = file.validate(custom).unwrap();
    let shown = |found: Finding| {
        let range = found
            .range
            .map_or(0..0, |it| usize::try_from(it.start).unwrap()..usize::try_from(it.end).unwrap());
        (found.severity, found.code, found.message, text[range].to_owned())
    };
    found.into_iter().map(shown).collect()
}

#[test]
fn violations_name_the_value_and_the_keyword_of_the_schema() {
    assert_eq!(validated("a: 1\n", None), []);
    let software = "http://stsci.edu/schemas/asdf/core/software-1.0.0#/required";
    assert_eq!(
        validated("a: [!core/software-1.0.0 {name: x}]\n", None),
        [(
            Severity::Error,
            "schema",
            format!("a/0 lacks `version` ({software})"),
            "!core/software-1.0.0 {name: x}".to_owned()
        )]
    );
    let own = "id: asdf://b.org/own-1.0.0\nrequired: [b]\nproperties: {a: {type: string}}\n";
    let found = validated("a: 1\n", Some(own));
    let told: Vec<(&str, &str)> = found.iter().map(|it| (&*it.2, &*it.3)).collect();
    assert!(
        told.contains(&(
            "a is an integer, not of type string (asdf://b.org/own-1.0.0#/properties/a/type)",
            "1"
        )),
        "{told:?}"
    );
    assert!(
        told.iter().any(|it| it.0 == "the tree lacks `b` (asdf://b.org/own-1.0.0#/required)"),
        "{told:?}"
    );
    let error = file("a: 1\n").validate(Some((b"type: 5", "own.yaml"))).unwrap_err();
    assert!(error.is_damage(), "{error}");
}

#[test]
fn notes_on_the_tree_are_no_errors() {
    use Severity::{Note, Warning};
    for (lines, severity, code, message, text) in [
        ("a: !x 1\n", Note, "unknown_tag", "a: no schema for tag tag:stsci.edu:asdf/x", "!x 1"),
        (
            "a: !x 1\nb: !x 2\n",
            Note,
            "unknown_tag",
            "a: no schema for tag tag:stsci.edu:asdf/x (2 values)",
            "!x 1",
        ),
        (
            "a: !time/time-1.1.0 '2000-01-01T00:00:00'\n",
            Note,
            "other_standard",
            "a: tag tag:stsci.edu:asdf/time/time-1.1.0 is not part of version 1.6.0 of the standard; its schema was used anyway",
            "!time/time-1.1.0 '2000-01-01T00:00:00'",
        ),
        (
            "a: 9223372036854775808\n",
            Warning,
            "large_integer",
            "a: integer 9223372036854775808 does not fit the 64 bits of literals (core/integer can store it)",
            "9223372036854775808",
        ),
        (
            "1.5: a\n",
            Warning,
            "key_type",
            "the tree: key 1.5 is neither text nor integer nor truth value",
            "1.5",
        ),
    ] {
        let found = validated(lines, None);
        assert_eq!(found, [(severity, code, message.to_owned(), text.to_owned())]);
    }
    let found =
        validated("a: 1\n", Some("id: asdf://b.org/own-1.0.0\nproperties: {a: {$ref: gone-1.0.0}}\n"));
    let [(Warning, "missing_schema", message, _)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        message,
        "the tree: unknown schema asdf://b.org/gone-1.0.0: references to it were not checked"
    );
}

/// A thousand are listed.
#[test]
fn violations_that_are_not_listed_are_reported() {
    let lines = |count: usize| {
        (0..count).map(|at| format!("a{at}: !core/software-1.0.0 {{name: x}}\n")).collect::<String>()
    };
    let found = validated(&lines(999), None);
    assert!(found.len() == 999 && found.iter().all(|it| it.2.contains("lacks `version`")));
    let found = validated(&lines(1001), None);
    assert_eq!(found.len(), 1001);
    let last = (
        Severity::Error,
        "schema",
        "more violations of a schema, which are not listed".to_owned(),
        String::new(),
    );
    assert_eq!(found[1000], last);
}

#[test]
fn tags_are_those_of_the_nodes_in_the_short_form() {
    let file = file(
        "asdf_library: !core/software-1.0.0 {name: x, version: '1'}\na: !core/ndarray-1.1.0 {data: [1], datatype: int8}\nb: !<tag:x.org:y-1.0.0> [!!str 1, ! 2]\n",
    );
    let sorted = |tags: HashMap<String, String>| {
        let mut tags: Vec<(String, String)> = tags.into_iter().collect();
        tags.sort();
        tags
    };
    let of = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(pointer, tag)| ((*pointer).to_owned(), (*tag).to_owned())).collect()
    };
    let whole = [
        ("", "!core/asdf-1.1.0"),
        ("/a", "!core/ndarray-1.1.0"),
        ("/asdf_library", "!core/software-1.0.0"),
        ("/b", "!<tag:x.org:y-1.0.0>"),
        ("/b/0", "!!str"),
    ];
    assert_eq!(sorted(file.tags().unwrap()), of(&whole));
    assert_eq!(sorted(file.logical_tags().unwrap()), of(&[("/b", "!<tag:x.org:y-1.0.0>")]));
}

#[test]
fn the_text_of_a_node_is_a_document_of_its_own() {
    let lines = "a: {b: [1, 2]} # comment\nc: !unit/unit-1.0.0 m\n";
    let file = file(lines);
    let text = |pointer: &str| file.node_text(pointer).unwrap();
    let whole = tree(lines);
    assert_eq!(text("").unwrap(), whole[whole.find("%YAML").unwrap()..]);
    let part = text("/a/b").unwrap();
    let parsed = Document::parse(part.as_bytes(), 0, &Default::default()).unwrap();
    assert_eq!(
        Yaml::from_node(parsed.root()).unwrap(),
        Yaml::from_node(file.tree().find("a/b").unwrap()).unwrap()
    );
    assert!(text("/c").unwrap().contains("!unit/unit-1.0.0"));
    assert_eq!((text("/nothing"), text("a/b")), (None, None));
    assert_eq!(file.whole_text(&ReadOptions::default()).unwrap(), whole.as_bytes());
}

/// Blocks of a byte each.
fn with_blocks(change: impl Fn(usize, &mut crate::BlockHeader)) -> File {
    let mut bytes = tree("a: 1\n").into_bytes();
    for (number, data) in [b"x", b"y"].into_iter().enumerate() {
        let mut header = crate::BlockHeader {
            header_size: 48,
            flags: 0,
            compression: [0; 4],
            allocated_size: 1,
            used_size: 1,
            data_size: 1,
            checksum: crate::BlockHeader::ALGORITHM.digest(data).as_bytes().try_into().unwrap(),
        };
        change(number, &mut header);
        bytes.extend_from_slice(&header.to_bytes());
        bytes.extend_from_slice(data);
    }
    File::from_bytes(bytes, crate::OpenOptions::default()).unwrap()
}

#[test]
fn the_first_digest_that_does_not_match_is_an_error() {
    let options = ReadOptions::default();
    check_digests(&with_blocks(|_, _| {}), &options).unwrap();
    check_digests(&with_blocks(|_, header| header.checksum = [0; 16]), &options).unwrap();
    for bad in [0, 1] {
        let file = with_blocks(|number, header| header.checksum[0] ^= u8::from(number == bad));
        let error = check_digests(&file, &options).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
        let block = &file.blocks()[bad];
        assert_eq!(error.range(), Some(block.at..block.data.end));
    }
    // Of a block that the file cuts there is nothing to compare.
    let cut = with_blocks(|number, header| {
        if number == 1 {
            (header.allocated_size, header.used_size, header.data_size) = (9, 9, 9);
        }
    });
    check_digests(&cut, &options).unwrap();
}

#[test]
fn other_files_are_those_of_arrays_and_references_and_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let array = |source: &str| {
        format!("!core/ndarray-1.1.0 {{source: {source}, datatype: int8, byteorder: big, shape: [1]}}")
    };
    let main = format!(
        "a: {}\nb: {}\nr: {{$ref: 'r.asdf#/x'}}\nown: {{$ref: '#/a'}}\ngone: {}\n",
        array("a.asdf"),
        array("'#'"),
        array("none.asdf")
    );
    for (name, lines) in [
        ("main.asdf", &*main),
        ("a.asdf", &*format!("c: {}\n", array("c.asdf"))),
        ("c.asdf", "d: {$ref: 'main.asdf#/a'}\n"),
        ("r.asdf", "x: 1\n"),
        ("other.asdf", "x: 1\n"),
    ] {
        fs::write(root.join(name), tree(lines)).unwrap();
    }
    let path = root.join("main.asdf");
    let found = other_files(&File::open(&path).unwrap(), &path);
    assert_eq!(found, ["a.asdf", "c.asdf", "main.asdf", "r.asdf"].map(|name| root.join(name)));
    let input = || container_core::format::Input {
        source: Some(Box::new(fs::read(&path).unwrap())),
        path: Some(path.clone()),
    };
    let of_format = crate::FORMAT.other_files.unwrap();
    assert_eq!(of_format(input(), &OpenOptions::default(), &path), found);
    let broken = container_core::format::Input::bytes(Box::new(b"x".to_vec()));
    assert_eq!(of_format(broken, &OpenOptions::default(), &path), Vec::<PathBuf>::new());
}

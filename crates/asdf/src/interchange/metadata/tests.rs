use std::collections::HashMap;

use container_core::interchange::{self, is_equivalent};
use container_core::region::Region;
use container_core::{Limits, Value};

use super::*;
use crate::tree::emit_options;
use crate::yaml::{Yaml, emit_document};
use crate::{File, OpenOptions};

fn open(tree: &str) -> File {
    let text = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{tree}...\n"
    );
    File::from_bytes(text.into_bytes(), OpenOptions::default()).unwrap()
}

fn of(file: &File) -> Value {
    let all: Vec<(usize, Region)> =
        (0..file.arrays().len()).map(|index| (index, file.whole(index).unwrap())).collect();
    export_metadata(file, &all, &Limits::default()).unwrap()
}

/// The tree that the metadata make, with a stand-in for each array.
fn written(file: &File) -> String {
    let paths: Vec<String> = file.arrays().iter().map(|entry| entry.path.clone()).collect();
    let tree = MetadataTree::new(of(file), &paths);
    let node = || {
        Yaml::mapping([("data", Yaml::sequence([Yaml::int(1)]))])
            .tagged("tag:stsci.edu:asdf/core/ndarray-1.1.0")
    };
    let mut nodes: HashMap<String, Yaml> = paths.iter().map(|path| (path.clone(), node())).collect();
    let (root, anchor) = to_tree(&tree, &mut nodes);
    let root = Yaml::Mapping(root, None).tagged("tag:stsci.edu:asdf/core/asdf-1.1.0");
    let root = match anchor {
        Some(name) => Yaml::Anchored(name, Box::new(root)),
        None => root,
    };
    emit_document(&root, &emit_options()).unwrap()
}

const ODD: &str = "a: {x: !core/complex-1.0.0 1+2j, when: 2020-01-02T03:04:05, day: 2020-01-02, big: 340282366920938463463374607431768211456}
b: !!binary AAH/
c: {1: one, true: yes}
d: &shared [1, .nan, -.inf]
e: *shared
f: &loop {self: *loop}
g: {$holdall:bytes: '00'}
h: !unit/quantity-1.2.0 {value: 3.5, unit: !unit/unit-1.0.0 Jy}
i: [!custom/thing-1.0.0 {k: v}, ~, '1', 'true', '']
";

#[test]
fn yaml_only_features_round_trip_through_exported_metadata() {
    let file = open(ODD);
    let tree = of(&file);
    assert_eq!(tree.pointer("/b"), Some(&Value::Bytes(vec![0, 1, 255])));
    assert_eq!(tree.pointer("/a/day/$holdall:timestamp"), Some(&"2020-01-02".into()));
    assert_eq!(tree.pointer("/h/$holdall:tag/1/value"), Some(&Value::Float(3.5)));
    assert_eq!(tree.pointer("/g/$holdall:pairs/0/0"), Some(&"$holdall:bytes".into()));
    assert_eq!(tree.pointer("/e/$holdall:alias"), tree.pointer("/d/$holdall:anchor/0"));
    let text = written(&file);
    let again = open(text.split_once("asdf-1.1.0\n").unwrap().1.trim_end_matches("...\n"));
    assert!(is_equivalent(&of(&again), &tree), "{text}\n{tree:?}\n{:?}", of(&again));
}

/// Keys that other formats have no names for, and those at the top of carried metadata: none is lost, mistaken, or moved away from its anchor.
#[test]
fn any_key_of_the_root_comes_back() {
    let array = "!core/ndarray-1.1.0 {data: [1], datatype: int64, shape: [1]}";
    let root = format!(
        "1: &one {{x: 1}}\na: *one\nbase: &base {{y: 2}}\n<<: *base\ntrue: yes\n~: none\n2: {array}\n[3, 4]: list\n\
         $holdall:name: foo/bar\n$holdall:anchor: a\n$holdall:keys: [1]\n$holdall:new: 3\n1.5: x\nz: 9\n"
    );
    for root in [&root[..], "1: one\n", "$holdall:name: x\n", "a: 5\n$holdall:keys: {b: 1}\n"] {
        let file = open(root);
        let tree = of(&file);
        assert_eq!(tree.get(interchange::NAME), None);
        assert_eq!(tree.get(ROOT_ANCHOR), None);
        // In the form of formats with JSON.
        let json = interchange::from_json_value(interchange::to_json_value(&tree));
        let back = interchange::escape_reserved(json, interchange::Forms::Known);
        assert!(is_equivalent(&back, &tree), "{back:?}\n{tree:?}");
        let text = written(&file);
        let again = open(text.split_once("asdf-1.1.0\n").unwrap().1.trim_end_matches("...\n"));
        assert!(is_equivalent(&of(&again), &tree), "{text}\n{tree:?}\n{:?}", of(&again));
        let keys = |file: &File| file.tree().root().entries().count();
        assert_eq!(keys(&again), keys(&file), "{text}");
    }
}

#[test]
fn alias_of_an_unexported_array_records_its_path() {
    let array = "!core/ndarray-1.1.0 {data: [1], datatype: int64, shape: [1]}";
    let file = open(&format!("a: &a {array}\nb: *a\nc: {{d: *a}}\nl: [*a]\n"));
    for (path, expected) in [("b", None), ("c/d", None), ("l/0", Some("l/0"))] {
        let index = file.find_array(path).unwrap();
        let tree =
            export_metadata(&file, &[(index, file.whole(index).unwrap())], &Limits::default()).unwrap();
        let place = tree.pointer(&format!("/{path}/$holdall:array/path"));
        assert_eq!(place, expected.map(Value::from).as_ref(), "{tree:?}");
    }
}

#[test]
fn metadata_omits_arrays_whose_path_determines_their_position() {
    let array = "!core/ndarray-1.1.0 {data: [1], datatype: int64, shape: [1]}";
    let masked = "!core/ndarray-1.1.0 {data: [1], mask: 0, datatype: int64, shape: [1]}";
    let file = open(&format!(
        "roman: {{meta: {{x: 1}}, data: {array}}}\nonly: {{arrays: {array}}}\nlist: [{array}, 5]\nm: {masked}\nq: &q {array}\nr: *q\n"
    ));
    let tree = of(&file);
    assert_eq!(
        tree.pointer("/roman"),
        Some(&Value::Map(vec![("meta".into(), Value::Map(vec![("x".into(), Value::Int(1))]))]))
    );
    assert_eq!(tree.get("only"), None);
    assert_eq!(tree.pointer("/list/0/$holdall:array/path"), Some(&"list/0".into()));
    assert_eq!(tree.pointer("/m/$holdall:array/more/mask"), Some(&Value::Int(0)));
    let paths = ["q".to_owned(), "r".to_owned()];
    let known = MetadataTree::new(tree, &paths);
    assert!(known.is_alias("r") && !known.is_alias("q"));
    assert!(written(&file).contains("mask: 0"));
}

#[test]
fn the_history_of_the_user_stays_and_that_of_the_writer_does_not() {
    let file = open(
        "asdf_library: !core/software-1.0.0 {name: x, version: '1'}\nhistory:\n  extensions: [!core/extension_metadata-1.0.0 {extension_class: x}]\n  entries: [!core/history_entry-1.0.0 {description: did it, time: 2020-01-02 03:04:05}]\na: 1\n",
    );
    let tree = of(&file);
    assert_eq!(tree.get("asdf_library"), None);
    assert_eq!(tree.pointer("/history/extensions"), None);
    assert_eq!(tree.pointer("/history/entries/0/$holdall:tag/1/description"), Some(&"did it".into()));
    assert!(is_equivalent(
        &of(&open(&written(&file).split_once("asdf-1.1.0\n").unwrap().1.replace("...\n", ""))),
        &tree
    ));
}

#[test]
fn metadata_name_no_blocks_and_no_anchors_that_are_not_there() {
    let odd = Value::Map(vec![
        (
            "a".into(),
            interchange::form(
                "tag",
                vec![
                    "tag:stsci.edu:asdf/core/ndarray-1.1.0".into(),
                    Value::Map(vec![("source".into(), Value::Int(0))]),
                ],
            ),
        ),
        ("b".into(), interchange::form("alias", "nowhere")),
        ("history".into(), "mine".into()),
    ]);
    let (root, _) = to_tree(&MetadataTree::new(odd, &[]), &mut HashMap::new());
    let text = emit_document(&Yaml::Mapping(root, None), &emit_options()).unwrap();
    assert!(
        !text.contains("!core/ndarray") && !text.contains('*') && text.contains("$holdall:more"),
        "{text}"
    );
}

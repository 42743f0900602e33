//! Values of Rust types from trees, and trees from them.

use std::collections::BTreeMap;

use container_core::ErrorKind;
use serde::{Deserialize, Serialize};

use crate::{Document, Int, Result, Yaml, YamlLimits};

struct Tree(Document);

impl Tree {
    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.0.find(path).unwrap().deserialize()
    }
}

fn tree(text: &str) -> Tree {
    Tree(Document::parse(text.as_bytes(), 1000, &YamlLimits::default()).unwrap())
}

#[derive(Debug, Deserialize, Serialize, PartialEq)]
struct Telescope {
    name: String,
    mirrors: Vec<f64>,
    cooled: bool,
    notes: Option<String>,
    state: State,
    settings: BTreeMap<String, i32>,
}

#[derive(Debug, Deserialize, Serialize, PartialEq)]
enum State {
    Idle,
    Moving(f64, f64),
    Tracking { target: String },
}

#[test]
fn a_struct_comes_from_the_tree_with_yaml_1_1_values() {
    let tree = tree(
        "%YAML 1.1\n--- !core/asdf-1.1.0\nbase: &base {b: 2}\nscope: !foo\n  name: yes it is\n  mirrors: [1, 2.5, 1:30.5, .inf]\n  \
         cooled: off\n  notes: ~\n  state: Tracking\n  settings: {a: 017, <<: *base}\n  extra: [1]\n",
    );
    let error = tree.get::<Telescope>("scope").unwrap_err();
    assert!(error.to_string().contains("struct variant"), "{error}");
    let text = tree.0.text().replace("state: Tracking", "state: {Tracking: {target: '017'}}");
    let tree = self::tree(&text);
    let scope: Telescope = tree.get("scope").unwrap();
    let expected = Telescope {
        name: "yes it is".into(),
        mirrors: vec![1.0, 2.5, 90.5, f64::INFINITY],
        cooled: false,
        notes: None,
        state: State::Tracking { target: "017".into() },
        settings: [("a".to_owned(), 15), ("b".to_owned(), 2)].into(),
    };
    assert_eq!(scope, expected);
    assert_eq!(tree.get::<f64>("scope/mirrors/1").unwrap().to_bits(), 2.5_f64.to_bits());
}

#[test]
fn type_mismatch_reports_its_byte_range_in_the_file() {
    let tree = tree("a: {b: [1, x]}\n");
    let error = tree.get::<BTreeMap<String, Vec<i32>>>("a").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
    assert_eq!(error.range(), Some(1011..1012));
    assert!(tree.get::<u8>("a/b/0").is_ok());
    assert!(self::tree("300\n").get::<u8>("").is_err());
}

#[test]
fn wide_numbers_dates_and_bytes_come_whole() {
    let tree = tree(
        "- 170141183460469231731687303715884105727\n- -9223372036854775809\n- 2001-12-14\n- !!binary aGk=\n- 1_000\n- 99999999999999999999999999999999999999999\n",
    );
    assert_eq!(tree.get::<i128>("0").unwrap(), i128::MAX);
    assert_eq!(tree.get::<i128>("1").unwrap(), i128::from(i64::MIN) - 1);
    assert!(tree.get::<i64>("1").is_err());
    assert_eq!(tree.get::<String>("2").unwrap(), "2001-12-14");
    assert_eq!(tree.get::<i16>("4").unwrap(), 1000);
    assert_eq!(tree.get::<String>("5").unwrap(), "9".repeat(41));
    let bytes: Bytes = tree.get("3").unwrap();
    assert_eq!(bytes.0, b"hi");
}

struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[test]
fn cycles_and_aliases_that_double_are_limits() {
    let cycle = tree("&a [1, *a]\n");
    let error = cycle.get::<serde_yaml::Value>("").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let mut text = String::from("- &a0 [x, x, x, x]\n");
    for level in 1..40 {
        text.push_str(&format!("- &a{level} [*a{0}, *a{0}, *a{0}, *a{0}]\n", level - 1));
    }
    let limits = YamlLimits { expanded: 10_000, ..YamlLimits::default() };
    let doubling = Tree(Document::parse(text.as_bytes(), 0, &limits).unwrap());
    let error = doubling.get::<serde_yaml::Value>("").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { allowed: 10_000, .. }), "{error}");
}

#[test]
fn values_of_rust_types_become_trees() {
    let scope = Telescope {
        name: "x".into(),
        mirrors: vec![0.5],
        cooled: true,
        notes: None,
        state: State::Moving(1.0, -2.0),
        settings: [("k".to_owned(), -3)].into(),
    };
    let expected = Yaml::mapping([
        ("name", Yaml::text("x")),
        ("mirrors", Yaml::sequence([Yaml::Float(0.5)])),
        ("cooled", Yaml::Bool(true)),
        ("notes", Yaml::Null),
        ("state", Yaml::mapping([("Moving", Yaml::sequence([Yaml::Float(1.0), Yaml::Float(-2.0)]))])),
        ("settings", Yaml::mapping([("k", Yaml::int(-3))])),
    ]);
    assert_eq!(Yaml::from_serialize(&scope).unwrap(), expected);
    assert_eq!(Yaml::from_serialize(&State::Idle).unwrap(), Yaml::text("Idle"));
    assert_eq!(Yaml::from_serialize(&u128::MAX).unwrap(), Yaml::Int(Int::Big(u128::MAX.to_string())));
}

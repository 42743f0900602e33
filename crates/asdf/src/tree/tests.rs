use container_core::ErrorKind;

use super::Tree;
use crate::yaml::{Document, YamlLimits};

fn tree(text: &str) -> Tree {
    Tree::new(Document::parse(text.as_bytes(), 1000, &YamlLimits::default()).unwrap())
}

#[test]
fn a_path_without_a_node_is_a_mistake_of_the_caller() {
    let tree = tree("a: {b: [1, x]}\n");
    assert_eq!(tree.get::<i32>("a/b/0").unwrap(), 1);
    let error = tree.get::<i32>("a/c").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn a_tree_is_serde_yamls_value_with_yaml_1_1_values() {
    let value = tree("a: yes\nb: '017'\nc: 017\nd: !x {e: [~, 1.5]}\n").to_value().unwrap();
    let expected: serde_yaml::Value =
        serde_yaml::from_str("{a: true, b: '017', c: 15, d: {e: [null, 1.5]}}").unwrap();
    assert_eq!(value, expected);
}

//! The nodes of a document, in the words of `testdata/asdf/peer.py`.

use std::collections::HashMap;

use asdf::yaml::{Document, Int, Kind, Node, NodeId, Scalar};
use serde_json::Value;

use crate::view::{hex, iso};

/// The nodes, each with its path and what it is, in the order of the document.
pub fn of(document: &Document) -> Vec<(String, String)> {
    let mut found = Vec::new();
    visit(document.root(), String::new(), &mut HashMap::new(), &mut found);
    found
}

/// Those of an answer.
pub fn of_answer(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    answer.as_array().unwrap().iter().map(|node| (text(&node[0]), text(&node[1]))).collect()
}

/// A step of a path as it is written.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A path one step further.
pub fn below(path: &str, key: &str) -> String {
    if path.is_empty() { escape(key) } else { format!("{path}/{}", escape(key)) }
}

fn visit(
    node: Node<'_>,
    path: String,
    seen: &mut HashMap<NodeId, String>,
    found: &mut Vec<(String, String)>,
) {
    let node = node.target();
    if node.kind() == Kind::Scalar {
        found.push((path, scalar(node)));
        return;
    }
    if let Some(first) = seen.get(&node.id()) {
        found.push((path, format!("alias of {first}")));
        return;
    }
    seen.insert(node.id(), path.clone());
    let kind = if node.kind() == Kind::Sequence { "seq" } else { "map" };
    let usual = format!("tag:yaml.org,2002:{kind}");
    let is = match node.tag().filter(|tag| *tag != usual && *tag != "!") {
        Some(tag) => format!("{tag} {kind}"),
        None => kind.to_owned(),
    };
    found.push((path.clone(), is));
    for (at, item) in node.items().enumerate() {
        visit(item, below(&path, &at.to_string()), seen, found);
    }
    if node.kind() == Kind::Mapping {
        for (key, value) in node.pairs() {
            let key = if key.kind() == Kind::Scalar { key.text() } else { "?" };
            visit(value, below(&path, key), seen, found);
        }
    }
}

/// Describes a scalar.
pub fn scalar(node: Node<'_>) -> String {
    let other = |tag: &&str| !tag.starts_with("tag:yaml.org,2002:") && *tag != "!";
    if let Some(tag) = node.tag().filter(other) {
        return format!("{tag} {}", node.text());
    }
    is(&node.scalar().unwrap())
}

pub fn is(scalar: &Scalar<'_>) -> String {
    match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => format!("bool {value}"),
        Scalar::Int(Int::Small(value)) => format!("int {value}"),
        Scalar::Int(Int::Big(digits)) => format!("int {digits}"),
        Scalar::Float(value) if value.is_nan() => "float nan".to_owned(),
        Scalar::Float(value) => format!("float {:016x}", value.to_bits()),
        Scalar::Text(text) => format!("str {text}"),
        Scalar::Timestamp(time) => format!("timestamp {}", iso(time)),
        Scalar::Binary(bytes) => format!("binary {}", hex(bytes)),
        Scalar::Merge => "tag:yaml.org,2002:merge <<".to_owned(),
        Scalar::Default => "tag:yaml.org,2002:value =".to_owned(),
    }
}

/// Lists the differences of two lists, whatever their order; none where they are the same.
pub fn differences(found: &[(String, String)], expected: &[(String, String)]) -> Vec<String> {
    let (mut found, mut expected) = (found.to_vec(), expected.to_vec());
    found.sort();
    expected.sort();
    let only = |some: &[(String, String)], other: &[(String, String)], what: &str| -> Vec<String> {
        let only = some.iter().filter(|it| other.binary_search(it).is_err());
        only.map(|(path, is)| format!("{what} {path:?}: {is:?}")).collect()
    };
    let mut problems = only(&found, &expected, "found");
    problems.extend(only(&expected, &found, "not found"));
    if problems.is_empty() && found.len() != expected.len() {
        problems.push(format!("{} nodes, not {}", found.len(), expected.len()));
    }
    problems
}

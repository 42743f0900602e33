//! Content of a file, in the words of `testdata/asdf/peer.py`.

use std::fmt::Write as _;

use asdf::types::Value as Typed;
use asdf::yaml::{Int, Kind, Node, NodeId, Scalar, Timestamp};
use asdf::{File, NdArray};
use container_codecs::checksum::Algorithm;
use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::python_literal::Literal;
use container_core::region::Region;
use serde_json::{Map, Value, json};

/// Tags of the standard that Python asdf turns into mappings without one.
const PLAIN: [&str; 5] = [
    "core/asdf-",
    "core/software-",
    "core/history_entry-",
    "core/extension_metadata-",
    "core/subclass_metadata-",
];

/// The tree of a file, without what names software and history.
pub fn tree(file: &File) -> Value {
    let mut tree = Viewer { file, above: Vec::new() }.value(file.tree().root(), String::new());
    let root = tree.as_object_mut().unwrap();
    root.remove("asdf_library");
    root.remove("history");
    tree
}

pub fn sha256(bytes: &[u8]) -> String {
    Algorithm::Sha256.digest(bytes).to_string()
}

struct Viewer<'f> {
    file: &'f File,
    above: Vec<(NodeId, String)>,
}

impl<'f> Viewer<'f> {
    // Each level makes the path of the next.
    #[allow(clippy::needless_pass_by_value)]
    fn value(&mut self, node: Node<'f>, path: String) -> Value {
        let node = node.target();
        let known = Typed::from_node(node, self.file).unwrap_or_else(|error| panic!("{path}: {error}"));
        match known {
            Typed::NdArray(array) => return self.array(&array),
            Typed::Complex(number) => return json!({"$complex": [float(number.re), float(number.im)]}),
            Typed::Integer(number) => return json!({"$integer": digits(&number.value())}),
            Typed::Constant(_) => return json!({"$constant": self.content(node, &path)}),
            Typed::ExternalArray(it) => {
                let target = node.get("target").unwrap();
                let target = self.value(target, String::new());
                return json!({"$external":
                    {"fileuri": it.fileuri, "target": target, "dtype": it.datatype, "shape": it.shape}});
            }
            _ => {}
        }
        let content = self.content(node, &path);
        let plain = |tag: &str| {
            let name = tag.strip_prefix("tag:stsci.edu:asdf/").unwrap_or_default();
            tag.starts_with("tag:yaml.org,2002:") || tag == "!" || PLAIN.iter().any(|it| name.starts_with(it))
        };
        match node.tag() {
            Some(tag) if !plain(tag) && content.get("$same").is_none() => json!({"$tag": [tag, content]}),
            _ => content,
        }
    }

    fn content(&mut self, node: Node<'f>, path: &str) -> Value {
        if node.kind() == Kind::Scalar {
            return scalar(node);
        }
        if let Some((_, first)) = self.above.iter().find(|(id, _)| *id == node.id()) {
            return json!({ "$same": first });
        }
        self.above.push((node.id(), path.to_owned()));
        let below = |key: &str| {
            let key = key.replace('~', "~0").replace('/', "~1");
            if path.is_empty() { key } else { format!("{path}/{key}") }
        };
        let made = if node.kind() == Kind::Sequence {
            let items = node.items().enumerate();
            items.map(|(at, item)| self.value(item, below(&at.to_string()))).collect()
        } else {
            let mut pairs = Vec::new();
            for (key, value) in node.pairs() {
                let value = self.value(value, below(key.text()));
                pairs.push((scalar(key), value));
            }
            mapping(pairs)
        };
        self.above.pop();
        made
    }

    fn array(&self, array: &NdArray) -> Value {
        let geometry = self.file.geometry_of(array).unwrap();
        let (whole, options) = (Region::whole(&geometry.shape), ReadOptions::default());
        let elements = self.file.read_array(array, &whole, &options).unwrap();
        let bytes = elements.bytes(Order::C, &Limits::default()).unwrap();
        let mut about = json!({"dtype": descr(&geometry.dtype.descr()), "shape": geometry.shape, "sha256": sha256(&bytes)});
        if let Some(mask) = self.file.mask_of(array, &whole, &options).unwrap() {
            about["mask"] = sha256(&mask.bytes(Order::C, &Limits::default()).unwrap()).into();
        }
        json!({ "$array": about })
    }
}

/// A mapping as JSON has it, or as a list of pairs where keys are no text or begin with `$`.
fn mapping(pairs: Vec<(Value, Value)>) -> Value {
    let named = |key: &Value| key.as_str().is_some_and(|key| !key.starts_with('$'));
    if pairs.iter().all(|(key, _)| named(key)) {
        let named = pairs.into_iter().map(|(key, value)| (key.as_str().unwrap().to_owned(), value));
        return Value::Object(named.collect::<Map<_, _>>());
    }
    let pairs: Vec<Value> = pairs.into_iter().map(|(key, value)| json!([key, value])).collect();
    json!({ "$map": pairs })
}

/// numpy's description of a type, as JSON has it.
pub fn descr(literal: &Literal) -> Value {
    match literal {
        Literal::Str(text) => text.as_str().into(),
        Literal::Int(number) => json!(i64::try_from(*number).unwrap()),
        Literal::List(items) | Literal::Tuple(items) => items.iter().map(descr).collect(),
        other => panic!("{other:?}"),
    }
}

pub fn float(value: f64) -> Value {
    if value.is_nan() {
        json!({"$float": "nan"})
    } else if value.is_infinite() {
        json!({"$float": if value > 0.0 { "inf" } else { "-inf" }})
    } else if value == 0.0 && value.is_sign_negative() {
        json!({"$float": "-0.0"})
    } else {
        value.into()
    }
}

fn digits(number: &Int) -> String {
    match number {
        Int::Small(number) => number.to_string(),
        Int::Big(digits) => digits.clone(),
    }
}

fn scalar(node: Node<'_>) -> Value {
    let other = |tag: &&str| !tag.starts_with("tag:yaml.org,2002:") && *tag != "!";
    if node.tag().filter(other).is_some() {
        return node.text().into();
    }
    match node.scalar().expect("keys are scalars here") {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => value.into(),
        Scalar::Int(Int::Small(value)) => json!(i64::try_from(value).unwrap()),
        Scalar::Int(Int::Big(digits)) => panic!("{digits}"),
        Scalar::Float(value) => float(value),
        Scalar::Text(text) => text.into(),
        Scalar::Timestamp(time) if time.time.is_some() => json!({"$datetime": iso(&time)}),
        Scalar::Timestamp(time) => json!({"$date": iso(&time)}),
        Scalar::Binary(bytes) => json!({ "$bytes": hex(&bytes) }),
        Scalar::Merge | Scalar::Default => node.text().into(),
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// As Python's `isoformat`.
pub fn iso(time: &Timestamp) -> String {
    let mut text = format!("{:04}-{:02}-{:02}", time.year, time.month, time.day);
    let Some((hour, minute, second, micros)) = time.time else { return text };
    _ = write!(text, "T{hour:02}:{minute:02}:{second:02}");
    if micros > 0 {
        _ = write!(text, ".{micros:06}");
    }
    if let Some(offset) = time.offset {
        let sign = if offset < 0 { '-' } else { '+' };
        let minutes = offset.abs();
        _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    }
    text
}

/// Says where two values differ.
#[track_caller]
pub fn assert_same(found: &Value, expected: &Value, label: &str) {
    let mut problems = Vec::new();
    differences(found, expected, "", &mut problems);
    assert!(problems.is_empty(), "{label}:\n{}", problems[..problems.len().min(12)].join("\n"));
}

fn differences(found: &Value, expected: &Value, path: &str, problems: &mut Vec<String>) {
    match (found, expected) {
        (Value::Object(one), Value::Object(other)) => {
            for (key, value) in one {
                let other = other.get(key).unwrap_or(&Value::Null);
                differences(value, other, &format!("{path}/{key}"), problems);
            }
            let missing = other.keys().filter(|key| !one.contains_key(*key));
            problems.extend(missing.map(|key| format!("{path}/{key} is missing: {}", other[key])));
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (at, (value, other)) in one.iter().zip(other).enumerate() {
                differences(value, other, &format!("{path}/{at}"), problems);
            }
        }
        _ if found != expected => problems.push(format!("{path}: found {found}, expected {expected}")),
        _ => {}
    }
}

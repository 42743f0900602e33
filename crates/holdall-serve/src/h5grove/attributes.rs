//! Attributes of entities: metadata as h5grove lists those of HDF5 objects.

use container_core::Value;
use container_core::dtype::{ByteOrder, DType, Kind};
use holdall::json::value_json;
use serde_json::{Map, Value as Json, json};

use crate::bounded_json::on_a_line;

use super::types::{text_json, type_json};

/// Maximum number of attributes of an entity.
const MAX_ATTRIBUTES: usize = 500;

/// Maximum length of an attribute's text in bytes.
const MAX_TEXT_LEN: usize = 1 << 16;

/// Maximum number of items of a list that is an array. Longer ones are texts.
const MAX_ITEMS: usize = 1000;

/// A named value of an entity.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    name: String,
    shape: Json,
    kind: Json,
    value: Json,
}

impl Attribute {
    /// Text.
    pub(super) fn text(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), shape: json!([]), kind: text_json(), value: cut(text).into() }
    }

    /// An array of texts of one axis.
    pub(super) fn texts(name: &str, texts: &[&str]) -> Self {
        Self { name: name.to_owned(), shape: json!([texts.len()]), kind: text_json(), value: json!(texts) }
    }

    /// Metadata: numbers, truth values, texts, and lists of either are of their type; all else is JSON text.
    pub(super) fn new(name: &str, value: &Value) -> Self {
        if let Some(kind) = scalar_type(value) {
            return Self { name: name.to_owned(), shape: json!([]), kind, value: scalar(value) };
        }
        if let Value::List(items) = value
            && let Some(kind) = items.first().and_then(scalar_type).filter(|_| items.len() <= MAX_ITEMS)
            && items.iter().all(|item| scalar_type(item).as_ref() == Some(&kind))
        {
            let shape = json!([items.len()]);
            let value = items.iter().map(scalar).collect();
            return Self { name: name.to_owned(), shape, kind, value };
        }
        // Longer by one byte than what is shown, so that its end is marked.
        Self::text(name, &on_a_line(&value_json(value), MAX_TEXT_LEN.saturating_add(1)))
    }

    fn entry(&self) -> Json {
        json!({ "name": self.name, "shape": self.shape, "type": self.kind })
    }
}

/// Attributes of an entity; of equal names the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<Attribute>);

impl Attributes {
    pub(super) fn push(&mut self, attribute: Attribute) {
        if self.0.len() < MAX_ATTRIBUTES && self.0.iter().all(|own| own.name != attribute.name) {
            self.0.push(attribute);
        }
    }

    pub(super) fn extend<'v>(&mut self, entries: impl IntoIterator<Item = &'v (String, Value)>) {
        for (name, value) in entries {
            self.push(Attribute::new(name, value));
        }
    }

    /// One that says why the others cannot be read.
    pub(super) fn error(error: &container_core::Error) -> Self {
        Self(vec![Attribute::text("error", &error.to_string())])
    }

    /// The list in an entity of `/meta`.
    pub(super) fn entries(&self) -> Json {
        self.0.iter().map(Attribute::entry).collect()
    }

    /// The answer of `/attr`.
    pub(super) fn values(&self) -> Json {
        let values: Map<String, Json> =
            self.0.iter().map(|own| (own.name.clone(), own.value.clone())).collect();
        values.into()
    }
}

fn scalar_type(value: &Value) -> Option<Json> {
    let little = |kind, size| Some(type_json(&DType::new(kind, size, ByteOrder::Little), None));
    match value {
        Value::Bool(_) => little(Kind::Bool, 1),
        Value::Int(value) if i64::try_from(*value).is_ok() => little(Kind::Int, 8),
        Value::Int(value) if u64::try_from(*value).is_ok() => little(Kind::Uint, 8),
        Value::Float(_) => little(Kind::Float, 8),
        Value::Text(_) => Some(text_json()),
        _ => None,
    }
}

/// A scalar that has a type. Numbers that JSON lacks are null.
fn scalar(value: &Value) -> Json {
    match value {
        Value::Float(value) => (*value).into(),
        Value::Text(text) => cut(text).into(),
        other => value_json(other),
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT_LEN {
        return text.to_owned();
    }
    let end = (0..=MAX_TEXT_LEN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", text.get(..end).unwrap_or_default())
}

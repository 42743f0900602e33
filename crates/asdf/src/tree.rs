//! The tree: its document, and values by path.

#[cfg(test)]
mod tests;

use container_core::{Error, Result};

use crate::yaml::{
    Document, EmitOptions, Int, Node, Origin, Scalar, Timestamp, YAML_TAG_PREFIX, Yaml, YamlLimits,
};

/// Prefix of the tags of the ASDF standard, for which a tree has the handle `!`.
pub const TAG_PREFIX: &str = "tag:stsci.edu:asdf/";

/// Reads the text of a tree that begins at byte `base` of its file.
pub(crate) fn parse_tree(text: &[u8], base: u64, limits: &YamlLimits) -> Result<Document> {
    Document::parse_from(Origin::new(base).with_context("asdf tree"), text, limits)
}

/// The layout of trees that are written.
pub(crate) fn emit_options() -> EmitOptions {
    EmitOptions::default().with_tag_handle("!", TAG_PREFIX)
}

/// A tag with the handles that every ASDF file has: `!core/ndarray-1.1.0`, `!!binary`; others whole.
pub(crate) fn short_tag(tag: &str) -> String {
    if let Some(rest) = tag.strip_prefix(TAG_PREFIX) {
        return format!("!{rest}");
    }
    match tag.strip_prefix(YAML_TAG_PREFIX) {
        Some(rest) => format!("!!{rest}"),
        None if tag.starts_with('!') => tag.to_owned(),
        None => format!("!<{tag}>"),
    }
}

/// A key as text: numbers and the like by their canonical spelling.
pub(crate) fn key_text(key: Node<'_>) -> String {
    match key.scalar() {
        Some(Scalar::Null) => "null".to_owned(),
        Some(Scalar::Bool(value)) => value.to_string(),
        Some(Scalar::Int(Int::Small(value))) => value.to_string(),
        Some(Scalar::Int(Int::Big(digits))) => digits,
        Some(Scalar::Float(value)) => format!("{value:?}"),
        Some(Scalar::Timestamp(time)) => timestamp(&time),
        Some(_) | None => key.text().to_owned(),
    }
}

/// Formats a time as in ISO 8601: `2020-01-02`, `2020-01-02T03:04:05.000678+01:00`.
pub(crate) fn timestamp(time: &Timestamp) -> String {
    let mut text = format!("{:04}-{:02}-{:02}", time.year, time.month, time.day);
    if let Some((hour, minute, second, micros)) = time.time {
        text.push_str(&format!("T{hour:02}:{minute:02}:{second:02}"));
        if micros > 0 {
            text.push_str(&format!(".{micros:06}"));
        }
    }
    if let Some(minutes) = time.offset {
        let sign = if minutes < 0 { '-' } else { '+' };
        let minutes = minutes.unsigned_abs();
        text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    }
    text
}

/// The tree of a file.
#[derive(Clone, Debug)]
pub struct Tree {
    document: Document,
}

impl Tree {
    /// A tree of a document.
    #[must_use]
    pub const fn new(document: Document) -> Self {
        Self { document }
    }

    /// The document.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// The node that holds all others.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        self.document.root()
    }

    /// The node at a path: `roman/meta/0`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<Node<'_>> {
        self.document.find(path)
    }

    /// The value at a path as a type of the caller's. Tags are ignored.
    ///
    /// # Errors
    /// `Usage` for an absent path; `Malformed` where the value is of another type, with the range of its text; `Limit` for cycles, and where aliases
    /// make over a million nodes of few, and more than 16 times those that are written.
    pub fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        let Some(node) = self.find(path) else {
            return Err(Error::usage(format!("no node at {path:?}")));
        };
        node.deserialize().map_err(|error: Error| error.in_dataset(path))
    }

    /// The whole tree as serde_yaml's value, for code that has one already: tags, anchors and styles are left out, aliases are copies. Whole
    /// numbers beyond 64 bits and dates are text.
    ///
    /// # Errors
    /// `Limit` for cycles and for trees that aliases make large, as for [`Tree::get`]; `Malformed` for values that such a value cannot hold
    /// (`!!binary`).
    pub fn to_value(&self) -> Result<serde_yaml::Value> {
        self.root().deserialize()
    }

    /// A value of the caller's as a tree to be written: structs and maps as mappings in their order, an enum's variant as its name or as a
    /// mapping from its name, bytes as `!!binary`.
    ///
    /// # Errors
    /// `Usage` with the message of the type's `Serialize`.
    pub fn from_serialize<T: serde::Serialize + ?Sized>(value: &T) -> Result<Yaml> {
        Yaml::from_serialize(value)
    }
}

//! A tree to be written.

use container_core::Result;

use super::{Collection, Int, Node, ScalarStyle, Timestamp};

mod from_node;

/// A value to be written, with an optional style.
#[derive(Clone, Debug, PartialEq)]
pub enum Yaml {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(Int),
    /// Shortest text that reads back as the same number; `.inf`, `-.inf`, `.nan`.
    Float(f64),
    /// Text, in quotes where it would be read as something else. The style is a wish.
    Text(String, Option<ScalarStyle>),
    /// A date, or date and time.
    Timestamp(Timestamp),
    /// `!!binary`
    Binary(Vec<u8>),
    /// Items. Without a style: flow where all items are scalars, else block.
    Sequence(Vec<Yaml>, Option<Collection>),
    /// Pairs in order. Without a style: block, unless in a flow collection.
    Mapping(Vec<(Yaml, Yaml)>, Option<Collection>),
    /// A value under a tag, whole (`tag:example.org,2026:camera`) or local (`!name`).
    Tagged(String, Box<Yaml>),
    /// A value with an anchor, for [`Yaml::Alias`].
    Anchored(String, Box<Yaml>),
    /// The value of that anchor again.
    Alias(String),
}

impl Yaml {
    /// The node as a value, with tags, styles and anchors, and pairs as they are written: duplicate keys and `<<` among them. A node that an alias
    /// within it names is anchored at its first occurrence, or, if it is outside, at the first alias. So shared nodes stay shared, and cycles close.
    /// Numbers and dates are values, without the spelling they had.
    ///
    /// Untagged `<<` and `=` come as text under the tags that YAML 1.1 gives them, `tag:yaml.org,2002:merge` and `…:value`, and are written back
    /// as they were.
    ///
    /// # Errors
    /// `Limit` for collections within one another more than 300 deep.
    pub fn from_node(node: Node<'_>) -> Result<Self> {
        from_node::value(node)
    }

    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into(), None)
    }

    /// A whole number.
    #[must_use]
    pub fn int(value: impl Into<i128>) -> Self {
        Self::Int(Int::Small(value.into()))
    }

    /// A block mapping with text keys.
    #[must_use]
    pub fn mapping<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Mapping(pairs.into_iter().map(|(key, value)| (Self::text(key), value)).collect(), None)
    }

    /// A sequence.
    #[must_use]
    pub fn sequence(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Sequence(items.into_iter().collect(), None)
    }

    /// The same under a tag.
    #[must_use]
    pub fn tagged(self, tag: impl Into<String>) -> Self {
        Self::Tagged(tag.into(), Box::new(self))
    }
}

#[cfg(test)]
mod tests;

//! The tree: its document, and values by path.

pub mod reference;
#[cfg(test)]
mod tests;

use container_core::{Error, Result};

use crate::yaml::{Document, EmitOptions, Node, Origin, Yaml, YamlLimits};

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
            return Err(Error::usage(format!("nothing in the tree at {path:?}")));
        };
        node.deserialize()
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

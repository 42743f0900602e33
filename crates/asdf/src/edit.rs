//! Edits of a tree that leave every byte as it was that they are not about.

use std::ops::Range;

use container_core::Result;

use crate::yaml::{Document, Yaml};

/// A tree under edit.
///
/// An edit splices the text of the tree, reads the outcome again and compares it with the tree before: if anything but the place that was
/// named differs, nothing is changed and the edit is refused. Costs O(text) per edit.
///
/// Paths are those of [`Document::find`]: keys and indices with slashes between, `~1` and `~0` for slash and tilde.
#[derive(Clone, Debug)]
pub struct TreeEditor {
    document: Document,
}

impl TreeEditor {
    /// An editor of a document.
    #[must_use]
    pub const fn new(document: Document) -> Self {
        Self { document }
    }

    /// Replaces the value at a path, or adds the last key of it to the mapping that the rest of it names. A key that a mapping has from
    /// another by `<<` is added to the mapping itself.
    ///
    /// # Errors
    /// `Usage` where there is no such place, or where the edit would change anything else.
    pub fn set(&mut self, path: &str, value: &Yaml) -> Result<()> {
        let _ = (path, value);
        unimplemented!()
    }

    /// Puts an item into the sequence at a path, before the one at `index`, or behind the last where `index` is their number.
    ///
    /// # Errors
    /// As [`TreeEditor::set`].
    pub fn insert(&mut self, path: &str, index: usize, value: &Yaml) -> Result<()> {
        let _ = (path, index, value);
        unimplemented!()
    }

    /// Puts an item behind the last of the sequence at a path.
    ///
    /// # Errors
    /// As [`TreeEditor::set`].
    pub fn push(&mut self, path: &str, value: &Yaml) -> Result<()> {
        let _ = (path, value);
        unimplemented!()
    }

    /// Takes out the key or item at a path, with the comment at the end of its line.
    ///
    /// # Errors
    /// As [`TreeEditor::set`]; `Usage` too where other places name what is in it by an alias.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        let _ = path;
        unimplemented!()
    }

    /// Gives the last key of a path another name.
    ///
    /// # Errors
    /// As [`TreeEditor::set`]; `Usage` too where the mapping has that key.
    pub fn rename(&mut self, path: &str, key: &str) -> Result<()> {
        let _ = (path, key);
        unimplemented!()
    }

    /// The text as it is now.
    #[must_use]
    pub fn text(&self) -> &str {
        self.document.text()
    }

    /// The document as it is now.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// The document as it is now.
    #[must_use]
    pub fn into_document(self) -> Document {
        self.document
    }

    /// The bytes of [`TreeEditor::text`] within which it differs from the text before the first edit; all outside are as they were.
    #[must_use]
    pub fn changed(&self) -> Range<usize> {
        0..self.text().len()
    }
}

/// The value of a YAML 1.1 text in flow style, as `meta --set PATH=VALUE` has it: `[1, two, !unit/unit-1.0.0 m]`. Tags as `!core/…` and
/// `!unit/…` stand for those of the ASDF standard.
///
/// # Errors
/// As [`Document::parse`].
pub fn parse_value(text: &str) -> Result<Yaml> {
    let _ = text;
    unimplemented!()
}

//! The tree: its document, and values by path.

use container_core::Result;

use crate::yaml::{Document, Node};

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

    /// The value at a path as a type of the caller's. Tags are left out.
    ///
    /// # Errors
    /// `Usage` where there is no such path; `Malformed` where the value is of another type, with the range of its text; `Limit`.
    pub fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        let _ = path;
        unimplemented!()
    }
}

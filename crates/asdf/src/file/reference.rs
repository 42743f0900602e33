//! JSON references: mappings with a `$ref` that names a node of this file or of another (ASDF standard 1.6.0, "References").
//!
//! The fragment of a URI is a JSON pointer. It is split at its slashes before it is decoded, so that `%2F` is a slash within a key, as `~1` is.
//! Python asdf 6.0 decodes first, and takes it for a separator.

use container_core::json_pointer::unescape;
use container_core::{Error, Result};

use crate::File;
use crate::file::external::percent_decoded;
use crate::yaml::{Kind, Node, NodeId, Scalar};

/// Limit of references in a chain.
const MAX_CHAIN_LEN: usize = 64;

/// A reference in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The path of the mapping that holds it.
    pub path: String,
    /// The mapping with `$ref`.
    pub node: NodeId,
    /// Value of `$ref`: a URI, perhaps with a fragment.
    pub uri: String,
}

/// Target of a reference: a node, and the file that contains it.
#[derive(Clone, Copy, Debug)]
pub struct Referent<'f> {
    /// The file, which has the blocks of the arrays at the node.
    pub file: &'f File,
    /// The node.
    pub node: Node<'f>,
}

/// The URI of a mapping with a `$ref`; its other entries are ignored.
#[must_use]
pub fn uri(node: Node<'_>) -> Option<&str> {
    if node.kind() != Kind::Mapping {
        return None;
    }
    match node.get("$ref")?.scalar()? {
        Scalar::Text(uri) => Some(uri),
        _ => None,
    }
}

impl File {
    /// Every reference of the tree, in its order, once.
    ///
    /// # Errors
    /// `Limit`.
    pub fn find_references(&self) -> Result<Vec<Reference>> {
        let mut found = Vec::new();
        self.tree().document().walk(false, self.limits(), &mut |path, node| {
            let Some(uri) = uri(node).filter(|_| !node.is_alias()) else { return Ok(true) };
            found.push(Reference { path: path.to_owned(), node: node.id(), uri: uri.to_owned() });
            Ok(false)
        })?;
        Ok(found)
    }

    /// Resolves a node of this file's tree by one or several references; returns the node itself if it is not a reference. Other files are opened as
    /// [`File::external`] does.
    ///
    /// # Errors
    /// `Malformed` for a reference without a target, or a cycle; those of [`File::external`].
    pub fn resolve_reference<'f>(&'f self, node: Node<'f>) -> Result<Referent<'f>> {
        let mut left = MAX_CHAIN_LEN;
        resolve(Referent { file: self, node }, &mut left)
    }

    /// Resolves a URI in this file: `#/a/0`, `other.asdf#/b`, `other.asdf`.
    ///
    /// # Errors
    /// As [`File::resolve_reference`].
    pub fn find_reference(&self, uri: &str) -> Result<Referent<'_>> {
        let mut left = MAX_CHAIN_LEN;
        let found = follow(self, uri, &mut left)?;
        resolve(found, &mut left)
    }
}

/// Follows references from `from` to the first node that is not one.
fn resolve<'f>(mut from: Referent<'f>, left: &mut usize) -> Result<Referent<'f>> {
    while let Some(uri) = uri(from.node) {
        let place = from.node.range();
        let circle = || Error::malformed("references form a cycle, or a chain that is too long");
        *left = left.checked_sub(1).ok_or_else(circle).map_err(|error| named(error, &place))?;
        from = follow(from.file, uri, left).map_err(|error| named(error, &place))?;
    }
    Ok(from)
}

fn named(error: Error, place: &std::ops::Range<u64>) -> Error {
    error.with_context("asdf reference").with_range(place.clone())
}

/// Finds the node that a URI names, which may be a reference again.
fn follow<'f>(file: &'f File, uri: &str, left: &mut usize) -> Result<Referent<'f>> {
    let (name, fragment) = uri.split_once('#').unwrap_or((uri, ""));
    let file = file.external(name)?;
    let mut here = Referent { file, node: file.tree().root() };
    // A pointer begins with a slash, which Python asdf does not require; the empty one is the whole tree.
    let pointer = fragment.strip_prefix('/').unwrap_or(fragment);
    if pointer.is_empty() && fragment.is_empty() {
        return Ok(here);
    }
    for step in pointer.split('/') {
        // A node on the way may be a reference, too.
        here = resolve(here, left)?;
        let nothing = || {
            let shown: String = uri.chars().take(80).collect();
            Error::malformed(format!("{shown:?} has no target"))
        };
        let key = decoded(step).ok_or_else(nothing)?;
        // Indices have no leading zeros (RFC 6901, section 4).
        let padded = here.node.kind() == Kind::Sequence && key.len() > 1 && key.starts_with('0');
        here.node = here.node.child(&key).filter(|_| !padded).ok_or_else(nothing)?;
    }
    Ok(here)
}

/// A part of a pointer without its escapes: those of URIs, then those of pointers (RFC 6901, section 4).
fn decoded(step: &str) -> Option<String> {
    Some(unescape(&percent_decoded(step)?).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;

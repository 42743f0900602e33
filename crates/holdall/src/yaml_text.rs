//! Metadata that are a text of their own, with tags: ASDF's trees.

use std::collections::HashMap;

use container_core::Result;
use container_core::container::{Container, MetadataText, ReadOptions};

/// The tags of the metadata, each by the JSON pointer of its node, in the short spelling that files have: `!core/ndarray-1.1.0`. None for
/// formats without.
///
/// # Errors
/// `Limit` for a tree that aliases make larger than memory.
pub fn tags(container: &dyn Container) -> Result<HashMap<String, String>> {
    container.metadata_text().map_or_else(|| Ok(HashMap::new()), MetadataText::tags)
}

/// Metadata at a JSON pointer, as a YAML document; for the empty pointer the text of the file. The outer `None` is for formats whose metadata are
/// not YAML, the inner for a pointer without a target.
///
/// # Errors
/// `Limit` for a tree over the limits, and those of the source.
pub fn yaml(container: &dyn Container, pointer: &str) -> Result<Option<Option<String>>> {
    container.metadata_text().map(|text| text.node_text(pointer)).transpose()
}

/// The file as text alone: the elements of every array in the tree, and no blocks. `None` for formats whose metadata are not YAML.
///
/// # Errors
/// `Usage` for arrays that are too large for a text; those of reading them.
pub fn pure(container: &dyn Container, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
    container.metadata_text().map(|text| text.whole_text(options)).transpose()
}

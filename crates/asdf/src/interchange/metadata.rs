//! Metadata interchange with other formats: the user's part of the tree, without array storage and the entries of the writing library.
//!
//! An array below mappings only is left out: the path of its dataset gives its place. In other places, and where it has more than its data (a mask),
//! a form keeps the place.

mod comparable;
mod export;
mod import;
#[cfg(test)]
mod tests;
pub(crate) mod value;

pub(crate) use comparable::comparable;
pub(crate) use export::{export_metadata, lost_masks};
pub(crate) use import::{MetadataTree, to_tree};

/// The keys of an array's node that describe its storage.
const STORAGE: [&str; 7] = ["source", "data", "datatype", "byteorder", "shape", "offset", "strides"];

/// Keys of the root that describe the writing library and the history.
pub(crate) const LIBRARY: &str = "asdf_library";
pub(crate) const HISTORY: &str = "history";

/// Key of the user's own history.
const ENTRIES: &str = "entries";

/// Prefix of the tags of such entries.
const ENTRY_TAG: &str = "tag:stsci.edu:asdf/core/history_entry-";

/// Top key of carried metadata: the root's entries whose keys are not text, or those of carried metadata, as lists of key, value and the number of
/// other entries before.
const ROOT_KEYS: &str = "$holdall:keys";

/// Top key of carried metadata: the anchor of the root, if an alias names it.
const ROOT_ANCHOR: &str = "$holdall:anchor";

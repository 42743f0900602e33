//! [`Interchange`]: the parts of an open file that conversions and comparisons need besides values.

use std::any::Any;
use std::collections::HashMap;

use super::{Dataset, ReadOptions};
use crate::region::Region;
use crate::report::{Finding, Loss};
use crate::{Result, Value};

/// Metadata in transit to other formats, and losses.
pub trait Interchange: Send + Sync {
    /// Whether the file records the element type of a dataset, and not just its size; `None` where the type itself shows it, because it is not
    /// opaque. See `is_typed` of [`dyn Container`](super::Container).
    fn records_dtype(&self, index: usize) -> Option<bool> {
        let _ = index;
        None
    }

    /// The open file of the format's own crate, for an import from the format's own kind that keeps parts which datasets do not show.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// The metadata as a text with tags; `None` for formats whose metadata are not YAML.
    fn metadata_text(&self) -> Option<&dyn MetadataText> {
        None
    }

    /// True where the first axis of a dataset counts frames that the format stacks. An array from a single frame drops the axis.
    fn has_frame_axis(&self, dataset: &Dataset) -> bool {
        let _ = dataset;
        false
    }

    /// Contents of the file in addition to its datasets' values, types and shapes, which a bare array cannot hold.
    fn losses(&self) -> Vec<Loss> {
        Vec::new()
    }

    /// Metadata that a conversion of the selected datasets carries: a map in the terms of [`crate::interchange`], without storage details. Copies.
    /// Empty for a format without metadata.
    ///
    /// # Errors
    /// As [`Container::meta`](super::Container::meta).
    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        let _ = selection;
        Ok(Value::Map(Vec::new()))
    }

    /// Losses of every conversion of the selected datasets: neither their values nor [`Interchange::export_metadata`] have them.
    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        let _ = selection;
        self.losses()
    }

    /// Parts that a dataset assembled from others leaves out of them: quantities of a log that are not a column of its table.
    fn left_out(&self, index: usize) -> Vec<Loss> {
        let _ = index;
        Vec::new()
    }
}

/// Metadata that are a text of their own in the file: YAML with tags.
pub trait MetadataText {
    /// The tags, each by the JSON pointer of its node, in the short spelling that files have: `!core/ndarray-1.1.0`.
    ///
    /// # Errors
    /// `Limit` for a tree that aliases make larger than memory.
    fn tags(&self) -> Result<HashMap<String, String>>;

    /// The tags without those of storage and of the text's own types.
    ///
    /// # Errors
    /// As [`MetadataText::tags`].
    fn logical_tags(&self) -> Result<HashMap<String, String>>;

    /// The node at a JSON pointer as a document of its own; for the empty pointer the text of the file. `None` for a pointer without a target.
    ///
    /// # Errors
    /// `Limit` for a tree over the limits, and those of the source.
    fn node_text(&self, pointer: &str) -> Result<Option<String>>;

    /// The file as text alone: the elements of every array in the tree, and no blocks.
    ///
    /// # Errors
    /// `Usage` for arrays that are too large for a text; those of reading them.
    fn whole_text(&self, options: &ReadOptions) -> Result<Vec<u8>>;

    /// Findings of validating the tree against the schemas of its tags, and its root against a schema of the caller's, given by text and name.
    ///
    /// # Errors
    /// `Malformed` for an invalid schema of the caller's; `Limit`.
    fn validate(&self, custom: Option<(&[u8], &str)>) -> Result<Vec<Finding>>;
}

//! Arrays: a frame whose metalayer `b2nd` gives it a shape, an element type, and n-dimensional chunks and blocks.

mod array;
mod chunk_boxes;
mod chunk_rows;
mod copy;
mod create;
mod default_chunks;
mod dtype;
mod dtype_string;
mod edge_padding;
mod edit;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod geometry;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod metalayer;
mod read;
mod select;
mod stream;

pub use array::NdArray;
pub(crate) use chunk_rows::row_len;
pub use copy::{concatenate, copy, expand_dims, squeeze};
pub use create::{Fill, NdOptions, write_array, write_array_to, write_filled};
pub use default_chunks::partition;
pub(crate) use dtype::parse as dtype_of;
pub(crate) use edge_padding::has_set_padding;
pub use edit::NdEditor;
pub use geometry::Geometry;
pub(crate) use metalayer::misnamed;
pub use metalayer::{MAX_DIMENSIONS, Meta, NAME, OLD_NAME};
pub(crate) use read::Scratch;
pub use select::Indices;
pub(crate) use select::{Plan, of_region};
pub use stream::NdWriter;

/// True for a frame that is an array by its metalayers.
pub(crate) fn is_array(metalayers: &crate::metalayer::Metalayers) -> bool {
    metalayers.get(NAME).or_else(|| metalayers.get(OLD_NAME)).is_some()
}

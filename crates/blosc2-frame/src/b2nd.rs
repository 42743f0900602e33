//! Arrays: a frame whose metalayer `b2nd` gives it a shape, an element type, and n-dimensional chunks and blocks.

mod array;
mod copy;
mod create;
mod dtype;
mod dtype_text;
mod edit;
mod geometry;
mod metalayer;
mod partition;
mod read;
mod rows;
mod select;
mod stream;
mod window;

pub use array::NdArray;
pub use copy::{concatenate, copy, expand_dims, squeeze};
pub use create::{Fill, NdOptions, write_array, write_filled};
pub(crate) use dtype::parse as dtype_of;
pub use edit::NdEditor;
pub use geometry::Geometry;
pub(crate) use metalayer::misnamed;
pub use metalayer::{MAX_DIMENSIONS, Meta, NAME, OLD_NAME};
pub use partition::partition;
pub(crate) use read::Scratch;
pub(crate) use rows::row_len;
pub use select::Indices;
pub(crate) use select::{Plan, of_region};
pub use stream::NdWriter;

/// True for a frame that is an array by its metalayers.
pub(crate) fn is_array(metalayers: &crate::metalayer::Metalayers) -> bool {
    metalayers.get(NAME).or_else(|| metalayers.get(OLD_NAME)).is_some()
}

//! Arrays: a frame whose metalayer `b2nd` gives it a shape, an element type, and n-dimensional chunks and blocks.

mod array;
mod geometry;
mod metalayer;

pub use array::NdArray;
pub use geometry::Geometry;
pub use metalayer::{MOST_DIMENSIONS, Meta, NAME, OLD_NAME};

//! Stacked datasets: the chunks of one name in many frames, as one array with the frames first.

pub(crate) mod names;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod read;

pub use read::{Defaults, Rows, StackedChunks};

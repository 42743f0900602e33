//! Stacked datasets: the chunks of one name in many frames, as one array with the frames first.

pub(crate) mod names;
pub(crate) mod read;

pub use read::{Defaults, Rows, StackedChunks};

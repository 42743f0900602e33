//! Blocks: their headers and index, the references of the tree to them, and blocks that the walk does not find.

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod header;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod index;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub(crate) mod recovery;
pub(crate) mod references;
pub(crate) mod stored_block;

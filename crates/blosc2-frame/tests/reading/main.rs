//! Frames as other programs wrote them, as the specification shows them, and as nobody should have made them.

mod corpus;
mod documents;
mod hostile;
mod inverse;
mod little_memory;
mod manifest;
mod sharing;
mod sparse;

//! Frames of other programs, frames of the specification, and invalid frames.

mod corpus;
mod documents;
mod hostile;
mod inverse;
mod little_memory;
mod manifest;
mod sharing;
mod sparse;

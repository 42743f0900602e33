//! Frames of other programs, frames of the specification, and invalid frames.

mod byte_map;
mod container;
mod conversion;
mod corpus;
mod details;
mod documents;
mod findings;
mod hostile;
mod inverse;
mod little_memory;
mod manifest;
mod repaired;
mod sharing;
mod sparse;
mod stores;
mod windows;

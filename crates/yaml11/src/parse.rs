//! Parses a text into the arena of a document.

pub(crate) mod arena;
pub(crate) mod compose;
pub(crate) mod directives;
mod events;
pub(crate) mod fast_parser;
mod line_folding;
mod spans;
mod to_yaml12;

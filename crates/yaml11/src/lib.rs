#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
#![forbid(unsafe_code)]

mod document;
pub mod edit;
mod emit;
mod lookup;
mod mapping;
mod node;
mod parse;
mod scalar;
mod typed;
mod value;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use emit::scalar_text;
pub(crate) use emit::{
    IndentStyle, MAX_DEPTH, NodeContext, NodePosition, Piece, bare, emit_at, emit_item, emit_key, emit_pair,
};
pub(crate) use lookup::LookupResult;

pub use container_core;
pub use container_core::{Error, ErrorKind, Limits, Result};

pub use document::{Collection, Document, DuplicateKeys, Kind, NodeId, ScalarStyle, YamlLimits};
pub use edit::TreeEditor;
pub use emit::tag::YAML_PREFIX;
pub use emit::{EmitOptions, emit_document, emit_node};
pub use node::Node;
pub use parse::directives::wrong_directives;
pub use scalar::{Int, Scalar, Timestamp, is_impossible, resolve, under_tag};
pub use typed::max_nodes;
pub use value::Yaml;
pub use walk::{child, key_text};

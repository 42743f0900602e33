#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]
#![forbid(unsafe_code)]

mod document;
pub mod edit;
mod emit;
mod mapping;
mod node;
mod origin;
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
pub(crate) use mapping::LookupResult;

pub use container_core;
pub use container_core::{Error, ErrorKind, Limits, Result};

pub use document::{Collection, Document, DuplicateKeys, Kind, NodeId, ScalarStyle, YamlLimits};
pub use edit::TreeEditor;
pub use emit::tag::YAML_TAG_PREFIX;
pub use emit::{EmitOptions, emit_document, emit_node};
pub use node::Node;
pub use origin::Origin;
pub use parse::directives::invalid_directives;
pub use scalar::{Int, Scalar, Timestamp, is_invalid_plain, resolve, resolve_tagged};
pub use value::Yaml;

//! YAML 1.1, as in ASDF's trees: a document whose every node has its range in the text, scalars resolved as PyYAML does, and an emitter whose output
//! PyYAML reads back as the same values.

mod arena;
mod compose;
mod directives;
mod document;
mod emit;
mod events;
mod fast_parser;
mod line_folding;
mod lookup;
mod mapping;
mod node;
mod quote;
mod scalar;
mod spans;
mod to_yaml12;
mod value;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use directives::wrong_directives;
pub(crate) use emit::scalar_text;
pub(crate) use emit::tag::YAML_PREFIX;
pub(crate) use emit::{
    IndentStyle, MAX_DEPTH, NodeContext, NodePosition, Piece, bare, emit_at, emit_item, emit_key, emit_pair,
};

pub use document::{Collection, Document, DuplicateKeys, Kind, NodeId, ScalarStyle, YamlLimits};
pub use emit::{EmitOptions, emit_document, emit_node};
pub(crate) use lookup::LookupResult;
pub use node::Node;
pub use scalar::{Int, Scalar, Timestamp, resolve};
pub(crate) use scalar::{is_impossible, under_tag};
pub use value::Yaml;
pub(crate) use walk::{child, key_text};

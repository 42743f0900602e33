#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod append;
mod assemble;
mod block_header;
mod block_index;
mod check;
pub mod compression;
mod container;
mod copy;
mod datasets;
mod details;
mod digest;
pub mod edit;
pub mod explode;
mod fault;
mod file;
mod header;
mod import;
mod layout;
pub mod lens;
mod meta;
mod ndarray;
mod open_options;
mod pure;
pub mod reference;
mod repair;
pub mod rewrite;
pub mod schema;
mod segments;
mod sources;
mod splice;
mod stored_block;
pub mod stream;
mod tree;
pub mod types;
pub mod update;
mod words;
pub mod writer;
pub mod yaml;

pub use container_core;

pub use block_header::BlockHeader;
pub use block_index::BlockIndex;
pub use container::{FORMAT, open};
pub use digest::{DigestState, state as digest_state};
pub use edit::TreeEditor;
pub use fault::{Fault, FaultKind};
pub use file::{ArrayEntry, File};
pub use header::{Header, Version};
pub use layout::{Gap, IndexState, Layout, StoredBlock};
pub use ndarray::{ByteSource, Datatype, Geometry, Mask, NdArray};
pub use open_options::{External, OpenOptions, Policy};
pub use pure::to_yaml;
pub use repair::repair;
pub use tree::Tree;
pub use yaml::DuplicateKeys;

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod append;
mod block_datasets;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod block_header;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod block_index;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod block_recovery;
mod block_references;
mod byte_map;
mod check;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod compression;
mod container;
mod datasets;
mod digest;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod edit;
pub mod explode;
mod external_files;
pub mod facade;
mod fault;
mod file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod header;
mod import;
mod info;
mod inline_export;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod layout;
mod metadata;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod ndarray;
mod open_options;
pub mod reference;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod repair;
pub mod rewrite;
pub mod schema;
mod stored_block;
pub mod stream;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tree;
pub mod types;
pub mod update;
pub mod writer;

pub use container_codecs;
pub use container_core;
pub use container_core::{
    Array, Container, DType, Element, Error, ErrorKind, Limits, OpenDataset, Order, ReadOptions, Region,
    Result, Selection, TypedArray,
};

pub use block_header::BlockHeader;
pub use block_index::BlockIndex;
pub use container::{FORMAT, open};
pub use digest::{ChecksumStatus, checksum_status};
pub use edit::TreeEditor;
pub use fault::{Fault, FaultKind};
pub use file::{ArrayEntry, File};
pub use header::{Header, Version};
pub use inline_export::to_yaml;
pub use layout::{Gap, IndexState, Layout, StoredBlock};
pub use ndarray::{ByteSource, Datatype, Geometry, Mask, NdArray};
pub use open_options::{ExternalFiles, OpenOptions, Strictness};
pub use repair::{repair, repair_with};
pub use tree::{TAG_PREFIX, Tree};
pub use yaml::DuplicateKeys;
pub use yaml11 as yaml;

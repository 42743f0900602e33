#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod blocks;
mod byte_map;
mod check;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod compression;
mod container;
mod datasets;
mod digest;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod edit;
mod fault;
mod file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod header;
mod info;
mod interchange;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod layout;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod ndarray;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod repair;
pub mod rewrite;
pub mod schema;
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

pub use blocks::header::BlockHeader;
pub use blocks::index::BlockIndex;
pub use container::{FORMAT, open};
pub use digest::{ChecksumStatus, checksum_status};
pub use edit::TreeEditor;
pub use fault::{Fault, FaultKind};
pub use file::open_options::{ExternalFiles, OpenOptions, Strictness};
pub use file::reference;
pub use file::{ArrayEntry, File};
pub use header::{Header, Version};
pub use interchange::facade;
pub use interchange::inline_export::to_yaml;
pub use layout::{Gap, IndexState, Layout, StoredBlock};
pub use ndarray::{ByteSource, Datatype, Geometry, Mask, NdArray};
pub use repair::{repair, repair_with};
pub use rewrite::explode;
pub use tree::{TAG_PREFIX, Tree};
pub use update::stream;
pub use yaml::DuplicateKeys;
pub use yaml11 as yaml;

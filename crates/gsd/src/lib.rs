#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod append;
mod byte_map;
mod check;
mod chunk_shape;
mod chunk_type;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod coalesced_reads;
mod container;
mod datasets;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod duplicates;
mod fault;
mod file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod follow;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod frames;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod header;
pub mod hoomd;
mod import;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod index;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod index_check;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod index_scan;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod index_search;
mod info;
mod late_logs;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod layout;
mod metadata;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod name_ids;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod namelist;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod read_buffer;
pub mod repair;
pub mod rewrite;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod set_names;
mod stacked;
mod writer;

pub use chunk_type::ChunkType;
pub use container::FORMAT;
pub use container_core;
pub use container_core::write::Durability;
pub use container_core::{
    Array, Container, DType, Element, Error, ErrorKind, Limits, OpenDataset, Order, ReadOptions, Region,
    Result, Selection, TypedArray,
};
pub use fault::{Fault, FaultKind};
pub use file::{File, OpenOptions};
pub use follow::{Change, Follower, LastFramePolicy};
pub use frames::Frames;
pub use header::{Header, Version};
pub use index::{IndexBlock, IndexEntry};
pub use layout::{Layout, Strictness};
pub use namelist::{MAX_NAMES, NameList};
pub use set_names::{HeaderNames, set_names};
pub use stacked::{Defaults, Rows, StackedChunks};
pub use writer::sequential;
pub use writer::{
    ChunkAlignment, Commit, CommitScheme, Reservation, RowWriter, WriteMode, Writer, WriterOptions,
    write_restart,
};

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod absent_values;
mod append;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod attributes;
pub mod b2nd;
mod byte_map;
mod cache;
mod check;
mod checksums;
mod chunk_block;
mod chunk_stats;
mod compact;
mod container;
mod content;
mod dataset_view;
mod decoder_pool;
mod editor;
mod fault;
mod frame;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod header;
mod import;
mod info;
mod items;
mod journal;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod layout;
mod lock;
mod metadata;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod metalayer;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod msgpack;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod offsets;
mod options;
mod repair;
mod rewrite;
mod sparse_directory;
mod stores;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tensor;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod trailer;
mod user_metadata;
mod verified_reads;
mod writer;

pub use blosc_chunk;
pub use checksums::{ChecksumReport, check_checksums};
pub use chunk_block::ChunkEntry;
pub use compact::{CompactOptions, CompactReport, compact, fill_directory, to_directory};
pub use container::FORMAT;
pub use container_codecs;
pub use container_core;
pub use container_core::write::Durability;
pub use container_core::{
    Array, Container, DType, Element, Error, ErrorKind, Limits, OpenDataset, Order, ReadOptions, Region,
    Result, Selection, TypedArray,
};
pub use content::RESERVED_NAMES;
pub use editor::{EditOptions, Editor};
pub use fault::{Fault, FaultKind};
pub use frame::{ChunkScan, Frame, ScannedChunk};
pub use header::{ChunkSize, Header, Kind};
pub use journal::{JournalStore, NoJournal};
pub use layout::Layout;
pub use lock::Locking;
pub use metalayer::Metalayers;
pub use offsets::{Offset, Offsets};
pub use options::{FrameOptions, OpenOptions, default_params};
pub use repair::repair;
pub use trailer::{Fingerprint, Trailer};
pub use user_metadata::set_user_metadata;
pub use writer::Writer;

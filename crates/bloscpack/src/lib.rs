#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod append;
mod bcolz;
mod byte_map;
mod check;
mod checksum;
mod chunk_block;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod chunk_table;
mod container;
mod fault;
mod file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod header;
mod import;
mod info;
mod items;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod layout;
mod metadata;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod offsets_index;
mod one_chunk;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod outline;
mod reader;
mod repair;
mod stored_chunk;
mod write;
mod writer;

pub use append::{AppendOptions, append_bytes, append_items, set_metadata};
pub use blosc_chunk;
pub use checksum::ChecksumCode;
pub use chunk_block::ChunkBlock;
pub use chunk_table::{ChunkEntry, ChunkState};
pub use container::FORMAT;
pub use container_codecs;
pub use container_core;
pub use container_core::{
    Array, Container, DType, Element, Error, ErrorKind, Limits, OpenDataset, OpenOptions, Order, ReadOptions,
    Region, Result, Selection, TypedArray,
};
pub use fault::{Fault, FaultKind};
pub use file::File;
pub use header::{Dialect, Header, Options};
pub use items::{InPlace, ItemType, Replaced, VarOptions, VarReader, VarWriter, replace};
pub use layout::Layout;
pub use metadata::header as metadata_header;
pub use metadata::header::MetadataHeader;
pub use metadata::numpy::NumpyArray;
pub use metadata::section::Metadata;
pub use metadata::{MetadataOptions, encode_section, from_json, to_json};
pub use one_chunk::{decode_chunk, encode_chunk};
pub use repair::repair;
pub use write::{
    ChunkOptions, MAX_CHUNK_SIZE, Offsets, Shuffle, Straddle, WriteOptions, compress, write, write_array,
};
pub use writer::Writer;

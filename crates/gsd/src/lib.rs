#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod append;
mod byte_map;
mod check;
mod chunk_shape;
mod chunk_type;
mod coalesced_reads;
mod container;
mod datasets;
mod duplicates;
mod fault;
mod file;
mod follow;
mod frames;
pub mod header;
pub mod hoomd;
mod import;
pub mod index;
mod index_check;
mod index_scan;
mod index_search;
mod info;
mod late_logs;
mod layout;
mod metadata;
mod name_ids;
mod namelist;
mod read_buffer;
pub mod repair;
pub mod rewrite;
mod set_names;
mod stacked;
mod writer;

pub use chunk_type::ChunkType;
pub use container::FORMAT;
pub use container_core;
pub use container_core::dtype::Element;
pub use container_core::write::Durability;
pub use container_core::{Error, ErrorKind, Limits, Result};
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

#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod append;
mod chunk_type;
mod container;
pub mod emit;
mod file;
mod frames;
pub mod gather;
pub mod header;
pub mod hoomd;
mod import;
pub mod index;
mod layout;
mod log_records;
mod name_map;
mod namelist;
mod rank;
pub mod repair;
pub mod rewrite;
mod search;
mod survey;
mod window;
mod writer;

pub use chunk_type::Type;
pub use container::FORMAT;
pub use container_core;
pub use container_core::dtype::Element;
pub use container_core::write::Durability;
pub use container_core::{Error, ErrorKind, Limits, Result};
pub use file::{File, OpenOptions};
pub use frames::Frames;
pub use gather::{Fallback, Rows, Stack};
pub use header::{Header, Version};
pub use index::{Index, IndexEntry};
pub use layout::{Layout, Policy};
pub use namelist::{MOST_NAMES, Names};
pub use writer::{
    Alignment, Commit, Mode, Reservation, RowWriter, Scheme, Writer, WriterOptions, write_restart,
};

#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod append;
mod carry;
mod catalogue;
mod check;
mod chunk_type;
mod container;
mod derived;
mod details;
mod duplicates;
pub mod emit;
mod fault;
mod file;
mod follow;
mod frames;
pub mod gather;
pub mod header;
pub mod hoomd;
mod import;
pub mod index;
mod joined;
mod late_logs;
mod layout;
mod layout_faults;
mod log_records;
mod name_map;
mod namelist;
mod rank;
pub mod repair;
pub mod rewrite;
mod scan;
mod search;
mod segments;
mod set_names;
mod sound;
mod stacked;
mod window;
mod writer;

pub use chunk_type::Type;
pub use container::FORMAT;
pub use container_core;
pub use container_core::dtype::Element;
pub use container_core::write::Durability;
pub use container_core::{Error, ErrorKind, Limits, Result};
pub use fault::{Fault, FaultKind};
pub use file::{File, OpenOptions};
pub use follow::{Change, Follower, Settle};
pub use frames::Frames;
pub use gather::{Fallback, Rows, Stack};
pub use header::{Header, Version};
pub use index::{Index, IndexEntry};
pub use layout::{Layout, Policy};
pub use namelist::{MAX_NAMES, Names};
pub use set_names::{HeaderNames, set_names};
pub use writer::{
    Alignment, Commit, Mode, Reservation, RowWriter, Scheme, Writer, WriterOptions, write_restart,
};

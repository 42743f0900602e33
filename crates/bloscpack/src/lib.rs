#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod checksum;
pub mod chunk_header;
mod chunks;
mod fault;
pub mod header;
mod import;
mod item_type;
mod layout;
mod metadata;
pub mod metadata_header;
mod numpy_metadata;
pub mod offsets_index;
mod pack;
mod section;
mod var_writer;
mod words;
mod write;
mod writer;

pub use checksum::ChecksumCode;
pub use chunk_header::ChunkHeader;
pub use chunks::{ChunkEntry, State};
pub use container_core;
pub use container_core::{Error, ErrorKind, Limits, Result};
pub use fault::{Fault, FaultKind};
pub use header::{Dialect, Header, Options};
pub use item_type::ItemType;
pub use layout::Layout;
pub use metadata::{MetadataOptions, encode_section, from_json, to_json};
pub use metadata_header::MetadataHeader;
pub use numpy_metadata::NumpyArray;
pub use section::Metadata;
pub use var_writer::{VarOptions, VarWriter};
pub use write::{ChunkOptions, MAX_CHUNK_SIZE, Offsets, Shuffle, WriteOptions, compress, write, write_array};
pub use writer::Writer;

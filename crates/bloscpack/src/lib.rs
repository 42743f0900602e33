#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod append;
mod bcolz;
mod block;
mod check;
mod checksum;
pub mod chunk_header;
mod chunks;
mod container;
mod details;
mod fault;
mod file;
pub mod header;
mod import;
mod item_type;
mod layout;
mod metadata;
pub mod metadata_header;
mod numpy_metadata;
pub mod offsets_index;
mod one_chunk;
mod outline;
mod pack;
mod reader;
mod repair;
mod replace;
mod section;
mod segments;
mod stored_chunk;
mod var_reader;
mod var_writer;
mod words;
mod write;
mod writer;

pub use append::{AppendOptions, append_bytes, append_items, set_metadata};
pub use block::ChunkBlock;
pub use blosc_chunk;
pub use checksum::ChecksumCode;
pub use chunk_header::ChunkHeader;
pub use chunks::{ChunkEntry, State};
pub use container::FORMAT;
pub use container_core;
pub use container_core::{Error, ErrorKind, Limits, Result};
pub use fault::{Fault, FaultKind};
pub use file::File;
pub use header::{Dialect, Header, Options};
pub use item_type::ItemType;
pub use layout::Layout;
pub use metadata::{MetadataOptions, encode_section, from_json, to_json};
pub use metadata_header::MetadataHeader;
pub use numpy_metadata::NumpyArray;
pub use one_chunk::{decode_chunk, encode_chunk};
pub use repair::repair;
pub use replace::{InPlace, Replaced, replace};
pub use section::Metadata;
pub use var_reader::VarReader;
pub use var_writer::{VarOptions, VarWriter};
pub use write::{
    ChunkOptions, MAX_CHUNK_SIZE, Offsets, Shuffle, Straddle, WriteOptions, compress, write, write_array,
};
pub use writer::Writer;

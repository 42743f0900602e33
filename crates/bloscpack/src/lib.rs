#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod checksum;
pub mod header;
mod import;
mod item_type;
mod metadata;
pub mod metadata_header;
mod numpy_metadata;
mod pack;
mod var_writer;
mod words;
mod write;
mod writer;

pub use checksum::ChecksumCode;
pub use container_core;
pub use container_core::{Error, ErrorKind, Limits, Result};
pub use header::{Dialect, Header, Options};
pub use item_type::ItemType;
pub use metadata::{MetadataOptions, encode_section, from_json, to_json};
pub use metadata_header::MetadataHeader;
pub use numpy_metadata::NumpyArray;
pub use var_writer::{VarOptions, VarWriter};
pub use write::{ChunkOptions, MAX_CHUNK_SIZE, Offsets, Shuffle, WriteOptions, compress, write, write_array};
pub use writer::Writer;

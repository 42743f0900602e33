#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod b2nd;
mod block;
mod cache;
mod editor;
mod fault;
mod frame;
pub mod header;
mod layout;
pub mod metalayer;
pub mod msgpack;
mod offsets;
mod options;
mod parts;
mod reader;
// Used by the lens.
#[allow(dead_code, unused_imports)]
mod stores;
mod trailer;
pub mod typed;
mod writer;

pub use block::ChunkEntry;
pub use blosc_chunk;
pub use container_core;
pub use container_core::write::Durability;
pub use container_core::{Error, ErrorKind, Limits, Result};
pub use editor::{EditOptions, Editor, Locking};
pub use fault::{Fault, FaultKind};
pub use frame::{Frame, Survey, SurveyedChunk};
pub use header::{ChunkSize, Header, Kind};
pub use layout::Layout;
pub use metalayer::Metalayers;
pub use offsets::{Offset, Offsets};
pub use options::{FrameOptions, OpenOptions, default_params};
pub use trailer::{Fingerprint, Trailer};
pub use writer::Writer;

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod append;
mod bits;
mod check;
mod container;
mod eltype;
mod encoding;
mod fault;
mod file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod header;
mod import;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod layout;
mod leb128;
#[cfg(feature = "ndarray")]
mod ndarray;
mod rawarray;
mod repair;
mod trailer;
mod typed_file;
mod write;
mod writer;

pub use append::set_trailer;
pub use container::FORMAT;
pub use container_core;
pub use container_core::{
    Array, Container, DType, Element, Error, ErrorKind, Limits, OpenDataset, OpenOptions, Order, ReadOptions,
    Region, Result, Selection, TypedArray,
};
pub use encoding::Encoding;
pub use fault::Fault;
pub use file::{DataSegment, File};
pub use header::{Eltype, Flags, Header};
pub use layout::{DeclaredEncoding, Layout};
pub use rawarray::RawArray;
pub use repair::repair;
pub use typed_file::TypedFile;
pub use write::{WriteOptions, write_bools};
pub use writer::Writer;

/// Path of the one dataset.
pub(crate) const DATASET: &str = container_core::interchange::DEFAULT_NAME;

/// Path of the bytes after the data, which a recursive listing shows.
pub(crate) const TRAILER: &str = "trailer";

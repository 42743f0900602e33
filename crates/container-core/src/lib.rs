#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![deny(unsafe_code)]

pub mod array;
pub mod block;
pub mod checksum;
pub mod chunked_read;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod codec;
pub mod container;
pub mod dtype;
mod error;
pub mod fault;
pub mod format;
pub mod interchange;
pub mod json_pointer;
mod limits;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod magic;
pub mod mask;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod npy;
pub mod open_dataset;
mod progress;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod python_literal;
pub mod ranges;
pub mod region;
pub mod report;
pub mod selection;
pub mod source;
pub mod threads;
pub mod to_f64;
pub mod typed_array;
mod value;
pub mod write;

pub use array::Array;
pub use container::{Container, OpenOptions, ReadOptions};
pub use dtype::{DType, Element, Order};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use open_dataset::OpenDataset;
pub use progress::{Progress, Stop};
pub use region::Region;
pub use selection::Selection;
pub use typed_array::TypedArray;
pub use value::Value;

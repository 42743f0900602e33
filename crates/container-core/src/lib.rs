#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

pub mod array;
pub mod block;
pub mod carried;
#[cfg(feature = "checksums")]
pub mod checksum;
pub mod codec;
pub mod container;
pub mod dtype;
mod error;
pub mod fault;
pub mod format;
mod limits;
#[cfg(feature = "checksums")]
pub mod line_ends;
pub mod literal;
pub mod magic;
pub mod mask;
pub mod npy;
pub mod numbers;
pub mod pointer;
mod progress;
pub mod ranges;
pub mod region;
pub mod report;
pub mod source;
pub mod stream;
pub mod threads;
mod value;
pub mod write;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use progress::{Progress, Stop};
pub use value::Value;

#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod address;
pub mod convert;
pub mod diff;
pub mod export;
pub mod formats;
pub mod json;
pub mod open;
pub mod repair;
mod reversed;
pub mod target;
#[cfg(test)]
mod testing;
pub mod text;
pub mod verify;

pub use address::Address;
pub use container_core;
pub use container_core::{Error, ErrorKind, Limits, Progress, Result, Value};
pub use convert::convert;
pub use diff::diff;
pub use export::export;
pub use formats::formats;
pub use open::{Accept, Opened, open, open_to_pass};
#[cfg(feature = "rawarray")]
pub use rawarray;
pub use repair::repair;
pub use verify::verify;

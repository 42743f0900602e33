#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod named_file;
mod options;

#[cfg(not(feature = "serve"))]
mod absent;
#[cfg(feature = "serve")]
mod api;
#[cfg(feature = "serve")]
mod assets;
#[cfg(feature = "serve")]
mod bounded_json;
#[cfg(feature = "serve")]
mod files;
#[cfg(feature = "serve")]
mod gate;
#[cfg(feature = "serve")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod h5grove;
#[cfg(feature = "serve")]
mod job;
#[cfg(feature = "serve")]
mod opened;
#[cfg(feature = "serve")]
mod patient_stream;
#[cfg(feature = "serve")]
mod query;
#[cfg(feature = "serve")]
mod reply;
#[cfg(feature = "serve")]
mod routes;
#[cfg(feature = "serve")]
mod server;

#[cfg(not(feature = "serve"))]
pub use absent::Server;
pub use named_file::{MAX_FILES, NamedFile};
pub use options::Options;
#[cfg(feature = "serve")]
pub use server::Server;

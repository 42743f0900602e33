#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod api;
mod assets;
mod bounded_json;
mod files;
mod gate;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod h5grove;
mod job;
mod opened;
mod patient_stream;
mod query;
mod reply;
mod routes;
mod server;

pub use files::{MAX_FILES, NamedFile};
pub use server::{Options, Server};

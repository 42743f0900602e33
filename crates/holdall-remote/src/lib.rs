#![doc = include_str!("../README.md")]
//!
//! Nothing is written to servers. Settings are those of [`RemoteOptions`], which takes the environment where it is handed over
//! ([`RemoteOptions::add_environment`]); only Google's file of default credentials is looked for in the home folder.

mod answer;
mod cache;
mod cached_source;
mod client;
#[cfg(feature = "cloud")]
mod cloud;
mod connections;
mod http;
mod open;
mod options;
mod plan;
mod range_reader;
mod ranged;
mod remote_url;
mod retry;
mod store;

pub use cached_source::{CachedSource, Traffic};
pub use client::Client;
pub use open::{open, open_with};
pub use options::{RemoteOptions, is_variable};
pub use range_reader::RangeReader;
pub use remote_url::RemoteUrl;

#![doc = include_str!("../README.md")]
//!
//! Nothing is written to servers, and no environment variable is read: all settings are in [`RemoteOptions`].

mod cache;
mod cached_source;
mod http;
mod open;
mod options;
mod plan;
mod remote_url;
mod retry;
mod store;

pub use cached_source::{CachedSource, Traffic};
pub use open::{open, open_with};
pub use options::RemoteOptions;
pub use remote_url::RemoteUrl;

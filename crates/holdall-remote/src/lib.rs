//! Files at URLs as [`Source`](container_core::source::Source)s: parsers of local files read them unchanged.
//!
//! [`open`] fetches the first bytes of an object and pins its version. Reads go through a cache of bounded size. Ranges that a reader
//! announces ([`Source::prefetch`](container_core::source::Source::prefetch)) are fetched together, neighbours in one request. Transient
//! failures are retried until a deadline, and an object that changes while it is read is an error.
//!
//! ```no_run
//! use container_core::source::Source;
//! use holdall_remote::{RemoteOptions, RemoteUrl, open};
//!
//! let url = RemoteUrl::parse("https://example.org/image.asdf")?;
//! let source = open(&url, &RemoteOptions::default())?;
//! println!("{} bytes, the first are {:?}", source.len(), source.read(0..4)?);
//! # Ok::<(), container_core::Error>(())
//! ```
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

//! Opening one address.

use container_core::{Limits, Result};

use crate::{CachedSource, Client, RemoteOptions, RemoteUrl};

/// Opens the object at `url`, as [`Client::open`] does, with a client of its own.
///
/// # Errors
/// As [`Client::open`].
pub fn open_with(url: &RemoteUrl, options: &RemoteOptions, limits: &Limits) -> Result<CachedSource> {
    Client::new(options.clone()).open(url, limits)
}

/// [`open_with`] the default [`Limits`].
///
/// # Errors
/// As [`open_with`].
pub fn open(url: &RemoteUrl, options: &RemoteOptions) -> Result<CachedSource> {
    open_with(url, options, &Limits::default())
}

//! Opening an address.

use container_core::{Limits, Result};

use crate::http::Http;
use crate::{CachedSource, RemoteOptions, RemoteUrl};

/// Opens the object at `url`: requests its first 64 KiB, and the rest of an object up to 2 MiB. Its version is that of this moment: later answers
/// from another one are errors.
///
/// Memory is bounded by [`RemoteOptions::cache_len`], and by an eighth of [`Limits::memory`].
///
/// # Errors
/// `Io` where the server fails or refuses; `Unsupported` for a server that ignores ranges, unless the object is small; `Usage` for invalid headers or
/// an invalid proxy; `Cancelled`. Messages have no part of the address that may be secret, and no header.
pub fn open_with(url: &RemoteUrl, options: &RemoteOptions, limits: &Limits) -> Result<CachedSource> {
    let store = Http::new(url, options, limits)?;
    CachedSource::new(Box::new(store), options, limits).map_err(|error| error.in_file(url.to_string()))
}

/// [`open_with`] the default [`Limits`].
///
/// # Errors
/// As [`open_with`].
pub fn open(url: &RemoteUrl, options: &RemoteOptions) -> Result<CachedSource> {
    open_with(url, options, &Limits::default())
}

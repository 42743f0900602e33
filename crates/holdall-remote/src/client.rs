//! Opening addresses.

use std::sync::Arc;

use container_core::{Error, Limits, Result};

use crate::connections::Connections;
use crate::http::HttpObject;
use crate::ranged::RangedObject;
use crate::remote_url::Place;
use crate::store::Store;
use crate::{CachedSource, RemoteOptions, RemoteUrl};

/// Opens files at URLs. They share connections and credentials, also between threads; a forked process has its own.
#[derive(Clone, Debug)]
pub struct Client {
    connections: Arc<Connections>,
    #[cfg(feature = "cloud")]
    buckets: Arc<crate::cloud::Buckets>,
}

impl Client {
    /// A client with these options. No connection is made before the first request.
    #[must_use]
    pub fn new(options: RemoteOptions) -> Self {
        Self {
            connections: Arc::new(Connections::new(options)),
            #[cfg(feature = "cloud")]
            buckets: Arc::default(),
        }
    }

    /// Opens the object at `url`: requests its first 64 KiB, and the rest of an object up to 2 MiB. Its version is that of this moment: later answers
    /// from another one are errors.
    ///
    /// Memory is bounded by [`RemoteOptions::cache_len`], and by an eighth of [`Limits::memory`].
    ///
    /// # Errors
    /// `Io` where the server fails or refuses; `Unsupported` for a server that ignores ranges, unless the object is small, and for buckets without
    /// the feature `cloud`; `Usage` for invalid options, and for `file` addresses, which are opened by [`RemoteUrl::file_path`]; `Cancelled`. Messages have no part of the
    /// address that may be secret, and no header.
    pub fn open(&self, url: &RemoteUrl, limits: &Limits) -> Result<CachedSource> {
        let opened = || {
            let store: Box<dyn Store> = match &url.0 {
                Place::Url(http) if http.scheme() != "file" => {
                    Box::new(RangedObject::new(HttpObject::new(http, Arc::clone(&self.connections))?, limits))
                }
                Place::Url(_) => return Err(Error::usage("a file of this machine is not at a server")),
                #[cfg(feature = "cloud")]
                Place::Bucket(place) => {
                    let bucket = self.buckets.get(place, &self.connections)?;
                    Box::new(RangedObject::new(crate::cloud::CloudObject::new(bucket, &place.key)?, limits))
                }
                #[cfg(not(feature = "cloud"))]
                Place::Bucket(_) => return Err(without_cloud()),
            };
            CachedSource::new(store, self.connections.options(), limits)
        };
        opened().map_err(|error| error.in_file(url.to_string()))
    }

    /// The objects that `url` names: those that fit a pattern with `*` and `?` (parts of a name), `[…]` and `**` (folders), or all below a folder
    /// (`s3://bucket/folder/`) that have one of `extensions`. `None` for the address of one object.
    ///
    /// # Errors
    /// `Usage` for patterns in other addresses than those of buckets, for invalid ones, and where nothing fits; `Limit` for more than 100,000; and as
    /// [`Client::open`].
    pub fn list(
        &self,
        url: &RemoteUrl,
        extensions: &[&str],
        limits: &Limits,
    ) -> Option<Result<Vec<RemoteUrl>>> {
        let Place::Bucket(place) = &url.0 else { return None };
        if !place.names_several() {
            return None;
        }
        #[cfg(feature = "cloud")]
        let listed = self.buckets.get(place, &self.connections).and_then(|bucket| {
            let keys = bucket.list(&place.key, extensions, limits)?;
            Ok(keys.iter().map(|key| RemoteUrl(Place::Bucket(place.with_key(key)))).collect())
        });
        #[cfg(not(feature = "cloud"))]
        let listed = {
            let _ = (extensions, limits);
            Err(without_cloud())
        };
        Some(listed.map_err(|error| error.in_file(url.to_string())))
    }
}

#[cfg(not(feature = "cloud"))]
fn without_cloud() -> Error {
    Error::unsupported("buckets cannot be read: built without the feature `cloud`")
}

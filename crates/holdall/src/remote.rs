//! Files at URLs, which are opened as those at paths are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use container_core::source::{Access, Addresses, Source, open_path};
use container_core::{Error, Limits, Result};
pub use holdall_remote::{CachedSource, RangeReader, RemoteOptions, is_variable};
use holdall_remote::{Client, RemoteUrl};

use crate::address::is_url;

/// URLs as addresses of files, for [`OpenOptions::addresses`](container_core::container::OpenOptions::addresses). [`holdall::open`](crate::open()) has
/// those of the default options without it. Files share connections and credentials.
#[must_use]
pub fn addresses(options: RemoteOptions) -> Arc<dyn Addresses> {
    Arc::new(Urls(Client::new(options)))
}

#[derive(Debug)]
pub(crate) struct Urls(pub(crate) Client);

impl Addresses for Urls {
    fn open(&self, address: &Path, limits: &Limits) -> Option<Result<Box<dyn Source>>> {
        is_url(address).then(|| {
            let url = parse(address)?;
            if let Some(path) = url.file_path() {
                return open_path(&path?, Access::Positioned, limits);
            }
            Ok(Box::new(self.0.open(&url, limits)?) as Box<dyn Source>)
        })
    }

    fn list(&self, address: &Path, extensions: &[&str], limits: &Limits) -> Option<Result<Vec<PathBuf>>> {
        let url = is_url(address).then(|| parse(address))?;
        match url.map(|url| self.0.list(&url, extensions, limits)) {
            // Opening it gives the error.
            Err(_) | Ok(None) => None,
            Ok(Some(listed)) => {
                Some(listed.map(|urls| urls.iter().map(|url| url.to_string().into()).collect()))
            }
        }
    }
}

fn parse(address: &Path) -> Result<RemoteUrl> {
    RemoteUrl::parse(address.to_str().ok_or_else(|| Error::usage("invalid URL: not UTF-8"))?)
}

//! Files at URLs, which are opened as those at paths are.

use std::path::Path;
use std::sync::Arc;

use container_core::source::{Addresses, Source};
use container_core::{Error, Limits, Result};
pub use holdall_remote::RemoteOptions;
use holdall_remote::{RemoteUrl, open_with};

use crate::address::is_url;

/// URLs as addresses of files, for [`OpenOptions::addresses`](container_core::container::OpenOptions::addresses). [`holdall::open`](crate::open()) has
/// those of the default options without it.
#[must_use]
pub fn addresses(options: RemoteOptions) -> Arc<dyn Addresses> {
    Arc::new(Urls(options))
}

#[derive(Debug)]
pub(crate) struct Urls(pub(crate) RemoteOptions);

impl Addresses for Urls {
    fn open(&self, address: &Path, limits: &Limits) -> Option<Result<Box<dyn Source>>> {
        is_url(address).then(|| {
            let text = address.to_str().ok_or_else(|| Error::usage("invalid URL: not UTF-8"))?;
            let source = open_with(&RemoteUrl::parse(text)?, &self.0, limits)?;
            Ok(Box::new(source) as Box<dyn Source>)
        })
    }
}

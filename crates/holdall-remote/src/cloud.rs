//! Objects in buckets: Amazon S3 and stores that are like it, Google Cloud Storage, Azure Blob Storage.
//!
//! The crate `object_store` writes and signs the requests and finds the credentials. Its requests are sent by [`transport`], which hands the answers to
//! requests for an object to this module: they are checked as those of other servers are.

mod bucket;
mod listing;
mod profile;
mod transport;

pub(crate) use bucket::Bucket;

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use container_core::{Error, Result};
use object_store::path::Path as Key;

use crate::answer::Response;
use crate::connections::Connections;
use crate::ranged::Request;
use crate::remote_url::BucketUrl;
use crate::store::{Failure, Pin};

/// The buckets that a client has opened.
#[derive(Default)]
pub(crate) struct Buckets(Mutex<Vec<Arc<Bucket>>>);

impl Buckets {
    /// The bucket of `url`: one for all files in it.
    ///
    /// # Errors
    /// As [`Bucket::new`].
    pub(crate) fn get(&self, url: &BucketUrl, connections: &Arc<Connections>) -> Result<Arc<Bucket>> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.iter().find(|bucket| bucket.url().is_in_bucket_of(url)) {
            return Ok(Arc::clone(bucket));
        }
        let bucket = Arc::new(Bucket::new(url, Arc::clone(connections))?);
        buckets.push(Arc::clone(&bucket));
        Ok(bucket)
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_list().entries(buckets.iter().map(|bucket| bucket.url().with_key("").to_string())).finish()
    }
}

/// An object in a bucket.
pub(crate) struct CloudObject {
    bucket: Arc<Bucket>,
    key: Key,
}

impl CloudObject {
    /// # Errors
    /// `Usage` for a key that cannot be requested.
    pub(crate) fn new(bucket: Arc<Bucket>, key: &str) -> Result<Self> {
        if key.is_empty() || key.ends_with('/') {
            let error = Error::usage("this is a folder of a bucket (expected an object)");
            return Err(error.with_hint(
                "folders are for commands that read several files (info, verify, stat, digest, ls, cat)",
            ));
        }
        // `Path` refuses empty parts, `.` and `..`, and drops a `/` at either end.
        let parsed = Key::parse(key).ok().filter(|parsed| parsed.as_ref() == key);
        let key = parsed.ok_or_else(|| {
            let problem = "unsupported key (expected parts between single slashes, none of them . or ..)";
            Error::usage(problem).with_hint("for such an object, use a presigned https address")
        })?;
        Ok(Self { bucket, key })
    }
}

impl Request for CloudObject {
    fn get(&self, range: Range<u64>, pin: Option<&Pin>) -> Result<Response, Failure> {
        self.bucket.get(&self.key, range, pin)
    }

    fn explain(&self, mut failure: Failure) -> Failure {
        let hint = match failure.error.kind() {
            container_core::ErrorKind::Io(error) => match error.kind() {
                ErrorKind::PermissionDenied => self.bucket.hint_at_credentials(),
                ErrorKind::NotFound if self.key.as_ref().contains(['*', '?']) => Some(
                    "this command reads one file: patterns are for those that read several (info, verify, stat, digest, ls, cat)",
                ),
                _ => None,
            },
            _ => None,
        };
        if let Some(hint) = hint {
            failure.error = failure.error.with_hint(hint);
        }
        failure
    }
}

/// The failure for credentials that are not there or that the provider refuses.
fn no_credentials() -> Error {
    let error =
        Error::from(io::Error::new(ErrorKind::PermissionDenied, "no credentials for the object store"));
    error.with_hint(
        "set them in the environment (AWS_ACCESS_KEY_ID and others), or read a public bucket with --anon",
    )
}

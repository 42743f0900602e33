//! A bucket of an object store, and the credentials for it.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use container_core::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore, RetryConfig};
use ureq::http::{HeaderMap, StatusCode};

use super::transport::Transport;
use super::{no_credentials, profile};
use crate::answer::{Response, text};
use crate::connections::Connections;
use crate::remote_url::{BucketUrl, Provider};
use crate::store::{Failure, Pin};

/// Requests for one range: the first, one to another region, and one without credentials.
const MAX_ATTEMPTS: usize = 3;

/// A bucket. Its files share connections and credentials.
pub(crate) struct Bucket {
    url: BucketUrl,
    transport: Transport,
    access: Mutex<Access>,
}

/// The means of access to a bucket.
#[derive(Clone)]
struct Access {
    store: Arc<dyn ObjectStore>,
    /// The region that a server named, which may be another than that of the options.
    region: Option<String>,
    credentials: Credentials,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credentials {
    /// Requests are not signed.
    None,
    /// Options, environment or files have some.
    Given,
    /// The machine's metadata service is asked for some; public buckets are read without.
    Sought,
}

impl Bucket {
    /// The bucket of `url`. No request is made.
    ///
    /// # Errors
    /// `Usage` for settings that do not fit; as those of a profile.
    pub(crate) fn new(url: &BucketUrl, connections: Arc<Connections>) -> Result<Self> {
        let transport = Transport::new(connections);
        let settings = Settings::new(url, &transport)?;
        let credentials = settings.credentials();
        let store = settings.build(credentials, None, &transport)?;
        let access = Mutex::new(Access { store, region: None, credentials });
        Ok(Self { url: url.clone(), transport, access })
    }

    pub(super) const fn transport(&self) -> &Transport {
        &self.transport
    }

    pub(super) const fn url(&self) -> &BucketUrl {
        &self.url
    }

    pub(super) fn store(&self) -> Arc<dyn ObjectStore> {
        self.access().store
    }

    fn access(&self) -> Access {
        self.access.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the means of access, unless another thread has done so.
    fn replace(&self, old: &Access, credentials: Credentials, region: Option<String>) -> Result<()> {
        let mut access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        if access.credentials == old.credentials && access.region == old.region {
            let settings = Settings::new(&self.url, &self.transport)?;
            let store = settings.build(credentials, region.as_deref(), &self.transport)?;
            *access = Access { store, region, credentials };
        }
        Ok(())
    }

    /// Gives up the search for credentials, where it was one. Returns whether it was.
    pub(super) fn stop_seeking(&self) -> Result<bool> {
        let access = self.access();
        let is_sought = access.credentials == Credentials::Sought;
        if is_sought {
            self.replace(&access, Credentials::None, access.region.clone())?;
        }
        Ok(is_sought)
    }

    /// Requests `range` of the object at `key`.
    pub(super) fn get(&self, key: &Key, range: Range<u64>, pin: Option<&Pin>) -> Result<Response, Failure> {
        for _ in 0..MAX_ATTEMPTS {
            let access = self.access();
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                if_match: pin.and_then(Pin::strong_etag).map(str::to_owned),
                ..GetOptions::default()
            };
            let (answers, _) =
                self.transport.answers_of(|| pollster::block_on(access.store.get_opts(key, options)));
            let Some(answer) = answers.object else {
                // No request came to be: there are no credentials to sign it with.
                if self.stop_seeking().map_err(Failure::fatal)? {
                    continue;
                }
                return Err(match answers.other {
                    Some(Err(failure)) => failure,
                    _ => Failure::fatal(no_credentials()),
                });
            };
            let answer = answer?;
            if !self.moves(answer.status(), answer.headers())? {
                return Ok(answer);
            }
        }
        Err(Failure::fatal(Error::from(std::io::Error::other("the store refers from region to region"))))
    }

    /// Whether a refusal of S3 names another region, which later requests are for.
    pub(super) fn moves(&self, status: StatusCode, headers: &HeaderMap) -> Result<bool, Failure> {
        let is_redirect = matches!(status.as_u16(), 301 | 307 | 400);
        if self.url.provider != Provider::S3 || !is_redirect {
            return Ok(false);
        }
        let Some(region) = text(headers, "x-amz-bucket-region") else { return Ok(false) };
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let access = self.access();
        let is_name = (1..=40).contains(&region.len()) && region.bytes().all(is_letter);
        let is_new = is_name && access.region.as_ref() != Some(&region);
        if is_new {
            self.replace(&access, access.credentials, Some(region)).map_err(Failure::fatal)?;
        }
        Ok(is_new)
    }

    /// A hint for a refused request.
    pub(super) fn hint_at_credentials(&self) -> Option<&'static str> {
        Some(match self.access().credentials {
            Credentials::None => {
                "the request had no credentials: set them in the environment, or with --profile"
            }
            Credentials::Given => {
                "the object may not exist, or these credentials may not read it; a public bucket is read with --anon"
            }
            Credentials::Sought => {
                "the credentials of this machine may not read it; a public bucket is read with --anon"
            }
        })
    }
}

/// Settings by their variables of the environment, later ones first.
struct Settings<'a> {
    url: &'a BucketUrl,
    values: Vec<(String, String)>,
    anon: bool,
}

impl<'a> Settings<'a> {
    fn new(url: &'a BucketUrl, transport: &Transport) -> Result<Self> {
        let options = transport.connections().options();
        let mut values = Vec::new();
        if url.provider == Provider::S3 {
            // What is set otherwise comes later, and replaces what the profile has; a profile that was asked for by name has its own keys.
            let of_profile = profile::read(&options.aws_files, options.profile.as_deref())?;
            values.extend(of_profile.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        let has_keys =
            options.profile.is_some() && values.iter().any(|(name, _)| name == "AWS_ACCESS_KEY_ID");
        let is_key =
            |name: &str| ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].contains(&name);
        let given = options.settings.iter().map(|(name, value)| (name.to_ascii_uppercase(), value.clone()));
        values.extend(given.filter(|(name, _)| !(has_keys && is_key(name))));
        if let Some(region) = &options.region {
            values.push(("AWS_REGION".to_owned(), region.clone()));
        }
        if let Some(endpoint) = &options.endpoint_url {
            let name = match url.provider {
                Provider::S3 => "AWS_ENDPOINT_URL_S3",
                Provider::Google => "GOOGLE_BASE_URL",
                Provider::Azure => "AZURE_STORAGE_ENDPOINT",
            };
            values.push((name.to_owned(), endpoint.trim_end_matches('/').to_owned()));
        }
        if let Some(account) = &url.account {
            values.push(("AZURE_STORAGE_ACCOUNT_NAME".to_owned(), account.clone()));
        }
        Ok(Self { url, values, anon: options.anon })
    }

    fn credentials(&self) -> Credentials {
        let has = |names: &[&str]| self.values.iter().any(|(name, _)| names.contains(&name.as_str()));
        let given: &[&str] = match self.url.provider {
            Provider::S3 => &[
                "AWS_ACCESS_KEY_ID",
                "AWS_SECRET_ACCESS_KEY",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            ],
            Provider::Google => &[
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_SERVICE_ACCOUNT_PATH",
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                "GOOGLE_BEARER_TOKEN",
            ],
            Provider::Azure => &[
                "AZURE_STORAGE_ACCOUNT_KEY",
                "AZURE_STORAGE_SAS_KEY",
                "AZURE_STORAGE_SAS_TOKEN",
                "AZURE_STORAGE_TOKEN",
                "AZURE_STORAGE_CLIENT_ID",
                "AZURE_CLIENT_ID",
                "AZURE_FEDERATED_TOKEN_FILE",
                "AZURE_STORAGE_USE_EMULATOR",
            ],
        };
        match () {
            () if self.anon => Credentials::None,
            () if has(given) => Credentials::Given,
            () => Credentials::Sought,
        }
    }

    /// The store, whose requests are not repeated: the caller does that.
    fn build(
        &self,
        credentials: Credentials,
        region: Option<&str>,
        transport: &Transport,
    ) -> Result<Arc<dyn ObjectStore>> {
        let transport = transport.clone();
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let unsigned = credentials == Credentials::None;
        let bucket = self.url.bucket.as_str();
        let lower = || self.values.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        // The library's message is not shown: it may quote a setting.
        let invalid = |_: object_store::Error| {
            let error = Error::usage(format!("the settings for the bucket {bucket} do not fit"));
            error.with_hint(match self.url.provider {
                Provider::S3 => "see AWS_ENDPOINT_URL, AWS_REGION and the keys",
                Provider::Google => "see GOOGLE_APPLICATION_CREDENTIALS",
                Provider::Azure => "AZURE_STORAGE_ACCOUNT_NAME is needed, or abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY",
            })
        };
        // Three builders with the same methods and no trait.
        macro_rules! builder {
            ($builder:ty, $key:ty, $named:ident) => {{
                let mut builder = <$builder>::new();
                for (name, value) in lower() {
                    if let Ok(key) = name.parse::<$key>() {
                        builder = builder.with_config(key, value);
                    }
                }
                if unsigned {
                    builder = builder.with_skip_signature(true);
                }
                builder.$named(bucket).with_retry(retry).with_http_connector(transport)
            }};
        }
        Ok(match self.url.provider {
            Provider::S3 => {
                let mut builder = builder!(AmazonS3Builder, AmazonS3ConfigKey, with_bucket_name);
                if let Some(region) = region {
                    builder = builder.with_region(region);
                }
                Arc::new(builder.build().map_err(invalid)?)
            }
            Provider::Google => {
                let builder = builder!(GoogleCloudStorageBuilder, GoogleConfigKey, with_bucket_name);
                Arc::new(builder.build().map_err(invalid)?)
            }
            Provider::Azure => {
                let builder = builder!(MicrosoftAzureBuilder, AzureConfigKey, with_container_name);
                Arc::new(builder.build().map_err(invalid)?)
            }
        })
    }
}

//! The address of an object on a server.

use std::fmt;

use container_core::{Error, Result};
use url::Url;

/// Schemes of addresses that can be opened.
const SCHEMES: [&str; 10] = ["http", "https", "file", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss"];

/// The address of an object on a server, or of several of them. [`Display`](fmt::Display) omits user, password, query and fragment, which may be
/// secret.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RemoteUrl(pub(crate) Place);

/// The parts of an address.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// `http`, `https`, and `file`.
    Url(Url),
    /// An object in a bucket.
    Bucket(BucketUrl),
}

/// `s3://BUCKET/KEY`, `gs://BUCKET/KEY`, `az://CONTAINER/KEY` or `abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct BucketUrl {
    pub provider: Provider,
    /// The scheme as typed, in lower case.
    scheme: String,
    /// The bucket, of Azure the container.
    pub bucket: String,
    /// The account of Azure, where the address has it.
    pub account: Option<String>,
    /// The key of the object as it is, without any encoding.
    pub key: String,
}

/// Letters of a key that make it a pattern.
pub(crate) const PATTERN_LETTERS: [char; 3] = ['*', '?', '['];

/// An interface of object stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Provider {
    S3,
    Google,
    Azure,
}

impl RemoteUrl {
    /// Parses an address. The key of an object in a bucket is taken as it is: `%`, `?` and `#` are letters of it.
    ///
    /// # Errors
    /// `Usage` for text that is not a URL, without a host or bucket, with another scheme than `http`, `https`, `file`, `s3`, `s3a`, `gs`, `gcs`, `az`,
    /// `abfs` and `abfss`, and for a bucket with credentials before it.
    pub fn parse(text: &str) -> Result<Self> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let scheme = scheme.to_ascii_lowercase();
        let provider = match scheme.as_str() {
            "http" | "https" | "file" => None,
            "s3" | "s3a" => Some(Provider::S3),
            "gs" | "gcs" => Some(Provider::Google),
            "az" | "abfs" | "abfss" => Some(Provider::Azure),
            _ => {
                let problem = format!(
                    "unsupported scheme {scheme:?} of an address (expected one of: {})",
                    SCHEMES.join(", ")
                );
                return Err(Error::usage(problem));
            }
        };
        if let Some(provider) = provider {
            return BucketUrl::parse(provider, scheme, rest).map(|url| Self(Place::Bucket(url)));
        }
        // The parser's message may quote the text, which may have a password in it.
        let url = Url::parse(text).map_err(|error| Error::usage(format!("invalid URL: {error}")))?;
        if scheme != "file" && url.host_str().is_none_or(str::is_empty) {
            return Err(Error::usage("invalid URL: no host"));
        }
        Ok(Self(Place::Url(url)))
    }

    /// The path of a `file` address; `None` for others.
    ///
    /// # Errors
    /// `Usage` for a host other than this machine, and for a path that this machine cannot have.
    pub fn file_path(&self) -> Option<Result<std::path::PathBuf>> {
        let Place::Url(url) = &self.0 else { return None };
        (url.scheme() == "file").then(|| {
            let problem = "invalid file address (expected file:///PATH, of this machine)";
            url.to_file_path().map_err(|()| Error::usage(problem))
        })
    }
}

impl BucketUrl {
    /// True for a pattern, and for a folder: a key that ends with `/`, or none.
    pub(crate) fn names_several(&self) -> bool {
        self.key.is_empty() || self.key.ends_with('/') || self.key.contains(PATTERN_LETTERS)
    }

    fn parse(provider: Provider, scheme: String, rest: &str) -> Result<Self> {
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        let (bucket, host) = match (authority.split_once('@'), scheme.as_str()) {
            (None, _) => (authority, None),
            (Some((container, host)), "abfs" | "abfss") if !container.contains(':') => {
                (container, Some(host))
            }
            (Some(_), _) => {
                let error = Error::usage("invalid address: credentials before a bucket");
                return Err(
                    error.with_hint("credentials come from the environment: AWS_ACCESS_KEY_ID and others")
                );
            }
        };
        let is_name = |text: &str| {
            let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.$".contains(byte);
            !text.is_empty() && text.as_bytes().iter().all(is_letter)
        };
        if !is_name(bucket) {
            return Err(Error::usage(format!("invalid address: no bucket (expected {scheme}://BUCKET/KEY)")));
        }
        let account = match host.map(|host| host.split('.').next().unwrap_or_default()) {
            Some(account) if !is_name(account) => {
                return Err(Error::usage("invalid address: no account"));
            }
            account => account.map(str::to_owned),
        };
        Ok(Self { provider, scheme, bucket: bucket.to_owned(), account, key: key.to_owned() })
    }

    /// Whether both are in one bucket.
    #[cfg(feature = "cloud")]
    pub(crate) fn is_in_bucket_of(&self, other: &Self) -> bool {
        (self.provider, &self.bucket, &self.account) == (other.provider, &other.bucket, &other.account)
    }

    /// The address of another key in the same bucket.
    #[cfg(feature = "cloud")]
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }
}

impl fmt::Display for BucketUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.bucket)?;
        if let Some(account) = &self.account {
            write!(f, "@{account}.dfs.core.windows.net")?;
        }
        write!(f, "/{}", self.key)
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match &self.0 {
            Place::Bucket(place) => return place.fmt(f),
            Place::Url(url) => url,
        };
        write!(f, "{}://{}", url.scheme(), url.host_str().unwrap_or_default())?;
        if let Some(port) = url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(url.path())?;
        if url.query().is_some() { f.write_str("?…") } else { Ok(()) }
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(text: &str) -> BucketUrl {
        match RemoteUrl::parse(text).unwrap().0 {
            Place::Bucket(url) => url,
            Place::Url(_) => panic!("{text}"),
        }
    }

    #[test]
    fn displayed_addresses_have_no_secret() {
        let url =
            RemoteUrl::parse("https://user:SECRET@Example.org:8443/a%20b/c.asdf?sig=SECRET#SECRET").unwrap();
        assert_eq!(url.to_string(), "https://example.org:8443/a%20b/c.asdf?…");
        assert_eq!(format!("{url:?}"), "RemoteUrl(https://example.org:8443/a%20b/c.asdf?…)");
        assert_eq!(RemoteUrl::parse("http://h").unwrap().to_string(), "http://h/");
    }

    #[test]
    fn invalid_addresses_are_refused_without_quoting_them() {
        for text in [
            "ftp://h/SECRET",
            "http://",
            "http://user:SECRET@",
            "http://h:99999/SECRET",
            "http://[::1/SECRET",
            "no-url",
            "s3://KEY:SECRET@bucket/a.asdf",
            "s3://SECRET@bucket/a.asdf",
            "abfss://key:SECRET@account.dfs.core.windows.net/a",
            "s3://",
            "s3:///SECRET",
            "gs://buc%6bet/SECRET",
        ] {
            let error = RemoteUrl::parse(text).unwrap_err();
            assert!(matches!(error.kind(), container_core::ErrorKind::Usage(_)), "{text}");
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn keys_are_taken_as_they_are() {
        let url = bucket("S3://Bucket.1/a b/c#%41?d.asdf");
        assert_eq!(
            (url.provider, url.bucket.as_str(), url.key.as_str()),
            (Provider::S3, "Bucket.1", "a b/c#%41?d.asdf")
        );
        assert_eq!(url.to_string(), "s3://Bucket.1/a b/c#%41?d.asdf");
        let url = bucket("abfss://box@acc.dfs.core.windows.net/run/a.gsd");
        assert_eq!(
            (url.provider, url.account.as_deref(), url.key.as_str()),
            (Provider::Azure, Some("acc"), "run/a.gsd")
        );
        assert_eq!(url.to_string(), "abfss://box@acc.dfs.core.windows.net/run/a.gsd");
        assert_eq!((bucket("gs://b").key, bucket("gcs://b/").key), (String::new(), String::new()));
    }

    #[test]
    fn file_addresses_are_of_this_machine() {
        let path = |text: &str| RemoteUrl::parse(text).unwrap().file_path();
        #[cfg(unix)]
        assert_eq!(
            path("file:///tmp/a%20b/%2e%2e/c.ra").unwrap().unwrap(),
            std::path::Path::new("/tmp/c.ra")
        );
        assert!(path("file://elsewhere/a").unwrap().is_err());
        assert!(path("http://h/a").is_none() && path("s3://b/a").is_none());
    }
}

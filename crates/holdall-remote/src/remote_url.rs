//! The address of an object on a server.

use std::fmt;

use container_core::{Error, Result};
use url::Url;

/// Schemes of addresses that can be opened.
const SCHEMES: [&str; 2] = ["http", "https"];

/// The address of an object on a server. [`Display`](fmt::Display) omits user, password, query and fragment, which may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl(pub(crate) Url);

impl RemoteUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// `Usage` for text that is not a URL, without a host, or with a scheme that is not `http` or `https`.
    pub fn parse(text: &str) -> Result<Self> {
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        if !SCHEMES.contains(&scheme.as_str()) {
            let problem = format!(
                "unsupported scheme {scheme:?} of an address (expected one of: {})",
                SCHEMES.join(", ")
            );
            return Err(Error::usage(problem));
        }
        // The parser's message may quote the text, which may have a password in it.
        let url = Url::parse(text).map_err(|error| Error::usage(format!("invalid URL: {error}")))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(Error::usage("invalid URL: no host"));
        }
        Ok(Self(url))
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = &self.0;
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
        ] {
            let error = RemoteUrl::parse(text).unwrap_err();
            assert!(matches!(error.kind(), container_core::ErrorKind::Usage(_)), "{text}");
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
    }
}

//! Connections that the files of one client share.

use std::io;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use container_core::{Error, Result};
use ureq::{Agent, Proxy};

use crate::RemoteOptions;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(20);

/// Connections that stay open between requests.
pub(crate) struct Connections {
    options: RemoteOptions,
    /// The process that opened them, and they. A forked process must not use those of its parent: answers would be mixed.
    current: RwLock<Option<(u32, Agent)>>,
}

impl Connections {
    pub(crate) const fn new(options: RemoteOptions) -> Self {
        Self { options, current: RwLock::new(None) }
    }

    pub(crate) const fn options(&self) -> &RemoteOptions {
        &self.options
    }

    /// The connections of this process.
    ///
    /// # Errors
    /// `Usage` for an invalid proxy.
    pub(crate) fn agent(&self) -> Result<Agent> {
        let process = std::process::id();
        let of_process = |current: &Option<(u32, Agent)>| match current {
            Some((owner, agent)) if *owner == process => Some(agent.clone()),
            _ => None,
        };
        if let Some(agent) = of_process(&self.current.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(agent);
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = of_process(&current) {
            return Ok(agent);
        }
        let agent = new_agent(&self.options)?;
        *current = Some((process, agent.clone()));
        Ok(agent)
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connections").field(&self.options).finish()
    }
}

fn new_agent(options: &RemoteOptions) -> Result<Agent> {
    let proxy = options.proxy.as_deref().map(|text| proxy(text, &options.no_proxy)).transpose()?;
    Ok(Agent::config_builder()
        .http_status_as_error(false)
        // They are followed where headers are kept from other origins.
        .max_redirects(0)
        .proxy(proxy)
        .user_agent(concat!("holdall/", env!("CARGO_PKG_VERSION")))
        // Ranges of an encoded body are other bytes (nginx: no ranges at all under gzip).
        .accept_encoding("identity")
        .timeout_connect(Some(CONNECT))
        .timeout_per_read(Some(options.stall))
        .timeout_per_write(Some(options.stall))
        .timeout_per_call(Some(options.deadline))
        .max_idle_connections(options.max_in_flight)
        .max_idle_connections_per_host(options.max_in_flight)
        .build()
        .new_agent())
}

/// The proxy at `text`, for all hosts but those of `exceptions`.
fn proxy(text: &str, exceptions: &[String]) -> Result<Proxy> {
    // Messages of the parsers may quote the address, which may have a password in it.
    let invalid = || Error::usage("invalid address of the proxy (expected http://HOST:PORT)");
    let all = Proxy::new(text).map_err(|_| invalid())?;
    if exceptions.is_empty() {
        return Ok(all);
    }
    let mut builder = Proxy::builder(all.protocol()).host(all.host()).port(all.port());
    if let Some(username) = all.username() {
        builder = builder.username(username);
    }
    if let Some(password) = all.password() {
        builder = builder.password(password);
    }
    for host in exceptions {
        // As curl has it, a host's subdomains are excepted with it.
        builder = builder.no_proxy(host).no_proxy(&format!(".{}", host.trim_start_matches('.')));
    }
    builder.build().map_err(|_| invalid())
}

/// The kind of an error of the client, and its text. The client's own text is not shown: it may have the address in it.
pub(crate) fn explain(error: &ureq::Error) -> (io::ErrorKind, &'static str) {
    use io::ErrorKind;
    match error {
        ureq::Error::Io(error) => (
            error.kind(),
            match error.kind() {
                ErrorKind::ConnectionRefused => "the server refused the connection",
                ErrorKind::TimedOut => "the server did not answer in time",
                _ => "the connection failed",
            },
        ),
        ureq::Error::Timeout(_) => (ErrorKind::TimedOut, "the server did not answer in time"),
        ureq::Error::Protocol(_) => (ErrorKind::InvalidData, "invalid HTTP in the answer"),
        ureq::Error::ConnectionFailed => (ErrorKind::NotConnected, "the connection failed"),
        ureq::Error::HostNotFound => (ErrorKind::NotFound, "unknown host"),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => (
            ErrorKind::InvalidData,
            "no secure connection (TLS): the certificate or the protocol does not fit",
        ),
        _ => (ErrorKind::Other, "the request failed"),
    }
}

/// Whether the same request may succeed later.
pub(crate) const fn is_transient(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::Protocol(_)
            | ureq::Error::ConnectionFailed
    )
}

#[cfg(test)]
mod tests {
    use ureq::http::Uri;

    use super::*;

    #[test]
    fn excepted_hosts_and_their_subdomains_are_reached_without_the_proxy() {
        let exceptions = ["example.org", ".inner.net", "10.0.0.1"].map(str::to_owned);
        let proxy = proxy("http://user:p%40ss@proxy:3128", &exceptions).unwrap();
        assert_eq!((proxy.host(), proxy.port(), proxy.password()), ("proxy", 3128, Some("p@ss")));
        for (url, expected) in [
            ("http://example.org/a", true),
            ("http://a.example.org/a", true),
            ("http://notexample.org/a", false),
            ("http://a.inner.net/a", true),
            ("http://10.0.0.1:80/a", true),
            ("http://10.0.0.2/a", false),
        ] {
            assert_eq!(proxy.is_no_proxy(&url.parse::<Uri>().unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn an_invalid_proxy_is_refused_without_quoting_it() {
        for text in ["ftp://user:SECRET@proxy", "http://user:SECRET@"] {
            let options = RemoteOptions { proxy: Some(text.to_owned()), ..RemoteOptions::default() };
            let error = Connections::new(options).agent().unwrap_err();
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
    }
}

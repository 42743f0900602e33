//! Settings of remote reads.

use std::fmt;
use std::time::Duration;

/// Settings of remote reads. The default reads public objects without credentials.
#[derive(Clone)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// Headers sent with each request to the origin (scheme, host and port) of the address, and to no other.
    pub headers: Vec<(String, String)>,
    /// Maximum bytes that one source keeps in its cache.
    pub cache_len: u64,
    /// Maximum requests of one source at a time.
    pub max_in_flight: usize,
    /// Maximum time without a byte from the server; then the request is retried.
    pub stall: Duration,
    /// Maximum time for one range of bytes, retries included.
    pub deadline: Duration,
    /// Maximum retries of a range after transient failures: no connection, a body that ends early, status 408, 429 or 5xx.
    pub max_retries: u32,
    /// Proxy of all requests: `http://host:port`.
    pub proxy: Option<String>,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            cache_len: 64 << 20,
            max_in_flight: 16,
            stall: Duration::from_secs(30),
            deadline: Duration::from_secs(180),
            max_retries: 5,
            proxy: None,
        }
    }
}

/// Names of headers are shown, their values and the proxy's address are not: they may be secret.
impl fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("RemoteOptions")
            .field("headers", &headers)
            .field("cache_len", &self.cache_len)
            .field("max_in_flight", &self.max_in_flight)
            .field("stall", &self.stall)
            .field("deadline", &self.deadline)
            .field("max_retries", &self.max_retries)
            .field("has_proxy", &self.proxy.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_secret() {
        let options = RemoteOptions {
            headers: vec![("Authorization".into(), "Bearer SECRET".into())],
            proxy: Some("http://user:SECRET@proxy".into()),
            ..RemoteOptions::default()
        };
        let shown = format!("{options:?}");
        assert!(shown.contains("Authorization") && !shown.contains("SECRET"), "{shown}");
    }
}

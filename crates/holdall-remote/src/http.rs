//! Objects at `http` and `https` addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::sync::Arc;

use container_core::{Error, Result};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::answer::{Response, text};
use crate::connections::{Connections, explain, is_transient};
use crate::ranged::Request;
use crate::store::{Failure, Pin};

/// Redirects that are followed for one request.
const MAX_REDIRECTS: usize = 5;

/// An object at an `http` or `https` address.
pub(crate) struct HttpObject {
    connections: Arc<Connections>,
    url: Url,
    /// Headers for the origin of `url`.
    headers: HeaderMap,
}

impl HttpObject {
    pub(crate) fn new(url: &Url, connections: Arc<Connections>) -> Result<Self> {
        let mut headers = HeaderMap::new();
        for (name, value) in &connections.options().headers {
            // The value may be secret, and so may the name of a header that was typed the other way round.
            let invalid = || Error::usage("invalid header (expected NAME: VALUE)");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            headers.append(name, HeaderValue::from_str(value).map_err(|_| invalid())?);
        }
        let mut url = url.clone();
        url.set_fragment(None);
        Ok(Self { connections, url, headers })
    }

    /// The address that a redirect points to.
    fn redirected(&self, from: &Url, response: &Response) -> Result<Url, Failure> {
        let refused = |problem: &str| Failure::fatal(other(format!("redirect {problem}")));
        let target = text(response.headers(), "location").ok_or_else(|| refused("without an address"))?;
        let mut to = from.join(&target).map_err(|_| refused("to an invalid address"))?;
        match to.scheme() {
            "https" => {}
            "http" if self.url.scheme() == "http" => {}
            "http" => return Err(refused("from https to http (refused)")),
            _ => return Err(refused("to an address that is neither http nor https")),
        }
        to.set_fragment(None);
        if self.connections.options().refuse_private_redirects && leads_to_private(&to) {
            return Err(refused("to a private address (refused)"));
        }
        // A password in the target would be sent as a header.
        if to.origin() != self.url.origin() && (!to.username().is_empty() || to.password().is_some()) {
            return Err(refused("to an address with a user name"));
        }
        Ok(to)
    }
}

impl Request for HttpObject {
    /// Follows redirects.
    fn get(&self, range: Range<u64>, pin: Option<&Pin>) -> Result<Response, Failure> {
        let range = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let agent = self.connections.agent().map_err(Failure::fatal)?;
        let mut url = self.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = agent.get(url.as_str()).header("Range", &range);
            if url.origin() == self.url.origin() {
                for (name, value) in &self.headers {
                    request = request.header(name, value);
                }
            }
            if let Some(tag) = pin.and_then(Pin::strong_etag) {
                request = request.header("If-Match", tag);
            }
            let response = request.call().map_err(|error| failure(&error))?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            url = self.redirected(&url, &response)?;
        }
        Err(Failure::fatal(other(format!("more than {MAX_REDIRECTS} redirects"))))
    }
}

/// Whether the host of `url` has an address that is not a public one, or none that is known.
fn leads_to_private(url: &Url) -> bool {
    let addresses = url.socket_addrs(|| None);
    addresses.map_or(true, |addresses| addresses.is_empty() || addresses.iter().any(|at| is_private(at.ip())))
}

/// Whether an address is of this machine, of a private network, or of a link (RFC 1918, 3927, 4193, 4291, 6598).
fn is_private(address: IpAddr) -> bool {
    let of_v4 = |address: Ipv4Addr| {
        let [first, second, ..] = address.octets();
        let is_shared = first == 100 && second & 0xC0 == 64;
        let is_here = address.is_loopback() || address.is_unspecified() || first == 0;
        is_here || is_shared || address.is_private() || address.is_link_local() || address.is_broadcast()
    };
    match address {
        IpAddr::V4(address) => of_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => of_v4(address),
            None => {
                let is_here = address.is_loopback() || address.is_unspecified();
                is_here || address.is_unique_local() || address.is_unicast_link_local()
            }
        },
    }
}

fn other(problem: impl Into<String>) -> Error {
    Error::from(io::Error::other(problem.into()))
}

/// The failure for an error of the client.
pub(crate) fn failure(error: &ureq::Error) -> Failure {
    let (kind, text) = explain(error);
    let shown = io::Error::new(kind, text);
    if is_transient(error) { Failure::transient(0, shown) } else { Failure::fatal(shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_private() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.9.9",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "::",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
    }
}

//! Objects at `http` and `https` addresses, by ranges (RFC 9110, 14).

use std::io::{self, ErrorKind, Read as _};
use std::time::Duration;

use container_core::{Error, Limits, Result};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use ureq::{Agent, Body, Proxy};
use url::Url;

use crate::store::{Failure, Opened, Pin, Store};
use crate::{RemoteOptions, RemoteUrl};

mod response;

use response::{ContentRange, pin};

type Response = ureq::http::Response<Body>;

/// Redirects that are followed for one request.
const MAX_REDIRECTS: usize = 5;

/// Longest object that is read whole where a server ignores ranges.
const MAX_WHOLE: u64 = 64 << 20;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(20);

/// An object at an `http` or `https` address.
pub(crate) struct Http {
    agent: Agent,
    url: Url,
    /// Headers for the origin of `url`.
    headers: HeaderMap,
    max_whole: u64,
}

impl Http {
    pub(crate) fn new(url: &RemoteUrl, options: &RemoteOptions, limits: &Limits) -> Result<Self> {
        let proxy = options.proxy.as_deref().map(Proxy::new).transpose();
        let proxy =
            proxy.map_err(|_| Error::usage("invalid address of the proxy (expected http://HOST:PORT)"))?;
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // They are followed here, where headers are kept from other origins.
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
            .new_agent();
        let mut headers = HeaderMap::new();
        for (name, value) in &options.headers {
            // The value may be secret, and so may the name of a header that was typed the other way round.
            let invalid = || Error::usage("invalid header (expected NAME: VALUE)");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            headers.append(name, HeaderValue::from_str(value).map_err(|_| invalid())?);
        }
        let mut url = url.0.clone();
        url.set_fragment(None);
        Ok(Self { agent, url, headers, max_whole: MAX_WHOLE.min(limits.memory / 4) })
    }

    /// Requests `range`, of the version `pin` where there is one, and follows redirects.
    fn get(&self, range: &str, pin: Option<&Pin>) -> Result<Response, Failure> {
        let mut url = self.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self.agent.get(url.as_str()).header("Range", range);
            if url.origin() == self.url.origin() {
                for (name, value) in &self.headers {
                    request = request.header(name, value);
                }
            }
            if let Some(tag) = pin.and_then(Pin::strong_etag) {
                request = request.header("If-Match", tag);
            }
            let response = request.call().map_err(failure)?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            url = self.redirected(&url, &response)?;
        }
        Err(Failure::fatal(other(format!("more than {MAX_REDIRECTS} redirects"))))
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
        // A password in the target would be sent as a header.
        if to.origin() != self.url.origin() && (!to.username().is_empty() || to.password().is_some()) {
            return Err(refused("to an address with a user name"));
        }
        Ok(to)
    }
}

impl Store for Http {
    fn head(&self, len: u64) -> Result<Opened, Failure> {
        let mut response = self.get(&format!("bytes=0-{}", len.saturating_sub(1)), None)?;
        refuse_encoding(&response)?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let range =
                    ContentRange::of(response.headers()).ok_or_else(|| malformed("invalid Content-Range"))?;
                let ContentRange::Part { start: 0, end, len: total } = range else {
                    return Err(malformed("answer with another range than requested"));
                };
                if end > len.min(total) || end < len.min(total).min(1) {
                    return Err(malformed("answer with another range than requested"));
                }
                let mut head = vec![0; usize::try_from(end).unwrap_or(usize::MAX)];
                let filled = fill(response.body_mut(), &mut head)?;
                if filled < head.len() {
                    return Err(Failure::transient(0, early(filled, head.len())));
                }
                Ok(Opened { head, pin: pin(response.headers(), total) })
            }
            // The server ignores ranges, or the object is shorter than the range.
            StatusCode::OK => {
                let announced = length(response.headers());
                if announced.is_some_and(|len| len > self.max_whole) {
                    return Err(whole_only());
                }
                let mut head = Vec::new();
                let most = self.max_whole.saturating_add(1);
                let read = response.body_mut().as_reader().take(most).read_to_end(&mut head);
                read.map_err(|error| Failure::transient(0, body_error(&error)))?;
                if head.len() as u64 > self.max_whole {
                    return Err(whole_only());
                }
                if announced.is_some_and(|len| len != head.len() as u64) {
                    let need = announced.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
                    return Err(Failure::transient(0, early(head.len(), need)));
                }
                let total = head.len() as u64;
                Ok(Opened { head, pin: pin(response.headers(), total) })
            }
            StatusCode::RANGE_NOT_SATISFIABLE
                if ContentRange::of(response.headers()) == Some(ContentRange::Unsatisfied { len: 0 }) =>
            {
                Ok(Opened { head: Vec::new(), pin: pin(response.headers(), 0) })
            }
            _ => Err(status(&response)),
        }
    }

    fn fetch(&self, at: u64, dst: &mut [u8], expected: &Pin) -> Result<(), Failure> {
        let end = at.saturating_add(dst.len() as u64);
        let mut response = self.get(&format!("bytes={at}-{}", end.saturating_sub(1)), Some(expected))?;
        refuse_encoding(&response)?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let range =
                    ContentRange::of(response.headers()).ok_or_else(|| malformed("invalid Content-Range"))?;
                let ContentRange::Part { start, end: sent, len } = range else {
                    return Err(malformed("invalid Content-Range"));
                };
                if !expected.matches(&pin(response.headers(), len)) {
                    return Err(changed());
                }
                if start != at || sent > end || sent <= start {
                    return Err(malformed("answer with another range than requested"));
                }
                let count = usize::try_from(sent.saturating_sub(start)).unwrap_or(usize::MAX).min(dst.len());
                let part = dst.get_mut(..count).unwrap_or_default();
                let filled = fill(response.body_mut(), part)?;
                complete(filled, dst.len())
            }
            StatusCode::OK => {
                let len = length(response.headers()).unwrap_or(expected.len);
                if !expected.matches(&pin(response.headers(), len)) {
                    return Err(changed());
                }
                // All of the object instead of a range: the bytes before it are passed over, unless they are many.
                if end > self.max_whole {
                    return Err(whole_only());
                }
                let mut body = response.body_mut().as_reader();
                let skipped = io::copy(&mut (&mut body).take(at), &mut io::sink());
                let skipped = skipped.map_err(|error| Failure::transient(0, body_error(&error)))?;
                if skipped < at {
                    return Err(Failure::transient(0, early(0, dst.len())));
                }
                let filled =
                    read_full(&mut body, dst).map_err(|(filled, error)| Failure::transient(filled, error))?;
                complete(filled, dst.len())
            }
            StatusCode::PRECONDITION_FAILED | StatusCode::RANGE_NOT_SATISFIABLE => Err(changed()),
            _ => Err(status(&response)),
        }
    }
}

/// Checks that all of `expected` bytes arrived.
fn complete(filled: usize, expected: usize) -> Result<(), Failure> {
    if filled < expected { Err(Failure::transient(filled, early(filled, expected))) } else { Ok(()) }
}

/// Fills `dst` from a body that has as many bytes; fewer where it ends early.
fn fill(body: &mut Body, dst: &mut [u8]) -> Result<usize, Failure> {
    let mut body = body.as_reader();
    let filled = read_full(&mut body, dst).map_err(|(filled, error)| Failure::transient(filled, error))?;
    // A longer body does not belong to the range that its header has.
    match body.read(&mut [0]) {
        Ok(1..) if filled == dst.len() => Err(malformed("answer longer than its range")),
        _ => Ok(filled),
    }
}

/// Reads until `dst` is full or the body ends; with an error, the number of bytes before it.
fn read_full(body: &mut impl io::Read, dst: &mut [u8]) -> Result<usize, (usize, io::Error)> {
    let mut filled = 0;
    while let Some(rest) = dst.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match body.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((filled, body_error(&error))),
        }
    }
    Ok(filled)
}

/// The error for a body that cannot be read. The client's own text is not shown: it may have the address in it.
fn body_error(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    match inner {
        Some(ureq::Error::Timeout(_)) => {
            io::Error::new(ErrorKind::TimedOut, "the answer stopped within its bytes")
        }
        _ => io::Error::new(error.kind(), "the connection failed within an answer"),
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(|text| text.trim().to_owned())
}

fn length(headers: &HeaderMap) -> Option<u64> {
    text(headers, "content-length")?.parse().ok()
}

/// Refuses an encoded body: it was not asked for, and its ranges are other bytes.
fn refuse_encoding(response: &Response) -> Result<(), Failure> {
    match text(response.headers(), "content-encoding") {
        Some(encoding) if response.status().is_success() && !encoding.eq_ignore_ascii_case("identity") => {
            let shown: String = encoding.chars().take(40).flat_map(char::escape_default).collect();
            Err(Failure::fatal(Error::unsupported(format!(
                "answer with Content-Encoding {shown} (expected none)"
            ))))
        }
        _ => Ok(()),
    }
}

fn other(problem: impl Into<String>) -> Error {
    Error::from(io::Error::other(problem.into()))
}

fn malformed(problem: &str) -> Failure {
    Failure::fatal(Error::from(io::Error::new(ErrorKind::InvalidData, problem)))
}

fn early(filled: usize, expected: usize) -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, format!("answer of {filled} bytes (expected {expected})"))
}

/// The failure for another version than that of the time of opening.
fn changed() -> Failure {
    let error = Error::from(io::Error::new(
        ErrorKind::StaleNetworkFileHandle,
        "the file changed on the server while it was read",
    ));
    Failure::fatal(error.with_hint("open it again"))
}

fn whole_only() -> Failure {
    let error = Error::unsupported("the server ignores ranges and sends the whole file");
    Failure::fatal(error.with_hint("download the file, and read the copy"))
}

/// The failure for a status that is not an answer.
fn status(response: &Response) -> Failure {
    let status = response.status();
    let code = status.as_u16();
    let text = format!("the server answered {code} {}", status.canonical_reason().unwrap_or_default());
    let of = |kind| Error::from(io::Error::new(kind, text.trim_end().to_owned()));
    match code {
        401 | 403 | 407 => Failure::fatal(of(ErrorKind::PermissionDenied)),
        404 | 410 => Failure::fatal(of(ErrorKind::NotFound)),
        408 | 429 | 500..=599 => {
            let retry_after =
                self::text(response.headers(), "retry-after").and_then(|text| text.parse().ok());
            let mut failure = Failure::transient(0, of(ErrorKind::Other));
            failure.retry_after = retry_after.map(Duration::from_secs);
            failure
        }
        _ => Failure::fatal(of(ErrorKind::Other)),
    }
}

/// The failure for an error of the client. Its text is not shown: it may have the address in it.
fn failure(error: ureq::Error) -> Failure {
    let of = |kind, text: &str| Error::from(io::Error::new(kind, text));
    match error {
        ureq::Error::Io(error) => {
            let text = match error.kind() {
                ErrorKind::ConnectionRefused => "the server refused the connection",
                ErrorKind::TimedOut => "the server did not answer in time",
                _ => "the connection failed",
            };
            Failure::transient(0, of(error.kind(), text))
        }
        ureq::Error::Timeout(_) => {
            Failure::transient(0, of(ErrorKind::TimedOut, "the server did not answer in time"))
        }
        ureq::Error::Protocol(_) => {
            Failure::transient(0, of(ErrorKind::InvalidData, "invalid HTTP in the answer"))
        }
        ureq::Error::ConnectionFailed => {
            Failure::transient(0, of(ErrorKind::NotConnected, "the connection failed"))
        }
        ureq::Error::HostNotFound => Failure::fatal(of(ErrorKind::NotFound, "unknown host")),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Failure::fatal(of(
            ErrorKind::InvalidData,
            "no secure connection (TLS): the certificate or the protocol does not fit",
        )),
        _ => Failure::fatal(of(ErrorKind::Other, "the request failed")),
    }
}

//! An object that a server sends by ranges (RFC 9110, 14).

use std::io::{self, ErrorKind, Read as _};
use std::ops::Range;

use container_core::{Error, Limits};
use ureq::Body;
use ureq::http::StatusCode;

use crate::answer::{ContentRange, Response, length, malformed, pin, refuse_encoding, status};
use crate::store::{Failure, Opened, Pin, Store};

/// Longest object that is read whole where a server ignores ranges.
const MAX_WHOLE: u64 = 64 << 20;

/// Requests for one object.
pub(crate) trait Request: Send + Sync {
    /// Requests `range`, which is not empty, of the version `pin` where there is one. The answer is neither a redirect nor checked.
    fn get(&self, range: Range<u64>, pin: Option<&Pin>) -> Result<Response, Failure>;

    /// The failure for an answer that refuses, with what the caller can do about it.
    fn explain(&self, failure: Failure) -> Failure {
        failure
    }
}

/// An object that is read by requests for its ranges. Answers are checked: their range, their length, their version, and that they are not encoded.
pub(crate) struct RangedObject<R> {
    request: R,
    max_whole: u64,
}

impl<R: Request> RangedObject<R> {
    pub(crate) fn new(request: R, limits: &Limits) -> Self {
        Self { request, max_whole: MAX_WHOLE.min(limits.memory / 4) }
    }
}

impl<R: Request> Store for RangedObject<R> {
    fn head(&self, len: u64) -> Result<Opened, Failure> {
        let mut response = self.request.get(0..len, None)?;
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
            _ => Err(self.request.explain(status(&mut response))),
        }
    }

    fn fetch(&self, at: u64, dst: &mut [u8], expected: &Pin) -> Result<(), Failure> {
        let end = at.saturating_add(dst.len() as u64);
        let mut response = self.request.get(at..end, Some(expected))?;
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
            _ => Err(self.request.explain(status(&mut response))),
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

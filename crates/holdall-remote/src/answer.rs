//! Answers of servers: their fields, and their failures.

use std::io::{self, ErrorKind, Read as _};
use std::time::Duration;

use container_core::Error;
use ureq::Body;
use ureq::http::{HeaderMap, StatusCode};

use crate::store::{Failure, Pin};

pub(crate) type Response = ureq::http::Response<Body>;

/// Bytes of an error's body that are searched for its code.
const MAX_ERROR_BODY: u64 = 4 << 10;

/// A `Content-Range` (RFC 9110, 14.4) of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentRange {
    /// Bytes `start..end` of an object of `len` bytes; `start < end <= len`.
    Part { start: u64, end: u64, len: u64 },
    /// No byte of an object of `len` bytes is in the range that was requested.
    Unsatisfied { len: u64 },
}

impl ContentRange {
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::parse(&text(headers, "content-range")?)
    }

    /// Parses `bytes 0-99/1234` or `bytes */1234`. `None` for anything else, an unknown length (`*`) included: readers need it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (unit, rest) = text.split_once(' ')?;
        let (range, len) = rest.trim().split_once('/')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let len = number(len)?;
        if range == "*" {
            return Some(Self::Unsatisfied { len });
        }
        let (first, last) = range.split_once('-')?;
        let (start, end) = (number(first)?, number(last)?.checked_add(1)?);
        (start < end && end <= len).then_some(Self::Part { start, end, len })
    }
}

/// Digits alone: `u64::from_str` takes a sign, too.
fn number(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits { text.parse().ok() } else { None }
}

/// The version of an answer about an object of `len` bytes.
pub(crate) fn pin(headers: &HeaderMap, len: u64) -> Pin {
    Pin { len, etag: text(headers, "etag"), last_modified: text(headers, "last-modified") }
}

pub(crate) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(|text| text.trim().to_owned())
}

pub(crate) fn length(headers: &HeaderMap) -> Option<u64> {
    text(headers, "content-length")?.parse().ok()
}

/// Refuses an encoded body: it was not asked for, and its ranges are other bytes.
pub(crate) fn refuse_encoding(response: &Response) -> Result<(), Failure> {
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

pub(crate) fn malformed(problem: &str) -> Failure {
    Failure::fatal(Error::from(io::Error::new(ErrorKind::InvalidData, problem)))
}

/// The failure for a status that is not an answer.
pub(crate) fn status(response: &mut Response) -> Failure {
    let reason = reason(response);
    failure_of(response.status(), response.headers(), reason)
}

/// The failure for a status, with the code of an object store where there is one.
pub(crate) fn failure_of(status: StatusCode, headers: &HeaderMap, reason: Option<String>) -> Failure {
    let code = status.as_u16();
    let mut text = format!("the server answered {code} {}", status.canonical_reason().unwrap_or_default());
    if let Some(reason) = reason {
        text.push_str(&format!(" ({reason})"));
    }
    let of = |kind| Error::from(io::Error::new(kind, text.trim_end().to_owned()));
    match code {
        401 | 403 | 407 => Failure::fatal(of(ErrorKind::PermissionDenied)),
        404 | 410 => Failure::fatal(of(ErrorKind::NotFound)),
        408 | 429 | 500..=599 => {
            let retry_after = self::text(headers, "retry-after").and_then(|text| text.parse().ok());
            let mut failure = Failure::transient(0, of(ErrorKind::Other));
            failure.retry_after = retry_after.map(Duration::from_secs);
            failure
        }
        _ => Failure::fatal(of(ErrorKind::Other)),
    }
}

/// The code of an object store's error (`<Code>NoSuchKey</Code>`), which is a single word. Nothing else of a body is shown: it may have the address in it.
fn reason(response: &mut Response) -> Option<String> {
    if !text(response.headers(), "content-type")?.to_ascii_lowercase().contains("xml") {
        return None;
    }
    let mut body = Vec::new();
    // As much as arrives: the code is at the start.
    let _ = response.body_mut().as_reader().take(MAX_ERROR_BODY).read_to_end(&mut body);
    code_of(&body)
}

fn code_of(body: &[u8]) -> Option<String> {
    let body = std::str::from_utf8(body).ok()?;
    let (_, rest) = body.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_word = (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_single_word_is_shown_of_an_error() {
        // https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
        let body = "<?xml version=\"1.0\"?>\n<Error>\n<Code>NoSuchKey</Code>\n<Message>The resource you requested does not exist</Message></Error>";
        assert_eq!(code_of(body.as_bytes()), Some("NoSuchKey".to_owned()));
        for body in ["", "<Code>", "<Code></Code>", "<Code>https://h?sig=SECRET</Code>", "<Code>a b</Code>"] {
            assert_eq!(code_of(body.as_bytes()), None, "{body}");
        }
        assert_eq!(code_of(b"\xff<Code>A</Code>"), None);
    }

    #[test]
    fn content_ranges_are_parsed() {
        use ContentRange::{Part, Unsatisfied};
        for (text, expected) in [
            ("bytes 0-99/1234", Some(Part { start: 0, end: 100, len: 1234 })),
            ("Bytes 5-5/6", Some(Part { start: 5, end: 6, len: 6 })),
            ("bytes */0", Some(Unsatisfied { len: 0 })),
            ("bytes 0-99/*", None),
            ("bytes 0-99/99", None),
            ("bytes 9-8/99", None),
            ("bytes +0-+9/99", None),
            ("bytes 0-18446744073709551615/18446744073709551615", None),
            ("bytes -5/9", None),
            ("bytes=0-1/9", None),
            ("items 0-1/9", None),
            ("", None),
        ] {
            assert_eq!(ContentRange::parse(text), expected, "{text:?}");
        }
    }
}

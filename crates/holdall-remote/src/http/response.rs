//! Fields of answers: the range, the length, the version.

use ureq::http::HeaderMap;

use super::text;
use crate::store::Pin;

/// A `Content-Range` (RFC 9110, 14.4) of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentRange {
    /// Bytes `start..end` of an object of `len` bytes; `start < end <= len`.
    Part { start: u64, end: u64, len: u64 },
    /// No byte of an object of `len` bytes is in the range that was requested.
    Unsatisfied { len: u64 },
}

impl ContentRange {
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::parse(&text(headers, "content-range")?)
    }

    /// Parses `bytes 0-99/1234` or `bytes */1234`. `None` for anything else, an unknown length (`*`) included: readers need it.
    pub(super) fn parse(text: &str) -> Option<Self> {
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
pub(super) fn pin(headers: &HeaderMap, len: u64) -> Pin {
    Pin { len, etag: text(headers, "etag"), last_modified: text(headers, "last-modified") }
}

#[cfg(test)]
mod tests {
    use super::*;

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

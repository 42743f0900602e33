//! One object on a server, as back ends provide it.

use std::time::Duration;

use container_core::Error;

/// The version of an object at the time of opening. Later answers have to match it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pin {
    /// Length of the object in bytes.
    pub len: u64,
    /// The entity tag with its quotes, weak or strong (RFC 9110, 8.8.3).
    pub etag: Option<String>,
    /// The date of the last change as the server formats it (RFC 9110, 8.8.2).
    pub last_modified: Option<String>,
}

impl Pin {
    /// The entity tag for `If-Match`, which compares strong tags only: nginx answers 412 to a weak one of an unchanged object.
    pub(crate) fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }

    /// Whether another answer is from the same version. A field that either answer lacks is not compared.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        // With equal tags the date is a matter of the server that answers: replicas of one object differ in it.
        let dates = || same(&self.last_modified, &other.last_modified);
        self.len == other.len
            && same(&self.etag, &other.etag)
            && (self.etag.is_some() && other.etag.is_some() || dates())
    }
}

/// The first bytes of an object, and its version.
pub(crate) struct Opened {
    /// Bytes from the start of the object on: as many as were requested, the whole object where it is shorter or the server ignores ranges.
    pub head: Vec<u8>,
    pub pin: Pin,
}

/// A failed request.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Bytes at the start of the requested range that arrived.
    pub filled: usize,
    pub error: Error,
    /// Whether the same request may succeed later.
    pub is_transient: bool,
    /// Time to wait before the next attempt, by the server.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure that no retry changes.
    pub(crate) fn fatal(error: impl Into<Error>) -> Self {
        Self { filled: 0, error: error.into(), is_transient: false, retry_after: None }
    }

    /// A failure that a retry may change, after `filled` bytes.
    pub(crate) fn transient(filled: usize, error: impl Into<Error>) -> Self {
        Self { filled, error: error.into(), is_transient: true, retry_after: None }
    }
}

/// An object on a server. A call makes one request (and those of redirects), without retries.
pub(crate) trait Store: Send + Sync {
    /// Requests the first `len` bytes, and the version.
    fn head(&self, len: u64) -> Result<Opened, Failure>;

    /// Fills `dst` with the bytes from `at` on, of the version `pin`. `dst` is not empty and ends within the object.
    fn fetch(&self, at: u64, dst: &mut [u8], pin: &Pin) -> Result<(), Failure>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(len: u64, etag: Option<&str>, date: Option<&str>) -> Pin {
        Pin { len, etag: etag.map(str::to_owned), last_modified: date.map(str::to_owned) }
    }

    #[test]
    fn versions_match_by_length_tag_and_date() {
        let tagged = pin(9, Some("\"a\""), Some("Mon"));
        assert!(tagged.matches(&pin(9, Some("\"a\""), Some("Tue"))));
        assert!(tagged.matches(&pin(9, None, Some("Mon"))) && !tagged.matches(&pin(9, None, Some("Tue"))));
        assert!(!tagged.matches(&pin(9, Some("\"b\""), Some("Mon"))));
        assert!(!tagged.matches(&pin(8, Some("\"a\""), Some("Mon"))));
        assert!(pin(9, None, None).matches(&tagged));
    }

    #[test]
    fn weak_tags_are_not_sent_as_conditions() {
        assert_eq!(pin(1, Some("\"a\""), None).strong_etag(), Some("\"a\""));
        assert_eq!(pin(1, Some("W/\"a\""), None).strong_etag(), None);
    }
}

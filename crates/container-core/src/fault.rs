//! Faults: what a reader of a format finds wrong or odd in a file, each with its place and its sentence.
//!
//! A format names its kinds ([`FaultKind`]); what is done with a fault is the same everywhere: `verify` shows it as a finding, and
//! reading what it concerns gives it as an error.

use std::fmt::Debug;
use std::ops::Range;

use crate::report::{Finding, Severity};
use crate::{Error, ErrorKind};

/// Properties of a format's kinds of faults.
pub trait FaultKind: Copy + Eq + Debug {
    /// The stable name, as in machine output.
    fn code(self) -> &'static str;

    /// Damage, something that may trouble a reader, or merely odd.
    fn severity(self) -> Severity;

    /// The part of the file that it concerns, as errors begin: `asdf block`.
    fn place(self) -> &'static str;

    /// True where nothing is damaged, but nobody knows how to read it.
    fn is_unsupported(self) -> bool {
        false
    }
}

/// One thing that is wrong or odd, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<K> {
    kind: K,
    range: Range<u64>,
    message: String,
    index: Option<u64>,
    part: Option<String>,
    cause: Cause,
}

/// Result of reading for a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    Malformed,
    Unsupported,
    /// Bytes of the claimed ones that are there.
    Truncated {
        have: u64,
    },
    Checksum {
        stored: String,
        computed: String,
    },
}

impl<K: FaultKind> Fault<K> {
    /// A fault of the bytes `range`, which are absolute.
    pub fn new(kind: K, range: Range<u64>, message: impl Into<String>) -> Self {
        let cause = if kind.is_unsupported() { Cause::Unsupported } else { Cause::Malformed };
        Self { kind, range, message: message.into(), index: None, part: None, cause }
    }

    /// A file of `file_len` bytes ends before the bytes that it claims.
    #[must_use]
    pub fn truncated(kind: K, claimed: Range<u64>, file_len: u64, what: &str) -> Self {
        let need = claimed.end.saturating_sub(claimed.start);
        let have = file_len.saturating_sub(claimed.start).min(need);
        let message = format!("the file ends within {what}: need {need} bytes, {have} present");
        Self { cause: Cause::Truncated { have }, ..Self::new(kind, claimed, message) }
    }

    /// The fault of the bytes `range` that `error` reports, whatever range it has itself.
    #[must_use]
    pub fn of_error(kind: K, error: Error, range: Range<u64>) -> Self {
        let fault = Self::new(kind, range, error.kind().to_string());
        let cause = match error.into_kind() {
            ErrorKind::Unsupported(_) => Cause::Unsupported,
            ErrorKind::Truncated { have, .. } => Cause::Truncated { have },
            ErrorKind::Checksum { stored, computed } => Cause::Checksum { stored, computed },
            _ => Cause::Malformed,
        };
        Self { cause, ..fault }
    }

    /// The block or chunk that it concerns, counted from 0.
    #[must_use]
    pub fn of(mut self, index: u64) -> Self {
        self.index = Some(index);
        self
    }

    /// The file of a set of files that it concerns.
    #[must_use]
    pub fn in_file(mut self, part: Option<String>) -> Self {
        self.part = part;
        self
    }

    /// The same in other words.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Kind of the fault.
    #[must_use]
    pub const fn kind(&self) -> K {
        self.kind
    }

    /// The stable name, as in machine output.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// The absolute bytes that it concerns. A truncation's are those that the file claims.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// The sentence for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The block or chunk that it concerns, counted from 0.
    #[must_use]
    pub const fn index(&self) -> Option<u64> {
        self.index
    }

    /// The file of a set of files that it concerns; `None` for the main one, and where there is but one.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    /// As a finding of a check.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let mut finding = Finding::new(self.severity(), self.code(), self.message.clone()).at(self.range());
        finding.part.clone_from(&self.part);
        finding
    }

    /// As the error that reading what it concerns gives. Of damage it says that there is a repair.
    #[must_use]
    pub fn error(&self) -> Error {
        let kind = match &self.cause {
            Cause::Malformed => ErrorKind::Malformed(self.message.clone().into()),
            Cause::Unsupported => ErrorKind::Unsupported(self.message.clone().into()),
            Cause::Truncated { have } => {
                ErrorKind::Truncated { need: self.range.end.saturating_sub(self.range.start), have: *have }
            }
            Cause::Checksum { stored, computed } => {
                ErrorKind::Checksum { stored: stored.clone(), computed: computed.clone() }
            }
        };
        let mut error = Error::new(kind).with_range(self.range()).with_context(self.kind.place());
        if let Some(part) = &self.part {
            error = error.in_file(part.clone());
        }
        if self.severity() == Severity::Error && self.cause != Cause::Unsupported {
            error = error.with_hint("holdall repair FILE -o NEW brings back what is there");
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        Cut,
        Strange,
    }

    impl FaultKind for Kind {
        fn code(self) -> &'static str {
            "code"
        }

        fn severity(self) -> Severity {
            Severity::Error
        }

        fn place(self) -> &'static str {
            "some block"
        }

        fn is_unsupported(self) -> bool {
            self == Self::Strange
        }
    }

    #[test]
    fn a_cut_file_says_what_is_there() {
        let fault = Fault::truncated(Kind::Cut, 10..30, 14, "a block").of(3);
        assert_eq!(fault.message(), "the file ends within a block: need 20 bytes, 4 present");
        assert_eq!((fault.index(), fault.range()), (Some(3), 10..30));
        let error = fault.error();
        assert!(matches!(error.kind(), ErrorKind::Truncated { need: 20, have: 4 }));
        assert!(error.hint().is_some());
        // Nothing of it is in the file.
        let beyond = Fault::truncated(Kind::Cut, 30..40, 14, "a block").error();
        assert!(matches!(beyond.kind(), ErrorKind::Truncated { need: 10, have: 0 }));
    }

    #[test]
    fn nobody_repairs_what_nobody_can_read() {
        let error = Fault::new(Kind::Strange, 0..4, "version 9").in_file(Some("a".to_owned())).error();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
        assert_eq!((error.hint(), error.file_name()), (None, Some("a")));
    }

    #[test]
    fn an_error_keeps_its_kind_and_gets_its_place() {
        let kind = ErrorKind::Checksum { stored: "0a".into(), computed: "0b".into() };
        let fault =
            Fault::of_error(Kind::Cut, Error::new(kind).with_range(1..2), 5..6).with_message("no fit");
        assert_eq!((fault.range(), fault.message()), (5..6, "no fit"));
        let error = fault.error();
        assert!(
            matches!(error.kind(), ErrorKind::Checksum { stored, computed } if stored == "0a" && computed == "0b")
        );
    }
}

//! Faults: errors and oddities that a reader of a format finds in a file, each with its place and its sentence.
//!
//! A format defines its kinds by a table ([`fault_kinds!`](crate::fault_kinds)); faults are used in the same way everywhere: `verify` reports one as
//! a finding, and reading the affected part returns it as an error.

use std::fmt::Debug;
use std::ops::Range;

use crate::report::{Finding, Severity};
use crate::{Error, ErrorKind};

/// A kind of faults of a format; [`fault_kinds!`](crate::fault_kinds) defines them.
pub trait FaultKind: Copy + Eq + Debug {
    /// Returns the common properties of all faults of this kind.
    fn properties(self) -> FaultProperties;
}

/// Properties that all faults of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultProperties {
    /// The stable name, as in machine output.
    pub code: &'static str,
    /// Damage, something that may trouble a reader, or merely odd.
    pub severity: Severity,
    /// The part of the file that it concerns, as errors begin: `asdf block`.
    pub location: &'static str,
    /// True for a valid part that this version cannot read.
    pub is_unsupported: bool,
}

impl FaultProperties {
    /// Damage.
    #[must_use]
    pub const fn error(code: &'static str, location: &'static str) -> Self {
        Self { code, severity: Severity::Error, location, is_unsupported: false }
    }

    /// Something that may trouble a reader.
    #[must_use]
    pub const fn warning(code: &'static str, location: &'static str) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, location) }
    }

    /// Merely odd.
    #[must_use]
    pub const fn note(code: &'static str, location: &'static str) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, location) }
    }

    /// A valid part that this version cannot read.
    #[must_use]
    pub const fn unsupported(code: &'static str, location: &'static str) -> Self {
        Self { is_unsupported: true, ..Self::error(code, location) }
    }
}

/// Defines the enum `FaultKind` of a format by a table: of each kind the constructor of [`FaultProperties`], the code and the location.
///
/// Kinds may share a code: the program distinguishes them, its output does not.
///
/// ```
/// use container_core::report::Severity;
///
/// container_core::fault_kinds! {
///     /// Bytes between blocks.
///     Gap = warning("gap", "asdf block"),
///     /// The file ends within a block.
///     Truncated = error("truncated", "asdf block"),
/// }
///
/// # fn main() {
/// assert_eq!((FaultKind::Gap.code(), FaultKind::Gap.severity()), ("gap", Severity::Warning));
/// # }
/// ```
#[macro_export]
macro_rules! fault_kinds {
    ($($(#[$doc:meta])* $kind:ident = $constructor:ident($code:literal, $location:literal),)+) => {
        /// Kind of a fault or an oddity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)+
        }

        impl FaultKind {
            const fn entry(self) -> $crate::fault::FaultProperties {
                match self {
                    $(Self::$kind => $crate::fault::FaultProperties::$constructor($code, $location),)+
                }
            }

            /// The stable name, as in machine output.
            #[must_use]
            pub const fn code(self) -> &'static str {
                self.entry().code
            }

            /// Damage, something that may trouble a reader, or merely odd.
            #[must_use]
            pub const fn severity(self) -> $crate::report::Severity {
                self.entry().severity
            }

            /// The part of the file that it concerns, as errors begin.
            #[must_use]
            pub const fn location(self) -> &'static str {
                self.entry().location
            }
        }

        impl $crate::fault::FaultKind for FaultKind {
            fn properties(self) -> $crate::fault::FaultProperties {
                self.entry()
            }
        }
    };
}

/// One fault or oddity, with its place.
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
    /// Number of existing bytes of the claimed ones.
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
        let cause = if kind.properties().is_unsupported { Cause::Unsupported } else { Cause::Malformed };
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
        self.kind.properties().code
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.kind.properties().severity
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

    /// Converts it to a finding of a check.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let mut finding = Finding::new(self.severity(), self.code(), self.message.clone()).at(self.range());
        finding.part.clone_from(&self.part);
        finding
    }

    /// Converts it to the error of reading the part it concerns. For damage, the error hints at a repair.
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
        let mut error =
            Error::new(kind).with_range(self.range()).with_context(self.kind.properties().location);
        if let Some(part) = &self.part {
            error = error.in_file(part.clone());
        }
        if self.severity() == Severity::Error && self.cause != Cause::Unsupported {
            error = error.with_hint("holdall repair FILE -o NEW recovers the intact data");
        }
        error
    }
}

#[cfg(test)]
mod tests;

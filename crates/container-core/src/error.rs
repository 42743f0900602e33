//! One error type for every format: the part that was being read, the problem, its place, and a hint.
//!
//! [`Error`] is one pointer wide, so that `Result<u64>` stays small on hot paths. Match on
//! [`Error::kind`]; the sentence is for people and may change.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;

/// A result of this workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Kind of an error, in terms a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not this format at all.
    #[error("not {expected}")]
    WrongFormat {
        /// The expected format or formats, with an article: "a RawArray file".
        expected: Cow<'static, str>,
    },
    /// The file ends before something that it announces.
    #[error("file ends early: need {need} bytes, {have} present")]
    Truncated {
        /// Bytes that the structure needs.
        need: u64,
        /// Number of its existing bytes.
        have: u64,
    },
    /// The bytes contradict the specification or each other.
    #[error("{0}")]
    Malformed(Cow<'static, str>),
    /// Legal or plausible, but not something this library decodes.
    #[error("{0}")]
    Unsupported(Cow<'static, str>),
    /// A stored digest does not fit the bytes it covers.
    #[error("checksum differs: stored {stored}, computed {computed}")]
    Checksum {
        /// The digest in the file, in hexadecimal.
        stored: String,
        /// The digest of the bytes, in hexadecimal.
        computed: String,
    },
    /// The file demands more than [`Limits`](crate::Limits) allow.
    #[error("{what} would be {asked}, the limit is {allowed}")]
    Limit {
        /// The limited quantity, with its unit: "memory in bytes".
        what: Cow<'static, str>,
        /// The demanded amount.
        asked: u64,
        /// The amount that the caller allows.
        allowed: u64,
    },
    /// A sparse source does not hold these bytes yet; fetch them and run the operation again.
    #[error("bytes {}..{} are not loaded", .0.start, .0.end)]
    Missing(Range<u64>),
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The request of the caller is invalid.
    #[error("{0}")]
    Usage(Cow<'static, str>),
    /// The file lacks a part that the format allows it to lack: the question is valid, the answer is no.
    #[error("{0}")]
    Absent(Cow<'static, str>),
    /// A progress callback or the flag of a [`Stop`](crate::Stop) requested the end.
    #[error("cancelled")]
    Cancelled,
}

impl ErrorKind {
    /// The kind as a word for logs and answers of a service: `wrong_format`, `truncated`, `malformed`, `unsupported`, `checksum`, `limit`, `missing`,
    /// `io`, `usage`, `absent` or `cancelled`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::WrongFormat { .. } => "wrong_format",
            Self::Truncated { .. } => "truncated",
            Self::Malformed(_) => "malformed",
            Self::Unsupported(_) => "unsupported",
            Self::Checksum { .. } => "checksum",
            Self::Limit { .. } => "limit",
            Self::Missing(_) => "missing",
            Self::Io(_) => "io",
            Self::Usage(_) => "usage",
            Self::Absent(_) => "absent",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An error with its place. See [`ErrorKind`] for the cases.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    context: Option<Cow<'static, str>>,
    range: Option<Range<u64>>,
    part: Option<String>,
    dataset: Option<String>,
    subject: Option<String>,
    hint: Option<Cow<'static, str>>,
    is_after_change: bool,
}

impl Error {
    /// An error of `kind` without a place; add one with [`Error::with_range`] and [`Error::with_context`].
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        let (context, range, part, dataset, subject, hint) = (None, None, None, None, None, None);
        Self(Box::new(Inner { kind, context, range, part, dataset, subject, hint, is_after_change: false }))
    }

    /// [`ErrorKind::WrongFormat`].
    pub fn wrong_format(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::WrongFormat { expected: expected.into() })
    }

    /// [`ErrorKind::Truncated`]: `range` is the range that the structure claims, `have` the number of its existing bytes.
    #[must_use]
    pub fn truncated(range: Range<u64>, have: u64) -> Self {
        let need = range.end.saturating_sub(range.start);
        Self::new(ErrorKind::Truncated { need, have }).with_range(range)
    }

    /// [`ErrorKind::Malformed`].
    pub fn malformed(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Malformed(what.into()))
    }

    /// [`ErrorKind::Unsupported`].
    pub fn unsupported(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported(what.into()))
    }

    /// [`ErrorKind::Usage`].
    pub fn usage(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Usage(what.into()))
    }

    /// [`ErrorKind::Absent`].
    pub fn absent(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Absent(what.into()))
    }

    /// [`ErrorKind::Limit`].
    pub fn limit(what: impl Into<Cow<'static, str>>, asked: u64, allowed: u64) -> Self {
        Self::new(ErrorKind::Limit { what: what.into(), asked, allowed })
    }

    /// [`ErrorKind::Limit`] for memory that the machine lacks, though `allowed` bytes are permitted.
    #[must_use]
    pub fn out_of_memory(bytes: u64, allowed: u64) -> Self {
        Self::limit("memory in bytes (the machine refused it)", bytes, allowed)
    }

    /// [`ErrorKind::Cancelled`].
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled)
    }

    /// Sets what was being read ("rawarray dims"). The innermost context wins.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<Cow<'static, str>>) -> Self {
        self.0.context.get_or_insert_with(|| context.into());
        self
    }

    /// Adds the absolute byte range. The innermost range wins.
    #[must_use]
    pub fn with_range(mut self, range: Range<u64>) -> Self {
        self.0.range.get_or_insert(range);
        self
    }

    /// Moves the byte range, if there is one, by `offset` bytes: for errors of a part of the file that starts there.
    #[must_use]
    pub fn shifted(mut self, offset: u64) -> Self {
        if let Some(range) = &mut self.0.range {
            *range = range.start.saturating_add(offset)..range.end.saturating_add(offset);
        }
        self
    }

    /// Names the file of a format that is stored in several. The innermost part wins.
    #[must_use]
    pub fn in_file(mut self, part: impl Into<String>) -> Self {
        self.0.part.get_or_insert_with(|| part.into());
        self
    }

    /// Removes the name of the file if it is `part`, for callers that name it in another way.
    #[must_use]
    pub fn without_file(mut self, part: &str) -> Self {
        self.0.part.take_if(|own| own == part);
        self
    }

    /// Names the file at fault, for operations on several files: the source that could not be read, or the target that could not be written. The
    /// innermost one wins.
    #[must_use]
    pub fn with_subject(mut self, file: impl Into<String>) -> Self {
        self.0.subject.get_or_insert_with(|| file.into());
        self
    }

    /// Names the dataset that was being read. The innermost one wins.
    #[must_use]
    pub fn in_dataset(mut self, path: impl Into<String>) -> Self {
        self.0.dataset.get_or_insert_with(|| path.into());
        self
    }

    /// Marks an error of a step after the change was made, such as the last sync: the file is the new one, and to repeat the operation
    /// would make the change twice.
    #[must_use]
    pub fn after_change(mut self) -> Self {
        self.0.is_after_change = true;
        self
    }

    /// Undoes [`Error::after_change`]: the change was undone, and the file is unchanged.
    #[must_use]
    pub fn rolled_back(mut self) -> Self {
        self.0.is_after_change = false;
        self
    }

    /// Adds a hint for the user ("try: holdall repair …"). The innermost hint wins.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The kind, owned.
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// The absolute, half-open byte range in the file, if the error has one.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        self.0.range.clone()
    }

    /// The part that was being read.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.0.context.as_deref()
    }

    /// The file of a multi-file container.
    #[must_use]
    pub fn file_name(&self) -> Option<&str> {
        self.0.part.as_deref()
    }

    /// The dataset that was being read.
    #[must_use]
    pub fn dataset(&self) -> Option<&str> {
        self.0.dataset.as_deref()
    }

    /// The file at fault, where an operation on several files names it.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// The next step for the user, if there is something better than giving up.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Whether the change was made before the error: see [`Error::after_change`].
    #[must_use]
    pub fn is_after_change(&self) -> bool {
        self.0.is_after_change
    }

    /// True where the source or a request to stop ended the operation: `Io`, `Missing` and `Cancelled`. The same operation may work later, so
    /// that its failure is passed on, and not kept.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Io(_) | ErrorKind::Missing(_) | ErrorKind::Cancelled)
    }

    /// True where the limits, the source or a request to stop ended the operation: `Limit` and what [`Error::is_transient`] names. Nothing is
    /// known about the file then, so that it is no damage.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        self.is_transient() || matches!(self.0.kind, ErrorKind::Limit { .. })
    }

    /// True where the file is at fault, not the caller, the machine or the limits.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Truncated { .. } | ErrorKind::Malformed(_) | ErrorKind::Checksum { .. }
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_after_change {
            write!(f, "the change was made, but a power cut may undo it: ")?;
        }
        let places = [&self.0.subject, &self.0.dataset].map(Option::as_deref).into_iter();
        for place in places.chain([self.0.context.as_deref()]).flatten() {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}", self.0.kind)?;
        match (&self.0.part, &self.0.range) {
            (Some(part), Some(range)) => write!(f, " ({part}, bytes {}..{})", range.start, range.end),
            (Some(part), None) => write!(f, " ({part})"),
            (None, Some(range)) => write!(f, " (bytes {}..{})", range.start, range.end),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    /// Writes the text of the error and its next step, which is what a `main` that returns the error prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        self.hint()
            .map_or(Ok(()), |hint| write!(f, "\n  try: {}", hint.strip_prefix("try: ").unwrap_or(hint)))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    /// Takes the library's own error back out of an `io::Error` that carries one.
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::new(ErrorKind::Io(error)),
        }
    }
}

impl From<Error> for io::Error {
    /// For callers whose functions return `io::Result`; [`Error`] can be downcast from the result.
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Io(inner) => inner.kind(),
            ErrorKind::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            ErrorKind::Unsupported(_) => io::ErrorKind::Unsupported,
            ErrorKind::Limit { .. } => io::ErrorKind::OutOfMemory,
            ErrorKind::Usage(_) => io::ErrorKind::InvalidInput,
            // Not `Interrupted`, which `write_all` and its like try again for ever.
            ErrorKind::Cancelled => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests;

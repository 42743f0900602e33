//! The place of a text in its file, for errors.

use std::borrow::Cow;
use std::ops::Range;

use container_core::Error;

/// Place of a text in its file, which errors name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// Byte of the file at which the text begins.
    pub base: u64,
    /// Name of the text ("settings"), with which messages of errors begin.
    pub context: Option<&'static str>,
}

impl Origin {
    /// A text at byte `base` of a file, without a name.
    #[must_use]
    pub const fn new(base: u64) -> Self {
        Self { base, context: None }
    }

    /// Gives the text a name.
    #[must_use]
    pub const fn with_context(self, context: &'static str) -> Self {
        Self { context: Some(context), ..self }
    }

    /// Bytes of the file of a range of the text.
    pub(crate) const fn bytes(self, range: &Range<usize>) -> Range<u64> {
        self.base.saturating_add(range.start as u64)..self.base.saturating_add(range.end as u64)
    }

    /// The error with the name of the text.
    pub(crate) fn named(self, error: Error) -> Error {
        match self.context {
            Some(context) => error.with_context(context),
            None => error,
        }
    }

    /// The error with the name of the text, about a range of it.
    pub(crate) fn at(self, range: &Range<usize>, error: Error) -> Error {
        self.named(error.with_range(self.bytes(range)))
    }

    /// `Malformed` for a range of the text.
    pub(crate) fn malformed(self, range: &Range<usize>, what: impl Into<Cow<'static, str>>) -> Error {
        self.at(range, Error::malformed(what))
    }
}

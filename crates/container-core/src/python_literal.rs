//! Python literals as data: the header of a `.npy` file, the type descriptions in Bloscpack metadata.
//!
//! [`parse`] reads what Python's `ast.literal_eval` reads, except complex numbers, sets, adjacent strings and triple quotes, which these
//! files do not contain. It also takes the `L` after the integers of Python 2. Literals are not evaluated, nesting is bounded, and each
//! byte is visited only a few times. [`Literal::repr`] is the inverse.
//!
//! `nom` stays within `literal/parse.rs` and `literal/text.rs`; their failures count the bytes left, because a parser that sees only the
//! rest of its input cannot count its position.

use crate::{Error, Result};

mod json;
mod parse;
mod repr;
mod text;

/// Brackets within brackets that [`parse`] follows.
pub const MAX_DEPTH: usize = 32;

/// A Python literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Str(String),
    /// A byte string.
    Bytes(Vec<u8>),
    /// `[…]`.
    List(Vec<Literal>),
    /// `(…)`.
    Tuple(Vec<Literal>),
    /// `{…}` in the order of the file; keys may repeat.
    Dict(Vec<(Literal, Literal)>),
}

/// A fault of a text and its position, in bytes from its start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// Reads one literal that fills `text`, but for white space around it.
///
/// # Errors
/// `Malformed`, with the byte range within `text`.
pub fn parse(text: &str) -> Result<Literal> {
    locate(text).map_err(|fault| {
        let at = u64::try_from(fault.at).unwrap_or(u64::MAX);
        Error::malformed(fault.what).with_context("Python literal").with_range(at..at.saturating_add(1))
    })
}

/// [`parse`] for callers that have the file offset of the text.
pub(crate) fn locate(text: &str) -> Result<Literal, Fault> {
    parse::whole(text)
}

impl Literal {
    /// The text of a `str`.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The members of a list or tuple.
    #[must_use]
    pub fn items(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) | Self::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The integer as an index or a length: `None` where it is negative or too large to be one.
    #[must_use]
    pub fn as_usize(&self) -> Option<usize> {
        match self {
            Self::Int(value) => usize::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The value of a text key in a dict. Where the key repeats it is the last, as in Python.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dict(pairs) => {
                pairs.iter().rev().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The literal as Python's `repr` spells it, so that headers come out as numpy writes them.
    #[must_use]
    pub fn repr(&self) -> String {
        let mut out = String::new();
        repr::write(self, &mut out);
        out
    }

    /// The literal as JSON, with the spacing of Python's `json.dumps`; tuples are arrays and bytes are latin-1 text.
    /// Infinities and NaN, which JSON lacks, are `null`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut out = String::new();
        json::write(self, &mut out);
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;

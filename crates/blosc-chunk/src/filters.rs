//! Filters: transforms of the bytes of a block before the codec, and their inverses after it.
//!
//! The functions here are the filters alone, for anyone who has bytes to shuffle; [`Pipeline`] puts up to six of them in
//! a row as chunks do. All of them turn a block into one of the same length, and keep the bytes at its end that make no
//! whole element (the reference loses them under some filters).

mod bitshuffle;
mod bytedelta;
mod delta;
mod ndcell;
mod pipeline;
mod shuffle;
mod trunc_prec;

use std::fmt;

use container_core::{Error, Result};

use crate::Plugins;

pub use bitshuffle::{bitshuffle, bitshuffle_blosc1, bitunshuffle, bitunshuffle_blosc1};
pub use bytedelta::{bytedelta_buggy_decode, bytedelta_decode, bytedelta_encode};
pub use delta::{delta_decode, delta_encode};
pub use ndcell::{ndcell_decode, ndcell_encode, ndmean_decode, ndmean_encode};
pub(crate) use pipeline::{BlockContext, Scratch};
pub use shuffle::{shuffle, unshuffle};
pub use trunc_prec::{int_trunc, trunc_prec};

/// One slot of a pipeline: a filter by its number, with its own byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// 0 is an empty slot.
    pub id: u8,
    /// Parameter of the filter, with a meaning of its own for each filter.
    pub meta: u8,
}

impl Filter {
    /// An empty slot.
    pub const NONE: u8 = 0;
    /// Byte shuffle; meta: width, 0 for the typesize.
    pub const SHUFFLE: u8 = 1;
    /// Bit shuffle.
    pub const BITSHUFFLE: u8 = 2;
    /// XOR with the previous word, or with block 0.
    pub const DELTA: u8 = 3;
    /// Clears low bits of the mantissa; lossy.
    pub const TRUNC_PREC: u8 = 4;
    /// Cells of n-dimensional blocks, one after the other.
    pub const NDCELL: u8 = 32;
    /// The mean of each cell; lossy.
    pub const NDMEAN: u8 = 33;
    /// Byte differences as C-Blosc2 2.8.0 to 2.9.3 made them.
    pub const BYTEDELTA_BUGGY: u8 = 34;
    /// Byte differences within each of meta streams.
    pub const BYTEDELTA: u8 = 35;
    /// Clears low bits of integers; lossy.
    pub const INT_TRUNC: u8 = 36;

    /// Creates a filter with its meta byte.
    #[must_use]
    pub const fn new(id: u8, meta: u8) -> Self {
        Self { id, meta }
    }

    /// Returns its name in Blosc's own words; `unknown` for an unregistered number.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.id {
            Self::NONE => "none",
            Self::SHUFFLE => "shuffle",
            Self::BITSHUFFLE => "bitshuffle",
            Self::DELTA => "delta",
            Self::TRUNC_PREC => "trunc_prec",
            Self::NDCELL => "ndcell",
            Self::NDMEAN => "ndmean",
            Self::BYTEDELTA_BUGGY => "bytedelta_buggy",
            Self::BYTEDELTA => "bytedelta",
            Self::INT_TRUNC => "int_trunc",
            160..=255 => "user-defined",
            _ => "unknown",
        }
    }

    /// Whether this library has the filter. Others are named in errors and refused.
    #[must_use]
    pub const fn is_known(self) -> bool {
        matches!(self.id, 0..=4 | 32..=36)
    }

    /// Whether no released Blosc has the number for a filter, nor leaves it to users.
    #[must_use]
    pub const fn is_unassigned(self) -> bool {
        !self.is_known() && self.id < 160
    }

    /// Whether it is lossy: decoding does not restore the values.
    #[must_use]
    pub const fn is_lossy(self) -> bool {
        matches!(self.id, Self::TRUNC_PREC | Self::NDMEAN | Self::INT_TRUNC)
    }

    /// Parses the filter that `word` means: a name, and for some a number after a colon (`shuffle:4`, `trunc_prec:10`).
    fn parse_word(word: &str) -> Result<Self> {
        let (name, number) = match word.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (word, None),
        };
        let bad = |what: &str| Error::usage(format!("filter `{word}`: {what}"));
        let unsigned =
            |number: &str| number.parse::<u8>().map_err(|_| bad("the number must be from 0 to 255"));
        let signed = |number: &str| {
            number
                .parse::<i8>()
                .map(i8::cast_unsigned)
                .map_err(|_| bad("the number must be from -128 to 127"))
        };
        let missing = || bad("a number is missing after the name, as in `name:8`");
        match (name, number) {
            ("shuffle", number) => Ok(Self::new(Self::SHUFFLE, number.map_or(Ok(0), unsigned)?)),
            ("bytedelta", number) => Ok(Self::new(Self::BYTEDELTA, number.map_or(Ok(0), unsigned)?)),
            ("bitshuffle", None) => Ok(Self::new(Self::BITSHUFFLE, 0)),
            ("delta", None) => Ok(Self::new(Self::DELTA, 0)),
            ("trunc_prec", Some(number)) => Ok(Self::new(Self::TRUNC_PREC, signed(number)?)),
            ("int_trunc", Some(number)) => Ok(Self::new(Self::INT_TRUNC, signed(number)?)),
            ("ndcell", Some(number)) => Ok(Self::new(Self::NDCELL, unsigned(number)?)),
            ("ndmean", Some(number)) => Ok(Self::new(Self::NDMEAN, unsigned(number)?)),
            ("trunc_prec" | "int_trunc" | "ndcell" | "ndmean", None) => Err(missing()),
            ("bitshuffle" | "delta", Some(_)) => Err(bad("it takes no number")),
            _ => Err(bad("unknown filter").with_hint(
                "filters: none, shuffle[:width], bitshuffle, delta, bytedelta[:streams], trunc_prec:bits, int_trunc:bits, \
                 ndcell:side, ndmean:side",
            )),
        }
    }
}

impl fmt::Display for Filter {
    /// Writes the form that [`Pipeline::parse_words`] reads: `shuffle`, `shuffle:4`, `trunc_prec:10`; with its number for a
    /// filter without a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match (self.id, self.meta) {
            (Self::TRUNC_PREC | Self::INT_TRUNC, bits) => write!(f, ":{}", bits.cast_signed()),
            (Self::NDCELL | Self::NDMEAN, side) => write!(f, ":{side}"),
            (Self::SHUFFLE | Self::BYTEDELTA | Self::BYTEDELTA_BUGGY, number) if number != 0 => {
                write!(f, ":{number}")
            }
            _ if !self.is_known() => write!(f, " ({})", self.id),
            _ => Ok(()),
        }
    }
}

/// Six slots, in the order of encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pipeline(pub [Filter; 6]);

impl Pipeline {
    /// Returns the empty pipeline.
    #[must_use]
    pub const fn none() -> Self {
        Self([Filter::new(Filter::NONE, 0); 6])
    }

    /// Returns byte shuffle by the typesize, in the last slot, as in Blosc's own default.
    #[must_use]
    pub const fn shuffle() -> Self {
        Self::last(Filter::new(Filter::SHUFFLE, 0))
    }

    /// Returns bit shuffle, in the last slot.
    #[must_use]
    pub const fn bitshuffle() -> Self {
        Self::last(Filter::new(Filter::BITSHUFFLE, 0))
    }

    const fn last(filter: Filter) -> Self {
        let mut pipeline = Self::none();
        pipeline.0[5] = filter;
        pipeline
    }

    /// Parses the filters that `words` name, in the order of encoding, in the last slots.
    ///
    /// Words: `none`, `shuffle`, `shuffle:WIDTH`, `bitshuffle`, `delta`, `bytedelta`, `bytedelta:STREAMS`,
    /// `trunc_prec:BITS`, `int_trunc:BITS`, `ndcell:SIDE`, `ndmean:SIDE`.
    ///
    /// # Errors
    /// `Usage` for other words, numbers out of range and more than six filters.
    pub fn parse_words(words: &[&str]) -> Result<Self> {
        let named = words.iter().filter(|word| !matches!(**word, "none" | ""));
        let filters = named.map(|word| Filter::parse_word(word)).collect::<Result<Vec<_>>>()?;
        let mut pipeline = Self::none();
        let Some(first) = pipeline.0.len().checked_sub(filters.len()) else {
            return Err(Error::usage(format!("{} filters (expected at most six)", filters.len())));
        };
        for (slot, filter) in pipeline.0.iter_mut().skip(first).zip(filters) {
            *slot = filter;
        }
        Ok(pipeline)
    }

    /// Its filters in the order of encoding, empty slots left out.
    pub fn filters(&self) -> impl DoubleEndedIterator<Item = Filter> + '_ {
        self.0.iter().copied().filter(|filter| filter.id != Filter::NONE)
    }

    /// Returns the filters for people, in the order of encoding: `["delta", "shuffle:4"]`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.filters().map(|filter| filter.to_string()).collect()
    }

    /// Whether the filter `id` is in one of the slots.
    #[must_use]
    pub fn contains(&self, id: u8) -> bool {
        self.filters().any(|filter| filter.id == id)
    }

    /// Whether all slots are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filters().next().is_none()
    }

    /// Whether one of the filters is lossy: decoding does not restore the values.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        self.filters().any(Filter::is_lossy)
    }

    /// Returns the pipeline without the filters that lose bits.
    #[must_use]
    pub fn without_lossy(mut self) -> Self {
        for slot in self.0.iter_mut().filter(|slot| slot.is_lossy()) {
            *slot = Filter::default();
        }
        self
    }

    /// Fails if one of the filters is neither in this library nor among `plugins`.
    ///
    /// # Errors
    /// `Unsupported`, with the number.
    pub fn check_known_with(&self, plugins: &Plugins) -> Result<()> {
        match self.filters().find(|filter| !filter.is_known() && plugins.filter(filter.id).is_none()) {
            None => Ok(()),
            Some(filter) => Err(unknown(filter)),
        }
    }
}

impl fmt::Display for Pipeline {
    /// Writes the names with commas between them, or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&self.names().join(", "))
    }
}

/// Returns the error for an unavailable filter.
fn unknown(filter: Filter) -> Error {
    let what = match filter.id {
        32..160 => "is a registered plugin that this library does not have",
        160..=255 => "is defined by the program that wrote the chunk",
        _ => "does not exist in any released Blosc",
    };
    Error::unsupported(format!("filter number {} {what}", filter.id))
        .with_hint("plugins are never loaded; `Plugins` registers those of users")
}

#[cfg(test)]
mod tests;

//! Validity bitmap: one bit per row.

use container_core::source::try_zeroed_vec;
use container_core::{Limits, Result};

/// One bit for each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidityBitmap {
    pub(super) words: Vec<u64>,
    len: usize,
}

impl ValidityBitmap {
    /// `len` zeros.
    pub(super) fn zeros(len: u64, limits: &Limits) -> Result<Self> {
        let words = try_zeroed_vec(len.div_ceil(64), limits)?;
        // The length fits: that many words have been allocated.
        Ok(Self { words, len: usize::try_from(len).unwrap_or(usize::MAX) })
    }

    /// The bit of a row; false past the last one.
    #[must_use]
    pub fn get(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True without rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of rows whose bit is set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True where all bits are set.
    #[must_use]
    pub fn all(&self) -> bool {
        self.count() == self.len
    }

    /// The bits, 64 a word, the lowest first; those past the last row are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Rows whose bit is not set, ascending.
    pub(super) fn zeros_at(&self) -> impl Iterator<Item = usize> + '_ {
        let word = |(at, word): (usize, &u64)| {
            let (start, mut left) = (at * 64, !*word);
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then(|| start + bit as usize)
            })
        };
        self.words.iter().enumerate().flat_map(word).take_while(|row| *row < self.len)
    }
}

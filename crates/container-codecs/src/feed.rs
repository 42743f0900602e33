//! Supply of encoded bytes to a decoder that goes from front to back and may stop early.

#![cfg_attr(
    not(any(feature = "zlib", feature = "bzip2", feature = "zstd", feature = "xz")),
    allow(dead_code)
)]

use std::borrow::Cow;
use std::ops::Range;

use container_core::Result;
use container_core::codec::Encoded;
#[cfg(any(feature = "bzip2", feature = "lz4"))]
use container_core::source::try_zeroed_vec;
use container_core::source::{Source, check_range};

/// Bytes of the first window: the range is often at the front.
const FIRST_WINDOW: u64 = 64 << 10;

/// Maximum bytes of a window; each window is twice as long as the previous one.
const MAX_WINDOW: u64 = 1 << 20;

/// Encoded bytes: all at once where they are lent, else windows that are read as the decoder gets there.
pub(super) struct Feed<'a> {
    /// The source of more bytes and their range; `None` where all are at hand.
    source: Option<(&'a dyn Source, Range<u64>)>,
    window: Cow<'a, [u8]>,
    /// Offset of the window in the encoded bytes.
    start: u64,
    len: u64,
    next_window: u64,
}

impl<'a> Feed<'a> {
    /// Bytes in memory.
    pub(super) const fn all(src: &'a [u8]) -> Self {
        let len = src.len() as u64;
        Self { source: None, window: Cow::Borrowed(src), start: 0, len, next_window: 0 }
    }

    /// The bytes of `encoded`, before the first read.
    ///
    /// # Errors
    /// `Truncated`.
    pub(super) fn of(encoded: &Encoded<'a>) -> Result<Self> {
        let range = encoded.range.clone();
        check_range(&range, encoded.source.len())?;
        if let Some(bytes) = encoded.source.lend(range.clone()) {
            return Ok(Self::all(bytes));
        }
        let len = range.end.saturating_sub(range.start);
        let source = Some((encoded.source, range));
        Ok(Self { source, window: Cow::Borrowed(&[]), start: 0, len, next_window: FIRST_WINDOW })
    }

    /// Number of encoded bytes.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Bytes from offset `at` on, at least one unless all are used.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn from(&mut self, at: u64) -> Result<&[u8]> {
        let is_used = at >= self.start.saturating_add(self.window.len() as u64);
        if is_used && at < self.len {
            self.read(at)?;
        }
        let skip = usize::try_from(at.saturating_sub(self.start)).unwrap_or(usize::MAX);
        Ok(self.window.get(skip..).unwrap_or_default())
    }

    /// Extends the contiguous bytes from offset `at` on, for a decoder that does not take fewer. False at the end.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn extend(&mut self, at: u64) -> Result<bool> {
        let end = self.start.saturating_add(self.window.len() as u64);
        if end >= self.len {
            return Ok(false);
        }
        self.next_window = self.next_window.max(end.saturating_sub(at).saturating_mul(2));
        self.read(at).map(|()| true)
    }

    fn read(&mut self, at: u64) -> Result<()> {
        let Some((source, range)) = &self.source else { return Ok(()) };
        let len = self.len.saturating_sub(at).min(self.next_window.max(1));
        self.next_window = self.next_window.saturating_mul(2).min(MAX_WINDOW.max(self.next_window));
        let mut window = match std::mem::take(&mut self.window) {
            Cow::Owned(window) => window,
            Cow::Borrowed(_) => Vec::new(),
        };
        window.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        source.read_into(range.start.saturating_add(at), &mut window)?;
        (self.window, self.start) = (Cow::Owned(window), at);
        Ok(())
    }
}

/// Runs `decode` on the first encoded bytes, for a decoder that needs them in memory. Starts with the share that `end` decoded bytes take on
/// average, and doubles it while `decode` answers false, up to all. `decode` receives whether these are all. False where it fails on all.
///
/// # Errors
/// Those of `decode` and of the source; `Limit`.
#[cfg(any(feature = "bzip2", feature = "lz4"))]
pub(super) fn on_front(
    encoded: &Encoded<'_>,
    end: u64,
    mut decode: impl FnMut(&[u8], bool) -> Result<bool>,
) -> Result<bool> {
    /// Bytes beyond the share.
    const MORE: u64 = 64 << 10;
    let range = &encoded.range;
    let len = range.end.saturating_sub(range.start);
    let whole = u128::from(encoded.decoded_len.max(1));
    let share = u128::from(len).saturating_mul(u128::from(end)).checked_div(whole).unwrap_or(0);
    let mut front = u64::try_from(share).unwrap_or(u64::MAX).saturating_add(MORE);
    front = front.saturating_add(front / 8);
    if front >= len || encoded.source.lend(range.clone()).is_some() {
        return decode(&encoded.bytes()?, true);
    }
    check_range(range, encoded.source.len())?;
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        let had = bytes.len();
        let mut more: Vec<u8> = try_zeroed_vec(front.min(len), encoded.limits)?;
        let (old, new) = more.split_at_mut_checked(had).unwrap_or_default();
        old.copy_from_slice(&bytes);
        encoded.source.read_until(range.start.saturating_add(had as u64), new, encoded.limits.stop)?;
        bytes = more;
        let is_all = bytes.len() as u64 == len;
        if decode(&bytes, is_all)? {
            return Ok(true);
        }
        if is_all {
            return Ok(false);
        }
        front = front.saturating_mul(2);
    }
}

#[cfg(test)]
#[cfg(all(feature = "zlib", feature = "bzip2", feature = "zstd", feature = "lz4", feature = "xz"))]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;

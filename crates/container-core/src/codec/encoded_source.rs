//! Encoded bytes in their source, for codecs that need not read all of them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::Codec;
use crate::source::{Source, check_range, try_zeroed_vec};
use crate::{Error, Limits, Result};

/// [`Codec::decode`] of a codec that decodes ranges: all of `src`, on one thread, within the default limits.
///
/// # Errors
/// As [`Codec::decode_range`].
pub fn decode_by_range(codec: &dyn Codec, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let (range, limits, decoded_len) = (0..src.len() as u64, Limits::default(), dst.len() as u64);
    let encoded = Encoded { source: &src, range, decoded_len, limits: &limits, threads: 1 };
    codec.decode_range(&encoded, 0..decoded_len, dst)
}

/// The encoded form of `decoded_len` bytes, in a source.
#[derive(Clone)]
pub struct Encoded<'a> {
    /// The source of the bytes.
    pub source: &'a dyn Source,
    /// Range of the bytes in it, absolute.
    pub range: Range<u64>,
    /// Bytes after decoding.
    pub decoded_len: u64,
    /// Limits of memory, and the request to end the decoding.
    pub limits: &'a Limits,
    /// Most threads to decode on, this one included.
    pub threads: usize,
}

impl<'a> Encoded<'a> {
    /// The encoded bytes: lent where the source can, else copied within the limits.
    ///
    /// # Errors
    /// `Truncated`, `Limit`, and those of the source.
    pub fn bytes(&self) -> Result<Cow<'a, [u8]>> {
        self.part(self.range.clone())
    }

    /// The bytes `range` of the source, absolute: lent where it can, else copied within the limits.
    ///
    /// # Errors
    /// As [`Encoded::bytes`].
    pub fn part(&self, range: Range<u64>) -> Result<Cow<'a, [u8]>> {
        check_range(&range, self.source.len())?;
        if let Some(bytes) = self.source.lend(range.clone()) {
            return Ok(Cow::Borrowed(bytes));
        }
        let len = range.end.saturating_sub(range.start);
        let mut bytes = try_zeroed_vec(len, self.limits).map_err(|error| error.with_range(range.clone()))?;
        self.source.read_until(range.start, &mut bytes, self.limits.stop)?;
        Ok(Cow::Owned(bytes))
    }

    /// Most decoded bytes to have in memory where they are passed on in pieces: 16 MiB for each thread, and no more than a quarter of the limit.
    #[must_use]
    pub fn piece_len(&self) -> u64 {
        const OF_THREAD: u64 = 16 << 20;
        OF_THREAD.saturating_mul(self.threads.max(1) as u64).min(self.limits.memory / 4).max(1)
    }

    /// Whether `range` covers all decoded bytes.
    #[must_use]
    pub fn is_all(&self, range: &Range<u64>) -> bool {
        *range == (0..self.decoded_len)
    }

    /// Checks that `range` is within the decoded bytes, and that `dst` has its length.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self, range: &Range<u64>, dst: &[u8]) -> Result<()> {
        let fits = range.start <= range.end && range.end <= self.decoded_len;
        if fits && range.end.saturating_sub(range.start) == dst.len() as u64 {
            return Ok(());
        }
        let (start, end, room, len) = (range.start, range.end, dst.len(), self.decoded_len);
        Err(Error::usage(format!("buffer of {room} bytes for bytes {start}..{end} of {len}")))
    }

    /// Fills `dst` with the bytes `range` of the output of `decode`, which fills its whole argument: `dst` itself if the range is all, else
    /// a buffer for all of it, within the limits.
    ///
    /// # Errors
    /// `Usage` when `range` and `dst` do not fit, `Limit`, and those of `decode`.
    pub fn part_of_whole(
        &self,
        range: Range<u64>,
        dst: &mut [u8],
        decode: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.check(&range, dst)?;
        if self.is_all(&range) {
            return decode(dst);
        }
        let mut whole = try_zeroed_vec(self.decoded_len, self.limits)?;
        decode(&mut whole)?;
        let part = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        dst.copy_from_slice(part.and_then(|(start, end)| whole.get(start..end)).unwrap_or_default());
        Ok(())
    }
}

impl fmt::Debug for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoded")
            .field("range", &self.range)
            .field("decoded_len", &self.decoded_len)
            .field("limits", self.limits)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

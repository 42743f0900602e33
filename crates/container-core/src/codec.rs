//! Codecs: from the stored bytes of one block to its decoded bytes and back.
//!
//! A registry is a *value*, [`Codecs`], that travels in the options with which a file is opened; it is never global. A format adds its own
//! codecs to a copy.

use std::ops::Range;
use std::sync::Arc;

use crate::source::try_zeroed_vec;
use crate::{Error, Result, Stop};

mod encoded_source;

pub use encoded_source::{Encoded, decode_by_range};

/// Receives decoded bytes, piece after piece.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// One compression method. Implementations hold no state between calls, so one value serves all threads.
pub trait Codec: Send + Sync {
    /// The word users type: `zlib`, `bzp2`, `zstd`, `lz4`.
    fn name(&self) -> &str;

    /// Decodes `src` into `dst`, filling it exactly and using all of `src`.
    ///
    /// # Errors
    /// `Malformed` when `src` is broken, decodes to fewer or more than `dst.len()` bytes, or has bytes
    /// left after its end; an empty `src` is broken for every codec here. `Unsupported` when `src` is
    /// sound but cannot be decoded without something that it does not hold, such as a preset dictionary.
    /// `dst` then holds unspecified bytes.
    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()>;

    /// As [`Codec::decode`], until `stop` is requested. Codecs that decode all by one call of a library do not check it.
    ///
    /// # Errors
    /// As [`Codec::decode`]; `Cancelled`.
    fn decode_until(&self, src: &[u8], dst: &mut [u8], stop: Stop) -> Result<()> {
        stop.check()?;
        self.decode(src, dst)
    }

    /// Appends the encoded form of `src` to `out`. `level` is the codec's own scale; `None` takes its default.
    ///
    /// # Errors
    /// `Usage` when `level` is outside the codec's scale, `Unsupported` when the codec only reads or `src` is longer than it can hold, `Io`
    /// when memory for the result runs out.
    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()>;

    /// Decodes bytes `range` of the decoded data into `dst`, which is as long as the range, on up to [`Encoded::threads`] threads. Decodes
    /// no more than it has to. Bytes after the range are not checked; a range that reaches the end proves the whole, as [`Codec::decode`]
    /// does.
    ///
    /// # Errors
    /// As [`Codec::decode`]; `Usage` when `range` and `dst` do not fit, `Limit`, `Cancelled`, and those of the source.
    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        let bytes = encoded.bytes()?;
        encoded.part_of_whole(range, dst, |dst| self.decode_until(&bytes, dst, encoded.limits.stop))
    }

    /// Passes all that `encoded` holds to `take`, in order, and proves the whole as [`Codec::decode`] does. The pieces are short where the
    /// codec makes one after the other; else there is one, for which memory is taken.
    ///
    /// # Errors
    /// As [`Codec::decode`], after the pieces before the fault; `Limit`, and those of the source and of `take`.
    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        let mut whole = try_zeroed_vec(encoded.decoded_len, encoded.limits)?;
        self.decode_range(encoded, 0..encoded.decoded_len, &mut whole)?;
        take(&whole)
    }

    /// Decoded length of `src`, if all of it is valid: from its frame headers, or found by decoding it without keeping the bytes. `None` where
    /// `src` is broken, and for codecs that cannot report it.
    ///
    /// # Errors
    /// Those of the library that do not concern `src` (out of memory).
    fn decoded_len(&self, src: &[u8]) -> Result<Option<u64>> {
        let _ = src;
        Ok(None)
    }

    /// Number of bytes that can be decoded from the start of `encoded`, up to the first damage. `None` for codecs that cannot count without
    /// keeping the bytes.
    ///
    /// # Errors
    /// `Unsupported` as for [`Codec::decode`], `Limit`, and those of the source.
    fn reach(&self, encoded: &Encoded<'_>) -> Result<Option<u64>> {
        let _ = encoded;
        Ok(None)
    }

    /// Decoded length that the headers within `src` state, if they do; decodes nothing.
    fn told_len(&self, src: &[u8]) -> Option<u64> {
        let _ = src;
        None
    }

    /// The most bytes that `encode` can append for an input of `len`, at any level.
    fn max_encoded_len(&self, len: usize) -> usize;
}

/// A set of codecs, looked up by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Codecs(Vec<Arc<dyn Codec>>);

impl Codecs {
    /// No codecs at all.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds `codec`; a later one of the same name wins.
    pub fn register(&mut self, codec: impl Codec + 'static) {
        self.0.push(Arc::new(codec));
    }

    /// The codec called `name`.
    ///
    /// # Errors
    /// `Unsupported`, naming the codecs there are.
    pub fn get(&self, name: &str) -> Result<&dyn Codec> {
        self.0.iter().rev().find(|codec| codec.name() == name).map(AsRef::as_ref).ok_or_else(|| {
            let known: Vec<&str> = self.names().collect();
            Error::unsupported(format!("unknown codec {name:?} (expected one of: {})", known.join(", ")))
        })
    }

    /// The names, in the order they were registered.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|codec| codec.name())
    }
}

impl std::fmt::Debug for Codecs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests;

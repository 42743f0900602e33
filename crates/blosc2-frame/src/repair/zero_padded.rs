//! Pads a chunk that the end of the file cuts with zeros, so that it has a place, and its blocks before the end can be identified.

use std::ops::Range;

use container_core::source::{Source, check_range, try_zeroed_vec};
use container_core::{Limits, Result};

use super::input::DamagedFrame;

/// A source extended with zeros up to `len` bytes.
struct ZeroPadded {
    source: Box<dyn Source>,
    len: u64,
}

impl Source for ZeroPadded {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        let there = usize::try_from(self.source.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let (stored, missing) = dst.split_at_mut(there.min(dst.len()));
        missing.fill(0);
        if stored.is_empty() { Ok(()) } else { self.source.read_into(at, stored) }
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.end <= self.source.len() { self.source.lend(range) } else { None }
    }
}

impl DamagedFrame {
    /// Lets the file go on with zeros up to `end`, which is that of a chunk. What is read there is bounded as all chunks are.
    pub fn pad(self, end: u64) -> Self {
        let Self { source, parts, limits, there } = self;
        Self { source: Box::new(ZeroPadded { source, len: end.max(there) }), parts, limits, there }
    }

    /// Returns the number of bytes present of a chunk of `len` bytes at offset `at` after `base`.
    pub fn available_len(&self, base: u64, at: u64, len: usize) -> usize {
        if let Some(parts) = &self.parts {
            let there = parts.open(at, &self.limits).map_or(0, |part| part.len());
            return usize::try_from(there).map_or(len, |there| there.min(len));
        }
        let start = base.saturating_add(at);
        usize::try_from(self.there.saturating_sub(start)).map_or(len, |there| there.min(len))
    }
}

/// Reads a chunk file that ends early, with zeros for the missing bytes; `None` for a chunk that claims more than memory
/// holds.
///
/// # Errors
/// Those of the source.
pub(super) fn read_padded(source: &dyn Source, len: u64, limits: &Limits) -> Result<Option<Vec<u8>>> {
    let Ok(mut bytes) = try_zeroed_vec::<u8>(len, limits) else { return Ok(None) };
    let there = usize::try_from(source.len()).map_or(bytes.len(), |there| there.min(bytes.len()));
    source.read_into(0, &mut bytes[..there])?;
    Ok(Some(bytes))
}

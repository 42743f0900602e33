//! Rules for chunk sizes: which chunk sets the size of all, and which makes the frame variable-sized.
//!
//! Spec: docs/formats/blosc2.md, "Chunk sizes". C-Blosc2 takes the size of the first chunk for all, and lets the last be shorter.
//! Since 3.0 it turns the frame into one of variable sizes for any other size. Earlier versions show such frames as empty, so here
//! the caller has to allow it.

use std::ops::Range;

use blosc_chunk::BloscVersion;
use container_core::{Error, Result};

use crate::header::ChunkSize;

/// Largest size of a chunk of a frame, in bytes.
pub(crate) const MAX_CHUNK_LEN: usize = BloscVersion::Blosc2.max_nbytes();

/// Sizes of the chunks of a frame, as far as they are common to all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkSizes {
    /// Bytes of each chunk.
    pub chunksize: ChunkSize,
    /// Number of chunks.
    pub count: u64,
    /// Bytes of all.
    pub nbytes: u64,
    /// Whether sizes may begin to vary.
    pub may_vary: bool,
}

/// Effect of a new chunk on the sizes of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeChange {
    /// No effect.
    Unchanged,
    /// It determines the size of further chunks.
    Sets(u32),
    /// From now on each has its own size.
    BecomesVariable,
}

impl ChunkSizes {
    /// Whether each chunk has its own size.
    pub(crate) fn is_variable(&self) -> bool {
        self.chunksize == ChunkSize::Variable
    }

    /// Bytes of the chunk `index`, where all but the last are equal.
    pub(crate) fn len_of(&self, index: u64) -> Option<u64> {
        let ChunkSize::Fixed(size) = self.chunksize else { return None };
        let start = u64::from(size).checked_mul(index)?;
        Some(self.nbytes.saturating_sub(start).min(u64::from(size)))
    }

    /// Checks `count` new chunks of `len` bytes each before the chunk `index`.
    ///
    /// # Errors
    /// `Usage` for an index past the end, for chunks that are empty or over the size limit, and for sizes that may not vary.
    pub(crate) fn insert(&self, index: u64, len: usize, count: u64) -> Result<SizeChange> {
        if index > self.count {
            return Err(no_chunk(index, self.count));
        }
        if let Some(fit) = self.for_empty_chunk(len) {
            return Ok(fit);
        }
        let len = check_len(len)?;
        let fits = match self.chunksize {
            ChunkSize::Variable => true,
            ChunkSize::Unset => return Ok(SizeChange::Sets(len)),
            ChunkSize::Fixed(size) => {
                let last = index == self.count && self.nbytes.is_multiple_of(u64::from(size.max(1)));
                // Whole chunks go anywhere except after a short one.
                let whole = len == size && (last || index < self.count);
                whole || (last && len < size && count <= 1)
            }
        };
        self.fit(fits, len)
    }

    /// Judges another length for the chunk `index`.
    ///
    /// # Errors
    /// As [`ChunkSizes::insert`].
    pub(crate) fn update(&self, index: u64, len: usize) -> Result<SizeChange> {
        if index >= self.count {
            return Err(no_chunk(index, self.count));
        }
        if let Some(fit) = self.for_empty_chunk(len) {
            return Ok(fit);
        }
        let len = check_len(len)?;
        let fits = match self.chunksize {
            ChunkSize::Fixed(size) => len == size || (index == self.count - 1 && len < size),
            ChunkSize::Variable | ChunkSize::Unset => true,
        };
        self.fit(fits, len)
    }

    /// Returns the effect of a chunk of no bytes where sizes vary, or may: there it is one like any other, as in
    /// python-blosc2.
    fn for_empty_chunk(&self, len: usize) -> Option<SizeChange> {
        match len {
            0 if self.is_variable() => Some(SizeChange::Unchanged),
            0 if self.may_vary => Some(SizeChange::BecomesVariable),
            _ => None,
        }
    }

    /// Judges another order: the short chunk at the end has to stay there.
    ///
    /// # Errors
    /// As [`ChunkSizes::insert`].
    pub(crate) fn reorder(&self, last_stays: bool) -> Result<SizeChange> {
        let ChunkSize::Fixed(size) = self.chunksize else { return Ok(SizeChange::Unchanged) };
        self.fit(last_stays || self.nbytes.is_multiple_of(u64::from(size.max(1))), size)
    }

    fn fit(&self, fits: bool, len: u32) -> Result<SizeChange> {
        match fits {
            true => Ok(SizeChange::Unchanged),
            false if self.may_vary => Ok(SizeChange::BecomesVariable),
            false => {
                let ChunkSize::Fixed(size) = self.chunksize else { return Ok(SizeChange::Unchanged) };
                let problem =
                    format!("a chunk of {len} bytes (expected {size}; only the last may be shorter)");
                Err(Error::usage(problem).with_hint(
                    "allow variable_chunks in the options; C-Blosc2 before 3.0 cannot read such frames",
                ))
            }
        }
    }
}

/// Refuses a range of chunks that are not all there.
pub(crate) fn check_range(range: &Range<u64>, count: u64) -> Result<()> {
    if range.start <= range.end && range.end <= count { Ok(()) } else { Err(no_chunk(range.end, count)) }
}

fn check_len(len: usize) -> Result<u32> {
    match u32::try_from(len) {
        Ok(0) => Err(Error::usage("a chunk of no bytes")),
        Ok(short) if len <= MAX_CHUNK_LEN => Ok(short),
        _ => Err(Error::usage(format!("{len} bytes for one chunk (expected at most {MAX_CHUNK_LEN})"))),
    }
}

fn no_chunk(index: u64, count: u64) -> Error {
    Error::usage(format!("chunk {index} of a frame that has {count}"))
}

//! The damaged frame: its source, its chunks by their offsets, and zeros for the missing end of a cut chunk.

use std::borrow::Cow;
use std::ops::Range;

use blosc_chunk::{Chunk, Header as ChunkHeader};
use container_core::format::Input;
use container_core::source::{Access, Source, check_range, try_zeroed_vec};
use container_core::{Error, Limits, Result};

use crate::journal;
use crate::sparse_directory::{INDEX_NAME, SparseDirectory, open_file, part_name};

/// The damaged frame.
pub(super) struct DamagedFrame {
    /// The file, or the index file of a sparse frame.
    pub source: Box<dyn Source>,
    /// The chunks of a sparse frame.
    pub parts: Option<SparseDirectory>,
    pub(super) limits: Limits,
    /// Bytes of the file: what the source has beyond is missing.
    pub(super) there: u64,
}

impl DamagedFrame {
    pub fn open(input: Input, limits: &Limits) -> Result<Self> {
        if let Input { source: None, path: Some(directory) } = &input {
            if !directory.join(INDEX_NAME).exists() {
                return Err(store());
            }
            let source = open_file(&directory.join(INDEX_NAME), Access::Auto, limits)
                .map_err(|error| error.with_context("a sparse frame's chunks.b2frame"))?;
            let there = source.len();
            return Ok(Self {
                source,
                parts: Some(SparseDirectory::new(directory, Access::Auto)),
                limits: *limits,
                there,
            });
        }
        let path = input.path.clone();
        let source = input.into_source()?;
        if source.len() >= 4 && *source.read(0..4)? == *b"PK\x03\x04" {
            return Err(store());
        }
        let source = match path {
            Some(path) => journal::recovered(&path, source, limits)?,
            None => source,
        };
        let there = source.len();
        Ok(Self { source, parts: None, limits: *limits, there })
    }

    /// Bytes of the file.
    pub const fn len(&self) -> u64 {
        self.there
    }

    /// Returns the name of the file of a chunk, in a sparse frame.
    pub fn part(&self, at: u64) -> Option<String> {
        self.parts.is_some().then(|| part_name(at))
    }

    /// Returns the header of the chunk at `base + at`, if a frame can have such a chunk and all of it is in the file.
    pub fn chunk_header(&self, base: u64, at: u64) -> Option<(ChunkHeader, Range<u64>)> {
        match &self.parts {
            Some(parts) => {
                let source = parts.open(at, &self.limits).ok()?;
                header_at(&*source, 0)
            }
            None => header_at(&*self.source, base.checked_add(at)?),
        }
    }

    /// Returns the chunk at `base + at`.
    ///
    /// # Errors
    /// `Malformed` for other bytes than a chunk, or a chunk that contradicts itself; `Limit`; those of the source.
    pub fn chunk(&self, base: u64, at: u64) -> Result<Cow<'_, [u8]>> {
        let bytes = self.bytes(base, at)?;
        Chunk::parse(&bytes)?;
        Ok(bytes)
    }

    /// Returns the bytes of the chunk at `base + at`, as many as its header counts. Missing ones are zeros;
    /// [`DamagedFrame::available_len`] counts the others.
    ///
    /// # Errors
    /// `Malformed` for an invalid header; `Limit`; those of the source.
    pub fn bytes(&self, base: u64, at: u64) -> Result<Cow<'_, [u8]>> {
        let none = || Error::malformed(format!("no chunk at the offset {at}"));
        match &self.parts {
            Some(parts) => {
                let source = parts.open(at, &self.limits)?;
                let (_, range) = chunk_start_at(&*source, 0).ok_or_else(none)?;
                if range.end > source.len() {
                    return read_padded(&*source, range.end, &self.limits)?.ok_or_else(none).map(Cow::Owned);
                }
                self.limits.allocate(range.end)?;
                Ok(Cow::Owned(source.read(range)?.into_owned()))
            }
            None => {
                let start = base.checked_add(at).ok_or_else(none)?;
                let (_, range) = header_at(&*self.source, start).ok_or_else(none)?;
                self.limits.allocate(range.end - range.start)?;
                self.source.read(range)
            }
        }
    }

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

fn store() -> Error {
    Error::unsupported("a store of several frames cannot be repaired as a whole")
        .with_hint("holdall convert STORE::KEY NEW.b2nd copies one that is sound")
}

/// Reads the header at byte `at`, and the range of the chunk, if all of it is in the file.
pub(super) fn header_at(source: &dyn Source, at: u64) -> Option<(ChunkHeader, Range<u64>)> {
    chunk_start_at(source, at).filter(|(_, range)| range.end <= source.len())
}

/// Reads the header at byte `at`, and the range that it claims for its chunk. The header has to be complete.
pub(super) fn chunk_start_at(source: &dyn Source, at: u64) -> Option<(ChunkHeader, Range<u64>)> {
    let end = at.checked_add(ChunkHeader::MAX_LEN as u64).filter(|end| *end <= source.len())?;
    let mut head = [0; ChunkHeader::MAX_LEN];
    source.read_into(at, &mut head).ok()?;
    let header = ChunkHeader::parse(&head).ok()?;
    let range = at..at.checked_add(header.cbytes.into())?;
    (header.extended && header.nbytes > 0 && range.end >= end).then_some((header, range))
}

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

/// Reads a chunk file that ends early, with zeros for the missing bytes; `None` for a chunk that claims more than memory
/// holds.
///
/// # Errors
/// Those of the source.
fn read_padded(source: &dyn Source, len: u64, limits: &Limits) -> Result<Option<Vec<u8>>> {
    let Ok(mut bytes) = try_zeroed_vec::<u8>(len, limits) else { return Ok(None) };
    let there = usize::try_from(source.len()).map_or(bytes.len(), |there| there.min(bytes.len()));
    source.read_into(0, &mut bytes[..there])?;
    Ok(Some(bytes))
}

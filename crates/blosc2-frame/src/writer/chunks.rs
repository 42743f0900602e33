//! The chunks of a frame that is being written, in the order in which they come.

use blosc_chunk::{Chunk, Special};
use container_core::{Limits, Result};

use super::header::{mixture, settle};
use super::stored_chunk::{Rules, Stored, physical, stored};
use super::{Fit, Places, Sink, Sizes};
use crate::checksums::Digests;
use crate::header::Header;
use crate::offsets::{Offset, Offsets};

/// Header, chunks and index as far as they are known.
pub(super) struct Body<'o> {
    pub sink: Sink<'o>,
    pub header: Header,
    pub sizes: Sizes,
    pub places: Places,
    /// Of all stored chunks, where they are wanted.
    pub digests: Option<Digests>,
}

impl<'o> Body<'o> {
    pub fn new(sink: Sink<'o>, header: Header, may_vary: bool) -> Self {
        let sizes = Sizes { chunksize: header.chunksize, count: 0, nbytes: 0, may_vary };
        let places = Places::new(Offsets::Each(Vec::new()), Limits::default());
        Self { sink, header, sizes, places, digests: None }
    }

    /// Marks in the index, which have been judged; chunks where sizes vary.
    pub fn take_specials(&mut self, special: Special, nbytes: usize, count: u64) -> Result<()> {
        let fit = self.sizes.insert(self.sizes.count, nbytes, count)?;
        self.make_fit(fit)?;
        if !self.sizes.vary() {
            self.places.insert(self.sizes.count, Offset::Special(special), count)?;
            self.count(nbytes as u64, count);
            return Ok(());
        }
        let chunk = physical(special, nbytes, self.header.typesize)?;
        let chunk = Chunk::parse(&chunk)?;
        (0..count).try_for_each(|_| self.take(&chunk))
    }

    /// The next chunk, which has been judged.
    pub fn take(&mut self, chunk: &Chunk<'_>) -> Result<()> {
        let fit = self.sizes.insert(self.sizes.count, chunk.nbytes(), 1)?;
        self.make_fit(fit)?;
        if chunk.header().has_variable_blocks() {
            self.header.variable_blocks = true;
            self.sizes.may_vary = true;
        }
        let rules = Rules { typesize: self.header.typesize, vary: self.sizes.vary() };
        let offset = match stored(chunk, rules)? {
            Stored::Mark(special) => Offset::Special(special),
            Stored::Bytes(bytes) => self.put(&bytes)?,
        };
        self.places.insert(self.sizes.count, offset, 1)?;
        self.count(chunk.nbytes() as u64, 1);
        Ok(())
    }

    fn put(&mut self, chunk: &[u8]) -> Result<Offset> {
        let at = self.sink.len();
        self.sink.put(chunk)?;
        if let Some(digests) = &mut self.digests {
            digests.take(at, chunk);
        }
        Ok(Offset::Stored(at))
    }

    fn count(&mut self, nbytes: u64, count: u64) {
        self.sizes.count = self.sizes.count.saturating_add(count);
        self.sizes.nbytes = self.sizes.nbytes.saturating_add(nbytes.saturating_mul(count));
    }

    /// Makes sizes what the next chunk needs them to be. Where they begin to vary, marks get the length that they lack.
    fn make_fit(&mut self, fit: Fit) -> Result<()> {
        if fit == Fit::Varies && !self.sizes.vary() {
            for index in 0..self.places.len() {
                let (Some(Offset::Special(special)), Some(len)) =
                    (self.places.get(index), self.sizes.len_of(index))
                else {
                    continue;
                };
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                let chunk = physical(special, len, self.header.typesize)?;
                let offset = self.put(&chunk)?;
                self.places.set(index, offset)?;
            }
        }
        settle(&mut self.sizes, fit);
        Ok(())
    }

    /// Chunks whose blocks the caller cut stand alone (C-Blosc2 takes no mixture).
    pub fn refuse_mixing(&mut self, variable_blocks: bool) -> Result<()> {
        if self.sizes.count > 0 && self.header.variable_blocks != variable_blocks {
            return Err(mixture());
        }
        if self.sizes.count == 0 {
            self.header.variable_blocks = variable_blocks;
        }
        Ok(())
    }
}

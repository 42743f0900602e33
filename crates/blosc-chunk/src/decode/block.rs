//! One block of one chunk: streams, then filters.

use container_core::source::try_zeroed_vec;
use container_core::{Limits, Result};

use super::Geometry;
use super::stream::{Codecs, Stream, Streams};
use crate::filters::{BlockContext, Filter, Pipeline, Scratch};
use crate::{Chunk, Header, Plugins};

/// Context that all blocks of a chunk share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'j, 'a> {
    pub(super) chunk: &'j Chunk<'a>,
    pub(super) geometry: &'j Geometry,
    pub(super) limits: &'j Limits,
    pub(super) plugins: &'j Plugins,
}

impl<'j> Job<'j, '_> {
    pub(super) fn header(&self) -> &'j Header {
        self.chunk.header()
    }

    pub(super) fn filters(&self) -> &'j Pipeline {
        &self.header().filters
    }

    /// Whether later blocks need the first: with DELTA, unless blocks are of variable length, where each is its own
    /// reference.
    pub(super) fn needs_reference(&self) -> bool {
        self.filters().contains(Filter::DELTA) && !self.header().has_variable_blocks()
    }

    pub(super) fn context(&self, reference: Option<&'j [u8]>) -> BlockContext<'j> {
        let typesize = usize::from(self.header().typesize);
        BlockContext {
            typesize,
            schunk_typesize: self.geometry.typesize.unwrap_or(typesize),
            version: self.header().version,
            reference,
            blockshape: &self.geometry.blockshape,
            plugins: self.plugins,
        }
    }
}

/// Buffers that a thread keeps from block to block.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub(super) codecs: Codecs,
    /// The joined streams of a block.
    pub(super) streams: Vec<u8>,
    pub(super) scratch: Scratch,
    /// A block, or what is needed of one, on its way to the caller.
    pub(super) block: Vec<u8>,
    /// Columns of the joined streams, on their way there.
    pub(super) picked: Vec<u8>,
}

impl Worker {
    /// Decodes the block `index` into `dst`, which is as long as it is. `reference` is the first block, for others than it
    /// under DELTA.
    pub(super) fn block<'j>(
        &mut self,
        job: Job<'j, '_>,
        index: usize,
        reference: Option<&'j [u8]>,
        dst: &mut [u8],
    ) -> Result<()> {
        let filters = job.filters();
        let mut streams = Streams::of(job.chunk, index)?;
        let context = job.context(reference);
        if filters.moves(&context) == 0 {
            self.join(job, &mut streams, dst)?;
            return filters.decode_in_place(&context, dst);
        }
        let mut joined = std::mem::take(&mut self.streams);
        let result = room(&mut joined, dst.len(), job.limits).and_then(|joined| {
            self.join(job, &mut streams, joined)?;
            filters.decode(&context, joined, dst, &mut self.scratch)
        });
        self.streams = joined;
        result
    }

    /// Decodes all streams of a block, one after the other.
    fn join(&mut self, job: Job<'_, '_>, streams: &mut Streams<'_, '_>, dst: &mut [u8]) -> Result<()> {
        let len = streams.len;
        for dst in dst.chunks_exact_mut(len) {
            job.limits.stop.check()?;
            match streams.next()? {
                Some(Stream::Run(byte)) => dst.fill(byte),
                Some(Stream::Stored(range)) => dst.copy_from_slice(&job.chunk.bytes()[range]),
                Some(Stream::Coded(range)) => self.codecs.decode(job, range, dst, len)?,
                None => break,
            }
        }
        Ok(())
    }
}

/// Returns the first `len` bytes of `buffer`, which grows if need be: as the limits allow, and without touching memory that
/// no stream fills.
pub(super) fn room<'b>(buffer: &'b mut Vec<u8>, len: usize, limits: &Limits) -> Result<&'b mut [u8]> {
    if buffer.len() < len {
        buffer.clear();
        *buffer = try_zeroed_vec(len as u64, limits)?;
    }
    Ok(&mut buffer[..len])
}

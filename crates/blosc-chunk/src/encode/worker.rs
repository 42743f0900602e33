//! One block: filters, then a stream for the whole or for each byte plane.

use std::slice::ChunksExact;

use container_core::Result;

use super::stream::StreamCodec;
use super::{BloscVersion, Params, le32, reserve};
use crate::Plugins;
use crate::filters::{BlockContext, Scratch};
use crate::tuning::{self, Blocks};

/// A chunk to be encoded, the same for all workers.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) params: &'a Params,
    pub(super) plugins: &'a Plugins,
    blockshape: &'a [usize],
    src: &'a [u8],
    blocks: Blocks,
    version: u8,
    /// Block 0 as it is decoded, where that is not its source.
    reference: Option<&'a [u8]>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        params: &'a Params,
        plugins: &'a Plugins,
        blockshape: &'a [usize],
        src: &'a [u8],
        blocks: Blocks,
    ) -> Self {
        let version = if params.blosc_version == BloscVersion::Blosc1 { 2 } else { 5 };
        Self { params, plugins, blockshape, src, blocks, version, reference: None }
    }

    /// Returns the plan with another block 0 for differences to refer to.
    pub(super) fn with_reference(self, reference: Option<&'a [u8]>) -> Self {
        Self { reference, ..self }
    }

    /// Returns the largest length of the streams of a block: stored, each with its length.
    pub(super) fn max_block_len(&self) -> usize {
        self.blocks.blocksize + 5 * self.blocks.streams
    }

    /// Returns the number of blocks.
    pub(super) fn count(&self) -> usize {
        self.src.len().div_ceil(self.blocks.blocksize)
    }

    /// Bytes of all of them.
    pub(super) fn nbytes(&self) -> usize {
        self.src.len()
    }

    fn block(&self, index: usize) -> &'a [u8] {
        let at = index * self.blocks.blocksize;
        &self.src[at..self.src.len().min(at + self.blocks.blocksize)]
    }

    /// Returns the number of streams of a block. One that is shorter than the others is never split.
    fn streams(&self, block: &[u8]) -> usize {
        if block.len() == self.blocks.blocksize { self.blocks.streams } else { 1 }
    }

    /// Returns the context of block `index` for its filters. Differences refer to block 0 before any filter.
    fn context(&self, index: usize) -> BlockContext<'a> {
        BlockContext {
            typesize: usize::from(tuning::stored_typesize(self.params.typesize)),
            schunk_typesize: self.params.typesize,
            version: self.version,
            reference: (index > 0).then(|| self.reference.unwrap_or_else(|| self.block(0))),
            blockshape: self.blockshape,
            plugins: self.plugins,
        }
    }
}

/// Outcome of encoding a block.
#[derive(Debug)]
pub(super) enum Made<'a> {
    /// Its streams are in the output, and all of them are zeros.
    Zeros,
    /// Its streams are in the output.
    Encoded,
    /// Its streams, none of which the codec makes shorter, are *not* in the output.
    Stored(ChunksExact<'a, u8>),
}

/// Buffers that one thread keeps from block to block.
#[derive(Debug)]
pub(super) struct Worker {
    codec: StreamCodec,
    scratch: Scratch,
    /// Buffer for a stream whose encoded length is not final yet.
    stage: Vec<u8>,
}

impl Worker {
    pub(super) fn new(params: &Params, plugins: &Plugins) -> Result<Self> {
        Ok(Self { codec: StreamCodec::new(params, plugins)?, scratch: Scratch::default(), stage: Vec::new() })
    }

    /// Sets the dictionary for further streams; empty for none.
    pub(super) fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<()> {
        self.codec.set_dictionary(dictionary)
    }

    /// Returns block `index` after the filters.
    pub(super) fn filtered<'b>(&'b mut self, plan: &Plan<'b>, index: usize) -> Result<&'b [u8]> {
        plan.params.filters.encode(&plan.context(index), plan.block(index), &mut self.scratch)
    }

    /// Appends the streams of block `index` to `out`, unless all of them would only be stored: these are returned borrowed.
    pub(super) fn block<'b>(
        &'b mut self,
        plan: &Plan<'b>,
        index: usize,
        out: &mut Vec<u8>,
    ) -> Result<Made<'b>> {
        let block = plan.block(index);
        let context = plan.context(index);
        let filtered = plan.params.filters.encode(&context, block, &mut self.scratch)?;
        let stream_len = filtered.len() / plan.streams(block);
        // As long as the source means stored, so one byte less is the most that a codec may take.
        let stage = stage(&mut self.stage, stream_len - 1)?;
        let has_runs = plan.params.blosc_version == BloscVersion::Blosc2;
        let mut all_zeros = has_runs;
        let mut held = 0;
        for (number, stream) in filtered.chunks_exact(stream_len).enumerate() {
            let run = if has_runs { constant(stream) } else { None };
            all_zeros &= run == Some(0);
            let encoded = if run.is_none() { self.codec.encode(stream, &context, stage)? } else { None };
            if run.is_none() && encoded.is_none() && held == number {
                held += 1;
                continue;
            }
            // Those before it turn out not to be all of them.
            filtered
                .chunks_exact(stream_len)
                .take(std::mem::take(&mut held))
                .for_each(|held| append(held, out));
            match (run, encoded) {
                (Some(byte), _) => append_run(byte, out),
                (None, Some(len)) => append(&stage[..len], out),
                (None, None) => append(stream, out),
            }
        }
        Ok(match held {
            0 if all_zeros => Made::Zeros,
            0 => Made::Encoded,
            _ => Made::Stored(filtered.chunks_exact(stream_len)),
        })
    }

    /// Returns the streams of block `index` as they are.
    pub(super) fn stored<'b>(&'b mut self, plan: &Plan<'b>, index: usize) -> Result<ChunksExact<'b, u8>> {
        let filtered = self.filtered(plan, index)?;
        Ok(filtered.chunks_exact(filtered.len() / plan.streams(plan.block(index))))
    }

    /// Returns block 0 as it will be decoded.
    pub(super) fn decoded_first(&mut self, plan: &Plan<'_>) -> Result<Vec<u8>> {
        let context = plan.context(0);
        let filters = plan.params.filters;
        let mut streams = filters.encode(&context, plan.block(0), &mut self.scratch)?.to_vec();
        let mut decoded = vec![0; streams.len()];
        filters.decode(&context, &mut streams, &mut decoded, &mut self.scratch)?;
        Ok(decoded)
    }

    /// Returns a block that the caller has cut, after the filters.
    pub(super) fn filtered_cut<'b>(
        &'b mut self,
        params: &Params,
        context: &BlockContext<'_>,
        block: &'b [u8],
    ) -> Result<&'b [u8]> {
        params.filters.encode(context, block, &mut self.scratch)
    }

    /// Appends a block that the caller has cut to `out`: its length, and its bytes encoded or stored.
    pub(super) fn cut_block(
        &mut self,
        params: &Params,
        context: &BlockContext<'_>,
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let filtered = params.filters.encode(context, block, &mut self.scratch)?;
        let stage = stage(&mut self.stage, block.len() - 1)?;
        let encoded = if params.level == 0 { None } else { self.codec.encode(filtered, context, stage)? };
        let payload = encoded.map_or(filtered, |len| &stage[..len]);
        reserve(out, payload.len() + 4)?;
        out.extend_from_slice(&le32(block.len()));
        out.extend_from_slice(payload);
        Ok(())
    }
}

/// Returns room for `len` bytes of unspecified contents.
fn stage(stage: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if stage.len() < len {
        let more = len - stage.len();
        reserve(stage, more)?;
        stage.resize(len, 0);
    }
    Ok(&mut stage[..len])
}

/// Appends the length of a stream and the stream.
pub(super) fn append(stream: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&le32(stream.len()));
    out.extend_from_slice(stream);
}

/// Appends a stream of one repeated byte: its negative, and a token; only a zero for zeros. Spec: blosc2 section 1.6.
fn append_run(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&(-i32::from(byte)).to_le_bytes());
    if byte != 0 {
        out.push(0x01);
    }
}

/// Returns the byte that `stream` repeats, if it does. Comparing it with itself, one byte on, runs at the speed of memory.
/// Nearly every other stream differs at once.
fn constant(stream: &[u8]) -> Option<u8> {
    let (&first, rest) = stream.split_first()?;
    let is_constant = rest.last().is_none_or(|&last| last == first) && *rest == stream[..rest.len()];
    is_constant.then_some(first)
}

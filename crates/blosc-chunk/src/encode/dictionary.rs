//! Dictionaries: what the blocks of a chunk have in common, stored once.
//!
//! zstd trains them on samples of the filtered blocks; LZ4 takes the samples themselves, as if they came before each block.
//!
//! Spec: blosc2 section 1.7.

use container_codecs::zstd;
use container_core::Result;

use super::worker::{Plan, Worker};
use super::{Encoder, reserve};
use crate::Compressor;
use crate::tuning::Blocks;

/// Longest dictionary that C-Blosc2 3.x reads (`BLOSC2_MAXDICTSIZE`).
const MAX_LEN: usize = 32 << 10;
/// Shorter dictionaries save less than they take; zstd does not train them either.
const MIN_LEN: usize = 256;
/// Bytes of samples for each byte of a zstd dictionary, as zstd advises; more only take time.
const SAMPLES_FOR_EACH: usize = 100;
/// Bytes of a sample for training.
const TRAINING_LEN: usize = 1024;
/// Bytes of a sample that goes into a dictionary as it is: long enough for matches, short enough for many.
const PREFIX_LEN: usize = 512;

/// Pieces of the filtered blocks of a chunk, from all over it, one after the other.
#[derive(Debug)]
pub(super) struct Samples {
    compressor: Compressor,
    /// The longest dictionary to be made.
    max_len: usize,
    /// Bytes of all blocks, and how many of them are to be sampled.
    nbytes: usize,
    wanted: usize,
    /// Bytes of blocks so far, of which none has been sampled.
    credit: usize,
    bytes: Vec<u8>,
    sizes: Vec<usize>,
}

impl Samples {
    /// Creates samples for `nbytes` of data, of a twentieth of them at most, as in C-Blosc2; `None` when that is too short.
    pub(super) fn new(compressor: Compressor, nbytes: usize) -> Option<Self> {
        let max_len = (nbytes / 20).min(MAX_LEN);
        let wanted = if compressor == Compressor::ZSTD { max_len * SAMPLES_FOR_EACH } else { max_len };
        let (bytes, sizes) = (Vec::new(), Vec::new());
        let samples =
            Self { compressor, max_len, nbytes, wanted: wanted.min(nbytes), credit: 0, bytes, sizes };
        (max_len >= MIN_LEN).then_some(samples)
    }

    /// Takes of `block` as large a part as of all, in pieces from all over it.
    pub(super) fn take(&mut self, block: &[u8]) -> Result<()> {
        let len =
            if self.compressor == Compressor::ZSTD { TRAINING_LEN } else { PREFIX_LEN }.min(block.len());
        // So many bytes of data for each piece of `len`.
        let each = self.nbytes / (self.wanted / len).max(1);
        self.credit += block.len();
        let pieces = (self.credit / each).min(block.len() / len);
        self.credit = if pieces > 0 { 0 } else { self.credit };
        let step = block.len() / pieces.max(1);
        reserve(&mut self.bytes, pieces * len)?;
        for at in (0..pieces).map(|piece| piece * step) {
            self.bytes.extend_from_slice(&block[at..at + len]);
            self.sizes.push(len);
        }
        Ok(())
    }

    /// Returns the dictionary; `None` when none comes of these samples.
    pub(super) fn build(mut self) -> Option<Vec<u8>> {
        if self.compressor == Compressor::ZSTD {
            return zstd::train(&self.bytes, &self.sizes, self.max_len);
        }
        self.bytes.truncate(self.max_len);
        (self.bytes.len() >= MIN_LEN).then_some(self.bytes)
    }
}

fn train(worker: &mut Worker, compressor: Compressor, plan: &Plan<'_>) -> Result<Option<Vec<u8>>> {
    let Some(mut samples) = Samples::new(compressor, plan.nbytes()) else { return Ok(None) };
    for index in 0..plan.count() {
        samples.take(worker.filtered(plan, index)?)?;
    }
    Ok(samples.build())
}

impl Encoder {
    /// Appends the shorter of two chunks, with a dictionary and without.
    pub(super) fn append_with_dictionary(
        &mut self,
        src: &[u8],
        blocks: Blocks,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        self.append_streams(src, blocks, None, out)?;
        let plan = Plan::new(&self.params, &self.plugins, &self.blockshape, src, blocks);
        let Some(dictionary) = train(&mut self.workers[0], self.params.compressor, &plan)? else {
            return Ok(());
        };
        let mut other = Vec::new();
        let done = self.with_dictionary(&dictionary, |encoder| {
            encoder.append_streams(src, blocks, Some(&dictionary), &mut other)
        });
        done?;
        if other.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(&other);
        }
        Ok(())
    }

    /// Runs `encode` while all workers have `dictionary`.
    pub(super) fn with_dictionary(
        &mut self,
        dictionary: &[u8],
        encode: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        // Workers that are added meanwhile would have none.
        while self.workers.len() < self.params.threads {
            self.workers.push(Worker::new(&self.params, &self.plugins)?);
        }
        for worker in &mut self.workers {
            worker.set_dictionary(dictionary)?;
        }
        let done = encode(self);
        for worker in &mut self.workers {
            worker.set_dictionary(&[])?;
        }
        done
    }
}

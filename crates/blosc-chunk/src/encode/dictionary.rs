//! Dictionaries: what the blocks of a chunk have in common, stored once.
//!
//! zstd trains them on samples of the filtered blocks; LZ4 takes the samples themselves, as if they came before each block.
//!
//! Spec: blosc2 section 1.7.

use container_core::Result;
use container_core::codec::zstd;

use super::worker::{Plan, Worker};
use super::{Encoder, reserve};
use crate::Compressor;
use crate::tuning::Blocks;

/// Longest dictionary that C-Blosc2 3.x reads (`BLOSC2_MAXDICTSIZE`).
const MAX_LEN: usize = 32 << 10;
/// Shorter ones are not worth their place, nor does zstd train them.
const MIN_LEN: usize = 256;
/// Bytes of samples for each byte of a dictionary, as zstd advises; more only take time.
const SAMPLES_FOR_EACH: usize = 100;
/// Shortest and longest piece that is sampled.
const SAMPLE_LEN: std::ops::RangeInclusive<usize> = 64..=1024;

/// The longest dictionary that `nbytes` of data may have: a twentieth of them, as in C-Blosc2.
pub(super) fn max_len(nbytes: usize) -> usize {
    (nbytes / 20).min(MAX_LEN)
}

/// Pieces of blocks, one after the other.
#[derive(Debug, Default)]
pub(super) struct Samples {
    bytes: Vec<u8>,
    sizes: Vec<usize>,
}

impl Samples {
    /// Takes about `budget` bytes out of `block`, in pieces from all over it.
    pub(super) fn take(&mut self, block: &[u8], budget: usize) -> Result<()> {
        let pieces = (budget / SAMPLE_LEN.end()).max(8);
        let len = (budget / pieces).clamp(*SAMPLE_LEN.start(), *SAMPLE_LEN.end()).min(block.len());
        let step = (block.len() / pieces).max(len).max(1);
        let mut at = 0;
        let mut taken = 0;
        while at + len <= block.len() && len > 0 && taken < budget.max(len) {
            reserve(&mut self.bytes, len)?;
            self.bytes.extend_from_slice(&block[at..at + len]);
            self.sizes.push(len);
            taken += len;
            at += step;
        }
        Ok(())
    }

    /// A dictionary of at most `max_len` bytes for `compressor`; `None` when none comes of these samples.
    pub(super) fn build(&self, compressor: Compressor, max_len: usize) -> Option<Vec<u8>> {
        if max_len < MIN_LEN || self.bytes.is_empty() {
            return None;
        }
        if compressor == Compressor::ZSTD {
            return zstd::train(&self.bytes, &self.sizes, max_len);
        }
        // Samples from the whole chunk, evenly, for there are more of them than there is room.
        let wanted = max_len.min(self.bytes.len());
        let step = (self.bytes.len() / wanted).max(1);
        let mut dictionary = Vec::with_capacity(wanted);
        let mut at = 0;
        for (index, &size) in self.sizes.iter().enumerate() {
            if index % step == 0 && dictionary.len() + size <= wanted {
                dictionary.extend_from_slice(&self.bytes[at..at + size]);
            }
            at += size;
        }
        (dictionary.len() >= MIN_LEN).then_some(dictionary)
    }
}

/// How much of each of `count` blocks is sampled for a dictionary of `max_len`.
pub(super) fn budget(max_len: usize, count: usize) -> usize {
    (max_len * SAMPLES_FOR_EACH / count.max(1)).max(*SAMPLE_LEN.start())
}

fn train(worker: &mut Worker, compressor: Compressor, plan: &Plan<'_>) -> Result<Option<Vec<u8>>> {
    let max_len = max_len(plan.nbytes());
    if max_len < MIN_LEN {
        return Ok(None);
    }
    let mut samples = Samples::default();
    let budget = budget(max_len, plan.count());
    for index in 0..plan.count() {
        samples.take(worker.filtered(plan, index)?, budget)?;
    }
    Ok(samples.build(compressor, max_len))
}

impl Encoder {
    /// The shorter of two chunks, with a dictionary and without.
    pub(super) fn append_with_dictionary(
        &mut self,
        src: &[u8],
        blocks: Blocks,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        self.append_streams(src, blocks, None, out)?;
        let plan = Plan::new(&self.params, &self.blockshape, src, blocks);
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
            self.workers.push(Worker::new(&self.params)?);
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

//! Decodes short runs of one block, as a box of an array needs them.
//!
//! Streams are decoded once, as far as the last piece needs them. The filters are then undone for each piece alone, or for all
//! from the first to the last, whichever is less work.

use std::ops::Range;

use container_core::{Error, Result};

use super::block::{Job, Worker, room};
use super::partial_block::Plan;
use super::{Decoder, check_len, decode_plain};
use crate::Chunk;

impl Decoder {
    /// Decodes the bytes `runs` of the block `index` of `chunk` into `dst`, one run after the other. Parts that no run needs are
    /// skipped.
    ///
    /// Runs count from the start of the block, come in order and do not overlap; they may be empty. `dst` is as long as all
    /// of them.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; `Usage` for an index past the last block, and for runs that are out of order or end past it.
    pub fn decode_runs(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        runs: &[Range<usize>],
        dst: &mut [u8],
    ) -> Result<()> {
        if index >= chunk.block_count() {
            return Err(Error::usage(format!("no block {index} (there are {})", chunk.block_count())));
        }
        check_len(dst, check_runs(runs, chunk.block_len(index))?)?;
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return Ok(()) };
        if !chunk.has_blocks() || chunk.header().is_instrumented() {
            let start = index * chunk.header().block_len() as usize;
            return pieces(runs, dst).try_for_each(|(run, piece)| {
                decode_plain(chunk, start + run.start, piece, self.limits.stop).map(|_| ())
            });
        }
        let cover = first.start..last.end;
        if cover.len() == dst.len() {
            // A block that decodes as one piece, whatever the runs.
            self.find_reference(chunk, index, Some(cover.clone()))?;
            return self.decode_part(chunk, index, cover, dst);
        }
        self.find_reference(chunk, index, Some(cover.clone()))?;
        let job = Job { chunk, geometry: &self.geometry, limits: &self.limits, plugins: &self.plugins };
        let has_reference = index > 0 && job.needs_reference();
        let reference = has_reference.then(|| &self.reference[..chunk.block_len(0)]);
        self.worker.runs(job, index, reference, cover, runs, dst)
    }
}

/// Bytes of all runs, which are in order and end within `len` bytes.
fn check_runs(runs: &[Range<usize>], len: usize) -> Result<usize> {
    let mut sum = 0;
    let mut before = 0;
    for run in runs {
        if run.start < before || run.end < run.start || run.end > len {
            let problem = format!(
                "bytes {}..{} are not between byte {before} and the end of a block of {len}",
                run.start, run.end
            );
            return Err(Error::usage(problem));
        }
        before = run.end;
        sum += run.len();
    }
    Ok(sum)
}

/// Returns each run with its place in `dst`, which is as long as all of them.
fn pieces<'r, 'd>(
    runs: &'r [Range<usize>],
    dst: &'d mut [u8],
) -> impl Iterator<Item = (Range<usize>, &'d mut [u8])> + use<'r, 'd> {
    let mut rest = dst;
    runs.iter().map(move |run| {
        let (piece, next) = std::mem::take(&mut rest).split_at_mut(run.len());
        rest = next;
        (run.clone(), piece)
    })
}

impl Worker {
    /// Decodes the bytes `runs` of the block `index`, from the first to the last of which is `cover`. `reference` is as for
    /// [`Worker::part`].
    fn runs<'j>(
        &mut self,
        job: Job<'j, '_>,
        index: usize,
        reference: Option<&'j [u8]>,
        cover: Range<usize>,
        runs: &[Range<usize>],
        dst: &mut [u8],
    ) -> Result<()> {
        let len = job.chunk.block_len(index);
        let mut block = std::mem::take(&mut self.block);
        let result = match Plan::new(job, len, cover, reference.is_none()) {
            Some(plan) => self.planned_runs(job, index, reference, &plan, runs, &mut block, dst),
            None => room(&mut block, len, job.limits).and_then(|block| {
                self.block(job, index, reference, block)?;
                pieces(runs, dst).for_each(|(run, piece)| piece.copy_from_slice(&block[run]));
                Ok(())
            }),
        };
        self.block = block;
        result
    }

    #[expect(clippy::too_many_arguments, reason = "what a block needs, and what is wanted of it")]
    fn planned_runs(
        &mut self,
        job: Job<'_, '_>,
        index: usize,
        reference: Option<&[u8]>,
        cover: &Plan,
        runs: &[Range<usize>],
        block: &mut Vec<u8>,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut joined = std::mem::take(&mut self.streams);
        let result = room(&mut joined, job.chunk.block_len(index), job.limits).and_then(|joined| {
            let is_sparse = cover.is_sparse(runs.len(), dst.len());
            self.fetch(job, index, cover, is_sparse.then_some(runs), joined)?;
            cover.sum(joined);
            if is_sparse {
                return pieces(runs, dst).filter(|(run, _)| !run.is_empty()).try_for_each(|(run, piece)| {
                    self.make_wanted(job, &cover.of(run), reference, joined, block, piece)
                });
            }
            let made = cover.made();
            let block = room(block, made.len(), job.limits)?;
            self.make(job, cover, reference, joined, block)?;
            for (run, piece) in pieces(runs, dst) {
                let plan = cover.of(run);
                let (body, tail) = piece.split_at_mut(plan.wanted.len());
                body.copy_from_slice(&block[plan.wanted.start - made.start..][..body.len()]);
                tail.copy_from_slice(&joined[plan.tail]);
            }
            Ok(())
        });
        self.streams = joined;
        result
    }
}

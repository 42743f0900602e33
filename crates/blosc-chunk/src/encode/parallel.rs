//! The blocks of a chunk, on one thread or several, in order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use container_core::Result;

use super::worker::{Made, Plan, Worker, append};
use super::{Outcome, le32, reserve};

/// Below this many bytes for each thread, starting it takes longer than it saves.
const MIN_NBYTES: usize = 64 << 10;

/// Appends the streams of all blocks to `out`, and stores the start of each at `starts_at`. `chunk` is the range of the chunk
/// in `out`: its end is the limit from which on storing the bytes is better.
///
/// The output is the same for any number of threads: an encoded block depends on the block alone, and whether the whole is too long on
/// the sum alone.
pub(super) fn encode_blocks(
    workers: &mut Vec<Worker>,
    plan: &Plan<'_>,
    chunk: Range<usize>,
    starts_at: usize,
    out: &mut Vec<u8>,
) -> Result<Outcome> {
    let threads = plan.params.threads.min(plan.count()).min(plan.nbytes() / MIN_NBYTES).max(1);
    while workers.len() < threads {
        workers.push(Worker::new(plan.params, plan.plugins)?);
    }
    if threads == 1 {
        return encode_in_turn(&mut workers[0], plan, chunk, starts_at, out);
    }
    let room = chunk.end.saturating_sub(out.len());
    let Some(shares) = encode_shared(&mut workers[..threads], plan, room)? else {
        return Ok(Outcome::TooLong);
    };
    let mut places: Vec<(&Done, &[u8])> = shares
        .iter()
        .flat_map(|share| share.done.iter().map(|done| (done, &share.out[done.range.clone()])))
        .collect();
    places.sort_unstable_by_key(|(done, _)| done.index);
    for (done, streams) in &places {
        note_start(done.index, starts_at, chunk.start, out);
        out.extend_from_slice(streams);
    }
    let all_zeros = places.iter().all(|(done, _)| done.all_zeros);
    Ok(if all_zeros { Outcome::AllZeros } else { Outcome::Encoded })
}

/// Encodes one block after the other. Leading blocks that are only stored are held back. Most chunks that have one consist of
/// such blocks, and are then copied whole.
fn encode_in_turn(
    worker: &mut Worker,
    plan: &Plan<'_>,
    chunk: Range<usize>,
    starts_at: usize,
    out: &mut Vec<u8>,
) -> Result<Outcome> {
    let mut all_zeros = true;
    // How many are held, as long as any may be.
    let mut held = Some(0);
    let mut index = 0;
    while index < plan.count() {
        let before = out.len();
        note_start(index, starts_at, chunk.start, out);
        match (worker.block(plan, index, out)?, held) {
            (Made::Stored(_), Some(count)) => held = Some(count + 1),
            (_, Some(count @ 1..)) => {
                out.truncate(before);
                for index in 0..count {
                    note_start(index, starts_at, chunk.start, out);
                    worker.stored(plan, index)?.for_each(|stream| append(stream, out));
                }
                held = None;
                all_zeros = false;
                // This block is encoded again, after the ones that were held.
                continue;
            }
            (made, _) => {
                held = None;
                all_zeros &= matches!(made, Made::Zeros);
                if let Made::Stored(streams) = made {
                    streams.for_each(|stream| append(stream, out));
                }
            }
        }
        if out.len() >= chunk.end {
            return Ok(Outcome::TooLong);
        }
        index += 1;
    }
    Ok(match held {
        Some(_) => Outcome::TooLong,
        None if all_zeros => Outcome::AllZeros,
        None => Outcome::Encoded,
    })
}

/// The blocks that one thread took, one after the other.
#[derive(Debug, Default)]
struct Share {
    out: Vec<u8>,
    done: Vec<Done>,
}

impl Share {
    fn add(&mut self, worker: &mut Worker, plan: &Plan<'_>, index: usize) -> Result<Done> {
        reserve(&mut self.out, plan.max_block_len())?;
        let from = self.out.len();
        let made = worker.block(plan, index, &mut self.out)?;
        let all_zeros = matches!(made, Made::Zeros);
        if let Made::Stored(streams) = made {
            streams.for_each(|stream| append(stream, &mut self.out));
        }
        Ok(Done { index, range: from..self.out.len(), all_zeros })
    }
}

#[derive(Debug)]
struct Done {
    index: usize,
    /// In the output of the share.
    range: Range<usize>,
    all_zeros: bool,
}

/// Shares the blocks out, each to the thread that is free; `None` when they take `room` bytes or more.
fn encode_shared(workers: &mut [Worker], plan: &Plan<'_>, room: usize) -> Result<Option<Vec<Share>>> {
    let next = AtomicUsize::new(0);
    let used = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = |worker: &mut Worker| -> Result<Share> {
        let mut share = Share::default();
        while !failed.load(Ordering::Relaxed) && used.load(Ordering::Relaxed) < room {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= plan.count() {
                break;
            }
            let done =
                share.add(worker, plan, index).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            used.fetch_add(done.range.len(), Ordering::Relaxed);
            share.done.push(done);
        }
        Ok(share)
    };
    let shares: Result<Vec<Share>> = thread::scope(|scope| {
        let (first, others) = workers.split_first_mut().expect("there is a worker for each thread");
        let running: Vec<_> = others.iter_mut().map(|worker| scope.spawn(|| work(worker))).collect();
        let mut shares = vec![work(first)];
        shares.extend(
            running
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        shares.into_iter().collect()
    });
    let shares = shares?;
    Ok((used.into_inner() < room).then_some(shares))
}

/// Notes in the table of bstarts that block `index` begins at the end of `out`, counted from the start of the chunk.
fn note_start(index: usize, starts_at: usize, chunk_at: usize, out: &mut [u8]) {
    let start = le32(out.len() - chunk_at);
    out[starts_at + 4 * index..][..4].copy_from_slice(&start);
}

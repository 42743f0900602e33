//! The blocks of a chunk, shared out among threads.

use std::sync::{Mutex, PoisonError};

use container_core::{Error, Result};

use super::block::{Job, Worker};
use crate::Chunk;

/// Decodes all blocks into `dst`, which they fill, on up to `threads` threads. One thread means the caller's.
pub(super) fn decode<'j>(
    job: Job<'j, '_>,
    worker: &mut Worker,
    others: &mut Vec<Worker>,
    dst: &'j mut [u8],
    threads: usize,
) -> Result<()> {
    let mut parts = Parts { chunk: job.chunk, rest: dst, next: 0 };
    let mut reference = None;
    if job.needs_reference()
        && let Some((index, first)) = parts.next()
    {
        worker.block(job, index, None, first)?;
        reference = Some(&*first);
    }
    let threads = threads.clamp(1, job.chunk.block_count().max(1));
    if threads == 1 {
        return parts.try_for_each(|(index, part)| worker.block(job, index, reference, part));
    }
    others.resize_with(others.len().max(threads - 1), Worker::default);
    let queue = Queue { parts: Mutex::new(parts), error: Mutex::new(None) };
    std::thread::scope(|scope| {
        for other in &mut others[..threads - 1] {
            scope.spawn(|| queue.work(job, other, reference));
        }
        queue.work(job, worker, reference);
    });
    let error = queue.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or(Ok(()), |(_, error)| Err(error))
}

/// The blocks that no thread has taken, and the first error.
struct Queue<'c, 'a, 'd> {
    parts: Mutex<Parts<'c, 'a, 'd>>,
    /// The error of the first block that has one.
    error: Mutex<Option<(usize, Error)>>,
}

impl Queue<'_, '_, '_> {
    /// Takes one block after the other.
    fn work<'j>(&self, job: Job<'j, '_>, worker: &mut Worker, reference: Option<&'j [u8]>) {
        // A statement of its own: in the head of the loop the lock would be held through the body.
        let take = || lock(&self.parts).next();
        while let Some((index, part)) = take() {
            let Err(error) = worker.block(job, index, reference, part) else { continue };
            // Blocks before this one are taken already, so the first error is found in any order of the threads.
            lock(&self.parts).rest = &mut [];
            let mut first = lock(&self.error);
            if first.as_ref().is_none_or(|(before, _)| index < *before) {
                *first = Some((index, error));
            }
        }
    }
}

/// Locks `mutex`. No code that holds a lock here panics, so a poisoned one still holds valid data.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks of a chunk with their places in the destination.
struct Parts<'c, 'a, 'd> {
    chunk: &'c Chunk<'a>,
    rest: &'d mut [u8],
    next: usize,
}

impl<'d> Iterator for Parts<'_, '_, 'd> {
    type Item = (usize, &'d mut [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let index = self.next;
        let len = self.chunk.block_len(index).min(self.rest.len());
        let (part, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
        self.rest = rest;
        self.next += 1;
        (len > 0).then_some((index, part))
    }
}

//! A [`Source`] over an object on a server.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use container_core::source::{Source, check_range};
use container_core::threads::on_threads;
use container_core::{Limits, Result, Stop};

use crate::cache::Cache;
use crate::retry::{self, Retries};
use crate::store::{Opened, Pin, Store};
use crate::{RangeReader, RemoteOptions, plan};

/// Bytes fetched for a read that nothing announced.
const MIN_FETCH: u64 = 64 << 10;

/// Longest read-ahead of a sequential reader.
const MAX_AHEAD: u64 = 8 << 20;

/// Sequential readers whose read-ahead is tracked.
const MAX_STREAMS: usize = 8;

/// Length from which a read goes to the caller's memory, without the cache: it passes through once.
const MIN_DIRECT: usize = 4 << 20;

/// Attempts to read from the cache what other readers may drop from it meanwhile; then the read goes around it.
const MAX_ATTEMPTS: u32 = 3;

/// Time between two checks of a request to stop, where others fetch.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Requests, rounds and bytes of a source so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests sent, those of opening and retries included.
    pub requests: u64,
    /// Times that a reader waited for requests: those that are sent together are one.
    pub rounds: u64,
    /// Bytes of the object that arrived.
    pub bytes: u64,
}

/// An object on a server, of the version at the time of opening. Threads share it: a range that one of them has requested is not requested again.
///
/// Reads are copies. Errors are `Io` where the server fails, with `StaleNetworkFileHandle` where the object changed, and `Cancelled` on the request
/// to stop of the limits that it was opened with.
pub struct CachedSource {
    store: Box<dyn Store>,
    pin: Pin,
    options: RemoteOptions,
    stop: Stop,
    /// Maximum bytes in the cache.
    capacity: u64,
    /// Whether all of the object is in the cache.
    is_whole: bool,
    state: Mutex<State>,
    arrived: Condvar,
    requests: AtomicU64,
    rounds: AtomicU64,
    bytes: AtomicU64,
}

struct State {
    cache: Cache,
    /// Ranges that threads are fetching.
    in_flight: Vec<Range<u64>>,
    /// Next offset and read-ahead of sequential readers, the latest last.
    streams: Vec<(u64, u64)>,
}

impl State {
    /// Bytes to fetch for a read that misses from `at` on: more for a reader that continues where it ended.
    fn ahead(&mut self, missing: &Range<u64>, max: u64) -> u64 {
        let stream = self.streams.iter().position(|(next, _)| *next == missing.start);
        let len = stream.map_or(MIN_FETCH, |found| self.streams.remove(found).1.saturating_mul(2)).min(max);
        if self.streams.len() >= MAX_STREAMS {
            self.streams.remove(0);
        }
        self.streams.push((missing.end.max(missing.start.saturating_add(len)), len));
        len
    }
}

impl CachedSource {
    /// The object of a reader, whose length stays as it is.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn over(reader: Box<dyn RangeReader>, options: &RemoteOptions, limits: &Limits) -> Result<Self> {
        Self::new(Box::new(reader), options, limits)
    }

    /// Opens the object of `store`: its first bytes, and the rest of a small one.
    pub(crate) fn new(store: Box<dyn Store>, options: &RemoteOptions, limits: &Limits) -> Result<Self> {
        // Formats have their headers there; a file up to `WHOLE` is read with one more request.
        const HEAD: u64 = 64 << 10;
        const WHOLE: u64 = 2 << 20;
        let stop = limits.stop;
        let (Opened { head, pin }, requests) = retry::head(&*store, HEAD, Retries::new(options, stop))?;
        let capacity = options.cache_len.min(limits.memory / 8).max(head.len() as u64);
        let mut cache = Cache::new(capacity);
        cache.insert(0, &head);
        let is_whole = pin.len <= WHOLE.min(capacity);
        let source = Self {
            store,
            is_whole,
            pin,
            options: options.clone(),
            stop,
            capacity,
            state: Mutex::new(State { cache, in_flight: Vec::new(), streams: Vec::new() }),
            arrived: Condvar::new(),
            requests: AtomicU64::new(requests),
            rounds: AtomicU64::new(1),
            bytes: AtomicU64::new(head.len() as u64),
        };
        if is_whole {
            source.load(&[0..source.pin.len], stop)?;
        }
        Ok(source)
    }

    /// Requests, rounds and bytes so far.
    pub fn traffic(&self) -> Traffic {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic { requests: of(&self.requests), rounds: of(&self.rounds), bytes: of(&self.bytes) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches the parts of `ranges` that are neither in memory nor on their way, and waits for those that are.
    fn load(&self, ranges: &[Range<u64>], stop: Stop) -> Result<()> {
        let mut state = self.state();
        let holes: Vec<_> = ranges.iter().flat_map(|range| state.cache.holes(range.clone())).collect();
        let mine: Vec<_> = holes.iter().flat_map(|hole| without(hole.clone(), &state.in_flight)).collect();
        if !mine.is_empty() {
            // Neighbours are joined over what others fetch, which is then taken out again.
            let joined = plan::requests(mine).into_iter();
            let requests: Vec<_> = joined.flat_map(|range| without(range, &state.in_flight)).collect();
            state.in_flight.extend(requests.iter().cloned());
            drop(state);
            let done = InFlight { source: self, ranges: requests };
            self.fetch_all(&done.ranges, stop)?;
            drop(done);
            state = self.state();
        }
        // Others may fail: their ranges are then still missing, and the caller asks for them again.
        let is_awaited =
            |range: &Range<u64>| holes.iter().any(|hole| hole.start < range.end && range.start < hole.end);
        while state.in_flight.iter().any(is_awaited) {
            let woken = self.arrived.wait_timeout(state, STOP_CHECK);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            stop.check()?;
        }
        Ok(())
    }

    /// Fetches ranges side by side and puts them into the cache.
    fn fetch_all(&self, ranges: &[Range<u64>], stop: Stop) -> Result<()> {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        let next = Mutex::new(ranges.iter());
        on_threads(self.options.max_in_flight.min(ranges.len()), &|| {
            loop {
                let range = next.lock().unwrap_or_else(PoisonError::into_inner).next().cloned();
                let Some(range) = range else { return Ok(()) };
                let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
                let mut bytes = vec![0; len];
                self.fetch(range.start, &mut bytes, stop)?;
                self.state().cache.insert(range.start, &bytes);
            }
        })
    }

    /// Fetches into memory of the caller.
    fn fetch(&self, at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        let requests = retry::fetch(&*self.store, at, dst, &self.pin, Retries::new(&self.options, stop))?;
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.bytes.fetch_add(dst.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Fills `dst` without the cache, in requests side by side.
    fn fetch_direct(&self, at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        let piece = usize::try_from(plan::MAX_REQUEST).unwrap_or(usize::MAX);
        let threads = self.options.max_in_flight.min(dst.len().div_ceil(piece));
        self.rounds.fetch_add(1, Ordering::Relaxed);
        let pieces = Mutex::new((at, dst.chunks_mut(piece)));
        on_threads(threads, &|| {
            loop {
                let (at, dst) = {
                    let mut next = pieces.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(dst) = next.1.next() else { return Ok(()) };
                    let at = next.0;
                    next.0 = at.saturating_add(dst.len() as u64);
                    (at, dst)
                };
                self.fetch(at, dst, stop)?;
            }
        })
    }

    fn read_stopping(&self, at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, self.pin.len)?;
        for _ in 0..MAX_ATTEMPTS {
            let mut state = self.state();
            if state.cache.copy_to(at, dst) {
                return Ok(());
            }
            if dst.len() >= MIN_DIRECT {
                break;
            }
            let Some(missing) = state.cache.holes(range.clone()).first().cloned() else { break };
            let ahead = state.ahead(&(missing.start..range.end), MAX_AHEAD.min(self.capacity / 8));
            drop(state);
            let end = range.end.max(missing.start.saturating_add(ahead)).min(self.pin.len);
            self.load(&[missing.start..end], stop)?;
        }
        self.fetch_direct(at, dst, stop)
    }
}

impl std::fmt::Debug for CachedSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedSource")
            .field("len", &self.pin.len)
            .field("traffic", &self.traffic())
            .finish_non_exhaustive()
    }
}

/// Ranges that are no longer on their way once this is dropped, whether they arrived or not.
struct InFlight<'s> {
    source: &'s CachedSource,
    ranges: Vec<Range<u64>>,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut state = self.source.state();
        for range in &self.ranges {
            if let Some(at) = state.in_flight.iter().position(|other| other == range) {
                state.in_flight.swap_remove(at);
            }
        }
        drop(state);
        self.source.arrived.notify_all();
    }
}

/// The parts of `range` outside of all `others`.
fn without(range: Range<u64>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut parts = vec![range];
    for other in others {
        parts = parts
            .into_iter()
            .flat_map(|part| {
                let before = part.start..part.end.min(other.start);
                let after = part.start.max(other.end)..part.end;
                [before, after]
            })
            .filter(|part| part.start < part.end)
            .collect();
    }
    parts
}

impl Source for CachedSource {
    fn len(&self) -> u64 {
        self.pin.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.read_stopping(at, dst, self.stop)
    }

    /// Reads in one go: requests side by side are checked for a request to stop one by one.
    fn read_until(&self, at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        self.read_stopping(at, dst, stop.or(self.stop))
    }

    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        // Half of the cache, so that reads between them drop none.
        let room = self.capacity / 2;
        let mut announced = Vec::new();
        let (mut len, mut held) = (0_u64, 0);
        for range in ranges {
            let range = range.start.min(self.pin.len)..range.end.min(self.pin.len);
            len = len.saturating_add(range.end.saturating_sub(range.start));
            if len > room {
                break;
            }
            held += 1;
            announced.push(range);
        }
        self.load(&announced, self.stop)?;
        Ok(held.max(1).min(ranges.len()))
    }

    /// An object that was fetched whole stays in the cache: reading it costs no request.
    fn is_far(&self) -> bool {
        !self.is_whole
    }
}

#[cfg(test)]
mod tests;

//! Work on several threads.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

use crate::{Error, Result};

/// Runs `work` on up to `threads` threads, this one included, and waits until all calls have returned. `work` takes jobs from a shared
/// source and returns when that is empty. With `threads` of 1 no thread is started, and a thread that the system refuses to start is left
/// out.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
/// container_core::threads::on_threads(3, &|| {
///     loop {
///         match next.fetch_add(1, Ordering::Relaxed) {
///             number @ 0..=9 => _ = sum.fetch_add(number, Ordering::Relaxed),
///             _ => return Ok(()),
///         }
///     }
/// })?;
/// assert_eq!(sum.into_inner(), 45);
/// # Ok::<(), container_core::Error>(())
/// ```
///
/// # Errors
/// The first one of any thread, this one before others, when all have returned.
///
/// # Panics
/// If `work` does.
pub fn on_threads(threads: usize, work: &(impl Fn() -> Result<()> + Sync)) -> Result<()> {
    if threads <= 1 {
        return work();
    }
    scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, work).ok();
        let running: Vec<_> = (1..threads).map_while(start).collect();
        let first = work();
        let results = running.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        // All are joined before an error is given.
        results.fold(first, Result::and)
    })
}

/// A pool of objects that threads take and put back: encoders, memory.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T> Pool<T> {
    /// A pool with these values.
    #[must_use]
    pub const fn new(things: Vec<T>) -> Self {
        Self(Mutex::new(things))
    }

    /// Takes the value that was put back last, which may still be in the processor's cache. `None`, without waiting, where all are taken.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Runs `work` with a value of the pool, or with a new one where all are taken; either is put back.
    pub fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let mut thing = self.take().unwrap_or_else(new);
        let result = work(&mut thing);
        self.put(thing);
        result
    }

    /// Puts a value back, or adds one.
    pub fn put(&self, thing: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }

    /// The values that are not taken.
    #[must_use]
    pub fn into_inner(self) -> Vec<T> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the jobs of `next` through `work` on up to `threads` threads, this one included, and the results to `place` in the order of the
/// jobs. `next` runs on one thread at a time, `place` on this one, while the others continue. At most twice as many results wait as there
/// are threads.
///
/// ```
/// let (mut numbers, mut squares) = (0..100_u64, Vec::new());
/// container_core::threads::in_order(
///     3,
///     || Ok(numbers.next()),
///     |number| Ok(number * number),
///     |square| {
///         squares.push(square);
///         Ok(())
///     },
/// )?;
/// assert!(squares.is_sorted() && squares.len() == 100);
/// # Ok::<(), container_core::Error>(())
/// ```
///
/// # Errors
/// One of those of `next`, `work` and `place`; no job is started after the first.
///
/// # Panics
/// If one of them does.
pub fn in_order<J, T: Send>(
    threads: usize,
    mut next: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(J) -> Result<T> + Sync,
    mut place: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    if threads <= 1 {
        while let Some(job) = next()? {
            place(work(job)?)?;
        }
        return Ok(());
    }
    let state =
        State { given: 0, placed: 0, waiting: BTreeMap::new(), is_over: false, is_stopped: false, next };
    let line = Line { state: Mutex::new(state), moved: Condvar::new(), window: threads as u64 * 2 };
    scope(|scope| {
        let helper = || {
            // Others wait for this thread's result, which an error or a panic keeps from them.
            let guard = Stop(&line);
            while let Some((number, job)) = line.take()? {
                line.put(number, work(job)?);
            }
            std::mem::forget(guard);
            Ok(())
        };
        let start = |_| Builder::new().spawn_scoped(scope, helper).ok();
        let running: Vec<_> = (1..threads).map_while(start).collect();
        let first = line.serve(&work, &mut place);
        let results = running.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.fold(first, Result::and)
    })
}

/// Passes each of `jobs` through `work` on as many threads as there are `tools`, this one included, and its output to `place` in the order
/// of the jobs. Two threads never share a tool. The memory that `work` writes to, empty at first, is taken from `buffers` and returned to
/// them.
///
/// # Errors
/// As [`in_order`].
///
/// # Panics
/// As [`in_order`].
pub fn fill_in_order<J: Sync, W: Send>(
    tools: &mut [W],
    buffers: &mut Vec<Vec<u8>>,
    jobs: &[J],
    work: impl Fn(&mut W, &J, &mut Vec<u8>) -> Result<()> + Sync,
    place: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let threads = tools.len();
    let tools = Pool::new(tools.iter_mut().collect());
    let spare = Pool::new(std::mem::take(buffers));
    let mut rest = jobs.iter();
    let fill = |job: &J| {
        // There are as many as threads.
        let tool = tools.take().ok_or_else(|| Error::usage("work without a tool"))?;
        let mut out = spare.take().unwrap_or_default();
        out.clear();
        work(tool, job, &mut out)?;
        tools.put(tool);
        Ok(out)
    };
    let pass_on = |out: Vec<u8>| {
        place(&out)?;
        spare.put(out);
        Ok(())
    };
    let done = in_order(threads, || Ok(rest.next()), fill, pass_on);
    *buffers = spare.into_inner();
    done
}

struct State<N, T> {
    /// Jobs that have been given out.
    given: u64,
    /// Results that have been placed.
    placed: u64,
    waiting: BTreeMap<u64, T>,
    /// True after the last job.
    is_over: bool,
    /// A result will not come.
    is_stopped: bool,
    next: N,
}

impl<N, T> State<N, T> {
    /// Takes the next job; `None` after the last one and after an error.
    fn take<J>(&mut self) -> Result<Option<(u64, J)>>
    where
        N: FnMut() -> Result<Option<J>>,
    {
        let job = if self.is_over { Ok(None) } else { (self.next)() };
        self.is_over = !matches!(job, Ok(Some(_)));
        let job = job?.map(|job| (self.given, job));
        self.given += u64::from(job.is_some());
        Ok(job)
    }
}

struct Line<N, T> {
    state: Mutex<State<N, T>>,
    moved: Condvar,
    /// Jobs that are given out before the oldest of them is placed.
    window: u64,
}

impl<N, T> Line<N, T> {
    fn lock(&self) -> MutexGuard<'_, State<N, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'l>(&self, state: MutexGuard<'l, State<N, T>>) -> MutexGuard<'l, State<N, T>> {
        self.moved.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, once the window has room for it.
    fn take<J>(&self) -> Result<Option<(u64, J)>>
    where
        N: FnMut() -> Result<Option<J>>,
    {
        let mut state = self.lock();
        while !state.is_over && state.given >= state.placed + self.window {
            state = self.wait(state);
        }
        state.take()
    }

    fn put(&self, number: u64, made: T) {
        self.lock().waiting.insert(number, made);
        self.moved.notify_all();
    }

    /// Places the next result, or else works as the other threads do, until all is placed or another thread has given up.
    fn serve<J>(&self, work: impl Fn(J) -> Result<T>, mut place: impl FnMut(T) -> Result<()>) -> Result<()>
    where
        N: FnMut() -> Result<Option<J>>,
    {
        let guard = Stop(self);
        let mut state = self.lock();
        while !state.is_stopped {
            let oldest = state.placed;
            if let Some(made) = state.waiting.remove(&oldest) {
                drop(state);
                place(made)?;
                state = self.lock();
                state.placed += 1;
                self.moved.notify_all();
                continue;
            }
            if state.given < state.placed + self.window
                && let Some((number, job)) = state.take()?
            {
                drop(state);
                let made = work(job)?;
                state = self.lock();
                state.waiting.insert(number, made);
                continue;
            }
            if state.is_over && state.placed == state.given {
                break;
            }
            state = self.wait(state);
        }
        drop(state);
        std::mem::forget(guard);
        Ok(())
    }
}

/// Ends the work of all threads when it is dropped.
struct Stop<'l, N, T>(&'l Line<N, T>);

impl<N, T> Drop for Stop<'_, N, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        (state.is_over, state.is_stopped) = (true, true);
        drop(state);
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn error_ends_all_threads_and_results_stay_in_order() {
        for threads in [1, 2, 7] {
            for bad in [0, 1, 50, 999] {
                let (mut numbers, mut placed) = (0..1000_u64, 0);
                let begun = AtomicU64::new(0);
                let done = in_order(
                    threads,
                    || Ok(numbers.next()),
                    |number| {
                        begun.fetch_add(1, Ordering::Relaxed);
                        if number == bad { Err(Error::malformed("bad")) } else { Ok(number) }
                    },
                    |number| {
                        assert_eq!(number, placed);
                        placed += 1;
                        Ok(())
                    },
                );
                assert!(done.is_err() && placed <= bad, "{threads} threads");
                assert!(begun.into_inner() <= bad + threads as u64 * 2 + 1);
            }
        }
    }

    #[test]
    fn the_last_result_is_waited_for() {
        let (mut numbers, mut sum) = (0..200_u64, 0);
        let slow = |number: u64| {
            if number == 0 {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Ok(number)
        };
        in_order(
            4,
            || Ok(numbers.next()),
            slow,
            |number| {
                sum += number;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(sum, 199 * 100);
        let done = in_order(4, || Ok(Some(1)), Ok, |_: u64| Err(Error::cancelled()));
        assert!(done.is_err());
    }

    #[test]
    fn tools_and_buffers_are_used_again_and_results_are_in_order() {
        for tools in 1..4 {
            let (mut used, mut buffers, mut placed) = (vec![0_usize; tools], vec![vec![9; 5]], Vec::new());
            let jobs: Vec<u8> = (0..100).collect();
            let work = |tool: &mut usize, job: &u8, out: &mut Vec<u8>| {
                *tool += 1;
                assert!(out.is_empty());
                out.push(*job);
                Ok(())
            };
            let mut place = |out: &[u8]| {
                placed.extend_from_slice(out);
                Ok(())
            };
            fill_in_order(&mut used, &mut buffers, &jobs, work, &mut place).unwrap();
            assert_eq!((placed, used.iter().sum::<usize>()), (jobs, 100));
            assert!((1..=2 * tools + 1).contains(&buffers.len()), "{}", buffers.len());
        }
        let none: &mut [u8] = &mut [];
        let done = fill_in_order(none, &mut Vec::new(), &[1], |_, _, _| Ok(()), &mut |_| Ok(()));
        assert!(done.is_err());
    }

    #[test]
    #[should_panic = "as it does"]
    fn a_panic_of_one_thread_is_not_waited_for() {
        let mut numbers = 0..100_u64;
        let work = |number| if number == 3 { panic!("as it does") } else { Ok(number) };
        let _ = in_order(4, || Ok(numbers.next()), work, |_| Ok(()));
    }
}

//! Work on several threads.

use std::thread::{Builder, scope};

use crate::Result;

/// Runs `work` on up to `threads` threads, this one included, until each call of it has returned. It takes what is to be done from
/// where all take it, and returns when nothing is left. One thread starts none, and one that the system refuses to start is done
/// without.
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

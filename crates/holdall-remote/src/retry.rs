//! Retries of one range until a deadline.

use std::time::{Duration, Instant};

use container_core::{Error, Result, Stop};

use crate::RemoteOptions;
use crate::store::{Failure, Opened, Pin, Store};

/// Wait before the first retry; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// Longest wait that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Time between two checks of a request to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Limits of the retries of one range.
pub(crate) struct Retries {
    until: Instant,
    left: u32,
    wait: Duration,
    stop: Stop,
}

impl Retries {
    pub(crate) fn new(options: &RemoteOptions, stop: Stop) -> Self {
        Self { until: Instant::now() + options.deadline, left: options.max_retries, wait: FIRST_WAIT, stop }
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// The failure, where it is final, no retry is left, or the deadline comes before the next attempt; `Cancelled`.
    pub(crate) fn wait(&mut self, failure: Failure) -> Result<()> {
        // Bytes that arrived show a server that is alive: a slow one is bounded by the deadline alone.
        if failure.filled == 0 {
            let Some(left) = self.left.checked_sub(1).filter(|_| failure.is_transient) else {
                return Err(failure.error);
            };
            self.left = left;
        } else if !failure.is_transient {
            return Err(failure.error);
        }
        let wait = failure.retry_after.map_or(self.wait, |asked| asked.min(MAX_RETRY_AFTER)).max(self.wait);
        self.wait = self.wait.saturating_mul(2).min(MAX_RETRY_AFTER);
        let next = Instant::now() + wait;
        if next > self.until {
            return Err(failure.error.with_hint(
                "the server failed until the deadline: try again later, or with a later deadline",
            ));
        }
        loop {
            self.stop.check()?;
            let rest = next.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(());
            }
            std::thread::sleep(rest.min(STOP_CHECK));
        }
    }
}

/// [`Store::head`] with retries, and the number of requests.
///
/// # Errors
/// The last failure; `Cancelled`.
pub(crate) fn head(store: &dyn Store, len: u64, mut retries: Retries) -> Result<(Opened, u64)> {
    let mut requests = 0;
    loop {
        retries.stop.check()?;
        requests += 1;
        match store.head(len) {
            Ok(opened) => return Ok((opened, requests)),
            Err(failure) => retries.wait(failure)?,
        }
    }
}

/// [`Store::fetch`] with retries, each of which requests the missing rest. Returns the number of requests.
///
/// # Errors
/// The last failure, with the range that is missing; `Cancelled`.
pub(crate) fn fetch(
    store: &dyn Store,
    at: u64,
    dst: &mut [u8],
    pin: &Pin,
    mut retries: Retries,
) -> Result<u64> {
    let (mut done, mut requests) = (0, 0);
    while let Some(rest) = dst.get_mut(done..).filter(|rest| !rest.is_empty()) {
        retries.stop.check()?;
        requests += 1;
        let from = at.saturating_add(done as u64);
        let len = rest.len();
        match store.fetch(from, rest, pin) {
            Ok(()) => break,
            Err(failure) => {
                done += failure.filled.min(len);
                let missing =
                    from.saturating_add(failure.filled.min(len) as u64)..from.saturating_add(len as u64);
                retries.wait(failure).map_err(|error| located(error, missing))?;
            }
        }
    }
    Ok(requests)
}

fn located(error: Error, missing: std::ops::Range<u64>) -> Error {
    if error.range().is_some() { error } else { error.with_range(missing) }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Answers from a script: bytes that arrive before a failure, and whether it is transient.
    struct Scripted(Mutex<Vec<(usize, bool)>>, Mutex<Vec<u64>>);

    impl Store for Scripted {
        fn head(&self, _: u64) -> Result<Opened, Failure> {
            Err(Failure::fatal(Error::usage("not used")))
        }

        fn fetch(&self, at: u64, dst: &mut [u8], _: &Pin) -> Result<(), Failure> {
            self.1.lock().unwrap().push(at);
            let step = self.0.lock().unwrap().pop();
            let count = step.map_or(dst.len(), |(count, _)| count);
            for (byte, at) in dst.iter_mut().zip(at..).take(count) {
                *byte = u8::try_from(at % 251).unwrap();
            }
            match step {
                None => Ok(()),
                Some((count, true)) => Err(Failure::transient(count, Error::malformed("cut"))),
                Some((_, false)) => Err(Failure::fatal(Error::malformed("gone"))),
            }
        }
    }

    fn run(script: &[(usize, bool)], options: &RemoteOptions) -> (Result<u64>, Vec<u8>, Vec<u64>) {
        let store = Scripted(Mutex::new(script.iter().rev().copied().collect()), Mutex::default());
        let mut dst = vec![0; 100];
        let done = fetch(&store, 1000, &mut dst, &Pin::default(), Retries::new(options, Stop::default()));
        (done, dst, store.1.into_inner().unwrap())
    }

    #[test]
    fn only_the_missing_rest_of_a_body_is_requested_again() {
        let (done, bytes, starts) = run(&[(40, true), (0, true), (30, true)], &RemoteOptions::default());
        assert_eq!(done.unwrap(), 4);
        assert_eq!(starts, [1000, 1040, 1040, 1070]);
        assert!(bytes.iter().zip(1000_u64..).all(|(byte, at)| u64::from(*byte) == at % 251));
    }

    #[test]
    fn final_failures_retries_and_the_deadline_end_a_fetch() {
        let options = RemoteOptions::default();
        let (done, _, starts) = run(&[(10, true), (0, false)], &options);
        let error = done.unwrap_err();
        assert_eq!((error.range(), starts.len()), (Some(1010..1100), 2));
        let few = RemoteOptions { max_retries: 1, ..RemoteOptions::default() };
        let (done, _, starts) = run(&[(0, true); 9], &few);
        assert!(done.is_err());
        assert_eq!(starts.len(), 2);
        let soon = RemoteOptions { deadline: Duration::from_millis(250), ..RemoteOptions::default() };
        let begin = Instant::now();
        let (done, _, starts) = run(&[(1, true); 90], &soon);
        assert!(done.unwrap_err().hint().is_some_and(|hint| hint.contains("deadline")));
        assert!(starts.len() <= 3 && begin.elapsed() < Duration::from_secs(5));
    }
}

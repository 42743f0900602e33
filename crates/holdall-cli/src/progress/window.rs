//! The rate of an operation: work done within the last seconds, over the time that really elapsed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Length of the window: long enough that single blocks do not make the rate jump, short enough to follow a change of the source.
const LENGTH: Duration = Duration::from_secs(5);

/// Least time between two samples, which bounds their number.
const SPACING: Duration = Duration::from_millis(50);

/// Samples of the work done within the last seconds.
#[derive(Debug)]
pub struct Window {
    samples: VecDeque<(Instant, u64)>,
    done: u64,
    total: u64,
}

impl Window {
    /// A window of an operation that begins now.
    pub fn new(now: Instant) -> Self {
        Self { samples: VecDeque::from([(now, 0)]), done: 0, total: 0 }
    }

    /// Takes note of `done` of `total`. Threads report out of order, so a slightly smaller count is an old one; a count that falls far back, or
    /// that falls back with another total, begins the next phase of the operation.
    pub fn note(&mut self, now: Instant, done: u64, total: u64) {
        if done < self.done {
            if total == self.total && done >= self.done / 2 {
                return;
            }
            self.samples.clear();
            self.samples.push_back((now, done));
        }
        (self.done, self.total) = (done, total);
        let is_due = self.samples.back().is_none_or(|(at, _)| now.duration_since(*at) >= SPACING);
        if is_due {
            self.samples.push_back((now, done));
        }
        // The sample at the start of the window stays.
        while self.samples.get(1).is_some_and(|(at, _)| now.duration_since(*at) >= LENGTH) {
            self.samples.pop_front();
        }
    }

    /// Work done; never more than [`Window::total`], where that is known.
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// All of the work; `None` where it is unknown.
    pub fn total(&self) -> Option<u64> {
        (self.total > 0).then_some(self.total.max(self.done))
    }

    /// Thousandths of the work in a second; `None` where too little has happened.
    pub fn rate(&self, now: Instant) -> Option<u64> {
        let (at, before) = *self.samples.front()?;
        let elapsed = now.duration_since(at).as_millis();
        let work = u128::from(self.done.saturating_sub(before)).saturating_mul(1_000_000);
        let rate = work.checked_div(elapsed).filter(|_| elapsed >= 100)?;
        u64::try_from(rate).ok().filter(|rate| *rate > 0)
    }

    /// Time for the rest at this rate.
    pub fn eta(&self, now: Instant) -> Option<Duration> {
        let rest = u128::from(self.total()?.saturating_sub(self.done)).saturating_mul(1_000_000);
        let millis = rest.checked_div(self.rate(now)?.into())?;
        u64::try_from(millis).ok().map(Duration::from_millis)
    }
}

/// A time in two units at most: `12s`, `3m20s`, `2h05m`, `3d04h`.
pub fn short_time(time: Duration) -> String {
    // A part of a second is still to come.
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match () {
        () if days > 0 => format!("{days}d{:02}h", hours % 24),
        () if hours > 0 => format!("{hours}h{:02}m", minutes % 60),
        () if minutes > 0 => format!("{minutes}m{:02}s", seconds % 60),
        () => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn rate_is_work_over_elapsed_time() {
        let start = Instant::now();
        let mut window = Window::new(start);
        assert_eq!(window.rate(at(start, 1000)), None);
        (1..=20).for_each(|step| window.note(at(start, step * 100), step * 10, 1000));
        assert_eq!(window.rate(at(start, 2000)), Some(100_000));
        assert_eq!(window.eta(at(start, 2000)), Some(Duration::from_secs(8)));
        // A source that stalls gets slower.
        assert_eq!(window.rate(at(start, 4000)), Some(50_000));
    }

    #[test]
    fn rate_follows_the_last_seconds() {
        let start = Instant::now();
        let mut window = Window::new(start);
        (1..=100).for_each(|step| window.note(at(start, step * 100), step, 1000));
        (1..=100).for_each(|step| window.note(at(start, 10_000 + step * 100), 100 + step * 9, 1000));
        assert_eq!(window.rate(at(start, 20_000)), Some(90_000));
        assert!(window.samples.len() <= 102, "{}", window.samples.len());
    }

    #[test]
    fn next_phase_begins_anew_and_late_threads_change_nothing() {
        let start = Instant::now();
        let mut window = Window::new(start);
        window.note(at(start, 1000), 900, 1000);
        window.note(at(start, 1100), 850, 1000);
        assert_eq!(window.done(), 900);
        window.note(at(start, 2000), 0, 1000);
        window.note(at(start, 3000), 100, 1000);
        assert_eq!((window.done(), window.rate(at(start, 3000))), (100, Some(100_000)));
    }

    #[test]
    fn work_is_never_more_than_all_of_it() {
        let start = Instant::now();
        let mut window = Window::new(start);
        window.note(at(start, 1000), 12, 10);
        assert_eq!((window.done(), window.total()), (12, Some(12)));
        window.note(at(start, 1100), 13, 0);
        assert_eq!((window.total(), window.eta(at(start, 1100))), (None, None));
    }

    #[test]
    fn times_have_two_units() {
        let cases =
            [(0, "0s"), (59, "59s"), (60, "1m00s"), (200, "3m20s"), (7500, "2h05m"), (273_600, "3d04h")];
        for (seconds, text) in cases {
            assert_eq!(short_time(Duration::from_secs(seconds)), text);
        }
        assert_eq!(short_time(Duration::from_millis(1)), "1s");
    }
}

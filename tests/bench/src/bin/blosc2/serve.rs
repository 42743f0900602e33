//! Protocol of the two programs: they take lines of fields with tabs between, and answer each by a line, `ok` with seconds and a check (or `-`), or
//! `error` and what went wrong.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::time::{ClockId, clock_gettime};

/// As in the other peers.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number of the slices at random places that are checked.
pub const CHECKED: u64 = 4;

/// Seconds, and a check.
pub type Answer = (f64, Option<u64>);

/// Answers until the input ends.
pub fn serve(version: &str, answer: impl Fn(&[&str]) -> Result<Answer>) -> Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let said = if fields == ["version"] {
            format!("ok\t{version}\n")
        } else {
            match answer(&fields) {
                Ok((seconds, None)) => format!("ok\t{seconds:.9}\t-\n"),
                Ok((seconds, Some(check))) => format!("ok\t{seconds:.9}\t{check}\n"),
                Err(error) => format!("error\t{}\n", format!("{error:#}").replace(['\n', '\t'], " ")),
            }
        };
        output.write_all(said.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// Seconds on the clock that counts: the CPU's for one thread, whichever does the work, the wall's for more.
pub fn now(threads: usize) -> f64 {
    let time = clock_gettime(if threads == 1 { ClockId::ProcessCPUTime } else { ClockId::Monotonic });
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0)).as_secs_f64()
}

/// The sum of all whole words.
pub fn check(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().fold(0, |sum, word| sum.wrapping_add(u64::from(u32::from_le_bytes(*word))))
}

/// "4x4x4".
pub fn sizes(text: &str) -> Result<Vec<u64>> {
    text.split('x').map(|size| size.parse().context("no size")).collect()
}

/// Returns the start of the slice that is `at`th of those at random places.
pub fn place(at: u64, shape: &[u64], widths: &[u64]) -> Vec<u64> {
    let axes = (1..).zip(shape.iter().zip(widths));
    let starts =
        axes.map(|(axis, (size, width))| ((at * 3 + axis).wrapping_mul(SPREAD) >> 32) % (size - width + 1));
    starts.collect()
}

//! A campaign of hostile files: every verb over mutants of the fixtures of every format, under limits of memory and time.
//!
//! Claims that hold for any bytes: the command ends by itself with 0, 1 or 2 and prints at most an error of three lines; machine output is complete
//! and consistent; a failure leaves no file behind; output files are valid. The mutant with a number is the same on every run with the same seed.

mod bombs;
mod judge;
mod mutants;
mod seeds;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use judge::{Trial, Verb};

/// Most address space that the command may take.
const ADDRESS_SPACE_KIB: u64 = 1 << 20;
/// Most seconds of a processor that it may take.
const PROCESSOR_SECONDS: u64 = 20;
/// Number of failures after which the campaign stops.
const MAX_FAILURES: usize = 40;

#[test]
fn no_mutant_of_any_fixture_breaks_a_promise() {
    let number = |name: &str, usual| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text:?}")),
        Err(_) => usual,
    };
    let seconds = number("HOLDALL_CAMPAIGN_SECONDS", 10);
    let seed = number("HOLDALL_CAMPAIGN_SEED", 1);
    let tally = run(seed, Duration::from_secs(seconds));
    println!("seed {seed}: {tally}");
    assert!(
        tally.mutants > 0 && tally.failures.is_empty(),
        "{} failures, of seed {seed}:\n{}",
        tally.failures.len(),
        tally.failures.join("\n")
    );
}

#[test]
fn bombs_are_refused_or_read_within_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for (name, bytes) in bombs::all() {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let trial = Trial::new(folder.path(), file);
        for verb in Verb::ALL {
            failures.extend(trial.run(*verb).err().map(|problem| format!("{name}: {problem}")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Result of a campaign.
#[derive(Default)]
struct Tally {
    mutants: u64,
    /// Counts by format, then by exit code.
    codes: BTreeMap<String, BTreeMap<i32, u64>>,
    failures: Vec<String>,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let runs: u64 = self.codes.values().flat_map(BTreeMap::values).sum();
        write!(f, "{} mutants, {runs} runs, {} failures", self.mutants, self.failures.len())?;
        for (format, codes) in &self.codes {
            let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{count} × {code}")).collect();
            write!(f, "\n  {format}: exit codes {}", codes.join(", "))?;
        }
        Ok(())
    }
}

fn run(seed: u64, time: Duration) -> Tally {
    let seeds = seeds::all();
    let end = Instant::now() + time;
    let next = AtomicU64::new(0);
    let tally = Mutex::new(Tally::default());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let folder = tempfile::tempdir().unwrap();
                while Instant::now() < end && tally.lock().unwrap().failures.len() < MAX_FAILURES {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    one(seed, number, &seeds, folder.path(), &tally);
                }
            });
        }
    });
    tally.into_inner().unwrap()
}

/// One mutant, and some verbs over it.
fn one(seed: u64, number: u64, seeds: &seeds::Seeds, folder: &std::path::Path, tally: &Mutex<Tally>) {
    let mut numbers = mutants::Numbers::new(seed, number);
    // The formats take turns, whatever the number of their fixtures.
    let (format, seeds) = seeds.of_turn(number);
    let chosen = numbers.pick(seeds);
    let other = numbers.pick(seeds);
    let mutant = mutants::mutant(chosen, other, &mut numbers);
    let file = chosen.put(folder, &mutant);
    let trial = Trial::new(folder, file);
    let verbs: Vec<Verb> = (0..4).map(|_| *numbers.pick(Verb::ALL)).collect();
    let outcomes: Vec<_> = verbs.into_iter().map(|verb| trial.run(verb)).collect();
    let mut tally = tally.lock().unwrap();
    tally.mutants += 1;
    let mut failed = false;
    for outcome in outcomes {
        match outcome {
            Ok(code) => *tally.codes.entry(format.to_owned()).or_default().entry(code).or_default() += 1,
            Err(problem) => {
                failed = true;
                tally.failures.push(format!("mutant {number} of {}: {problem}", chosen.name));
            }
        }
    }
    if failed {
        let kept = std::env::temp_dir().join(format!("holdall-campaign-{seed}-{number}"));
        let _ = std::fs::remove_dir_all(&kept);
        tally.failures.push(match std::fs::rename(folder.join(seeds::FOLDER), &kept) {
            Ok(()) => format!("  kept in {}", kept.display()),
            Err(problem) => format!("  not kept: {problem}"),
        });
    }
    let _ = std::fs::remove_dir_all(folder.join(seeds::FOLDER));
}

//! Every target over its seeds and over mutants of them, on any toolchain, always in the same order.
//!
//! ```text
//! smoke [--seconds N] [--target NAME]   all seeds, then mutants for N seconds in all (default 10)
//! smoke --run TARGET FILE...            these files, to see a failure again
//! smoke --write-seeds FOLDER            the seeds, one folder for each target, for libFuzzer to start from
//! ```
//!
//! A panic, a run over the memory limit and one that takes too long end it with status 1; the input is then below
//! `artifacts/`, and on stderr in hexadecimal.
#![deny(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use fuzz::mutate::{XorShift, mutant};
use fuzz::{MEMORY, TARGETS, Target, kept};

#[allow(unsafe_code)]
mod allocator;

/// Bytes that a run may allocate beside what the files make it allocate.
const SLACK: u64 = 32 << 20;

/// Longer than any run should take on a busy machine.
const MAX_SECONDS: u64 = 20;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut runner = Runner::new();
    match args[..] {
        [] => smoke(&mut runner, 10, TARGETS),
        ["--seconds", seconds] => smoke(&mut runner, number(seconds), TARGETS),
        ["--seconds", seconds, "--target", name] => smoke(&mut runner, number(seconds), &[target(name)]),
        ["--target", name] => smoke(&mut runner, 10, &[target(name)]),
        ["--write-seeds", folder] => write_seeds(Path::new(folder)),
        ["--run", name, ref files @ ..] => {
            for file in files {
                let data = fs::read(file).unwrap_or_else(|error| usage(&format!("{file}: {error}")));
                runner.run(target(name), &data);
                println!("{name}: {file} passes");
            }
        }
        _ => usage("see the top of tests/fuzz/src/bin/smoke/main.rs for the arguments"),
    }
}

fn usage(problem: &str) -> ! {
    eprintln!("{problem}");
    process::exit(2)
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| usage("--seconds takes a whole number"))
}

fn target(name: &str) -> Target {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let found = TARGETS.iter().find(|target| target.name == name);
    *found.unwrap_or_else(|| usage(&format!("no target {name:?} (there are: {})", names.join(", "))))
}

fn smoke(runner: &mut Runner, seconds: u64, targets: &[Target]) {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut inputs: Vec<Vec<Vec<u8>>> = Vec::new();
    for target in targets {
        let mut seeds = (target.seeds)();
        seeds.extend(kept(target.name));
        seeds.iter().for_each(|seed| runner.run(*target, seed));
        inputs.push(seeds);
    }
    for (at, (target, seeds)) in targets.iter().zip(&inputs).enumerate() {
        // What the seeds and the targets before have left, shared equally.
        let left = end.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(targets.len() - at).unwrap_or(u32::MAX);
        let count = mutants(runner, *target, seeds, share);
        println!("{:<22} {:>4} seeds {count:>8} mutants", target.name, seeds.len());
    }
    println!("at most {:.1} MiB allocated by one run", runner.peak as f64 / f64::from(1 << 20));
}

/// Runs mutants for a while, at least a few; how many.
fn mutants(runner: &mut Runner, target: Target, seeds: &[Vec<u8>], time: Duration) -> u64 {
    let start = Instant::now();
    let mut numbers = XorShift::seeded(target.name.as_bytes());
    let mut count = 0;
    while count < 100 || start.elapsed() < time {
        let seed = &seeds[numbers.below(seeds.len())];
        let other = &seeds[numbers.below(seeds.len())];
        runner.run(target, &mutant(seed, other, &mut numbers));
        count += 1;
    }
    count
}

fn write_seeds(folder: &Path) {
    for target in TARGETS {
        let folder = folder.join(target.name);
        let written = fs::create_dir_all(&folder).and_then(|()| {
            (target.seeds)()
                .iter()
                .enumerate()
                .try_for_each(|(at, seed)| fs::write(folder.join(format!("seed-{at:03}")), seed))
        });
        written.unwrap_or_else(|error| usage(&format!("{}: {error}", folder.display())));
    }
}

/// The run that is on: what it is of, and since when.
type Current = Arc<Mutex<Option<(Target, Vec<u8>, Instant)>>>;

struct Runner {
    current: Current,
    /// Most bytes that one run had allocated at a time.
    peak: u64,
}

impl Runner {
    fn new() -> Self {
        let current = Current::default();
        let watched = Arc::clone(&current);
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(500));
                let run = watched.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((target, data, since)) = &*run
                    && since.elapsed() > Duration::from_secs(MAX_SECONDS)
                {
                    fail(*target, data, &format!("takes over {MAX_SECONDS} s"));
                }
            }
        });
        Self { current, peak: 0 }
    }

    fn set(&self, run: Option<(Target, Vec<u8>, Instant)>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }

    fn run(&mut self, target: Target, data: &[u8]) {
        self.set(Some((target, data.to_vec(), Instant::now())));
        allocator::start();
        let result = catch_unwind(AssertUnwindSafe(|| (target.run)(data)));
        let peak = allocator::peak();
        self.set(None);
        if result.is_err() {
            fail(target, data, "panics, as said above");
        }
        if peak > MEMORY + SLACK {
            fail(target, data, &format!("allocates {peak} bytes"));
        }
        self.peak = self.peak.max(peak);
    }
}

/// Shows and keeps the input, and ends.
fn fail(target: Target, data: &[u8], problem: &str) -> ! {
    let name = format!("smoke-{:016x}", XorShift::seeded(data).next());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target.name);
    let path: PathBuf = folder.join(name);
    let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, data));
    let shown: String = data.iter().take(4096).map(|byte| format!("{byte:02x}")).collect();
    eprintln!("{}: an input of {} bytes {problem}\n{shown}", target.name, data.len());
    match kept {
        Ok(()) => eprintln!("kept as {}", path.display()),
        Err(error) => eprintln!("not kept: {error}"),
    }
    process::exit(1)
}

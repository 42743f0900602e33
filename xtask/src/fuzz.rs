//! `fuzz`: the targets of tests/fuzz; as binaries of libFuzzer in a workspace of their own, because that needs nightly.

mod minimise;
mod options;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::repo::{FUZZ, Repo};
use crate::step::Step;
use crate::tools;
use crate::{Outcome, Usage};
use options::{Length, Options};

const FOLDER: &str = "tests/fuzz/libfuzzer";
/// Inputs that libFuzzer starts from and adds to, a folder for each target.
const CORPUS: &str = "tests/fuzz/corpus";
/// The best of them, which are committed.
const KEPT: &str = "tests/fuzz/seeds";
/// The binary that feeds every target seeds and mutants of them, without libFuzzer.
const SMOKE: &str = "smoke";
const VERSION: &str = "0.13.2";
/// The package with both.
const PACKAGE: &str = "fuzz";
/// Seconds up to which a smoke run is built as tests are.
const SHORT: u64 = 30;
/// Longest input: what is wrong with a format shows in small files, which run thousands of times a second.
const LONGEST: usize = 4096;

pub(crate) fn fuzz(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let options = Options::parse(args)?;
    if options.target == SMOKE {
        return smoke(repo, options.smoke_seconds()?);
    }
    let mut targets = targets(repo)?;
    if options.target != "all" {
        if !targets.contains(&options.target) {
            let problem = format!("no fuzz target {:?} (there are: {})", options.target, targets.join(", "));
            return Err(Usage(problem).into());
        }
        targets = vec![options.target.clone()];
    }
    tools::toolchain(repo, "nightly")
        .context("fuzzing needs a nightly toolchain: rustup toolchain install nightly")?;
    let tools = tools::installed(repo, "cargo-fuzz", VERSION)?;
    run_smoke(repo, &[], &["--write-seeds", CORPUS])?;
    let fuzzer = Fuzzer { repo, tools, sanitizer: options.sanitizer, compares: options.compares };
    if options.length == Length::Keep {
        targets.iter().try_for_each(|target| fuzzer.keep(target))?;
        return Ok(Outcome::Done);
    }
    let runs: Vec<Run> =
        targets.into_iter().map(|target| fuzzer.run(target, options.length)).collect::<Result<_>>()?;
    println!("\n{}", table(&runs));
    let failed: Vec<&str> =
        runs.iter().filter(|run| run.failed.is_some()).map(|run| run.target.as_str()).collect();
    if !failed.is_empty() {
        bail!("something was found, see {FOLDER}/artifacts: {}", failed.join(", "));
    }
    Ok(Outcome::Done)
}

/// Result of a target.
struct Run {
    target: String,
    /// As libFuzzer counts them at its end; `None` where it did not come so far.
    executions: Option<u64>,
    /// Executions a second, without the time of building.
    rate: Option<u64>,
    failed: Option<anyhow::Error>,
}

/// cargo-fuzz, and what it is told for all targets.
struct Fuzzer<'a> {
    repo: &'a Repo,
    tools: PathBuf,
    sanitizer: &'static str,
    /// Whether libFuzzer sees the operands of comparisons.
    compares: bool,
}

impl Fuzzer<'_> {
    /// cargo-fuzz over folders of inputs, of which libFuzzer writes to the first.
    fn step(&self, target: &str, folders: &[String]) -> Step {
        Step::cargo_of(self.repo, "nightly")
            .args(["fuzz", "run", "--fuzz-dir", FOLDER])
            .args(["--sanitizer", self.sanitizer])
            .args((!self.compares).then_some("--no-trace-compares"))
            .arg(target)
            .args(folders)
            .args(["--", &format!("-max_len={LONGEST}")])
            // Few inputs take as long as thousands of others: those that decode much. They run, but fewer are made of them.
            .arg("-entropic_scale_per_exec_time=1")
            // What the smoke binary claims of memory and time.
            .args(["-malloc_limit_mb=80", "-timeout=20"])
            // A thread that has given its result may not have ended, and what glibc keeps for its end is no leak.
            .arg("-detect_leaks=0")
            .tools(&self.tools)
    }

    /// Lists the folders of a target's inputs: those that libFuzzer found here, then those that are committed.
    fn folders(&self, target: &str) -> Vec<String> {
        let kept = format!("{KEPT}/{target}");
        let has_kept = self.repo.path(&kept).is_dir();
        [format!("{CORPUS}/{target}")].into_iter().chain(has_kept.then_some(kept)).collect()
    }

    fn run(&self, target: String, length: Length) -> Result<Run> {
        let length = match length {
            Length::Seconds(seconds) => format!("-max_total_time={seconds}"),
            Length::Runs(runs) => format!("-runs={runs}"),
            Length::Keep => bail!("inputs are kept, not run"),
        };
        let step = self.step(&target, &self.folders(&target)).args([&length, "-print_final_stats=1"]);
        let (mut executions, mut rate) = (None, None);
        let end = step.watch(|line| {
            executions = executions.or(stat(line, "number_of_executed_units"));
            rate = rate.or(stat(line, "average_exec_per_sec"));
        });
        Ok(Run { target, executions, rate, failed: end.err() })
    }

    /// Chooses the inputs of a target that are committed.
    fn keep(&self, target: &str) -> Result<()> {
        let cover = self.repo.target()?.join("fuzz-cover").join(target);
        let record = cover.with_extension("txt");
        for old in [fs::remove_dir_all(&cover), fs::remove_file(&record)] {
            // Mostly there is none.
            drop(old);
        }
        fs::create_dir_all(&cover)?;
        let mut folders = vec![cover.display().to_string()];
        folders.extend(self.folders(target));
        self.step(target, &folders)
            .arg("-set_cover_merge=1")
            .arg(format!("-merge_control_file={}", record.display()))
            .run()?;
        let record = fs::read_to_string(&record).context("libFuzzer left no record of its merge")?;
        let kept = self.repo.path(KEPT).join(target);
        let (count, bytes) = minimise::choose(&record, &self.repo.root, &kept)?;
        println!("{target}: {count} inputs kept, of {bytes} bytes in all");
        fs::remove_dir_all(&cover)?;
        Ok(())
    }
}

/// A number of the lines that libFuzzer ends with.
fn stat(line: &str, name: &str) -> Option<u64> {
    line.strip_prefix("stat::")?.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok()
}

fn table(runs: &[Run]) -> String {
    let mut text = "| target | executions | a second | |\n|---|---:|---:|---|\n".to_owned();
    for Run { target, executions, rate, failed } in runs {
        let told =
            |number: &Option<u64>| number.map_or_else(|| "not told".to_owned(), |number| number.to_string());
        let (count, rate) = (told(executions), told(rate));
        let found = if failed.is_some() { "found something" } else { "" };
        text += &format!("| `{target}` | {count} | {rate} | {found} |\n");
    }
    text
}

fn smoke(repo: &Repo, seconds: u64) -> Result<Outcome> {
    if seconds > SHORT {
        run_smoke(repo, &["--profile", "fuzz"], &["--seconds", &seconds.to_string()])?;
        return Ok(Outcome::Done);
    }
    // A short run is over before an optimised build of everything would be. Selected out of the whole workspace, so that nothing
    // is built anew with other features.
    Step::cargo(repo)
        .args(["test", "--workspace", "--all-features", "--test", SMOKE])
        .env("HOLDALL_SMOKE_SECONDS", seconds.to_string())
        .run()?;
    Ok(Outcome::Done)
}

fn run_smoke(repo: &Repo, profile: &[&str], args: &[&str]) -> Result<()> {
    let step = Step::cargo(repo).arg("run").args(profile);
    step.args(["--package", PACKAGE, "--bin", SMOKE, "--"]).args(args).run()
}

fn targets(repo: &Repo) -> Result<Vec<String>> {
    let packages = repo.packages(FUZZ)?;
    Ok(packages.into_iter().flat_map(|package| package.binaries).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_parsed_from_libfuzzer_output() {
        let told = [
            "#1048576\tpulse  cov: 812 ft: 2210 corp: 301/9Kb lim: 4096 exec/s: 9532 rss: 61Mb",
            "stat::number_of_executed_units: 10000000",
            "stat::average_exec_per_sec:     9523",
        ];
        assert_eq!(told.map(|line| stat(line, "number_of_executed_units")), [None, Some(10_000_000), None]);
        assert_eq!(told.map(|line| stat(line, "average_exec_per_sec")), [None, None, Some(9523)]);
        let run = |executions: Option<u64>, failed| {
            let rate = executions.map(|count| count / 4);
            Run { target: "npy".to_owned(), executions, rate, failed }
        };
        let text = table(&[run(Some(10), None), run(None, Some(anyhow::anyhow!("crash")))]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines, ["| `npy` | 10 | 2 |  |", "| `npy` | not told | not told | found something |"]);
    }
}

//! `fuzz`: the targets of tests/fuzz, a workspace of its own because libFuzzer needs nightly.

use anyhow::{Context as _, Result};

use crate::repo::{FUZZ, Repo};
use crate::step::Step;
use crate::tools;
use crate::{Outcome, Usage};

const FOLDER: &str = "tests/fuzz";
/// Inputs that libFuzzer starts from and adds to, a folder for each target.
const CORPUS: &str = "tests/fuzz/corpus";
/// The binary that feeds every target seeds and mutants of them, without libFuzzer.
const SMOKE: &str = "smoke";
/// The feature that brings libFuzzer itself, which the smoke binary does without.
const LIBFUZZER: &str = "libfuzzer";
const VERSION: &str = "0.13.2";
/// Seconds for each target up to which a smoke run is built as tests are.
const SHORT: u64 = 30;

pub(crate) fn fuzz(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let (target, seconds) = parse(args)?;
    if target == SMOKE {
        return smoke(repo, seconds.unwrap_or(10));
    }
    let mut targets = targets(repo)?;
    if target != "all" {
        if !targets.iter().any(|name| name == target) {
            return Err(
                Usage(format!("no fuzz target {target:?} (there are: {})", targets.join(", "))).into()
            );
        }
        targets = vec![target.to_owned()];
    }
    tools::toolchain(repo, "nightly")
        .context("fuzzing needs a nightly toolchain: rustup toolchain install nightly")?;
    let tools = tools::installed(repo, "cargo-fuzz", VERSION)?;
    let packages = repo.packages(FUZZ)?;
    let feature = packages.iter().any(|package| package.features.iter().any(|name| name == LIBFUZZER));
    run_smoke(repo, None, &["--write-seeds", CORPUS])?;
    for target in &targets {
        Step::cargo_of(repo, "nightly")
            .args(["fuzz", "run", "--fuzz-dir", FOLDER])
            .args(feature.then(|| format!("--features={LIBFUZZER}")))
            .args([target, &format!("{CORPUS}/{target}"), "--"])
            .arg(format!("-max_total_time={}", seconds.unwrap_or(60)))
            // What the smoke binary claims of memory and time.
            .args(["-malloc_limit_mb=80", "-timeout=20"])
            .tools(&tools)
            .run()?;
    }
    Ok(Outcome::Done)
}

fn smoke(repo: &Repo, seconds: u64) -> Result<Outcome> {
    // A short run is over before an optimised build of everything would be; the tests have built what it needs otherwise.
    let profile = (seconds > SHORT).then_some("--release");
    Step::cargo(repo)
        .arg("test")
        .args(profile)
        .args(["--manifest-path", FUZZ, "--lib", "--target-dir"])
        .arg(repo.target()?)
        .run()?;
    run_smoke(repo, profile, &["--seconds", &seconds.to_string()])?;
    Ok(Outcome::Done)
}

fn run_smoke(repo: &Repo, profile: Option<&str>, args: &[&str]) -> Result<()> {
    Step::cargo(repo)
        .arg("run")
        .args(profile)
        .args(["--manifest-path", FUZZ, "--bin", SMOKE, "--target-dir"])
        .arg(repo.target()?)
        .arg("--")
        .args(args)
        .run()
}

fn parse(args: &[String]) -> Result<(&str, Option<u64>)> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let seconds =
        |text: &str| text.parse().map_err(|_| Usage(format!("--seconds takes a whole number, not {text:?}")));
    match args[..] {
        [target] if !target.starts_with('-') => Ok((target, None)),
        [target, "--seconds", count] | ["--seconds", count, target] => Ok((target, Some(seconds(count)?))),
        _ => Err(Usage("name one target, `all` or `smoke`".to_owned()).into()),
    }
}

fn targets(repo: &Repo) -> Result<Vec<String>> {
    let packages = repo.packages(FUZZ)?;
    let binaries = packages.into_iter().flat_map(|package| package.binaries);
    Ok(binaries.filter(|name| name != SMOKE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_target_and_perhaps_a_time() {
        let args = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parse(&args("npy")).unwrap(), ("npy", None));
        assert_eq!(parse(&args("all --seconds 20")).unwrap(), ("all", Some(20)));
        assert_eq!(parse(&args("--seconds 20 all")).unwrap(), ("all", Some(20)));
        for wrong in ["", "--seconds", "npy gsd", "npy --seconds", "npy --seconds soon"] {
            assert!(parse(&args(wrong)).unwrap_err().is::<Usage>(), "{wrong}");
        }
    }
}

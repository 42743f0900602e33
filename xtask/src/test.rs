//! `test`, `goldens`, `bench`: what runs our own packages beside their Python peers.

use anyhow::Result;

use crate::repo::{BENCH, Repo};
use crate::step::Step;
use crate::{Outcome, flags, python, wheel};

/// Names the peers' Python to tests and benchmarks, which fail without it where they need one.
pub(crate) const PYTHON: &str = "HOLDALL_PYTHON";

/// Packages that are tested as users have them: they have all code that is unsafe or wraps.
const OPTIMISED: &[&str] = &["holdall-container-core", "holdall-container-codecs", "holdall-blosc-chunk"];
/// Profile settings of those packages. Codecs of others are so in all tests (Cargo.toml).
const AS_FOR_USERS: [&str; 3] = ["opt-level=3", "debug-assertions=false", "overflow-checks=false"];

/// Names the seed of random cases to proptest.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Features that benchmarks have and tests do without.
const CONTENDERS: &str = "contenders,zarrs";

pub(crate) fn test(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [debug, release, no_run] = flags(args, ["--debug", "--release", "--no-run"])?;
    // The same random cases for everybody, so that a commit that passed does not fail later; `cargo test` looks for others.
    let seed = std::env::var(SEED).unwrap_or_else(|_| "1".into());
    let run = |step: Step| match no_run {
        true => step.arg("--no-run").run(),
        false => step.env(PYTHON, python::ready(repo)?).env(SEED, &seed).run(),
    };
    if debug || !release {
        // How benchmarks measure and report, without what they compare. First, because it may have to wait for others that build.
        run(Step::cargo(repo)
            .args(["test", "--manifest-path", BENCH, "--lib", "--target-dir"])
            .arg(repo.target()?))?;
        run(Step::cargo(repo).args(["test", "--workspace", "--all-features"]))?;
    }
    if release || !debug {
        // In the folder of the debug build, whose other dependencies are used again.
        let set = |package: &str, setting: &str| {
            ["--config".to_owned(), format!("profile.dev.package.{package}.{setting}")]
        };
        let optimised =
            OPTIMISED.iter().flat_map(|package| AS_FOR_USERS.map(|setting| set(package, setting)));
        let step = Step::cargo(repo).args(["test", "--all-features"]).args(optimised.flatten());
        run(step.args(OPTIMISED.iter().flat_map(|package| ["--package", package])))?;
    }
    Ok(Outcome::Done)
}

pub(crate) fn goldens(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [check] = flags(args, ["--check"])?;
    // Selected out of the whole workspace, so that nothing is built anew with other features.
    Step::cargo(repo)
        .args(["test", "--workspace", "--all-features", "--test", "conformance", "goldens"])
        .env("HOLDALL_GOLDENS", if check { "check" } else { "write" })
        .run()?;
    Ok(Outcome::Done)
}

pub(crate) fn bench(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let python = python::ready(repo)?;
    // Some contenders are programs of their own, which the benchmark starts.
    Step::cargo(repo)
        .args([
            "build",
            "--release",
            "--bins",
            "--features",
            CONTENDERS,
            "--manifest-path",
            BENCH,
            "--target-dir",
        ])
        .arg(repo.target()?)
        .run()?;
    let run = Step::cargo(repo)
        .args(["run", "--release", "--features", CONTENDERS, "--manifest-path", BENCH, "--target-dir"])
        .arg(repo.target()?)
        .arg("--")
        .args(args)
        .env(PYTHON, &python);
    let measures_package = args.first().is_some_and(|name| name == "python" || name == "--peers");
    if measures_package {
        run.env("PYTHONPATH", wheel::unpacked(repo, true)?).run()?;
    } else {
        run.run()?;
    }
    Ok(Outcome::Done)
}

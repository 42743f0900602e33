//! `test`, `goldens`, `bench`: what runs our own packages beside their Python peers.

use anyhow::Result;

use crate::repo::{BENCH, Repo};
use crate::step::Step;
use crate::{Outcome, flags, python};

/// Names the peers' Python to tests and benchmarks, which fail without it where they need one.
pub(crate) const PYTHON: &str = "HOLDALL_PYTHON";

/// Packages that are tested in release too.
const OPTIMISED: &[&str] = &["container-core", "blosc-chunk", "conformance"];

/// Ours that the tests above call, with the optimisation that they have there: that of users where code is unsafe or wraps. Codecs of others
/// have it in all tests (Cargo.toml).
const AS_FOR_USERS: &[(&str, u8)] = &[
    ("asdf", 1),
    ("blosc-chunk", 3),
    ("blosc2-frame", 1),
    ("bloscpack", 1),
    ("container-core", 3),
    ("gsd", 1),
    ("holdall", 1),
    ("rawarray", 1),
];
/// Overflows wrap for users.
const WITHOUT_CHECKS: [&str; 2] = ["debug-assertions=false", "overflow-checks=false"];

/// What benchmarks have that tests do without.
const CONTENDERS: &str = "contenders,zarrs";

pub(crate) fn test(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [debug, release, no_run] = flags(args, ["--debug", "--release", "--no-run"])?;
    let run = |step: Step| match no_run {
        true => step.arg("--no-run").run(),
        false => step.env(PYTHON, python::ready(repo)?).run(),
    };
    if debug || !release {
        // How benchmarks measure and report, without what they compare. First, because it may have to wait for others that build.
        run(Step::cargo(repo)
            .args(["test", "--manifest-path", BENCH, "--lib", "--target-dir"])
            .arg(repo.target()?))?;
        run(Step::cargo(repo).args(["test", "--workspace", "--all-features"]))?;
    }
    if release || !debug {
        // What wraps and what is unsafe, in optimised code, and every fixture as users' builds read it: the rest is the same in debug,
        // where overflows are found. In the folder of the debug build, whose other dependencies are used again.
        let settings = AS_FOR_USERS.iter().flat_map(|(package, level)| {
            let level = format!("opt-level={level}");
            let settings = WITHOUT_CHECKS.map(str::to_owned).into_iter().chain([level]);
            settings
                .flat_map(move |set| ["--config".to_owned(), format!("profile.dev.package.{package}.{set}")])
        });
        let step = Step::cargo(repo).args(["test", "--all-features"]).args(settings);
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
    Step::cargo(repo)
        .args(["run", "--release", "--features", CONTENDERS, "--manifest-path", BENCH, "--target-dir"])
        .arg(repo.target()?)
        .arg("--")
        .args(args)
        .env(PYTHON, &python)
        .run()?;
    Ok(Outcome::Done)
}

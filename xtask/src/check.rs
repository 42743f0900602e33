//! `fmt`, `clippy`, `doc`, `features`, `msrv`: what cargo itself can say of the source.

use anyhow::{Context as _, Result};

use crate::repo::{BENCH, FUZZ, PY, Repo};
use crate::step::Step;
use crate::tools::toolchain_installed;
use crate::{Outcome, flags};

/// The libraries whose features are checked one by one.
const LIBRARIES: &str = "crates/";

pub(crate) fn fmt(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    Step::cargo(repo).args(["fmt", "--all", "--check"]).run()?;
    let consumers = crate::consumers::manifests(repo)?;
    for manifest in consumers.iter().map(String::as_str).chain([BENCH, FUZZ, PY]) {
        Step::cargo(repo).args(["fmt", "--check", "--manifest-path", manifest]).run()?;
    }
    Ok(Outcome::Done)
}

pub(crate) fn clippy(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    // With fewer features each library is looked at by `features`.
    Step::cargo(repo)
        .args(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"])
        .run()?;
    Step::cargo(repo)
        .args([
            "clippy",
            "--all-targets",
            "--features",
            "contenders",
            "--manifest-path",
            BENCH,
            "--target-dir",
        ])
        .arg(repo.target()?)
        .args(["--", "-D", "warnings"])
        .run()?;
    Ok(Outcome::Done)
}

pub(crate) fn doc(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    Step::cargo(repo)
        .args(["doc", "--no-deps", "--workspace", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(Outcome::Done)
}

/// Through clippy, whose `-D warnings` reaches the workspace only: RUSTFLAGS would rebuild every dependency. Each library is
/// linted in its own turn, not again where another depends on it.
pub(crate) fn features(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let packages = repo.packages("Cargo.toml")?;
    for package in packages.iter().filter(|package| package.manifest.starts_with(LIBRARIES)) {
        let alone = package.features.iter().filter(|feature| *feature != "default").map(Some);
        for feature in [None].into_iter().chain(alone) {
            Step::cargo(repo)
                .args(["clippy", "--quiet", "--package", &package.name, "--no-default-features"])
                .args(feature.map(|feature| format!("--features={feature}")))
                .args(["--", "--no-deps", "-D", "warnings"])
                .run()?;
        }
    }
    Ok(Outcome::Done)
}

pub(crate) fn msrv(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let version = declared_msrv(&std::fs::read_to_string(repo.path("Cargo.toml"))?)?;
    let Some(toolchain) = toolchain_installed(repo, &version) else {
        return Ok(Outcome::NotRun(format!(
            "rustup has no Rust {version}, and gets none here (clippy::incompatible_msrv did run)"
        )));
    };
    // `interop` has a dependency that needs more.
    Step::cargo_of(repo, &toolchain)
        .args(["check", "--workspace", "--exclude", "interop", "--all-features"])
        .run()?;
    Ok(Outcome::Done)
}

fn declared_msrv(manifest: &str) -> Result<String> {
    let manifest: toml::Table = manifest.parse()?;
    let version = manifest["workspace"]["package"]["rust-version"].as_str();
    Ok(version.context("the workspace declares no rust-version")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_rust_is_read_from_the_workspace() {
        let text = "[workspace]\nmembers = []\n[workspace.package]\nrust-version = \"1.89\"\n";
        assert_eq!(declared_msrv(text).unwrap(), "1.89");
    }
}

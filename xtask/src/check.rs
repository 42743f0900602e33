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

/// Each library without features, and with each feature alone that has code or a dependency of its own. Through clippy, whose `-D warnings` reaches the workspace only: RUSTFLAGS would rebuild every dependency. Each library is
/// linted in its own turn, not again where another depends on it.
pub(crate) fn features(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let packages = repo.packages("Cargo.toml")?;
    let sources = repo.rust_files()?;
    for package in packages.iter().filter(|package| package.manifest.starts_with(LIBRARIES)) {
        let folder = package.manifest.trim_end_matches("Cargo.toml");
        let own = sources.iter().filter(|(path, _)| path.starts_with(folder));
        let own: Vec<&str> = own.map(|(_, text)| text.as_str()).collect();
        let alone = package
            .features
            .iter()
            .filter(|(name, turns_on)| name != "default" && !is_of_others(name, turns_on, &own));
        let alone = alone.map(|(name, _)| Some(name));
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

/// Whether a feature only turns on others, of this package or of one that it depends on, which are checked alone: neither a dependency nor a line of `sources`
/// is there for it.
fn is_of_others(name: &str, turns_on: &[String], sources: &[&str]) -> bool {
    let condition = format!("feature = \"{name}\"");
    !turns_on.is_empty()
        && !turns_on.iter().any(|other| other.starts_with("dep:"))
        && !sources.iter().any(|source| source.contains(&condition))
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
    fn features_without_code_are_checked_where_their_code_is() {
        let on = |entries: &[&str]| entries.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>();
        let sources = ["#[cfg(feature = \"ndarray\")]\nmod a;\n", "mod b;\n"];
        assert!(is_of_others("mmap", &on(&["core/mmap"]), &sources));
        assert!(is_of_others("full", &on(&["mmap", "ndarray"]), &sources));
        assert!(!is_of_others("ndarray", &on(&["core/ndarray"]), &sources));
        assert!(!is_of_others("arrow", &on(&["dep:arrow", "core/serde"]), &sources));
        assert!(!is_of_others("empty", &[], &sources));
    }

    #[test]
    fn the_minimum_rust_is_read_from_the_workspace() {
        let text = "[workspace]\nmembers = []\n[workspace.package]\nrust-version = \"1.89\"\n";
        assert_eq!(declared_msrv(text).unwrap(), "1.89");
    }
}

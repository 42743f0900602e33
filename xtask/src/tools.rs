//! `deny`, and how a cargo tool is found or installed under `target/tools`.

use std::env;
use std::fmt;
use std::path::PathBuf;

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

/// A tool that is neither installed nor could be: the machine's fault, not that of the source.
#[derive(Debug)]
pub(crate) struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

const DENY_VERSION: &str = "0.20.2";

pub(crate) fn deny(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [advisories] = flags(args, ["--advisories"])?;
    let tools = installed(repo, "cargo-deny", DENY_VERSION)?;
    // Advisories need the network, and a new one must not fail a commit that has nothing to do with it.
    Step::cargo(repo)
        .args(["deny", "--workspace", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"])
        .args(advisories.then_some("advisories"))
        .tools(&tools)
        .run()?;
    Ok(Outcome::Done)
}

/// The folder with the binary of `tool`, installed there now, with default features, if it is neither there nor on PATH.
///
/// # Errors
/// [`Missing`] when it cannot be installed.
pub(crate) fn installed(repo: &Repo, tool: &str, version: &str) -> Result<PathBuf> {
    installed_with(repo, tool, version, &[])
}

/// As [`installed`], with arguments of `cargo install` that select features.
pub(crate) fn installed_with(repo: &Repo, tool: &str, version: &str, features: &[&str]) -> Result<PathBuf> {
    let root = repo.target()?.join("tools");
    let bin = root.join("bin");
    let program = format!("{tool}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let places = [bin.clone()].into_iter().chain(env::split_paths(&path));
    if let Some(place) = places.into_iter().find(|place| place.join(&program).is_file()) {
        return Ok(place);
    }
    Step::cargo(repo)
        .args(["install", "--quiet", "--locked", &format!("{tool}@{version}"), "--root"])
        .arg(&root)
        .args(features)
        // A tool that runs for seconds is not worth minutes of optimisation and linking.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .run()
        .map_err(|error| Missing(format!("{tool} is not installed and could not be: {error:#}")))?;
    Ok(bin)
}

/// The installed toolchain called `name`, or `name-…`, as rustup lists it.
pub(crate) fn toolchain(repo: &Repo, name: &str) -> Option<String> {
    let list = Step::new(repo, "rustup").args(["toolchain", "list"]).stdout().ok()?;
    matching(&list, name).map(str::to_owned)
}

/// As [`toolchain`]; one that is not installed is, where rustup can, with what `cargo check` needs alone.
pub(crate) fn toolchain_installed(repo: &Repo, name: &str) -> Option<String> {
    toolchain(repo, name).or_else(|| {
        let install = Step::new(repo, "rustup").args(["toolchain", "install", name]);
        install.args(["--profile", "minimal", "--no-self-update"]).run().ok()?;
        toolchain(repo, name)
    })
}

fn matching<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let toolchains = list.lines().filter_map(|line| line.split_whitespace().next());
    toolchains.into_iter().find(|toolchain| {
        let rest = toolchain.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_found_by_its_whole_version() {
        let list =
            "stable-x86_64-unknown-linux-gnu (active, default)\n1.89.0-x86_64-unknown-linux-gnu\n1.9-x\n";
        assert_eq!(matching(list, "1.89"), Some("1.89.0-x86_64-unknown-linux-gnu"));
        assert_eq!(matching(list, "stable"), Some("stable-x86_64-unknown-linux-gnu"));
        assert_eq!(matching(list, "1.8"), None);
        assert_eq!(matching(list, "nightly"), None);
    }
}

//! `web`: the page of `holdall serve`, built from `web/` into the crate that embeds it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

const SOURCES: &str = "web";
const ASSETS: &str = "crates/holdall-serve/assets";
/// Digests of the sources from which the page was built: without node, a change of them is noticed.
const BUILT_FROM: &str = "crates/holdall-serve/assets/built-from.txt";

/// Files of the page, as vite names them, and whether they are compressed.
const FILES: [(&str, bool); 4] =
    [("index.html", false), ("app.js", true), ("app.css", true), ("licences.txt", true)];

pub(crate) fn web(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [check] = flags(args, ["--check"])?;
    let sources = digests(repo)?;
    if check {
        let built_from = fs::read_to_string(repo.path(BUILT_FROM)).unwrap_or_default();
        ensure!(built_from == sources, "{SOURCES}/ has changed since the page was built: cargo xtask web");
    }
    let built = build(repo)?;
    for (name, bytes) in &built {
        let path = repo.path(ASSETS).join(name);
        if check {
            let is_same = fs::read(&path).is_ok_and(|there| there == *bytes);
            ensure!(is_same, "{ASSETS}/{name} is not what {SOURCES}/ builds: cargo xtask web");
        } else {
            fs::write(&path, bytes).with_context(|| format!("{}", path.display()))?;
        }
    }
    if !check {
        fs::write(repo.path(BUILT_FROM), sources)?;
    }
    let len: usize = built.values().map(Vec::len).sum();
    println!("{} files, {len} bytes{}", built.len(), if check { ", as committed" } else { "" });
    Ok(Outcome::Done)
}

/// The files that the crate embeds.
fn build(repo: &Repo) -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = repo.path(SOURCES);
    // Nothing of a package is run but what vite runs.
    Step::new(repo, "npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).dir(&folder).run()?;
    Step::new(repo, "npm").args(["run", "--silent", "build"]).dir(&folder).run()?;
    let mut built = BTreeMap::new();
    for (name, is_compressed) in FILES {
        let path = folder.join("dist").join(name);
        let bytes = fs::read(&path).with_context(|| format!("{}", path.display()))?;
        if is_compressed {
            built.insert(format!("{name}.gz"), compressed(&bytes)?);
        } else {
            built.insert(name.to_owned(), bytes);
        }
    }
    Ok(built)
}

/// The same bytes on every machine: no time, no name, and the compressor of Cargo.lock.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// A line for each source: digest and name.
fn digests(repo: &Repo) -> Result<String> {
    let mut lines = Vec::new();
    for (name, text) in repo.text_files()? {
        let Some(within) = name
            .strip_prefix("web/")
            .filter(|within| !within.starts_with("test/") && !within.ends_with(".md"))
        else {
            continue;
        };
        let digest: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push(format!("{digest}  {within}\n"));
    }
    if lines.is_empty() {
        bail!("no sources in {SOURCES}/");
    }
    lines.sort();
    Ok(lines.concat())
}

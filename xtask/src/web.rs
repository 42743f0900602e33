//! `web`: the page of `holdall serve`, built from `web/` into the crate that embeds it, and tried in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, Usage, flags, python};

const SOURCES: &str = "web";
const ASSETS: &str = "crates/holdall-serve/assets";
/// Digests of the sources from which the page was built: without node, a change of them is noticed.
const BUILT_FROM: &str = "crates/holdall-serve/assets/built-from.txt";

/// Pictures of the viewer, for its page.
const PICTURES: &str = "docs/pictures";

/// Files of the page, as vite names them, and whether they are compressed.
const FILES: [(&str, bool); 4] =
    [("index.html", false), ("app.js", true), ("app.css", true), ("licences.txt", true)];

pub(crate) fn web(repo: &Repo, args: &[String]) -> Result<Outcome> {
    match flags(args, ["--check", "--test", "--pictures"])? {
        [check, false, false] => page(repo, check),
        [false, true, false] => in_browser(repo, "scenarios.mjs", |folder| ["--shots".into(), folder]),
        [false, false, true] => {
            let pictures = repo.path(PICTURES);
            fs::create_dir_all(&pictures)?;
            in_browser(repo, "pictures.mjs", |_| [pictures])
        }
        _ => Err(Usage("one of --check, --test and --pictures".to_owned()).into()),
    }
}

fn page(repo: &Repo, check: bool) -> Result<Outcome> {
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
    let folder = packages(repo)?;
    Step::new(repo, "npm").args(["run", "--silent", "build"]).dir(&folder).run()?;
    Step::new(repo, "node").args(["--test", "test/unit.test.mjs"]).dir(&folder).run()?;
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

/// The folder of the sources, with the packages of the lock file. Nothing of a package is run but what vite runs.
fn packages(repo: &Repo) -> Result<PathBuf> {
    let folder = repo.path(SOURCES);
    Step::new(repo, "npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).dir(&folder).run()?;
    Ok(folder)
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

/// Files of the viewer's scenarios, as `viewer_files.py` writes them, in the order of the page's list.
const SHOWN: [&str; 8] =
    ["image.asdf", "types.asdf", "run.gsd", "waves.b2nd", "dates.b2nd", "scan.ra", "cut.asdf", "large.b2nd"];

/// A server that ends with it.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a script of `web/test/` in Chromium on files of the peers; the arguments after the parameters may name their folder.
fn in_browser<const N: usize>(
    repo: &Repo,
    script: &str,
    arguments: impl FnOnce(PathBuf) -> [PathBuf; N],
) -> Result<Outcome> {
    let browser = chromium(repo)?;
    let python = python::ready(repo)?;
    let sources = packages(repo)?;
    // Selected out of the tests of the whole workspace, which have built it: by itself it would be built anew with other features.
    Step::cargo(repo).args(["test", "--workspace", "--all-features", "--test", "cli", "--no-run"]).run()?;
    let holdall = repo.target()?.join("debug").join(format!("holdall{}", std::env::consts::EXE_SUFFIX));
    let folder = repo.target()?.join("viewer");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let written =
        Step::new(repo, python).arg("tests/interop/peers/viewer_files.py").arg(&holdall).arg(&folder);
    let mut parameters: serde_json::Value = serde_json::from_str(&written.stdout()?)?;
    parameters["chromium"] = browser.into();
    let named = folder.join("parameters.json");
    fs::write(&named, parameters.to_string())?;
    let mut command = Command::new(&holdall);
    command.args(["serve", "--no-open"]).args(SHOWN).current_dir(&folder);
    let mut served = Served(command.stdout(Stdio::piped()).spawn().context("holdall serve")?);
    let mut address = String::new();
    let said = served.0.stdout.take().context("its output")?;
    BufReader::new(said).read_line(&mut address)?;
    ensure!(address.contains("/#t="), "holdall serve did not start");
    let run = Step::new(repo, "node").arg(format!("test/{script}")).arg(address.trim());
    run.arg("--params").arg(&named).args(arguments(folder)).dir(&sources).run()?;
    Ok(Outcome::Done)
}

/// Chromium, installed as a Debian package where there is none and that is possible.
fn chromium(repo: &Repo) -> Result<String> {
    const NAMES: [&str; 2] = ["chromium", "chromium-browser"];
    let found = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
        places.find(|place| place.is_file()).map(|place| place.display().to_string())
    };
    if found().is_none() {
        Step::new(repo, "apt-get").args(["update", "-qq"]).run()?;
        let install = ["install", "-qq", "--yes", "--no-install-recommends", "chromium"];
        Step::new(repo, "apt-get").args(install).env("DEBIAN_FRONTEND", "noninteractive").run()?;
    }
    found().context("no Chromium: apt-get install chromium")
}

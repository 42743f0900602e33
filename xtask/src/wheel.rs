//! `wheel`: the Python package, built and tested as its users get it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::python::{self, PACKAGE, PACKAGE_NEWEST, PACKAGE_REQUIREMENTS};
use crate::repo::{PY, Repo};
use crate::step::Step;
use crate::{Outcome, flags};

/// The package's folder.
const FOLDER: &str = "crates/holdall-py";

pub(crate) fn wheel(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [release] = flags(args, ["--release"])?;
    let peers = python::ready(repo)?;
    let python = python::interpreter(&repo.path(PACKAGE));
    // In the folder and the profile of the workspace's clippy, which has looked at the packages of others.
    Step::cargo(repo)
        .args(["clippy", "--locked", "--manifest-path", PY, "--target-dir"])
        .arg(repo.target()?)
        .args(["--", "-D", "warnings"])
        .env("PYO3_PYTHON", &python)
        .run()?;
    let made = build(repo, release)?;
    let newest = python::interpreter(&repo.path(PACKAGE_NEWEST));
    for python in [&python, &newest] {
        pip(repo, &peers).arg("--python").arg(python).args(INSTALL).arg(&made).run()?;
    }
    alone(repo, &python, &made)?;
    let folder = repo.path(FOLDER);
    let module = |name: &str| Step::new(repo, &python).args(["-m", name]).dir(&folder);
    module("ruff").args(["check", "--quiet", "python", "tests", "tools"]).run()?;
    module("ruff").args(["format", "--quiet", "--check", "python", "tests", "tools"]).run()?;
    module("mypy").args(["--strict", "--package", "holdall"]).run()?;
    module("mypy.stubtest").arg("holdall._holdall").run()?;
    module("pytest").run()?;
    // The rest does not depend on the version of Python.
    Step::new(repo, &newest).args(["-m", "pytest"]).args(ON_NEWEST).dir(&folder).run()?;
    Ok(Outcome::Done)
}

/// Tests that run with the newest Python, too: how numpy and the interpreter take the package's classes.
const ON_NEWEST: [&str; 3] = ["tests/test_files.py", "tests/test_indexing.py", "tests/test_process.py"];

/// Installs the wheel with what it says that it needs, and nothing else, in an environment of its own, and uses it from outside of the repository.
fn alone(repo: &Repo, python: &Path, wheel: &Path) -> Result<()> {
    let folder = target(repo)?.join("alone");
    Step::new(repo, python).args(["-m", "venv", "--clear"]).arg(&folder).run()?;
    let python = python::interpreter(&folder);
    // The numpy of the other tests, which pip has in its cache.
    let requirements = fs::read_to_string(repo.path(PACKAGE_REQUIREMENTS))?;
    let numpy = requirements
        .lines()
        .find(|line| line.starts_with("numpy=="))
        .context("no numpy in the requirements")?;
    let pip = Step::new(repo, &python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ]);
    pip.args(["--only-binary", ":all:", numpy]).arg(wheel).run()?;
    Step::new(repo, &python)
        .arg("-I")
        .arg(repo.path(FOLDER).join("tools/alone.py"))
        .args([repo.path("testdata").as_os_str(), repo.version("holdall-cli")?.as_ref()])
        .dir(&folder)
        .run()
}

/// A folder of its own: features of packages that the extension alone turns on would have half of the workspace built anew each time.
fn target(repo: &Repo) -> Result<PathBuf> {
    Ok(repo.target()?.join("py"))
}

/// The wheel, built for this machine; its path.
fn build(repo: &Repo, release: bool) -> Result<PathBuf> {
    let python = python::interpreter(&repo.path(PACKAGE));
    let target = target(repo)?;
    let wheels = target.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    Step::new(repo, &python)
        .args(["-m", "maturin", "build", "--locked", "--profile", if release { "release" } else { "dev-py" }])
        .args(["--manifest-path", PY, "--interpreter"])
        .arg(&python)
        .arg("--out")
        .arg(&wheels)
        .env("CARGO_TARGET_DIR", &target)
        .run()?;
    Ok(fs::read_dir(&wheels)?.next().context("maturin made no wheel")??.path())
}

/// The package, unpacked into a folder for `PYTHONPATH`: the peers' Python imports it beside its own packages.
pub(crate) fn unpacked(repo: &Repo, release: bool) -> Result<PathBuf> {
    let peers = python::ready(repo)?;
    let made = build(repo, release)?;
    let folder = target(repo)?.join("package");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    pip(repo, &peers).args(INSTALL).arg("--target").arg(&folder).arg(made).run()?;
    Ok(folder)
}

/// Installs a wheel, and nothing that it depends on.
const INSTALL: [&str; 6] =
    ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--force-reinstall"];

/// pip of the peers' environment.
fn pip(repo: &Repo, peers: &Path) -> Step {
    Step::new(repo, peers).args(["-m", "pip"])
}

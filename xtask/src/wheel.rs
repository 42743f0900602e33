//! `wheel`: the Python package, built and tested as its users get it.

use std::fs;

use anyhow::{Context as _, Result};

use crate::python::{self, PACKAGE};
use crate::repo::{PY, Repo};
use crate::step::Step;
use crate::{Outcome, flags};

/// The package's folder.
const FOLDER: &str = "crates/holdall-py";

pub(crate) fn wheel(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [release] = flags(args, ["--release"])?;
    let peers = python::ready(repo)?;
    let python = python::interpreter(&repo.path(PACKAGE));
    // A folder of its own: features of packages that the extension alone turns on would have half of the workspace built anew each time.
    let target = repo.target()?.join("py");
    let cargo = Step::cargo(repo).args(["clippy", "--locked", "--profile", "dev-py", "--manifest-path", PY]);
    cargo
        .args(["--", "-D", "warnings"])
        .env("CARGO_TARGET_DIR", &target)
        .env("PYO3_PYTHON", &python)
        .run()?;
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
    let made = fs::read_dir(&wheels)?.next().context("maturin made no wheel")??.path();
    // pip is that of the peers' environment.
    Step::new(repo, &peers)
        .args(["-m", "pip", "--python"])
        .arg(&python)
        .args(["install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"])
        .args(["--force-reinstall"])
        .arg(made)
        .run()?;
    let folder = repo.path(FOLDER);
    let module = |name: &str| Step::new(repo, &python).args(["-m", name]).dir(&folder);
    module("ruff").args(["check", "--quiet", "python", "tests"]).run()?;
    module("ruff").args(["format", "--quiet", "--check", "python", "tests"]).run()?;
    module("mypy").args(["--strict", "--package", "holdall"]).run()?;
    module("mypy.stubtest").arg("holdall._holdall").run()?;
    module("pytest").run()?;
    Ok(Outcome::Done)
}
